"""Cohere's chat of version 2; formats.md, section 7. Its models let everything pass that they do not know."""

import json

from cohere.core.unchecked_base_model import construct_type
from cohere.types import ToolMessageV2, ToolV2
from cohere.v2.types import V2ChatResponse, V2ChatStreamResponse

from cases import Call, Result, Turn

from .openai_chat import OpenAiChat
from .provider import arguments, deltas, pieces, require

FINISH = {"calls": "TOOL_CALL", "stop": "COMPLETE", "truncated": "MAX_TOKENS", "refused": "COMPLETE"}
END = {reason: end for end, reason in FINISH.items() if end != "refused"}


def plain(content):
    """A content that is text or a list of texts and documents."""
    return content if isinstance(content, str) else "\n".join(said(part) for part in content)


def said(part):
    if part["type"] == "text":
        return part["text"]
    require(part["type"] == "document" and set(part["document"]) <= {"data", "id"}, "a document has data")
    require(isinstance(part["document"]["data"], dict), "a document's data is an object")
    return json.dumps(part["document"]["data"], ensure_ascii=False)


class Cohere(OpenAiChat):
    name = dialect = "cohere"
    framings = ("sse with names", "sse")
    interleaves = False
    example_request = {"tools": OpenAiChat.example_request["tools"], "tool_choice": "REQUIRED"}

    def check_request(self, body):
        require(
            set(body) <= {"tools", "tool_choice", "strict_tools"}, f"unknown members among {sorted(body)}"
        )
        for tool in body.get("tools", []):
            ToolV2.model_validate(tool)
            require(set(tool) == {"type", "function"}, "a tool is a function")
            require(
                set(tool["function"]) <= {"name", "description", "parameters", "strict"},
                "only members that are known",
            )
        require(body.get("tool_choice", "NONE") in ("REQUIRED", "NONE"), "there are two choices")

    def check_messages(self, calls, messages):
        for message in messages:
            ToolMessageV2.model_validate(message)
            require(set(message) == {"role", "tool_call_id", "content"}, "only members that are known")
            require(message["role"] == "tool", "a result is a tool's")
        require(
            [message["tool_call_id"] for message in messages] == [call.id for call in calls],
            "in the calls' order",
        )
        return [Result(message["tool_call_id"], plain(message["content"])) for message in messages]

    def reply(self, turn):
        message = {"role": "assistant"}
        if turn.text:
            message["content"] = [{"type": "text", "text": turn.text}]
        if turn.calls:
            message |= {
                "tool_plan": "hm",
                "tool_calls": [self._call(turn, n) for n in range(len(turn.calls))],
            }
        whole = {"id": "1", "finish_reason": FINISH[turn.end], "message": message}
        return V2ChatResponse.model_validate(whole).model_dump(mode="json", exclude_unset=True)

    def events(self, turn, size, mixed=False):
        said = [{"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant"}}}]
        if turn.calls:
            said += [
                {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}}
                for piece in pieces("hm", size)
            ]
        if turn.text:
            start = {"type": "text", "text": ""}
            said.append({"type": "content-start", "index": 0, "delta": {"message": {"content": start}}})
            said += [
                {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}}
                for piece in pieces(turn.text, size)
            ]
            said.append({"type": "content-end", "index": 0})
        for n in range(len(turn.calls)):
            start = self._call(turn, n)
            start["function"]["arguments"] = ""
            said.append(self._of_call("tool-call-start", n, start))
            said += [
                self._of_call("tool-call-delta", n, {"function": {"arguments": piece}})
                for call, piece in deltas(turn, size, mixed)
                if call == n
            ]
            said.append({"type": "tool-call-end", "index": n})
        said.append({"type": "message-end", "delta": {"finish_reason": FINISH[turn.end]}})
        return [event(one).model_dump(mode="json", exclude_unset=True) for one in said]

    def _of_call(self, kind, n, call):
        return {"type": kind, "index": n, "delta": {"message": {"tool_calls": call}}}

    def read(self, reply):
        reply = V2ChatResponse.model_validate(reply)
        functions = [(call.id, call.function) for call in reply.message.tool_calls or []]
        calls = tuple(Call(id, function.name, arguments(function.arguments)) for id, function in functions)
        text = "".join(part.text for part in reply.message.content or [])
        return Turn(calls, text, END[reply.finish_reason])

    def accumulate(self, events):
        """The SDK has types for events and puts nothing together: text and arguments are joined."""
        text, calls, end = "", {}, None
        for one in map(event, events):
            if one.type == "content-delta":
                text += one.delta.message.content.text
            elif one.type == "tool-call-start":
                call = one.delta.message.tool_calls
                calls[one.index] = [call.id, call.function.name, call.function.arguments]
            elif one.type == "tool-call-delta":
                calls[one.index][2] += one.delta.message.tool_calls.function.arguments
            elif one.type == "message-end":
                end = END[one.delta.finish_reason]
        made = tuple(Call(id, name, arguments(text)) for id, name, text in calls.values())
        return Turn(made, text, end)


def event(value):
    """An event as the SDK reads it."""
    return construct_type(type_=V2ChatStreamResponse, object_=value)
