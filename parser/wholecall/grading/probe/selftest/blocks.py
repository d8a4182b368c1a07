"""Faults of Responses and of Anthropic."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from wholecall.discreet import compact
from wholecall.grading.probe.reading.model import member, objects
from wholecall.grading.probe.selftest import ends
from wholecall.grading.probe.selftest.fault import Fault, Frames, Payload, each
from wholecall.grading.probe.selftest.script import Script

_BOTH: Any = ("responses", "anthropic")
_CALL = "response.function_call_arguments."


def _kind(value: object) -> str:
    return str(value.get("type", "")) if isinstance(value, dict) else ""


def _without(*kinds: str) -> Callable[[Frames, Random], Frames]:
    return lambda values, _random: [value for value in values if _kind(value) not in kinds]


def _items(value: Payload) -> list[Payload]:
    """Return the calls in an event or body, items or blocks."""
    inner = member(value, "response") or member(value, "message") or value
    listed = objects(inner.get("output")) + objects(inner.get("content"))
    single = [item for item in (member(value, "item"), member(value, "content_block")) if item]
    return [item for item in (*single, *listed) if item.get("type") in {"function_call", "tool_use"}]


def _no_id(value: Payload) -> None:
    for item in _items(value):
        item.pop("call_id" if item["type"] == "function_call" else "id", None)


def _no_names(data: bytes) -> bytes:
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith(b"event"))


def _one_id(script: Script, _random: Random) -> None:
    for call in script.calls:
        call.id = script.calls[0].id


def _unsaid(script: Script, _random: Random) -> None:
    if script.ended == "length":
        script.ended = "calls"


def _from_one(value: Payload) -> None:
    for name in ("index", "output_index"):
        if name in value:
            value[name] += 1


def _no_created(value: Payload) -> None:
    (member(value, "response") or value).pop("created_at", None)


def _no_usage(value: Payload) -> None:
    for holder in (value, member(value, "response"), member(value, "message")):
        holder.pop("usage", None)


def _other_text(values: Frames, _random: Random) -> Frames:
    for value in values:
        if isinstance(value, dict) and _kind(value) == f"{_CALL}done":
            value["arguments"] = compact({"other": 1})
    return values


def _item_ids(values: Frames, random: Random) -> Frames:
    for value in values:
        if isinstance(value, dict) and _kind(value).startswith(_CALL):
            value["item_id"] = f"fc_{random.randrange(10**9)}"
    return values


def _empty_output(values: Frames, _random: Random) -> Frames:
    for value in values:
        if isinstance(value, dict) and _kind(value) == "response.completed":
            value["response"] = {**value["response"], "output": []}
    return values


def _no_numbers(values: Frames, _random: Random) -> Frames:
    for value in values:
        if isinstance(value, dict):
            value["sequence_number"] = 0
    return values


def _repeated(values: Frames, _random: Random) -> Frames:
    return [*values[:3], values[2], *values[3:]]


def _empty(script: Script, _random: Random) -> None:
    for call in script.calls:
        if call.text == "{}":
            call.text, call.pieces = "", []


def _no_start(values: Frames, _random: Random) -> Frames:
    return [
        value
        for value in values
        if not (isinstance(value, dict) and _kind(value) in _STARTS and _items(value))
    ]


_STARTS = frozenset({"content_block_start", "response.output_item.added"})

FAULTS = (
    Fault(id="blocks-id-missing", rule="labels.id-missing", says="calls have no id", wires=_BOTH, **each(_no_id)),
    Fault(id="blocks-id-twice", rule="labels.id-twice", says="all calls have one id", wires=_BOTH, script=_one_id),
    Fault(id="blocks-index-from-one", rule="labels.index-from-zero", says="indices begin at 1", wires=_BOTH,
          frames=each(_from_one)["frames"]),
    Fault(id="blocks-event-names", rule="frame.event-name", says="events have no names", wires=_BOTH,
          data=ends.in_streams(_no_names)),
    Fault(id="blocks-no-end", rule="frame.stop-missing", says="the last event is missing", wires=_BOTH,
          frames=_without("message_stop", "response.completed", "response.incomplete")),
    Fault(id="blocks-unclosed", rule="ends.block-unclosed", says="blocks are never closed", wires=_BOTH,
          frames=_without("content_block_stop", "response.output_item.done")),
    Fault(id="blocks-unopened", rule="ends.block-unopened", says="blocks of calls are never opened", wires=_BOTH,
          frames=_no_start),
    Fault(id="blocks-closed-after-cut", rule="ends.closed-after-cut", says="cut arguments are closed", wires=_BOTH,
          script=ends.closed),
    Fault(id="blocks-no-usage", rule="usage.missing", says="there are no counts", wires=_BOTH, **each(_no_usage)),
    Fault(id="blocks-leaked", rule="leaks.call-in-text", says="the call stands in the text", wires=_BOTH,
          script=ends.leaked),
    Fault(id="blocks-utf8", rule="frame.utf8", says="bytes are not UTF-8", wires=_BOTH, data=ends.broken_utf8),
    Fault(id="blocks-content-type", rule="frame.content-type", says="the content type is text/plain", wires=_BOTH,
          reply=ends.no_content_type),
    Fault(id="blocks-plain-differs", rule="same.calls", says="bodies never have calls", wires=_BOTH,
          script=ends.without_calls_in_bodies),
    Fault(id="blocks-fails", rule="errors.server-error", says="a wrong history is answered with 500", wires=_BOTH,
          reply=ends.fails),
    Fault(id="blocks-bodiless", rule="errors.body", says="a refusal has no error body", wires=_BOTH, reply=ends.bodiless),
    Fault(id="blocks-length", rule="ends.length-with-call", says="whole calls are called cut", wires=_BOTH,
          script=ends.limited),
    Fault(id="messages-end-turn", rule="ends.reason-not-calls", says="calls end with end_turn", wires=("anthropic",),
          script=ends.stopped),
    Fault(id="items-cut-unsaid", rule="ends.cut-unsaid", says="a cut response is completed", wires=("responses",),
          script=_unsaid),
    Fault(id="items-other-text", rule="arguments.restated", says="done states another text", wires=("responses",),
          frames=_other_text),
    Fault(id="items-churn", rule="labels.item-churn", says="ids of items change", wires=("responses",),
          frames=_item_ids),
    Fault(id="items-empty-output", rule="ends.final-response", says="the final response is empty",
          wires=("responses",), frames=_empty_output),
    Fault(id="items-no-numbers", rule="frame.sequence", says="sequence numbers are all 0", wires=("responses",),
          frames=_no_numbers),
    Fault(id="items-repeated", rule="frame.repeated", says="an event comes twice", wires=("responses",),
          frames=_repeated),
    Fault(id="items-no-created", rule="schema.missing", says="created_at is missing", wires=("responses",),
          **each(_no_created)),
    Fault(id="items-empty", rule="arguments.empty", says="calls without arguments have no text",
          wires=("responses",), script=_empty),
)  # fmt: skip
