"""Every result stands in a conversation that the provider's SDK would send, and says what happened."""

import json

import pytest

import cases
from cases import Call


def answered(desk, provider, results, cancelled=()):
    """The results in order, read from messages that the SDK has checked."""
    calls = [
        Call(provider.call_id(n) if provider.ids else None, name, {})
        for n, (_, name) in enumerate(cases.CALLS)
    ]
    # Where a provider gives no ids, the library mints them when it reads the reply; here they are given.
    asked = [{"id": provider.call_id(n), "name": call.name, "arguments": {}} for n, call in enumerate(calls)]
    given = [{"id": provider.call_id(n), **result} for n, result in enumerate(results) if n not in cancelled]
    given.reverse()
    cancelled = [provider.call_id(n) for n in cancelled]
    answer = desk.ask(
        "results",
        dialect=provider.dialect,
        calls=asked,
        results=given,
        cancelled=cancelled,
        **provider.options
    )
    read = provider.check_messages(calls, answer["messages"])
    assert [result.id in (provider.call_id(n), None) for n, result in enumerate(read)] == [True] * 3
    return read


@pytest.mark.parametrize("name", cases.RESULTS)
def test_results_are_accepted(desk, provider, name):
    assert_accepted(desk, provider, cases.RESULTS[name])


def test_parts_with_nothing_in_them_are_accepted(desk, provider):
    assert_accepted(desk, provider, cases.EMPTY_PARTS)


def assert_accepted(desk, provider, given):
    read = answered(desk, provider, given)
    for result, said in zip(given, read):
        assert said.failed in (None, "error" in result)
        for text in texts(result):
            assert text.strip() in said.text
        for value in values(result):
            assert contains_json(said.text, value)
    wanted = [media(result) for result in given]
    if provider.images:
        assert [said.images for said in read] == wanted
    else:
        # A picture that cannot be sent is spoken of.
        for kinds, said in zip(wanted, read):
            assert all(kind in said.text for kind in kinds) or said.images


def texts(result):
    parts = result.get("parts", [result])
    return [
        part.get("error", part.get("text", ""))
        for part in parts
        if isinstance(part.get("text", part.get("error")), str)
    ]


def values(result):
    return [part["json"] for part in result.get("parts", [result]) if "json" in part]


def media(result):
    return tuple(part["mimeType"] for part in result.get("parts", []) if part.get("type") == "image")


def contains_json(text, value):
    """Whether the text has the value, as JSON however spaced, or as the string that it is."""
    if isinstance(value, str):
        return value in text
    return any(is_json(piece, value) for piece in [text, *text.split("\n")])


def is_json(text, value):
    try:
        return json.loads(text) == value
    except json.JSONDecodeError:
        return False


@pytest.mark.only(lambda provider: not provider.flags)
def test_where_the_wire_has_no_flag_the_text_tells_a_failure(desk, provider):
    _, failed, _ = answered(desk, provider, [{"text": "no clock"}, {"error": "no clock"}, {"text": "x"}])
    assert failed.failed or (failed.text != "no clock" and "error" in failed.text.lower())


def test_a_cancelled_call_has_a_result_too(desk, provider):
    read = answered(desk, provider, [{"text": "x"}, {}, {"text": "y"}], cancelled=[1])
    assert "cancel" in read[1].text
    assert read[1].failed in (None, True)


@pytest.mark.parametrize(
    "behaviour", [{"echo": True}, {"text": "ok"}, {"error": "boom"}, {"json": [1]}], ids=str
)
def test_what_tools_answer_is_accepted(desk, provider, behaviour):
    turn = provider.with_ids(cases.TURNS["several calls"])
    names = sorted({call.name for call in turn.calls})
    tools = [cases.tool(name, {"type": "object"}, behaviour=behaviour) for name in names]
    answer = desk.ask(
        "answer", dialect=provider.dialect, tools=tools, reply=provider.reply(turn), **provider.options
    )
    failed = "error" in behaviour
    assert [outcome["kind"] for outcome in answer["outcomes"]] == [
        "tool_failed" if failed else "answered"
    ] * 3
    for result, call in zip(provider.check_messages(list(turn.calls), answer["messages"]), turn.calls):
        assert result.failed in (None, failed)
        if behaviour.get("echo"):
            assert contains_json(result.text, call.arguments)
