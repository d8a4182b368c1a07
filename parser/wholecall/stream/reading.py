"""From frames to deltas: finds the dialect of a stream, and lets its translator translate the frames.

Theory of operation. Frames of a healthy stream are translated together, and so are further frames. Frames that come
with faults between them, or that hold replaced bytes, are taken one by one: each fault is reported where it happened,
and where text was lost with it, the translator is informed. Frames wait until one identifies the dialect, and its
translator has understood one (`opening`). A dialect that claims a frame and understands none of the waiting frames is
*on trial*. It gives way to the first dialect that claims another frame and understands one.

A translator remembers labels, and a server can make it remember ever more of them. Therefore its memory is weighed
after every so many bytes of the stream, wherever reads are cut (`dialects.remembered`); when it is several times as
large as the calls of a turn may be, the stream ends. Weighing costs no more than reading the bytes since the last time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from wholecall.deltas import Delta, WireFault, without_hole
from wholecall.dialects import remembered, replaced, table
from wholecall.dialects.translator import Translator
from wholecall.framing import Frame, Framing
from wholecall.framing.frame import Like, after, each_framed, framed
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.stream.opening import Opening, is_claimed_by, within
from wholecall.stream.trials import Trial, best_of, says_something

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SHARE = 4  # times max_total_arguments_bytes: decoded arguments may take more
_LEAST = 1 << 20  # bytes that a translator may always remember: limits are for calls, and may be small
_WEIGHINGS = 16  # weighings while as many bytes come as may be remembered
_UNBOUNDED = 1 << 62
_REMEMBERED = WireFault(
    "stream_too_large",
    "labels and texts that may come again take more than four times max_total_arguments_bytes",
    fatal=True,
)
# The life of the stream, up to its end: `close` reads the remaining input, and a closed parser takes no more.
Life = Literal["new", "bytes", "frames", "closing", "closed"]


def nothing(_texts: list[str], _like: Like) -> list[Delta]:
    """Return no deltas: the stream is over."""
    return []


class FrameReader:
    """A reader of the frames of one stream, which hands their deltas to the assembler.

    It starts when the first frames are at hand: a stream that stays in a lane needs none of it.
    """

    DERIVED: ClassVar = frozenset({"_named", "_translate", "_translator", "_most_remembered"})

    _assembler: Assembler
    _opening: Opening
    _life: Life
    _found: bool
    _proven: bool
    _understood: bool
    _unweighed: int

    def __init__(self, dialect: str) -> None:
        self._named = None if dialect == "auto" else table.named(dialect)
        self._translate: Callable[[list[str], Like], list[Delta]] = nothing
        self._translator: Translator | None = None
        self._life = "new"

    def _start(self, assembler: Assembler, limits: Limits) -> None:
        """Get ready for frames."""
        self._assembler = assembler
        self._translate = self._translate_first
        known = self._named
        self._found = known is None  # by its frames, or to be found so
        self._proven = known is not None  # the dialect of the translator stays, else it is on trial
        if known is not None:
            assembler.dialect = known.name
            self._translator = known.start()
        self._opening = Opening(limits)
        self._understood = False  # a frame after the deciding one meant something to the translator
        most = limits.max_total_arguments_bytes
        self._most_remembered = _UNBOUNDED if most is None else max(_SHARE * most, _LEAST)
        self._unweighed = self._most_remembered // _WEIGHINGS  # bytes that come before the next weighing

    def remade(self) -> None:
        """Check when the translator is weighed next, because a snapshot may be forged.

        Raises:
            ValueError: in the past, or too late.
        """
        if not 0 <= self._unweighed <= self._most_remembered // _WEIGHINGS:
            raise ValueError("what the dialect remembers is weighed at another byte")

    def _until_weighed(self, data: bytes) -> Iterator[bytes]:
        """Yield bytes that reach beyond the next weighing: each part up to a weighing (which follows), and the rest."""
        start = 0
        while len(data) - start > self._unweighed:
            end = start + self._unweighed
            yield data[start:end]
            start = end
            self._weigh()
        yield data[start:]

    def _count(self, frames: list[Frame]) -> None:
        """Count frames that came without their bytes."""
        self._unweighed -= sum(len(frame.data) for frame in frames)
        if self._unweighed < 0:
            self._weigh()

    def _weigh(self) -> None:
        """End the stream if the translator remembers too much; if the stream has ended, translate nothing more."""
        self._unweighed = self._most_remembered // _WEIGHINGS
        translator = self._translator
        parts = () if translator is None else (translator, translator.wrapped)
        if sum(map(remembered.remembered, parts)) > self._most_remembered:
            self._assembler.advance([_REMEMBERED])
        if self._assembler.is_over:
            self._translate = nothing

    def _take_singly(self, framing: Framing, frames: list[Frame]) -> bool:
        """Translate frames one by one, with faults between them in their places; return whether there were any."""
        done, faults = 0, framing.take_faults()
        for position, fault in faults:
            for frame in frames[done:position]:
                self._frame(frame)
            done = position
            self._is_lost(fault)
        for frame in frames[done:]:
            self._frame(frame)
        return bool(faults or frames)

    def _translate_first(self, texts: list[str], like: Like) -> list[Delta]:
        """Translate frames once the dialect is known; until then they are kept."""
        self._life = "frames"
        if not self._proven:
            n = self._take_until_known(each_framed(texts, like))
            texts, like = texts[n:], after(like, n)
        if self._translator is None or not (self._proven and texts):
            return []
        translate = self._opening.translating(self._translator)
        deltas = translate(texts, like)
        if self._understands(deltas):
            self._translate = translate
        else:
            self._opening.wonder(framed(texts, like))
        return deltas

    def _understands(self, deltas: list[Delta]) -> bool:
        """Return whether any frame so far was understood, including these."""
        if not self._understood and says_something(deltas, text=self._found):
            self._understood = True
            self._opening.trust()
        return self._understood

    def _last_word(self) -> list[Delta]:
        """Return the deltas of the end of the stream: if nothing was understood, a report on the stream's content."""
        if self._translator is None and (trial := self._opening.last_resort()) is not None:
            self._try(trial)
        if self._translator is None:
            return self._opening.last_word()
        unknown = [] if self._proven else self._opening.unproven(table.named(self._assembler.dialect))
        if not self._proven:
            self._prove()
        strange = [] if self._understood else self._opening.misnamed(self._assembler.dialect) or unknown
        return self._translator.close() + strange

    def _take_until_known(self, frames: Iterable[Frame]) -> int:
        """Keep frames until a dialect has understood one, and translates them; return how many were taken."""
        n = 0
        for n, frame in enumerate(frames, 1):  # noqa: B007 - their number is returned
            if self._is_known_by(frame):
                break
        return n

    def _is_known_by(self, frame: Frame) -> bool:
        """Keep a frame; return whether a dialect is proven now, which has translated all frames that waited."""
        opening, tried = self._opening, self._translator
        opening.keep(frame)
        if tried is not None and says_something(tried.told(opening.opened(frame))):
            return self._prove()
        if tried is not None and is_claimed_by(table.named(self._assembler.dialect), frame):
            return self._is_full()
        claimed = opening.claimed(frame)
        trials = claimed.trials([frame])
        proof = best_of(trials, len(claimed.by.best))
        if proof is None:
            alone = tried is None and len(claimed.by.best) == 1 and not any(trial.read for trial in trials)
            if alone:  # it means nothing so far, and is the only frame
                self._try(claimed.trials(opening.frames)[0])
            return self._is_full()
        rival = proof.rival_among(trials) if len(trials) > 1 else None
        opening.doubt(rival.dialect.name if rival is not None else "" if proof.reads_text else within(frame))
        self._try(proof)
        return self._prove(proof.told if len(opening.frames) == 1 else None)

    def _try(self, trial: Trial) -> None:
        """Put a dialect on trial, in place of the previous one."""
        self._translator, self._assembler.dialect = trial.translator, trial.dialect.name
        self._opening.enveloped = trial.enveloped

    def _is_full(self) -> bool:
        """Return whether the dialect on trial is taken, because no more frames fit; without one, forget the oldest."""
        if self._opening.is_full and self._translator is not None:
            return self._prove()
        self._assembler.advance(self._opening.trim())
        return False

    def _prove(self, told: list[list[Delta]] | None = None) -> bool:
        """Take the dialect on trial, and hand on its deltas for the frames that waited, or its deltas for them now."""
        self._proven = True
        frames = self._opening.give()
        if told is None or any(frame.replaced for frame in frames):
            self._translator = table.named(self._assembler.dialect).start()
            if self._opening.lost:
                self._translator.lose()
            for frame in frames:
                self._frame(frame)
        else:
            for frame, deltas in zip(frames, told, strict=True):
                if not self._assembler.is_over:
                    self._advance(frame, deltas)
        self._understood = False  # so far only the deciding frame
        return True

    def _frame(self, frame: Frame) -> None:
        if self._assembler.is_over:
            return
        if not self._proven or self._translator is None:
            self._take_until_known([frame])
            return
        if frame.replaced and self._is_lost(replaced.fault_of(frame)):
            return
        deltas = self._translator.told(self._opening.opened(frame))
        if not self._understands(deltas):
            self._opening.wonder([frame])
        self._advance(frame, deltas)

    def _advance(self, frame: Frame, deltas: list[Delta]) -> None:
        advance = self._assembler.advance_replaced if frame.replaced else self._assembler.advance
        if self._life == "closing":  # unreadable input at the very end is a cut, not a hole
            deltas[-1:] = map(without_hole, deltas[-1:])
        advance(deltas)

    def _is_lost(self, fault: WireFault) -> bool:
        """Report a fault; return whether its frame is lost."""
        if fault.hole and self._translator is not None:
            self._translator.lose()
            self._opening.lost = not self._proven
        self._assembler.advance([without_hole(fault) if self._life == "closing" else fault])
        return fault.hole
