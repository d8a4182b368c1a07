"""A broken client: it hands a call over when the next one begins, and so never hands over the last one."""

from __future__ import annotations

import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from protocol import ANTHROPIC, CHAT, RESPONSES, Client, Run, serve
from stream import table_of


def read(run: Run) -> None:
    """Take all calls but the last one."""
    for call in list(table_of(run).values())[:-1]:
        run.called(call["id"], call["name"], json.loads(call["arguments"] or "{}"))


if __name__ == "__main__":
    wires = (CHAT, RESPONSES, ANTHROPIC)
    serve(*(Client("broken-drops-the-last", wire, read, mode="bytes", version="1") for wire in wires))
