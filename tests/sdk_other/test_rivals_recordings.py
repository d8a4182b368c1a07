"""Recorded streams of four wires, through the transport and each library that needs older SDKs: half of them, in turns."""

from __future__ import annotations

import pytest

from benchmarks.rivals.quirks import is_right, measure
from benchmarks.rivals.recorded import excuse, measured, recorded
from benchmarks.rivals.streams import Stream
from benchmarks.rivals.systems import OLDER, System
from tests.support import share

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

MENDED = measured()
CASES = [
    pytest.param(system, stream, id=f"{system.name}, {stream.dialect}/{stream.title}")
    for system in MENDED
    for stream in share.every(2, recorded(system.dialect), f"{system.name}, {system.dialect}")
]


@pytest.mark.parametrize(("system", "stream"), CASES)
def test_recordings_are_read_right(system: System, stream: Stream) -> None:
    """A library gets exactly the executable calls, or without any, none or an error; the exceptions have a reason."""
    said = measure(system, stream, mended=True)

    assert is_right(stream, said) == (not excuse(system.name, stream)), said


def test_all_of_them_are_here() -> None:
    """No library is left out because it is not installed."""
    assert {system.name for system in MENDED} == OLDER


def test_gateways_need_mending() -> None:
    """Without the transport a gateway hands a program unsent calls, or calls that are not JSON, in every wire."""
    gateway = [system for system in MENDED if system.name == "any-llm"]
    wrong = {
        system.dialect
        for system in gateway
        if any(
            measure(system, stream, mended=False) in {"wrong", "raw"} for stream in recorded(system.dialect)
        )
    }

    assert wrong == {"chat-completions", "anthropic", "responses", "gemini"}
