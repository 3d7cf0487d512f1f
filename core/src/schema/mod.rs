//! JSON Schema
mod build;
mod check;
mod compile;
mod equal;
mod error;
mod lower;
mod program;
mod refs;
mod report;
mod scalar;
mod source;
mod store;
mod table;
mod work;
pub use build::{
    MAX_PARAMETER_DEPTH, Parameter, ParameterError, ParameterType, ToolParameter, write_parameter, write_schema,
};
pub use check::{CheckOptions, Schema, Verdict, WORK_PER_LEVEL};
pub use compile::{CompileOptions, Draft, MAX_LEVELS, compile, program_size};
pub use error::{CheckError, Keyword, SchemaError, SchemaErrorKind};
pub use lower::{Change, StrictProblem, StrictProblemKind, StrictSubset, strict_problem, write_lowered};
pub use report::{ListReport, NoReport, Report, Violation};
