"""The bytes of an answer without its content coding, in pieces of bounded size.

Theory of operation. The HTTP libraries decode each read at once, and a read of 64 KiB can hold gigabytes. Therefore the
raw reads are decoded here, one step per request. Without such a decoder (an unknown coding, Brotli before 1.2) the
library's own decoder is used. As there, an answer whose coding ends early is not an error: its content is judged, and
that shows whether it is whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from wholecall.framing.codings import Decoder, UndecodableError, decoder_for

__all__ = ["apieces", "pieces"]


def pieces(http: Any, response: Any) -> Iterator[bytes]:
    """Return the pieces of a response, decoded on request; undecodable input raises the library's `DecodingError`."""
    decoder = _decoder(response)
    found: Iterator[bytes] = response.iter_bytes() if decoder is None else _decoded(http, response, decoder)
    return found


def apieces(http: Any, response: Any) -> AsyncIterator[bytes]:
    """Return the same of an asynchronous response."""
    decoder = _decoder(response)
    found: AsyncIterator[bytes] = (
        response.aiter_bytes() if decoder is None else _adecoded(http, response, decoder)
    )
    return found


def _decoder(response: Any) -> Decoder | None:
    """Return the decoder of a response; None where the library decodes it, or has done so already."""
    return None if response.is_stream_consumed else decoder_for(response.headers.get("content-encoding", ""))


def _decoded(http: Any, response: Any, decoder: Decoder) -> Iterator[bytes]:
    try:
        for data in response.iter_raw():
            yield from decoder.feed(data)
    except UndecodableError as error:
        raise _damage(http, response, error) from None


async def _adecoded(http: Any, response: Any, decoder: Decoder) -> AsyncIterator[bytes]:
    try:
        async for data in response.aiter_raw():
            for piece in decoder.feed(data):
                yield piece
    except UndecodableError as error:
        raise _damage(http, response, error) from None


def _damage(http: Any, response: Any, error: UndecodableError) -> Exception:
    damage: Exception = http.DecodingError(str(error), request=response.request)
    return damage
