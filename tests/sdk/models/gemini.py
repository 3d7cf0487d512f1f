"""Google Gemini generateContent, with parameters in both forms; formats.md, section 4."""

import json

from google.genai import types

from cases import Call, Result, Turn

from .provider import Provider, pieces, require

FINISH = {"calls": "STOP", "stop": "STOP", "truncated": "MAX_TOKENS", "refused": "SAFETY"}
USER = {"role": "user", "parts": [{"text": "hi"}]}


class Gemini(Provider):
    framings = ("sse", "array", "sse with CRLF")
    flags = needs_ids = False
    cuts = False
    example_calls = (Call("fc1", "get_weather", {}), Call("fc2", "get_time", {}))
    example_messages = (
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "fc1",
                        "name": "get_weather",
                        "response": {"output": {"c": 4}},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
                    }
                },
                {"functionResponse": {"id": "fc2", "name": "get_time", "response": {"error": "boom"}}},
            ],
        },
    )

    def __init__(self, name):
        self.name = self.dialect = name
        self.schema = "parameters" if name == "gemini_schema" else "parametersJsonSchema"
        string = {"type": "string"}
        old = {
            "type": "OBJECT",
            "properties": {"u": {"type": "STRING", "nullable": True, "enum": ["c", "f"]}},
        }
        new = {
            "type": "object",
            "properties": {"city": string},
            "required": ["city"],
            "additionalProperties": False,
        }
        declaration = {
            "name": "get_weather",
            "description": "w",
            self.schema: old if name == "gemini_schema" else new,
        }
        config = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}}
        self.example_request = {"tools": [{"functionDeclarations": [declaration]}], "toolConfig": config}

    def call_id(self, n):
        return f"fc{n}"

    def check_request(self, body):
        require(set(body) <= {"tools", "toolConfig"}, f"unknown members among {sorted(body)}")
        for tool in body.get("tools", []):
            types.Tool.model_validate(tool)
        if "toolConfig" in body:
            types.ToolConfig.model_validate(body["toolConfig"])
        declared = {declaration["name"] for declaration in self._declarations(body)}
        allowed = body.get("toolConfig", {}).get("functionCallingConfig", {}).get("allowedFunctionNames", [])
        require(declared >= set(allowed), "an allowed function is declared")

    def _declarations(self, body):
        return [
            declaration
            for tool in body.get("tools", [])
            for declaration in tool.get("functionDeclarations", [])
        ]

    def tools(self, body):
        declarations = self._declarations(body)
        other = "parametersJsonSchema" if self.schema == "parameters" else "parameters"
        require(
            not any(other in declaration for declaration in declarations), f"{other} is the other dialect's"
        )
        return [
            (declaration["name"], declaration.get("description", ""), declaration.get(self.schema))
            for declaration in declarations
        ]

    def check_messages(self, calls, messages):
        asked = types.Content(role="model", parts=[self._part(call) for call in calls])
        self.check_history([USER, asked.model_dump(mode="json", by_alias=True, exclude_none=True), *messages])
        [message] = messages
        require(message["role"] == "user", "results are the user's")
        responses = [part["functionResponse"] for part in message["parts"]]
        require(
            [response["name"] for response in responses] == [call.name for call in calls],
            "in the calls' order",
        )
        require(
            [response.get("id") for response in responses] == [call.id for call in calls],
            "in the calls' order",
        )
        return [self._result(response) for response in responses]

    def _result(self, response):
        said = response["response"]
        media = [part["inlineData"]["mimeType"] for part in response.get("parts", [])]
        images = tuple(kind for kind in media if kind.startswith("image/"))
        return Result(response.get("id"), text_of(said), "error" in said, images)

    def check_history(self, messages):
        for message in messages:
            types.Content.model_validate(message)

    def _part(self, call):
        return types.Part(function_call=types.FunctionCall(id=call.id, name=call.name, args=call.arguments))

    def _parts(self, turn, size):
        parts = [types.Part(text="hm", thought=True)]
        parts += [types.Part(text=piece) for piece in pieces(turn.text, size)]
        calls = [self._part(call) for call in turn.calls]
        for part in calls[:1]:
            part.thought_signature = b"signature"
        return parts + calls

    def _response(self, parts, finish):
        candidate = types.Candidate(
            index=0, content=types.Content(role="model", parts=parts), finish_reason=finish
        )
        whole = types.GenerateContentResponse(candidates=[candidate], model_version="m", response_id="r")
        return whole.model_dump(mode="json", by_alias=True, exclude_none=True)

    def reply(self, turn):
        return self._response(self._parts(turn, 1 << 20), FINISH[turn.end])

    def events(self, turn, size, mixed=False):
        said = [self._response([part], None) for part in self._parts(turn, size)]
        return said + [self._response([types.Part(text="")], FINISH[turn.end])]

    def events_in_parts(self, turn):
        """Calls whose arguments come value by value, as Vertex streams them on request."""
        calls = []
        for call in turn.calls:
            calls.append(types.FunctionCall(id=call.id, name=call.name, will_continue=True))
            parts = [part for path, value in leaves("$", call.arguments) for part in partial(path, value)]
            calls += [types.FunctionCall(partial_args=[part], will_continue=True) for part in parts]
            calls.append(types.FunctionCall())
        said = [self._response([types.Part(function_call=call)], None) for call in calls]
        return said + [self._response([types.Part(text="")], FINISH[turn.end])]

    def read(self, reply):
        return self.accumulate([reply])

    def accumulate(self, events):
        candidates = [types.GenerateContentResponse.model_validate(event).candidates[0] for event in events]
        parts = [part for candidate in candidates for part in candidate.content.parts]
        calls = tuple(
            Call(part.function_call.id, part.function_call.name, part.function_call.args or {})
            for part in parts
            if part.function_call
        )
        text = "".join(part.text for part in parts if part.text and not part.thought)
        finish = candidates[-1].finish_reason.value
        end = {reason: end for end, reason in FINISH.items()}[finish]
        return Turn(
            calls, text, "calls" if calls and finish == "STOP" else "stop" if finish == "STOP" else end
        )


def text_of(response):
    """What a response says: strings as they are, other values as JSON, a list also item by item."""
    said = response.get("error", response.get("output", response))
    items = said if isinstance(said, list) else []
    return "\n".join(
        item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in [said, *items]
    )


def leaves(path, value):
    """What is neither an object nor an array, each with its path of RFC 9535."""
    if isinstance(value, dict):
        return [leaf for name, item in value.items() for leaf in leaves(f"{path}.{name}", item)]
    if isinstance(value, list):
        return [leaf for n, item in enumerate(value) for leaf in leaves(f"{path}[{n}]", item)]
    return [(path, value)]


def partial(path, value):
    """A string comes in pieces."""
    if isinstance(value, str):
        said = pieces(value, 3)
        return [
            types.PartialArg(json_path=path, string_value=piece, will_continue=n < len(said) - 1 or None)
            for n, piece in enumerate(said)
        ]
    kind = {bool: "bool_value", int: "number_value", float: "number_value", type(None): "null_value"}[
        type(value)
    ]
    return [types.PartialArg(json_path=path, **{kind: "NULL_VALUE" if value is None else value})]
