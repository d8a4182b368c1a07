"""Open quotations of a text at every cut."""

from __future__ import annotations

import random
import re

from wholecall.text.state import State

_PARTS = (
    *("word", "word two", "  ind", "    code", "\n", "\n", "\n\n", "- item", "  - x", "> q", "```", "~~~"),
    *("1. a", "# h", "---", "===", "\t", " ", "`a`", "``", "é"),
)


def _left_open(pieces: list[str]) -> State:
    state = State()
    for piece in pieces:
        state.saw(piece)
    return state


def test_lines_of_words_that_are_passed_at_once_leave_what_each_alone_would() -> None:
    """Text that is seen at once leaves the same blocks, spans and line open as its lines one by one."""
    chance = random.Random(5)
    texts = ["".join(chance.choice(_PARTS) for _ in range(chance.randint(1, 14))) for _ in range(4000)]
    lines = [re.findall(r"[^\n]+|\n", text) for text in texts]
    assert [_left_open([text]) for text in texts] == [_left_open(each) for each in lines]
