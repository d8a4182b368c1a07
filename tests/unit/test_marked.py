"""Readings of marked pieces with wrong labels: starts, texts and ends of calls, or chunks that hold both."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.machine.readings.marked import CHUNKS, EVENTS, MarkedRecord, solve_marked
from wholecall.machine.readings.partitions import Piece

A, B = '{"a":1}', '{"b":2}'
Got = tuple["str | None", str, "str | None"]
Told = tuple[str, "str | None", str]  # mark, id, and name or text


def record(told: list[Told], *, chunked: bool = False) -> MarkedRecord:
    """Return a record of pieces."""
    pieces = [
        Piece(None, id, *((what, "") if mark == "S" else (None, what)), mark=mark) for mark, id, what in told
    ]
    return MarkedRecord(pieces, "".join(mark for mark, _, _ in told), CHUNKS if chunked else EVENTS)


def start(name: str, id: str | None = None) -> Told:
    """Return the start of a call."""
    return "S", id, name


def text(what: str, id: str | None = None) -> Told:
    """Return a piece of text."""
    return "T", id, what


def end(id: str | None = None) -> Told:
    """Return the end of a call."""
    return "E", id, ""


def sure(*told: Told, chunked: bool = False, listed: list[tuple[str | None, str]] | None = None) -> list[Got]:
    """Return name, text and id of the calls that are sure."""
    solution = solve_marked(record([*told], chunked=chunked), parse_arguments, listed=listed or ())
    calls = zip(solution.calls, solution.sure, strict=True)
    return [(call.name, call.text, call.id) for call, is_sure in calls if is_sure]


def cost(*told: Told, chunked: bool = False) -> float:
    """Return the cost of the cheapest reading."""
    return solve_marked(record([*told], chunked=chunked), parse_arguments).cost


def call(name: str, id: str | None, *rest: Told) -> list[Told]:
    """Return the start of a call and what follows."""
    return [start(name, id), *rest]


F, G = ("f", A, None), ("g", B, None)


@together(
    ("told", "costs"),
    [
        ([start("f"), text(A), end(), start("g"), text(B), end()], 1),  # a row
        ([start("f"), start("g"), text(A), end(), text(B), end()], None),  # opened, or crossed
        ([start("f"), start("f"), text(A), end(), start("g"), start("g"), text(B), end()], 2),  # twice
        ([start("f"), text('{"a":'), start("f"), text("1}"), end(), start("g"), text(B), end()], 2),  # each
        ([start("f"), end(), text(A), start("g"), end(), text(B)], 2.5),  # ended early
        ([start("f"), text(A), end(), end(), start("g"), text(B), end(), end()], 2),  # ended twice
        ([start("f"), text(A), start("g"), text(B)], 2),  # never ended
        ([start("f"), text(A), start("g"), text(B), end(), end()], 1),  # ended at last
        (
            [start("f"), start("f"), text(A), end(), end(), start("g"), start("g"), text(B), end(), end()],
            2.5,  # both twice, by one server
        ),
        ([start("f"), start("g"), start("f"), text(A), end(), start("g"), text(B), end()], 2),  # heads first
        ([start("f"), text(A), start("g"), text(B), end()], 3),  # only the last one ended
    ],
)
def test_habits_of_starts_and_ends(told: list[Told], costs: float | None) -> None:
    """Each habit is read correctly, at its cost; where the order alone decides whose a text is, none is sure."""
    expected = ([], 1) if costs is None else ([F, G], costs)

    assert expected == (sure(*told), cost(*told))


@pytest.mark.parametrize(
    ("first", "second", "costs"),
    [
        (("c", "c"), ("d", "d"), 0),  # own
        (("c", None), ("d", None), 1),  # none after the start
        (("c", "x"), ("d", "y"), 1),  # separate ids
        ((None, "x"), (None, "y"), 2),
        (("c", "c"), ("c", "c"), 1),  # one for all
    ],
)
def test_habits_of_ids(first: tuple[str | None, str], second: tuple[str | None, str], costs: float) -> None:
    """Ids tell as much as they can: starts have separate ids, none or one for all, and texts theirs, none or odd."""
    told = [
        row
        for (id, label), name, what in ((first, "f", A), (second, "g", B))
        for row in (start(name, id), text(what, label), end(label))
    ]

    assert ([("f", A, first[0]), ("g", B, second[0])], costs) == (sure(*told), cost(*told))


def test_strange_labels_tell_texts_apart() -> None:
    """A label that no start has ends the text before it; the order of the starts decides the owner of either."""
    told = [start("f", "c"), start("f", "d"), text('{"a":', "x"), text("1}", "x"), text("{}", "y")]
    ends = [end("c"), end("d")]

    assert [] == sure(*told, *ends)  # opened or crossed: a result would go to the wrong call
    assert [("f", A, "c"), ("f", "{}", "d")] == sure(*told, *ends, listed=[("f", A), ("f", "")])


def test_what_the_wire_lists_was_meant() -> None:
    """Of all readings the one that matches the wire's list is chosen; where none does, the list changes nothing."""
    told = [start("f"), start("g"), text(A), text(B), end(), end()]

    def is_listed(*calls: tuple[str, str]) -> bool:
        return solve_marked(record(told), parse_arguments, listed=calls).is_listed

    assert [] == sure(*told)
    assert [F, G] == sure(*told, listed=[("f", A), ("g", B)])
    assert [True, False, False] == [
        is_listed(*calls) for calls in ([("f", A), ("g", B)], [("f", A), ("g", A)], [])
    ]
    assert [("f", B, None), ("g", A, None)] == sure(*told, listed=[("f", B), ("g", A)])
    assert [] == sure(*told, listed=[("f", A), ("g", A)])


def test_what_is_told_twice_counts_once() -> None:
    """A run whose second half equals its first gives the calls of one."""
    one = [start("f"), text(A), end(), start("g"), text(B), end()]

    assert [F, G] == sure(*one, *one)
    assert [F, G, F] == sure(*one, *one[:3])


def test_chunks_are_not_ended() -> None:
    """A chunk with a name begins a call, or continues one whose text is not whole."""
    parts = [text('{"a":', "c"), start("f", "c"), text("1}", "c")]

    assert [("f", A, "c"), ("f", B, "c")] == sure(
        start("f", "c"), text(A, "c"), start("f", "c"), text(B, "c"), chunked=True
    )
    assert [("f", A, "c")] == sure(start("f", "c"), *parts, chunked=True)


@pytest.mark.parametrize("told", [[end()], [text(A)], [end(), start("f"), end()], [text(A), start("f")]])
def test_text_without_a_call_is_nobodys(told: list[Told]) -> None:
    """Pieces that begin no call have no reading, and do not fail."""
    assert [] == sure(*told)


CHUNK = [start("f", "c"), text('{"a":', "c"), start("f", "c"), text("1}", "c")]


@together(
    ("told", "costs"),
    [
        ([*call("f", "c", text(A, "c")), *call("g", "d", text(B, "d"))], 0),
        ([*call("f", "c", text(A)), *call("g", "d", text(B))], 0),  # later ones without an id
        ([*CHUNK, *call("g", "d", text(B, "d"))], 0.5),  # a name on each
        ([start("f", "c"), start("g", "d"), text(A, "c"), text(B, "d")], 0),  # in turns, by their ids
        ([*call("f", "c", text(A, "c"), end("c")), *call("g", "d", text(B, "d"), end("d"))], 3),  # ended
        ([*call("f", "c", text(A, "x")), *call("g", "d", text(B, "y"))], 3),  # of no call
    ],
)
def test_habits_of_chunks(told: list[Told], costs: float) -> None:
    """A chunk needs no id after the first of its call, and chunks of calls in turns have one; other habits are odd."""
    assert ([("f", A, "c"), ("g", B, "d")], costs) == (sure(*told, chunked=True), cost(*told, chunked=True))


def test_chunks_in_a_row_belong_to_the_last_call() -> None:
    """Without ids, chunks after the starts of several calls are not dealt out to them."""
    told = [start("f", "c"), start("g", "d"), text(A), text(B)]

    assert [("g", A + B, "d")] == sure(*told, chunked=True)


@together(
    ("pieces", "costs"),
    [
        ([A], 0),
        (["", A], 0),  # opened by an empty piece
        ([""], 0),
        (["", ""], 0),
        (["", "", ""], 1),
        (['{"a":', "", "1}"], 1),
        (["", '{"a":', "1}"], 0),
        (['{"a":', "1}", ""], 1),
    ],
)
def test_pieces_without_text(pieces: list[str], costs: float) -> None:
    """A server opens each text by an empty piece, or sends none; a call without text has at most two."""
    told = call("f", "c", *(text(what, "c") for what in pieces), end("c"))

    assert ([("f", "".join(pieces), "c")], costs) == (sure(*told), cost(*told))


def test_empty_pieces_open_all_texts_or_none() -> None:
    """That only one of two calls begins with an empty piece is no habit."""
    first = call("f", "c", text("", "c"), text(A, "c"), end("c"))
    second = call("g", "d", text(B, "d"), end("d"))

    assert [0, 0, 1] == [cost(*first), cost(*second), cost(*first, *second)]


@together(
    "told",
    [
        call("f", "c", text(A, "x"), end("c")) + call("g", "d", text(B, "x"), end("d")),  # of both texts
        call("f", "c", text(A, "x"), end("y")) + call("g", "d", text(B, "z"), end("w")),
        call("f", "c", text(A, "x"), end("d")) + call("g", "d", text(B, "y"), end("c")),  # of the other end
        call("f", "c", text(A, "c"), end("x")) + call("g", "d", text(B, "d"), end("y")),
        call("f", "c", text(A, "d"), end("c")) + call("g", "d", text(B, "c"), end("d")),  # of the other call
        call("f", "c", text(A), end("c")) + call("g", "d", text(B, "y"), end("d")),  # some without
        call("f", "c", end("c"), text(A, "c"), end("c")) + call("g", "d", text(B, "d"), end("d")),
        call("f", "c", text(A, "c"), end("c"), end("c"), end("c")) + call("g", "d", text(B, "d"), end("d")),
    ],
)
def test_labels_and_marks_of_no_habit(told: list[Told]) -> None:
    """A column that no habit explains is as odd as three habits."""
    assert ([("f", A, "c"), ("g", B, "d")], 3) == (sure(*told), cost(*told))


@pytest.mark.parametrize(("ids", "costs"), [(("c", None), 3), ((None, "c"), 3), (("c", "c"), 3)])
def test_ids_that_only_some_starts_share(ids: tuple[str | None, str | None], costs: float) -> None:
    """Starts have separate ids, none, or one for all: two alike among three are odd."""
    told = [
        row
        for id, what in (*zip(ids, (A, B), strict=True), ("d", "{}"))
        for row in call("f", id, text(what, id), end(id))
    ]

    assert costs == cost(*told)


def test_a_list_that_is_told_twice_may_be_one() -> None:
    """Equal halves are read as all calls again, or as one list, which is about as likely: the first copies are sure."""
    one = call("f", "c", text(A, "c"), end("c"))
    with_none = call("f", None, text(A), end())

    assert (0.5, 1) == (cost(*one, *one), cost(*with_none, *with_none))


@together(
    ("told", "calls"),
    [
        ([start("f"), text('{"a":'), text("1}"), start("g"), text(B)], [F, G]),
        ([start("f"), text('{"a":'), start("f"), text("1}"), start("g"), text(B)], [F, G]),
        ([start("f"), text('{"a":'), start("f"), text("1}"), start("f"), text(B)], [F, ("f", B, None)]),
        ([start("f"), text(""), text(A), start("g"), text(""), text(B)], [F, G]),
    ],
)
def test_the_text_shows_where_a_call_ends(told: list[Told], calls: list[Got]) -> None:
    """Without labels and ends the next call begins where a text is whole, and a start counts as the text after it."""
    assert calls == sure(*told)


@together(
    ("told", "calls", "costs"),
    [
        ([start("f"), start("g")], [("f", "", None), ("g", "", None)], 2),
        ([start("f"), start("g"), end(), end()], [("f", "", None), ("g", "", None)], 1),
        (call("f", "c", end("x")) + call("g", "d", end("x")), [("f", "", "c"), ("g", "", "d")], 3),
        (call("f", "c", end("x")) + call("g", "d", end("y")), [("f", "", "c"), ("g", "", "d")], 1),
    ],
)
def test_calls_without_texts(told: list[Told], calls: list[Got], costs: float) -> None:
    """Starts alone are calls in a row; their ends have labels as those of other calls."""
    assert (calls, costs) == (sure(*told), cost(*told))


def test_calls_in_turns_are_told_by_their_labels() -> None:
    """Pieces of calls that take turns go to the calls of their ids, which stand in the order of their starts."""
    told = [start("f", "c"), start("g", "d"), text(B[:3], "d"), text(A, "c"), text(B[3:], "d")]

    assert ([("f", A, "c"), ("g", B, "d")], 0) == (
        sure(*told, end("d"), end("c")),
        cost(*told, end("d"), end("c")),
    )


def test_a_call_may_end_under_two_labels() -> None:
    """A run's call that ends under its id, and under the id of its text as well, has ended twice."""
    told = call("f", "c", text(A, "x"), end("c"), end("x")) + call("g", "d", text(B, "y"), end("d"), end("y"))

    assert ([("f", A, "c"), ("g", B, "d")], 2) == (sure(*told), cost(*told))


@together(
    ("told", "costs"),
    [
        ([start("f"), start("g"), end("x"), text(B[:3], "y"), text(B[3:], "y"), end("y")], 2),
        ([start("f", "c"), start("g", "d"), end(), text(B[:3]), text(B[3:]), end()], 1),  # an end for each
        ([start("f", "c"), start("g", "d"), end(), end(), text(B[:3]), text(B[3:]), end(), end()], 2),  # two
        ([start("f", "c"), start("g", "d"), text(A), text(B), end(), end()], 3),  # at last, without labels
        ([start("f", "c"), start("g", "d"), text("", "x"), end("x"), end("x"), text(B, "y"), end("y"), end("y")], 3),
        ([start("f", "c"), start("g", "d"), text(A, "x"), end("c"), end("d")], 1),  # all ends at last
        ([start("f", "c"), start("g", "d"), text(A), text(B)], 2),  # none
    ],
)  # fmt: skip
def test_opened_calls_end_in_one_way(told: list[Told], costs: float) -> None:
    """After the starts of all calls, ends or texts show where each goes on; opened or crossed, nobody knows."""
    assert ([], costs) == (sure(*told), cost(*told))


def test_few_ways_are_tried() -> None:
    """Texts that can be those of too many of the opened calls are not dealt out to them."""

    def cheapest(n: int) -> float:
        starts = [start("f", f"c{at}") for at in range(n)]
        return cost(*starts, *(text(A, f"x{at}") for at in range(3)), *(end(f"c{at}") for at in range(n)))

    assert [1, 4] == [cheapest(6), cheapest(7)]


@together(
    ("told", "calls"),
    [
        ([text(A), start("f"), end(), start("g"), text(B), end()], []),  # begins with a text
        ([start("f"), text('{"a":'), end(), start("g"), text(B), end()], []),  # the first one is cut
        ([start("g"), text(B), end(), start("f"), text('{"a":'), end()], [G, ("f", '{"a":', None)]),
    ],
)
def test_pieces_that_are_not_whole(told: list[Told], calls: list[Got]) -> None:
    """A text before all starts has no reading, and after a text that is cut no call in the row is sure."""
    assert calls == sure(*told)


def test_the_dearest_readings_that_are_believed() -> None:
    """Five habits are believed: an id of two calls, odd labels, and the calls started more often than once."""
    told = [start("f", "c"), start("g", "c"), text("{}", "x"), text("", "y"), start("g", "c"), text(B, "y")]

    assert ([("f", "{}", "c"), ("g", B, "c")], 5) == (sure(*told), cost(*told))


def test_a_start_after_a_start_is_another_call() -> None:
    """Chunks with equal labels are of two calls where no text came between them."""
    told = [start("f"), start("f"), text(A)]

    assert ([("f", "", None), F], 1) == (sure(*told, chunked=True), cost(*told, chunked=True))


def test_one_call_has_one_id() -> None:
    """A call that is started under two ids is as odd as three habits."""
    told = [start("f", "c"), text('{"a":'), start("f", "x"), text("1}"), end()]

    assert ([("f", A, "c")], 5) == (sure(*told), cost(*told))


def test_opened_calls_whose_texts_come_with_starts() -> None:
    """Where starts and all ends agree in ids, each start between two pieces continues the call of the text before it."""
    heads, ends = (start("f", "c"), start("g", "d")), (end("c"), end("d"))
    pieces = (
        text('{"a":', "x"),
        start("f", "c"),
        text("1}", "x"),
        text("{", "y"),
        start("g", "d"),
        text("}", "y"),
    )
    blank = text("", "x"), start("f", "c"), text(A, "x"), text("", "y"), start("g", "d"), text("", "y")

    assert ([("f", A, "c"), ("g", "{}", "d")], 2) == (
        sure(*heads, *pieces, *ends),
        cost(*heads, *pieces, *ends),
    )
    assert ([("f", A, "c"), ("g", "", "d")], 2) == (sure(*heads, *blank, *ends), cost(*heads, *blank, *ends))


def test_a_list_chooses_among_opened_calls() -> None:
    """Where all ends follow, a call without text may be any of those that were opened: the list tells which."""
    told = [start("f", "c"), start("g", "d"), start("h", "e"), text(A, "x"), text(B, "y")]
    ends = end("c"), end("d"), end("e")
    listed: list[tuple[str | None, str]] = [("f", A), ("g", B), ("h", "")]

    assert [] == sure(*told, *ends)
    assert [("f", A, "c"), ("g", B, "d"), ("h", "", "e")] == sure(*told, *ends, listed=listed)


@together(
    ("told", "calls", "costs"),
    [
        ([start("f", "c"), text(A), start("f", "c"), text(B), start("g", "d"), text("{}")], [], 3),
        ([start("f", "c"), text(A), start("f", "c"), text("{"), start("g", "d"), text("{}")], [], 2.5),
        ([start("g", "d"), text("{}"), start("f", "c"), text(A), start("f", "c"), text(B)], [("g", "{}", "d")], 3),
        (
            [start("f", "c"), text(A), start("f", "c"), start("g", "d"), text("{}")],
            [("f", A, "c"), ("g", "{}", "d")],
            3,
        ),
        (
            [start("f", "c"), text(A), start("f", "c"), text(""), start("g", "d"), text("{}")],
            [("f", A, "c"), ("g", "{}", "d")],
            1.5,
        ),
    ],
)  # fmt: skip
def test_chunks_of_one_id_may_be_of_one_call(told: list[Told], calls: list[Got], costs: float) -> None:
    """A chunk with the id of the call before continues it, even where that was whole: a second text leaves it unsure."""
    assert (calls, costs) == (sure(*told, chunked=True), cost(*told, chunked=True))


OPENED = start("f", "c"), start("f", "d")


@together(
    ("told", "calls", "costs"),
    [
        ([*OPENED, text('{"x":'), text("{}}"), text("{}"), end("c"), end("d")], [], 1),
        ([start("g", "c"), start("f", "d"), text(A, "x"), end("d")], [("g", "", "c"), ("f", A, "d")], 3),
        ([*OPENED, text(""), text("{}"), text(""), text('{"x":'), text("{}}")], [], 2),
        ([start("f", "c"), start("f", "c"), *[text(A, "c")] * 4, end("c"), end("c")], [("f", A, "c")], 2),
        (
            [start("f"), start("g"), start("g"), end(), text(""), text(A), text("{}")],
            [("g", "{}", None)],
            4.5,
        ),
    ],
)
def test_only_texts_show_where_calls_go_on(told: list[Told], calls: list[Got], costs: float) -> None:
    """A text goes to the next call once the one before is whole: in pieces, headed by an empty one, or repeated."""
    assert (calls, costs) == (sure(*told), cost(*told))


@together(
    ("told", "calls", "costs"),
    [
        # The first start among the texts comes in the middle of a call that was opened before.
        (
            [start("f", "c"), start("g", "d"), text('{"a":'), text("1"), start("f", "c"), text("}"), text(B)],
            [("f", A, "c"), ("g", B, "d")],
            5,
        ),
        # Starts that are sent before each piece precede pieces: no text follows the second one.
        (
            [
                start("f"),
                text('{"a":'),
                start("f"),
                start("f"),
                text("1}"),
                start("g"),
                text(B),
                end(),
                end(),
            ],
            [],
            6,
        ),
        # The second call has no text: the start after it has another name.
        (
            [
                *[start("f"), text('{"a":'), start("f"), text("1}"), start("f"), start("g"), text(B)],
                *[end(), end(), end()],
            ],
            [("f", A, None), ("f", "", None), ("g", B, None)],
            2,
        ),
    ],
)
def test_starts_between_texts(told: list[Told], calls: list[Got], costs: float) -> None:
    """A start in a text goes on with its call if it has no other name, and a piece follows; else it begins another."""
    assert (calls, costs) == (sure(*told), cost(*told))


@together(
    ("told", "texts"),
    [
        ([start("f"), text(A), start("f"), text(B), start("f"), text(""), start("f"), text(A)], [A, B, A]),
        ([start("f"), start("f"), start("g"), text(""), start("g"), text(B)], ["", "", "", B]),
    ],
)
def test_chunks_without_ids_are_told_apart_by_texts(told: list[Told], texts: list[str]) -> None:
    """A chunk begins a call where the text before it is whole, or where none came."""
    assert (texts, 2) == ([what for _, what, _ in sure(*told, chunked=True)], cost(*told, chunked=True))
