"""Live arguments: events and views of half-finished text, the end of reading, snapshots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments.grammar import Grammar
from wholecall.calls.arguments.partial import Closed, OpenText, PartialArguments, Path, Piece, StringDelta
from wholecall.calls.arguments.progress import ProgressScanner, StringWatcher
from wholecall.calls.output.call_events import ToolCall
from wholecall.limits import Limits

DEEP = 3000


def fed(*pieces: str, limits: Limits | None = None) -> ProgressScanner:
    """Return a scanner that was fed the pieces."""
    scanner = ProgressScanner(limits=limits or Limits())
    for piece in pieces:
        scanner.feed(piece)
    return scanner


def shown(*pieces: str, limits: Limits | None = None) -> dict[str, Any]:
    """Return the value shown after the pieces."""
    return dict(fed(*pieces, limits=limits).snapshot().value)


def told(*pieces: str) -> list[tuple[Any, ...]]:
    """Return the events of the pieces, each with the number of its piece."""
    scanner = ProgressScanner()
    return [(number, *fields(told)) for number, piece in enumerate(pieces) for told in scanner.feed(piece)]


def fields(piece: Piece) -> tuple[Path, Any]:
    """Return a piece as path and text, or path and the one-item list of its value."""
    return (piece.path, piece.text) if isinstance(piece, StringDelta) else (piece.path, [piece.value])


def deltas(*pieces: str) -> list[str]:
    """Return the text of the one string that each piece adds."""
    scanner = ProgressScanner()
    return [
        "".join(new.text for new in scanner.feed(piece) if isinstance(new, StringDelta)) for piece in pieces
    ]


def watched(path: str | Path, *pieces: str) -> list[str]:
    """Return a watcher's output for each piece."""
    watcher = StringWatcher(path)
    return [watcher.feed(piece) for piece in pieces]


# --- what is told ----------------------------------------------------------------------------------------


def test_members_are_told_in_the_order_of_the_text() -> None:
    """A string is reported as it comes; every value is reported closed once, the inner ones before the outer one."""
    expected = [
        (0, ("a",), "x"),
        (1, ("a",), "y"),
        (1, ("a",), ["xy"]),
        (1, ("b", 0), [1]),
        (2, ("b", 1, "c"), [None]),
        (2, ("b", 1), [{"c": None}]),
        (2, ("b",), [[1, {"c": None}]]),
        (2, ("d",), [{}]),
    ]

    assert expected == told('{"a":"x', 'y","b":[1,{"c":nu', 'll}],"d":{}}')


def test_an_empty_string_is_only_closed() -> None:
    """No delta is empty: a string without text is reported when it closes."""
    assert [(0, ("a",), [""])] == told('{"a":""}')


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (['{"a":"\\', "n"], ["", "\n"]),
        (['{"a":"x\\', '"y'], ["x", '"y']),
        (['{"a":"x\\\\', '"}'], ["x\\", ""]),
        (['{"a":"x\\', "\\", "\\", '\\"'], ["x", "\\", "", "\\"]),
        (['{"a":"\\u', "00", "e", "9"], ["", "", "", "é"]),
        (['{"a":"', "\\", "u00e9"], ["", "", "é"]),
        (['{"a":"b', "\\n", "", "c\\t"], ["b", "\n", "", "c\t"]),
    ],
)
def test_a_cut_escape_waits(pieces: list[str], expected: list[str]) -> None:
    """An escape is reported when its last character has come, once, and the text before it at once."""
    assert expected == deltas(*pieces)


@together(
    ("pieces", "expected"),
    [
        (['{"a":"x\\ud83d', "\\ude00"], ["x", "😀"]),
        (['{"a":"x\\uD8', "3D\\u", "DE", "00y"], ["x", "", "", "😀y"]),
        (['{"a":"\\ud83d', "x"], ["", "\ud83dx"]),
        (['{"a":"\\ud83d', "\\u0041"], ["", "\ud83dA"]),
        (['{"a":"\\ud83d', "\\ud83d", "\\ude00"], ["", "\ud83d", "😀"]),
        (['{"a":"\\ud83d', '"}'], ["", "\ud83d"]),
        (['{"a":"\\ude00', "x"], ["\ude00", "x"]),
        (['{"a":"\\\\ud83d', "x"], ["\\ud83d", "x"]),
        (['{"a":"x\ud83d', "\ude00y"], ["x", "😀y"]),
        (['{"a":"x', "\ud83d", "y"], ["x", "", "\ud83dy"]),
        (['{"a":"\ud83d', "\\", "n"], ["", "", "\ud83d\n"]),
    ],
)
def test_half_of_a_pair_waits_for_the_other(pieces: list[str], expected: list[str]) -> None:
    """A high surrogate is reported with its other half, or alone once it is clear that none will come."""
    assert expected == deltas(*pieces)


def test_text_of_any_kind_is_told() -> None:
    """Characters that are not printable, or not ASCII, are reported unchanged."""
    text = "\x7f\u3000\u200d\u2028é日本😀\ufeff"

    assert list(text) == deltas('{"a":"' + text[0], *text[1:])


def test_many_escapes_in_one_piece() -> None:
    """A piece may contain more escapes than one step reads; none is lost at the seams, pairs neither."""
    for text in ("\\n" * 2500, "\\ud83d\\ude00" * 1500, "x" + "\\ud83d\\ude00" * 1500, "\\ud83d" * 2500):
        assert [json.loads(f'"{text}"') + "x", ""] == deltas(f'{{"a":"{text}x', '"}')


@pytest.mark.parametrize("number", ["12", "-0", "1.5e3", "1E+2", "123456789012345678901234567890", "0.1"])
def test_a_number_is_told_by_what_follows(number: str) -> None:
    """Any number may continue; it is reported when the character after it comes, as the strict decoder reads it."""
    for behind in (",", "]", " ", "\n"):
        events = told('{"a":[', *number, behind)
        assert [(len(number) + 1, ("a", 0), [json.loads(number)])] == events[:1]
        assert type(json.loads(number)) is type(events[0][2][0])


def test_a_literal_is_told_by_what_follows() -> None:
    """A literal is reported when the character after it comes."""
    assert [(3, ("a",), [True]), (4, ("b",), [None])] == told('{"a":', "tr", "ue", ',"b":null', "}")


def test_nothing_comes_of_nothing() -> None:
    """An empty piece reports nothing, wherever it comes."""
    pieces = [piece for character in '{"a":"x\\n","b":[1]}' for piece in (character, "")]

    assert [] == [event for event in told(*pieces) if event[0] % 2]


# --- what is shown ---------------------------------------------------------------------------------------

# text → the shown value, open path
STATES: dict[str, tuple[dict[str, Any], Path | None]] = {
    "": ({}, None),
    " \n": ({}, None),
    "{": ({}, ()),
    '{"ke': ({}, ()),
    '{"key"': ({}, ()),
    '{"key":': ({}, ()),
    '{"key": "': ({"key": ""}, ("key",)),
    '{"key": "te': ({"key": "te"}, ("key",)),
    '{"key": "te\\u00': ({"key": "te"}, ("key",)),
    '{"key": "te"': ({"key": "te"}, ()),
    '{"key": 12': ({}, ("key",)),
    '{"key": tru': ({}, ("key",)),
    '{"key": true': ({}, ("key",)),
    '{"key": 12 ': ({"key": 12}, ()),
    '{"a": 1, "key": "x': ({"a": 1, "key": "x"}, ("key",)),
    '{"a": [': ({"a": []}, ("a",)),
    '{"a": [[], "x': ({"a": [[], "x"]}, ("a", 1)),
    '{"a": [1, 2': ({"a": [1]}, ("a", 1)),
    '{"a": [1, ': ({"a": [1]}, ("a",)),
    '{"a": {"b": {"c': ({"a": {"b": {}}}, ("a", "b")),
    '{"a": {"b": {"c": "d"}, "e": [{"f": "g': (
        {"a": {"b": {"c": "d"}, "e": [{"f": "g"}]}},
        ("a", "e", 0, "f"),
    ),
    "{}": ({}, None),
    '{"a": [1]} ': ({"a": [1]}, None),
}


@together("text", STATES)
def test_states(text: str) -> None:
    """Closed members, open containers and the open string's text are shown; open keys and scalars are not."""
    for pieces in ([text], list(text)):
        scanner = fed(*pieces)
        snapshot = scanner.snapshot()
        assert STATES[text] == (snapshot.value, snapshot.open_path)
        assert (snapshot.open_path, text.endswith(("}", "} ")), False) == (
            scanner.open_path,
            scanner.complete,
            scanner.stopped,
        )


def test_closed_names_the_finished_members() -> None:
    """`closed` holds the top-level keys whose values are finished, in their order."""
    assert ("b", "a") == fed('{"b":{"x":1},"a":2,"c":[1,').snapshot().closed
    assert () == fed("").snapshot().closed == fed('{"a":"x').snapshot().closed


def test_white_space_and_a_mark_in_front() -> None:
    """White space and one byte order mark at the beginning are skipped, white space after too."""
    assert {"a": 1} == shown('\ufeff \r\n\t{"a":1} \r\n\t')
    assert fed("\ufeff{} ").complete
    assert fed("\ufeff\ufeff").stopped


# --- where reading stops ---------------------------------------------------------------------------------

# text that stops the scanner → the value that stays shown
STOPS: dict[str, dict[str, Any]] = {
    "[": {},
    '"{\\"a\\":1}"': {},
    "12": {},
    "null": {},
    "```json": {},
    "Sure: {}": {},
    "\u00a0{}": {},
    "}": {},
    "{]": {},
    "{,": {},
    "{a": {},
    "{'": {},
    "{1": {},
    '{"a"}': {},
    '{"a",': {},
    '{"a":}': {},
    '{"a":,': {},
    '{"a":]': {},
    '{"a"::': {},
    '{"a":x': {},
    '{"a":N': {},
    '{"a":+1': {},
    '{"a":.5': {},
    '{"a":1.}': {},
    '{"a":01,': {},
    '{"a":-}': {},
    '{"a":1e}': {},
    '{"a":1x}': {},
    '{"a":1-1}': {},
    '{"a":nul}': {},
    '{"a":nulll}': {},
    '{"a":true"': {},
    '{"a":1e400,': {},
    '{"a":1/': {},
    '{"a":true{': {},
    '{"a":1,}': {"a": 1},
    '{"a":1 1': {"a": 1},
    '{"a":1 "b"': {"a": 1},
    '{"a":1]': {},
    '{"a":[1}': {"a": []},
    '{"a":[1 }': {"a": [1]},
    '{"a":[1,]': {"a": [1]},
    '{"a":[,': {"a": []},
    '{"a":[1:': {"a": []},
    '{"a":{"b":1}]': {"a": {"b": 1}},
    '{"a":"x\ny': {"a": "x"},
    '{"a":"x\x00': {"a": "x"},
    '{"a":"x\\d': {"a": "x"},
    '{"a":"x\\u12x': {"a": "x"},
    '{"a":"x\\u12"': {"a": "x"},
    '{"a":"x\\ud83d\\d': {"a": "x\ud83d"},
    '{"a\n': {},
    '{"a\\x': {},
    '{"a":"b"c"d"}': {"a": "b"},
    '{"a":1}}': {"a": 1},
    '{"a":1}{"b":2}': {"a": 1},
    "{}{": {},
    '{"a":1}<|im_end|>': {"a": 1},
    '{"a":1} // x': {"a": 1},
}


@together("text", STOPS)
def test_stops(text: str) -> None:
    """Text that is not a strict JSON object is followed no further: the shown value stays, nothing is added."""
    for pieces in ([text], list(text)):
        scanner = fed(*pieces)
        before = scanner.snapshot()
        assert [] == scanner.feed('"x",1]}}') == scanner.feed('{"b":1}')
        after = scanner.snapshot()
        assert (STOPS[text], True, False) == (before.value, before.stopped, before.complete)
        assert (before.value, before.open_path, before.closed) == (after.value, after.open_path, after.closed)


@together("text", STOPS)
def test_what_stops_is_never_exact(text: str) -> None:
    """The scanner gives up no text that the verdict would call exact, however it continues."""
    assert "exact" not in {
        parse_arguments(text + rest).status for rest in ("", "}", '"}', "]}", ":1}", '":1}')
    }


def test_the_grammar_alone_tells_nothing() -> None:
    """Without a reader the grammar needs no string, and knows whether the text is one whole object."""
    grammar = Grammar(Limits())
    grammar._scan('{"a":["\\n",1],"b')
    before = grammar.complete
    grammar._scan('":{}}')

    assert (False, True, False) == (before, grammar.complete, grammar.stopped)


def test_text_behind_the_object_takes_complete_back() -> None:
    """One whole object is complete until something follows it: then it was not the whole text."""
    scanner = fed('{"a":1}')
    before = scanner.snapshot()
    scanner.feed("x")

    assert (True, False) == (before.complete, before.stopped)
    assert (False, True) == (scanner.complete, scanner.stopped)
    assert before.value == scanner.snapshot().value


@pytest.mark.parametrize("text", ['{"a":' * 3, '{"a":[[', '{"a":{"b":['])
def test_depth_is_limited(text: str) -> None:
    """As many levels as `max_depth` are read, one more stops; the argument object is the first."""
    assert not fed(text, limits=Limits(max_depth=3)).stopped
    assert fed(text, limits=Limits(max_depth=2)).stopped
    assert not fed(text, limits=Limits(max_depth=None)).stopped


def test_depth_needs_no_recursion() -> None:
    """Without a limit any depth is read and shown, deeper than Python can call."""
    scanner = fed('{"a":', "[" * DEEP, limits=Limits.none())
    snapshot = scanner.snapshot()
    scanner.feed("]" * DEEP + ',"a":' + "[" * DEEP + "]" * DEEP + "}")
    value, depth = snapshot.value["a"], 0
    while value:
        value, depth = value[0], depth + 1

    assert DEEP - 1 == depth
    assert (True, False) == (scanner.complete, scanner.stopped)


def test_numbers_are_limited() -> None:
    """A number of `max_number_chars` characters is read, one more stops; literals are not meant."""
    limits = Limits(max_number_chars=3)

    assert {"a": -12, "b": 1.5, "c": False} == shown('{"a":-12,"b":1.5,"c":false}', limits=limits)
    assert fed('{"a":12', "34", limits=limits).stopped
    assert fed('{"a":' + "9" * 5000 + "}", limits=Limits.none()).stopped


# --- a repeated key ------------------------------------------------------------------------------


@together(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("1", "true"),
        ("0.0", "-0.0"),
        ('"x"', '"y"'),
        ("[1]", "[1,2]"),
        ("[1,2]", "[1,3]"),
        ('{"b":1}', '{"b":2}'),
        ('{"b":1}', '{"c":1}'),
        ('{"b":1}', "{}"),
        ("[]", "{}"),
        ("null", "[[[]]]"),
    ],
)
def test_another_value_for_a_key_stops(one: str, other: str) -> None:
    """The first value of a key stays; a differing second one is never shown, and stops the scanner."""
    scanner = ProgressScanner()
    first = scanner.feed(f'{{"a":{one},')
    assert [] == [new for piece in (f'"a":{other},', '"z":1}') for new in scanner.feed(piece)]

    assert json.loads(one) == first[-1].value  # type: ignore[union-attr]
    assert ({"a": json.loads(one)}, True) == (scanner.snapshot().value, scanner.stopped)
    assert parse_arguments(f'{{"a":{one},"a":{other},"z":1}}').reason == "duplicate_key"


@pytest.mark.parametrize("value", ["1", '"x\\n"', "[1,[2,{}]]", '{"b":{"c":"d"},"e":null}', "1.5", "true"])
def test_the_same_value_again_changes_nothing(value: str) -> None:
    """A repeated key with an equal value is not reported again, and the text is followed."""
    text = f'{{"a":{value},"a": {value},"z":"y"}}'
    once = told(*f'{{"a":{value},')
    last = [(("z",), "y"), (("z",), ["y"])]

    assert parse_arguments(text).status == "exact"
    assert [event[1:] for event in once] + last == [event[1:] for event in told(*text)]
    assert {"a": json.loads(value), "z": "y"} == shown(*text)
    assert fed(text).complete


def test_order_of_members_is_no_difference() -> None:
    """Equal objects may name their members in another order."""
    text = '{"a":{"b":1,"c":[2]},"a":{"c":[2],"b":1}}'

    assert fed(text).complete
    assert parse_arguments(text).status == "exact"


def test_a_second_value_is_hidden_while_it_is_open() -> None:
    """While the value of a repeated key comes, the first one is shown, and its path is not open."""
    for rest in ('"x', '{"b":"x', '[[1,"x', "1"):
        snapshot = fed('{"a":[1],"a":' + rest).snapshot()
        assert ({"a": [1]}, (), ("a",)) == (snapshot.value, snapshot.open_path, snapshot.closed)


def test_keys_of_other_objects_are_not_the_same() -> None:
    """A key may come once in each object."""
    assert {"a": {"a": [{"a": 1}, {"a": 2}]}} == shown('{"a":{"a":[{"a":1},{"a":2}]}}')


# --- snapshots -------------------------------------------------------------------------------------------


def test_a_snapshot_does_not_change() -> None:
    """Later text is not in an earlier snapshot, whenever its value is requested."""
    text = '{"a":["x",{"b":"yz"},1],"c":"de\\nf","g":{}}'
    scanner, snapshots, early = ProgressScanner(), [], []
    for character in text:
        scanner.feed(character)
        snapshots.append(scanner.snapshot())
        early.append(json.dumps(dict(scanner.snapshot().value)))
    late = [json.dumps(dict(snapshot.value)) for snapshot in reversed(snapshots)]

    assert early == late[::-1]
    assert [(), ("a",), ("a", "c"), ("a", "c", "g")] == list(dict.fromkeys(one.closed for one in snapshots))
    assert text.index(',"c"') == [one.closed for one in snapshots].index(("a",)) + 1
    assert json.loads(text) == snapshots[-1].value


def test_snapshots_of_a_very_long_string() -> None:
    """A string of many pieces is joined now and then; snapshots from before still see their own part."""
    scanner, snapshots, lengths = fed('{"a":"'), [], []
    for number in range(5000):
        scanner.feed("\\n" if number % 7 == 0 else "xy")
        if number % 500 == 0:
            snapshots.append(scanner.snapshot())
            lengths.append(sum(1 if before % 7 == 0 else 2 for before in range(number + 1)))

    assert lengths == [len(snapshot.value["a"]) for snapshot in snapshots]
    assert all(snapshots[-1].value["a"].startswith(snapshot.value["a"]) for snapshot in snapshots)


def test_a_long_text_is_kept_in_few_pieces() -> None:
    """Pieces are joined when there are many, but not again before there are many new ones."""
    text = OpenText()
    text.pieces += ["ab"] * 999
    assert text is text.compacted()
    text.pieces.append("c")
    compact = text.compacted()
    assert ["ab" * 999 + "c"] == compact.pieces
    compact.pieces[:] = ["x" * 32000, *"y" * 1500]
    assert compact is compact.compacted()
    compact.pieces += "y" * 500
    assert ["x" * 32000 + "y" * 2000] == compact.compacted().pieces
    assert 1000 == len(text.pieces)


def test_beginnings_of_a_text() -> None:
    """Any beginning can be requested, in any order."""
    text = OpenText()
    text.pieces += ["ab", "c", "de"]

    assert ["", "abc", "abcde", "ab", "abcde"] == [text.beginning(count) for count in (0, 2, 3, 1, 3)]


def test_snapshots_share_what_is_closed() -> None:
    """Closed members are not copied: every snapshot, and the piece that reported them, hold the same object."""
    scanner = ProgressScanner()
    closed = {
        new.path: new.value
        for new in scanner.feed('{"a":[1,2],"b":{"c":[]},"d":"')
        if isinstance(new, Closed)
    }
    before = scanner.snapshot()
    scanner.feed('x","e":1}')
    after = scanner.snapshot()

    for key in "ab":
        assert before.value[key] is after.value[key] is closed[key,]


def test_a_snapshot_costs_what_is_open() -> None:
    """Taking a snapshot examines no member: between changes it even shares its notes of the open containers."""
    scanner = fed('{"a":[' + "1," * 500, '{"b":"')
    one = scanner.snapshot()
    scanner.feed("xyz")
    other = scanner.snapshot()

    assert one._marks is other._marks
    assert [1, 500, 0] == [count + (level == 0) for level, (_, count) in enumerate(other._marks)]
    assert 501 == len(one.value["a"]) == len(other.value["a"])


def test_a_snapshot_is_no_call() -> None:
    """No code that executes calls takes a snapshot for one: no arguments, no keys, no dict, no JSON."""
    snapshot: Any = fed('{"a":1}').snapshot()

    assert not isinstance(snapshot, (dict, Mapping, ToolCall, msgspec.Struct))
    assert not isinstance(snapshot.value, dict)
    for name in ("arguments", "raw_arguments", "name", "input", "keys", "items", "get", "to_json"):
        assert not hasattr(snapshot, name)
    with pytest.raises(TypeError):
        snapshot["a"]
    for encode in (json.dumps, msgspec.json.encode):
        for thing in (snapshot, snapshot.value):
            with pytest.raises(TypeError):
                encode(thing)  # type: ignore[operator]


def test_a_snapshot_cannot_be_changed() -> None:
    """Neither the snapshot nor its value takes an assignment, and pieces are frozen."""
    snapshot: Any = fed('{"a":"x').snapshot()

    for name in ("value", "closed", "open_path", "complete", "stopped", "resets", "other"):
        with pytest.raises(AttributeError):
            setattr(snapshot, name, None)
    with pytest.raises(TypeError):
        snapshot.value["a"] = "y"
    with pytest.raises(AttributeError):
        StringDelta(("a",), "x").text = "y"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Closed(("a",), "x").value = "y"  # type: ignore[misc]


@pytest.mark.parametrize(
    "text", ['{"sekrit":"sekrit', '{"sekrit":["sekrit"]}', '{"sekrit":1,"b":"sekrit"', "sekrit"]
)
def test_reprs_show_no_text(text: str) -> None:
    """No repr of a scanner, a watcher, a snapshot or a piece holds argument text, keys neither."""
    scanner, watcher = ProgressScanner(), StringWatcher("b")
    things = [
        *scanner.feed(text),
        scanner,
        scanner.snapshot(),
        scanner.snapshot().closed and scanner.snapshot(),
    ]
    watcher.feed(text)

    assert "sekrit" not in "".join(map(repr, [*things, watcher]))


def test_reprs_show_lengths() -> None:
    """A repr shows the amount of content."""
    scanner = ProgressScanner()

    assert "[Closed(path=<1>, value=<1>), StringDelta(path=<2>, text=<3>)]" == repr(
        scanner.feed('{"a":1,"b":["xyz')
    )
    assert (
        "PartialArguments(value=<2>, closed=<1>, open_path=<2>, complete=False, stopped=False, resets=0)"
        == repr(scanner.snapshot())
    )
    assert "open_path=None" in repr(PartialArguments((), None, None, False, False, 0))


# --- resets ----------------------------------------------------------------------------------------------


def test_a_reset_is_visible() -> None:
    """After a reset everything comes from the new text, and snapshots count one reset more."""
    scanner = fed('{"a":"x\\u00')
    before = scanner.snapshot()
    again = scanner.reset('{"b":"y')
    after = scanner.snapshot()

    assert [(("b",), "y")] == [fields(new) for new in again]
    assert ({"a": "x"}, 0) == (before.value, before.resets)
    assert ({"b": "y"}, ("b",), 1) == (after.value, after.open_path, after.resets)


@pytest.mark.parametrize(
    "before", ['{"a":1}', "x", '{"a":"', '{"a', '{"a":12', '{"a":{"b":[', '{"a":1,"a":[2']
)
def test_a_reset_begins_anew(before: str) -> None:
    """A reset takes back everything read, also that reading had stopped; the new text may come later."""
    scanner, watcher = fed(before), StringWatcher("b")
    watcher.feed(before)

    assert [] == scanner.reset()
    assert "" == watcher.reset()
    assert {} == scanner.snapshot().value
    assert [("b",), ("b",)] == [new.path for new in scanner.feed('{"b":"z"}')]
    assert "z" == watcher.feed('{"b":"z"}')
    assert (True, True, 1, 1) == (scanner.complete, watcher.complete, scanner.resets, watcher.resets)


# --- watching one string ---------------------------------------------------------------------------------


@together(
    ("path", "text", "expected"),
    [
        ("a", '{"a":"x\\ny"}', "x\ny"),
        (("a",), '{"b":{"a":"no"},"c":["a"],"a":"x"}', "x"),
        (["a"], '{"a":"x"}', "x"),
        (("b", "a"), '{"a":"no","b":{"c":1,"a":"x"},"d":{"a":"no"}}', "x"),
        (("l", 1), '{"l":["no","x","no"]}', "x"),
        (("l", 2, "a"), '{"l":[{"a":"no"},["a","no"],{"b":[{}],"a":"x"},{"a":"no"}]}', "x"),
        (("l", 1, 0), '{"l":[["no"],["x"],["no"]]}', "x"),
        (("l", 2, 0), '{"l":[[],[],["x"],["no"]]}', "x"),
        ("a", '{"\\n\\u0061b":"no\\n\\\\\\ud83d\\ude00no","b":["\\u00e9"],"a":"x"}', "x"),
        (("l", 3), '{"l":[1,{},[],"x"]}', "x"),
        (("0",), '{"0":"x"}', "x"),
        (("l", "0"), '{"l":["no"]}', ""),
        ((0,), '{"0":"no"}', ""),
        ("a", '{"a":{"a":"no"}}', ""),
        ("a", '{"a":["no"]}', ""),
        ("a", '{"a":1}', ""),
        (("a", "b"), '{"a":"no"}', ""),
        (("a", "b"), '{"a":1,"b":"no"}', ""),
        ("\u00e9", '{"\\u00e9":"x"}', "x"),
    ],
)
def test_a_watcher_tells_one_string(path: str | Path, text: str, expected: str) -> None:
    """A watcher reports the text of the string at its path; a value that is not a string reports nothing."""
    for size in (1, 3, len(text)):
        watcher = StringWatcher(path)
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert expected == "".join(watcher.feed(piece) for piece in pieces)
        assert (bool(expected), False, True) == (watcher.closed, watcher.open, watcher.complete)


def test_a_watcher_tells_text_as_it_comes() -> None:
    """Text is reported with the piece that brings it; a cut escape waits."""
    expected = ["", "ab", "c\n", "d", "", "é", "", ""]

    assert expected == watched("k", '{"k":"', "ab", "c\\n", "d\\", "u00", "e9", "", '","l":"x"}')


def test_a_watcher_knows_where_it_is() -> None:
    """`open` while the string is, `closed` after it, `complete` at the end of the object."""
    watcher = StringWatcher("k")
    states = []
    for piece in ('{"a":"x"', ',"k":"', 'y"', "}"):
        watcher.feed(piece)
        states.append((watcher.open, watcher.closed, watcher.complete))

    assert [(False, False, False), (True, False, False), (False, True, False), (False, True, True)] == states


@together("text", [text for text in STOPS if text.startswith('{"a":')])
def test_a_watcher_stops_where_the_scanner_does(text: str) -> None:
    """Unwatched text is read as strictly as watched text."""
    for path in ("a", "z"):
        watcher = StringWatcher(path)
        watcher.feed(text)
        assert (True, False) == (watcher.stopped, watcher.complete)
        assert "" == watcher.feed('x","z":"y"}')


@pytest.mark.parametrize(
    ("path", "text", "stopped"),
    [
        ("a", '{"a":"x","a":"x"', True),
        ("a", '{"a":1,"a":"no"', True),
        (("a", "b"), '{"a":{"b":"x"},"a":{"b":"no"', True),
        (("a", "b"), '{"a":{"b":"x","b":"no"', True),
        (("a", 0, "b"), '{"a":[{"b":"x"},{"b":"no"}],"a":"', True),
        ("a", '{"b":1,"b":2,"a":"x","c":{"a":1,"a":2', False),
        (("a", 1, "b"), '{"a":[{"b":"no"},{"b":"x"},{"b":"no"', False),
    ],
)
def test_a_watched_key_that_comes_twice(path: Path, text: str, stopped: bool) -> None:
    """The first string stays; a repeated key of the path stops, other keys are not examined."""
    watcher = StringWatcher(path)

    assert ("x" if "x" in text else "") == watcher.feed(text)
    assert stopped == watcher.stopped


def test_a_watcher_keeps_no_text() -> None:
    """Neither the watched text nor the rest is kept."""
    watcher = StringWatcher("k")
    for _ in range(50):
        watcher.feed('{"x":["' if not watcher.open else "z")
        watcher.feed("sekrit" * 10)
    kept = [getattr(watcher, name, "") for part in type(watcher).__mro__[:-1] for name in part.__slots__]

    assert "sekrit" not in repr([item for item in kept if isinstance(item, (str, list, dict, tuple))])


def test_a_watcher_needs_a_path() -> None:
    """An empty path is refused, with advice."""
    with pytest.raises(ValueError, match="top-level key"):
        StringWatcher(())


# --- nothing is read twice -------------------------------------------------------------------------------


def test_little_is_held_back() -> None:
    """Between pieces at most eleven characters wait: half of a pair and a cut escape."""
    scanner, most = ProgressScanner(), 0
    for character in (
        '{"a":"' + "\\ud83d\\ud83d\\ude00\\n\\\\\\u00e9" * 50 + '","' + "\\ud83d\\ude00" * 20 + '":1}'
    ):
        scanner.feed(character)
        most = max(most, len(scanner._held))

    assert 11 == most
    assert scanner.complete
