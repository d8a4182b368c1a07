"""Strategies for the laws: honest chat turns, their bytes, their splits, and the rules of every event list."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from hypothesis import strategies as st

from tests.support import quirky
from tests.support.model import Fragment
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import StreamFault, TurnFinished
from wholecall.types import Anomaly, DropReason, EditKind, FaultKind, Flag, Kind, Status, TurnReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DONE = b"data: [DONE]\n\n"
TERMINAL = (
    ToolCall,
    CustomToolCall,
    BuiltinToolCall,
    ServerToolCall,
    ToolCallDropped,
)

# --- JSON ---------------------------------------------------------------------------------------------------

_characters = st.characters(exclude_categories=("Cs",))
texts = st.one_of(
    st.sampled_from(quirky.HOSTILE),
    st.lists(st.sampled_from(quirky.HOSTILE), min_size=2, max_size=3).map("".join),
    st.text(_characters, max_size=12),
)
keys = st.one_of(st.sampled_from(quirky.KEYS), st.text(_characters, max_size=6))
numbers = st.one_of(
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from((0, -1, 1e16)),
)
values = st.recursive(
    st.one_of(texts, numbers, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=6,
)
objects = st.dictionaries(keys, values, max_size=3)
full_objects = st.dictionaries(keys, values, min_size=1, max_size=3)


def canonical(value: object) -> str:
    """Return a text that differs where values differ, also `1`, `1.0` and `True`; keys in any order."""
    return json.dumps(value, sort_keys=True)


# --- honest turns ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Calls with their argument text cut into pieces; the id of call `n` is `call_n`."""

    names: tuple[str, ...]
    arguments: tuple[dict[str, Any], ...]
    pieces: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.names)

    def track(self, number: int) -> list[Fragment]:
        """Return the fragments of one call: the labels first, then its text."""
        head = Fragment(number, f"call_{number}", self.names[number], "")
        return [head, *(Fragment(number, text=text) for text in self.pieces[number])]

    def fragments(self) -> list[Fragment]:
        """Return the fragments of all calls, one call after another."""
        return [fragment for number in range(len(self)) for fragment in self.track(number)]

    def raw(self, number: int) -> str:
        """Return the whole argument text of one call."""
        return "".join(self.pieces[number])

    def sent(self) -> list[tuple[str, str, str]]:
        """Return id, name and arguments of all calls."""
        return [
            (f"call_{number}", name, canonical(arguments))
            for number, (name, arguments) in enumerate(zip(self.names, self.arguments, strict=True))
        ]


def cut_at(text: str, places: Iterable[int]) -> tuple[str, ...]:
    """Cut a text at the places (modulo its length); no piece is empty."""
    cuts = sorted({place % len(text) for place in places} - {0}) if text else []
    return tuple(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b)


@st.composite
def plans(draw: st.DrawFn, *, least: int = 1, most: int = 3, of: st.SearchStrategy[Any] = objects) -> Plan:
    """Draw an honest turn."""
    count = draw(st.integers(least, most))
    names = tuple(draw(st.sampled_from(quirky.NAMES)) for _ in range(count))
    arguments = tuple(draw(of) for _ in range(count))
    escape = draw(st.booleans())
    pieces = []
    for value in arguments:
        text = json.dumps(value, ensure_ascii=escape)
        pieces.append(cut_at(text, draw(st.lists(st.integers(0, 200), max_size=4))))
    return Plan(names, arguments, tuple(pieces))


# --- bytes ------------------------------------------------------------------------------------------------------


def chunk(*fragments: Fragment, finish: str | None = None, choice: int = 0, **more: Any) -> dict[str, Any]:
    """Return the chunk that carries the fragments."""
    delta = {"tool_calls": [fragment.entry() for fragment in fragments]} if fragments else {}
    inner = {"index": choice, "delta": delta, "finish_reason": finish, **more}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [inner],
    }


def frame(payload: object) -> bytes:
    """Return one server-sent event."""
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n\n"


def stream(
    fragments: Iterable[Fragment], *, finish: str | None = "tool_calls", done: bool = True
) -> list[bytes]:
    """Return the frames of a chat stream, one fragment each."""
    frames = [frame(chunk(fragment)) for fragment in fragments]
    if finish is not None:
        frames.append(frame(chunk(finish=finish)))
    return [*frames, DONE] if done else frames


def partitions(size: int) -> st.SearchStrategy[list[int]]:
    """Draw cut points of `size` bytes; a place drawn twice gives an empty chunk; shrinks to few cuts."""
    return st.lists(st.integers(0, size), max_size=12).map(sorted)


def split(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Cut bytes at the places."""
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


# --- running ------------------------------------------------------------------------------------------------------


def parse(chunks: Iterable[bytes], dialect: str = "chat-completions", **options: Any) -> list[Any]:
    """Return all events of a stream that comes in these chunks."""
    parser = ToolCallParser(dialect, **options)
    found = [event for data in chunks for event in parser.feed(data)]
    return [*found, *parser.close()]


def log(found: Iterable[Any]) -> list[bytes]:
    """Return the log lines of events."""
    return [event.to_json() for event in found]


def pairs(found: Iterable[Any], kind: type = ToolCall) -> list[tuple[str, str, str]]:
    """Return id, name and arguments of the emitted calls, in order of choice and index."""
    calls = sorted((e for e in found if type(e) is kind), key=lambda e: (e.choice, e.index))
    return [(call.id, call.name, canonical(call.arguments)) for call in calls]


def without_counters(found: Iterable[Any]) -> list[Any]:
    """Return the events without the parts that noise may change: usage and anomalies."""
    return [
        type(e)(**{**{k: getattr(e, k) for k in e.__struct_fields__}, "usage": None, "anomalies": ()})
        if type(e) is TurnFinished
        else e
        for e in found
    ]


# --- rules of every event list -------------------------------------------------------------------------------------

_VOCABULARY = {
    (ToolCall, "status"): get_args(Status),
    (ToolCallDropped, "reason"): get_args(DropReason),
    (ToolCallDropped, "kind"): get_args(Kind),
    (ToolCallStarted, "kind"): get_args(Kind),
    (StreamFault, "kind"): get_args(FaultKind),
    (TurnFinished, "reason"): get_args(TurnReason),
}


def violations(found: Sequence[Any]) -> list[str]:
    """Return the faults in the shape of a finished event list."""
    return [*_wrong_words(found), *_wrong_ends(found), *_wrong_turns(found)]


def _wrong_words(found: Sequence[Any]) -> Iterable[str]:
    for event in found:
        for (kind, field), words in _VOCABULARY.items():
            if type(event) is kind and getattr(event, field) not in words:
                yield f"{field} {getattr(event, field)!r} is no word of {kind.__name__}"
        strange = set(getattr(event, "flags", ())) - set(get_args(Flag))
        strange |= {edit.kind for edit in getattr(event, "edits", ())} - set(get_args(EditKind))
        strange |= set(getattr(event, "anomalies", ())) - set(get_args(Anomaly))
        if strange:
            yield f"{sorted(strange)} are no words"


def _wrong_ends(found: Sequence[Any]) -> Iterable[str]:
    started: dict[tuple[int, int, int], Any] = {}
    ended: set[tuple[int, int, int]] = set()
    for event in found:
        if not hasattr(event, "index"):
            continue
        key = (event.turn, event.choice, event.index)
        if key in ended:
            yield f"{type(event).__name__} after the end of call {key}"
        if type(event) is ToolCallStarted:
            if key in started:
                yield f"call {key} started twice"
            started[key] = event
        elif type(event) in TERMINAL:
            ended.add(key)
            name = getattr(event, "name", None)
            if key in started and name != started[key].name and hasattr(event, "name"):
                yield f"call {key} started as another tool"
            if type(event) is ToolCall and key not in started:
                yield f"call {key} never started"
        elif key not in started:
            yield f"{type(event).__name__} before the start of call {key}"
    yield from (f"call {key} never ended" for key in started if key not in ended)


def _wrong_turns(found: Sequence[Any]) -> Iterable[str]:
    finished: set[tuple[int, int]] = set()
    calls: Counter[tuple[int, int]] = Counter()
    drops: Counter[tuple[int, int]] = Counter()
    for event in found:
        place = (event.turn, event.choice)
        if place in finished and type(event) not in {ToolCallCancelled, StreamFault}:
            yield f"{type(event).__name__} after the end of turn and choice {place}"
        if type(event) is ToolCallDropped:
            drops[place] += 1
        elif type(event) in TERMINAL:
            calls[place] += 1
        elif type(event) is TurnFinished:
            finished.add(place)
            if event.n_calls != calls[place]:
                yield f"{place}: n_calls {event.n_calls}, but {calls[place]} came out"
            if event.n_dropped < drops[place]:
                yield f"{place}: n_dropped {event.n_dropped}, but {drops[place]} were dropped"
    if not finished:
        yield "no turn finished"
    yield from (f"{place} never finished" for place in {*calls, *drops} - finished)


def relabelled(fragments: Iterable[Fragment], indices: Sequence[int]) -> list[Fragment]:
    """Return the fragments with each index replaced by another."""
    return [replace(fragment, index=indices[fragment.index]) for fragment in fragments]
