"""Content codings: gzip, deflate, and br and zstd where their libraries are installed.

Theory of operation. A body may be cut anywhere, and may consist of several members (gzip, deflate) or frames (zstd),
such as one per event: where one ends, the next begins with a new decompressor. Input is taken in slices, so that the
rest of a slice is never long, and each step of a decompressor gives at most `MOST` bytes, however small its input: a
body that decodes to gigabytes is read step by step, and a caller that counts can stop. A body that ends in the middle
of a member is an error. Several codings are decoders in a row, each of which takes the output of the decoder before it,
a piece at a time.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final, Protocol

from wholecall.framing.zstd_blocks import Blocks

_private = True

MOST: Final = 256 * 1024
_SLICE: Final = 4 * 1024
_BROTLI_LIMIT: Final = 64 * 1024  # its buffer grows by steps, and beyond the limit by one of them
_MOST_WINDOW: Final = 8 * 1024 * 1024  # the most that RFC 9659 lets a server require of a client
LARGEST_WINDOW: Final = 128 * 1024 * 1024  # the default limit of zstd itself
_MOST_CODINGS: Final = 4  # applied to one body; no server needs two

_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's window bits


class UndecodableError(ValueError):
    """A body that does not match its coding, or is incomplete."""

    def __init__(self) -> None:
        super().__init__("the body is not what its content coding says, or ends in its middle")


class Decoder(Protocol):
    """Decodes one body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded next bytes, in pieces of at most `MOST` bytes, none of them empty.

        Raises:
            UndecodableError: they do not decode; the output before is right.
        """
        ...

    def close(self) -> None:
        """Note that the body has ended.

        Raises:
            UndecodableError: it ended in the middle.
        """


def decoder_for(coding: str, *, window: int = _MOST_WINDOW) -> Decoder | None:
    """Return the decoder of a body; None for an unknown coding, or one whose library is not installed.

    Args:
        coding: the value of `content-encoding`; of several the last one is removed first.
        window: how many bytes Zstandard may look back.
    """
    names = [name for one in coding.split(",") if (name := one.strip().lower()) not in {"", "identity"}]
    if len(names) > _MOST_CODINGS:
        return None
    decoders = [_DECODERS[name](window) for name in reversed(names) if name in _DECODERS]
    found = [decoder for decoder in decoders if decoder is not None]
    if not names or len(found) < len(names):
        return None
    return found[0] if len(found) == 1 else _Row(found)


def is_coding(name: str) -> bool:
    """Return whether a word of `content-encoding` is a coding that changes bytes; `identity` and `utf-8` are not."""
    return name.strip().lower() in _DECODERS


def _slices(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _SLICE] for start in range(0, len(data), _SLICE))


class _Row:
    """Decodes a body with several codings."""

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    def feed(self, data: bytes) -> Iterator[bytes]:
        return _through(self._decoders, data)

    def close(self) -> None:
        for decoder in self._decoders:
            decoder.close()


def _through(decoders: list[Decoder], data: bytes) -> Iterator[bytes]:
    first, *others = decoders
    for piece in first.feed(data):
        if others:
            yield from _through(others, piece)
        else:
            yield piece


class _Deflate:
    """Decodes members of gzip, or of deflate, which servers send with or without zlib's header."""

    def __init__(self, bits: int | None) -> None:
        self._bits = bits  # None until the first two bytes have shown it
        self._inner: Any = None  # None between members
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data):
            yield from self._decoded(self._with_head(part))

    def close(self) -> None:
        if self._inner is not None or self._head:
            raise UndecodableError

    def _with_head(self, data: bytes) -> bytes:
        """Return the decodable bytes of the input, once the format is known."""
        if self._bits is not None:
            return data
        data = self._head + data
        if len(data) < 2:
            self._head = data
            return b""
        is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        self._bits, self._head = _ZLIB if is_zlib else _RAW, b""
        return data

    def _decoded(self, data: bytes) -> Iterator[bytes]:
        out = b""
        while data or len(out) == MOST:
            if self._inner is None:
                data = data.lstrip(b"\0") if self._bits == _GZIP else data  # padding after a member
                if not data:
                    return
                assert self._bits is not None
                self._inner = zlib.decompressobj(self._bits)
            try:
                out = self._inner.decompress(data, MOST)
            except zlib.error:
                raise UndecodableError from None
            data = self._inner.unconsumed_tail
            if self._inner.eof:
                data, self._inner = self._inner.unused_data, None
            if out:
                yield out


class _Brotli:
    """Decodes a stream of brotli, which has one member.

    Raises:
        TypeError: the library cannot bound the output of a step; since 1.2 it can.
    """

    def __init__(self, library: Any) -> None:
        self._inner = library.Decompressor()
        self._error: type[Exception] = library.error
        self._is_empty = True
        self._step(b"")

    def feed(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data):
            self._is_empty = False
            out = self._step(part)
            while out:
                yield out
                out = b"" if self._inner.is_finished() else self._step(b"")

    def close(self) -> None:
        if not self._is_empty and not self._inner.is_finished():
            raise UndecodableError

    def _step(self, data: bytes) -> bytes:
        try:
            out: bytes = self._inner.process(data, output_buffer_limit=_BROTLI_LIMIT)
        except self._error:
            raise UndecodableError from None
        return out


class _Zstandard:
    """Decodes frames of Zstandard, a block at a time, because some libraries know no other bound on their output."""

    def __init__(self, make: Callable[[], Any], error: type[Exception]) -> None:
        self._make = make
        self._error = error
        self._blocks = Blocks()
        self._inner: Any = None  # None between frames

    def feed(self, data: bytes) -> Iterator[bytes]:
        for part in _slices(data):
            for piece in self._blocks.cut(part):
                out = self._step(piece)
                if out:
                    yield out

    def close(self) -> None:
        if self._inner is not None:
            raise UndecodableError

    def _step(self, data: bytes) -> bytes:
        if self._inner is None:
            self._inner = self._make()
        try:
            out: bytes = self._inner.decompress(data)
        except self._error:
            raise UndecodableError from None
        if self._inner.eof:
            self._inner = None
        return out


def _brotli() -> Decoder | None:
    library = _library("brotli")
    try:
        return None if library is None else _Brotli(library)
    except TypeError:
        return None


def _zstandard(window: int) -> Decoder | None:
    """Use Python's own module from 3.14 on, else the library."""
    own = _library("compression.zstd")
    if own is not None:
        options = {own.DecompressionParameter.window_log_max: window.bit_length() - 1}
        return _Zstandard(lambda: own.ZstdDecompressor(options=options), own.ZstdError)
    library = _library("zstandard")
    if library is None:
        return None
    return _Zstandard(library.ZstdDecompressor(max_window_size=window).decompressobj, library.ZstdError)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


_DECODERS: Final[dict[str, Callable[[int], Decoder | None]]] = {
    "gzip": lambda _: _Deflate(_GZIP),
    "x-gzip": lambda _: _Deflate(_GZIP),
    "deflate": lambda _: _Deflate(None),
    "br": lambda _: _brotli(),
    "zstd": _zstandard,
}
