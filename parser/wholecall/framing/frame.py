"""The unit that every framing yields and every dialect reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Protocol, Union

import msgspec

from wholecall.discreet import discreet_repr

OWN_SIZE = 200  # bytes that a frame takes in addition to its text and its name


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One event of a stream.

    Attributes:
        event: the event name: `"message"` where an SSE stream gives none, `""` where the framing has none.
        data: the text of the event, UTF-8 decoded.
        id: the last event id of the stream (SSE), else `""`.
        retry: the reconnection time in milliseconds that this event set (SSE), else None.
        replaced: whether invalid UTF-8 in `data` was replaced by U+FFFD.
    """

    event: str
    data: str
    id: str = ""
    retry: int | None = None
    replaced: bool = False

    __repr__ = discreet_repr

    @property
    def size(self) -> int:
        """The approximate memory of the frame in bytes: empty frames are not free."""
        return len(self.data) + len(self.event) + OWN_SIZE


class Frames(Protocol):
    """Frames in a row, made on request."""

    def __iter__(self) -> Iterator[Frame]: ...
    def __getitem__(self, at: int, /) -> Frame: ...


Like = Union[
    Frame, Frames
]  # other properties of texts in a row: all like one frame except for its text, or these frames


def framed(texts: list[str], like: Like) -> list[Frame]:
    """Return the frames that have these texts."""
    return like if isinstance(like, list) else list(each_framed(texts, like))


def each_framed(texts: list[str], like: Like) -> Iterator[Frame]:
    """Yield the frames that have these texts."""
    if isinstance(like, Frame):
        return (Frame(like.event, text, like.id, like.retry) for text in texts)
    return iter(like)


def after(like: Like, n: int) -> Like:
    """Return the other properties of the texts after the first `n`."""
    return like if isinstance(like, Frame) else _Later(like, n)


class _Later:
    """Frames without the first ones."""

    __slots__ = ("_frames", "_n")

    def __init__(self, frames: Frames, n: int) -> None:
        self._frames, self._n = frames, n

    def __iter__(self) -> Iterator[Frame]:
        return islice(self._frames, self._n, None)

    def __getitem__(self, at: int, /) -> Frame:
        return self._frames[self._n + at]
