"""Arguments while they stream: progress between the events, snapshots on request, single strings watched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import (
    ArgumentsDelta,
    ArgumentsProgress,
    ArgumentsReset,
    Event,
    Limits,
    Policy,
    ToolCall,
    ToolCallDropped,
    ToolCallParser,
    ToolCallStarted,
)

ARGUMENTS = (
    '{"path": "a.py", "content": "x = \\"\\ud83d\\ude00\\"\\n", "mode": 420, "tags": ["a", {"b": null}]}'
)


def chunk(*entries: dict[str, Any], finish: str | None = None) -> bytes:
    """Return a chunk of a chat stream with these entries of `tool_calls`."""
    choice = {"index": 0, "delta": {"tool_calls": list(entries)} if entries else {}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


def entry(text: str, name: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    """Return an entry of `tool_calls`."""
    return {"index": index, "function": {"name": name, "arguments": text}, **more}


def stream(arguments: str, size: int, name: str = "write_file") -> list[bytes]:
    """Return the chunks of a stream of one call whose argument text comes in pieces."""
    pieces = [arguments[start : start + size] for start in range(0, len(arguments), size)]
    head = chunk(entry("", name, id="call_1"))
    return [head, *(chunk(entry(piece)) for piece in pieces), chunk(finish="tool_calls"), b"data: [DONE]\n\n"]


def run(chunks: list[bytes], **options: Any) -> list[Event]:
    """Return all events of the chunks."""
    parser: ToolCallParser = ToolCallParser(**options)
    return [event for data in chunks for event in parser.feed(data)] + parser.close()


def progress(events: list[Event]) -> list[ArgumentsProgress]:
    """Return the progress among the events."""
    return [event for event in events if isinstance(event, ArgumentsProgress)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 200])
def test_strings_grow_and_members_close(size: int) -> None:
    """The deltas of a path add up to its string, each value closes once, and the arguments close last."""
    told = progress(run(stream(ARGUMENTS, size), live=True))
    expected = json.loads(ARGUMENTS)
    strings = {
        path: "".join(event.delta for event in told if event.path == path)
        for path in [("path",), ("content",), ("tags", 0)]
    }
    closed = {event.path: event.value for event in told if event.closed}

    assert {
        ("path",): expected["path"],
        ("content",): expected["content"],
        ("tags", 0): "a",
    } == strings
    assert {
        ("path",): "a.py",
        ("content",): expected["content"],
        ("mode",): 420,
        ("tags", 0): "a",
        ("tags", 1, "b"): None,
        ("tags", 1): {"b": None},
        ("tags",): ["a", {"b": None}],
    } == closed
    assert len(closed) == sum(event.closed for event in told)


def test_progress_follows_the_delta_that_caused_it() -> None:
    """Each piece of news comes after its `ArgumentsDelta`, all of it before the call's end."""
    events = run(stream('{"a": "xy", "n": 1}', 5), live=True)
    told = [type(event).__name__.removeprefix("Arguments") for event in events[2:-1]]

    assert ["Delta", "Delta", "Progress", "Progress", "Delta", "Delta", "Progress", "ToolCall"] == told
    kept = [event for event in events if not isinstance(event, ArgumentsProgress)]
    assert run(stream('{"a": "xy", "n": 1}', 5)) == kept


def test_nothing_is_told_unless_asked() -> None:
    """Without `live` or `watch` there is no progress."""
    assert [] == progress(run(stream(ARGUMENTS, 4)))


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_a_watched_string_is_told_alone(size: int) -> None:
    """`watch` reports one string of one tool, decoded, and its end."""
    told = progress(run(stream(ARGUMENTS, size), watch={"write_file": "content"}))

    assert {("content",)} == {event.path for event in told}
    assert 'x = "\U0001f600"\n' == "".join(event.delta for event in told)
    assert [False] * (len(told) - 1) + [True] == [event.closed for event in told]
    assert [] == progress(run(stream(ARGUMENTS, size, "read_file"), watch={"write_file": "content"}))


def test_a_watched_string_may_lie_deeper() -> None:
    """Keys and indices lead to a string inside other values."""
    told = progress(
        run(stream('{"edits": [{"new": "a"}, {"new": "bc"}]}', 1), watch={"write_file": ("edits", 1, "new")})
    )

    assert ["b", "c"] == [event.delta for event in told if event.delta]


def test_a_restatement_shows() -> None:
    """A whole text that is not an extension starts the arguments anew: the count of resets marks all before as void."""
    said = '{"path": "a"}'
    events = [
        {"type": "response.created", "response": {"id": "r"}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {
                "type": "function_call",
                "id": "i",
                "call_id": "c",
                "name": "write_file",
                "arguments": "",
            },
        },
        {
            "type": "response.function_call_arguments.delta",
            "output_index": 0,
            "item_id": "i",
            "delta": '{"path": "x',
        },
        {
            "type": "response.function_call_arguments.done",
            "output_index": 0,
            "item_id": "i",
            "arguments": said,
        },
    ]
    for watch in (None, {"write_file": "path"}):
        parser: ToolCallParser = ToolCallParser(live=True, watch=watch)
        told = [event for payload in events for event in parser.feed_event(payload)]
        told += parser.feed_event(
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {**events[1]["item"], "arguments": said},  # type: ignore[dict-item]
            }
        )
        resets = [event.raw_arguments for event in told if isinstance(event, ArgumentsReset)]
        strings = [(event.resets, event.delta) for event in progress(told) if event.delta]

        assert [said] == resets
        assert [(0, "x"), (1, "a")] == strings


def test_snapshots_on_request() -> None:
    """`partial` shows closed members and the open string so far; later text changes no snapshot."""
    parser: ToolCallParser = ToolCallParser(live=True)
    head, *pieces = stream('{"path": "a.py", "content": "one two", "n": 12}', 4)
    (started,) = [event for event in parser.feed(head + pieces[0]) if isinstance(event, ToolCallStarted)]
    snapshots = [parser.partial(started)]
    for piece in pieces[1:]:
        parser.feed(piece)
        snapshots.append(parser.partial(started))
    values = [dict(snapshot.value) for snapshot in snapshots if snapshot is not None]

    assert {"path": "a."} in values
    assert {"path": "a.py", "content": "one"} in values
    assert {"path": "a.py", "content": "one two"} in values  # 12 may continue
    assert {"path": "a.py", "content": "one two", "n": 12} == values[-1]
    assert snapshots[-1] is None  # the call is over


def test_calls_have_readers_of_their_own() -> None:
    """Interleaved calls are distinguished by their index."""
    chunks = [
        chunk(entry('{"a": "', "f", 0, id="x"), entry('{"b": "', "g", 1, id="y")),
        chunk(entry("1", index=1), entry("2", index=0)),
        chunk(entry('"}', index=0), entry('"}', index=1), finish="tool_calls"),
    ]
    told = progress(run(chunks, live=True))

    assert [(1, ("b",), "1"), (0, ("a",), "2")] == [(e.index, e.path, e.delta) for e in told if e.delta]


@pytest.mark.parametrize("options", [{}, {"watch": {"f": "a"}}, {"live": True, "watch": {}}])
def test_snapshots_need_a_live_parser(options: dict[str, Any]) -> None:
    """A parser that keeps no arguments gives advice."""
    with pytest.raises(ValueError, match="live=True"):
        ToolCallParser(**options).partial(ToolCallStarted(0, 0, 0, None, "f"))


def test_free_text_is_not_followed() -> None:
    """The input of a custom tool is not JSON: its deltas are all there is."""
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "patch", "input": '{"a": "b"}'}}
    events = run([chunk(custom), chunk(finish="tool_calls")], live=True)

    assert [] == progress(events)
    assert any(isinstance(event, ArgumentsDelta) for event in events)


def test_what_cannot_be_read_is_not_told() -> None:
    """Text that stops being JSON is followed up to there; limits apply here too."""
    told = progress(run(stream('{"a": "b", "c": oops, "d": "e"}', 3), live=True))
    deep = progress(run(stream('{"a": [[["x"]]]}', 3), live=True, limits=Limits(max_depth=2)))

    assert {("a",)} == {event.path for event in told}
    assert [] == deep


@pytest.mark.parametrize("policy", [Policy(), Policy(on_bad_sibling="reject_all")])
def test_a_dropped_call_shows_what_came(policy: Policy) -> None:
    """`partial` of a drop shows the values closed before the cut; it is not a call, and has no arguments."""
    events = run(stream('{"path": "a.py", "n": 12', 4), policy=policy)
    (drop,) = [event for event in events if isinstance(event, ToolCallDropped)]
    partial = drop.partial()

    assert ({"path": "a.py"}, False) == (dict(partial.value), partial.complete)
    assert not hasattr(partial, "arguments")
    assert not isinstance(partial, (dict, ToolCall))


def test_readers_end_with_their_calls() -> None:
    """Memory is that of the open calls: nothing is kept of a finished call."""
    parser: ToolCallParser = ToolCallParser(live=True)
    for data in stream(ARGUMENTS, 9):
        parser.feed(data)

    assert parser._live is not None
    assert {} == parser._live._readers
