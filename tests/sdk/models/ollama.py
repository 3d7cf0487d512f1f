"""Ollama /api/chat; formats.md, section 6.

The SDK drops what it does not know, so only its checks are used.
"""

import base64

from ollama import ChatResponse
from ollama._types import ChatRequest

from cases import Call, Result, Turn

from .provider import Provider, pieces, require

DONE = {"calls": "stop", "stop": "stop", "truncated": "length", "refused": "stop"}
USER = {"role": "user", "content": "hi"}
RESULT = {"role", "content", "tool_name", "tool_call_id", "images"}

# The wire has images without their kind, which is in their first bytes.
MAGIC = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}


def pictures(message):
    data = [base64.b64decode(image, validate=True) for image in message.get("images", [])]
    return tuple(kind for image in data for magic, kind in MAGIC.items() if image.startswith(magic))


class Ollama(Provider):
    name = dialect = "ollama"
    framings = ("ndjson",)
    flags = ids = needs_ids = cuts = False
    example_request = {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "w",
                    "parameters": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                },
            }
        ]
    }
    example_calls = (Call(None, "get_weather", {"city": "Oslo"}),)
    example_messages = ({"role": "tool", "tool_name": "get_weather", "content": "4 C"},)

    def check_request(self, body):
        require(set(body) <= {"tools"}, f"unknown members among {sorted(body)}")
        ChatRequest.model_validate({"model": "m", "messages": [USER], **body})

    def tools(self, body):
        functions = [tool["function"] for tool in body.get("tools", [])]
        return [
            (function["name"], function.get("description", ""), function["parameters"])
            for function in functions
        ]

    def check_messages(self, calls, messages):
        turn = self._message(Turn(tuple(calls)))
        self.check_history([USER, turn, *messages])
        require(
            [message["role"] for message in messages] == ["tool"] * len(calls),
            "one tool message for each call",
        )
        require(
            [message["tool_name"] for message in messages] == [call.name for call in calls],
            "in the calls' order",
        )
        require(all(set(message) <= RESULT for message in messages), "only members that are known")
        return [
            Result(message.get("tool_call_id"), message["content"], None, pictures(message))
            for message in messages
        ]

    def check_history(self, messages):
        ChatRequest.model_validate({"model": "m", "messages": messages})
        for message in messages:
            # The request takes any mapping for a message; the reply's model is the one that looks.
            images = [{"value": image} for image in message.get("images", [])]
            ChatResponse.model_validate({"message": message | ({"images": images} if images else {})})

    def _message(self, turn):
        message = {"role": "assistant", "content": turn.text}
        calls = [{"function": {"name": call.name, "arguments": call.arguments}} for call in turn.calls]
        return message | ({"tool_calls": calls} if calls else {})

    def _chunk(self, message, **more):
        chunk = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False} | more
        return ChatResponse.model_validate(chunk).model_dump(mode="json", exclude_unset=True)

    def reply(self, turn):
        return self._chunk(self._message(turn), done=True, done_reason=DONE[turn.end], eval_count=1)

    def events(self, turn, size, mixed=False):
        said = [{"role": "assistant", "content": "", "thinking": "hm"}]
        said += [{"role": "assistant", "content": piece} for piece in pieces(turn.text, size)]
        said += [self._message(Turn((call,))) for call in turn.calls]
        last = self._chunk({"role": "assistant", "content": ""}, done=True, done_reason=DONE[turn.end])
        return [self._chunk(message) for message in said] + [last]

    def read(self, reply):
        return self.accumulate([reply])

    def accumulate(self, events):
        chunks = [ChatResponse.model_validate(event) for event in events]
        functions = [call.function for chunk in chunks for call in chunk.message.tool_calls or []]
        calls = tuple(Call(None, function.name, dict(function.arguments)) for function in functions)
        text = "".join(chunk.message.content or "" for chunk in chunks)
        cut = chunks[-1].done_reason == "length"
        return Turn(calls, text, "truncated" if cut else "calls" if calls else "stop")
