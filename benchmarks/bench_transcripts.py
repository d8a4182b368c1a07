"""The claim: repairing a transcript is linear in its messages, repeated ids included, in every shape.

Compare the two rows of each group. One id for every call is the hardest: each result has many calls to answer.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.transcripts import CASES, transcript
from wholecall.history import repair_transcript

MESSAGES = 10_000


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(("shape", "what"), CASES)
def test_growth(benchmark: Any, shape: str, what: str, times: int) -> None:
    """Double the messages."""
    messages = transcript(shape, what, MESSAGES * times // 2)
    assert (repair_transcript(messages).messages is messages) == (what == "sound")
    benchmark.group = f"repair: {shape}, {what}"
    benchmark.extra_info["messages"] = len(messages)
    benchmark.pedantic(repair_transcript, (messages,), rounds=5, warmup_rounds=1)
