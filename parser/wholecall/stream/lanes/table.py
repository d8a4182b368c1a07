"""The table of lanes, and the choice of a lane by the first bytes or frame of a stream, if it supports the options."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.stream.lanes.words import CRLF, Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.framing.frame import Frame
    from wholecall.stream.lanes.lane import Lane

POLICY: Final = Policy()
LIMITS: Final = Limits()
_KIB: Final = 1024
# Limits that a lane need not check, except that of calls; each is several times the size that a lane can reach.
_LEAST: Final = {
    "max_line_bytes": 256 * _KIB,
    "max_event_bytes": 256 * _KIB,
    "max_pending_frames_bytes": 256 * _KIB,
    "max_arguments_bytes": 256 * _KIB,
    "max_total_arguments_bytes": 256 * _KIB,
    "max_id_chars": 64,
    "max_name_chars": 64,
    "max_choices": 1,
    "max_turns": 1,
}


_COMMENTS: Final = re.compile(rb"(?::[^\r\n]*\n\n)*")  # `: OPENROUTER PROCESSING`, before the first event


# The marks of a whole response, in this order: a response of OpenAI holds messages.
_BODIES: Final = {
    "chat-completions": re.compile(rb'"object"\s*:\s*"chat\.completion"'),
    "responses": re.compile(rb'"object"\s*:\s*"response"'),
    "anthropic": re.compile(rb'"type"\s*:\s*"message"'),
    "gemini": re.compile(rb'"candidates"'),
}


class _Place(NamedTuple):
    """The module of a dialect's lane, the beginning of its first event, and the text in it."""

    module: str
    name: str
    begins: bytes
    holds: Callable[[bytes], object]


def _word(word: bytes) -> Callable[[bytes], object]:
    return lambda data: word in data


_PLACES: Final = {
    "chat-completions": _Place(
        *("chat", "ChatLane", b"data: {"),
        lambda data: b'"chat.completion.chunk"' in data or b'"prompt_filter_results"' in data,
    ),
    "anthropic": _Place("anthropic", "AnthropicLane", b"event: message_start\n", _word(b'"message_start"')),
    "responses": _Place(
        "responses", "ResponsesLane", b"event: response.created\n", _word(b'"response.created"')
    ),
    "gemini": _Place("gemini", "GeminiLane", b"data: {", _word(b'"candidates"')),
    "ollama": _Place("ollama", "OllamaLane", b"{", re.compile(rb'"message":\s?\{[^\n]*"done":').search),
}


@cache
def lane_of(dialect: str) -> type[Lane] | None:
    """Return the lane of a dialect, and import its module; None if it has none."""
    place = _PLACES.get(dialect)
    if place is None:
        return None
    lane: type[Lane] = getattr(import_module(f"wholecall.stream.lanes.{place.module}"), place.name)
    return lane


@lru_cache(maxsize=16)  # most programs have one pair of them
def are_far(policy: Policy, limits: Limits) -> bool:
    """Return whether calls are judged in the usual way, and no limit is so low that a lane could meet it."""
    if policy != POLICY:
        return False
    return all((most := getattr(limits, name)) is None or most >= least for name, least in _LEAST.items())


def lane_for(dialect: str, framing: str | None, data: bytes, asked: Asked) -> tuple[Lane | None, bool]:
    """Return the lane of a stream that begins with these bytes, None if it has none; and whether it can still have one.

    `dialect` is its name, or `"auto"`; `framing` the framing's, if there is one.
    """
    comments = _COMMENTS.match(data) if data[:1] == b":" else None
    start = comments.end() if comments else 0
    if start == len(data):
        return None, True
    if data[:1] == b"{" and framing is None and (body := _lane_of_body(dialect, data, asked)) is not None:
        body.is_body = True
        return body, False
    for name, place in _PLACES.items():
        begins = dialect in ("auto", name) and data.startswith(place.begins, start)
        if begins and place.holds(data):
            made = lane_of(name)
            if made is None or framing not in (None, made.FRAMING):
                return None, False
            lane = made.of(asked)
            lane.held = b""
            if CRLF in data and lane.framing == "sse":
                lane.between = CRLF
            return lane, False
    return None, False


def _lane_of_body(dialect: str, data: bytes, asked: Asked) -> Lane | None:
    """Return the lane of a whole response: one value, perhaps over several lines, and not several one-line values."""
    first, _, more = data.partition(b"\n")
    if not data.rstrip().endswith(b"}") or (more.strip() and first.strip() != b"{"):
        return None
    known = (name for name, word in _BODIES.items() if dialect in ("auto", name) and word.search(data))
    made = lane_of(next(known, ""))
    return None if made is None else made.of(asked)


def lane_of_frame(dialect: str, frame: Frame, asked: Asked) -> Lane | None:
    """Return the lane of a stream that begins with this frame, None if it has none."""
    data = frame.data.encode("utf-8", "replace")
    if (body := _lane_of_body(dialect, data, asked)) is not None:
        return body
    for name, place in _PLACES.items():
        if dialect in ("auto", name) and place.holds(data):
            made = lane_of(name)
            return None if made is None else made.of(asked)
    return None
