"""Select the answers that are searched for tool calls, and adjust their status and headers.

Theory of operation. All answers to a POST to an endpoint for tool calls are concerned whose status says success: what
was asked says more than a label, and servers send event streams as `application/x-ndjson`, as 201, or under no type.
What is labelled as an event stream, also twice, is one. Anything else may be a stream or JSON, and its first byte
decides; what turns out to be neither passes as it came, and is called unread. All functions are pure, and take what HTTP
libraries and servers have alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from wholecall.framing.codings import is_coding

__all__ = [
    "ENDPOINTS",
    "ERROR_HEADERS",
    "ERROR_STATUS",
    "EVENT_STREAM",
    "ID",
    "OUTDATED",
    "UNREAD",
    "asks_for_calls",
    "dialect_of",
    "is_encoded",
    "is_json",
    "kind_of",
]

_DIALECTS: Final = {
    "/chat/completions": "chat-completions",
    "/responses": "responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
ENDPOINTS: Final = tuple(_DIALECTS)
EVENT_STREAM: Final = "text/event-stream"
ID: Final = "x-wholecall-id"  # the header by which an answer that was read is known
UNREAD: Final = "x-wholecall-unread"  # why an answer passes unread, where that is known before it goes out
OUTDATED: Final = (
    "content-encoding",
    "content-length",
    "transfer-encoding",
)  # headers that another body outdates
# What a whole body becomes that is an error: a bad gateway, for which SDKs raise, and which they do not ask again.
ERROR_STATUS: Final = 502
ERROR_HEADERS: Final = (("x-should-retry", "false"), ("content-type", "application/json"))

_SUCCESS: Final = range(200, 300)
_BODILESS: Final = frozenset({204, 205})
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"  # a byte order mark, too


def asks_for_calls(method: str, path: str, endpoints: Sequence[str] = ENDPOINTS) -> bool:
    """Whether the answer to a request may hold tool calls.

    Args:
        method: the HTTP method, in capitals.
        path: without the query.
        endpoints: how such paths end; a slash at the end of the path is ignored.
    """
    return method == "POST" and _end_of(path, endpoints) is not None


def dialect_of(path: str) -> str | None:
    """Return the dialect that is asked for at an endpoint, None where its path does not say.

    Args:
        path: without the query.
    """
    return _DIALECTS.get(_end_of(path, ENDPOINTS) or "")


def _end_of(path: str, endpoints: Sequence[str]) -> str | None:
    folded = _folded(path).rstrip("/")
    return next((end for end in endpoints if folded.endswith(end.lower())), None)


def _folded(path: str) -> str:
    """Return what of a path tells endpoints apart: without escapes, parameters of segments, doubled slashes, and capitals.

    Servers differ in what of these they take for the same; whoever decides by a path must not tell more apart than they do.
    """
    return re.sub("//+", "/", re.sub(";[^/]*", "", unquote(path))).lower()


def kind_of(status: int, content_type: str) -> str | None:
    """Return the media type of an answer that may hold tool calls, in small letters, `""` for none; None of any other.

    Args:
        status: the HTTP status.
        content_type: the header's value, with or without parameters, perhaps doubled; empty where there is none.
    """
    if status not in _SUCCESS or status in _BODILESS:
        return None
    kinds = [one.partition(";")[0].strip().lower() for one in content_type.split(",")]
    return EVENT_STREAM if EVENT_STREAM in kinds else kinds[0]


def is_encoded(coding: str) -> bool:
    """Whether a body is compressed; other words than the known codings (`utf-8`, `aws-chunked`) say nothing of its bytes.

    Args:
        coding: the value of `content-encoding`, empty where there is none.
    """
    return any(map(is_coding, coding.split(",")))


def is_json(head: bytes) -> bool | None:
    """Whether a body that begins with these bytes is JSON rather than a stream; None while they are blank."""
    first = head.lstrip(_BLANK)[:1]
    return first in (b"{", b"[") if first else None
