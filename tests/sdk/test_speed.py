"""The timed work of libraries: each reads the workloads to our result. Nothing is timed here."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import baselines, live, workloads
from benchmarks.rivals.memory import OutOfTime, Within
from benchmarks.rivals.readers import LIVE, READERS
from tests.support import share

# Libraries' warnings do not matter here.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

READ = 1460
INSTALLED = [reader for reader in READERS if reader.installed]
OF_STREAMS = [reader for reader in INSTALLED if reader.dialect != LIVE]
OF_ARGUMENTS = [reader for reader in INSTALLED if reader.dialect == LIVE]


def named(reader: Any) -> str:
    """Name a reader and its dialect."""
    return f"{reader.name}, {reader.dialect}"


def test_the_sdks_are_there() -> None:
    """The environment has most of the compared libraries, in each dialect."""
    names = {reader.name for reader in OF_STREAMS}

    assert {"openai create()", "openai .stream()", "anthropic create()", "anthropic .stream()"} <= names


@pytest.mark.parametrize("reader", share.every(7, OF_STREAMS, "libraries"), ids=named)
def test_streams_are_read_to_our_result(reader: Any) -> None:
    """Calls of W1 and the text of a turn of text are as ours, the first time and every other."""
    for workload in (workloads.w1(reader.dialect), workloads.plain_text(reader.dialect, workloads.KIB)):
        reads = workloads.cut(workload.data, READ)
        read = reader.open(reads)
        expected = baselines.ours(reads)

        assert [expected, expected] == [read(), read()]


@pytest.mark.parametrize("reader", OF_ARGUMENTS, ids=named)
def test_arguments_are_read_to_our_value(reader: Any) -> None:
    """Parsers that read all text again at every delta end with the value that ours ends with."""
    deltas = live.pieces(workloads.KIB // 4)

    assert live.OURS["values"](deltas) == reader.open(deltas)()


@pytest.mark.parametrize("reader", INSTALLED, ids=named)
def test_every_library_can_be_stopped(reader: Any) -> None:
    """No library swallows the exception that stops it when its time is over."""
    is_live = reader.dialect == LIVE
    pieces = live.pieces(64) if is_live else workloads.cut(workloads.w1(reader.dialect).data, READ)

    with pytest.raises(OutOfTime):
        reader.open(Within(-1, pieces))()
