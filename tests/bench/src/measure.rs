//! Instructions, nanoseconds and heap allocations of one run of an operation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::groups::{Group, Run};

/// What one run of a case costs.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    /// `None` without valgrind.
    pub(crate) instructions: Option<f64>,
    pub(crate) nanoseconds: f64,
    pub(crate) allocations: u64,
}

/// The figures of each case, by the titles of group and case.
pub(crate) type AllFigures = BTreeMap<(&'static str, &'static str), Figures>;

/// Measures every case of `groups`: time first and alone, then instructions, which other processes do not disturb.
pub(crate) fn measure(groups: &[Group]) -> AllFigures {
    let cases: Vec<_> =
        groups.iter().flat_map(|group| group.cases.iter().map(|case| (group.title, case))).collect();
    let mut figures = AllFigures::new();
    for (group, case) in &cases {
        let mut run = (case.prepare)();
        run();
        let allocations = allocations(&mut run);
        let nanoseconds = nanoseconds(&mut run);
        figures.insert((group, case.title), Figures { instructions: None, nanoseconds, allocations });
    }
    if !has_valgrind() {
        return figures;
    }
    let figures = Mutex::new(figures);
    let next = AtomicU64::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((group, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let key = (*group, case.title);
                    let nanoseconds = figures.lock().unwrap()[&key].nanoseconds;
                    let counted = instructions(group, case.title, nanoseconds);
                    figures.lock().unwrap().get_mut(&key).unwrap().instructions = Some(counted);
                }
            });
        }
    });
    figures.into_inner().unwrap()
}

/// Whether instructions can be counted here.
pub(crate) fn has_valgrind() -> bool {
    let version =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// The first argument of a child that is counted.
pub(crate) const CHILD: &str = "--counted";

/// What a child does: it prepares one case and runs it so many times.
pub(crate) fn run_as_child(groups: &[Group], group: &str, case: &str, times: &str) {
    let group = groups.iter().find(|one| one.title == group).unwrap();
    let case = group.cases.iter().find(|one| one.title == case).unwrap();
    let mut run = (case.prepare)();
    for _ in 0..times.parse::<u64>().unwrap() {
        run();
    }
}

/// Counts a child that runs the case N times and one that runs it 2N times; the difference has no start-up in it.
fn instructions(group: &str, case: &str, nanoseconds: f64) -> f64 {
    let times = (200_000.0 / nanoseconds).clamp(3.0, 1_000.0).round() as u64;
    let count = |times: u64| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().unwrap())
            .args([CHILD, group, case, &format!("{times:08}")])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{group}, {case}: {told}");
        let collected =
            told.lines().find_map(|line| line.split_once("Collected : ")).expect("callgrind says how many");
        collected.1.trim().parse::<u64>().unwrap()
    };
    (count(2 * times) - count(times)) as f64 / times as f64
}

/// The quickest of several rounds: whatever else runs only ever adds.
fn nanoseconds(run: &mut Run) -> f64 {
    let round = |run: &mut Run, times: u64| {
        let begin = Instant::now();
        (0..times).for_each(|_| run());
        begin.elapsed()
    };
    let mut times = 1;
    while round(run, times) < Duration::from_millis(5) {
        times *= 2;
    }
    let best = (0..20).map(|_| round(run, times)).min().unwrap();
    best.as_nanos() as f64 / times as f64
}

fn allocations(run: &mut Run) -> u64 {
    let before = ALLOCATED.load(Ordering::Relaxed);
    run();
    ALLOCATED.load(Ordering::Relaxed) - before
}

struct Counting;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
