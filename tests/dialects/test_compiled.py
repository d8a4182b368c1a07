"""Statements of a table, compiled: what each of them reads and reports, over a dialect made for the purpose."""

from __future__ import annotations

import json
import traceback
from typing import Any, ClassVar

import pytest

from tests.support.compiled import compiled
from wholecall.deltas import (
    CallClosed,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects import at, report, say
from wholecall.dialects.compiled import TableTranslator, source_of
from wholecall.framing import Frame


def read(*values: Any) -> list[Delta]:
    """Return values in a delta, so that a test sees them."""
    return [UsageSeen({"read": values})]


def translator(**rows: say.Row) -> TableTranslator:
    """Return the translator of a dialect with these rows."""

    class Made(TableTranslator):
        ROWS: ClassVar[say.Rows] = rows
        n_done = 0

        def note(self) -> None:
            self.n_done += 1

        def said(self, value: object) -> list[Delta]:
            return report.text(value) if self.n_done else []

    return Made()


def told(row: say.Row, event: dict[str, Any], *events: dict[str, Any]) -> list[Delta]:
    """Return the deltas of events with the same row."""
    made = translator(event=row)
    frames = [Frame("", json.dumps({"type": "event", **one})) for one in (event, *events)]
    return [delta for frame in frames for delta in made.translate(frame)]


def value(of: Any, event: dict[str, Any]) -> Any:
    """Return the value that a statement reads from an event."""
    (delta,) = told((say.own(read, of),), event)
    assert isinstance(delta, UsageSeen)
    return delta.usage["read"][0]


@pytest.mark.parametrize(
    ("of", "event", "expected"),
    [
        (at.value("a"), {"a": {"b": [1]}}, {"b": [1]}),
        (at.value("a"), {}, None),
        (at.value("a.b"), {"a": {"b": 0}}, 0),
        (at.value("a.b"), {"a": None}, None),
        (at.value("a.b.c|d"), {"a": {"b": {}}, "d": 1}, 1),
        (at.value("a|b"), {"a": False, "b": True}, False),
        (at.id("a|b"), {"a": " ", "b": 7}, "7"),
        (at.name("a|b"), {"a": 3, "b": "f"}, "f"),
        (at.text("a"), {"a": ""}, None),
        (at.index("a|b"), {"a": 0, "b": 1}, 0),
        (at.index("a|b"), {"b": "1"}, 1),
        (at.choice("a"), {}, 0),
        (at.json_text("a.b"), {"a": {"b": "text"}}, "text"),
        (at.json_text("a.b"), {}, ""),
        (at.json_text("a|b"), {"a": "", "b": {"x": 1.0}}, '{"x": 1.0}'),
        (at.json_value("a|b"), {"a": None, "b": {"x": 1}}, ('{"x": 1}', True)),
        (at.json_value("a|b"), {"a": "{", "b": {}}, ("{", False)),
        (at.first_of(at.id("a"), at.index("b")), {"b": 0}, 0),
        (at.first_of(at.id("a"), at.index("b")), {"a": "x", "b": 0}, "x"),
        (at.value("a[].b"), {"a": [{}, {"b": 0}, {"b": 1}]}, 0),
        (at.name("a[].b"), {"a": [{"b": ""}, {"b": "f"}]}, "f"),
        (at.value("a[].b"), {}, None),
        (3, {}, 3),
        (None, {}, None),
        (("a", 1), {}, ("a", 1)),
    ],
)
def test_a_value_is_read_at_its_path(of: Any, event: dict[str, Any], expected: Any) -> None:
    """A path leads through members, any of which may be absent; of alternatives the first that holds something counts."""
    assert expected == value(of, event)


@pytest.mark.parametrize(
    ("row", "event", "expected"),
    [
        ((say.begin("id", "model"),), {"id": 1, "model": "m"}, [TurnOpened("1", "1", "m", restart=True)]),
        ((say.begin(),), {}, [TurnOpened(None, None, None, restart=True)]),
        ((say.text("a"),), {"a": "x"}, [TextFragment(0, "x")]),
        ((say.text("a", at.choice("n")),), {"a": "x", "n": 2}, [TextFragment(2, "x")]),
        ((say.thought("a", "plan"),), {"a": "x"}, [ReasoningFragment(0, "x", "plan")]),
        (
            (say.thought("a", at.index("n"), signature="s"),),
            {"a": "x", "n": 3, "s": "y"},
            [ReasoningFragment(0, "x", 3, None, "y")],
        ),
        ((say.usage("a.b"),), {"a": {"b": {"n": 1}}}, [UsageSeen({"n": 1})]),
        ((say.counts("a", "b"),), {"a": 0, "c": 1}, [UsageSeen({"a": 0})]),
        ((say.counts("a"),), {}, []),
        ((say.finish("a"),), {"a": "stop"}, [Finish(0, "stop", "stop")]),
        ((say.finish("a", drops_at="stop"),), {"a": "stop"}, [Finish(0, "stop", "stop", drops=True)]),
        ((say.finish("a", at.choice("n")),), {"a": "stop", "n": 1}, [Finish(1, "stop", "stop")]),
        ((say.end(),), {}, [TurnEnded(None)]),
        ((say.piece(at.index("n"), "a"),), {"n": 1, "a": '{"x"'}, [Slot(0, 1, None, '{"x"')]),
        ((say.closed(at.index("n")),), {"n": 1}, [CallClosed(0, 1, None)]),
        ((say.closed(at.index("n"), final=False),), {"n": 1}, [CallClosed(0, 1, None, final=False)]),
        ((), {"a": 1}, []),
    ],
)
def test_a_statement_reports_what_it_is_named_for(
    row: say.Row, event: dict[str, Any], expected: list[Delta]
) -> None:
    """Each statement reports its kind of delta, with the values at its paths; nothing where the wire has nothing."""
    assert expected == told(row, event)


def test_a_whole_value_of_a_call_is_not_a_piece() -> None:
    """Arguments may be an object where text is usual; an empty one is a placeholder (quirk 25)."""
    row = (say.piece(at.index("n"), "a"),)
    (whole,) = told(row, {"n": 1, "a": {"x": 1}})

    assert isinstance(whole, CallWhole)
    assert (1, '{"x": 1}') == (whole.index, whole.text)
    assert [] == told(row, {"n": 1, "a": {}})


def test_a_message_goes_on_until_it_ends() -> None:
    """`opened` begins a message once; a repeated end begins none, and stops the row."""
    row = (
        say.opened(model="model", repeats=True),
        say.stop_unless_open(),
        say.text("a"),
        say.when(at.value("over"), (True,), say.end()),
    )
    event, over = {"model": "m", "a": "x"}, {"a": "y", "over": True}
    first = TurnOpened(None, None, "m", restart=True)

    assert [first, TextFragment(0, "x"), TextFragment(0, "y"), TurnEnded(None)] == told(
        row, event, over, over
    )
    assert [first, TextFragment(0, "x")] * 2 == told(
        (say.opened(model="model"), say.text("a"), say.do("_end")), event, event
    )


def test_statements_about_the_objects_of_a_list() -> None:
    """Within a list a path begins at the object; `/` leads to the event, `../` to the object around, `#` is the position."""
    paths = at.value("name"), at.value("../title"), at.value("/id"), at.POSITION
    row = (say.each("parts", say.each("calls", say.own(read, *paths))),)
    event = {"id": 7, "parts": [{"title": "p"}, {"title": "q", "calls": [{"name": "f"}, {"name": "g"}]}]}

    assert [UsageSeen({"read": ("f", "q", 7, 0)}), UsageSeen({"read": ("g", "q", 7, 1)})] == told(row, event)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("parts", [{"a": "x"}, [{"a": "x"}], [{}, {"a": "x"}, {"a": 3}], [{"a": "x"}, None]])
def test_one_object_is_a_list_of_one(parts: Any, alone: bool) -> None:
    """A list may be an object alone, whichever of the two is usual (quirk 39)."""
    assert [TextFragment(0, "x")] == told((say.each("parts", say.text("a"), alone=alone),), {"parts": parts})


@pytest.mark.parametrize(
    "parts", ["x", ["x"], [{"a": "x"}], {"a": "x"}, [None, "x", 3], ["x", {"a": float("nan")}]]
)
def test_a_text_stands_for_a_part(parts: Any) -> None:
    """A list of parts may be a text, or hold texts, also in frames that only the tolerant decoder reads."""
    assert [TextFragment(0, "x")] == told((say.each("parts", say.text("a"), text="a"),), {"parts": parts})


def test_alternative_lists_hold_the_same_objects() -> None:
    """What a row reads of an object under one of its paths, it reads under the others; so do other rows."""
    both = say.each("a.parts|parts", say.text("x"))
    made = translator(
        first=(say.each("parts", say.text("y")),), second=(both,), third=(say.text("a.parts[].z"),)
    )
    events = [
        {"type": "first", "parts": [{"y": "1"}]},
        {"type": "second", "parts": [{"x": "2"}]},
        {"type": "second", "a": {"parts": [{"x": "3"}]}},
        {"type": "third", "a": {"parts": [{"z": "4"}]}},
    ]

    deltas = [delta for event in events for delta in made.translate(Frame("", json.dumps(event)))]

    assert [TextFragment(0, number) for number in "1234"] == deltas


def test_statements_on_conditions() -> None:
    """`given` asks for an object, `when` for a value, `by` names a row; an unknown name is reported."""
    row = (
        say.given("a", say.text("x")),
        say.when(at.value("role"), (None, "me"), say.text("mine"), otherwise=(say.text("other"),)),
        say.by(at.text("kind"), {"t": (say.text("mine"),)}, ("quiet",)),
    )

    assert [] == told(row, {"a": None, "role": "you", "kind": "quiet"})
    assert [TextFragment(0, "1"), Noted(0, "unknown_events")] == told(row, {"a": {"x": "1"}})
    assert [TextFragment(0, "2")] * 2 == told(row, {"mine": "2", "role": "me", "kind": "t"})
    assert [TextFragment(0, "3"), Noted(0, "unknown_events")] == told(
        row, {"other": "3", "role": "you", "kind": "u"}
    )


def test_a_dialect_has_statements_of_its_own() -> None:
    """`own` reports for a method of the translator, `do` calls one that reports nothing, in the order of the row."""
    assert [TextFragment(0, "x")] == told(
        (say.own("said", at.value("a")), say.do("note"), say.own("said", at.value("a"))), {"a": "x"}
    )


def fault(detail: str, error: Any) -> WireFault:
    """Return the fault for an error of the provider."""
    return WireFault("provider_error", detail, error=error, fatal=True)


BODIES: list[tuple[dict[str, Any], list[Delta]]] = [
    ({"answer": "x"}, [TextFragment(0, "x")]),
    ({"parts": [{"a": "x"}], "answer": "y"}, [TextFragment(0, "x")]),
    ({"kind": "event", "answer": "x"}, []),
    ({"kind": "other", "answer": "x"}, [Noted(0, "unknown_events")]),
    ({"kind": "quiet"}, []),
    ({"error": "busy"}, [fault("busy", "busy")]),
    ({"kind": "failed", "message": "busy"}, [fault("busy", {"kind": "failed", "message": "busy"})]),
]


@pytest.mark.parametrize(("frame", "expected"), BODIES)
def test_a_frame_without_a_kind_may_be_a_body(frame: dict[str, Any], expected: list[Delta]) -> None:
    """The first member that a frame has decides what it is, if nothing names an event."""

    class Made(TableTranslator):
        KINDS = ("kind",)
        ROWS: ClassVar[say.Rows] = {"event": ()}
        BODIES: ClassVar[say.Rows] = {
            "parts": (say.each("parts", say.text("a")),),
            "answer": (say.text("answer"),),
        }
        QUIET = frozenset({"quiet"})
        ERRORS = frozenset({"failed"})

    assert expected == Made().translate(Frame("", json.dumps(frame)))


def test_tables_of_a_base_class_are_inherited() -> None:
    """A dialect without rows of its own has those of its base."""
    base = type(translator(event=(say.text("a"),)))

    class Made(base):  # type: ignore[misc, valid-type] - made just now
        QUIET = frozenset({"other"})

    assert [TextFragment(0, "x")] == Made().translate(Frame("", '{"type": "event", "a": "x"}'))
    assert [] == Made().translate(Frame("", '{"type": "other"}'))


def failing(_value: object) -> list[Delta]:
    """Fail, as a function of a dialect might."""
    raise ArithmeticError


def test_the_source_of_a_table_can_be_read() -> None:
    """Each row is a function in plain source; a traceback shows its line."""
    made = translator(event=(say.text("a.b"), say.own(failing, at.value("c"))))

    with pytest.raises(ArithmeticError) as caught:
        made.translate(Frame("", '{"type": "event"}'))

    lines = [line.line for line in traceback.extract_tb(caught.tb)]
    assert "deltas += failing(event.c)" in lines
    assert source_of(type(made)) == (
        "def event_row(self, event):\n"
        "    a = event.a\n"
        "    deltas = text(a and a.b)\n"
        "    deltas += failing(event.c)\n"
        "    return deltas\n"
    )


@pytest.mark.parametrize("name", ["deltas", "self", "event", "text", "next", "str", "enumerate", "listed"])
def test_a_member_may_have_the_name_of_a_variable(name: str) -> None:
    """The names that a function uses are members as others are."""
    row = (
        say.each(f"{name}.parts", say.text(f"{name}|x"), text="x"),
        say.own(read, at.value(f"{name}.{name}|y")),
    )
    event = {name: {"parts": ["1", {name: "2"}], name: 3}}

    assert [TextFragment(0, "1"), TextFragment(0, "2"), UsageSeen({"read": (3,)})] == told(row, event)


def test_the_source_of_a_dialect_is_printed() -> None:
    """Contributors see the functions of a table's rows, and of its short way; a dialect by hand has none."""
    source = compiled("cohere-v2")

    assert {"def message_start_row(self, event):", "def read(data):"} <= set(source.splitlines())
    with pytest.raises(TypeError, match=r"chat-completions is not a table"):
        compiled("chat-completions")
