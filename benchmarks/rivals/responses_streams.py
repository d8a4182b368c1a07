"""The same habits on the wire of OpenAI's Responses, as far as they exist there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.streams import (
    BERTH,
    BERTH_TEXT,
    CUT_PIECES,
    PORTS,
    TIDE,
    TIDE_PIECES,
    TIDE_SNAPSHOTS,
    TIDE_TEXT,
    Expected,
    Stream,
    sse,
)

JSON = dict[str, Any]


def item(text: Any, status: str = "completed", *, n: int = 1, name: str = "get_tide", call: str = "") -> JSON:
    """Return a call as an item of the output."""
    labels = {"id": f"fc_{n}", "call_id": call or f"call_{n}", "name": name}
    return {"type": "function_call", **labels, "arguments": text, "status": status}


def added(position: int = 0, text: str = "", **labels: Any) -> JSON:
    """Return the event that begins a call."""
    begun = item(text, "in_progress", **labels)
    return {"type": "response.output_item.added", "output_index": position, "item": begun}


def deltas(texts: Sequence[str], position: int = 0, n: int = 1) -> list[JSON]:
    """Return events that each bring a piece of the arguments."""
    kind = "response.function_call_arguments.delta"
    return [{"type": kind, "item_id": f"fc_{n}", "output_index": position, "delta": text} for text in texts]


def done(text: Any, position: int = 0, *, closes: bool = True, **labels: Any) -> list[JSON]:
    """Return the events that restate the arguments and, if it closes, the item."""
    whole = item(text, **labels)
    spoken = {"item_id": whole["id"], "output_index": position, "arguments": text, "name": whole["name"]}
    events = [{"type": "response.function_call_arguments.done", **spoken}]
    closing = {"type": "response.output_item.done", "output_index": position, "item": whole}
    return [*events, closing] if closes else events


def events(
    *payloads: JSON, output: Sequence[JSON] = (), status: str | None = "completed", newline: str = "\n"
) -> list[bytes]:
    """Return the events of an answer; one without a final status breaks off."""
    response = {"id": "resp_q", "object": "response", "created_at": 1, "model": "m", "tools": []}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "error": None}
    opened = {**response, **settings, "status": "in_progress", "output": []}
    told: list[JSON] = [{"type": "response.created", "response": opened}, *payloads]
    if status is not None:
        cut = {"reason": "max_output_tokens"} if status == "incomplete" else None
        final = {**opened, "status": status, "output": list(output), "incomplete_details": cut}
        told.append({"type": f"response.{status}", "response": final})
    numbered = [{**payload, "sequence_number": n} for n, payload in enumerate(told)]
    return [sse(payload, payload["type"], newline) for payload in numbered]


def _row(
    title: str, quirks: tuple[int, ...], expected: Sequence[Expected], pieces: Sequence[bytes]
) -> Stream:
    return Stream("responses", title, quirks, tuple(pieces), tuple(expected))


_ITEM = item(TIDE_TEXT)
_OTHER = item(BERTH_TEXT, n=2, name="find_berth")


def _berth(position: int) -> list[JSON]:
    labels: JSON = {"n": 2, "name": "find_berth"}
    return [
        added(position, **labels),
        *deltas([BERTH_TEXT], position, 2),
        *done(BERTH_TEXT, position, **labels),
    ]


def _tide(texts: Sequence[str], begun: str = "", ended: Any = TIDE_TEXT) -> list[JSON]:
    return [added(text=begun), *deltas(texts), *done(ended)]


def _renamed() -> Stream:
    whole = item(TIDE_TEXT, n=4, call="call_1")
    told = [added(), *deltas(TIDE_PIECES, n=2), *done(TIDE_TEXT, n=3, call="call_1")]
    return _row("another item id in added, delta and done", (69,), [TIDE], events(*told, output=[whole]))


def _broken() -> Stream:
    fault = {"type": "error", "code": "server_error", "message": "the engine stopped", "param": None}
    told = events(added(), *deltas(['{"port']), fault, status=None)
    return _row("an error event in the middle", (52,), [], told)


def _bytewise() -> Stream:
    harbour = Expected("get_tide", {"port": "Göteborg 港"})
    text = json.dumps(harbour.arguments, ensure_ascii=False)
    told = events(*_tide([text], ended=text), output=[item(text)], newline="\r\n")
    pieces = [bytes((byte,)) for byte in b"".join(told)]
    return _row("CRLF, and a write for each byte", (35, 55), [harbour], pieces)


def _cut() -> list[JSON]:
    return [added(), *deltas(CUT_PIECES)]


_CUT = "".join(CUT_PIECES)

RESPONSES: tuple[Stream, ...] = (
    _row(
        "two calls, as documented",
        (),
        [TIDE, BERTH],
        events(*_tide(TIDE_PIECES), *_berth(1), output=[_ITEM, _OTHER]),
    ),
    _row(
        "position 0 for every item",
        (106,),
        [TIDE, BERTH],
        events(*_tide(TIDE_PIECES), *_berth(0), output=[_ITEM, _OTHER]),
    ),
    _row(
        "each delta restates the text so far", (24,), [TIDE], events(*_tide(TIDE_SNAPSHOTS), output=[_ITEM])
    ),
    _row(
        "{} when added, then the arguments", (25,), [TIDE], events(*_tide(TIDE_PIECES, "{}"), output=[_ITEM])
    ),
    _row(
        "done with an object",
        (22,),
        [TIDE],
        events(*_tide(TIDE_PIECES, ended=TIDE.arguments), output=[_ITEM]),
    ),
    _row("done without deltas", (71,), [TIDE], events(*_tide([]), output=[_ITEM])),
    _row(
        "another text when done, no delta right",
        (70,),
        [TIDE],
        events(*_tide(["kX9v", "Q2=="]), output=[_ITEM]),
    ),
    _row(
        "the whole text done twice",
        (23,),
        [TIDE],
        events(*_tide(TIDE_PIECES), *done(TIDE_TEXT), output=[_ITEM]),
    ),
    _renamed(),
    _row(
        "the item is never done",
        (76,),
        [TIDE],
        events(added(), *deltas(TIDE_PIECES), *done(TIDE_TEXT, closes=False), output=[_ITEM]),
    ),
    _row("the final response is empty", (73,), [TIDE], events(*_tide(TIDE_PIECES))),
    _row("the call only in the final response", (72,), [TIDE], events(output=[_ITEM])),
    _row(
        "a tool without arguments: empty text",
        (26,),
        [PORTS],
        events(added(name="list_ports"), *done("", name="list_ports"), output=[item("", name="list_ports")]),
    ),
    _row("cut text, called finished", (48,), [], events(*_cut(), *done(_CUT), output=[item(_CUT)])),
    _row(
        "cut at the token limit",
        (49, 76),
        [],
        events(*_cut(), output=[item(_CUT, "incomplete")], status="incomplete"),
    ),
    _row("dropped after the name", (51,), [], events(added(), status=None)),
    _broken(),
    _bytewise(),
)


def _farewell() -> bytes:
    part = {"type": "output_text", "text": "Done.", "annotations": []}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    begun = {"type": "response.output_item.added", "output_index": 0, "item": {**message, "content": []}}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    empty = {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    said = {"type": "response.output_text.delta", **place, "delta": "Done.", "logprobs": []}
    ended = {"type": "response.output_item.done", "output_index": 0, "item": message}
    return b"".join(events(begun, empty, said, ended, output=[message]))


RESPONSES_FAREWELL = _farewell()
