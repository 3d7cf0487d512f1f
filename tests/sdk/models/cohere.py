"""Cohere's chat of version 2; formats.md, section 7. Its models let everything pass that they do not know."""

from cohere.types import ToolMessageV2, ToolV2
from cohere.v2.types import V2ChatResponse

from cases import Call, Result, Turn

from .openai_chat import OpenAiChat, plain
from .provider import arguments, require

FINISH = {"calls": "TOOL_CALL", "stop": "COMPLETE", "truncated": "MAX_TOKENS", "refused": "COMPLETE"}


class Cohere(OpenAiChat):
    name = dialect = "cohere"
    # Its streams are not made here yet.
    framings = ()
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

    def read(self, reply):
        reply = V2ChatResponse.model_validate(reply)
        functions = [(call.id, call.function) for call in reply.message.tool_calls or []]
        calls = tuple(Call(id, function.name, arguments(function.arguments)) for id, function in functions)
        text = "".join(part.text for part in reply.message.content or [])
        return Turn(
            calls,
            text,
            {reason: end for end, reason in FINISH.items() if end != "refused"}[reply.finish_reason],
        )
