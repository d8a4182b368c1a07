"""Recordings of Ollama's dialects: `/api/chat` and `/api/generate`."""

from __future__ import annotations

import json
from typing import Any

from tests.support import encode_ollama as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import ABSENT, JSON, Call, Turn, compact, every, json_lines
from tests.support.encode_ollama import call_entry, last, line, said

__all__: list[str] = []


def lines(model: str, *messages: JSON, reason: Any = "stop", end: JSON | None = None) -> bytes:
    """Return a chat: a line for each message, and a last one that says `end`."""
    middle = [line(message, model=model, nth=nth) for nth, message in enumerate(messages)]
    return json_lines([*middle, last(end or said(), reason=reason, model=model, nth=len(middle))])


@case("ollama/single-call", 43, suffix="ndjson")
def single_call() -> Built:
    """Thinking, then one call, whole in its line; the reason is `stop` all the same."""
    call = Call("call_q8d2vm0x", "lookup_tide", '{"port":"Brest","hours":[6,18]}')
    turn = Turn([call], reasoning="The user wants tides. Brest it is.", model="qwen3:8b")
    found = good(call.id, call.name, {"port": "Brest", "hours": [6, 18]})
    return wire.render(turn, every(7)), expect(found, anomalies=["finish_reason_mismatch"])


@case("ollama/parallel-in-one-line", 3, suffix="ndjson")
def parallel_in_one_line() -> Built:
    """Three calls in one line, two of them equal but for their ids, all with index 0."""
    calls = [
        call_entry("ring_bell", {"times": 2}, id="call_a1", index=0),
        call_entry("ring_bell", {"times": 2}, id="call_b2", index=0),
        call_entry("log_watch", {"officer": "Ødegård", "bell": "⏰"}, id="call_c3", index=0),
    ]
    found = (
        good("call_a1", "ring_bell", {"times": 2}),
        good("call_b2", "ring_bell", {"times": 2}),
        good("call_c3", "log_watch", {"officer": "Ødegård", "bell": "⏰"}),
    )
    return lines("gpt-oss:20b", said(tool_calls=calls)), expect(*found)


@case("ollama/old-server-without-ids", 8, 26, suffix="ndjson")
def without_ids() -> Built:
    """An old server sends neither id nor index; a call without arguments has `{}`, the next line a second one."""
    first = said(tool_calls=[call_entry("read_barometer", {})])
    second = said(tool_calls=[call_entry("read_barometer", {}), call_entry("note", {"hPa": 1013.25})])
    found = [good(None, "read_barometer", {}), good(None, "read_barometer", {})]
    found.append(good(None, "note", {"hPa": 1013.25}))
    return lines("granite3-dense:8b", first, second), expect(*found)


@case("ollama/calls-in-last-line", 86, 22, suffix="ndjson")
def calls_in_last_line() -> Built:
    """An emulator puts the calls into the last line, one with its arguments as a string, one without any."""
    calls = [
        call_entry("set_course", '{"heading": 270, "knots": 5.5}', id="call_1"),
        call_entry("drop_anchor", None, id="call_2"),
    ]
    data = lines("llama-swap", said("Aye."), end=said(tool_calls=calls))
    found = (
        good("call_1", "set_course", {"heading": 270, "knots": 5.5}),
        good("call_2", "drop_anchor", {}, "empty"),
    )
    return data, expect(*found)


@case("ollama/told-again-at-the-end", 23, 64, suffix="ndjson")
def told_again() -> Built:
    """The last line tells the same call again, beside another one under the same id."""
    one = call_entry("hoist_flag", {"flag": "Q"}, id="call_0")
    other = call_entry("hoist_flag", {"flag": "H"}, id="call_0")
    found = (
        good("call_0", "hoist_flag", {"flag": "Q"}),
        good("call_0#2", "hoist_flag", {"flag": "H"}, flags=["duplicate_id"]),
    )
    return lines("mistral-nemo", said(tool_calls=[one]), end=said(tool_calls=[one, other])), expect(*found)


@case("ollama/cut-length", 49, suffix="ndjson")
def cut_length() -> Built:
    """The token limit: one call was whole, of another only the name is there."""
    calls = [
        call_entry("lower_boat", {"side": "port"}, id="call_L1"),
        call_entry("abandon_ship", "", id="call_L2"),
    ]
    data = lines("phi4-mini", said("Lowering."), said(tool_calls=calls), reason="length")
    cut = drop("call_L2", "abandon_ship", "truncated", "")
    return data, expect(good("call_L1", "lower_boat", {"side": "port"}), reason="length", dropped=[cut])


@case("ollama/cut-inside-a-line", 51, suffix="ndjson")
def cut_inside_a_line() -> Built:
    """The connection ends inside the line of the second call: nothing of it was said, the first one was whole."""
    calls = [Call("call_k1", "open_valve", '{"id":7}'), Call("call_k2", "open_valve", '{"id":70000}')]
    data = wire.render(Turn(calls, text="Both valves.", model="llama3.3"), every(4))
    data = data[: data.index(b"70000") + 2]
    found = good("call_k1", "open_valve", {"id": 7})
    return data, expect(found, faults=["undecodable_frame"], anomalies=["missing_finish"])


@case("ollama/error-line", 52, suffix="ndjson")
def error_line() -> Built:
    """The runner dies after one call: the error is fatal, the call was whole before."""
    messages = [
        said("One moment. "),
        said(tool_calls=[call_entry("save_log", {"name": "a.txt"}, id="call_e", index=0)]),
    ]
    payloads = [line(message, model="deepseek-r1:7b", nth=nth) for nth, message in enumerate(messages)]
    payloads.append(wire.error_line("llama runner process has terminated: signal: killed"))
    found = good("call_e", "save_log", {"name": "a.txt"})
    return json_lines(payloads), expect(found, reason="error", faults=["provider_error"])


@case("ollama/nameless", 20, suffix="ndjson")
def nameless() -> Built:
    """A call without a name between two that have one."""
    calls = [
        call_entry("first_mate", {"n": 1}, id="call_n1", index=0),
        call_entry("", {"n": 2}, id="call_n2", index=1),
        call_entry("bosun", {"n": 3}, id="call_n3", index=2),
    ]
    found = (good("call_n1", "first_mate", {"n": 1}), good("call_n3", "bosun", {"n": 3}))
    lost = drop("call_n2", None, "nameless", '{"n":2}')
    return lines("command-r7b", said(tool_calls=calls)), expect(*found, dropped=[lost])


@case("ollama/whole-body", 90, suffix="json")
def whole_body() -> Built:
    """A non-streamed response, pretty-printed, with thinking, text and two calls."""
    calls = [
        Call("call_w1", "translate", '{"text":"C\'est la marée \U0001f30a","to":"nb"}'),
        Call("call_w2", "finish", "{}"),
    ]
    turn = Turn(calls, text="Traduisons.", reasoning="French to Norwegian.", model="qwen3:30b-a3b")
    found = (
        good("call_w1", "translate", {"text": "C'est la marée \U0001f30a", "to": "nb"}),
        good("call_w2", "finish", {}),
    )
    return json.dumps(wire.body(turn), indent=2, ensure_ascii=False).encode(), expect(*found)


@case("ollama-generate/text", suffix="ndjson")
def generate_text() -> Built:
    """A completion in small pieces; what looks like a call in it is text."""
    text = 'Høy vind.\n{"name": "reef", "arguments": {"sails": 2}}'
    turn = Turn(text=text, model="llama3.2")
    return json_lines(wire.generate_payloads(turn, every(6))), expect(reason="stop")


@case("ollama-generate/thinking-cut-length", 49, suffix="ndjson")
def generate_thinking() -> Built:
    """A completion that thinks first and runs out of tokens."""
    turn = Turn(text="The lamp is", reasoning="Lamps, then.", model="qwen3:4b", stopped="length")
    return json_lines(wire.generate_payloads(turn, every(5))), expect(reason="length")


@case("ollama-generate/dropped-connection", 51, suffix="ndjson")
def generate_dropped() -> Built:
    """The connection ends between two lines: the text stays, and the end is missing."""
    payloads = wire.generate_payloads(Turn(text="All stations, all st", model="gemma3"), every(9))
    return json_lines(payloads[:-1]), expect(reason="unknown", anomalies=["missing_finish"])


@case("ollama-generate/error-line", 52, suffix="ndjson")
def generate_error() -> Built:
    """An error line after some text."""
    payloads = [line("Mayd", member="response", model="gemma3:27b")]
    payloads.append(wire.error_line("unexpected EOF"))
    return json_lines(payloads), expect(reason="error", faults=["provider_error"])


@case("ollama-generate/whole-body", 90, suffix="json")
def generate_body() -> Built:
    """A non-streamed completion."""
    end = last("Ebb at 04:12.", model="smollm2", member="response", context=[1, 4093, 198])
    return compact(end).encode(), expect(reason="stop")


@case("ollama-generate/old-server-no-reason", 46, suffix="ndjson")
def generate_no_reason() -> Built:
    """An old server ends without a reason, and an empty prompt only loads the model."""
    loaded = last("", reason="load", model="orca-mini", member="response", nth=0)
    spoken = [line("Aye", member="response", model="orca-mini", nth=1)]
    spoken.append(last("", reason=ABSENT, model="orca-mini", member="response", nth=2))
    return json_lines([loaded, *spoken]), expect(reason="unknown", anomalies=["missing_finish"])
