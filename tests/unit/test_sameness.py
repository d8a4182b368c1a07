"""Tests of the sameness of two calls, and of a stream's memory for it."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from tests.support.assembled import CALLS, END, HOLE, told
from tests.support.bound import at
from tests.support.events import call as emitted
from tests.support.events import custom
from tests.support.slotted import begun, closed, piece
from tests.support.together import together
from wholecall import Limits, ToolCall, ToolCallDropped, ToolCallParser
from wholecall.calls.output.call_events import CustomToolCall, ServerToolCall
from wholecall.deltas import DONE, CallAnswered, CallWhole, CallWritten, Delta, TurnOpened
from wholecall.machine import sameness
from wholecall.machine.call import Call
from wholecall.machine.sameness import Place, Said, Told, repeats
from wholecall.types import Kind

A, B = '{"a":1}', '{"a":2}'


@together(
    ("said", "again"),
    [
        pytest.param([("c", A), ("c", '{ "a": 1.0 }')], {1: 0}, id="the same value in another spelling"),
        pytest.param([("c", A), ("d", A)], {}, id="other ids"),
        pytest.param([(None, A), (None, A)], {}, id="no ids"),
        pytest.param([("c", ""), ("c", A)], {0: 1}, id="a head, and the whole call"),
        pytest.param([("c", A), ("c", "")], {1: 0}, id="a whole call, and its head"),
        pytest.param([("c", ""), ("c", "")], {1: 0}, id="two heads"),
        pytest.param([("c", A), ("c", B)], {}, id="another value"),
        pytest.param([("c", A), ("c", A), ("c", B)], {}, id="an id that identifies nothing"),
        pytest.param([("c", A), ("c", B), ("c", A), ("c", B)], {2: 0, 3: 1}, id="a list that came twice"),
        pytest.param([("c", ""), ("c", A), ("c", B)], {}, id="no head of two calls"),
        pytest.param([("c", ""), ("c", A), ("c", B)] * 2, {}, id="no heads of two calls that came twice"),
    ],
)
def test_repeats(said: list[tuple[str | None, str]], again: dict[int, int]) -> None:
    """Equal calls of one id are one, unless different ones show that it identifies nothing."""
    assert again == repeats([Said(id, "f", text) for id, text in said])


def test_names_are_compared() -> None:
    """Calls of two names are never the same, and show that their id identifies nothing."""
    assert {} == repeats([Said("c", "f", A), Said("c", "g", A), Said("c", "f", "")])


def _stream(answer: str, names: str = "f", ids: str | None = "abc") -> bytes:
    calls = [
        {"index": index, "type": "function", "function": {"name": name, "arguments": A}}
        | ({} if ids is None else {"id": ids[index]})
        for index, name in enumerate(names)
    ]
    chunks = [
        {"delta": {"role": "assistant", "content": None}, "finish_reason": None},
        {"delta": {"tool_calls": calls}, "finish_reason": None},
        {"delta": {}, "finish_reason": "tool_calls"},
    ]
    said = [{"id": answer, "model": "m", "choices": [{"index": 0, **chunk}]} for chunk in chunks]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in said) + b"data: [DONE]\n\n"


def test_turns_that_are_forgotten_are_not_remembered() -> None:
    """A call of a turn that is no longer kept is not recognized: memory is bounded by the turns that are kept."""
    streams = [_stream(answer) for answer in "abca"]

    def answers(limits: Limits) -> list[int]:
        parser = ToolCallParser("chat-completions", limits=limits)
        events = [*parser.feed(b"".join(streams)), *parser.close()]
        return [event.turn for event in events if isinstance(event, ToolCall)]

    assert [0, 1, 2] == answers(Limits())
    assert [0, 1, 2, 3] == answers(Limits(max_turns=2))


@together("names", ["f", "ff", "fg", "fgh", "ffg"])
@together("ids", [None, "abc"])
def test_an_answer_that_comes_again_has_no_new_call(names: str, ids: str | None) -> None:
    """The calls of a response that was sent twice are emitted once, with ids or without, whatever they have in common."""
    parser = ToolCallParser("chat-completions")
    events = [*parser.feed(_stream("a", names, ids) * 2), *parser.close()]

    assert [(0, name) for name in names] == [
        (event.turn, event.name) for event in events if isinstance(event, ToolCall)
    ]


def test_one_id_of_several_calls() -> None:
    """Calls of two names or values show that their id identifies nothing; calls without text have only names."""
    head = Said("c", "f", "")

    assert [False] * 4 == [
        sameness.is_shared(calls)
        for calls in (
            [],
            [head, head],
            [head, Said("c", "f", A)],
            [Said("c", " f", A), Said("c", "f", A), Said("c", "f", "{")],
        )
    ]
    assert [True] * 3 == [
        sameness.is_shared(calls)
        for calls in (
            [head, Said("c", "g", "")],
            [Said("c", "f", A), Said("c", "f", B)],
            [head, Said("c", "f", A), Said("c", "f", "[1]")],
        )
    ]


@together(
    ("one", "other", "same"),
    [
        pytest.param(Said("c", "f", ""), Said("d", "f", "{}"), True, id="no text is an empty object"),
        pytest.param(Said("c", "f", "{"), Said("c", "f", "{"), True, id="one text without a value"),
        pytest.param(Said("c", "f", "{"), Said("c", "f", "{ "), False, id="two texts without a value"),
        pytest.param(Said("c", "f", A), Said("c", "g", A), False, id="another name"),
        pytest.param(Said("c", "f", A, A), Said("c", "f", '{"a": 1}', '{"a": 1}'), False, id="free texts"),
        pytest.param(Said("c", "f", None, {"a": 1}), Said("c", "f", None, {"a": 2}), False, id="values"),
        pytest.param(
            Said("c", "f", None, {"a": 1}), Said("c", "f", '{"a":1.0}'), True, id="a value and a text"
        ),
    ],
)
def test_the_same_call(one: Said, other: Said, *, same: bool) -> None:
    """One name, and one value in any spelling; the value of a custom tool is its text."""
    assert [same, same] == [one.is_same(other), other.is_same(one)]


def test_a_snapshot_keeps_what_came_out() -> None:
    """A parser that continues elsewhere knows the calls that were emitted before."""
    parser = ToolCallParser("chat-completions")
    parser.feed(_stream("a"))
    moved = ToolCallParser.restore(parser.snapshot())
    events = [*moved.feed(_stream("a")), *moved.close()]

    assert [] == [event for event in events if isinstance(event, ToolCall)]
    assert ("repeated_call",) == moved.turn.anomalies


def test_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among calls that were answered before they came, the oldest are forgotten beyond a number and a size."""
    monkeypatch.setattr(sameness, "_MOST_ANSWERS", 2)
    monkeypatch.setattr(sameness, "_LONGEST_ANSWERS", 10)
    told = Told()

    def kept(*answers: tuple[str, str]) -> list[str]:
        for id, text in answers:
            told.answer(CallAnswered(id, "f", text))
        return list(told.answers)

    assert ["b", "c"] == kept(("a", ""), ("b", ""), ("c", ""))
    assert ["c", "d"] == kept(("d", "1234567890"))
    assert ["e"] == kept(("e", "1"), ("e", "1"))
    assert [] == kept(("f", "12345678901"))


def test_an_answer_is_of_one_call() -> None:
    """An answer counts for the next call of its id, name and value, and for no other."""
    call = Call(0, 0, "function")
    call.id = "c"
    call.append(A)
    told = Told()
    told.answer(CallAnswered("c", "f", '{"a": 1}'))

    assert (False, True, False) == tuple(told.takes_answer(call, name) for name in ("g", "f", "f"))
    told.answer(CallAnswered("c", "f", B))
    assert not told.takes_answer(call, "f")


# Calls of a later turn.

OfTurn = tuple["str | None", str, str]  # id, name and text of a call


def turn(number: int, *calls: OfTurn, response: str | None = "r", final: bool = True) -> list[Delta]:
    """Return a turn of calls that end one by one, each whole, or where the next one begins."""
    said: list[Delta] = [TurnOpened(str(number), response)]
    for n, (id, name, text) in enumerate(calls):
        said += [begun(n, id, name), *([piece(n, text)] if text else []), closed(n, final=final)]
    return [*said, END]


def new(*turns: list[Delta], limits: Limits = Limits()) -> list[tuple[str, str]]:  # noqa: B008 (frozen)
    """Return name and text of the calls that come out in the last of some turns, or the reason of a drop."""
    events = told(*(one for of in turns for one in of), limits=limits)
    ends = [event for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    return [
        (event.reason if isinstance(event, ToolCallDropped) else event.name, event.raw_arguments)
        for event in ends
        if event.turn == len(turns) - 1
    ]


@together(
    ("first", "second", "expected"),
    [
        ([("c", "f", A)], [("c", "f", A)], []),
        ([("c", "f<x", A)], [("c", "f<y", A)], []),
        ([("c", "f", A)], [("c", "f", B)], [("f", B)]),
        ([("c", "f", A)], [("c", "g", A)], [("g", A)]),
        ([("c", "f", A)], [("d", "f", A)], [("f", A)]),
        ([(None, "f", A)], [(None, "f", A)], []),
        ([(None, "f", A)], [(None, "f", A), (None, "f", A)], [("f", A)]),
        ([(None, "f", A), (None, "f", A)], [(None, "f", A), (None, "f", A)], []),
        ([(None, "f", A)], [("r", "f", A)], [("f", A)]),
        ([("c", "f", A), (None, "f", A)], [(None, "f", A), ("c", "f", A)], []),
        ([("c", "f", A), (None, "f", A)], [("c", "f", A), (None, "f", A)], []),
        ([("d", "f", A)], [("c", "f", A), ("c", "f", B), ("c", "f", A)], [("f", A), ("f", B), ("f", A)]),
    ],
)
def test_which_calls_of_an_answer_are_new(
    first: list[OfTurn], second: list[OfTurn], expected: list[tuple[str, str]]
) -> None:
    """Calls of a turn repeat those of another turn by id, name and value; without ids they are matched one to one."""
    assert expected == new(turn(0, *first), turn(1, *second))


@together(
    ("first", "second", "expected"),
    [
        ([("c", "f", A)], [("c", "f", "")], []),
        ([("c", "f", A)], [("c", "g", "")], [("g", "")]),
        ([("c", "f", A)], [("d", "f", "")], [("f", "")]),
        ([("c", "f", A), ("c", "g", A)], [("c", "g", "")], []),
        ([(None, "f", A)], [(None, "f", "")], [("f", "")]),
        ([("c", "f<x", A)], [("c", "f<y", "")], []),
    ],
)
def test_a_start_alone_is_known_by_its_id(
    first: list[OfTurn], second: list[OfTurn], expected: list[tuple[str, str]]
) -> None:
    """A start without text, whose end is not sure, repeats a call of its id and name; without an id it is a call."""
    assert expected == new(turn(0, *first), [*turn(1, *second, final=False)[:-1], CALLS, END])


@together(
    ("silent", "expected"),
    [(("c", "f", ""), [("told_twice", "")]), (("c", "g", ""), [("g", "")]), (("d", "f", ""), [("f", "")])],
)
def test_silence_is_known_by_its_id_where_no_answer_has_one(
    silent: OfTurn, expected: list[tuple[str, str]]
) -> None:
    """A call that ends without any text, in a turn without a response id, repeats a call of its id and name."""
    assert expected == new(turn(0, ("c", "f", A), response=None), turn(1, silent, response=None))


def test_a_start_that_lost_text_is_told() -> None:
    """Where text of a known id was lost, nobody knows whether the same call came again."""
    lost: list[Delta] = [TurnOpened("1", "r"), begun(0, "c", "f"), HOLE, CALLS, END]

    assert [("incomplete_input", "")] == new(turn(0, ("c", "f", A)), lost)


@together(
    ("responses", "expected"),
    [
        (("r", "r"), []),
        (("r", "s"), [("f", A)]),
        ((None, "r"), [("told_twice", A)]),
        (("r", None), [("told_twice", A)]),
        ((None, None), [("told_twice", A)]),
    ],
)
def test_a_response_id_shows_that_an_answer_comes_again(
    responses: tuple[str | None, str | None], expected: list[tuple[str, str]]
) -> None:
    """Under one response id a call is withheld until it is known; where a turn has none, its drop tells that it came."""
    turns = [turn(n, ("c", "f", A), response=response) for n, response in enumerate(responses)]
    bare = [turn(n, (None, "f", A), response=response) for n, response in enumerate(responses)]

    assert expected == new(*turns)
    assert ([] if responses == ("r", "r") else [("f", A)]) == new(*bare)


def test_a_call_beside_another_one_of_its_id_is_no_repetition_in_silence() -> None:
    """Without a response id a call that came in another turn is told twice, also next to another call under its id."""
    second = turn(1, ("c", "f", B), ("c", "f", A), response=None, final=False)

    assert [("f", B), ("told_twice", A)] == new(turn(0, ("c", "f", A), response=None), second)


def test_calls_without_a_response_id_show_little() -> None:
    """What came without a response id neither lets a call with an id appear again nor is a call without an id."""
    labelled = turn(0, ("c", "f", B), response=None), turn(1, ("c", "f", A)), turn(2, ("c", "f", A))
    bare = turn(0, (None, "f", A), response=None), turn(1, (None, "f", B)), turn(2, (None, "f", A))

    assert [[], [("f", A)]] == [new(*labelled), new(*bare)]


def test_only_repetitions_stand_for_known_calls() -> None:
    """A call that came out itself, before the equal call of another turn, is no repetition of that one."""
    told = Told()
    calls = [Call(1, 0, "function") for _ in range(2)]
    for call in calls:
        call.name = "f"
        call.append(A)
    calls[0].phase = "ended"
    told.note(Place(0, 0, "r"), Call(0, 0, "function"), emitted(A))
    came_out = told.holds(Place(1, 0, "r"), calls[1], "f", calls)
    calls[0].withheld = True

    assert (True, False) == (came_out, told.holds(Place(1, 0, "r"), calls[1], "f", calls))


def test_alternative_answers_are_not_compared() -> None:
    """The same call in a choice of another number is a call of an alternative answer."""
    first: list[Delta] = [TurnOpened("0", "r"), at(0, A, "c", "f"), END]

    assert [] == new(first, [TurnOpened("1", "r"), at(0, A, "c", "f"), END])
    assert [("f", A)] == new(first, [TurnOpened("1", "r"), replace(at(0, A, "c", "f"), choice=1), END])


def test_calls_that_were_written_are_not_compared() -> None:
    """A call that the model wrote as text is neither repeated by a call of the wire nor a repetition of one."""
    written: list[Delta] = [TurnOpened("0", "r"), CallWritten(0, "f", "c", A, "<x>"), END]
    again: list[Delta] = [TurnOpened("1", "r"), CallWritten(0, "f", "c", A, "<x>"), END]

    assert [("f", A)] == new(written, turn(1, ("c", "f", A)))
    assert [("f", A)] == new(turn(0, ("c", "f", A)), again)


def test_what_the_server_executed_is_known() -> None:
    """A call that was executed elsewhere is no call for the client when it comes again."""
    server: list[Delta] = [
        TurnOpened("0", "r"), begun(0, "c", "f", kind="server"), piece(0, A), closed(0), END
    ]  # fmt: skip

    assert [] == new(server, turn(1, ("c", "f", A)))


def test_a_call_without_a_name_repeats_none() -> None:
    """A call of a later turn under a known id is a drop if it has no name."""
    nameless: list[Delta] = [TurnOpened("1", "r"), begun(0, "c", None), piece(0, A), closed(0), END]

    assert [("nameless", A)] == new(turn(0, ("c", "f", A)), nameless)


def test_what_the_server_executes_later_is_told() -> None:
    """A client's call that comes again as the server's is one of the server: clients learn that it is executed."""
    server: list[Delta] = [
        TurnOpened("1", "r"), begun(0, "c", "f", kind="server"), piece(0, A), closed(0), END
    ]  # fmt: skip
    events = told(*turn(0, ("c", "f", A)), *server)

    assert [("f", A)] == [(e.name, e.raw_arguments) for e in events if isinstance(e, ServerToolCall)]


def test_a_call_that_was_dropped_is_not_known() -> None:
    """What did not come out can come again."""
    assert [("f", A)] == new(turn(0, ("c", "f", '{"a"')), turn(1, ("c", "f", A)))


def test_what_came_before_the_first_later_turn_counts_once() -> None:
    """Free texts are compared as they are, and a call of the first turn is remembered once."""
    free: list[list[Delta]] = [
        [TurnOpened(n, "r"), begun(0, "c", "f", kind="custom"), piece(0, text), closed(0), END]
        for n, text in (("0", A), ("1", A), ("2", '{"a": 1}'))
    ]

    assert [] == [event for event in told(*free[0], *free[1]) if isinstance(event, CustomToolCall)][1:]
    assert 2 == sum(isinstance(event, CustomToolCall) for event in told(*free[0], *free[2]))


def test_only_calls_of_turns_that_are_kept_are_known() -> None:
    """When a turn is forgotten its calls are, and the calls of other turns under the same label stay known."""
    kept = Limits(max_turns=2)
    turns = turn(0, ("c", "f", A)), turn(1, ("c", "f", B), ("d", "f", A))

    assert [("f", A)] == new(*turns, turn(2, ("c", "f", A)), limits=kept)
    assert [] == new(*turns, turn(2, ("c", "f", B), ("d", "f", A)), limits=kept)
    assert [] == new(*turns, turn(2, ("c", "f", A)))


def test_the_last_calls_of_a_label_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the calls of one label the oldest are forgotten beyond a number; more calls of one id are not compared."""
    texts = [f'{{"a":{n}}}' for n in range(3)]
    calls = [(None, "f", text) for text in texts]
    monkeypatch.setattr(sameness, "_MOST", 2)

    assert [("f", texts[0])] == new(turn(0, *calls), turn(1, *calls[1:], calls[0]))
    assert [{1: 0}, {}] == [repeats([Said("c", "f", A)] * n) for n in (2, 3)]


def test_events_are_about_calls() -> None:
    """An event of a call that a snapshot does not have shows that the snapshot is damaged."""
    with pytest.raises(ValueError, match="an event is of no call"):
        Told().note_all(Place(0, 0, "r"), [], [emitted(A)])


# What calls say.


def said_by(text: str, kind: Kind = "function", restated: str | None = None) -> Said:
    """Return what a call says."""
    call = Call(0, 0, kind)
    call.id, call.name = "c", "f"
    call.take(text)
    call.restated = restated
    return Said.of(call)


def listed(text: str, kind: Kind = "function") -> Said:
    """Return what a message says of a call."""
    return Said.whole(CallWhole(0, None, None, "c", "f", text, DONE, kind))


SPACED = '{"a": 1}'


def event(text: str, kind: Kind = "function") -> Said:
    """Return what an emitted call says."""
    return Said.emitted(custom(text) if kind == "custom" else emitted(text))


def test_what_calls_say() -> None:
    """Calls that stream, that are listed and that were emitted are equal if their values are, free texts if they are."""
    ways = said_by, listed, event
    pairs = [(one, other) for one in ways for other in ways]

    assert all(one(A).is_same(other(SPACED)) and not one(A).is_same(other(B)) for one, other in pairs)
    assert all(one("x", "custom").is_same(other("x", "custom")) for one, other in pairs)
    assert not any(one(A, "custom").is_same(other(SPACED, "custom")) for one, other in pairs)


def test_the_text_in_force_is_said() -> None:
    """A text that the wire restated counts instead of the pieces, and a text without a value is only equal to itself."""
    assert [True, False] == [said_by(B, restated=A).is_same(listed(text)) for text in (A, B)]
    assert [True, False] == [said_by("{").is_same(said_by(text)) for text in ("{", '{"')]


def test_a_value_is_that_of_the_text_so_far() -> None:
    """The value that was read of a call counts until more text comes."""
    call = Call(0, 0, "function")
    call.append('{"a":1')
    values = [Said.of(call).value]
    call.append("}")
    values += Said.of(call).value, Said.of(call).value

    assert [None, {"a": 1}, {"a": 1}] == values


def test_a_repr_shows_no_text() -> None:
    """What a call says can end in a log: its size is shown, and not its text."""
    assert ["<Said of 7 characters>", "<Said of 0 characters>"] == [
        repr(said) for said in (said_by(A), Said.emitted(emitted(A)))
    ]


@together(
    ("of", "answer", "takes"),
    [
        ("", A, True),
        (A, None, True),
        (A, SPACED, True),
        (A, B, False),
    ],
)
def test_what_an_answer_says(of: str, answer: str | None, *, takes: bool) -> None:
    """An answer that came without a text, and a call that has none yet, differ in nothing from each other."""
    call = Call(0, 0, "function")
    call.id = "c"
    call.take(of)
    told = Told()
    told.answer(CallAnswered("c", None, answer))

    assert takes == told.takes_answer(call, "f")


def test_answers_of_a_snapshot_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of the answers that a snapshot held counts; one that comes again counts once, one without text nothing."""
    monkeypatch.setattr(sameness, "_LONGEST_ANSWERS", 10)
    told = Told()
    told.restore({id: CallAnswered(id, "f", text) for id, text in (("a", "12345"), ("b", None), ("c", ""))})
    told.answer(CallAnswered("d", "f", "12345"))
    whole = list(told.answers)
    told.answer(CallAnswered("d", "f", "1234"))
    again = list(told.answers)
    told.answer(CallAnswered("e", "f", "12"))

    assert [["a", "b", "c", "d"], ["a", "b", "c", "d"], ["b", "c", "d", "e"]] == [
        whole,
        again,
        list(told.answers),
    ]
