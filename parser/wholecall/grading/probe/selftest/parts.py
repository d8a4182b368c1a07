"""Faults of Gemini, whose answers have parts, and calls in one part each."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from wholecall.discreet import compact
from wholecall.grading.probe.reading.model import member, objects
from wholecall.grading.probe.selftest import ends
from wholecall.grading.probe.selftest.fault import Fault, Frames, Payload, Reply, each
from wholecall.grading.probe.selftest.gemini import body
from wholecall.grading.probe.selftest.labels import changed_texts, fitted, mangled, one_id, rounded
from wholecall.grading.probe.selftest.script import Script

_GEMINI: Any = ("gemini",)


def _candidates(value: object) -> list[Payload]:
    return objects(value.get("candidates")) if isinstance(value, dict) else []


def _calls(change: Callable[[Payload], None]) -> dict[str, Any]:
    """Return the stages that change each call."""

    def changed(value: Payload) -> None:
        for candidate in _candidates(value):
            for part in objects(member(candidate, "content").get("parts")):
                if "functionCall" in part:
                    change(part["functionCall"])

    return each(changed)


def _reasons(change: Callable[[str], str | None]) -> dict[str, Any]:
    def changed(value: Payload) -> None:
        for candidate in _candidates(value):
            word = change(candidate.pop("finishReason")) if "finishReason" in candidate else None
            if word is not None:
                candidate["finishReason"] = word

    return each(changed)


def _id_null(call: Payload) -> None:
    call["id"] = None


def _id_number(call: Payload) -> None:
    call["id"] = len(call["id"])


def _no_name(call: Payload) -> None:
    del call["name"]


def _text(call: Payload) -> None:
    call["args"] = json.dumps(call["args"])


def _all_reasons(values: Frames, _random: Random) -> Frames:
    for value in values:
        for candidate in _candidates(value):
            candidate["finishReason"] = "STOP"
    return [*values, *values[-1:]] if len(values) == 1 else values


def _late(values: Frames, _random: Random) -> Frames:
    """Put the text or call of the first chunk after the last one."""
    chunk = json.loads(json.dumps(values[0]))
    candidate = _candidates(chunk)[0]
    candidate.pop("finishReason", None)
    candidate["content"] = {"role": "model", "parts": [{"text": "And more."}]}
    return [*values, chunk]


def _new_answer(values: Frames, random: Random) -> Frames:
    for number, value in enumerate(values):
        if isinstance(value, dict):
            value["responseId"] = f"{number}{random.randrange(1000)}"
    return [*values, {**values[-1], "candidates": [], "responseId": "other"}] if isinstance(values[-1], dict) else values  # fmt: skip


def _no_counts(value: Payload) -> None:
    value.pop("usageMetadata", None)


def _zero_counts(value: Payload) -> None:
    value["usageMetadata"] = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}


def _text_index(value: Payload) -> None:
    for candidate in _candidates(value):
        candidate["index"] = str(candidate["index"])


def _broken_utf8(data: bytes, is_stream: bool) -> bytes:
    return ends.broken_utf8(data.replace(b'"modelVersion"', b'"model"'), is_stream)


def _ignores_streams(script: Script, reply: Reply) -> Reply | None:
    if not script.is_streamed or reply.status != 200:
        return None
    return Reply(200, {"content-type": "application/json"}, (compact(body(script)).encode(),))


def _accepts(script: Script, reply: Reply) -> Reply | None:
    if reply.status != 400:
        return None
    script.calls, script.texts, script.ended = [], ["Fine."], "stop"
    return Reply(200, {"content-type": "application/json"}, (compact(body(script)).encode(),))


def _listed(data: bytes, is_stream: bool) -> bytes:
    """Send a stream as the list that it is without `alt=sse`."""
    if not is_stream:
        return data
    lines = (line.partition(b":")[2].strip() for line in data.splitlines() if line.startswith(b"data"))
    return b"[" + b",\n".join(lines) + b"]"


FAULTS = (
    Fault(id="parts-id-null", rule="labels.id-null", says="ids are null", wires=_GEMINI, **_calls(_id_null)),
    Fault(id="parts-id-number", rule="labels.id-type", says="ids are numbers", wires=_GEMINI, **_calls(_id_number)),
    Fault(id="parts-id-twice", rule="labels.id-twice", says="all calls have one id", wires=_GEMINI, script=one_id),
    Fault(id="parts-nameless", rule="labels.name-missing", says="calls have no name", wires=_GEMINI,
          **_calls(_no_name)),
    Fault(id="parts-text", rule="arguments.text", says="arguments are JSON text", wires=_GEMINI, **_calls(_text)),
    Fault(id="parts-rounded", rule="arguments.rounded", says="whole numbers lose their last digits", wires=_GEMINI,
          script=changed_texts(lambda text: fitted(text, rounded))),
    Fault(id="parts-mangled", rule="arguments.mangled", says="texts are read in a wrong charset", wires=_GEMINI,
          script=changed_texts(lambda text: fitted(text, mangled))),
    Fault(id="parts-closed-after-cut", rule="ends.closed-after-cut", says="cut arguments are closed", wires=_GEMINI,
          script=ends.closed),
    Fault(id="parts-length", rule="ends.length-with-call", says="whole calls are called cut", wires=_GEMINI,
          script=ends.limited),
    Fault(id="parts-no-reason", rule="ends.reason-missing", says="there is no reason", wires=_GEMINI,
          **_reasons(lambda _word: None)),
    Fault(id="parts-own-reason", rule="ends.reason-word", says="the reason is a word of another wire", wires=_GEMINI,
          **_reasons({"STOP": "stop", "MAX_TOKENS": "length"}.get)),
    Fault(id="parts-all-reasons", rule="ends.reason-twice", says="each chunk has a reason", wires=_GEMINI,
          frames=_all_reasons),
    Fault(id="parts-late", rule="ends.late-content", says="text follows the reason", wires=_GEMINI, frames=_late),
    Fault(id="parts-new-ids", rule="frame.second-answer", says="each chunk has another id", wires=_GEMINI,
          frames=_new_answer),
    Fault(id="parts-done", rule="frame.foreign-done", says="the stream ends with [DONE]", wires=_GEMINI,
          frames=lambda values, _random: [*values, "[DONE]"]),
    Fault(id="parts-list", rule="frame.stream-ignored", says="a stream is one list", wires=_GEMINI, data=_listed),
    Fault(id="parts-body", rule="frame.stream-ignored", says="a body comes for a stream", wires=_GEMINI,
          reply=_ignores_streams),
    Fault(id="parts-line-ends", rule="frame.line-ends", says="line ends are mixed", wires=_GEMINI,
          data=ends.in_streams(ends.mixed_ends)),
    Fault(id="parts-bom", rule="frame.bom-inside", says="events begin with a byte order mark", wires=_GEMINI,
          data=ends.in_streams(ends.bom_inside)),
    Fault(id="parts-utf8", rule="frame.utf8", says="bytes are not UTF-8", wires=_GEMINI, data=_broken_utf8),
    Fault(id="parts-run-together", rule="frame.json", says="blank lines are missing", wires=_GEMINI,
          data=ends.in_streams(ends.run_together)),
    Fault(id="parts-unterminated", rule="frame.last-event", says="the last event has no blank line", wires=_GEMINI,
          data=ends.in_streams(bytes.rstrip)),
    Fault(id="parts-content-type", rule="frame.content-type", says="the content type is text/plain", wires=_GEMINI,
          reply=ends.no_content_type),
    Fault(id="parts-text-index", rule="schema.type", says="indices are texts", wires=_GEMINI, **each(_text_index)),
    Fault(id="parts-leaked", rule="leaks.call-in-text", says="the call stands in the text", wires=_GEMINI,
          script=ends.leaked),
    Fault(id="parts-leaked-bare", rule="leaks.call-in-text", says="the call stands in the text as JSON",
          wires=_GEMINI, script=ends.leaked_bare),
    Fault(id="parts-think-tag", rule="leaks.think-tag", says="thoughts stand in the text", wires=_GEMINI,
          script=ends.thinks),
    Fault(id="parts-marker", rule="leaks.marker", says="a marker stands in the text", wires=_GEMINI, script=ends.marked),
    Fault(id="parts-plain-differs", rule="same.calls", says="bodies never have calls", wires=_GEMINI,
          script=ends.without_calls_in_bodies),
    Fault(id="parts-no-required", rule="choice.required-ignored", says="ANY is ignored", wires=_GEMINI,
          script=ends.no_calls),
    Fault(id="parts-no-named", rule="choice.named-ignored", says="an allowed name is ignored", wires=_GEMINI,
          script=ends.no_calls),
    Fault(id="parts-error-as-200", rule="errors.as-200", says="an error has the status 200", wires=_GEMINI,
          reply=ends.error_as_200),
    Fault(id="parts-accepts", rule="errors.accepted", says="a wrong history is accepted", wires=_GEMINI,
          reply=_accepts),
    Fault(id="parts-fails", rule="errors.server-error", says="a wrong history is answered with 500", wires=_GEMINI,
          reply=ends.fails),
    Fault(id="parts-bodiless", rule="errors.body", says="a refusal has no error body", wires=_GEMINI, reply=ends.bodiless),
    Fault(id="parts-refuses-history", rule="history.refused", says="results are refused", wires=_GEMINI,
          reply=ends.refuses_history),
    Fault(id="parts-no-usage", rule="usage.missing", says="there are no counts", wires=_GEMINI, **each(_no_counts)),
    Fault(id="parts-zero-usage", rule="usage.zero", says="counts are zero", wires=_GEMINI, **each(_zero_counts)),
)  # fmt: skip
