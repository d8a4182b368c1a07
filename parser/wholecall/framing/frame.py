"""The unit that every framing yields and every dialect reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Union

import msgspec

from wholecall.discreet import discreet_repr

__all__ = ["Frame", "Frames", "Like", "framed"]

_OWN_SIZE = 200


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
        """About how many bytes it takes to keep the frame: empty ones are not free."""
        return len(self.data) + len(self.event) + _OWN_SIZE


class Frames(Protocol):
    """Frames in a row, which are made when they are asked for."""

    def __iter__(self) -> Iterator[Frame]: ...
    def __getitem__(self, at: int, /) -> Frame: ...


Like = Union[
    Frame, Frames
]  # what texts in a row are besides: all like one frame but for its text, or these frames


def framed(texts: list[str], like: Like) -> list[Frame]:
    """Return the frames that have these texts."""
    if isinstance(like, Frame):
        return [Frame(like.event, text, like.id, like.retry) for text in texts]
    return like if isinstance(like, list) else list(like)
