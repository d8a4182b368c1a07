"""Law 137: an answer that is translated keeps its calls, texts, end and counts, or ends with an error and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import corpora
from tests.support.conforming import payloads
from wholecall import ToolCallParser, Turn, collect
from wholecall.repairing.encoders.counts import counts_of
from wholecall.repairing.schema import BODIES, CHUNK, EVENTS, conformed
from wholecall.translation import AnswerTranslator

WIRES = ("anthropic", "chat-completions", "responses")
SCHEMAS: dict[str, Any] = {"anthropic": EVENTS, "chat-completions": CHUNK, "responses": EVENTS}
CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
PAIRS = [(server, client) for server in WIRES for client in WIRES if server != client]
# A stream of several calls, by its wire.
PARALLEL = {
    "anthropic": "text-and-thinking-parallel.sse",
    "chat-completions": "parallel-sequential.sse",
    "responses": "parallel-interleaved.sse",
}
# Ends of turns that another wire has no word for, and the words that stand for them.
CUT_AFTER_CALLS = ("length", "tool_calls")  # readers would drop the last call after a cut
OTHER_ENDS = {("unknown", "stop"), ("malformed", "length"), ("malformed", "stop"), CUT_AFTER_CALLS}


def recorded(wire: str) -> Iterator[tuple[str, bytes]]:
    """Yield the answers of a wire that have verdicts: all recordings, and the cases of the conformance suite."""
    for case in corpora.cases():
        if case["dialect"] == wire:
            yield case["name"], corpora.recorded(case)
    for path in sorted((CASES / wire).glob("*")):
        if not path.name.endswith(".case.json"):
            yield f"cases/{path.name}", path.read_bytes()


@cache
def translated(
    data: bytes, server: str, client: str, *, stream: bool = True, size: int = 997
) -> tuple[bytes, str | None]:
    """Return an answer in the client's wire, and the code of the error that ended it."""
    translator = AnswerTranslator(server, client, stream=stream)
    out = [translator.feed(data[at : at + size]) for at in range(0, len(data), size)]
    out.append(translator.close())
    return b"".join(out), translator.report.error


def n_answers(data: bytes) -> int:
    """Return the number of answers in a recording: a session has several."""
    parser: ToolCallParser[Any] = ToolCallParser()
    parser.feed(data)
    parser.close()
    return len(parser.turns)


def calls_of(turn: Turn) -> list[tuple[str, str, Any]]:
    """Return the calls of a turn; an id that our side makes up differs by its answer."""
    made = {call.id for call in turn.calls if {"id_generated", "duplicate_id"} & set(call.flags)}
    functions = [("" if call.id in made else call.id, call.name, call.arguments) for call in turn.calls]
    return functions + [(call.id, call.name, call.input) for call in turn.custom_calls]


def told(turn: Turn, ids: bool = True) -> dict[str, Any]:
    """Return all that a translation keeps."""
    counts = counts_of(turn.usage)
    return {
        "calls": [(id if ids else "", *rest) for id, *rest in calls_of(turn)],
        "text": turn.text,
        "reasoning": turn.reasoning.text,
        "counts": (counts.asked, counts.answered, counts.cached),
        "anomalies": (),
        "faults": (),
    }


def lost(before: Turn, after: Turn) -> dict[str, Any]:
    """Return the parts of a turn that its translation has otherwise."""
    has_ids = "" not in [id for id, *_ in calls_of(before)]
    said, read = told(before, has_ids), told(after, has_ids)
    read |= {"anomalies": after.anomalies, "faults": after.faults}
    found = {name: (value, read[name]) for name, value in said.items() if value != read[name]}
    ends = before.reason, after.reason
    if ends[0] != ends[1] and ends not in OTHER_ENDS:
        found["reason"] = ends
    return found


@pytest.mark.sampled(15)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_a_turn_is_the_same_in_the_other_wire(server: str, client: str, stream: bool) -> None:
    """Every recorded answer that ends well is; at least three of five do."""
    n_whole, found = 0, {}
    answers = list(recorded(server))
    for name, data in answers:
        said, error = translated(data, server, client, stream=stream)
        if error is None:
            n_whole += 1
            if gone := lost(collect([data]), collect([said], client)):
                found[name] = gone

    assert {} == found
    assert n_whole > len(answers) * 3 // 5


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_an_error_has_a_reason_in_the_answer(server: str, client: str) -> None:
    """An answer that a repairer would let pass is refused for parts alone that the client's wire cannot say."""
    refused = {
        name for name, data in recorded(server) if translated(data, server, client)[1] == "untranslatable"
    }
    explained = set()
    for name, data in recorded(server):
        turn = collect([data])
        is_odd = turn.builtin_calls or turn.server_calls or turn.cancelled or turn.reason == "pause"
        if n_answers(data) > 1 or is_odd or (client == "anthropic" and turn.custom_calls):
            explained.add(name)

    assert set() == refused - explained


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_every_frame_is_as_the_schema_asks(server: str, client: str) -> None:
    """No frame of a translated stream has to be completed for a strict client."""
    found = {}
    for name, data in recorded(server):
        said, error = translated(data, server, client)
        frames = [one for one in payloads(said) if not ("error" in one and error is not None)]
        odd = [one for one in frames if conformed(one, SCHEMAS[client], is_first=True) is not one]
        if odd:
            found[name] = odd

    assert {} == found


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_every_body_is_as_the_schema_asks(server: str, client: str) -> None:
    """The same for whole bodies."""
    found = {}
    for name, data in recorded(server):
        said, error = translated(data, server, client, stream=False)
        body = json.loads(said)
        if error is None and conformed(body, BODIES[client], is_first=True) is not body:
            found[name] = body

    assert {} == found


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_a_cut_finishes_no_call(server: str, client: str) -> None:
    """A stream that is cut before its end gives no call that its own wire does not give, and never a good end."""
    data = (corpora.RECORDINGS / server / PARALLEL[server]).read_bytes()
    whole = {str(call) for call in calls_of(collect([data]))}
    found = []
    for at in range(0, len(data), 11):
        cut, error = translated(data[:at], server, client)
        ended = collect([data[:at]])
        is_over = "missing_finish" not in ended.anomalies and ended.reason is not None and at > 0
        extra = {str(call) for call in calls_of(collect([cut], client))} - whole
        if extra or ((error is None) and not is_over):
            found.append((at, error, extra))

    assert [] == found


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_a_lost_source_finishes_no_call(server: str, client: str) -> None:
    """The same if the connection breaks: the answer is an error, unless its turn was over."""
    data = (corpora.RECORDINGS / server / PARALLEL[server]).read_bytes()
    found = []
    for at in range(0, len(data), 11):
        translator = AnswerTranslator(server, client)
        translator.feed(data[:at])
        was_over = translator.report.ended or translator._parser.has_reasons
        translator.fail("upstream_lost", "lost")
        if (translator.report.error is None) is not was_over:
            found.append(at)

    assert [] == found


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_the_output_depends_on_the_bytes_alone(server: str, client: str) -> None:
    """Not on how they were cut."""
    found = []
    for name, data in recorded(server):
        if len(data) < 2500 and translated(data, server, client, size=1) != translated(data, server, client):
            found.append(name)

    assert [] == found
