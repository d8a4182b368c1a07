"""Sessions over sockets: the messages of a recording, and what the simplest clients of each wire execute."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import corpora
from wholecall import ToolCall, ToolCallParser
from wholecall.framing import SSEFraming
from wholecall.limits import Limits
from wholecall.repairing import MessageRepairer, RepairReport

WIRES = ("responses", "openai-realtime", "gemini-live")
ENDS = {"response.done", "response.completed", "response.failed", "response.incomplete"}
Call = tuple[str, str]  # name, and arguments in canonical JSON


class Passed(NamedTuple):
    """What a session became: the messages that left, and the report."""

    messages: list[str | bytes]
    report: RepairReport


class Executed(NamedTuple):
    """The calls that clients execute: on the finished item, on the whole text, on the finished response."""

    items: Counter[Call]
    texts: Counter[Call]
    responses: Counter[Call]

    @property
    def every(self) -> set[Call]:
        """All calls that any client executes."""
        return {*self.items, *self.texts, *self.responses}


def recordings(dialect: str, *, streams: bool = False) -> dict[str, list[str]]:
    """The recorded sessions of a dialect by name; with `streams`, server-sent events as messages instead."""
    suffixes = {".sse"} if streams else {".ndjson", ".json"}
    paths = [path for path in corpora.streams() if path.parent.name == dialect and path.suffix in suffixes]
    found = {path.stem: messages(path) for path in paths}
    return {name: lines for name, lines in found.items() if _is_session(lines)}


def _is_session(lines: list[str]) -> bool:
    """Whether the messages are events, not one whole response."""
    return bool(lines) and not json.loads(lines[0]).get("output")


def messages(path: Path) -> list[str]:
    """The messages of a recording: its events, or the objects in its lines."""
    data = path.read_bytes()
    if path.suffix == ".sse":
        framing = SSEFraming(Limits.none())
        frames = [*framing.feed(data), *framing.close()]
        return [frame.data for frame in frames if frame.data.startswith("{") and '"type"' in frame.data]
    return _objects(data.decode())


def _objects(text: str) -> list[str]:
    """The JSON values of a text, each as it is written; a last one that was cut as well."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            _, end = decoder.raw_decode(text, at)
        except ValueError:
            end = text.find("\n", at) % (len(text) + 1)
        found.append(text[at:end].rstrip("\n"))
        at = end
    return found


def passed(lines: list[Any], expected: str | None = None, **options: Any) -> Passed:
    """What a repairer makes of a session."""
    repairer = MessageRepairer(expected, **options)
    left = [message for line in lines for message in repairer.receive(line)]
    left += repairer.close()
    return Passed(left, repairer.report)


def told(lines: list[str], dialect: str) -> set[Call]:
    """The calls that the parser emits for a whole session."""
    parser = ToolCallParser(dialect, framing="jsonl")
    events = parser.feed("".join(line.replace("\n", " ") + "\n" for line in lines).encode())
    events += parser.close()
    return {(call.name, _canonical(call.arguments)) for call in events if isinstance(call, ToolCall)}


def executed(lines: list[Any]) -> Executed:
    """What clients execute of messages; arguments that are no JSON object make an impossible call."""
    found = Executed(Counter(), Counter(), Counter())
    names: dict[Any, str] = {}
    for payload in map(json.loads, lines):
        kind, item = payload.get("type", ""), payload.get("item") or {}
        if kind.startswith("response.") and item.get("type") == "function_call":
            names[item.get("id")] = item["name"]
        if kind == "response.output_item.done" and item.get("type") == "function_call":
            found.items[item["name"], _canonical(item["arguments"])] += 1
        if kind == "response.function_call_arguments.done":
            found.texts[names.get(payload["item_id"], "nameless"), _canonical(payload["arguments"])] += 1
        for listed in (payload.get("response") or {}).get("output") or []:
            if listed.get("type") == "function_call":
                found.responses[listed["name"], _canonical(listed["arguments"])] += 1
        for call in (payload.get("toolCall") or {}).get("functionCalls") or []:
            found.items[call["name"], _canonical(call["args"])] += 1
    return found


def unkept(lines: list[Any]) -> list[str]:
    """Return the calls that are not what was shown of them, and those that never end although no error follows."""
    pieces: dict[Any, str] = {}
    texts: dict[Any, str] = {}
    told: set[Any] = set()
    for payload in map(json.loads, lines):
        kind, item = payload.get("type", ""), payload.get("item_id")
        status = (payload.get("response") or {}).get("status", "completed")
        if kind == "response.function_call_arguments.delta":
            pieces[item] = pieces.get(item, "") + payload["delta"]
        elif kind == "response.function_call_arguments.done":
            texts[item] = payload["arguments"]
        elif kind == "error" or (kind in ENDS and status != "completed"):
            told |= pieces.keys()
    wrong = {item: text for item, text in pieces.items() if texts.get(item, text) != text}
    return [str(item) for item in pieces if item in wrong or not (item in texts or item in told)]


def _canonical(arguments: Any) -> str:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return "no JSON"
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else "no object"


def damages(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Sessions with one message damaged, removed or repeated."""
    found = []
    for at, line in enumerate(lines):
        fates = {
            "removed": [],
            "cut in half": [line[: len(line) // 2]],
            "without its end": [line[:-1]],
            "emptied": ["{}"],
            "repeated": [line, line],
        }
        found += [(f"{at} {fate}", [*lines[:at], *left, *lines[at + 1 :]]) for fate, left in fates.items()]
        found.append((f"cut before {at}", lines[:at]))
    return found
