"""wholecall as clients of the suite: the parser over bytes, and SDKs over its repairing transport.

`dropped` calls count as refused. A fault of the stream, or a turn that broke off, is the client's error.
"""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "python"))

import wholecall.transport
from protocol import ANTHROPIC, CHAT, RESPONSES, Client, Run, serve

SESSIONS = ("responses-socket", "openai-realtime", "gemini-live")  # of WebSockets, a message a line
WIRES = (CHAT, RESPONSES, ANTHROPIC, "gemini", "bedrock-converse", "ollama", "cohere-v2", *SESSIONS)
NO_END = (CHAT, "gemini-live")  # some servers never say that they end; a session may wait for results
ENDED = frozenset(
    {"tool_calls", "stop", "pause", "length", "content_filter"}
)  # the reasons of turns that were ended


class BrokenOff(Exception):
    """The turn did not come to its end."""


def reads(run: Run) -> Iterator[bytes]:
    """Yield the reads of the answer, and raise where its connection breaks."""
    yield from run.chunks
    if run.ending not in {"clean", "half"}:
        raise ConnectionResetError(run.ending)


def parser(run: Run) -> None:
    """Take the turns of the bytes, with all their choices; the parser finds out the wire."""
    run.text, reasons, faults = "", set(), []
    for turn in wholecall.turns(reads(run)):
        for choice in (turn, *turn.others.values()):
            take(run, choice)
            reasons.add(choice.reason)
        try:
            turn.raise_for_fault()
        except Exception as fault:  # noqa: BLE001 - a session goes on after it
            faults.append(fault)
        if run.wire not in NO_END and "missing_finish" in turn.anomalies:
            faults.append(BrokenOff("missing_finish"))
    for fault in faults:
        raise fault
    if run.status >= 400:
        raise BrokenOff(f"status {run.status}")
    if not (run.calls or ENDED.issuperset(reasons)):
        raise BrokenOff(str(reasons))


def take(run: Run, turn: Any) -> None:
    """Take the calls of a turn, of one choice."""
    run.text = (run.text or "") + turn.text
    for call in turn.calls:
        run.called(call.id, call.name, call.arguments)
    for call in turn.dropped:
        run.refuse(call.id, call.name, call.reason)


def behind_transport() -> list[Client]:
    """Return the SDKs that are installed, each with the transport under its HTTP client."""
    found = []
    for sdk, name in (("openai", "openai_sdk"), ("anthropic", "anthropic_sdk")):
        if importlib.util.find_spec(sdk):
            found += [mended(client, module(name)) for client in module(name).CLIENTS]
    return found


def module(name: str) -> Any:
    """Return a module of the Python adapters."""
    return importlib.import_module(name)


def mended(client: Client, adapter: Any) -> Client:
    """Return a client that reads through the transport."""

    def read(run: Run) -> None:
        with wholecall.transport.client() as http:
            adapter.HTTP["http_client"] = http
            try:
                client.read(run)
            finally:
                adapter.HTTP.clear()

    packages = ("wholecall", *client.packages)
    return Client(f"{client.name}+wholecall", client.wire, read, packages, whole=client.whole)


if __name__ == "__main__":
    own = [Client("wholecall", wire, parser, ("wholecall",), mode="bytes", whole=True) for wire in WIRES]
    serve(*own, *behind_transport())
