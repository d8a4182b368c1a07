"""Which answers are looked at for tool calls, and what changes of an answer besides its body.

Theory of operation. Only answers to a POST to an endpoint for tool calls are concerned, and only those of status 200
or 201 that are not surely something else. What is labelled as an event stream is one. What is labelled as JSON or text,
or by a type that says nothing, may be either, and its first byte decides. All functions are pure, and take what HTTP libraries and servers have alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

__all__ = [
    "ENDPOINTS",
    "ERROR_HEADERS",
    "ERROR_STATUS",
    "EVENT_STREAM",
    "ID",
    "OUTDATED",
    "asks_for_calls",
    "is_identity",
    "is_json",
    "kind_of",
]

ENDPOINTS: Final = ("/chat/completions", "/responses", "/messages")
EVENT_STREAM: Final = "text/event-stream"
ID: Final = "x-wholecall-id"  # the header by which an answer that was read is known
OUTDATED: Final = (
    "content-encoding",
    "content-length",
    "transfer-encoding",
)  # headers that another body outdates
# What a whole body becomes that is an error: a bad gateway, for which SDKs raise, and which they do not ask again.
ERROR_STATUS: Final = 502
ERROR_HEADERS: Final = (("x-should-retry", "false"), ("content-type", "application/json"))

_OK: Final = frozenset({200, 201})
# What is surely no event stream and no JSON, or a form of its own that clients of these endpoints do not read.
_OTHERS: Final = re.compile(
    r"(?:image|audio|video|multipart|text/html|.*eventstream|.*jsonl|.*ndjson|.*json-?lines)\b"
)
_NO_CODINGS: Final = frozenset({"", "identity", "utf-8", "utf8", "aws-chunked"})  # the latter name none
_KINDS: Final = frozenset({EVENT_STREAM, "text/plain", "application/json"})
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"  # a byte order mark, too


def asks_for_calls(method: str, path: str, endpoints: Sequence[str] = ENDPOINTS) -> bool:
    """Whether the answer to a request may hold tool calls.

    Args:
        method: the HTTP method, in capitals.
        path: without the query.
        endpoints: how such paths end; a slash at the end of the path is ignored.
    """
    return method == "POST" and _folded(path).rstrip("/").endswith(tuple(map(str.lower, endpoints)))


def _folded(path: str) -> str:
    """Return what of a path tells endpoints apart: without escapes, parameters of segments, doubled slashes, and capitals.

    Servers differ in what of these they take for the same; whoever decides by a path must not tell more apart than they do.
    """
    return re.sub("//+", "/", re.sub(";[^/]*", "", unquote(path))).lower()


def kind_of(status: int, content_type: str) -> str | None:
    """Return the media type of an answer that may hold tool calls, in small letters; None of any other.

    Endpoints for tool calls answer with nothing else: a type that says nothing (none, `application/octet-stream`) is
    `text/plain`, of which the first byte decides.

    Args:
        status: the HTTP status.
        content_type: the header's value, with or without parameters, perhaps doubled; empty where there is none.
    """
    if status not in _OK:
        return None
    kind = re.split("[;,]", content_type)[0].strip().lower()
    if kind in _KINDS:
        return kind
    return None if _OTHERS.match(kind) else "text/plain"


def is_identity(coding: str) -> bool:
    """Whether the value of `content-encoding` names no coding that can be taken off; some servers name what is none."""
    return _NO_CODINGS.issuperset(one.strip().lower() for one in coding.split(","))


def is_json(head: bytes) -> bool | None:
    """Whether a body that begins with these bytes is JSON rather than a stream; None while they are blank."""
    first = head.lstrip(_BLANK)[:1]
    return first in (b"{", b"[") if first else None
