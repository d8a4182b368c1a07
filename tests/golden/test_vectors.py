"""Vectors from public issues: quirky streams, bindings, hostile streams, and argument texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support import bless, encode, naive, transcript_rules
from tests.support.renderers import RENDERERS, SERVER_SIDE
from wholecall import ToolCallParser, parse_arguments
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event, StreamFault
from wholecall.history import (
    HISTORY_FORMATS,
    classify_error,
    encode_arguments,
    repair_transcript,
    shrink_arguments,
)
from wholecall.repairing import Repairer

pytestmark = pytest.mark.cases


# Whole texts without any label, of two open calls: nothing is bound by the order of calls any more.
_SUPERSEDED = frozenset({"V45"})


def _load(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_bytes())


def _of_payloads(payloads: Iterable[Any]) -> list[Event]:
    parser = ToolCallParser()
    events: list[Event] = []
    for payload in payloads:
        events += parser.feed_event(payload)
    return events + parser.close()


def _ended(events: list[Event]) -> list[Any]:
    found: list[Any] = [event for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    return sorted(found, key=lambda event: (event.turn, event.choice, event.index))


def _id_agrees(event: Any, wanted: dict[str, Any], taken: set[str]) -> bool:
    if "id" not in wanted or (wanted["id"] is None and isinstance(event, ToolCallDropped)):
        return True
    if wanted["id"] is None or "#" in wanted["id"]:  # minted, of any form, but not taken
        return bool(event.id) and event.id not in taken
    return event.id == wanted["id"]


def _agrees(event: Any, wanted: dict[str, Any]) -> bool:
    """Return whether an ended call is the expected one, but for its id."""
    if event.name != wanted["name"]:
        return False
    if "dropped" in wanted:
        raw = wanted.get("raw", getattr(event, "raw_arguments", None))
        return isinstance(event, ToolCallDropped) and (event.reason, event.raw_arguments) == (
            wanted["dropped"],
            raw,
        )
    if not isinstance(event, ToolCall) or event.arguments != wanted["arguments"]:
        return False
    edits = wanted.get("edits")
    return (
        event.status == wanted.get("status", event.status)
        and set(wanted.get("flags") or ()) <= set(event.flags)
        and (edits is None or set(edits) == {edit.kind for edit in event.edits})
        and event.raw_arguments == wanted.get("raw", event.raw_arguments)
    )


def _complaints(events: list[Event], expected: list[dict[str, Any]]) -> list[str]:
    found = _ended(events)
    if len(found) != len(expected):
        return [f"{len(found)} calls ended, not {len(expected)}: {found}"]
    complaints, taken = [], set()
    for event, wanted in zip(found, expected, strict=True):
        if not _agrees(event, wanted) or not _id_agrees(event, wanted, taken):
            complaints.append(f"{event!r} is not {wanted}")
        taken.add(event.id)
    return complaints


def _failed(cases: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    return {name: complaints for name, complaints in cases if complaints}


def _battery_complaints(case: dict[str, Any]) -> list[str]:
    events = bless.parse([case["sse"].encode()])
    if case["expect"] == "drop":
        return [f"executable: {event!r}" for event in events if isinstance(event, ToolCall)]
    return _complaints(events, case["expect"])


def test_the_quirk_battery_is_survived(vectors_dir: Path) -> None:
    """Each of the streams that broke other accumulators gives its calls, or nothing to execute."""
    cases = _load(vectors_dir, "quirk_battery.json")
    assert _failed((case["id"], _battery_complaints(case)) for case in cases) == {}


def test_no_cut_changes_an_event_of_the_battery(vectors_dir: Path) -> None:
    """At usual chunk sizes and 50 seeded random cuts, a battery stream gives the same full event list."""
    wrong = []
    for case in _load(vectors_dir, "quirk_battery.json"):
        data = case["sse"].encode()
        whole = bless.parse([data])
        cuts = [*(bless.in_chunks(data, size) for size in bless.CHUNK_SIZES)]
        cuts += [iter(bless.at_random(data, seed)) for seed in range(50)]
        wrong += [(case["id"], number) for number, cut in enumerate(cuts) if bless.parse(cut) != whole]
    assert wrong == []


def test_decoded_chat_streams_give_their_calls(vectors_dir: Path) -> None:
    """Fed as decoded payloads, each stream gives the expected calls, statuses, edits, flags and drops."""
    cases = [case for case in _load(vectors_dir, "chat_stream.json") if case["id"] not in _SUPERSEDED]
    results = ((case["id"], _complaints(_of_payloads(case["events"]), case["expect"])) for case in cases)
    assert _failed(results) == {}


def test_fragments_bind_to_their_calls(vectors_dir: Path) -> None:
    """Whatever labels a server gives its fragments, each lands in the call that it belongs to."""
    results = []
    for case in _load(vectors_dir, "chat_binding.json"):
        chunks = [encode.chat_chunk({"tool_calls": [entry]}) for entry in case["tool_call_deltas"]]
        stream = map(encode.sse, [*chunks, encode.chat_chunk({}, finish="tool_calls")])
        results.append((case["title"], _complaints(bless.parse([*stream, encode.done()]), case["expect"])))
    assert _failed(results) == {}


def test_argument_text_is_parsed_once(vectors_dir: Path) -> None:
    """Valid argument text gives its values exactly: nothing inside a string is decoded again."""
    cases = _load(vectors_dir, "policies.json")["R1_parse_once"]
    verdicts = {case["id"]: parse_arguments(case["wire_arguments_text"]) for case in cases}
    assert {name: verdict.arguments for name, verdict in verdicts.items()} == {
        case["id"]: case["expect"] for case in cases
    }
    assert {verdict.status for verdict in verdicts.values()} == {"exact"}


def test_characters_cut_in_half_come_out_whole(vectors_dir: Path) -> None:
    """UTF-8 sequences cut between reads, and escapes cut between deltas, are output whole."""
    for case in _load(vectors_dir, "policies.json")["R1_split_decode"]:
        if "byte_chunks" in case:
            text = b"".join(map(bytes.fromhex, case["byte_chunks"])).decode()
            data = encode.render_chat(encode.Turn([encode.Call("call_1", "f", text)]))
            events = bless.parse(bless.in_chunks(data, 1))
        else:
            deltas = [encode.chat_entry(0, id="call_1", name="f", arguments="")]
            deltas += [encode.chat_entry(0, arguments=text) for text in case["text_chunks"]]
            chunks = [encode.chat_chunk({"tool_calls": [delta]}) for delta in deltas]
            events = _of_payloads([*chunks, encode.chat_chunk({}, finish="tool_calls")])
        assert [event.arguments for event in _ended(events)] == [case["expect"]], case["id"]


def _encodings(arguments: Any) -> dict[str, Any]:
    return {name: encode_arguments(arguments, name) for name in HISTORY_FORMATS}


def _coercion_complaints(case: dict[str, Any]) -> list[str]:
    """Compare with every format, as text or object, and (where the wire had text) as a call or a drop."""
    wanted = {"string": case["chat_string"], "object": case["object"]}
    given: list[Any] = [case["object"] if case["raw"] is None else case["raw"]]
    if case["raw"] is not None:
        chunk = encode.chat_chunk(
            {"tool_calls": [encode.chat_entry(0, id="c", name="f", arguments=case["raw"])]}
        )
        given += _ended(_of_payloads([chunk, encode.chat_chunk({}, finish="tool_calls")]))
        given.append(ToolCallDropped(0, 0, 0, "c", "f", "function", case["raw"], "aborted"))
    if wanted["object"] != {"INVALID_JSON": case["raw"]}:
        given = given[:2]  # a drop is never read again
    complaints = []
    for arguments in given:
        for name, found in _encodings(arguments).items():
            expected = wanted[HISTORY_FORMATS[name].carries]
            if HISTORY_FORMATS[name].strict_json_arguments and "INVALID_JSON" in wanted["object"]:
                expected = encode.compact(wanted["object"])
            if found != expected:
                complaints.append(f"{name}: {type(arguments).__name__} became {found!r}")
    return complaints


def test_arguments_are_coerced_for_each_format(vectors_dir: Path) -> None:
    """Text goes back byte for byte where text is carried, objects where objects are; all else is wrapped."""
    cases = _load(vectors_dir, "policies.json")["R0_coercion"]
    assert _failed((case["id"], _coercion_complaints(case)) for case in cases) == {}


def test_every_dialect_decodes_once(vectors_dir: Path) -> None:
    """The same argument text gives equal arguments through every dialect, and on the way back in every format."""
    wrong = []
    for case in _load(vectors_dir, "policies.json")["R1_parse_once"]:
        raw = case["wire_arguments_text"]
        turn = encode.Turn([encode.Call("call_1", "f", raw)])
        for dialect in RENDERERS.keys() - SERVER_SIDE:
            (call,) = _ended(bless.parse([RENDERERS[dialect](turn, encode.every(3))]))
            back = _encodings(call)
            objects = [found if isinstance(found, dict) else json.loads(found) for found in back.values()]
            if [call.arguments, *objects] != [case["expect"]] * (1 + len(objects)):
                wrong.append((case["id"], dialect))
    assert wrong == []


def test_shrunk_arguments_stay_valid(vectors_dir: Path) -> None:
    """Long strings are cut in the text, between characters; nothing else changes, and nothing gets longer."""
    for case in _load(vectors_dir, "policies.json")["R2_shrink"]:
        found = shrink_arguments(case["input"], **case["options"])
        assert found.text == case["expect"], case["id"]
        assert found.changed == (case["input"] != case["expect"]), case["id"]
        assert found.valid == (parse_arguments(case["input"]).reason != "truncated"), case["id"]
        assert shrink_arguments(found.text, **case["options"]).text is found.text, case["id"]


def _recovery_complaints(case: dict[str, Any]) -> list[str]:
    verdict, wanted = parse_arguments(case["raw"]), case["expect"]
    found = {"status": verdict.status, "reason": verdict.reason, "arguments": verdict.arguments}
    complaints = [
        f"{name}: {found[name]!r}" for name in found if name in wanted and found[name] != wanted[name]
    ]
    edits = {edit.kind for edit in verdict.edits}
    if "edits" in wanted and edits != set(wanted["edits"]):
        complaints.append(f"edits: {sorted(edits)}")
    if not set(wanted.get("flags", ())) <= set(verdict.flags):
        complaints.append(f"flags: {verdict.flags}")
    return complaints


def test_recovery_is_lossless_or_a_drop(vectors_dir: Path) -> None:
    """Each argument text is normalised, recovered or dropped as the policy says."""
    cases = _load(vectors_dir, "policies.json")["R4_recovery"]
    assert _failed((case["id"], _recovery_complaints(case)) for case in cases) == {}


def _error_complaints(case: dict[str, Any]) -> list[str]:
    body = {"error": {"message": case["message"], "type": "invalid_request_error"}}
    doors = {
        "text": classify_error(case["status"], case["message"]),
        "body": classify_error(case["status"], body),
        "fault": classify_error(StreamFault(0, 0, "provider_error", "", {"message": case["message"]})),
    }
    wanted = {name: tuple(value) if name == "ids" else value for name, value in case["expect"].items()}
    return [
        f"{door}: {name} {getattr(found, name)!r}"
        for door, found in doors.items()
        for name, value in wanted.items()
        if getattr(found, name) != value
    ]


def test_errors_have_their_class(vectors_dir: Path) -> None:
    """Each provider's error is told apart by its words, as a response and inside a stream."""
    cases = _load(vectors_dir, "policies.json")["R3_format_errors"]
    assert _failed((case["id"], _error_complaints(case)) for case in cases) == {}


def _transcript_complaints(case: dict[str, Any]) -> list[str]:
    messages, wanted = case["messages"], case.get("expect")
    found = repair_transcript(messages)
    complaints = []
    if wanted == "SAME_OBJECT":
        complaints += [] if found.messages is messages else ["the list is another object"]
    elif wanted is not None and found.messages != wanted:
        complaints.append(f"messages: {found.messages}")
    if "expect_pairing" in case and transcript_rules.complaints("anthropic", list(found.messages)):
        complaints.append(f"pairing: {found.messages}")
    for fact, value in case["report"].items():
        told = getattr(found.report, fact)
        if (len(told) if isinstance(value, int) and isinstance(told, list) else told) != value:
            complaints.append(f"{fact}: {told}")
    return complaints


def test_transcripts_are_repaired(vectors_dir: Path) -> None:
    """Each transcript is repaired as expected, with the facts that belong to it; thoughts are counted."""
    cases = _load(vectors_dir, "policies.json")["R3_transcript"]
    assert _failed((case["id"], _transcript_complaints(case)) for case in cases) == {}


def _repaired(data: bytes) -> bytes:
    repairer = Repairer()
    return repairer.feed(data) + repairer.close()


def _repair_complaints(case: dict[str, Any]) -> list[str]:
    """Read a repaired stream of the battery with loops that go by index, set labels once or append them."""
    out = _repaired(case["sse"].encode())
    expected = [] if case["expect"] == "drop" else case["expect"]
    complaints = []
    for style in naive.STYLES:
        found = naive.read_calls("chat-completions", out, style)
        told = [{"name": name, "arguments": json.loads(text)} for _, name, text in found]
        if told != [{key: wanted[key] for key in ("name", "arguments")} for wanted in expected]:
            complaints.append(f"{style}: {told}")
        if len({id for id, _, _ in found}) != len(found) or any(not id for id, _, _ in found):
            complaints.append(f"{style}: ids {found}")
    reasons = set(naive.finish_reasons(out))
    if (reasons == {"tool_calls"}) != bool(expected):
        complaints.append(f"reasons {reasons}")
    return complaints


def test_naive_loops_survive_the_battery_when_it_is_repaired(vectors_dir: Path) -> None:
    """From each repaired stream of the battery naive loops get exactly the expected calls, under unlike ids."""
    cases = _load(vectors_dir, "quirk_battery.json")
    assert _failed((case["id"], _repair_complaints(case)) for case in cases) == {}


def test_a_healthy_stream_of_the_battery_is_untouched(vectors_dir: Path) -> None:
    """The streams of the battery that every loop survives are output byte for byte."""
    cases = _load(vectors_dir, "quirk_battery.json")
    same = [case["id"] for case in cases if _repaired(case["sse"].encode()) == case["sse"].encode()]
    assert same == ["B01", "B22"]
