"""The form of a fault: the rule that finds it, and the stages of an answer that it changes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple, Optional, Union

import msgspec

from wholecall.grading.probe.exchange import Wire
from wholecall.grading.probe.selftest.script import Script

Payload = dict[str, Any]
Frames = list[Union[Payload, str]]  # payloads of events; a text is the data itself


class Reply(NamedTuple):
    """One answer over HTTP.

    Attributes:
        status: the HTTP status.
        headers: the headers, with names in lower case.
        chunks: the body in pieces.
    """

    status: int
    headers: dict[str, str]
    chunks: tuple[bytes, ...]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of a server.

    Attributes:
        id: its name.
        rule: the id of the rule that finds it.
        says: what the server does.
        wires: the wires of the server.
        script: changes what is to be said, in place.
        frames: changes the events of a stream.
        body: changes a whole body, in place.
        data: changes the bytes; the flag says whether they are a stream.
        reply: replaces the whole answer; None keeps it.
    """

    id: str
    rule: str
    says: str
    wires: tuple[Wire, ...] = ("chat-completions",)
    script: Optional[Callable[[Script, Random], None]] = None
    frames: Optional[Callable[[Frames, Random], Frames]] = None
    body: Optional[Callable[[Payload, Random], None]] = None
    data: Optional[Callable[[bytes, bool], bytes]] = None
    reply: Optional[Callable[[Script, Reply], Optional[Reply]]] = None


def stages(change: Callable[[Payload, Random], None]) -> dict[str, Any]:
    """Return the stages that change each object of a stream, and each body."""

    def frames(values: Frames, random: Random) -> Frames:
        for value in values:
            if isinstance(value, dict):
                change(value, random)
        return values

    return {"frames": frames, "body": change}


def each(change: Callable[[Payload], None]) -> dict[str, Any]:
    """Return the stages that change each object of a stream, and each body, with no chance in it."""
    return stages(lambda value, _random: change(value))
