"""Repaired streams of Anthropic and Responses: frames that wait after a call, and the numbers of later frames."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.naive import data_of, error_of, finish_reasons, read_calls
from tests.support.together import together
from wholecall import Limits, ToolCallDropped
from wholecall.repairing import Repairer


def event(type_: str, **more: Any) -> bytes:
    """Return a named event."""
    return f"event: {type_}\ndata: {json.dumps({'type': type_, **more})}\n\n".encode()


def run(*frames: bytes, **options: Any) -> list[bytes]:
    """Return the output for each frame, and at the end."""
    repairer = Repairer(**options)
    return [*map(repairer.feed, frames), repairer.close()]


# Anthropic.

TOKENS = {"input_tokens": 1, "output_tokens": 1}
HEAD = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": TOKENS}
MESSAGE = event("message_start", message=HEAD)
STOP = event("message_stop")
PING = event("ping")


def block(index: int, kind: str = "tool_use", **more: Any) -> bytes:
    """Return the start of a block."""
    labels = {"id": f"t{index}", "name": f"f{index}", "input": {}} if kind == "tool_use" else {"text": ""}
    return event("content_block_start", index=index, content_block={"type": kind, **labels, **more})


def piece(index: int, text: str) -> bytes:
    """Return a piece of a call's text."""
    return event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": text})


def said(index: int, text: str) -> bytes:
    """Return a piece of text."""
    return event("content_block_delta", index=index, delta={"type": "text_delta", "text": text})


def stop(index: int) -> bytes:
    """Return the end of a block."""
    return event("content_block_stop", index=index)


def reason(word: str | None) -> bytes:
    """Return the frame with the reason of the message's end."""
    return event("message_delta", delta={"stop_reason": word}, usage={"output_tokens": 3})


def call(index: int, text: str = '{"a":1}') -> list[bytes]:
    """Return a whole call."""
    return [block(index), piece(index, text), stop(index)]


def read(out: list[bytes]) -> list[Any]:
    """Return the calls of an Anthropic stream."""
    return read_calls("anthropic", b"".join(out), "append")


def indices(out: list[bytes]) -> list[tuple[str, int]]:
    """Return the events with an index, and theirs."""
    return [(told["type"][14:], told["index"]) for told in data_of(b"".join(out)) if "index" in told]


def test_a_call_waits_for_its_verdict() -> None:
    """A block is decided when the next one begins, the last one by the reason; then it is output unchanged."""
    frames = [MESSAGE, *call(0), *call(1, '{"b":2}'), reason("tool_use"), STOP]
    out = run(*frames)

    assert [MESSAGE, b"", b"", b"", b"".join(frames[1:4]), b"", b"", b"".join(frames[4:8]), STOP, b""] == out


def test_pings_and_comments_wait_for_nothing() -> None:
    """A held call does not hold keep-alive frames."""
    out = run(MESSAGE, block(0), PING, b": hi\n\n", piece(0, "{}"), stop(0), reason("tool_use"), STOP)

    assert [PING, b": hi\n\n"] == out[2:4]


def test_text_between_the_pieces_of_a_call_overtakes_it() -> None:
    """Text does not wait for a call that is open; the call comes when nothing is being said."""
    frames = [MESSAGE, block(0), block(1, "text"), said(1, "a"), piece(0, "{}"), stop(0), stop(1)]
    out = run(*frames, reason("tool_use"), STOP)
    whole = b"".join(out)

    assert [[], [("start", 0)], [("delta", 0)], [], []] == [indices([each]) for each in out[1:6]]
    assert [("start", 0), ("delta", 0), ("stop", 0), ("start", 1), ("delta", 1), ("stop", 1)] == indices(out)
    assert [("t0", "f0", "{}")] == read_calls("anthropic", whole)


def test_dropped_blocks_are_withheld_and_the_rest_is_renumbered() -> None:
    """Later blocks close the gap that a withheld call leaves, and the reason is put right."""
    dropped: list[ToolCallDropped] = []
    text = [block(1, "text"), said(1, "a"), stop(1)]
    out = run(MESSAGE, *call(0, '{"a":'), *text, reason("tool_use"), STOP, on_dropped=dropped.append)

    assert [("start", 0), ("delta", 0), ("stop", 0)] == indices(out)
    assert ["max_tokens"] == finish_reasons(b"".join(out))
    assert ["truncated"] == [drop.reason for drop in dropped]


@pytest.mark.parametrize(
    "frames",
    [
        [block(0, input={"a": 1}), stop(0)],
        [block(0), piece(0, '{"a":'), piece(0, '{"a":1}'), stop(0)],
        [block(0), piece(0, '{"a":1}')],
        [block(3), piece(3, '{"a":1}'), stop(3)],
        [
            block(0),
            event(
                "content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": {"a": 1}}
            ),
            stop(0),
        ],
    ],
    ids=["input at the start", "snapshots", "no end", "not from zero", "an object"],
)
def test_blocks_that_are_not_strict_are_written_anew(frames: list[bytes]) -> None:
    """Each of them is emitted as one block with everything in it."""
    out = run(MESSAGE, *frames, reason("tool_use"), STOP)

    assert [{"a": 1}] == [json.loads(text) for _, _, text in read(out)]
    assert [("start", 0), ("delta", 0), ("stop", 0)] == indices(out)
    assert b"".join(out) == b"".join(run(b"".join(out)))


def test_calls_without_arguments_stay_as_the_api_sends_them() -> None:
    """An empty text after the placeholder `{}` is how no arguments are sent."""
    frames = [MESSAGE, block(0), piece(0, ""), stop(0), reason("tool_use"), STOP]

    assert b"".join(frames) == b"".join(run(*frames))


@together(
    ("text", "claimed", "expected"),
    [
        ('{"a":1}', "end_turn", "tool_use"),
        ('{"a":1}', "stop_sequence", "tool_use"),
        ('{"a":', "tool_use", "max_tokens"),
        ("[1]", "tool_use", "end_turn"),
        ('{"a":', "end_turn", "end_turn"),
        ('{"a":', "max_tokens", "max_tokens"),
        ('{"a":1}', "tool_use", "tool_use"),
        ('{"a":1}', "tool_calls", "tool_use"),
        ('{"a":1}', "pause_turn", "pause_turn"),
        ('{"a":1}', "somehow", "tool_use"),
        ("[1]", "somehow", "somehow"),
    ],
)
def test_reasons_are_put_right(text: str, claimed: str, expected: str) -> None:
    """A plain end is `tool_use` where calls are emitted; where none is, it is a plain end, or a cut. Other reasons that
    loops need stay.
    """
    frames = [MESSAGE, *call(0, text), reason(claimed), STOP]

    assert [expected] == finish_reasons(b"".join(run(*frames, withheld="end")))


@together(
    ("withheld", "text", "claimed", "expected"),
    [
        ("auto", '{"a":', "tool_use", ["max_tokens"]),
        ("auto", '{"a":', "end_turn", ["max_tokens"]),
        ("auto", "[1]", "tool_use", "t (not_an_object)"),
        ("auto", "[1]", "end_turn", "t (not_an_object)"),
        ("auto", '{"a":', "refusal", ["refusal"]),
        ("error", '{"a":', "tool_use", "t (truncated)"),
        ("error", '{"a":', "max_tokens", ["max_tokens"]),
        ("error", '{"a":', None, "t (truncated)"),
    ],
)
def test_a_message_that_lost_all_its_calls(
    withheld: str, text: str, claimed: str | None, expected: Any
) -> None:
    """It ends with an error of the API's own type; agents get a cut as a cut, after which they continue."""
    frames = [MESSAGE, block(0, name="t"), piece(0, text), stop(0), reason(claimed), STOP]
    out = b"".join(run(*frames, withheld=withheld))
    error = {"type": "api_error", "message": f"all tool calls were withheld: {expected}"}

    assert [] == read([out])
    if isinstance(expected, str):
        assert {"type": "error", "error": error} == list(data_of(out))[-1]
        assert ([], False) == (finish_reasons(out), STOP in out)
    else:
        assert (expected, True, None) == (finish_reasons(out), out.endswith(STOP), error_of(out))


def test_a_message_without_an_end_ends_as_an_error() -> None:
    """Text that was shown stays, a call that was open is withheld, and clients raise."""
    text = [block(0, "text"), said(0, "a")]
    out = run(MESSAGE, *text, stop(0), *call(1)[:2])

    assert [MESSAGE, *text, stop(0)] == out[:4]
    assert (None, "the stream ended before the turn did") == error_of(out[-1])
    assert out[-1].startswith(b"event: error\n")


def test_a_cut_behind_whole_calls_stays() -> None:
    """The program must learn that the turn was cut, also where calls were emitted before."""
    out = run(MESSAGE, *call(0), *call(1, '{"b":'), reason("max_tokens"), STOP)

    assert ["max_tokens"] == finish_reasons(b"".join(out))
    assert [("t0", "f0", '{"a":1}')] == read(out)


def test_a_missing_reason_is_added() -> None:
    """A message that stops without a reason gets one before its end, if calls were emitted."""
    out = run(MESSAGE, *call(0), reason(None), STOP)

    assert ["tool_use"] == finish_reasons(out[-2])
    assert out[-2].endswith(STOP)


def test_calls_in_the_message_itself_become_blocks() -> None:
    """A message that begins with whole calls has them as blocks; its text stays."""
    content = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]
    start = event("message_start", message={"id": "m1", "content": content})
    out = run(start, reason("tool_use"), STOP)

    assert [("t", "f", '{"a":1}')] == [(id, name, text.replace(" ", "")) for id, name, text in read(out)]
    assert [content[0]] == next(data_of(out[0]))["message"]["content"]
    assert [("start", 1), ("delta", 1), ("stop", 1)] == indices(out)


def test_a_second_message_goes_on_with_the_first() -> None:
    """A message that begins within another is the same one to clients; its open calls are withheld."""
    out = run(
        *(MESSAGE, block(0, "text"), said(0, "a"), *call(1), block(2)),
        *(MESSAGE, *call(0, '{"b":2}'), reason("end_turn"), STOP),
    )

    assert [("t1", "f1", '{"a":1}'), ("t0", "f0", '{"b":2}')] == read(out)
    assert [0, 0, *[1] * 3, *[2] * 3] == [index for _, index in indices(out)]
    assert 1 == b"".join(out).count(MESSAGE)
    assert ["tool_use"] == finish_reasons(b"".join(out))


def test_a_message_behind_an_end_keeps_counting() -> None:
    """Clients that keep one list of blocks get those of the next message after those of the one before."""
    content = [{"type": "text", "text": "b"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 2}}]
    second = event("message_start", message={"id": "m2", "content": content})
    out = run(MESSAGE, *call(0), reason("tool_use"), STOP, second, reason("end_turn"), STOP)
    told = list(data_of(b"".join(out)))

    assert [("t0", '{"a":1}'), ("t", '{"b": 2}')] == [(id, text) for id, _, text in read(out)]
    assert [0] * 3 + [1] * 2 + [2] * 3 == [index for _, index in indices(out)]
    assert [[], []] == [frame["message"]["content"] for frame in told if frame["type"] == "message_start"]
    assert content[0] in [frame.get("content_block") for frame in told]
    assert b"".join(out) == b"".join(run(b"".join(out)))


def test_a_second_message_has_its_own_reason() -> None:
    """Calls of the message before are not a reason for the next one to end with `tool_use`."""
    text = [block(0, "text"), said(0, "a"), stop(0)]
    out = run(MESSAGE, *call(0), reason("tool_use"), STOP, MESSAGE, *text, reason("end_turn"), STOP)

    assert ["tool_use", "end_turn"] == finish_reasons(b"".join(out))


@together(
    "frames",
    [
        [block(0, "text"), said(0, "a"), block(0, "text"), stop(0), *call(1)],
        [block(0, "text"), said(0, "a"), stop(0), block(0, "text"), *call(1)],
        [block(0, "text"), said(0, "a"), stop(0), stop(0), *call(1)],
        [said(0, "a"), stop(0), *call(1)],
        [block(0, "text"), said(0, "a"), stop(0), stop(1), *call(2)],
        [block(0, "text"), said(0, "a"), stop(0), piece(0, "x"), *call(4)],
        [block(7, "text"), said(7, "a"), stop(7), *call(8)],
        [block(0, "text"), said(0, "a"), stop(0), block(1), block(0, "text"), piece(1, '{"a":1}'), stop(1)],
    ],
    ids=[
        *("started twice", "started behind its end", "ended twice", "never started", "an end of nothing"),
        *("a piece of nothing", "not from zero", "started within a call"),
    ],
)
def test_all_blocks_are_numbered_by_their_starts(frames: list[bytes]) -> None:
    """A block's number is its place in the list that clients keep, whatever became of other blocks."""
    out = run(MESSAGE, *frames, reason("tool_use"), STOP)

    assert [("start", 0), ("delta", 0), ("stop", 0), ("start", 1), ("delta", 1), ("stop", 1)] == indices(out)
    assert ['{"a":1}'] == [text for _, _, text in read(out)]
    assert b"".join(out) == b"".join(run(b"".join(out)))


def test_blocks_that_share_a_number_are_parted() -> None:
    """Where all blocks have the same number, each is emitted with its own; text keeps its bounds."""
    text = [block(0, "text"), said(0, "a"), stop(0)]
    out = run(MESSAGE, *text, block(0, "thinking"), stop(0), *text, *call(0), reason("tool_use"), STOP)

    assert [0, 1, 2, 3] == [index for kind, index in indices(out) if kind == "start"]
    assert ["a", "a"] == [
        told["delta"]["text"] for told in data_of(b"".join(out)) if "text" in str(told.get("delta"))
    ]
    assert ['{"a":1}'] == [text for _, _, text in read(out)]


def test_a_message_without_a_start_gets_one() -> None:
    """Clients refuse a stream that begins in the middle; pings decide nothing."""
    out = run(PING, *call(0), reason("tool_use"), STOP)
    told = [frame["type"] for frame in data_of(b"".join(out))]

    assert ["ping", "message_start", "content_block_start"] == told[:3]
    assert [("t0", "f0", '{"a":1}')] == read(out)


def test_events_are_named_for_their_types() -> None:
    """Clients skip frames without a name, also an error; pings they skip anyway."""
    frames = [MESSAGE, block(0, "text"), said(0, "a"), stop(0), *call(1), reason("tool_use"), STOP]
    frames.append(event("error", error={"type": "overloaded_error", "message": "x"}))
    nameless = [re.sub(rb"event: .*\n", b"", frame) for frame in frames]
    out = b"".join(run(*nameless))

    assert list(data_of(b"".join(frames))) == list(data_of(out))
    assert re.findall(rb"event: .*", b"".join(frames)) == re.findall(rb"event: .*", out)
    assert out == b"".join(run(out))


def test_server_tools_pass() -> None:
    """Calls that the provider executes itself are not held."""
    frames = [
        MESSAGE,
        block(0, "server_tool_use", id="s", name="web_search"),
        piece(0, '{"q":'),
        piece(0, '"x"}'),
        stop(0),
    ]

    assert frames == run(*frames)[:5]


def test_an_error_of_the_provider_passes() -> None:
    """The error frame passes as it is, the call before it is withheld."""
    error = event("error", error={"type": "overloaded_error", "message": "x"})

    assert [MESSAGE, b"", b"", error, b""] == run(MESSAGE, block(0), piece(0, '{"a":'), error)


def test_live_blocks() -> None:
    """Shown live, a block begins with its first text, and ends with its verdict, which other blocks may overtake."""
    out = run(
        MESSAGE,
        *call(0),
        block(1, "text"),
        said(1, "a"),
        stop(1),
        reason("tool_use"),
        STOP,
        live_arguments=True,
    )

    assert [("start", 0), ("delta", 0)] == indices(out[:3])
    assert [("start", 1), ("delta", 1), ("stop", 1), ("delta", 0), ("stop", 0)] == indices(out[3:])
    assert [("t0", "f0", '{"a":1}')] == read(out)


def test_live_blocks_that_break() -> None:
    """Shown live, a call that is cut ends the stream with the dialect's error."""
    out = run(MESSAGE, *call(0, '{"a":'), reason("max_tokens"), STOP, live_arguments=True)
    last = list(data_of(b"".join(out)))[-1]

    assert ("error", "api_error") == (last["type"], last["error"]["type"])
    assert [] == finish_reasons(b"".join(out))


def test_what_waits_behind_a_call_is_bounded() -> None:
    """A block that never ends lets no more wait after it than the limit says."""
    other = event("content_block_delta", index=9, delta={"type": "of_no_known_type", "data": "x" * 100})
    out = run(MESSAGE, block(0), *[other] * 50, limits=Limits(max_event_bytes=2000))

    assert (None, "too much waits for a tool call") == error_of(b"".join(out))


# Responses.


def item(index: int, text: str = '{"a":1}', **more: Any) -> dict[str, Any]:
    """Return a finished item of a call."""
    labels = {"type": "function_call", "id": f"fc{index}", "call_id": f"c{index}", "name": f"f{index}"}
    return {**labels, "arguments": text, "status": "completed", **more}


def numbered(*frames: tuple[str, dict[str, Any]]) -> list[bytes]:
    """Return events with their sequence numbers."""
    return [event(f"response.{type_}", sequence_number=n, **more) for n, (type_, more) in enumerate(frames)]


def called(index: int, text: str = '{"a":1}') -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a call."""
    place = {"item_id": f"fc{index}", "output_index": index}
    return [
        ("output_item.added", {"output_index": index, "item": item(index, "", status="in_progress")}),
        ("function_call_arguments.delta", {**place, "delta": text}),
        ("function_call_arguments.done", {**place, "arguments": text}),
        ("output_item.done", {"output_index": index, "item": item(index, text)}),
    ]


RESPONSE = {"id": "r1", "object": "response", "created_at": 1, "model": "m"}
CREATED = ("created", {"response": {**RESPONSE, "output": []}})


def completed(*items: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the last event."""
    return "completed", {"response": {**RESPONSE, "status": "completed", "output": list(items)}}


def test_an_item_waits_until_it_is_done() -> None:
    """Strict calls are output unchanged, with the frame after the group of them: that could hold a result."""
    frames = numbered(CREATED, *called(0), *called(1), completed(item(0), item(1)))
    out = run(*frames)

    assert [frames[0], *[b""] * 8, b"".join(frames[1:]), b""] == out


def test_a_call_that_was_answered_in_the_stream_goes_nowhere() -> None:
    """Another executor ran it: neither it nor its result is emitted, and the others are numbered without gaps."""
    result = {"type": "function_call_output", "id": "o", "call_id": "c0", "output": "up"}
    frames = numbered(
        CREATED,
        *called(0),
        ("output_item.added", {"output_index": 1, "item": result}),
        ("output_item.done", {"output_index": 1, "item": result}),
        *called(2),
        completed(item(0), result, item(2)),
    )
    whole = b"".join(run(*frames))
    out = list(data_of(whole))

    assert [("c2", "f2", '{"a":1}')] == read_calls("responses", whole)
    assert list(range(6)) == [told["sequence_number"] for told in out]
    assert {0} == {told["output_index"] for told in out if "output_index" in told}
    assert ["c2"] == [listed["call_id"] for listed in out[-1]["response"]["output"]]


def test_dropped_items_leave_no_gap() -> None:
    """Items after a withheld call are renumbered, and the finished response does not list it."""
    bad = '{"a":'
    frames = numbered(CREATED, *called(0, bad), *called(1), completed(item(0, bad), item(1)))
    out = list(data_of(b"".join(run(*frames))))

    assert list(range(6)) == [told["sequence_number"] for told in out]
    assert {0} == {told["output_index"] for told in out if "output_index" in told}
    assert ["c1"] == [listed["call_id"] for listed in out[-1]["response"]["output"]]


def test_corrected_items_are_corrected_everywhere() -> None:
    """A call whose text was recovered has the same text in its pieces, its item and the finished response."""
    bad = '{"a":1,}'
    out = list(data_of(b"".join(run(*numbered(CREATED, *called(0, bad), completed(item(0, bad)))))))

    assert '{"a":1}' == "".join(told.get("delta", "") for told in out)
    assert ['{"a":1}'] * 2 == [out[-2]["item"]["arguments"], out[-1]["response"]["output"][0]["arguments"]]
    assert list(range(len(out))) == [told["sequence_number"] for told in out]


def test_calls_that_only_the_finished_response_has() -> None:
    """Hydrated calls get the events of an item before the response is finished."""
    out = run(*numbered(CREATED, completed(item(0))))
    told = list(data_of(b"".join(out)))

    assert [("c0", "f0", '{"a":1}')] == read_calls("responses", b"".join(out), "append")
    assert list(range(len(told))) == [event_["sequence_number"] for event_ in told]
    assert "response.completed" == told[-1]["type"]


def test_an_empty_list_is_filled() -> None:
    """Where a server lists no items in the finished response, clients that read only that get all of them."""
    text = [("output_item.done", {"output_index": 0, "item": MESSAGE_ITEM})]
    out = run(*numbered(CREATED, *text, *called(1), completed()))

    assert [MESSAGE_ITEM, item(1)] == list(data_of(out[-2]))[-1]["response"]["output"]


def test_tools_of_the_provider_that_the_client_executes() -> None:
    """A shell call waits like any other; one that runs in a container is the server's and passes."""
    shell = {
        "type": "shell_call",
        "id": "s",
        "call_id": "c",
        "action": {"commands": ["ls"]},
        "status": "completed",
    }
    hosted = {**shell, "environment": {"type": "container_reference"}}
    begun = {**shell, "status": "in_progress"}
    ours = numbered(
        CREATED,
        ("output_item.added", {"output_index": 0, "item": begun}),
        ("output_item.done", {"output_index": 0, "item": shell}),
        completed(shell),
    )
    theirs = numbered(CREATED, ("output_item.added", {"output_index": 0, "item": hosted}))

    assert [ours[0], b"", b"", b"".join(ours[1:]), b""] == run(*ours)
    assert theirs == run(*theirs)[:2]


def test_other_items_keep_their_numbers_while_nothing_changed() -> None:
    """Numbers that are odd on the wire are not our business as long as nothing was withheld."""
    text = [("output_item.added", {"output_index": 7, "item": MESSAGE_ITEM})]
    frames = numbered(CREATED, *text, completed())

    assert frames == run(*frames)[:3]


def test_live_items() -> None:
    """Shown live, an item is added with its first text and done with its verdict, numbered without gaps."""
    out = run(*numbered(CREATED, *called(0), completed(item(0))), live_arguments=True)
    told = list(data_of(b"".join(out)))

    assert [("c0", "f0", '{"a":1')] == read_calls("responses", b"".join(out[:3]), "append")
    assert [("c0", "f0", '{"a":1}')] == read_calls("responses", b"".join(out), "append")
    assert list(range(len(told))) == [event_["sequence_number"] for event_ in told]
    assert "output_item.done" in told[-2]["type"]


def test_live_items_that_break() -> None:
    """Shown live, a dropped call ends the stream with an error that is typed and that clients raise for."""
    out = run(*numbered(CREATED, *called(0, '{"a":'), completed()), live_arguments=True)
    failed, last = list(data_of(b"".join(out)))[-2:]

    assert ("error", "calls_withheld") == (last["type"], last["code"])
    assert last["message"] == last["error"]["message"] == failed["response"]["error"]["message"]
    assert ("response.failed", "r1") == (failed["type"], failed["response"]["id"])


@pytest.mark.parametrize(
    ("last", "raised"),
    [
        (
            event(
                "response.failed",
                sequence_number=3,
                response={**RESPONSE, "status": "failed", "output": [], "error": {"message": "x"}},
            ),
            False,
        ),
        (event("error", code="x", message="x"), False),
        (event("error", error={"message": "x"}), True),
    ],
    ids=["a failed response", "a flat error", "an error"],
)
def test_live_items_of_a_response_that_fails(last: bytes, raised: bool) -> None:
    """Shown live, a call of a failed response ends with an error for which clients raise, ours if the server's does not
    do so.
    """
    out = run(*numbered(CREATED, *called(0)[:2]), last, live_arguments=True)
    told = list(data_of(b"".join(out)))

    assert b"".join(out).count(last) == 1
    assert raised is (b"calls_withheld" not in b"".join(out))
    assert told[-1]["error"]["message"]


def test_a_call_without_an_item() -> None:
    """Text of an item that was never added is held, and dropped if no name comes."""
    dropped: list[ToolCallDropped] = []
    frames = numbered(CREATED, *called(0)[1:3], completed())

    assert ["nameless"] == [
        drop.reason for _ in [run(*frames, on_dropped=dropped.append)] for drop in dropped
    ]
    assert [] == read_calls("responses", b"".join(run(*frames)))


PLACE = {"item_id": "fc0", "output_index": 0}


@pytest.mark.parametrize(
    "events",
    [
        [*called(0)[:3], ("function_call_arguments.delta", {**PLACE, "delta": ""}), called(0)[3]],
        [*called(0)[:2], called(0)[3]],
        [*called(0)[1:3], called(0)[0], called(0)[3]],
        called(4),
        [called(0)[0], *called(0, '{"a": 1}')[1:3], called(0)[3]],
    ],
    ids=["text behind its end", "no end of the text", "text first", "not from zero", "another text"],
)
def test_items_that_are_not_strict_are_written_anew(events: Any) -> None:
    """Each of them is emitted as one item, added first, with all events in order."""
    name = events[0][1].get("item_id", "fc0")
    out = run(*numbered(CREATED, *events, completed()))
    told = list(data_of(b"".join(out)))
    kinds = [event_["type"].removeprefix("response.") for event_ in told]
    text = read_calls("responses", b"".join(out), "append")

    assert [{"a": 1}] == [json.loads(found) for _, _, found in text], name
    assert [
        *("created", "output_item.added", "function_call_arguments.delta"),
        *("function_call_arguments.done", "output_item.done", "completed"),
    ] == kinds
    assert {0} == {event_["output_index"] for event_ in told if "output_index" in event_}


def test_an_empty_list_without_calls_stays() -> None:
    """Where there are no calls nothing is filled in."""
    frames = numbered(CREATED, ("output_item.done", {"output_index": 0, "item": MESSAGE_ITEM}), completed())

    assert frames == run(*frames)[:3]


MESSAGE_ITEM = {"type": "message", "id": "m", "role": "assistant", "content": [], "status": "completed"}
SPOKEN: list[tuple[str, dict[str, Any]]] = [
    ("output_item.added", {"output_index": 0, "item": MESSAGE_ITEM}),
    *[
        ("output_text.delta", {"output_index": 0, "item_id": "m", "content_index": 0, "delta": letter})
        for letter in "abc"
    ],
    ("output_item.done", {"output_index": 0, "item": MESSAGE_ITEM}),
]


@together(("number", "distance"), [(0, 1), (4, 1), (8, 1), *((number, 3) for number in range(1, 10))])
def test_events_that_were_seen_before_go_nowhere(number: int, distance: int) -> None:
    """An event whose number was seen before is a replay, which clients would take for a second one."""
    frames = numbered(CREATED, *SPOKEN, *called(1), completed(MESSAGE_ITEM, item(1)))
    twice = [*frames[: number + distance], frames[number], *frames[number + distance :]]

    assert b"".join(frames) == b"".join(run(*twice))


def test_numbers_that_do_not_count_are_none() -> None:
    """Where each event has the same number, or a new response begins to count, nothing is a replay."""
    same = [event(f"response.{type_}", sequence_number=0, **more) for type_, more in [CREATED, *SPOKEN]]
    again = numbered(("created", {"response": {**RESPONSE, "id": "r2", "output": []}}), *SPOKEN)

    assert same == run(*same)[:-1]
    assert [*same, *again] == run(*same, *again)[:-1]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (['{"a":'], "incomplete"),
        (["[1]"], "completed"),
        (['{"a":1}', '{"a":'], "completed"),
        (['{"a":1}'], "completed"),
    ],
)
def test_a_response_that_lost_all_its_calls_to_a_cut_is_incomplete(texts: list[str], expected: str) -> None:
    """Clients see that something is missing where a cut call was all that there was."""
    events = [event_ for index, text in enumerate(texts) for event_ in called(index, text)]
    whole = completed(*(item(index, text) for index, text in enumerate(texts)))
    out = b"".join(run(*numbered(CREATED, *events, whole), withheld="end"))
    last = list(data_of(out))[-1]
    details = last["response"].get("incomplete_details") or {}

    assert (f"response.{expected}", expected) == (last["type"], last["response"]["status"])
    assert f"event: response.{expected}\n".encode() in out
    assert ("max_output_tokens" if expected == "incomplete" else None) == details.get("reason")
    assert out == b"".join(run(out))


def test_a_cut_of_the_response_before_is_forgotten() -> None:
    """The next response in the stream is judged for itself."""
    frames = numbered(CREATED, *called(0, '{"a":'), completed(item(0, '{"a":')))
    second = numbered(("created", {"response": {**RESPONSE, "id": "r2", "output": []}}), completed())

    assert second == run(*frames, *second, withheld="end")[-3:-1]


@pytest.mark.parametrize("withheld", ["auto", "error"])
@pytest.mark.parametrize(("text", "why"), [('{"a":', "truncated"), ("[1]", "not_an_object")])
def test_a_response_that_lost_all_its_calls_has_failed(withheld: str, text: str, why: str) -> None:
    """It ends as a failed response, which agents read, and with an error, for which clients raise, both numbered."""
    frames = numbered(CREATED, *SPOKEN, *called(1, text), completed(MESSAGE_ITEM, item(1, text)))
    told = list(data_of(b"".join(run(*frames, withheld=withheld))))
    failed, last = told[-2:]
    message = f"all tool calls were withheld: f1 ({why})"

    assert list(range(len(told))) == [event_["sequence_number"] for event_ in told]
    assert ("response.failed", "failed", "r1", [MESSAGE_ITEM]) == (
        failed["type"],
        *(failed["response"][member] for member in ("status", "id", "output")),
    )
    assert {"code": "server_error", "message": message} == failed["response"]["error"]
    error = {"code": "calls_withheld", "message": message, "param": None}
    assert {"type": "error", **error, "error": {"type": "server_error", **error}} == {
        name: value for name, value in last.items() if name != "sequence_number"
    }


def test_an_incomplete_response_stays() -> None:
    """A response that says itself that it was cut needs no error."""
    text, details = '{"a":', {"reason": "max_output_tokens"}
    response = {"id": "r1", "status": "incomplete", "incomplete_details": details, "output": [item(0, text)]}
    frames = numbered(CREATED, *called(0, text), ("incomplete", {"response": response}))
    last = list(data_of(b"".join(run(*frames, withheld="error"))))[-1]

    assert ("response.incomplete", details, []) == (
        last["type"],
        last["response"]["incomplete_details"],
        last["response"]["output"],
    )


def test_a_response_without_an_end_has_failed() -> None:
    """The error pair has the numbers that come next, and the items that are done."""
    frames = numbered(CREATED, *SPOKEN, *called(1)[:2])
    out = run(*frames)
    failed, last = data_of(out[-1])

    assert frames[: 1 + len(SPOKEN)] == out[: 1 + len(SPOKEN)]
    assert [6, 7] == [failed["sequence_number"], last["sequence_number"]]
    assert [MESSAGE_ITEM] == failed["response"]["output"]
    assert ("upstream_incomplete", "server_error") == (last["code"], failed["response"]["error"]["code"])


def test_pings_of_blocks() -> None:
    """The protocol's own ping is between the start of a message and its end, also while a call is held."""
    repairer = Repairer()
    pings = [repairer.ping()]
    for frame in (PING, MESSAGE, *call(0), reason("tool_use"), STOP):
        repairer.feed(frame)
        pings.append(repairer.ping())

    ping = b'event: ping\ndata: {"type":"ping"}\n\n'
    assert [b"", b"", *[ping] * 5, b""] == pings


@pytest.mark.parametrize("live", [False, True])
def test_pings_of_items_have_the_last_number(live: bool) -> None:
    """A keepalive repeats the number of the event that went out last, between the created response and the finished."""
    repairer = Repairer(live_arguments=live)
    told, last = [], -1
    for frame in numbered(CREATED, *SPOKEN, *called(1), completed(MESSAGE_ITEM, item(1))):
        sent = [event_["sequence_number"] for event_ in data_of(repairer.feed(frame))]
        last = max([last, *sent])
        told.append((last, repairer.ping()))

    expected = [b'event: keepalive\ndata: {"type":"keepalive","sequence_number":%d}\n\n' % n for n, _ in told]
    assert [*expected[:-1], b""] == [ping for _, ping in told]


@pytest.mark.parametrize("data", [MESSAGE, numbered(CREATED)[0]])
def test_failures_of_items(data: bytes) -> None:
    """A lost connection ends with the dialect's error; waiting frames after an open call, other than calls, go out
    before it.
    """
    repairer = Repairer()
    repairer.feed(data)
    out = repairer.fail("upstream_lost", "gone")

    assert "gone" == (error_of(out) or ("", ""))[1]
    assert ("upstream_lost", True) == (repairer.report.error, repairer.ended)


def test_text_beside_a_lost_call_is_not_lost() -> None:
    """Text after a call that never ended is out before the connection is lost, under the number that the call would have."""
    repairer = Repairer()
    shown = repairer.feed(b"".join([MESSAGE, block(0), block(1, "text"), said(1, "a"), stop(1)]))
    out = repairer.fail("upstream_lost", "gone")

    assert [("start", 0), ("delta", 0), ("stop", 0)] == indices([shown])
    assert ([], [], "gone") == (read([out]), finish_reasons(out), (error_of(out) or ("", ""))[1])


@pytest.mark.parametrize("name", [b"", b"event: polled\n"])
def test_a_bare_response_is_the_event_that_it_amounts_to(name: bytes) -> None:
    """A response that a relay sends as it polls it gets a type: clients look for nothing else, and calls come once."""
    bodies = [
        {"id": "r1", "object": "response", "status": "in_progress", "output": []},
        {"id": "r1", "object": "response", "status": "completed", "output": [item(0, '{"a":1}')]},
    ]
    out = b"".join(
        run(*(b"%bdata: %b\n\n" % (name, json.dumps(body).encode()) for body in bodies), withheld="end")
    )

    assert ["c0"] == [id for id, _, _ in read_calls("responses", out)]
    assert ["response.created", "response.completed"] == [
        data["type"] for data in data_of(out) if "response" in data
    ]


@pytest.mark.parametrize(("text", "expected"), [('{"a":1}', ["c0"]), ("[1]", [])])
def test_a_bare_response_under_the_name_of_its_event(text: str, expected: list[str]) -> None:
    """Where a relay omits the type and the place of a response, the finished one lists the emitted items, no more."""
    bare = [
        re.sub(rb'"type": "response\.[a-z_.]+", ', b"", frame)
        for frame in numbered(CREATED, *called(0, text))
    ]
    body = {"id": "r1", "object": "response", "status": "completed", "output": [item(0, text)]}
    last = b"event: response.completed\ndata: " + json.dumps(body).encode() + b"\n\n"
    out = b"".join(run(*bare, last, withheld="end"))
    finished = list(data_of(out))[-1]

    assert ("response.completed", expected) == (
        finished["type"],
        [listed["call_id"] for listed in finished["response"]["output"]],
    )
    assert expected == [id for id, _, _ in read_calls("responses", out)]


@pytest.mark.parametrize("missing", ["object", "created_at", "model", "output"])
def test_members_that_clients_ask_for_are_there(missing: str) -> None:
    """A response lacks none of them after the repairer: it has the earlier value, or an empty one."""
    whole = {**RESPONSE, "output": []}
    lacking = {name: value for name, value in whole.items() if name != missing}
    begun = [("created", {"response": whole}), ("in_progress", {"response": lacking}), *called(0)]
    bare = [("created", {"response": lacking}), *called(0), ("completed", {"response": lacking})]
    told, made = (list(data_of(b"".join(run(*numbered(*events))))) for events in (begun, bare))

    assert whole == told[1]["response"]
    assert {missing: {"object": "response", "created_at": 0, "model": "", "output": []}[missing]}.items() <= (
        made[0]["response"].items()
    )
    assert ["c0"] == [one["call_id"] for one in made[-1]["response"]["output"]]


@together("id", [None, "", "msg_7"])
@together("lack", [(), ("item_id",), ("item",), ("output",), ("item_id", "item", "output")])
def test_items_have_one_id_everywhere(id: str | None, lack: tuple[str, ...]) -> None:
    """Any events that lack the id of a message have the same id, which the next item does not have."""
    ids = {name: None if name in lack else id for name in ("item_id", "item", "output")}
    part = {"type": "output_text", "text": "ab", "annotations": []}
    message = {"type": "message", "role": "assistant", "status": "completed"}
    place = {"output_index": 0, "content_index": 0, "item_id": ids["item_id"]}
    begun = {**message, "id": id, "status": "in_progress", "content": []}
    events = [
        CREATED,
        ("output_item.added", {"output_index": 0, "item": begun}),
        ("output_text.delta", {**place, "delta": "a"}),
        ("output_text.delta", {**place, "delta": "b"}),
        ("output_text.done", {**place, "text": "ab"}),
        ("output_item.done", {"output_index": 0, "item": {**message, "id": ids["item"], "content": [part]}}),
        *called(1),
        completed({**message, "id": ids["output"], "content": [part]}, item(1, '{"a":1}')),
    ]
    out = run(*numbered(*events))
    told = list(data_of(b"".join(out)))
    found = {one["item"]["id"] for one in told if "item" in one and one["output_index"] == 0}
    found |= {one["item_id"] for one in told if one.get("output_index") == 0 and "item_id" in one}
    found |= {told[-1]["response"]["output"][0]["id"]}

    assert (1, True, False) == (
        len(found),
        bool(min(found)),
        found == {told[-1]["response"]["output"][1]["id"]},
    )
    assert ["a", "b"] == [next(data_of(piece))["delta"] for piece in out[2:4]]
    assert {id} == found or not id


def test_a_finished_response_without_a_list_gets_what_was_done() -> None:
    """Items that are not calls, too."""
    said = {**MESSAGE_ITEM, "id": "m1"}
    events = [
        CREATED,
        ("output_item.added", {"output_index": 0, "item": {**said, "content": []}}),
        ("output_item.done", {"output_index": 0, "item": said}),
        ("completed", {"response": {**RESPONSE, "status": "completed"}}),
    ]
    told = list(data_of(b"".join(run(*numbered(*events)))))

    assert [said] == told[-1]["response"]["output"]
