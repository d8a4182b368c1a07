"""Files that hold recordings, written as other tools write them: a cassette, an archive, logs, and our own form."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from wholecall.recordings import Recorder

_TYPES = {
    "sse": "text/event-stream",
    "ndjson": "application/x-ndjson",
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "bin": "application/vnd.amazon.eventstream",
}
_URL = "http://127.0.0.1/v1/answer"
Bodies = Sequence[tuple[str, bytes]]  # a file's name, and its bytes


def content_type(name: str) -> str:
    """Return the content type of a recording by its suffix."""
    return _TYPES[name.rpartition(".")[2]]


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def cassette(bodies: Bodies) -> bytes:
    """Return a cassette as vcrpy writes it."""
    return yaml.dump(_interactions(bodies, lambda body: _text(body) or body), Dumper=_Dumper).encode()


def json_cassette(bodies: Bodies) -> bytes:
    """Return the same in JSON; it holds the textual parts."""
    return json.dumps(_interactions(bodies, lambda body: body.decode("utf-8", "surrogateescape"))).encode()


_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _interactions(bodies: Bodies, stored: Callable[[bytes], Any]) -> dict[str, Any]:
    return {
        "interactions": [
            {
                "request": {"method": "POST", "uri": _URL, "body": "{}", "headers": {}},
                "response": {
                    "body": {"string": stored(body)},
                    "headers": {"Content-Type": [content_type(name)]},
                    "status": {"code": 200, "message": "OK"},
                },
            }
            for name, body in bodies
        ],
        "version": 1,
    }


def archive(bodies: Bodies, *, is_ascii: bool = False) -> bytes:
    """Return a HAR as browsers export it, or with every other character escaped."""
    entries = []
    for name, body in bodies:
        content: dict[str, Any] = {"mimeType": content_type(name) + "; charset=utf-8", "size": len(body)}
        text = _text(body)
        if text is None:
            content |= {"encoding": "base64", "text": base64.b64encode(body).decode()}
        else:
            content["text"] = text
        request = {"method": "POST", "url": _URL, "headers": [], "queryString": []}
        entries.append({"request": request, "response": {"status": 200, "content": content}, "timings": {}})
    log = {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}
    return json.dumps({"log": log}, ensure_ascii=is_ascii, indent=None if is_ascii else 2).encode()


def own(bodies: Bodies) -> bytes:
    """Return a file in our own format, with chunks that cut events and characters."""
    file = io.BytesIO()
    for name, body in bodies:
        with Recorder(file, content_type=content_type(name)) as recorder:
            for start in range(0, len(body), 61):
                recorder.write(body[start : start + 61], at=start / 1000)
    return file.getvalue()


FILES: dict[str, Callable[[Bodies], bytes]] = {
    "own.jsonl": own,
    "cassette.yaml": cassette,
    "archive.har": archive,
    "escaped.har": lambda bodies: archive(bodies, is_ascii=True),
}
