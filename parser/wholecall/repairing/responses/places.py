"""The places in the events and items of Responses: calls, their results, texts and their parts, ids and reasons.

Source: OpenAI API reference, "Responses: streaming events".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from wholecall.dialects.decode import decode
from wholecall.dialects.openai.responses.events import outcome_of
from wholecall.dialects.openai.responses.items import Item, call_delta, is_call
from wholecall.dialects.openai.responses.translator import ResponsesTranslator
from wholecall.repairing.encoders.base import json_bytes
from wholecall.types import TurnReason

ENDS: Final = frozenset(
    f"response.{word}" for word in ("completed", "incomplete", "failed", "cancelled", "done")
)
RUNS: Final = frozenset({"response.in_progress", "response.queued"})
CALL_EVENTS: Final = ("response.function_call_arguments.", "response.custom_tool_call_input.")
CALL_TEXTS: Final = {"function_call": "arguments", "custom_tool_call": "input"}  # by type of the item
CALL_ITEMS: Final = tuple(CALL_TEXTS)  # asked of any value
SPOKEN_EVENTS: Final = (
    "response.output_text.",
    "response.refusal.",
    "response.reasoning_",
    "response.content_part.",
)
SPOKEN_ITEMS: Final = frozenset({"message", "reasoning"})
PART_LISTS: Final = ("content", "summary")  # of an item
_TEXTS: Final = ("text", "refusal")  # of a part
_SPEECH: Final = ("output_text", "text", "refusal")  # types of parts that are shown
_RUNNING: Final = ("queued", "in_progress")  # asked of any value
_PREFIXES: Final = {"message": "msg_", "reasoning": "rs_"}
_ITEM: Final = msgspec.json.Decoder(Item)


class Family(NamedTuple):
    """The events of one kind of text: the item's list of its parts, and the member with the text."""

    parts: str
    member: str
    is_reasoning: bool


FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "response.output_text": Family("content", "text", False),
        "response.refusal": Family("content", "refusal", False),
        "response.reasoning_text": Family("content", "text", True),
        "response.reasoning_summary_text": Family("summary", "text", True),
    }
)
# Events that restate a part, and the list that it is in.
PART_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {"response.content_part.done": "content", "response.reasoning_summary_part.done": "summary"}
)


class Part(NamedTuple):
    """A part of an item, by the numbers of the wire."""

    item: int | None
    parts: str
    number: int | None


# Events.


def bare_kind(name: str | None, payload: dict[str, Any]) -> str | None:
    """Return the event type for a frame that is a bare response; None if it is none."""
    if payload.get("object") != "response" or "type" in payload:
        return None
    if name in ENDS or name in RUNS or name == "response.created":
        return name
    if name in ResponsesTranslator.EVENTS:
        return None
    status = payload.get("status")
    return "response.created" if status in _RUNNING else f"response.{outcome_of('', status)}"


def response_label(payload: dict[str, Any]) -> str | None:
    """Return the id of the response in an event."""
    response = payload.get("response")
    label = response.get("id") if isinstance(response, dict) else None
    return label if isinstance(label, str) else None


def response_claim(response: dict[str, Any], event_type: str = "") -> TurnReason:
    """Return why a response ended, as far as it matters for errors: well, or not."""
    return "stop" if outcome_of(event_type, response.get("status")) == "completed" else "length"


def cut_response() -> dict[str, Any]:
    """Return the members of a response that was cut."""
    return {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def family_of(kind: str) -> tuple[Family | None, str]:
    """Return an event's kind of text, and whether it holds a piece of it or all of it."""
    name, _, word = kind.rpartition(".")
    return FAMILIES.get(name), word


def part_of(payload: Mapping[str, Any], parts: str) -> Part:
    """Return the part that an event is about, in an item's list of parts."""
    item, number = payload.get("output_index"), payload.get(f"{parts}_index")
    return Part(item if type(item) is int else None, parts, number if type(number) is int else None)


# Items and their parts.


def is_ours(item: Any) -> bool:
    """Return whether an item is a call that the client executes."""
    if not isinstance(item, dict) or not str(item.get("type")).endswith("_call"):
        return False
    view = decode(_ITEM, json_bytes(item).decode())  # tolerant, for lone surrogates
    return view is not None and is_call(view) and call_delta(view, None, 0).kind != "server"


def is_output(item: object) -> bool:
    """Return whether an item is the result of a call."""
    return isinstance(item, dict) and str(item.get("type")).endswith("_output")


def item_label(item: dict[str, Any]) -> tuple[Any, ...]:
    """Return the label that a client reads of a call; see `label_of`."""
    kind = str(item["type"])
    if kind not in CALL_TEXTS:
        return item.get("call_id") or item.get("id"), "", ""
    return item.get("call_id"), item.get("name"), item.get(CALL_TEXTS[kind])


def same_label(item: dict[str, Any]) -> tuple[Any, ...]:
    """Return the members that two versions of one call must have in common."""
    kind = str(item["type"])
    labels = item.get("id"), item.get("call_id") or item.get("id")
    return (*labels, item.get("name"), item.get(CALL_TEXTS[kind])) if kind in CALL_TEXTS else labels


def minted_id(item: Mapping[str, Any], response_id: object, place: int) -> str:
    """Return an id for an item without one on the wire: unique in a conversation, if the response has its own."""
    prefix = _PREFIXES.get(str(item.get("type")), "item_")
    return f"{prefix}{response_id or 'resp_0'}_{place}"


def call_item(id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return the item of a whole call."""
    labels = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name}
    return {**labels, "arguments": arguments, "status": "completed"}


def _texts_of(items: list[Any]) -> list[dict[str, Any]]:
    """Return the parts of messages that hold shown text."""
    messages = (item for item in items if isinstance(item, dict) and item.get("type") == "message")
    lists = (message["content"] for message in messages if isinstance(message.get("content"), list))
    return [
        part for parts in lists for part in parts if isinstance(part, dict) and part.get("type") in _SPEECH
    ]


def with_text(items: list[Any], text: str) -> list[Any]:
    """Return items whose messages say this text: in the first part with text, the other parts get none."""
    spoken = _texts_of(items)

    def edited(part: Any) -> Any:
        if not any(part is one for one in spoken):
            return part
        return part_with_text(part, text if part is spoken[0] else "")

    return [
        {**item, "content": [edited(part) for part in item["content"]]}
        if isinstance(item, dict) and item.get("type") == "message" and isinstance(item.get("content"), list)
        else item
        for item in items
    ]


def part_with_text(part: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a part with this text instead of its own."""
    texts = {name: text for name in _TEXTS if isinstance(part.get(name), str)}
    return {**part, **texts, **without_logprobs(part)}


def without_logprobs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the empty list for probabilities of tokens, some of which were removed."""
    return {"logprobs": []} if payload.get("logprobs") else {}
