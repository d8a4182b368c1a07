"""Statements of a table, compiled: what each of them reads and reports, over a dialect made for the purpose."""

from __future__ import annotations

import json
import re
import textwrap
import traceback
from typing import Any, ClassVar, get_args, get_origin

import msgspec
import pytest

from tests.support.compiled import compiled
from tests.support.together import together
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
from wholecall.dialects.compiled import TableTranslator, members_of, source_of
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


@together(
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
        (at.value("a[].b[].c"), {"a": [{}, {"b": [{}]}, {"b": [{"c": 1}]}]}, 1),
        (at.json_text("a"), {}, ""),
        (at.json_value("a"), {}, ("", False)),
        (3, {}, 3),
        (None, {}, None),
        (("a", 1), {}, ("a", 1)),
    ],
)
def test_a_value_is_read_at_its_path(of: Any, event: dict[str, Any], expected: Any) -> None:
    """A path leads through members, any of which may be absent; of alternatives the first that holds something counts."""
    assert expected == value(of, event)


@together(
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


@together("alone", [False, True])
@together("parts", [{"a": "x"}, [{"a": "x"}], [{}, {"a": "x"}, {"a": 3}], [{"a": "x"}, None]])
def test_one_object_is_a_list_of_one(parts: Any, alone: bool) -> None:
    """A list may be an object alone, whichever of the two is usual (quirk 39)."""
    assert [TextFragment(0, "x")] == told((say.each("parts", say.text("a"), alone=alone),), {"parts": parts})


@pytest.mark.parametrize("alone", [False, True])
def test_a_list_may_be_absent(alone: bool) -> None:
    """Without a list there are no objects to make statements about."""
    assert [] == told((say.each("parts", say.text("a"), alone=alone),), {}, {"parts": None}, {"parts": []})


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


@pytest.mark.parametrize("path", ["a|b", "b|a"])
def test_a_text_stands_for_a_part_in_each_list(path: str) -> None:
    """Rows with lists of other objects have their own views, also where later rows read two lists as one."""
    made = translator(
        first=(say.each("a", say.text("x"), text="x"),),
        second=(say.each("c.a", say.text("y"), text="y"),),
        third=(say.each("b", say.text("z")),),
        fourth=(say.each(path, say.text("z")),),
    )
    events = [
        {"type": "first", "a": ["1"]},
        {"type": "second", "c": {"a": ["2"]}},
        {"type": "third", "b": [{"z": "3"}]},
        {"type": "fourth", "a": [{"z": "4"}]},
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


@together(
    ("name", "frame", "said"),
    [
        ("", {"kind": "a"}, "a"),
        ("b", {"kind": "a", "type": "b"}, "a"),
        ("", {"kind": None, "type": "b"}, "b"),
        ("a", {"kind": "", "type": ""}, "a"),
        ("b", {"kind": 3, "type": ["a"]}, "b"),
        ("b", {"whole": 1}, "b"),
        ("c", {"whole": 1}, "whole"),
        ("c", {"whole": 1, "kind": ""}, None),
        ("c", {"whole": 1, "type": "c"}, None),
        ("c", {"always": 1, "type": "c"}, "always"),
    ],
)
def test_a_member_or_the_frame_names_the_kind(name: str, frame: dict[str, Any], said: str | None) -> None:
    """The first member with a word names an event, else the frame's name; a body has neither, unless all frames are."""

    class Made(TableTranslator):
        KINDS = ("kind", "type")
        ROWS: ClassVar[say.Rows] = {kind: (say.own(read, kind),) for kind in "ab"}
        BODIES: ClassVar[say.Rows] = {"whole": (say.own(read, "whole"),)}

    class Always(Made):
        BODIES: ClassVar[say.Rows] = {"always": (say.own(read, "always"),)}
        EVENTLESS = True

    made = Always() if "always" in frame else Made()
    expected = Noted(0, "unknown_events") if said is None else UsageSeen({"read": (said,)})
    assert [expected] == made.translate(Frame(name, json.dumps(frame)))


def test_rows_of_a_table_are_separate_functions() -> None:
    """Events with one row share its function; their functions stand one after the other, named for the first event."""
    row = (say.text("a"),)
    made = translator(first=row, second=row, third=(say.end(),))

    assert source_of(type(made)) == (
        "def first_row(self, event):\n    deltas = text(event.a)\n    return deltas\n\n\n"
        "def third_row(self, event):\n    deltas = self._end()\n    return deltas\n"
    )
    assert made.EVENTS["first"] is made.EVENTS["second"]


def test_tables_of_a_base_class_are_inherited() -> None:
    """A dialect without rows of its own has those of its base."""
    base = type(translator(event=(say.text("a"),)))

    class Made(base):  # type: ignore[misc, valid-type] - made just now
        QUIET = frozenset({"other"})

    assert "" == source_of(TableTranslator)
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

    lines = [(line.filename, line.line) for line in traceback.extract_tb(caught.tb)]
    assert ("<the table of Made>", "deltas += failing(event.c)") in lines
    assert source_of(type(made)) == (
        "def event_row(self, event):\n"
        "    a = event.a\n"
        "    deltas = text(a and a.b)\n"
        "    deltas += failing(event.c)\n"
        "    return deltas\n"
    )


@together("name", ["deltas", "self", "event", "text", "next", "str", "enumerate", "listed"])
def test_a_member_may_have_the_name_of_a_variable(name: str) -> None:
    """The names that a function uses are members as others are."""
    row = (
        say.each(f"{name}.parts", say.text(f"{name}|x"), text="x"),
        say.own(read, at.value(f"{name}.{name}|y"), at.value("list[].a")),
        say.each("list", say.own(read, at.POSITION)),
    )
    event = {name: {"parts": ["1", {name: "2"}], name: 3}, "list": [{"a": 4}]}
    numbers = [UsageSeen({"read": read}) for read in ((3, 4), (0,))]

    assert [TextFragment(0, "1"), TextFragment(0, "2"), *numbers] == told(row, event)


def test_the_source_of_a_dialect_is_printed() -> None:
    """Contributors see the functions of a table's rows, and of its short way; a dialect by hand has none."""
    source = compiled("cohere-v2")

    assert {"def message_start_row(self, event):", "def read(data):"} <= set(source.splitlines())
    with pytest.raises(TypeError, match=r"chat-completions is not a table"):
        compiled("chat-completions")


SOURCES: dict[str, tuple[say.Row, str]] = {
    "each": (
        (
            say.each(
                "delta.parts|parts",
                say.thought("thinking", at.first_of(at.index("/index"), at.POSITION)),
                say.text("text"),
                text="text",
            ),
            say.each("calls", say.own(read, at.id("id"), at.name("function.name|name")), alone=True),
            say.each("calls", say.own("_end")),
        ),
        """
        deltas = []
        delta = event.delta
        for part_at, part in enumerate(listed(delta and delta.parts or event.parts)):
            part = PartView(text=part) if type(part) is str else part
            index = index_label(event.index)
            if index is None:
                index = part_at
            deltas += thought(part.thinking, index)
            deltas += text(part.text)
        for call in listed(event.calls):
            function = call.function
            name = name_label(function and function.name)
            if not name:
                name = name_label(call.name)
            deltas += read(id_label(call.id), name)
        for call2 in event.calls or ():
            deltas += self._end()
        """,
    ),
    "given": (
        (say.given("a|b", say.text("x")), say.given("c.d", say.text("../x"), say.given("e", say.text("y")))),
        """
        deltas = []
        a = event.a or event.b
        if a:
            deltas += text(a.x)
        c = event.c
        d = c and c.d
        if d:
            deltas += text(event.x)
            e = d.e
            if e:
                deltas += text(e.y)
        """,
    ),
    "when": (
        (
            say.when(at.value("a.b"), (None,), say.text("x"), otherwise=(say.text("y"), say.text("z"))),
            say.when(at.value("a.b"), (True,), otherwise=(say.text("x"),)),
            say.when(at.value("n"), (0,), otherwise=(say.text("x"),)),
            say.when(at.text("t"), ("u",), say.text("x")),
            say.when(at.text("t"), ("u", "v"), say.text("x")),
            say.when(at.text("t"), ("u", "v"), otherwise=(say.end(),)),
            say.when(at.state("_open"), (False,), say.do("_calls.next")),
        ),
        """
        deltas = []
        a = event.a
        if (a and a.b) is None:
            deltas += text(event.x)
        else:
            deltas += text(event.y)
            deltas += text(event.z)
        if (a and a.b) is not True:
            deltas += text(event.x)
        if event.n != 0:
            deltas += text(event.x)
        t = text_label(event.t)
        if t == 'u':
            deltas += text(event.x)
        if t in ('u', 'v'):
            deltas += text(event.x)
        if t not in ('u', 'v'):
            deltas += self._end()
        if self._open is False:
            self._calls.next()
        """,
    ),
    "by": (
        (
            say.by(at.text("kind"), {"one": (say.text("x"),), "two": ()}, ("quiet",)),
            say.stop_unless_open(),
            say.finish("why"),
        ),
        """
        deltas = []
        kind = text_label(event.kind)
        if kind == 'one':
            deltas += text(event.x)
        elif kind == 'two':
            pass
        elif kind not in ('quiet',):
            deltas += unknown()
        if not self._open:
            return deltas
        deltas += finish(event.why)
        """,
    ),
    "a value that is read again": (
        (
            say.own(read, at.id("id"), at.json_text("arguments|input")),
            say.given("call", say.own(read, at.id("id"), at.id("/id"), at.value("v"), at.value("v"))),
            say.own(read, at.id("id"), at.json_text("arguments|input"), at.id("call.id")),
        ),
        """
        id = id_label(event.id)
        arguments = wire_text(event.arguments)
        if not arguments:
            arguments = wire_text(event.input)
        deltas = read(id, arguments)
        call = event.call
        if call:
            deltas += read(id_label(call.id), id_label(event.id), call.v, call.v)
        deltas += read(id, arguments, id_label(call and call.id))
        """,
    ),
    "a value in a block": (
        (
            say.when(at.value("n"), (1,), say.own(read, at.id("a.b"))),
            say.own(read, at.id("a.b")),
        ),
        """
        deltas = []
        if event.n == 1:
            a = event.a
            deltas += read(id_label(a and a.b))
        a2 = event.a
        deltas += read(id_label(a2 and a2.b))
        """,
    ),
    "names of functions": (
        (say.own(read, at.id("text|self|event")), say.text("a"), say.text("b")),
        """
        text = id_label(event.text)
        if not text:
            text = id_label(event.self)
        if not text:
            text = id_label(event.event)
        deltas = read(text)
        deltas += text_(event.a)
        deltas += text_(event.b)
        """,
    ),
    "alternatives in a block": (
        (
            say.when(at.value("n"), (1,), say.own(read, at.id("a|b"))),
            say.own(read, at.id("a|b")),
        ),
        """
        deltas = []
        if event.n == 1:
            a = id_label(event.a)
            if not a:
                a = id_label(event.b)
            deltas += read(a)
        a2 = id_label(event.a)
        if not a2:
            a2 = id_label(event.b)
        deltas += read(a2)
        """,
    ),
    "views of one name": (
        (
            say.each("a.parts", say.text("x"), text="x"),
            say.each("b.parts", say.text("y"), text="y"),
            say.each("ifs", say.text("x")),
        ),
        """
        deltas = []
        a = event.a
        for part in listed(a and a.parts):
            part = PartView(x=part) if type(part) is str else part
            deltas += text(part.x)
        b = event.b
        for part2 in listed(b and b.parts):
            part2 = Part2View(y=part2) if type(part2) is str else part2
            deltas += text(part2.y)
        for if2 in event.ifs or ():
            deltas += text(if2.x)
        """,
    ),
    "names of variables": (
        (
            say.given("self.a", say.given("/event.a", say.given("/is_a.a", say.text("x")))),
            say.given("if_.a", say.text("x")),
        ),
        """
        deltas = []
        self2 = event.self
        a = self2 and self2.a
        if a:
            event2 = event.event
            a2 = event2 and event2.a
            if a2:
                is_a = event.is_a
                a3 = is_a and is_a.a
                if a3:
                    deltas += text(a3.x)
        if_ = event.if_
        a4 = if_ and if_.a
        if a4:
            deltas += text(a4.x)
        """,
    ),
    "lists and constants": (
        (
            say.own(
                read, at.value("parts[].n"), at.name("a.parts[].n"), at.json_value("x.y"), 1, True, None, ()
            ),
        ),
        """
        a = event.a
        x = event.x
        deltas = read(next((it for item in event.parts or () if (it := item.n) is not None), None), \
next((it2 for item2 in a and a.parts or () if (it2 := name_label(item2.n))), None), \
value_text(x.y if x else NO_TEXT), 1, True, None, value)
        """,
    ),
    "names": (
        (say.text("text"), say.usage("usage"), say.own(read, at.id("text|usage"), at.value("type|next"))),
        """
        deltas = text(event.text)
        deltas += usage(event.usage)
        text2 = id_label(event.text)
        if not text2:
            text2 = id_label(event.usage)
        type2 = event.type
        if type2 is None:
            type2 = event.next
        deltas += read(text2, type2)
        """,
    ),
}


@together(("row", "source"), SOURCES.values(), ids=SOURCES)
def test_a_row_is_plain_source(row: say.Row, source: str) -> None:
    """The function of a row reads as a person would write it: each object once, a value that is read again once."""
    body = textwrap.indent(textwrap.dedent(source).strip("\n"), "    ")

    assert f"def event_row(self, event):\n{body}\n    return deltas\n" == source_of(
        type(translator(event=row))
    )


@together(
    ("among", "value", "taken"),
    [
        ((None,), None, True),
        ((None,), 0, False),
        ((True,), True, True),
        ((True,), 1, False),
        ((False,), False, True),
        ((False,), 0, False),
        (("u",), "u", True),
        (("u",), "v", False),
        ((0,), 0, True),
        (("u", "v"), "v", True),
        (("u", "v"), "w", False),
        ((None, "u"), None, True),
    ],
)
def test_a_truth_value_is_itself(among: tuple[Any, ...], value: Any, taken: bool) -> None:
    """A condition on one truth value takes no number for it; other values are compared."""
    row = (
        say.when(at.value("a"), among, say.text("x"), otherwise=(say.text("y"),)),
        say.when(at.value("a"), among, otherwise=(say.text("y"),)),
    )
    expected = [TextFragment(0, "x")] if taken else [TextFragment(0, "y")] * 2

    assert expected == told(row, {"a": value, "x": "x", "y": "y"})


def test_a_row_may_depend_on_state() -> None:
    """A state is read when its statement is made, after the statements before it."""
    counted = say.when(at.state("n_done"), (1,), say.text("a"))

    assert [TextFragment(0, "x")] == told(
        (counted, say.do("note"), counted, say.do("note"), counted), {"a": "x"}
    )
    assert [UsageSeen({"read": (0,)})] == told((say.own(read, at.state("n_done")),), {})


def shape(view: Any) -> dict[str, str]:
    """Return the members of a view and their types in short."""
    return {field.name: _short(field.type) for field in msgspec.structs.fields(view)}


def _short(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"{{{', '.join(f'{name}: {of}' for name, of in shape(kind).items())}}}"
    if get_args(kind):
        inner = " or ".join(_short(of) for of in get_args(kind) if of is not type(None))
        return f"[{inner}]" if get_origin(kind) is list else inner
    return {Any: "any", msgspec.Raw: "raw", str: "text"}[kind]


VIEWS: list[tuple[say.Row, dict[str, str]]] = [
    ((say.text("a"), say.own(read, at.json_text("b"))), {"a": "any", "b": "raw"}),
    ((say.text("a.b.c"),), {"a": "{b: {c: any}}"}),
    ((say.own(read, at.value("a")), say.text("a.b")), {"a": "{b: any}"}),
    ((say.text("a.b"), say.own(read, at.value("a"))), {"a": "{b: any}"}),
    ((say.each("a", say.text("b")),), {"a": "[{b: any}]"}),
    ((say.each("a", say.text("b"), alone=True),), {"a": "{b: any} or [{b: any}]"}),
    ((say.each("a", say.text("b")), say.text("a.c")), {"a": "{b: any, c: any} or [{b: any, c: any}]"}),
    ((say.each("a", say.text("b"), text="b"),), {"a": "[{b: any} or text] or text"}),
    ((say.given("a|b", say.text("c")),), {"a": "{c: any}", "b": "{c: any}"}),
    ((say.own(read, at.value("a[].b")),), {"a": "[{b: any}]"}),
    (
        (say.each("b", say.text("y")), say.text("b.y"), say.each("a|b", say.text("x"), text="x")),
        dict.fromkeys("ba", "{y: any, x: any} or [{y: any, x: any} or text] or text"),
    ),
    ((say.own(read, at.value("b")), say.given("a|b", say.text("x"))), dict.fromkeys("ba", "{x: any}")),
    (
        (say.each("a", say.text("x")), say.given("a|b", say.text("x"))),
        dict.fromkeys("ab", "{x: any} or [{x: any}]"),
    ),
    (
        (say.each("b", say.text("y"), alone=True, text="y"), say.given("a|b", say.text("x"))),
        dict.fromkeys("ba", "{y: any, x: any} or [{y: any, x: any} or text] or text"),
    ),
    (
        (say.each("a", say.text("x"), text="x"), say.text("b.y"), say.given("a|b", say.text("z"))),
        dict.fromkeys("ab", "{x: any, y: any, z: any} or [{x: any, y: any, z: any} or text] or text"),
    ),
    (
        (say.text("b.c.y"), say.given("a|b", say.text("c.x"), say.text("z"))),
        dict.fromkeys("ba", "{c: {x: any, y: any}, z: any}"),
    ),
]


@together("separately", [False, True])
@together(("row", "members"), VIEWS)
def test_a_view_has_the_members_that_its_rows_read(
    row: say.Row, members: dict[str, str], separately: bool
) -> None:
    """Each path puts its members into the view; members of one name hold one kind of object, a list of it, or both."""
    rows = {f"event{n}": (statement,) for n, statement in enumerate(row)} if separately else {"event": row}
    found = shape(type(translator(**rows)).decoder.type)

    assert {"type": "any", "error": "any"} == {name: found.pop(name) for name in ("type", "error")}
    assert {name: sorted_(of) for name, of in members.items()} == {
        name: sorted_(of) for name, of in found.items()
    }


def sorted_(kind: str) -> list[str]:
    """Return the words of a type in an order that does not depend on the order of its members."""
    return sorted(re.findall(r"\w+|[\[\]{}]", kind))


def test_the_members_of_rows_are_known_without_a_dialect() -> None:
    """The members that some rows read are the members of a view of these rows, objects as such."""
    node = members_of([(say.text("a.b"),), (say.each("c", say.text("d")), say.own(read, at.json_text("e")))])

    assert ["a", "c", "e"] == sorted(node.members)
    assert (["b"], {"one"}) == (list(node.members["a"].members), node.members["a"].many)
    assert (["d"], {"list"}) == (list(node.members["c"].members), node.members["c"].many)
    assert msgspec.Raw is node.members["e"]
