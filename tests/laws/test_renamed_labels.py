"""Labels under another name, or kinds with another value: a frame that is not understood leaves no hole in a call.

In each recording, one member gets a name that no dialect knows, or the name of a kind (`type`, `event`) another value.
Values of arguments stay as they are. In the ordinary suite a sample of the streams, in the slow one more of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.laws.test_renamed_members import TEXTS, recordings, renamed, split
from tests.support import share
from wholecall import ServerToolCall, ToolCall, ToolCallDropped, ToolCallParser

KINDS = frozenset({
    *("type", "event", "event_type", "eventType", "kind", "part_kind", "object", "role", "Role", "Type", "method"),
    *("status", "_type", "contentType", "block_type", "sessionUpdate"),
})  # fmt: skip
ARGUMENTS = TEXTS | {"parsed_arguments"}
MOST = 3  # members at one path in one recording that change
Calls = set[tuple[str | None, str]]


def as_text(arguments: Any) -> str:
    """Return the text of arguments, the same for all spellings of a value."""
    return json.dumps(arguments, sort_keys=True)


def read(data: bytes, dialect: str) -> tuple[Calls, Calls]:
    """Return the calls of a stream, and all values that it holds for calls: also of those that are not to be executed.

    A call that was dropped without text has no arguments, unless text of it was lost.
    """
    parser = ToolCallParser(dialect)
    events = parser.feed(data) + parser.close()
    called: Calls = {(event.name, as_text(event.arguments)) for event in events if type(event) is ToolCall}
    held: Calls = set()
    for event in events:
        if isinstance(event, (ServerToolCall, ToolCallDropped)):
            lost = type(event) is ToolCallDropped and event.reason == "incomplete_input"
            try:
                held.add((event.name, as_text(json.loads(event.raw_arguments or ("-" if lost else "{}")))))
            except ValueError:
                continue  # a cut text is no value
    return called, called | held


def members(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all members, but those in arguments."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        if isinstance(key, str):
            yield (*path, key)
        is_text = key in ARGUMENTS and not (key == "delta" and isinstance(each, dict))
        if not is_text or (key == "input" and isinstance(each, list)):
            yield from members(each, (*path, key))


def revalued(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return a copy of a value in which the name of a kind is one that no dialect knows; None if it is no such name."""
    copy = json.loads(json.dumps(value))
    of = copy
    for step in path[:-1]:
        of = of[step]
    if path[-1] not in KINDS or not isinstance(of[path[-1]], str):
        return None
    of[path[-1]] = "foo"
    return copy


def mutants(lines: list[bytes]) -> Iterator[tuple[str, int, bytes]]:
    """Yield lines in which one member has another name, or the name of one kind another value, with their numbers."""
    seen = Counter[tuple[str, ...]]()
    for number, (start, value) in enumerate(map(split, lines)):
        for path in members(value):
            place = (*(step for step in path if isinstance(step, str)), str(kind_of(value)))
            seen[place] += 1
            if seen[place] > MOST:
                continue
            for way, changed in (("named", renamed(value, path, "foo")), ("valued", revalued(value, path))):
                if changed is not None:
                    yield f"{number} {path} {way}", number, start + json.dumps(changed).encode()


def kind_of(frame: Any) -> Any:
    """Return the kind of a frame, where it has one."""
    return (frame.get("type") or frame.get("event")) if isinstance(frame, dict) else None


# Where the other name is the only sign: that a call came in pieces and whole once more; that the server calls the text
# of a call invalid; that a piece is a call's; that a call with the number of another one is another tool's.
KNOWN = (
    "langchain-protocol/bare 18 ('content', 'args')",
    "langchain-protocol/invalid-call 6 ('params', 'node')",
    "langchain-protocol/invalid-call 10 ('params', 'data', 'index')",
    "strands/events-of-the-model 16 ('event', 'contentBlockDelta', 'delta', 'toolUse')",
    "chat-completions/index-reused 6 ('choices', 0, 'delta', 'tool_calls', 0, 'function', 'name')",
)


@share.in_parts(9)
def test_labels_under_another_name_leave_no_hole(part: share.Part) -> None:
    """Law 143: each call that comes has arguments that the recording holds for a call of its name."""
    streams = [
        (f"{name} {what}", dialect, data, number, line)
        for name, dialect, data, _ in recordings()
        if len(data) < 20_000
        for what, number, line in mutants(data.split(b"\n"))
        if not f"{name} {what}".startswith(KNOWN)
    ]
    held: dict[bytes, Calls] = {}
    wrong = []
    for what, dialect, data, number, line in part.of(streams, "renamed labels"):
        lines = data.split(b"\n")
        called, _ = read(b"\n".join([*lines[:number], line, *lines[number + 1 :]]), dialect)
        if data not in held:
            held[data] = read(data, dialect)[1]
        wrong += [what] if called - held[data] else []

    assert [] == wrong
