//! Generated cases from a fixed seed, and the text of a report rebuilt from the rules.

use toolcore::context::*;

/// One token for four bytes, by reading.
pub(crate) fn bytes(text: &str) -> u32 {
    text.len().div_ceil(4) as u32
}

pub(crate) type Counter<'c> = &'c dyn Fn(&str) -> u32;

/// Runs `check` on every case with every counter.
pub(crate) fn for_each_case(mut check: impl FnMut(&Case, &RenderOptions, &str, Counter<'_>)) {
    let words = |text: &str| text.split_whitespace().count() as u32;
    let chars = |text: &str| text.chars().count() as u32;
    // Charges for each change between letters and others, and for a paragraph's end.
    let edges = |text: &str| {
        let kinds: Vec<bool> = text.chars().map(char::is_alphanumeric).collect();
        let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
        (changes + 7 * text.matches("\n\n").count() + 1) as u32
    };
    // Adds marks to each text, so that a sum of parts is far too high.
    let marked = |text: &str| bytes(text) + 3;
    // Neither additive nor growing with the text.
    let odd = |text: &str| {
        bytes(text) + (text.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte)) >> 7) % 9
    };
    let all = |_: &str| u32::MAX;
    let none = |_: &str| 0;
    let counters: [(&str, Counter<'_>); 8] = [
        ("bytes", &bytes),
        ("words", &words),
        ("chars", &chars),
        ("edges", &edges),
        ("marked", &marked),
        ("odd", &odd),
        ("all", &all),
        ("none", &none),
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..400 {
        let case = Case::new(&mut random);
        for (name, counter) in counters {
            let options = case.options(&mut random, counter);
            check(&case, &options, name, counter);
        }
    }
}

pub(crate) struct Case {
    contents: Vec<(String, i32, BlockFlags, u32)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) text: String,
    pub(crate) used: u32,
    pub(crate) room: u32,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Case {
    pub(crate) fn new(random: &mut Random) -> Self {
        let pieces = [
            "word",
            "a",
            " ",
            " ",
            " ",
            "\n",
            "\n\n",
            "\r\n",
            "  ",
            "ß",
            "日本",
            "🦀",
            "</context>",
            "&",
            "one two",
            "\t",
            "longer-word",
            ".",
        ];
        let priorities = [i32::MIN, -1, 0, 0, 1, 2, i32::MAX];
        let contents = (0..random.below(12)).map(|_| {
            let content = (0..[0, 3, 10, 40, 120][random.below(5)])
                .map(|_| pieces[random.below(pieces.len())])
                .collect();
            let flags = BlockFlags::from_bits(random.below(32) as u32).unwrap();
            let flags =
                if random.below(3) > 0 { BlockFlags::from_bits(flags.bits() & !3).unwrap() } else { flags };
            let min_tokens = [0, 0, 1, 5, 30, u32::MAX][random.below(6)];
            (content, priorities[random.below(priorities.len())], flags, min_tokens)
        });
        Case { contents: contents.collect() }
    }

    /// Options whose budget is between nothing and a little more than all.
    pub(crate) fn options(&self, random: &mut Random, counter: Counter<'_>) -> RenderOptions {
        let all =
            self.contents.iter().map(|block| u64::from(counter(&block.0)) + 2).sum::<u64>().min(1 << 20);
        let yes = |random: &mut Random| random.below(3) == 0;
        RenderOptions {
            budget: [random.below(all as usize + 2) as u32, random.below(40) as u32, u32::MAX]
                [random.below(8).saturating_sub(5)],
            reserve: if yes(random) { random.below(20) as u32 } else { 0 },
            format: [Format::Plain, Format::Plain, Format::Xml, Format::Markdown][random.below(4)],
            order: if yes(random) { Order::Input } else { Order::Priority },
            policy: if yes(random) { Policy::Strict } else { Policy::Greedy },
            show: Show { category: yes(random), label: yes(random), source: yes(random) },
        }
    }

    pub(crate) fn blocks<'c>(&'c self) -> Vec<ContextBlock<'c>> {
        let block =
            |(content, priority, flags, min_tokens): &'c (String, i32, BlockFlags, u32)| ContextBlock {
                category: "log",
                source: "a<b\n\"",
                priority: *priority,
                flags: *flags,
                min_tokens: *min_tokens,
                ..ContextBlock::new(content)
            };
        self.contents.iter().map(block).collect()
    }

    pub(crate) fn render(
        &self,
        options: &RenderOptions,
        counter: impl Fn(&str) -> u32,
    ) -> Result<Done, RenderError> {
        render_owned(&self.blocks(), options, &counter)
    }
}

pub(crate) fn render_owned(
    blocks: &[ContextBlock<'_>],
    options: &RenderOptions,
    counter: Counter<'_>,
) -> Result<Done, RenderError> {
    let mut states = vec![BlockState::default(); blocks.len()];
    let mut buffer = vec![0; max_len(blocks, options)];
    let report = render(blocks, options, &counter, &mut states, &mut buffer)?;
    assert_eq!(report.blocks().count(), blocks.len());
    let outcomes = report.blocks().map(|block| block.outcome).collect();
    Ok(Done { text: report.text.into(), used: report.used, room: report.room, outcomes })
}

pub(crate) fn count_part(counter: Counter<'_>, part: &str) -> u32 {
    if part.is_empty() { 0 } else { counter(part) }
}

/// Indexes by descending priority: a stable sort keeps the input order of equal ones.
pub(crate) fn by_priority(blocks: &[ContextBlock<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(blocks[*index].priority));
    order
}

/// The text that belongs to `outcomes`, from the description of the formats.
pub(crate) fn rebuilt(
    blocks: &[ContextBlock<'_>],
    options: &RenderOptions,
    counter: Counter<'_>,
    outcomes: &[Outcome],
) -> String {
    let order = if options.order == Order::Input { (0..blocks.len()).collect() } else { by_priority(blocks) };
    let xml = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut texts = Vec::new();
    for index in order {
        let ContextBlock { category, content, .. } = blocks[index];
        let line = match outcomes[index] {
            Outcome::Kept => content.to_string(),
            Outcome::Cut { from, to, left_out } => {
                let notice =
                    format!("[… {} of {} tokens left out]", grouped(left_out), grouped(counter(content)));
                let head = if from > 0 { format!("{}\n", &content[..from]) } else { String::new() };
                let tail = if to < content.len() { format!("\n{}", &content[to..]) } else { String::new() };
                head + &notice + &tail
            }
            _ => continue,
        };
        let title = match (options.show.category, options.show.source) {
            (true, true) => "log (a<b \")",
            (true, false) => "log",
            (false, true) => "a<b \"",
            (false, false) => "",
        };
        let shown = |show: bool, attribute: &'static str| if show { attribute } else { "" };
        texts.push(match options.format {
            Format::Plain if title.is_empty() => line,
            Format::Plain => format!("[{title}]\n{line}"),
            Format::Xml => format!(
                "<context{}{}>\n{}\n</context>",
                shown(options.show.category, " category=\"log\""),
                shown(options.show.source, " source=\"a&lt;b &quot;\""),
                xml(&line)
            ),
            Format::Markdown => format!("## {}\n\n{line}", if title.is_empty() { category } else { title }),
        });
    }
    texts.join("\n\n")
}

pub(crate) fn grouped(value: u32) -> String {
    let digits = value.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// xorshift64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % bound.max(1) as u64) as usize
    }
}
