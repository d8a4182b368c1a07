"""Decompress gzip, zlib and Zstandard piece by piece, with a bound on the output.

Theory of operation. `framing.codings` decodes in steps of bounded size; here the output is counted. A few kilobytes can
decode to gigabytes. Therefore the output is limited to 64 MiB, or 200 times the input read so far, whichever is more:
recordings compress to a tenth or a fiftieth. Callers that trust a file pass a limit, and then only that counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from wholecall.framing.codings import LARGEST_WINDOW, Decoder, UndecodableError, decoder_for

__all__ = ["DAMAGE", "coding_of", "inflated"]

DAMAGE = (ValueError, ImportError)  # the exceptions of `inflated`
_ANYWAY: Final = 64 * 1024 * 1024
_TIMES: Final = 200
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZLIB_METHOD, _ZLIB_CHECK = 8, 31


def inflated(pieces: Iterable[bytes], coding: str, max_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the content of compressed bytes.

    Args:
        pieces: the compressed bytes, cut anywhere.
        coding: `"gzip"`, `"deflate"` or `"zstd"`.
        max_bytes: the largest output; by default 64 MiB, or 200 times their size.

    Raises:
        ValueError: they are damaged or cut, or hold more than the limit; the message says which.
        ImportError: for Zstandard, where neither Python (before 3.14) nor the extra `cli` brings it.
    """
    decoder = decoder_for(coding, window=LARGEST_WINDOW)
    if decoder is None:
        raise ImportError("Zstandard needs Python 3.14 or the extra `cli`: pip install 'wholecall[cli]'")
    size = came = 0
    for data in pieces:
        came += len(data)
        most = max(_ANYWAY, _TIMES * came) if max_bytes is None else max_bytes
        for piece in _decoded(decoder, data, coding):
            size += len(piece)
            if size > most:
                raise ValueError(_too_large(coding, most, is_usual=max_bytes is None))
            yield piece
    try:
        decoder.close()
    except UndecodableError:
        raise ValueError(f"its {coding} data is cut") from None


def _decoded(decoder: Decoder, data: bytes, coding: str) -> Iterator[bytes]:
    try:
        yield from decoder.feed(data)
    except UndecodableError:
        raise ValueError(f"its {coding} data is damaged") from None


def _too_large(coding: str, most: int, *, is_usual: bool) -> str:
    why = f", {_TIMES} times its size" if is_usual and most > _ANYWAY else ""
    return (
        f"its {coding} data holds more than {most:,} bytes{why}; max_bytes (--max-bytes N) lets it hold more"
    )


def coding_of(head: bytes, named: str | None = None) -> str | None:
    """Return the compression of bytes from their beginning, None if they are not compressed.

    Args:
        head: four bytes at least, if there are so many.
        named: the response's content encoding. A name alone is not believed: tools keep the header of bytes that they
            have decompressed. `"deflate"` has no marker and counts only if named.
    """
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_ZSTD):
        return "zstd"
    is_zlib = len(head) > 1 and head[0] & 15 == _ZLIB_METHOD and (head[0] << 8 | head[1]) % _ZLIB_CHECK == 0
    return "deflate" if named == "deflate" and is_zlib else None
