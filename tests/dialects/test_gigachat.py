"""GigaChat's second chat: event in, deltas out."""

from __future__ import annotations

import json

from tests.support.encode_gigachat import call_part, delta, done
from wholecall import collect

# Calls.


# Text, and the end.


def test_events_may_come_as_lines_with_their_names() -> None:
    """An envelope with the name and the data is opened, and no call in it is lost (quirk 120)."""
    events = [delta(call_part("f", {"x": 1}, "a")), done("function_call")]
    lines = [json.dumps({"event": name, "data": payload}) + "\n" for name, payload in events]
    [call] = collect([line.encode() for line in lines]).calls

    assert ("a", "f", {"x": 1}) == (call.id, call.name, call.arguments)
