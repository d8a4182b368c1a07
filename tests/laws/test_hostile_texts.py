"""Argument text that recovery could mistake for syntax: it is read right, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.turns import canonical
from wholecall import parse_arguments
from wholecall.calls.arguments import strict
from wholecall.calls.arguments.tokens import plain, scan
from wholecall.limits import Limits
from wholecall.policy import Policy

# Text that recovery could mistake for syntax, and everything that ends, opens or escapes a string.
PIECES = """" \\ ' \n \t , : { } [ ] // /* */ # \u201c \u201d \u2019 True None null NaN ``` <|im_end|> \u2028
\ud83d\ude00 \u00e9 \\d \\u12 \\n ... \x00 \x7f = ( ) ; 0 -1 1e5 .""".replace(
    "\ud83d\ude00", "\U0001f600"
).split(" ")
HOSTILE = st.lists(st.sampled_from([*PIECES, "a", " "]), max_size=5).map("".join)
SCALARS = st.one_of(
    HOSTILE, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(HOSTILE, VALUES, min_size=1, max_size=4)
TEXTS = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
    OBJECTS,
    st.booleans(),
    st.sampled_from([None, 1]),
)


@given(TEXTS)
def test_a_strict_object_is_exact_and_decoded_as_json_does(text: str) -> None:
    """Laws 11 and 12: valid JSON is never changed, edited or flagged beyond its content."""
    verdict = parse_arguments(text)

    assert ("exact", ()) == (verdict.status, verdict.edits)
    assert canonical(json.loads(text)) == canonical(verdict.arguments)


QUOTED = st.dictionaries(
    st.text(max_size=4), st.text("ab\"'\\\n\t,:{}[]#/\u201c\u201d", max_size=6) | st.integers(), min_size=1
)
DEFECTS = {
    "trailing comma": lambda text: text[:-1] + ",}",
    "surplus closer": lambda text: text + "}",
    "prose": lambda text: "Here it is: " + text,
    "comment": lambda text: "{/* c */" + text[1:] + " // d",
    "special token": lambda text: text + "<|call|>",
    "fence": lambda text: f"```json\n{text}\n```",
}


@pytest.mark.parametrize("defect", DEFECTS)
@given(QUOTED)
def test_a_defect_never_changes_the_value(defect: str, value: dict[str, Any]) -> None:
    """Law 13: one defect around or between hostile strings is undone, and the strings stay."""
    verdict = parse_arguments(DEFECTS[defect](json.dumps(value, ensure_ascii=False)))

    assert value == verdict.arguments


@given(
    st.dictionaries(
        st.text(max_size=4), st.text(max_size=6) | st.booleans() | st.none() | st.integers(), max_size=4
    )
)
def test_a_python_dict_is_right_or_dropped(value: dict[str, Any]) -> None:
    """Law 13: the repr of a dict is read as Python would, or not at all."""
    assert parse_arguments(repr(value)).arguments in (value, None)


@given(st.text("ab\"'\\\n\t{}[]:,", max_size=8))
def test_raw_control_characters_are_right_or_dropped(text: str) -> None:
    """Law 13: control characters that were never escaped are read as they are, or not at all."""
    raw = json.dumps({"a": text}).replace("\\n", "\n").replace("\\t", "\t")
    if "\\" not in text:
        assert parse_arguments(raw).arguments == {"a": text}


@given(TEXTS, st.data())
def test_no_prefix_is_executable(text: str, data: st.DataObject) -> None:
    """Law 7: a cut text is never executed, however the call ended; cleanly ended, its reason is `truncated`."""
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    ends = [parse_arguments(cut, ended=ended).reason for ended in ("clean", "length", "open")]

    assert ["truncated", "truncated", "unterminated"] == ends


@given(TEXTS, st.data())
def test_whatever_comes_out_of_a_mutation_was_in_it(text: str, data: st.DataObject) -> None:
    """Law 8: after a random change each leaf of an executable result is still a token of the text."""
    at = data.draw(st.integers(0, len(text) - 1))
    change = data.draw(st.sampled_from(["", *PIECES]))
    mutated = text[:at] + change + text[at + data.draw(st.integers(0, 1)) :]
    verdict = parse_arguments(mutated)
    if verdict.status == "exact":
        assert canonical(json.loads(mutated)) == canonical(verdict.arguments)
    elif verdict.status == "recovered":
        start = mutated.index("{")
        tokens = [mutated[token.start : token.end] for token in scan(mutated, start)]
        known = {*tokens, *(plain(token) for token in tokens if len(token) > 1)}
        leaves = [leaf for leaf in strict.leaves(verdict.arguments) if isinstance(leaf, str)]
        assert [leaf for leaf in leaves if leaf not in known] == []


@given(st.lists(st.sampled_from([*PIECES, "\ud800", "\\ud800", "{", '"']), max_size=25).map("".join))
def test_nothing_raises(raw: str) -> None:
    """Law 4: any string has a verdict under any policy and limits."""
    keep = Policy(lone_surrogates="keep", json_safe_ints=True, require_terminal=False)
    for limits in (Limits(), Limits.none(), Limits(max_depth=1, max_number_chars=0, max_edits=0)):
        for policy in (Policy(), keep, Policy(recovery="none")):
            verdict = parse_arguments(raw, policy=policy, limits=limits)
            assert (
                (verdict.arguments is None) == (verdict.status == "dropped") == (verdict.reason is not None)
            )
