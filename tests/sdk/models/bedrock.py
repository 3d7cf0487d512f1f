"""Amazon Bedrock Converse; formats.md, section 5.

botocore checks neither patterns nor most lengths nor words; `check` reads them from its shapes.
"""

import base64
import json
import re

import botocore.session
from botocore.validate import ParamValidator

from cases import Call, Result, Turn

from .provider import Provider, arguments, arguments_text, deltas, pieces, require

MODEL = botocore.session.get_session().get_service_model("bedrock-runtime")
REQUEST = MODEL.operation_model("Converse").input_shape
REPLY = MODEL.operation_model("Converse").output_shape
EVENT = MODEL.operation_model("ConverseStream").output_shape.members["stream"]
STOP = {"calls": "tool_use", "stop": "end_turn", "truncated": "max_tokens", "refused": "content_filtered"}
USER = {"role": "user", "content": [{"text": "hi"}]}
USAGE = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}


def check(shape, value):
    """Raises unless the value has the shape, and keeps its patterns, words and lengths."""
    report = ParamValidator().validate(value, shape)
    require(not report.has_errors(), report.generate_report())
    _facets(shape, value, shape.name)


def _facets(shape, value, path):
    facts = shape.metadata
    if shape.type_name == "structure" and not facts.get("document"):
        for name, member in value.items():
            _facets(shape.members[name], member, f"{path}.{name}")
    elif shape.type_name == "list":
        for item in value:
            _facets(shape.member, item, path)
        require(len(value) <= facts.get("max", len(value)), f"{path}: {len(value)} items")
    elif shape.type_name == "blob":
        base64.b64decode(value, validate=True)
    elif shape.type_name == "string":
        require(
            re.fullmatch(facts.get("pattern", r"[\s\S]*"), value),
            f"{path}: {value!r} is not {facts.get('pattern')}",
        )
        require(len(value) <= facts.get("max", len(value)), f"{path}: {len(value)} characters")
        require(value in (shape.enum or [value]), f"{path}: {value!r} is not one of {shape.enum}")


class Bedrock(Provider):
    name = dialect = "bedrock"
    interleaves = True
    example_request = {
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "get_weather",
                        "description": "w",
                        "inputSchema": {"json": {"type": "object"}},
                    }
                },
                {"cachePoint": {"type": "default", "ttl": "5m"}},
            ],
            "toolChoice": {"tool": {"name": "get_weather"}},
        }
    }
    example_calls = (Call("tooluse_1", "get_weather", {"city": "Oslo"}), Call("tooluse_2", "get_time", {}))
    example_messages = (
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "tooluse_1",
                        "content": [
                            {"json": {"c": 4}},
                            {"image": {"format": "png", "source": {"bytes": "AA=="}}},
                        ],
                        "status": "success",
                    }
                },
                {"toolResult": {"toolUseId": "tooluse_2", "content": [{"text": "boom"}], "status": "error"}},
            ],
        },
    )

    def call_id(self, n):
        return f"tooluse_{n}"

    def check_request(self, body):
        check(REQUEST, {"modelId": "m", "messages": [USER], **body})
        for _, _, schema in self.tools(body):
            require(schema.get("type") == "object", "a schema's type is object")

    def tools(self, body):
        tools = body.get("toolConfig", {}).get("tools", [])
        specs = [tool["toolSpec"] for tool in tools if "toolSpec" in tool]
        return [(spec["name"], spec.get("description", ""), spec["inputSchema"]["json"]) for spec in specs]

    def check_messages(self, calls, messages):
        uses = [
            {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in calls
        ]
        self.check_history([USER, {"role": "assistant", "content": uses}, *messages])
        [message] = messages
        require(message["role"] == "user", "results are the user's")
        results = [block["toolResult"] for block in message["content"]]
        require(
            [result["toolUseId"] for result in results] == [call.id for call in calls], "in the calls' order"
        )
        return [self._result(result) for result in results]

    def _result(self, result):
        failed = result.get("status") == "error"
        require(not failed or result["content"], "an error says something")
        require(all(part.get("text", "x") for part in result["content"]), "a text is not empty")
        said = [
            part.get("text") or json.dumps(part["json"], ensure_ascii=False)
            for part in result["content"]
            if "image" not in part
        ]
        images = tuple(f"image/{part['image']['format']}" for part in result["content"] if "image" in part)
        return Result(result["toolUseId"], "\n".join(said), failed, images)

    def check_history(self, messages):
        check(REQUEST, {"modelId": "m", "messages": messages})

    def reply(self, turn):
        content = [{"text": turn.text}] if turn.text else []
        for n, call in enumerate(turn.calls):
            cut = turn.end == "truncated" and n == len(turn.calls) - 1
            content.append(
                {"toolUse": {"toolUseId": call.id, "name": call.name, "input": {} if cut else call.arguments}}
            )
        whole = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": STOP[turn.end],
            "usage": USAGE,
            "metrics": {"latencyMs": 1},
        }
        check(REPLY, whole)
        return whole

    def events(self, turn, size, mixed=False):
        said = [{"messageStart": {"role": "assistant"}}]
        said += [
            {"contentBlockDelta": {"delta": {"text": piece}, "contentBlockIndex": 0}}
            for piece in pieces(turn.text, size)
        ]
        said += [{"contentBlockStop": {"contentBlockIndex": 0}}] if turn.text else []
        first = 1 if turn.text else 0
        begun = set()
        for n, piece in deltas(turn, size, mixed):
            if n not in begun:
                start = {"toolUseId": turn.calls[n].id, "name": turn.calls[n].name}
                said.append(
                    {"contentBlockStart": {"start": {"toolUse": start}, "contentBlockIndex": first + n}}
                )
                begun.add(n)
            said.append(
                {
                    "contentBlockDelta": {
                        "delta": {"toolUse": {"input": piece}},
                        "contentBlockIndex": first + n,
                    }
                }
            )
        said += [{"contentBlockStop": {"contentBlockIndex": first + n}} for n in range(len(turn.calls))]
        said += [
            {"messageStop": {"stopReason": STOP[turn.end]}},
            {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 1}}},
        ]
        for event in said:
            check(EVENT, event)
        return said

    def read(self, reply):
        check(REPLY, reply)
        content = reply["output"]["message"]["content"]
        uses = [block["toolUse"] for block in content if "toolUse" in block]
        # The provider runs those with a type itself.
        uses = [use for use in uses if "type" not in use]
        text = "".join(block.get("text", "") for block in content)
        return self._turn(
            [(use["toolUseId"], use["name"], use["input"]) for use in uses], text, reply["stopReason"]
        )

    def accumulate(self, events):
        """botocore leaves this to its user."""
        started, inputs, text, stop = {}, {}, "", None
        for event in events:
            check(EVENT, event)
            [(kind, body)] = event.items()
            index = body.get("contentBlockIndex")
            if kind == "contentBlockStart":
                started[index] = body["start"]["toolUse"]
            elif kind == "contentBlockDelta":
                text += body["delta"].get("text", "")
                inputs[index] = inputs.get(index, "") + body["delta"].get("toolUse", {}).get("input", "")
            elif kind == "messageStop":
                stop = body["stopReason"]
        calls = [
            (use["toolUseId"], use["name"], arguments(inputs.get(index, "")))
            for index, use in sorted(started.items())
        ]
        return self._turn(calls, text, stop)

    def _turn(self, calls, text, stop):
        return Turn(
            tuple(Call(*call) for call in calls), text, {reason: end for end, reason in STOP.items()}[stop]
        )
