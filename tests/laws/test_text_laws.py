"""Laws of every text of a model: pieces do not matter, no text is lost, no exception is raised."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.text.reading import (
    ALL_WEAK,
    EVERY,
    TOOLS,
    begun,
    calls,
    cut,
    literals,
    merged,
    read,
    soups,
    spelled,
)
from wholecall.limits import Limits
from wholecall.stream.snapshots.rows import opened, sealed
from wholecall.text.outputs import Output, Shown
from wholecall.text.records import Weak
from wholecall.text.rules import rules_of
from wholecall.text.source import LOOK_BACK, Ended
from wholecall.text.state import Saved

MANY = examples(3, long=10)
RANDOM = st.integers(0, 2**32).map(random.Random)
ENDS = st.sampled_from(("clean", "length", "open"))
SMALL = Limits(max_arguments_bytes=40, max_raw_bytes=30, max_held_text=50, max_depth=3)


@st.composite
def readings(draw: st.DrawFn) -> dict[str, Any]:
    """Draw how an engine is made."""
    return {
        "tools": draw(st.sampled_from((None, TOOLS))),
        "weak": draw(st.sampled_from((None, ALL_WEAK))),
        "prompt": draw(
            st.sampled_from(("", "", "<think>", "<|start|>assistant", "so ", "<tool_", "\n<tool_call>"))
        ),
        "in_reasoning": draw(st.sampled_from(("ignore", "unclosed", "call"))),
        "in_fence": draw(st.sampled_from(("text", "call"))),
        "limits": draw(st.sampled_from((None, None, SMALL))),
    }


@MANY
@given(soups(), readings(), ENDS, RANDOM, st.sampled_from((0, 0, 7, 4096)))
def test_no_split_changes_what_is_said(
    soup: tuple[str, str], reading: dict[str, Any], ended: Ended, rng: random.Random, window: int
) -> None:
    """Laws 77 and 79: a text in pieces gives the events of the whole text, and nothing raises."""
    name, text = soup
    whole = merged(read(name, [text], ended, **reading))

    assert whole == merged(read(name, cut(text, rng), ended, **reading, window=window))
    assert whole == merged(read(name, list(text), ended, **reading, window=window))


# A call on a separate line, and another call; a value in which a parameter may begin, cut in its possible key.
ON_LINES = "<function_calls>f(a='x')\ng(", 24
HEAD_IN_VALUE = "<ifm|tool_call>s<ifm|arg_key>><ifm|arg_value>\n<ifm|arg_key>><ifm|arg_type>"
IN_A_KEY = f"{HEAD_IN_VALUE}</ifm|arg_value></ifm|tool_call></ifm|arg_type><ifm|arg_value>", 109
IN_A_MARKER = f"{HEAD_IN_VALUE}</ifm|tool_call><ifm|tool_call>l\n</ifm|arg_type><ifm|arg_value>", 131


@MANY
@given(soups(), readings(), st.integers(0, 10_000), st.sampled_from(("length", "open")))
@example(("olmo3", ON_LINES[0]), {}, ON_LINES[1], "length")
@example(("k2_horizon", IN_A_KEY[0]), {}, IN_A_KEY[1], "open")
@example(("k2_horizon", IN_A_MARKER[0]), {}, IN_A_MARKER[1], "open")
def test_a_prefix_gives_a_prefix_of_the_calls(
    soup: tuple[str, str], reading: dict[str, Any], place: int, ended: Ended
) -> None:
    """Law 78: the calls of a text that breaks off are also calls of the whole text."""
    name, text = soup
    whole = calls(read(name, [text], "length", **reading))
    found = calls(read(name, [text[: place % (len(text) + 1)]], ended, **reading))

    assert whole[: len(found)] == found


@MANY
@given(soups(), readings(), ENDS)
@example(("functools", "functools[]]>"), {}, "clean")
@example(("hermes", '<tool_call>{"name": "f"}}}'), {}, "clean")
def test_nothing_is_lost(soup: tuple[str, str], reading: dict[str, Any], ended: Ended) -> None:
    """Law 80: shown text, markup, and the sources of calls and drops are the text, in order."""
    name, text = soup

    assert text == spelled(read(name, [text], ended, **{**reading, "limits": None}))


@examples(long=10)
@given(
    st.sampled_from(sorted(EVERY)), st.lists(st.text(), max_size=10), st.sampled_from((frozenset(), ALL_WEAK))
)
@example("anthropic", ["f"], ALL_WEAK)
def test_plain_text_comes_out_as_it_went_in(name: str, pieces: list[str], shapes: frozenset[Weak]) -> None:
    """Law 81: text without a first character of a marker is emitted piece by piece, at once.

    Where calls may have no marker, the names of tools are markers.
    """
    first = {*rules_of(EVERY[name], shapes).text.first}
    first |= {tool[0] for tool in TOOLS} if "calls" in shapes else set()
    plain = ["".join(c for c in piece if c not in first and not c.isspace()) for piece in pieces]
    engine = begun(name, tools=TOOLS, weak=shapes)

    assert [[Shown(piece)] if piece else [] for piece in plain] == [engine.feed(piece) for piece in plain]
    assert [] == engine.close("clean")


@MANY
@given(soups(), readings(), ENDS, RANDOM, RANDOM)
def test_an_engine_goes_on_elsewhere(
    soup: tuple[str, str], reading: dict[str, Any], ended: Ended, rng: random.Random, moves: random.Random
) -> None:
    """Law 85: the state saved after any piece, as plain data, is enough to give the same later events."""
    name, text = soup
    whole = merged(read(name, [text], ended, **reading))
    engine, found = begun(name, **reading), list[Output]()
    for piece in cut(text, rng):
        found += engine.feed(piece)
        if moves.random() < 0.5:
            saved = msgspec.msgpack.decode(msgspec.msgpack.encode(engine.saved()), type=Saved)
            engine = begun(name, **{**reading, "prompt": ""})
            engine.restore(saved)

    assert whole == merged(found + engine.close(ended))


class Holder:
    """Holds an engine's saved state, as a part of a parser does."""

    saved: Saved


@examples(long=10)
@given(soups(), readings(), RANDOM)
def test_what_is_saved_fits_a_snapshot(
    soup: tuple[str, str], reading: dict[str, Any], rng: random.Random
) -> None:
    """Law 85: the snapshots of the package hold an engine's saved state unchanged."""
    name, text = soup
    engine, kept, made = begun(name, **reading), Holder(), Holder()
    for piece in cut(text, rng):
        engine.feed(piece)
    kept.saved = engine.saved()
    options, rows = opened(sealed(Limits(), [kept]), Limits)
    rows.fill([made], {})

    assert options == Limits()
    assert engine.saved() == made.saved


@pytest.mark.sampled(139)
@pytest.mark.parametrize("name", sorted(EVERY))
@pytest.mark.parametrize("window", [0, 4096])
@pytest.mark.parametrize("blank", [" ", "\n", "x"])
def test_long_runs_behind_a_marker_change_nothing(name: str, window: int, blank: str) -> None:
    """Laws 77 and 80: runs of blanks and letters longer than the look-back follow every marker."""
    run = blank * (2 * LOOK_BACK + 3)
    for literal in literals(EVERY[name]):
        text = f"{literal}{run}{literal}f{run}{{}}{run}"
        whole = merged(read(name, [text], weak=ALL_WEAK, tools=TOOLS))

        assert text == spelled(whole)
        assert whole == merged(read(name, list(text), weak=ALL_WEAK, tools=TOOLS, window=window))
