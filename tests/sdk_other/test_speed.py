"""The timed work of `litellm`: the same as ours. Nothing is timed here."""

from __future__ import annotations

import pytest

from benchmarks import baselines, workloads
from benchmarks.rivals.memory import OutOfTime, Within
from benchmarks.rivals.readers import READERS

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

[LITELLM] = [reader for reader in READERS if reader.name == "litellm"]
READS = workloads.cut(workloads.w1(LITELLM.dialect).data, 1460)


def test_streams_are_read_to_our_result() -> None:
    """Calls of W1 are as ours."""
    assert baselines.ours(READS) == LITELLM.open(READS)()


def test_it_can_be_stopped() -> None:
    """It does not swallow the exception that stops it when its time is over."""
    with pytest.raises(OutOfTime):
        LITELLM.open(Within(-1, READS))()
