"""Trial of a dialect that claims a frame: its reading of the waiting frames as proof.

Theory of operation. A claim depends on the form of a frame; the reading of the dialect's translator proves more. If
only one dialect claims a frame, it has to understand one. If several do, those of better right (`dialects.claims`) go
first; but none of them is taken as long as another reads more in the same frames, because then the next frames decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from wholecall import deltas
from wholecall.dialects import claims, envelope
from wholecall.dialects.table import Dialect
from wholecall.dialects.translator import Translator
from wholecall.framing import Frame

_private = True

# The result of a translator's reading of a frame, from nothing to a call.
_NOTHING: Final = 0
_TURN: Final = 1
_TEXT: Final = 2
_CALL: Final = 3
_READ: Final[dict[type, int]] = {
    **dict.fromkeys(
        (deltas.Noted, deltas.UsageSeen, deltas.TurnEnded, deltas.CallUnread), _NOTHING
    ),  # which any frame may give
    **dict.fromkeys(
        (deltas.TextBegan, deltas.BlockKept, deltas.CallPlaced, deltas.CarriesOn), _NOTHING
    ),  # which only support proof
    **dict.fromkeys((deltas.TextFragment, deltas.ReasoningFragment), _TEXT),
    **dict.fromkeys(
        (deltas.CallSeen, deltas.CallWhole, deltas.CallClosed, deltas.CallRefused, deltas.CallWritten), _CALL
    ),
    **dict.fromkeys((deltas.Fragment, deltas.Labelled, deltas.Slot, deltas.Restated, deltas.Reread), _CALL),
}


class Trial(NamedTuple):
    """A dialect, and its deltas for all frames that wait, in an envelope or not.

    Attributes:
        told: its translator's deltas for each frame.
        read: how much that is.
    """

    dialect: Dialect
    enveloped: bool
    translator: Translator
    told: list[list[deltas.Delta]]
    read: int

    @property
    def reads_text(self) -> bool:
        """Return whether it reads text or a call."""
        return self.read >= _TEXT

    def rival_among(self, trials: list[Trial]) -> Trial | None:
        """Return another dialect that may be right as well, as long as no other frame supports this one."""
        rivals = (
            trial
            for trial in trials
            if trial is not self
            and (trial.read == _CALL or self.read < _TEXT)
            and not claims.are_akin(trial.dialect.name, self.dialect.name)
        )
        return next(rivals, None)


def tried(dialect: Dialect, frames: Iterable[Frame], *, enveloped: bool) -> Trial:
    """Return a dialect's trial on frames."""
    translator = dialect.start()
    told: list[list[deltas.Delta]] = []
    read = _NOTHING
    for frame in frames:
        found = translator.told(envelope.opened(frame) if enveloped else frame)
        told.append(found)
        for delta in found:
            read = max(read, _read(delta))
    return Trial(dialect, enveloped, translator, told, read)


def best_of(trials: list[Trial], n_best: int) -> Trial | None:
    """Return the trial that proves its dialect; None if none does, or several do, or one of lesser right reads more.

    The first `n_best` trials are those of equal right.
    """
    if len(trials) == 1:
        return trials[0] if trials[0].read else None
    proofs = [trial for trial in trials[:n_best] if trial.read]
    if len(proofs) != 1:
        return None
    most = max(trial.read for trial in trials)
    return proofs[0] if most in (1, proofs[0].read) else None


def says_something(told: list[deltas.Delta], *, text: bool = False) -> bool:
    """Return whether a translator understood its frame: if `text` is set, as text or as a call."""
    least = _TEXT if text else _TURN
    return any(_read(delta) >= least for delta in told)


def _read(delta: deltas.Delta) -> int:
    kind = type(delta.of if type(delta) is deltas.Run else delta)
    if kind is deltas.WireFault and not delta.fatal:  # type: ignore[union-attr]
        return _NOTHING
    return _READ.get(kind, _TURN)
