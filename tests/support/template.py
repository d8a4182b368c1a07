"""An abstract turn as the cases of a dialect write it: a renderer for dialects whose calls come whole, under ids.

Theory of operation. Each part of a turn is taken from the cases (`tests/dialects/cases`): the frames of the first stream
before it says anything, a frame of a thought, one of a text, the frames of a whole call, those of an end. The deltas
below them state the values that the frames hold: the id, the name and the arguments of the call, the text. A part is
rendered by replacing these values, wherever the frames have them. Calls that come in pieces, under a number, or in a
frame with others need a renderer by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from tests.support import shown
from tests.support.encode import Call, Pieces, Turn, json_lines, sse
from wholecall.deltas import (
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    ReasoningFragment,
    TextFragment,
    TurnOpened,
)
from wholecall.dialects.table import named
from wholecall.framing.frame import Frame

Frames = tuple[tuple[str, dict[str, Any]], ...]  # each with the name of its event
_OF_CALLS = (CallSeen, CallWhole, CallClosed)


class Sample(NamedTuple):
    """A whole call of the cases: its frames, and what the deltas say of it."""

    frames: Frames
    id: str
    name: str
    arguments: str
    kind: str


class Template(NamedTuple):
    """The parts of a turn; the frames of a thought and of a text with their text."""

    head: Frames
    thoughts: tuple[Frames, str] | None
    texts: tuple[Frames, str]
    call: Sample
    end: Frames
    cut: Frames
    ids: frozenset[str]
    models: frozenset[str]


@cache
def template(name: str) -> Template | None:
    """Return the parts of a turn that a dialect's cases show, None if one of them is missing."""
    call = next(_samples(name), None)
    texts, end = _said(name, TextFragment), _frames(shown.end(name, "tool_calls", "stop"))
    if call is None or texts is None or not end or named(name).framings[0] not in ("sse", "jsonl"):
        return None
    opened = [delta for delta in _all(name) if isinstance(delta, TurnOpened)]
    ids, models = ({getattr(one, what) for one in opened} - {None} for what in ("id", "model"))
    cut = _frames(shown.end(name, "length", "error")) or end
    thoughts = _said(name, ReasoningFragment)
    return Template(_head(name), thoughts, texts, call, end, cut, frozenset(ids), frozenset(models))


def renderer(name: str) -> Callable[[Turn, Pieces], bytes] | None:
    """Return the renderer of a dialect that its cases make, None if they show no whole turn."""
    parts = template(name)
    if parts is None:
        return None
    made = parts  # known to be there

    def render(turn: Turn, pieces: Pieces) -> bytes:  # noqa: ARG001 - nothing comes in pieces
        said = [*made.head]
        for part, text in ((made.thoughts, turn.reasoning), (made.texts, turn.text)):
            said += _with(part[0], {part[1]: text}) if part and text else ()
        for call in turn.calls:
            said += _called(made.call, call)
        said += made.cut if turn.stopped else made.end
        about = {**dict.fromkeys(made.ids, turn.id), **dict.fromkeys(made.models, turn.model)}
        return _bytes(name, _with(said, about))

    return render


def is_of_server(name: str) -> bool:
    """Return whether the sender of a dialect's calls executes them, as its cases show them."""
    parts = template(name)
    return parts is not None and parts.call.kind == "server"


def _bytes(name: str, frames: Frames) -> bytes:
    if named(name).framings[0] == "jsonl":
        return json_lines(payload for _, payload in frames)
    return b"".join(sse(payload, None if event in shown.UNNAMED else event) for event, payload in frames)


def _called(sample: Sample, call: Call) -> Frames:
    """Return the frames of a call: those of the sample with the values of this one."""
    text = _with(
        sample.frames, {sample.id: call.id, sample.name: call.name, sample.arguments: call.arguments}
    )
    value = (
        json.loads(call.arguments or "{}") if _holds(sample.frames, json.loads(sample.arguments)) else None
    )
    return _with(text, {}, json.loads(sample.arguments), value)


def _with(
    frames: Sequence[tuple[str, Any]], texts: dict[str, str], old: Any = None, new: Any = None
) -> Frames:
    """Return frames with other texts, and with another object in place of the old one."""

    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return texts.get(value, value)
        if isinstance(value, (dict, list)) and value == old:
            return new
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    return tuple((event, changed(payload)) for event, payload in frames)


def _holds(within: Any, value: Any) -> bool:
    """Return whether a value is anywhere in another."""
    if within == value and type(within) is type(value):
        return True
    inner = (
        within.values() if isinstance(within, dict) else within if isinstance(within, (list, tuple)) else ()
    )
    return any(_holds(one, value) for one in inner)


# The parts, as the cases show them.


def _all(name: str) -> Iterator[Delta]:
    return (delta for stream in shown.streams(name) for _, said in stream.steps for delta in said)


def _frames(frames: Sequence[Frame]) -> Frames:
    found = ((frame.event, shown.payload(frame.data)) for frame in frames)
    return tuple((event, payload) for event, payload in found if payload is not None)


def _head(name: str) -> Frames:
    """Return the frames of the first stream up to the first that says more than that a turn begins."""
    first: list[Frame] = []
    for frame, said in shown.streams(name)[0].steps:
        if not all(isinstance(delta, TurnOpened) for delta in said):
            break
        first.append(frame)
    return _frames(first)


def _said(name: str, kind: type[TextFragment | ReasoningFragment]) -> tuple[Frames, str] | None:
    """Return the first frame with one text of a kind and nothing else, and the text."""
    for frame, said in (step for stream in shown.streams(name) for step in stream.steps):
        more = [delta for delta in said if not isinstance(delta, TurnOpened)]
        frames = _frames([frame])
        if len(more) == 1 and isinstance(more[0], kind) and _holds(frames, more[0].text):
            return frames, more[0].text
    return None


def _samples(name: str) -> Iterator[Sample]:
    """Yield the calls whose frames say nothing else, and hold all that is said of them."""
    for stream in shown.streams(name):
        steps = [
            (frame, [one for one in said if isinstance(one, _OF_CALLS)], said) for frame, said in stream.steps
        ]
        for slot in dict.fromkeys((one.index, one.alias) for _, calls, _ in steps for one in calls):
            mine = [step for step in steps if any((one.index, one.alias) == slot for one in step[1])]
            alone = all(isinstance(one, (*_OF_CALLS, TurnOpened)) for _, _, said in mine for one in said)
            if alone and len({(one.index, one.alias) for _, calls, _ in mine for one in calls}) == 1:
                yield from _sample(
                    _frames([frame for frame, _, _ in mine]), [one for _, calls, _ in mine for one in calls]
                )


def _sample(frames: Frames, said: list[Any]) -> Iterator[Sample]:
    ids, names = ({getattr(one, what, None) for one in said} - {None} for what in ("id", "name"))
    texts = {one.text for one in said if isinstance(one, CallWhole)}
    if len(ids) != 1 or len(names) != 1 or len(texts) != 1 or not _is_over(said[-1]):
        return
    id_, call, text = ids.pop(), names.pop(), texts.pop()
    held = _holds(frames, text) or _holds(frames, json.loads(text))
    if held and _holds(frames, id_) and _holds(frames, call) and len(text) > 2:
        yield Sample(frames, id_, call, text, said[0].kind)


def _is_over(last: Any) -> bool:
    return isinstance(last, CallClosed) or (isinstance(last, CallWhole) and last.closes)
