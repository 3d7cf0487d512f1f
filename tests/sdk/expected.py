"""What the desk tool is expected to do. To switch on what has landed is a word in one of these lines.

The variables TOOLCORE_SDK_PROVIDERS and TOOLCORE_SDK_MECHANISMS, words with blanks between, take their place
for a run.
"""

import os

# Names in the table of `models`.
PROVIDERS = "openai_chat openai_responses anthropic gemini gemini_schema bedrock mistral"

# stream: the op. allowed, parallel, native: members of a request to render. tool_limit: more tools than the
# provider takes are refused. empty_parts: a part without a text is left out where the provider refuses it.
# partial_args: Gemini's arguments that come value by value.
MECHANISMS = "stream parallel native"


def _words(variable, default):
    return os.environ.get(variable, default).split()


def providers():
    return _words("TOOLCORE_SDK_PROVIDERS", PROVIDERS)


def mechanisms():
    return _words("TOOLCORE_SDK_MECHANISMS", MECHANISMS)
