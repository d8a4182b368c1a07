"""Which dialect a stream has, by its first bytes."""

from __future__ import annotations

from wholecall.framing.base import BytesLike
from wholecall.stream.parser import ToolCallParser

__all__ = ["detect"]


def detect(data: BytesLike) -> str | None:
    """Return the name of the dialect of a stream that begins with these bytes, or of a whole response.

    None if no frame among them is decisive: more bytes may decide, or no dialect knows the stream.

    Raises:
        TypeError: `data` is not bytes; encode text with `.encode()`.
    """
    parser = ToolCallParser()
    parser.feed(data)
    parser.close()
    return parser.dialect
