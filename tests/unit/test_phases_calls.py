"""Actions of the phases on a call: its name, its text, its end, and later deltas."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from tests.support.words import (
    CALLS,
    CUT,
    END,
    LENGTH,
    OPEN,
    STOP,
    A,
    B,
    closed,
    events_of,
    seen,
    told,
    whole,
)
from wholecall.calls import parse
from wholecall.calls.arguments import strict
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
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
    TurnOpened,
)
from wholecall.limits import Limits
from wholecall.machine import sameness, verdicts
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

# Other actions.


@pytest.mark.parametrize(
    ("deltas", "said"),
    [
        ([Labelled(0, 0, "c", "f", A)], ["+f", A]),  # the sample that is kept
        ([OPEN, Fragment(0, 0, '{"a"'), Fragment(0, 0, ":1}")], ["+f", '{"a"']),
        ([OPEN, Fragment(0, 0, '{"a"'), Fragment(0, 0, ":1}"), Fragment(0, 0, "x")], ["+f", '{"a"']),
        ([seen(), whole(A)], []),
    ],
    ids=["at the start", "streaming", "further", "whole"],
)
def test_text_beyond_a_limit(deltas: list[Delta], said: list[str]) -> None:
    """Fragments beyond a limit are not shown; the call ends as any other, with a drop."""
    words = [word for words in told(*deltas, END, limits=Limits(max_arguments_bytes=5)) for word in words]

    assert said == words[: len(said)]
    assert [f"drop {A} arguments_too_large"] == [word for word in words if word.startswith(("drop", "call"))]


def test_a_name_beyond_the_limit() -> None:
    """A name that grows beyond the limit is cut there, and drops its call."""
    said = told(
        OPEN, Labelled(0, 0, None, "gh"), Fragment(0, 0, A), CALLS, END, limits=Limits(max_name_chars=2)
    )

    assert ["+fg", A] == said[2]
    assert [f"drop {A} name_too_long"] == said[4]
    at = told(OPEN, Labelled(0, 0, None, "g"), Fragment(0, 0, A), CALLS, END, limits=Limits(max_name_chars=2))
    assert [f"call {A} name_joined"] == at[4]
    assert [f"call {A}"] == told(Labelled(0, 0, "c", "f" * 999, A), CALLS, limits=Limits.none())[1]


@pytest.mark.parametrize("text", ["[1]", '"x"', "{}"])
def test_what_waits_for_the_end(text: str) -> None:
    """At the finish only whole, non-empty objects are emitted; any other content of a call may still change."""
    said = told(OPEN, Fragment(0, 0, text), CALLS, END)

    assert [] == said[2]
    assert 1 == len(said[3])


@pytest.mark.parametrize("name", ["f", "f ", " f"])
def test_blanks_make_no_other_name(name: str) -> None:
    """A name repeated with other white space is a repeat, before and after the text (quirks 15 and 59)."""
    said = told(
        OPEN,
        Labelled(0, 0, None, " f"),
        Labelled(0, 0, None, name),
        Fragment(0, 0, A),
        Labelled(0, 0, "c", name),
        END,
    )

    assert ["+f", A] == said[3]
    assert [f"call {A}"] == said[5]


@together(
    "name",
    [
        "f",
        " f\n",
        "f<|channel|>x",
        "f <|end|>",
        "f<|x|>y<|end|>",
        "f</arg_value>",
        "f\n<arg_key>x",
        "f</a></b>",
    ],
)
def test_names_are_trimmed(name: str) -> None:
    """White space and markers around a name are not the name (quirk 59)."""
    assert ["+f", A] == told(Labelled(0, 0, "c", name, A))[0]


@pytest.mark.parametrize("name", ["f</arg_value>", "f</function>", "f<tool_sep>"])
def test_a_tag_behind_a_name_makes_it_no_name_of_a_known_tool(name: str) -> None:
    """Text that a server misread may have lost arguments: with tools known, only a call of their names is emitted."""
    said = [
        event
        for events in events_of(Labelled(0, 0, "c", name, A), STOP, END, tools=["f"])
        for event in events
        if isinstance(event, (ToolCall, ToolCallDropped))
    ]

    assert [("unknown_tool", name)] == [(getattr(event, "reason", None), event.name) for event in said]


@pytest.mark.parametrize("name", ["<|channel|>f", " <|channel|>f\n"])
def test_a_name_that_is_all_marker_stays(name: str) -> None:
    """A marker with nothing before it is shown unchanged: it names no tool, and hides none (quirk 58)."""
    assert ["+<|channel|>f", A] == told(Labelled(0, 0, "c", name, A))[0]


@pytest.mark.parametrize(
    ("tools", "spelling", "shown"),
    [
        (["get"], "normalised", "get"),
        (["get"], "exact", "functions.GET"),
        (None, "normalised", "functions.GET"),
        (["get", "GET"], "normalised", "functions.GET"),
    ],
)
def test_spellings_of_a_known_name(tools: list[str] | None, spelling: Any, shown: str) -> None:
    """A spelling of the one tool's name is that name, only if the policy says so and the tools are known."""
    said = told(Labelled(0, 0, "c", "functions.GET", A), tools=tools, policy=Policy(tool_names=spelling))

    assert [f"+{shown}", A] == said[0]


@together(
    ("names", "tools", "outcome"),
    [
        (["get_", "tide"], ["get_tide"], ["+get_tide", A]),
        (["get_", "get_tide"], ["get_tide"], ["+get_tide", A]),
        (["get", "_tide"], ["get", "get_tide"], ["+get_tide", A]),
        (["get ", " get"], ["get", "getget"], ["+get", A]),
        (["get", "noise"], ["get"], ["+get", A]),
        (["noise", "get"], ["get"], ["+get", A]),
        (["no", "ise"], ["get"], ["+noise", A]),
        ([" get", "tide "], ["get", "tide"], ["+get", A]),
    ],
    ids=[
        "pieces",
        "with more of it",
        "both are tools",
        "a repeat",
        "noise",
        "noise first",
        "no tool's",
        "in doubt",
    ],
)
def test_known_names_decide_what_a_second_name_is(
    names: list[str], tools: list[str], outcome: list[str]
) -> None:
    """A second name before any text is joined if the two make a tool's name (quirks 15 and 16)."""
    heads = [seen(name) for name in names]

    assert outcome == told(*heads, Slot(0, 0, None, A), tools=tools)[2]


def test_two_names_of_tools_are_no_call() -> None:
    """Where both names are tools, and no tool has the joined name, the intended one is unknown."""
    said = events_of(seen("get"), seen(" tide"), Slot(0, 0, None, A), closed(), tools=["get", "tide"])

    drops = [(e.reason, e.detail) for e in said[3] if isinstance(e, ToolCallDropped)]
    assert [("ambiguous", "two names of tools came for one call")] == drops


@pytest.mark.parametrize("text", [A, ""])
def test_calls_beyond_the_limit_have_the_first_of_their_names(text: str) -> None:
    """The one drop for all calls beyond the limit shows the name of the first of them."""
    heads = [Labelled(0, n, f"c{n}", f"f{n}", text) for n in range(4)]
    said = events_of(*heads, CALLS, END, limits=Limits(max_calls=1))

    assert [("f1", "too_many_calls")] == [
        (event.name, event.reason)
        for events in said
        for event in events
        if isinstance(event, ToolCallDropped)
    ]


def test_refusals_say_why() -> None:
    """A call that is refused for its name reports that to people."""
    late = events_of(seen(), Slot(0, 0, None, A), seen("g"), closed(), END)
    long = events_of(Labelled(0, 0, "c", "fgh", A), END, limits=Limits(max_name_chars=2))

    assert ["another name came after the arguments had begun", "a name of more than 2 characters"] == [
        event.detail for event in [*late[3], *long[0], *long[1]] if isinstance(event, ToolCallDropped)
    ]


# Text.


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (['{"a":', B, "}"], [["+f", '{"a":'], [B], ["}"]]),
        (['{"a":"', "{", '"}'], [["+f", '{"a":"'], ["{"], ['"}']]),
    ],
    ids=["an object inside", "a brace inside a string"],
)
def test_all_text_is_shown(texts: list[str], shown: list[list[str]]) -> None:
    """Text that might have been a separate object, and is not, is shown as any other fragment."""
    said = told(OPEN, *(Fragment(0, 0, text) for text in texts), CALLS, END)

    assert shown == said[1:-3]
    assert [f"call {''.join(texts)}"] == said[-3]


@pytest.mark.parametrize(("text", "shown"), [(A, ["+f"]), ("{}", []), (" null ", [])])
def test_a_name_after_the_whole_text(text: str, shown: list[str]) -> None:
    """The name starts a call whose whole text is there, unless that is a placeholder, which may be filled."""
    assert [[], [], shown] == told(seen(None), whole(text), seen())[:3]


@pytest.mark.parametrize(
    ("late", "anomaly"), [(A, ""), (" ", ""), (B, "conflicting_arguments"), ("}", "conflicting_arguments")]
)
def test_fragments_behind_the_whole_text(late: str, anomaly: str) -> None:
    """Fragments after the whole text change nothing; they are odd unless they repeat it or are blank."""
    said = told(seen(), whole(A), Slot(0, 0, None, late), closed(), STOP)

    assert [["+f"], [], [A, f"call {A}"]] == said[1:4]
    assert [" ".join(filter(None, ("tool_calls", anomaly)))] == said[-1]


def test_a_whole_text_ends_the_short_way() -> None:
    """Once the whole text is known, a fragment that simply appended before is neither kept nor shown."""
    said = told(seen(), Slot(0, 0, None, '{"a"'), whole(A), Slot(0, 0, None, ":1}"), closed(), STOP)

    assert [["+f", '{"a"'], [], [], [":1}", f"call {A} done_completed_buffer"]] == said[1:5]
    assert ["tool_calls conflicting_arguments"] == said[-1]


@pytest.mark.parametrize("late", ["}", " ", "x"])
def test_a_whole_text_that_repeats_the_fragments_ends_the_short_way(late: str) -> None:
    """Where the whole text restates the text so far, later text is not part of it: it is neither kept nor shown."""
    pieces = [Slot(0, 0, None, piece) for piece in ('{"a"', ":1}", late)]
    said = told(seen(), *pieces[:2], whole(A), pieces[2], closed(), STOP)

    assert [["+f", '{"a"'], [":1}"], [], [], [f"call {A}"]] == said[1:6]
    assert [" ".join(["tool_calls", *(["conflicting_arguments"] if late.strip() else [])])] == said[-1]


def test_a_whole_text_beyond_a_limit_is_not_kept() -> None:
    """Of a whole text beyond the limit only a sample is kept."""
    small = Limits(max_arguments_bytes=5, max_raw_bytes=3)

    assert ["+f", '{"a', 'drop {"a arguments_too_large'] == told(seen(), whole(A), closed(), limits=small)[2]


# Ends.


@pytest.mark.parametrize(
    ("deltas", "strict", "loose"),
    [
        ([seen(), whole(A, OBJECT)], [f"drop {A} unterminated"], ["+f", A, f"call {A} unterminated"]),
        ([seen()], ["drop  unterminated"], ["drop  unterminated"]),
        ([OPEN], ["drop  unterminated"], ["drop  unterminated"]),
        ([seen(), whole(A, OBJECT), LENGTH], [f"drop {A} truncated"], [f"drop {A} truncated"]),
        ([seen(), whole(A, OBJECT), STOP], ["+f", A, f"call {A}"], ["+f", A, f"call {A}"]),
    ],
    ids=["a whole text", "no text", "a chat call without text", "a cut turn", "a clean end"],
)
def test_a_call_that_nobody_was_told_of(deltas: list[Delta], strict: list[str], loose: list[str]) -> None:
    """Where the stream just stops, unbegun calls do not begin, unless they are whole and the policy accepts them."""
    ends = [told(*deltas, policy=Policy(require_terminal=wanted))[-1] for wanted in (True, False)]

    assert [strict, loose] == [words[:-1] for words in ends]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("f", B, ["+f", B, f"call {B} turn_truncated"]),
        ("f", '{"b"', ["+f", '{"b"', 'drop {"b" truncated']),
        ("g", "", ["drop  truncated"]),
    ],
)
def test_a_withheld_call_of_a_cut_turn(name: str, text: str, said: list[str]) -> None:
    """Another call under the id of an earlier message begins at its end if it has text, also if its message was cut.

    Gateways send one response id in all messages, and servers number their calls anew in each.
    """
    again = TurnOpened(None, "r"), Labelled(0, 0, "c", name, text), LENGTH, END
    words = told(TurnOpened(None, "r"), Labelled(0, 0, "c", "f", A), CALLS, END, *again)

    assert [*said, "tool_calls", "length"] == [word for news in words[6:] for word in news]


def test_a_withheld_call_of_an_abort() -> None:
    """A call that no event has reported does not begin at an abort, whatever end the policy requires."""
    again = TurnOpened(None, "r"), Labelled(0, 0, "c", "f", B), CUT
    loose = Policy(require_terminal=False)
    words = told(TurnOpened(None, "r"), Labelled(0, 0, "c", "f", A), CALLS, END, *again, policy=loose)

    assert [f"drop {B} aborted"] == [word for news in words[6:] for word in news if B in word or "+" in word]


def test_a_cut_is_not_undone() -> None:
    """A call that the wire once called cut stays cut, whatever the wire states about its end later."""
    said = told(seen(None), Slot(0, 0, None, A), closed(truncated=True), closed(), seen())

    assert ["+f", A, f"drop {A} truncated"] == said[4]


@pytest.mark.parametrize("text", ['{"a":1,}', ' {"a":1,}'])
def test_whole_objects_with_a_defect_wait_for_the_end(text: str) -> None:
    """At the finish only strict objects are emitted: a text with a defect may partly belong to another call."""
    said = told(OPEN, Fragment(0, 0, text), CALLS, END)

    assert [["+f", text], [], [f"call {text}"]] == said[1:4]


def test_free_text_waits_for_the_end() -> None:
    """Free text is never known to be whole at the finish, not even if it is an object."""
    said = told(Labelled(0, 0, "c", "f", A, "custom"), CALLS, END)

    assert [["+f", A], [], [f"custom {A}"]] == said[:3]


def test_a_refusal_takes_labels_back_that_only_came_again() -> None:
    """Labels without text that a refusal took back become no call, whatever text follows them."""
    refusal = Finish(0, "stop", None, drops=True)
    said = told(OPEN, Fragment(0, 0, A), Labelled(0, 0, None, "f"), refusal, STOP, Fragment(0, 0, B), END)

    assert [["+f", A], [], [f"drop {A} aborted"], [], [], []] == said[1:7]
    assert ["malformed late_fragment"] == said[-1]


# One decode per call.

CHAT: list[Delta] = [
    *(Labelled(0, index, f"c{index}", "f") for index in range(3)),
    *(Fragment(0, index, piece) for piece in ('{"a"', ":", "1}") for index in range(3)),
    CALLS,
    END,
]
RESPONSES: list[Delta] = [
    delta
    for index in range(3)
    for delta in (
        CallSeen(0, index, f"i{index}", f"c{index}", "f"),
        *(Slot(0, index, f"i{index}", piece) for piece in ('{"a"', ":", "1}")),
        CallWhole(0, index, f"i{index}", None, None, A, DONE),
        CallWhole(0, index, f"i{index}", f"c{index}", "f", A, ITEM_DONE, id_wins=True),
        CallClosed(0, index, f"i{index}"),
    )
]
RESPONSES += [CallWhole(0, index, f"i{index}", f"c{index}", "f", A, HYDRATION) for index in range(3)]
RESPONSES += [STOP, END]
ANTHROPIC: list[Delta] = [
    delta
    for index in range(3)
    for delta in (
        CallSeen(0, index, None, f"c{index}", "f"),
        *(Slot(0, index, None, piece) for piece in ('{"a"', ":", "1}")),
        CallClosed(0, index, None, final=False),
    )
]
ANTHROPIC += [CALLS, END]


@pytest.mark.parametrize("stream", [CHAT, RESPONSES, ANTHROPIC], ids=["chat", "responses", "anthropic"])
def test_one_decode_per_call(stream: list[Delta], monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a call is decoded once, at its end, in a normal stream of each kind."""
    asked: list[str] = []
    decoded: list[str] = []
    decode = strict._decode

    def counting(read: Any) -> Any:
        def count(raw: str, *args: object, **options: object) -> object:
            asked.append(raw)
            return read(raw, *args, **options)

        return count

    def count_decode(text: str) -> object:
        decoded.append(text)
        return decode(text)

    monkeypatch.setattr(verdicts, "read_arguments", counting(parse.read_arguments))
    monkeypatch.setattr(sameness, "parse_arguments", counting(parse.parse_arguments))
    monkeypatch.setattr(strict, "_decode", count_decode)
    said = [word for words in told(*stream) for word in words if word.startswith("call")]

    assert [f"call {A}"] * 3 == said
    assert [A] * 3 == asked
    assert [A] * 3 == decoded


# After the end.


@together(
    ("late", "anomaly"),
    [
        (Fragment(0, 0, B), "late_fragment"),
        (Labelled(0, 0, "c", "f", B), "late_fragment"),
        (Labelled(0, 0, "c", None, B, rank=OBJECT), "conflicting_arguments"),
        (CallWhole(0, None, None, "c", "f", B, DONE), "conflicting_arguments"),
        (Fragment(0, 0, A), None),
        (CallWhole(0, None, None, "c", "f", A, HYDRATION), None),
        (Labelled(0, 0, "d", None), None),
        (CALLS, None),
        (Fragment(0, 0, " "), None),
        (
            Fragment(0, 0, "}"),
            "late_fragment",
        ),  # not an object: it takes the fast path while the call is open
        (CallWhole(0, None, None, "c", "f", "{}", HYDRATION), None),
    ],
)
def test_an_ended_call_never_comes_twice(late: Delta, anomaly: str | None) -> None:
    """A delta for a call after its end is an anomaly of the turn at most (quirk 44)."""
    said = told(OPEN, Fragment(0, 0, A), CALLS, late, late, END)

    assert [[], ["+f", A], [f"call {A}"], [], [], []] == said[:-1]
    assert [" ".join(filter(None, ("tool_calls", anomaly)))] == said[-1]


@pytest.mark.parametrize("late", [seen(), Slot(0, 0, None, B), whole(B), closed()])
def test_a_dropped_call_stays_dropped(late: Delta) -> None:
    """Nothing brings back a call after its drop."""
    said = told(seen(), Slot(0, 0, None, '{"a"'), closed(), late, STOP, END)

    assert [[], ["+f", '{"a"'], ['drop {"a" truncated'], [], [], []] == said[:-1]


def test_another_name_under_the_id_of_an_ended_call_is_told() -> None:
    """A second call under the id of one that has ended is not that call, and does not vanish."""
    said = told(seen(), Slot(0, 0, None, '{"a"'), closed(), seen("g"), STOP, END)

    assert [["+g", "drop  incomplete_input"]] == said[5:-1]


@pytest.mark.parametrize(
    ("names", "final"),
    [
        (["get", "get_tide"], "get_tide"),
        (["get\n", "get_tide\n"], "get_tide"),
        ([" get", "get"], "get"),
        (["get_", "tide"], "get_tide"),
        (["get_tide", "get"], "get_tideget"),
    ],
)
def test_a_name_in_pieces(names: list[str], final: str) -> None:
    """An extension replaces, whatever white space is around it; a piece is appended (quirks 15, 16 and 59)."""
    labels = [Labelled(0, 0, "c" if n == 0 else None, name) for n, name in enumerate(names)]
    assembler = Assembler(Policy(), Limits())
    assembler.advance([*labels, Fragment(0, 0, A), CALLS, END])

    assert [final] == [event.name for event in assembler.take() if isinstance(event, ToolCall)]
