"""The shape of the events: plain, frozen, tagged, closed, discreet."""

from __future__ import annotations

import importlib
import json
import typing
from typing import Any

import msgspec
import pytest

from tests.hygiene.source_tree import DOCS, table_cells
from tests.support.together import together
from wholecall import types as words

# The module, by import_module: `wholecall.events` is also a function, and the attribute is that one.
events: Any = importlib.import_module("wholecall.calls.output.events")
EVENTS: tuple[type[msgspec.Struct], ...] = tuple(
    typing.get_origin(event) or event for event in typing.get_args(events.Event)
)
SECRET = "rm -rf /tmp/secret"
# Fields that a log may show; all others may hold argument text, or text that the model wrote.
SHOWN = {
    "id",
    "name",
    "namespace",
    "dialect",
    "model",
    "provider_reason",
    "usage",
    "kind",
    "status",
    "reason",
}
VOCABULARIES = (
    "Kind",
    "BuiltinKind",
    "JsonState",
    "Status",
    "EditKind",
    "Flag",
    "DropReason",
    "OutputReason",
    "Anomaly",
    "FaultKind",
    "TurnReason",
)


def sample(event: type[msgspec.Struct]) -> msgspec.Struct:
    """Return an event whose undisclosed fields all hold the secret."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(event):
        hint = str(field.type)
        if field.name == "typed":
            continue  # any type of the user's, and no part of the log line
        if field.name in {"turn", "choice", "index", "n_calls", "n_dropped"}:
            values[field.name] = 1
        elif typing.get_origin(field.type) is typing.Literal:
            values[field.name] = typing.get_args(field.type)[0]
        elif field.name in SHOWN:
            values[field.name] = None if "None" in hint else field.name
        elif "dict[" in hint or field.type is Any:
            values[field.name] = {"key": SECRET}
        elif "tuple[str | int" in hint or "tuple[typing.Union[str, int]" in hint:
            values[field.name] = (SECRET,)
        elif hint == str(str):
            values[field.name] = SECRET
    return event(**values)


def test_there_are_events() -> None:
    """The union of events names every Struct of the module."""
    structs = {
        value
        for value in vars(events).values()
        if isinstance(value, type) and issubclass(value, msgspec.Struct)
    }

    assert structs - {msgspec.Struct} == set(EVENTS)


@together("event", EVENTS)
def test_events_are_plain_frozen_structs(event: type[msgspec.Struct]) -> None:
    """An event is a frozen Struct, inherits from no other, and carries turn and choice first."""
    assert {msgspec.Struct} == set(event.__bases__) - {typing.Generic}
    assert event.__struct_config__.frozen
    assert ("turn", "choice") == event.__struct_fields__[:2]


def test_events_are_tagged_by_type() -> None:
    """Each event's log line names it by `type`, in snake case, and no two share a name."""
    tags = {event.__struct_config__.tag: event.__name__ for event in EVENTS}

    assert {event.__struct_config__.tag_field for event in EVENTS} == {"type"}
    assert len(EVENTS) == len(tags)
    assert all(str(tag).replace("_", "") == name.lower() for tag, name in tags.items())


@together("event", EVENTS)
def test_the_type_is_an_attribute(event: Any) -> None:
    """The log line's own fields are the class's, too; no event stores them."""
    assert event.__struct_config__.tag == event.type
    assert "type" not in event.__struct_fields__


@together("event", EVENTS)
def test_log_line_round_trips(event: type[msgspec.Struct]) -> None:
    """`to_json` is one compact line from which the same event can be read back, as one of the union."""
    made: Any = sample(event)
    line = made.to_json()

    assert isinstance(line, bytes)
    assert b"\n" not in line
    assert msgspec.json.decode(line, type=events.Event) == made
    assert msgspec.convert(json.loads(line), type=events.Event) == made


@pytest.mark.parametrize("text", ["\u00fc \u4f60 \U0001f600", "\ud83d", 'a"b\\c\n'])
def test_log_line_keeps_every_text(text: str) -> None:
    """Non-ASCII is kept as it is, and a lone surrogate becomes an escape of itself."""
    line = events.ArgumentsDelta(0, 0, 0, text).to_json()

    assert text == msgspec.convert(json.loads(line), type=events.Event).delta
    assert text.isascii() or b"\\u" not in line or text == "\ud83d"


@pytest.mark.parametrize("kept", ["", "\ud83d"])
def test_a_line_is_one_to_every_reader(kept: str) -> None:
    """No other line end, control character or mark of direction is in it; they are the same text to JSON."""
    odd = "".join(
        map(
            chr,
            [*range(0x20), 0x7F, *range(0x80, 0xA0), 0x61C, *range(0x200E, 0x2010), *range(0x2028, 0x202F)],
        )
    )
    text = f"a{odd}{kept}\u2066\u2067\u2068\u2069é\u200d\u2027\u202f"
    line = events.ArgumentsDelta(0, 0, 0, text).to_json()

    assert text == json.loads(line)["delta"]
    assert 1 == len(line.decode().splitlines())
    assert "é\u200d\u2027\u202f" == "".join(char for char in line.decode() if not char.isascii())


@together("event", EVENTS)
def test_reprs_hold_no_argument_text(event: type[msgspec.Struct]) -> None:
    """A repr shows how long a text is, never the text."""
    assert SECRET not in repr(sample(event))


def test_secrets_are_sampled() -> None:
    """The samples above do hold the secret wherever an event has a text field, or the test is blind."""
    blind = {"turn_started", "tool_call_started", "tool_call_cancelled", "turn_finished"}
    holds = {
        str(event.__struct_config__.tag)
        for event in EVENTS
        if SECRET.encode() in msgspec.json.encode(sample(event))
    }

    assert {str(event.__struct_config__.tag) for event in EVENTS} - blind == holds


@together("vocabulary", VOCABULARIES)
def test_vocabularies_are_documented(vocabulary: str) -> None:
    """Each closed vocabulary is listed word by word in docs/words.md, no word more or less."""
    section = (
        (DOCS / "words.md").read_text("utf-8").partition(f"\n## {vocabulary}\n")[2].partition("\n## ")[0]
    )
    rows = [table_cells(line)[0].strip("`") for line in section.splitlines() if line.startswith("| `")]

    assert list(typing.get_args(getattr(words, vocabulary))) == rows


def test_events_that_end_a_call_share_their_labels() -> None:
    """Each has an id, a name and a kind, and the kind is the word of `ToolCallStarted`: one loop reads all of them."""
    started = typing.get_type_hints(events.ToolCallStarted)
    labels = {"id", "name", "kind"}
    hints = {event.__name__: typing.get_type_hints(event).keys() & labels for event in events.TERMINAL}
    kinds = {event.__name__: getattr(event, "kind", None) for event in events.EXECUTABLE}

    assert labels == started.keys() & labels
    assert dict.fromkeys(hints, labels) == hints
    assert set(kinds.values()) < set(typing.get_args(words.Kind))
