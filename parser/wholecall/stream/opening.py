"""The frames of a stream before a dialect has understood one, and the report if none ever does.

The latest frames are kept, up to `Limits.max_pending_frames_bytes`, and translated as soon as the dialect is known: a
ping, a comment or an empty chunk may come before the first decisive frame, and a frame that one dialect claims may be
another's. If the deciding frame has an envelope, the envelope is removed from it and from all frames that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import dropwhile
from typing import Any, NamedTuple

from wholecall.deltas import Delta, Noted, WireFault
from wholecall.dialects import claims, decode, envelope, replaced
from wholecall.dialects.table import Claims, Dialect, claimants, claimants_by_name, decides
from wholecall.dialects.translator import Translator
from wholecall.framing import Frame
from wholecall.framing.frame import Like, framed
from wholecall.limits import Limits
from wholecall.stream.trials import Trial, tried

Asked = Callable[[Mapping[str, Any], str], Claims]

_MOST_STRANGE = 4  # frames that are examined again at the end of a stream that was not understood
_UNNAMED = ("", "message")  # event names of frames without a name on the wire


class Claimed(NamedTuple):
    """The dialects that claim a frame, as it is or in its envelope."""

    by: Claims = Claims()
    enveloped: bool = False

    def trials(self, frames: list[Frame]) -> list[Trial]:
        """Return the trial of each dialect on frames, those of best right first."""
        return [
            tried(dialect, frames, enveloped=self.enveloped) for dialect in (*self.by.best, *self.by.others)
        ]


class Opening:
    """The frames that wait for a dialect.

    Attributes:
        enveloped: whether the frame that decided came in an envelope.
        lost: whether frames were lost while a dialect was on trial.
    """

    DERIVED = frozenset({"_limits"})

    _frames: list[Frame]
    _size: int
    _n_forgotten: int
    _strange: list[Frame]
    _looks: str
    _contested: bool
    enveloped: bool
    lost: bool

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._frames = []
        self._size = 0
        self._n_forgotten = 0  # frames that were too many to keep
        self._strange = []  # the first frames without content for the stream's dialect
        self._looks = ""  # the dialect of a frame that looks like another dialect than the stream's
        self._contested = False  # several dialects claimed a frame
        self.enveloped = self.lost = False

    def keep(self, frame: Frame) -> None:
        """Keep a frame until a dialect is known."""
        self._frames.append(frame)
        self._size += frame.size

    def claimed(self, frame: Frame) -> Claimed:
        """Return the dialects that claim a frame."""
        claimed = _claimed(frame)
        if claimed.by.others or len(claimed.by.best) > 1:
            self._contested = True
        return claimed

    @property
    def is_full(self) -> bool:
        """Return whether more waits than the limit allows."""
        limit = self._limits.max_pending_frames_bytes
        return limit is not None and self._size > limit

    def trim(self) -> list[Delta]:
        """Forget the oldest frames beyond the limit; report that, if they may have been those of a known dialect."""
        before = self._n_forgotten
        while self._frames and self.is_full:
            self._size -= self._frames.pop(0).size
            self._n_forgotten += 1
        if before == self._n_forgotten or not self._contested:
            return []
        self._contested = False
        detail = "frames that more than one dialect claims are too many to keep"
        return [WireFault("unknown_dialect", detail, hole=True)]

    @property
    def frames(self) -> list[Frame]:
        """The frames that wait."""
        return self._frames

    def give(self) -> list[Frame]:
        """Return the frames that waited, and keep none."""
        frames, self._frames = self._frames, []
        return frames

    def opened(self, frame: Frame) -> Frame:
        """Return the frame without the stream's envelope."""
        return envelope.opened(frame) if self.enveloped else frame

    def translating(self, translator: Translator) -> Callable[[list[str], Like], list[Delta]]:
        """Return a function that translates texts of frames in this stream's form."""
        if not self.enveloped:
            return translator.translate_texts
        return lambda texts, like: translator.translate_all(
            [envelope.opened(frame) for frame in framed(texts, like)]
        )

    def wonder(self, frames: list[Frame]) -> None:
        """Keep the first frames that should have content, but have none for the stream's dialect."""
        if len(self._strange) < _MOST_STRANGE:
            self._strange += filter(_says_something, frames)
            del self._strange[_MOST_STRANGE:]

    def trust(self) -> None:
        """Forget the frames without content: other frames are understood."""
        self._strange.clear()

    def doubt(self, looks: str) -> None:
        """Note that a frame looks like a frame of another dialect than the stream's."""
        self._looks = looks

    def misnamed(self, dialect: str) -> list[Delta]:
        """Report that the frames were of another dialect than this one, if they were."""
        looks = (name for frame in self._strange if (name := _another(frame, dialect)))
        like = self._looks or next(looks, "")
        if not like:
            return []
        detail = f"the stream was read as {dialect!r}, and looks like {like!r}"
        raw = self._strange[0].data[: self._limits.max_raw_bytes] if self._strange else ""
        return [WireFault("unknown_dialect", detail, raw=raw)]

    def unproven(self, dialect: Dialect) -> list[Delta]:
        """Report that at least half of the frames since it claimed one have no content for this dialect."""
        waiting = filter(_says_something, self._frames)
        frames = list(dropwhile(lambda frame: not is_claimed_by(dialect, frame), waiting))
        told = tried(dialect, frames, enveloped=self.enveloped).told
        unknown = sum(
            any(isinstance(delta, Noted) for delta in deltas) or not (deltas or is_claimed_by(dialect, frame))
            for frame, deltas in zip(frames, told, strict=True)
        )
        if not frames or 2 * unknown < len(frames):
            return []
        detail = f"the stream was read as {dialect.name!r}, to which no frame said anything"
        return [WireFault("unknown_dialect", detail, raw=frames[0].data[: self._limits.max_raw_bytes])]

    def last_resort(self) -> Trial | None:
        """Return the dialect that reads most in frames that several dialects claim, None if there is none."""
        frame = next((frame for frame in self._frames if _claimed(frame).by.best), None)
        trials = [] if frame is None else _claimed(frame).trials(self._frames)
        ranked = sorted(trials, key=lambda trial: -trial.read)
        if frame is None or len(ranked) < 2 or ranked[0].read == ranked[1].read:
            return None
        self.doubt(ranked[1].dialect.name)
        return ranked[0]

    def last_word(self) -> list[Delta]:
        """Report once the content of the frames: the stream has ended, and no frame identified its dialect."""
        frames = list(filter(_says_something, self._frames))
        deltas: list[Delta] = [replaced.REPLACED] if any(frame.replaced for frame in frames) else []
        errors = [error for frame in frames if (error := _error_of(frame))]
        strange = [frame for frame in frames if not _error_of(frame)]
        if strange and not any(_object(frame.data) for frame in strange):
            deltas += [] if errors else [decode.undecodable(strange[0].data, self._limits)]
        elif strange or self._n_forgotten:
            raw = strange[0].data[: self._limits.max_raw_bytes] if strange else ""
            deltas.append(WireFault("unknown_dialect", "no frame of a known dialect came", raw=raw))
        deltas += [decode.provider_error(error) for error in errors[:1]]
        return deltas


def _claimed(frame: Frame) -> Claimed:
    """Return the dialects that claim the content of the frame or of its envelope, or else the event's name."""
    if found := _asked(frame, claimants):
        return Claimed(found)
    if (inner := envelope.opened(frame)) != frame and (
        found := _asked(inner, claimants) or _asked(inner, claimants_by_name)
    ):
        return Claimed(found, enveloped=True)
    return Claimed(_asked(frame, claimants_by_name) or Claims())


def _asked(frame: Frame, asked: Asked) -> Claims | None:
    """Return the dialects that claim one of the frame's payloads."""
    for text in decode.payloads(frame.data):
        payload = _object(text)
        found = asked(payload, frame.event) if payload or frame.event not in _UNNAMED else Claims()
        if found.best:
            return found
    return None


def within(frame: Frame) -> str:
    """Return the name of the dialect whose frame seems to be inside an envelope, an empty name if there is none."""
    inner = envelope.opened(frame) if '"data"' in frame.data else frame
    found = None if inner == frame else _asked(inner, claimants)
    return "" if found is None else found.best[0].name


def is_claimed_by(dialect: Dialect, frame: Frame) -> bool:
    """Return whether a dialect claims a frame, among others or alone; a frame in an envelope is not claimed."""
    return (
        _asked(frame, lambda payload, event: Claims((dialect,) if decides(dialect, payload, event) else ()))
        is not None
    )


def _another(frame: Frame, dialect: str) -> str | None:
    """Return the name of another dialect whose frame this is, None where it may be this one's."""
    claimed = _claimed(frame)
    if any(found.name == dialect for found in (*claimed.by.best, *claimed.by.others)):
        return None
    for trial in claimed.trials([frame])[: len(claimed.by.best)]:
        name = trial.dialect.name
        if trial.reads_text or not claims.are_akin(name, dialect):  # these may have no useful content
            return name
    return None


def _says_something(frame: Frame) -> bool:
    return not decode.is_noise(frame) and not decode.is_done(frame.data)


def _error_of(frame: Frame) -> Any:
    payload = _object(frame.data)
    return payload.get("error") or ((payload or frame.data) if frame.event == "error" else None)


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in the text, an empty object if there is none."""
    value = decode.plain(text)
    return value if isinstance(value, dict) else {}
