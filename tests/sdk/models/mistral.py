"""Mistral's chat, which is OpenAI's with other ids; formats.md, section 7."""

import re

from mistralai.client import models
from pydantic import TypeAdapter

from cases import Call, Result, Turn

from .openai_chat import OpenAiChat, plain
from .provider import arguments, require

TOOL = TypeAdapter(models.ToolTypedDict)
RESULT = TypeAdapter(models.ToolMessageTypedDict)
CHOICE = TypeAdapter(models.ToolChoiceTypedDict)
WORDS = ("auto", "none", "any", "required")
FINISH = {"calls": "tool_calls", "stop": "stop", "truncated": "length", "refused": "stop"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Mistral(OpenAiChat):
    name = "mistral"
    dialect = "mistral_chat"
    interleaves = False
    example_calls = (Call("abcdefgh1", "get_weather", {"city": "Oslo"}),)
    example_messages = (
        {"role": "tool", "tool_call_id": "abcdefgh1", "content": [{"type": "text", "text": "4 C"}]},
    )

    def call_id(self, n):
        return f"abcdefgh{n}"

    def check_request(self, body):
        require(
            set(body) <= {"tools", "tool_choice", "parallel_tool_calls"},
            f"unknown members among {sorted(body)}",
        )
        for tool in body.get("tools", []):
            TOOL.validate_python(tool, extra="forbid", strict=True)
        choice = body.get("tool_choice", "auto")
        require(
            (
                choice in WORDS
                if isinstance(choice, str)
                else CHOICE.validate_python(choice, extra="forbid", strict=True)
            ),
            choice,
        )

    def check_messages(self, calls, messages):
        for message in messages:
            RESULT.validate_python(message, extra="forbid", strict=True)
            require(
                re.fullmatch("[a-zA-Z0-9]{9}", message["tool_call_id"]), "an id is nine letters and digits"
            )
        require(
            [message["tool_call_id"] for message in messages] == [call.id for call in calls],
            "in the calls' order",
        )
        return [Result(message["tool_call_id"], plain(message["content"])) for message in messages]

    def reply(self, turn):
        calls = [self._call(turn, n) for n in range(len(turn.calls))]
        message = {"role": "assistant", "content": turn.text, "tool_calls": calls or None}
        choice = {"index": 0, "finish_reason": FINISH[turn.end], "message": message}
        whole = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": USAGE,
        }
        return models.ChatCompletionResponse.model_validate(whole).model_dump(mode="json")

    def events(self, turn, size, mixed=False):
        """A call comes whole; text in pieces."""
        text = [{"content": turn.text[i : i + size]} for i in range(0, len(turn.text), size)]
        calls = [{"index": n, **self._call(turn, n)} for n in range(len(turn.calls))]
        said = [{"role": "assistant", "content": ""}, *text] + (
            [{"content": "", "tool_calls": calls}] if calls else []
        )
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in said]
        choices.append({"index": 0, "delta": {"content": ""}, "finish_reason": FINISH[turn.end]})
        chunks = [
            {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            for choice in choices
        ]
        return [models.CompletionChunk.model_validate(chunk).model_dump(mode="json") for chunk in chunks]

    def read(self, reply):
        [choice] = models.ChatCompletionResponse.model_validate(reply).choices
        return self._said([choice.message], choice.finish_reason)

    def accumulate(self, events):
        choices = [models.CompletionChunk.model_validate(event).choices[0] for event in events]
        return self._said([choice.delta for choice in choices], choices[-1].finish_reason)

    def _said(self, messages, finish):
        calls = [(call.id, call.function) for message in messages for call in message.tool_calls or []]
        made = tuple(Call(id, function.name, self._arguments(function.arguments)) for id, function in calls)
        text = "".join(message.content or "" for message in messages)
        return Turn(made, text, {"tool_calls": "calls", "stop": "stop", "length": "truncated"}[finish])

    def _arguments(self, given):
        return arguments(given) if isinstance(given, str) else given
