"""One response of a file that holds many: the test for a model's answer, and its bytes.

Theory of operation. A content type of streams decides at once. For JSON and for types that mean nothing (`text/plain`)
the body decides: a dialect recognises its beginning, or it is an error. Everything else is skipped, with a reason.
Tools store bodies as text, as base64 and as the received compressed bytes; a named coding is believed only where the
bytes agree with it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Union

import msgspec

from wholecall.discreet import compact
from wholecall.recordings.model import Chunk, Recording, Request, broken, provider_of
from wholecall.recordings.source import DAMAGE, coding_of, inflated
from wholecall.stream.shells.detection import detect

SKIP_REASONS = (
    *("no_response", "no_body", "other_type", "no_dialect", "no_cassette"),
    *("transcript", "flows"),
)

_STREAMS = frozenset(
    {
        "text/event-stream",
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
        "application/stream+json",
        "application/vnd.amazon.eventstream",
    }
)
_UNSAID = frozenset({"", "text/plain", "application/octet-stream", "x-unknown", "binary/octet-stream"})
_DECISIVE = 16 * 1024 * 1024  # enough bytes to recognise a model's response; whole ones are rarely larger
_FIRST_ERROR = 400


class Response(msgspec.Struct, kw_only=True):
    """The content of a file about one response, in any form.

    Attributes:
        body: its bytes; text as it was stored; timed pieces; None without a body.
        encoding: `"base64"` if the body is base64.
        content_type: the value of the header.
        coding: the content encoding of the header.
        status: the HTTP status.
        request: the request, if known.
        provider: the provider that answered, if the file states it.
        dialect: the wire format, if the file states it.
        meta: other data worth keeping.
        is_answer: whether the file states that it is the answer of a model's server.
    """

    body: Union[bytes, str, list[Chunk], None] = None
    encoding: str | None = None
    content_type: str | None = None
    coding: str | None = None
    status: int | None = None
    request: Request | None = None
    provider: str | None = None
    dialect: str | None = None
    meta: dict[str, Any] = {}
    is_answer: bool = False

    def __repr__(self) -> str:
        return f"Response(status={self.status!r})"


def recording_of(name: str, form: str, response: Response, max_bytes: int | None = None) -> Recording | str:
    """Return the recording of a response, or the reason (of `SKIP_REASONS`) to skip it.

    Args:
        name: the name of the recording.
        form: the form of the file.
        response: the response's content in the file.
        max_bytes: the largest content of a compressed body, as for `inflated`.
    """
    body = response.body
    if not body:
        return "no_body"
    known = _known(form, response)
    if isinstance(body, list):
        return Recording(name=name, chunks=iter(body), **known)
    kind = (response.content_type or "").partition(";")[0].strip().lower()
    if not _may_be_one(kind):
        return "other_type"
    try:
        pieces = _pieces(body, response, max_bytes)
        head, pieces = (b"", pieces) if kind in _STREAMS else _peeked(pieces)
    except DAMAGE as error:
        return broken(name, str(error), **known)
    if kind not in _STREAMS and not response.is_answer and not _is_answer(head, response.status):
        return "no_dialect"
    return Recording(name=name, chunks=_timeless(name, pieces), **known)


def _known(form: str, response: Response) -> dict[str, Any]:
    url = response.request.url if response.request else None
    return {
        "form": form,
        "dialect": response.dialect,
        "provider": response.provider or provider_of(url),
        "request": response.request,
        "status": response.status,
        "content_type": response.content_type,
        "meta": response.meta,
    }


def _may_be_one(kind: str) -> bool:
    return kind in _STREAMS or kind in _UNSAID or kind.endswith(("/json", "+json"))


def _is_answer(head: bytes, status: int | None) -> bool:
    if status is not None and status >= _FIRST_ERROR and b'"error"' in head:
        return True
    return detect(head) is not None


def _pieces(body: bytes | str, response: Response, max_bytes: int | None) -> Iterator[bytes]:
    """Return the bytes in the server's encoding.

    Raises:
        ValueError: the base64 is damaged.
    """
    data = text_to_bytes(body) if isinstance(body, str) else body
    if response.encoding == "base64":
        try:
            data = base64.b64decode(b"".join(data.split()), validate=True)
        except binascii.Error:
            raise ValueError("the base64 of its body is damaged") from None
    named = (response.coding or "").strip().lower()
    coding = coding_of(data, named)
    if coding is None and named == "br" and not _is_text(data[:64]):
        raise ValueError("its body is compressed with Brotli; record it decompressed")
    return iter([data]) if coding is None else inflated([data], coding, max_bytes)


def _is_text(data: bytes) -> bool:
    """Return whether bytes can be the beginning of UTF-8 text without control characters."""
    text = data.decode("utf-8", "replace").rstrip("\ufffd")
    return all(char.isprintable() or char in "\r\n\t\ufeff" for char in text)


def _peeked(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes, and all of them."""
    first: list[bytes] = []
    size = 0
    for piece in pieces:
        first.append(piece)
        size += len(piece)
        if size >= _DECISIVE:
            break
    return b"".join(first)[:_DECISIVE], chain(first, pieces)


def _timeless(name: str, pieces: Iterable[bytes]) -> Iterator[Chunk]:
    try:
        for piece in pieces:
            yield None, piece
    except DAMAGE as error:
        yield from broken(name, str(error)).chunks


def text_to_bytes(text: str) -> bytes:
    """Return the bytes of a text; half a surrogate pair becomes invalid UTF-8, as it is not text."""
    return text.encode("utf-8", "surrogatepass")


def value_to_bytes(value: Any) -> bytes:
    """Return the JSON that a server could have sent for a decoded value.

    Raises:
        ValueError: JSON has no such value, or it nests too deep.
    """
    try:
        text = compact(value)
    except (TypeError, RecursionError) as error:
        raise ValueError("it holds what JSON cannot say") from error
    return text_to_bytes(text)
