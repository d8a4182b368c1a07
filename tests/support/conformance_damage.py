"""Damaged streams of the conformance suite: conforming ones that were cut, or that lost a frame.

What a cut leaves is derived from the payloads before it, for each wire by a few lines of its own, and by no parser:

- a call whose end the wire has told, so that nothing of it can be missing, was sent;
- a call whose text is a whole object, but whose end was not told, may be handed over: the bytes allow both readings;
- of any other call nothing may be handed over.

Blocks of Anthropic and Bedrock are closed at the token limit as well, and only the stop reason behind them says so:
the last closed block before a cut is therefore one of the second kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.support.conformance_case import ANY_END, JSON, SAID_END, Case, call_of, shown_keys, whole_object
from tests.support.conformance_typed import (
    MAIN,
    VALUES,
    end_of,
    frames_of,
    payloads_of,
    suffix_of,
    turn_of,
    typed_turns,
)
from tests.support.encode import every

_PIECES = every(9)


@dataclass
class _Told:
    """What a stream has told of one call."""

    id: str | None
    name: str | None
    text: str = ""
    is_ended: bool = False


@dataclass
class _Seen:
    """What a stream has told before it breaks off: its calls, and whether a reason ended the turn."""

    calls: dict[object, _Told] = field(default_factory=dict)
    is_over: bool = False


# Each wire: what one payload tells


def _chat(seen: _Seen, payload: JSON) -> None:
    for choice in payload["choices"]:
        for entry in choice["delta"].get("tool_calls", ()):
            function = entry["function"]
            told = seen.calls.setdefault(entry["index"], _Told(entry.get("id"), function.get("name")))
            told.text += function["arguments"]
        seen.is_over |= choice["finish_reason"] is not None


def _responses(seen: _Seen, payload: JSON) -> None:
    kind, at = payload["type"], payload.get("output_index")
    if kind == "response.function_call_arguments.delta" and at in seen.calls:
        seen.calls[at].text += payload["delta"]
    elif kind == "response.function_call_arguments.done" and at in seen.calls:
        seen.calls[at].text = payload["arguments"]
    elif kind.startswith("response.output_item.") and payload["item"]["type"] == "function_call":
        _item(seen, at, payload["item"], is_done=kind.endswith("done"))
    elif kind == "response.completed":
        for at, item in enumerate(payload["response"]["output"]):
            _item(seen, at, item, is_done=True)
        seen.is_over = True


def _item(seen: _Seen, at: object, item: JSON, *, is_done: bool) -> None:
    told = seen.calls.setdefault(at, _Told(item["call_id"], item["name"]))
    if is_done:
        told.text, told.is_ended = item["arguments"], True


def _anthropic(seen: _Seen, payload: JSON) -> None:
    kind, at = payload["type"], payload.get("index")
    if kind == "content_block_start":
        for told in seen.calls.values():  # a later block shows that no limit closed the one before
            told.is_ended = True
        if payload["content_block"]["type"] == "tool_use":
            seen.calls[at] = _Told(payload["content_block"]["id"], payload["content_block"]["name"])
    elif kind == "content_block_delta" and at in seen.calls:
        seen.calls[at].text += payload["delta"].get("partial_json", "")
    seen.is_over |= kind == "message_delta"


def _bedrock(seen: _Seen, payload: JSON) -> None:
    ((kind, event),) = payload.items()
    at = event.get("contentBlockIndex")
    if kind == "contentBlockStart":
        for told in seen.calls.values():
            told.is_ended = True
        start = event["start"]["toolUse"]
        seen.calls[at] = _Told(start["toolUseId"], start["name"])
    elif kind == "contentBlockDelta" and at in seen.calls:
        seen.calls[at].text += event["delta"]["toolUse"]["input"]
    seen.is_over |= kind == "messageStop"


def _gemini(seen: _Seen, payload: JSON) -> None:
    (candidate,) = payload["candidates"]
    for part in candidate["content"].get("parts", ()):
        if "functionCall" in part:
            call = part["functionCall"]
            seen.calls[call["id"]] = _Told(call["id"], call["name"], json.dumps(call["args"]), is_ended=True)
    seen.is_over |= "finishReason" in candidate


def _ollama(seen: _Seen, payload: JSON) -> None:
    for entry in payload["message"].get("tool_calls", ()):
        function = entry["function"]
        text = json.dumps(function["arguments"])
        seen.calls[entry["id"]] = _Told(entry["id"], function["name"], text, is_ended=True)
    seen.is_over |= payload["done"]


def _cohere(seen: _Seen, payload: JSON) -> None:
    kind, at = payload["type"], payload.get("index")
    if kind == "tool-call-start":
        call = payload["delta"]["message"]["tool_calls"]
        seen.calls[at] = _Told(call["id"], call["function"]["name"])
    elif kind == "tool-call-delta" and at in seen.calls:
        seen.calls[at].text += payload["delta"]["message"]["tool_calls"]["function"]["arguments"]
    elif kind == "tool-call-end" and at in seen.calls:
        seen.calls[at].is_ended = True
    seen.is_over |= kind == "message-end"


_WIRES: dict[str, Callable[[_Seen, JSON], None]] = {
    "chat-completions": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock-converse": _bedrock,
    "ollama": _ollama,
    "cohere-v2": _cohere,
}


def _seen(wire: str, payloads: Sequence[JSON]) -> _Seen:
    seen = _Seen()
    for payload in payloads:
        _WIRES[wire](seen, payload)
    return seen


# Cuts


@dataclass(frozen=True)
class _Place:
    """A place between two payloads at which a stream can be cut."""

    name: str
    about: str
    at: int


def _places(wire: str, payloads: Sequence[JSON]) -> list[_Place]:
    """Return the places of a stream of two calls, by what its payloads have told."""
    states = [_seen(wire, payloads[:n]) for n in range(len(payloads) + 1)]
    texts = [[told.text for told in state.calls.values()] for state in states]
    heads = [n for n, (before, after) in enumerate(zip(texts, texts[1:], strict=False), 1) if len(after) > len(before)]
    over = next(n for n, state in enumerate(states) if state.is_over)
    found = [_Place("before-the-calls", "before the first call", heads[0] - 1)]
    if wire not in VALUES:
        found.append(_Place("after-a-head", "behind the name of the first call, before its arguments", _without_text(texts)))
        found.append(_Place("inside-the-first", "inside the arguments of the first call", _half(texts, 0)))
    found.append(_Place("between-the-calls", "between the two calls", heads[1] - 1))
    if wire not in VALUES:
        found.append(_Place("inside-the-second", "inside the arguments of the second call", _half(texts, 1)))
    found.append(_Place("before-the-reason", "behind the second call, before the reason", over - 1))
    if len(payloads) > over or end_of(wire):
        found.append(_Place("after-the-reason", "behind the reason, before the last frame", over))
    return found


def _without_text(texts: Sequence[Sequence[str]]) -> int:
    return max(n for n, found in enumerate(texts) if list(found) == [""])


def _half(texts: Sequence[Sequence[str]], nth: int) -> int:
    """Return the last place at which the text of a call has begun, and is no object yet."""
    return max(
        n for n, found in enumerate(texts) if len(found) == nth + 1 and found[nth] and whole_object(found[nth]) is None
    )


_ENDINGS = {
    "clean": "the body ends as if it were whole",
    "no-terminator": "the connection is closed",
    "reset": "the connection is reset",
}
_FEW_PLACES = frozenset({"between-the-calls", "inside-the-second", "before-the-reason"})


def cuts() -> list[Case]:
    """Return streams of two calls that end too early, at several places and in several ways."""
    found = []
    for wire in _WIRES:
        payloads = _two_calls(wire)
        for place in _places(wire, payloads):
            endings = ["clean"] if wire not in MAIN or place.name not in _FEW_PLACES else list(_ENDINGS)
            found += [_cut(wire, payloads, place, ending) for ending in endings]
        found += _halves(wire, payloads)
    return found


def _two_calls(wire: str) -> list[JSON]:
    typed = next(typed for typed in typed_turns() if typed["name"] == "two-calls")
    return payloads_of(wire, turn_of(wire, typed | {"name": "cut"}), _PIECES)


def _cut(wire: str, payloads: Sequence[JSON], place: _Place, ending: str) -> Case:
    word = "" if ending == "clean" else f"-{ending}"
    return _damaged(
        wire,
        f"cut-{place.name}{word}",
        f"The stream breaks off {place.about}; {_ENDINGS[ending]}.",
        b"".join(frames_of(wire, payloads)[: place.at]),
        _seen(wire, payloads[: place.at]),
        ending=ending,
    )


def _halves(wire: str, payloads: Sequence[JSON]) -> list[Case]:
    """Return streams that end inside a frame."""
    found = []
    for place in _places(wire, payloads):
        if place.name not in ("between-the-calls", "before-the-reason"):
            continue
        frames = frames_of(wire, payloads)
        half = frames[place.at][: len(frames[place.at]) * 2 // 3]
        about = f"The stream breaks off inside the frame {place.about}; the body ends as if it were whole."
        about = about.replace("the frame between the two calls", "the first frame of the second call")
        about = about.replace("the frame behind the second call, before the reason", "the frame of the reason")
        seen = _seen(wire, payloads[: place.at])
        data = b"".join(frames[: place.at]) + half
        found.append(_damaged(wire, f"cut-in-a-frame-{place.name}", about, data, seen, ending="half"))
    return found


def _damaged(
    wire: str, name: str, about: str, data: bytes, seen: _Seen, *, ending: str = "clean", kind: str = "cut"
) -> Case:
    """Return a damaged case, with what its wire has told."""
    sent, may = _judged(wire, seen)
    offered = {told.name: shown_keys(told.text) for told in seen.calls.values() if told.name}
    typed = next(typed for typed in typed_turns() if typed["name"] == "two-calls")
    everything = {call["name"]: list(call["arguments"]) for call in typed["calls"]}
    return Case(
        wire=wire,
        name=name,
        about=about,
        data=data,
        suffix=suffix_of(wire),
        level="damage",
        kind=kind,
        sent=sent,
        may=may,
        accept=ANY_END if seen.is_over else SAID_END,
        quirks=[51] if kind == "cut" else [],
        origin="generated",
        ending=ending,
        offered=everything | offered,
    )


def _judged(wire: str, seen: _Seen) -> tuple[list[JSON], list[JSON]]:
    """Return the calls that were surely sent, and those that may be handed over."""
    sent, may = [], []
    for told in seen.calls.values():
        arguments = whole_object(told.text)
        if arguments is None or not told.name:
            continue
        call = call_of(told.id, told.name, arguments, None if wire in VALUES else told.text)
        (sent if told.is_ended or seen.is_over else may).append(call)
    return sent, may


# Lost frames

_LOSSES = {
    "head": "The frame that opens the call is lost",
    "first-piece": "The first piece of the arguments is lost",
    "piece-of-a-string": "A piece inside a string of the arguments is lost",
    "piece-of-the-structure": "A piece with a key of the arguments is lost",
    "last-piece": "The last piece of the arguments is lost",
}


def losses() -> list[Case]:
    """Return streams of one call that lost one frame in the middle."""
    return [_lost(wire, name) for wire in MAIN for name in _LOSSES]


def _lost(wire: str, name: str) -> Case:
    payloads = _one_call(wire)
    gone = _which(wire, payloads, name)
    rest = [*payloads[:gone], *payloads[gone + 1 :]]
    seen = _seen(wire, rest)
    original = _seen(wire, payloads).calls
    data = b"".join(frames_of(wire, rest)) + end_of(wire)
    case = _damaged(wire, f"lost-{name}", f"{_LOSSES[name]}.", data, seen, kind="lost")
    return _judge_loss(case, {told.text for told in original.values()})


def _judge_loss(case: Case, originals: set[str]) -> Case:
    """Correct what a reader can know: an altered text that is an object may be handed over, for nobody can see it."""
    changed = [call for call in case.sent if call["arguments_text"] not in originals]
    case.sent = [call for call in case.sent if call["arguments_text"] in originals]
    case.may = [*case.may, *changed]
    case.accept = ANY_END if case.sent or case.may else SAID_END
    return case


def _one_call(wire: str) -> list[JSON]:
    call = {"name": "send_mail", "arguments": {"to": "crew@example.org", "body": "Low water at noon, all hands.", "urgent": True}}
    return payloads_of(wire, turn_of(wire, {"name": "lost", "calls": [call]}), _PIECES)


def _which(wire: str, payloads: Sequence[JSON], name: str) -> int:
    """Return the position of the payload that a loss is about."""
    texts = [[told.text for told in _seen(wire, payloads[:n]).calls.values()] for n in range(len(payloads) + 1)]
    heads = [n for n, found in enumerate(texts) if found]
    if name == "head":
        return heads[0] - 1
    grown = [n for n in heads if n + 1 < len(texts) and len(texts[n + 1][0]) > len(texts[n][0])]
    if name == "first-piece":
        return grown[0]
    if name == "last-piece":
        return grown[-1]
    added = {n: texts[n + 1][0][len(texts[n][0]) :] for n in grown[1:-1]}
    if name == "piece-of-a-string":
        return next(n for n, text in added.items() if '"' not in text and ":" not in text)
    return next(n for n, text in added.items() if '":' in text)
