//! By embassy-time's mock driver: every wait ends at its millisecond, and a task is woken for it.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use embassy_futures::join::join_array;
use embassy_time::{Duration, MockDriver};
use toolcore_embassy::{Does, Log, after, dispatched};

/// The driver is one for all tests.
fn from_the_beginning() -> MutexGuard<'static, ()> {
    static DRIVER: Mutex<()> = Mutex::new(());
    let guard = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
    MockDriver::get().reset();
    guard
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Polls a task when it was woken and moves the time by a millisecond when it was not, up to `last`.
fn run<F: Future>(mut task: Pin<&mut F>, last: u64) -> Option<F::Output> {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut now = 0;
    loop {
        while woken.0.swap(false, Ordering::Relaxed) {
            if let Poll::Ready(output) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(output);
            }
        }
        if now == last {
            return None;
        }
        MockDriver::get().advance(Duration::from_millis(1));
        now += 1;
    }
}

#[test]
fn a_call_ends_is_asked_and_is_dropped_at_its_millisecond() {
    for (does, expected) in [
        (Does::Answers(0), "ended@0 dropped@0 answered@0"),
        (Does::Answers(60), "ended@60 dropped@60 answered@60"),
        (Does::Answers(100), "ended@100 dropped@100 answered@100"),
        (Does::Answers(101), "ended@101 dropped@101 timed_out@101"),
        (Does::Honours(0), "asked@100 ended@100 dropped@100 timed_out@100"),
        (Does::Honours(49), "asked@100 ended@149 dropped@149 timed_out@149"),
        (Does::Honours(51), "asked@100 dropped@150 timed_out@150"),
        (Does::Deaf, "dropped@150 timed_out@150"),
    ] {
        let _driver = from_the_beginning();
        let log = Log::new();
        run(pin!(dispatched(&log, does, 100, 50)), 1_000).expect("it ends");
        assert_eq!(log.text(), expected);
    }
}

#[test]
fn calls_side_by_side_wait_by_one_driver() {
    let _driver = from_the_beginning();
    let log = Log::new();
    let tools = [Does::Deaf, Does::Answers(80), Does::Answers(20), Does::Honours(10)];
    run(pin!(join_array(tools.map(|does| dispatched(&log, does, 100, 50)))), 1_000).expect("they end");
    let expected = "ended@20 dropped@20 answered@20 ended@80 dropped@80 answered@80 \
        asked@100 ended@110 dropped@110 timed_out@110 dropped@150 timed_out@150";
    assert_eq!(log.text(), expected);
}

#[test]
fn a_dispatch_that_is_dropped_drops_the_handlers_future_once() {
    for (last, expected) in [(30, "dropped@30"), (120, "asked@100 dropped@120")] {
        let _driver = from_the_beginning();
        let log = Log::new();
        {
            let mut task = pin!(dispatched(&log, Does::Honours(40), 100, 50));
            assert!(run(task.as_mut(), last).is_none());
        }
        run(pin!(after(1_000)), 1_000).expect("the time goes on");
        assert_eq!(log.text(), expected);
    }
}
