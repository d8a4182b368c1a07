"""A parser may forget text at any moment: its events of calls do not depend on it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.laws.test_timeline import RECORDINGS, cut
from tests.support import corpora
from wholecall import ToolCallParser

_VIEWS = (
    "calls",
    "custom_calls",
    "builtin_calls",
    "server_calls",
    "dropped",
    "cancelled",
    "reason",
    "anomalies",
)


def told(path: Path, *, forgetful: bool) -> tuple[list[bytes], list[Any]]:
    """Return the events of a recording, and each turn without its text, with a parser that forgets or does not."""
    data = path.read_bytes()
    parser = ToolCallParser()
    events = []
    for _, chunk in cut(data, Random(path.name)):
        events += parser.feed(chunk)
        if forgetful:
            parser.forget()
            assert all(turn.text == turn.reasoning.text == "" for turn in parser.turns)
    events += parser.close()
    views = [[getattr(turn, view) for view in _VIEWS] for turn in parser.turns]
    return [event.to_json() for event in events], views


@pytest.mark.sampled(13)
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS))
def test_forgetting_changes_no_event(paths: list[Path]) -> None:
    """Law 64: the events are the same, and the turns but for their text and reasoning."""
    for path in paths:
        assert told(path, forgetful=False) == told(path, forgetful=True), path.name
