"""Rules that the SDKs' models do not check, from the tables of formats.md."""

import re

import pytest

import cases
from desk import Refused

# Section 0.4, and 4 (e) for Gemini.
NAMES = {
    "openai_chat": r"[a-zA-Z0-9_-]{1,64}",
    "openai_responses": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "gemini_schema": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "bedrock": r"[a-zA-Z0-9_-]{1,64}",
    "ollama": r"[\s\S]+",
    "mistral": r"[a-zA-Z0-9_-]{1,64}",
    "cohere": r"[a-zA-Z0-9_-]{1,64}",
}
MOST_TOOLS = {"openai_chat": 128, "openai_responses": 128, "gemini": 512, "gemini_schema": 512}

OPENAI_REFUSED = {
    "allOf",
    "oneOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "patternProperties",
}
ANTHROPIC_KEPT = {
    "type",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$ref",
    "$defs",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "format",
    "description",
    "title",
}
ANTHROPIC_FORMATS = {
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
}
GEMINI_JSON = {
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
}
GEMINI_TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}


def schemas(schema, depth=0):
    """The schema and those within, each with how many objects and arrays it lies in."""
    if not isinstance(schema, dict):
        return
    yield schema, depth
    for member in ("properties", "$defs", "definitions", "defs", "patternProperties", "dependentSchemas"):
        for inner in schema.get(member, {}).values():
            yield from schemas(inner, depth + (member == "properties"))
    for member in ("items", "additionalProperties", "not", "if", "then", "else"):
        yield from schemas(schema.get(member), depth + (member == "items"))
    for member in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(member, []):
            yield from schemas(inner, depth)


def rendered(desk, provider, tools, **more):
    body = desk.ask("render", dialect=provider.dialect, tools=tools, **provider.options, **more)["body"]
    return provider.tools(body)


def test_every_name_is_one_that_the_provider_takes(desk, provider):
    tools = rendered(desk, provider, [cases.tool(name, {"type": "object"}) for name in cases.NAMES])
    names = [name for name, _, _ in tools]
    assert len(set(names)) == len(cases.NAMES)
    for name, given in zip(names, cases.NAMES):
        assert re.fullmatch(NAMES[provider.name], name), name
        # A name that could be sent as it is stays itself.
        assert name == given or not re.fullmatch(NAMES[provider.name], given)


def test_a_call_by_the_name_that_was_sent_reaches_its_tool(desk, provider):
    tools = [cases.tool(name, {"type": "object"}, behaviour={"text": name}) for name in cases.NAMES]
    sent = [name for name, _, _ in rendered(desk, provider, tools)]
    turn = provider.with_ids(cases.Turn(tuple(cases.Call(None, name, {}) for name in sent)))
    answer = desk.ask(
        "answer", dialect=provider.dialect, tools=tools, reply=provider.reply(turn), **provider.options
    )
    results = provider.check_messages(list(turn.calls), answer["messages"])
    assert [result.text for result in results] == cases.NAMES


@pytest.mark.only(lambda provider: provider.name in MOST_TOOLS)
def test_more_tools_than_the_provider_takes_are_told_and_refused_on_request(desk, provider):
    """By default they are sent all the same: servers that imitate a provider may take more."""
    most = MOST_TOOLS[provider.name]
    tools = [cases.tool(f"t{n}", {"type": "object"}) for n in range(most + 1)]
    assert len(rendered(desk, provider, tools[:most], refuse_dropped=True)) == most
    with pytest.raises(Refused, match=f"unsupported: there are {most + 1} tools, .* at most {most}"):
        rendered(desk, provider, tools, refuse_dropped=True)
    answer = desk.ask("render", dialect=provider.dialect, tools=tools, **provider.options)
    assert len(provider.tools(answer["body"])) == most + 1
    assert f"the provider takes at most {most} tools" in [note["message"] for note in answer["notes"]]


@pytest.mark.parametrize("name", [*cases.STRICT_TOOLS, *cases.OTHER_TOOLS])
@pytest.mark.only(lambda provider: provider.name in ("openai_chat", "openai_responses", "anthropic"))
def test_a_strict_schema_keeps_the_rules_of_strict(desk, provider, name):
    try:
        [(_, _, schema)] = rendered(
            desk, provider, [cases.tool("a", (cases.STRICT_TOOLS | cases.OTHER_TOOLS)[name], strict=True)]
        )
    except Refused as refused:
        assert refused.kind == "strict" and name not in cases.STRICT_TOOLS
        return
    assert schema["type"] == "object" and "anyOf" not in schema
    for inner, depth in schemas(schema):
        if inner.get("type") == "object" or "properties" in inner:
            assert inner["additionalProperties"] is False
        if provider.name == "anthropic":
            assert set(inner) <= ANTHROPIC_KEPT
            assert inner.get("format", "date") in ANTHROPIC_FORMATS and inner.get("minItems", 0) in (0, 1)
            assert set(inner.get("required", [])) <= set(inner.get("properties", {}))
        else:
            assert OPENAI_REFUSED.isdisjoint(inner) and depth <= 10
            assert sorted(inner.get("required", [])) == sorted(inner.get("properties", {}))


@pytest.mark.only(lambda provider: provider.dialect == "openai_chat")
def test_an_object_has_properties_even_without_any(desk, provider):
    [(_, _, schema)] = rendered(desk, provider, [cases.tool("a", {"type": "object"})])
    assert schema["properties"] == {}


@pytest.mark.parametrize("name", [*cases.STRICT_TOOLS, *cases.OTHER_TOOLS])
@pytest.mark.only(lambda provider: provider.dialect == "gemini")
def test_a_schema_of_gemini_holds_what_gemini_reads(desk, provider, name):
    [(_, _, schema)] = rendered(
        desk, provider, [cases.tool("a", (cases.STRICT_TOOLS | cases.OTHER_TOOLS)[name])]
    )
    for inner, _ in schemas(schema or {}):
        assert set(inner) <= GEMINI_JSON
        assert all(
            isinstance(item, str | int | float) and not isinstance(item, bool)
            for item in inner.get("enum", [])
        )
        assert "$ref" not in inner or all(member.startswith("$") for member in inner)


@pytest.mark.parametrize("name", [*cases.STRICT_TOOLS, *cases.OTHER_TOOLS])
@pytest.mark.only(lambda provider: provider.dialect == "gemini_schema")
def test_a_schema_of_the_older_form_has_one_upper_case_type(desk, provider, name):
    [(_, _, schema)] = rendered(
        desk, provider, [cases.tool("a", (cases.STRICT_TOOLS | cases.OTHER_TOOLS)[name])]
    )
    for inner, depth in schemas(schema or {}):
        assert inner.get("type", "OBJECT") in GEMINI_TYPES
        assert all(isinstance(item, str) for item in inner.get("enum", []))
        assert "ref" not in inner or depth > 0 and inner["ref"].startswith("#/defs/")
