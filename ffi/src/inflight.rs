//! Calls that answer later: those in flight, and the turn that they are of.

use core::ffi::{c_char, c_void};
use core::ptr;

use toolcore_core::answer::AnswerOptions;
use toolcore_core::call::ToolCall;
use toolcore_core::inflight::{InFlight, Slot, Stats};
use toolcore_core::registry::RegistryOptions;
use toolcore_core::schema::Coercion;
use toolcore_core::sink::{NoSpace, Sink};
use toolcore_core::time::{Duration, GRACE, Instant};
use toolcore_core::turn::{Entry, Event, EventKind, MIN_KEPT, Runtime, Turn, TurnError, serve};

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::answer::{self, toolcore_answer_opts_t, toolcore_outcome_t};
use crate::call::toolcore_tool_call_t;
use crate::callback::{HostHandler, HostHook, InFlightEventFn, observe, tell_change, tell_in_flight};
use crate::clock::clock;
use crate::guard::{BUSY, Fail, NO_TURN, OPEN_TURN, Why, guard, read, unknown};
use crate::object::{Live, Memory, Object, scratch_for};
use crate::registry::{HostRegistry, toolcore_registry_t};
use crate::reply::{ReplyBody, toolcore_reply_t};
use crate::result::toolcore_result_t;
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// The calls that wait for an answer, and the turn of a conversation that they are of, one at a time. A host makes
/// one for each conversation, once, and keeps it: tickets stay unique for as long as it lives.
///
/// One function at a time uses it, whichever thread that is; from another thread or an interrupt, complete a call
/// through a mailbox. All that its functions call out to (callbacks of tools, cancel functions, hooks, `event`,
/// `observe`, `changed`, the clock) finds it in use: its functions are ERR_BUSY there and change nothing, toolcore_done
/// is false, and toolcore_inflight_deinit does nothing. What is called out to must not change the registry either; it may
/// dispatch over it, and use another object.
pub struct toolcore_inflight_t {
    _opaque: [u8; 0],
}

/// toolcore_event_t.kind: the call's callback is about to run. One that cannot run has no such event.
pub const TOOLCORE_EVENT_CALLED: u32 = 1;
/// toolcore_event_t.kind: its tool says how far it is: toolcore_progress.
pub const TOOLCORE_EVENT_PROGRESS: u32 = 2;
/// toolcore_event_t.kind: it has its result, from its tool or because it could not run. This settles it.
pub const TOOLCORE_EVENT_FINISHED: u32 = 3;
/// toolcore_event_t.kind: its deadline is reached, and its tool had not answered. This settles it.
pub const TOOLCORE_EVENT_TIMED_OUT: u32 = 4;
/// toolcore_event_t.kind: the host gave it up, with toolcore_cancel or toolcore_finish. This settles it.
pub const TOOLCORE_EVENT_CANCELLED: u32 = 5;
/// toolcore_event_t.kind: it was settled before, and its tool has ended now; what it brought is discarded.
pub const TOOLCORE_EVENT_LATE: u32 = 6;
/// toolcore_event_t.kind: it was settled before, and its tool did not end within the grace period.
pub const TOOLCORE_EVENT_ABANDONED: u32 = 7;

/// Something that happened to a call. It, and all that it points to, is valid until the callback returns. Each call of
/// a turn has exactly one event that settles it; LATE or ABANDONED may follow, also when its turn is finished.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_event_t {
    /// sizeof(toolcore_event_t)
    pub struct_size: usize,
    /// The call as the model wrote it; NULL for one of a turn that is finished.
    pub call: *const toolcore_tool_call_t,
    /// Its result where this settles it, else NULL.
    pub result: *const toolcore_result_t,
    /// Of TOOLCORE_EVENT_PROGRESS: what its tool says beside how far it is; else empty.
    pub message: toolcore_str_t,
    /// The call's place in the reply of its turn, from 0.
    pub index: usize,
    /// Its ticket; 0 for a call that never began.
    pub ticket: u64,
    /// When: the latest now_ms that was handed in.
    pub at_ms: u64,
    /// Of TOOLCORE_EVENT_PROGRESS: how much is done.
    pub done: u64,
    /// Of how much; 0 if that is unknown.
    pub total: u64,
    /// One of TOOLCORE_EVENT_.
    pub kind: u32,
    /// The number of its turn, which rises with each toolcore_start.
    pub turn: u32,
}

/// toolcore_inflight_opts_t.flags: no grace period. A call whose deadline is reached, or that is given up, is abandoned
/// at once, unless its cancel function says that it has ended. grace_ms is not used.
pub const TOOLCORE_INFLIGHT_NO_GRACE: u32 = 1;

/// How calls in flight are kept. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_inflight_opts_t {
    /// sizeof(toolcore_inflight_opts_t)
    pub struct_size: usize,
    /// Told all that happens, for a log, by the function that lets it happen and in its thread; NULL if nobody wants to
    /// know. It must not use the object or change the registry, and must not throw or longjmp.
    pub event: Option<unsafe extern "C" fn(user_data: *mut c_void, event: *const toolcore_event_t)>,
    /// Given to `event`, until toolcore_inflight_deinit.
    pub user_data: *mut c_void,
    /// The most calls in flight: those that wait, and those that were asked to end and have not yet; 0 for 16. Each
    /// takes some bytes of the object.
    pub max_in_flight: usize,
    /// How many milliseconds a call that was asked to end has for it before it is abandoned; 0 for 1,000.
    pub grace_ms: u64,
    /// A call begins as long as fewer than so many are in flight, those of earlier turns that have not ended among them;
    /// 0 for 8. max_in_flight bounds it too.
    pub side_by_side: u32,
    /// TOOLCORE_INFLIGHT_ flags.
    pub flags: u32,
    /// Which of several tables it is, from 0 to 255: tickets of two series are never the same, and one that is brought
    /// to the wrong table is ERR_NOT_FOUND. Tables of one series give out equal tickets.
    pub series: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// What became of all calls since toolcore_inflight_init; filled in by toolcore_inflight_stats. Calls that answered at
/// once are not counted. A number that has come to UINT32_MAX stays there.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_inflight_stats_t {
    /// sizeof(toolcore_inflight_stats_t)
    pub struct_size: usize,
    /// Calls that wait, or have been asked to end and are within their grace period.
    pub in_flight: usize,
    /// Calls of the turn that have no result yet.
    pub open: usize,
    /// 0
    pub reserved: usize,
    /// Calls that ended in time after they had waited.
    pub completed: u32,
    /// Calls whose deadline was reached while they waited.
    pub timed_out: u32,
    /// Calls that the host gave up while they waited.
    pub cancelled: u32,
    /// Calls, of those two, that did not end within their grace period.
    pub abandoned: u32,
    /// How often a ticket came (to complete or fail its call, or with progress) after a timeout, a cancellation or an
    /// abandonment: ERR_LATE.
    pub late: u32,
    /// How often one came after its call had been completed: ERR_DOUBLED.
    pub doubled: u32,
    /// How often one came whose place another call has had since: ERR_STALE.
    pub stale: u32,
    /// How often one came that was never given out: ERR_NOT_FOUND.
    pub unknown: u32,
}

/// An event's name in snake case, such as "timed_out"; "unknown" for any other number. Never NULL, lives as long as the
/// program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_event_name(event_kind: u32) -> *const c_char {
    let name = match event_kind {
        TOOLCORE_EVENT_CALLED => c"called",
        TOOLCORE_EVENT_PROGRESS => c"progress",
        TOOLCORE_EVENT_FINISHED => c"finished",
        TOOLCORE_EVENT_TIMED_OUT => c"timed_out",
        TOOLCORE_EVENT_CANCELLED => c"cancelled",
        TOOLCORE_EVENT_LATE => c"late",
        TOOLCORE_EVENT_ABANDONED => c"abandoned",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// Bytes of memory that calls in flight need with these options (NULL for the defaults). 0 if they are not valid,
/// SIZE_MAX if there is no such memory.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_inflight_mem_size(opts: *const toolcore_inflight_opts_t) -> usize {
    read(0, |c| Ok(inflight_size(options(c, opts)?.max_in_flight)))
}

/// Makes an empty table of calls in flight in `mem`, which it keeps until toolcore_inflight_deinit.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if mem_len is less than toolcore_inflight_mem_size(opts); ERR_UNSUPPORTED;
/// ERR_INVALID_ARGUMENT. Unless OK, *out is NULL. `opts` is copied; its `event` and user_data are used until
/// toolcore_inflight_deinit.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_inflight_init(
    opts: *const toolcore_inflight_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_inflight_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let opts = options(c, opts)?;
        let mut memory = c.memory(mem, mem_len)?;
        let place = memory.reserve::<Live<InFlightBody>>()?;
        let slots = memory.array(opts.max_in_flight, Slot::default)?;
        let grace = match opts.grace_ms {
            _ if opts.flags & TOOLCORE_INFLIGHT_NO_GRACE != 0 => Duration::default(),
            0 => GRACE,
            millis => Duration::from_millis(millis),
        };
        let inflight = InFlight::in_series(slots, grace, series(&opts)?);
        out.set(place.object(InFlightBody { inflight, turn: None, opts }));
        Ok(())
    })
}

/// Ends the object, and a turn that was not finished with it: both memories are the host's again. No callback runs, and
/// no tool is asked to end its call. All tickets are worth nothing from now on, and must not be used with another object
/// in the same memory, where they may be those of other calls: if their owners live longer, finish the turn, and poll
/// until nothing is in flight. NULL and one that has ended are ignored, and so is a call from what it calls out to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_inflight_deinit(inflight: *mut toolcore_inflight_t) {
    guard(ptr::null_mut(), |c, _| c.end(inflight, |_| ()));
}

/// Bytes of memory that toolcore_start needs for a reply of so many calls (toolcore_reply_len), if each result may have
/// result_bytes of text, and working on one call takes no more than as many beside. 0 is for results of a few words:
/// 192 bytes for each call, what is kept beside its text counted in. SIZE_MAX if there is no such memory.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_start_mem_size(calls: usize, result_bytes: usize) -> usize {
    let bytes = calls.saturating_mul(MIN_KEPT.saturating_add(result_bytes)).saturating_add(result_bytes);
    Memory::room_for::<Entry>(calls).saturating_add(scratch_for(0, bytes.saturating_add(WORKING)))
}

/// Begins a turn: to answer a reply whose tools may answer later. Its calls begin in their order, as many side by side
/// as the options of `inflight` allow, and toolcore_poll begins the others. A call whose tool answers at once has its
/// result then. Where no tool answers later, toolcore_answer_reply is less work.
///
/// `mem` is used until the turn is finished: by results (192 bytes are kept for each call, and what is spare is
/// shared evenly; a result that is larger than its share is cut, and says so), and for what toolcore_answer has
/// scratch for. `registry`, `reply`, and what `opts` points to, must live until then; `opts` itself is copied.
///
/// The registry may be changed while none of these functions runs. A call begins with the tool that there is then. A
/// tool that is removed or replaced is let go of at once: calls of it that wait still end by completion, deadline or
/// cancellation, but nobody is asked to end them.
///
/// Time is in milliseconds. A deadline is a timeout after the time of opts.clock when the call begins; now_ms, here and
/// in all functions that follow, is the time by the same origin. One before another that was handed in counts as that
/// one. A call is due at its deadline: a poll at that time settles it, and what was brought at that time before the poll
/// is in time.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE for `mem` (why.need bytes are enough for what was tried); ERR_NO_CLOCK; ERR_BUSY
/// if a turn is not finished, or from a callback; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT, also if `mem` and the reply
/// overlap. Unless OK, no tool has run and there is no turn; pre-hooks, `changed` and `observe` may have run.
/// Threads: one at a time, as for all functions that take `inflight` without const; reads the registry.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_start(
    inflight: *mut toolcore_inflight_t,
    registry: *const toolcore_registry_t,
    reply: *const toolcore_reply_t,
    opts: *const toolcore_answer_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    now_ms: u64,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let mut body = c.object_alone(inflight)?;
        if body.turn.is_some() {
            return Err(OPEN_TURN);
        }
        c.object(registry)?;
        let opts = c.options(opts)?;
        answer::options(&opts, None)?;
        let written = Span::new(mem, mem_len);
        let read = ReplyBody::read(c.object(reply)?);
        read.into_iter().try_for_each(|read| c.apart_from(written).apart(read))?;
        let reply = c.object(reply)?.reply;
        let mut memory = c.memory(mem, mem_len)?;
        let need = toolcore_start_mem_size(reply.len(), 0);
        let entries = memory.array(reply.len(), Entry::default).inspect_err(|_| why.need = need)?;
        let turn = Turn::new(reply, &mut body.inflight, entries, memory.scratch()).map_err(|error| {
            let fail = why.error(error);
            why.need = need.max(mem_len.saturating_add(1));
            fail
        })?;
        body.turn = Some(HostTurn { turn, registry, opts, memory: written, read });
        let polled = body.run(c, |turn, with| match turn {
            Some(turn) => turn.poll(with, Instant::from_millis(now_ms)),
            None => Ok(None),
        });
        let begun = match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(stopped(why, error, written)),
            Err(fail) => Err(fail),
        };
        if begun.is_err() {
            body.turn = None;
        }
        begun
    })
}

/// Brings calls on: those whose deadline is reached are settled, and their tools asked to end; those that did not end
/// within their grace period are abandoned, and their places free; and calls of the turn begin where there is room.
/// A call is due at its deadline: bring what has arrived by then before the poll, and it is in time.
/// Costs next to nothing if there is nothing to do. Poll after each completion too, which may have made room. Without a
/// turn it serves what earlier ones left.
///
/// *next_ms is when it wants to be called next, at the latest, by the time of now_ms; UINT64_MAX if only a completion
/// can bring a call on, or nothing is in flight. Unless OK, it is not written. next_ms may be NULL.
///
/// Returns TOOLCORE_OK; ERR_BUSY from a callback; ERR_INVALID_ARGUMENT, also if the turn's registry has ended;
/// ERR_NO_SPACE (why.need bytes for toolcore_start would be enough for what was tried) or ERR_NO_CLOCK if a call
/// cannot be dispatched and no tool of the turn has run before: finish the turn. Once one has, the model is told that
/// such a call was not executed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_poll(
    inflight: *mut toolcore_inflight_t,
    now_ms: u64,
    next_ms: *mut u64,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let mut body = c.object_alone(inflight)?;
        let now = Instant::from_millis(now_ms);
        let polled = body.run(c, |turn, with| match turn {
            Some(turn) => turn.poll(with, now),
            None => Ok(serve(with, now)),
        })?;
        let next = polled.map_err(|error| stopped(why, error, body.written()))?;
        if !next_ms.is_null() {
            c.out(next_ms)?.set(next.map_or(u64::MAX, Instant::as_millis));
        }
        Ok(())
    })
}

/// Whether every call of the turn has its result, or there is no turn; true for NULL, false from a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_done(inflight: *const toolcore_inflight_t) -> bool {
    read(true, |c| match c.object(inflight) {
        Err(BUSY) => Ok(false),
        body => Ok(body?.turn.as_ref().is_none_or(|turn| turn.turn.is_done())),
    })
}

/// Ends the turn: what has no result is cancelled as by toolcore_cancel, and the messages to append to the conversation
/// are written in the order of the calls: a JSON array, for MCP one CallToolResult. The memory of the turn, the
/// registry and the reply are the host's again; calls whose tools were asked to end are in flight until they do or
/// toolcore_poll abandons them. Nothing is written for a reply without calls, which is finished all the same.
///
/// (NULL, 0) cancels too, and tells what all results take; the turn stays, to be finished into a buffer. In a buffer
/// that is smaller, results are cut to what room there is and say so. Below the least that they take it is
/// ERR_NO_SPACE, *out_len is that least, and the turn stays.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_NOT_FOUND if there is no turn; ERR_BUSY from a callback;
/// ERR_INVALID_ARGUMENT, also if buffer and the memory of the turn or the reply overlap, or the registry has ended
/// (then only toolcore_inflight_deinit ends the turn). `outcome` may be NULL; it is filled in with the messages.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_finish(
    inflight: *mut toolcore_inflight_t,
    now_ms: u64,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    outcome: *mut toolcore_outcome_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let mut body = c.object_alone(inflight).inspect_err(|_| {
            c.output(ptr::null_mut(), 0, out_len).ok();
        })?;
        let used = body.turn.as_ref().map_or([Span::NOWHERE; 3], HostTurn::used);
        let mut output = c.output_beside(buf, len, out_len, used)?;
        let outcome = c.out_struct_or_none(outcome)?;
        if body.turn.is_none() {
            return Err(NO_TURN);
        }
        let measures = output.measures();
        let mut sink = Sink::new(output.buffer());
        let finished = body.run(c, |turn, with| match turn {
            Some(turn) => turn.finish(with, Instant::from_millis(now_ms), &mut sink),
            None => Err(NoSpace { need: 0 }),
        })?;
        match finished {
            Ok(done) => {
                let len = sink.len();
                if let Some(outcome) = outcome {
                    outcome.set(toolcore_outcome_t::of(&done));
                }
                if !measures {
                    body.turn = None;
                }
                output.finish(len)
            }
            Err(NoSpace { need }) => {
                why.need = need;
                output.finish(need)
            }
        }
    })
}

/// What became of all calls so far, and how many are in flight.
///
/// Returns TOOLCORE_OK; ERR_BUSY from a callback; ERR_INVALID_ARGUMENT, also for a wrong struct_size in *out. Unless OK,
/// *out is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_inflight_stats(
    inflight: *const toolcore_inflight_t,
    out: *mut toolcore_inflight_stats_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out_struct(out)?;
        let body = c.object(inflight)?;
        let Stats { completed, timed_out, cancelled, abandoned, late, doubled, stale, unknown } =
            body.inflight.stats();
        out.set(toolcore_inflight_stats_t {
            struct_size: 0,
            in_flight: body.inflight.len(),
            open: body.turn.as_ref().map_or(0, |turn| turn.turn.open()),
            reserved: 0,
            completed,
            timed_out,
            cancelled,
            abandoned,
            late,
            doubled,
            stale,
            unknown,
        });
        Ok(())
    })
}

sized_struct!(toolcore_event_t);
sized_struct!(toolcore_inflight_opts_t);
sized_struct!(toolcore_inflight_stats_t);

/// Scratch bytes for the checker of small arguments, beside what results have.
const WORKING: usize = 1024;

/// The calls in flight, and the turn.
pub(crate) struct InFlightBody {
    inflight: InFlight<'static>,
    turn: Option<HostTurn>,
    opts: toolcore_inflight_opts_t,
}

struct HostTurn {
    turn: Turn<'static>,
    registry: *const toolcore_registry_t,
    opts: toolcore_answer_opts_t,
    memory: Span,
    read: [Span; 2],
}

impl HostTurn {
    /// What of memory it uses.
    fn used(&self) -> [Span; 3] {
        [self.memory, self.read[0], self.read[1]]
    }
}

impl Object for toolcore_inflight_t {
    type Body = InFlightBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCif");
}

/// What a turn of a host works with.
pub(crate) type HostRuntime<'h, 'o> = Runtime<'h, 'static, 'static, 'o, HostHandler, HostHook>;

impl InFlightBody {
    /// Memory that what is handed in must not lie in.
    pub(crate) fn written(&self) -> Span {
        self.turn.as_ref().map_or(Span::NOWHERE, |turn| turn.memory)
    }

    /// Does something with the turn, if there is one, and all that it works with. What earlier turns left wants no
    /// tool any more: all of its calls are settled, and their tools were asked to end.
    pub(crate) fn run<R>(
        &mut self,
        c: Caller,
        work: impl FnOnce(Option<&mut Turn<'static>>, &mut HostRuntime<'_, '_>) -> R,
    ) -> Result<R, Fail> {
        let no_tools;
        let (registry, opts) = match &self.turn {
            Some(turn) => (c.object(turn.registry)?, turn.opts),
            None => {
                no_tools = HostRegistry::new(&mut [], &mut [], &mut [], RegistryOptions::default());
                (&no_tools, c.options(ptr::null())?)
            }
        };
        let clock = clock(c, opts.clock)?;
        let changed = |call: &ToolCall<'_>, change: &Coercion<'_>| {
            tell_change(opts.changed, opts.user_data, call, change);
        };
        let side_by_side = Some(self.opts.side_by_side as usize).filter(|most| *most > 0);
        let options = AnswerOptions {
            changed: Some(&changed),
            side_by_side,
            ..answer::options(&opts, clock.as_ref())?
        };
        let (told, user_data): (InFlightEventFn, _) = (self.opts.event, self.opts.user_data);
        let mut watch = |event: &Event<'_>| {
            tell_in_flight(told, user_data, event);
            if let (Some(call), Some(result)) = (event.call, event.result) {
                observe(opts.observe, opts.user_data, call, result);
            }
        };
        let mut with =
            Runtime { registry, inflight: &mut self.inflight, options: &options, watch: &mut watch };
        Ok(work(self.turn.as_mut().map(|turn| &mut turn.turn), &mut with))
    }
}

impl toolcore_event_t {
    /// An event as C sees it, but for its call and its result.
    pub(crate) fn of(event: &Event<'_>) -> Self {
        let (done, total) = match event.kind {
            EventKind::Progress { done, total } => (done, total),
            _ => (0, 0),
        };
        toolcore_event_t {
            struct_size: size_of::<Self>(),
            call: ptr::null(),
            result: ptr::null(),
            message: toolcore_str_t::of(event.message),
            index: event.index,
            ticket: event.ticket.map_or(0, |ticket| ticket.as_u64()),
            at_ms: event.at.as_millis(),
            done,
            total,
            kind: match event.kind {
                EventKind::Called => TOOLCORE_EVENT_CALLED,
                EventKind::Progress { .. } => TOOLCORE_EVENT_PROGRESS,
                EventKind::Finished => TOOLCORE_EVENT_FINISHED,
                EventKind::TimedOut => TOOLCORE_EVENT_TIMED_OUT,
                EventKind::Cancelled => TOOLCORE_EVENT_CANCELLED,
                EventKind::Late => TOOLCORE_EVENT_LATE,
                EventKind::Abandoned => TOOLCORE_EVENT_ABANDONED,
            },
            turn: event.turn,
        }
    }
}

/// The options with their defaults.
fn options(c: Caller, opts: *const toolcore_inflight_opts_t) -> Result<toolcore_inflight_opts_t, Fail> {
    let mut opts = c.options(opts)?;
    series(&opts)?;
    if opts.reserved != 0 {
        return Err(unknown!("reserved"));
    }
    if opts.flags & !TOOLCORE_INFLIGHT_NO_GRACE != 0 {
        return Err(unknown!("flags"));
    }
    if opts.max_in_flight == 0 {
        opts.max_in_flight = 16;
    }
    Ok(opts)
}

/// Says why a turn cannot go on, of which this is the memory.
fn stopped(why: &mut Why, error: TurnError, memory: Span) -> Fail {
    let fail = why.error(error);
    if why.need > 0 {
        why.need = why.need.saturating_add(memory.len());
    }
    fail
}

fn series(opts: &toolcore_inflight_opts_t) -> Result<u8, Fail> {
    u8::try_from(opts.series).map_err(|_| unknown!("series"))
}

fn inflight_size(slots: usize) -> usize {
    Memory::room_for::<Live<InFlightBody>>(1).saturating_add(Memory::room_for::<Slot>(slots))
}
