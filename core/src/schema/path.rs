//! Where a value stands in the instance: its JSON Pointer, put together from the containers that are open
//! around it. Nothing is read again for it but the keys on the way, and what a frame looks into by itself.

use super::entry::Entry;
use super::error::string_end;
use super::level::{ARRAY, Level, MEMBER, OBJECT, PATTERNED};
use super::source::Texts;
use super::work;
use crate::json::{self, Str};
use crate::sink::Sink;

/// The levels of a check that are open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open<'a> {
    /// The innermost.
    pub(super) level: Level,
    /// The work memory, with the levels around it at its end.
    pub(super) work: &'a [u32],
    pub(super) program: &'a [u8],
    /// The schema's texts.
    pub(super) schema: Texts<'a>,
    pub(super) instance: &'a str,
    /// The schemas that were noted for a value of which is asked what none of them looks at, the last one
    /// first.
    #[cfg(feature = "unevaluated")]
    pub(super) notes: &'a [u32],
}

impl Open<'_> {
    /// The levels, from the innermost outwards.
    pub(super) fn levels(&self) -> impl Iterator<Item = Level> {
        let mut top = self.work.len();
        let around = move |level: &Level| Level::read(self.work, level.around(&mut top)?);
        core::iter::successors(Some(self.level), around)
    }

    /// Appends the JSON Pointer of what stands at `at`: the start of a level that is open, or inside the
    /// innermost. Gives how many levels and bytes were gone through.
    pub(super) fn write_path(&self, at: usize, sink: &mut Sink<'_>) -> usize {
        // From the innermost outwards, and then back. Each place has a token, so they are no more than the
        // containers around.
        let mut places = [(0, 0); json::MAX_DEPTH as usize + 1];
        let (mut depth, mut gone_through) = (0, 1);
        let (mut level, mut top) = (self.level, self.work.len());
        while let Some((place, around)) =
            level.around(&mut top).and_then(|at| Some((at, Level::read(self.work, at)?)))
        {
            gone_through += 1;
            let inner = level.start;
            level = around;
            let has_token = match level.state {
                OBJECT | ARRAY | MEMBER => true,
                PATTERNED => false,
                _ => level.start < inner,
            };
            if has_token && let Some(free) = places.get_mut(depth) {
                *free = (place, inner as usize);
                depth += 1;
            }
        }
        let around = places.iter().take(depth).rev();
        let around = around.filter_map(|&(place, inner)| Some((Level::read(self.work, place)?, inner)));
        for (level, inner) in around.chain([(self.level, at)]) {
            gone_through += self.put_level(level, inner, at, sink);
        }
        gone_through
    }

    /// Appends the tokens that lead from a level to what starts at `inner` in it. Gives how many bytes were
    /// read again for it.
    fn put_level(&self, level: Level, inner: usize, at: usize, sink: &mut Sink<'_>) -> usize {
        let start = level.start as usize;
        match level.state {
            MEMBER => put_key(self.instance, level.entries as usize, sink),
            OBJECT | ARRAY if start < at => self.put_token(level, sink),
            OBJECT | ARRAY | PATTERNED => {}
            // A frame may look into its value by itself.
            _ if start < inner => {
                json::pointer_at(self.instance.get(start..).unwrap_or_default(), inner - start, sink);
                return inner - start;
            }
            _ => {}
        }
        0
    }

    /// Appends the token of the member or item of a level that is being read.
    fn put_token(&self, level: Level, sink: &mut Sink<'_>) {
        match (level.state, level.next.checked_sub(1), level.other_key()) {
            (ARRAY, Some(index), _) => {
                sink.put_byte(b'/');
                sink.put_u64(u64::from(index));
            }
            (OBJECT, _, Some(key)) => put_key(self.instance, key, sink),
            (OBJECT, Some(number), None) => {
                let at = (level.entries as usize).wrapping_add(Entry::SIZE.wrapping_mul(number as usize));
                sink.put_byte(b'/');
                json::put_token(Entry::read(self.program, at).name(self.schema), sink);
            }
            _ => {}
        }
    }
}

impl Level {
    /// In an object: where the key of a member stands that has no entry and is being read.
    pub(super) fn other_key(&self) -> Option<usize> {
        (self.items as usize).checked_sub(1)
    }

    /// Where in the work memory the level around this one was put, and then its end is `top`.
    fn around(&self, top: &mut usize) -> Option<usize> {
        *top = top.checked_sub((work::table(self.count as usize) + work::LEVEL) as usize)?;
        Some(*top)
    }
}

/// Appends the token of the key whose quote stands at `at`.
pub(super) fn put_key(instance: &str, at: usize, sink: &mut Sink<'_>) {
    let rest = instance.get(at..).unwrap_or_default();
    let key = string_end(rest).and_then(|end| rest.get(1..end.checked_sub(1)?));
    sink.put_byte(b'/');
    json::put_token(Str::new(key.unwrap_or_default()), sink);
}

#[cfg(test)]
mod tests {
    use crate::json;
    use crate::schema::{CheckOptions, CompileOptions, Report, Schema, Violation, compile};
    use crate::sink::Sink;

    /// Compares each path with the one that is found by reading the instance from its start.
    struct Compare(usize);

    impl Report for Compare {
        fn violation(&mut self, violation: &Violation<'_>) {
            let (mut path, mut expected) = ([0; 256], [0; 256]);
            let (mut path, mut expected) = (Sink::new(&mut path), Sink::new(&mut expected));
            violation.open.write_path(violation.at, &mut path);
            json::pointer_at(violation.open.instance, violation.at, &mut expected);
            assert_eq!(path.finish(), expected.finish(), "in {}", violation.open.instance);
            self.0 += 1;
        }
    }

    #[test]
    fn a_path_from_open_levels_is_the_one_that_reading_from_the_start_finds() {
        let names: std::string::String =
            (0..40).map(|name| std::format!("\"n{name}\":{{\"$ref\":\"#\"}},")).collect();
        let schema = std::format!(
            r##"{{"anyName":0,"type":["object","array","integer"],"maximum":3,"maxItems":2,"items":{{"$ref":"#/$defs/more"}},
            "properties":{{"a":{{"$ref":"#"}},"b/~":{{"$ref":"#/$defs/many"}},"\u0063":{{"$ref":"#/$defs/more"}},"d":{{"type":"null"}},"e":false}},
            "required":["a"],"additionalProperties":{{"$ref":"#/$defs/more"}},
            "$defs":{{"many":{{"properties":{{{names}"":{{"$ref":"#"}}}},"required":["n3","n39"],"additionalProperties":false}},
            "more":{{"$ref":"#","minimum":2,"minItems":1,"enum":[[1],{{"a":1}},2]}}}}}}"##
        );
        let mut program = [0; 8192];
        let used = compile(&schema, &CompileOptions::default(), &mut program).unwrap();
        let schema = Schema::new(&schema, &program[..used]);
        let mut random = 1u64;
        let mut below = |n: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20) as usize % n
        };
        let mut compared = Compare(0);
        for _ in 0..5000 {
            // Containers are opened and closed at random.
            let (mut text, mut open) = (std::string::String::new(), std::vec::Vec::new());
            for token in 0..200 {
                let first = text.ends_with(['{', '[']);
                let end = token > 30 || below(5) == 0;
                if let Some(close) = open.last().copied()
                    && end
                    && !text.ends_with(':')
                {
                    text.push(close);
                    open.pop();
                } else {
                    if !first && !text.is_empty() {
                        text.push(',');
                    }
                    if open.last() == Some(&'}') {
                        let keys =
                            ["a", "b/~", "c", "d", "e", "\\u0061", "x", "~/", "", "n3", "n39", "n\\u0031"];
                        text += &std::format!("\"{}\" : ", keys[below(keys.len())]);
                    }
                    match below(if open.len() < 12 { 8 } else { 3 }) {
                        0 => text += "1",
                        1 => text += "\"s\"",
                        2 => text += "7.5",
                        3 | 4 => {
                            text += " [";
                            open.push(']');
                        }
                        _ => {
                            text += "{";
                            open.push('}');
                        }
                    }
                }
                if open.is_empty() {
                    break;
                }
            }
            let verdict =
                schema.check(text.as_bytes(), &CheckOptions::default(), &mut [0; 2048], &mut compared);
            assert!(verdict.is_ok(), "{text}: {verdict:?}");
        }
        assert!(compared.0 > 30_000, "{}", compared.0);
    }
}
