"""Gemini Live: messages with whole calls, which are judged at once and left in place, edited or taken out.

Theory of operation. A call is a member of one message, so nothing waits: the parser's verdict comes with the message. A
call that says what the verdict says stays; another one is edited, and a withheld one is taken out. Values that come in
pieces (`partialArgs`) are no call that clients read: they are taken out, and the call is sent in a message of its own
once it is whole. A call may come twice under one id, in the model's turn and as a request; repeated requests are taken
out.

The server waits for the result of each request. If all requests of a message were withheld, nobody would answer, and
the session would stand still: it ends with an error, for which clients raise. Source: Gemini API reference, "Live API".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event, TurnFinished
from wholecall.calls.tools.tool import Tools
from wholecall.dialects.labels import id_label
from wholecall.repairing.encoders.base import json_bytes
from wholecall.repairing.encoders.gemini import error_of
from wholecall.repairing.report import Ledger, RepairReport
from wholecall.repairing.rewriter import never_ended
from wholecall.repairing.sessions.base import Message, Options, Raw, Session, named_tools
from wholecall.repairing.withholding import CALLS_WITHHELD, INCOMPLETE, Losses
from wholecall.stream.parser import ToolCallParser

_REQUEST: Final = (("toolCall", "tool_call"), ("functionCalls", "function_calls"))
_TURN: Final = (("serverContent", "server_content"), ("modelTurn", "model_turn"))
_CALLS: Final = ("functionCall", "function_call")
_PIECES: Final = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})
_DECLARED: Final = ("functionDeclarations", "function_declarations")
_BREAKS: Final = str.maketrans({"\r": " ", "\n": " "})
_MOST_SAID: Final = 65536  # characters after which their text is forgotten
_MOST_KNOWN: Final = 1024  # calls of one turn that are remembered

Payload = dict[str, Any]


class LiveSession(Session):
    """The messages of one session.

    Args:
        options: what the caller chose.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._tools = options.tools
        self._parser: ToolCallParser[Any] | None = None
        self._ledger = Ledger()
        self._error: str | None = None
        self._known: dict[
            str, ToolCall[Any] | None
        ] = {}  # of this turn, by their ids; None for withheld ones
        self._asked: set[str] = set()  # ids of the requests of this turn that left
        self._n_said = 0

    def send(self, payload: Mapping[str, Any]) -> None:
        """Take note of the tools of the session."""
        setup = payload.get("setup")
        listed = setup.get("tools") if isinstance(setup, dict) else None
        if self._options.learns and isinstance(listed, list) and self._parser is None:
            self._tools = _declared(listed)

    @property
    def report(self) -> RepairReport:
        """The report of all turns."""
        return self._ledger.report(error=self._error)

    def _take(self, message: Message) -> list[Raw]:
        events = self._read(message)
        self._ledger.note(events)
        self._options.note(events)
        if message.payload is None:
            self._ledger.mended = True
            return []
        edit = _Edit(events, self._known, self._asked)
        payload = edit.edited(message.payload)
        out = [self._written(_request(edit.left))] if edit.left else []
        if payload == message.payload and not message.is_odd:
            out.append(message.raw)
        elif payload:
            out.append(self._written(payload))
        self._ledger.mended = self._ledger.mended or out != [message.raw]
        if any(type(event) is TurnFinished for event in events) or len(self._known) > _MOST_KNOWN:
            self._known.clear()
            self._asked.clear()
        return out + self._unanswered(edit)

    def _read(self, message: Message) -> Sequence[Event[Any]]:
        if self._parser is None:
            options = self._options
            self._parser = ToolCallParser(
                "gemini-live",
                tools=self._tools,
                framing="jsonl",
                policy=options.policy,
                limits=replace(options.limits, max_stream_bytes=None),
            )
        self._n_said += len(message.text)
        if self._n_said > _MOST_SAID:
            self._n_said = 0
            self._parser.forget()
        if message.is_odd and message.payload is not None:
            return self._parser.feed(json_bytes(message.payload) + b"\n")
        return self._parser.feed(message.text.translate(_BREAKS).encode("utf-8", "surrogatepass") + b"\n")

    def _unanswered(self, edit: _Edit) -> list[Raw]:
        """Return the error that ends the session if all requests of a message were withheld."""
        losses = Losses(self._options.withheld, goes_on_after_cuts=False)
        for drop in edit.drops:
            losses.note(drop)
        is_asked = edit.n_withheld and not edit.n_asked and not edit.left
        if not is_asked or not losses.is_error("tool_calls", executed=False):
            return []
        return self.fail(CALLS_WITHHELD, losses.sentence)

    def fail(self, code: str, text: str) -> list[Raw]:
        """End the session."""
        self._error, self.is_over, self._ledger.ended = code, True, False
        self._ledger.mended = True
        if self._parser is not None:
            self._note_last(self._parser.abort(text))
        return [self._written({"code": 500, **error_of(text, code)})]

    def close(self) -> list[Raw]:
        """End the session; say so if a call was open, for which a client may wait."""
        events = self._parser.close() if self._parser is not None else []
        self._note_last(events)
        if never_ended(events):
            self._ledger.ended = False
        if not any(type(event) is ToolCallDropped for event in events):
            return []
        self._error, self._ledger.mended = INCOMPLETE, True
        return [self._written({"code": 500, **error_of("the session ended before the call did", INCOMPLETE)})]

    def _note_last(self, events: Sequence[Event[Any]]) -> None:
        is_over = self._ledger.ended
        self._ledger.note(events)
        self._options.note(events)
        self._ledger.ended = is_over if self.is_over else self._ledger.ended


class _Edit:
    """What becomes of one message's calls.

    Args:
        events: the parser's, for this message.
        known: the verdicts of the turn, to which those of this message are added.
        asked: ids of the requests of the turn that left.

    Attributes:
        drops: the calls of this message that are withheld.
        n_asked, n_withheld: requests that stay, and that are taken out because of the verdict.
        left: whole calls that are not in the message.
    """

    def __init__(
        self, events: Sequence[Event[Any]], known: dict[str, ToolCall[Any] | None], asked: set[str]
    ) -> None:
        self._known = known
        self._asked = asked
        self.drops = [e for e in events if type(e) is ToolCallDropped and e.kind != "server"]
        self.n_asked = self.n_withheld = 0
        self._unnamed: list[ToolCall[Any] | None] = []  # verdicts of calls without an id on the wire
        fresh: dict[int, ToolCall[Any]] = {}
        for event in events:
            if isinstance(event, ToolCall):
                fresh[id(event)] = event
                if "id_generated" in event.flags:
                    self._unnamed.append(event)
                else:
                    known[event.id] = event
            elif type(event) is ToolCallDropped and event.kind != "server":
                if event.id is None:
                    self._unnamed.append(None)
                else:
                    known[event.id] = None
        self._fresh = fresh

    @property
    def left(self) -> list[ToolCall[Any]]:
        """The whole calls that the message does not hold."""
        return list(self._fresh.values())

    def edited(self, payload: Payload) -> Payload:
        """Return a message with exactly the calls that may leave; empty if nothing is left of it."""
        content = _under(payload, _TURN[0])
        turn = None if content is None else _under(payload[content], _TURN[1])
        told = None if content is None or turn is None else payload[content][turn].get("parts")
        if content is not None and turn is not None and any(map(_has_call, _listed(told))):
            parts = self._parts(_listed(told))
            payload = _with(payload, content, _with(payload[content], turn, {"parts": parts}, add=True))
        request = _under(payload, _REQUEST[0])
        name = None if request is None else next((n for n in _REQUEST[1] if n in payload[request]), None)
        if request is None or name is None:
            return payload
        told = _listed(payload[request][name])
        calls = [edited for call in told if (edited := self._request(call)) is not None]
        return _with_requests(payload, payload[request], name, calls)

    def _parts(self, parts: list[Any]) -> list[Any]:
        out: list[Any] = []
        for part in parts:
            name = next((n for n in _CALLS if isinstance(part, dict) and n in part), None)
            if name is None or not isinstance(part[name], dict):
                out.append(part)
            elif (call := self._verdict(part[name])) is not None:
                out.append(_with(part, name, _said(part[name], call)))
        return out

    def _request(self, told: Any) -> Payload | None:
        """Return a request as the verdict has it; None if it is taken out."""
        if not isinstance(told, dict):
            return None
        call = self._verdict(told)
        label = id_label(told.get("id"))
        if call is None:
            self.n_withheld += _PIECES.isdisjoint(told)
            return None
        if label is not None and label in self._asked:
            return None
        if label is not None:
            self._asked.add(label)
        self.n_asked += 1
        return _said(told, call)

    def _verdict(self, told: Payload) -> ToolCall[Any] | None:
        if not _PIECES.isdisjoint(told):
            return None
        label = id_label(told.get("id"))
        call = self._known.get(label) if label else self._unnamed.pop(0) if self._unnamed else None
        if call is not None:
            self._fresh.pop(id(call), None)
        return call


def _said(told: Payload, call: ToolCall[Any]) -> Payload:
    """Return a call as the verdict has it; itself, if it says so."""
    if told.get("name") == call.name and told.get("args") == call.arguments:
        return told
    return {**told, "name": call.name, "args": call.arguments}


def _request(calls: Sequence[ToolCall[Any]]) -> Payload:
    """Return a message that asks for calls."""
    told = [
        {
            **({} if "id_generated" in call.flags else {"id": call.id}),
            "name": call.name,
            "args": call.arguments,
        }
        for call in calls
    ]
    return {"toolCall": {"functionCalls": told}}


def _under(payload: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the name of a member that holds an object, in camelCase if it has both."""
    return next((name for name in names if isinstance(payload.get(name), dict)), None)


def _listed(value: object) -> list[Any]:
    """Return a list, as the parser reads it: one object counts as a list, anything else as nothing."""
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _has_call(part: object) -> bool:
    return isinstance(part, dict) and not part.keys().isdisjoint(_CALLS)


def _with(payload: Payload, name: str, value: Any, *, add: bool = False) -> Payload:
    """Return an object with another member, or (`add`) with further members in one of its objects."""
    new = {**payload[name], **value} if add else value
    return payload if new == payload[name] else {**payload, name: new}


def _with_requests(payload: Payload, request: Payload, listed: str, calls: list[Payload]) -> Payload:
    """Return a message with other requests, in the spelling that clients read; without any, nothing is asked."""
    camel, snake = _REQUEST[0]
    rest = {name: value for name, value in payload.items() if name not in (camel, snake)}
    if not calls:
        return rest
    if payload.get(camel) is request and listed == _REQUEST[1][0] and snake not in payload:
        return {**payload, camel: {**request, listed: calls}}
    others = {name: value for name, value in request.items() if name not in _REQUEST[1]}
    return {**rest, camel: {**others, _REQUEST[1][0]: calls}}


def _declared(listed: list[Any]) -> Tools[Any] | None:
    """Return the functions of a session by their names; None if it has none."""
    found: list[Any] = []
    for tool in listed:
        named: object = next((tool[n] for n in _DECLARED if isinstance(tool, dict) and n in tool), [])
        found += named if isinstance(named, list) else [None]
    return named_tools(found)
