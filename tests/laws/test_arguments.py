"""Argument text to a verdict: strict readers agree, valid JSON is never changed, a fault never changes a value."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support import quirky
from tests.support.together import together
from tests.support.turns import canonical, full_objects, objects, values
from wholecall import parse_arguments
from wholecall.policy import Policy

EXECUTABLE = {"exact", "normalised", "recovered", "empty"}
STYLES = st.sampled_from(((",", ":"), (", ", ": "), (" ,\n", "\t:  ")))


class _Refused(ValueError):
    """The reference reader refuses text that is not strict JSON."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _Refused("duplicate key")
    return dict(pairs)


def _constant(name: str) -> Any:
    raise _Refused(name)


def _float(text: str) -> float:
    if math.isinf(float(text)):
        raise _Refused("too large")
    return float(text)


def _reference(text: str) -> Any:
    """Read strict JSON with the standard library, without its extensions that we do not accept either."""
    value = json.loads(text, object_pairs_hook=_members, parse_constant=_constant, parse_float=_float)
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return value


def _damaged(text: str, edits: list[tuple[int, int, str]]) -> str:
    for where, size, new in edits:
        place = where % (len(text) + 1)
        text = text[:place] + new + text[place + size :]
    return text


@given(objects, STYLES, st.booleans())
def test_strict_agreement(value: dict[str, Any], style: tuple[str, str], escape: bool) -> None:
    """Law 11: a text that `json.loads` reads as an object is `exact`, and the same object."""
    text = json.dumps(value, ensure_ascii=escape, separators=style)
    verdict = parse_arguments(text, ended="clean")

    assert ("exact", None) == (verdict.status, verdict.reason)
    assert canonical(json.loads(text)) == canonical(verdict.arguments)
    assert list(json.loads(text)) == list(verdict.arguments or {})


@given(objects, st.lists(st.tuples(st.integers(0, 300), st.integers(0, 2), st.sampled_from(
    ("", " ", ",", "}", "{", '"', "\\", "1", "e", "-", ".", "\n", "\x00", "]", "[", ":", "true", "'", "\u00a0", "\ufeff")
)), min_size=1, max_size=3))  # fmt: skip
def test_strict_agreement_of_damaged_text(value: dict[str, Any], edits: list[tuple[int, int, str]]) -> None:
    """Law 11: the converse too: no text is `exact` that the reference does not read."""
    text = json.dumps(value, ensure_ascii=False)
    text = _damaged(text, edits)
    verdict = parse_arguments(text, ended="clean")
    try:
        reference = _reference(text)
    except _Refused:
        return
    except ValueError:
        assert "exact" != verdict.status
        return
    if isinstance(reference, dict):
        assert ("exact", canonical(reference)) == (verdict.status, canonical(verdict.arguments))
    else:
        assert "exact" != verdict.status


@given(values)
def test_other_values_are_no_arguments(value: Any) -> None:
    """Law 11: JSON that is not an object is never executable, except null and a string that holds an object."""
    text = json.dumps(value)
    assume(not isinstance(value, dict) and value is not None)
    verdict = parse_arguments(text, ended="clean")

    if isinstance(value, str):
        assert verdict.status in {"normalised", "dropped"}
    else:
        assert ("dropped", "not_an_object") == (verdict.status, verdict.reason)


@given(full_objects, STYLES, st.booleans(), st.sampled_from(("clean", "length", "open")))
def test_valid_json_is_never_changed(
    value: dict[str, Any], style: tuple[str, str], escape: bool, ended: Any
) -> None:
    """Law 12: valid JSON has no edits, for any content of its strings, and no policy changes its value."""
    text = json.dumps(value, ensure_ascii=escape, separators=style)

    for policy in (Policy(require_terminal=False), Policy(require_terminal=False, recovery="none")):
        verdict = parse_arguments(text, ended=ended, policy=policy)
        assert ("exact", ()) == (verdict.status, verdict.edits)
        assert canonical(value) == canonical(verdict.arguments)


@together("string", quirky.HOSTILE)
def test_hostile_strings_are_never_changed(string: str) -> None:
    """Law 12: each hostile string alone, as a value and as a key."""
    for value in ({"a": string}, {string: 1}, {"a": [string, {string: string}]}):
        verdict = parse_arguments(json.dumps(value), ended="clean")
        assert ("exact", (), value) == (verdict.status, verdict.edits, verdict.arguments)


# --- one fault outside strings ---------------------------------------------------------------------------------


def _write(value: Any, fault: str) -> str:
    """Write JSON with one kind of fault wherever it fits."""
    comma = ",}" if fault == "trailing_comma" else "}"
    gap = {"comment": ' /* it\'s "x": {1} */ ', "line_comment": " // it's {\n"}.get(fault, "")
    if isinstance(value, dict):
        inner = ",".join(f"{gap}{json.dumps(k)}:{gap}{_write(v, fault)}" for k, v in value.items())
        return "{" + inner + (comma if value else "}")
    if isinstance(value, list):
        inner = ",".join(gap + _write(item, fault) for item in value)
        return "[" + inner + (comma.replace("}", "]") if value else "]")
    if fault == "python_literal" and (value is None or isinstance(value, bool)):
        return repr(value)
    return json.dumps(value)


WRITTEN = ("trailing_comma", "comment", "line_comment", "python_literal")
AROUND = {
    "bom": ("\ufeff", "", "normalised"),
    "no_break_space": ("\u00a0\u2003", "\u3000", "normalised"),
    "fence": ("```json\n", "\n```", "normalised"),
    "bare_fence": ("```\n", "\n```", "normalised"),
    "special_token": ("", "<|im_end|>", "normalised"),
    "closer": ("", "}", "recovered"),
    "closers": ("", "}]}", "recovered"),
    "words_before": ("Here it is: ", "", "recovered"),
    "words_behind": ("", " done", "recovered"),
}


@pytest.mark.parametrize("fault", WRITTEN)
@given(value=full_objects)
def test_faults_between_tokens(fault: str, value: dict[str, Any]) -> None:
    """Law 13: a fault between tokens changes status and edits, never the value."""
    text = _write(value, fault)
    verdict = parse_arguments(text, ended="clean")

    assert canonical(value) == canonical(verdict.arguments)
    assert ("exact" if text == _write(value, "") else "recovered") == verdict.status
    assert bool(verdict.edits) == (verdict.status != "exact")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fault", AROUND)
@given(value=full_objects)
def test_faults_around(fault: str, value: dict[str, Any]) -> None:
    """Law 13: a fault around the object changes status and edits, never the value."""
    before, behind, status = AROUND[fault]
    verdict = parse_arguments(before + json.dumps(value) + behind, ended="clean")

    assert (status, canonical(value)) == (verdict.status, canonical(verdict.arguments))
    assert verdict.edits


@given(full_objects)
def test_double_encoding(value: dict[str, Any]) -> None:
    """Law 13: one level of double encoding is undone, once."""
    verdict = parse_arguments(json.dumps(json.dumps(value)), ended="clean")
    twice = parse_arguments(json.dumps(json.dumps(json.dumps(value))), ended="clean")

    assert ("normalised", canonical(value)) == (verdict.status, canonical(verdict.arguments))
    assert "dropped" == twice.status


@given(full_objects, full_objects)
def test_two_objects(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Law 13: the same object twice is one; two different ones are never chosen from."""
    both = parse_arguments(json.dumps(one) + json.dumps(one), ended="clean")
    verdict = parse_arguments(json.dumps(one) + json.dumps(other), ended="clean")

    assert ("normalised", canonical(one)) == (both.status, canonical(both.arguments))
    if canonical(one) != canonical(other):
        assert ("dropped", "multiple_objects") == (verdict.status, verdict.reason)


@given(full_objects, st.sampled_from(WRITTEN))
def test_recovery_can_be_switched_off(value: dict[str, Any], fault: str) -> None:
    """Law 13: without recovery the same text is dropped, not read otherwise."""
    text = _write(value, fault)
    assume(text != _write(value, ""))

    assert "dropped" == parse_arguments(text, ended="clean", policy=Policy(recovery="none")).status


# --- nothing is made up ---------------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "/": "/", "\\": "\\", "'": "'"}


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        token = match[1]
        return chr(int(token[1:], 16)) if len(token) == 5 else _PLAIN.get(token, match[0])

    return _ESCAPE.sub(plain, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in (key, *_leaves(inner))]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value]


def _check_leaves(text: str, arguments: dict[str, Any]) -> None:
    readings = (text, _unescaped(text), _unescaped(_unescaped(text)))
    numbers = {
        float(token) for token in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", text) if len(token) < 300
    }
    for leaf in _leaves(arguments):
        if isinstance(leaf, str):
            assert any(leaf in reading for reading in readings), (text, leaf)
        elif isinstance(leaf, (int, float)) and not isinstance(leaf, bool):
            assert any(float(leaf) == number for number in numbers), (text, leaf)
        else:
            words = {True: ("true", "True"), False: ("false", "False"), None: ("null", "None")}[leaf]
            assert any(word in text for word in words), (text, leaf)


@given(st.lists(st.sampled_from(
    ("{", "}", "[", "]", ",", ":", '"', "'", "a", '"a"', "'b'", "1", "-2.5e3", "true", "None", "\\", "\\n", "\\d", "//",
     "/*", "*/", "#", "\n", " ", "```", '{"a":', "\u201c", "\u201d", "\ufeff", "x", "\\u0041", "NaN", "{}", "x:", "\t")
), max_size=12).map("".join))  # fmt: skip
def test_nothing_is_made_up(text: str) -> None:
    """Law 14: for any text, each leaf of the output is a token of the input."""
    verdict = parse_arguments(text, ended="clean")

    assert (verdict.status in EXECUTABLE) == (verdict.arguments is not None) == (verdict.reason is None)
    if verdict.arguments is not None:
        _check_leaves(text, verdict.arguments)


@given(objects, st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3), st.sampled_from(
    ("", "'", '"', ",", "\n", "#", "//", "True", "}", "{}", "\\", "`", "a", ":")
)), min_size=1, max_size=3))  # fmt: skip
def test_nothing_is_made_up_of_damaged_text(value: dict[str, Any], edits: list[tuple[int, int, str]]) -> None:
    """Law 14: the same for objects with a few characters changed."""
    text = json.dumps(value)
    text = _damaged(text, edits)
    verdict = parse_arguments(text, ended="clean")

    if verdict.arguments is not None:
        _check_leaves(text, verdict.arguments)


@given(full_objects, st.sampled_from(("clean", "length", "open")))
def test_no_prefix_is_executable(value: dict[str, Any], ended: Any) -> None:
    """Law 7: no proper prefix of an object is executable: closing brackets or strings is never recovery."""
    text = json.dumps(value)

    for place in range(1, len(text)):
        verdict = parse_arguments(text[:place], ended=ended, policy=Policy(require_terminal=False))
        assert "dropped" == verdict.status, text[:place]


@pytest.mark.parametrize("text", ["", " ", "null", "None", "\n"])
def test_empty_text(text: str) -> None:
    """Empty text is `{}` only if the provider ended the call cleanly."""
    verdict = parse_arguments(text, ended="clean")

    assert ("empty", {}) == (verdict.status, verdict.arguments)
    assert ["dropped", "dropped"] == [
        parse_arguments(text, ended=ended).status for ended in ("length", "open")
    ]


@given(st.text(max_size=60), st.sampled_from(("clean", "length", "open")))
def test_any_text(text: str, ended: Any) -> None:
    """Law 4: no text makes the verdict raise, and the verdict shows none of it."""
    verdict = parse_arguments(text, ended=ended)

    assert verdict.status in {*EXECUTABLE, "dropped"}


@given(full_objects)
def test_verdicts_show_no_text(value: dict[str, Any]) -> None:
    """Law 28: the repr of a verdict, and its detail, hold no argument text."""
    value["secret"] = "sekrit-7f3a"
    for text in (json.dumps(value), json.dumps(value)[:-1], json.dumps(value) + '"'):
        assert "sekrit-7f3a" not in repr(parse_arguments(text, ended="clean"))
