"""The claims: repairing a transcript is linear in its messages, repeated ids included, in every shape; and a repair that
knows the last one costs next to nothing for the messages that were sound then.

One id for every call is the hardest: each result has many calls to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.claims import Comparison, Contender, Growth, Ratio
from benchmarks.transcripts import CASES, transcript
from wholecall.history import Repaired, repair_transcript

_MESSAGES = 5_000


def _claim(shape: str, what: str) -> Growth:
    repairs = Contender(
        repair_transcript, lambda messages, found: (found.messages is messages) == (what == "sound")
    )
    return Growth(
        f"repaired messages, {shape}, {what}", lambda n: transcript(shape, what, n), _MESSAGES, len, repairs
    )


_Known = tuple[list[dict[str, Any]], Repaired]


def _known(part: int) -> _Known:
    """Return a sound transcript, and the result of the repair before its last turn."""
    messages = transcript("chat-completions", "sound", max(_MESSAGES // part, 30))
    return messages, repair_transcript(messages[:-3])


def _same(known: _Known, found: Any) -> bool:
    return found.messages is known[0]


_GROWN = Comparison(
    "a turn more, repaired",
    _known,
    {
        "anew": Contender(lambda known: repair_transcript(known[0]), _same),
        "after the last repair": Contender(lambda known: repair_transcript(known[0], after=known[1]), _same),
    },
    (Ratio("after the last repair", "anew", 0.05),),
)
CLAIMS = [*(_claim(shape, what) for shape, what in CASES), _GROWN]


def test_transcripts(race: Callable[[], None]) -> None:
    """Only a sound transcript is returned unchanged."""
    race()
