"""What comes in at the parser's first door: bytes."""

from __future__ import annotations

from typing import Union

__all__ = ["BytesLike", "checked"]

BytesLike = Union[bytes, bytearray, memoryview]


def checked(data: BytesLike) -> bytes:
    """Return the bytes; text is refused, with advice."""
    if isinstance(data, str):
        raise TypeError("feed takes bytes; encode text with .encode()")
    return bytes(memoryview(data))
