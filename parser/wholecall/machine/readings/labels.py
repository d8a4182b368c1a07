"""Habits of servers with the labels of calls: index, id and name, and the cost of each habit.

Theory of operation. A reading first assigns each piece to a call; then each column of labels is judged by itself. The
tables list the *habits* that servers have in a column, with a cost: the rarer the habit, the higher. For each column a
function here returns the habits that fit *all* calls, with their costs. A call that is too short to show its habit
has every habit that is possible. `odd` always fits; `mixed` means that each call has a habit, but none fits all.
Numbers in brackets are quirks.

`cost_of_labels` adds the columns up, each under its cheapest habit; some habits occur together in real servers, and
cost less then. `names_of` also returns the names that the calls get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wholecall.machine.readings.partitions import MOST_NAMELESS, Piece, final_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Set as AbstractSet


Calls = list[list["Piece"]]
Costs = dict[str, float]
Habits = frozenset[str]  # those that fit one call; thousands of calls have few different sets

INDEX: Costs = {
    "own": 0,  # one per call, on all of its pieces, different between calls (4)
    "one": 1,  # the same everywhere (3)
    "none": 1,  # none at all (1, 2)
    "first": 1,  # on the first piece only
    "each": 1.5,  # a new index on every piece
    "tail": 2,  # later pieces of a call share another index (5)
    "taken over": 2.5,  # one per call; a later call has that of an earlier call with text (6)
    "odd": 3,
}
ID: Costs = {
    "own": 0,  # on the first piece, later pieces have none or the same (7, 13)
    "none": 1,  # none at all (8, 9)
    "one": 1,  # the same for all calls
    "late": 1,  # one per call, after its first piece (11)
    "heads": 1,  # on leading pieces without text, all different (10)
    "each": 1.5,  # it changes within a call (10)
    "odd": 3,
}
NAME: Costs = {
    "first": 0,
    "every": 0.5,  # (15)
    "both": 0.5,  # on the first and on the last piece: a closing one that restates (13, 23)
    "heads": 0.5,  # on leading pieces, none of which has text
    "late": 1,  # on one later piece, or on all from there (17, 18)
    "pieces": 1.5,  # in pieces, on the first ones (16)
    "again": 2,  # on the first piece and on another
}
MIXED = 1  # above the dearest of the calls' own habits
NAMELESS = 2, 1  # calls without a name, and each of them, above the dearest of the others
# Habits that come together in real servers: of id and name, of index and id.
TOGETHER = {("each", "every"): -0.5}
CLOSED = -1.5  # an index that counts objects, each of which extends the one before (24)
ADRIFT = {("tail", "each"): -0.5}


def cost_of_labels(
    calls: Calls, names: Costs, may_be_open: AbstractSet[int], *, closed: bool = False
) -> float:
    """Return the cost of index, id and name together, each under its cheapest habit; `closed`: that of the texts."""
    indices = _index_costs(calls)
    if closed and "each" in indices:
        indices["each"] += CLOSED
    return min(
        cost
        + min(other + TOGETHER.get((id, name), 0) for name, other in names.items())
        + min(other + ADRIFT.get((index, id), 0) for index, other in indices.items())
        for id, cost in _id_costs(calls, may_be_open).items()
    )


def pooled(costs: Costs, found: Collection[AbstractSet[str]]) -> Costs:
    """Return the habits that fit all calls, and the cost if each call has its own; `found` may leave out equal sets."""
    fits = {habit: costs[habit] for habit in costs if all(habit in here for here in found)}
    dearest = max((min(map(costs.__getitem__, here)) for here in found), default=0)
    return {**fits, "mixed": MIXED + dearest}


def _column(
    costs: Costs, n: int, found: set[Habits], labels: Iterable[set[Any]], shared: AbstractSet[str]
) -> Costs:
    """Return the costs of a column whose labels distinguish `n` calls, unless the habit is one of `shared`."""
    together: set[Any] = set()
    n_labels = 0
    for own in labels:
        n_labels += len(own)
        together |= own
    if n == 1 or n_labels == len(together):
        fits = pooled(costs, found) if all(found) else {}
    else:
        fits = {habit: costs[habit] for habit in shared if all(habit in here for here in found)}
    if n == 1 or len(together) != 1:
        fits.pop("one", None)  # only several calls can have one label
    return {**fits, "odd": costs["odd"]}


def _ids(call: list[Piece]) -> set[str | None]:
    return {piece.id for piece in call if piece.id is not None}


def _indices(call: list[Piece]) -> set[int | None]:
    return {piece.index for piece in call if piece.index is not None}


# Index.


def _index_costs(calls: Calls) -> Costs:
    found = set(map(_index_habits, calls))
    shared = {"one", "none"}
    shared |= {"tail"} if len({call[0].index for call in calls}) == len(calls) else set()
    shared |= {"taken over"} if _is_taken_over(calls) else set()
    return _column(INDEX, len(calls), found, map(_indices, calls), shared)


def _index_habits(call: list[Piece]) -> Habits:
    indices = [piece.index for piece in call]
    known, first, later = set(indices), indices[0], indices[1:]
    if known == {None}:
        return frozenset({"none"})
    here: set[str] = set()
    if first is not None and all(index is None for index in later):
        here.add("first")
    if None in known:
        return frozenset(here)
    if len(known) == 1:
        here |= {"own", "one", "taken over"}
    if len(known) == len(indices) and all(piece.n == 1 for piece in call):
        here.add("each")
    if len(known) < 3 and first not in later and len(set(later)) < 2:
        here.add("tail")
    return frozenset(here)


def _is_taken_over(calls: Calls) -> bool:
    """Return whether no call has the index of an earlier call without text."""
    empty: set[Any] = set()
    for call in calls:
        index = call[0].index
        if index in empty:
            return False
        if not any(piece.text for piece in call):
            empty.add(index)
    return True


# Id.


def _id_costs(calls: Calls, may_be_open: AbstractSet[int]) -> Costs:
    found = {_id_habits(call, is_open=number in may_be_open) for number, call in enumerate(calls)}
    return _column(ID, len(calls), found, map(_ids, calls), {"one", "none"})


def _id_habits(call: list[Piece], *, is_open: bool) -> Habits:
    ids, present = [piece.id for piece in call], _ids(call)
    if not present:
        return frozenset({"none", "late"} if is_open else {"none"})
    if ids[0] is None:
        return frozenset({"late"} if len(present) == 1 else ())
    here = {"each"}
    if len(present) == 1:
        here |= {"own", "one"}
    if len(call) == 1:
        here.add("late")
    text_at = next((at for at, piece in enumerate(call) if piece.text), 0)
    heads = ids[:text_at]
    if heads and not any(ids[text_at:]) and len(present) == len(heads):
        here.add("heads")
    return frozenset(here)


# Name.


class Names(NamedTuple):
    """The calls' names, the costs of the habits in which they came, and the calls whose names may be incomplete."""

    names: list[str | None]
    costs: Costs
    cut: AbstractSet[int] = frozenset()


def names_of(calls: Calls, may_be_open: AbstractSet[int]) -> Names | None:
    """Return the calls' names; None if too many have none."""
    names: list[str | None] = []
    found: set[Habits] = set()
    nameless = 0
    for number, call in enumerate(calls):
        name, here = _name_habits(call)
        if not here and number in may_be_open and not any(piece.name for piece in call):
            here = {"late"}
        names.append(name)
        if here:
            found.add(frozenset(here))
        else:
            nameless += 1
            if nameless > MOST_NAMELESS:
                return None
    costs = pooled(NAME, found)
    if nameless:
        once, each = NAMELESS
        costs = {"none": min(costs.values()) + once + nameless * each}
    return Names(
        names, costs, _cut_names(calls, may_be_open) if frozenset({"pieces"}) in found else frozenset()
    )


def _cut_names(calls: Calls, may_be_open: AbstractSet[int]) -> AbstractSet[int]:
    """Return the open calls of which only a name's first piece may have come."""
    return {number for number in may_be_open if sum(piece.name is not None for piece in calls[number]) == 1}


def _name_habits(call: list[Piece]) -> tuple[str | None, set[str]]:
    """Return a call's name, and the habits in which it came; none if it has no name, or several."""
    places = [at for at, piece in enumerate(call) if piece.name is not None]
    if not places:
        return None, set()
    pieces = [call[at] for at in places]
    names = [piece.name or "" for piece in pieces]
    finals = {final_name(name) for name in names}
    if len(call) == 1:
        return finals.pop(), _habits_of_one(call[0])
    if len(finals) == 1:
        return finals.pop(), _equal_names(call, places)
    joined = _joined(call, places, names)
    return joined, set() if joined is None else {"pieces"}


def _habits_of_one(piece: Piece) -> set[str]:
    here = {"every"}
    if piece.n == 1:
        here |= {"first", "both", "late", "pieces"}
    if not piece.text:
        here.add("heads")
    return here


def _equal_names(call: list[Piece], places: list[int]) -> set[str]:
    """Return the habits of a call of several pieces in which one name is on these pieces."""
    n, first, last = len(places), places[0], len(call) - 1
    in_a_row = places[-1] - first == n - 1
    if first > 0:
        return {"late"} if n == 1 or (in_a_row and places[-1] == last) else set()
    here = {"again"}
    if n == len(call):
        here.add("every")
    if all(call[at].n == 1 for at in places):
        here |= {"first"} if n == 1 else set()
        here |= {"both"} if places == [0, last] else set()
    if in_a_row and not any(call[at].text for at in places) and not any(call[at].bare for at in places[:-1]):
        here.add("heads")
    return here


def _joined(call: list[Piece], places: list[int], names: list[str]) -> str | None:
    """Return the name whose parts are on the first pieces, perhaps followed by the joined name.

    There may be more than two pieces if no text comes before the last of them.
    """
    joined = ""
    for n, (at, name) in enumerate(zip(places, names, strict=True)):
        if n > 1 and n == len(names) - 1 and final_name(name) == final_name(joined):
            break
        if at != n or call[at].n > 1 or (n > 1 and any(piece.text for piece in call[:n])):
            return None
        joined = name if name.strip().startswith(joined.strip()) else joined + name
    return final_name(joined)
