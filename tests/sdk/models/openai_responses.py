"""OpenAI Responses; formats.md, section 2."""

from dataclasses import replace

from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from cases import Call, Result, Turn

from .provider import Provider, arguments, arguments_text, deltas, pieces, require

REQUEST = TypeAdapter(ResponseCreateParamsNonStreaming)
EVENT = TypeAdapter(ResponseStreamEvent)
USER = {"role": "user", "content": "hi"}


def plain(output):
    if isinstance(output, str):
        return output
    return "\n".join(part["text"] for part in output if part["type"] == "input_text")


def pictures(output):
    if isinstance(output, str):
        return ()
    urls = [part["image_url"] for part in output if part["type"] == "input_image"]
    return tuple(url.removeprefix("data:").partition(";base64,")[0] for url in urls)


class OpenAiResponses(Provider):
    name = dialect = "openai_responses"
    framings = ("sse with names", "sse")
    interleaves = True
    flags = False
    example_request = {
        "tools": [
            {
                "type": "function",
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
                "strict": True,
            }
        ],
        "tool_choice": {"type": "function", "name": "get_weather"},
    }
    example_calls = (Call("call_1", "get_weather", {"city": "Oslo"}),)
    example_messages = (
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [
                {"type": "input_text", "text": "4 C"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
            ],
        },
    )

    def check_request(self, body):
        REQUEST.validate_python({"model": "m", "input": [USER], **body}, extra="forbid", strict=True)

    def tools(self, body):
        functions = [tool for tool in body.get("tools", []) if tool["type"] == "function"]
        require(all("strict" in tool and "parameters" in tool for tool in functions), "both have to be there")
        return [(tool["name"], tool.get("description", ""), tool["parameters"]) for tool in functions]

    def check_messages(self, calls, messages):
        items = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": "{}"}
            for call in calls
        ]
        self.check_history([USER, *items, *messages])
        require(
            [item["type"] for item in messages] == ["function_call_output"] * len(calls),
            "one output for each call",
        )
        require([item["call_id"] for item in messages] == [call.id for call in calls], "in the calls' order")
        require(not any("id" in item for item in messages), "an item's own id is not the call's")
        return [
            Result(item["call_id"], plain(item["output"]), None, pictures(item["output"]))
            for item in messages
        ]

    def check_history(self, messages):
        REQUEST.validate_python({"model": "m", "input": messages}, extra="forbid", strict=True)

    def _items(self, turn):
        items = [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}]
        part = (
            {"type": "refusal", "refusal": turn.text}
            if turn.end == "refused"
            else {"type": "output_text", "text": turn.text, "annotations": []}
        )
        status = "incomplete" if turn.end == "truncated" else "completed"
        if turn.text:
            items.append(
                {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": [part]}
            )
        for n, call in enumerate(turn.calls):
            last = n == len(turn.calls) - 1
            items.append(
                {
                    "type": "function_call",
                    "id": f"fc_{n}",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": arguments_text(turn, n),
                    "status": status if last else "completed",
                }
            )
        return items

    def _response(self, turn, items, status=None):
        cut = turn.end == "truncated"
        whole = {
            "id": "resp_1",
            "created_at": 1,
            "model": "m",
            "object": "response",
            "output": items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        whole["status"] = status or ("incomplete" if cut else "completed")
        whole["incomplete_details"] = {"reason": "max_output_tokens"} if cut and status is None else None
        return Response.model_validate(whole).model_dump(mode="json", exclude_unset=True)

    def reply(self, turn):
        return self._response(turn, self._items(turn))

    def events(self, turn, size, mixed=False):
        items = self._items(turn)
        said = [{"type": "response.created", "response": self._response(turn, [], "in_progress")}]
        first_call = len(items) - len(turn.calls)
        for index, item in enumerate(items[:first_call]):
            said += (
                self._message(index, item, size) if item["type"] == "message" else self._whole(index, item)
            )
        begun = set()
        for n, piece in deltas(turn, size, mixed):
            index, item = first_call + n, items[first_call + n]
            at = {"item_id": item["id"], "output_index": index}
            if n not in begun:
                said.append(self._added(index, item | {"arguments": "", "status": "in_progress"}))
                begun.add(n)
            said.append({"type": "response.function_call_arguments.delta", **at, "delta": piece})
        for index, item in list(enumerate(items))[first_call:]:
            at = {"item_id": item["id"], "output_index": index}
            if item["status"] == "completed":
                said.append(
                    {
                        "type": "response.function_call_arguments.done",
                        **at,
                        "name": item["name"],
                        "arguments": item["arguments"],
                    }
                )
            said.append({"type": "response.output_item.done", "output_index": index, "item": item})
        ended = "response.incomplete" if turn.end == "truncated" else "response.completed"
        said.append({"type": ended, "response": self.reply(turn)})
        numbered = [event | {"sequence_number": n} for n, event in enumerate(said)]
        return [
            EVENT.validate_python(event).model_dump(mode="json", exclude_unset=True) for event in numbered
        ]

    def _added(self, index, item):
        return {"type": "response.output_item.added", "output_index": index, "item": item}

    def _whole(self, index, item):
        return [
            self._added(index, item),
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]

    def _message(self, index, item, size):
        [part] = item["content"]
        kind, member = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        logprobs = {} if kind == "refusal" else {"logprobs": []}
        events = [self._added(index, item | {"content": [], "status": "in_progress"})]
        events.append({"type": "response.content_part.added", **at, "part": part | {member: ""}})
        events += [
            {"type": f"response.{kind}.delta", **at, "delta": piece, **logprobs}
            for piece in pieces(part[member], size)
        ]
        events.append({"type": f"response.{kind}.done", **at, member: part[member], **logprobs})
        events.append({"type": "response.content_part.done", **at, "part": part})
        return events + [{"type": "response.output_item.done", "output_index": index, "item": item}]

    def read(self, reply):
        return self._turn(Response.model_validate(reply))

    def accumulate(self, events):
        state = ResponseStreamState(input_tools=omit, text_format=omit)
        for event in events:
            state.handle_event(EVENT.validate_python(event))
        # What it put together from the deltas it keeps to itself; the rest is in the last event.
        put_together = self._turn(state._ResponseStreamState__current_snapshot)
        return replace(self.read(events[-1]["response"]), calls=put_together.calls)

    def _turn(self, response):
        calls = tuple(
            Call(item.call_id, item.name, arguments(item.arguments))
            for item in response.output
            if item.type == "function_call"
        )
        parts = [part for item in response.output if item.type == "message" for part in item.content]
        refused = any(part.type == "refusal" for part in parts)
        text = "".join(part.refusal if part.type == "refusal" else part.text for part in parts)
        end = (
            "refused"
            if refused
            else "truncated" if response.status == "incomplete" else "calls" if calls else "stop"
        )
        return Turn(calls, text, end)
