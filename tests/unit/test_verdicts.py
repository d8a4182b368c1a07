"""A call at its end: objections, the text that counts, and the terminal event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.together import together
from wholecall.calls.arguments.equal import same_value
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.calls.output.events import Event
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    Slot,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

if TYPE_CHECKING:
    from wholecall.types import Kind

A, B = '{"a":1}', '{"b":2}'
HOLE = WireFault("undecodable_frame", "", hole=True)
ENDINGS: dict[str, list[Delta]] = {
    "clean": [Finish(0, "tool_calls", None), TurnEnded()],
    "length": [Finish(0, "length", None), TurnEnded()],
    "filter": [Finish(0, "content_filter", None), TurnEnded()],
    "open": [],
    "fault": [WireFault("provider_error", "", fatal=True)],
    "refusal": [Finish(0, "stop", "refusal", drops=True)],
}


def labelled(text: str, id: str | None = "c", name: str | None = "f", kind: Kind = "function") -> list[Delta]:
    """Return a chat call."""
    return [Labelled(0, 0, id, name, "", kind), *([Fragment(0, 0, text)] if text else [])]


def slotted(text: str, name: str | None = "f", kind: Kind = "function") -> list[Delta]:
    """Return a call in a slot, not closed."""
    return [CallSeen(0, 0, "i", "c", name, kind), *([Slot(0, 0, "i", text)] if text else [])]


def run(
    *deltas: Delta,
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> list[Event]:
    """Return all events of a stream."""
    assembler = Assembler(policy, limits)
    for delta in deltas:
        assembler.advance([delta])
    assembler.close()
    return assembler.take()


def ends(events: list[Event]) -> list[Any]:
    """Return the terminal events."""
    return [
        e
        for e in events
        if isinstance(e, (ToolCall, CustomToolCall, BuiltinToolCall, ServerToolCall, ToolCallDropped))
    ]


def sign(event: Any) -> str:
    """Return the reason of a drop; of a call its status and flags."""
    if isinstance(event, ToolCallDropped):
        return event.reason
    return " ".join((*([event.status] if isinstance(event, ToolCall) else []), *event.flags))


def only(*deltas: Delta, **options: Any) -> Any:
    """Return the one terminal event of a stream."""
    (event,) = ends(run(*deltas, **options))
    return event


# How a call can end.


@together(
    ("ending", "text", "of_label", "of_slot"),
    [
        ("clean", A, "exact", "exact"),
        ("clean", "{}", "exact", "exact"),
        ("clean", "", "empty", "empty"),
        ("clean", '{"a"', "truncated", "truncated"),
        ("clean", "[1]", "not_an_object", "not_an_object"),
        ("length", A, "exact turn_truncated", "truncated"),
        ("length", "{}", "truncated", "truncated"),
        ("length", "", "truncated", "truncated"),
        ("length", '{"a"', "truncated", "truncated"),
        ("filter", A, "exact turn_truncated", "truncated"),
        ("filter", '{"a"', "truncated", "truncated"),
        ("open", A, "unterminated", "unterminated"),
        ("open", "", "unterminated", "unterminated"),
        ("open", '{"a"', "unterminated", "unterminated"),
        ("fault", A, "aborted", "aborted"),
        ("fault", "", "aborted", "aborted"),
        ("refusal", A, "aborted", "aborted"),
        ("refusal", '{"a"', "aborted", "aborted"),
    ],
)
def test_endings(ending: str, text: str, of_label: str, of_slot: str) -> None:
    """The end of the turn decides which calls may be emitted; a cut turn loses the block that the wire had not
    ended.
    """
    assert of_label == sign(only(*labelled(text), *ENDINGS[ending]))
    assert of_slot == sign(only(*slotted(text), *ENDINGS[ending]))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_the_wire_ended_stays(ending: str) -> None:
    """A call that the wire ended has had its verdict, whatever becomes of the turn."""
    assert "exact" == sign(only(*slotted(A), CallClosed(0, 0, None), *ENDINGS[ending]))
    assert "empty" == sign(only(*slotted(""), CallClosed(0, 0, None), *ENDINGS[ending]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [(A, "exact unterminated"), ("{}", "unterminated"), ("", "unterminated"), ('{"a"', "unterminated")],
)
def test_without_a_terminal(text: str, expected: str) -> None:
    """If the policy asks for no terminal, complete non-empty objects are emitted at a silent end, flagged."""
    assert expected == sign(only(*labelled(text), policy=Policy(require_terminal=False)))


@together(
    ("ending", "expected"),
    [
        ("clean", ""),
        ("length", "truncated"),
        ("filter", "truncated"),
        ("open", "unterminated"),
        ("fault", "aborted"),
        ("refusal", "aborted"),
    ],
)
@together("lenient", [False, True])
def test_free_text(ending: str, expected: str, lenient: bool) -> None:
    """Free text is whole only if the wire ended the call or the turn cleanly, whatever the policy."""
    policy = Policy(require_terminal=not lenient)

    for call in (labelled("rm -rf", kind="custom"), slotted("rm -rf", kind="custom")):
        event = only(*call, *ENDINGS[ending], policy=policy)
        assert expected == sign(event)
        assert "rm -rf" == (event.input if isinstance(event, CustomToolCall) else event.raw_arguments)


def test_an_abort_says_why() -> None:
    """Calls that an abort drops carry its detail."""
    assembler = Assembler(Policy(), Limits())
    assembler.advance(labelled(A))
    assembler.close("aborted", "the client went away")
    (drop,) = ends(assembler.take())

    assert ("aborted", "the client went away") == (drop.reason, drop.detail)


# Objections to a call, by precedence.

NAMELESS: list[Delta] = [Labelled(0, 0, "c", None, '{"a"')]
LONG_ID: list[Delta] = [Labelled(0, 0, "c" * 600, None)]
OTHER_NAME: list[Delta] = [Labelled(0, None, "c", "g")]
NAMED: list[Delta] = [Labelled(0, 0, None, "f")]


@together(
    ("deltas", "ending", "reason"),
    [
        ([*NAMELESS, *LONG_ID, HOLE], "fault", "aborted"),
        ([*NAMELESS, *LONG_ID, HOLE], "clean", "nameless"),
        ([*NAMELESS, *LONG_ID, HOLE], "length", "nameless"),
        ([*NAMELESS, *LONG_ID, HOLE, *NAMED], "length", "id_too_long"),
        ([*NAMELESS, *LONG_ID, HOLE, *NAMED], "open", "id_too_long"),
        ([*NAMELESS, HOLE, *NAMED], "length", "incomplete_input"),
        ([*NAMELESS, HOLE, *NAMED], "open", "incomplete_input"),
        ([*NAMELESS, HOLE, *NAMED], "clean", "incomplete_input"),
        ([*slotted('{"a"'), CallSeen(0, 0, "i", "c", "g")], "length", "truncated"),
        ([*slotted(A), CallSeen(0, 0, "i", "c", "g")], "clean", "ambiguous"),
        ([*slotted('{"a"'), CallSeen(0, 0, "i", "c", "g")], "clean", "ambiguous"),
        (labelled('{"a":1e999}'), "clean", "number_out_of_range"),
    ],
)
def test_precedence(deltas: list[Delta], ending: str, reason: str) -> None:
    """Aborted outranks nameless, nameless a limit, a limit lost text, lost text a cut, a cut the text itself."""
    assert reason == only(*deltas, *ENDINGS[ending]).reason


def test_too_many_calls_need_no_name() -> None:
    """The drop that represents all calls beyond the limit is reported as that, named or not."""
    calls = run(*labelled(A), Labelled(0, 1, "d", None, B), *ENDINGS["clean"], limits=Limits(max_calls=1))

    assert ["exact", "too_many_calls"] == [sign(event) for event in ends(calls)]


def test_replaced_bytes() -> None:
    """Argument text of a frame that was not UTF-8 drops its call (quirk 35); the character alone does not."""
    assembler = Assembler(Policy(), Limits())
    assembler.advance([Labelled(0, 0, "c", "f", '{"a":"\ufffd'), Labelled(0, 1, "d", "f", '{"a":"')])
    assembler.advance_replaced([Fragment(0, 1, "\ufffd")])
    assembler.advance([Fragment(0, 0, '"}'), Fragment(0, 1, '"}'), *ENDINGS["clean"]])

    assert ["exact", "invalid_utf8"] == [sign(event) for event in ends(assembler.take())]


def test_inside_a_dropped_namesake() -> None:
    """A call opened inside an unfinished one of its name is ambiguous if that one is dropped."""
    calls = run(Labelled(0, 0, "c", "f", '{"a"'), Labelled(0, 0, "d", "f", B), *ENDINGS["clean"])

    assert {"c", "d"} == {event.id for event in ends(calls)}
    assert all(isinstance(event, ToolCallDropped) for event in ends(calls))


@pytest.mark.parametrize(
    ("orphan", "sign_of_empty"),
    [
        ([Labelled(0, 1, "d", None, A)], "ambiguous"),
        ([Labelled(0, 1, "d", "g", A + B)], "ambiguous"),
        ([Labelled(0, 1, "d", "g", "[1]")], "empty"),
        ([Labelled(0, 1, "d", "g", A)], "empty"),
    ],
)
def test_text_that_may_have_been_an_empty_calls(orphan: list[Delta], sign_of_empty: str) -> None:
    """A call without text is not a call without arguments if a dropped call holds text that may be its own."""
    calls = run(*labelled(""), *orphan, *ENDINGS["clean"])

    assert sign_of_empty == sign(next(event for event in ends(calls) if event.index == 0))


# Which text counts.


def restated(text: str, rank: int = DONE, kind: Kind = "function") -> CallWhole:
    """Return the restated text of the slotted call."""
    return CallWhole(0, 0, "i", None, None, text, rank, kind)


@together(
    ("fragments", "deltas", "text", "expected"),
    [
        ("", [restated(A)], A, "exact"),
        (A, [restated(A)], A, "exact"),
        ('{"a"', [restated(A)], A, "exact done_completed_buffer"),
        (B, [restated(A)], A, "exact done_mismatch"),
        ("kX9", [restated(A)], A, "exact done_mismatch"),
        (A, [restated('{"a"')], A, "exact done_mismatch"),
        (A, [restated("")], A, "exact"),
        (A, [restated("{}")], A, "exact"),
        (A, [restated("{a:1}")], A, "exact"),
        (B, [restated("{a:1}")], B, "exact done_mismatch"),
        ('{"a"', [restated("{a:1}")], "{a:1}", "recovered done_mismatch"),
        ('{"a"', [restated('{"a":')], '{"a":', "truncated"),
        ('{"a"', [restated('{"a":1,}')], '{"a":1,}', "recovered done_completed_buffer"),
        (A, [restated(A + "}")], A, "exact"),
        (A, [restated(A + B)], A, "exact done_mismatch"),
        ("{a:1,}", [restated("{a:1,}")], "{a:1,}", "recovered"),
        (A, [restated(B), restated(A, ITEM_DONE)], A, "exact"),
        (A, [HOLE, restated(B)], B, "exact"),
        (A, [HOLE, restated("{a:1}")], "{a:1}", "recovered"),
        ("", [restated(A, OBJECT), Slot(0, 0, "i", B)], B, "exact"),
        ("", [restated(A, OBJECT), Slot(0, 0, "i", "{}")], A, "exact"),
        ("", [restated(A, OBJECT)], A, "exact"),
    ],
)
def test_restated_or_fragments(fragments: str, deltas: list[Delta], text: str, expected: str) -> None:
    """The restated text counts, unless it is faulty and the fragments are valid (quirks 70, 71 and 73)."""
    event = only(*slotted(fragments), *deltas, *ENDINGS["clean"])

    assert (text, expected) == (event.raw_arguments, sign(event))


@together(
    ("fragments", "text", "same"),
    [
        ('{"a": 1, "b": "\\u00e9"}', '{"b":"é","a":1}', True),
        ('{"a":[{"b":10.0}]}', '{"a": [{"b": 1e1}]}', True),
        ('{"a":[1,true]}', '{"a":[1,1]}', False),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('{"a":[1,[2]]}', '{"a":[[1],2]}', False),
        ('{"a":[1]}', '{"a":[1,2]}', False),
        ('{"a":{"b":1}}', '{"a":{"c":1}}', False),
        ('{"a":{}}', '{"a":[]}', False),
        ('{"a":0}', '{"a":null}', False),
        ('{"a":12345678901234567890}', '{"a":12345678901234567000}', False),
        ('{"a":1}{"a":2}', '{"a":1}', False),
    ],
)
def test_another_spelling_is_no_mismatch(fragments: str, text: str, same: bool) -> None:
    """Spaces, escapes, order and the spelling of numbers may change on the way; the content may not (quirk 105)."""
    event = only(*slotted(fragments), restated(text), *ENDINGS["clean"])

    assert (text, "exact" if same else "exact done_mismatch") == (event.raw_arguments, sign(event))


@pytest.mark.slow
def test_values_of_any_depth_are_compared() -> None:
    """Without `Limits.max_depth` a value may be nested deeper than the interpreter recurses."""

    def nested(value: object) -> object:
        for _ in range(100_000):
            value = [value]
        return value

    assert same_value(nested(1), nested(1.0))
    assert not same_value(nested(1), nested(2))


@together(
    ("fragments", "text", "shown"),
    [("", A, [A]), ('{"a"', A, ['{"a"', ":1}"]), (A, A, [A]), (B, A, [B, f"={A}"])],
)
@together("kind", ["function", "custom"])
def test_what_is_shown_is_the_text_in_force(fragments: str, text: str, shown: list[str], kind: Kind) -> None:
    """The rest of a restated text is shown as a delta, a text that is not an extension as a reset."""
    events = run(*slotted(fragments, kind=kind), restated(text, kind=kind), *ENDINGS["clean"])
    seen = [
        e.delta if isinstance(e, ArgumentsDelta) else f"={e.raw_arguments}"
        for e in events
        if isinstance(e, (ArgumentsDelta, ArgumentsReset))
    ]

    assert shown == seen


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [("", ""), ("ab", ""), ("a", "done_completed_buffer"), ("xy", "done_mismatch")],
)
def test_restated_free_text(fragments: str, expected: str) -> None:
    """The restated free text counts, and a difference is flagged."""
    event = only(*slotted(fragments, kind="custom"), restated("ab", kind="custom"), *ENDINGS["clean"])

    assert ("ab", expected) == (event.input, sign(event))


DEEPEST = '{"a":' + "[" * 127 + "]" * 127 + "}"  # by Limits.max_depth


@together(
    ("pieces", "ending", "text", "expected"),
    [
        (['{"a":', A], "clean", A, "exact snapshots"),
        (['{"a":', A, "}"], "clean", '{"a":{"a":1}}', "exact"),
        (['{"a":', A], "length", '{"a":{"a":1}', "truncated"),
        (['{"a":', A], "open", '{"a":{"a":1}', "unterminated"),
        (['{"a":', '{"a":1'], "clean", '{"a":{"a":1', "truncated"),
        (['{"a":', '{"a":[{}]', '{"a":[{}]}'], "clean", '{"a":[{}]}', "exact snapshots"),
        (['{"a":', '{"a":"}}', '{"a":"}}"}'], "clean", '{"a":"}}"}', "exact snapshots"),
        (['{"a":', '{"a":"}\\"', '{"a":"}\\"]"}'], "clean", '{"a":"}\\"]"}', "exact snapshots"),
        (['{"a":', '{"a":"}\\"', '{"a":"}\\"]",}'], "clean", '{"a":"}\\"]",}', "recovered snapshots"),
        (['{"a":', '{"a":1}', "}", '{"b":2}'], "clean", '{"a":{"a":1}}{"b":2}', "multiple_objects"),
        (['{"a":', DEEPEST, "}"], "clean", '{"a":' + DEEPEST + "}", "nesting_too_deep"),
    ],
)
def test_two_readings(pieces: list[str], ending: str, text: str, expected: str) -> None:
    """The snapshot is believed only if appending does not parse, and the wire ended the turn (quirk 24)."""
    event = only(*labelled(""), *(Fragment(0, 0, piece) for piece in pieces), *ENDINGS[ending])

    assert (text, expected) == (event.raw_arguments, sign(event))


def test_half_a_pair_at_the_end() -> None:
    """Half of a surrogate pair that never was completed is part of the text (quirk 35)."""
    event = only(*labelled('{"a":"x\ud83d'), *ENDINGS["clean"])

    assert '{"a":"x\ud83d' == event.raw_arguments


# Ids.


def ids(*calls: Labelled) -> list[tuple[str | None, str]]:
    """Return the ids of calls, with their flags."""
    found = ends(run(*calls, *ENDINGS["clean"]))
    return [(event.id, " ".join(event.flags)) for event in sorted(found, key=lambda event: event.index)]


def test_minted_ids() -> None:
    """A call without an id gets one from its place: the same at each replay (quirk 8)."""
    calls = [Labelled(0, 0, None, "f", A), Labelled(0, 1, None, "f", A)]

    assert [("call_0_0_0", "id_generated"), ("call_0_0_1", "id_generated")] == ids(*calls) == ids(*calls)


def test_minted_ids_name_turn_and_choice() -> None:
    """Minted ids differ between turns and choices."""
    found = ends(
        run(
            Labelled(0, 0, None, "f", A),
            TurnOpened("b", restart=True),
            Labelled(2, 0, None, "f", A),
            Finish(2, "stop", None),
            Labelled(0, 0, None, "f", A),
            *ENDINGS["clean"],
        )
    )

    assert [None, "call_1_2_0", "call_1_0_0"] == [event.id for event in found]


def test_a_minted_id_is_no_other_calls() -> None:
    """An id that a call of the turn has, or gets later, is not minted."""
    assert [("call_0_0_0#2", "id_generated"), ("call_0_0_0", "")] == ids(
        Labelled(0, 0, None, "f", A), Labelled(0, 1, "call_0_0_0", "f", A)
    )


def test_taken_ids() -> None:
    """A second call with an id gets its own, unlike all others (quirk 64)."""
    assert [("c", ""), ("c#2", ""), ("c#3", "duplicate_id"), ("c#4", "duplicate_id")] == ids(
        Labelled(0, 0, "c", "f", A),
        Labelled(0, 1, "c#2", "f", A),
        Labelled(0, 2, "c", "g", A),
        Labelled(0, 3, "c", "h", A),
    )


def test_choices_share_no_ids() -> None:
    """Choices are alternatives: each has its own ids."""
    found = ends(run(Labelled(0, 0, "c", "f", A), Labelled(1, 0, "c", "f", A), TurnEnded()))

    assert [("c", ()), ("c", ())] == [(event.id, event.flags) for event in found]


def test_drops_mint_no_id() -> None:
    """A drop repeats the wire: no id if there was none."""
    event = only(Labelled(0, 0, None, " f", '{"a"'), *ENDINGS["clean"])

    assert (None, "f", '{"a"') == (event.id, event.name, event.raw_arguments)


# Terminal events.


def announced(kind: Kind, name: str) -> list[Delta]:
    """Return a call with everything that a call can have."""
    return [
        CallSeen(0, 0, "i", "c", name, kind, "space", ("needs_approval",), {"x": 1}),
        CallWhole(0, 0, "i", "c", name, A, ITEM_DONE, kind, extra={"y": 2}),
        CallClosed(0, 0, "i"),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "event"),
    [
        (
            "function",
            "f",
            ToolCall(
                0, 0, 0, "c", "f", {"a": 1}, A, "exact", "space", (), ("needs_approval",), {"x": 1, "y": 2}
            ),
        ),
        ("custom", "f", CustomToolCall(0, 0, 0, "c", "f", A, "space", ("needs_approval",), {"x": 1, "y": 2})),
        (
            "builtin",
            "shell",
            BuiltinToolCall(0, 0, 0, "c", "shell", {"a": 1}, ("needs_approval",), {"x": 1, "y": 2}),
        ),
        (
            "server",
            "f",
            ServerToolCall(0, 0, 0, "c", "f", {"a": 1}, A, ("needs_approval",), {"x": 1, "y": 2}),
        ),
    ],
)
def test_terminals(kind: Kind, name: str, event: Event) -> None:
    """Each kind of call has its own terminal event, with all that the wire said."""
    assert event == only(*announced(kind, name))


@pytest.mark.parametrize("kind", ["function", "custom", "builtin", "server"])
def test_drops(kind: Kind) -> None:
    """Drops of each kind are alike, and keep the text."""
    event = only(CallSeen(0, 0, "i", "c", " f ", kind), Slot(0, 0, "i", "x"))

    assert ToolCallDropped(0, 0, 0, "c", "f", kind, "x", "unterminated", event.detail) == event


@pytest.mark.parametrize(
    ("deltas", "ending"),
    [
        (labelled('{"secret":'), "clean"),
        (labelled('{"secret":'), "fault"),
        (labelled('{"secret":'), "open"),
        (labelled('{"secret":', name=None), "clean"),
        ([*labelled('{"secret":'), HOLE], "clean"),
    ],
)
def test_details_hold_no_text(deltas: list[Delta], ending: str) -> None:
    """The detail of a drop is a sentence, without argument text (law 28)."""
    event = only(*deltas, *ENDINGS[ending])

    assert event.detail
    assert "secret" not in event.detail + repr(event)


def test_the_text_in_force_of_a_drop() -> None:
    """A dropped call's text is the restated one, if there was one; hydration heals no other fault."""
    assert ("[1]", "not_an_object") == (
        only(*slotted(A[:2]), restated("[1]", HYDRATION), *ENDINGS["clean"]).raw_arguments,
        only(*slotted(A[:2]), restated("[1]", HYDRATION), *ENDINGS["clean"]).reason,
    )
    assert "[1]" == only(*slotted(A[:2]), restated("[1]"), *ENDINGS["fault"]).raw_arguments
