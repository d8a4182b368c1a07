"""Recorded streams of four wires, through the transport and each library: their calls, or a reason that is written down.

A run tries half of the streams with each library, another half after each change of the package.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.rivals.quirks import is_right, measure
from benchmarks.rivals.recorded import EXCUSES, FOLDER, excuse, measured, recorded
from benchmarks.rivals.streams import Stream
from benchmarks.rivals.systems import System
from tests.support import share

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

MENDED = measured()
CASES = [
    pytest.param(system, stream, id=f"{system.name}, {stream.dialect}/{stream.title}")
    for system in MENDED
    for stream in share.every(5, recorded(system.dialect), f"{system.name}, {system.dialect}")
]


@pytest.mark.parametrize(("system", "stream"), CASES)
def test_recordings_are_read_right(system: System, stream: Stream) -> None:
    """A library gets exactly the executable calls, or without any, none or an error; the exceptions have a reason."""
    said = measure(system, stream, mended=True)

    assert is_right(stream, said) == (not excuse(system.name, stream)), said


def test_excuses_are_of_recordings() -> None:
    """Each reason is about a recording that is there."""
    assert {name for name in EXCUSES if (FOLDER / f"{name}.sse").is_file()} == EXCUSES.keys()


def test_recordings_need_mending() -> None:
    """Without the transport the helper of OpenAI's SDK does not read all of them right: the collection has teeth."""
    [helper] = [one for one in MENDED if (one.name, one.dialect) == ("openai .stream()", "chat-completions")]
    wrong: list[Any] = [
        one for one in recorded(helper.dialect) if not is_right(one, measure(helper, one, mended=False))
    ]

    assert len(wrong) > 20
