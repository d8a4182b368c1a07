"""The verdict on argument text: strict first, normalised, recovered, empty, dropped; and how calls end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments import strict
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.limits import Limits
from wholecall.policy import Policy


def outcome(raw: str, **options: Any) -> str:
    """Return a verdict in short: its status, or the reason why it was dropped."""
    verdict = parse_arguments(raw, **options)
    return verdict.reason or verdict.status


def canonical(value: object) -> str:
    """Return a spelling that distinguishes 1, 1.0 and true."""
    return json.dumps(value, sort_keys=True)


# --- exact ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ['{"a":{"b":"\\n"}}', ' \t\r\n{"a":"// \\u2192"}\n', '{"a":1,"a":1}'])
def test_an_exact_text_is_decoded_once(raw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strict decoder sees an exact text once, whole, and sees nothing else."""
    seen: list[str] = []
    decode = strict._decode

    def counting(text: str) -> object:
        seen.append(text)
        return decode(text)

    monkeypatch.setattr(strict, "_decode", counting)
    assert parse_arguments(raw).status == "exact"
    assert [raw] == seen


def test_leaves_are_not_decoded_again() -> None:
    """A string that looks like JSON, an escape, an entity or a literal stays the same string."""
    value = {"json": '{"a": 1}', "escape": "\\u2192", "entity": "&lt;", "literal": "True", "code": "f(x, )"}
    assert value == parse_arguments(json.dumps(value)).arguments


@pytest.mark.parametrize("digits", ["9007199254740993", "-" + "9" * 40, "1" * 4300])
def test_integers_are_exact(digits: str) -> None:
    """Integers of any size up to the limit are exact Python integers."""
    assert {"n": int(digits)} == parse_arguments(f'{{"n":{digits}}}').arguments


def test_json_safe_ints_become_strings_beyond_53_bits() -> None:
    """Only integers that JavaScript cannot hold become strings, at any depth; floats and booleans stay."""
    raw = '{"a":9007199254740991,"b":-9007199254740992,"c":[9007199254740992,{"d":-10000000000000000}],"e":1e20,"f":true}'
    expected = {
        "a": 9007199254740991,
        "b": "-9007199254740992",
        "c": ["9007199254740992", {"d": "-10000000000000000"}],
        "e": 1e20,
        "f": True,
    }
    assert expected == parse_arguments(raw, policy=Policy(json_safe_ints=True)).arguments


def test_json_safe_ints_do_not_make_objects_equal() -> None:
    """An integer and its digits as a string are different values, however they are treated later."""
    raw = '{"a":9007199254740993}{"a":"9007199254740993"}'
    assert outcome(raw, policy=Policy(json_safe_ints=True)) == "multiple_objects"


@together(
    ("raw", "expected"),
    [
        ('{"a":1,"a":1}', "exact"),
        ('{"a":{"x":1,"y":2},"a":{"y":2,"x":1}}', "exact"),
        ('{"a":1,"\\u0061":1}', "exact"),
        ('{"a":1,"a":2}', "duplicate_key"),
        ('{"a":1,"a":1.0}', "duplicate_key"),
        ('{"a":1,"a":true}', "duplicate_key"),
        ('{"a":1,"\\u0061":2}', "duplicate_key"),
        ('{"x":[{"a : \\": ":1,"a : \\": " : 2}]}', "duplicate_key"),
        ('{"a":1,"b":": , \\" : {","a":"1"}', "duplicate_key"),
    ],
)
def test_duplicate_keys(raw: str, expected: str) -> None:
    """Equal values are only flagged; differing ones, of differing types too, drop the call."""
    verdict = parse_arguments(raw)
    assert expected == (verdict.reason or verdict.status)
    assert verdict.flags == (("duplicate_key",) if expected == "exact" else ())


@pytest.mark.parametrize(
    ("raw", "flags"),
    [
        ('{"s":"a\\u0000b"}', ("nul_in_string",)),
        ('{"\\u0000":[]}', ("nul_in_string",)),
        ('{"s":"a\\\\u0000b"}', ()),
        ('{"a":"\\u0000","a":"\\u0000"}', ("duplicate_key", "nul_in_string")),
    ],
)
def test_nul_is_flagged(raw: str, flags: tuple[str, ...]) -> None:
    """A NUL in a decoded string is flagged; an escaped backslash before `u0000` makes none."""
    assert flags == parse_arguments(raw).flags


LONE = ['{"s":"\\ud800"}', '{"s":"\\udc00x"}', '{"s":"\\udc00\\ud800"}', '{"s":"\ud800"}', '{"\\uD83D":1}']


@pytest.mark.parametrize("raw", LONE)
def test_lone_surrogates(raw: str) -> None:
    """Half a pair, escaped or raw, drops the call unless the policy keeps it; it is then exact."""
    assert outcome(raw) == "lone_surrogate"
    kept = parse_arguments(raw, policy=Policy(lone_surrogates="keep"))
    assert kept.status == "exact"
    assert json.loads(raw) == kept.arguments


@pytest.mark.parametrize(
    ("raw", "expected"),
    [('{"s":"\\ud800","n":NaN}', "invalid_json"), ('{"s":"\\ud800","n":1e999}', "number_out_of_range")],
)
def test_kept_surrogates_do_not_weaken_the_other_checks(raw: str, expected: str) -> None:
    """The decoder that can hold half a pair is as strict as the other."""
    assert expected == outcome(raw, policy=Policy(lone_surrogates="keep"))


def test_an_escaped_pair_is_one_character() -> None:
    """A whole surrogate pair is not a lone surrogate."""
    assert {"s": "\U0001f600"} == parse_arguments('{"s":"\\ud83d\\ude00"}').arguments


# --- limits --------------------------------------------------------------------------------------------


@together(
    ("raw", "expected"),
    [
        ('{"a":' + "[" * 127 + "]" * 127 + "}", "exact"),
        ('{"a":' + "[" * 128 + "]" * 128 + "}", "nesting_too_deep"),
        ('{"a":' * 129 + "1" + "}" * 129, "nesting_too_deep"),
        ('{"a":' * 100_000, "nesting_too_deep"),
        ("[" * 100_000, "nesting_too_deep"),
        ('{"a":"' + "[" * 1000 + '\\"' + '{"}', "exact"),
        ('{"a":[' + "[]," * 1000 + "[]]}", "exact"),
        ('{"a":"\\\\",' + '"b":' + "[" * 128 + "]" * 128 + "}", "nesting_too_deep"),
    ],
)
def test_depth(raw: str, expected: str) -> None:
    """The outermost object is level 1; brackets inside strings do not count."""
    assert expected == outcome(raw)


@pytest.mark.parametrize(
    "raw", ["[" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000, "{a:" * 50_000, "{" * 50_000]
)
def test_without_a_depth_limit_nothing_raises(raw: str) -> None:
    """The interpreter's own recursion limit ends a call like any other limit."""
    assert parse_arguments(raw, limits=Limits.none()).status == "dropped"


@together(
    ("raw", "longest", "expected"),
    [
        ('{"n":' + "9" * 4300 + "}", 4300, "exact"),
        ('{"n":' + "9" * 4301 + "}", 4300, "number_too_long"),
        ('{"n":' + "9" * 10**6 + "}", 4300, "number_too_long"),
        ('{"n":1.' + "1" * 4300 + "}", 4300, "number_too_long"),
        ('{"s":"' + "9" * 5000 + '"}', 4300, "exact"),
        ('{"n":' + "9" * 4301 + "}", None, "number_too_long"),
        ('{"n":1.' + "1" * 4300 + "}", None, "exact"),
        ('{"n":12345}', 5, "exact"),
        ('{"n":123456}', 5, "number_too_long"),
        ('{"n":1e400}', 4300, "number_out_of_range"),
        ('{"n":-1e999999999}', 4300, "number_out_of_range"),
        ('{"n":1e-400}', 4300, "exact"),
    ],
)
def test_numbers(raw: str, longest: int | None, expected: str) -> None:
    """A number that is too long or too large drops the call; digits in a string do not."""
    assert expected == outcome(raw, limits=Limits(max_number_chars=longest))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"a":"1"}', "exact"),
        ('{"a":"12"}', "arguments_too_large"),
        ('{"a":"\u00e9"}', "arguments_too_large"),
        ("\U0001f600\U0001f600\U0001f600", "arguments_too_large"),
    ],
)
def test_size_is_counted_in_utf8_bytes(raw: str, expected: str) -> None:
    """A text of exactly the limit passes, one byte more does not."""
    assert expected == outcome(raw, limits=Limits(max_arguments_bytes=9))


@pytest.mark.parametrize(
    ("raw", "expected"), [('{"a":"aaaa",}', "invalid_json"), ('{"a":"aaaaaaaa', "truncated")]
)
def test_long_texts_are_not_recovered(raw: str, expected: str) -> None:
    """Beyond `max_recovery_bytes` only whether a text is cut is reported."""
    assert expected == outcome(raw, limits=Limits(max_recovery_bytes=8))


def test_recovery_gives_up_beyond_max_edits() -> None:
    """As many edits as the limit allows pass, one more does not."""
    assert outcome('{"a":[1,,,2]}', limits=Limits(max_edits=2)) == "recovered"
    assert outcome('{"a":[1,,,,2]}', limits=Limits(max_edits=2)) == "invalid_json"


# --- normalised ----------------------------------------------------------------------------------------


@together(
    ("raw", "edits"),
    [
        ('\ufeff {"a":1} ', [("bom", 0)]),
        ('\u00a0{"a":1}\u200b', [("whitespace", 0), ("whitespace", 8)]),
        ('```json\n{"a":1}\n```', [("code_fence", 0)]),
        ('```{"a":1}```', [("code_fence", 0)]),
        ('\ufeff```\n{"a":1}```\n', [("bom", 0), ("code_fence", 1)]),
        ('"{\\"a\\":1}"', [("double_encoded", 0)]),
        ('```\n"{\\"a\\":1}"\n```', [("code_fence", 0), ("double_encoded", 4)]),
        ('{"a":1}<|im_end|>', [("special_token", 7)]),
        ('{"a":1}\n</tool_call>\n<|im_end|>', [("special_token", 8), ("special_token", 21)]),
        ('{}{"a":1}', [("placeholder", 0)]),
        ('{} {}\n{"a":1}', [("placeholder", 0), ("placeholder", 3)]),
        ('{"a":1}\n{"a": 1}', [("duplicate_object", 8)]),
        ('{}{"a":1}{"a":1}</s>', [("placeholder", 0), ("duplicate_object", 9), ("special_token", 16)]),
    ],
)
def test_envelopes_are_peeled(raw: str, edits: list[tuple[Any, int]]) -> None:
    """Text around strict JSON is removed, and each edit gives its place in the raw text."""
    expected = Verdict("normalised", {"a": 1}, tuple(Edit(*edit) for edit in edits))
    assert expected == parse_arguments(raw)


@together(
    ("raw", "expected"),
    [
        ('{"a":1}{"a":1.0}', "multiple_objects"),
        ('{"a":1}{}', "multiple_objects"),
        ('{}{"a":1}{"b":1}', "multiple_objects"),
        ('{"a":1}{"a":1,"a":2}', "duplicate_key"),
        ('{"a":1},{"a":2}', "multiple_objects"),
        ('```json\n{"a":1}\n```\n```json\n{"b":2}\n```', "multiple_objects"),
        ('{"a":1}{"b":', "truncated"),
        ('{"a":1}[]', "ambiguous"),
        ('"\\"{}\\""', "not_an_object"),
        ('"{\\"a\\":1,}"', "not_an_object"),
        ('"{\\"a\\":1,\\"a\\":2}"', "duplicate_key"),
        ('"null"', "not_an_object"),
        ("```json\n[1]\n```", "not_an_object"),
        ("```json\n```", "unparseable"),
        ("{}" * 1000, "multiple_objects"),
    ],
)
def test_envelopes_that_hold_no_single_object(raw: str, expected: str) -> None:
    """Several documents are never merged and none is chosen; a string is read one level deep."""
    assert expected == outcome(raw)


@pytest.mark.parametrize(
    "raw",
    ['{"s":"```json\\n{}\\n```"}', '{"s":"{}</tool_call>"}', '{"s":"\ufeff<|im_end|>"}', '{"s":"\\"{}\\""}'],
)
def test_envelopes_inside_strings_stay(raw: str) -> None:
    """Text that looks like an envelope inside a string is part of the string."""
    assert json.loads(raw) == parse_arguments(raw).arguments
    assert outcome(raw) == "exact"


# --- empty, dropped ------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ["", " \n", "null", " null\n", "None", "\ufeff", "\u00a0None"])
def test_empty(raw: str) -> None:
    """No arguments are `{}` only where the provider ended the call cleanly."""
    assert Verdict("empty", {}) == parse_arguments(raw)
    assert outcome(raw, ended="length") == "truncated"
    assert outcome(raw, ended="open") == "unterminated"
    assert outcome(raw, ended="open", policy=Policy(require_terminal=False)) == "unterminated"


@together(
    ("raw", "expected"),
    [
        *((raw, "not_an_object") for raw in ('[{"a":1}]', '"hello"', '""', "42", "true", "[1,]")),
        *((raw, "unparseable") for raw in ("path=/x", "I cannot do that.", "use {x} here", "<html>", "?")),
        *((raw, "invalid_json") for raw in ("+1", ".5", "0x10", "01", "NaN", "-Infinity", "True", '"a":1}')),
        *((raw, "truncated") for raw in ('"abc', "[1,2", "tru", "-", "1e", "2.", "{")),
    ],
)
def test_texts_without_an_object(raw: str, expected: str) -> None:
    """Each text without an object has its reason."""
    assert expected == outcome(raw)
