"""Laws of repaired Gemini streams: calls that every client reads, one end per candidate, text without delay."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.support.bless import in_chunks
from tests.support.naive import compact_json, data_of, finish_reasons, read_calls
from tests.support.together import together
from wholecall import Limits, ToolCallParser
from wholecall.calls.output.events import EXECUTABLE, Event, TextDelta
from wholecall.repairing import RepairedBody, Repairer, repair_body


def frame(*parts: dict[str, Any], reason: str | None = None, index: int = 0) -> dict[str, Any]:
    """Return a response with one candidate."""
    ending = {} if reason is None else {"finishReason": reason}
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, **ending, "index": index}],
        "responseId": "r1",
    }


def part(name: str, **call: Any) -> dict[str, Any]:
    """Return a part with a call."""
    return {"functionCall": {"name": name, **call}}


FRAMES: dict[str, dict[str, Any]] = {
    "text": frame({"text": "Hi. "}),
    "call": frame(part("get_tide", args={"port": "Brest"})),
    "silent call": frame(part("now")),
    "text and call": frame({"text": "See. "}, part("get_wind", args={"n": [1, {"x": None}]})),
    "begins": frame(part("book", willContinue=True)),
    "goes on": frame({"functionCall": {"partialArgs": [{"jsonPath": "$.n", "numberValue": 2}]}}),
    "snake": {
        "candidates": [{"content": {"parts": [{"function_call": {"name": "snake", "args": {"a_b": 1}}}]}}],
        "response_id": "r1",
    },
    "STOP": frame({"text": ""}, reason="STOP"),
    "text, STOP": frame({"text": "Bye. "}, reason="STOP"),
    "MAX_TOKENS": frame(reason="MAX_TOKENS"),
    "counts": {"usageMetadata": {"promptTokenCount": 1}, "responseId": "r1"},
}


def block(payload: dict[str, Any]) -> bytes:
    """Return a frame as the wire has it."""
    return b"data: " + json.dumps(payload).encode() + b"\r\n\r\n"


def streams(most: int) -> list[tuple[str, ...]]:
    """Return all streams of up to a number of frames, by their kinds."""
    return [kinds for n in range(1, most + 1) for kinds in itertools.product(FRAMES, repeat=n)]


def repaired(*chunks: bytes, **options: Any) -> bytes:
    """Return the output of a repairer."""
    repairer = Repairer(**options)
    return b"".join([*map(repairer.feed, chunks), repairer.close()])


def events_of(data: bytes) -> list[Event]:
    """Return all events of a stream."""
    parser = ToolCallParser(dialect="gemini")
    return [*parser.feed(data), *parser.close()]


def calls_in(events: list[Event]) -> list[tuple[str, str]]:
    """Return name and arguments of the calls, in the order of emission."""
    return [(event.name, compact_json(event.arguments)) for event in events if isinstance(event, EXECUTABLE)]  # type: ignore[union-attr]


def said_in(stream: bytes) -> str:
    """Return the text of all candidates."""
    return "".join(event.text for event in events_of(stream) if isinstance(event, TextDelta))


def is_over(out: bytes) -> bool:
    """Return whether no other candidate comes after the one reason."""
    kinds = [
        "end" if finish_reasons(block(each)) else "more" for each in data_of(out) if "candidates" in each
    ]
    return "end" not in kinds or kinds.index("end") == len(kinds) - 1


@pytest.mark.sampled(15)
@pytest.mark.parametrize("first", FRAMES)
def test_every_client_reads_the_calls(first: str) -> None:
    """Law 119: for any frames, clients read exactly the calls that the parser emits, each whole, in one part."""
    for kinds in [(first, *rest) for rest in ((), *streams(2))]:
        data = b"".join(block(FRAMES[kind]) for kind in kinds)
        out = repaired(data)
        told = [(name, text) for _, name, text in read_calls("gemini", out)]

        assert sorted(calls_in(events_of(data))) == sorted(told), kinds
        assert b"partialArgs" not in out, kinds
        assert b"_call" not in out, kinds
        assert said_in(data) == said_in(out), kinds


@pytest.mark.sampled(13)
@pytest.mark.parametrize("first", FRAMES)
def test_a_candidate_ends_once(first: str) -> None:
    """Law 119: one reason leaves, after everything else; a cut stays a cut; without one the stream ends as an error."""
    for kinds in [(first, *rest) for rest in ((), *streams(2))]:
        data = b"".join(block(FRAMES[kind]) for kind in kinds)
        out = repaired(data)
        reasons = {kind.removeprefix("text, ") for kind in kinds} & {"STOP", "MAX_TOKENS"}
        is_error = any("error" in each for each in data_of(out))

        assert is_over(out), kinds
        assert is_error or [max(reasons, key=("STOP", "MAX_TOKENS").index)] == finish_reasons(out), kinds
        if (
            reasons == {"STOP"} and not is_error
        ):  # a cut casts doubt on calls without arguments, after any events
            assert sorted(out.split(b"\n")) == sorted(repaired(out).split(b"\n")), kinds


@pytest.mark.sampled(13)
@pytest.mark.parametrize("first", FRAMES)
def test_cuts_do_not_matter(first: str) -> None:
    """Law 52: the same bytes in any chunks give the same bytes."""
    for kinds in [(first, *rest) for rest in streams(2)]:
        data = b"".join(block(FRAMES[kind]) for kind in kinds)

        assert repaired(data) == repaired(*in_chunks(data, 1)), kinds
        assert repaired(data) == repaired(*in_chunks(data, 97)), kinds


@pytest.mark.sampled(9)
@pytest.mark.parametrize("first", FRAMES)
def test_text_does_not_wait_for_calls(first: str) -> None:
    """Law 115: text leaves in the read in which it came, unless its frame has a reason."""
    for kinds in [(first, *rest) for rest in ((), *streams(2))]:
        repairer = Repairer()
        out = [repairer.feed(block(FRAMES[kind])) for kind in kinds]
        came = [said_in(block(FRAMES[kind])) for kind in kinds if "STOP" not in kind]
        left = [said_in(each) for kind, each in zip(kinds, out, strict=True) if "STOP" not in kind]

        assert all(one in other for one, other in zip(came, left, strict=True)), kinds


def test_a_reason_in_every_frame() -> None:
    """Text that comes with a reason each waits for the next frame at most, and one reason leaves."""
    repairer = Repairer()
    frames = [frame({"text": f"{n} "}, reason="STOP") for n in range(5)]
    out = [said_in(repairer.feed(block(each))) for each in frames]
    last = repairer.close()

    assert ["", "0 ", "1 ", "2 ", "3 "] == out
    assert ("4 ", ["STOP"]) == (said_in(last), finish_reasons(last))


def test_candidates_are_apart() -> None:
    """The end of one candidate waits for the end of the stream, and another candidate's text continues."""
    data = [frame({"text": "a"}), frame(reason="STOP", index=1), frame({"text": "b"}), frame(reason="STOP")]
    repairer = Repairer()
    out = [repairer.feed(block(each)) for each in data]

    assert [block(data[0]), b"", block(data[2]), b""] == out
    assert block(data[1]) + block(data[3]) == repairer.close()


def test_signatures_go_with_their_call() -> None:
    """Members that must be sent back are on the rewritten call."""
    call = {**part("now"), "thoughtSignature": "c2ln"}
    out = repaired(block(frame(call)), block(frame(reason="STOP")))
    [_, found] = [
        part for each in data_of(out) for part in each["candidates"][0]["content"].get("parts", ())
    ][:1] * 2

    assert {"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "c2ln"} == found


def test_members_that_nobody_knows_stay() -> None:
    """Only names that clients read are put into their spelling; free or unknown names stay as they came."""
    odd = frame({"text": "a", "part_metadata": {"my_key": 1}}, part("f", args={"a_b": 1})) | {
        "my_own": {"of_mine": 2}
    }
    [found] = data_of(repaired(block(odd)).partition(b"\r\n\r\n")[0].partition(b"\n\n")[0] + b"\n\n")
    parts = found["candidates"][0]["content"]["parts"]

    assert {"of_mine": 2} == found["my_own"]
    assert {"text": "a", "partMetadata": {"my_key": 1}} == parts[0]
    assert {"a_b": 1} == parts[1]["functionCall"]["args"]


def test_wrapped_responses_stay_wrapped() -> None:
    """Code Assist puts each response into a member; so do rewritten frames."""
    frames = [FRAMES["silent call"], FRAMES["STOP"]]
    out = repaired(*(block({"response": each, "traceId": "t"}) for each in frames))

    assert ["candidates" in each.get("response", each) for each in data_of(out)] == [True, True]
    assert [("", "now", "{}")] == read_calls(
        "gemini", b"".join(block(e.get("response", e)) for e in data_of(out))
    )


def test_an_error_comes_behind_what_waits() -> None:
    """The provider's error is the last frame; of the frames waiting before it, only text leaves, no call and no end."""
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    out = repaired(block(FRAMES["begins"]), block(FRAMES["text, STOP"]), block(error))

    assert error == list(data_of(out))[-1]
    assert ("Bye. ", [], []) == (said_in(out), read_calls("gemini", out), finish_reasons(out))


def test_what_waits_is_bounded() -> None:
    """A stream of which too much waits ends as an error."""
    repairer = Repairer(limits=Limits(max_event_bytes=2_000))
    for _ in range(60):
        repairer.feed(block(FRAMES["text, STOP"]) + block(FRAMES["counts"]))
    assert repairer.report.error is None
    for index in range(40):
        repairer.feed(block(frame(reason="STOP", index=index)))

    assert "event_too_large" == repairer.report.error


# Whole bodies.


def body(*payloads: dict[str, Any]) -> RepairedBody:
    """Return the repaired body: a response, or a list of responses."""
    value = payloads[0] if len(payloads) == 1 else list(payloads)
    return repair_body(json.dumps(value).encode())


@pytest.mark.sampled(15)
@pytest.mark.parametrize("first", FRAMES)
def test_bodies_hold_the_same_calls(first: str) -> None:
    """Law 119: the same for whole responses, and lists of them, as they are sent without `alt=sse`."""
    for kinds in [(first, *rest) for rest in ((), *streams(1), *streams(2))]:
        payloads = [FRAMES[kind] for kind in kinds]
        found = body(*payloads)
        value = json.loads(found.data)
        listed = value if isinstance(value, list) else [value]
        told = [(name, text) for _, name, text in read_calls("gemini", b"".join(map(block, listed)))]
        parser = ToolCallParser()
        events = [
            *parser.feed(json.dumps(payloads if len(kinds) > 1 else payloads[0]).encode()),
            *parser.close(),
        ]

        assert sorted(calls_in(events)) == sorted(told), kinds
        assert b"partialArgs" not in found.data, kinds
        if "MAX_TOKENS" not in kinds:  # see above
            assert found.data == repair_body(found.data).data, kinds


def test_a_body_without_its_calls_is_an_error() -> None:
    """A success all of whose calls were withheld becomes an error in the form of Google's APIs."""
    found = body(frame(part("", args={"a": 1}), reason="STOP"))

    assert "calls_withheld" == found.report.error
    assert {"code": 500, "status": "INTERNAL"}.items() <= json.loads(found.data)["error"].items()


# Input that the framing allows, and Gemini clients fail for; the place is before a frame.
BESIDE = {
    "a comment": b": keep-alive\n\n",
    "a comment in the block": b": keep-alive\n",
    "a name": b"event: message\n",
    "an id": b"id: 7\n",
    "a wait": b"retry: 10\n",
}


@together("what", BESIDE)
@together("at", range(4))
def test_lines_of_data_are_all_that_goes_out(what: str, at: int) -> None:
    """Comments, names and ids of events are left out, before every frame and after the last; the frames are not."""
    blocks = [block(FRAMES[kind]) for kind in ("text", "call", "STOP")]
    data = b"".join([*blocks[:at], BESIDE[what], *blocks[at:]])
    repairer = Repairer(expected="gemini")
    out = b"".join([repairer.feed(data[:20]), repairer.feed(data[20:]), repairer.close()])

    assert [FRAMES[kind] for kind in ("text", "call", "STOP")] == list(map(json.loads, _lines_of_data(out)))


def _lines_of_data(out: bytes) -> list[bytes]:
    lines = [line for line in out.splitlines() if line]
    assert all(line.startswith(b"data: ") for line in lines)
    return [line[6:] for line in lines]
