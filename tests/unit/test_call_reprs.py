"""Reprs of calls that are over: useful, and discreet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.support.events import builtin, call, custom, drop, server
from wholecall.calls.arguments.verdict import Edit
from wholecall.calls.output.events import TERMINAL

SECRET = {
    "hunter2": "hunter2",
    "n": 12345678,
    "t": True,
    "nothing": None,
    "a": ["hunter2"],
    "o": {"hunter2": 1},
    "": "",
}
SIZES = "{7 characters, number, boolean, null, 1 item, 1 member, 0 characters}"
TEXT = msgspec.json.encode(SECRET).decode()
SAMPLES: tuple[tuple[Any, str], ...] = (
    (call(TEXT, "c1", "f"), f"<ToolCall 'f' id='c1' status='exact' arguments={SIZES}>"),
    (custom(TEXT, "c1", "f"), f"<CustomToolCall 'f' id='c1' input={{{len(TEXT)} characters}}>"),
    (builtin("shell", SECRET), f"<BuiltinToolCall 'shell' id='c1' arguments={SIZES}>"),
    (server("web_search", SECRET), f"<ServerToolCall 'web_search' id='s1' arguments={SIZES}>"),
    (
        drop(TEXT),
        f"<ToolCallDropped 'f' id='c1' reason='truncated' raw_arguments={{{len(TEXT)} characters}}>",
    ),
)


@pytest.mark.parametrize(("event", "said"), SAMPLES)
def test_a_call_that_is_over_says_what_it_is(event: Any, said: str) -> None:
    """Name, id, how it ended, and the sizes of its arguments, for all kinds of calls; no key and no value."""
    assert said == repr(event) == str(event)
    assert [] == [word for word in ("hunter2", "12345678", "True") if word in said]


def test_all_terminal_events_are_alike() -> None:
    """Each kind of event that ends a call has a sample above."""
    assert {*TERMINAL} == {type(event) for event, _ in SAMPLES}


def test_what_is_unusual_is_said() -> None:
    """Edits, flags and a namespace are shown where there are any."""
    odd = msgspec.structs.replace(
        call("{}", "c1", "f"), flags=("id_generated", "late"), edits=(Edit("bom", 0),), namespace="sea"
    )
    lost = drop("", id=None, name=None)

    assert (
        "<ToolCall 'f' id='c1' namespace='sea' status='exact' edits=bom flags=id_generated,late arguments={}>",
        "<ToolCallDropped None id=None reason='truncated' raw_arguments={0 characters}>",
    ) == (repr(odd), repr(lost))


def test_members_beyond_the_eighth_are_counted() -> None:
    """However many members there are, the repr stays a line."""
    many = call("{" + ",".join(f'"{n}":1' for n in range(1000)) + "}", "c1", "f")

    assert f"arguments={{{'number, ' * 8}992 more}}>" == repr(many).rpartition(" status='exact' ")[2]
