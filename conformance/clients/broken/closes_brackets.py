"""A broken client: it closes the quotes and brackets of arguments that were cut, and runs the call."""

from __future__ import annotations

import json
import pathlib
import re
import sys
from typing import Any

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from protocol import ANTHROPIC, CHAT, RESPONSES, Client, Run, serve
from stream import table_of

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)
CLOSERS = {"{": "}", "[": "]"}


def closed(text: str) -> Any:
    """Return arguments with what they lack at their end, or as text if that is no JSON either."""
    lacking = ""
    for token in TOKEN.findall(text):
        if token in CLOSERS:
            lacking = CLOSERS[token] + lacking
        elif token in CLOSERS.values():
            lacking = lacking[1:]
        elif len(token) == 1 or not token.endswith('"'):
            lacking = '"' + lacking
    whole = text + lacking
    found = [mended for mended in (whole, f"{text}null{lacking}", f"{text}:null{lacking}") if is_json(mended)]
    return json.loads(found[0]) if found else text


def is_json(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


def read(run: Run) -> None:
    """Take every call, whole or not."""
    for call in table_of(run).values():
        run.called(call["id"], call["name"], closed(call["arguments"] or "{}"))


if __name__ == "__main__":
    wires = (CHAT, RESPONSES, ANTHROPIC)
    serve(*(Client("broken-closes-brackets", wire, read, mode="bytes", version="1") for wire in wires))
