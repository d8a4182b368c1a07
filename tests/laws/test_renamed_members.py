"""Arguments under another name: a call whose text is in a member that no dialect reads is not a call without arguments.

In each recording, a member that holds a call's text, or an object around it, gets another name. In the ordinary suite a
sample of the streams, in the slow one more of them.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

import pytest

from tests.support import corpora, share
from tests.support.encode import Call, Pieces, Turn, every, whole
from tests.support.renderers import RENDERERS
from wholecall import ToolCall, ToolCallParser

# Members that hold the text of a call, or a piece of it.
TEXTS = frozenset({
    *("arguments", "args", "input", "parameters", "partial_json", "delta", "inputTextDelta", "argsTextDelta"),
    *("textDelta", "tool_input", "toolInput", "rawInput", "tool_args", "arguments_delta", "args_delta"),
})  # fmt: skip
NAMES = ("foo", "arguments", "args", "input", "content", "data")  # that they get
MOST = 14  # members of one recording whose names change


class Place(NamedTuple):
    """A member of a frame: the line of the frame, and the path of the member in it."""

    line: int
    path: tuple[str | int, ...]


def called(data: bytes, dialect: str = "auto") -> Counter[tuple[str, str]]:
    """Return the names and the arguments of a stream's calls."""
    parser = ToolCallParser(dialect)
    events = parser.feed(data) + parser.close()
    calls = (event for event in events if type(event) is ToolCall)
    return Counter((call.name, json.dumps(call.arguments, sort_keys=True)) for call in calls)


def split(line: bytes) -> tuple[bytes, Any]:
    """Return what comes before the value of a line, and the value; None if there is no object."""
    start = line[: line.find(b"{")] if line.startswith((b"data:", b"b:", b"c:", b"9:")) else b""
    try:
        value = json.loads(line[len(start) :])
    except ValueError:
        return start, None
    return start, value if isinstance(value, (dict, list)) else None


def texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of members that hold a call's text."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in members:
        if (
            key in TEXTS
            and inner not in ("", {}, [], None)
            and not (key == "delta" and isinstance(inner, dict))
        ):
            yield (*path, key)
        yield from texts(inner, (*path, key))


def renamed(value: Any, path: tuple[str | int, ...], name: str) -> Any:
    """Return a copy of a value in which a member has another name."""
    changed = copy.deepcopy(value)
    of = reduce(getitem, path[:-1], changed)
    of[name] = of.pop(path[-1])
    return changed


def mutants(lines: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield streams in which one member has another name: one with text of a call, or an object around it."""
    values = [split(line) for line in lines]
    for number, path in [(n, path) for n, (_, value) in enumerate(values) for path in texts(value)][:MOST]:
        start, value = values[number]
        around = [path[:n] for n in range(1, len(path)) if isinstance(path[n - 1], str)]
        for of, name in [
            *((path, name) for name in NAMES if name != path[-1]),
            *((of, "foo") for of in around),
        ]:
            line = start + json.dumps(renamed(value, of, name)).encode()
            yield f"{number} {of} {name}", b"\n".join([*lines[:number], line, *lines[number + 1 :]])


def recordings() -> Iterator[tuple[str, str, bytes, Counter[tuple[str, str]]]]:
    """Yield the names, the dialects and the bytes of recordings with calls whose frames are lines, and the calls."""
    for case in corpora.cases():
        data = corpora.recorded(case)
        if case["file"].endswith((".sse", ".ndjson", ".jsonl", ".json")) and len(data) < 50_000:
            calls = called(data, case["dialect"])
            if calls:
                yield case["name"], case["dialect"], data, calls


# A call that came in pieces, and whole once more with another text: if that is not read, the pieces are the call. And
# the name of an object that is the only sign of its kind: with another name it is a piece of an unknown kind of block.
KNOWN = (
    "langchain-protocol/bare 18 ('content', 'args')",
    "strands/events-of-the-model 16 ('event', 'contentBlockDelta', 'delta', 'toolUse')",
)


@share.in_parts(55)
def test_arguments_under_another_name_are_not_missed(part: share.Part) -> None:
    """Law 142: no call comes that the recording does not hold, least of all one without arguments, or with a hole."""
    streams = [
        (f"{name} {what}", dialect, changed, calls)
        for name, dialect, data, calls in recordings()
        for what, changed in mutants(data.split(b"\n"))
        if not f"{name} {what}".startswith(KNOWN)
    ]
    tried = part.of(streams, "renamed members")

    assert [] == [what for what, dialect, changed, calls in tried if called(changed, dialect) - calls]


# Two calls whose texts are JSON whichever of their pieces are missing.
WITHOUT_GAPS = Turn(
    (
        Call("call_a", "delete", '{"path":"/etc/cache/etc/cache/x"}'),
        Call("call_b", "put", '{"n":1111111111111111111111}'),
    )
)
IN_LISTS = frozenset(
    {"chat-completions", "dashscope", "langchain", "langchain-events", "sap-orchestration"}
)  # wires on which a frame may have pieces of several calls


def pieces_in(value: Any, cut: Pieces) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of members that hold a piece of a call's text."""
    pieces = {piece for call in WITHOUT_GAPS.calls for piece in cut(call.arguments)}
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in members:
        if isinstance(inner, str) and inner in pieces and isinstance(key, str):
            yield (key,)
        elif isinstance(inner, (dict, list)):
            yield from ((key, *path) for path in pieces_in(inner, cut))


def halved(value: Any, path: tuple[str | int, ...]) -> Iterator[Any]:
    """Yield a frame in which a piece is two entries of its list, one of them under another name, in both orders."""
    at = max((n for n, step in enumerate(path) if step == 0), default=None)
    if at is None or isinstance(path[-1], int):
        return
    text = reduce(getitem, path, value)
    first, second = copy.deepcopy(value), renamed(value, path, "foo")
    reduce(getitem, path[:-1], first)[path[-1]] = text[: len(text) // 2]
    reduce(getitem, path[:-1], second)["foo"] = text[len(text) // 2 :]
    entries = [reduce(getitem, path[: at + 1], one) for one in (first, second)]
    for order in (entries, entries[::-1]):
        frame = copy.deepcopy(value)
        reduce(getitem, path[:at], frame)[:] = order
        yield frame


@share.in_parts(3, rest_in=1)
@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_no_piece_under_another_name_is_missed(part: share.Part, name: str) -> None:
    """Law 142: nor does a call come without a piece whose absence its text does not show, alone in its frame or not."""
    lost = []
    for cut in (every(4), whole):
        data = RENDERERS[name](WITHOUT_GAPS, cut)
        lines, sent = data.split(b"\n"), called(data)
        for number, (start, value) in enumerate(map(split, lines)):
            paths = [] if value is None else list(pieces_in(value, cut))
            around = {path[:n] for path in paths for n, step in enumerate(path, 1) if isinstance(step, str)}
            changed = [renamed(value, path, "foo") for path in sorted(around, key=str)]
            changed += [each for path in paths if name in IN_LISTS for each in halved(value, path)]
            for frame in part.of(changed, f"{name} {number}"):
                line = start + json.dumps(frame).encode()
                if called(b"\n".join([*lines[:number], line, *lines[number + 1 :]])) - sent:
                    lost.append((number, frame))

    assert [] == lost


# Members that servers add about a call.
BESIDE = {
    "metadata": {"trace": "a1"},
    "provider_metadata": {"vendor": {"signature": "c2ln"}},
    "caller": {"type": "direct"},
    "annotations": [{"title": "Tides"}],
    "extra_content": {"google": {"thought_signature": "c2ln"}},
    "description": "Reads the tide.",
    "status": "completed",
}


def with_members(value: Any, names: set[str]) -> Any:
    """Return a value in which each object with the name of a call has further members."""
    if isinstance(value, list):
        return [with_members(inner, names) for inner in value]
    if not isinstance(value, dict):
        return value
    more = BESIDE if any(value.get(key) in names for key in ("name", "toolName", "toolCallName")) else {}
    return {**more, **{key: with_members(inner, names) for key, inner in value.items()}}


def test_members_about_a_call_are_not_its_arguments() -> None:
    """Law 142: a call without arguments comes out, whatever else its object says about it."""
    lost = []
    for name, dialect, data, calls in recordings():
        names = {called_name for called_name, arguments in calls if arguments == "{}"}
        rows = [split(line) for line in data.split(b"\n")]
        lines = [
            line if value is None else start + json.dumps(with_members(value, names)).encode()
            for line, (start, value) in zip(data.split(b"\n"), rows, strict=True)
        ]
        if names and calls - called(b"\n".join(lines), dialect):
            lost.append(name)

    assert [] == lost
