"""The desk tool, which is the library behind its C interface: a request a line in, an answer a line out."""

import json
import subprocess


class Refused(Exception):
    """An answer that is not ok."""

    def __init__(self, error):
        super().__init__(f"{error.get('kind')}: {error.get('message')}")
        self.kind = error.get("kind")


class Desk:
    def __init__(self, program):
        pipe = subprocess.PIPE
        # Room for the answer to a stream that is sent byte by byte.
        self._child = subprocess.Popen([program, "--mem", str(1 << 26)], stdin=pipe, stdout=pipe)

    def ask(self, op, **members):
        """Gives the answer, or raises Refused."""
        request = {"op": op} | {name: value for name, value in members.items() if value is not None}
        self._child.stdin.write(json.dumps(request, ensure_ascii=False).encode() + b"\n")
        self._child.stdin.flush()
        answer = json.loads(self._child.stdout.readline())
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer

    def close(self):
        self._child.stdin.close()
        assert self._child.wait() == 0


def choice(words, tool=None, tools=()):
    """A choice in a request to render: auto, none, required, tool, allowed or allowed_required."""
    if words == "tool":
        return {"tool": tool}
    if words.startswith("allowed"):
        return {"allowed": list(tools), "required": words == "allowed_required"}
    return words


def native(kind, config=None):
    """A tool of the provider in a request to render, allowed to act."""
    return {"kind": kind, "allow": True} | ({"config": config} if config else {})
