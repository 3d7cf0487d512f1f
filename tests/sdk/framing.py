"""How events travel, and where a network cuts them."""

import json
import random


def _text(event):
    return json.dumps(event, ensure_ascii=False)


def sse(events, line="\n"):
    return "".join(f"data: {_text(event)}{line}{line}" for event in events)


def sse_named(events, line="\n"):
    return "".join(f"event: {event['type']}{line}data: {_text(event)}{line}{line}" for event in events)


FRAMINGS = {
    "sse": sse,
    "sse with [DONE]": lambda events: sse(events) + "data: [DONE]\n\n",
    "sse with CRLF": lambda events: sse(events, "\r\n"),
    "sse with CR, comments and a mark": lambda events: "\ufeff: ping\r\r" + sse(events, "\r"),
    "sse with names": sse_named,
    "ndjson": lambda events: "".join(_text(event) + "\n" for event in events),
    "array": lambda events: "[" + ",\r\n".join(json.dumps(event, indent=1) for event in events) + "]",
}


def chunkings(data):
    """The same bytes in one piece, byte by byte, in sevens, and cut at random."""
    random_cuts = sorted(random.Random(len(data)).sample(range(len(data)), min(40, len(data))))
    yield "whole", [data]
    yield "bytes", [data[i : i + 1] for i in range(len(data))]
    yield "sevens", [data[i : i + 7] for i in range(0, len(data), 7)]
    yield "random", [data[a:b] for a, b in zip([0] + random_cuts, random_cuts + [len(data)])]
