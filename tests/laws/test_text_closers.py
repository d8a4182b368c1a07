"""Closers of calls without a call: markup at the end of a text, text anywhere else."""

from __future__ import annotations

import functools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wholecall import TextCalls, ToolCallParser
from wholecall.calls.output.turns import Turn
from wholecall.text.formats import FORMATS
from wholecall.text.rules import are_closers, rules_of

PROSE = st.lists(
    st.sampled_from(("The", "gate", "is", "shut.", "5 < 6", "naïve", "x>y")), min_size=1, max_size=6
)
BLANKS = st.sampled_from(("", " ", "\n", "\n\n"))


@functools.cache
def closers_of() -> dict[str, list[str]]:
    """Return the closers of each format that has some; only this test compiles all markers, not every collection."""
    lone = {name: rules_of(form, frozenset()).lone for name, form in FORMATS.items()}
    return {name: sorted(closers) for name, closers in lone.items() if closers}


def turn_of(text: str, name: str, size: int) -> Turn[Any]:
    """Return the turn of a stream whose text comes in pieces of this size."""
    parser: ToolCallParser[Any] = ToolCallParser("ollama", text=TextCalls(name))
    for start in range(0, len(text), size):
        message = {"role": "assistant", "content": text[start : start + size]}
        parser.feed(json.dumps({"message": message, "done": False}).encode() + b"\n")
    parser.feed(b'{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n')
    parser.close()
    return parser.turn


@given(
    st.deferred(lambda: st.sampled_from(sorted(closers_of()))),
    st.data(),
    PROSE,
    BLANKS,
    st.integers(1, 9),
    st.booleans(),
)
def test_closers_that_end_a_text_are_markup(
    name: str, data: Any, words: list[str], blanks: str, size: int, goes_on: bool
) -> None:
    """Law 132: closers that end a text are markup, if they cannot be else; those that text follows are text."""
    closers = data.draw(st.lists(st.sampled_from(closers_of()[name]), min_size=1, max_size=3))
    prose, markup = " ".join(words), blanks.join(closers)
    text = f"{prose}\n{markup}" + (" and more" if goes_on else "")
    turn = turn_of(text, name, size)
    is_markup = are_closers(closers) and not goes_on
    expected = (prose if is_markup else text, is_markup)

    assert (*expected, (), ()) == (
        turn.text.strip(),
        "dangling_marker" in turn.anomalies,
        turn.calls,
        turn.dropped,
    )
