"""Streams whose events no blank line ends: one event of many data lines, as the standard reads it (quirk 55)."""

from __future__ import annotations

from typing import Any

from tests.support import bless, corpora
from tests.support.together import together
from wholecall.calls.output.events import Event

WORDS = "data: : RELAY PROCESSING\n"


def _lines(data: bytes) -> list[str] | None:
    """Return the data lines of a stream, None unless it has only events without names whose data is one line each."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    events = text.rstrip("\n").split("\n\n")
    is_plain = all(event.startswith("data: ") and "\n" not in event for event in events)
    return events if is_plain else None


def _in_order(events: list[Event]) -> list[Event]:
    """Put the events of calls in the order of their calls: those that end in one frame end so."""
    return sorted(events, key=lambda event: getattr(event, "index", -1))


ENTRIES = [
    entry
    for entry in corpora.cases()
    if _lines(corpora.recorded(entry)) and not entry["expect"].get("faults")
]


@together("entries", corpora.groups(ENTRIES), one_in=3)
def test_lines_without_blank_lines_say_the_same(entries: list[dict[str, Any]]) -> None:
    """A recording without its blank lines, and with comments as data among the others, gives the same events."""
    for entry in entries:
        lines = _lines(corpora.recorded(entry)) or ()
        apart = "".join(f"{line}\n\n" for line in lines).encode()
        joined = f"{WORDS}".join(f"{line}\n" for line in lines).encode()

        assert _in_order(bless.parse([apart])) == _in_order(bless.parse([joined])), entry["name"]
