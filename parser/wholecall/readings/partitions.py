"""How pieces can be dealt to calls: each partition is a pass over them, most deal the same.

Theory of operation. *Keyed* partitions go by a label wherever it stands, so calls may take turns. In a *row* calls
follow one another, and a partition says what ends one: another label, or the text alone. A server that labels
nothing can still be read if its texts are of one kind (`Plain` and its heirs): each has a small machine that
scans a text once and knows where the next one begins. That habits are uniform makes each machine deterministic.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from wholecall.event_lines import discreet_repr
from wholecall.lexical import Scan
from wholecall.placeholders import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["MACHINES", "PARTITIONS", "Partition", "Piece", "Plain", "final_name"]


class Piece(msgspec.Struct):
    """Fragments of one choice in a row with the same labels.

    Attributes:
        index: the wire's index, None where it sent none.
        text: their argument text, joined.
        whole: the text is a whole value, never to be joined to another.
        custom: the text is free text.
        n: how many fragments, or runs of them.
        bare: a fragment without labels and text followed.
        spoilt: the text held bytes that are not UTF-8.
        extra: provider fields of the fragment.
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

    __repr__ = discreet_repr


Deal = list[int]  # the number of the call of each piece


class Partition(NamedTuple):
    """A way to deal pieces.

    Attributes:
        deal: None where the pieces do not have what it goes by.
        is_row: calls follow one another.
        any_open: where the turn was cut, any call may be open; else only the last one.
    """

    deal: Callable[[Sequence[Piece]], Deal | None]
    is_row: bool = True
    any_open: bool = False


@lru_cache(maxsize=256)
def final_name(name: str) -> str:
    """Return the name without white space round it and what a chat template leaves behind it (quirks 58, 59)."""
    return name.strip().partition("<|")[0].rstrip() or name.strip()


# Keyed: by labels, wherever they stand.


def _keyed(keys: Sequence[Any], opens: Callable[[Any, int], bool] | None = None) -> Deal | None:
    """Deal by a label that all pieces have; `opens` says where one opens another call all the same."""
    if None in keys:
        return None
    numbers: Deal = []
    latest: dict[Any, int] = {}
    n = 0
    for at, key in enumerate(keys):
        is_new = opens is not None and opens(key, at)
        if is_new or key not in latest:
            latest[key], n = n, n + 1
        numbers.append(latest[key])
    return numbers


def _by_index(pieces: Sequence[Piece]) -> Deal | None:
    return _keyed([piece.index for piece in pieces])


def _by_id(pieces: Sequence[Piece]) -> Deal | None:
    return _keyed([piece.id for piece in pieces])


def _by_index_and_id(pieces: Sequence[Piece]) -> Deal | None:
    ids: dict[Any, str] = {}

    def opens(index: Any, at: int) -> bool:
        new = pieces[at].id
        if new is None:
            return False
        old, ids[index] = ids.get(index, new), new
        return new != old

    return _keyed([piece.index for piece in pieces], opens)


def _by_index_and_name(pieces: Sequence[Piece]) -> Deal | None:
    return _keyed([piece.index for piece in pieces], lambda _, at: pieces[at].name is not None)


# Rows: another label ends a call.


def _row(labels: Iterable[Any]) -> Deal:
    numbers: Deal = []
    n, label = 0, None
    for new in labels:
        if new is not None:
            n += label is not None and new != label
            label = new
        numbers.append(n)
    return numbers


def _one(pieces: Sequence[Piece]) -> Deal:
    return [0] * len(pieces)


def _row_by_id(pieces: Sequence[Piece]) -> Deal:
    return _row([piece.id for piece in pieces])


def _row_by_index(pieces: Sequence[Piece]) -> Deal:
    return _row([piece.index for piece in pieces])


def _row_by_name(pieces: Sequence[Piece]) -> Deal:
    return _row([None if piece.name is None else final_name(piece.name) for piece in pieces])


def _row_by_any_name(pieces: Sequence[Piece]) -> Deal:
    return _row([None if piece.name is None else at for at, piece in enumerate(pieces)])


def _row_to_name(pieces: Sequence[Piece]) -> Deal:
    numbers: Deal = []
    n = 0
    for piece in pieces:
        numbers.append(n)
        n += piece.name is not None
    return numbers


# Rows: the text alone ends a call, and another name does.


class Plain:
    """Pieces, until the value is whole; a piece without text where a call begins is all of one."""

    def __init__(self) -> None:
        self.done = True

    def begin(self) -> None:
        """A call begins with the next piece."""
        self.done = False
        self.fresh = True  # nothing was taken yet
        self._scan = Scan()

    def opens(self, piece: Piece) -> bool:  # noqa: ARG002 - other ways look at it
        """Whether the piece is another call's."""
        return self.done

    def take(self, piece: Piece) -> None:
        """Take a piece of the call."""
        if piece.text:
            self._read(piece.text)
        elif self.fresh:
            self.done = True
        self.fresh = False

    def _read(self, text: str) -> None:
        self._scan.feed(text)
        self.done = self._scan.complete or (self.fresh and is_placeholder(text))


class _Headed(Plain):
    """An empty piece first; a second one is all of the text."""

    def begin(self) -> None:
        super().begin()
        self._n_empty = 0

    def take(self, piece: Piece) -> None:
        if piece.text:
            self._read(piece.text)
            self._n_empty = 2
        else:
            self._n_empty += 1 + piece.bare
            self.done = self._n_empty == 2
        self.fresh = False


class _Snapshots(Plain):
    """Each piece begins with the one before."""

    def begin(self) -> None:
        super().begin()
        self._last = ""

    def opens(self, piece: Piece) -> bool:
        return self.done or bool(piece.text and not piece.text.startswith(self._last))

    def _read(self, text: str) -> None:
        self._scan.feed(text[len(self._last) :])
        self._last = text
        self.done = self._scan.complete or is_placeholder(text)


class _Repeated(Plain):
    """The whole text, then once more in one piece."""

    def begin(self) -> None:
        super().begin()
        self._parts: list[str] = []
        self._whole = ""

    def opens(self, piece: Piece) -> bool:
        return self.done or bool(self._whole and piece.text != self._whole)

    def _read(self, text: str) -> None:
        if self._whole:
            self.done = True
            return
        self._parts.append(text)
        super()._read(text)
        if self.done:
            self.done, self._whole = False, "".join(self._parts)


class _Filled(Plain):
    """A placeholder first."""

    def begin(self) -> None:
        super().begin()
        self._held = False

    def take(self, piece: Piece) -> None:
        if self.fresh and not self._held and is_placeholder(piece.text):
            self._held = True  # and what comes next is read as if it were the first
        else:
            super().take(piece)


def _by_text(machine: type[Plain]) -> Callable[[Sequence[Piece]], Deal]:
    def deal(pieces: Sequence[Piece]) -> Deal:
        numbers: Deal = []
        n, name = -1, None
        text = machine()
        for piece in pieces:
            new = final_name(piece.name) if piece.name is not None else None
            if text.opens(piece) or (new is not None and name is not None and new != name):
                text.begin()
                n, name = n + 1, None
            text.take(piece)
            name = name or new
            numbers.append(n)
        return numbers

    return deal


MACHINES: tuple[type[Plain], ...] = (Plain, _Headed, _Snapshots, _Repeated, _Filled)

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
    *(Partition(_by_text(machine)) for machine in MACHINES),
)
