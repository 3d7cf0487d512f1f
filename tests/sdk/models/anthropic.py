"""Anthropic Messages; formats.md, section 3."""

from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

from cases import Call, Result, Turn

from .provider import Provider, arguments_text, pieces, require

REQUEST = TypeAdapter(MessageCreateParamsNonStreaming)
EVENT = TypeAdapter(RawMessageStreamEvent)
STOP = {"calls": "tool_use", "stop": "end_turn", "truncated": "max_tokens", "refused": "refusal"}
USER = {"role": "user", "content": "hi"}
USAGE = {"input_tokens": 1, "output_tokens": 1}


def plain(content):
    return (
        content
        if isinstance(content, str)
        else "\n".join(part["text"] for part in content if part["type"] == "text")
    )


def pictures(content):
    images = (
        [] if isinstance(content, str) else [part["source"] for part in content if part["type"] == "image"]
    )
    return tuple(source["media_type"] for source in images)


class Anthropic(Provider):
    name = dialect = "anthropic"
    framings = ("sse with names", "sse")
    example_request = {
        "tools": [
            {
                "name": "get_weather",
                "description": "w",
                "input_schema": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
                "strict": True,
            }
        ],
        "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True},
    }
    example_calls = (Call("toolu_1", "get_weather", {"city": "Oslo"}), Call("toolu_2", "get_time", {}))
    example_messages = (
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [
                        {"type": "text", "text": "4 C"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
                        },
                    ],
                },
                {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True, "content": "boom"},
            ],
        },
    )

    def call_id(self, n):
        return f"toolu_0{n}"

    def check_request(self, body):
        REQUEST.validate_python(
            {"model": "m", "max_tokens": 9, "messages": [USER], **body}, extra="forbid", strict=True
        )
        # The type takes any mapping for a schema.
        require(
            all(schema.get("type") == "object" for _, _, schema in self.tools(body)),
            "a schema's type is object",
        )

    def tools(self, body):
        functions = [tool for tool in body.get("tools", []) if "input_schema" in tool]
        return [(tool["name"], tool.get("description", ""), tool["input_schema"]) for tool in functions]

    def check_messages(self, calls, messages):
        uses = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls
        ]
        self.check_history([USER, {"role": "assistant", "content": uses}, *messages])
        [message] = messages
        require(message["role"] == "user", "results are the user's")
        blocks = message["content"]
        require(all(block["type"] == "tool_result" for block in blocks), "nothing but results")
        require(
            [block["tool_use_id"] for block in blocks] == [call.id for call in calls], "in the calls' order"
        )
        # The API: "text content blocks must be non-empty", and "must contain non-whitespace text".
        parts = [
            part for block in blocks if isinstance(block.get("content"), list) for part in block["content"]
        ]
        require(
            all(part["text"].strip() for part in parts if part["type"] == "text"), "a text block is not empty"
        )
        contents = [(block, block.get("content", "")) for block in blocks]
        return [
            Result(block["tool_use_id"], plain(content), block.get("is_error", False), pictures(content))
            for block, content in contents
        ]

    def check_history(self, messages):
        REQUEST.validate_python(
            {"model": "m", "max_tokens": 9, "messages": messages}, extra="forbid", strict=True
        )

    def reply(self, turn):
        content = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]
        content += [{"type": "text", "text": turn.text}] if turn.text else []
        for n, call in enumerate(turn.calls):
            cut = turn.end == "truncated" and n == len(turn.calls) - 1
            content.append(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": {} if cut else call.arguments}
            )
        return self._message(content, STOP[turn.end])

    def _message(self, content, stop):
        whole = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": USAGE,
        }
        return Message.model_validate(whole).model_dump(mode="json", exclude_unset=True)

    def events(self, turn, size, mixed=False):
        said = [{"type": "message_start", "message": self._message([], None)}, {"type": "ping"}]
        thinking = [
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "c2ln"},
        ]
        blocks = [({"type": "thinking", "thinking": "", "signature": ""}, thinking)]
        if turn.text:
            said_text = [{"type": "text_delta", "text": piece} for piece in pieces(turn.text, size)]
            blocks.append(({"type": "text", "text": ""}, said_text))
        for n, call in enumerate(turn.calls):
            start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            # The first piece may be empty; arguments without any member come without a piece.
            text = [""] + pieces(arguments_text(turn, n), size) if call.arguments else []
            blocks.append((start, [{"type": "input_json_delta", "partial_json": piece} for piece in text]))
        for index, (start, block) in enumerate(blocks):
            said.append({"type": "content_block_start", "index": index, "content_block": start})
            said += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in block]
            said.append({"type": "content_block_stop", "index": index})
        said.append(
            {
                "type": "message_delta",
                "delta": {"stop_reason": STOP[turn.end], "stop_sequence": None},
                "usage": {"output_tokens": 9},
            }
        )
        said.append({"type": "message_stop"})
        return [event if event["type"] == "ping" else self._event(event) for event in said]

    def _event(self, event):
        return EVENT.validate_python(event).model_dump(mode="json", exclude_unset=True)

    def read(self, reply):
        return self._turn(Message.model_validate(reply))

    def accumulate(self, events):
        snapshot, buffers = None, {}
        for event in events:
            if event["type"] != "ping":
                event = EVENT.validate_python(event)
                snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
        return self._turn(snapshot)

    def _turn(self, message):
        calls = tuple(
            Call(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"
        )
        text = "".join(block.text for block in message.content if block.type == "text")
        return Turn(calls, text, {reason: end for end, reason in STOP.items()}[message.stop_reason])
