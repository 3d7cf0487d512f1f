"""Each provider as its own SDK sees it.

A module here turns one provider's models into the few functions of `Provider`. They raise when the SDK
refuses, and what the SDK itself makes or reads is what the library is compared with.

The `Param` types of openai and anthropic are full of `Iterable`, which pydantic checks only when somebody
iterates: a wrong request would pass. They have to be lists before the SDKs are first imported: here.
"""

import typing

typing.Iterable = typing.List

from . import anthropic, bedrock, cohere, gemini, mistral, ollama, openai_chat, openai_responses  # noqa: E402

_ALL = [
    openai_chat.OpenAiChat(),
    openai_responses.OpenAiResponses(),
    anthropic.Anthropic(),
    gemini.Gemini("gemini"),
    gemini.Gemini("gemini_schema"),
    bedrock.Bedrock(),
    ollama.Ollama(),
    mistral.Mistral(),
    cohere.Cohere(),
]

PROVIDERS = {provider.name: provider for provider in _ALL}
