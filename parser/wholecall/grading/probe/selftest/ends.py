"""Faults of Chat Completions in ends, framing, leaks, choices, errors and counts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from wholecall.calls.parse import parse_arguments
from wholecall.discreet import compact
from wholecall.grading.probe.asked import choice_in, history_in
from wholecall.grading.probe.reading.model import member, objects
from wholecall.grading.probe.selftest.chat import body as whole_body
from wholecall.grading.probe.selftest.fault import Fault, Frames, Payload, Reply, each, stages
from wholecall.grading.probe.selftest.script import Script, cut_up

_JSON = {"content-type": "application/json"}
_DONE = "[DONE]"


def closed(script: Script, random: Random) -> None:
    """Close the brackets of a cut call, and call it finished."""
    if script.ended == "length":
        call = script.calls[-1]
        call.text = _closed(call.text)
        call.pieces, call.is_whole, script.ended = cut_up(call.text, random), True, "calls"


def _closed(text: str) -> str:
    """Return the longest beginning of a cut text that closers make an object, with them."""
    for end in range(len(text), 0, -1):
        for closers in ('"}', "}"):
            if parse_arguments(text[:end] + closers).status == "exact":
                return text[:end] + closers
    return "{}"


def unsaid(script: Script, _random: Random) -> None:
    """Call a cut answer finished."""
    if script.ended == "length":
        script.ended = "calls"


def stopped(script: Script, _random: Random) -> None:
    """Say that an answer with calls just ended."""
    script.ended = "stop" if script.ended == "calls" else script.ended


def limited(script: Script, _random: Random) -> None:
    """Say that an answer with whole calls was cut."""
    script.ended = "length" if script.ended == "calls" else script.ended


def _speaks_of_calls(script: Script, _random: Random) -> None:
    script.ended = "calls" if script.ended == "stop" else script.ended


def leaked(script: Script, _random: Random) -> None:
    """Write the calls into the text, as a model does."""
    if script.ended == "calls":
        calls = (f'{{"name": {compact(call.name)}, "arguments": {call.text}}}' for call in script.calls)
        script.texts = [f"<tool_call>\n{call}\n</tool_call>\n" for call in calls]
        script.calls, script.ended = [], "stop"


def leaked_bare(script: Script, _random: Random) -> None:
    """Write the first call into the text as bare JSON."""
    if script.ended == "calls":
        call = script.calls[0]
        script.texts = [f'{{"name": {compact(call.name)}, "arguments": {call.text}}}']
        script.calls, script.ended = [], "stop"


def thinks(script: Script, _random: Random) -> None:
    """Write thoughts into the text."""
    script.texts = ["<think>", "The user wants something.", "</think>", *script.texts]


def marked(script: Script, _random: Random) -> None:
    """Write a marker into the text."""
    if not script.calls:
        script.texts = [*script.texts, "<|im_end|>"]


def without_calls_in_bodies(script: Script, _random: Random) -> None:
    """Say something instead of calls, in bodies only."""
    if not script.is_streamed and script.ended == "calls":
        script.calls, script.texts, script.ended = [], ["I did it."], "stop"


def no_calls(script: Script, _random: Random) -> None:
    """Say something where a call was required."""
    if choice_in(script.request).kind in {"required", "named"}:
        script.calls, script.texts, script.ended = [], ["I did it."], "stop"


def _all_calls(script: Script, _random: Random) -> None:
    if script.request.get("parallel_tool_calls") is False and script.calls:
        other = copy.deepcopy(script.calls[0])
        other.id += "b"
        script.calls.append(other)


def _reasons(word: Callable[[str], str | None]) -> dict[str, Any]:
    def body(value: Payload, _random: Random) -> None:
        for choice in objects(value.get("choices")):
            if choice.get("finish_reason"):
                choice["finish_reason"] = word(choice["finish_reason"])

    return stages(body)


def _reason_twice(values: Frames, _random: Random) -> Frames:
    at = next(at for at, value in enumerate(values) if _has_reason(value))
    early = copy.deepcopy(values[at])
    for choice in objects(early.get("choices")) if isinstance(early, dict) else []:
        choice["finish_reason"] = "stop"
    return [*values[:at], early, *values[at:]]


def _has_reason(value: object) -> bool:
    choices = objects(value.get("choices")) if isinstance(value, dict) else []
    return any(choice.get("finish_reason") for choice in choices)


def _no_done(values: Frames, _random: Random) -> Frames:
    return [value for value in values if value != _DONE]


def _after_done(values: Frames, _random: Random) -> Frames:
    return [*values, next(value for value in values if isinstance(value, dict))]


def _new_answer(values: Frames, random: Random) -> Frames:
    for number, value in enumerate(values):
        if isinstance(value, dict):
            value["id"] = f"chatcmpl-{number}{random.randrange(1000)}"
    return values


def _no_created(value: Payload) -> None:
    del value["created"]


def _text_created(value: Payload) -> None:
    value["created"] = str(value["created"])


def _other_object(value: Payload) -> None:
    value["object"] = "text_completion"


def _no_counts(value: Payload) -> None:
    value.pop("usage", None)


def _zero_counts(value: Payload) -> None:
    if value.get("usage"):
        value["usage"] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _wrong_sum(value: Payload) -> None:
    if value.get("usage"):
        value["usage"]["total_tokens"] += 1


def _all_counts(values: Frames, _random: Random) -> Frames:
    last = next(
        (value["usage"] for value in reversed(values) if isinstance(value, dict) and value.get("usage")), None
    )
    for value in values:
        if isinstance(value, dict) and last:
            value["usage"] = last
    return values


def _no_role(values: Frames, _random: Random) -> Frames:
    for value in values:
        for choice in objects(value.get("choices")) if isinstance(value, dict) else []:
            member(choice, "delta").pop("role", None)
    return values


def in_streams(change: Callable[[bytes], bytes]) -> Callable[[bytes, bool], bytes]:
    """Return a stage that changes the bytes of streams."""
    return lambda data, is_stream: change(data) if is_stream else data


def mixed_ends(data: bytes) -> bytes:
    """End the lines of the first half otherwise."""
    half = data.replace(b"\r\n", b"\n").index(b"\n\n") + 2
    plain = data.replace(b"\r\n", b"\n")
    return plain[:half].replace(b"\n", b"\r\n") + plain[half:]


def bom_inside(data: bytes) -> bytes:
    """Put a byte order mark before each event."""
    return data.replace(b"\ndata", b"\n\xef\xbb\xbfdata")


def broken_utf8(data: bytes, _is_stream: bool) -> bytes:
    """Break a character of the model's name."""
    return data.replace(b'"model": "', b'"model": "\xff', 1)


def run_together(data: bytes) -> bytes:
    """Leave out the blank lines between events."""
    return data.replace(b"\r\n", b"\n").replace(b"\n\n", b"\n") + b"\n"


def without_done(data: bytes) -> bytes:
    """Leave out [DONE], and the blank line of the event before it."""
    return data[: data.rindex(b"data")].rstrip()


def no_content_type(_script: Script, reply: Reply) -> Reply | None:
    """Call everything text."""
    return reply._replace(headers={"content-type": "text/plain"}) if reply.status == 200 else None


def error_as_200(script: Script, reply: Reply) -> Reply | None:
    """Send an error with the status of an answer."""
    error = b'{"error": {"message": "The model is overloaded.", "type": "server_error", "code": 500}}'
    return Reply(200, dict(_JSON), (error,)) if script.ended == "stop" and reply.status == 200 else None


def _accepts(script: Script, reply: Reply) -> Reply | None:
    if reply.status != 400:
        return None
    choice = {"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}
    head = {"id": script.id, "object": "chat.completion", "created": script.created, "model": script.model}
    counts = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    return Reply(200, dict(_JSON), (compact({**head, "choices": [choice], "usage": counts}).encode(),))


def fails(_script: Script, reply: Reply) -> Reply | None:
    """Fail on a wrong request."""
    return Reply(500, dict(_JSON), reply.chunks) if reply.status == 400 else None


def bodiless(_script: Script, reply: Reply) -> Reply | None:
    """Refuse without a word."""
    return (
        Reply(400, {"content-type": "text/html"}, (b"<h1>Bad Request</h1>",)) if reply.status == 400 else None
    )


def _ignores_streams(script: Script, reply: Reply) -> Reply | None:
    return (
        Reply(200, dict(_JSON), (compact(whole_body(script)).encode(),))
        if script.is_streamed and reply.status == 200
        else None
    )


def refuses_history(script: Script, reply: Reply) -> Reply | None:
    """Refuse results of calls."""
    history = objects(history_in(script.request))
    has_results = any(
        each.get("role") == "tool" or any("functionResponse" in part for part in objects(each.get("parts")))
        for each in history
    )
    error = b'{"error": {"message": "Unexpected role.", "type": "invalid_request_error"}}'
    return Reply(400, dict(_JSON), (error,)) if has_results and reply.status == 200 else None


FAULTS = (
    Fault(id="closed-after-cut", rule="ends.closed-after-cut", says="cut arguments are closed", script=closed),
    Fault(id="cut-unsaid", rule="ends.cut-unsaid", says="a cut is called tool_calls", script=unsaid),
    Fault(id="stop-with-calls", rule="ends.reason-not-calls", says="calls end with stop", script=stopped),
    Fault(id="length-with-call", rule="ends.length-with-call", says="whole calls end with length", script=limited),
    Fault(id="calls-without-call", rule="ends.reason-without-call", says="text ends with tool_calls",
          script=_speaks_of_calls),
    Fault(id="no-reason", rule="ends.reason-missing", says="there is no finish reason",
          **_reasons(lambda _word: None)),
    Fault(id="own-reason", rule="ends.reason-word", says="the finish reason is a word of its own",
          **_reasons(lambda word: f"finished_{word}")),
    Fault(id="two-reasons", rule="ends.reason-twice", says="there are two finish reasons", frames=_reason_twice),
    Fault(id="no-done", rule="frame.done-missing", says="[DONE] is missing", frames=_no_done),
    Fault(id="after-done", rule="frame.after-end", says="a chunk follows [DONE]", frames=_after_done),
    Fault(id="new-ids", rule="frame.second-answer", says="each chunk has another id", frames=_new_answer),
    Fault(id="mixed-line-ends", rule="frame.line-ends", says="line ends are mixed", data=in_streams(mixed_ends)),
    Fault(id="bom-inside", rule="frame.bom-inside", says="events begin with a byte order mark",
          data=in_streams(bom_inside)),
    Fault(id="broken-utf8", rule="frame.utf8", says="bytes are not UTF-8", data=broken_utf8),
    Fault(id="run-together", rule="frame.json", says="blank lines are missing", data=in_streams(run_together)),
    Fault(id="unterminated", rule="frame.last-event", says="the stream ends inside its last event",
          data=in_streams(without_done)),
    Fault(id="done-unterminated", rule="frame.done-unterminated", says="[DONE] has no blank line",
          data=in_streams(bytes.rstrip)),
    Fault(id="content-type", rule="frame.content-type", says="the content type is text/plain", reply=no_content_type),
    Fault(id="stream-ignored", rule="frame.stream-ignored", says="a body comes for a stream", reply=_ignores_streams),
    Fault(id="leaked", rule="leaks.call-in-text", says="the call stands in the text", script=leaked),
    Fault(id="leaked-bare", rule="leaks.call-in-text", says="the call stands in the text as JSON", script=leaked_bare),
    Fault(id="think-tag", rule="leaks.think-tag", says="thoughts stand in the text", script=thinks),
    Fault(id="text-marker", rule="leaks.marker", says="a marker stands in the text", script=marked),
    Fault(id="plain-differs", rule="same.calls", says="bodies never have calls", script=without_calls_in_bodies),
    Fault(id="no-required", rule="choice.required-ignored", says="required is ignored", script=no_calls),
    Fault(id="no-named", rule="choice.named-ignored", says="a named tool is ignored", script=no_calls),
    Fault(id="parallel", rule="choice.parallel-ignored", says="parallel_tool_calls is ignored", script=_all_calls),
    Fault(id="error-as-200", rule="errors.as-200", says="an error has the status 200", reply=error_as_200),
    Fault(id="accepts", rule="errors.accepted", says="a wrong history is accepted", reply=_accepts),
    Fault(id="fails", rule="errors.server-error", says="a wrong history is answered with 500", reply=fails),
    Fault(id="bodiless", rule="errors.body", says="a refusal has no error body", reply=bodiless),
    Fault(id="refuses-history", rule="history.refused", says="results are refused", reply=refuses_history),
    Fault(id="no-usage", rule="usage.missing", says="there are no counts", **each(_no_counts)),
    Fault(id="zero-usage", rule="usage.zero", says="counts are zero", **each(_zero_counts)),
    Fault(id="wrong-sum", rule="usage.sum", says="the total is no sum", **each(_wrong_sum)),
    Fault(id="usage-everywhere", rule="usage.twice", says="each chunk has counts", frames=_all_counts),
    Fault(id="no-created", rule="schema.missing", says="created is missing", **each(_no_created)),
    Fault(id="text-created", rule="schema.type", says="created is a text", **each(_text_created)),
    Fault(id="other-object", rule="schema.word", says="object is another word", **each(_other_object)),
    Fault(id="no-role", rule="schema.role", says="the role is missing", frames=_no_role),
)  # fmt: skip
