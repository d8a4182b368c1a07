"""Calls in shapes without a marker: bare JSON, `[f(a=1)]`, `f(a=1)`, a fenced object, `call:f{…}`, `Action:` lines.

Theory of operation. Such a shape is weak evidence, so it counts only for declared tools, at the start of a line, before
any marker held a call, and only if nothing but calls, white space and markup follows it to the end of a text that ended
cleanly. Until that is known its text is held, up to a limit; then all of it is text. Text that a failed candidate has
read holds no further candidate, or else many beginnings would cost the square of their number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

from wholecall.text import blocks, envelopes, json_calls, markers, names, records, rules, values
from wholecall.text.outputs import Written
from wholecall.text.python_values import NotPython, python_calls
from wholecall.text.region import NotOne, Region, Unreadable

if TYPE_CHECKING:
    from wholecall.text.source import Waiting
    from wholecall.text.telling import Teller

_Shape = Callable[["Teller", Region], Generator[None, None, None]]

_BARE: Final = records.Block(opens=("{",))
_FENCES: Final = markers.matcher(rules.JSON_FENCES)
_END_FENCE: Final = markers.matcher([rules.FENCE])
_KEYS: Final = frozenset(
    (*envelopes.NAMES, *envelopes.ARGUMENTS, *envelopes.IDS, *envelopes.WRAPPERS, "type", "tool_calls")
)
_KEY: Final = re.compile(r'"[^"\\\n]*')
_LINE: Final = re.compile(r"[^\n]*")
_LONGEST_LINE: Final = 1024
_ENDS_INPUT: Final = markers.matcher(["\nObservation", "\nThought:", "\nFinal Answer:", "\nAction:"])


def read_weak(teller: Teller, literal: str) -> Generator[None, None, bool]:
    """Read the weak shape that may begin at the cursor; return whether it was one, fully emitted."""
    source, state = teller.source, teller.state
    may_be = teller.declared and (state.bol or state.edge) and not state.strong
    if not may_be or source.pos < teller.weak_after:
        return False
    start, reached = source.pos, source.pos
    for shape, read in _READERS.items():
        if shape not in teller.rules.weak or not _begins(shape, literal, teller):
            continue
        region = teller.new_region(literal, (), None)
        good = yield from _candidate(teller, region, read)
        if good:
            teller.finish(region)
            state.strong = False
            return True
        reached = max(reached, source.pos)
        source.pos = start
    most = teller.limits.max_held_text
    teller.weak_after = reached if most is None else min(reached, start + most)
    return False


def _begins(shape: str, literal: str, teller: Teller) -> bool:
    return literal[:-1] in teller.rules.names if shape == "calls" else literal.startswith(_FIRST[shape])


def _candidate(teller: Teller, region: Region, read: _Shape) -> Generator[None, None, bool]:
    """Read one shape to the end of the text, within the limit on held text."""
    source, most = teller.source, teller.limits.max_held_text
    walk = _to_the_end(teller, region, read)
    while most is None or source.pos - region.start <= most:
        try:
            next(walk)
        except StopIteration as stop:
            return bool(stop.value) and (most is None or source.pos - region.start <= most)
        except (NotOne, Unreadable):
            return False
        if most is None or source.pos - region.start <= most:
            yield
    walk.close()
    return False


def _to_the_end(teller: Teller, region: Region, read: _Shape) -> Generator[None, None, bool]:
    source = teller.source
    yield from read(teller, region)
    if not all(_counts(teller, item) for item in region.items) or not region.items:
        return False
    while (yield from source.space()):
        if (yield from source.take(teller.rules.behind_noise)) is None:
            return False
    if not source.at_end or source.ended not in ("clean", "over"):
        return False
    region.close(source.pos)
    return True


def _counts(teller: Teller, item: object) -> bool:
    return isinstance(item, Written) and item.name in teller.declared


def _json(teller: Teller, region: Region) -> Waiting:
    yield from _is_envelope(region)
    yield from json_calls.read_json(region, _BARE, teller.rules, fenced=False)


def _is_envelope(region: Region) -> Waiting:
    """Check that the JSON at the cursor can be a call by its first key.

    Raises:
        NotOne: it cannot.
    """
    source = region.source
    start = source.pos
    if (yield from source.take(markers.matcher(["["]))) is not None:
        yield from source.space()
    if (yield from source.take(markers.matcher(["{"]))) is None:
        region.reject()
    yield from source.space()
    key = yield from source.run(_KEY, names.LONGEST)
    if key[1:] not in _KEYS:
        region.reject()
    source.pos = start


def _fenced(teller: Teller, region: Region) -> Waiting:
    source = region.source
    yield from source.take(_FENCES)
    yield from source.space()
    yield from _is_envelope(region)
    yield from json_calls.read_json(region, _BARE, teller.rules, fenced=False)
    yield from source.space()
    if (yield from source.take(_END_FENCE)) is None:
        region.reject()
    region.close(source.pos)


def _python(teller: Teller, region: Region) -> Waiting:
    source = region.source
    start = source.pos
    is_call = yield from blocks.begins_call(region)
    if not is_call:
        region.reject()
    source.pos += 1
    yield from source.space()
    name = yield from source.run(names.NAME, names.LONGEST)
    if names.cleaned(name, teller.declared) not in teller.declared:
        region.reject()
    source.pos = start
    yield from blocks.read_python(region, frozenset())


def _calls(_teller: Teller, region: Region) -> Waiting:
    yield from blocks.read_python(region, frozenset())


def _relaxed(_teller: Teller, region: Region) -> Waiting:
    yield from blocks.read_relaxed(region, frozenset())


_ACTION: Final = markers.matcher(["Action:"])
_INPUT: Final = markers.matcher(["Action Input:"])


def _action(teller: Teller, region: Region) -> Waiting:
    """Read `Action:` and JSON after it, perhaps in a fence (Command R+)."""
    source = region.source
    yield from source.take(_ACTION)
    yield from source.space()
    fence = yield from source.take(_FENCES)
    yield from source.space()
    yield from _is_envelope(region)
    yield from json_calls.read_json(region, _BARE, teller.rules, fenced=fence is not None)


def _react(teller: Teller, region: Region) -> Waiting:
    """Read `Action: NAME` and `Action Input: …`; the text after the first action is the model's imagination."""
    source = region.source
    yield from source.take(_ACTION)
    line = (yield from source.run(_LINE, _LONGEST_LINE)).strip()
    if len(line) > _LONGEST_LINE:
        region.reject()
    name = line.strip("[]`*\"' ")
    if name not in teller.declared:
        _keyword_call(teller, region, line)
    else:
        yield from source.space()
        if (yield from source.take(_INPUT)) is None:
            region.reject()
        start = source.pos
        yield from source.find(_ENDS_INPUT)
        raw = source.text(start, source.pos).strip()
        if raw[:1] != "{" and source.at_end and source.ended == "over":
            region.reject()  # plain text shows no end of its own
        region.call(
            source.pos, name, _input(teller, name, raw), edits=[] if raw[:1] == "{" else ["translated"]
        )
    yield from source.find(markers.matcher([]))  # to the end


def _keyword_call(teller: Teller, region: Region, line: str) -> None:
    try:
        calls = python_calls(line, max_depth=teller.limits.max_depth)
    except NotPython:
        raise NotOne from None
    if len(calls) != 1:
        raise NotOne
    region.call(region.source.pos, calls[0].name, values.written(calls[0].arguments), edits=["translated"])


def _input(teller: Teller, name: str, raw: str) -> str:
    """Return the arguments of an action: JSON, or the raw text for a tool with one property."""
    if raw[:1] == "{":
        return raw
    properties = teller.declared.schema(name).properties
    if len(properties) != 1:
        raise NotOne
    (key,) = properties
    value: dict[str, Any] = {key: raw.strip("\"'") if raw[:1] == raw[-1:] else raw}
    return values.written(value)


_READERS: Final[dict[str, _Shape]] = {
    "json": _json,
    "python": _python,
    "calls": _calls,
    "fenced": _fenced,
    "relaxed": _relaxed,
    "action": _action,
    "react": _react,
}
_FIRST: Final[dict[str, tuple[str, ...]]] = {
    "json": ("{", "["),
    "python": ("[",),
    "fenced": (rules.FENCE,),
    "relaxed": ("call:",),
    "action": ("Action:",),
    "react": ("Action:",),
}
