"""Streams that the SDKs' event models make are put together as the SDKs put them together."""

import json
import random

import pytest

from cases import TURNS, Call, Turn
from desk import Refused
from framing import FRAMINGS, chunkings
from test_replies import told, understood, with_unknown_members

WHOLE = {name: turn for name, turn in TURNS.items() if name != "truncated call"}


def streamed(desk, provider, **how):
    return desk.ask("stream", dialect=provider.dialect, **how, **provider.options)


def unended(provider, events):
    """How to stream these events and nothing that says that they are all."""
    if not provider.framings:
        return {"events": events}
    framing = "sse" if "sse" in provider.framings else provider.framings[0]
    return {"chunks": [FRAMINGS[framing](events)]}


def assert_same(answer, turn, provider):
    assert understood(answer, provider) == told(turn.calls)
    assert [call["flags"] for call in answer["calls"]] == [[]] * len(turn.calls)
    if turn.end != "refused":
        assert answer["text"] == turn.text


@pytest.mark.parametrize("size", [1, 5, 10000])
@pytest.mark.parametrize("mixed", [False, True], ids=["in turn", "mixed"])
@pytest.mark.parametrize("name", WHOLE)
def test_events_give_the_calls_that_the_sdk_gives(desk, provider, name, mixed, size):
    events = provider.events(provider.with_ids(WHOLE[name]), size, mixed and provider.interleaves)
    assert_same(streamed(desk, provider, events=events), provider.accumulate(events), provider)


@pytest.mark.parametrize("name", WHOLE)
def test_bytes_cut_anywhere_give_the_same_calls(desk, provider, name):
    events = provider.events(provider.with_ids(WHOLE[name]), 3)
    turn = provider.accumulate(events)
    for framing in provider.framings:
        for _, chunks in chunkings(FRAMINGS[framing](events).encode()):
            assert_same(
                streamed(desk, provider, hex_chunks=[chunk.hex() for chunk in chunks]), turn, provider
            )


@pytest.mark.parametrize("name", WHOLE)
def test_members_that_nobody_knows_are_passed_over(desk, provider, name):
    events = provider.events(provider.with_ids(WHOLE[name]), 4)
    # An event of Bedrock is the one member of its object.
    changed = (
        [{kind: with_unknown_members(body) for kind, body in event.items()} for event in events]
        if provider.name == "bedrock"
        else with_unknown_members(events)
    )
    assert_same(streamed(desk, provider, events=changed), provider.accumulate(events), provider)


def test_a_stream_is_read_as_its_whole_reply(desk, provider):
    for name, turn in WHOLE.items():
        turn = provider.with_ids(turn)
        whole = desk.ask("parse", dialect=provider.dialect, reply=provider.reply(turn), **provider.options)
        assert streamed(desk, provider, events=provider.events(turn, 2)) == whole, name


def value(chance, depth=0):
    """A JSON value that no one chose."""
    kinds = ["text", "number", "word"] + (["list", "object"] if depth < 4 else [])
    kind = chance.choice(kinds)
    if kind == "text":
        return "".join(chance.choice('a"\\/\n\u0000é日\U0001f600{}[:,') for _ in range(chance.randrange(9)))
    if kind == "number":
        return chance.choice([0, -1, 2**53 + 1, -(2**63), 0.1, 1e-7, 1e300, chance.randrange(10**30)])
    if kind == "word":
        return chance.choice([None, True, False])
    items = [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return items if kind == "list" else {value_name(chance): item for item in items}


def value_name(chance):
    return "".join(chance.choice('ab.[]"\\日') for _ in range(chance.randrange(1, 5)))


@pytest.mark.parametrize("seed", range(20))
def test_turns_that_no_one_chose_are_read_as_the_sdk_reads_them(desk, provider, seed):
    chance = random.Random(seed)
    calls = [
        Call(None, chance.choice(["f", "g_1"]), {value_name(chance): value(chance) for _ in range(3)})
        for _ in range(chance.randrange(1, 5))
    ]
    turn = provider.with_ids(Turn(tuple(calls), chance.choice(["", "x", "日本\n\n"])))
    events = provider.events(turn, chance.randrange(1, 9), provider.interleaves and chance.random() < 0.5)
    assert_same(streamed(desk, provider, events=events), provider.accumulate(events), provider)


@pytest.mark.only(lambda provider: provider.cuts)
def test_a_call_that_was_cut_is_told(desk, provider):
    events = provider.events(provider.with_ids(TURNS["truncated call"]), 3)
    answer = streamed(desk, provider, events=events)
    [call] = answer["calls"]
    assert call["name"] == "get_weather" and call["flags"]


def test_a_stream_that_stops_early_gives_no_part_of_a_call_as_whole(desk, provider):
    turn = provider.with_ids(TURNS["one call"])
    events = provider.events(turn, 4)
    begun = next(n for n, event in enumerate(events) if "get_weather" in json.dumps(event))
    for end in range(1, len(events)):
        try:
            answer = streamed(desk, provider, **unended(provider, events[:end]))
        except Refused as refused:
            assert refused.kind not in ("request", "internal", "no-space")
        else:
            assert len(answer["calls"]) == (end > begun)
            assert all(
                call["flags"] or call["arguments"] == turn.calls[0].arguments for call in answer["calls"]
            )


@pytest.mark.only(lambda provider: hasattr(provider, "events_in_parts"))
def test_arguments_that_come_value_by_value_are_refused_by_name(desk, provider):
    """They come only to those who ask for `streamFunctionCallArguments`, which no request of the library does.

    Taken for a call they would be one without arguments.
    """
    values = {"city": 'Oslo "日本"', "n": 1.5, "at": {"tags": ["a", "bcdef"], "x": None}, "ok": True}
    turn = provider.with_ids(Turn((Call(None, "f", values),)))
    with pytest.raises(Refused, match="bad-reply: .*streamFunctionCallArguments"):
        streamed(desk, provider, events=provider.events_in_parts(turn))
