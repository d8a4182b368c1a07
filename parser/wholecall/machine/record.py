"""The fragments of a choice after the first odd label: the pieces as they came, and where each was shown.

Theory of operation. As long as labels are as documented, no single fragment is kept. At the first odd label a `Record`
is made, and each call so far is put into it as two pieces, a head and a rest. Two pieces are enough: had a boundary
inside the rest mattered, it would have been odd itself. From then on each fragment is kept as a piece (`Record.add`),
or is joined to the last piece if it has the same labels and cannot begin, repeat or restate a text. For each piece
`shown` holds the call in which it was shown. `settling` reads the record at the end of the turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wholecall.calls.arguments import placeholders, tokens
from wholecall.deltas import HYDRATION, INVALID_INDEX, OBJECT, CallWhole, Labelled
from wholecall.machine.budget import weight
from wholecall.machine.call import Call
from wholecall.machine.readings.partitions import Piece

_PIECE = 64  # bytes, without its texts


def is_labelled(call: Call) -> bool:
    """Return whether a call is found by labels of the wire, which may lie, and not by slot."""
    return not call.slotted and call.slot is None and str not in map(type, call.indices)


class Record:
    """The pieces of one choice.

    Attributes:
        pieces: in the order of the stream.
        shown: the call in which each piece was shown.
        restated: the calls that final messages restate.
        turns: the calls alternated before the first odd label.
        doubtful: labels came that either repeat or open another call: no further call is reported before the end.
        n_lost: pieces before the last loss.
        n_reasoned: pieces before the last finish reason; `n_evidenced`: before the last one that allows calls.
        size: bytes held.
    """

    pieces: list[Piece]
    shown: list[Call]
    restated: list[CallWhole]
    turns: bool
    doubtful: bool
    n_lost: int
    n_reasoned: int
    n_evidenced: int
    size: int
    _rest: list[str]  # texts that continue the last piece

    __slots__ = tuple(__annotations__)

    def __init__(self, calls: Iterable[Call] = (), *, turns: bool = False) -> None:
        self.pieces, self.shown, self.restated, self._rest = [], [], [], []
        self.turns, self.doubtful = turns, False
        self.n_lost = self.n_reasoned = self.n_evidenced = self.size = 0
        for call in calls:
            self._put_together(call)

    def remade(self) -> None:
        """Check that every piece was shown somewhere, and that continuing texts have a beginning.

        Raises:
            ValueError: otherwise.
        """
        if len(self.pieces) != len(self.shown) or (self._rest and not self.pieces):
            raise ValueError("a piece was shown nowhere")

    def _put_together(self, call: Call) -> None:
        """Keep the pieces of a call while labels were as documented; of an emitted call, its text at that time."""
        whole = call.restated is not None and (call.rank == OBJECT or call.is_over)
        text = (call.restated or "") if whole else call.pending_text
        head, rest = (text, "") if whole else (text[: call.head], text[call.head :])
        index = next((index for index in call.indices if type(index) is int), None)
        custom, spoilt = call.kind == "custom", call.refusal == "invalid_utf8"
        extra = None if call.extra is None else dict(call.extra)
        self.keep(Piece(index, call.id, call.name, head, whole, custom, 1, call.bare, spoilt, extra), call)
        if rest:
            id = call.id if call.labelled == len(rest) else None
            n = max(1, len(call.parts) - bool(head))
            self.keep(Piece(index, id, None, rest, custom=custom, n=n, spoilt=spoilt), call)
        if call.restated is not None and not whole:
            kind, id = call.kind, call.id
            self.restated.append(
                CallWhole(call.choice, None, None, id, call.name, call.restated, HYDRATION, kind)
            )
        if call.lacks_text:
            self.note_loss()
        if call.reasoned:
            self.note_reason()
        if call.end_shown:
            self.note_evidence()

    def note_loss(self) -> None:
        """Note that text was lost after the pieces so far."""
        self.n_lost = len(self.pieces)

    def note_reason(self, *, is_evidence: bool = False) -> None:
        """Note that a finish reason came after the pieces so far; `is_evidence`: it allows calls."""
        self.n_reasoned = len(self.pieces)
        if is_evidence:
            self.note_evidence()

    def note_evidence(self) -> None:
        """Note that something which shows that no text is missing came after the pieces so far."""
        self.n_evidenced = len(self.pieces)

    def keep(self, piece: Piece, call: Call) -> None:
        """Keep a piece that was shown in a call."""
        self.pieces.append(piece)
        self.shown.append(call)
        self._weigh(f"{piece.text}{piece.id or ''}{piece.name or ''}", piece.extra)
        self.size += _PIECE

    def _weigh(self, text: str, extra: dict[str, Any] | None = None) -> None:
        self.size += tokens.utf8_size(text)
        if extra:
            self.size += weight(extra)

    def goes_on(self, delta: Labelled) -> bool:
        """Return whether a fragment only continues the last piece, for any meaning of its labels."""
        if (
            not self.pieces
            or not delta.text
            or delta.text[0] in placeholders.BEGINNINGS
            or delta.rank
            or delta.extra
        ):
            return False
        if self.n_reasoned == len(self.pieces):
            return False  # a fragment after a reason is another piece
        last = self.pieces[-1]
        if delta.id != last.id or delta.name != last.name or _index(delta) != last.index:
            return False
        return (delta.kind == "custom") == last.custom and bool(last.text) and not last.whole

    def add(self, delta: Labelled, call: Call, *, goes_on: bool, spoilt: bool) -> None:
        """Keep a fragment that was shown in a call; `goes_on` is the result of the method of that name."""
        if goes_on:
            last = self.pieces[-1]
            last.n, last.spoilt = last.n + 1, last.spoilt or spoilt
            self._rest.append(delta.text)
            self._weigh(delta.text)
            return
        if self._rest:
            self.close()
        custom, whole = delta.kind == "custom", delta.rank > 0 and bool(delta.text)
        labels = _index(delta), delta.id, delta.name
        self.keep(Piece(*labels, delta.text, whole, custom, spoilt=spoilt, extra=delta.extra), call)

    def mark(self) -> None:
        """Note that a fragment came that has neither labels nor text."""
        if self.pieces:
            self.pieces[-1].bare = True

    def take_extra(self, call: Call, extra: dict[str, Any]) -> None:
        """Keep fields that came alone with the last piece that was shown in their call."""
        at = next((at for at in range(len(self.shown) - 1, -1, -1) if self.shown[at] is call), None)
        if at is not None:
            piece = self.pieces[at]
            self._weigh("", extra)
            piece.extra = {**(piece.extra or {}), **extra}

    def begin_only(self) -> None:
        """Forget the pieces after the last finish reason."""
        self.close()
        del self.pieces[self.n_reasoned :], self.shown[self.n_reasoned :]

    def close(self) -> None:
        """Join the text of the last piece."""
        if self._rest:
            self.pieces[-1].text += "".join(self._rest)
            self._rest.clear()

    def drop(self) -> None:
        """Clear the pieces: they exceed a limit."""
        for kept in (self.pieces, self.shown, self.restated, self._rest):
            kept.clear()


def _index(delta: Labelled) -> int | None:
    index = delta.index
    return index if type(index) is int and index != INVALID_INDEX else None
