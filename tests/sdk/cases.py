"""What is sent: tools, results and turns of a model, each with a name that says what is hard about it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call as everyone should understand it; `arguments` are values, not text."""

    id: str | None
    name: str
    arguments: Any


@dataclass(frozen=True)
class Turn:
    """What a model says. `end` is one of calls, stop, truncated, refused.

    The last call of a truncated turn is cut.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    end: str = "calls"


@dataclass(frozen=True)
class Result:
    """A result as it stands in a request; `failed` is None where the wire has no flag."""

    id: str | None
    text: str
    failed: bool | None = None
    # Their media types.
    images: tuple[str, ...] = ()


STRING = {"type": "string"}


def closed(properties, **more):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **more,
    }


# Strict as they stand: closed, and everything is required.
STRICT_TOOLS = {
    "plain": closed({"city": STRING, "n": {"type": "integer"}}),
    "no arguments": closed({}),
    "nested": closed({"at": closed({"street": STRING, "tags": {"type": "array", "items": STRING}})}),
    "list of objects": closed({"rows": {"type": "array", "items": closed({"id": {"type": "integer"}})}}),
    "enum": closed({"unit": {"type": "string", "enum": ["c", "f"]}}),
    "nullable": closed({"unit": {"anyOf": [STRING, {"type": "null"}]}}),
    "reference": closed({"a": {"$ref": "#/$defs/P"}}, **{"$defs": {"P": closed({"x": {"type": "number"}})}}),
}

OTHER_TOOLS = {
    "without a word about arguments": {"type": "object"},
    "optional": {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a"]},
    "type array": {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["array", "null"], "items": STRING}},
    },
    "enum with null": {
        "type": "object",
        "properties": {"a": {"enum": ["x", None]}, "b": {"type": ["string", "null"], "enum": ["x", None]}},
    },
    "enum of integers": {"type": "object", "properties": {"d": {"type": "integer", "enum": [60, 1440]}}},
    "enum of all kinds": {"type": "object", "properties": {"d": {"enum": ["a", 1, 2.5, True]}}},
    "const": {"type": "object", "properties": {"kind": {"const": "circle"}, "n": {"const": 1}}},
    "oneOf": {"type": "object", "properties": {"a": {"oneOf": [STRING, {"type": "integer"}]}}},
    "allOf": {"type": "object", "properties": {"a": {"allOf": [STRING, {"minLength": 1}]}}},
    "bounds": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0, "exclusiveMaximum": 9, "multipleOf": 3},
            "s": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a+$", "format": "date"},
        },
    },
    "lists": {
        "type": "object",
        "properties": {
            "a": {"type": "array", "prefixItems": [STRING, {"type": "integer"}], "items": False},
            "b": {"type": "array", "minItems": 2, "uniqueItems": True, "items": STRING},
        },
    },
    "map": {
        "type": "object",
        "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}},
    },
    "default": {
        "type": "object",
        "properties": {
            "a": {"type": "string", "default": "x", "examples": ["y"]},
            "b": {"type": ["string", "null"], "default": None},
        },
    },
    "cycle": {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/T"}},
        "$defs": {
            "T": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
        },
    },
    "reference with siblings": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/P", "description": "the first"}},
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
    "draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/P"},
            "b": {"type": "array", "items": [STRING, STRING], "additionalItems": False},
        },
        "definitions": {"P": STRING},
    },
    "2020-12": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"type": "array", "items": {}}, "b": True},
    },
    "conditions": {
        "type": "object",
        "properties": {"a": STRING, "b": STRING},
        "if": {"properties": {"a": {"const": "x"}}},
        "then": {"required": ["b"]},
        "not": {"required": ["c"]},
        "dependentRequired": {"b": ["a"]},
    },
    "patterns of names": {
        "type": "object",
        "patternProperties": {"^x-": STRING},
        "propertyNames": {"maxLength": 9},
        "minProperties": 1,
    },
    "keywords as names": {
        "type": "object",
        "properties": {"type": STRING, "enum": STRING, "$ref": STRING, "required": {"type": "boolean"}},
    },
    "text in all scripts": {
        "type": "object",
        "description": '日本語 \u2028 "quoted" \\ \U0001f600',
        "properties": {"größe": {"type": "string", "description": "tab\tline\nend"}},
    },
}

# Names that MCP allows and other providers do not, and such as would get the same alias.
LONG = "mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_message"
NAMES = [
    "get_weather",
    "admin.tools.list",
    "admin_tools_list",
    "9lives",
    "-dash",
    LONG,
    LONG + "s",
    "a" * 128,
]


def tool(name, schema, **more):
    return {"name": name, "description": f"What {name} does", "parameters": schema} | more


def named(schemas, **more):
    """The tools of a table of schemas: t0, t1 and so on."""
    return [tool(f"t{i}", schema, **more) for i, schema in enumerate(schemas.values())]


TOOLS = named(STRICT_TOOLS) + [tool(f"u{i}", schema) for i, schema in enumerate(OTHER_TOOLS.values())]

CALLS = [("a", "get_weather"), ("b", "get_time"), ("c", "get_weather")]

# One result for each of CALLS, as the op `results` takes them.
RESULTS = {
    "text": [{"text": "4 °C"}, {"text": 'noon\n"sharp"'}, {"text": "5 °C"}],
    "error": [{"text": "4 °C"}, {"error": "no clock"}, {"error": "boom: \U0001f4a5"}],
    "error without a reason": [{"error": ""}, {"error": " "}, {"text": "ok"}],
    "empty": [{"text": ""}, {"parts": []}, {"text": " "}],
    "json": [{"json": {"c": 4, "big": 12345678901234567890}}, {"json": [1, None, "x"]}, {"json": 1.5}],
    "json of few words": [{"json": None}, {"json": True}, {"json": ""}],
    "parts": [
        {"parts": [{"text": "one"}, {"json": {"two": 2}}, {"text": "three"}]},
        {"parts": [{"json": []}]},
        {"text": "y"},
    ],
    "image": [
        {"parts": [{"text": "look"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]},
        {"parts": [{"type": "image", "mimeType": "image/jpeg", "data": "/9j/4A=="}]},
        {"text": "y"},
    ],
    "link": [{"parts": [{"uri": "https://example.org/a?b=c&d", "name": "a"}]}, {"text": "x"}, {"text": "y"}],
    "audio": [
        {"parts": [{"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="}]},
        {"text": "x"},
        {"text": "y"},
    ],
}

# Parts with nothing in them, between such as have something.
EMPTY_PARTS = [
    {"parts": [{"text": ""}, {"text": "x"}]},
    {"parts": [{"text": "x"}, {"text": " \n"}, {"json": 1}]},
    {"parts": [{"text": ""}, {"text": ""}]},
]

# Turns without ids, which each provider gives in its own form.
HARD = {
    "q": '日本\U0001f600"\\/\b\u2028\u0000',
    "n": [0, -1, 1.5, 1e300, 9007199254740993],
    "o": {"": {"a.b[0]": None}},
    "t": True,
}
TURNS = {
    "one call": Turn((Call(None, "get_weather", {"city": "Oslo"}),)),
    "no arguments": Turn((Call(None, "get_time", {}),)),
    "several calls": Turn(
        (
            Call(None, "get_weather", {"city": "Oslo", "n": 1}),
            Call(None, "get_time", {}),
            Call(None, "get_weather", {"city": "Rom"}),
        )
    ),
    "text beside calls": Turn(
        (Call(None, "get_weather", {"city": "Oslo"}), Call(None, "get_time", {})),
        'Let me see: 日本 \U0001f600 "now".',
    ),
    "hard arguments": Turn((Call(None, "look_up", HARD), Call(None, "get_weather", {"city": '{"a":1}'}))),
    "text alone": Turn((), "It is 4 °C.", "stop"),
    "nothing": Turn((), "", "stop"),
    "refusal": Turn((), "I will not do that.", "refused"),
    "truncated text": Turn((), "It is", "truncated"),
    "truncated call": Turn((Call(None, "get_weather", {"city": "Oslo, by the harbour"}),), "", "truncated"),
}
