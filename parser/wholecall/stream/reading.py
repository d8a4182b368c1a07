"""From frames to deltas: finds the dialect of a stream, and lets its translator translate the frames.

Theory of operation. Frames of a healthy stream are translated in one go, and so are further ones. Frames that come
with faults between them, or that hold replaced bytes, are taken one by one: each fault is reported where it happened,
and where text was lost with it, the translator is informed. Until a frame identifies the dialect, frames wait (`opening`).

A translator remembers labels, and a server can make it remember ever more of them. So after every so many bytes of the
stream, wherever reads are cut, what it remembers is weighed (`dialects.remembered`); when that is several times what the
calls of a turn may hold, the stream ends. To weigh costs no more than to read what came since the last time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from wholecall.deltas import Delta, Noted, TurnEnded, UsageSeen, WireFault, without_hole
from wholecall.dialects.remembered import remembered
from wholecall.dialects.replaced import fault_of
from wholecall.dialects.restated import ended_together
from wholecall.dialects.table import Translator, named
from wholecall.framing import Frame, Framing
from wholecall.framing.frame import Like, after, each_framed, framed
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.stream.opening import Opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["FrameReader", "Life", "nothing"]

_SHARE = 4  # times max_total_arguments_bytes: decoded arguments may take more
_LEAST = 1 << 20  # bytes that a translator may always remember: limits are for calls, and may be small
_WEIGHINGS = 16  # while as many bytes come as may be remembered
_UNBOUNDED = 1 << 62
_REMEMBERED = WireFault(
    "stream_too_large",
    "labels and texts that may come again take more than four times max_total_arguments_bytes",
    fatal=True,
)
_BESIDES = (Noted, UsageSeen, TurnEnded)  # deltas that frames of another dialect may give
# What came of the stream so far, and then its end: `close` reads what is left, and a closed parser takes nothing more.
Life = Literal["new", "bytes", "frames", "closing", "closed"]


def nothing(_texts: list[str], _like: Like) -> list[Delta]:
    """Return no deltas: the stream is over."""
    return []


class FrameReader:
    """Reads the frames of one stream, and hands what they say to the assembler."""

    DERIVED: ClassVar = frozenset({"_translate", "_translator", "_most_remembered"})

    _assembler: Assembler
    _opening: Opening
    _life: Life
    _understood: bool
    _unweighed: int

    def __init__(self, dialect: str, assembler: Assembler, limits: Limits) -> None:
        self._assembler = assembler
        self._translate: Callable[[list[str], Like], list[Delta]] = self._translate_first
        self._translator: Translator | None = None
        if dialect != "auto":
            assembler.dialect = dialect
            self._translator = named(dialect).start()
        self._opening = Opening(limits)
        self._life = "new"
        self._understood = False  # a frame said something to the translator
        most = limits.max_total_arguments_bytes
        self._most_remembered = _UNBOUNDED if most is None else max(_SHARE * most, _LEAST)
        self._unweighed = self._most_remembered // _WEIGHINGS  # bytes that come before the next weighing

    def remade(self) -> None:
        """Check when the translator is weighed next, as anybody may have written the snapshot.

        Raises:
            ValueError: in the past, or too late.
        """
        if not 0 <= self._unweighed <= self._most_remembered // _WEIGHINGS:
            raise ValueError("what the dialect remembers is weighed at another byte")

    def _until_weighed(self, data: bytes) -> Iterator[bytes]:
        """Yield bytes that reach beyond the next weighing: the parts up to each, which follows it, and the rest."""
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
        """End the stream if the translator remembers too much; of one that has ended, translate nothing more."""
        self._unweighed = self._most_remembered // _WEIGHINGS
        translator = self._translator
        parts = () if translator is None else (translator, translator.wrapped)
        if sum(map(remembered, parts)) > self._most_remembered:
            self._assembler.advance([_REMEMBERED])
        if self._assembler.failed:
            self._translate = nothing

    def _take_singly(self, framing: Framing, frames: list[Frame]) -> bool:
        """Translate frames one by one, with faults between them where they happened; return whether there were any."""
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
        if self._translator is None:
            n = self._take_until_known(each_framed(texts, like))
            texts, like = texts[n:], after(like, n)
        if self._translator is None:
            return []
        translate = self._opening.translating(self._translator)
        deltas = translate(texts, like)
        if self._understands(deltas):
            self._translate = translate
        else:
            self._opening.wonder(framed(texts, like))
        return deltas

    def _understands(self, deltas: list[Delta]) -> bool:
        """Return whether frames have said something so far, these included."""
        self._understood = self._understood or not all(isinstance(delta, _BESIDES) for delta in deltas)
        return self._understood

    def _last_word(self) -> list[Delta]:
        """Return what the end of the stream says: of a stream that nothing understood, what it was."""
        if self._translator is None:
            return self._opening.last_word()
        strange = [] if self._understood else self._opening.misnamed(self._assembler.dialect)
        return self._translator.close() + strange

    def _take_until_known(self, frames: Iterable[Frame]) -> int:
        """Keep frames until one identifies the dialect, which translates them; return how many were taken."""
        n = 0
        for n, frame in enumerate(frames, 1):  # noqa: B007 - their number is returned
            dialect = self._opening.take(frame)
            if dialect is not None:
                self._assembler.dialect = dialect.name
                self._translator = dialect.start()
                self._understood = True
                for waiting in self._opening.give():
                    self._frame(waiting)
                break
        return n

    def _frame(self, frame: Frame) -> None:
        if self._assembler.failed:
            return
        if self._translator is None:
            self._take_until_known([frame])
            return
        if frame.replaced and self._is_lost(fault_of(frame)):
            return
        deltas = ended_together(self._translator.translate(self._opening.opened(frame)))
        if not self._understands(deltas):
            self._opening.wonder([frame])
        advance = self._assembler.advance_replaced if frame.replaced else self._assembler.advance
        if self._life == "closing":  # what could not be read at the very end is a cut, and no hole
            deltas[-1:] = map(without_hole, deltas[-1:])
        advance(deltas)

    def _is_lost(self, fault: WireFault) -> bool:
        """Report a fault; return whether the frame that it was in is lost."""
        if fault.hole and self._translator is not None:
            self._translator.lose()
        self._assembler.advance([without_hole(fault) if self._life == "closing" else fault])
        return fault.hole
