"""What comes in at the parser's two doors: bytes, and payloads that somebody decoded already."""

from __future__ import annotations

import json
from typing import Union

import msgspec

__all__ = ["BytesLike", "checked", "json_text"]

BytesLike = Union[bytes, bytearray, memoryview]


def checked(data: BytesLike) -> bytes:
    """Return the bytes; text is refused, with advice."""
    if isinstance(data, str):
        raise TypeError("feed takes bytes; encode text with .encode()")
    return bytes(memoryview(data))


def json_text(value: object) -> str:
    """Return the JSON text of a payload: of dicts, lists and scalars, and of an SDK's objects inside."""
    return json.dumps(value, default=_dumped, ensure_ascii=False, separators=(",", ":"))


def _dumped(value: object) -> object:
    """Return builtins for an SDK's object (`json.dumps` asks for what it does not know)."""
    for method in ("model_dump", "to_dict"):
        if hasattr(value, method):
            return getattr(value, method)()
    return msgspec.to_builtins(value)
