//! Declared parameters, and the JSON Schema that says them.
//!
//! What is declared is written out as a schema, and that text is what the model is told and what is
//! compiled: nothing is enforced that was not said. The order of properties is the order of declaration.
//! Texts that are given as JSON (allowed values, defaults, bounds) are read strictly, and the error names
//! the parameter.
//!
//! ```
//! use toolcore::{json::Writer, schema::{ToolParameter, write_schema}, sink::Sink};
//! let parameters = [
//!     ToolParameter::string("unit").one_of(r#"["c","f"]"#),
//!     ToolParameter::integer("days").range("1", "14").optional(),
//! ];
//! let mut buffer = [0; 256];
//! let mut sink = Sink::new(&mut buffer);
//! write_schema(&parameters, &mut Writer::new(&mut sink), &mut Sink::measure()).unwrap();
//! assert_eq!(
//!     sink.finish().unwrap(),
//!     concat!(
//!         r#"{"type":"object","properties":{"unit":{"type":"string","enum":["c","f"]},"#,
//!         r#""days":{"type":"integer","minimum":1,"maximum":14}},"required":["unit"],"additionalProperties":false}"#
//!     )
//! );
//! ```

use super::convert::type_of;
use super::program::types;
use crate::json::{self, Kind, Number, Value, Writer};
use crate::sink::Sink;
use thiserror_no_std::Error;

/// How deep declared parameters may be nested.
pub const MAX_PARAMETER_DEPTH: usize = 16;

/// A parameter of a tool, or a part of one: a property of an object, the items of an array.
///
/// The texts of `enumeration`, `default`, `minimum` and `maximum` are JSON.
#[derive(Clone, Copy, Debug)]
pub struct ToolParameter<'a> {
    /// The property's name. Items have none.
    pub name: &'a str,
    /// The type of its values.
    pub kind: ParameterType,
    /// What it means, for the model. Left out if empty.
    pub description: &'a str,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it may be `null` as well.
    pub nullable: bool,
    /// The values that it may have, as a JSON array; `null` is added if it may be null.
    pub enumeration: Option<&'a str>,
    /// What stands in for an absent value, as JSON. The model is told; it is filled in only for tools that
    /// coerce. That the parameter accepts it is checked when the tool is registered.
    pub default: Option<&'a str>,
    /// The least number, as JSON.
    pub minimum: Option<&'a str>,
    /// The greatest number, as JSON.
    pub maximum: Option<&'a str>,
    /// The least number of characters.
    pub min_length: Option<u32>,
    /// The greatest number of characters.
    pub max_length: Option<u32>,
    /// The least number of items.
    pub min_items: Option<u32>,
    /// The greatest number of items.
    pub max_items: Option<u32>,
    /// What each item of an array is.
    pub items: Option<&'a ToolParameter<'a>>,
    /// The properties of an object.
    pub properties: &'a [ToolParameter<'a>],
    /// Whether an object may have other properties than these.
    pub additional: bool,
}

/// The type of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A string.
    String,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array.
    Array,
    /// An object.
    Object,
    /// `null` alone.
    Null,
    /// Any value.
    Any,
}

impl<'a> ToolParameter<'a> {
    /// A required parameter of this type.
    pub const fn new(name: &'a str, kind: ParameterType) -> Self {
        ToolParameter {
            name,
            kind,
            description: "",
            required: true,
            nullable: false,
            enumeration: None,
            default: None,
            minimum: None,
            maximum: None,
            min_length: None,
            max_length: None,
            min_items: None,
            max_items: None,
            items: None,
            properties: &[],
            additional: false,
        }
    }

    /// A required string.
    pub const fn string(name: &'a str) -> Self {
        ToolParameter::new(name, ParameterType::String)
    }

    /// A required integer.
    pub const fn integer(name: &'a str) -> Self {
        ToolParameter::new(name, ParameterType::Integer)
    }

    /// A required number.
    pub const fn number(name: &'a str) -> Self {
        ToolParameter::new(name, ParameterType::Number)
    }

    /// A required boolean.
    pub const fn boolean(name: &'a str) -> Self {
        ToolParameter::new(name, ParameterType::Boolean)
    }

    /// A required array with such items.
    pub const fn array(name: &'a str, items: &'a ToolParameter<'a>) -> Self {
        let mut parameter = ToolParameter::new(name, ParameterType::Array);
        parameter.items = Some(items);
        parameter
    }

    /// A required object with these properties and no others.
    pub const fn object(name: &'a str, properties: &'a [ToolParameter<'a>]) -> Self {
        let mut parameter = ToolParameter::new(name, ParameterType::Object);
        parameter.properties = properties;
        parameter
    }

    /// Says what it means.
    pub const fn describe(mut self, description: &'a str) -> Self {
        self.description = description;
        self
    }

    /// Lets it be absent.
    pub const fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// Lets it be `null`.
    pub const fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// Allows these values only, given as a JSON array.
    pub const fn one_of(mut self, json_array: &'a str) -> Self {
        self.enumeration = Some(json_array);
        self
    }

    /// Lets it be absent, with this value, given as JSON, in its place: filled in for tools that coerce, else
    /// only told to the model.
    pub const fn default_to(mut self, value: &'a str) -> Self {
        self.required = false;
        self.default = Some(value);
        self
    }

    /// Bounds a number, both ends included.
    pub const fn range(mut self, minimum: &'a str, maximum: &'a str) -> Self {
        self.minimum = Some(minimum);
        self.maximum = Some(maximum);
        self
    }

    /// Bounds the characters of a string.
    pub const fn length(mut self, min: u32, max: u32) -> Self {
        self.min_length = Some(min);
        self.max_length = Some(max);
        self
    }

    /// Bounds the items of an array.
    pub const fn count(mut self, min: u32, max: u32) -> Self {
        self.min_items = Some(min);
        self.max_items = Some(max);
        self
    }

    /// Lets an object have other properties.
    pub const fn open(mut self) -> Self {
        self.additional = true;
        self
    }
}

/// A declared parameter in whatever memory it stands.
pub trait Parameter: Copy {
    /// What is said of it; its own `items` and `properties` are not looked at.
    fn declared(&self) -> ToolParameter<'_>;
    /// The items of an array, if they are said.
    fn items(&self) -> Option<Self>;
    /// The property at `index` of an object, or `None` past the last.
    fn property(&self, index: usize) -> Option<Self>;
}

impl Parameter for &ToolParameter<'_> {
    fn declared(&self) -> ToolParameter<'_> {
        **self
    }
    fn items(&self) -> Option<Self> {
        self.items
    }
    fn property(&self, index: usize) -> Option<Self> {
        self.properties.get(index)
    }
}

/// A declared parameter that cannot be written as a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// A text that should be JSON is not.
    #[error("its {field} is not JSON: {error}")]
    NotJson {
        /// Which of its texts.
        field: &'static str,
        /// What is wrong with it.
        error: json::Error,
    },
    /// A JSON text is not of the kind that it must be.
    #[error("its {field} must be {expected}")]
    WrongKind {
        /// Which of its texts.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// One of its allowed values is not of its type.
    #[error("its list of allowed values has one of another type than its own")]
    ValueType,
    /// Its list of allowed values is empty.
    #[error("its list of allowed values is empty")]
    NoValue,
    /// A lower bound is above the upper one.
    #[error("its least {field} is above its greatest")]
    Bounds {
        /// What is bounded.
        field: &'static str,
    },
    /// Its default is not a value that it accepts.
    #[error("its default is not a value that it accepts")]
    Default,
    /// Parameters are nested deeper than [`MAX_PARAMETER_DEPTH`].
    #[error("it is nested deeper than 16 levels")]
    TooDeep,
    /// It has no name.
    #[error("a property of it has no name")]
    NoName,
}
impl core::error::Error for ParameterError {}

/// Writes the JSON Schema of an object with these properties and no others, and on failure the name of the
/// parameter that is wrong to `place`.
pub fn write_schema(
    parameters: &[ToolParameter<'_>],
    out: &mut Writer<'_, '_>,
    place: &mut Sink<'_>,
) -> Result<(), ParameterError> {
    write_parameter(&ToolParameter::object("", parameters), out, place)
}

/// Writes the JSON Schema of one parameter with all that is inside it, and on failure the name of the
/// parameter that is wrong to `place`.
pub fn write_parameter<P: Parameter>(
    root: P,
    out: &mut Writer<'_, '_>,
    place: &mut Sink<'_>,
) -> Result<(), ParameterError> {
    // Each parameter that is open, and its next property.
    let mut open: heapless::Vec<(P, usize), MAX_PARAMETER_DEPTH> = heapless::Vec::new();
    let mut next = Some(root);
    loop {
        if let Some(parameter) = next {
            let declared = parameter.declared();
            let entered = write_head(&declared, out);
            let entered =
                entered.and_then(|()| open.push((parameter, 0)).map_err(|_| ParameterError::TooDeep));
            entered.inspect_err(|_| place.put(declared.name))?;
        }
        let Some((parameter, index)) = open.last_mut() else { return Ok(()) };
        let declared = parameter.declared();
        next = match declared.kind {
            ParameterType::Object => parameter.property(*index),
            ParameterType::Array if *index == 0 => parameter.items(),
            _ => None,
        };
        *index += 1;
        match &next {
            Some(property) if declared.kind == ParameterType::Object => {
                let name = property.declared();
                if name.name.is_empty() {
                    place.put(declared.name);
                    return Err(ParameterError::NoName);
                }
                out.key(name.name);
            }
            Some(_) => out.key("items"),
            None => {
                write_tail(parameter, &declared, out);
                open.pop();
            }
        }
    }
}

/// A parameter's schema up to where those inside it begin.
fn write_head(declared: &ToolParameter<'_>, out: &mut Writer<'_, '_>) -> Result<(), ParameterError> {
    out.object_start();
    if let Some(name) = type_name(declared.kind) {
        out.key("type");
        if declared.nullable && name != "null" {
            out.array_start();
            out.string(name);
            out.string("null");
            out.array_end();
        } else {
            out.string(name);
        }
    }
    if !declared.description.is_empty() {
        out.key("description");
        out.string(declared.description);
    }
    if let Some(text) = declared.enumeration {
        let values = read("list of allowed values", text, Some(Kind::Array), "a JSON array")?;
        out.key("enum");
        out.array_start();
        let mut has_null = false;
        let allowed = types_of(declared.kind) | if declared.nullable { types::NULL } else { types::NONE };
        for value in values.items() {
            if type_of(value) & allowed == 0 {
                return Err(ParameterError::ValueType);
            }
            has_null |= value.is_null();
            out.raw(value.raw());
        }
        if values.item(0).is_none() {
            return Err(ParameterError::NoValue);
        }
        if declared.nullable && !has_null {
            out.null();
        }
        out.array_end();
    }
    if let (Some(minimum), Some(maximum)) = (declared.minimum, declared.maximum)
        && let (Some(minimum), Some(maximum)) = (Number::parse(minimum.trim()), Number::parse(maximum.trim()))
        && minimum.compare(maximum).is_gt()
    {
        return Err(ParameterError::Bounds { field: "number" });
    }
    for (field, least, greatest) in [
        ("number of characters", declared.min_length, declared.max_length),
        ("number of items", declared.min_items, declared.max_items),
    ] {
        if least.zip(greatest).is_some_and(|(least, greatest)| least > greatest) {
            return Err(ParameterError::Bounds { field });
        }
    }
    for (keyword, field, text, kind, expected) in [
        ("default", "default", declared.default, None, "JSON"),
        ("minimum", "least number", declared.minimum, Some(Kind::Number), "a JSON number"),
        ("maximum", "greatest number", declared.maximum, Some(Kind::Number), "a JSON number"),
    ] {
        if let Some(text) = text {
            out.key(keyword);
            out.raw(read(field, text, kind, expected)?.raw());
        }
    }
    for (keyword, bound) in [
        ("minLength", declared.min_length),
        ("maxLength", declared.max_length),
        ("minItems", declared.min_items),
        ("maxItems", declared.max_items),
    ] {
        if let Some(bound) = bound {
            out.key(keyword);
            out.u64(u64::from(bound));
        }
    }
    if declared.kind == ParameterType::Object {
        out.key("properties");
        out.object_start();
    }
    Ok(())
}

/// The rest of a parameter's schema.
fn write_tail<P: Parameter>(parameter: &P, declared: &ToolParameter<'_>, out: &mut Writer<'_, '_>) {
    if declared.kind == ParameterType::Object {
        out.object_end();
        let mut any = false;
        for property in (0..).map_while(|index| parameter.property(index)) {
            let property = property.declared();
            if property.required {
                if !any {
                    out.key("required");
                    out.array_start();
                    any = true;
                }
                out.string(property.name);
            }
        }
        if any {
            out.array_end();
        }
        if !declared.additional {
            out.key("additionalProperties");
            out.bool(false);
        }
    }
    out.object_end();
}

fn read<'t>(
    field: &'static str,
    text: &'t str,
    kind: Option<Kind>,
    expected: &'static str,
) -> Result<Value<'t>, ParameterError> {
    let value = json::parse(text.as_bytes(), &json::Options::default());
    let value = value.map_err(|error| ParameterError::NotJson { field, error })?;
    if kind.is_none_or(|kind| value.kind() == kind) {
        Ok(value)
    } else {
        Err(ParameterError::WrongKind { field, expected })
    }
}

fn types_of(kind: ParameterType) -> u8 {
    match kind {
        ParameterType::String => types::STRING,
        ParameterType::Integer => types::INTEGER,
        ParameterType::Number => types::NUMBER,
        ParameterType::Boolean => types::BOOLEAN,
        ParameterType::Array => types::ARRAY,
        ParameterType::Object => types::OBJECT,
        ParameterType::Null => types::NULL,
        ParameterType::Any => types::ALL,
    }
}

fn type_name(kind: ParameterType) -> Option<&'static str> {
    Some(match kind {
        ParameterType::String => "string",
        ParameterType::Integer => "integer",
        ParameterType::Number => "number",
        ParameterType::Boolean => "boolean",
        ParameterType::Array => "array",
        ParameterType::Object => "object",
        ParameterType::Null => "null",
        ParameterType::Any => return None,
    })
}
