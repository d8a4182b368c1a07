"""An exchange as rules see it: its frames by the standard, its answer read strictly, and what the parser noted.

Theory of operation. The frames are those of a reader that follows the WHATWG rules without any leniency, numbered from
1. Errors of lines that such a reader passes over in silence are looked for separately. The parser reads the same bytes
with all its leniency: what it can read shows what the model did, and each word that it notes is a second witness for a
rule (`rules.words`). Everything is made once, when a rule asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from wholecall.calls.arguments.verdict import Verdict
from wholecall.calls.output.events import TERMINAL, Event, StreamFault, TurnFinished
from wholecall.calls.output.turns import Turn
from wholecall.calls.parse import parse_arguments
from wholecall.framing.sse import SSEFraming
from wholecall.grading.probe.asked import functions_in, schema_of
from wholecall.grading.probe.exchange import Exchange
from wholecall.grading.probe.reading import anthropic, chat, gemini, responses
from wholecall.grading.probe.reading.model import UNSET, Answer, CallSeen, member, objects
from wholecall.stream.parser import ToolCallParser

_BOM = b"\xef\xbb\xbf"
_FIELD = re.compile(rb"(?:data|event|id|retry)(?::|\Z)|:")
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")
_PLAIN = re.compile(r"[^<>{}()\[\]|`]*")  # text without any sign that a call in text has
_GOOD = 200
_DONE = "[DONE]"

ReadEvent = Callable[[Answer, int, str, dict[str, Any]], None]
ReadBody = Callable[[Answer, dict[str, Any]], None]
READERS: Mapping[str, tuple[ReadEvent, ReadBody]] = {
    "chat-completions": (chat.read_event, chat.read_body),
    "responses": (responses.read_event, responses.read_body),
    "anthropic": (anthropic.read_event, anthropic.read_body),
    "gemini": (gemini.read_event, gemini.read_body),
}


class FrameSeen(NamedTuple):
    """One event of a stream.

    Attributes:
        number: its number, from 1.
        event: its name; `message` where there is none.
        data: its text.
        value: its decoded text, `UNSET` where it is not JSON.
    """

    number: int
    event: str
    data: str
    value: Any

    @property
    def is_done(self) -> bool:
        """Whether it is `[DONE]`."""
        return self.data.strip() == _DONE


class Noted(NamedTuple):
    """What the parser noted.

    Attributes:
        words: flags, edits, reasons of drops, anomalies and kinds of faults.
        turn: the turn, with calls in text read as calls.
    """

    words: frozenset[str]
    turn: Turn


class Sight:
    """An exchange with everything that rules look at, made on request.

    Args:
        exchange: the exchange.
    """

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.wire = exchange.wire
        self.memo: dict[str, Any] = {}  # what rules share

    @cached_property
    def is_answer(self) -> bool:
        """Whether it is a whole answer of a server that did not refuse, so that the rules of the wire apply."""
        return self.exchange.status == _GOOD and self.exchange.ended == "closed"

    @cached_property
    def body(self) -> bytes:
        """All received bytes."""
        return self.exchange.body

    @cached_property
    def is_sse(self) -> bool:
        """Whether the bytes are an event stream, whatever the content type says."""
        head = self.body.removeprefix(_BOM).lstrip()[:1]
        if not head:
            return self.exchange.is_streamed and self.exchange.content_type != "application/json"
        return head not in (b"{", b"[") and (
            self.exchange.is_streamed or bool(_FIELD.match(self.body.lstrip()))
        )

    @cached_property
    def frames(self) -> list[FrameSeen]:
        """The events of a stream; none of a body."""
        if not self.is_sse:
            return []
        framing = SSEFraming()
        found = [*framing.feed(self.body), *framing.close()]
        return [FrameSeen(at, each.event, each.data, _decoded(each.data)) for at, each in enumerate(found, 1)]

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of a stream without their ends."""
        return _LINE_ENDS.split(self.body) if self.is_sse else []

    @cached_property
    def ends(self) -> frozenset[bytes]:
        """The line ends in use."""
        return frozenset(_LINE_ENDS.findall(self.body)) if self.is_sse else frozenset()

    @cached_property
    def whole(self) -> Any:
        """The value of a body that came as one JSON text; `UNSET` where it is none, or a stream."""
        if self.is_sse:
            return UNSET
        return _decoded(self.body.removeprefix(_BOM).decode(errors="replace"))

    @cached_property
    def answer(self) -> Answer | None:
        """The answer, read strictly; None where no part of it is an object."""
        answer, (read_event, read_body) = Answer(), READERS[self.wire]
        if isinstance(self.whole, dict):
            read_body(answer, self.whole)
            return answer
        values = [frame for frame in self.frames if isinstance(frame.value, dict)]
        for frame in values:
            read_event(answer, frame.number, frame.event, frame.value)
        return answer if values else None

    @cached_property
    def is_error(self) -> bool:
        """Whether the answer is an error, or became one."""
        return self.answer is not None and bool(self.answer.errors)

    @cached_property
    def noted(self) -> Noted:
        """What the parser notes and reads, with all its leniency."""
        plain = _parsed(self.body, self.wire, None)
        said = self.answer.text + self.answer.reasoning if self.answer else ""
        reading = plain if _PLAIN.fullmatch(said) else _parsed(self.body, self.wire, "auto")
        words: set[str] = set(plain.turn.anomalies)
        for event in plain.events:
            words |= _words(event)
        return Noted(frozenset(words), reading.turn)

    @cached_property
    def written(self) -> list[str]:
        """The names of offered tools of which a call stands in the visible text, marked up or as bare JSON."""
        read = [call.name for call in self.noted.turn.calls if "from_text" in call.flags]
        bare = _bare_calls(self.answer.text) if self.answer else []
        return [name for name in (*read, *bare) if name in self.tools]

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The schemas of the offered tools, by name."""
        described = functions_in(self.exchange.request)
        return {each["name"]: schema_of(each) for each in described if isinstance(each.get("name"), str)}

    @cached_property
    def judged(self) -> list[tuple[CallSeen, Verdict]]:
        """Each call whose arguments came as text, with the verdict on the text."""
        calls = self.answer.calls if self.answer else []
        return [(call, parse_arguments(call.text)) for call in calls if call.value is UNSET]

    def value_of(self, call: CallSeen) -> Any:
        """Return the arguments of a call if they are an object by strict JSON, else `UNSET`."""
        if call.value is not UNSET:
            return call.value
        verdict = next((verdict for each, verdict in self.judged if each is call), None)
        return verdict.arguments if verdict is not None and verdict.status == "exact" else UNSET


class _Parsed(NamedTuple):
    events: list[Event[Any]]
    turn: Turn


def _parsed(body: bytes, wire: str, text: str | None) -> _Parsed:
    parser = ToolCallParser(wire, text=text)
    found: list[Event[Any]] = [*parser.feed(body), *parser.close()]
    return _Parsed(found, parser.turn)


def _words(event: Event[Any]) -> set[str]:
    if isinstance(event, StreamFault):
        return {event.kind}
    if isinstance(event, TurnFinished) or not isinstance(event, TERMINAL):
        return set()
    words = {*getattr(event, "flags", ()), *(edit.kind for edit in getattr(event, "edits", ()))}
    reason = getattr(event, "reason", None)
    return words | ({reason} if isinstance(reason, str) else set())


def _bare_calls(text: str) -> list[str]:
    """Return the names of calls where a text is nothing but their JSON, perhaps in a fence."""
    inner = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    value = _decoded(inner)
    found = [value] if isinstance(value, dict) else objects(value)
    inner_calls = [member(each, "function") or each for each in found]
    return [str(each.get("name")) for each in inner_calls if "arguments" in each or "parameters" in each]


def _decoded(text: str) -> Any:
    """Return the value of a JSON text, with whole numbers as they are; `UNSET` where it is none."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return UNSET


def _refuse(_name: str) -> Any:
    raise ValueError("not JSON")


def is_field(line: bytes) -> bool:
    """Return whether a line is one that the standard of event streams knows."""
    return not line or bool(_FIELD.match(line))
