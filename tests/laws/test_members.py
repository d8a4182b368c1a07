"""Every member of every recorded payload, with a value of every other kind: no exception, and calls end once."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.support import corpora, share
from tests.support.turns import violations
from wholecall import ToolCallParser
from wholecall.dialects.decode import plain
from wholecall.framing import FRAMINGS
from wholecall.framing.opening import sniff
from wholecall.limits import Limits
from wholecall.repairing import Repairer

# One of each kind. An object and a list cannot be members of a set, which is where readers stumble.
KINDS: tuple[Any, ...] = ({"a": 1}, [{}], "x", 7, -1.5, True, None)
Place = tuple[Any, ...]
Payload = tuple[str, Any]


def _payloads(data: bytes) -> list[Payload]:
    """Return the names and the decoded values of a recording's frames."""
    framing = FRAMINGS[sniff(data) or "sse"](Limits())
    frames = [*framing.feed(data), *framing.close()]
    return [(frame.event, value) for frame in frames if (value := plain(frame.data)) is not None]


def _places(value: Any) -> Iterator[Place]:
    """Yield the way to each member and item within a value."""
    stack: list[tuple[Place, Any]] = [((), value)]
    while stack:
        place, inner = stack.pop()
        keys: Any = inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        for key in keys:
            yield (*place, key)
            stack.append(((*place, key), inner[key]))


def _with(value: Any, place: Place, new: Any) -> Any:
    changed = copy.deepcopy(value)
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = new
    return changed


@cache
def _members(dialect: str) -> list[tuple[list[Payload], int, Place]]:
    """Return each member that the recordings of a dialect have, once: a stream, the payload's number, the way to it."""
    seen: set[tuple[Any, ...]] = set()
    found = []
    for entry in corpora.cases():
        if entry["dialect"] != dialect:
            continue
        payloads = _payloads(corpora.recorded(entry))
        for number, (event, payload) in enumerate(payloads):
            kind = _kind_of(payload)
            for place in _places(payload):
                sign = (event, kind, *(0 if isinstance(key, int) else key for key in place))
                if sign not in seen:
                    seen.add(sign)
                    found.append((payloads[max(0, number - 12) : number + 4], min(number, 12), place))
    return found


def _kind_of(payload: Any) -> Any:
    if not isinstance(payload, dict):
        return None
    return next(
        (
            payload[name]
            for name in ("type", "event_type", "event", "object")
            if isinstance(payload.get(name), str)
        ),
        None,
    )


def _stumbles(dialect: str, kinds: tuple[Any, ...]) -> list[str]:
    found = []
    for payloads, number, place in _members(dialect):
        for kind in kinds:
            changed = [*payloads]
            changed[number] = changed[number][0], _with(changed[number][1], place, kind)
            try:
                told = _read(dialect, changed)
            except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
                told = [repr(error)]
            found += [f"{'.'.join(map(str, place))} = {kind!r}: {what}" for what in told]
    return found


def _read(dialect: str, payloads: list[Payload]) -> list[str]:
    parser: ToolCallParser[Any] = ToolCallParser(dialect)
    events = [event for name, payload in payloads for event in parser.feed_event(payload, name)]
    return violations([*events, *parser.close()])


DIALECTS = sorted({entry["dialect"] for entry in corpora.cases()})
BOTH = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.mark.sampled(29)
@BOTH
def test_members_that_cannot_be_hashed(dialect: str) -> None:
    """Law 4: an object in place of a word or a number does not raise."""
    assert _members(dialect)
    assert [] == _stumbles(dialect, KINDS[:1])


@pytest.mark.slow
@pytest.mark.sampled(4)
@BOTH
def test_members_of_every_kind(dialect: str) -> None:
    """Law 4: nor is a value of any other kind."""
    assert [] == _stumbles(dialect, KINDS[1:])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["anthropic", "chat-completions", "gemini", "responses"])
def test_members_in_streams_that_are_repaired(dialect: str) -> None:
    """Law 4: nor is it for the repair of streams."""
    found = []
    for payloads, number, place in share.every(6, list(_members(dialect)), dialect):
        for kind in KINDS:
            changed = [*payloads]
            changed[number] = changed[number][0], _with(changed[number][1], place, kind)
            data = b"".join(_sse(name, payload) for name, payload in changed)
            try:
                repairer = Repairer()
                repairer.feed(data)
                repairer.close()
            except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
                found.append(f"{'.'.join(map(str, place))} = {kind!r}: {error!r}")

    assert [] == found


def _sse(name: str, payload: Any) -> bytes:
    head = f"event: {name}\n" if name not in ("", "message") else ""
    return f"{head}data: {json.dumps(payload)}\n\n".encode()
