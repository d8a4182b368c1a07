"""Members of messages that have another JSON type: they are mended, left as they are, or refused in words."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.laws.test_encoded_is_sound import FORMATS, conversation
from tests.support.events import call, drop
from wholecall import UnknownDialect
from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history import check_transcript, repair_transcript, shrink_transcript
from wholecall.history.checking import RULES

JSON = dict[str, Any]
Path = tuple[str | int, ...]
OTHERS: tuple[Any, ...] = (None, True, 7, "", "x", [], ["x"], [None], {}, {"x": []})
TURNS: list[list[Any]] = [
    [ReasoningBlock("Hm."), "Let me look.", call("{}", "c1", "f", 0), call('{"n": 1.50}', "c2", "f", 0)],
    [drop('{"port": "Br', "c3", "f", 0, "truncated"), "So."],
]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every member and element of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def replaced(messages: list[JSON], path: Path, other: Any) -> list[JSON]:
    """Return the messages with another value in one place."""
    changed: Any = copy.deepcopy(messages)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = copy.deepcopy(other)
    return changed  # type: ignore[no-any-return]


def wrong(messages: list[JSON], format: str, shape: Any) -> list[str]:
    """Return the faults in the repair, check and shrinking of messages."""
    before = json.dumps(messages)
    try:
        mended = repair_transcript(messages, shape=shape).messages
    except UnknownDialect:
        return [] if shape == "auto" else ["a shape that was named is unknown"]
    except TypeError as error:
        return [] if "not a dict" in str(error) else [f"{error}"]
    check_transcript(messages, format)
    shrink_transcript(messages, max_leaf=5, threshold=0, keep_recent=1, shape=shape)
    faults = ["changed in place"] if json.dumps(messages) != before else []
    if shape != "auto":  # the members that show the shape may have been removed
        again = repair_transcript(mended, shape=shape)
        faults += ["repair goes on"] if again.messages is not mended else []
    return faults


@pytest.mark.sampled(35)
@pytest.mark.parametrize("format", FORMATS)
def test_members_of_another_type_are_told_or_mended(format: str) -> None:
    """With any single member of another JSON type, repair raises only documented errors and settles (laws 4, 41)."""
    messages = conversation(TURNS, format, [1, 0], False)
    complaints = {
        f"{path} = {other!r}, {shape}": found
        for path in places(messages)
        if len(path) > 1
        for other in OTHERS
        for shape in ("auto", RULES[format].view.name)
        if (found := wrong(replaced(messages, path, other), format, shape))
    }

    assert {} == complaints
