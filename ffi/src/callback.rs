//! What C is called with: every call out of the library goes through here.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use core::task::Poll;

use toolcore_core::call::{Call, Ticket, ToolCall};
use toolcore_core::context::{BytesPerFour, TokenCounter};
use toolcore_core::registry::{Draft, Hook, Verdict};
use toolcore_core::result::ToolResult;
use toolcore_core::schema::Coercion;
use toolcore_core::sink::Sink;
#[cfg(feature = "stream")]
use toolcore_core::stream::StreamEvent;
#[cfg(feature = "std")]
use toolcore_core::system::{WorkerTool, Workers};
use toolcore_core::time::{Clock, Instant};
use toolcore_core::tool::{Cancel, Failure, Handler};
use toolcore_core::turn::Event;

use crate::abi::{UserData, toolcore_str_t};
use crate::call::{CallBody, toolcore_call_t, toolcore_tool_call_t};
use crate::hook::{DraftBody, toolcore_draft_t};
use crate::inflight::toolcore_event_t;
use crate::object::{Lent, Live};
use crate::result::{outcome, toolcore_result_t};
use crate::status::{TOOLCORE_OK, TOOLCORE_PENDING, name, toolcore_status_t};
#[cfg(feature = "stream")]
use crate::stream::toolcore_stream_event_t;
use crate::tool::{toolcore_cancel_fn, toolcore_run_fn};

/// A host's clock.
pub(crate) struct HostClock {
    pub(crate) now_ms: unsafe extern "C" fn(*mut c_void) -> u64,
    pub(crate) user_data: *mut c_void,
}

impl Clock for HostClock {
    fn now(&self) -> Instant {
        // SAFETY: C gave the function to be called so, for the duration of the entry point.
        Instant::from_millis(unsafe { (self.now_ms)(self.user_data) })
    }
}

// SAFETY: the header says that a clock that is given to worker threads, and its user_data, must be fit for all of them.
unsafe impl Send for HostClock {}
// SAFETY: as above.
unsafe impl Sync for HostClock {}

/// A tool's callback, which is there: registration refuses a tool without it.
pub(crate) enum HostHandler {
    /// It runs where its call is dispatched.
    Here {
        /// The callback.
        run: toolcore_run_fn,
        /// Asks to end a call that answers later.
        cancel: toolcore_cancel_fn,
        /// Given to both.
        user_data: UserData,
    },
    /// It runs on a worker thread.
    #[cfg(feature = "std")]
    Worker(WorkerTool),
}

impl HostHandler {
    /// A callback that runs on the threads of a pool, with its user_data until the last call has ended.
    #[cfg(feature = "std")]
    pub(crate) fn on(workers: &Workers, run: toolcore_run_fn, user_data: UserData) -> Self {
        HostHandler::Worker(workers.tool(move |call, result| match run_tool(run, &user_data, call, result) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => {
                Err(Failure::Message("the tool runs on a worker thread, and cannot answer later"))
            }
        }))
    }
}

impl Handler for HostHandler {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        match self {
            HostHandler::Here { run, user_data, .. } => run_tool(*run, user_data, call, result),
            #[cfg(feature = "std")]
            HostHandler::Worker(tool) => tool.run(call, result),
        }
    }

    fn cancel(&self, ticket: Ticket) -> Cancel {
        match self {
            HostHandler::Here { cancel: None, .. } => Cancel::Later,
            HostHandler::Here { cancel: Some(cancel), user_data, .. } => {
                // SAFETY: C gave the function and its user_data to be called so.
                let status = unsafe { cancel(user_data.ptr, ticket.as_u64()) };
                if status == TOOLCORE_OK { Cancel::Ended } else { Cancel::Later }
            }
            #[cfg(feature = "std")]
            HostHandler::Worker(tool) => tool.cancel(ticket),
        }
    }
}

fn run_tool(
    run: toolcore_run_fn,
    user_data: &UserData,
    call: &Call<'_>,
    result: &mut ToolResult<'_>,
) -> Poll<Result<(), Failure>> {
    let Some(run) = run else { return Poll::Ready(Err(Failure::Message("the tool has no callback"))) };
    let call = Live::new::<toolcore_call_t>(CallBody { call: Lent::of(call), failed: Cell::new(None) });
    let mut result = Live::new::<toolcore_result_t>(Lent::of_mut(result));
    // SAFETY: C gave the function and its user_data to be called so; both objects live until it returns.
    let status = unsafe { run(user_data.ptr, call.handle(), result.handle_mut()) };
    Poll::Ready(match (status, call.body().failed.get()) {
        (TOOLCORE_PENDING, _) => return Poll::Pending,
        (TOOLCORE_OK, _) => Ok(()),
        (status, Some((failed, error))) if failed == status => Err(Failure::Argument(error)),
        (status, _) => Err(Failure::Message(name(status).to_str().unwrap_or_default())),
    })
}

/// A host's hook.
pub(crate) struct HostHook {
    pub(crate) before: Option<unsafe extern "C" fn(*mut c_void, *mut toolcore_draft_t) -> toolcore_status_t>,
    pub(crate) after:
        Option<unsafe extern "C" fn(*mut c_void, *const toolcore_tool_call_t, *mut toolcore_result_t)>,
    pub(crate) user_data: UserData,
}

impl Hook for HostHook {
    fn before(&self, draft: &mut Draft<'_, '_>, why: &mut Sink<'_>) -> Verdict {
        let Some(before) = self.before else { return Verdict::Pass };
        let mut draft = Live::new::<toolcore_draft_t>(DraftBody {
            draft: Lent::of_mut(draft),
            why: Lent::of_mut(why),
            blocked: false,
        });
        // SAFETY: C gave the function and its user_data to be called so; the draft lives until it returns.
        let status = unsafe { before(self.user_data.ptr, draft.handle_mut()) };
        if status == TOOLCORE_OK && !draft.body().blocked { Verdict::Pass } else { Verdict::Block }
    }

    fn after(&self, call: &ToolCall<'_>, result: &mut ToolResult<'_>) {
        let Some(after) = self.after else { return };
        let call = toolcore_tool_call_t::of(call);
        let mut result = Live::new::<toolcore_result_t>(Lent::of_mut(result));
        // SAFETY: C gave the function and its user_data to be called so; both live until it returns.
        unsafe { after(self.user_data.ptr, &raw const call, result.handle_mut()) };
    }
}

/// Who is told of each call of a turn.
pub(crate) type ObserveFn =
    Option<unsafe extern "C" fn(*mut c_void, *const toolcore_tool_call_t, u32, *const toolcore_result_t)>;

/// Tells of a call.
pub(crate) fn observe(
    observe: ObserveFn,
    user_data: *mut c_void,
    call: &ToolCall<'_>,
    result: &ToolResult<'_>,
) {
    let Some(observe) = observe else { return };
    let kind = outcome(result.kind());
    let call = toolcore_tool_call_t::of(call);
    let result = Live::new::<toolcore_result_t>(Lent::of(result));
    // SAFETY: C gave the function and its user_data to be called so; both live until it returns, and the
    // result, which is const to C, is not changed through it.
    unsafe { observe(user_data, &raw const call, kind, result.handle()) };
}

/// Who is told what happens to calls in flight.
pub(crate) type InFlightEventFn = Option<unsafe extern "C" fn(*mut c_void, *const toolcore_event_t)>;

/// Tells what happens to a call in flight.
pub(crate) fn tell_in_flight(told: InFlightEventFn, user_data: *mut c_void, event: &Event<'_>) {
    let Some(told) = told else { return };
    let mut said = toolcore_event_t::of(event);
    let call = event.call.map(toolcore_tool_call_t::of);
    let result = event.result.map(|result| Live::new::<toolcore_result_t>(Lent::of(result)));
    if let Some(call) = &call {
        said.call = ptr::from_ref(call);
    }
    if let Some(result) = &result {
        said.result = result.handle();
    }
    // SAFETY: C gave the function and its user_data to be called so; all of the event lives until it returns, and the
    // result, which is const to C, is not changed through it.
    unsafe { told(user_data, &raw const said) };
}

/// Who is told three texts: of a tool what was changed, of an instance what is wrong.
pub(crate) type TellFn =
    Option<unsafe extern "C" fn(*mut c_void, toolcore_str_t, toolcore_str_t, toolcore_str_t)>;

/// Tells three texts.
pub(crate) fn tell(tell: TellFn, user_data: *mut c_void, texts: [&str; 3]) {
    let Some(tell) = tell else { return };
    let [first, second, third] = texts.map(toolcore_str_t::of);
    // SAFETY: C gave the function and its user_data to be called so; the texts live until it returns.
    unsafe { tell(user_data, first, second, third) };
}

/// Who is told three texts, and a place in a schema.
pub(crate) type LocatedFn =
    Option<unsafe extern "C" fn(*mut c_void, toolcore_str_t, toolcore_str_t, toolcore_str_t, toolcore_str_t)>;

/// Tells three texts and a place.
pub(crate) fn tell_located(tell: LocatedFn, user_data: *mut c_void, texts: [&str; 3], place: &str) {
    let Some(tell) = tell else { return };
    let [first, second, third] = texts.map(toolcore_str_t::of);
    // SAFETY: C gave the function and its user_data to be called so; the texts live until it returns.
    unsafe { tell(user_data, first, second, third, toolcore_str_t::of(place)) };
}

/// Tells of a change to a call's arguments.
pub(crate) fn tell_change(told: TellFn, user_data: *mut c_void, call: &ToolCall<'_>, change: &Coercion<'_>) {
    if told.is_some() {
        let mut path = [0u8; PATH_MAX];
        tell(told, user_data, [call.name, place_of(change, &mut path), change.rule.name()]);
    }
}

/// Who is told a place and a rule.
pub(crate) type ChangedFn = Option<unsafe extern "C" fn(*mut c_void, toolcore_str_t, toolcore_str_t)>;

/// Tells of a change to an instance.
pub(crate) fn tell_coercion(changed: ChangedFn, user_data: *mut c_void, change: &Coercion<'_>) {
    let Some(changed) = changed else { return };
    let mut path = [0u8; PATH_MAX];
    let path = toolcore_str_t::of(place_of(change, &mut path));
    // SAFETY: C gave the function and its user_data to be called so; the texts live until it returns.
    unsafe { changed(user_data, path, toolcore_str_t::of(change.rule.name())) };
}

fn place_of<'p>(change: &Coercion<'_>, path: &'p mut [u8]) -> &'p str {
    let mut sink = Sink::new(path);
    change.write_path(&mut sink);
    sink.finish_cut()
}

/// The most bytes of a place that a callback is told.
const PATH_MAX: usize = 256;

/// Who is told what a stream brings.
#[cfg(feature = "stream")]
pub(crate) type EventFn = Option<unsafe extern "C" fn(*mut c_void, *const toolcore_stream_event_t)>;

/// Tells what a stream brings.
#[cfg(feature = "stream")]
pub(crate) fn tell_event(told: EventFn, user_data: *mut c_void, event: StreamEvent<'_>) {
    let Some(told) = told else { return };
    let event = toolcore_stream_event_t::of(event);
    // SAFETY: C gave the function and its user_data to be called so; event and texts live until it returns.
    unsafe { told(user_data, &raw const event) };
}

/// A host's counter of tokens, or the built-in one.
pub(crate) struct HostCounter {
    pub(crate) count: Option<unsafe extern "C" fn(*mut c_void, toolcore_str_t) -> u32>,
    pub(crate) user_data: *mut c_void,
}

impl TokenCounter for HostCounter {
    fn count(&self, text: &str) -> u32 {
        match self.count {
            // SAFETY: C gave the function and its user_data to be called so; the text lives until it returns.
            Some(count) => unsafe { count(self.user_data, toolcore_str_t::of(text)) },
            None => BytesPerFour.count(text),
        }
    }

    fn count_len(&self, bytes: usize) -> Option<u32> {
        if self.count.is_some() { None } else { BytesPerFour.count_len(bytes) }
    }
}
