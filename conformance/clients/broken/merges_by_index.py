"""A broken client: it takes all calls of an answer for one, as if each had the index 0."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from protocol import ANTHROPIC, CHAT, RESPONSES, Client, Run, serve
from stream import table_of


def read(run: Run) -> None:
    """Take one call: the first one's name with the arguments of all."""
    calls = list(table_of(run).values())
    merged: dict[str, Any] = {}
    for call in calls:
        merged |= json.loads(call["arguments"] or "{}")
    for call in calls[:1]:
        run.called(call["id"], call["name"], merged)


if __name__ == "__main__":
    wires = (CHAT, RESPONSES, ANTHROPIC)
    serve(*(Client("broken-merges-by-index", wire, read, mode="bytes", version="1") for wire in wires))
