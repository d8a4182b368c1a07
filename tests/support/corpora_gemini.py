"""Recordings of Gemini: payloads of our own in the provider's envelopes, with what must come out of each."""

from __future__ import annotations

import json
from typing import Any

from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, every, json_array, json_lines, sse
from tests.support.encode_gemini import body, call_part, frame, patch, render, streamed_frames, usage

SIGNATURE = "CpMBAXLI2nwTideTable3rdWaveSignatureQm9keQ=="
SIGNED = {"thoughtSignature": SIGNATURE}


def _stream(*payloads: JSON) -> bytes:
    """Return the frames as the provider's server-sent events."""
    return b"".join(sse(payload, newline=b"\r\n") for payload in payloads)


def _call(name: str, **members: Any) -> JSON:
    """Return a part with a function call of these members."""
    return {"functionCall": {"name": name, **members}}


def _pieces(*found: JSON, more: bool = True) -> JSON:
    """Return a part with pieces of a call."""
    return {"functionCall": {"partialArgs": list(found)} | ({"willContinue": True} if more else {})}


def _server(id: str | None, name: str, arguments: JSON) -> JSON:
    found: JSON = {"id": id, "name": name, "arguments": arguments}
    return found if id is not None else found | {"flags": ["id_generated"]}


# Whole calls


@case("gemini/single-call", 66, 96)
def single_call() -> Built:
    """Thoughts, text, one signed call with an id; the reason comes later, with an empty part."""
    about = {"id": "kXwBaZ-tide-0001", "model": "gemini-3-pro-preview"}
    data = _stream(
        frame({"text": "**Looking up the tide**\n\nBrest it is.", "thought": True}, **about),
        frame({"text": "Let me look at the tide table."}, **about),
        frame(call_part(Call("fc_81", "get_tide", '{"port":"Brest","days":2}'), **SIGNED), **about),
        frame({"text": ""}, reason="STOP", tokens=31, **about),
    )
    return data, expect(good("fc_81", "get_tide", {"port": "Brest", "days": 2}, extra=SIGNED))


@case("gemini/parallel-calls", 66, 96, suffix="json")
def parallel_calls() -> Built:
    """A JSON array. Calls without ids, two in a frame and one in the next: positions start again, equal calls stay."""
    brest, quay = {"port": "Brest"}, {"port": "Roscoff", "unit": "m"}
    data = json_array(
        [
            frame(_call("get_tide", args=brest) | SIGNED, _call("get_tide", args=quay), id="pXwC-2"),
            frame(_call("get_tide", args=brest), id="pXwC-2"),
            frame(reason="STOP", tokens=44, id="pXwC-2"),
        ]
    )
    calls = [good(None, "get_tide", arguments) for arguments in (brest, quay, brest)]
    return data, expect(*calls)


@case("gemini/no-arguments", 26)
def no_arguments() -> Built:
    """Calls without `args`, with an empty object, and with null, the last one beside the reason."""
    data = _stream(
        frame(_call("list_ports"), _call("now", args={}), id="nA-3"),
        frame(_call("refresh", args=None), reason="STOP", id="nA-3"),
    )
    return data, expect(
        good(None, "list_ports", {}, "empty"), good(None, "now", {}), good(None, "refresh", {}, "empty")
    )


@case("gemini/cut-at-length", 49)
def cut_at_length() -> Built:
    """The turn is cut at a call without arguments: they may have been cut with it. The one before is whole."""
    data = _stream(
        frame(_call("get_tide", args={"port": "Concarneau"}), id="cL-4"),
        frame(_call("delete_readings"), reason="MAX_TOKENS", id="cL-4"),
    )
    return data, expect(
        good(None, "get_tide", {"port": "Concarneau"}),
        reason="length",
        dropped=[drop(None, "delete_readings", "truncated", "")],
    )


@case("gemini/cut-stream", 46, 51)
def cut_stream() -> Built:
    """The connection breaks inside a frame: what came whole is whole, but a call without arguments is not."""
    last = _stream(frame(_call("send_alert", args={"to": "harbour@example.org", "level": 3}), id="cS-5"))
    data = _stream(frame(_call("get_tide", args={"port": "Le Conquet"}), id="cS-5"))
    data += _stream(frame(_call("list_ports"), id="cS-5")) + last[:96]
    return data, expect(
        good(None, "get_tide", {"port": "Le Conquet"}),
        dropped=[drop(None, "list_ports", "unterminated", "")],
        faults=["undecodable_frame"],
        anomalies=["missing_finish"],
    )


ERROR: JSON = {
    "error": {
        "code": 503,
        "message": "The model is overloaded. Please try again later.",
        "status": "UNAVAILABLE",
    }
}


@case("gemini/error-among-the-lines", 52)
def error_among_the_lines() -> Built:
    """An error comes as bare, pretty-printed JSON among the events, inside a call that is being streamed."""
    data = _stream(
        frame(_call("book_berth", willContinue=True), id="eL-6"),
        frame(_pieces(patch("$.port", "Bres", more=True)), id="eL-6"),
    )
    data += json.dumps(ERROR, indent=2).encode() + b"\n"
    return data, expect(
        reason="error",
        dropped=[drop(None, "book_berth", "aborted", '{"port":"Bres"')],
        faults=["provider_error"],
    )


@case("gemini/error-in-the-array", 52, suffix="json")
def error_in_the_array() -> Built:
    """An error is an element of the array; the call before it had ended."""
    data = json_array([frame(_call("get_tide", args={"port": "Brest"}), id="eA-7"), ERROR])
    return data, expect(good(None, "get_tide", {"port": "Brest"}), reason="error", faults=["provider_error"])


@case("gemini/whole-body", 90, suffix="json")
def whole_body() -> Built:
    """A pretty-printed body that was not streamed: thought, text and calls, letters of many scripts."""
    arguments = {"title": "Marée à 06:12 🌊", "note": 'הים "גבוה"\n満潮', "readings": [4.5, 1e-3, -0.0]}
    turn = Turn(
        [Call("fc_b1", "create_notice", json.dumps(arguments)), Call("fc_b2", "list_ports", "{}")],
        text="Je l'écris.",
        reasoning="Der Nutzer möchte einen Aushang.",
        id="wB-8",
        model="gemini-2.5-pro",
    )
    data = json.dumps(body(turn), indent=2, ensure_ascii=False).encode()
    return data, expect(good("fc_b1", "create_notice", arguments), good("fc_b2", "list_ports", {}))


@case("gemini/text-only")
def text_only() -> Built:
    """No call at all: thoughts and text in small pieces."""
    turn = Turn(text="High water at Brest is at 06:12. 🌊", reasoning="Plain question.", id="tO-9")
    return render(turn, every(7)), expect(reason="stop")


@case("gemini/provider-tools", 96)
def provider_tools() -> Built:
    """The provider searches and runs code itself; their results are no calls."""
    search = {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["Brest tide"]}, "id": "d6vq"}
    code = "print(6.9 - 1.2)\n"
    found: JSON = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {}, "id": "d6vq"}}
    data = _stream(
        frame({"toolCall": search} | SIGNED, found, id="pT-10"),
        frame({"executableCode": {"language": "PYTHON", "code": code}}, id="pT-10"),
        frame({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "5.7\n"}}, id="pT-10"),
        frame({"text": "The range is 5.7 m."}, reason="STOP", id="pT-10", groundingMetadata={}),
    )
    return data, expect(
        reason="stop",
        server=[
            _server("d6vq", "GOOGLE_SEARCH_WEB", {"queries": ["Brest tide"]}) | {"extra": SIGNED},
            _server(None, "code_execution", {"input": code}) | {"extra": {"language": "PYTHON"}},
        ],
    )


@case("gemini/two-candidates", 82)
def two_candidates() -> Built:
    """Two alternative answers in one stream, the second one first; each has its own call."""
    first = frame(_call("get_tide", args={"port": "Brest"}), reason="STOP", id="tC-11")
    second = frame(_call("get_wind", args={"port": "Brest"}), index=1, id="tC-11")
    ended = frame(reason="STOP", index=1, id="tC-11")
    both = first | {"candidates": [*second["candidates"], *first["candidates"]]}
    calls = [good(None, name, {"port": "Brest"}) for name in ("get_tide", "get_wind")]
    return _stream(both, ended), expect(*calls)


@case("gemini/wrapped-lines", 95, suffix="ndjson")
def wrapped_lines() -> Built:
    """JSON lines of a server that puts each response one level down."""
    data = json_lines(
        {"response": payload, "traceId": "9f2c"}
        for payload in (
            frame({"text": "One moment."}, id="wL-12"),
            frame(call_part(Call("fc_w", "get_tide", '{"port":"Brest"}')), reason="STOP", id="wL-12"),
        )
    )
    return data, expect(good("fc_w", "get_tide", {"port": "Brest"}))


@case("gemini/snake-case-lines", 95, suffix="ndjson")
def snake_case_lines() -> Built:
    """The Python SDK's own dump, a line per chunk: other spellings, null for what is absent."""
    empty = {"text": None, "thought": None, "executable_code": None, "inline_data": None}

    def line(part: JSON, reason: str | None) -> JSON:
        candidate = {
            "content": {"parts": [empty | part], "role": "model"},
            "finish_reason": reason,
            "index": 0,
        }
        return {
            "candidates": [candidate],
            "prompt_feedback": None,
            "usage_metadata": {"prompt_token_count": 84, "total_token_count": 96},
            "model_version": "gemini-2.5-flash",
            "response_id": "sC-13",
        }

    absent = {"id": None, "partial_args": None, "will_continue": None}
    call = {"function_call": {"name": "get_tide", "args": {"port": "Brest"}} | absent}
    data = json_lines([line(call | {"thought_signature": SIGNATURE}, None), line({"text": ""}, "STOP")])
    return data, expect(good(None, "get_tide", {"port": "Brest"}, extra=SIGNED))


# Reasons


@case("gemini/malformed-call", 68)
def malformed_call() -> Built:
    """The provider could not read what the model wrote: a drop with that text, and no call."""
    text = "Malformed function call: print(default_api.get_tide(port='Brest', days=))"
    payload = frame(reason="MALFORMED_FUNCTION_CALL", id="mC-14", finishMessage=text)
    payload["candidates"][0]["content"] = {}
    return _stream(frame({"text": "Let me look."}, id="mC-14"), payload), expect(
        reason="malformed", dropped=[drop(None, None, "unparseable", text)]
    )


@case("gemini/blocked-prompt")
def blocked_prompt() -> Built:
    """The prompt was blocked: no candidate at all."""
    payload = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": usage(84, 0),
        "modelVersion": "gemini-2.5-flash",
        "responseId": "bP-15",
    }
    return _stream(payload), expect(reason="content_filter")


# Streamed arguments

ROUTE: JSON = {
    "boat": "Ar Men é 🌊",
    "legs": [{"from": "Brest", "to": "Ouessant", "miles": 21.5}, {"from": "Ouessant", "night": True}],
    "odd 'key'.[0]": None,
    "crew": ["Anne", "Yann"],
}


@case("gemini/streamed-arguments", 67)
def streamed_arguments() -> Built:
    """Nested arguments in pieces at paths, with heartbeats, then a second call at once."""
    first, second = (
        Call("fc_s1", "plan_route", json.dumps(ROUTE)),
        Call("fc_s2", "get_tide", '{"port":"Brest"}'),
    )
    about = {"id": "sA-16", "model": "gemini-3-pro-preview"}
    frames = streamed_frames(first, every(4), **about)
    frames.insert(5, frame({"functionCall": {"willContinue": True}}, **about))
    frames[0]["candidates"][0]["content"]["parts"][0] |= SIGNED
    frames += streamed_frames(second, **about)
    data = _stream(*frames, frame({"text": ""}, reason="STOP", **about))
    return data, expect(
        good("fc_s1", "plan_route", ROUTE, extra=SIGNED), good("fc_s2", "get_tide", {"port": "Brest"})
    )


@case("gemini/streamed-arguments-ended-by-stop", 67)
def streamed_ended_by_stop() -> Built:
    """The empty part at the end is missing: another named call ends the first one, STOP the second."""
    data = _stream(
        frame(_call("set_mark", willContinue=True), id="sS-17"),
        frame(
            _pieces(patch("$.lat", 48.38), patch("$.tags[0]", "buoy"), patch("$.tags[1]", "lit")), id="sS-17"
        ),
        frame(_call("set_alarm", willContinue=True), id="sS-17"),
        frame(_pieces(patch("$.at", "06:", more=True)), id="sS-17"),
        frame(_pieces(patch("$.at", "12")), id="sS-17"),
        frame(reason="STOP", id="sS-17"),
    )
    return data, expect(
        good(None, "set_mark", {"lat": 48.38, "tags": ["buoy", "lit"]}),
        good(None, "set_alarm", {"at": "06:12"}),
    )


@case("gemini/streamed-arguments-cut", 51, 67)
def streamed_cut() -> Built:
    """The stream ends between two pieces: what was built is a whole object, and is no call."""
    data = _stream(
        frame(_call("run_shell", willContinue=True), id="sC-18"),
        frame(_pieces(patch("$.command", "rm -rf /srv/tides", more=True)), id="sC-18"),
        frame(_pieces(patch("$.command", "")), id="sC-18"),
    )
    raw = '{"command":"rm -rf /srv/tides"'
    return data, expect(
        dropped=[drop(None, "run_shell", "unterminated", raw)],
        reason="malformed",
        anomalies=["missing_finish"],
    )


@case("gemini/streamed-arguments-at-length", 49, 67)
def streamed_at_length() -> Built:
    """The turn is cut for length after a whole value: more members may have been due."""
    data = _stream(
        frame(_call("move_file", willContinue=True), id="sL-19"),
        frame(_pieces(patch("$.from", "/srv/a"), patch("$.overwrite", False)), id="sL-19"),
        frame(reason="MAX_TOKENS", id="sL-19"),
    )
    raw = '{"from":"/srv/a","overwrite":false'
    return data, expect(dropped=[drop(None, "move_file", "truncated", raw)], reason="length")


@case("gemini/streamed-arguments-open-value", 67)
def streamed_open_value() -> Built:
    """The call ends although its last value was announced to go on."""
    data = _stream(
        frame(_call("send_alert", willContinue=True), id="sO-20"),
        frame(_pieces(patch("$.text", "Evacuate quay", more=True)), id="sO-20"),
        frame({"functionCall": {}}, reason="STOP", id="sO-20"),
    )
    raw = '{"text":"Evacuate quay"'
    return data, expect(dropped=[drop(None, "send_alert", "truncated", raw)], reason="malformed")


@case("gemini/streamed-arguments-gap", 67)
def streamed_gap() -> Built:
    """An element beyond the end of its array: the one before it was lost. The next call is whole."""
    data = _stream(
        frame(_call("set_marks", willContinue=True), id="sG-21"),
        frame(_pieces(patch("$.marks[0]", "north"), patch("$.marks[2]", "south")), id="sG-21"),
        frame({"functionCall": {}}, id="sG-21"),
        frame(_call("get_tide", args={"port": "Brest"}), reason="STOP", id="sG-21"),
    )
    return data, expect(
        good(None, "get_tide", {"port": "Brest"}),
        dropped=[drop(None, "set_marks", "incomplete_input", '{"marks":["north"]')],
    )


@case("gemini/streamed-arguments-lost-frame", 67)
def streamed_lost_frame() -> Built:
    """A frame between two pieces cannot be read: the call is incomplete, though the wire ends it."""
    data = _stream(
        frame(_call("run_shell", willContinue=True), id="sF-22"),
        frame(_pieces(patch("$.command", "rm -rf /srv/", more=True)), id="sF-22"),
    )
    data += b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs"\r\n\r\n'
    data += _stream(
        frame(_pieces(patch("$.command", "")), id="sF-22"),
        frame({"functionCall": {}}, reason="STOP", id="sF-22"),
    )
    raw = '{"command":"rm -rf /srv/"}'
    return data, expect(
        dropped=[drop(None, "run_shell", "incomplete_input", raw)],
        reason="malformed",
        faults=["undecodable_frame"],
    )
