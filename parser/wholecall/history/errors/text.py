"""The text and the status of a provider's error, from its body and headers.

Theory of operation
-------------------
Bodies are JSON of a dozen shapes, JSON inside a message of other JSON, an SDK's repr, an event of a stream,
HTML or empty. The shapes are not distinguished: the strings of all members are gathered, one line for each
object, shallow ones first, except where a member echoes the request or the model's output (text of users must
not pass for the provider's). Codes and types are words of the text like any other; words that are equivalent
to a status become that status.

The work is bounded for any body: there are limits on the decoded bytes, the visited members, their depth, and
the characters kept of each string and in total. Larger bodies are read as plain text, at their beginning and
end.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from wholecall.dialects.decode import plain

__all__ = ["Said", "listen"]

MAX_JSON_CHARS = 256 * 1024
MAX_MEMBERS = 2000
MAX_DEPTH = 12
MAX_STRING = 2048
MAX_TEXT = 4096
MAX_WORD = 40
MAX_INDEX = 10**9

# Names of members are compared in lower case, without `_` and `-`.
# Members that repeat the request or the model's output, or that only link and count.
_ECHOES = frozenset(
    {
        *("input", "inputs", "messages", "prompt", "tools", "instructions", "request", "requestbody"),
        *("requestbodyvalues", "failedgeneration", "flaggedinput", "ctx", "headers"),
        *("choices", "candidates", "content", "delta", "output", "usage"),
        *("id", "requestid", "traceid", "userid", "url", "href", "links", "docurl", "documentationurl"),
    }
)
_CODES = frozenset(
    {
        *("code", "status", "statuscode", "httpcode", "httpstatus", "httpstatuscode", "errorcode"),
        "originalstatuscode",
    }
)
# Members that name a place in the request, step by step.
_PLACES = frozenset({"loc", "path"})
# Members whose presence is a word in itself: the time when the provider will answer again, and a mark that
# the key at the upstream provider is the caller's own.
_PRESENT = {
    **dict.fromkeys(("resetsat", "resetat", "resetsin", "resetsinseconds"), "retry-after"),
    **dict.fromkeys(("retryafter", "retryafterseconds", "retrydelay"), "retry-after"),
    "isbyok": "is_byok",
}
# Words that are equivalent to a status.
_GENERIC = {
    **dict.fromkeys(
        ("invalid_request_error", "invalid_request", "invalid_argument", "failed_precondition"), 400
    ),
    **dict.fromkeys(
        ("bad_request_error", "badrequesterror", "badrequest", "bad_request", "bad request"), 400
    ),
    **dict.fromkeys(
        ("validationexception", "invalid_parameter_error", "invalid_parameter", "invalidparameter"), 400
    ),
    **dict.fromkeys(("not_found", "notfound", "notfounderror"), 404),
    "internal": 500,
    "unavailable": 503,
    "deadline_exceeded": 504,
}

_ERROR_TYPE = "x-amzn-errortype"
_RETRY_AFTER = frozenset({"retry-after", "retry-after-ms", "x-retry-after"})
_QUOTES = re.compile('&quot;|&apos;|&#0?39;|&#x27;|["`\u2018\u2019\u201c\u201d\u300c\u300d\u300e\u300f]')
_ESCAPES = re.compile(r"\\+[nrt]")
_BLANKS = re.compile(r"\s+")
_STATUS = re.compile(
    r"(?:error code|http(?: error)?|status(?: ?code)?)[: =]{1,3}([45]\d\d)\b|^<?([45]\d\d)\b"
)


class Said(NamedTuple):
    """The content of an error.

    Attributes:
        text: the provider's strings, one line for each object, quotes unified to `'`, blanks to one space.
        status: the HTTP status that the body names, 0 if it names none.
        blank: whether there was no text, not even a word that only repeats a status.
    """

    text: str
    status: int
    blank: bool


class _Line(NamedTuple):
    """One object of a body: its words, the status that it names, the status that its words imply."""

    text: str
    named: int
    implied: int


def listen(body: Any, headers: Mapping[str, Any] | None) -> Said:
    """Gather the text and status from the body and the headers of an error.

    Args:
        body: text, bytes or a decoded value, of any shape.
        headers: the response's headers, names in any case.
    """
    if isinstance(body, (bytes, bytearray, memoryview)):
        body = _decoded(bytes(body))
    texts: list[str] = []
    named = implied = 0
    room = MAX_TEXT
    for line in _lines(_value(body) if isinstance(body, str) else body):
        named, implied = named or line.named, implied or line.implied
        kept = _plain(line.text)[:room]
        room -= len(kept)
        texts += [kept] if kept else []
        if room <= 0:
            break
    status = named or (_told_status(texts[0]) if texts else 0) or implied
    texts += _header_words(headers)
    return Said("\n".join(texts), status, blank=not texts and not status)


def _decoded(data: bytes) -> str:
    if len(data) > 2 * MAX_JSON_CHARS:
        data = data[:MAX_JSON_CHARS] + b"\n" + data[-MAX_JSON_CHARS:]
    return data.decode("utf-8", "replace")


def _value(text: str) -> Any:
    """Return the JSON value of a text, or the text."""
    text = text.strip("\ufeff \t\r\n\0")
    if text == "null":
        return None
    inner = _json(text) if text[:1] in ("{", "[", '"') else None
    return text if inner is None else inner


def _json(text: str) -> Any:
    """Return a JSON value, None if the text is not JSON or too long."""
    return plain(text) if len(text) <= MAX_JSON_CHARS else None


def _lines(value: Any) -> Iterator[_Line]:
    """Yield a line for each object or lone string of a value, shallow ones first."""
    waiting: deque[tuple[Any, int]] = deque([(value, 0)])
    room = MAX_MEMBERS
    while waiting and room > 0:
        node, depth = waiting.popleft()
        words: list[str] = []
        named = implied = 0
        for key, member in _members(node, room):
            room -= 1
            named = named or (_status(member) if key in _CODES else 0)
            if isinstance(member, str):
                generic = _GENERIC.get(member[:MAX_WORD].lower())
                implied = implied or generic or 0
                words.append(_unwrapped(member, depth, waiting) if generic is None else "")
            elif key in _PLACES and (place := _place(member)):
                words.append(place)
            elif isinstance(member, (Mapping, list, tuple)) and depth < MAX_DEPTH:
                waiting.append((member, depth + 1))
            words += [_PRESENT[key]] if key in _PRESENT and member else []
        yield _Line(" ; ".join(word for word in words if word), named, implied)


def _members(node: Any, room: int) -> Iterator[tuple[str, Any]]:
    """Yield the members of a value that may contain the provider's words, by their folded names."""
    if isinstance(node, Mapping):
        for key, member in islice(node.items(), room):
            name = key[:MAX_WORD].lower().replace("_", "").replace("-", "") if isinstance(key, str) else ""
            if name not in _ECHOES:
                yield name, member
    elif isinstance(node, (list, tuple)):
        for member in islice(node, room):
            yield "", member
    else:
        yield "", node


def _place(value: Any) -> str:
    """Return a place in the request as one word: `body.messages.2`."""
    if not isinstance(value, (list, tuple)) or len(value) > MAX_DEPTH:
        return ""
    return ".".join(step[:80] if isinstance(step, str) else _index(step) for step in value)


def _index(value: Any) -> str:
    return str(value) if type(value) is int and 0 <= value < MAX_INDEX else "?"


def _unwrapped(text: str, depth: int, waiting: deque[tuple[Any, int]]) -> str:
    """Return the text of a string around the JSON that it holds; the JSON is read later."""
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end and depth < MAX_DEPTH:
        inner = _json(text[start : end + 1]) if end - start < MAX_JSON_CHARS else None
        if isinstance(inner, dict):
            waiting.append((inner, depth + 1))
            text = text[:start] + text[end + 1 :]
    if len(text) > MAX_STRING:
        return text[: MAX_STRING * 3 // 4] + " \u2026 " + text[-MAX_STRING // 4 :]
    return text


def _plain(text: str) -> str:
    unescaped = _ESCAPES.sub(" ", text).replace("\\", "")
    return _BLANKS.sub(" ", _QUOTES.sub("'", unescaped)).strip()


def _status(value: Any) -> int:
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdecimal():
        value = int(value)
    return value if type(value) is int and 400 <= value < 600 else 0


def _told_status(line: str) -> int:
    match = _STATUS.search(line[:200].lower())
    return int(match[1] or match[2]) if match else 0


def _header_words(headers: Mapping[str, Any] | None) -> list[str]:
    """Return the words that headers add: Bedrock names the error there, and many providers state when to retry."""
    words: list[str] = []
    for name, value in (headers or {}).items():
        folded = str(name).lower()
        if folded == _ERROR_TYPE:
            words.append(str(value)[:200].split(":", 1)[0].rpartition("#")[2])
        elif folded in _RETRY_AFTER:
            words.append("retry-after")
    return [word for word in words if _GENERIC.get(word.lower()) is None]
