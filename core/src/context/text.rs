//! The text of chosen blocks: separators, wrappers, escapes, notices.

use super::cut::Side;
use super::{BlockState, ContextBlock, Format, Order, Outcome, RenderOptions};
use crate::sink::Sink;

/// Writes the blocks that are kept or cut, in their order. `states` are sorted by priority.
pub(super) fn write(
    blocks: &[ContextBlock<'_>],
    options: &RenderOptions,
    states: &[BlockState],
    sink: &mut Sink<'_>,
) {
    let mut joint = "";
    for place in states {
        let state = match options.order {
            Order::Priority => Some(place),
            Order::Input => states.get(place.rank),
        };
        if let Some(state) = state
            && let Some(block) = blocks.get(state.block)
            && let Some(outcome @ (Outcome::Kept | Outcome::Cut { .. })) = state.outcome
        {
            sink.put(joint);
            write_block(block, options, state.tokens, outcome, sink);
            joint = JOINT;
        }
    }
}

/// Writes one block: kept or, if `outcome` says so, cut.
pub(super) fn write_block(
    block: &ContextBlock<'_>,
    options: &RenderOptions,
    tokens: u32,
    outcome: Outcome,
    sink: &mut Sink<'_>,
) {
    match options.format {
        Format::Plain => {
            if has_title(block, options) {
                sink.put("[");
                write_title(block, options, sink);
                sink.put("]\n");
            }
        }
        Format::Xml => {
            sink.put("<context");
            for (name, value) in [
                ("category", shown(options.show.category, block.category)),
                ("label", shown(options.show.label, block.label)),
                ("source", shown(options.show.source, block.source)),
            ] {
                if !value.is_empty() {
                    sink.put(" ");
                    sink.put(name);
                    sink.put("=\"");
                    write_line(value, &mut |part| escape(part, &['&', '<', '>', '"'], sink));
                    sink.put("\"");
                }
            }
            sink.put(">\n");
        }
        Format::Markdown => {
            sink.put("## ");
            write_title(block, options, sink);
            sink.put("\n\n");
        }
    }
    let put = |text: &str, sink: &mut Sink<'_>| match options.format {
        Format::Xml => escape(text, &['&', '<', '>'], sink),
        Format::Plain | Format::Markdown => sink.put(text),
    };
    if let Outcome::Cut { from, to, left_out } = outcome {
        let (head, tail) = around(block.content, from, to);
        put(head, sink);
        sink.put(if head.is_empty() { "" } else { "\n" });
        write_notice(left_out, tokens, sink);
        sink.put(if tail.is_empty() { "" } else { "\n" });
        put(tail, sink);
    } else {
        put(block.content, sink);
    }
    if options.format == Format::Xml {
        sink.put("\n</context>");
    }
}

/// What is left of `content` before and after `from..to`.
pub(super) fn around(content: &str, from: usize, to: usize) -> (&str, &str) {
    (content.get(..from).unwrap_or_default(), content.get(to..).unwrap_or_default())
}

/// The longest that [`write`] can become, whatever is kept and cut.
pub(super) fn max_len(blocks: &[ContextBlock<'_>], options: &RenderOptions) -> usize {
    let mut sink = Sink::measure();
    let mut notices = 0usize;
    for block in blocks.iter().filter(|block| !block.content.is_empty()) {
        sink.put(JOINT);
        write_block(block, options, 0, Outcome::Kept, &mut sink);
        if Side::of(block.flags).is_some() {
            notices = notices.saturating_add(NOTICE_MAX);
        }
    }
    sink.len().saturating_add(notices)
}

/// Writes what stands in place of a part that is left out.
pub(super) fn write_notice(left_out: u32, tokens: u32, sink: &mut Sink<'_>) {
    sink.put("[… ");
    sink.put_grouped(u64::from(left_out));
    sink.put(" of ");
    sink.put_grouped(u64::from(tokens));
    sink.put(" tokens left out]");
}

fn shown(show: bool, text: &str) -> &str {
    if show { text } else { "" }
}

fn has_title(block: &ContextBlock<'_>, options: &RenderOptions) -> bool {
    let show = options.show;
    [(show.category, block.category), (show.label, block.label), (show.source, block.source)]
        .iter()
        .any(|(show, text)| !shown(*show, text).is_empty())
}

/// `category: label (source)` of what is shown; what a heading says if that is nothing.
fn write_title(block: &ContextBlock<'_>, options: &RenderOptions, sink: &mut Sink<'_>) {
    let mut put = |text: &str| write_line(text, &mut |part| sink.put(part));
    if !has_title(block, options) {
        let name = [block.label, block.category, "Context"].into_iter().find(|name| !name.is_empty());
        return put(name.unwrap_or_default());
    }
    let category = shown(options.show.category, block.category);
    let label = shown(options.show.label, block.label);
    let source = shown(options.show.source, block.source);
    put(category);
    if !category.is_empty() && !label.is_empty() {
        put(": ");
    }
    put(label);
    if category.is_empty() && label.is_empty() {
        put(source);
    } else if !source.is_empty() {
        put(" (");
        put(source);
        put(")");
    }
}

/// Gives `text` in parts, with a space for each line break and control character.
fn write_line(text: &str, put: &mut dyn FnMut(&str)) {
    let mut joint = "";
    for part in text.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        put(joint);
        put(part);
        joint = " ";
    }
}

/// Appends `text` with each of `special` (of `&`, `<`, `>`, `"`) as its entity.
fn escape(text: &str, special: &[char], sink: &mut Sink<'_>) {
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        let (clean, marked) = rest.split_at(at);
        sink.put(clean);
        let mut chars = marked.chars();
        sink.put(match chars.next() {
            Some('&') => "&amp;",
            Some('<') => "&lt;",
            Some('>') => "&gt;",
            _ => "&quot;",
        });
        rest = chars.as_str();
    }
    sink.put(rest);
}

/// Between two blocks.
pub(super) const JOINT: &str = "\n\n";

/// The longest notice in bytes, with a line break on either side.
const NOTICE_MAX: usize = "\n[… 4,294,967,295 of 4,294,967,295 tokens left out]\n".len();
