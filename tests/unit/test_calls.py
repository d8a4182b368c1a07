"""A call's text in force: the effect of a fragment or a restatement, and the counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.calls.arguments.lexical import Scan
from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.calls.arguments.tokens import utf8_size
from wholecall.deltas import DONE, HYDRATION, ITEM_DONE, OBJECT
from wholecall.machine import call_text as call_module
from wholecall.machine.call import Call
from wholecall.types import Kind

A = '{"a":1}'
FRAGMENTS = st.lists(st.text(alphabet='{}[]",:\\ 1aé\ud83d\ude00', max_size=12), max_size=10)


def fed(*fragments: str, kind: Kind = "function") -> Call:
    """Return a call that took the fragments."""
    call = Call(0, 0, kind)
    for fragment in fragments:
        call.take(fragment)
    return call


def shown(*fragments: str, kind: Kind = "function") -> list[str | None]:
    """Return the text that each fragment shows; None means that the text shown before was replaced."""
    call = Call(0, 0, kind)
    return [call.take(fragment) for fragment in fragments]


# The module's measures.


@pytest.mark.parametrize(("text", "size"), [("", 0), ("abc", 3), ("é", 2), ("a€😀", 8), ("\ud83d", 3)])
def test_utf8_size(text: str, size: int) -> None:
    """A text is as large as its UTF-8 bytes; half of a surrogate pair counts three."""
    assert size == utf8_size(text)


@together(
    ("text", "placeholder"),
    [
        ("{}", True),
        (" { }\n", True),
        ("{" + " " * 6 + "}", True),
        ("{" + " " * 7 + "}", False),
        ("", False),
        ("{", False),
        ("[]", False),
        ("{}{}", False),
        ('{"a":1}', False),
    ],
)
def test_placeholders(text: str, placeholder: bool) -> None:
    """Only an empty object with a little white space is a placeholder."""
    assert placeholder == is_placeholder(text)


def test_repr_holds_no_text() -> None:
    """The repr of a call shows its number, phase and labels (law 28)."""
    call = fed('{"secret":1}')
    call.number, call.id, call.name = 3, "c1", "f"

    assert "<Call 3 pending id='c1' name='f'>" == repr(call)


# Fragments.


@together(
    ("fragments", "showing", "text", "flags"),
    [
        pytest.param(['{"a"', ":1}"], ['{"a"', ":1}"], '{"a":1}', set(), id="appended"),
        pytest.param(['{"a":1}', " "], ['{"a":1}', " "], '{"a":1} ', set(), id="blank after the end"),
        pytest.param(['{"a":1}', "}"], ['{"a":1}', "}"], '{"a":1}}', set(), id="junk after the end"),
        pytest.param(
            ['{"a":1}', '{"b":22}'], ['{"a":1}', '{"b":22}'], '{"a":1}{"b":22}', set(), id="two objects"
        ),
        pytest.param(
            ['{"a":1}', '{"b":2}'], ['{"a":1}', '{"b":2}'], '{"a":1}{"b":2}', set(), id="two, short"
        ),
        pytest.param(['{"a":', "1}", '{"a":1}'], ['{"a":', "1}", ""], '{"a":1}', {"repeated"}, id="repeated"),
        pytest.param(["{}", "{}"], ["{}", ""], "{}", {"repeated"}, id="placeholder repeated"),
        pytest.param(["{}", '{"a":'], ["{}", None], '{"a":', {"placeholder"}, id="placeholder filled"),
        pytest.param(["{ }", '{"a":1}'], ["{ }", None], '{"a":1}', {"placeholder"}, id="blank inside"),
        pytest.param(
            ["{}", "{}", '{"a":1}'], ["{}", "", None], '{"a":1}', {"repeated", "placeholder"}, id="both"
        ),
        pytest.param(
            ['{"a":"x', '{"a":"xy', '{"a":"xy"}'],
            ['{"a":"x', "y", '"}'],
            '{"a":"xy"}',
            {"snapshots"},
            id="snapshots inside a string",
        ),
        pytest.param(
            ['{"a":1', '{"a":1', '{"a":1}'],
            ['{"a":1', "", "}"],
            '{"a":1}',
            {"snapshots"},
            id="equal snapshot",
        ),
        pytest.param(
            ['{"abcde":1', '{"abcde":1,"b":', '{"abcde":1,"b":2}'],
            ['{"abcde":1', ',"b":', "2}"],
            '{"abcde":1,"b":2}',
            {"snapshots"},
            id="a second snapshot is believed where a value may start",
        ),
        pytest.param(["[", '{"a":1}'], ["[", '{"a":1}'], '[{"a":1}', set(), id="in an array"),
        pytest.param(
            ['{"a":1,"b":[', '{"c":2'], ['{"a":1,"b":[', '{"c":2'], '{"a":1,"b":[{"c":2', set(), id="nested"
        ),
        pytest.param(
            ['{"a":[', '{"bbbb":22'], ['{"a":[', '{"bbbb":22'], '{"a":[{"bbbb":22', set(), id="longer, nested"
        ),
        pytest.param(["", '{"a":1}'], ["", '{"a":1}'], '{"a":1}', set(), id="nothing"),
        pytest.param(["\ud83d", "\ude00"], ["", "😀"], "😀", set(), id="halves of a pair"),
        pytest.param(["a\ud83d", "\ude00b"], ["a", "😀b"], "a😀b", set(), id="halves between text"),
        pytest.param(["\ud83d", "x"], ["", "\ud83dx"], "\ud83dx", set(), id="a half alone"),
        pytest.param(
            ["\ud83d", "\ud83d", "\ude00"], ["", "\ud83d", "😀"], "\ud83d😀", set(), id="two halves"
        ),
        pytest.param(["\ude00", "é"], ["\ude00", "é"], "\ude00é", set(), id="a low half"),
    ],
)
def test_fragments(fragments: list[str], showing: list[str | None], text: str, flags: set[str]) -> None:
    """A fragment is appended, unless the text proves it a repeat, a filling or a snapshot (quirks 23 to 25, 35)."""
    assert showing == shown(*fragments)
    assert (text, flags) == (fed(*fragments).text, fed(*fragments).flags)


def test_free_text_knows_no_rules() -> None:
    """Fragments of a custom tool's free text are always appended."""
    assert ["{}", "{}", '{"a"'] == shown("{}", "{}", '{"a"', kind="custom")
    assert '{}{}{"a"' == fed("{}", "{}", '{"a"', kind="custom").text


def test_half_a_pair_is_kept_at_the_end() -> None:
    """A high surrogate is not shown, and comes back if the text ends with it."""
    call = fed("a\ud83d")

    assert ("a", False) == (call.text, call.plain)
    call.flush()
    assert ("a\ud83d", True) == (call.text, call.plain)
    call.flush()
    assert "a\ud83d" == call.text


# Two readings.


@pytest.mark.parametrize(
    ("fragments", "appended", "other"),
    [
        (['{"a":', '{"a":1}'], '{"a":{"a":1}', '{"a":1}'),
        (['{"a":', '{"a":1', "}"], '{"a":{"a":1}', '{"a":1}'),
        (['{"', '{":1}'], '{"{":1}', '{":1}'),
        (['{ "', '{ ":1}'], '{ "{ ":1}', '{ ":1}'),
        (['{"a":', '{"a":1', '{"a":1,"b":2}'], '{"a":{"a":1{"a":1,"b":2}', '{"a":1,"b":2}'),
        (['{"a":', '{"a":1', "é", '{"c"'], '{"a":{"a":1é{"c"', '{"a":1é{"c"'),
        (['{"a":', '{"a":1', '{"b":2}'], '{"a":{"a":1{"b":2}', '{"a":1{"b":2}'),
    ],
)
def test_two_readings(fragments: list[str], appended: str, other: str) -> None:
    """Where JSON allows all of the text to come again, the text is appended and the snapshot kept next to it."""
    call = fed(*fragments)

    assert (appended, other, False, set()) == (call.text, call.other_reading, call.plain, call.flags)


def test_one_reading() -> None:
    """A call of which every fragment has one meaning has no other reading."""
    call = fed('{"a":1', '{"a":1}')

    assert ("", True) == (call.other_reading, call.plain)


# Restatements.


@together(
    ("fragments", "restatements", "agree", "restated"),
    [
        ([], [('{"a":1}', OBJECT)], [True], '{"a":1}'),
        ([], [('{"a":1}', DONE), ('{"a":1}', DONE)], [True, True], '{"a":1}'),
        ([], [('{"a":1}', DONE), ('{"a":2}', DONE)], [True, False], '{"a":2}'),
        ([], [('{"a":1}', DONE), ('{"a":2}', ITEM_DONE)], [True, True], '{"a":2}'),
        ([], [('{"a":1}', ITEM_DONE), ('{"a":2}', DONE)], [True, False], '{"a":1}'),
        ([], [('{"a":1}', ITEM_DONE), ('{"a":1}', HYDRATION)], [True, True], '{"a":1}'),
        ([], [("{}", OBJECT), ('{"a":1}', OBJECT)], [True, False], '{"a":1}'),
        ([], [('{"a":1}', OBJECT), ('{"a":2}', OBJECT)], [True, False], '{"a":1}'),
        ([], [('{"a":1}', OBJECT), ('{"a":1}', OBJECT)], [True, True], '{"a":1}'),
        (['{"a":1}'], [('{"a":1}', OBJECT)], [True], None),
        (['{"a":1}'], [('{"a":2}', OBJECT)], [False], None),
        (["{}"], [('{"a":2}', OBJECT)], [True], '{"a":2}'),
        (['{"a":1}'], [("{}", ITEM_DONE)], [True], None),
        ([], [("{}", DONE)], [True], "{}"),
        (['{"a"'], [('{"a":1}', DONE)], [True], '{"a":1}'),
    ],
)
def test_restatements(
    fragments: list[str], restatements: list[tuple[str, int]], agree: list[bool], restated: str | None
) -> None:
    """A restatement fills and replaces by rank, and never erases (quirk 73)."""
    call = fed(*fragments)

    assert agree == [call.restate(text, rank) for text, rank in restatements]
    assert restated == call.restated


@pytest.mark.parametrize(
    ("rank", "hole", "healed"), [(OBJECT, True, False), (HYDRATION, False, True), (ITEM_DONE, False, True)]
)
def test_a_whole_text_heals_a_hole(rank: int, hole: bool, healed: bool) -> None:
    """A restatement of the whole text repairs a hole (law 31); an object among fragments may itself be partial."""
    call = Call(0, 0, "function")
    call.note("lost_text")
    call.restate('{"a":1}', rank)

    assert (hole, healed) == (call.lacks_text, call.restored)


def test_the_first_refusal_stands() -> None:
    """A call keeps the first reason why it cannot be emitted."""
    call = Call(0, 0, "function")
    call.refuse("id_too_long", "one")
    call.refuse("name_too_long", "two")

    assert ("id_too_long", "one") == (call.refusal, call.detail)


# Queries of the binders.


def test_questions_about_fragments() -> None:
    """Completeness, hollowness and possible continuations follow from the text."""
    empty, opened, filled, whole = fed(), fed("{}"), fed('{"a":'), fed('{"a":1}')

    assert (True, False, False, False) == tuple(call.empty for call in (empty, opened, filled, whole))
    assert (False, True, False, True) == tuple(call.complete for call in (empty, opened, filled, whole))
    assert (True, True, False, False) == tuple(call.blank for call in (empty, opened, filled, whole))
    assert (False, True, False, False) == tuple(
        call.holds_placeholder for call in (empty, opened, filled, whole)
    )
    assert (True, False, True, False) == tuple(call.takes_value for call in (empty, opened, filled, whole))


def test_an_object_may_go_on_in_a_string() -> None:
    """Inside a string any text may follow, also text that looks like an object."""
    assert (True, False) == (fed('{"a":"').takes_value, fed('{"a"').takes_value)


def test_questions_about_a_restated_call() -> None:
    """A restated call is complete, and only its restated text says whether it is hollow."""
    call = fed('{"a"')
    call.restate('{"a":1}', DONE)

    assert (True, False) == (call.complete, call.takes_value)
    assert (False, False, False) == (call.empty, call.blank, call.holds_placeholder)
    assert [True, True, False] == [call.is_restated_by(text) for text in ('{"a":1}', '{"a"', "{}")]


@given(FRAGMENTS, st.sampled_from(["function", "custom"]))
def test_a_call_is_restated_by_its_own_text(fragments: list[str], kind: Kind) -> None:
    """Whatever the pieces: by all of the text, and by nothing longer or shorter."""
    call = fed(*fragments, kind=kind)
    text = call.text

    assert [True, False, False] == [
        call.is_restated_by(other) for other in (text, text + "x", text[:-1] or "x")
    ]


def test_text_of_another_size_is_not_compared() -> None:
    """A fragment that cannot be all of the text does not have its pieces joined: that would be quadratic."""
    call = fed('{"a":', "1}", "\n")
    before = list(call.parts)

    assert not call.is_restated_by("\n")
    assert before == call.parts


def test_a_restated_placeholder_is_hollow() -> None:
    """A restated `{}` leaves the call hollow: real arguments may still come."""
    call = Call(0, 0, "function")
    call.restate("{}", DONE)

    assert (False, True, True) == (call.empty, call.blank, call.holds_placeholder)


@pytest.mark.parametrize(
    ("fragments", "unfinished"),
    [([], False), (['{"a"'], True), ([A], False), ([A, " "], False), ([A, "}"], True), ([A, A + A], True)],
)
def test_unfinished(fragments: list[str], unfinished: bool) -> None:
    """A text needs more if it is not a whole value, or is more than one."""
    call = fed(*fragments)
    before = call.unfinished
    call.phase = "ended"

    assert (unfinished, False) == (before, call.unfinished)


def test_a_restated_call_is_finished() -> None:
    """A restated call needs nothing."""
    call = fed('{"a"')
    call.restate(A, DONE)

    assert not call.unfinished


def test_a_full_call_keeps_a_sample() -> None:
    """A call that takes no more keeps the first characters."""
    call = fed("abc", "def")
    call.cut_to(7, "ghi")

    assert ("abcdefg", True, False, 7) == (call.text, call.full, call.plain, call.size)


# Sizes and the scan, for every partition.


@given(FRAGMENTS, st.booleans())
def test_sizes_are_those_of_the_text(fragments: list[str], custom: bool) -> None:
    """Whatever is taken, `size` is that of the text in force, and so are `length` and `bytes` after counting."""
    call = Call(0, 0, "custom" if custom else "function")
    for fragment in fragments:
        call.take(fragment)
        size = call.size
        text = "".join(call.parts)
        assert len(text) == size
    call.count()
    text = call.text

    assert (len(text), utf8_size(text)) == (call.length, call.bytes)
    assert len(text) == call.size


@given(
    st.text(alphabet='{}[]",:\\ 1aé😀', max_size=30),
    st.lists(st.integers(0, 30), max_size=6),
    st.integers(0, 7),
)
def test_every_partition_counts_the_same(text: str, cuts: list[int], asked: int) -> None:
    """The fast path, counting in between and asking for the text in between change no size and no answer."""
    call = Call(0, 0, "function")
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for number, (begin, end) in enumerate(zip(places, places[1:], strict=False)):  # noqa: RUF007 (3.10)
        piece = text[begin:end]
        if not piece:
            continue
        call.parts.append(piece)
        call.room -= len(piece)
        if number == asked % 3:
            call.count()
        if number == asked % 5:
            assert text[:end] == call.text
        if number == asked % 2:
            _ = call.complete
    whole = Scan()
    whole.feed(text)

    assert whole.complete == call.complete
    assert (text, len(text)) == (call.text, call.size)
    call.count()
    assert (len(text), utf8_size(text)) == (call.length, call.bytes)


@given(FRAGMENTS)
def test_the_scan_looks_at_each_character_once(fragments: list[str]) -> None:
    """However often completeness is asked, the scan is fed each character once, joined or not (law 22)."""
    pieces: list[str] = []

    class Watched(Scan):
        """A scan that records its input."""

        def feed(self, text: str) -> None:
            """Record the piece."""
            pieces.append(text)
            super().feed(text)

    call = Call(0, 0, "custom")  # free text: fragments are only appended
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_module, "Scan", Watched)
        for number, fragment in enumerate(fragments):
            call.take(fragment)
            _ = call.complete
            if number % 2:
                _ = call.text
            if number % 3:
                call.count()
            _ = call.complete

    assert call.text == "".join(pieces)
