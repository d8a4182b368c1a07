"""The texts of server-sent events in a row, cut if each has the form that its dialect writes; checks of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.unread import with_unread
from wholecall.framing.frame import Frame


def data_of(block: str) -> list[str] | None:
    """Return the data of server-sent events of one line each, None if one of them is of another form."""
    if block.startswith("data: "):
        texts = block[6:].split("\n\ndata: ")
        if "\n" not in "".join(texts):
            return texts
    events = _without_comments(block)
    if any("\n" in event or not event.startswith("data: ") for event in events):
        return None
    return [event[6:] for event in events]


def named_events(block: str) -> Sequence[str] | None:
    """Return server-sent events of a name and one line of data each, None if one of them is of another form."""
    events: Sequence[str] = block.split("\n\n") if "\n\n" in block else (block,)
    if all(map(_is_named, events)):
        return events
    events = _without_comments(block)
    return events if all(map(_is_named, events)) else None


def named_event(text: str) -> Frame | None:
    """Return the frame of a server-sent event of a name and one line of data, None for any other text."""
    name, between, data = text.partition("\ndata: ")
    if not between or "\n" in data or "\n" in name or not name.startswith("event: "):
        return None
    return Frame(name[7:], data)


def _is_named(event: str) -> bool:
    return event.startswith("event: ") and event.find("\n") == event.rfind("\n") > 0


def _without_comments(block: str) -> list[str]:
    return [event for event in block.split("\n\n") if event[:1] != ":" or "\n" in event]


def is_unread(frame: Frame, pieces: Pieces) -> bool:
    """Return whether a frame without any other meaning may hold a call, or a piece of one."""
    return ("tool" in frame.data or "unction" in frame.data) and bool(with_unread([], frame, pieces=pieces))


def is_text(text: Any) -> bool:
    """Return whether a value is a non-empty text without half of a surrogate pair."""
    if type(text) is not str or not text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
