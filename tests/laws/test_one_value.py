"""The law of one value for each member: no two readers of the repairer's output read different values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.support import conforming, corpora
from tests.support.together import together
from wholecall.encoders import ENCODERS
from wholecall.repairing import Repairer, repair_body

_ENVELOPED = 120  # the quirk of streams that pass as they are
_RECORDED = {
    entry["name"]: entry
    for entry in corpora.cases()
    if entry["dialect"] in ENCODERS and _ENVELOPED not in entry["quirks"]
}
_MOST = 1300  # bytes of a recording of which each member is tried
_STREAMS = [
    name
    for name, entry in _RECORDED.items()
    if entry["file"].endswith("sse") and len(corpora.recorded(entry)) <= _MOST
]
_BODIES = [name for name, entry in _RECORDED.items() if entry["file"].endswith(".json")]
Members = list[tuple[str, Any]]


class _Object:
    """A JSON object with all of its members."""

    def __init__(self, members: Members) -> None:
        self.members = members


def _read(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Object)


def _written(value: Any) -> str:
    if isinstance(value, _Object):
        return "{" + ",".join(f"{json.dumps(k)}:{_written(v)}" for k, v in value.members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return json.dumps(value)


def _objects(value: Any) -> Iterator[_Object]:
    if isinstance(value, _Object):
        yield value
    inner = [v for _, v in value.members] if isinstance(value, _Object) else value
    for each in inner if isinstance(inner, list) else ():
        yield from _objects(each)


def _other(value: Any) -> Any:
    """Return another value than this one."""
    if isinstance(value, str):
        return value + "0"
    return value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else "other"


def _twice(text: str) -> Iterator[str]:
    """Yield an object's text with each member twice: another value before its own, and after it."""
    whole = _read(text)
    for found in _objects(whole):
        said = found.members
        for at, (name, value) in enumerate(said):
            for place in (at, at + 1):
                found.members = [*said[:place], (name, _other(value)), *said[place:]]
                yield _written(whole)
        found.members = said


def _says_twice(text: str) -> bool:
    return any(len(dict(each.members)) < len(each.members) for each in _objects(_read(text)))


def _repaired(data: bytes) -> bytes:
    repairer = Repairer()
    return repairer.feed(data) + repairer.close()


@cache
def _stream(name: str) -> list[str]:
    return corpora.recorded(_RECORDED[name]).decode().splitlines(keepends=True)


@pytest.mark.sampled(19)
@pytest.mark.parametrize("name", _STREAMS)
def test_no_frame_leaves_the_repairer_with_two_values_of_a_member(name: str) -> None:
    """If any member of any frame comes twice, first or last with another value, none is sent twice."""
    lines = _stream(name)
    wrong = []
    for at, line in enumerate(lines):
        head, found, text = line.partition("data: ")
        if not (found and not head and text.startswith("{") and text.rstrip().endswith("}")):
            continue
        for odd in _twice(text):
            out = _repaired("".join([*lines[:at], f"data: {odd}\n", *lines[at + 1 :]]).encode())
            sent = [each[6:] for each in re.split(r"[\r\n]+", out.decode()) if each.startswith("data: {")]
            wrong += [each for each in sent if each.rstrip().endswith("}") and _says_twice(each)]
    assert [] == wrong


@together("name", _BODIES, one_in=6)
def test_no_body_leaves_the_repairer_with_two_values_of_a_member(name: str) -> None:
    """If any member of a whole body comes twice, none is sent twice."""
    body = corpora.recorded(_RECORDED[name]).decode()
    assert [] == [odd for odd in _twice(body) if _says_twice(repair_body(odd.encode()).data.decode())]


# Text that is not strict JSON, but read by some clients: its place, and the text that it replaces.
LENIENT = {
    "a tab": (b'"hi', b'"h\ti', 1),
    "a constant": (b"{", b'{"x": NaN, ', 1),
    "broken UTF-8": (b'"hi', b'"h\xffi', 1),
}


def strict(text: str) -> Any:
    """Return the value of a text that is JSON in the strict sense."""

    def refuse(name: str) -> float:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@together("what", LENIENT)
@together("dialect", conforming.STREAMS)
def test_what_is_no_strict_json_is_written_anew(dialect: str, what: str) -> None:
    """Frames and bodies that some clients read, and others fail on, leave in a form that all read."""
    stream = conforming.stream_of(dialect, conforming.STREAMS[dialect][0])
    body = json.dumps(conforming.BODIES[dialect][0]).encode()
    repairer = Repairer()
    out = repairer.feed(stream.replace(*LENIENT[what])) + repairer.close()
    repaired = repair_body(body.replace(*LENIENT[what])).data
    with pytest.raises(ValueError, match=r".*"):
        strict(body.replace(*LENIENT[what]).decode())

    assert all(strict(line[6:]) for line in out.decode().splitlines() if line.startswith("data: {"))
    assert strict(repaired.decode())
