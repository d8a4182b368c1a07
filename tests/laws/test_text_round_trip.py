"""Round trips of calls in a format's own form: read in that format, and in `auto`."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.text.reading import EVERY, calls, cut, literals, read, visible
from tests.text.writers import WRITERS, Call, schema_of
from wholecall.text.formats import FORMATS, NOT_IN_AUTO
from wholecall.text.outputs import Unread
from wholecall.text.source import Ended

RANDOM = st.integers(0, 2**32).map(random.Random)
NOT_THERE = NOT_IN_AUTO | {"muse", "granite_pythonic", "generic", "react"}
PIECES = sorted({literal for form in EVERY.values() for literal in literals(form)})
WORDS = st.sampled_from(
    [
        *PIECES,
        '"',
        "'",
        "\\",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "\r\n",
        "&amp;",
        "&lt;",
        "<",
        ">",
        " ",
        "a",
        "é",
        "```",
        "null",
        "25",
    ]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=6).map("".join), st.text(max_size=12))
SCALARS = st.one_of(
    TEXTS, st.integers(-(10**25), 10**25), st.booleans(), st.none(),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)  # fmt: skip
KEYS = st.sampled_from(("a", "b", "path_1", "Q", "limit"))
LISTS = st.one_of(st.lists(TEXTS, max_size=3), st.lists(st.integers(), max_size=3))
OBJECTS = st.dictionaries(KEYS, st.one_of(SCALARS, LISTS), max_size=3)
VALUES = st.one_of(SCALARS, SCALARS, LISTS, OBJECTS)
CALLS = st.lists(
    st.builds(
        Call, st.sampled_from(("get_weather", "f", "ns.run")), st.dictionaries(KEYS, VALUES, max_size=3)
    ),
    min_size=1,
    max_size=3,
)


def strings(value: Any) -> list[str]:
    """Return all strings in a value."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for item in items for found in strings(item)]


def can_hold(name: str, text: str) -> bool:
    """Return whether a format can write it: MessagePack and JSON have no lone surrogates, raw values no ends."""
    return not any(literal in text for literal in WRITERS[name].never) and "\x00" not in text


def written(name: str, drawn: list[Call]) -> tuple[list[Call], str, dict[str, Any]]:
    """Return the calls that the format can write, their text, and schemas of their tools."""
    writer = WRITERS[name]
    good = [
        Call(f"{call.name.replace('.', '_') if number else call.name}{number}", call.arguments)
        for number, call in enumerate(drawn)
        if all(
            can_hold(name, text)
            for text in [*strings(dict(call.arguments)), json.dumps(call.arguments, ensure_ascii=False)]
        )
    ][: writer.most]
    tools = {call.name: schema_of(dict(call.arguments)) for call in good}
    text = f"{writer.before}{writer.write(good)}{writer.behind}" if good else ""
    return good, text, tools


@pytest.mark.sampled(19)
@pytest.mark.parametrize("name", sorted(WRITERS))
@examples(1 / 2)
@given(CALLS, RANDOM)
def test_calls_come_back_as_they_were_written(name: str, drawn: list[Call], rng: random.Random) -> None:
    """Laws 82 and 87: typed calls with any text in them come back equal, with only the text around them."""
    good, text, tools = written(name, drawn)
    names = [name] if name in NOT_THERE else [name, "auto"]
    for format_ in names if good else ():
        outputs = read(format_, cut(text, rng), tools=tools)
        found = [(called, json.loads(arguments)) for called, arguments in calls(outputs)]

        assert [(call.name, dict(call.arguments)) for call in good] == found
        assert not [output for output in outputs if isinstance(output, Unread)]
        assert visible(outputs).strip() in {"So be it.  Done.", "So be it.", "Thought: so be it.", ""} | {
            f"So be it. {gap} Done." for gap in ("\n", "\n\n")
        }


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", sorted(WRITERS))
@examples(1)
@given(CALLS, st.sampled_from(("length", "open")), st.booleans(), RANDOM)
def test_a_written_text_that_breaks_off_gives_no_other_call(
    name: str,
    drawn: list[Call],
    ended: Ended,
    union: bool,
    rng: random.Random,
) -> None:
    """Law 78: nor does it where values contain their own end marks, and unintended calls are emitted."""
    writer = WRITERS[name]
    whole = f"{writer.before}{writer.write(own_ends(name, drawn, rng))}{writer.behind}"
    format_ = "auto" if union else name
    expected = calls(read(format_, [whole], weak=frozenset()))
    places = [place for place in range(1, len(whole)) if whole[place - 1] in ">}])\n"]
    for place in rng.sample(places, min(len(places), 12)):
        found = calls(read(format_, [whole[:place]], ended, weak=frozenset()))

        assert expected[: len(found)] == found


def own_ends(name: str, drawn: list[Call], rng: random.Random) -> list[Call]:
    """Return calls whose texts also contain the end marks of the format's values."""
    ends = [*(WRITERS[name].never or literals(FORMATS[name]) or [" "]), "\n"]

    def with_ends(value: Any) -> Any:
        return (
            value + "".join(rng.choice(ends) for _ in range(rng.randrange(3)))
            if isinstance(value, str)
            else value
        )

    return [
        Call(call.name, {key: with_ends(value) for key, value in call.arguments.items()})
        for call in drawn[: WRITERS[name].most]
    ]


def test_every_format_has_a_writer() -> None:
    """Each format is written by one writer."""
    assert sorted(FORMATS) == sorted(WRITERS)
