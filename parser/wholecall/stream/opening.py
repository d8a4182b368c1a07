"""The frames of a stream before one identifies its dialect, and what to report if none ever does.

They are kept up to `Limits.max_pending_frames_bytes`, the latest ones, and translated as soon as the dialect is
known: a ping, a comment or an empty chunk may come before the first decisive frame. Where the frame
that decides has an envelope, the envelope is removed from it and from all frames that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Union

from wholecall.deltas import Delta, WireFault
from wholecall.dialects.decode import is_done, is_noise, payloads, plain, provider_error, undecodable
from wholecall.dialects.envelope import opened
from wholecall.dialects.replaced import REPLACED
from wholecall.dialects.table import Dialect, Translator, detect_dialect, detect_named
from wholecall.framing import Frame
from wholecall.framing.frame import Like, framed
from wholecall.limits import Limits

__all__ = ["Opening"]

Detect = Callable[[Mapping[str, Any], str], Union[Dialect, None]]

_UNNAMED = ("", "message")  # names that frames have which the wire gives none


class Opening:
    """The frames that wait for a dialect.

    Attributes:
        enveloped: whether the frame that decided came in an envelope.
    """

    DERIVED = frozenset({"_limits"})

    _frames: list[Frame]
    _size: int
    _n_forgotten: int
    _strange: Frame | None
    enveloped: bool

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._frames = []
        self._size = 0
        self._n_forgotten = 0  # frames that were too many to keep
        self._strange = None  # the first frame that said nothing to the dialect that the caller named
        self.enveloped = False

    def take(self, frame: Frame) -> Dialect | None:
        """Keep a frame; return the dialect if it is decisive."""
        self._frames.append(frame)
        self._size += frame.size
        dialect = self._decided(frame)
        if dialect is not None:
            return dialect
        limit = self._limits.max_pending_frames_bytes
        while limit is not None and self._frames and self._size > limit:
            self._size -= self._frames.pop(0).size
            self._n_forgotten += 1
        return None

    def _decided(self, frame: Frame) -> Dialect | None:
        """Return the dialect by the content of the frame or of its envelope, and last by the event's name."""
        found = _decided(frame, detect_dialect)
        if found is None and (inner := opened(frame)) != frame:
            found = _decided(inner, detect_dialect) or _decided(inner, detect_named)
            self.enveloped = found is not None
        return found or _decided(frame, detect_named)

    def give(self) -> list[Frame]:
        """Return the frames that waited, and keep none."""
        frames, self._frames = self._frames, []
        return frames

    def opened(self, frame: Frame) -> Frame:
        """Return the frame without the envelope in which this stream's come."""
        return opened(frame) if self.enveloped else frame

    def translating(self, translator: Translator) -> Callable[[list[str], Like], list[Delta]]:
        """Return what translates texts of frames as this stream brings them."""
        if not self.enveloped:
            return translator.translate_texts
        return lambda texts, like: translator.translate_all([opened(frame) for frame in framed(texts, like)])

    def wonder(self, frames: list[Frame]) -> None:
        """Keep the first frame that ought to say something, and says nothing to the dialect that was named."""
        if self._strange is None:
            self._strange = next(filter(_says_something, frames), None)

    def misnamed(self, dialect: str) -> list[Delta]:
        """Report that the frames were of another dialect than the one that the caller named, if they were."""
        strange = self._strange
        found = None if strange is None else self._decided(strange)
        if strange is None or found is None or found.name == dialect:
            return []
        detail = f"the dialect {dialect!r} was named, and the stream looks like {found.name!r}"
        return [WireFault("unknown_dialect", detail, raw=strange.data[: self._limits.max_raw_bytes])]

    def last_word(self) -> list[Delta]:
        """Report once what the frames were: the stream has ended, and none identified its dialect."""
        frames = list(filter(_says_something, self._frames))
        deltas: list[Delta] = [REPLACED] if any(frame.replaced for frame in frames) else []
        errors = [error for frame in frames if (error := _error_of(frame))]
        strange = [frame for frame in frames if not _error_of(frame)]
        if strange and not any(_object(frame.data) for frame in strange):
            deltas += [] if errors else [undecodable(strange[0].data, self._limits)]
        elif strange or self._n_forgotten:
            raw = strange[0].data[: self._limits.max_raw_bytes] if strange else ""
            deltas.append(WireFault("unknown_dialect", "no frame of a known dialect came", raw=raw))
        deltas += [provider_error(error) for error in errors[:1]]
        return deltas


def _decided(frame: Frame, detect: Detect) -> Dialect | None:
    """Return the dialect for which one of the frame's payloads is decisive."""
    for text in payloads(frame.data):
        payload = _object(text)
        dialect = detect(payload, frame.event) if payload or frame.event not in _UNNAMED else None
        if dialect is not None:
            return dialect
    return None


def _says_something(frame: Frame) -> bool:
    return not is_noise(frame) and not is_done(frame.data)


def _error_of(frame: Frame) -> Any:
    payload = _object(frame.data)
    return payload.get("error") or ((payload or frame.data) if frame.event == "error" else None)


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in the text, an empty one if there is none."""
    value = plain(text)
    return value if isinstance(value, dict) else {}
