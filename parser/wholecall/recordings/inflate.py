"""Compressed bytes, piece by piece: gzip, zlib and Zstandard.

Theory of operation. A decompressor knows whether its frame is over and what follows it; frames may follow
each other, as in files that were appended to. The input is cut into small pieces, so that the output of one step is
bounded whatever the ratio.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

__all__ = ["DAMAGE", "coding_of", "inflated"]

DAMAGE = (ValueError, ImportError)  # what `inflated` raises
_STEP = 4096  # bytes that go in at once
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZLIB_METHOD, _ZLIB_CHECK = 8, 31


class _Coding(NamedTuple):
    start: Callable[[], Any]
    error: type[Exception]


def inflated(pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """Yield what compressed bytes hold.

    Args:
        pieces: the compressed bytes, cut anywhere.
        coding: `"gzip"`, `"deflate"` or `"zstd"`.

    Raises:
        ValueError: they are damaged or cut; the message says which.
        ImportError: for Zstandard, where neither Python (before 3.14) nor the extra `cli` brings it.
    """
    start, error = _CODINGS[coding]()
    reader: Any = None
    for step in _steps(pieces):
        rest = step
        while rest:
            if reader is None:
                rest = rest.lstrip(b"\0") if coding == "gzip" else rest  # padding after a gzip member
                reader = start() if rest else None
                continue
            out, rest, reader = _inflate(reader, rest, error, coding)
            if out:
                yield out
    if reader is not None:
        raise ValueError(f"its {coding} data is cut")


def _steps(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _STEP):
            yield piece[start : start + _STEP]


def _inflate(reader: Any, data: bytes, error: type[Exception], coding: str) -> tuple[bytes, bytes, Any]:
    """Return what came out, what is left to read, and the reader unless its frame is over."""
    try:
        out: bytes = reader.decompress(data)
    except error:
        raise ValueError(f"its {coding} data is damaged") from None
    return (out, reader.unused_data, None) if reader.eof else (out, b"", reader)


def _zlib(bits: int) -> _Coding:
    return _Coding(lambda: zlib.decompressobj(bits), zlib.error)


def _zstd() -> _Coding:
    try:
        zstd = import_module("compression.zstd")  # from Python 3.14 on
    except ImportError:
        return _zstandard()
    return _Coding(zstd.ZstdDecompressor, zstd.ZstdError)


def _zstandard() -> _Coding:
    try:
        import zstandard  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(
            "Zstandard needs Python 3.14 or the extra `cli`: pip install 'wholecall[cli]'"
        ) from None
    return _Coding(lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


_CODINGS: dict[str, Callable[[], _Coding]] = {
    "gzip": lambda: _zlib(31),
    "deflate": lambda: _zlib(15),
    "zstd": _zstd,
}


def coding_of(head: bytes, named: str | None = None) -> str | None:
    """Return how bytes that begin so are compressed, None if they are not.

    Args:
        head: four bytes at least, if there are so many.
        named: the response's content encoding. A name alone is not believed: tools keep the header of bytes
            that they have decompressed. `"deflate"` has no marker of its own and counts only if named.
    """
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_ZSTD):
        return "zstd"
    is_zlib = len(head) > 1 and head[0] & 15 == _ZLIB_METHOD and (head[0] << 8 | head[1]) % _ZLIB_CHECK == 0
    return "deflate" if named == "deflate" and is_zlib else None
