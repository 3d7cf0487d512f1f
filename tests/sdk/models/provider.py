"""What the tests ask of a provider."""

import json
from dataclasses import replace


class Provider:
    name = ""
    # The dialect of the desk tool.
    dialect = ""
    # Members of every request to the desk tool, where a provider is an option of a dialect.
    options = {}
    # Names in framing.FRAMINGS; none where the events are handed over one by one.
    framings = ()
    # Whether events of several calls may be mixed.
    interleaves = False
    # Whether the wire carries images in results, flags of failure, ids.
    images = True
    flags = True
    ids = True
    # Whether a result refers to its call by an id.
    needs_ids = True
    # Whether a reply may hold arguments that stop in the middle.
    cuts = True
    # The example of formats.md: the members of a request, and calls with the messages that answer them.
    example_request = {}
    example_calls = ()
    example_messages = ()

    def call_id(self, n):
        """The id of a turn's call `n`, in the provider's form."""
        return f"call_{n}"

    def with_ids(self, turn):
        ids = (self.call_id(n) if self.ids else None for n in range(len(turn.calls)))
        return replace(turn, calls=tuple(replace(call, id=id) for call, id in zip(turn.calls, ids)))

    def check_request(self, body):
        """Raises unless `body` completes a request that the SDK would send."""
        raise NotImplementedError

    def tools(self, body):
        """The tools in a request: name, description, schema."""
        raise NotImplementedError

    def check_messages(self, calls, messages):
        """Raises unless the messages answer the calls in a conversation; gives the results in order."""
        raise NotImplementedError

    def reply(self, turn):
        """The turn as a whole reply."""
        raise NotImplementedError

    def events(self, turn, size, mixed=False):
        """The turn as events, arguments and text in pieces of `size` characters."""
        raise NotImplementedError

    def read(self, reply):
        """A whole reply as the SDK understands it."""
        raise NotImplementedError

    def accumulate(self, events):
        """Events as the SDK understands them."""
        raise NotImplementedError


def pieces(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def arguments_text(turn, n):
    """The arguments of call `n`, as a model writes them; the last of a truncated turn stops in the middle."""
    text = json.dumps(turn.calls[n].arguments, ensure_ascii=False)
    cut = turn.end == "truncated" and n == len(turn.calls) - 1
    return text[: len(text) // 2] if cut else text


def arguments(text):
    """What arguments say, or their text where they are none."""
    try:
        return json.loads(text) if text.strip() else {}
    except json.JSONDecodeError:
        return text


def deltas(turn, size, mixed):
    """The calls' argument pieces as (call, piece); mixed, each call gives one in its turn."""
    of_call = [
        [(n, piece) for piece in pieces(arguments_text(turn, n), size)] for n in range(len(turn.calls))
    ]
    if not mixed:
        return [delta for call in of_call for delta in call]
    longest = max((len(call) for call in of_call), default=0)
    return [call[i] for i in range(longest) for call in of_call if i < len(call)]


def require(condition, why):
    """What a provider's documents demand and its SDK's models do not check."""
    if not condition:
        raise ValueError(why)
