//! What the figures must not exceed; `--check` holds them to it.

use crate::data;
use crate::groups::{self, Group};
use crate::measure::AllFigures;
use crate::{traffic, waiting};

/// The most instructions of a case: a number, or so many times those of another case.
pub(crate) struct Limit {
    group: &'static str,
    case: &'static str,
    most: Most,
}

enum Most {
    /// Per byte, call or operation, as the group is shown.
    Instructions(f64),
    /// This many times the instructions of the same case of another group.
    Times(f64, &'static str),
    /// This many times the instructions of another case of the same group.
    OfCase(f64, &'static str),
    /// So many more than those of another case of the same group.
    Over(f64, &'static str),
}

/// All limits, beside the one that no case of the library allocates. Those that are times a peer leave it a few
/// hundredths: its hash maps begin with a random number, and where bytes happen to lie counts too.
const LIMITS: &[Limit] = &[
    Limit { group: groups::SCAN_LARGE, case: groups::VALIDATE, most: Most::Instructions(7.0) },
    Limit { group: groups::SCAN_LARGE, case: groups::EVENTS, most: Most::Instructions(12.0) },
    Limit { group: groups::SCAN_SPACED, case: groups::VALIDATE, most: Most::Instructions(7.0) },
    Limit { group: groups::SCAN_SPACED, case: groups::EVENTS, most: Most::Instructions(11.0) },
    Limit { group: groups::SCAN_SMALL, case: groups::VALIDATE, most: Most::Instructions(9.0) },
    // The aim is 10 a byte for reading and 1.6 times that for streaming. Recorded replies of Responses and Gemini
    // keep to it; what is shorter, or escaped as the made-up calls are, pays for each reply, call and event.
    per_byte(groups::READ_OPENAI, 17.6),
    per_byte(groups::READ_RESPONSES, 18.1),
    per_byte(groups::READ_ANTHROPIC, 16.1),
    per_byte(groups::READ_GEMINI, 17.9),
    per_byte(traffic::READ_OPENAI_CHAT, 11.8),
    per_byte(traffic::READ_OPENAI_RESPONSES, 10.0),
    per_byte(traffic::READ_ANTHROPIC, 11.9),
    per_byte(traffic::READ_GEMINI, 10.0),
    per_byte(traffic::READ_BEDROCK, 14.4),
    per_byte(traffic::READ_COHERE, 18.1),
    per_byte(groups::STREAM_OPENAI, 33.8),
    per_byte(groups::STREAM_RESPONSES, 33.4),
    per_byte(groups::STREAM_ANTHROPIC, 49.0),
    per_byte(groups::STREAM_GEMINI, 51.2),
    per_byte(traffic::STREAM_OPENAI_CHAT, 35.3),
    per_byte(traffic::STREAM_OPENAI_RESPONSES, 28.8),
    per_byte(traffic::STREAM_ANTHROPIC, 51.8),
    per_byte(traffic::STREAM_GEMINI, 36.0),
    Limit { group: groups::RENDER_AGAIN, case: groups::OURS, most: Most::Instructions(2.0) },
    Limit { group: groups::ANSWER_4096, case: groups::OURS, most: Most::Times(1.3, groups::ANSWER_16) },
    // The aim is 20 instructions for each call that waits, 20,000 for a poll of 1,000, and nothing for one that is not
    // due. A poll of which one is due keeps to it. One of which all are due does not: each gets its result, is told
    // and its tool is asked to end, of which the heap is about a quarter.
    Limit { group: waiting::POLL_1000, case: groups::OURS, most: Most::Instructions(200.0) },
    Limit { group: waiting::POLL_1000, case: groups::OURS, most: Most::Times(1.01, waiting::POLL_8) },
    over_begun(waiting::ONE_BY_ONE, 2_450.0),
    over_begun(waiting::AT_ONCE, 2_300.0),
    over_begun(waiting::CANCELLED, 2_100.0),
    over_begun(waiting::COMPLETED, 1_800.0),
    Limit { group: waiting::DISPATCH, case: waiting::WITH, most: Most::Over(40.0, waiting::WITHOUT) },
    Limit { group: data::COMPACT.title, case: groups::BYTES, most: Most::Instructions(850.0) },
    Limit { group: data::COMPACT.title, case: groups::TEXT, most: Most::Instructions(850.0) },
    // Five times fewer than the peer.
    Limit { group: data::COMPACT.title, case: groups::BYTES, most: peer(0.2) },
    Limit { group: data::COMPACT.title, case: groups::TEXT, most: peer(0.2) },
    Limit { group: data::PRETTY.title, case: groups::BYTES, most: peer(0.25) },
    Limit { group: data::REORDERED.title, case: groups::BYTES, most: peer(0.28) },
    Limit { group: data::ESCAPED.title, case: groups::BYTES, most: peer(0.75) },
    Limit { group: data::NOT_ASCII.title, case: groups::BYTES, most: peer(0.4) },
    Limit { group: data::NOT_ASCII.title, case: groups::TEXT, most: peer(0.22) },
    Limit { group: data::ONE_PROBLEM.title, case: groups::BYTES, most: peer(0.55) },
    Limit { group: data::ONE_PROBLEM.title, case: groups::REPORT, most: peer_report(0.65) },
    // The peer stops at the first problem, this library finds all.
    Limit { group: data::PROBLEMS.title, case: groups::BYTES, most: peer(1.3) },
    Limit { group: data::PROBLEMS.title, case: groups::REPORT, most: peer_report(1.4) },
    Limit { group: data::ANY_OF.title, case: groups::BYTES, most: peer(0.77) },
    Limit { group: data::ONE_OF.title, case: groups::BYTES, most: peer(0.75) },
    Limit { group: data::REFS.title, case: groups::BYTES, most: peer(0.35) },
    // Here the peer is ahead: it looks at a tree, where this library reads text again.
    Limit { group: data::PATTERNS.title, case: groups::BYTES, most: peer(2.7) },
    Limit { group: data::UNEVALUATED.title, case: groups::BYTES, most: peer(1.9) },
    Limit { group: data::UNIQUE.title, case: groups::BYTES, most: peer(1.4) },
];

/// So many instructions for a byte of a reply or a stream.
const fn per_byte(group: &'static str, most: f64) -> Limit {
    Limit { group, case: groups::OURS, most: Most::Instructions(most) }
}

/// So many more for each call than to begin it.
const fn over_begun(case: &'static str, most: f64) -> Limit {
    Limit { group: waiting::TURN, case, most: Most::Over(most, waiting::BEGUN) }
}

/// So many times what serde_json and jsonschema take for the verdict.
const fn peer(times: f64) -> Most {
    Most::OfCase(times, groups::PEER)
}

/// So many times what they take to say what is wrong.
const fn peer_report(times: f64) -> Most {
    Most::OfCase(times, groups::PEER_REPORT)
}

impl Limit {
    /// Whether it takes the figures of this group.
    pub(crate) fn refers_to(&self, title: &str) -> bool {
        self.group == title || matches!(self.most, Most::Times(_, other) if other == title)
    }
}

/// The limits of the groups that are asked for, without those of recorded replies where there are none.
pub(crate) fn of(asked: impl Fn(&str) -> bool) -> Vec<&'static Limit> {
    let recorded = |title: &str| {
        traffic::RECORDED.iter().any(|(_, read, stream)| *read == title || *stream == Some(title))
    };
    let absent = |title: &str| !traffic::is_there() && recorded(title);
    LIMITS.iter().filter(|limit| asked(limit.group) && !absent(limit.group)).collect()
}

/// A line for each limit that is broken, or that cannot be checked.
pub(crate) fn broken(limits: &[&Limit], groups: &[Group], figures: &AllFigures) -> Vec<String> {
    let mut broken = Vec::new();
    let instructions = |group: &str, case: &str| {
        let group = groups.iter().find(|one| one.title == group)?;
        let case = group.cases.iter().find(|one| one.title == case)?;
        Some(group.share(figures[&(group.title, case.title)].instructions?))
    };
    for Limit { group, case, most } in limits {
        let most = match most {
            Most::Instructions(most) => Some(*most),
            Most::Times(times, other) => instructions(other, case).map(|other| other * times),
            Most::OfCase(times, other) => instructions(group, other).map(|other| other * times),
            Most::Over(more, other) => instructions(group, other).map(|other| other + more),
        };
        match (instructions(group, case), most) {
            (Some(count), Some(most)) if count <= most => {}
            (Some(count), Some(most)) => {
                broken.push(format!("{group}: {case}: {count:.2} instructions, at most {most:.2}"))
            }
            _ => broken.push(format!("{group}: {case}: not measured (is valgrind there?)")),
        }
    }
    for ((group, case), figures) in figures {
        if case.starts_with(groups::OURS) && figures.allocations > 0 {
            broken.push(format!("{group}: {case}: {} heap allocations", figures.allocations));
        }
    }
    broken
}
