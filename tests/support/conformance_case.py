"""Sidecars of the conformance suite: their members, and the levels that follow from the survey of habits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.support.corpora import CORPORA
from wholecall.grading.conform.cases import SESSIONS, WIRES

JSON = dict[str, Any]

HTTP_WIRES = tuple(wire for wire in WIRES if wire not in SESSIONS)
INPUT = CORPORA / "conformance"
ANY_END = ("calls", "partial+error", "refuse")
EVERY_END = ("calls", "calls+error", "partial+error", "refuse")  # in the order of the files
SAID_END = ("partial+error", "refuse")
_TYPES = {
    "sse": "text/event-stream",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
    "bin": "application/vnd.amazon.eventstream",
}
_SPECS = {
    "chat-completions": "OpenAI API reference, Chat Completions: the chat completion object and chunk object",
    "responses": "OpenAI API reference, Responses: streaming events and the response object",
    "anthropic": "Anthropic API reference, Messages: streaming messages and the message object",
    "gemini": "Gemini API reference, Generating content: streamGenerateContent and GenerateContentResponse",
    "bedrock-converse": "Amazon Bedrock API reference: ConverseStream and Converse; event stream encoding",
    "ollama": "Ollama API reference: generate a chat completion (/api/chat)",
    "cohere-v2": "Cohere API reference, v2: chat and chat with streaming",
    "responses-socket": "OpenAI API reference, Responses: WebSocket mode, and streaming events",
    "openai-realtime": "OpenAI API reference, Realtime: server events",
    "gemini-live": "Gemini API reference, Live API: BidiGenerateContentServerMessage",
}
# The numbers of quirks whose argument text is no single JSON object, although nothing of it was lost.
REPAIRED = frozenset({25, 27, 28, 29, 30, 33, 84})
MANY_SOURCES = 3
MANY_SERVERS = 2
_SHOWN_THREADS = 4
_TYPE_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


@dataclass
class Case:
    """One case before it is written: its bytes, and the parts of its sidecar that differ from case to case."""

    wire: str
    name: str
    about: str
    data: bytes
    suffix: str
    level: str
    kind: str
    sent: list[JSON] = field(default_factory=list)
    may: list[JSON] = field(default_factory=list)
    retracted: list[JSON] = field(default_factory=list)
    server: list[JSON] = field(default_factory=list)
    accept: Sequence[str] = ("calls",)
    quirks: Sequence[int] = ()
    origin: str = "typed"
    ending: str = "clean"
    asked: Sequence[str] = ("tools",)
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Tools of calls that are nobody's, and the keys that their texts show."""
    text: str | None = None
    finish: str | None = None
    numbers: str | None = None

    @property
    def id(self) -> str:
        """The name of the case across all wires."""
        return f"{self.wire}/{self.name}"

    def sidecar(self) -> JSON:
        """Return the content of the sidecar."""
        asked = [*self.asked, *(["server-tools"] if self.server else [])]
        return {
            "schema": 1,
            "id": self.id,
            "about": self.about,
            "wire": self.wire,
            "level": self.level,
            "kind": self.kind,
            "quirks": list(self.quirks),
            "origin": self.origin,
            "licence": "CC0-1.0",
            "evidence": evidence(self.quirks),
            "spec": _SPECS[self.wire] if self.level == "core" else None,
            "http": {
                "status": 101 if self.wire in SESSIONS else 200,
                "content_type": _TYPES[self.suffix],
                "ending": self.ending,
                "writes": self._writes(),
            },
            "request": {"stream": self.suffix != "json", "tools": self._tools(), "asked": asked},
            "sent": self.sent,
            "may": self.may,
            "retracted": self.retracted,
            "server": self.server,
            "accept": [end for end in EVERY_END if end in self.accept],
            "text": self.text,
            "finish": self.finish,
            "usage": None,
            **({"numbers": self.numbers} if self.numbers else {}),
        }

    def _writes(self) -> list[str]:
        if self.wire in SESSIONS:
            return ["frame"]
        if self.suffix == "json":
            return ["whole", "byte"]
        return ["frame", "byte", "1460", "seed:7"] if self.level in ("core", "common") else ["frame", "byte"]

    def _tools(self) -> list[JSON]:
        """Return the tools of all calls, each with the types of the values that its calls have."""
        found: dict[str, dict[str, Any]] = {}
        for call in (*self.sent, *self.may, *self.retracted):
            properties = found.setdefault(call["name"], {})
            for key, value in call["arguments"].items():
                kind = _schema_of(value)
                properties[key] = kind if properties.get(key, kind) == kind else {}
        for name, keys in self.offered.items():
            properties = found.setdefault(name, {})
            for key in keys:
                properties.setdefault(key, {})
        return [
            {"name": name, "schema": {"type": "object", "properties": _plain(properties)}}
            for name, properties in found.items()
        ]


def _plain(properties: Mapping[str, Any]) -> JSON:
    """Leave out the keys that are no words: many libraries make names of them."""
    return {key: kind for key, kind in properties.items() if re.fullmatch(r"[A-Za-z_]\w*", key)}


def _schema_of(value: Any) -> JSON:
    kind = _TYPE_NAMES.get(type(value))
    if kind is None:
        return {}
    return {"type": kind, "items": {}} if kind == "array" else {"type": kind}


def call_of(id: str | None, name: str, arguments: JSON, text: str | None = None) -> JSON:
    """Return an entry of `sent`, `may`, `retracted` or `server`."""
    return {"id": id, "name": name, "arguments": arguments, "arguments_text": text}


def whole_object(text: str) -> JSON | None:
    """Return the object that a text is, or None if it is anything else."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _refuse(word: str) -> None:
    raise ValueError(word)


def shown_keys(text: str) -> list[str]:
    """Return the words of a damaged text that look like keys."""
    return list(dict.fromkeys(re.findall(r'"([A-Za-z_]\w*)"\s*:', text)))


@cache
def habits() -> dict[int, JSON]:
    """Return the survey: what is known of each quirk, by its number."""
    lines = (INPUT / "habits.jsonl").read_text("utf-8").splitlines()
    return {habit["quirk"]: habit for habit in map(json.loads, lines)}


def evidence(quirks: Iterable[int]) -> list[str]:
    """Return public threads that show some quirks."""
    found = [url for number in quirks for url in habits().get(number, {}).get("threads", ())]
    return list(dict.fromkeys(found))[:_SHOWN_THREADS]


def odd(wire: str, quirks: Iterable[int]) -> list[int]:
    """Return those quirks that depart from the wire's published form."""
    of = wire.removesuffix("-socket")
    return [number for number in quirks if of not in habits().get(number, {}).get("conforming", ())]


def is_common(number: int) -> bool:
    """Return whether the survey has enough sources and servers for a quirk."""
    habit = habits().get(number)
    if habit is None:
        return False
    return habit["sources"] >= MANY_SOURCES and len(habit["servers"]) >= MANY_SERVERS


def kind_of(wire: str, quirks: Iterable[int]) -> str:
    """Return what is odd about a stream: the kind of its rarest quirk."""
    found = sorted(odd(wire, quirks), key=lambda number: habits().get(number, {}).get("sources", 0))
    return str(habits()[found[0]]["kind"]) if found and found[0] in habits() else "plain"
