"""The forms of events: the parts that all events of a block share, and each event as a frame on request."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wholecall.framing.forms import Block, form_of, id_of, may_be_named, named
from wholecall.framing.frame import Frame

PLAIN = "data: a\n\ndata: b"
MIXED = "event: x\ndata: a\n\nevent:y\ndata: b"
WITH_IDS = "id: 1\nevent: x\ndata: a\n\nid: 2\nevent: y\ndata: b"


@together(
    "block",
    [
        pytest.param(PLAIN, id="data alone"),
        pytest.param("data:a\n\ndata:b", id="without a space"),
        pytest.param("event: x\ndata: a\n\nevent: y\ndata: b", id="names"),
        pytest.param(WITH_IDS, id="names and ids"),
        pytest.param("data: a\nid: 1\n\ndata: b\nid: 2", id="data first"),
        pytest.param("id:1\nevent:r\n:200\ndata:a\n\nid:2\nevent:r\n:429\ndata:b", id="a comment"),
        pytest.param("data: a\n\n\ndata: b", id="a blank line more"),
        pytest.param(":\n" * 5 + "data: a\n\n" + ":\n" * 5 + "data: b", id="six lines"),
    ],
)
def test_events_of_one_form(block: str) -> None:
    """The data of all events is found, and each event has it."""
    form = form_of(block)

    assert form is not None
    assert ["a", "b"] == form.texts(block)
    assert ["a", "b"] == [frame.data for frame in Block(block, "")]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("event: x\ndata: a\n\ndata: b", id="the second has no name"),
        pytest.param("data: a\n\nevent: x\ndata: b", id="the second has a name"),
        pytest.param("data:a\n\ndata: b", id="the second has a space"),
        pytest.param("data: a\n\nretry: 1\ndata: b", id="the second has another field"),
        pytest.param("data: a\n\n: ping\n\ndata: b", id="a comment alone"),
        pytest.param("id: 1\ndata: a\n\nid: 2\0\ndata: b", id="the second has an id that is none"),
        pytest.param("data: a\n\ndata: b\ndata: c", id="the second has two lines of data"),
    ],
)
def test_events_of_several_forms(block: str) -> None:
    """Nothing is found: the line reader reads such a block."""
    form = form_of(block)

    assert form is not None
    assert form.texts(block) is None


@pytest.mark.parametrize(
    "block",
    [
        "retry: 1\ndata: a",
        "data",
        "event: x",
        "data: a\ndata: b",
        "id: 1\nid: 2\ndata: a",
        ":\n" * 6 + "data: a",
    ],
)
def test_rare_forms(block: str) -> None:
    """An unknown field, a line without a colon, no data, a field twice, many lines: no form."""
    assert form_of(block) is None


@pytest.mark.parametrize(
    ("block", "prefix"),
    [
        (PLAIN, "data: "),
        ("data:a", "data:"),
        ("event: x\ndata: a\n\nevent: y\ndata: b", "event: y\ndata: "),
        (WITH_IDS, ""),
    ],
)
def test_what_comes_before_the_data(block: str, prefix: str) -> None:
    """The form is the same for the next event of that name, unless its id differs."""
    form = form_of(block)

    assert form is not None
    assert prefix == form.prefix(block.rpartition("\n\n")[2])


@pytest.mark.parametrize("event", ["data:  a", "event:  x\ndata:  a", "id:  1\ndata:  a"])
def test_a_space_more_belongs_to_the_value(event: str) -> None:
    """Where a space precedes each value, a second one is part of it."""
    form = form_of(event)

    assert form is not None
    assert [" a"] == form.texts(event)


@pytest.mark.parametrize(
    ("block", "has_name", "has_id", "is_bare"),
    [
        (PLAIN, False, False, False),
        ("data:a", False, False, True),
        ("event:x\ndata: a", True, False, False),
        ("id:1\ndata: a", False, True, False),
        (WITH_IDS, True, True, False),
    ],
)
def test_what_events_of_a_form_have(block: str, has_name: bool, has_id: bool, is_bare: bool) -> None:
    """Frames are made where events have names or ids; data after a bare colon begins with no space."""
    form = form_of(block)

    assert form is not None
    assert (has_name, has_id, is_bare) == (form.has_name, form.has_id, form.is_bare)


def test_frames_of_a_block() -> None:
    """Each has its own name and id; without an id it has the last one before the block."""
    assert [Frame("x", "a", "1"), Frame("y", "b", "2")] == list(Block(WITH_IDS, "0"))
    assert [Frame("x", "a", "0"), Frame("y", "b", "0")] == list(Block(MIXED, "0"))
    assert Frame("y", "b", "2") == Block(WITH_IDS, "0")[1]
    nameless = "event:\nid: 1\ndata: a: b\n\nid: 2\ndata: c"
    assert [Frame("message", "a: b", "1"), Frame("message", "c", "2")] == list(Block(nameless, "0"))


@pytest.mark.parametrize(
    "event", ["id: 7\ndata: a", "id:7\ndata: a", "event: x\nid: 7\ndata: id: 8", "data: a\nid: 7"]
)
def test_the_id_of_an_event(event: str) -> None:
    """The id is the value of the field, wherever its line is."""
    assert "7" == id_of(event)


@together(
    ("event", "found"),
    [
        ("data: a", ("message", "a")),
        ("event: x\ndata: a", ("x", "a")),
        ("event:x\ndata: ", ("x", "")),
        ("event: \ndata: a", ("message", "a")),
        ("data: a data: b", ("message", "a data: b")),
        (f"event: {'x' * 71}\ndata: a", ("x" * 71, "a")),
        ("", None),
        ("event: x\n", None),
        ("id: 1\ndata: a", None),
        ("data: a\ndata: b", None),
        ("event: x\nevent: y\ndata: a", None),
        ("data:a", None),
        (f"event: {'x' * 72}\ndata: a", None),
    ],
)
def test_events_with_a_name_alone(event: str, found: tuple[str, str] | None) -> None:
    """Name and data are found; an event with more fields, or an odd event, does not have the form."""
    assert found == named(event)


def test_whether_frames_may_be_errors() -> None:
    """A block is only asked whether the name occurs; it may be in data."""
    assert [True, False] == [may_be_named(Frame(name, ""), "error") for name in ("error", "x")]
    assert [True, False] == [
        may_be_named([Frame("x", ""), Frame(name, "")], "error") for name in ("error", "y")
    ]
    blocks = ["event: error\ndata: a", "event:error\ndata: a", "data: event: error", "event: x\ndata: error"]
    assert [True, True, True, False] == [may_be_named(Block(block, ""), "error") for block in blocks]
