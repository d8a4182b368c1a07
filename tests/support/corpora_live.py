"""Recordings of Gemini's sessions and interactions, and of xAI's own API: payloads of our own in their envelopes."""

from __future__ import annotations

import json

from tests.support import encode_live as live
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, json_lines

__all__: list[str] = []


def _server(id: str | None, name: str, arguments: JSON) -> JSON:
    found: JSON = {"id": id, "name": name, "arguments": arguments}
    return found if id is not None else found | {"flags": ["id_generated"]}


# Gemini Live


@case("gemini-live/single-call", suffix="ndjson")
def live_single_call() -> Built:
    """A thought, a call, and after its result the spoken answer, all in one turn; speech is told as text."""
    call = Call("fc_7720186", "read_gauge", '{"lock":"Écluse 4","unit":"cm"}')
    messages = [
        live.setup(),
        live.part({"text": "**Reading the gauge**\n\nLock 4 was asked for.", "thought": True}),
        live.tool_call(call),
        {"sessionResumptionUpdate": {"newHandle": "5e7a-handle", "resumable": True}},
        live.content(),
        *(live.audio(text) for text in ("Il y a", " 212", " centimètres.", None)),
        live.content(generationComplete=True),
        live.turn_complete(58),
    ]
    return json_lines(messages), expect(good(call.id, call.name, {"lock": "Écluse 4", "unit": "cm"}))


@case("gemini-live/parallel-calls", 26, suffix="ndjson")
def live_parallel_calls() -> Built:
    """Three calls in one message; one has an empty object, one no arguments: each is ended by its message."""
    calls: list[JSON] = [
        {"id": "fn-1", "name": "open_gate", "args": {"lock": 4, "gate": "upper"}},
        {"id": "fn-2", "name": "list_barges", "args": {}},
        {"id": "fn-3", "name": "ring_bell"},
    ]
    data = json_lines([live.setup(), live.tool_call(*calls)])
    return data, expect(
        good("fn-1", "open_gate", {"lock": 4, "gate": "upper"}),
        good("fn-2", "list_barges", {}),
        good("fn-3", "ring_bell", {}, "empty"),
        anomalies=["missing_finish"],
    )


@case("gemini-live/interrupted-and-taken-back", 94, suffix="ndjson")
def live_taken_back() -> Built:
    """The user interrupts: one call is taken back in its turn, another one in the next; both had come out."""
    messages = [
        live.setup(),
        live.tool_call(
            {"id": "fn-10", "name": "fill_chamber", "args": {"lock": 2}},
            {"id": "fn-11", "name": "log_passage", "args": {"barge": "Zeelandia"}},
        ),
        live.audio("Filling the"),
        live.content(interrupted=True),
        {"toolCallCancellation": {"ids": ["fn-10"]}},
        live.turn_complete(),
        live.content(inputTranscription={"text": "No, wait."}),
        live.audio("Stopped."),
        {"toolCallCancellation": {"ids": ["fn-11", "fn-0"]}},
        live.turn_complete(),
    ]
    return json_lines(messages), expect(
        good("fn-10", "fill_chamber", {"lock": 2}),
        good("fn-11", "log_passage", {"barge": "Zeelandia"}),
        reason="stop",
    )


@case("gemini-live/cut-inside-a-message", 51, suffix="ndjson")
def live_cut() -> Built:
    """The connection breaks inside a message with a call: that one never was; the call before it is whole."""
    last = json_lines(
        [live.tool_call({"id": "fn-21", "name": "open_gate", "args": {"lock": 1, "gate": "lower"}})]
    )
    data = json_lines(
        [live.setup(), live.tool_call({"id": "fn-20", "name": "close_gate", "args": {"lock": 1}})]
    )
    return data + last[:88], expect(
        good("fn-20", "close_gate", {"lock": 1}),
        faults=["undecodable_frame"],
        anomalies=["missing_finish"],
    )


@case("gemini-live/error", 52, suffix="ndjson")
def live_error() -> Built:
    """An error ends the session; the call before it was whole."""
    error = {"code": 1011, "message": "Internal error encountered.", "status": "INTERNAL"}
    messages = [
        live.setup(),
        {"goAway": {"timeLeft": "4.5s"}},
        live.tool_call({"id": "fn-30", "name": "read_gauge", "args": {"lock": 3}}),
        {"error": error},
    ]
    found = good("fn-30", "read_gauge", {"lock": 3})
    return json_lines(messages), expect(found, reason="error", faults=["provider_error"])


@case("gemini-live/pretty-printed-two-channels", 97, 96, suffix="json")
def live_two_channels() -> Built:
    """Pretty-printed messages. A signed call comes as a part and again as a message: it is one; code is the server's."""
    call = Call("fn-40", "post_notice", json.dumps({"text": "水位 +12 \U0001f6a2", "lang": "ja"}))
    signed = {"functionCall": live.function_call(call), "thoughtSignature": "CqYBAVSoXO4lockGateSignature=="}
    code = {"executableCode": {"language": "PYTHON", "code": "print(212 - 200)"}}
    messages = [
        live.setup(),
        live.part(code, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "12\n"}}),
        live.part(signed),
        live.tool_call(call),
        live.turn_complete(40),
    ]
    data = "".join(json.dumps(message, indent=2, ensure_ascii=False) + "\n" for message in messages).encode()
    extra = {"thoughtSignature": "CqYBAVSoXO4lockGateSignature=="}
    return data, expect(
        good("fn-40", "post_notice", {"text": "水位 +12 \U0001f6a2", "lang": "ja"}, extra=extra),
        server=[_server(None, "code_execution", {"input": "print(212 - 200)"})],
    )


@case("gemini-live/text-turns", 88, suffix="ndjson")
def live_text_turns() -> Built:
    """Two turns: a written answer whose usage comes later, and one whose call the provider could not read."""
    messages = [
        live.setup(),
        live.content(inputTranscription={"text": "What is the level?"}),
        live.part({"text": "212 "}),
        live.part({"text": "cm, rising ↗"}),
        live.content(generationComplete=True),
        live.content(turnComplete=True),
        {"usageMetadata": live.usage(91, 12)},
        live.audio("Let me"),
        live.turn_complete(4, turnCompleteReason="MALFORMED_FUNCTION_CALL"),
    ]
    return json_lines(messages), expect(reason="malformed", dropped=[drop(None, None, "unparseable", "")])
