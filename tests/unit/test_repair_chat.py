"""Repaired chat streams, frame by frame: frames that pass, frames that wait, frames written anew."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.naive import data_of, error_of, finish_reasons, read_calls, visible_text
from tests.support.together import together
from wholecall import Limits, ToolCallDropped
from wholecall.dialects.labels import choice_label
from wholecall.repairing import Repairer

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
HEADER = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m"}
COMMENT = b": keep-alive\n\n"


def frame(delta: Any = None, finish: str | None = None, choice: int = 0, **more: Any) -> bytes:
    """Return a chunk with one choice."""
    inner = {"index": choice, "delta": delta or {}, "finish_reason": finish}
    return b"data: " + json.dumps({**HEADER, "choices": [inner], **more}).encode() + b"\n\n"


def entry(text: str, index: Any = 0, id: Any = None, name: Any = None) -> dict[str, Any]:
    """Return a fragment of a call; with a name it is the first."""
    head = {"id": id, "type": "function"} if name else {}
    return {"index": index, **head, "function": {**({"name": name} if name else {}), "arguments": text}}


def calls(*entries: dict[str, Any], **more: Any) -> bytes:
    """Return a chunk with fragments of calls."""
    return frame({"tool_calls": list(entries)}, **more)


def texts(text: str) -> bytes:
    """Return a chunk with text."""
    return frame({"content": text})


HEAD, TAIL = entry('{"a":', 0, "c1", "f"), entry("1}")
WHOLE = entry('{"a":1}', 0, "c1", "f")
GOOD = [("c1", "f", '{"a":1}')]
FINISH = frame(finish="tool_calls")


def run(*frames: bytes, **options: Any) -> list[bytes]:
    """Return the output for each frame, and at the end."""
    repairer = Repairer(**options)
    return [*map(repairer.feed, frames), repairer.close()]


def read(out: list[bytes]) -> list[Any]:
    """Return the calls of the output."""
    return read_calls("chat-completions", b"".join(out), "append")


def test_calls_and_the_end_are_held() -> None:
    """Text and comments pass at once; calls and the reason wait for the end of the turn, then come as they were."""
    frames = [texts("a"), calls(HEAD), COMMENT, texts("b"), calls(TAIL), FINISH, DONE]
    out = run(*frames)

    assert [frames[0], b"", COMMENT, frames[3], b"", b""] == out[:6]
    assert calls(HEAD) + calls(TAIL) + FINISH + DONE == out[6]


def test_a_reason_alone_waits_for_calls_that_may_follow() -> None:
    """A whole message after the reason brings calls; they come before the reason, which is put right."""
    late = {"index": 0, "delta": {}, "message": {"tool_calls": [{**WHOLE, "index": None}]}}
    data = b"data: " + json.dumps({"id": "r", "choices": [late]}).encode() + b"\n\n"
    out = run(texts("a"), frame(finish="stop"), data, DONE)

    assert [texts("a"), b"", b""] == out[:3]
    assert (GOOD, ["tool_calls"]) == (read(out), finish_reasons(out[3]))
    assert out[3].index(b"tool_calls") < out[3].index(b'"finish_reason":"tool_calls"')


@together("live", [False, True])
@together("place", range(4))
def test_a_written_call_tells_the_role_that_nobody_told(place: int, live: bool) -> None:
    """A client that wants a role gets one with a call that is written anew: the wire's, wherever it is, or ours; never two."""
    frames = [calls(HEAD), calls({**TAIL, "id": "c1"}), FINISH]
    if place < len(frames):
        frames.insert(place, frame({"role": "assistant"}))
    out = run(*frames, DONE, live_arguments=live)
    roles = [choice["delta"].get("role") for data in data_of(b"".join(out)) for choice in data["choices"]]

    assert GOOD == read(out)
    assert ([] if live and place == len(frames) else ["assistant"]) == [role for role in roles if role]


@pytest.mark.parametrize("choice", [0, 1])
def test_a_role_that_comes_with_text_is_told(choice: int) -> None:
    """A role that the wire sends with a piece of text, late or for another choice, is not repeated with a call."""
    late = frame({"role": "assistant", "content": "b"}, choice=choice)
    odd = [frame({"tool_calls": [part]}, choice=choice) for part in (HEAD, {**TAIL, "id": "c1"})]
    out = run(texts("a"), texts("b"), late, late, *odd, frame(finish="tool_calls", choice=choice), DONE)

    assert [texts("a"), texts("b"), late, late] == out[:4]
    assert b"tool_calls" in out[-2]
    assert b'"role"' not in b"".join(out[4:])


@together(
    "second",
    [
        {**entry("1}"), "id": "c1"},
        entry("1}", 0, None, "f"),
        {**entry("1}"), "type": "custom"},
        {"index": 0, "function": {"arguments": "1}"}, "id": ""},
        {"function": {"arguments": "1}"}},
        {"index": 0.0, "function": {"arguments": "1}"}},
        {"index": 0, "function": {"name": "", "arguments": "1}"}},
        {"index": 0, "type": None, "function": {"arguments": "1}"}},
    ],
    ids=[
        "id again",
        "name again",
        "another type",
        "blank id",
        "no index",
        "float",
        "blank name",
        "null type",
    ],
)
def test_what_is_not_strict_is_written_anew(second: Any) -> None:
    """A repeated or blank label is enough: readers differ about it."""
    out = run(calls(HEAD), calls(second), FINISH, DONE)

    assert GOOD == read(out)
    assert b"".join(out) == b"".join(run(b"".join(out)))
    assert calls(HEAD) not in out[3]


@pytest.mark.parametrize(
    "first",
    [
        entry('{"a":1}', 1, "c1", "f"),
        {"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a":1}'}},
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
    ],
    ids=["not from zero", "no type", "an object"],
)
def test_first_fragments_must_be_whole(first: Any) -> None:
    """A first fragment has an index that is next, a type, an id, a name and text."""
    out = run(calls(first), FINISH, DONE)

    assert [("c1", "f", {"a": 1})] == [(id, name, json.loads(text)) for id, name, text in read(out)]
    assert calls(first) not in out[2]


def test_two_fragments_of_a_call_in_one_frame_are_joined() -> None:
    """Readers that keep one fragment of a frame by index would lose the other."""
    out = run(calls(HEAD, TAIL), FINISH, DONE)

    assert GOOD == read(out)
    assert calls(HEAD, TAIL) not in out[2]


def test_chunks_are_called_chunks() -> None:
    """Clients skip chunks that call themselves otherwise, whatever they hold."""
    frames = [calls(WHOLE, object="chat.completion"), frame(finish="tool_calls", object="x")]
    said = [frame({"content": text}, object="x") for text in "abc"]
    out = run(*said, *frames, DONE)

    assert [HEADER["object"]] * 5 == [data["object"] for data in data_of(b"".join(out))]
    assert ["a", "b", "c"] == list(map(visible_text, out[:3]))


def test_dropped_calls_are_withheld() -> None:
    """A call that must not be executed leaves nothing but the report; its siblings are emitted with dense indices."""
    dropped: list[ToolCallDropped] = []
    out = run(calls(HEAD), calls(entry('{"b":2}', 1, "c2", "g")), FINISH, DONE, on_dropped=dropped.append)

    assert [("c2", "g", '{"b":2}')] == read(out)
    assert b'"index":1' not in out[3]
    assert [("c1", "truncated")] == [(drop.id, drop.reason) for drop in dropped]


@together(
    ("entries", "claimed", "expected"),
    [
        ([WHOLE], "stop", "tool_calls"),
        ([WHOLE], "tool_use", "tool_calls"),
        ([WHOLE], "of_its_own", "tool_calls"),
        ([WHOLE], "length", "length"),
        ([WHOLE], "content_filter", "content_filter"),
        ([WHOLE], "malformed_function_call", "malformed_function_call"),
        ([HEAD], "tool_calls", "length"),
        ([HEAD], "stop", "stop"),
        ([HEAD], "length", "length"),
        ([entry("nonsense", 0, "c1", "f")], "tool_calls", "stop"),
        ([], "tool_calls", "stop"),
        ([], "stop", "stop"),
        ([], "content_filter", "content_filter"),
    ],
)
def test_reasons_are_put_right(entries: Any, claimed: str, expected: str) -> None:
    """`stop` and `tool_calls` say whether calls are emitted; a cut stays a cut, and one that hid becomes visible."""
    out = run(calls(*entries), frame(finish=claimed), DONE, withheld="end")

    assert [expected] == finish_reasons(b"".join(out))
    assert out[-2].endswith(DONE)


@together("withheld", ["auto", "error"])
@together("claimed", ["tool_calls", "stop", "of_its_own"])
@together(("text", "reason"), [('{"a":', "truncated"), ("nonsense", "unparseable")], ids=["cut", "nonsense"])
def test_a_turn_that_lost_all_its_calls_is_an_error(
    withheld: str, claimed: str, text: str, reason: str
) -> None:
    """A success without its calls would end an agent's work in silence: the error names the tools and why."""
    frames = [texts("a"), calls(entry(text, 0, "c1", "f")), frame(finish=claimed), DONE]
    out = run(*frames, withheld=withheld)

    assert (texts("a"), [], []) == (out[0], read(out), finish_reasons(b"".join(out)))
    assert ("calls_withheld", f"all tool calls were withheld: f ({reason})") == error_of(b"".join(out))
    assert b"DONE" not in b"".join(out)


@pytest.mark.parametrize("claimed", ["length", "content_filter", "malformed_function_call"])
def test_reasons_that_say_what_happened_stay(claimed: str) -> None:
    """A turn that admits a cut, a filter or nonsense needs no error, whatever was withheld."""
    out = run(calls(HEAD), frame(finish=claimed), DONE, withheld="error")

    assert ([claimed], None) == (finish_reasons(b"".join(out)), error_of(b"".join(out)))


def test_some_calls_are_enough() -> None:
    """Where one call is emitted, the withheld calls are not an error."""
    out = run(calls(WHOLE, entry("x", 1, "c2", "g")), FINISH, DONE, withheld="error")

    assert (GOOD, ["tool_calls"], None) == (
        read(out),
        finish_reasons(b"".join(out)),
        error_of(b"".join(out)),
    )


def test_what_a_turn_said_goes_out_before_its_error() -> None:
    """Text that waited after the reason, and token counts, are lost by no error."""
    usage = b"data: " + json.dumps({**HEADER, "choices": [], "usage": USAGE}).encode() + b"\n\n"
    ending = frame({"content": "b"}, finish="tool_calls")
    out = run(texts("a"), calls(HEAD), ending, texts("c"), usage, DONE)

    assert "abc" == visible_text(b"".join(out))
    assert ([], "calls_withheld") == (finish_reasons(b"".join(out)), (error_of(b"".join(out)) or ("",))[0])
    assert 3 == list(data_of(b"".join(out)))[-2]["usage"]["total_tokens"]


def test_an_end_that_is_no_reason() -> None:
    """A bare `[DONE]` after an open call is not an end: the turn was cut. Without a call it is one."""
    out = run(texts("a"), calls(HEAD), DONE, withheld="end")

    assert ([texts("a"), b""], "upstream_incomplete") == (out[:2], (error_of(out[2]) or ("",))[0])
    assert [texts("a"), DONE, b""] == run(texts("a"), DONE)


def test_a_missing_reason_is_added() -> None:
    """Where the turn ended without a reason, loops that wait for one still see their calls."""
    out = run(calls(WHOLE), DONE)

    assert (["tool_calls"], GOOD) == (finish_reasons(out[1]), read(out))
    assert out[1].endswith(DONE)


def test_the_end_of_the_stream_is_an_end() -> None:
    """Without `[DONE]` the turn is settled when the stream ends."""
    assert [b"", b"", calls(WHOLE) + FINISH] == run(calls(WHOLE), FINISH)


def test_an_early_end_goes_behind_the_calls() -> None:
    """Clients stop at a `[DONE]`, so one that comes before anything was said waits for the calls."""
    role = frame({"role": "assistant"})

    assert [role, b"", b"", b"", calls(WHOLE) + FINISH + DONE] == run(role, DONE, calls(WHOLE), FINISH)
    assert [role, b"", b"", b"", calls(WHOLE) + FINISH + DONE, b""] == run(
        role, DONE, calls(WHOLE), FINISH, DONE
    )
    assert [role, b"", DONE] == run(role, DONE)


def test_an_end_behind_a_reason_waits_for_nothing() -> None:
    """A reason alone is an answer too, and the `[DONE]` after it ends it at once."""
    stop = frame(finish="stop")

    assert [b"", stop + DONE, b""] == run(stop, DONE)


def test_a_cut_turn_keeps_its_calls_back() -> None:
    """Without any end the calls are withheld, no reason is made up, and clients get an error."""
    dropped: list[ToolCallDropped] = []
    out = run(texts("a"), calls(HEAD), on_dropped=dropped.append)

    assert [texts("a"), b""] == out[:2]
    assert ("upstream_incomplete", "the stream ended before the turn did") == error_of(out[2])
    assert ["unterminated"] == [drop.reason for drop in dropped]


def test_text_and_calls_in_one_frame_are_parted() -> None:
    """The text passes at once, the calls wait."""
    out = run(frame({"content": "a", "tool_calls": [WHOLE]}), texts("b"), FINISH, DONE)

    assert ["a", "b", "", ""] == [visible_text(data) for data in out[:4]]
    assert GOOD == read([out[3]])


def test_everything_in_one_frame() -> None:
    """For a whole turn in one frame the text goes out at once, and its calls and its reason at the end."""
    data = frame({"role": "assistant", "content": "a", "tool_calls": [WHOLE]}, finish="tool_calls")
    out = run(data, DONE)

    assert list(data_of(frame({"role": "assistant", "content": "a"}))) == list(data_of(out[0]))
    assert list(data_of(frame({"tool_calls": [WHOLE]}, finish="tool_calls"))) == list(data_of(out[1]))
    assert out[1].endswith(DONE)


def test_everything_in_one_frame_with_a_wrong_reason() -> None:
    """Only the reason of such a frame is edited, or its calls are cut out and the rest stays."""
    wrong = frame({"content": "a", "tool_calls": [WHOLE]}, finish="stop", usage=USAGE)
    lost = frame({"content": "a", "tool_calls": [HEAD]}, finish="stop")

    assert (GOOD, "a", ["tool_calls"]) == (
        read(out := run(wrong, DONE)),
        visible_text(out[0]),
        finish_reasons(out[1]),
    )
    assert 3 == next(data_of(out[1]))["usage"]["total_tokens"]
    assert ([], "a", ["stop"]) == (
        read(out := run(lost, DONE, withheld="end")),
        visible_text(out[0]),
        finish_reasons(out[1]),
    )


def test_roles_and_usage_stay() -> None:
    """The content next to rewritten calls stays: the role before them, token counts after the reason."""
    usage = b"data: " + json.dumps({**HEADER, "choices": [], "usage": USAGE}).encode() + b"\n\n"
    out = run(frame({"role": "assistant", "tool_calls": [HEAD]}), calls(TAIL, id="r"), FINISH, usage, DONE)
    lost = run(frame({"role": "assistant", "tool_calls": [{**WHOLE, "index": None}]}), FINISH, usage, DONE)

    assert out[4].endswith(usage + DONE)
    assert lost[3].endswith(FINISH + usage + DONE)
    assert lost[3].index(b"assistant") < lost[3].index(b"tool_calls")


def test_choices_have_calls_of_their_own() -> None:
    """Each choice has its own indices and its own reason; text of another one is not delayed."""
    other = [calls(WHOLE, choice=1), frame(finish="tool_calls", choice=1)]
    out = run(calls(HEAD), frame(finish="stop"), frame({"content": "b"}, choice=1), *other, DONE)
    reasons = {
        choice["index"]: choice["finish_reason"] for data in data_of(out[5]) for choice in data["choices"]
    }

    assert frame({"content": "b"}, choice=1) == out[2]
    assert (GOOD, {0: "stop", 1: "tool_calls"}) == (read(out), reasons)


def test_text_behind_a_reason_goes_out_before_it() -> None:
    """Text of a choice after its reason waits for nothing; the reason comes once, after all of it."""
    frames = [texts("a"), frame(finish="stop"), texts("b"), frame({"content": "c"}, finish="length"), DONE]

    expected = [frames[0], b"", frames[2], frame({"content": "c"}), frame(finish="length") + DONE, b""]

    assert [list(data_of(out)) for out in expected] == [list(data_of(out)) for out in run(*frames)]


def test_legacy_calls_stay_legacy() -> None:
    """A `function_call` is replayed, or written anew as one."""
    head = frame({"function_call": {"name": "f", "arguments": '{"a":'}})
    tail, finish = frame({"function_call": {"arguments": "1}"}}), frame(finish="function_call")
    named = frame({"function_call": {"name": "f", "arguments": "1}"}})
    strict, anew = run(head, tail, finish, DONE), run(head, named, frame(finish="stop"), DONE)

    unfinished = run(head, tail, DONE)

    assert head + tail + finish + DONE == strict[3]
    assert [("", "f", '{"a":1}')] == read(anew)
    assert ["function_call"] == finish_reasons(anew[3]) == finish_reasons(unfinished[2])


def test_free_text_calls() -> None:
    """A call of a free-text tool is replayed, or written anew as one."""
    custom = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    odd = {**custom, "index": 3}

    assert calls(custom) + FINISH + DONE == run(calls(custom), FINISH, DONE)[2]
    assert [("c1", "sql", "SELECT 1")] == read(run(calls(odd), FINISH, DONE))


def test_frames_of_responses_inside_become_calls() -> None:
    """Calls that come as events of the Responses dialect are emitted as calls of this one."""
    item = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": '{"a":1}'}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    over = {"type": "response.completed", "response": {"id": "x", "output": [item]}}
    guests = [b"data: " + json.dumps(guest).encode() + b"\n\n" for guest in (done, over)]
    out = run(texts("a"), *guests, frame(finish="stop"), DONE)

    assert (GOOD, ["tool_calls"]) == (read(out), finish_reasons(b"".join(out)))
    assert b"function_call" not in b"".join(out)


def test_errors_of_the_provider_pass() -> None:
    """An error frame passes as it is, the calls before it are withheld."""
    error = b'data: {"error":{"message":"overloaded"}}\n\n'

    assert [texts("a"), b"", error, b""] == run(texts("a"), calls(WHOLE), error)
    assert [b"", error + texts("a"), b""] == run(error, texts("a"))


@pytest.mark.parametrize(
    "error",
    [
        b'event: error\ndata: {"message":"x"}\n\n',
        b'data: {"object":"error","message":"x"}\n\n',
        b'data: {"type":"error","message":"x"}\n\n',
    ],
)
def test_errors_of_any_shape_pass(error: bytes) -> None:
    """A frame that reports an error is not made one that clients pass over."""
    out = run(texts("a"), error)

    assert [texts("a"), error] == out[:2]
    assert ("event:" in error.decode()) is (error_of(out[2]) is None)  # else clients do not see the end


def test_a_cut_is_forgotten_with_its_turn() -> None:
    """A report of cut calls belongs to the turn that they were in."""
    cut = calls(HEAD), frame(finish="tool_calls"), DONE
    out = run(*cut, frame(finish="tool_calls"), withheld="end")

    assert ["length"] == finish_reasons(b"".join(out[:3]))
    assert ["stop"] == finish_reasons(b"".join(out[3:]))


def test_unreadable_frames_go_nowhere() -> None:
    """An unreadable frame is left out; the open call, which may have lost text with it, is withheld."""
    bad = b'data: {"choices":[{"delta":{"tool_\n\n'
    out = run(texts("a"), calls(HEAD), bad, calls(TAIL), FINISH, DONE)

    assert (b"", []) == (out[2], read(out))


def test_several_payloads_in_one_event_are_parted() -> None:
    """Servers that join frames by single newlines break readers; each payload gets a separate event."""
    joined = texts("a")[:-1] + texts("b")
    out = run(joined, frame(finish="stop"), DONE)

    assert [{"content": "a"}, {"content": "b"}] == [data["choices"][0]["delta"] for data in data_of(out[0])]


def test_minted_ids_differ_between_responses() -> None:
    """A call without an id gets one that no other response of the conversation has, and the same in every run."""
    one, again, other = (
        read(run(calls(entry("{}", 0, None, "f"), id=id), FINISH, DONE))[0][0] for id in ("r1", "r1", "r2")
    )

    assert one == again != other


def test_a_last_frame_without_its_blank_line() -> None:
    """A stream that stops right after the last frame loses nothing."""
    assert calls(WHOLE) + FINISH == b"".join(run(calls(WHOLE) + FINISH.rstrip(b"\n")))
    assert calls(WHOLE) + FINISH + DONE.rstrip(b"\n") == b"".join(
        run(calls(WHOLE) + FINISH + DONE.rstrip(b"\n"))
    )


# Waiting frames are bounded.


def test_frames_of_a_dropped_call_are_released() -> None:
    """Once the parser has dropped a call its frames are forgotten, and its later frames are not kept."""
    repairer = Repairer()
    repairer.feed(texts("a") + calls(HEAD) + calls(entry("1}", 0, "c1", "another")))
    for _ in range(50):
        repairer.feed(calls(entry("y" * 100)))
    rewriter: Any = repairer._rewriter

    assert (0, []) == (rewriter._n_waiting, rewriter._queue)


def test_held_frames_are_bounded() -> None:
    """However long a call gets, no more of its frames is held than the limit says."""
    repairer = Repairer(limits=Limits(max_event_bytes=2000))
    repairer.feed(texts("a") + calls(entry('{"a":"', 0, "c1", "f")))
    rewriter: Any = repairer._rewriter
    held = []
    for _ in range(50):
        repairer.feed(calls(entry("y" * 100)))
        held.append(rewriter._n_waiting)

    assert 0 < max(held) <= 2000
    assert 0 == held[-1]


def test_too_many_calls_frames_are_written_anew() -> None:
    """Held frames beyond the limit are forgotten; the calls are emitted all the same."""
    pieces = [calls(entry("1")) for _ in range(50)]
    out = run(
        calls(entry('{"a":', 0, "c1", "f")),
        *pieces,
        calls(entry("}")),
        FINISH,
        DONE,
        limits=Limits(max_event_bytes=2000),
    )

    assert [("c1", "f", '{"a":' + "1" * 50 + "}")] == read(out)


def test_a_queue_of_nothing_is_bounded() -> None:
    """A stream that sends nothing but empty frames after its reason ends with an error, not with all memory."""
    out = run(frame(finish="stop"), *[frame() for _ in range(50)], limits=Limits(max_event_bytes=1000))
    (error,) = data_of(b"".join(out))

    assert ("server_error", "event_too_large") == (error["error"]["type"], error["error"]["code"])


def test_faults_of_the_framing_end_the_stream() -> None:
    """A line beyond its limit breaks the stream off with an error frame, and nothing follows."""
    repairer = Repairer(limits=Limits(max_line_bytes=1000))
    first = repairer.feed(texts("a"))
    broken = repairer.feed(texts("x" * 2000))

    assert (texts("a"), True) == (first, repairer.ended)
    assert "line_too_long" == (error_of(broken) or ("",))[0]
    assert b"" == repairer.feed(texts("b")) + repairer.close()


def test_an_endless_event_ends_the_stream() -> None:
    """Bytes without a blank line are kept up to the limit."""
    repairer = Repairer(limits=Limits(max_event_bytes=1000, max_line_bytes=None))
    repairer.feed(texts("a"))

    assert "event_too_large" == (error_of(repairer.feed(b"data: " + b"x" * 2000)) or ("",))[0]
    assert repairer.ended


# Live.


def test_live_calls_are_shown_as_they_arrive() -> None:
    """Name and id come first, then the pieces; the last brace and the reason wait for the end."""
    out = run(calls(HEAD), calls(TAIL), FINISH, DONE, live_arguments=True)

    assert [("c1", "f", '{"a":')] == read(out[:1])
    assert [("c1", "f", '{"a":1')] == read(out[:2])
    assert GOOD == read(out)
    assert out[3].endswith(FINISH + DONE)


def test_live_calls_without_an_id_wait() -> None:
    """A call whose id comes last is written whole."""
    out = run(calls({**HEAD, "id": None}), calls({**TAIL, "id": "c1"}), FINISH, DONE, live_arguments=True)

    assert (b"", b"", GOOD) == (out[0], out[1], read(out))


@pytest.mark.parametrize(
    "frames",
    [
        [calls(HEAD), FINISH, DONE, texts("b")],
        [calls(HEAD), calls(entry('"x'), entry('"b')), FINISH, DONE],
        [calls(HEAD)],
    ],
    ids=["dropped", "unreadable", "cut"],
)
def test_live_calls_that_do_not_hold_end_the_stream(frames: list[bytes]) -> None:
    """A dropped call that was shown ends the stream with an error frame, and nothing after it."""
    out = b"".join(run(*frames, live_arguments=True))
    told = list(data_of(out))

    assert "calls_withheld" == told[-1]["error"]["code"]
    assert ([], False) == (finish_reasons(out), b"DONE" in out)


def test_live_calls_and_an_error_of_the_provider() -> None:
    """Clients raise for the provider's own error."""
    error = b'data: {"error":{"message":"overloaded"}}\n\n'

    assert [error, b""] == run(calls(HEAD), error, live_arguments=True)[1:]


# Cases found by changing the code.


def test_calls_behind_a_reason_come_before_it() -> None:
    """Loops stop at the reason, so calls that follow it are written before it."""
    out = run(FINISH, calls(WHOLE), DONE)

    assert GOOD == read(out)
    assert out[2].index(b"tool_calls") < out[2].index(b'"finish_reason": "tool_calls"')
    assert out[2].endswith(FINISH + DONE)


def test_frames_of_a_call_that_is_refused_at_once_are_released() -> None:
    """A call that is refused for its name leaves nothing, however strict its frames are."""
    repairer = Repairer(limits=Limits(max_name_chars=3))
    repairer.feed(texts("a") + calls(entry("{", 0, "c1", "another")) + calls(entry("}")))
    rewriter: Any = repairer._rewriter
    out = repairer.feed(FINISH + DONE) + repairer.close()

    assert [] == read([out])
    assert [] == rewriter._queue


# Assumptions of clients.


def chunk(*choices: Any, **more: Any) -> bytes:
    """Return a chunk with these choices."""
    return b"data: " + json.dumps({**HEADER, "choices": list(choices), **more}).encode() + b"\n\n"


def deltas(out: list[bytes]) -> list[Any]:
    """Return the emitted deltas, as a loop finds them that asks for nothing, up to an error."""
    chunks = [data for data in data_of(b"".join(out)) if "error" not in data]
    return [choice["delta"] for data in chunks for choice in data["choices"]]


@pytest.mark.parametrize(
    "noise",
    [
        b"data:\n\n",
        b"data: \n\n",
        b"data: {}\n\n",
        b"data: null\n\n",
        b'data: {"choices":null}\n\n',
        b'event: ping\ndata: {"type":"ping"}\n\n',
        b"event: ping\ndata: now\n\n",
    ],
)
def test_frames_that_say_nothing_are_left_out(noise: bytes) -> None:
    """Clients take every event for a chunk with choices; an event without choices or content does not go out."""
    frames = [texts("a"), calls(WHOLE), FINISH, DONE]

    assert b"".join(frames) == b"".join(run(*[part for frame in frames for part in (noise, frame)]))


@pytest.mark.parametrize(
    "choices", [{}, {"choices": None}, {"choices": {}}], ids=["none", "null", "an object"]
)
def test_chunks_get_a_list_of_choices(choices: Any) -> None:
    """The frame's other content stays, next to an empty list that loops can walk over."""
    frame = b"data: " + json.dumps({**choices, "references": [1]}).encode() + b"\n\n"

    assert [{**HEADER, "references": [1], "choices": []}] == list(data_of(run(texts("a"), frame)[1]))


@pytest.mark.parametrize("choice", [{"delta": None}, {}, {"delta": []}], ids=["null", "none", "a list"])
def test_choices_get_a_delta(choice: Any) -> None:
    """Loops look into `delta` without asking."""
    out = run(texts("a"), chunk({"index": 0, **choice, "filter": 1}))

    assert [{"content": "a"}, {}] == deltas(out)
    assert b'"filter":1' in out[1]


def test_choices_beside_others_get_a_delta() -> None:
    """So do those in a frame that shows text of another one."""
    out = run(texts("a"), chunk({"index": 1, "delta": None}, {"index": 0, "delta": {"content": "b"}}))

    assert [{"content": "a"}, {}, {"content": "b"}] == deltas(out)


@pytest.mark.parametrize("index", [-1, "x", 0.5, None, "1"])
def test_choices_get_a_number(index: Any) -> None:
    """All frames of a choice have one number, those that are written anew too, whatever the server sends as its label."""
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    frames = [frame({"tool_calls": [call]}, choice=index), frame({}, "tool_calls", choice=index)]
    out = b"".join(run(*frames))

    assert {choice_label(index)} == {choice["index"] for data in data_of(out) for choice in data["choices"]}
    assert [("c", "f", "{}")] == read_calls("chat-completions", out)


def test_what_is_no_choice_is_left_out() -> None:
    """A list of choices holds choices only."""
    assert [{"content": "a"}, {"role": "tool"}] == deltas(
        run(texts("a"), chunk(None, {"index": 0, "delta": {"role": "tool"}}))
    )


@pytest.mark.parametrize("kind", ["chat.completion", "chat.completion.chunk"])
def test_whole_messages_become_deltas(kind: str) -> None:
    """Content that a turn gives in a message only reaches clients of streams in deltas; its calls too."""
    message = {"role": "assistant", "content": "a", "reasoning_content": "r", "tool_calls": [WHOLE]}
    data = chunk({"index": 0, "message": message, "finish_reason": "tool_calls"}, object=kind)
    out = run(data, DONE)
    said = {name: text for delta in deltas(out) for name, text in delta.items() if name != "tool_calls"}

    assert {"role": "assistant", "content": "a", "reasoning_content": "r"} == said
    assert (GOOD, ["tool_calls"]) == (read(out), finish_reasons(b"".join(out)))
    assert {HEADER["object"]} == {data["object"] for data in data_of(b"".join(out))}
    assert b"".join(out) == b"".join(run(b"".join(out)))


def test_messages_that_repeat_say_nothing_twice() -> None:
    """Text that came in deltas is not said again where the whole message follows them."""
    message = chunk({"index": 0, "delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"})
    filled = chunk({"index": 1, "delta": {}, "message": {"content": "c"}})

    assert "ab" == "".join(map(visible_text, run(texts("a"), texts("b"), message, DONE)))
    assert "ac" == "".join(map(visible_text, run(texts("a"), filled, DONE)))


def test_joined_chunks_say_nothing_twice() -> None:
    """Where one event joins chunks, the content of one of them is not repeated by the other."""
    message = chunk({"index": 0, "delta": {}, "message": {"content": "a"}})

    assert "a" == "".join(map(visible_text, run(texts("a")[:-1] + message, DONE)))


def test_text_in_parts_is_joined() -> None:
    """Accumulators join strings; texts become one, thoughts are next to them, a list that holds something else
    stays.
    """
    parts = [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    thought = frame({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}]})
    picture = frame({"content": [{"type": "image_url", "image_url": {"url": "x"}}]})
    out = run(texts("a"), frame({"content": parts}), frame({"content": []}), thought, picture)

    assert [{"content": "a"}, {"content": "bc"}, {"content": ""}] == deltas(out[:3])
    assert [{"content": "", "reasoning_content": "t"}] == deltas(out[3:4])
    assert picture == out[4]


def test_text_in_frames_of_responses_is_found() -> None:
    """Text that comes in events of the Responses dialect is emitted in deltas."""
    guest = b'data: {"type":"response.output_text.delta","output_index":0,"delta":"b"}\n\n'
    out = run(texts("a"), guest, frame(finish="stop"), DONE)

    assert "ab" == "".join(map(visible_text, out))


def test_text_in_flat_frames_is_found() -> None:
    """So does text in frames that have no choices; the chunks of calls do not repeat their members."""
    flats = [{"apiFormat": "COHERE", "text": "a"}, {"apiFormat": "COHERE", "text": "b"}]
    called = {
        "apiFormat": "COHERE",
        "toolCalls": [{"name": "f", "parameters": {"a": 1}}],
        "finishReason": "COMPLETE",
    }
    out = run(*(b"data: " + json.dumps(flat).encode() + b"\n\n" for flat in (*flats, called)))

    assert ["a", "b", "", ""] == list(map(visible_text, out))
    assert [("f", '{"a": 1}')] == [(name, text) for _, name, text in read(out)]
    assert b"COHERE" not in out[3]


@pytest.mark.parametrize(
    "late",
    [{"role": "assistant", "tool_calls": [WHOLE]}, {"role": "assistant", "content": None}],
    ids=["of calls", "of nothing"],
)
def test_messages_do_not_replace_calls(late: Any) -> None:
    """Clients that keep snapshots replace the deltas with a whole `message`: none goes out with calls."""
    early = [] if late.get("tool_calls") else [calls(WHOLE)]
    data = chunk({"index": 0, "delta": {}, "message": late, "finish_reason": "stop", "extra": 1})
    out = run(texts("a"), *early, data, DONE)
    told = list(data_of(b"".join(out)))

    assert (GOOD, ["tool_calls"]) == (read(out), finish_reasons(b"".join(out)))
    assert [] == [choice for data in told for choice in data["choices"] if "message" in choice]
    assert 1 == told[-1]["choices"][0]["extra"]


def test_messages_without_calls_stay() -> None:
    """Where no call is emitted a message blocks nothing."""
    data = chunk({"index": 0, "delta": {}, "message": {"content": "a"}, "finish_reason": "stop"})

    assert data in run(texts("a"), data, DONE)[2]


@together("reason", ["", "null", "none", 0, False])
@together("choice", [{"index": 0}, {}])
def test_blanks_do_not_go_on(reason: object, choice: dict[str, int]) -> None:
    """The first blank role is reported, others and an invalid reason are left out, and a choice has a number."""
    deltas = [{"role": "", "content": "a"}, {"role": "", "content": "b"}, {"content": "c"}]
    head = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    frames = [{**head, "choices": [{**choice, "delta": delta, "finish_reason": reason}]} for delta in deltas]
    out = run(*[b"data: " + json.dumps(one).encode() + b"\n\n" for one in frames], frame(finish="stop"), DONE)
    found = [one for piece in out for data in data_of(piece) for one in data["choices"]]

    first = {"role": "assistant", "content": "a"}
    assert [first, {"content": "b"}, {"content": "c"}, {}] == [one["delta"] for one in found]
    assert [0] * 4 == [one["index"] for one in found]
    assert [None, None, None, "stop"] == [one["finish_reason"] for one in found]


def test_a_chunk_gets_what_it_lacks() -> None:
    """The members that a chunk must have are those of the one before, or empty; all others stay, null ones too."""
    bare = {
        "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}],
        "usage": None,
        "x": 1,
    }
    frames = [bare, {**bare, "id": "r", "created": 5}, {**bare, "id": None, "model": "m"}]
    out = run(*[b"data: " + json.dumps(one).encode() + b"\n\n" for one in frames])
    first = {"id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 0, "model": ""}
    expected = [first, {**first, "id": "r", "created": 5}, {**first, "id": "r", "created": 5, "model": "m"}]

    assert [{**bare, **one} for one in expected] == [one for piece in out[:-1] for one in data_of(piece)]
