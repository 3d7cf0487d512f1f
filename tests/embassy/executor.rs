//! By embassy's own executor, its timer queue and the desktop's clock: two tasks, one with calls side by side.

use std::sync::atomic::{AtomicUsize, Ordering};

use embassy_executor::Executor;
use embassy_futures::join::join_array;
use embassy_time::{Duration, with_timeout};
use toolcore::result::OutcomeKind;
use toolcore_embassy::{Does, Log, after, dispatched};

/// Longer than the test may take: a wake that is lost shows.
const HOUR: u64 = 3_600_000;

static ENDED: AtomicUsize = AtomicUsize::new(0);

#[embassy_executor::task]
async fn calls_side_by_side() {
    let log = Log::new();
    let tools = [Does::Answers(20), Does::Answers(HOUR), Does::Honours(0), Does::Deaf];
    let kinds = join_array(tools.map(|does| dispatched(&log, does, 40, 30))).await;
    assert_eq!(
        kinds,
        [OutcomeKind::Answered, OutcomeKind::TimedOut, OutcomeKind::TimedOut, OutcomeKind::TimedOut]
    );
    assert!((70..HOUR).contains(&log.time()), "it took {} ms", log.time());
    assert_eq!(log.text().matches("dropped@").count(), 4, "{}", log.text());
    assert_eq!(log.text().matches("ended@").count(), 2, "{}", log.text());
    ENDED.fetch_add(1, Ordering::Relaxed);
}

#[embassy_executor::task]
async fn a_call_that_is_dropped() {
    let log = Log::new();
    let call = dispatched(&log, Does::Deaf, HOUR, HOUR);
    assert!(with_timeout(Duration::from_millis(20), call).await.is_err());
    assert!(log.text().starts_with("dropped@") && log.text().matches('@').count() == 1, "{}", log.text());
    after(10).await;
    ENDED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn tasks_of_embassys_executor_dispatch_calls() {
    let executor = Box::leak(Box::new(Executor::new()));
    executor.run_until(
        |spawner| {
            spawner.spawn(calls_side_by_side().expect("it was not spawned before"));
            spawner.spawn(a_call_that_is_dropped().expect("it was not spawned before"));
        },
        || ENDED.load(Ordering::Relaxed) == 2,
    );
}
