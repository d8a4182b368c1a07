"""Faults of Chat Completions in the labels of calls and in their argument text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import Any

from wholecall.calls.parse import json_state
from wholecall.grading.probe.reading.model import member, objects
from wholecall.grading.probe.selftest.fault import Fault, Frames, Payload, stages
from wholecall.grading.probe.selftest.script import Script, token

Change = Callable[[Payload, Random], None]


def entries(value: object) -> Iterator[Payload]:
    """Yield the entries of `tool_calls` in a chunk or a body."""
    for choice in objects(value.get("choices")) if isinstance(value, dict) else []:
        holder = member(choice, "delta") or member(choice, "message")
        yield from objects(holder.get("tool_calls"))


def is_head(entry: Payload) -> bool:
    """Return whether an entry begins its call."""
    return "id" in entry


def _each(change: Change, *, heads: bool = True) -> dict[str, Any]:
    """Return the stages that change each entry, or each first one, of streams and bodies."""

    def body(value: Payload, random: Random) -> None:
        for entry in entries(value):
            if is_head(entry) or not heads:
                change(entry, random)

    return stages(body)


def _streamed(change: Callable[[list[Payload], Random], None]) -> Callable[[Frames, Random], Frames]:
    """Return a stage that changes the entries of a stream, in order."""

    def frames(values: Frames, random: Random) -> Frames:
        change([entry for value in values for entry in entries(value)], random)
        return values

    return frames


def _of_calls(found: list[Payload]) -> list[list[Payload]]:
    """Return the entries of each call."""
    calls: list[list[Payload]] = []
    for entry in found:
        if is_head(entry):
            calls.append([])
        calls[-1].append(entry)
    return calls


def _no_id(entry: Payload, _random: Random) -> None:
    del entry["id"]


def _null_id(entry: Payload, random: Random) -> None:
    entry["id"] = random.choice((None, "", "null"))


def _number_id(entry: Payload, random: Random) -> None:
    entry["id"] = random.randrange(10)


def _no_type(entry: Payload, _random: Random) -> None:
    del entry["type"]


def _object(entry: Payload, _random: Random) -> None:
    entry["function"]["arguments"] = _read(entry["function"]["arguments"])


def one_id(script: Script, _random: Random) -> None:
    """Give all calls one id."""
    for call in script.calls:
        call.id = script.calls[0].id


def _churn(found: list[Payload], random: Random) -> None:
    for entry in found:
        entry["id"] = f"call_{token(random)}"


def _late_id(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        call[-1]["id"] = call[0].pop("id")


def _from_one(found: list[Payload], _random: Random) -> None:
    for entry in found:
        entry["index"] += 1


def _all_zero(found: list[Payload], _random: Random) -> None:
    for entry in found:
        entry["index"] = 0


def _no_index(found: list[Payload], _random: Random) -> None:
    for entry in found:
        del entry["index"]


def _names(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        for entry in call[1:]:
            entry["function"]["name"] = call[0]["function"]["name"]


def _name_pieces(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        name = call[0]["function"]["name"]
        call[0]["function"]["name"] = name[:2]
        call[1]["function"]["name"] = name[2:]


def _late_name(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        call[-1]["function"]["name"] = call[0]["function"].pop("name")


def _read(text: str) -> Any:
    """Return the object of an argument text; of a cut one the text."""
    return json.loads(text) if json_state(text) == "complete" else text


def _object_at_end(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        text = "".join(entry["function"]["arguments"] for entry in call)
        for entry in call:
            del entry["function"]["arguments"]
        call[-1]["function"]["arguments"] = _read(text)


def _snapshots(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        texts = accumulate(entry["function"]["arguments"] for entry in call)
        for entry, text in zip(call, texts, strict=True):
            entry["function"]["arguments"] = text


def _again(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        text = "".join(entry["function"]["arguments"] for entry in call)
        call[-1]["function"]["arguments"] += text


def _twice(values: Frames, _random: Random) -> Frames:
    """Send each frame with argument text twice."""
    found: Frames = []
    for value in values:
        is_text = any(not is_head(entry) for entry in entries(value))
        found += [value, value] if is_text else [value]
    return found


def _placeholder(found: list[Payload], _random: Random) -> None:
    for call in _of_calls(found):
        if call[0]["function"]["arguments"] == "" and len(call) > 1:
            call[0]["function"]["arguments"] = "{}"


def changed_texts(change: Callable[[str], str]) -> Callable[[Script, Random], None]:
    """Return a stage that changes the argument texts of whole calls."""

    def script(script: Script, _random: Random) -> None:
        for call in script.calls:
            if call.is_whole:
                call.text = change(call.text)
                half = len(call.text) // 2
                call.pieces = [piece for piece in (call.text[:half], call.text[half:]) if piece]

    return script


def fitted(text: str, change: Callable[[Any], Any]) -> str:
    """Return an argument text with its values changed."""
    value = {key: change(each) for key, each in json.loads(text).items()}
    return json.dumps(value, ensure_ascii=False)


def rounded(value: Any) -> Any:
    """Return a whole number as one that went through floating point."""
    return int(float(value)) if type(value) is int else value


def mangled(value: Any) -> Any:
    """Return a text as it is read in a wrong charset."""
    return value.encode().decode("latin-1") if isinstance(value, str) else value


FAULTS = (
    Fault(id="id-missing", rule="labels.id-missing", says="calls have no id", **_each(_no_id)),
    Fault(id="id-null", rule="labels.id-null", says="ids are null, blank or the word null", **_each(_null_id)),
    Fault(id="id-number", rule="labels.id-type", says="ids are numbers", **_each(_number_id)),
    Fault(id="id-twice", rule="labels.id-twice", says="all calls have one id", script=one_id),
    Fault(id="id-churn", rule="labels.id-churn", says="each fragment has another id", frames=_streamed(_churn)),
    Fault(id="id-late", rule="labels.id-late", says="the id comes last", frames=_streamed(_late_id)),
    Fault(id="type-missing", rule="labels.type-missing", says="calls have no type", **_each(_no_type)),
    Fault(id="index-from-one", rule="labels.index-from-zero", says="indices begin at 1", frames=_streamed(_from_one)),
    Fault(id="index-reused", rule="labels.index-reused", says="every index is 0", frames=_streamed(_all_zero)),
    Fault(id="index-missing", rule="labels.index-missing", says="there are no indices", frames=_streamed(_no_index)),
    Fault(id="name-repeated", rule="labels.name-repeated", says="each fragment has the name", frames=_streamed(_names)),
    Fault(id="name-pieces", rule="labels.name-pieces", says="names come in pieces", frames=_streamed(_name_pieces)),
    Fault(id="name-late", rule="labels.name-late", says="the name comes last", frames=_streamed(_late_name)),
    Fault(id="object", rule="arguments.object", says="arguments are objects",
          frames=_streamed(_object_at_end), body=_each(_object)["body"]),
    Fault(id="snapshots", rule="arguments.snapshots", says="pieces restate all", frames=_streamed(_snapshots)),
    Fault(id="pieces-repeated", rule="arguments.repeated", says="pieces come twice", frames=_twice),
    Fault(id="text-again", rule="arguments.repeated", says="the whole text comes again", frames=_streamed(_again)),
    Fault(id="placeholder", rule="arguments.placeholder", says="{} comes first", frames=_streamed(_placeholder)),
    Fault(id="double-encoded", rule="arguments.double-encoded", says="arguments are encoded twice",
          script=changed_texts(json.dumps)),
    Fault(id="fenced", rule="arguments.fenced", says="arguments stand in a code fence",
          script=changed_texts(lambda text: f"```json\n{text}\n```")),
    Fault(id="marked", rule="arguments.markers", says="a marker follows the arguments",
          script=changed_texts(lambda text: f"{text}</tool_call>")),
    Fault(id="empty", rule="arguments.empty", says="calls without arguments have no text",
          script=changed_texts(lambda text: "" if text == "{}" else text)),
    Fault(id="rounded", rule="arguments.rounded", says="whole numbers lose their last digits",
          script=changed_texts(lambda text: fitted(text, rounded))),
    Fault(id="mangled", rule="arguments.mangled", says="texts are read in a wrong charset",
          script=changed_texts(lambda text: fitted(text, mangled))),
)  # fmt: skip
