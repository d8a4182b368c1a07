"""JSON lines with a whole response each: bare bodies, or the results of a batch, which wrap them.

Theory of operation. The first line decides the kind of the file: it is the result of a batch, or a body that is
complete and not the only line. Then every line is a recording. A body keeps its bytes in the file, also inside a
wrapper. A response that no dialect knows is skipped, as in other files of many responses.

Formats: outputs of OpenAI's batches (and of Mistral, Groq, Azure and others that follow it), of Anthropic's Message
Batches, of Gemini's (Developer API and Vertex AI) and of Amazon Bedrock's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from wholecall.recordings.bodies import Response, recording_of
from wholecall.recordings.model import Recording, broken
from wholecall.recordings.source import Source

_FORM = "bodies"
_MAX_FIRST = 4 * 1024 * 1024  # bytes of a first line that are examined
_JSON = "application/json"
_IDS = ("custom_id", "key", "recordId", "id")  # of a request, if it has one; else of the response
_NULL = b"null"
_BLANK = b"\xef\xbb\xbf \t\r\n"

Members = dict[str, msgspec.Raw]
_MEMBERS = msgspec.json.Decoder(Members)
_DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read_bodies(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield the recordings of a file; `#n` counts its lines, blank ones aside."""
    source.skip_mark()
    for number, line in enumerate(filter(bytes.strip, source.lines()), 1):
        name = f"{source.path}#{number}"
        members = _decoded(line)
        if members is None:
            yield broken(name, f"line {number} is not a JSON object", form=_FORM)
            continue
        response = _response(line, members)
        found = "no_response" if response is None else recording_of(name, _FORM, response)
        if isinstance(found, str):
            skipped[found] += 1
        else:
            yield found


def _decoded(line: bytes) -> Members | None:
    with suppress(*_DAMAGE):
        return _MEMBERS.decode(line)
    return None


def _response(line: bytes, members: Members) -> Response | None:
    """Return the response in a line, None if there is none."""
    wrapper = next((one for one in _WRAPPERS if one.keys <= members.keys()), None)
    response = Response(body=line) if wrapper is None else wrapper.unwrap(members)
    if response is None:
        return None
    response.content_type = _JSON
    id = next((id for name in _IDS if isinstance(id := _value(members.get(name)), str)), None)
    response.meta = {} if id is None else {"id": id}
    return response


# --- wrappers of a response ----------------------------------------------------------------------------


class Wrapper(msgspec.Struct, frozen=True):
    """The form in which results of a batch hold their responses.

    Attributes:
        keys: the members that identify such a line.
        unwrap: returns the response, None if the request has none.
    """

    keys: frozenset[str]
    unwrap: Callable[[Members], Response | None]


def _openai(members: Members) -> Response | None:
    answer = _members(members.get("response"))
    status = _value(answer.get("status_code"))
    response = _whole(answer.get("body")) or _error(members)
    if response is not None and isinstance(status, int):
        response.status = status
    return response


def _anthropic(members: Members) -> Response | None:
    result = _members(members.get("result"))
    error = _given(result.get("error"))
    return _whole(result.get("message")) if error is None else Response(body=error, is_answer=True)


def _google(members: Members) -> Response | None:
    return _whole(members.get("response")) or _error(members)


def _bedrock(members: Members) -> Response | None:
    return _whole(members.get("modelOutput")) or _error(members)


def _error(members: Members) -> Response | None:
    """Return an error in the place of a response, in the form that servers send."""
    error = _given(members.get("error"))
    return None if error is None else Response(body=b'{"error":' + error + b"}", is_answer=True)


def _whole(value: msgspec.Raw | None) -> Response | None:
    body = _given(value)
    return None if body is None else Response(body=body)


_WRAPPERS = (
    Wrapper(frozenset({"custom_id", "response"}), _openai),
    Wrapper(frozenset({"custom_id", "result"}), _anthropic),
    Wrapper(frozenset({"key", "response"}), _google),
    Wrapper(frozenset({"key", "error"}), _google),
    Wrapper(frozenset({"request", "response"}), _google),
    Wrapper(frozenset({"recordId", "modelInput"}), _bedrock),
)


def _given(value: msgspec.Raw | None) -> bytes | None:
    """Return the bytes of a value, None for null and for a missing value."""
    data = b"" if value is None else bytes(value).strip()
    return None if data in {b"", _NULL} else data


def _members(value: msgspec.Raw | None) -> Members:
    return _decoded(_given(value) or b"{}") or {}


def _value(value: msgspec.Raw | None) -> Any:
    return None if value is None else _loaded(bytes(value))


def _loaded(data: bytes) -> Any:
    """Return a value, None if it is invalid: skipped values are not checked against every rule."""
    with suppress(ValueError, RecursionError):
        return json.loads(data)
    return None


# --- kinds of files ------------------------------------------------------------------------------------


def first_line(source: Source) -> tuple[bytes, bytes]:
    """Return the first line of a file without taking it, and the bytes read after it."""
    while True:
        line, end, rest = source.head.lstrip(_BLANK).partition(b"\n")
        if end or len(line) >= _MAX_FIRST or not source.fill():
            return line, rest


def holds_bodies(source: Source) -> bool:
    """Return whether a file holds whole responses; reads the first line, at most the next one's beginning."""
    line, rest = first_line(source)
    members = _decoded(line)
    if members is None:
        return False
    if any(one.keys <= members.keys() for one in _WRAPPERS):
        return True
    value = _loaded(line)
    if not isinstance(value, dict) or not _is_body(value):
        return False
    while not rest.strip() and source.fill():
        _, rest = first_line(source)
    return bool(rest.strip())


def _is_body(value: dict[str, Any]) -> bool:
    """Return whether a response is complete, so that another one follows; pieces of streams are not."""
    choice, candidate = _first(value.get("choices")), _first(value.get("candidates"))
    if choice:
        return isinstance(choice.get("message"), dict) and "delta" not in choice
    if candidate:
        return "finishReason" in candidate
    if value.get("object") == "response":
        return isinstance(value.get("output"), list)
    if value.get("type") == "message":
        return value.get("role") == "assistant" and isinstance(value.get("content"), list)
    is_loaded = value.get("done_reason") == "load"  # Ollama's first line may have that before a stream
    return value.get("done") is True and isinstance(value.get("message"), dict) and not is_loaded


def _first(values: Any) -> dict[str, Any]:
    first = values[0] if isinstance(values, list) and values else None
    return first if isinstance(first, dict) else {}
