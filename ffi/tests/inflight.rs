//! Calls that answer later: a turn from its start to its end, and what may come between.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::clock::*;
use crate::complete::*;
use crate::hook::*;
use crate::inflight::*;
use crate::registry::*;
use crate::result::*;
use crate::status::*;
use crate::tool::*;

/// The three results of [`LATER`]; each with its mark of failure if it has one.
fn messages(results: [&str; 3]) -> String {
    let [a, b, c] = results;
    std::format!(
        r#"[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":{a}}},{{"type":"tool_result","tool_use_id":"b","content":{b}}},{{"type":"tool_result","tool_use_id":"c","content":{c}}}]}}]"#
    )
}

const CANCELLED: &str = r#""Tool error: Tool 'later' was cancelled","is_error":true"#;
const TIMED_OUT: &str = r#""[TOOL_TIMEOUT] Tool 'later' timed out after 0.1s","is_error":true"#;

/// Finishes; what was written, and what became of the turn.
fn finish(flight: &Flight, now: u64) -> (String, toolcore_outcome_t) {
    let mut outcome = init::<toolcore_outcome_t>();
    let to = &raw mut outcome;
    let finish = |buf, len, out| c!(toolcore_finish(flight.inflight, now, buf, len, out, to, null_mut()));
    (written(finish), outcome)
}

/// A clock that stands still at 1000.
unsafe extern "C" fn thousand(_: *mut c_void) -> u64 {
    1000
}

fn poll(flight: &Flight, now: u64) -> u64 {
    let mut next = 7;
    assert_eq!(c!(toolcore_poll(flight.inflight, now, &raw mut next, null_mut())), TOOLCORE_OK);
    next
}

fn complete(flight: &Flight, ticket: u64, now: u64) -> toolcore_status_t {
    c!(toolcore_complete_text(flight.inflight, ticket, now, s("done")))
}

#[test]
fn each_call_has_one_result_in_the_order_of_the_calls() {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let mut flight = Flight::new(&init());
    flight.start(&tools, &init(), 5);
    assert_eq!((tickets.len(), flight.stats().open, flight.stats().in_flight), (2, 2, 2));
    assert!(!c!(toolcore_done(flight.inflight)));
    assert_eq!(poll(&flight, 6), u64::MAX);
    let mut memory = Block::new(SCRATCH);
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("copied"))), TOOLCORE_OK);
    assert_eq!(c!(toolcore_complete(flight.inflight, tickets[1], 7, result)), TOOLCORE_OK);
    c!(toolcore_result_deinit(result));
    assert_eq!(c!(toolcore_fail(flight.inflight, tickets[0], 8, s("no"))), TOOLCORE_OK);
    assert!(c!(toolcore_done(flight.inflight)));
    let (text, outcome) = finish(&flight, 9);
    assert_eq!(text, messages([r#""Tool error: no","is_error":true"#, r#""one""#, r#""copied""#]));
    assert_eq!((outcome.calls, outcome.answered, outcome.failed), (3, 2, 1));
    let status = c!(toolcore_finish(flight.inflight, 9, null_mut(), 0, &mut 0, null_mut(), null_mut()));
    assert_eq!(status, TOOLCORE_ERR_NOT_FOUND);
}

#[test]
fn time_settles_a_call_and_its_grace_period_frees_its_place() {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 100);
    let clock = sized!(toolcore_clock_t { now_ms: Some(thousand) });
    let opts = sized!(toolcore_answer_opts_t { clock: &raw const clock });
    let mut flight = Flight::new(&init());
    flight.start(&tools, &opts, 1000);
    assert_eq!(poll(&flight, 1099), 1100);
    assert_eq!(complete(&flight, tickets[0], 1100), TOOLCORE_OK);
    assert_eq!(poll(&flight, 1100), 2100);
    assert_eq!(complete(&flight, tickets[0], 1101), TOOLCORE_ERR_DOUBLED);
    let text = finish(&flight, 1102).0;
    assert_eq!(text, messages([r#""done""#, r#""one""#, TIMED_OUT]));
    // Its tools and its reply may be gone, and the table serves what is left.
    c!(toolcore_registry_deinit(tools.registry));
    c!(crate::reply::toolcore_reply_deinit(flight.reply));
    assert_eq!((poll(&flight, 2099), flight.stats().in_flight), (2100, 1));
    assert_eq!((poll(&flight, 2100), flight.stats().in_flight), (u64::MAX, 0));
    assert_eq!(complete(&flight, tickets[1], 2102), TOOLCORE_ERR_LATE);
    let stats = flight.stats();
    assert_eq!((stats.completed, stats.timed_out, stats.abandoned), (1, 1, 1));
    assert_eq!((stats.doubled, stats.late, stats.stale, stats.unknown), (1, 1, 0, 0));
}

#[test]
fn a_ticket_is_unknown_then_doubled_then_stale() {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let mut flight = Flight::new(&init());
    assert_eq!(complete(&flight, 1 << 32, 0), TOOLCORE_ERR_NOT_FOUND);
    flight.start(&tools, &init(), 0);
    let first = tickets[0];
    assert_eq!(complete(&flight, 0, 0), TOOLCORE_ERR_NOT_FOUND);
    assert_eq!(complete(&flight, first, 0), TOOLCORE_OK);
    assert_eq!(complete(&flight, first, 0), TOOLCORE_ERR_DOUBLED);
    assert_eq!(finish(&flight, 0).0, messages([r#""done""#, r#""one""#, CANCELLED]));
    for _ in 0..2 {
        flight.start(&tools, &init(), 0);
        finish(&flight, 0);
    }
    assert_eq!(complete(&flight, first, 0), TOOLCORE_ERR_STALE);
    let told = c!(toolcore_progress(flight.inflight, first, 0, 1, 2, toolcore_str_t::EMPTY));
    assert_eq!(told, TOOLCORE_ERR_STALE);
    assert_eq!((flight.stats().unknown, flight.stats().doubled, flight.stats().stale), (2, 1, 2));
}

/// What is told of one object, and whom it is told of.
struct Watch {
    inflight: *mut toolcore_inflight_t,
    kinds: Vec<u32>,
    asked: Vec<u64>,
}

/// All that a callback may try with the object that runs it.
fn try_all(watch: *mut Watch) {
    let inflight = c!((*watch).inflight);
    if inflight.is_null() {
        return;
    }
    let mut len = 7;
    let busy = [
        c!(toolcore_start(inflight, null(), null(), null(), null_mut(), 0, 0, null_mut())),
        c!(toolcore_poll(inflight, u64::MAX, null_mut(), null_mut())),
        c!(toolcore_finish(inflight, 0, null_mut(), 0, &raw mut len, null_mut(), null_mut())),
        c!(toolcore_complete_text(inflight, 1, 0, s("x"))),
        c!(toolcore_fail(inflight, 1, 0, s("x"))),
        c!(toolcore_progress(inflight, 1, 0, 1, 2, s("x"))),
        c!(toolcore_cancel(inflight, CALL_ALL, 0)),
        c!(toolcore_inflight_stats(inflight, &mut init())),
    ];
    assert_eq!((busy, len), ([TOOLCORE_ERR_BUSY; 8], 0));
    c!(toolcore_inflight_deinit(inflight));
}

unsafe extern "C" fn event(watch: *mut c_void, event: *const toolcore_event_t) {
    let (watch, event) = (watch.cast::<Watch>(), c!(event.read()));
    assert_eq!(event.struct_size, size_of::<toolcore_event_t>());
    if !event.result.is_null() {
        let mut part = init::<toolcore_part_t>();
        assert_eq!(c!(toolcore_result_part(event.result, 0, &raw mut part)), TOOLCORE_OK);
        assert!(!text(part.text).is_empty());
    }
    if !event.call.is_null() {
        assert!(["later", "echo"].contains(&text(c!((*event.call).name))));
    }
    c!((*watch).kinds.push(event.kind));
    try_all(watch);
}

unsafe extern "C" fn cancel(watch: *mut c_void, ticket: u64) -> toolcore_status_t {
    let watch = watch.cast::<Watch>();
    c!((*watch).asked.push(ticket));
    try_all(watch);
    TOOLCORE_OK
}

unsafe extern "C" fn watched(
    watch: *mut c_void,
    call: *const toolcore_call_t,
    _: *mut toolcore_result_t,
) -> toolcore_status_t {
    c!((*watch.cast::<Watch>()).asked.push(toolcore_call_ticket(call)));
    try_all(watch.cast());
    TOOLCORE_PENDING
}

unsafe extern "C" fn after(
    watch: *mut c_void,
    _: *const toolcore_tool_call_t,
    result: *mut toolcore_result_t,
) {
    try_all(watch.cast());
    assert_eq!(c!(toolcore_result_clear(result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("hooked"))), TOOLCORE_OK);
}

#[test]
fn what_it_calls_out_to_finds_it_busy() {
    let mut watch = Watch { inflight: null_mut(), kinds: Vec::new(), asked: Vec::new() };
    let user_data = (&raw mut watch).cast::<c_void>();
    let watch = &raw mut watch;
    let tools = Tools::usual();
    let later = toolcore_tool_t { user_data, cancel: Some(cancel), ..tool("later", watched) };
    assert_eq!(tools.add(&later), TOOLCORE_OK);
    let hook = sized!(toolcore_hook_t { after: Some(after), user_data: user_data });
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    let opts = sized!(toolcore_inflight_opts_t { event: Some(event), user_data: user_data });
    let mut flight = Flight::new(&opts);
    c!((*watch).inflight = flight.inflight);
    flight.start(&tools, &init(), 0);
    let asked = c!((*watch).asked.clone());
    assert_eq!(c!(toolcore_progress(flight.inflight, asked[0], 0, 1, 2, s("half"))), TOOLCORE_OK);
    assert_eq!(complete(&flight, asked[0], 0), TOOLCORE_OK);
    assert_eq!(finish(&flight, 0).0, messages([r#""hooked""#, r#""hooked""#, CANCELLED]));
    assert_eq!(c!((*watch).asked.clone()), [asked[0], asked[1], asked[1]]);
    let kinds = [
        TOOLCORE_EVENT_CALLED,
        TOOLCORE_EVENT_CALLED,
        TOOLCORE_EVENT_FINISHED,
        TOOLCORE_EVENT_CALLED,
        TOOLCORE_EVENT_PROGRESS,
        TOOLCORE_EVENT_FINISHED,
        TOOLCORE_EVENT_CANCELLED,
    ];
    assert_eq!(c!((*watch).kinds.clone()), kinds);
    assert_eq!(flight.stats().in_flight, 0, "the tool said that it has ended");
}

#[test]
fn a_tool_that_is_gone_is_asked_nothing_and_dropped_once() {
    unsafe extern "C" fn pending(
        _: *mut c_void,
        _: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        TOOLCORE_PENDING
    }
    unsafe extern "C" fn never(_: *mut c_void, _: u64) -> toolcore_status_t {
        panic!("a tool that is gone was asked")
    }
    let (tools, drops) = (Tools::usual(), Drops::default());
    let mut tickets = Vec::<u64>::new();
    let gone = toolcore_tool_t {
        user_data: drops.data(),
        drop: Some(count_drop),
        cancel: Some(never),
        ..tool("later", pending)
    };
    assert_eq!(tools.add(&gone), TOOLCORE_OK);
    let mut flight = Flight::new(&init());
    flight.start(&tools, &init(), 0);
    assert_eq!(c!(toolcore_registry_remove(tools.registry, s("later"))), TOOLCORE_OK);
    assert_eq!(drops.count(), 1);
    let again = toolcore_tool_t { user_data: (&raw mut tickets).cast(), ..tool("later", later) };
    assert_eq!(tools.add(&again), TOOLCORE_OK);
    assert_eq!(c!(toolcore_cancel(flight.inflight, 0, 0)), TOOLCORE_OK);
    assert_eq!(finish(&flight, 0).0, messages([CANCELLED, r#""one""#, CANCELLED]));
    assert_eq!((flight.stats().in_flight, tickets.len(), drops.count()), (2, 0, 1));
}

#[test]
fn a_second_turn_waits_for_the_first_to_be_finished() {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let mut flight = Flight::new(&init());
    flight.start(&tools, &init(), 0);
    let mut why = init::<toolcore_detail_t>();
    let mut memory = Block::new(SCRATCH);
    let (inflight, reply, mem) = (flight.inflight, flight.reply, memory.ptr());
    let status = c!(toolcore_start(inflight, tools.registry, reply, null(), mem, SCRATCH, 0, &raw mut why));
    assert_eq!(status, TOOLCORE_ERR_BUSY);
    assert_eq!(word(why.message.as_ptr()), "a turn is not finished; call toolcore_finish before");
    finish(&flight, 0);
    flight.start(&tools, &init(), 0);
    assert_eq!(tickets.len(), 4);
}

#[test]
fn a_registry_that_ended_in_the_middle_is_found_out() {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let mut flight = Flight::new(&init());
    flight.start(&tools, &init(), 0);
    c!(toolcore_registry_deinit(tools.registry));
    let mut len = 7;
    let invalid = [
        c!(toolcore_poll(flight.inflight, 0, null_mut(), null_mut())),
        c!(toolcore_finish(flight.inflight, 0, null_mut(), 0, &raw mut len, null_mut(), null_mut())),
        complete(&flight, tickets[0], 0),
        c!(toolcore_progress(flight.inflight, tickets[0], 0, 1, 2, toolcore_str_t::EMPTY)),
        c!(toolcore_cancel(flight.inflight, 0, 0)),
    ];
    assert_eq!((invalid, len), ([INVALID; 5], 0));
}

#[test]
fn a_turn_takes_the_memory_that_is_named_and_names_what_is_enough() {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let flight = Flight::new(&init());
    let need = toolcore_start_mem_size(3, 0);
    let step = if cfg!(miri) { 97 } else { 1 };
    for size in (1..=need).rev().step_by(step) {
        let mut why = init::<toolcore_detail_t>();
        let start = |memory: &mut Block, size, why| {
            let (inflight, registry, reply, mem) =
                (flight.inflight, tools.registry, flight.reply, memory.ptr());
            c!(toolcore_start(inflight, registry, reply, null(), mem, size, 0, why))
        };
        let mut memory = Block::new(size);
        let status = start(&mut memory, size, &raw mut why);
        if status != TOOLCORE_OK {
            assert!(size < need);
            assert_eq!(status, TOOLCORE_ERR_NO_SPACE);
            assert!(why.need > size && why.need <= need, "{} of {size}", why.need);
            memory = Block::new(why.need);
            assert_eq!(start(&mut memory, why.need, null_mut()), TOOLCORE_OK);
        }
        let last = tickets[tickets.len() - 1];
        assert_eq!(complete(&flight, last, 0), TOOLCORE_OK);
        assert_eq!(finish(&flight, 0).0, messages([CANCELLED, r#""one""#, r#""done""#]));
        assert_eq!(complete(&flight, tickets[tickets.len() - 2], 0), TOOLCORE_ERR_LATE);
    }
    assert!(tickets.len() > 10);
}
