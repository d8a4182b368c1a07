"""The text of a provider's error, its status, and the call ids that it names; from bodies, headers and exceptions.

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

No SDK is imported for exceptions: each keeps these under one of a few names, on the exception itself or on the response
that it carries, and botocore in a dict. If none holds a body, the exception's own text replaces it.

An id is recognised by its form (the prefixes of the providers) or by the words before it (`tool_call_id: …`,
`… ids …: a, b.`). After a plural, after "was" and in quotes any word is an id; elsewhere only a word with a digit,
because other words may be the rest of the sentence.

Sources: `APIStatusError` of openai, anthropic and groq, `APIError` of google-genai, `SDKError` of mistralai, `ApiError`
of cohere, `ResponseError` of ollama, `ClientError` of botocore, `HTTPStatusError` of httpx, `HTTPError` of requests and
huggingface_hub, `ClientResponseError` of aiohttp.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple

from wholecall.dialects.decode import plain

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


# --- exceptions ----------------------------------------------------------------------------------------


_STATUS_NAMES = ("status_code", "status", "code", "http_status")
_BODY_NAMES = ("body", "details", "error", "detail")  # of the exception; a response has `content`
_FIRST_ERROR = 400


class Refusal(NamedTuple):
    """A provider's answer: its status (0 if unknown), its body, its headers."""

    status: int
    body: Any
    headers: Mapping[str, Any] | None


def refusal_of(error: BaseException) -> Refusal:
    """Return the parts of the provider's answer that an exception holds."""
    response: Any = getattr(error, "response", None) or getattr(error, "raw_response", None)
    if isinstance(response, Mapping):
        return _of_botocore(response)
    found = [*_held(error, _STATUS_NAMES), *_held(response, _STATUS_NAMES)]
    status = next((one for one in found if isinstance(one, int) and one >= _FIRST_ERROR), 0)
    headers = [one for one in _held(error, ("headers",)) if isinstance(one, Mapping)]
    headers += [one for one in _held(response, ("headers",)) if isinstance(one, Mapping)]
    body = next(iter([*_held(error, _BODY_NAMES), *_content(response)]), str(error))
    return Refusal(status, body, headers[0] if headers else None)


def _held(holder: object, names: Iterable[str]) -> list[Any]:
    """Return the members that are not empty."""
    return [value for name in names if (value := getattr(holder, name, None)) not in (None, "", b"")]


def _content(response: object) -> list[Any]:
    """Return the body of a response, none if it was not read yet, for which httpx raises."""
    try:
        return _held(response, ("content", "text"))
    except RuntimeError:
        return []


def _of_botocore(response: Mapping[str, Any]) -> Refusal:
    about = response.get("ResponseMetadata") or {}
    status = about.get("HTTPStatusCode")
    return Refusal(status if isinstance(status, int) else 0, response.get("Error"), about.get("HTTPHeaders"))


# --- ids and types that a text names ---------------------------------------------------------------------


MAX_IDS = 128

_WORD = r"[\w.:|/+=-]{0,510}\w"
_LIST = rf"[\[(]?(?:'{_WORD}'(?:, ?'{_WORD}'){{0,{MAX_IDS}}}|{_WORD}(?:, ?{_WORD}){{0,{MAX_IDS}}})"
# OpenAI, its items, Anthropic, Bedrock, vLLM, Kimi; not the words `call_id` and the like.
_KNOWN = re.compile(
    r"(?<![\w-])(?:(?:srv|mcp)?toolu_|tooluse_|fc_|ctc_|chatcmpl-tool-|call-(?=\w{0,40}\d)"
    r"|functions\.[\w-]{1,128}:(?=\d)|call_(?!(?:id|name|type|output|result)s?\b))[\w.:|-]{0,500}\w"
)
# The words before ids, and whether any word counts there.
_MENTIONS = (
    (re.compile(rf"ids\b'?[^:.\n]{{0,80}}: ({_LIST})", re.IGNORECASE), True),
    (re.compile(rf"(?:call|use|tool)[ _]?id was '?({_WORD})", re.IGNORECASE), True),
    (re.compile(rf"(?:call|use|tool)[ _]?id'?(?: of)?[ :=(]{{1,3}}'({_WORD})'", re.IGNORECASE), True),
    (re.compile(rf"(?:call|use|tool)[ _]?id'?(?: of)?[ :=(]{{1,3}}({_LIST})", re.IGNORECASE), False),
    (re.compile(rf"value '({_WORD})' at '[\w.\[\]-]{{1,200}}tooluseid'", re.IGNORECASE), True),
)
_ITEM = re.compile(r"[^,\s'\[\]()]+")
_PLACE_WORDS = re.compile(
    r"(?:messages?|input|contents?|body|tools?|choices)(?:[.\[]|$)|https?:", re.IGNORECASE
)
_EXPECTED = re.compile(
    r"(?:expected|expects|expecting|should be|must be|to be|of type|pairs from|provide|(?<!in)valid types?:"
    r"|google\.protobuf\.)[^\w']{0,3}"
    r"(?:(?:an?|one|valid|json|<class|api\.|type)[ ']{0,2}){0,4}'?"
    r"(?:(?P<object>object|dict|map|struct\b|toolcallfunctionarguments)|(?P<string>str(?:ing)?\b))"
)


def named_ids(text: str) -> tuple[str, ...]:
    """Return the call ids that a text names, each once, in their order."""
    found = [(match.start(), match[0]) for match in _KNOWN.finditer(text)]
    for pattern, any_word in _MENTIONS:
        for match in pattern.finditer(text):
            found += _listed(match, any_word)
    return tuple(dict.fromkeys(word for _, word in sorted(found)))[:MAX_IDS]


def _listed(mention: re.Match[str], any_word: bool) -> Iterator[tuple[int, str]]:
    """Yield the ids of a mention and their places, up to the first word that is not an id."""
    for word in _ITEM.finditer(mention.string, *mention.span(1)):
        if _PLACE_WORDS.match(word[0]) or not (any_word or any(map(str.isdigit, word[0]))):
            return
        yield word.start(), word[0]


def expected_type(text: str) -> Literal["string", "object"] | None:
    """Return the type that a complaint about a value's type requires, None if it is not stated.

    Args:
        text: the complaint, in lower case.
    """
    match = _EXPECTED.search(text)
    if match is None:
        return None
    return "string" if match["string"] else "object"
