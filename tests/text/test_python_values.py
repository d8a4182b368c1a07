from __future__ import annotations

import ast
import json
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.calls.arguments.equal import spelled_alike
from wholecall.text.python_values import DEEPEST, NotPython, PythonCall, python_calls, python_value

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


def reason_of(text: str, most: int | None = 128) -> str | None:
    """Return why a text is not a literal, None if it is one."""
    try:
        python_value(text, max_depth=most)
    except NotPython as fault:
        return fault.reason
    return None


def reason_of_calls(text: str, most: int | None = 128) -> str | None:
    """Return why a text is not a list of calls, None if it is one."""
    try:
        python_calls(text, max_depth=most)
    except NotPython as fault:
        return fault.reason
    return None


def said(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and arguments of the calls in a text."""
    return [(call.name, call.arguments) for call in python_calls(text, max_depth=128)]


# --- literals ------------------------------------------------------------------------------------------------


@together(
    ("text", "value"),
    [
        ("True", True),
        ("true", True),
        ("False", False),
        ("false", False),
        ("None", None),
        ("null", None),
        ("  7\n", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("1_000", 1000),
        ("0x1F", 31),
        ("-0b11", -3),
        ("0o17", 15),
        ("3.", 3.0),
        (".5", 0.5),
        ("00.5", 0.5),
        ("1_0.2_5", 10.25),
        ("1e3", 1000.0),
        ("12345678901234567890123", 12345678901234567890123),
        ("[]", []),
        ("[1, [2,],]", [1, [2]]),
        ("()", []),
        ("(1,)", [1]),
        ("(1, 2)", [1, 2]),
        ("(1)", 1),
        ("{1, 'a'}", [1, "a"]),
        ("{}", {}),
        ("{'a': 1, \"b\": {'c': [None]},}", {"a": 1, "b": {"c": [None]}}),
        ("{'a': 1, 'a': 1}", {"a": 1}),
    ],
)
def test_a_literal_of_python_or_json_has_its_value(text: str, value: object) -> None:
    """Words and numbers in both languages' spellings; a tuple and a set are lists, one value in brackets is itself."""
    actual = python_value(text, max_depth=128)

    assert (type(value), value) == (type(actual), actual)


@together(
    ("text", "value"),
    [
        ("''", ""),
        ('"it\'s"', "it's"),
        ("'say \"hi\"'", 'say "hi"'),
        (r"'it\'s'", "it's"),
        ("'a\r\nb'", "a\r\nb"),
        ("'''a'b\n''c'''", "a'b\n''c"),
        ('"""a"b\n""c"""', 'a"b\n""c'),
        (r"'\n\t\\\a\b\f\r\v'", "\n\t\\\a\b\f\r\v"),
        (r"'\x41\u00e4\U0001F600\101\0'", "Aä😀A\0"),
        (r"'\N{BULLET}'", "•"),
        ("'one \\\nline'", "one line"),
        ("'one \\\r\nline'", "one line"),
        (r"'\ud83d\ude00'", "😀"),
        (r"'\d+\.\w \N{no such} \xZZ \U99999999'", r"\d+\.\w \N{no such} \xZZ \U99999999"),
        (r'"a\/b"', "a/b"),
        (r"'sed s/a\/b/c/'", r"sed s/a\/b/c/"),
        ("'a' 'b'\n\"c\"", "abc"),
        ("'it'\"'\"'s'", "it's"),
    ],
)
def test_a_string_is_read_with_the_escapes_of_both_languages(text: str, value: str) -> None:
    """An unknown escape keeps its backslash, line ends may be in a string, and strings next to each other join."""
    assert value == python_value(text, max_depth=128)


@together(
    "text",
    [
        *(
            "",
            " ",
            "a",
            "f()",
            "a=1",
            "1 2",
            "1;",
            "- 5",
            "--5",
            "1__0",
            "_1",
            "1+2",
            "2j",
            "NaN",
            "Infinity",
        ),
        *("[", "]", "[1", "[1}", "[,]", "[1,,2]", "(,)", "{1:}", "{'a'}: 1", "{'a':}", "{'a' 1}", "{:1}"),
        *("{'a': 1, 'b'}", "{'a', 'b': 1}", "{1: 'a'}", "{None: 1}", "['a': 1]", "{'a': 1: 2}"),
        *("'", "'a", "'a\\'", "'''a''", "'a' b", "f'a'", "b'a'", "r'a'", "undefined"),
        *("'a''b'", "'sed -n '1,2p' f'", '"say "hi""', "'\\ud83d'", "'\ud83d'", "'a', 'b'"),
    ],
)
def test_what_is_not_one_literal_is_refused(text: str) -> None:
    """No name, expression, unescaped quote or half character is read, and open text is not closed."""
    assert "unparseable" == reason_of(text)


@together(
    ("text", "reason"),
    [
        ("{'a': 1, 'a': 2}", "duplicate_key"),
        ("{'a': 1, 'a': True}", "duplicate_key"),
        ("[[[1]]]", "nesting_too_deep"),
        ("[([{", "nesting_too_deep"),
        ("1e309", "number_out_of_range"),
        ("-1e309", "number_out_of_range"),
        ("9" * 4301, "number_out_of_range"),
        ("0x" + "f" * 4300, "number_out_of_range"),
    ],
)
def test_a_breach_of_a_bound_has_its_reason(text: str, reason: str) -> None:
    """A key with two values, depth beyond the bound, and a number that Python cannot hold."""
    assert reason == reason_of(text, most=2)


def test_an_integer_may_have_as_many_digits_as_can_be_written() -> None:
    """An integer of 4300 digits keeps them all, with a sign or without, and can be written again."""
    texts = ["9" * 4300, "-" + "9" * 4300]

    assert texts == [str(python_value(text, max_depth=1)) for text in texts]


def test_without_a_bound_depth_ends_where_json_does() -> None:
    """Without a limit on depth values are read as deep as JSON's readers and writers recurse."""
    fitting, deeper = ("[" * depth + "]" * depth for depth in (DEEPEST, DEEPEST + 1))

    assert (None, "nesting_too_deep") == (reason_of(fitting, most=None), reason_of(deeper, most=None))


@given(VALUES)
def test_a_value_comes_back_from_pythons_spelling(value: object) -> None:
    """The `repr` of a JSON value is read as that value."""
    assert spelled_alike(value, python_value(repr(value), max_depth=None))


@given(VALUES, st.booleans())
def test_a_value_comes_back_from_jsons_spelling(value: object, escaped: bool) -> None:
    """JSON text is read as its value, too."""
    text = json.dumps(value, ensure_ascii=escaped)

    assert spelled_alike(value, python_value(text, max_depth=None))


BODIES = st.text("a\\nx41N{}'\" \n0", max_size=8)
LEAVES = (
    st.sampled_from(
        ["True", "None", "''", '"b"', "'''c'''", "1.", ".5", "-1_0", "+1e2", "0x1f", "0b_1", "007"]
    )
    | st.builds(lambda quote, body: quote + body + quote, st.sampled_from(["'", '"', "'''", '"""']), BODIES)
    | st.text("0123_.e+-", min_size=1, max_size=6)
)
LITERALS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda brackets, between, items: brackets[0] + between.join(items) + brackets[1],
        st.sampled_from(["[]", "()", ("[", ",]"), ("(", ",)"), (" ( ", " ) ")]),
        st.sampled_from([",", ", ", " , ", "\n,", " "]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)


def _by_python(text: str) -> object:
    """Return Python's own reading, with lists for tuples; raises for invalid text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown escapes
        return json.loads(json.dumps(ast.literal_eval(text.strip())))


@given(LITERALS)
def test_what_python_reads_too_has_pythons_value(text: str) -> None:
    """Where this reader and Python both read a text, they read the same."""
    try:
        value = theirs = python_value(text, max_depth=128)
        theirs = _by_python(text)
    except (ValueError, SyntaxError):  # ours: two strings that touch; theirs: leading zeros, raw line ends
        value = theirs = None

    assert spelled_alike(theirs, value)


# --- calls ---------------------------------------------------------------------------------------------------


@together(
    ("text", "calls"),
    [
        ("[f(a=1), g()]", [("f", {"a": 1}), ("g", {})]),
        ("f(a=1)", [("f", {"a": 1})]),
        ("f(a=1)\ng(b=2)\n", [("f", {"a": 1}), ("g", {"b": 2})]),
        ("f(); g() ,h()", [("f", {}), ("g", {}), ("h", {})]),
        ("[f(),]", [("f", {})]),
        ("[f(a=1)", [("f", {"a": 1})]),
        (" [ f ( a = 1 , ) ] ", [("f", {"a": 1})]),
        ("[]", []),
        ("", []),
        ("_f(from='x', class=\"y\")", [("_f", {"from": "x", "class": "y"})]),
        ("Calendar.create-event(max-results=3)", [("Calendar.create-event", {"max-results": 3})]),
        ("f(a={'b': (1, 2)}, c=[true, null], d='x)]')", [("f", {"a": {"b": [1, 2]}, "c": [True, None], "d": "x)]"})]),
        ("f(a=1, a=1)", [("f", {"a": 1})]),
        ("[set_date(month=07, day=05)]", [("set_date", {"month": 7, "day": 5})]),
        ("[label(tags={'urgent', 'bug'})]", [("label", {"tags": ["urgent", "bug"]})]),
        ("[exec(command='cat << EOF\nprint(1)\nEOF')]", [("exec", {"command": "cat << EOF\nprint(1)\nEOF"})]),
        (r"""[w(city='Martha\'s', metric='\"cool units\"')]""", [("w", {"city": "Martha's", "metric": '"cool units"'})]),
    ],
)  # fmt: skip
def test_calls_are_read_with_their_keyword_arguments(text: str, calls: list[tuple[str, Any]]) -> None:
    """In brackets, on lines, with a comma or semicolon between; keys may be words of Python's grammar."""
    assert calls == said(text)


def test_a_call_knows_its_place() -> None:
    """A call's range reaches from the first character of its name to just after its closing bracket."""
    text = " [f(a=')'),\n g ()]"
    expected = [PythonCall("f", {"a": ")"}, 2, 10), PythonCall("g", {}, 13, 17)]

    assert expected == python_calls(text, max_depth=128)


@together(
    "text",
    [
        *("f", "f(", "f(a", "f(a=", "f(a=1", "[f(a=1]", "f(a=1))", "f(a=1)]", "[f()] x", "[f()][g()]", "f() g()"),
        *("f(1)", "f('a')", "f(a=1, 2)", "f({'a': 1})", "f(**{'a': 1})", "f(*a)", "f(a==1)", "f(,)", "f(a=1,,b=2)"),
        *("f(a=b)", "f(a=g())", "f(a=1+1)", "f(a=1;b=2)", "f(a=)", "f(=1)", "[,f()]", "f(),,g()", "f()()", "1 + f()"),
        *("[text](url)", "[bash(command='sed -n '1,2p' f')]", "[A(A=\t)A(A=,\t\t)A(A=,\t]", "f(a='x' y)", ",", "]"),
    ],
)  # fmt: skip
def test_what_is_not_only_calls_is_refused(text: str) -> None:
    """Positional arguments, names as values, unescaped quotes and anything next to the calls are refused."""
    assert "unparseable" == reason_of_calls(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("f(a=1, a=2)", "duplicate_key"),
        ("f(a=1, a=1.0)", "duplicate_key"),
        ("f(a=[[1]])", "nesting_too_deep"),
        ("f(a=1e309)", "number_out_of_range"),
    ],
)
def test_a_breach_in_a_call_has_its_reason(text: str, reason: str) -> None:
    """The arguments of a call are one level of depth; the list of the calls does not count."""
    assert (None, reason) == (reason_of_calls("[f(a=[1])]", most=2), reason_of_calls(text, most=2))


@given(st.dictionaries(st.from_regex(r"[a-z_]\w{0,9}", fullmatch=True), VALUES, max_size=5), st.booleans())
def test_a_call_comes_back_from_pythons_spelling(arguments: dict[str, Any], bare: bool) -> None:
    """Keyword arguments in Python's spelling are read as they were written."""
    written = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    text = f"f({written})" if bare else f"[f({written}), g()]"

    assert spelled_alike(arguments, python_calls(text, max_depth=None)[0].arguments)


# --- hostile texts -------------------------------------------------------------------------------------------

MANY = 30_000
HOSTILE = [
    *("'" + escape * MANY + "'" for escape in ("\\\\", "\\N{", "\\x4")),
    *(piece * MANY
    for piece in ("[", "(", "{", "]", "'", '"', "''", "'a' ", ",", "\\", "'\\", "a", "0", "1_", " ", "{'a':", "f(a=", "f(),", "f();\n", "'''", ":", "\\N{", ".")),
]  # fmt: skip


@pytest.mark.sampled(11)
@pytest.mark.parametrize("opening", ["", "'", "'''", "[", "f(a=", "f(a='"])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_read_or_refused(opening: str, text: str) -> None:
    """Brackets, quotes, escapes, names and marks without end are read in one pass, with any bound on depth."""
    reasons = {"unparseable", "nesting_too_deep", "number_out_of_range", None}

    assert reasons >= {
        *(reason_of(opening + text, most) for most in (128, None)),
        *(reason_of_calls(opening + text, most) for most in (128, None)),
    }
