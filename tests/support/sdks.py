"""Recordings read through an SDK: served as its provider's answer, read from the objects that it returns.

An SDK may lose parts of the wire, and it may raise. The tests record such differences as a `Truth`: the SDK's result in
place of the bytes' result. A case without a `Truth` must give the same result as the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from tests.hygiene.source_tree import CORPORA
from tests.support.loopback import serve
from tests.support.pieces import frames, n_until
from tests.support.surfaces import asking
from wholecall import Turn, collect, wrap
from wholecall.serving import Answer

RECORDINGS = CORPORA / "recordings"
CONTENT_TYPES = {
    "sse": "text/event-stream",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
    "bin": "application/vnd.amazon.eventstream",
}

Call = tuple[Any, ...]


class Told(NamedTuple):
    """The calls of a turn: the arguments of executed calls, the reason and text of drops."""

    calls: tuple[Call, ...] = ()
    custom_calls: tuple[Call, ...] = ()
    builtin_calls: tuple[Call, ...] = ()
    server_calls: tuple[Call, ...] = ()
    dropped: tuple[Call, ...] = ()
    reason: str | None = None
    others: tuple[tuple[int, Any], ...] = ()


class Read(NamedTuple):
    """The result of an SDK's stream, and the class of its exception."""

    told: Told
    error: str | None = None


class Truth:
    """The result of an SDK where it differs from the result of the bytes.

    Args:
        error: the class that the SDK raises; its turn has the reason `error` then.
        fields: the fields of `Told` that differ.
    """

    def __init__(self, error: str | None = None, **fields: Any) -> None:
        self.error = error
        self.fields = {**({"reason": "error"} if error else {}), **fields}


@cache
def cases(dialect: str, suffix: str = "sse") -> list[str]:
    """Return the names of a dialect's recordings that have this ending."""
    found = sorted(path.stem for path in (RECORDINGS / dialect).glob(f"*.{suffix}"))
    assert found, dialect
    return found


@cache
def recorded(dialect: str, case: str, suffix: str) -> bytes:
    """Return the bytes of a recording."""
    return (RECORDINGS / dialect / f"{case}.{suffix}").read_bytes()


def answer(
    dialect: str, case: str, suffix: str = "sse", *, pieces: Sequence[bytes] | None = None, **options: Any
) -> Answer:
    """Return a recording as an HTTP answer, in one piece unless given."""
    whole = [recorded(dialect, case, suffix)]
    return Answer(whole if pieces is None else pieces, CONTENT_TYPES[suffix], **options)


def half(dialect: str, case: str, suffix: str) -> list[bytes]:
    """Return the frames of a recording up to one more than opens a call."""
    parts = frames(recorded(dialect, case, suffix), suffix)
    return parts[: n_until(parts, lambda turn: turn.dropped) + 1]


def has_begun(stream: Any) -> bool:
    """Return whether a call has begun; a turn shows calls once they have ended, and the order of its content."""
    return any(type(part) is int for turn in stream.turns for part in turn.content)


def told(turn: Turn[Any]) -> Told:
    """Return the calls of a turn."""
    return Told(
        tuple((call.id, call.name, call.arguments) for call in turn.calls),
        tuple((call.id, call.name, call.input) for call in turn.custom_calls),
        tuple((call.id, call.name, call.arguments) for call in turn.builtin_calls),
        tuple((call.id, call.name, call.arguments) for call in turn.server_calls),
        tuple((drop.id, drop.name, drop.reason, drop.raw_arguments) for drop in turn.dropped),
        turn.reason,
        tuple((number, told(other)) for number, other in sorted(turn.others.items())),
    )


def read(source: Any) -> Read:
    """Read an SDK's streamed response to its end, as a host does: wrapped, in its own loop."""
    stream = wrap(source)
    error = None
    try:
        for _ in stream:
            pass
    except Exception as raised:  # noqa: BLE001 - which class it is is what the tests state
        error = type(raised).__name__
    return Read(told(stream.turn), error)


def swept(surface: str, dialect: str, suffix: str = "sse", only: Sequence[str] = ()) -> dict[str, Read]:
    """Read recordings of a dialect through an SDK, each as the answer to one request; all of them unless given."""
    names = only or cases(dialect, suffix)
    with (
        serve(*(answer(dialect, case, suffix) for case in names)) as server,
        asking(surface, server.url) as ask,
    ):
        found = {case: read(ask()) for case in names}
    assert len(names) == len(server.requests)
    return found


def expected(
    dialect: str, truths: Mapping[str, Truth], suffix: str = "sse", only: Sequence[str] = ()
) -> dict[str, Read]:
    """Return the expected result: that of the bytes, except where a truth states the SDK's change."""
    names = only or cases(dialect, suffix)
    assert set() == truths.keys() - set(names)
    return {case: _through(from_bytes(dialect, case, suffix), truths.get(case)) for case in names}


def from_bytes(dialect: str, case: str, suffix: str = "sse") -> Told:
    """Return the result of a recording's bytes."""
    return told(collect([recorded(dialect, case, suffix)]))


def invented(found: Mapping[str, Read], dialect: str, suffix: str = "sse") -> dict[str, tuple[Call, ...]]:
    """Return the calls to execute that the SDK gave and the bytes did not, by case."""
    strange = {case: _strange(one.told, from_bytes(dialect, case, suffix)) for case, one in found.items()}
    return {case: calls for case, calls in strange.items() if calls}


def _strange(ours: Told, wire: Told) -> tuple[Call, ...]:
    known = [call for of in (wire, *(other for _, other in wire.others)) for call in of.calls]
    found = [call for of in (ours, *(other for _, other in ours.others)) for call in of.calls]
    return tuple(call for call in found if call not in known)


def _through(wire: Told, truth: Truth | None) -> Read:
    return Read(wire) if truth is None else Read(wire._replace(**truth.fields), truth.error)
