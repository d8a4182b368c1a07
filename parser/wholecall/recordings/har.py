"""HTTP archives (HAR 1.2), entry by entry.

Theory of operation. An archive may be far larger than memory: entries are read one at a time (`large_json`).
`response.content.text` is the decoded body, as text or base64. Chrome keeps no body of an event stream that a page is
still reading; its messages are in `_eventSourceMessages` (`eventName`, `eventId`, `data`, `time`), and those of a
WebSocket in `_webSocketMessages` (`type`, `opcode`, `data`, `time`; opcode 2 is binary, base64). The event stream's
messages are written again as server-sent events, the received WebSocket messages as JSON lines, one a message; binary
ones without JSON text are sound, and left out. Their times are seconds.

Event streams are UTF-8 whatever their content type says (WHATWG HTML 9.2.4), but tools that export text follow the
type: without a charset mitmproxy reads `text/event-stream` as Latin-1 and Chromium as Windows-1252. Both keep every
byte as a character, so the reversal is exact. It is applied if it gives valid UTF-8. Text that was read correctly does
not do that by chance: it would have to contain such a misreading itself.

Source: the HAR 1.2 specification (W3C Web Performance group), and the exports of Chrome, Firefox and mitmproxy.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from wholecall.recordings.bodies import Response, recording_of, text_to_bytes
from wholecall.recordings.large_json import LargeJSON
from wholecall.recordings.model import Chunk, Recording, Request, broken
from wholecall.recordings.source import Source

_FORM = "har"
_BINARY = 2
_SPACES = bytes.maketrans(b"\r\n", b"  ")
_EVENT_STREAM = "vnd.amazon.eventstream"
_REPLACED, _NO_TEXT = "\ufffd".encode(), b"\xff"
# The characters that Windows-1252 has where Latin-1 has controls; for its gaps, its readers keep the control.
_LATIN_1 = {
    ord(char): byte
    for byte in range(0x80, 0xA0)
    if (char := bytes([byte]).decode("cp1252", "replace")) != "\ufffd"
}
# A character that is in neither encoding; most text that was read as UTF-8 has one soon.
_ANOTHER = re.compile(f"[^\0-\xff{''.join(map(chr, _LATIN_1))}]")


def read_archive(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield the recordings of an archive; `#n` counts its entries.

    Raises:
        BadRecording: it is not JSON from the place that the message names, or has no entries.
    """
    archive = LargeJSON(source, ("log", "entries"))
    entries = (_entry(entry, archive) for entry in archive.items())
    yield from _recordings(source, _FORM, entries, skipped)


def _recordings(
    source: Source, form: str, found: Iterator[Response | str], skipped: Counter[str]
) -> Iterator[Recording]:
    for number, response in enumerate(found, 1):
        name = f"{source.path}#{number}"
        if isinstance(response, str):
            yield broken(name, response, form=form)
            continue
        recording = recording_of(name, form, response, source.place.max_bytes)
        if isinstance(recording, str):
            skipped[recording] += 1
        else:
            yield recording


def _entry(entry: Any, archive: LargeJSON) -> Response | str:
    """Return the response of an entry, or its defect."""
    if not isinstance(entry, dict):
        return "it is not an entry, an object was expected"
    request, answer = _dict(entry.get("request")), _dict(entry.get("response"))
    content = _dict(answer.get("content"))
    text = content.get("text")
    status = answer.get("status")
    started = _text(entry.get("startedDateTime"))
    response = Response(
        body=_bytes(text, _text(content.get("mimeType")) or "", archive) if isinstance(text, str) else None,
        encoding=_text(content.get("encoding")),
        content_type=_text(content.get("mimeType")),
        status=status if isinstance(status, int) else None,
        request=Request(_text(request.get("method")), _text(request.get("url"))),
        meta={"started": started} if started else {},
    )
    try:
        response.body = response.body or _messages(entry)
    except ValueError as error:
        return str(error)
    return response


def _bytes(text: str, content_type: str, archive: LargeJSON) -> bytes:
    """Return the bytes of a body's text.

    In a file with half surrogate pairs, their replacement characters become bytes that are not text again: the server
    sent something else than this character.
    """
    data = bytes_of(text, content_type, is_binary=_EVENT_STREAM in content_type)
    return data.replace(_REPLACED, _NO_TEXT) if archive.torn else data


def _messages(entry: dict[str, Any]) -> list[Chunk]:
    """Return the messages of a stream that Chrome stores outside the body.

    Raises:
        ValueError: the base64 of a message is damaged.
    """
    for member, written in _MESSAGES.items():
        messages = [one for one in _list(entry.get(member)) if isinstance(one, dict)]
        chunks = [(one.get("time"), piece) for one in messages if (piece := written(one))]
        if chunks:
            began = chunks[0][0]
            return [(_since(at, began), piece) for at, piece in chunks]
    return []


def _sse(message: dict[str, Any]) -> bytes:
    data = _text(message.get("data"))
    if data is None:
        return b""
    fields = [("event", _text(message.get("eventName"))), ("id", _text(message.get("eventId")))]
    lines = [f"{name}: {value}" for name, value in fields if value and value != "message"]
    lines += [f"data: {line}" for line in data.split("\n")]
    return text_to_bytes("\n".join(lines) + "\n\n")


def _line(message: dict[str, Any]) -> bytes:
    data = _text(message.get("data"))
    if data is None or message.get("type") != "receive":
        return b""
    if message.get("opcode") != _BINARY:
        return _in_one_line(text_to_bytes(data))
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the base64 of a message is damaged") from None
    return _in_one_line(decoded) if decoded.lstrip().startswith((b"{", b"[")) else b""


def _in_one_line(message: bytes) -> bytes:
    """Return a message as one line, which is never joined with the next: in JSON, line ends are spaces."""
    return message.translate(_SPACES) + b"\n"


_MESSAGES: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "_eventSourceMessages": _sse,
    "_webSocketMessages": _line,
}


def _since(at: Any, began: Any) -> float | None:
    if not isinstance(at, (int, float)) or not isinstance(began, (int, float)):
        return None
    return max(0.0, at - began)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


# Text that was read in another encoding.


def bytes_of(text: str, content_type: str, *, is_binary: bool) -> bytes:
    """Return a server's bytes from the text that a tool made of them.

    Args:
        text: the body.
        content_type: the content type that the tool states.
        is_binary: whether the type is of bytes other than text.
    """
    kind = content_type.lower()
    if text.isascii() or "charset" in kind or "json" in kind or _ANOTHER.search(text):
        return text.encode("utf-8", "surrogatepass")
    try:
        data = text.translate(_LATIN_1).encode("latin-1")
        if not is_binary:
            data.decode()
    except ValueError:  # it was read as UTF-8
        return text.encode("utf-8", "surrogatepass")
    return data
