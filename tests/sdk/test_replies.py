"""Replies that the SDKs' models make are read as the SDKs read them."""

from dataclasses import replace

import pytest

from cases import TURNS, tool


def read(desk, provider, reply):
    return desk.ask("parse", dialect=provider.dialect, reply=reply, **provider.options)


def told(calls):
    """Calls as the op tells them; an id that the wire lacks is left to the library."""
    return [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]


def understood(answer, provider):
    names = ["id", "name", "arguments"]
    calls = [{name: call[name] for name in names} for call in answer["calls"]]
    return calls if provider.ids else [call | {"id": None} for call in calls]


def with_unknown_members(value):
    """The value with a member that nobody knows in each object but those that hold arguments."""
    if isinstance(value, list):
        return [with_unknown_members(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = ("arguments", "args", "input")
    members = {name: item if name in kept else with_unknown_members(item) for name, item in value.items()}
    return {"x_new": {"tool_calls": [{"name": "x"}]}} | members | {"zz": None}


# Where a reply has its parts, and parts of tools that the provider has run itself.
RUN_BY_THE_PROVIDER = {
    "openai_responses": (
        ["output"],
        [
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "x"},
            },
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "server_label": "s",
                "name": "get_weather",
                "arguments": "{}",
            },
        ],
    ),
    "anthropic": (
        ["content"],
        [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        ],
    ),
    "gemini": (
        ["candidates", 0, "content", "parts"],
        [
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        ],
    ),
    "bedrock": (
        ["output", "message", "content"],
        [
            {"toolUse": {"toolUseId": "s1", "name": "x", "input": {}, "type": "server_tool_use"}},
            {"toolResult": {"toolUseId": "s1", "content": [{"text": "x"}]}},
        ],
    ),
}
RUN_BY_THE_PROVIDER["gemini_schema"] = RUN_BY_THE_PROVIDER["gemini"]

WHOLE = {name: turn for name, turn in TURNS.items() if name != "truncated call"}


@pytest.mark.parametrize("name", WHOLE)
def test_a_reply_is_read_as_the_sdk_reads_it(desk, provider, name):
    reply = provider.reply(provider.with_ids(WHOLE[name]))
    answer = read(desk, provider, reply)
    turn = provider.read(reply)
    assert understood(answer, provider) == told(turn.calls)
    assert [call["flags"] for call in answer["calls"]] == [[]] * len(turn.calls)
    # What a refusal says is not always counted as text.
    if turn.end != "refused":
        assert answer["text"] == turn.text


@pytest.mark.parametrize("name", WHOLE)
def test_members_that_nobody_knows_are_passed_over(desk, provider, name):
    reply = provider.reply(provider.with_ids(WHOLE[name]))
    assert read(desk, provider, with_unknown_members(reply)) == read(desk, provider, reply)


def without(value, ids):
    """The value without the members that are one of these ids."""
    if isinstance(value, list):
        return [without(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: without(item, ids) for name, item in value.items() if item not in ids}


def test_ids_that_the_reply_lacks_are_minted_and_sent_where_results_need_them(desk, provider):
    turn = provider.with_ids(TURNS["several calls"])
    reply = without(provider.reply(turn), [call.id for call in turn.calls if call.id])
    calls = read(desk, provider, reply)["calls"]
    assert [call["name"] for call in calls] == [call.name for call in turn.calls]
    assert [call["id"] for call in calls] == [None] * 3
    assert len({call["wire_id"] for call in calls}) == 3
    tools = [tool(name, {"type": "object"}) for name in ("get_weather", "get_time")]
    answer = desk.ask("answer", dialect=provider.dialect, tools=tools, reply=reply, **provider.options)
    # Elsewhere name and order tell which result is whose: an id is the host's alone.
    sent = [call["wire_id"] if provider.needs_ids else None for call in calls]
    assert provider.needs_ids or calls[0]["wire_id"] not in str(answer["messages"])
    answered = [replace(given, id=id) for given, id in zip(turn.calls, sent)]
    assert len(provider.check_messages(answered, answer["messages"])) == 3


@pytest.mark.only(lambda provider: provider.cuts)
def test_a_call_that_was_cut_is_told_and_not_executed(desk, provider):
    turn = provider.with_ids(TURNS["truncated call"])
    reply = provider.reply(turn)
    [call] = read(desk, provider, reply)["calls"]
    assert call["id"] == turn.calls[0].id and call["flags"]
    tools = [tool("get_weather", {"type": "object"})]
    answer = desk.ask("answer", dialect=provider.dialect, tools=tools, reply=reply, **provider.options)
    assert all(outcome["kind"] != "answered" for outcome in answer["outcomes"])
    [result] = provider.check_messages(list(turn.calls), answer["messages"])
    assert result.failed in (None, True)


@pytest.mark.only(lambda provider: provider.name in RUN_BY_THE_PROVIDER)
def test_what_the_provider_has_run_itself_is_passed_over(desk, provider):
    reply = provider.reply(provider.with_ids(TURNS["text beside calls"]))
    alone = read(desk, provider, reply)
    path, blocks = RUN_BY_THE_PROVIDER[provider.name]
    parts = reply
    for step in path:
        parts = parts[step]
    parts[:0] = blocks
    assert told(provider.read(reply).calls) == understood(alone, provider)
    assert read(desk, provider, reply) == alone
