"""Snapshots of parsers: their content, the snapshots they refuse, and the error messages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, Union

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext

from tests.support.snapshots import FOLDED, opened, resealed, sealed
from tests.support.together import together
from wholecall import BadSnapshot, Dialect, Limits, Policy, ToolCallParser, Tools, register
from wholecall.deltas import Delta, Slot, TurnEnded, TurnOpened, WireFault
from wholecall.dialects import table
from wholecall.dialects.translator import Translator
from wholecall.framing import Frame
from wholecall.framing.frame import framed
from wholecall.machine.budget import Budget
from wholecall.machine.call import Call
from wholecall.machine.choice import Choice
from wholecall.machine.readings.partitions import Piece
from wholecall.machine.record import Record
from wholecall.machine.tables import LabelTable, SlotTable
from wholecall.stream.snapshots.rows import Reading, Writing, decoded, encoded
from wholecall.stream.snapshots.shapes import folded, kept_by, row_of, shape_of, unfolded

HEAD = (
    b'data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1",'
    b'"function":{"name":"go","arguments":"{\\"secret\\":\\"se"}}]}}]}\n\n'
)
TAIL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"krit\\"}"}}]},'
    b'"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
)


def snapshot(data: bytes = HEAD, **options: Any) -> bytes:
    """Return the snapshot of a parser that read this."""
    parser = ToolCallParser(**options)
    parser.feed(data)
    return parser.snapshot()


def _place(cls: type, name: str) -> int:
    """Return where a field is in a row, after the number of its shape."""
    return 1 + list(kept_by(cls)).index(name)


def forged(name: str, value: Any, data: bytes | None = None) -> bytes:
    """Return a snapshot in which a field of the call is another."""
    inside = opened(data or snapshot())
    row = next(row for row in inside[2] if "call_1" in row)
    row[_place(Call, name)] = value
    return resealed(inside)


class Holder:
    """Has one attribute, whose type the tests choose."""

    part: Any


def _holding(kind: Any) -> type:
    return type("Holder", (Holder,), {"__annotations__": {"part": kind}, "__module__": __name__})


def _holder(kind: Any, part: Any = None) -> Holder:
    holder = Holder()
    holder.__class__ = _holding(kind)
    holder.part = part
    return holder


# Plain values.

_plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


def _read(shapes: list[int], part: Any) -> None:
    """Read an object whose one part, a plain value, was written so."""
    rows = decoded(msgspec.msgpack.encode([[0, part]]), list)
    Reading(shapes, rows).fill([_holder(Any)], {})


def _moved(value: Any) -> Any:
    (read,) = decoded(encoded([folded(value)]), list)
    return unfolded(read)


class Trouble:
    """Another class with state."""


@given(_plain)
def test_plain_values_come_back(value: Any) -> None:
    """JSON values are read as they were packed, with the order of their members."""
    assert repr(value) == repr(_moved(value))


@pytest.mark.parametrize(
    "value", ["\ud800", "a\udfff\U0001f600", 1 << 64, -(1 << 63) - 1, -(1 << 200), 10**4300 - 1, 1 - 10**4300]
)
def test_what_messagepack_does_not_know_comes_back(value: Any) -> None:
    """Lone surrogates and long integers go as extensions, as keys too, and in tuples that are keys."""
    assert [value] == _moved([value])
    assert [{value: value}, {("a", value): [1]}] == decoded(
        encoded([{value: value}, {("a", value): [1]}]), list
    )


@pytest.mark.parametrize(
    "inner", [1, "\ud800", 1 << 200, float("inf"), [], {}, [1, [2, 3], {"a": 4, "b": [5]}, 6]]
)
def test_depth_is_no_matter(inner: Any) -> None:
    """A value of any depth is packed and read without recursion, wherever it becomes deep."""
    for depth in (*range(20, 30), 50_000 if inner == 1 else 100):
        read, value = inner, inner
        for level in range(depth):
            value = {"a": 0, "b": value, "c": [level]} if level % 2 else [0, value, level]
        read = _moved(value)
        for level in reversed(range(depth)):
            assert (
                (["a", "b", "c"] == list(read), [level] == read["c"]) == (True, True)
                if level % 2
                else 0 == read[0]
            )
            read = read["b"] if level % 2 else read[1]
        assert inner == read


@pytest.mark.parametrize("value", [{1}, (1,), b"", {1: 2}, {None: 1}, object(), datetime.now(timezone.utc)])
def test_only_plain_values_are_packed(value: Any) -> None:
    """Anything else is the caller's, and refused, in its depth too, and when it is read."""
    for told in (value, [value], {"a": [value]}):
        with pytest.raises(BadSnapshot, match="is no plain value"):
            folded(told)
        with pytest.raises(BadSnapshot):
            unfolded([told])


@together("data", [*FOLDED[:-1], Ext(1, b"\xff"), Ext(1, b"1" * 5000), Ext(4, b""), Ext(9, b"")])
def test_what_says_no_value_is_refused(data: Any) -> None:
    """A row says one value, a text is one, and a number is one that Python writes."""
    writing = Writing([_holder(Any)])
    writing.rows()
    with pytest.raises(BadSnapshot):
        _read([*writing.shapes], data)
    _read([*writing.shapes], FOLDED[-1])


@together(
    "kind",
    [
        *(list, dict, float, Iterator[int], Callable[[], int], type, set, list[list]),
        *(Annotated[list[Any], 1], Union[Holder, Trouble], Union[str, list]),
    ],
)
def test_annotations_that_say_nothing(kind: Any) -> None:
    """A class that annotates a type that cannot be kept fails at its first snapshot."""
    with pytest.raises(TypeError, match="a snapshot cannot hold what is annotated as"):
        row_of(_holding(kind))


Inner = Annotated[int, msgspec.Meta(ge=2)]


@together(
    ("kind", "value", "others"),
    [
        (str, "\ud800", (1, b"a", None, ["a"])),
        (int, 1 << 70, (True, 1.0, "1", None)),
        (bool, True, (1, None, "true")),
        (bytes, b"\xff", (1, None, "\u00e9")),
        (bytearray, bytearray(b"\xff"), (1, None)),
        (Inner, 2, (1, True, "2")),
        (Literal["a", "b"], "b", ("c", 1, None, [])),
        (Union[str, None], None, (1, [])),
        (Union[int, str], "1", (1.5, None, b"")),
        (list[int], [1, 2], (["a"], 1, {})),
        (tuple[int, str], (1, "a"), ([1], [1, 2], [1, "a", "b"])),
        (tuple[str, ...], ("a", "\udfff"), ([1], "a")),
        (set[Union[int, None]], {1, None}, (["a"], 1, [[1]])),
        (frozenset[str], frozenset({"\ud800", "b"}), ([1], "b")),
        (dict[str, set[int]], {"a": {3, 1, 2}, "\ud800": set()}, ({"a": ["b"]}, {1: []}, [])),
        (
            dict[tuple[str, Union[int, None]], int],
            {("a", None): 1, ("\ud800", 1 << 70): 2},
            ({"a": 1}, {("a",): 1}),
        ),
        (dict[Union[str, None], Any], {None: [1], "a": {"b": None}}, ({1: 2}, {"a": {1: 2}}, {"a": b""})),
        (Any, {"a": [1.5, {"b": None}]}, ({1: 2}, b"", {"a": {None: 1}})),
        (object, [1], (b"", {("a",): 1})),
        (Frame, Frame("a", "\ud800"), (1, [], [0], {}, None)),
        (Union[Frame, None], None, (1, [], [0, "a"], {})),
        (list[Union[Frame, WireFault]], [Frame("", ""), WireFault("not_sse", "")], ([1], [[0]], [[0, 1, 2]])),
    ],
)
def test_what_is_annotated_comes_back(kind: Any, value: Any, others: tuple[Any, ...]) -> None:
    """A field keeps its value and its own class; a type that its class does not annotate is refused, both ways."""
    before, after = _holder(kind, value), _holder(kind)
    writing = Writing([before])
    (row,) = decoded(encoded(writing.rows()), list)
    Reading([*writing.shapes], [row]).fill([after], {})

    assert (type(value), repr(value)) == (type(after.part), repr(after.part)) or value == after.part
    for other in others:
        with pytest.raises(BadSnapshot, match=r"Holder\.part"):
            Reading([*writing.shapes], [[row[0], other]]).fill([after], {})
        before.part = other
        with pytest.raises(BadSnapshot, match=r"Holder\.part"):
            Writing([before]).rows()


# State that travels.


def test_a_snapshot_is_small_and_does_not_depend_on_chunks() -> None:
    """The same bytes give the same snapshot, however they came, and few more bytes than they say."""
    whole = snapshot()
    parser = ToolCallParser()
    for n in range(len(HEAD)):
        parser.feed(HEAD[n : n + 1])

    assert ToolCallParser.restore(whole).turns == ToolCallParser.restore(parser.snapshot()).turns
    assert len(whole) < 1000


def test_options_travel() -> None:
    """Policy, limits, watched options and the framing are those of the former parser."""
    options: dict[str, Any] = {
        "policy": Policy(require_terminal=False),
        "limits": Limits(max_arguments_bytes=1 << 70),
        "watch": {"go": ("secret",)},
        "framing": "sse",
    }
    going, parser = ToolCallParser(**options), ToolCallParser.restore(snapshot(**options))
    going.feed(HEAD)

    assert parser.feed(TAIL[:120]) + parser.close() == going.feed(TAIL[:120]) + going.close()


def test_an_oversized_call_is_still_followed() -> None:
    """The shown part of a call before it grew too large stays the value of `partial`."""
    options: dict[str, Any] = {"live": True, "limits": Limits(max_arguments_bytes=14)}
    parser = ToolCallParser(**options)
    (started, *_) = [event for event in parser.feed(HEAD) if hasattr(event, "index")]
    parser.feed(TAIL.partition(b"data: [DONE]")[0].replace(b'"finish_reason":"tool_calls"', b'"x":1'))
    other = ToolCallParser.restore(parser.snapshot())

    assert {"secret": "se"} == dict(parser.partial(started).value)
    assert parser.partial(started).value == other.partial(started).value


@pytest.mark.parametrize("seed", ["1", "2"])
def test_snapshots_travel_between_processes(seed: str) -> None:
    """A snapshot from a process with another hash seed is the same, byte for byte."""
    code = (
        "import sys; from wholecall import ToolCallParser; p = ToolCallParser();"
        "p.feed(sys.stdin.buffer.read()); sys.stdout.buffer.write(p.snapshot())"
    )
    data = (
        b'data: {"type":"response.created","response":{"id":"r"}}\n\n'
        b'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i",'
        b'"call_id":"c","name":"go","arguments":"{}"}}\n\n'
    )
    there = subprocess.run(  # noqa: S603 - this very interpreter
        [sys.executable, "-c", code],
        input=data,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    ).stdout

    assert snapshot(data) == there


# Tools.


class Go(msgspec.Struct):
    """The destination."""

    secret: str


class Strict(msgspec.Struct):
    """The same tool, changed."""

    secret: int


def test_tools_are_given_again() -> None:
    """Tools do not travel; others, or none, are refused with advice."""
    tools = Tools({"go": Go})
    data = snapshot(HEAD + TAIL, tools=tools)

    assert [Go("sekrit")] == [
        call.value for call in ToolCallParser.restore(data, tools=[Tools, Go][1:] and tools).turn.calls
    ]
    with pytest.raises(
        BadSnapshot, match="taken with the tools 'go', and no tools given; restore it with the `tools`"
    ):
        ToolCallParser.restore(data)
    with pytest.raises(BadSnapshot, match="taken with no tools, and the tools 'go' given"):
        ToolCallParser.restore(snapshot(), tools=tools)
    with pytest.raises(BadSnapshot, match="the tools do not take a call that they took"):
        ToolCallParser.restore(data, tools={"go": Strict})


# Dialects of others.


class Trams(Translator):
    """A dialect whose state is annotated, and one whose is not."""

    DERIVED = frozenset({"lines"})
    seen: int

    def __init__(self) -> None:
        self.lines = [str]
        self.seen = 0

    def translate(self, frame: Frame) -> list[Delta]:
        """Say the number of the frame, a call each."""
        self.seen += 1
        text = f"{len(self.lines)}{self.seen}{frame.data[:1]}"
        return (
            [TurnOpened(None), Slot(0, 0, None, text)]
            if self.seen == 1
            else [Slot(0, 0, None, text), TurnEnded()]
        )


class Forgetful(Trams):
    """Has an attribute that nothing names."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""


def _tram(start: Any = Trams) -> Dialect:
    return Dialect("tram", ("jsonl",), lambda payload, _event: "tram" in payload, start)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Dialect]:
    """No dialects of others, whatever was registered elsewhere."""
    registered: dict[str, Dialect] = {}
    monkeypatch.setattr(table, "_registered", registered)
    return registered


def test_a_registered_dialect_travels(registry: dict[str, Dialect]) -> None:
    """A caller's dialect is kept by its annotations, and must be registered where it continues."""
    register(_tram())
    data = snapshot(b'{"tram":1}\n')
    staying, parser = ToolCallParser(), ToolCallParser.restore(data)
    staying.feed(b'{"tram":1}\n')

    assert staying.feed(b'{"tram":2}\n') == parser.feed(b'{"tram":2}\n')
    assert "11{12{" == parser.turn.dropped[0].raw_arguments
    registry.clear()
    with pytest.raises(BadSnapshot, match="must be registered here as well: there is no dialect 'tram'"):
        ToolCallParser.restore(data)


def test_the_last_event_id_travels() -> None:
    """Events after the move have the id that came before it, as the framing of the parser that stayed gives them."""
    read = b'id: 7\ndata: {"type":"ping"}\n\n'
    staying = ToolCallParser("anthropic")
    staying.feed(read)
    moved = ToolCallParser.restore(snapshot(read, dialect="anthropic"))
    frames = [framed(*parser._framing.read(b"data: x\n\n")) for parser in (staying, moved)]  # type: ignore[union-attr]

    assert [[Frame("message", "x", "7")]] * 2 == frames


@pytest.mark.usefixtures("registry")
def test_state_that_nothing_names_is_an_error() -> None:
    """A dialect that forgets to annotate fails at its first snapshot, not when calls are lost."""
    register(_tram(Forgetful))

    with pytest.raises(
        TypeError, match="cannot hold a Forgetful: annotate 'last' in its class, or name it in DERIVED"
    ):
        snapshot(b'{"tram":1}\n')


@pytest.mark.usefixtures("registry")
def test_state_that_cannot_be_kept_is_an_error() -> None:
    """A value that differs from its annotation, or a number that Python does not write, is refused when it is
    written.
    """
    register(_tram())
    parser = ToolCallParser()
    parser.feed(b'{"tram":1}\n')
    for seen, told in (("1", "Trams.seen: it is not what is annotated"), (10**5000, "limit")):
        parser._translator.seen = seen  # type: ignore[union-attr]
        with pytest.raises(TypeError, match=f"a snapshot cannot hold this state: .*{told}"):
            parser.snapshot()


class Around(Translator):
    """Wraps the translator of another dialect."""

    DERIVED = frozenset({"_inner"})
    seen: int

    def __init__(self) -> None:
        self._inner = Trams()
        self.seen = 0

    @property
    def wrapped(self) -> Translator:
        """The one that knows the frames."""
        return self._inner

    def translate(self, frame: Frame) -> list[Delta]:
        """Count, and let the other one translate."""
        self.seen += 1
        return self._inner.translate(frame)


@pytest.mark.usefixtures("registry")
def test_a_translator_travels_with_the_one_that_it_wraps() -> None:
    """State that both remember is kept."""
    register(_tram(Around))
    parser = ToolCallParser()
    parser.feed(b'{"tram":1}\n')
    other = ToolCallParser.restore(parser.snapshot())
    translator: Any = other._translator

    assert (1, 1) == (translator.seen, translator.wrapped.seen)
    assert parser.feed(b'{"tram":2}\n') == other.feed(b'{"tram":2}\n')


def test_a_dialect_of_another_shape_is_another_version(registry: dict[str, Dialect]) -> None:
    """The restoring side needs the same classes: their state is part of the snapshot."""
    register(_tram())
    data = snapshot(b'{"tram":1}\n')
    registry.clear()

    class Other(Trams):
        more: int

        def __init__(self) -> None:
            super().__init__()
            self.more = 1

    register(_tram(Other))
    with pytest.raises(BadSnapshot, match="another version of wholecall, or of a registered dialect"):
        ToolCallParser.restore(data)


# Refused snapshots.


def _enveloped(checksum: int, body: bytes) -> bytes:
    """Return a body under any checksum."""
    return msgspec.msgpack.encode([*msgspec.msgpack.decode(sealed(body))[:2], checksum, body])


@together(
    ("data", "told"),
    [
        (b"", "cut or damaged"),
        (HEAD, "no snapshot|cut or damaged"),
        (b"\x91" * 100_000, "cut or damaged"),
        (resealed([[], [], [b"\x91" * 100_000]]), "cut or damaged"),
        (b"\xdd\xff\xff\xff\xff", "cut or damaged"),
        (
            msgspec.msgpack.encode(["wholecall.snapshot.2", 0, 0, b""]),
            "that this version can read; it reads wholecall.snapshot.1",
        ),
        (msgspec.msgpack.encode(["wholecall.snapshot.1", 1, 0, b"x"]), "another version of wholecall"),
        (_enveloped(0, b"x"), "is damaged"),
        (msgspec.msgpack.encode(["another.snapshot", 1, 0, b""]), "no snapshot of a parser"),
        (resealed([1, 2, 3]), "cut or damaged"),
        (resealed([1, [], []]), "is cut or damaged"),
        (resealed([[], *opened(snapshot())[1:]]), "another version"),
        (resealed([[7] * 99, *opened(snapshot())[1:]]), "another version"),
        (resealed([opened(snapshot())[0], {"x": 1}, []]), "MovedOptions: it is not what is annotated"),
        (resealed([opened(snapshot())[0], [0], []]), "MovedOptions: it is not what is annotated"),
        (resealed([*opened(snapshot())[:2], [[]]]), "a row was expected"),
        (resealed([*opened(snapshot())[:2], []]), "objects that nothing holds|there are"),
        (resealed([*opened(snapshot())[:2], [*opened(snapshot())[2], []]]), "objects that nothing holds"),
    ],
)
def test_hostile_bytes_are_refused(data: bytes, told: str) -> None:
    """Any fault gives one exception, and it names the fault."""
    with pytest.raises(BadSnapshot, match=told):
        ToolCallParser.restore(data)


@together(
    ("name", "value", "told"),
    [
        ("phase", "asleep", "Call.phase: it is not what is annotated"),
        ("phase", "pending", "Call: it has a name and a text, and did not begin"),
        ("name", None, "Call: it has no name in a phase that wants one"),
        ("turn", "0", "Call.turn: it is not what is annotated"),
        ("phase", Ext(1, b'"\xed\xa0\x80"'), "Call: it is not what is annotated"),
        ("flags", ["tired"], "Call.flags: list: it is not what is annotated"),
        ("parts", [""], "Call: a piece of its text is empty, or not there"),
        ("half", "ab", "Call: half of a character is none"),
        ("indices", [0, 7], "Choice: a call has an index that nothing knows"),
        ("turn", 1, "Choice: a call is another choice's"),
        ("choice", 1, "Choice: a call is another choice's"),
        ("fast_at", [], "Choice: a call is on the fast path that did not begin"),
        (
            "extra",
            {"k": Ext(1, b"{")},
            "the snapshot is cut or damaged, or this is none",
        ),
        ("extra", {"k": {1: 2}}, "Call.extra: list: it is not what is annotated"),
        ("extra", {"k": [[[]]]}, "Call.extra: list: it is not what is annotated"),
        ("extra", {"k": [1, 2]}, "Call.extra: it is not what is annotated"),
        ("extra", {"k": [[None]]}, "Call: it is not what is annotated"),
        ("extra", {1: 2}, "Call.extra: it is not what is annotated"),
        ("extra", ["k"], "Call.extra: it is not what is annotated"),
        ("original", 99, "Call.original: there is no such object"),
        ("original", 0, "Call.original: there is no such object"),
        ("original", True, "Call.original: there is no such object"),
    ],
)
def test_states_that_no_call_is_in_are_refused(name: str, value: Any, told: str) -> None:
    """The code's assumptions are checked, so that a restored parser does not raise later."""
    with pytest.raises(BadSnapshot) as raised:
        ToolCallParser.restore(forged(name, value))

    assert told == str(raised.value)


@pytest.mark.parametrize("value", [-1, 1 << 40])
def test_the_next_weighing_is_ahead_and_not_too_far(value: int) -> None:
    """A parser that is to weigh its memory before now would never come to an end, one that is not to, to none."""
    inside = opened(snapshot())
    inside[2][0][_place(ToolCallParser, "_unweighed")] = value
    with pytest.raises(BadSnapshot, match="is weighed at another byte"):
        ToolCallParser.restore(resealed(inside))


@pytest.mark.parametrize("name", ["turn", "number"])
def test_choices_are_where_they_say(name: str) -> None:
    """A choice with another number would report events of unknown calls."""
    inside = opened(snapshot())
    (row,) = [row for row in inside[2] if len(row) == 1 + len(kept_by(Choice))]
    row[_place(Choice, name)] = 1
    (call,) = [row for row in inside[2] if "call_1" in row]
    call[_place(Call, {"turn": "turn", "number": "choice"}[name])] = 1

    with pytest.raises(BadSnapshot, match="TurnState: a choice has another number"):
        ToolCallParser.restore(resealed(inside))


@pytest.mark.parametrize(("table", "labels"), [(SlotTable, "at"), (LabelTable, "by_id")])
def test_labels_have_calls(table: type, labels: str) -> None:
    """A label that came is the label of some call."""
    inside = opened(snapshot())
    (row,) = [row for row in inside[2] if inside[0][row[0]] == shape_of(table)]
    row[_place(table, labels)] = {"call_7": []}

    with pytest.raises(BadSnapshot, match="Choice: a label has no call"):
        ToolCallParser.restore(resealed(inside))


@pytest.mark.parametrize("options", [{"live": True}, {"watch": {"f": "a"}}])
def test_no_parser_shows_live_what_it_leaves_out(options: dict[str, Any]) -> None:
    """Options that the parser refuses together are refused from a snapshot, too."""
    inside = opened(ToolCallParser(events="calls").snapshot())
    inside[1].update(options)

    with pytest.raises(BadSnapshot, match="options that no parser has"):
        ToolCallParser.restore(resealed(inside))


@pytest.mark.parametrize("holder", ["", "call_1", 0, 99, None])
def test_only_calls_hold_grants(holder: Any) -> None:
    """A key that is text is not a call either."""
    inside = opened(snapshot())
    (row,) = [row for row in inside[2] if inside[0][row[0]] == shape_of(Budget)]
    row[_place(Budget, "_holders")] = {holder: 1}

    with pytest.raises(BadSnapshot, match="Budget"):
        ToolCallParser.restore(resealed(inside))


def test_the_dialect_is_told_once() -> None:
    """A parser's own arguments are nowhere else, so that they cannot be ambiguous."""
    inside = opened(ToolCallParser("anthropic").snapshot())

    assert 1 == repr(inside).count("anthropic")


def test_messages_quote_nothing() -> None:
    """Law 28: no refusal shows the model's text."""
    data = snapshot()
    for name in ("phase", "turn", "flags", "slotted", "number", "kind"):
        with pytest.raises(BadSnapshot) as raised:
            ToolCallParser.restore(forged(name, "sekrit", data))
        assert "sekrit" not in str(raised.value)
        assert (None, None) == (raised.value.__cause__, raised.value.__context__)
    with pytest.raises(BadSnapshot) as raised:
        ToolCallParser.restore(sealed(b"\x91\xa7sekrit\xff"))
    assert raised.value.__context__ is None


def test_text_is_no_snapshot() -> None:
    """A caller's slip is reported as that."""
    with pytest.raises(TypeError, match="takes bytes"):
        ToolCallParser.restore("x")  # type: ignore[call-overload]


def test_kept_pieces_were_shown_and_begin() -> None:
    """A text cannot continue without a piece, nor a piece be shown without a text."""
    going_on, unseen = Record(), Record()
    going_on._rest.append("x")
    unseen.pieces.append(Piece(0, None, "f", ""))

    Record().remade()
    for record in (going_on, unseen):
        with pytest.raises(ValueError, match="a piece was shown nowhere"):
            record.remade()
