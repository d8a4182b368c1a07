"""Readings of pieces with wrong labels: the calls of the cheapest one, and those of them that are sure."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments.lexical import Scan
from wholecall.machine.readings.partitions import MOST_OPEN, PARTITIONS, Columns, Piece
from wholecall.machine.readings.solve import solve

A, B = '{"a":1}', '{"b":2}'
Got = tuple["str | None", str]


def p(
    index: int | None = None, id: str | None = None, name: str | None = None, text: str = "", **more: Any
) -> Piece:
    """Return a piece."""
    return Piece(index, id, name, text, **more)


def sure(*pieces: Piece, **how: Any) -> list[Got]:
    """Return name and text of the calls that are sure."""
    solution = solve(pieces, parse_arguments, **how)
    return [
        (call.name, call.text) for call, is_sure in zip(solution.calls, solution.sure, strict=True) if is_sure
    ]


def cost(*pieces: Piece, **how: Any) -> float:
    """Return the cost of the cheapest reading."""
    return solve(pieces, parse_arguments, **how).cost


F, G = [("f", A)], [("f", A), ("g", B)]


@pytest.mark.parametrize(
    ("pieces", "expected", "costs"),
    [
        ([p(0, "c", "f", A), p(1, "d", "g", B)], G, 0),  # own
        ([p(0, "c", "f", A), p(0, "d", "g", B)], G, 1),  # one
        ([p(None, "c", "f", A), p(None, "d", "g", B)], G, 1),  # none
        ([p(0, "c", "f"), p(None, None, None, A), p(1, "d", "g"), p(None, None, None, B)], G, 1),  # first
        ([p(0, "c", "f"), p(1, None, None, A), p(2, "d", "g"), p(3, None, None, B)], G, 1.5),  # each
        ([p(0, "c", "f"), p(9, None, None, A), p(1, "d", "g"), p(9, None, None, B)], G, 2),  # tail
        ([p(0, "c", "f", A), p(0, "d", "g", B), p(1, "e", "h", A)], [*G, ("h", A)], 2.5),  # taken over
    ],
)
def test_habits_of_the_index(pieces: list[Piece], expected: list[Got], costs: float) -> None:
    """Each habit of the index is recognised, at its cost (quirks 1 to 6)."""
    assert (expected, costs) == (sure(*pieces), cost(*pieces))


@pytest.mark.parametrize(
    ("pieces", "expected", "costs"),
    [
        ([p(0, "c", "f"), p(0, "c", None, A)], F, 0),  # own
        ([p(0, None, "f", A), p(1, None, "g", B)], G, 1),  # none
        ([p(0, "c", "f", A), p(1, "c", "g", B)], G, 1),  # one
        ([p(0, None, "f"), p(0, "c", None, A), p(1, None, "g"), p(1, "d", None, B)], G, 1),  # late
        ([p(0, "c", "f"), p(0, "d"), p(0, None, None, A)], F, 1),  # heads
        ([p(0, "c", "f", '{"a"'), p(0, "d", None, ":1}")], F, 1.5),  # each
        ([p(0, "c", "f", '{"a"'), p(0, "d", "f", ":1}")], F, 1.5),  # each, next to the name on every piece
    ],
)
def test_habits_of_the_id(pieces: list[Piece], expected: list[Got], costs: float) -> None:
    """Each habit of the id is recognised, at its cost (quirks 7 to 13)."""
    assert (expected, costs) == (sure(*pieces), cost(*pieces))


@pytest.mark.parametrize(
    ("pieces", "expected", "costs"),
    [
        ([p(0, "c", "f", '{"a"'), p(0, "c", "f", ":1"), p(0, "c", "f", "}")], F, 0.5),  # every
        ([p(0, "c", "f"), p(0, None, None, A), p(0, None, "f")], F, 0.5),  # both
        ([p(0, "c", "f"), p(0, "c", "f"), p(0, "c", None, A)], F, 0.5),  # heads
        ([p(0, "c", None, '{"a"'), p(0, None, "f", ":1}")], F, 1),  # late
        ([p(0, "c", "g"), p(0, None, "o"), p(0, None, None, A)], [("go", A)], 1.5),  # pieces
        ([p(0, "c", "f"), p(0, None, None, '{"a"'), p(0, None, "f", ":1"), p(0, None, None, "}")], F, 2),
    ],
)
def test_habits_of_the_name(pieces: list[Piece], expected: list[Got], costs: float) -> None:
    """Each habit of the name is recognised, at its cost (quirks 15 to 18)."""
    assert (expected, costs) == (sure(*pieces), cost(*pieces))


@together(
    ("texts", "expected", "costs"),
    [
        (['{"a"', ":1}"], A, 0),
        (["", '{"a"', A], A, 1),  # snapshots
        (['{"a"', ":1}", A], A, 1),  # repeated
        (["{}", '{"a":"x"}', '{"a":"xy"}'], '{"a":"xy"}', 1),  # closed
        (["{}", '{"a"', ":1}"], A, 1),  # placeholder
        (["null", A], A, 1),
        (["{'a'", ":1}"], "{'a':1}", 1),  # a slip
        (['{"a":', '{"a":1}}'], '{"a":{"a":1}}', 0),  # no snapshot
        (['"{\\"a\\"', ':1}"'], '"{\\"a\\":1}"', 0),  # encoded twice
        (['{"a":"\ud83d', '\ude00"}'], '{"a":"\U0001f600"}', 0),  # half a character in each
    ],
)
def test_habits_of_the_text(texts: list[str], expected: str, costs: float) -> None:
    """Each habit of the text is recognised, at its cost (quirks 23 to 28, 35)."""
    pieces = [p(0, "c" if n == 0 else None, "f" if n == 0 else None, text) for n, text in enumerate(texts)]

    assert ([("f", expected)], costs) == (sure(*pieces), cost(*pieces))


def test_objects_that_grow_are_one_call() -> None:
    """Where a server closes open objects, and counts, the last object is the call; equal labels without growth are
    calls.
    """
    texts = ["{}", '{"a":"x"}', '{"a":"xy"}']
    grown = [p(n, "c", "f", text) for n, text in enumerate(texts)]
    apart = [p(0, "c", "f", A), p(1, "c", "f", B)]

    assert [("f", texts[-1])] == sure(*grown)
    assert [("f", A), ("f", B)] == sure(*apart)


def test_a_free_text_is_whole_as_it_is() -> None:
    """Free text of a custom tool is never read: its pieces are joined."""
    pieces = p(0, "c", "f", "{}", custom=True), p(0, None, None, "{}{", custom=True)

    assert [("f", "{}{}{")] == sure(*pieces)


def test_an_object_is_never_joined() -> None:
    """An object where fragments are usual is a whole text: another piece can only repeat it (quirk 22)."""
    head, rest = p(0, "c", "f", A, whole=True), p(0, None, None, A, whole=True)

    assert [("f", A)] == sure(head, rest)
    assert [] == sure(p(0, "c", "f", "{", whole=True), p(0, None, None, "}", whole=True))


def test_what_the_readings_agree_on_is_sure() -> None:
    """Labels with a separate id and no text are another call, or the head of the next: the text is sure."""
    assert [("f", A)] == sure(p(0, "c", "f"), p(0, "d", "f", A))
    assert [] == sure(p(0, None, "f"), p(0, None, "g", A))  # a name in two pieces, or two calls
    assert [("f", ""), ("g", A)] == sure(p(0, None, "f"), p(0, None, "g", A), known={"f", "g"}.__contains__)


def test_bare_fragments_are_texts() -> None:
    """A fragment without labels and text ends an empty text, where each call has one."""
    heads = p(None, None, "f", bare=True), p(None, None, "f"), p(None, None, None, A)

    assert [("f", A)] == sure(*heads[1:], p(None, None, "g"), p(None, None, None, B))[:1]
    assert [("f", A)] == sure(p(0, "c", "f"), p(0, "c", "f"), p(0, "c", None, A))
    assert [("f", ""), ("f", A)] == sure(*heads)


def test_a_call_told_again_is_that_call() -> None:
    """A piece under a known id and name at a new index with the call's whole text is that call again."""
    calls = [p(0, "c", "f"), p(0, None, None, A), p(1, "d", "g", B)]
    again = [p(2, "c", "f", '{"a": 1}'), p(3, "d", "g", B)]

    assert (G, 1) == (sure(*calls, *again), cost(*calls, *again))
    assert G == sure(*calls, *again[:1])


def test_what_came_out_is_a_fact() -> None:
    """Readings that do not hold an emitted call do not count."""
    pieces = p(0, "c", "f", A), p(0, None, "f", A)

    assert [("f", A)] == sure(*pieces)
    assert [("f", A)] == sure(*pieces, facts=[(0, "f", A)])
    assert [] == sure(*pieces, facts=[(0, "g", A)])


def test_a_lost_text_may_be_any_call_s() -> None:
    """Where a text is broken or has no owner, calls without text are not sure."""
    assert [("f", A), ("h", ":1}")] == sure(p(0, "c", "f", A), p(1, "d", "g"), p(2, "e", "h", ":1}"))
    assert [("f", A)] == sure(p(0, "c", "f", A), p(1, "d", "g"), p(2, "e", None, B))


def test_nothing_is_believed_that_is_too_odd() -> None:
    """A record whose cheapest reading costs more than five means nothing that could be executed."""
    pieces = [p(n % 2, None, None, text) for n, text in enumerate((A, "]", B, ":", A))]

    assert ([], True) == (sure(*pieces), cost(*pieces) > 5)


def test_an_open_call_of_a_cut_turn() -> None:
    """Where the turn was cut, half of a text is cheaper than a snapshot, and a whole text is sure."""
    pieces = p(0, "c", "f", A), p(1, "d", "g", '{"b":'), p(1, None, None, '{"b":1}')

    assert [("f", A), ("g", '{"b":1}')] == sure(*pieces)
    assert [("f", A), ("g", '{"b":{"b":1}')] == sure(*pieces, cut=True)


def test_the_last_name_of_a_cut_turn() -> None:
    """Where names come in pieces, the open call of a cut turn may lack the rest of its name."""
    pieces = p(0, "c", "go", '{"a"'), p(0, None, "to", ":1}"), p(1, "d", "go", B)

    assert [("goto", A), ("go", B)] == sure(*pieces)
    assert [("goto", A)] == sure(*pieces, cut=True)


def test_the_last_repetition_of_a_cut_turn() -> None:
    """Where each text comes once more, the open call of a cut turn may lack that: a repeated text is not two calls."""
    twice = [p(0, "a", "f", A), p(0, "b", "f", A)]
    last = [p(1, "c", "g", '{"b"'), p(1, "d", "g", ":2}")]

    assert [("f", A)] * 2 == sure(*twice, cut=True)
    assert [("f", A)] == sure(*twice, *last, cut=True)


def test_turns() -> None:
    """Where calls took turns before, the order of the pieces says nothing: labels decide, or nothing does."""
    pieces = p(None, None, "f", '{"a"'), p(None, None, None, ":1}"), p(None, None, "g", B)

    assert (G, []) == (sure(*pieces), sure(*pieces, turns=True))


def test_renumbering_and_renaming() -> None:
    """The meaning of pieces does not depend on the spelling of indices and ids."""
    pieces = [p(0, "a", "f"), p(0, "b", "f", A), p(1, None, None, B), p(1, "c", "g", "{}"), p(0, "a", "g")]
    other = [
        p(None if q.index is None else 9 - q.index, q.id and f"call_{9 - ord(q.id)}", q.name, q.text)
        for q in pieces
    ]

    assert solve(pieces, parse_arguments) == solve(other, parse_arguments)


def test_no_text_is_read_twice() -> None:
    """Each text is read once, whatever the number of readings."""
    texts: list[str] = []

    def read(text: str) -> Any:
        texts.append(text)
        return parse_arguments(text)

    solve([p(0, "c", "f", A), p(0, "d", "f", B), p(0, None, "g", '{"a"'), p(0, None, None, ":1}")], read)

    assert len(set(texts)) == len(texts)


def test_partitions() -> None:
    """There are fifteen: four by labels at any position, six rows by labels, five by the text alone."""
    assert (15, 4) == (len(PARTITIONS), sum(not partition.is_row for partition in PARTITIONS))


def test_assignments_that_nobody_believes_are_given_up() -> None:
    """Ids that change on every piece assign to no calls: more would have no name than anybody believes."""
    pieces = [p(0, "c", "f"), *(p(0, f"c{n}", None, f"{n:02}") for n in range(20))]
    columns = Columns(pieces)
    assignments = [partition.assign(columns) for partition in PARTITIONS]

    assert columns.most == 4
    assert sum(one is None for one in assignments) == 3  # by id, by index and id, snapshots
    assert columns.most_open == 4
    assert Columns(pieces, cut=True).most_open == 1 + MOST_OPEN


def test_a_text_is_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways to tell calls apart by their text share one scan, which is not asked piece by piece."""
    fed: list[str] = []
    feed = Scan.feed

    def counted(scan: Scan, text: str) -> None:
        fed.append(text)
        feed(scan, text)

    monkeypatch.setattr(Scan, "feed", counted)
    columns = Columns(
        [p(0, None, "f", '{"a":"'), *(p(n, text=f"{n:04}") for n in range(1000)), p(0, text='"}')]
    )
    assignments = [partition.assign(columns) for partition in PARTITIONS]

    assert [0] * 1002 in assignments
    assert sum(map(len, fed)) <= 2 * 4008
    assert len(fed) < 10
