"""Recordings through an SDK: served to it as its provider's answer, read from the objects that it hands on.

An SDK may lose what was on the wire, and it may raise. What it does with a recording is written down beside the
tests as a `Truth`: what comes out instead of what the bytes tell. A case without one has to tell the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from tests.hygiene.source_tree import CORPORA
from tests.support.loopback import Answer, serve
from tests.support.surfaces import asking
from wholecall import Turn, collect, wrap

__all__ = [
    "Read",
    "Told",
    "Truth",
    "answer",
    "expected",
    "from_bytes",
    "invented",
    "read",
    "recorded",
    "swept",
    "told",
]

RECORDINGS = CORPORA / "recordings"
CONTENT_TYPES = {
    "sse": "text/event-stream",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
    "bin": "application/vnd.amazon.eventstream",
}

Call = tuple[Any, ...]


class Told(NamedTuple):
    """What a turn tells about its calls; of what is executed the arguments, of a drop its reason and text."""

    calls: tuple[Call, ...] = ()
    custom_calls: tuple[Call, ...] = ()
    builtin_calls: tuple[Call, ...] = ()
    server_calls: tuple[Call, ...] = ()
    dropped: tuple[Call, ...] = ()
    reason: str | None = None
    others: tuple[tuple[int, Any], ...] = ()


class Read(NamedTuple):
    """What came out of an SDK's stream, and the class of what it raised."""

    told: Told
    error: str | None = None


class Truth:
    """What comes out of an SDK in place of what the bytes tell.

    Args:
        error: the class that the SDK raises; its turn has the reason `error` then.
        fields: the fields of `Told` that differ.
    """

    def __init__(self, error: str | None = None, **fields: Any) -> None:
        self.error = error
        self.fields = {**({"reason": "error"} if error else {}), **fields}


@cache
def cases(dialect: str, suffix: str = "sse") -> list[str]:
    """Return the names of a dialect's recordings that end so."""
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


def told(turn: Turn[Any]) -> Told:
    """Return what a turn tells about its calls."""
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
    """Read what an SDK gives for a streamed response to its end, as a host does: wrapped, in its own loop."""
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
    """Return what has to come out: what the bytes tell, except where a truth says what the SDK does to it."""
    names = only or cases(dialect, suffix)
    assert set() == truths.keys() - set(names)
    return {case: _through(from_bytes(dialect, case, suffix), truths.get(case)) for case in names}


def from_bytes(dialect: str, case: str, suffix: str = "sse") -> Told:
    """Return what the bytes of a recording tell."""
    return told(collect([recorded(dialect, case, suffix)]))


def invented(found: Mapping[str, Read], dialect: str, suffix: str = "sse") -> dict[str, tuple[Call, ...]]:
    """Return the calls to execute that came out of an SDK and not out of the bytes, by the case."""
    strange = {case: _strange(one.told, from_bytes(dialect, case, suffix)) for case, one in found.items()}
    return {case: calls for case, calls in strange.items() if calls}


def _strange(ours: Told, wire: Told) -> tuple[Call, ...]:
    known = [call for of in (wire, *(other for _, other in wire.others)) for call in of.calls]
    found = [call for of in (ours, *(other for _, other in ours.others)) for call in of.calls]
    return tuple(call for call in found if call not in known)


def _through(wire: Told, truth: Truth | None) -> Read:
    return Read(wire) if truth is None else Read(wire._replace(**truth.fields), truth.error)
