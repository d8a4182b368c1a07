"""Transcripts to measure with: sound transcripts, and transcripts that make a repair search far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.histories import SHAPES, Answer, Block, Happening, Result, Said, render

_ARGUMENTS = {"path": "notes/harbour.md", "lines": [1, 40]}


def _call(id: str) -> Answer:
    return Answer((Block("text", "Let me look."), Block("call", id=id, arguments=_ARGUMENTS)), "tool_calls")


def _sound(n: int) -> list[Happening]:
    """Calls with distinct ids, each answered in its place."""
    turns = [(Said("And the next one?"), _call(f"call_{k}"), Result(f"call_{k}")) for k in range(n // 3)]
    return [one for turn in turns for one in turn]


def _one_id(n: int) -> list[Happening]:
    """Every call has the same id."""
    return [one for _ in range(n // 3) for one in (Said("Again."), _call("call_1"), Result("call_1"))]


def _unanswered(n: int) -> list[Happening]:
    """Every call has the same id, and none was answered."""
    return [one for _ in range(n // 2) for one in (_call("call_1"), Said("Well?"))]


def _all_at_the_end(n: int) -> list[Happening]:
    """Every call has the same id, and all results come at the end."""
    calls = [one for _ in range(n // 3) for one in (_call("call_1"), Said("Go on."))]
    return [*calls, *[Result("call_1")] * (n // 3)]


def _one_turn(n: int) -> list[Happening]:
    """One answer makes calls of one id, and a result comes now and then."""
    blocks = tuple(Block("call", id="call_1", arguments=_ARGUMENTS) for _ in range(n // 2))
    results = [one for _ in range(n // 4) for one in (Result("call_1"), Said("And?"))]
    return [Answer(blocks, "tool_calls"), *results]


TRANSCRIPTS: dict[str, Callable[[int], list[Happening]]] = {
    "sound": _sound,
    "one id": _one_id,
    "unanswered": _unanswered,
    "all results at the end": _all_at_the_end,
    "one turn": _one_turn,
}

# Everything in the two shapes that differ most, and the hardest of it in every other.
CASES: list[tuple[str, str]] = [
    (shape, what)
    for shape in sorted(SHAPES)
    for what in TRANSCRIPTS
    if shape in ("anthropic", "chat-completions") or what == "one id"
]


def transcript(shape: str, what: str, n: int) -> list[dict[str, Any]]:
    """Return a transcript of about `n` messages."""
    return render(shape, TRANSCRIPTS[what](n))
