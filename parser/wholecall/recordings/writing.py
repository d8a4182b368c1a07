"""Recordings written for others: the bare bytes, an HTTP archive, a VCR cassette, a session of messages.

Theory of operation. Each writer yields the file in pieces and takes one recording at a time, so memory holds one. A
session holds the assembled messages, not the bytes: it follows the Session Trace Simple format of the Hugging Face Hub,
a header line and then a line for each message.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wholecall.calls.output.call_events import ToolCall
from wholecall.calls.output.turns import Turn
from wholecall.discreet import compact
from wholecall.recordings.bodies import value_to_bytes
from wholecall.recordings.model import Recording, Request
from wholecall.stream.shells.iterate import turns

_VERSION = "1.2"  # of HAR
_HARNESS = "wholecall"
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # YAML 1.1, 5.1 and 5.4


def to_bytes(recordings: Iterable[Recording]) -> Iterator[bytes]:
    """Yield the bytes of the recordings, one after the other."""
    for recording in recordings:
        yield from (chunk for _, chunk in recording.chunks)


def to_archive(recordings: Iterable[Recording]) -> Iterator[bytes]:
    """Yield a HAR 1.2 file with an entry for each recording; boundaries and times of chunks are lost."""
    creator = value_to_bytes({"name": _HARNESS, "version": ""})
    yield b'{"log":{"version":"%b","creator":%b,"entries":[\n' % (_VERSION.encode(), creator)
    comma = b""
    for recording in recordings:
        yield comma + value_to_bytes(_entry(recording))
        comma = b",\n"
    yield b"\n]}}\n"


def _entry(recording: Recording) -> dict[str, Any]:
    pieces = list(recording.chunks)
    body = b"".join(chunk for _, chunk in pieces)
    last = next((at for at, _ in reversed(pieces) if at is not None), 0)
    request = recording.request or Request()
    kind = recording.content_type or "text/plain"
    content: dict[str, Any] = {"size": len(body), "mimeType": kind}
    try:
        # Without a charset readers guess one, and text that is not ASCII is garbled.
        content["text"] = body.decode("utf-8" if "charset" in kind else "ascii")
    except UnicodeDecodeError:
        content |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    return {
        "startedDateTime": recording.meta.get("started", "1970-01-01T00:00:00Z"),
        "time": last * 1000,
        "request": {
            "method": request.method or "POST",
            "url": request.url or "",
            **_EMPTY,
            "queryString": [],
        },
        "response": {
            "status": recording.status or 200,
            "statusText": "",
            "redirectURL": "",
            "content": content,
            **_EMPTY,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": last * 1000},
        "comment": recording.name,
    }


_EMPTY: dict[str, Any] = {
    "httpVersion": "HTTP/1.1",
    "cookies": [],
    "headers": [],
    "headersSize": -1,
    "bodySize": -1,
}


def to_cassette(recordings: Iterable[Recording]) -> Iterator[bytes]:
    """Yield a VCR cassette with an interaction for each recording; boundaries and times of chunks are lost.

    It is YAML whose entries are JSON, a line each: any YAML reader accepts it, and writing it needs no library.
    """
    begun = False
    for recording in recordings:
        yield b"" if begun else b"interactions:\n"
        yield f"- {_interaction(recording)}\n".encode()
        begun = True
    yield b"version: 1\n" if begun else b"interactions: []\nversion: 1\n"


def _interaction(recording: Recording) -> str:
    data = b"".join(chunk for _, chunk in recording.chunks)
    try:
        body = _scalar(data.decode())
    except UnicodeDecodeError:
        body = f'!!binary "{base64.b64encode(data).decode()}"'
    asked = recording.request or Request()
    request: dict[str, Any] = {
        "method": asked.method or "POST",
        "uri": asked.url or "",
        "body": None,
        "headers": {},
    }
    headers = {"content-type": [recording.content_type]} if recording.content_type else {}
    status = {"code": recording.status or 200, "message": ""}
    return (
        f'{{"request": {_scalar(request)}, "response": {{"status": {_scalar(status)}, '
        f'"headers": {_scalar(headers)}, "body": {{"string": {body}}}}}}}'
    )


def _scalar(value: Any) -> str:
    """Return JSON that is YAML too: characters that YAML refuses, or takes for a line end, are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def to_session(recordings: Iterable[Recording]) -> Iterator[bytes]:
    """Yield a session: a message of the assistant for each turn, with its whole calls."""
    begun = False
    for recording in recordings:
        if not begun:
            yield _line({"type": "session", "harness": _HARNESS, "id": recording.name})
            begun = True
        for turn in turns((chunk for _, chunk in recording.chunks), recording.dialect or "auto"):
            yield _line({"type": "message", "message": _message(turn)})


def _message(turn: Turn) -> dict[str, Any]:
    calls = [
        {"id": call.id, "function": {"name": call.name, "arguments": _arguments(call)}} for call in turn.calls
    ]
    said = {
        "role": "assistant",
        "content": turn.text,
        "reasoningContent": turn.reasoning.text,
        "toolCalls": calls,
        "model": turn.model,
    }
    return {name: value for name, value in said.items() if value or name in {"role", "content"}}


def _arguments(call: ToolCall) -> str:
    """Return arguments as JSON: the original text if it is JSON, else the parsed value."""
    return call.raw_arguments if call.status == "exact" else value_to_bytes(call.arguments).decode()


def _line(value: dict[str, Any]) -> bytes:
    return compact(value, allow_nan=True).encode("utf-8", "backslashreplace") + b"\n"


WRITERS: dict[str, Callable[[Iterable[Recording]], Iterator[bytes]]] = {
    "raw": to_bytes,
    "har": to_archive,
    "cassette": to_cassette,
    "session": to_session,
}
