"""The claim: an oddly labelled stream costs at most a few times the documented one, however long it is.

Both hold the same calls in as many fragments, one a read, and as many labels. From the first odd label on a choice
keeps its fragments and reads them at its end in every way that a server can mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from benchmarks import streams
from benchmarks.claims import Comparison, Growth, Ratio
from benchmarks.envelopes import Chat
from benchmarks.streams import EVENT, OURS, Stream
from benchmarks.texts import Call, every, long_arguments
from benchmarks.workloads import Workload

_FRAGMENTS, _CALLS, _DELTA = 10_000, 5, 4
_BUDGET = 8  # the documented stream stays in the lane, which does not decode its frames

Labels = Callable[
    [int, int, str], dict[str, Any]
]  # of a call's n-th fragment, the head being 0, and the call's id


class Kind(NamedTuple):
    """A server's labels of its fragments.

    Attributes:
        labels: index and id of a fragment.
        as_documented: those of a documented server that sends ids as often.
        in_turns: the calls' fragments take turns.
    """

    labels: Labels
    as_documented: Labels
    in_turns: bool = False


def _id_on_heads(index: int, n: int, id: str) -> dict[str, Any]:
    return {"index": index, "id": id} if n == 0 else {"index": index}


def _id_on_all(index: int, _: int, id: str) -> dict[str, Any]:
    return {"index": index, "id": id}


_KINDS: dict[str, Kind] = {
    "index always 0": Kind(lambda _, _n, id: {"index": 0, "id": id}, _id_on_all),
    "no index": Kind(lambda _, n, id: {} if n else {"id": id}, _id_on_heads),
    "index null": Kind(lambda _, n, id: {"index": None} if n else {"index": None, "id": id}, _id_on_heads),
    "ids that change": Kind(lambda index, n, id: {"index": index, "id": f"{id}{n or ''}"}, _id_on_all),
    "no index, in turns": Kind(lambda _, _n, id: {"id": id}, _id_on_all, in_turns=True),
    "an index a fragment": Kind(
        lambda index, n, id: {"index": index * 10**6 + n} if n else {"index": index * 10**6, "id": id},
        _id_on_heads,
    ),
    "ids that change, in turns": Kind(
        lambda index, n, id: {"index": index, "id": f"{id}{n or ''}"}, _id_on_all, in_turns=True
    ),
}


class _Labelled(Chat):
    """Chat completions with labels of one's own."""

    def fragment(self, labels: dict[str, Any], function: dict[str, str]) -> None:
        self._say({"tool_calls": [{**labels, "type": "function", "function": function}]})


def _fragments(number: int, call: Call, labels: Labels) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    yield labels(number, 0, call.id), {"name": call.name, "arguments": ""}
    for n, piece in enumerate(call.pieces, 1):
        yield labels(number, n, call.id), {"arguments": piece}


def _stream(fragments: int, labels: Labels, *, in_turns: bool) -> Stream:
    calls = [_call(number, fragments * _DELTA // _CALLS) for number in range(_CALLS)]
    each = [_fragments(number, call, labels) for number, call in enumerate(calls)]
    stream = _Labelled()
    stream.opening()
    for fragment in chain.from_iterable(zip_longest(*each)) if in_turns else chain.from_iterable(each):
        if fragment is not None:
            stream.fragment(*fragment)
    stream.ending(calls=True)
    return streams.stream(Workload("odd", "chat-completions", stream.events, calls), EVENT)


def _call(number: int, size: int) -> Call:
    arguments = long_arguments(size)
    return Call(f"call_{number}", f"tool_{number}", arguments, every(arguments, _DELTA))


def _claim(what: str, kind: Kind) -> Comparison:
    def subject(part: int) -> list[Stream]:
        ways = kind.labels, kind.as_documented
        return [_stream(_FRAGMENTS // part, labels, in_turns=kind.in_turns) for labels in ways]

    contenders = {"odd": streams.nth(OURS, 0), "documented": streams.nth(OURS, 1)}
    return Comparison(f"{what}, a stream is", subject, contenders, (Ratio("odd", "documented", _BUDGET),))


def _growth(what: str, kind: Kind) -> Growth:
    def make(n: int) -> Stream:
        return _stream(n, kind.labels, in_turns=kind.in_turns)

    return Growth(f"fragments, {what}", make, _FRAGMENTS // 2, lambda subject: len(subject.reads), OURS)


CLAIMS = [
    *(_claim(what, kind) for what, kind in _KINDS.items()),
    *(_growth(what, kind) for what, kind in _KINDS.items()),
]


def test_odd(race: Callable[[], None]) -> None:
    """Odd labels change no call."""
    race()
