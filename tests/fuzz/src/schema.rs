//! The schema compiler and checker.

use toolcore::json::{self, Writer};
use toolcore::schema::{
    CheckError, CheckOptions, CoerceError, CoerceOptions, Coercion, CompileOptions, Draft, NoReport,
    ParameterType, Report, Resource, Rule, Schema, SchemaError, SchemaErrorKind, ToolParameter, Violation,
    coerce as coerce_arguments, compile, compile_with, lower, program_size, program_size_with, subset,
    write_schema,
};
use toolcore::sink::Sink;

use super::generate::{URIS, generated};
use super::oracle::Oracle;
use super::{split, text, written};
use std::cell::Cell;

/// Schema text and up to two resources, and definitions that refer to each other as the input says: compiled or refused
/// with a place; the room that is measured suffices, the program does not depend on what was in the memory, and what goes
/// out to providers is JSON and a schema again.
pub fn schema_compile(input: &[u8]) {
    let (schema, rest) = split(input);
    let resources: Vec<_> = [URIS[1], "https://example.com/third"]
        .into_iter()
        .zip(rest.split(|byte| *byte == 0).filter(|part| !part.is_empty()))
        .map(|(uri, part)| Resource { uri, text: text(part) })
        .collect();
    compiled(text(schema), &resources, &options(input));
    compiled(&definitions(input), &[], &options(&[]));
}

/// A dialect, and whether formats are asserted, as the input's length says.
fn options(input: &[u8]) -> CompileOptions {
    let default_draft = if input.len() % 3 == 1 { Draft::Draft7 } else { Draft::Draft2020 };
    CompileOptions { default_draft, formats: input.len() % 2 == 1, ..CompileOptions::default() }
}

/// A schema of definitions, each with an `enum` or references to others or to what is inside them.
fn definitions(input: &[u8]) -> String {
    let mut bytes = input.iter().copied().take(64).chain(std::iter::repeat(0)).map(usize::from);
    let mut below = |n: usize| bytes.next().unwrap_or_default() % n;
    let (count, references) = (2 + below(8), 1 + below(5));
    let mut schema = String::from("{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for number in 0..count {
        schema += &format!("{}\"d{number}\":{{\"properties\":{{", if number > 0 { "," } else { "" });
        for member in 0..references {
            let comma = if member > 0 { "," } else { "" };
            let (kind, target, inside) = (below(5), below(count), below(references));
            schema += &match kind {
                0 => format!("{comma}\"p{member}\":{{\"enum\":[{target}]}}"),
                1 => {
                    format!("{comma}\"p{member}\":{{\"$ref\":\"#/$defs/d{target}/properties/p{inside}\"}}")
                }
                _ => format!("{comma}\"p{member}\":{{\"$ref\":\"#/$defs/d{target}\"}}"),
            };
        }
        schema += "}}";
    }
    schema + "}}"
}

fn compiled(text: &str, resources: &[Resource<'_>], options: &CompileOptions) {
    let need = match program_size_with(text, resources, options) {
        Ok(need) => need,
        Err(error) => {
            refused(error, text, resources);
            assert!(compile_with(text, resources, options, &mut [0; 1 << 16]).is_err());
            return;
        }
    };
    let (mut clean, mut dirty) = (vec![0; need], vec![0xA5; need]);
    let used = compile_with(text, resources, options, &mut clean);
    assert_eq!(compile_with(text, resources, options, &mut dirty), used);
    let used = match used {
        Ok(used) => used,
        Err(error) => {
            assert_eq!(error.no_space(), None, "{need} bytes were measured for {text}");
            return refused(error, text, resources);
        }
    };
    assert!(used <= need, "{used} bytes where {need} were measured for {text}");
    assert_eq!(clean[..used], dirty[..used]);
    if let Some(less) = used.checked_sub(1) {
        let error = compile_with(text, resources, options, &mut vec![0; less]).unwrap_err();
        assert!(error.no_space().is_some_and(|need| need > less));
    }
    if !resources.is_empty() {
        return;
    }
    let subsets = [
        subset::PLAIN,
        subset::OPENAI,
        subset::ANTHROPIC,
        subset::OPENAI_STRICT,
        subset::ANTHROPIC_STRICT,
        subset::GEMINI_JSON,
        subset::GEMINI_SCHEMA,
    ];
    for subset in subsets {
        let place = |offset: usize| assert!(offset <= text.len());
        let problem = Cell::new(None);
        let lowered = written(|sink| {
            let written = lower(text, &subset, &mut Writer::new(sink), &mut |change| place(change.offset));
            problem.set(written.err());
        });
        match problem.get() {
            Some(problem) => place(problem.offset),
            None => json::validate(lowered.as_bytes(), &json::Options::default()).unwrap(),
        }
    }
    let lowered = written(|sink| lower(text, &subset::PLAIN, &mut Writer::new(sink), &mut |_| {}).unwrap());
    assert!(program_size(&lowered, options).is_ok(), "{text} became {lowered}");
}

/// Declared parameters, one for each piece of the input: refused, or written as a schema that compiles.
pub fn declared(input: &[u8]) {
    let pieces: Vec<&[u8]> = input.split(|byte| *byte == 0).take(8).collect();
    let leaves: Vec<ToolParameter<'_>> = pieces.iter().map(|piece| parameter(piece)).collect();
    let (inner, outer) = leaves.split_at(leaves.len() / 2);
    let object = ToolParameter { properties: inner, ..ToolParameter::new("", ParameterType::Object) };
    let list = ToolParameter { items: Some(&object), ..ToolParameter::new("list", ParameterType::Array) };
    let all: Vec<_> = outer.iter().copied().chain([list]).collect();
    let (mut schema, mut place) = (vec![0; 4096 + 8 * input.len()], [0; 256]);
    let (mut out, mut place) = (Sink::new(&mut schema), Sink::new(&mut place));
    if write_schema(&all, &mut Writer::new(&mut out), &mut place).is_err() {
        return;
    }
    let schema = out.finish().unwrap();
    assert_eq!(json::validate(schema.as_bytes(), &json::Options::default()), Ok(()), "{schema}");
    match program_size(schema, &CompileOptions::default()) {
        Ok(_) => {}
        Err(error) => refused(error, schema, &[]),
    }
}

/// The first bytes select what is said, the rest is the name and every text.
fn parameter(piece: &[u8]) -> ToolParameter<'_> {
    let (head, rest) = piece.split_at(piece.len().min(3));
    let at = |index: usize| head.get(index).copied().unwrap_or_default();
    let text = text(rest);
    let kinds = [
        ParameterType::Any,
        ParameterType::String,
        ParameterType::Integer,
        ParameterType::Number,
        ParameterType::Boolean,
        ParameterType::Array,
        ParameterType::Object,
    ];
    let some = |bit: u8| (at(1) >> bit & 1 == 1).then_some(text);
    let count = |bit: u8| (at(2) >> bit & 1 == 1).then_some(u32::from(at(2)));
    ToolParameter {
        name: text.split(' ').next().unwrap_or_default(),
        kind: kinds[usize::from(at(0)) % kinds.len()],
        description: text,
        required: at(0) & 0x80 != 0,
        nullable: at(0) & 0x40 != 0,
        additional: at(0) & 0x20 != 0,
        enumeration: some(0),
        default: some(1),
        minimum: some(2),
        maximum: some(3),
        min_length: count(0),
        max_length: count(1),
        min_items: count(2),
        max_items: count(3),
        items: None,
        properties: &[],
    }
}

fn refused(error: SchemaError, text: &str, resources: &[Resource<'_>]) {
    let text = error.resource.map_or(text, |number| resources[number].text);
    assert!(error.offset <= text.len());
    assert!(!written(|sink| error.write_message(text, sink)).is_empty());
    written(|sink| error.write_path(text, sink));
}

/// A schema with a resource, of every keyword, and instances, as the bytes choose: what a check says is what a checker says
/// that is as simple as can be, wherever the program lies, and the room that is asked for suffices.
pub fn schema_generated(input: &[u8]) {
    let generated = generated(input);
    let (root, other) = (generated.root.to_string(), generated.resource.to_string());
    let default_draft = if generated.old { Draft::Draft7 } else { Draft::Draft2020 };
    let options = CompileOptions { default_draft, ..CompileOptions::default() };
    let resources = [Resource { uri: URIS[1], text: &other }];
    compiled(&root, &resources, &options);
    let mut program = vec![0; program_size_with(&root, &resources, &options).unwrap_or(0)];
    let used = match compile_with(&root, &resources, &options, &mut program[..]) {
        Ok(used) => used,
        Err(error) => {
            let expected = matches!(
                error.kind,
                SchemaErrorKind::UnresolvedRef
                    | SchemaErrorKind::UnknownDocument
                    | SchemaErrorKind::RefCycle
                    | SchemaErrorKind::RefLimit
            );
            assert!(expected, "{error}: {root} with {other}");
            return;
        }
    };
    // At an odd place, without anything behind it.
    let moved = [&[0xFF], &program[..used]].concat();
    let schema = Schema::with_resources(&root, &resources, &moved[1..]);
    for instance in &generated.instances {
        let text = instance.to_string();
        let Some(valid) = check(schema, text.as_bytes()) else { continue };
        if !generated.dynamic
            && let Some(expected) = Oracle::accepts(&generated, instance)
        {
            assert_eq!(valid, expected, "{:?}: {root} with {other} and {text}", generated.old);
        }
    }
}

/// A schema, an instance, and bytes as its program, with and without the first word of one: never a panic and never without
/// end, in whatever work memory.
pub fn schema_program(input: &[u8]) {
    let (schema, rest) = split(input);
    let (instance, program) = split(rest);
    let mut program = program.to_vec();
    damaged(Schema::new(text(schema), &program), instance);
    let mut real = [0; 64];
    compile("{\"not\":{}}", &CompileOptions::default(), &mut real).unwrap();
    if let (Some(first), [magic @ .., _]) = (program.first_chunk_mut(), &real[..5]) {
        let first: &mut [u8; 4] = first;
        first.copy_from_slice(magic);
    }
    damaged(Schema::new(text(schema), &program), instance);
}

/// A schema, an instance, and bytes to damage the compiled program with: the verdict agrees with what is reported, the
/// instance is read as strictly as by the JSON reader, the room that is asked for suffices, and a program that does not
/// belong to the schema gives a wrong answer at worst.
pub fn schema_check(input: &[u8]) {
    let (schema, rest) = split(input);
    let (instance, damage) = split(rest);
    let schema = text(schema);
    let mut program = vec![0; 1 << 14];
    let Ok(size) = compile(schema, &CompileOptions::default(), &mut program) else { return };
    program.truncate(size);
    check(Schema::new(schema, &program), instance);
    for (at, byte) in damage.iter().enumerate() {
        let len = program.len();
        if len > 0 {
            program[(at * 37 + usize::from(*byte)) % len] ^= byte.rotate_left(3);
        }
    }
    if !damage.is_empty() {
        damaged(Schema::new(schema, &program), instance);
        program.truncate(usize::from(damage[0]));
        damaged(Schema::new(schema, &program), instance);
    }
}

/// A schema and arguments: what coercion gives is JSON, the room that is asked for suffices, and valid arguments only get
/// defaults.
pub fn coerce(input: &[u8]) {
    let (schema, instance) = split(input);
    let (schema, instance) = (text(schema), text(instance));
    let mut program = vec![0; 1 << 14];
    let Ok(size) = compile(schema, &CompileOptions::default(), &mut program) else { return };
    let schema = Schema::new(schema, &program[..size]);
    let options = CoerceOptions { wrap_scalars: instance.len() % 2 == 1, ..CoerceOptions::default() };
    let mut rules = Vec::new();
    let (mut work, mut out) = (Vec::new(), Vec::new());
    let coerced = loop {
        rules.clear();
        let mut changed = |change: &Coercion<'_>| {
            rules.push(change.rule);
            written(|sink| change.write_path(sink));
        };
        let coerced = coerce_arguments(schema, instance, &options, &mut work, &mut out, &mut changed);
        match coerced.map(|coerced| coerced.map(str::to_owned)) {
            Ok(coerced) => break coerced,
            Err(CoerceError::NoWork { need }) if need > work.len() => work = vec![0; need],
            Err(CoerceError::NoSpace { need }) if need > out.len() => out = vec![0; need],
            Err(error @ (CoerceError::NoWork { .. } | CoerceError::NoSpace { .. })) => {
                panic!("{error}, and there is that much")
            }
            Err(CoerceError::Json(error)) => {
                assert_eq!(json::validate(instance.as_bytes(), &options.check.json), Err(error));
                return;
            }
            Err(_) => return,
        }
    };
    assert_eq!(coerced.is_some(), !rules.is_empty());
    let Some(coerced) = coerced else { return };
    assert_eq!(json::validate(coerced.as_bytes(), &json::Options::default()), Ok(()), "{coerced}");
    let mut enough = vec![0; schema.work_words(&options.check)];
    if let Ok(verdict) = schema.check(instance.as_bytes(), &options.check, &mut enough, &mut NoReport) {
        assert!(!verdict.valid || rules.iter().all(|rule| *rule == Rule::DefaultAdded), "{rules:?}");
    }
}

/// Whether an instance fits, if that can be said.
fn check(schema: Schema<'_>, instance: &[u8]) -> Option<bool> {
    let options = CheckOptions::default();
    let mut enough = vec![0; schema.work_words(&options)];
    let verdict = schema.check(instance, &options, &mut enough, &mut Count(0));
    assert!(!matches!(verdict, Err(CheckError::NoWork { .. })), "the room that always suffices does not");
    let valid = verdict.ok().map(|verdict| verdict.valid);
    let mut work = Vec::new();
    loop {
        let mut report = Count(0);
        match schema.check(instance, &options, &mut work, &mut report) {
            Ok(verdict) => {
                assert_eq!(json::validate(instance, &options.json), Ok(()));
                assert_eq!(verdict.valid, report.0 == 0);
                assert_eq!(verdict.problems, report.0);
                assert_eq!(Some(verdict.valid), valid);
                return valid;
            }
            Err(CheckError::NoWork { need }) => {
                assert!(need > work.len(), "the room that was asked for is not enough");
                assert!(need <= enough.len(), "more room was asked for than always suffices");
                work = vec![0; need];
            }
            Err(CheckError::Json(error)) => {
                assert_eq!(json::validate(instance, &options.json), Err(error));
                return None;
            }
            Err(_) => return None,
        }
    }
}

fn damaged(schema: Schema<'_>, instance: &[u8]) {
    for words in [0, 40, 512] {
        let options = CheckOptions { steps: 100_000, ..CheckOptions::default() };
        schema.check(instance, &options, &mut vec![0; words], &mut Count(0)).ok();
        let (mut work, mut out) = (vec![0; words], [0; 4096]);
        let options = CoerceOptions { check: options, ..CoerceOptions::default() };
        coerce_arguments(schema, text(instance), &options, &mut work, &mut out, &mut |_| {}).ok();
    }
    schema.accepts_object();
}

/// Counts violations, and has each write its texts.
struct Count(usize);

impl Report for Count {
    fn violation(&mut self, violation: &Violation<'_>) {
        self.0 += 1;
        written(|sink| violation.write_path(sink));
        written(|sink| violation.write_schema_path(sink));
        assert!(!written(|sink| violation.write_message(sink)).is_empty());
        assert!(!violation.keyword().name().is_empty());
    }
}
