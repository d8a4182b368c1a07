"""Logs of llm-interceptor: JSON lines of requests, the events of their responses, and how they ended.

Theory of operation. Lines of one response share the id of its request; the lines of several may be mixed. A response is
yielded when its last line has come, so only open responses are held. The log holds decoded events, not bytes: they are
written again as server-sent events, one chunk each. It notes an event's name at the previous event; because every API
that names its events also states their type inside, the names are left out.

Format: llm-interceptor 2.x, `response_chunk` with `content`; `[DONE]` is `{"done": true}`, data that was not JSON is
`{"raw": text}`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from wholecall.framing.base import DEFAULT_LIMITS
from wholecall.framing.jsonl import JSONLinesFraming
from wholecall.recordings.bodies import Response, recording_of, text_to_bytes, value_to_bytes
from wholecall.recordings.model import Chunk, Recording, Request, broken
from wholecall.recordings.source import Source

_FORM = "llm-interceptor"
_MAX_RECORD = 256 * 1024 * 1024
_NAME = "_event_type"


class _Open(msgspec.Struct):
    """A response whose last line has not come."""

    number: int  # of its request among the requests
    request: Request | None = None
    status: int | None = None
    chunks: list[Chunk] = []
    began: datetime | None = None


def read_interceptor(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield the recordings of a log in the order in which they ended; `#n` counts its requests."""
    log = _Log(source.path, skipped)
    for number, record in enumerate(_records(source), 1):
        if record is None:
            yield broken(source.path, f"record {number} of the log is not a JSON object", form=_FORM)
        else:
            yield from log.read(record)
    yield from log.close()


def _records(source: Source) -> Iterator[dict[str, Any] | None]:
    """Yield each record, None for a damaged record; records may be written over many lines."""
    limits = msgspec.structs.replace(DEFAULT_LIMITS.none(), max_event_bytes=_MAX_RECORD)
    framing = JSONLinesFraming(limits)
    for piece in source.pieces():
        yield from map(_decoded, (frame.data for frame in framing.feed(piece)))
        yield from (None for _ in framing.take_faults())
    yield from map(_decoded, (frame.data for frame in framing.close()))
    yield from (None for _ in framing.take_faults())


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Log:
    """The open responses while a log is read."""

    def __init__(self, path: str, skipped: Counter[str]) -> None:
        self._path = path
        self._skipped = skipped
        self._open: dict[str, _Open] = {}
        self._count = 0

    def read(self, record: dict[str, Any]) -> Iterator[Recording]:
        """Take one record and yield the recording that it ends, if it does."""
        kind = record.get("type")
        if kind == "request":
            asked = Request(_text(record.get("method")), _text(record.get("url")))
            self._opened(_text(record.get("id"))).request = asked
        elif kind == "response_chunk":
            self._add(self._opened(_text(record.get("request_id"))), record)
        elif kind in {"response_meta", "response"}:
            id = _text(record.get("request_id")) or ""
            response = self._opened(id)
            del self._open[id]
            yield from self._ended(response, record)

    def close(self) -> Iterator[Recording]:
        """Yield the responses that were still open when the log ended."""
        for response in self._open.values():
            yield from self._ended(response, {})
        self._open.clear()

    def _opened(self, id: str | None) -> _Open:
        if (id or "") not in self._open:
            self._count += 1
            self._open[id or ""] = _Open(self._count)
        return self._open[id or ""]

    def _add(self, response: _Open, record: dict[str, Any]) -> None:
        at = _time(record.get("timestamp"))
        response.began = response.began or at
        since = (at - response.began).total_seconds() if at and response.began else None
        response.status = _status(record) or response.status
        response.chunks.append((since, _event(record.get("content"))))

    def _ended(self, response: _Open, last: dict[str, Any]) -> Iterator[Recording]:
        name = f"{self._path}#{response.number}"
        body: Any = response.chunks
        headers: Any = last.get("headers")
        kind: str | None = "text/event-stream"
        if last.get("type") == "response":
            body = _body(last.get("body"))
            kind = _content_type(headers)
        if not last and not body:
            self._skipped["no_response"] += 1
            return
        status = _status(last) or response.status
        found = recording_of(
            name, _FORM, Response(body=body, content_type=kind, status=status, request=response.request)
        )
        if isinstance(found, str):
            self._skipped[found] += 1
        else:
            yield found


def _event(content: Any) -> bytes:
    """Return an event as it was on the wire, without its name."""
    if isinstance(content, str):
        return text_to_bytes(content)
    if isinstance(content, dict):
        content = {key: content[key] for key in content if key != _NAME}
        if content == {"done": True}:
            return b"data: [DONE]\n\n"
        if list(content) == ["raw"] and isinstance(content["raw"], str):
            return b"data: " + text_to_bytes(content["raw"]) + b"\n\n"
    return b"data: " + value_to_bytes(content) + b"\n\n"


def _body(value: Any) -> bytes | str | None:
    return value if isinstance(value, str) or value is None else value_to_bytes(value)


def _content_type(headers: Any) -> str | None:
    pairs = headers.items() if isinstance(headers, dict) else ()
    return next((str(value) for name, value in pairs if str(name).lower() == "content-type"), None)


def _status(record: dict[str, Any]) -> int | None:
    status = record.get("status_code")
    return status if isinstance(status, int) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _time(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        return None
