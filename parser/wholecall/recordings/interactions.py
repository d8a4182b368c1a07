"""One interaction of a cassette: a request and its response, as VCR tools and llm-mock store them.

Theory of operation. An interaction is read by its shape, independent of its file:

- vcrpy: `response.body.string` (text or bytes), `response.status.code`, `response.headers` with lists. Its
  cassettes can be YAML or JSON. Older ones for httpx: `response.content`, `response.status_code`.
- VCR for Ruby: the same, with `body.base64_string` and `body.encoding`.
- pydantic-ai's cassettes: `response.parsed_body`, decoded JSON, in place of the body.
- llm-mock 1.x: `stream_events`, each `{"event": name, "data": value}`, or `response`, decoded JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wholecall.recordings.bodies import Response, recording_of, text_to_bytes, value_to_bytes
from wholecall.recordings.model import Recording, Request, broken

__all__ = ["interaction_of"]

_JSON, _EVENTS = "application/json", "text/event-stream"


def interaction_of(
    name: str, form: str, value: Any, provider: str | None = None, *, max_bytes: int | None = None
) -> Recording | str:
    """Return the recording of an interaction, or the reason to skip it.

    Args:
        name: the name of the recording.
        form: the form of the file.
        value: the interaction: dicts, lists, and leaves that are text, bytes, numbers, booleans or None.
        provider: the provider that answered, if the file states it.
        max_bytes: the largest content of its body if that is compressed.
    """
    if not isinstance(value, dict):
        return broken(name, "it is not an interaction, an object was expected", form=form)
    request = _dict(value.get("request"))
    asked = Request(_text(request.get("method")), _text(request.get("uri") or request.get("url")))
    try:
        response = _streamed(value) or _stored(value)
    except ValueError as error:
        return broken(name, str(error), form=form)
    response.request = asked if asked != Request() else None
    response.provider = provider
    recorded_at = _text(value.get("recorded_at"))
    response.meta = {"recorded_at": recorded_at} if recorded_at else {}
    return recording_of(name, form, response, max_bytes)


def _streamed(value: dict[str, Any]) -> Response | None:
    """Return the stream events that llm-mock stored: an event for each chunk."""
    events = value.get("stream_events")
    if not isinstance(events, list) or not events:
        return None
    return Response(body=[(None, _event(event)) for event in events], content_type=_EVENTS)


def _event(event: Any) -> bytes:
    name = _text(_dict(event).get("event"))
    data = _dict(event).get("data")
    line = b"" if name is None else b"event: " + text_to_bytes(name) + b"\n"
    body = text_to_bytes(data) if isinstance(data, str) else value_to_bytes(data)
    return line + b"data: " + body + b"\n\n"


def _stored(value: dict[str, Any]) -> Response:
    response = _dict(value.get("response"))
    if "stream_events" in value:
        return Response(body=value_to_bytes(response) if response else None, content_type=_JSON)
    headers = {str(key).lower(): _first(one) for key, one in _dict(response.get("headers")).items()}
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    found = Response(
        content_type=headers.get("content-type"),
        coding=headers.get("content-encoding"),
        status=_number(response.get("status_code") if code is None else code),
    )
    _fill(found, response)
    return found


def _fill(found: Response, response: dict[str, Any]) -> None:
    """Find the body among its possible places."""
    body = response.get("body", response.get("content"))
    if isinstance(body, dict):
        base64 = body.get("base64_string")
        found.encoding = "base64" if base64 is not None else (_text(body.get("encoding")) or "").lower()
        body = body.get("string") if base64 is None else base64
    if isinstance(body, (str, bytes)):
        found.body = body
    elif response.get("parsed_body") is not None:
        found.body = value_to_bytes(response["parsed_body"])
        found.content_type = found.content_type or _JSON
        found.coding = None


def _first(value: Any) -> str | None:
    """Return a header's value, the first if there are several."""
    values: Iterator[Any] = iter(value if isinstance(value, list) else [value])
    return _text(next(values, None))


def _dict(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
