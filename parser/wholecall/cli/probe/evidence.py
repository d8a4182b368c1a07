"""The bytes that show a finding, and the request that brought them, as text for people."""

from __future__ import annotations

import shlex

import msgspec

from wholecall.framing.sse import SSEFraming
from wholecall.grading.probe.asking import target_of
from wholecall.grading.probe.exchange import Evidence, Exchange
from wholecall.grading.probe.keys import shown_url

_MOST = 1_200  # characters of a frame
_KEY = {"anthropic": '"x-api-key: $KEY"', "gemini": '"x-goog-api-key: $KEY"'}


def excerpt(exchange: Exchange, place: Evidence) -> str:
    """Return the event that a place names with the one before it; of a plain body, or without a number, its beginning.

    Long texts are cut; characters that no terminal should obey are left to the caller.
    """
    if place.frame < 1:
        return _short(exchange.body.decode(errors="backslashreplace"))
    framing = SSEFraming()
    events = [*framing.feed(exchange.body), *framing.close()]
    first = max(place.frame - 2, 0)
    shown = [
        f"{number}: " + (f"event: {event.event}  " if event.event != "message" else "") + _short(event.data)
        for number, event in enumerate(events[first : place.frame], first + 1)
    ]
    return "\n".join(shown) or _short(exchange.body.decode(errors="backslashreplace"))


def _short(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]} … ({len(text) - _MOST:,} characters more)"


def answered(exchange: Exchange) -> str:
    """Return the status, the content type, and the end of an answer."""
    status = "no answer" if exchange.status is None else f"HTTP {exchange.status}"
    kind = exchange.content_type
    ended = "" if exchange.ended == "closed" else f", {exchange.ended.replace('_', ' ')}"
    return f"{status}{f', {kind}' if kind else ''}{ended}"


def command(exchange: Exchange, url: str, model: str) -> str:
    """Return a command for a shell that repeats a request; the key is a variable.

    Args:
        exchange: the exchange.
        url: the endpoint's URL; its query and parts that look like keys are left out.
        model: the model's name.
    """
    header = _KEY.get(exchange.wire, '"authorization: Bearer $KEY"')
    parts = [
        "curl -sN",
        shlex.quote(target_of(shown_url(url), exchange.wire, model, is_streamed=exchange.is_streamed)),
        "-H 'content-type: application/json'",
        *(["-H 'anthropic-version: 2023-06-01'"] if exchange.wire == "anthropic" else []),
        f"-H {header}",
        f"-d {shlex.quote(msgspec.json.encode(exchange.request).decode())}",
    ]
    return " ".join(parts)
