"""The repairer before it knows the dialect, and how it cuts a stream into blocks."""

from __future__ import annotations

import json
import random

import pytest

from tests.support.naive import data_of, error_of
from tests.support.together import together
from wholecall import Limits, StreamClosed, StreamFault, ToolCallDropped
from wholecall.repairing import Repairer, RepairReport
from wholecall.repairing.blocks import Blocks, ended

CHAT = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
STRANGE = b'data: {"hello":"world"}\n\n'
# The same, as clients of chat streams can read it.
LISTED = b'data: {"id":"chatcmpl-0","created":0,"model":"","hello":"world","choices":[],"object":"chat.completion.chunk"}\n\n'
CALL = b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}}]}\n\n'


INCOMPLETE = (
    b'data: {"error":{"message":"the stream ended before the turn did","type":"server_error",'
    b'"param":null,"code":"upstream_incomplete"}}\n\n'
)


def run(*chunks: bytes, **options: object) -> list[bytes]:
    """Return the output for each chunk, and at the end; but not that the end is missing."""
    repairer = Repairer(**options)  # type: ignore[arg-type]
    return [*map(repairer.feed, chunks), repairer.close().removesuffix(INCOMPLETE)]


def test_a_stream_without_an_end_ends_as_an_error() -> None:
    """A chat stream that is all text, and whose body ends without a reason or `[DONE]`, ends for clients with an error."""
    repairer = Repairer()

    assert (CHAT, INCOMPLETE) == (repairer.feed(CHAT), repairer.close())
    assert ("upstream_incomplete", False, True) == (
        repairer.report.error,
        repairer.report.ended,
        repairer.ended,
    )


def test_frames_wait_until_the_dialect_is_known() -> None:
    """Frames without hints of the dialect wait for the frame that shows it; comments before it do not."""
    assert [b": hi\n\n", b"", LISTED + CHAT, CHAT, b""] == run(b": hi\n\n", STRANGE, CHAT, CHAT)


def test_streams_without_a_dialect_pass_at_their_end() -> None:
    """A stream that never reveals its dialect is output whole, later."""
    assert [b"", b"", STRANGE + STRANGE + b"data: {"] == run(STRANGE, STRANGE + b"data: {")


def test_what_waits_for_the_dialect_is_bounded() -> None:
    """Beyond the limit everything passes, from then on untouched; 200 bytes are counted for each frame besides its own."""
    limit = 5 * (len(STRANGE) + 200) - 1
    out = run(*[STRANGE] * 6, CALL, b"data: x", limits=Limits(max_pending_frames_bytes=limit))

    assert [b"", b"", b"", b"", STRANGE * 5, STRANGE, CALL, b"data: x", b""] == out


def test_an_endless_first_event_passes() -> None:
    """An event that gets too large before the dialect is known does the same."""
    limits = Limits(max_event_bytes=100)

    assert [b"", b"data: " + b"x" * 200, b"y", b""] == run(b"data: ", b"x" * 200, b"y", limits=limits)


def test_other_dialects_pass() -> None:
    """The first frame of a dialect that is not mended opens the gate for the rest of the read too."""
    ollama = (
        b'data: {"model":"m","created_at":"t","message":{"role":"assistant","content":"a"},"done":false}\n\n'
    )

    assert [ollama + ollama + b"data: {", b"tail", b""] == run(ollama + ollama + b"data: {", b"tail")


@pytest.mark.parametrize("data", [b'{"error":{"message":"x"}}', b"[1]", b" \n", b""])
def test_what_is_no_event_stream_passes(data: bytes) -> None:
    """A JSON body, white space and nothing at all are output unchanged, in any chunks."""
    assert data == b"".join(run(data))
    assert data == b"".join(run(*[data[at : at + 1] for at in range(len(data))]))


def test_a_byte_order_mark_stays() -> None:
    """The mark is a part of the first block."""
    assert [b"", b"", b"\xef\xbb\xbf" + CHAT, b""] == run(b"\xef", b"\xbb", b"\xbf" + CHAT)


def test_an_abort_reports_what_was_open() -> None:
    """Breaking off drops the open calls, with the reason given."""
    dropped: list[ToolCallDropped] = []
    repairer = Repairer(on_dropped=dropped.append)
    repairer.feed(CALL)
    repairer.abort("the user left")
    repairer.abort()

    assert [("aborted", "the user left")] == [(drop.reason, drop.detail) for drop in dropped]


def test_a_repr_tells_the_state() -> None:
    """A repr names the dialect and whether the stream continues."""
    repairer = Repairer(limits=Limits(max_line_bytes=200))
    states = [repr(repairer)]
    repairer.feed(CHAT)
    states.append(repr(repairer))
    repairer.feed(b"data: " + b"x" * 300 + b"\n\n")
    states.append(repr(repairer))
    repairer.close()

    assert ["None open", "chat-completions open", "chat-completions ended", "chat-completions closed"] == [
        state[len("<Repairer ") : -1] for state in [*states, repr(repairer)]
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data:a\n\ndata:b\n\n", [b"data:a\n\n", b"data:b\n\n"]),
        (b"a\r\n\r\ndata:b\r\rc", [b"a\r\n\r\n", b"data:b\r\r", b"c"]),
        (b"data:a\r\n\nb\n\r\nc", [b"data:a\r\n\n", b"b\n\r\n", b"c"]),
        (b"a\r\nb\nc\rd", [b"a\r\nb\nc\rd"]),
        (b"a\r\r\nb", [b"a\r\r\n", b"b"]),
        (b"a\n\n\nb\n\n", [b"a\n\n", b"\nb\n\n"]),
        (b"a\r\n\r", [b"a\r\n\r"]),
    ],
)
def test_blocks(data: bytes, expected: list[bytes]) -> None:
    """A block ends at a blank line, whatever its line ends are and however the bytes are cut."""
    for size in range(1, len(data) + 1):
        blocks = Blocks()
        found = [block for at in range(0, len(data), size) for block in blocks.feed(data[at : at + size])]

        assert expected == [block for block in (*found, blocks.close()) if block], size


def test_blocks_wait() -> None:
    """Waiting bytes are counted; a CR waits for the LF that may belong to it."""
    blocks = Blocks()

    assert ([], 4) == (blocks.feed(b"a\r\n\r"), len(blocks))
    assert ([b"a\r\n\r\n"], 0) == (blocks.feed(b"\n"), len(blocks))


@pytest.mark.parametrize("block", [b"a", b"a\n", b"a\n\n", b"a\r\n"])
def test_blocks_are_ended(block: bytes) -> None:
    """A block gets the blank line that it lacks, and only then."""
    assert b"a\n\n" == ended(block)
    assert b"a\r\n\r\n" == ended(b"a\r\n\r\n")


@together("end", ["\n", "\r\n", "\r"])
@together(
    ("block", "expected"),
    [
        ("retry: 10", ""),
        ("event: ping", ""),
        ("id: 7", ""),
        ("id", ""),
        ("data:", ""),
        (": hi|retry: 10|: you|data:", ": hi|: you"),
        (": hi", ": hi"),
    ],
)
def test_blocks_without_data_keep_their_comments(block: str, expected: str, end: str) -> None:
    """Only events that hold data go out: SDKs take a lone field for an event, and cannot read it."""
    data, kept = (f"{part}||".replace("|", end).encode() if part else b"" for part in (block, expected))
    out = b"".join(run(CHAT, data, CHAT))

    assert (CHAT + kept + CHAT).replace(end.encode(), b"\n") == out.replace(end.encode(), b"\n")


def test_comments_behind_an_id_are_left_out() -> None:
    """SDKs take every blank line after an id for the end of an event; so are further blank lines."""
    with_id = b"id: 1\n" + CHAT
    out = run(b": hi\n\n", with_id, b": hi\n\n", b"\n" + CHAT, b"\r\n\n" + CHAT)

    assert [b": hi\n\n", with_id, b"", CHAT, CHAT, b""] == out


def test_text_is_no_id() -> None:
    """Only the id's own line sets an id."""
    text = CHAT.replace(b'"a"', b'"paid: 5"')

    assert text + b": hi\n\n" == b"".join(run(text, b": hi\n\n"))


def test_fields_before_the_dialect_wait() -> None:
    """A block without data waits for the dialect, unless it holds comments only; the mark does not matter."""
    ollama = (
        b'data: {"model":"m","created_at":"t","message":{"role":"assistant","content":"a"},"done":false}\n\n'
    )

    assert [b"", CHAT, b""] == run(b"retry: 5\n\n", CHAT)
    assert [b"", b"retry: 5\n\n" + ollama, b""] == run(b"retry: 5\n\n", ollama)
    assert [b"\xef\xbb\xbf: hi\n\n", CHAT, b""] == run(b"\xef\xbb\xbf: hi\n\n", CHAT)


def test_json_passes_at_once() -> None:
    """A body that is JSON is not held."""
    assert [b'{"a":', b"1}", b""] == run(b'{"a":', b"1}")


# Reports, failures, pings.

FINISH = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"%s"}]}\n\n'
USAGE = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":5,"total_tokens":9}}\n\n'
DONE = b"data: [DONE]\n\n"
WHOLE = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a",'
    b'"type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}]}}]}\n\n'
)
CUT = WHOLE.replace(b'1}"', b'"')


def test_a_report_counts_while_the_stream_goes_on() -> None:
    """Waiting input is counted in bytes, calls when they are emitted, the end when the wire brings it."""
    repairer = Repairer()
    seen = []
    for data in (b"", CHAT[:9], CHAT[9:], WHOLE, FINISH % b"tool_calls" + USAGE, DONE):
        repairer.feed(data)
        seen.append(repairer.report)
    repairer.close()

    assert [None, None, *["chat-completions"] * 4] == [report.dialect for report in seen]
    assert [0, 9, 0, len(WHOLE)] == [report.held for report in seen[:4]]
    assert seen[4].held > len(WHOLE)
    assert [0, 0, 0, 0, 1, 1] == [report.n_calls for report in seen]
    assert [False] * 4 + [True] * 2 == [report.ended for report in seen]
    assert repairer.report == RepairReport(
        dialect="chat-completions",
        ended=True,
        n_calls=1,
        usage={"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 9},
    )


@together(
    ("frames", "mended"),
    [
        ([CHAT, WHOLE, FINISH % b"tool_calls", DONE], False),
        ([WHOLE, CHAT, FINISH % b"tool_calls", DONE], False),
        ([WHOLE, FINISH % b"stop", DONE], True),
        ([CHAT, b"data: {}\n\n", FINISH % b"stop", DONE], True),
        ([CHAT, b"event: ping\n\n", FINISH % b"stop", DONE], True),
        ([WHOLE.replace(b'"index":0,"id"', b'"index":1,"id"'), FINISH % b"tool_calls", DONE], True),
        ([STRANGE, STRANGE], False),
        ([CHAT, FINISH % b"stop", DONE.rstrip(b"\n")], False),
        ([CHAT, FINISH % b"stop"], False),
        ([CHAT], True),
    ],
    ids=[
        "as it came",
        "overtaken",
        "reason",
        "noise",
        "no data",
        "index",
        "unknown",
        "cut blank",
        "no done",
        "cut",
    ],
)
@together("size", [7, 1 << 20])
def test_mended_is_what_went_out_otherwise(frames: list[bytes], mended: bool, size: int) -> None:
    """In any order: edited, left out or added. The size of the pieces does not matter."""
    data, repairer = b"".join(frames), Repairer()
    out = b"".join(repairer.feed(data[at : at + size]) for at in range(0, len(data), size)) + repairer.close()

    assert mended is repairer.report.mended
    assert mended or sorted(out) == sorted(data)


def test_withheld_calls_are_counted() -> None:
    """A report has the calls that were not emitted, and the code of the error that says so to clients."""
    repairer = Repairer()
    repairer.feed(CHAT + CUT + FINISH % b"tool_calls" + DONE)

    assert (1, 0, "calls_withheld", True) == (
        repairer.report.n_withheld,
        repairer.report.n_calls,
        repairer.report.error,
        repairer.report.ended,
    )


def test_faults_are_told() -> None:
    """Each fault of the wire goes to `on_fault`."""
    faults: list[StreamFault] = []
    run(CHAT, b'data: {"choices":[{\n\n', FINISH % b"stop", DONE, on_fault=faults.append)

    assert ["undecodable_frame"] == [fault.kind for fault in faults]


def test_withheld_takes_three_words() -> None:
    """Another word is the caller's mistake, and the message lists the valid words."""
    with pytest.raises(ValueError, match="auto, error, end"):
        Repairer(withheld="raise")  # type: ignore[arg-type]


def test_a_failure_withholds_calls() -> None:
    """A stream whose connection is lost ends with the caller's error; no call of it is emitted, and no reason."""
    dropped: list[ToolCallDropped] = []
    repairer = Repairer(on_dropped=dropped.append, withheld="end")
    repairer.feed(CHAT + WHOLE)
    out = repairer.fail("upstream_lost", "the connection was reset")
    report = repairer.report

    assert ("upstream_lost", "the connection was reset") == error_of(out)
    assert out.startswith(b'data: {"error"')
    assert [("f", "the connection was reset")] == [(drop.name, drop.detail) for drop in dropped]
    assert ("upstream_lost", False, 0, 1, 0) == (
        report.error,
        report.ended,
        report.n_calls,
        report.n_withheld,
        report.held,
    )
    assert b"" == repairer.fail("again", "") + repairer.close() + repairer.ping()
    with pytest.raises(StreamClosed):
        repairer.feed(CHAT)


def test_a_failure_after_the_end_is_none() -> None:
    """A turn that came to its end needs no error when its connection breaks then; its calls are emitted."""
    finish = FINISH % b"tool_calls"
    repairer = Repairer()
    repairer.feed(CHAT + WHOLE + finish + b"data: [DO")

    assert (WHOLE + finish, None, True) == (
        repairer.fail("upstream_lost", ""),
        repairer.report.error,
        repairer.report.ended,
    )


def test_a_failure_of_an_unknown_stream_lets_it_pass() -> None:
    """There is no form for an error there; waiting bytes went out unchanged."""
    repairer = Repairer()
    repairer.feed(STRANGE + b"data: x")

    assert STRANGE + b"data: x" == repairer.fail("upstream_lost", "")


def test_pings_stand_between_the_first_event_and_the_end() -> None:
    """A chat ping is a chunk of the stream's own head that adds nothing."""
    repairer, pings = Repairer(), [b""]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    text = (
        b"data: "
        + json.dumps({**head, "choices": [{"index": 0, "delta": {"content": "a"}}]}).encode()
        + b"\n\n"
    )
    for data in (text, WHOLE, FINISH % b"tool_calls", DONE):
        pings.append(repairer.ping())
        repairer.feed(data)
    pings.append(repairer.ping())
    (chunk,) = data_of(pings[2])

    assert [b"", b"", pings[2], pings[2], pings[2], b""] == pings
    assert {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": None}]} == chunk


_SILENCE = [b":\n\n", b": ping\n\n", b"\n", b"\n\n", b":\n", b"\r\n", b"\r", b": a\r\n\r\n", b":b\r\r"]


@together("seed", range(40))
def test_silence_passes_however_it_is_cut(seed: int) -> None:
    """Comments and blank lines between events are output unchanged, in one read or in many."""
    chance = random.Random(seed)
    events = [CHAT, b"data: [DONE]\n\n"]
    silence = [b"".join(chance.choices(_SILENCE, k=chance.randint(0, 3000))) for _ in range(2)]
    data = events[0] + silence[0] + b"\n\n" + events[1] + silence[1]
    whole, pieces = Repairer(), Repairer()
    size = chance.choice([1, 7, 64, 1460])
    fed = [pieces.feed(data[at : at + size]) for at in range(0, len(data), size)]
    assert data == whole.feed(data) + whole.close()
    assert data == b"".join(fed) + pieces.close()
