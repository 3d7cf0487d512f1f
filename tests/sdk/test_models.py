"""The checks themselves accept the examples of formats.md, refuse what is broken, and read what they make."""

import copy

import pytest

import models
from cases import TURNS
from framing import FRAMINGS

EVERY = list(models.PROVIDERS.values())
REMOVED = object()

OPENAI_TOOL = ["tools", 0, "function"]
BROKEN_REQUESTS = {
    "openai_chat": [
        (["tools", 0, "type"], "fn"),
        ([*OPENAI_TOOL, "name"], REMOVED),
        ([*OPENAI_TOOL, "input_schema"], {}),
        ([*OPENAI_TOOL, "parameters"], "{}"),
        (["tool_choice"], "any"),
        (["parallel_tool_calls"], "yes"),
        (["toolConfig"], {}),
    ],
    "openai_responses": [
        (["tools", 0, "function"], {"name": "a"}),
        (["tools", 0, "parameters"], REMOVED),
        (["tools", 0, "strict"], REMOVED),
        (["tools", 0, "name"], 1),
        (["tool_choice"], {"type": "function", "function": {"name": "get_weather"}}),
        (["tool_choice"], "any"),
    ],
    "anthropic": [
        (["tools", 0, "input_schema"], REMOVED),
        (["tools", 0, "input_schema", "type"], "array"),
        (["tools", 0, "parameters"], {}),
        (["tool_choice"], "auto"),
        (["tool_choice", "type"], "required"),
        (["tool_choice", "parallel"], True),
    ],
    "gemini": [
        (["tools", 0, "functionDeclarations", 0, "input_schema"], {}),
        (["tools", 0, "functionDeclarations", 0, "name"], 1),
        (["tools", 0, "functions"], []),
        (["toolConfig", "functionCallingConfig", "mode"], ["ANY"]),
        (["toolConfig", "functionCallingConfig", "allowedFunctionNames"], ["other"]),
        (["tool_choice"], "auto"),
    ],
    "gemini_schema": [
        (["tools", 0, "functionDeclarations", 0, "parameters", "const"], 1),
        (
            ["tools", 0, "functionDeclarations", 0, "parameters", "properties", "u", "type"],
            ["STRING", "NULL"],
        ),
        (["tools", 0, "functionDeclarations", 0, "parameters", "properties", "u", "enum"], [1]),
        (["tools", 0, "functionDeclarations", 0, "parameters", "properties", "u", "oneOf"], []),
        (["tools", 0, "functionDeclarations", 0, "parametersJsonSchema"], {}),
    ],
    "bedrock": [
        (["toolConfig", "tools"], []),
        (["toolConfig", "tools", 0, "toolSpec", "name"], "a.b"),
        (["toolConfig", "tools", 0, "toolSpec", "name"], "a" * 65),
        (["toolConfig", "tools", 0, "toolSpec", "description"], ""),
        (["toolConfig", "tools", 0, "toolSpec", "inputSchema"], {"type": "object"}),
        (["toolConfig", "tools", 0, "toolSpec", "inputSchema", "json", "type"], "string"),
        (["toolConfig", "tools", 1, "cachePoint", "ttl"], "2h"),
        (["toolConfig", "toolChoice"], {"none": {}}),
        (["tools"], []),
    ],
    "ollama": [
        (["tools", 0, "function", "parameters", "type"], "string"),
        (["tools", 0, "function", "name"], 1),
        (["tools", 0, "function", "parameters", "properties"], []),
        (["tool_choice"], "auto"),
    ],
    "mistral": [
        (["tools", 0, "function", "parameters"], REMOVED),
        (["tools", 0, "function", "x"], 1),
        (["tool_choice"], "REQUIRED"),
        (["tool_choice", "name"], "get_weather"),
    ],
    "cohere": [
        (["tools", 0, "function", "parameters"], REMOVED),
        (["tools", 0, "function", "x"], 1),
        (["tool_choice"], "required"),
        (["parallel_tool_calls"], False),
    ],
}

GEMINI_RESULT = [0, "parts", 0, "functionResponse"]
BEDROCK_RESULT = [0, "content", 0, "toolResult"]
BROKEN_MESSAGES = {
    "openai_chat": [
        ([0, "content"], {"c": 4}),
        ([0, "content"], REMOVED),
        ([0, "content", 0], {"type": "image_url", "image_url": {"url": "data:"}}),
        ([0, "tool_call_id"], REMOVED),
        ([0, "tool_call_id"], "call_2"),
        ([0, "is_error"], True),
        ([0, "role"], "function"),
    ],
    "openai_responses": [
        ([0, "output"], {"c": 4}),
        ([0, "output", 0, "type"], "text"),
        ([0, "call_id"], "call_2"),
        ([0, "id"], "call_1"),
        ([0, "is_error"], True),
        ([0, "type"], "function_call_result"),
    ],
    "anthropic": [
        ([0, "content", 0, "content"], {"c": 4}),
        ([0, "content", 0, "content", 1, "source", "media_type"], "image/bmp"),
        ([0, "content", 0, "tool_use_id"], REMOVED),
        ([0, "content", 0, "tool_use_id"], "toolu_2"),
        ([0, "content", 1, "is_error"], "boom"),
        ([0, "content", 1, "error"], True),
        ([0, "content", 1, "content"], [{"type": "text", "text": ""}]),
        ([0, "role"], "tool"),
    ],
    "gemini": [
        ([*GEMINI_RESULT, "response"], "4 C"),
        ([*GEMINI_RESULT, "name"], "get_time"),
        ([*GEMINI_RESULT, "isError"], True),
        ([*GEMINI_RESULT, "parts", 0], {"text": "x"}),
        ([0, "role"], "function"),
    ],
    "bedrock": [
        ([*BEDROCK_RESULT, "content"], "4 C"),
        ([*BEDROCK_RESULT, "content", 0], {"json": {}, "text": "x"}),
        ([*BEDROCK_RESULT, "content", 0], {"text": ""}),
        ([*BEDROCK_RESULT, "content", 1, "image", "format"], "bmp"),
        ([*BEDROCK_RESULT, "content", 1, "image", "source", "bytes"], "?"),
        ([*BEDROCK_RESULT, "status"], "failed"),
        ([*BEDROCK_RESULT, "toolUseId"], "tooluse_2"),
        ([0, "content", 1, "toolResult", "content"], []),
        ([0, "role"], "tool"),
    ],
    "ollama": [
        ([0, "content"], {"c": 4}),
        ([0, "content"], REMOVED),
        ([0, "tool_name"], "get_time"),
        ([0, "name"], "get_weather"),
        ([0, "role"], "user"),
    ],
    "mistral": [
        ([0, "content"], {"c": 4}),
        ([0, "tool_call_id"], "call_1"),
        ([0, "is_error"], True),
        ([0, "role"], "user"),
    ],
    "cohere": [
        ([0, "content"], REMOVED),
        ([0, "tool_call_id"], REMOVED),
        ([0, "is_error"], True),
        ([0, "role"], "user"),
    ],
}
BROKEN_MESSAGES["gemini_schema"] = BROKEN_MESSAGES["gemini"]


def changed(value, path, to):
    value = copy.deepcopy(value)
    *outer, last = path
    place = value
    for step in outer:
        place = place[step]
    if to is REMOVED:
        del place[last]
    else:
        place[last] = to
    return value


def of_every(table):
    cases = [(provider, *case) for provider in EVERY for case in table[provider.name]]
    ids = [f"{provider.name}-{'.'.join(map(str, path))}-{i}" for i, (provider, path, _) in enumerate(cases)]
    return pytest.mark.parametrize("made, path, to", cases, ids=ids)


of_each = pytest.mark.parametrize("made", EVERY, ids=[provider.name for provider in EVERY])


@of_each
def test_the_examples_of_the_formats_pass(made):
    made.check_request(made.example_request)
    assert [name for name, _, _ in made.tools(made.example_request)] == ["get_weather"]
    results = made.check_messages(list(made.example_calls), list(made.example_messages))
    assert [result.id for result in results] == [call.id for call in made.example_calls]
    assert "4" in results[0].text and results[0].failed in (False, None)
    assert len(results) == 1 or results[1].text == "boom"


@of_every(BROKEN_REQUESTS)
def test_a_broken_request_is_refused(made, path, to):
    broken = changed(made.example_request, path, to)
    with pytest.raises((ValueError, KeyError, AttributeError)):
        made.check_request(broken)
        made.tools(broken)


@of_every(BROKEN_MESSAGES)
def test_a_broken_result_is_refused(made, path, to):
    with pytest.raises((ValueError, KeyError)):
        made.check_messages(list(made.example_calls), changed(list(made.example_messages), path, to))


@of_each
def test_a_result_too_few_or_too_many_is_refused(made):
    calls, messages = list(made.example_calls), list(made.example_messages)
    with pytest.raises(ValueError):
        made.check_messages(calls + calls, messages)
    with pytest.raises(ValueError):
        made.check_messages(calls, messages + messages)


# A call that is cut reads differently in each form, and a refusal is not always told from a text.
WHOLE_TURNS = {name: turn for name, turn in TURNS.items() if name not in ("truncated call", "refusal")}


@pytest.mark.parametrize("turn", WHOLE_TURNS.values(), ids=WHOLE_TURNS)
@of_each
def test_what_is_made_is_read_again(made, turn):
    turn = made.with_ids(turn)
    assert made.read(made.reply(turn)) == turn
    for size in (1, 3, 1000):
        assert made.accumulate(made.events(turn, size)) == turn
        if made.interleaves:
            assert made.accumulate(made.events(turn, size, mixed=True)) == turn


def test_every_framing_is_what_the_sdk_reads():
    from openai._streaming import SSEDecoder

    events = [{"type": "a", "text": "\u65e5"}, {"type": "b", "text": "x\ny"}]
    for name, frame in FRAMINGS.items():
        if name.startswith("sse"):
            data = frame(events).encode()
            read = SSEDecoder().iter_bytes(iter([data[:9], data[9:]]))
            assert [
                message.json() for message in read if message.data and message.data != "[DONE]"
            ] == events, name
