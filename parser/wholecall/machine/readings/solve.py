"""Reads the pieces of a choice in every likely way, and finds the calls on which the cheapest readings agree.

Theory of operation. A server that labels fragments oddly does so by habit, in the same way for all calls of a choice.
Therefore the pieces are read in each way in which a server can have meant them. A *partition* assigns the pieces to
calls. Then four columns are judged separately, by tables of habits and their costs: how the index was filled, the id
and the name (`labels`), and how the text came (`texts`). The cost of a reading is the sum, 0 for documented labels and
texts. Costs state how servers behave: of two readings, the cheaper one is meant by more servers.

A call is *sure* if it occurs in every reading whose cost is near the lowest (`agreed`). Only sure calls may be
executed. The fragment that distinguishes two meanings may be the last one, so all of this is done once, at the end.
Nothing here knows the state of a turn: the input is pieces, and the output is a `Solution`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from wholecall.machine.readings.labels import cost_of_labels, names_of
from wholecall.machine.readings.partitions import PARTITIONS, Assignment, Columns, Partition, Piece
from wholecall.machine.readings.texts import Values, texts_of
from wholecall.machine.sameness import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wholecall.calls.arguments.verdict import Verdict

NEAR = 0.5  # a reading counts if it costs at most this more than the cheapest
MOST = 5  # above it nothing is believed
AGAIN = 1  # each call is repeated, whole, under its id, at a new index

Meaning = tuple["str | None", str, "str | None"]  # name, value and id of a call
Fact = tuple[int, str, str]  # a call that was emitted: its first piece, its name, its text


class ReadCall(NamedTuple):
    """One call of a reading.

    Attributes:
        pieces: the numbers of its pieces.
        name: None if it has none, or several.
        text: the text in force.
        way: the habit by which it came; `open`, `cut`, `broken` and `spliced` texts are not whole values, and an `again`
            text came twice.
        id: the id under which its result will be sent, where readings must agree on that as well.
    """

    pieces: list[int]
    name: str | None
    text: str
    way: str
    id: str | None = None


class Reading(NamedTuple):
    """One way to read all pieces; `is_documented`: its labels are as documented."""

    cost: float
    calls: list[ReadCall]
    is_row: bool
    is_documented: bool = False


class Solution(NamedTuple):
    """The meaning of the pieces: the calls of the cheapest reading, which of them are sure, and its cost.

    `is_listed`: the wire listed exactly these calls at the end.
    """

    calls: list[ReadCall]
    sure: list[bool]
    cost: float
    is_listed: bool = False


def solve(
    pieces: Sequence[Piece],
    read: Callable[[str], Verdict[Any]],
    *,
    cut: bool = False,
    turns: bool = False,
    known: Callable[[str], bool] | None = None,
    facts: Sequence[Fact] = (),
) -> Solution:
    """Return the meaning of the pieces.

    Args:
        pieces: in the order of the stream.
        read: returns the verdict on a text, as if its call had ended well.
        cut: the turn was cut, so that calls may be open.
        turns: calls alternated within the pieces, so that their order proves nothing.
        known: whether there is a tool of a name.
        facts: the calls that were emitted already; readings that contradict them do not count.
    """
    values = Values(read)
    readings = readings_of(pieces, values, cut=cut, turns=turns)
    readings += _repeated_readings(pieces, values, turns=turns)
    readings = [reading for reading in readings if holds(reading, facts, values)]
    return agreed(readings, values, cut=cut, known=known)


def agreed(
    readings: list[Reading],
    values: Values,
    *,
    cut: bool = False,
    known: Callable[[str], bool] | None = None,
) -> Solution:
    """Return the calls that the cheapest readings have in common."""
    if known is not None:
        named = [r for r in readings if all(call.name is None or known(call.name) for call in r.calls)]
        readings = named or readings
    if not readings:
        return Solution([], [], MOST + 1)
    lowest = min(reading.cost for reading in readings)
    near = [reading for reading in readings if reading.cost <= (lowest + NEAR if lowest else 0)]
    shown = _shown(near, values)
    sure = _sure(near, values, cut=cut) if lowest <= MOST else Counter()
    flags: list[bool] = []
    for call in shown.calls:
        said = meaning(call, values)
        flags.append(sure[said] > 0)
        sure[said] -= 1
    return Solution(shown.calls, flags, lowest)


def meaning(call: ReadCall, values: Values) -> Meaning:
    """Return a value that is equal for two calls of the same meaning."""
    return call.name, values.value(call.text), call.id


# Readings.


def readings_of(
    pieces: Sequence[Piece], values: Values, *, cut: bool = False, turns: bool = False
) -> list[Reading]:
    """Return the meaning of the pieces in each way in which they can be assigned."""
    found: list[Reading] = []
    seen: set[tuple[int, ...]] = set()
    columns = Columns(pieces, cut=cut)
    for partition in PARTITIONS:
        numbers = None if turns and partition.is_row else partition.assign(columns)
        if numbers is None or tuple(numbers) in seen:
            continue
        if max(numbers) >= (columns.most_open if partition.any_open else columns.most):
            continue
        seen.add(tuple(numbers))
        reading = _reading(pieces, numbers, partition, values, cut=cut)
        found += [] if reading is None else [reading]
    return found


def _reading(
    pieces: Sequence[Piece], numbers: Assignment, partition: Partition, values: Values, *, cut: bool
) -> Reading | None:
    """Return the meaning of the pieces if they are assigned in this way; None if that is not credible."""
    assigned: list[list[int]] = [[] for _ in range(max(numbers) + 1)]
    for at, number in enumerate(numbers):
        assigned[number].append(at)
    calls = [[pieces[at] for at in places] for places in assigned]
    may_be_open: set[int] = set()
    if cut:
        may_be_open.update(range(len(calls)) if partition.any_open else (numbers[-1],))
    found = texts_of(calls, values, may_be_open)  # first, because it fails soonest
    named = names_of(calls, may_be_open) if found is not None else None
    if found is None or named is None:
        return None
    texts, cost = found
    closed = any(text.way == "closed" for text in texts)
    labels = cost_of_labels(calls, named.costs, may_be_open, closed=closed)
    ways = [
        "spliced" if number in named.cut else trusted(way, text, labels, values, call)
        for number, ((text, way, _), call) in enumerate(zip(texts, calls, strict=True))
    ]
    read = [
        ReadCall(places, name, text.text, way)
        for places, name, text, way in zip(assigned, named.names, texts, ways, strict=True)
    ]
    return Reading(cost + labels, read, partition.is_row, labels == 0)


def trusted(way: str, text: str, labels: float, values: Values, call: list[Piece]) -> str:
    """Return the way in which a text came; where labels are odd as well, `spliced` for two ways that must not be believed.

    A text that is not whole in any way must not be repaired, and text after a snapshot may belong to another call.
    """
    if not labels:
        return way
    goes_on = way == "snapshots" and any(piece.n > 1 for piece in call[1:])
    return "spliced" if goes_on or (way == "broken" and values.is_readable(text)) else way


# Repeated calls.


def _repeated_readings(pieces: Sequence[Piece], values: Values, *, turns: bool) -> list[Reading]:
    """Return the readings in which some of the pieces repeat earlier calls."""
    again = _pieces_again(pieces)
    if not again:
        return []
    once = sorted(set(range(len(pieces))).difference(again))
    repeated = readings_of([pieces[at] for at in again], values, turns=turns)
    readings = readings_of([pieces[at] for at in once], values, turns=turns) if repeated else []
    found: list[Reading] = []
    for reading, others in product(readings, repeated):
        calls = _with_repeats(_placed(reading, once), _placed(others, again), pieces)
        if calls is not None:
            found.append(Reading(reading.cost + others.cost + AGAIN, calls, reading.is_row))
    return found


def _pieces_again(pieces: Sequence[Piece]) -> list[int]:
    """Return the pieces from a head with a known id and name up to the next head with another id."""
    named: dict[str, str] = {}
    again: list[int] = []
    repeats = False
    for at, piece in enumerate(pieces):
        if piece.id is not None and piece.name is not None:
            repeats = named.get(piece.id) == piece.name and piece.text[:1] in ("", "{")
            named.setdefault(piece.id, piece.name)
        if repeats:
            again.append(at)
    return again


def _placed(reading: Reading, places: list[int]) -> list[ReadCall]:
    """Return the calls of a reading of some pieces, with the places of these among all."""
    return [call._replace(pieces=[places[at] for at in call.pieces]) for call in reading.calls]


def _with_repeats(
    calls: list[ReadCall], others: list[ReadCall], pieces: Sequence[Piece]
) -> list[ReadCall] | None:
    """Return the calls, with the pieces of other calls that repeat them, each at most once; None if a piece is new."""
    owners = {pieces[at].id: n for n, call in enumerate(calls) for at in call.pieces}
    for other in others:
        n = owners.pop(pieces[other.pieces[0]].id, None)
        if n is None or not _said(calls[n]).is_same(_said(other)):
            return None
        calls[n] = calls[n]._replace(pieces=[*calls[n].pieces, *other.pieces], way="again")
    return calls


def _said(call: ReadCall) -> Said:
    return Said(call.id, call.name, call.text)


# The calls on which readings agree.


def holds(reading: Reading, facts: Sequence[Fact], values: Values) -> bool:
    """Return whether a reading contains the calls that were emitted."""
    began = {call.pieces[0]: call for call in reading.calls} if facts else {}
    return all(
        at in began and meaning(began[at], values)[:2] == (name, values.value(text))
        for at, name, text in facts
    )


def _shown(near: list[Reading], values: Values) -> Reading:
    """Return the cheapest reading; of readings that differ only in calls without text, that with the fewest calls."""
    cheapest = min(near, key=lambda reading: (reading.cost, len(reading.calls)))
    if len(near) == 1:
        return cheapest

    def with_text(reading: Reading) -> Counter[Meaning]:
        return Counter(meaning(call, values) for call in reading.calls if call.text)

    said = with_text(cheapest)
    alike = [reading for reading in near if with_text(reading) == said]
    return min(alike, key=lambda reading: (len(reading.calls), reading.cost))


def _sure(near: list[Reading], values: Values, *, cut: bool) -> Counter[Meaning]:
    common = _vouched(near[0], values, cut=cut)
    for reading in near[1:]:
        common &= _vouched(reading, values, cut=cut)
    return common


_LOST = ("broken", "cut", "spliced")


def _vouched(reading: Reading, values: Values, *, cut: bool) -> Counter[Meaning]:
    """Return the calls that a reading vouches for; text without an owner, or lost text, may be another call's."""
    calls = reading.calls
    lost = [
        n
        for n, call in enumerate(calls)
        if (call.way in _LOST and not (call.way == "cut" and reading.is_documented))
        or (call.name is None and call.text)
    ]
    calls = [call for call in calls if call.way != "spliced"]
    if lost and not cut:
        if reading.is_row and lost != [len(reading.calls) - 1]:
            return Counter()
        calls = [call for call in calls if call.text]
    return Counter(meaning(call, values) for call in calls)
