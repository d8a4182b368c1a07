"""Select the answers that are searched for tool calls, and adjust their status and headers.

Theory of operation. All answers to a POST to an endpoint for tool calls are examined if their status says success: the
request says more than a label, and servers send event streams as `application/x-ndjson`, as 201, or without a type. An
answer labelled as an event stream, even twice, is one. Anything else may be a stream or JSON, and its first byte
decides; an answer that is neither passes unchanged, and is called unread. All functions are pure, and take only values
that HTTP libraries and servers have in common.

The request also shows the form of calls that its client reads. Chat Completions has an older form: a request lists
`functions`, and the answer has one `function_call`. Servers answer requests in one form with the other, and clients
read only the form that they asked for. Source: OpenAI API reference, "Create chat completion", deprecated members.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

import msgspec

from wholecall.framing.codings import is_coding

_DIALECTS: Final = {
    "/chat/completions": "chat-completions",
    "/responses": "responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
ENDPOINTS: Final = tuple(_DIALECTS)
EVENT_STREAM: Final = "text/event-stream"
ID: Final = "x-wholecall-id"  # the header that marks an answer that was read
UNREAD: Final = "x-wholecall-unread"  # why an answer passes unread, where that is known before it is sent
OUTDATED: Final = (
    "content-encoding",
    "content-length",
    "transfer-encoding",
)  # headers that do not fit another body
# For whole bodies that become an error: a bad gateway, for which SDKs raise, and which they do not retry.
ERROR_STATUS: Final = 502
ERROR_HEADERS: Final = (("x-should-retry", "false"), ("content-type", "application/json"))

_SUCCESS: Final = range(200, 300)
_BODILESS: Final = frozenset({204, 205})
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"  # a byte order mark, too
_NULL: Final = msgspec.Raw(b"null")


def asks_for_calls(method: str, path: str, endpoints: Sequence[str] = ENDPOINTS) -> bool:
    """Return whether the answer to a request may hold tool calls.

    Args:
        method: the HTTP method, in capitals.
        path: without the query.
        endpoints: the ends of such paths; a slash at the end of the path is ignored.
    """
    return method == "POST" and _end_of(path, endpoints) is not None


def dialect_of(path: str) -> str | None:
    """Return the dialect of an endpoint, None where its path does not show it.

    Args:
        path: without the query.
    """
    return _DIALECTS.get(_end_of(path, ENDPOINTS) or "")


def _end_of(path: str, endpoints: Sequence[str]) -> str | None:
    folded = _folded(path).rstrip("/")
    return next((end for end in endpoints if folded.endswith(end.lower())), None)


def _folded(path: str) -> str:
    """Return a path for comparing endpoints: without escapes, parameters of segments, doubled slashes, and capitals.

    Servers differ in which of these they ignore; code that decides by a path must not distinguish more than they do.
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
    """Return whether a body is compressed; unknown codings (`utf-8`, `aws-chunked`) do not count.

    Args:
        coding: the value of `content-encoding`, empty where there is none.
    """
    return any(map(is_coding, coding.split(",")))


def is_json(head: bytes) -> bool | None:
    """Return whether a body that begins with these bytes is JSON rather than a stream; None while they are blank."""
    first = head.lstrip(_BLANK)[:1]
    return first in (b"{", b"[") if first else None


class _Asked(msgspec.Struct, frozen=True):
    tools: msgspec.Raw = _NULL
    functions: msgspec.Raw = _NULL


_DECODER: Final = msgspec.json.Decoder(_Asked)


def asks_for_functions(body: bytes) -> bool | None:
    """Return whether a request lists functions, in the older form, or tools: False; None if it has neither.

    Args:
        body: of the request; an unreadable body gives None.
    """
    try:
        asked = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return form_of(bytes(asked.tools), bytes(asked.functions))


def form_of(tools: bytes, functions: bytes) -> bool | None:
    """Return the same from the JSON of both members, `null` for a missing one."""
    if tools != b"null":
        return False
    return True if functions != b"null" else None
