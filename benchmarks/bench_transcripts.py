"""The claim: repairing a transcript is linear in its messages, repeated ids included, in every shape.

One id for every call is the hardest: each result has many calls to answer.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.claims import Contender, Growth
from benchmarks.transcripts import CASES, transcript
from wholecall.history import repair_transcript

__all__ = ["CLAIMS"]

_MESSAGES = 5_000


def _claim(shape: str, what: str) -> Growth:
    repairs = Contender(
        repair_transcript, lambda messages, found: (found.messages is messages) == (what == "sound")
    )
    return Growth(
        f"repaired messages, {shape}, {what}", lambda n: transcript(shape, what, n), _MESSAGES, len, repairs
    )


CLAIMS = [_claim(shape, what) for shape, what in CASES]


def test_transcripts(race: Callable[[], None]) -> None:
    """Nothing but a sound transcript comes back as it was."""
    race()
