"""OpenAI Chat Completions; formats.md, section 1."""

from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from cases import Call, Result, Turn

from .provider import Provider, arguments, arguments_text, deltas, pieces, require

REQUEST = TypeAdapter(CompletionCreateParamsNonStreaming)
FINISH = {"calls": "tool_calls", "stop": "stop", "truncated": "length", "refused": "stop"}
USER = {"role": "user", "content": "hi"}


def plain(content):
    """A content that is text or a list of text parts."""
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


class OpenAiChat(Provider):
    name = dialect = "openai_chat"
    framings = ("sse with [DONE]", "sse", "sse with CRLF", "sse with CR, comments and a mark")
    interleaves = True
    images = flags = False
    example_request = {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "w",
                    "strict": True,
                    "parameters": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                        "additionalProperties": False,
                    },
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
        "parallel_tool_calls": False,
    }
    example_calls = (Call("call_1", "get_weather", {"city": "Oslo", "n": 1}),)
    example_messages = (
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "4 C"}]},
    )

    def check_request(self, body):
        REQUEST.validate_python({"model": "m", "messages": [USER], **body}, extra="forbid", strict=True)

    def tools(self, body):
        functions = [tool["function"] for tool in body.get("tools", [])]
        return [
            (function["name"], function.get("description", ""), function.get("parameters"))
            for function in functions
        ]

    def check_messages(self, calls, messages):
        turn = {
            "role": "assistant",
            "content": None,
            "tool_calls": [self._call(Turn(tuple(calls)), n) for n in range(len(calls))],
        }
        self.check_history([USER, turn, *messages])
        require(
            [message["role"] for message in messages] == ["tool"] * len(calls),
            "one tool message for each call",
        )
        require(
            [message["tool_call_id"] for message in messages] == [call.id for call in calls],
            "in the calls' order",
        )
        return [Result(message["tool_call_id"], plain(message["content"])) for message in messages]

    def check_history(self, messages):
        REQUEST.validate_python({"model": "m", "messages": messages}, extra="forbid", strict=True)

    def _call(self, turn, n):
        call = turn.calls[n]
        return {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_text(turn, n)},
        }

    def reply(self, turn):
        message = {"role": "assistant", "content": turn.text or None}
        if turn.end == "refused":
            message |= {"content": None, "refusal": turn.text}
        if turn.calls:
            message["tool_calls"] = [self._call(turn, n) for n in range(len(turn.calls))]
        choice = {"index": 0, "finish_reason": FINISH[turn.end], "logprobs": None, "message": message}
        whole = {
            "id": "chatcmpl-1",
            "created": 1,
            "model": "m",
            "object": "chat.completion",
            "choices": [choice],
        }
        return ChatCompletion.model_validate(whole).model_dump(mode="json", exclude_unset=True)

    def events(self, turn, size, mixed=False):
        said = [{"role": "assistant", "content": "" if turn.text else None}]
        said += [
            {"refusal" if turn.end == "refused" else "content": piece} for piece in pieces(turn.text, size)
        ]
        begun = set()
        for n, piece in deltas(turn, size, mixed):
            if n not in begun:
                start = self._call(turn, n)
                start["function"]["arguments"] = ""
                said.append({"tool_calls": [{"index": n, **start}]})
                begun.add(n)
            said.append({"tool_calls": [{"index": n, "function": {"arguments": piece}}]})
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in said]
        choices.append({"index": 0, "delta": {}, "finish_reason": FINISH[turn.end]})
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return [self._chunk([choice]) for choice in choices] + [self._chunk([], usage=usage)]

    def _chunk(self, choices, **more):
        chunk = {
            "id": "chatcmpl-1",
            "created": 1,
            "model": "m",
            "object": "chat.completion.chunk",
            "choices": choices,
        }
        return ChatCompletionChunk.model_validate(chunk | more).model_dump(mode="json", exclude_unset=True)

    def read(self, reply):
        return self._turn(ChatCompletion.model_validate(reply))

    def accumulate(self, events):
        state = ChatCompletionStreamState()
        for event in events:
            state.handle_chunk(ChatCompletionChunk.model_validate(event))
        return self._turn(state.current_completion_snapshot)

    def _turn(self, completion):
        [choice] = completion.choices
        message = choice.message
        functions = [(call.id, call.function) for call in message.tool_calls or []]
        calls = tuple(Call(id, function.name, arguments(function.arguments)) for id, function in functions)
        end = (
            "refused"
            if message.refusal
            else {reason: end for end, reason in FINISH.items() if end != "refused"}[choice.finish_reason]
        )
        return Turn(calls, message.refusal or message.content or "", end)
