"""Every request that is rendered is one that the provider's SDK would send."""

import json
from pathlib import Path

import pytest

import cases
from desk import Refused, choice, native

SHARED = Path(__file__).parents[3] / "shared"
LISTS = sorted((SHARED / "data/mcp-tools").glob("*.json"))

TWO = [
    cases.tool("get_weather", cases.STRICT_TOOLS["plain"]),
    cases.tool("get_time", cases.STRICT_TOOLS["no arguments"]),
]
FUNCTION = {"type": "function", "function": {"name": "get_weather"}}
ITEM = {"type": "function", "name": "get_weather"}


def chat_allowed(mode):
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [FUNCTION]}}


def gemini(mode, *names):
    return {
        "functionCallingConfig": {"mode": mode} | ({"allowedFunctionNames": list(names)} if names else {})
    }


# What a choice looks like in a request, from formats.md: the member, and its value. A choice that is not here
# has no word of its own.
CHOICES = {
    "openai_chat": {
        "auto": {"tool_choice": "auto"},
        "none": {"tool_choice": "none"},
        "required": {"tool_choice": "required"},
        "tool": {"tool_choice": FUNCTION},
        "allowed": {"tool_choice": chat_allowed("auto")},
        "allowed_required": {"tool_choice": chat_allowed("required")},
    },
    "openai_responses": {
        "auto": {"tool_choice": "auto"},
        "none": {"tool_choice": "none"},
        "required": {"tool_choice": "required"},
        "tool": {"tool_choice": ITEM},
        "allowed": {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [ITEM]}},
        "allowed_required": {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [ITEM]}},
    },
    "anthropic": {
        "auto": {"tool_choice": {"type": "auto"}},
        "none": {"tool_choice": {"type": "none"}},
        "required": {"tool_choice": {"type": "any"}},
        "tool": {"tool_choice": {"type": "tool", "name": "get_weather"}},
    },
    "gemini": {
        "auto": {"toolConfig": gemini("AUTO")},
        "none": {"toolConfig": gemini("NONE")},
        "required": {"toolConfig": gemini("ANY")},
        "tool": {"toolConfig": gemini("ANY", "get_weather")},
        # The SDK at VALIDATED: a call of one of the allowed names, or text.
        "allowed": {"toolConfig": gemini("VALIDATED", "get_weather")},
        "allowed_required": {"toolConfig": gemini("ANY", "get_weather")},
    },
    "bedrock": {
        "auto": {"toolChoice": {"auto": {}}},
        "required": {"toolChoice": {"any": {}}},
        "tool": {"toolChoice": {"tool": {"name": "get_weather"}}},
    },
    "ollama": {},
    "mistral": {
        "auto": {"tool_choice": "auto"},
        "none": {"tool_choice": "none"},
        "tool": {"tool_choice": FUNCTION},
    },
    "cohere": {"none": {"tool_choice": "NONE"}, "required": {"tool_choice": "REQUIRED"}},
}
CHOICES["gemini_schema"] = CHOICES["gemini"]


def rendered(desk, provider, tools, **more):
    """The request's members, checked by the SDK."""
    body = desk.ask("render", dialect=provider.dialect, tools=tools, **provider.options, **more)["body"]
    provider.check_request(body)
    return body


def said(provider, body):
    return [(name, description) for name, description, _ in provider.tools(body)]


@pytest.mark.parametrize("name", [*cases.STRICT_TOOLS, *cases.OTHER_TOOLS])
def test_a_tool_is_accepted(desk, provider, name):
    schema = (cases.STRICT_TOOLS | cases.OTHER_TOOLS)[name]
    body = rendered(desk, provider, [cases.tool("get_weather", schema)])
    assert said(provider, body) == [("get_weather", "What get_weather does")]


def test_all_tools_are_accepted_together(desk, provider):
    body = rendered(desk, provider, cases.TOOLS)
    assert said(provider, body) == [(tool["name"], tool["description"]) for tool in cases.TOOLS]


@pytest.mark.parametrize("description", ["", " ", '日本語 \u2028 "x" \\ \U0001f600\n\ttab', "x" * 5000])
def test_a_description_arrives_as_it_is(desk, provider, description):
    body = rendered(
        desk, provider, [{"name": "a", "description": description, "parameters": {"type": "object"}}]
    )
    assert said(provider, body) == [("a", description)]


def test_a_dialect_that_is_expected_is_there(desk, provider):
    assert provider.dialect in desk.ask("version")["features"]


def test_without_tools_nothing_is_refused(desk, provider):
    rendered(desk, provider, [])


@pytest.mark.parametrize("path", LISTS, ids=[path.stem for path in LISTS])
def test_the_tools_of_real_servers_are_accepted(desk, provider, path):
    listed = json.loads(path.read_text())
    tools = [
        cases.tool(tool["name"], tool["inputSchema"], description=tool["description"]) for tool in listed
    ]
    body = rendered(desk, provider, tools)
    assert [description for _, description in said(provider, body)] == [
        tool["description"] for tool in listed
    ]


@pytest.mark.parametrize("words", ["auto", "none", "required", "tool"])
def test_a_choice_is_accepted(desk, provider, words):
    body = rendered(desk, provider, TWO, choice=choice(words, "get_weather"))
    assert_choice(provider, body, words)


@pytest.mark.parametrize("words", ["allowed", "allowed_required"])
def test_a_choice_among_some_is_accepted(desk, provider, words):
    body = rendered(desk, provider, TWO, choice=choice(words, tools=["get_weather"]))
    if words in CHOICES[provider.name]:
        assert_choice(provider, body, words)
    else:
        # Without a word for it the model is not told of the others.
        assert [name for name, _ in said(provider, body)] == ["get_weather"]


def assert_choice(provider, body, words):
    expected = CHOICES[provider.name].get(words)
    members = body.get("toolConfig", {}) if provider.name == "bedrock" else body
    if expected is None:
        assert members.keys().isdisjoint({"tool_choice", "toolChoice"}) or words not in ("auto", "none")
        return
    for member, value in expected.items():
        assert members[member] == value


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("words", [None, "auto", "none", "required", "tool"])
def test_parallel_calls_are_allowed_or_not(desk, provider, words, parallel):
    words = words and choice(words, "get_weather")
    body = rendered(desk, provider, TWO, choice=words, parallel=parallel)
    if provider.dialect in ("openai_chat", "openai_responses") and provider.name != "cohere":
        assert body["parallel_tool_calls"] is parallel
    if provider.name == "anthropic" and words != "none" and not parallel:
        assert body["tool_choice"]["disable_parallel_tool_use"] is True


@pytest.mark.parametrize("name", cases.STRICT_TOOLS)
def test_a_strict_tool_is_accepted(desk, provider, name):
    body = rendered(desk, provider, [cases.tool("a", cases.STRICT_TOOLS[name], strict=True)])
    assert said(provider, body) == [("a", "What a does")]


@pytest.mark.parametrize("name", cases.OTHER_TOOLS)
def test_a_tool_made_strict_is_accepted_or_refused_by_us(desk, provider, name):
    try:
        rendered(desk, provider, [cases.tool("a", cases.OTHER_TOOLS[name], strict=True)])
    except Refused as refused:
        assert refused.kind == "strict"


# What each provider runs itself, and configurations that formats.md gives.
NATIVE = [
    "web_search",
    "code_execution",
    "file_search",
    "computer_use",
    "image_generation",
    "google_search",
    "google_maps",
]
CONFIGURED = {
    "openai_responses": [
        ("file_search", {"vector_store_ids": ["vs_1"]}),
        ("web_search", {"search_context_size": "low"}),
    ],
    "anthropic": [("web_search", {"max_uses": 2})],
    "gemini": [("file_search", {"fileSearchStoreNames": ["fileSearchStores/a"]})],
    "gemini_schema": [("file_search", {"fileSearchStoreNames": ["fileSearchStores/a"]})],
}


@pytest.mark.parametrize("kind", NATIVE)
def test_a_native_tool_is_accepted_or_left_out(desk, provider, kind):
    config = dict(CONFIGURED.get(provider.name, [])).get(kind)
    body = rendered(desk, provider, TWO, native=[native(kind, config)])
    assert [name for name, _ in said(provider, body)] == ["get_weather", "get_time"]
    if config:
        assert all(json.dumps(value) in json.dumps(body) for value in config.values())
