"""OpenAI's Realtime API: the events of Responses as lines, with a response id; the last one is `response.done`."""

from __future__ import annotations

from typing import Any

from tests.models import responses
from tests.models.streams import Calls, Event, Model
from tests.models.written import line_of, present

HABITS = {
    **responses.HABITS,
    # The provider's argument events carry call_id, too.
    "labels": {
        "both and call": (0, "the provider"),
        **responses.HABITS["labels"],
        "both": (0.5, "quirk 75: relays of Responses: no call_id on argument events"),
    },
    "shape": {
        "nested": (0, "the provider"),
        "unscoped": (1, "quirk 135: relays of which no event but the last names its response"),
    },
}


def _event(kind: str, **members: Any) -> bytes:
    return line_of({"type": kind, "event_id": "ev_1", **members})


def _item(status: str, *said: Any) -> dict[str, Any]:
    return {"object": "realtime.item", **responses.written_item(*said, status)}


def _done(status: str, output: tuple[Event, ...] = (), **members: Any) -> bytes:
    items = [_item("completed", *said) for said in output]
    response = {"id": "resp_1", "object": "realtime.response", "status": status, "output": items, **members}
    return _event("response.done", response=response)


def _encode(event: Event) -> bytes:
    unscoped = event[0] == "unscoped"
    kind, *of = event[1:] if unscoped else event
    scope = {} if unscoped else {"response_id": "resp_1"}
    if kind in {"added", "item"}:
        told_as, status = ("added", "in_progress") if kind == "added" else ("done", "completed")
        told = present(output_index=of[0], item=_item(status, *of[1:]))
        return _event(f"response.output_item.{told_as}", **scope, **told)
    if kind in {"delta", "done"}:
        labels = present(output_index=of[0], item_id=of[1], call_id=of[2])
        said = {"delta" if kind == "delta" else "arguments": of[3]}
        return _event(f"response.function_call_arguments.{kind}", **scope, **labels, **said)
    return _done("completed", of[1])


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    events = responses.send(calls, cuts, habit)
    return [("unscoped", *event) for event in events] if habit.shape == "unscoped" else events


_BEGUN = {"id": "resp_1", "object": "realtime.response", "status": "in_progress", "output": []}
_LENGTH = {"type": "incomplete", "reason": "max_output_tokens"}
MODEL = Model(
    "openai-realtime",
    HABITS,
    _send,
    _encode,
    {
        "length": _done("incomplete", status_details=_LENGTH),
        "interruption": _done("cancelled", status_details={"type": "cancelled", "reason": "turn_detected"}),
        "silence": b"",
    },
    responses.sensible,
    _event("session.created", session={"id": "sess_1", "object": "realtime.session"})
    + _event("response.created", response=_BEGUN),
    evident=responses.evident,
)
