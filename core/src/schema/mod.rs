//! JSON Schema without a heap: what is told to the model is what is enforced.
//!
//! - [`compile`] turns a schema's text into a flat program in the caller's memory, once. [`write_schema`]
//!   makes such a text from declared parameters, and [`lower()`] writes it out as a provider takes it.
//! - [`Schema::check`] reads an instance strictly and checks it in the same pass. Every problem is reported,
//!   with the place, what was expected and what came ([`Violation`], [`ListReport`]).
//! - [`coerce`], for tools that ask for it, makes neighbouring types fit and reports each change.
//!
//! Drafts 2020-12 and 7, chosen by `$schema`: every keyword; content keywords are annotations, and so are
//! formats unless `CompileOptions::formats` asks for them. What `pattern` and `patternProperties` need is
//! linked with the feature `pattern`, what formats need with the feature `format`, what `unevaluatedItems` and
//! `unevaluatedProperties` need with the feature `unevaluated`. References lead to any place of the same text
//! by JSON Pointer, `$id` or anchor, and into the documents that are handed over ([`compile_with`],
//! [`Resource`]). A keyword that would change what is accepted and is not supported is
//! refused when compiling, by name and place; it is never ignored. Annotations and unknown keywords change
//! nothing. A key that stands twice in an object is a problem of every instance: that the last one wins is not
//! for a check but for [`coerce`], which takes out those before it if [`CoerceOptions::last_wins`] says so.
//!
//! Numbers compare exactly, whatever their size. Nothing here recurses, and no schema or instance makes it
//! panic or run on: compiling takes time in proportion to the text (and a logarithm for large objects and
//! references) and some kB of stack; checking takes time in proportion to the instance plus a budget of
//! steps ([`CheckOptions::steps`]), and work memory only for objects and arrays inside one another
//! ([`Schema::work_words`]). An instance that the schema expects takes almost no steps, so the default of a
//! million costs nothing and can stay; who must bound the time of a check lowers it, a step being some hundred
//! instructions at most.
//!
//! ```
//! use toolcore::schema::{CheckOptions, CompileOptions, ListReport, Schema, compile};
//! use toolcore::sink::Sink;
//!
//! let text = r#"{"properties":{"a":{"type":"integer"},"b":{}},"required":["a","b"]}"#;
//! let mut memory = [0; 128];
//! let used = compile(text, &CompileOptions::default(), &mut memory).unwrap();
//! let schema = Schema::new(text, &memory[..used]);
//!
//! let mut line = [0; 128];
//! let mut sink = Sink::new(&mut line);
//! let mut report = ListReport::new(&mut sink);
//! let verdict = schema.check(br#"{"a":"x"}"#, &CheckOptions::default(), &mut [], &mut report).unwrap();
//! report.finish();
//! assert!(!verdict.valid);
//! assert_eq!(sink.finish().unwrap(), r#"/a: expected integer, got string "x"; /b: required"#);
//! ```

mod allowed;
mod alternatives;
mod array;
mod build;
mod check;
mod coerce;
mod compile;
mod compiler;
mod convert;
mod cycles;
mod defaults;
mod dialect;
mod distinct;
mod dynamic;
mod edit;
mod entry;
mod equal;
mod error;
#[cfg_attr(not(feature = "unevaluated"), path = "not_evaluated.rs")]
mod evaluated;
mod fast;
mod fit;
#[cfg(feature = "format")]
pub mod format;
mod frame;
mod index;
mod keyword;
mod level;
mod list;
mod lower;
mod machine;
#[cfg(feature = "pattern")]
mod matching;
mod member;
mod mend;
mod mending;
mod pass;
mod path;
#[cfg(feature = "pattern")]
pub mod pattern;
mod place;
mod pointer;
mod program;
mod refs;
mod report;
mod scalar;
mod source;
mod splice;
mod store;
mod table;
mod uri;
mod values;
mod wanted;
mod whole;
mod work;

pub use build::{
    MAX_PARAMETER_DEPTH, Parameter, ParameterError, ParameterType, ToolParameter, write_parameter,
    write_schema,
};
pub use check::{CheckOptions, Schema, Verdict, WORK_PER_LEVEL};
pub use coerce::{CoerceError, CoerceOptions, Rule, coerce};
pub use compile::{
    CompileOptions, Draft, MAX_LEVELS, compile, compile_with, program_size, program_size_with,
};
pub use defaults::{WrongDefault, wrong_defaults};
pub use error::{CheckError, Keyword, SchemaError, SchemaErrorKind};
pub use list::ListReport;
pub use lower::{Change, ChangeKind, StrictProblem, StrictProblemKind, Subset, lower, lower_with, subset};
pub(crate) use lower::{Counts, lower_counted};
pub use report::{NoReport, Report, Violation};
pub use source::Resource;
pub use splice::Coercion;
