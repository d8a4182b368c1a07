"""Recordings as the laws of damage want them: their frames, and the calls that were sent with them.

A recording *holds* a call if its undamaged replay gives it, or drops it although its text was whole, or if the expected
calls next to it say so. A call without arguments is whole where calls come whole: a later cut of the turn does not
change that. Kinds are distinguished: a call that the server executes is not for the client.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tests.damage.ways import framing
from tests.fuzz.mutate import events_of
from tests.support import corpora
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
)

Call = tuple[str, str, str]  # kind, name, value

_EXECUTED = (ToolCall, CustomToolCall, BuiltinToolCall)
_WHOLE = ("gemini", "ollama")  # dialects in which a call comes whole
ENDS = (*_EXECUTED, ServerToolCall, ToolCallDropped)  # of a call that started


@dataclass(frozen=True)
class Stream:
    """A recording: where it is from, and its bytes."""

    name: str
    dialect: str
    data: bytes
    expected: tuple[Call, ...] = ()

    @cached_property
    def frames(self) -> list[bytes]:
        """The bytes, cut after each frame."""
        return events_of(self.data)

    @cached_property
    def held(self) -> Counter[Call]:
        """The calls that were sent, each as often as it was."""
        events = list(told(ToolCallParser(), [self.data]))
        # A call that the server ran was sent, too: where that is known by its result alone, a cut hides it.
        sent = Counter(_call(event) for event in events if isinstance(event, (*_EXECUTED, ServerToolCall)))
        whole = self.dialect in _WHOLE
        sent += Counter(call for event in events if (call := _dropped(event, whole=whole)) is not None)
        return sent | Counter(self.expected)


def _value(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _call(event: Any) -> Call:
    if isinstance(event, CustomToolCall):
        return "custom", event.name, event.input
    if isinstance(event, BuiltinToolCall):
        return "builtin", event.kind, _value(event.arguments)
    return "function", event.name, _value(event.arguments)


def _dropped(event: Any, *, whole: bool) -> Call | None:
    """A dropped call whose text was a whole object: it was sent, and refused for another reason."""
    if not isinstance(event, ToolCallDropped) or event.name is None:
        return None
    if event.kind == "custom":
        return "custom", event.name, event.raw_arguments
    try:
        value = json.loads(event.raw_arguments or ("{}" if whole else ""))
    except ValueError:
        return None
    return ("function", event.name, _value(value)) if isinstance(value, dict) else None


def told(parser: ToolCallParser[Any], chunks: Iterable[bytes]) -> Iterator[Any]:
    """The events of chunks and of the end after them."""
    for chunk in chunks:
        yield from parser.feed(chunk)
    yield from parser.close()


def called(events: Iterable[Any]) -> Counter[Call]:
    """The calls to execute; one that the wire takes back later is not executed."""
    events = list(events)
    taken_back = {event.id for event in events if isinstance(event, ToolCallCancelled)}
    return Counter(_call(e) for e in events if isinstance(e, _EXECUTED) and e.id not in taken_back)


class Recordings(NamedTuple):
    """A folder of recordings: its name among the known numbers, and its streams."""

    name: str
    streams: tuple[Stream, ...]

    def dialects(self) -> list[str]:
        """The dialects of the streams."""
        return sorted({stream.dialect for stream in self.streams})

    def pairs(self, dialect: str) -> Iterator[tuple[Stream, Stream]]:
        """Each stream of a dialect, and another one in its framing."""
        groups: dict[str, list[Stream]] = {}
        for stream in self.streams:
            if stream.dialect == dialect:
                groups.setdefault(framing(stream.data), []).append(stream)
        for group in groups.values():
            yield from zip(group, [*group[1:], group[0]], strict=True)


@cache
def of_corpora() -> Recordings:
    """The project's own recordings."""
    streams = (Stream(entry["name"], entry["dialect"], corpora.recorded(entry)) for entry in corpora.cases())
    return Recordings("corpora", tuple(streams))


@cache
def of_folder(folder: Path) -> Recordings:
    """The recordings of a folder with a manifest, and the calls that are expected of them.

    Their numbers are keyed by the manifest's digest: they do not apply to other recordings.
    """
    manifest = (folder / "manifest.jsonl").read_bytes()
    streams = (
        Stream(
            row["name"], row["dialect"], (folder / row["file"]).read_bytes(), _expected(folder, row["name"])
        )
        for row in map(json.loads, manifest.splitlines())
    )
    return Recordings(f"recordings {hashlib.sha256(manifest).hexdigest()[:8]}", tuple(streams))


def _expected(folder: Path, name: str) -> tuple[Call, ...]:
    path = folder / "expected" / f"{name}.json"
    calls = json.loads(path.read_bytes()) if path.exists() else []
    return tuple(
        ("function", call["name"], _value(call["arguments"]))
        for call in calls
        if not call.get("server") and not call.get("custom") and isinstance(call["arguments"], dict)
    )
