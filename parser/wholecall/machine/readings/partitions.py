"""The ways to assign the pieces of a choice to calls; in most streams nearly all of them have the same result.

Theory of operation. A `Partition` assigns each piece the number of a call (an `Assignment`), in one pass over the
pieces. *Keyed* partitions go by a label at any place, so calls may alternate. In a *row* the calls follow one another,
and the partition decides how a call ends: by another label, or by the text alone. A server that labels nothing can
still be read, because all of its texts come in the same way: whole, in pieces, as snapshots and so on. Each of these
*ways* (`_plain` and the others) returns where the next call begins. A text is scanned once for all of them.

The cost of a reading, and the choice of one, are decided elsewhere (`labels`, `texts`, `solve`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, repeat
from operator import ne
from typing import Any, NamedTuple

import msgspec

from wholecall.calls.arguments.lexical import Scan
from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.discreet import discreet_repr


class Piece(msgspec.Struct, gc=False):
    """Fragments of one choice in a row with the same labels.

    Attributes:
        index: the wire's index, None where it sent none.
        text: their argument text, joined.
        whole: the text is a whole value, never to be joined to another.
        custom: the text is free text.
        n: the number of its fragments, or of runs of them.
        bare: a fragment without labels and text followed.
        spoilt: the text held bytes that are not UTF-8.
        extra: provider fields of the fragment.
        mark: of blocks and events, `S` for a call's start, `T` for its text, `E` for its end; else empty.
    """

    index: int | None
    id: str | None
    name: str | None
    text: str
    whole: bool = False
    custom: bool = False
    n: int = 1
    bare: bool = False
    spoilt: bool = False
    extra: dict[str, Any] | None = None
    mark: str = ""

    __repr__ = discreet_repr


MOST_NAMELESS = 3  # calls; beyond it nothing would be believed
MOST_OPEN = (
    256  # calls without a name yet, side by side when the turn was cut; beyond it that is not credible
)

Assignment = list[int]  # the number of the call of each piece
Way = Callable[
    ["Columns", int, int], int
]  # returns where the call ends whose text begins at the first number, at most the second


class Partition(NamedTuple):
    """A way to assign pieces.

    Attributes:
        assign: returns None where the pieces lack the label that it needs.
        is_row: calls follow one another.
        any_open: where the turn was cut, any call may be open; else only the last one.
    """

    assign: Callable[[Columns], Assignment | None]
    is_row: bool = True
    any_open: bool = False


@lru_cache(maxsize=256)
def final_name(name: str) -> str:
    """Return the name without outer white space and without leftovers of a chat template after it (quirks 58, 59)."""
    return name.strip().partition("<|")[0].rstrip() or name.strip()


class Columns:
    """The pieces, as columns by which they are assigned.

    Attributes:
        indices, ids, names, texts: of all pieces; the names in their final form.
        named: whether each piece has a name; `named_at`: the places of those that have one.
        bare: `Piece.bare` of each piece.
        most: an assignment of more calls is not believed, as too many lack a name; `most_open`: the same, if any may be
            open.
    """

    def __init__(self, pieces: Sequence[Piece], *, cut: bool = False) -> None:
        self.indices = [piece.index for piece in pieces]
        self.ids = [piece.id for piece in pieces]
        self.names = [None if piece.name is None else final_name(piece.name) for piece in pieces]
        self.texts = [piece.text for piece in pieces]
        self.named = [name is not None for name in self.names]
        self.bare = [piece.bare for piece in pieces]
        self.named_at = [at for at, is_named in enumerate(self.named) if is_named]
        self.most = len(self.named_at) + MOST_NAMELESS + cut
        self.most_open = len(self.named_at) + MOST_OPEN if cut else self.most
        self._stops = self._other_names()
        self._ends: dict[tuple[int, int], int] = {}

    def _other_names(self) -> list[int]:
        """Return, for each piece that has a name, where the next other name is."""
        stops: list[int] = []
        stop = after = len(self.names)
        for at in reversed(self.named_at):
            if after < len(self.names) and self.names[at] != self.names[after]:
                stop = after
            stops.append(stop)
            after = at
        return stops[::-1]

    def stop(self, start: int) -> int:
        """Return where another name ends a call that begins at a piece."""
        place = bisect_left(self.named_at, start)
        return self._stops[place] if place < len(self._stops) else len(self.names)

    def end(self, start: int, stop: int) -> int:
        """Return the place after the value whose text begins at a piece, or the stop if that comes first."""
        key = start, stop
        if key not in self._ends:  # several ways need it
            self._ends[key] = self._scanned(start, stop)
        return self._ends[key]

    def _scanned(self, start: int, stop: int) -> int:
        scan, texts = Scan(), self.texts
        seen = start
        for at in range(start, stop):
            text = texts[at]
            if not ("}" in text or '"' in text or "]" in text):
                continue  # it can end no value
            scan.feed("".join(texts[seen : at + 1]))
            seen = at + 1
            if scan.complete:
                return seen
        return stop


# Keyed: by labels, at any place.


def _keyed(keys: Sequence[Any], most: int) -> Assignment | None:
    """Assign by a label that all pieces have."""
    distinct = dict.fromkeys(keys)
    if None in distinct or len(distinct) > most:
        return None
    numbers = {key: n for n, key in enumerate(distinct)}
    return [numbers[key] for key in keys]


def _keyed_anew(columns: Columns, opens: Sequence[bool]) -> Assignment | None:
    """Assign by the index if all pieces have one, but begin another call wherever `opens` is true."""
    keys = columns.indices
    if None in keys or len(set(keys)) > columns.most or sum(opens) > columns.most:
        return None
    latest: dict[Any, int] = {}
    numbers: Assignment = []
    n = 0
    for key, is_new in zip(keys, opens, strict=True):
        if is_new or key not in latest:
            latest[key], n = n, n + 1
        numbers.append(latest[key])
    return numbers


def _by_index(columns: Columns) -> Assignment | None:
    return _keyed(columns.indices, columns.most_open)


def _by_id(columns: Columns) -> Assignment | None:
    return _keyed(columns.ids, columns.most_open)


def _by_index_and_id(columns: Columns) -> Assignment | None:
    latest: dict[Any, str] = {}
    opens: list[bool] = []
    for index, id in zip(columns.indices, columns.ids, strict=True):
        opens.append(id is not None and latest.get(index, id) != id)
        if id is not None:
            latest[index] = id
    return _keyed_anew(columns, opens)


def _by_index_and_name(columns: Columns) -> Assignment | None:
    return _keyed_anew(columns, columns.named)


# Rows: another label ends a call.


def _row(labels: Sequence[Any]) -> Assignment:
    """Assign by a label; a piece without one belongs to the call before, the first pieces to the call after them."""
    if None in labels:
        known = [label for label in labels if label is not None]
        filled: list[Any] = [*accumulate([*known[:1], *labels], lambda old, new: old if new is None else new)]
        labels = filled[1:] if known else labels
    return list(accumulate(map(ne, labels[1:], labels), initial=0))


def _one(columns: Columns) -> Assignment:
    return [0] * len(columns.texts)


def _row_by_id(columns: Columns) -> Assignment:
    return _row(columns.ids)


def _row_by_index(columns: Columns) -> Assignment:
    return _row(columns.indices)


def _row_by_name(columns: Columns) -> Assignment:
    return _row(columns.names)


def _row_by_any_name(columns: Columns) -> Assignment:
    opens = columns.named.copy()
    if columns.named_at:
        opens[columns.named_at[0]] = False  # the pieces before the first name belong to its call
    return list(accumulate(opens[1:], initial=0))


def _row_to_name(columns: Columns) -> Assignment:
    return list(accumulate(columns.named[:-1], initial=0))


# Rows: only the text or another name ends a call. Each way returns where the next call begins.


def _plain(columns: Columns, start: int, stop: int) -> int:
    """Return the end of pieces that make a whole value; a piece without text at the start of a call is all of it."""
    text = columns.texts[start]
    return start + 1 if not text or is_placeholder(text) else columns.end(start, stop)


def _headed(columns: Columns, start: int, stop: int) -> int:
    """Return the end of a call that begins with an empty piece; a second empty one is all of the text."""
    at, n_empty = start, 0
    while at < stop and not columns.texts[at]:
        n_empty += 1 + columns.bare[at]
        at += 1
        if n_empty == 2:
            return at
    return _plain(columns, at, stop) if at == start else columns.end(at, stop)


def _snapshots(columns: Columns, start: int, stop: int) -> int:
    """Return the end of pieces that each begin with the piece before."""
    texts, last = columns.texts, ""
    following = texts[start + 1] if start + 1 < stop else ""
    if not texts[start] or (following and not following.startswith(texts[start])):
        return start + 1
    scan = Scan()
    for at in range(start, stop):
        text = texts[at] or last
        if not text.startswith(last):
            return at
        scan.feed(text[len(last) :])
        last = text
        if scan.complete or is_placeholder(text):
            return at + 1
    return stop


def _repeated(columns: Columns, start: int, stop: int) -> int:
    """Return the end of a text that is repeated in one piece."""
    end = _plain(columns, start, stop)
    text = columns.texts[end] if end < stop else ""
    return end + 1 if text and text == "".join(columns.texts[start:end]) else end


def _filled(columns: Columns, start: int, stop: int) -> int:
    """Return the end of a placeholder and its replacement, which is read as if it came first."""
    start += is_placeholder(columns.texts[start])
    return _plain(columns, start, stop) if start < stop else stop


WAYS: tuple[Way, ...] = (_plain, _headed, _snapshots, _repeated, _filled)


def _by_text(way: Way) -> Callable[[Columns], Assignment | None]:
    def assign(columns: Columns) -> Assignment | None:
        numbers: Assignment = []
        at = n = 0
        while at < len(columns.texts) and n <= columns.most:
            after = way(columns, at, columns.stop(at))
            numbers += repeat(n, after - at)
            at, n = after, n + 1
        return numbers if n <= columns.most else None

    return assign


PARTITIONS = (
    Partition(_by_index, is_row=False, any_open=True),
    Partition(_by_id, is_row=False, any_open=True),
    Partition(_by_index_and_id, is_row=False),
    Partition(_by_index_and_name, is_row=False),
    Partition(_one),
    Partition(_row_by_id),
    Partition(_row_by_index),
    Partition(_row_by_name),
    Partition(_row_by_any_name),
    Partition(_row_to_name),
    *(Partition(_by_text(way)) for way in WAYS),
)
