"""Old arguments made short: which strings are cut and where, the protected parts, and the effect of a budget."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.together import together
from wholecall.history import shrink_arguments
from wholecall.history.spans import Leaf, Marker, read_spans

MARKER = "...[truncated]"
LONG = "abcdefghijklmnopqrstuvwxyz0123456789"


def shrunk(text: str, max_leaf: int = 10, **more: Any) -> str:
    """Return the text with strings cut after a few characters, however short it is."""
    found = shrink_arguments(text, **{"max_leaf": max_leaf, "threshold": 0, **more})
    assert found.valid
    return found.text


# Valid in, valid out.


@together(
    ("text", "expected"),
    [
        (f'{{"c":"{LONG}"}}', f'{{"c":"abcdefghij{MARKER}"}}'),
        (f'{{"c": "{LONG}","n":1.10,"n":2}}', f'{{"c": "abcdefghij{MARKER}","n":1.10,"n":2}}'),
        (f'{{"n":1e400,"c":"{LONG}"}}', f'{{"n":1e400,"c":"abcdefghij{MARKER}"}}'),
        (f'{{"n":1E5 ,\n"c":["{LONG}"]}}', f'{{"n":1E5 ,\n"c":["abcdefghij{MARKER}"]}}'),
        (f'["{LONG}",0.1000000000000000055]', f'["abcdefghij{MARKER}",0.1000000000000000055]'),
        (f'{{"{LONG}":1}}', f'{{"{LONG}":1}}'),
        (f'{{"c":"{LONG}","d":"\\ud83d"}}', f'{{"c":"abcdefghij{MARKER}","d":"\\ud83d"}}'),
        (f' {{"c":"{LONG}"}}\n', f' {{"c":"abcdefghij{MARKER}"}}\n'),
    ],
)
def test_only_strings_change(text: str, expected: str) -> None:
    """Keys, their order and repeats, numbers as they are spelled, spaces and escapes stay: only long strings change."""
    assert expected == shrunk(text)
    assert type(json.loads(text)) is type(json.loads(expected))


@pytest.mark.parametrize("text", [f'"{LONG * 20}"', "1", "null", "[]", "{}", " true "])
def test_a_text_of_one_scalar_stays(text: str) -> None:
    """A text that is one string may hold encoded arguments: it is never cut, and its type never changes."""
    found = shrink_arguments(text, threshold=0, max_leaf=1)

    assert (text, False, True) == (found.text, found.changed, found.valid)


NOT_JSON = (
    "",
    " ",
    '{"path":"/foo","content":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '{"a":1,}',
    '{"a" 1}',
    "{'a':1}",
    '{"n":NaN}',
    '{"n":01}',
    '{"n":1.}',
    '{"n":+1}',
    '{"n":.5}',
    '{"n":-}',
    '{"n":1e}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '{"a":1}}',
    '{"a":1]',
    "[1,]",
    "[,1]",
    "[1 2]",
    '["a" "b"]',
    '{"a"}',
    '{"a":}',
    '{"a":1 "b":2}',
    '{1:"a"}',
    "{:1}",
    ":",
    ",",
    "}",
    "]",
    "[[]",
    '{"a":1} x',
    '{"a":1}{"a":1}',
    "[1] 2",
    "tru",
    "None",
    '// c\n{"a":1}',
    "\ufeff{}",
    "\u00a0{}",
    "[\u0661]",
    '"\\',
    '{"a":"\x00"}',
)


@together("text", NOT_JSON)
def test_what_is_no_json_is_told(text: str) -> None:
    """Text that is not JSON comes back unchanged and flagged, for the caller to wrap: it would poison a session."""
    found = shrink_arguments(text, threshold=0, max_leaf=1)

    assert found.text is text
    assert (False, False, 0) == (found.valid, found.changed, found.elided)


@together(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1e400}',
        '{"a":"\\ud83d"}',
        '{"a":"\ud83d"}',
        f'{{"a":{"9" * 5000}}}',
        '{"":{"a":[[],{},-0,1.5E-3,true,false,null]}}',
        '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9"}',
        '["\x7f\u2028"]',
    ],
)
def test_validity_is_grammar(text: str) -> None:
    """Repeated keys, numbers of any size and lone surrogates are JSON, though not executable arguments."""
    assert shrink_arguments(text).valid


# Never longer.


@pytest.mark.parametrize("size", [200, 201, 213, 214])
def test_a_cut_that_gains_nothing_is_not_made(size: int) -> None:
    """The marker takes room itself: a string that would get longer, or stay as long, stays unchanged."""
    text = json.dumps({"s": "y" * size})
    found = shrink_arguments(text, threshold=0)

    assert found.text is text
    assert (False, 0) == (found.changed, found.elided)


def test_the_first_cut_that_gains() -> None:
    """One character more, and it is cut."""
    found = shrink_arguments(json.dumps({"s": "y" * 215}), threshold=0)

    assert (json.dumps({"s": "y" * 200 + MARKER}), 15) == (found.text, found.elided)


def test_bytes_count_too() -> None:
    """A marker may be short in characters and long in bytes; neither may grow."""
    text = '{"s":"yyyyy"}'

    assert text == shrunk(text, 2, marker="→")
    assert '{"s":"yy→"}' == shrunk('{"s":"yyyyyy"}', 2, marker="→")


def test_characters_count_too() -> None:
    """Fewer bytes in as many characters are not a gain either."""
    assert f'{{"s":"{"→" * 19}"}}' == shrunk(f'{{"s":"{"→" * 19}"}}', 5)
    assert f'{{"s":"{"→" * 5}{MARKER}"}}' == shrunk(f'{{"s":"{"→" * 20}"}}', 5)


def test_short_texts_are_left_alone() -> None:
    """A text up to the threshold is not touched, whatever its strings."""
    text = json.dumps({"s": "y" * 491})

    assert 500 == len(text)
    assert shrink_arguments(text).text is text
    assert shrink_arguments(text + " ").changed


# Where strings are cut.


@together(
    ("body", "expected"),
    [
        ("\\ud83d\\ude00" * 3 + "-" * 30, "\\ud83d\\ude00" * 2),
        ("😀" * 3 + "-" * 30, "😀" * 2),
        ("\ud83d\\ude00" * 3 + "-" * 30, "\ud83d\\ude00" * 2),
        ("\ud83d\ude00" * 3 + "-" * 30, "\ud83d\ude00" * 2),
        ("v\\\\u2192" + "y" * 40, "v\\\\"),
        ("\\n\\u0041" + "y" * 40, "\\n\\u0041"),
        ('\\"' * 40, '\\"' * 2),
        ("\\ud83d" * 10, "\\ud83d" * 2),
        ("\\ud83dx\\ude00" + "y" * 40, "\\ud83dx"),
        ("é→" + "y" * 40, "é→"),
    ],
)
def test_escapes_and_pairs_stay_whole(body: str, expected: str) -> None:
    """`max_leaf` counts decoded characters; no cut falls inside an escape or a surrogate pair."""
    assert f'{{"s":"{expected}{MARKER}"}}' == shrunk(f'{{"s":"{body}"}}', 2)


@pytest.mark.parametrize(
    ("text", "max_leaf", "kept"),
    [
        ("ne\u0301e" + "x" * 40, 2, "n"),
        ("ab👩\u200d💻" + "x" * 40, 3, "ab"),
        ("ab👩\u200d💻" + "x" * 40, 4, "ab"),
        ("a👍🏽" + "x" * 40, 2, "a"),
        ("\u0301" * 100, 70, "\u0301" * 70),
        ("a" + "\u0301" * 100, 20, ""),
    ],
)
def test_signs_stay_whole(text: str, max_leaf: int, kept: str) -> None:
    """A combining mark, a joined emoji and a skin tone stay with their base; endless marks are cut anyway."""
    for ascii_only in (False, True):
        raw = json.dumps({"s": text}, ensure_ascii=ascii_only)
        assert {"s": kept + MARKER} == json.loads(shrunk(raw, max_leaf))


def test_markers_that_join_their_neighbours() -> None:
    """Next to a marker of combining marks no sign is whole anyway: there characters are cut, and twice is once."""
    text = json.dumps({"s": "ne\u0301" + "x" * 40}, ensure_ascii=False)
    once = shrunk(text, 2, marker="\u0301\u200d")

    assert '{"s": "ne\u0301\u200d"}' == once == shrunk(once, 2, marker="\u0301\u200d")


@pytest.mark.parametrize(
    ("tail", "expected"),
    [(0, "abcdefghij" + MARKER), (3, "abcdefg" + MARKER + "789"), (10, MARKER + "0123456789")],
)
def test_tails(tail: int, expected: str) -> None:
    """The end of a string may be kept too, within the same limit: it often names the target."""
    assert f'{{"c":"{expected}"}}' == shrunk(f'{{"c":"{LONG}"}}', tail=tail)


def test_tails_keep_pairs_and_signs() -> None:
    """The end begins with a whole sign."""
    text = json.dumps({"s": "x" * 40 + "e\u0301z"}, ensure_ascii=False)

    assert '{"s": "xx...[truncated]z"}' == shrunk(text, 4, tail=2)
    assert '{"s":"x...[truncated]\\ud83d\\ude00"}' == shrunk(
        '{"s":"' + "x" * 40 + '\\ud83d\\ude00"}', 2, tail=1
    )


def test_what_is_missing_is_counted() -> None:
    """`elided` counts the decoded characters that are missing, over all strings."""
    found = shrink_arguments(json.dumps({"a": "é" * 300, "b": ["→" * 250]}))

    assert 150 == found.elided


def test_markers_are_strings() -> None:
    """A marker is text like any other, escaped where JSON requires it."""
    assert {"s": 'ab"cut"\n'} == json.loads(shrunk('{"s":"' + "ab" * 20 + '"}', 2, marker='"cut"\n'))


# Protected keys.


@pytest.mark.parametrize(
    ("text", "protect"),
    [
        (f'{{"path":"{LONG}"}}', ("path",)),
        (f'{{"a":{{"path":["{LONG}",{{"b":"{LONG}"}}]}}}}', ("path",)),
        (f'{{"p\\u0061th":"{LONG}"}}', ["path"]),
        (f'[{{"a":"{LONG}"}},{{"b":"{LONG}"}}]', {"a", "b"}),
        (f'{{"":"{LONG}"}}', ("",)),
    ],
)
def test_protected_keys(text: str, protect: Any) -> None:
    """Nothing is cut below a protected key, at any depth, however the key is spelled."""
    assert text == shrunk(text, protect=protect)
    assert text == shrunk(text, protect=protect, max_bytes=5)


def test_what_stands_beside_a_protected_key() -> None:
    """Protection ends with the value of its key."""
    text = f'{{"path":["{LONG}"],"c":"{LONG}","path ":"{LONG}"}}'
    cut = f"abcdefghij{MARKER}"

    assert f'{{"path":["{LONG}"],"c":"{cut}","path ":"{cut}"}}' == shrunk(text, protect=("path",))


# Budgets.


def test_a_text_that_fits() -> None:
    """A text that fits the budget is treated as without one."""
    text = f'{{"c":"{LONG}"}}'
    found = shrink_arguments(text, max_bytes=1000)

    assert found.text is text
    assert found.fits
    assert shrunk(text) == shrunk(text, max_bytes=1000)


def test_long_strings_give_first() -> None:
    """Strings are cut to one common length, the greatest that fits: short ones stay, keys are never cut."""
    text = json.dumps({"k" * 50: "x" * 1000, "b": "y" * 400, "c": "z" * 30})
    found = shrink_arguments(text, max_bytes=300)
    value = json.loads(found.text)

    assert (True, True) == (found.fits, found.valid)
    assert ["k" * 50, "b", "c"] == list(value)
    assert "z" * 30 == value["c"]
    kept = [len(value[key].removesuffix(MARKER)) for key in ("k" * 50, "b")]
    assert kept[0] == kept[1]
    assert 298 <= len(found.text) <= 300


@pytest.mark.parametrize("max_bytes", [40, 100, 400, 5000, 9000])
def test_a_budget_is_used(max_bytes: int) -> None:
    """A budget is met whenever cutting strings can meet it, and little of it is left over."""
    found = shrink_arguments(json.dumps({"a": "x" * 10_000}), max_bytes=max_bytes, max_leaf=10_000)

    assert found.fits
    assert max_bytes - 2 <= len(found.text) <= max_bytes


def test_a_budget_goes_below_the_threshold() -> None:
    """A short text that misses the budget is cut all the same, but keeps as much as fits."""
    text = json.dumps({"a": "x" * 400})

    assert ["x" * 77 + MARKER, "x" * 367 + MARKER] == [
        json.loads(shrink_arguments(text, max_bytes=size).text)["a"] for size in (100, 390)
    ]


def test_tails_shrink_with_their_strings() -> None:
    """Under a budget a string keeps its end in the same proportion."""
    text = json.dumps({"a": "".join(map(chr, range(0x4E00, 0x4E00 + 400)))}, ensure_ascii=False)
    value = json.loads(shrink_arguments(text, max_leaf=200, tail=100, max_bytes=200).text)["a"]
    head, tail = value.split(MARKER)

    assert abs(len(head) - len(tail)) <= 1
    assert (chr(0x4E00), chr(0x4E00 + 399)) == (head[0], tail[-1])


def test_arrays_lose_their_middles() -> None:
    """When strings are exhausted, the middles of long arrays are replaced by one marker; their ends stay."""
    found = shrink_arguments(json.dumps({"rows": [f"row {n}" for n in range(2000)]}), max_bytes=1000)
    rows = json.loads(found.text)["rows"]
    at = rows.index(MARKER)

    assert found.fits
    assert found.elided > 20_000
    assert 990 <= len(found.text) <= 1000
    assert [f"row {n}" for n in range(at)] == rows[:at]
    assert [f"row {n}" for n in range(2000 - len(rows) + at + 1, 2000)] == rows[at + 1 :]
    assert 0 <= at - (len(rows) - at - 1) <= 1


def test_arrays_in_arrays() -> None:
    """Arrays within a removed part are removed with it; those within a kept part lose their own middles."""
    text = json.dumps([[list(range(50))] * 30, list(range(500)), [1]])
    value = json.loads(shrink_arguments(text, max_bytes=150).text)
    inner = [0, 1, MARKER, 49]

    assert [[inner, inner, MARKER, inner], [0, 1, MARKER, 499], [1]] == value


def test_spaces_around_a_middle_stay() -> None:
    """The kept parts keep their spelling."""
    text = "[ 1 ,  " + "2 , " * 200 + " 3.0 ]"

    assert f'[ 1 ,  "{MARKER}" ,  3.0 ]' == shrink_arguments(text, max_bytes=30).text


@pytest.mark.parametrize(
    ("text", "protect"),
    [
        (json.dumps({"rows": list(range(500))}), ("rows",)),
        (json.dumps([0, *({"id": n} for n in range(200)), 0]), ("id",)),
    ],
)
def test_protected_items_stay(text: str, protect: tuple[str, ...]) -> None:
    """An array below a protected key stays, and so does one whose middle holds a protected key."""
    found = shrink_arguments(text, protect=protect, max_bytes=50)

    assert found.text is text
    assert not found.fits


def test_protected_ends_stay() -> None:
    """A protected key at the end of an array does not hold its middle."""
    text = json.dumps([{"id": 0}, *range(300), {"id": 1}])

    found = shrink_arguments(text, protect=("id",), max_bytes=42)
    assert [{"id": 0}, MARKER, {"id": 1}] == json.loads(found.text)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"k" * 1000: 1}),
        f'"{LONG}"',
        json.dumps(list(range(100, 103))),
        json.dumps({str(n): n for n in range(99)}),
    ],
)
def test_a_budget_that_cannot_be_met(text: str) -> None:
    """Keys, numbers and single strings are not cut: the caller gets the report that the text is too long."""
    found = shrink_arguments(text, max_bytes=12)

    assert (text, False, False) == (found.text, found.changed, found.fits)


def test_what_could_be_done_is_done() -> None:
    """A budget that cannot be met is approached as closely as possible."""
    text = json.dumps({"key" * 100: "x" * 1000, "rows": list(range(100))})
    found = shrink_arguments(text, max_bytes=100)

    assert ({"key" * 100: MARKER, "rows": [0, MARKER, 99]}, False) == (json.loads(found.text), found.fits)
    assert shrink_arguments(found.text, max_bytes=100).text is found.text


def test_budgets_count_bytes() -> None:
    """A budget is in UTF-8 bytes, not in characters."""
    text = json.dumps({"a": "→" * 100}, ensure_ascii=False)

    assert not shrink_arguments(text, max_bytes=309).changed
    assert shrink_arguments(text, max_bytes=308).changed
    assert len(shrink_arguments(text, max_bytes=200).text.encode()) <= 200


# Dicts.


def test_dicts_stay_dicts() -> None:
    """An object of an object format shrinks too, into a new dict; the object itself is unchanged."""
    inner = ["y" * 300, {"path": "z" * 300}, (1, 2.5, None)]
    value = {"a": "x" * 300, "b": inner, "n": 10**30}
    found = shrink_arguments(value, protect=("path",))

    assert {
        "a": "x" * 200 + MARKER,
        "b": ["y" * 200 + MARKER, {"path": "z" * 300}, [1, 2.5, None]],
        "n": 10**30,
    } == found.text
    assert (True, 200) == (found.valid, found.elided)
    assert ("x" * 300, inner) == (value["a"], value["b"])


def test_a_dict_that_is_short() -> None:
    """An object that needs no cut is returned itself."""
    value = {"a": "x" * 300}

    assert shrink_arguments(value).text is value
    assert not shrink_arguments(value).changed


def test_budgets_of_dicts() -> None:
    """The budget of a dict is that of its compact text; arrays within a removed part are removed with it."""
    rows = [{"n": n, "tags": [f"tag {n}", ["deep"] * 9]} for n in range(300)]
    value = {"rows": rows, "last": [list(range(100)), "x"]}
    found = shrink_arguments(value, max_bytes=300)
    text = json.dumps(found.text, separators=(",", ":"))

    assert (True, True) == (found.fits, len(text) <= 300)
    assert text == shrink_arguments(json.dumps(value, separators=(",", ":")), max_bytes=300).text
    assert 300 == len(rows)


def test_cut_strings_of_dicts_keep_their_characters() -> None:
    """Cuts in a dict fall between characters as in a text, lone surrogates among them."""
    value = {"a": "\ud83d😀é" * 100}

    assert {"a": "\ud83d😀é\ud83d" + MARKER} == shrink_arguments(value, max_leaf=4, threshold=0).text


def test_dicts_that_are_no_json() -> None:
    """A dict with NaN is not JSON: it comes back unchanged, and is flagged."""
    value = {"a": float("nan"), "b": "x" * 1000}
    found = shrink_arguments(value)

    assert found.text is value
    assert (False, False, True) == (found.changed, found.valid, found.fits)
    assert not shrink_arguments(value, max_bytes=10**6).fits


def test_deep_dicts() -> None:
    """Depth costs no stack."""
    value: dict[str, Any] = {"s": "x" * 1000}
    for _ in range(3000):
        value = {"k": [value]}
    found: Any = shrink_arguments(value).text
    for _ in range(3000):
        found = found["k"][0]

    assert {"s": "x" * 200 + MARKER} == found


# Mistakes.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_leaf": -1}, "negative"),
        ({"threshold": -1}, "negative"),
        ({"tail": -1}, "negative"),
        ({"max_bytes": -1}, "negative"),
        ({"max_leaf": 5, "tail": 6}, "tail is a part of max_leaf: 6 is more than 5"),
        ({"marker": "\ud83d"}, "lone surrogate cannot be sent"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    """Meaningless numbers are refused."""
    with pytest.raises(ValueError, match=message):
        shrink_arguments("{}", **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (None, {}, "JSON text or a dict, not NoneType"),
        (b"{}", {}, "JSON text or a dict, not bytes"),
        ([1], {}, "JSON text or a dict, not list"),
        ({"a": b"x"}, {}, "JSON has no bytes"),
        ("{}", {"protect": "path"}, "put the one key into a tuple"),
    ],
)
def test_arguments_that_cannot_be(arguments: Any, options: dict[str, Any], message: str) -> None:
    """Arguments and keys of another type are refused."""
    with pytest.raises(TypeError, match=message):
        shrink_arguments(arguments, **options)


def test_the_repr_shows_no_arguments() -> None:
    """The shrunk value is argument text, and its repr shows its length only."""
    found = shrink_arguments('{"secret":"sekrit-7f3a"}')

    assert "Shrunk(text=<24>, changed=False, valid=True, elided=0, fits=True)" == repr(found)


# The parts.


def test_spans() -> None:
    """Strings are numbered among all string values, arrays among all arrays; protected values are not listed."""
    text = '["a",{"p":["b",["c",0,0]],"q":["d",[],1]},[2]]'
    spans = read_spans(text, ("p",), arrays=True)

    assert spans is not None
    assert ["a", "d"] == [text[string.start + 1 : string.end - 1] for string in spans.strings]
    assert [0, 3] == [string.number for string in spans.strings]
    assert [0, 3] == [array.number for array in spans.arrays]
    assert [['"a"', text[5:41], "[2]"], ['"d"', "[]", "1"]] == [
        [text[start:end] for start, end in zip(array.starts, array.ends, strict=True)]
        for array in spans.arrays
    ]
    assert [True, False, False] == [
        spans.is_protected(0, 40),
        spans.is_protected(0, 6),
        spans.is_protected(7, 40),
    ]


def test_leaves() -> None:
    """A leaf knows its decoded length, and the place of each of its characters."""
    body = "a\\u00e9\\n😀\\ud83d\\ude00z"
    leaf = Leaf(f'"{body}"', 0, 1, len(body) + 1, Marker("-"))
    cuts = [leaf.cut(keep, 0) for keep in range(7)]

    assert 6 == leaf.length
    assert ["-", "a-", "a\\u00e9-", "a\\u00e9\\n-", "a\\u00e9\\n😀-", None, None] == [
        cut and cut.body for cut in cuts
    ]
