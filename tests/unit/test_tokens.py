"""Tokens of a text that may have defects: their extent, the reading of strings, the counts outside them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.calls.arguments.tokens import Token, holds_number, members, nesting, plain, scan, spell, split


@given(st.text("ab1\"'\\\n ,:{}[]#/*\u201c\u201d\u2018\u00a0.", max_size=20))
def test_tokens_cover_the_text(text: str) -> None:
    """Each character belongs to exactly one token, or is JSON's own white space."""
    done = 0
    for token in scan(text):
        assert text[done : token.start].strip(" \t\r\n") == ""
        done = token.end
    assert text[done:].strip(" \t\r\n") == ""


def test_an_open_string_is_one_token() -> None:
    """A string that is never closed runs to the end of the text."""
    assert [Token("{", 0, 1), Token("open", 1, 6)] == list(scan('{"a\\"b'))


@given(st.text("ab\"'\\\n\tu0041dn\u00e9", max_size=10).map(lambda body: f'"{body}"'))
def test_spelling_and_plain_reading_agree(source: str) -> None:
    """The output of `spell` is strict JSON for the value of `plain`."""
    spelled = spell(source) if [token.kind for token in scan(source)] == ["string"] else None
    if spelled is not None:
        assert plain(source) == json.loads(spelled[0])


def test_spell_lists_an_edit_once_per_string() -> None:
    """A string of many lines is one edit, at its first control character."""
    assert spell('"a\nb\nc"') == ('"a\\nb\\nc"', [("control_char", 2)])


@given(
    st.recursive(
        st.text('[]{}:"\\', max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text('[:"\\', max_size=3), inner, max_size=3)
        ),
    )
)
def test_nesting_and_members_see_through_strings(value: object) -> None:
    """Brackets and colons are counted outside strings only."""

    def measure(item: object) -> tuple[int, int]:
        inner = list(item.values()) if isinstance(item, dict) else item if isinstance(item, list) else []
        below = [measure(one) for one in inner]
        own = len(item) if isinstance(item, dict) else 0
        deeper = 1 if isinstance(item, (dict, list)) else 0
        return max((depth for depth, _ in below), default=0) + deeper, own + sum(count for _, count in below)

    text = json.dumps(value)
    assert measure(value) == (nesting(text).depth, members(text))
    assert nesting(text).open is False
    assert nesting(text[:-1]).open is (text[-1] in '"]}')


@pytest.mark.parametrize(
    ("text", "expected"), [("[12345]", True), ("[1234]", False), ('["12345"]', False), ('"12345', False)]
)
def test_holds_number(text: str, expected: bool) -> None:
    """Only numbers outside strings count."""
    assert expected is holds_number(text, 4)


@together(
    ("text", "expected"),
    [
        ("{}{}", [(0, 2), (2, 4)]),
        ('{"}{":1} {}', [(0, 8), (9, 11)]),
        ("{} x {}", []),
        ("{}{}x", []),
        ("[]{}{}", []),
        ("{}{}{}{}", []),
        ("{}{", []),
        ("{}", []),
    ],
)
def test_split(text: str, expected: list[tuple[int, int]]) -> None:
    """Several groups in a row have ranges, up to a limit; anything else has none."""
    assert expected == split(text, 3)
