"""GitHub Copilot's session events: the output of its SDK and of its command line, one JSON object per line.

    {"type", "data": {…}, "id", "parentId", "timestamp", "agentId"?, "ephemeral"?}
        assistant.turn_start        turnId, model?               assistant.turn_end         turnId
        assistant.message_delta     messageId, deltaContent
        assistant.reasoning_delta   reasoningId, deltaContent    assistant.reasoning        reasoningId, content
        assistant.tool_call_delta   toolCallId, toolName?, toolType?: function | custom, inputDelta
        assistant.message           messageId, content, toolRequests?[{toolCallId, name, arguments?, type?}]
        assistant.usage             model, inputTokens, outputTokens, finishReason?
        permission.requested        requestId, permissionRequest{toolCallId?}       permission.completed
        tool.execution_start        toolCallId, toolName, arguments?
        external_tool.requested     requestId, sessionId, toolCallId, toolName, arguments?
        tool.execution_complete     toolCallId, success
        abort, session.error        reason | errorType, message  session.idle               aborted?

The agent executes its tools itself. It asks the client to execute a call with `external_tool.requested`, before or
after `tool.execution_start`, which comes for every tool and so does not say who executes. Therefore a message ends no
call, though its `toolRequests` are the model's last word: `arguments` are a value, or the free text of a custom tool. A
request makes a call the client's and ends it, with the `requestId` that the answer needs in its `extra`. A call that is
completed without one, or that the turn leaves, is a server's call, never to be executed a second time. A call that no
message listed is dropped: the model's answer failed, and is asked for again.

`turn_start` and `turn_end` make a turn of one answer of the model and its tools. Where they are missing (an extract of
a log), the session going idle, or the next prompt, ends the turn. The events of sub-agents come between those of the
main agent, with an `agentId`: each agent has its own turns. A session outlives its errors. The JSON-RPC connection that
wraps these events is not read.

Covers: the session events of GitHub Copilot's SDK and command line, also its logs: calls that the agent executes
    itself, and calls that it asks the client to execute; sub-agents.
Calls: told apart by `toolCallId`; each ends with a request to the client, or its execution.
Source: Copilot SDK documentation, "Streaming session events", and the SDK's generated types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, reasons, remembered, report, translator
from wholecall.framing.frame import Frame
from wholecall.types import CUT_REASONS, DropReason, Flag, Kind, TurnReason

_NO = ("denied", "reject", "cancel", "user-not-available")  # the first words of answers that deny a request
# The name of a session's event is in two words, of which the first is one of these.
_SESSION_EVENT = re.compile(
    r"(assistant|tool|external_tool|session|user|system|permission|subagent|hook|skill|model|mcp)\..",
    re.DOTALL,
)


# Views.


class _Request(msgspec.Struct, gc=False, rename="camel"):
    """A call as a message describes it."""

    tool_call_id: Any = None
    name: Any = None
    type: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT
    mcp_server_name: Any = None
    mcp_tool_name: Any = None
    tool_title: Any = None
    intention_summary: Any = None


class _Permission(msgspec.Struct, gc=False, rename="camel"):
    tool_call_id: Any = None


class _Result(msgspec.Struct, gc=False):
    kind: Any = None


class _Data(msgspec.Struct, gc=False, rename="camel"):
    tool_call_id: Any = None
    tool_name: Any = None
    tool_type: Any = None
    input_delta: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT
    mcp_server_name: Any = None
    mcp_tool_name: Any = None
    parent_tool_call_id: Any = None
    message_id: Any = None
    content: Any = None
    delta_content: Any = None
    tool_requests: Union[list[_Request], None] = None
    reasoning_id: Any = None
    reasoning_text: Any = None
    reasoning_opaque: Any = None
    encrypted_content: Any = None
    turn_id: Any = None
    model: Any = None
    finish_reason: Any = None
    request_id: Any = None
    session_id: Any = None
    permission_request: Union[_Permission, None] = None
    result: Union[_Result, None] = None
    delivery: Any = None
    reason: Any = None
    aborted: Any = None
    error_type: Any = None
    message: Any = None
    status_code: Any = None
    shutdown_type: Any = None
    error_reason: Any = None


class _Event(msgspec.Struct, gc=False, rename="camel"):
    """An event of a session; `exit_code` is in the last line of the command line's output."""

    type: Union[str, None] = None
    agent_id: Any = None
    data: Union[_Data, None] = None
    exit_code: Any = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Event)
_ANSWER: Final = ("assistant.", "tool.", "external_tool.")
_QUIET: Final = frozenset(
    {
        *("assistant.intent", "assistant.message_start", "assistant.streaming_delta"),
        *("assistant.server_tool_progress", "external_tool.completed"),
        *("tool.execution_partial_result", "tool.execution_progress", "ping"),
    }
)


def _is_quiet(kind: str | None) -> bool:
    """Return whether an event is not about the answer: a session reports much about itself, more with each version."""
    return kind in _QUIET or (kind is not None and "." in kind and not kind.startswith(_ANSWER))


# Calls.

_UNOWNED = deltas.WireFault("undecodable_frame", "a piece of input names none of the open calls", hole=True)
_EXTRA: Final = {
    field.name: field.encode_name
    for view in (_Request, _Data)
    for field in msgspec.structs.fields(view)
    if field.name.startswith(("mcp_", "tool_title", "intention_", "request_id", "session_id"))
}


class _Call:
    slot: int
    id: str | None
    kind: Kind = "function"
    seen: bool = False
    named: bool = False
    text: str = ""  # of a free-text tool, as it was last sent
    listed: tuple[str | None, str] | None = None  # its name and its text, as a message lists it
    whole: bool = False  # its whole text is known, from any event
    decided: bool = False
    waits: bool = False  # waits for a permission

    def __init__(self, slot: int, id: str | None) -> None:
        self.slot = slot
        self.id = id


class _Calls:
    """The calls of one turn, and who executes them.

    A call is *listed* by a message, and *decided* once it is known who executes it; later events of it change nothing.
    An id names its call for as long as the turn lasts; of different calls that a message lists under one, none counts.
    Where turns have no marks, the id of a call that was listed and decided is free for another one (quirk 64).

    Attributes:
        requested: the client is to execute one of them.
        cut: the model's answer was cut.
    """

    _marked: bool
    _n_calls: int
    _by_id: dict[str | None, _Call]
    _left: dict[int, _Call]
    _in_pieces: dict[int, _Call]
    _unnamed: dict[int, _Call]
    requested: bool
    cut: bool

    def __init__(self, *, marked: bool) -> None:
        self._marked = marked  # whether the turn is marked
        self._n_calls = 0
        self._by_id = {}
        self._left = {}  # calls that are not decided, by their slots
        self._in_pieces = {}  # the undecided calls whose content is not complete
        self._unnamed = {}  # and the calls without an id
        self.requested = False
        self.cut = False

    def has(self, id_: str | None) -> bool:
        return id_ in self._by_id

    def is_over(self, id_: str | None) -> bool:
        """Return whether there is nothing more to learn of the call of this id."""
        return self._by_id[id_].decided

    # The model's output.

    def piece(self, data: _Data) -> list[deltas.Delta]:
        """Report a piece of a call's input; the first one opens the call."""
        id_, name = labels.id_label(data.tool_call_id), labels.name_label(data.tool_name)
        text = data.input_delta
        call = self._announced(id_) if id_ is not None else self._sole()
        if call is None:
            return [_UNOWNED] if text else []
        told: list[deltas.Delta] = []
        if not call.seen or (name is not None and not call.named):
            call.seen, call.named = True, name is not None
            call.kind = "custom" if data.tool_type == "custom" else call.kind
            told.append(deltas.CallSeen(0, call.slot, None, id_, name, call.kind))
        return [*told, deltas.Slot(0, call.slot, None, decode.dumped(text))] if text else told

    def request_by_message(self, request: _Request) -> list[deltas.Delta]:
        """Report the call that a message lists: all of it, with or without pieces before."""
        call = self._announced(labels.id_label(request.tool_call_id))
        name, text = labels.name_label(request.name), decode.wire_text(request.arguments)
        before, call.listed = call.listed, (name, text)
        if call.decided:
            return []
        if before not in (None, call.listed):
            detail = "a message lists different calls under this id"
            return [deltas.CallRefused(0, self._decided(call).slot, None, "ambiguous", detail)]
        if request.type == "custom":
            call.kind = "custom"
        return self._whole(call, name, request, deltas.DONE)

    # The outcome of a call.

    def start(self, data: _Data) -> list[deltas.Delta]:
        """Report that the execution of a call begins, by the agent or the client."""
        return self._whole(self._meant(data), labels.name_label(data.tool_name), data, deltas.ITEM_DONE)

    def request(self, data: _Data) -> list[deltas.Delta]:
        """Report that the client is to execute a call."""
        call = self._decided(self._meant(data))
        self.requested = True
        flags: tuple[Flag, ...] = ("turn_truncated",) if self.cut else ()
        whole = self._whole(call, labels.name_label(data.tool_name), data, deltas.ITEM_DONE, flags)
        return [*whole, deltas.CallClosed(0, call.slot, None)]

    def complete(self, id_: str | None) -> list[deltas.Delta]:
        """Report that an open call was executed, and that the client was not asked to."""
        return self._agents_own(self._by_id[id_])

    def wait(self, id_: str | None) -> list[deltas.Delta]:
        """Note that an open call waits for a permission."""
        self._by_id[id_].waits = True
        return []

    def permit(self, id_: str | None) -> list[deltas.Delta]:
        """Note that an open call waits no longer."""
        self._by_id[id_].waits = False
        return []

    def deny(self, id_: str | None) -> list[deltas.Delta]:
        """Report that an open call may not be executed."""
        slot = self._decided(self._by_id[id_]).slot
        return [deltas.CallRefused(0, slot, None, "aborted", "the call was denied")]

    def settle(self, reason: DropReason, detail: str) -> list[deltas.Delta]:
        """Report all calls that are left: as the agent's own if they are whole, else dropped for this reason."""
        told: list[deltas.Delta] = []
        for call in list(self._left.values()):
            if call.whole:
                told += self._agents_own(call)
            else:
                slot = self._decided(call).slot
                told.append(deltas.CallRefused(0, slot, None, reason, detail))
        return told

    def give_up(self) -> None:
        """Let the end of the turn decide about the calls that are left."""
        for call in list(self._left.values()):
            self._decided(call)

    def _decided(self, call: _Call) -> _Call:
        call.decided = True
        for calls in (self._left, self._in_pieces, self._unnamed):
            calls.pop(call.slot, None)
        return call

    def _agents_own(self, call: _Call) -> list[deltas.Delta]:
        slot = self._decided(call).slot
        flags: tuple[Flag, ...] = ("needs_approval",) if call.waits else ()
        said: deltas.Delta = deltas.CallSeen(0, slot, None, None, None, "server", flags=flags)
        if call.kind == "custom":
            if not call.whole:
                return [
                    deltas.CallRefused(0, slot, None, "incomplete_input", "nothing tells all of the input")
                ]
            text, call.text = decode.dumped({"input": call.text}), ""
            said = deltas.CallWhole(
                0, slot, None, None, None, text, deltas.ITEM_DONE + 1, "server", flags=flags
            )
        return [said, deltas.CallClosed(0, slot, None)]

    def _whole(
        self,
        call: _Call,
        name: str | None,
        request: _Request | _Data,
        rank: int,
        flags: tuple[Flag, ...] = (),
    ) -> list[deltas.Delta]:
        text, extra = decode.wire_text(request.arguments), _extra(request)
        slot, id_, kind = call.slot, call.id, call.kind
        call.whole = True
        self._in_pieces.pop(slot, None)
        if kind == "custom" and text:
            call.text = text
        if not text:
            return [deltas.CallSeen(0, slot, None, id_, name, kind, flags=flags, extra=extra)]
        return [deltas.CallWhole(0, slot, None, id_, name, text, rank, kind, flags=flags, extra=extra)]

    # Which call is meant.

    def _announced(self, id_: str | None) -> _Call:
        call = self._by_id.get(id_)
        another = call is not None and call.decided and call.listed is not None and not self._marked
        return self._open(id_) if call is None or another else call

    def _meant(self, data: _Data) -> _Call:
        id_ = labels.id_label(data.tool_call_id)
        unnamed = next(iter(self._unnamed.values()), None) if id_ is None else None
        return self._by_id.get(id_) or unnamed or self._open(id_)

    def _sole(self) -> _Call | None:
        return next(iter(self._in_pieces.values())) if len(self._in_pieces) == 1 else None

    def _open(self, id_: str | None) -> _Call:
        call = _Call(self._n_calls, id_)
        self._n_calls += 1
        self._left[call.slot] = self._in_pieces[call.slot] = call
        if id_ is not None:
            self._by_id[id_] = call
        else:
            self._unnamed[call.slot] = call
        return call


def _extra(request: _Request | _Data) -> dict[str, Any] | None:
    said = {wire: getattr(request, name, None) for name, wire in _EXTRA.items()}
    return {wire: value for wire, value in said.items() if value} or None


# Turns.


class _Turn:
    """A turn of an agent. Its text comes in pieces, and then again as a whole.

    Attributes:
        number: the number of turns of the session up to this one.
        marked: it was opened by a separate event, and so ends with one.
        reason: why the model's answer ended.
    """

    number: int
    key: str
    marked: bool
    open: bool
    calls: _Calls
    reason: tuple[TurnReason, str] | None
    _said: dict[tuple[str, str | None], list[str]]
    _messages: set[str | None]
    _block: str | None
    _reasoned: bool
    _thought: tuple[str | None, str] | None

    def __init__(self, number: int, *, marked: bool) -> None:
        self.number = number
        self.key = str(number)
        self.marked = marked
        self.open = True
        self.calls = _Calls(marked=marked)
        self.reason = None
        self._said = {}  # pieces of a text that was not sent as a whole yet
        self._messages = set()  # ids of texts that were sent as a whole
        self._block = None  # the thought that was reported last
        self._reasoned = False  # whether reasoning came since the last message
        self._thought = None  # the last whole thought; a message gives it no id

    def text(self, data: _Data) -> list[deltas.Delta]:
        text = labels.text_label(data.delta_content) or ""
        remembered.keep_piece(self._said.setdefault(("text", labels.id_label(data.message_id)), []), text)
        return report.text(text)

    def thought(self, data: _Data) -> list[deltas.Delta]:
        text, self._block = labels.text_label(data.delta_content) or "", labels.id_label(data.reasoning_id)
        remembered.keep_piece(self._said.setdefault(("thought", self._block), []), text)
        self._reasoned = True
        return report.thought(text, self._block)

    def whole_thought(self, data: _Data) -> list[deltas.Delta]:
        """Report the text that a whole thought adds to its pieces; the message it led to may have brought it before."""
        text, block = labels.text_label(data.content), labels.id_label(data.reasoning_id)
        if text is None or self._thought in ((None, text), (block, text)):
            return []
        self._thought = block, text
        rest = self._rest(("thought", block), text)
        if rest:
            self._block, self._reasoned = block, True
        return report.thought(rest, block)

    def message(self, data: _Data) -> list[deltas.Delta]:
        """Report the content of a whole message: the reasoning that led to it, its text, and its calls."""
        id_, text = labels.id_label(data.message_id), labels.text_label(data.content)
        if id_ is not None and id_ in self._messages:
            return []  # the same message again (quirk 91)
        self._messages.add(id_)
        told = self._sealed(id_, data)
        if text:
            told += report.text(self._rest(("text", id_), text))
        for request in data.tool_requests or ():
            told += self.calls.request_by_message(request)
        return told

    def _sealed(self, message: str | None, data: _Data) -> list[deltas.Delta]:
        """Report the reasoning of a message: the text if it did not come before, and the values to be sent back."""
        text = labels.text_label(data.reasoning_text)
        new = "" if text is None or self._reasoned else text
        sealed = labels.text_label(data.reasoning_opaque) or labels.text_label(data.encrypted_content)
        block, self._block = self._block, None
        self._reasoned, self._thought = False, (None, text) if text is not None else self._thought
        return report.thought(new, block or message, data=sealed)

    def _rest(self, what: tuple[str, str | None], whole: str) -> str:
        said = "".join(self._said.pop(what, ()))
        return whole[len(said) :] if whole.startswith(said) else ""  # the text is not the same any more


class _Turns:
    """The latest turn of each agent; the main one has no id."""

    _latest: dict[str | None, _Turn]
    _now: _Turn | None
    _n_turns: int

    def __init__(self) -> None:
        self._latest = {}
        self._now = None
        self._n_turns = 0

    def of(self, agent: str | None) -> _Turn | None:
        """Return the agent's turn, None if it has no open turn."""
        turn = self._latest.get(agent)
        return turn if turn is not None and turn.open else None

    def last(self, agent: str | None) -> _Turn | None:
        """Return the agent's latest turn, open or not; None if it had none."""
        return self._latest.get(agent)

    def all_open(self) -> list[_Turn]:
        """Return the turns that are open, in the order in which they began."""
        found = (turn for turn in self._latest.values() if turn.open)
        return sorted(found, key=lambda turn: turn.number)

    def is_current(self, agent: str | None) -> bool:
        return self._now is not None and self._now is self._latest.get(agent)

    def on(self, agent: str | None, data: _Data) -> tuple[_Turn, list[deltas.Delta]]:
        """Return the agent's turn, or a new one if the last is over, and the deltas that make it the current one."""
        turn = self.of(agent)
        return self.begin(agent, data) if turn is None else (turn, self.switch(turn))

    def switch(self, turn: _Turn) -> list[deltas.Delta]:
        """Return the deltas that make a turn the current one."""
        before, self._now = self._now, turn
        return [] if turn is before else [deltas.TurnOpened(turn.key)]

    def begin(
        self, agent: str | None, data: _Data, *, marked: bool = False
    ) -> tuple[_Turn, list[deltas.Delta]]:
        """Return the agent's next turn and its beginning; an open turn ends before it."""
        last = self.of(agent)
        told = self.end(last, finish=False) if last is not None else []
        over = self._now is not None and not self._now.open
        self._n_turns += 1
        turn = self._latest[agent] = self._now = _Turn(self._n_turns, marked=marked)
        id_ = agent if agent is not None else labels.id_label(data.turn_id)
        return turn, [*told, deltas.TurnOpened(turn.key, id_, labels.name_label(data.model), restart=over)]

    def end(self, turn: _Turn, *, finish: bool = True) -> list[deltas.Delta]:
        """Return the end of a turn that was not broken off, though the model's answer may have been cut."""
        told = self.switch(turn)
        turn.open = False
        if turn.calls.cut:
            turn.calls.give_up()
        else:
            told += turn.calls.settle("aborted", "no message told the call")
        if turn.reason is not None:
            told.append(deltas.Finish(0, *turn.reason, ends=True))
        elif finish:
            told.append(deltas.Finish(0, "tool_calls" if turn.calls.requested else "stop", None, ends=True))
        return [*told, deltas.TurnEnded(turn.key)]

    def break_off(self, turn: _Turn, reason: TurnReason, provider_reason: str | None) -> list[deltas.Delta]:
        """Return the end of a turn that was broken off: its open calls are dropped."""
        told = self.switch(turn)
        turn.open = False
        turn.calls.give_up()
        return [*told, deltas.Finish(0, reason, provider_reason, drops=True), deltas.TurnEnded(turn.key)]


# The session.


class CopilotTranslator(translator.ViewTranslator):
    """Events of one session to deltas."""

    decoder = _DECODER

    _turns: _Turns
    _where: dict[str | None, _Turn]
    _asked: dict[str | None, str | None]

    def __init__(self) -> None:
        self._turns = _Turns()
        self._where = {}  # the turns of calls, by their ids
        self._asked = {}  # calls that wait for a permission, by its request

    def close(self) -> list[deltas.Delta]:
        """Report who executes the calls that the stream leaves; those that no message listed are cut."""
        told: list[deltas.Delta] = []
        for turn in self._turns.all_open():
            told += self._turns.switch(turn)
            told += turn.calls.settle("unterminated", "the stream ended before a message told the call")
        return told

    def _all_over(self) -> list[deltas.Delta]:
        return [delta for turn in self._turns.all_open() for delta in self._turns.end(turn)]

    def _take(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        if event.type is None and _SESSION_EVENT.match(frame.event):
            event.type = frame.event
        known, data = self.EVENTS.get(event.type), event.data or _Data()
        agent = labels.id_label(event.agent_id) or labels.id_label(data.parent_tool_call_id)
        if known is not None:
            return known(self, agent, data)
        if event.type == "assistant.usage":
            return self._usage(agent, data, frame)
        if event.type == "result":  # the last line of the command line's output
            code = event.exit_code
            return self._break_off(None, "error", f"exit code {code}") if code else self._all_over()
        if event.error or event.type == "error":
            return report.error(event.error or decode.plain(frame.data))
        return [] if _is_quiet(event.type) or decode.is_noise(frame) else report.unknown()

    # The life of turns

    def _turn_end(self, agent: str | None, _data: _Data) -> list[deltas.Delta]:
        turn = self._turns.of(agent)
        return [] if turn is None else self._turns.end(turn)

    def _idle(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        return self._abort(agent, data) if data.aborted is True else self._turn_end(agent, data)

    def _prompt(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        turn = self._turns.of(agent)
        goes_on = turn is None or turn.marked or data.delivery == "steering"
        return [] if goes_on else self._turn_end(agent, data)

    def _abort(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        return self._break_off(agent, "aborted", labels.text_label(data.reason) or "abort")

    def _break_off(
        self, agent: str | None, reason: TurnReason, provider_reason: str | None
    ) -> list[deltas.Delta]:
        """Report that an agent was stopped; if it is the main one, that all were."""
        turn = self._turns.of(agent)
        turns = self._turns.all_open() if agent is None else [turn] if turn is not None else []
        return [delta for turn in turns for delta in self._turns.break_off(turn, reason, provider_reason)]

    def _error(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        """Report that the answer failed; where there is no answer yet, the failure is the answer."""
        fields = {"type": data.error_type, "code": data.status_code, "message": data.message}
        _, opened = self._turns.on(agent, data)
        broken = self._break_off(agent, "error", labels.text_label(data.error_type))
        return opened + report.failure(fatal=False, **fields) + broken

    def _shutdown(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        if data.shutdown_type != "error":
            return self._all_over()
        return self._error(agent, _Data(error_type="shutdown", message=data.error_reason))

    def _usage(self, agent: str | None, data: _Data, frame: Frame) -> list[deltas.Delta]:
        turn, reason = self._turns.of(agent), reasons.turn_reason(data.finish_reason)
        if turn is not None and reason is not None:
            turn.reason, turn.calls.cut = reason, reason[0] in CUT_REASONS
        return (
            report.usage(decode.member(decode.plain(frame.data), "data"))
            if self._turns.is_current(agent)
            else []
        )

    # An agent's text, reasoning and messages

    def _said(
        self, agent: str | None, data: _Data, say: Callable[[_Turn, _Data], list[deltas.Delta]]
    ) -> list[deltas.Delta]:
        turn, told = self._turns.on(agent, data)
        return told + say(turn, data)

    def _whole_thought(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        last = self._turns.last(agent)
        said = [] if last is None else last.whole_thought(data)
        if last is not None and (last.open or not said):
            return self._turns.switch(last) + said if said else []
        return self._said(agent, data, _Turn.whole_thought)

    def _message(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        turn, told = self._turns.on(agent, data)
        told += turn.message(data)
        for request in data.tool_requests or ():
            self._place(labels.id_label(request.tool_call_id), turn)
        return told

    # The outcome of calls

    def _piece(self, agent: str | None, data: _Data) -> list[deltas.Delta]:
        turn, told = self._turns.on(agent, data)
        told += turn.calls.piece(data)
        self._place(labels.id_label(data.tool_call_id), turn)
        return told

    def remade(self) -> None:
        """Check that each turn knows its calls, as the snapshot may come from anyone.

        Raises:
            ValueError: a turn does not know its calls.
        """
        if not all(turn.calls.has(id_) for id_, turn in self._where.items()):
            raise ValueError("a call is not among those of its turn")

    def _call(
        self, agent: str | None, data: _Data, take: Callable[[_Calls, _Data], list[deltas.Delta]]
    ) -> list[deltas.Delta]:
        """Report an event's content about a known call, or about a new one of the agent's."""
        id_ = labels.id_label(data.tool_call_id)
        known = self._where.get(id_)
        if known is not None and known.calls.is_over(id_):
            return []
        turn, told = self._turns.on(agent, data) if known is None else (known, self._turns.switch(known))
        told += take(turn.calls, data)
        self._place(id_, turn)
        return told

    def _place(self, id_: str | None, turn: _Turn) -> None:
        if turn.calls.has(id_):
            self._where[id_] = turn

    def _decide(
        self, id: object, become: Callable[[_Calls, str | None], list[deltas.Delta]]
    ) -> list[deltas.Delta]:
        turn = self._where.get(id_ := labels.id_label(id))
        if turn is None or turn.calls.is_over(id_):
            return []
        return self._turns.switch(turn) + become(turn.calls, id_)

    def _asks(self, _agent: str | None, data: _Data) -> list[deltas.Delta]:
        asked, request = data.permission_request, labels.id_label(data.request_id)
        id_ = labels.id_label(asked.tool_call_id) if asked is not None else None
        if request is not None:
            self._asked[request] = id_
        return self._decide(id_, _Calls.wait)

    def _answered(self, _agent: str | None, data: _Data) -> list[deltas.Delta]:
        id_ = self._asked.pop(labels.id_label(data.request_id), None) or labels.id_label(data.tool_call_id)
        said = labels.text_label(data.result.kind) if data.result is not None else None
        return self._decide(id_, _Calls.deny if (said or "").startswith(_NO) else _Calls.permit)

    EVENTS: ClassVar[Mapping[str | None, Callable[[Any, str | None, _Data], list[deltas.Delta]]]] = {
        "assistant.tool_call_delta": _piece,
        "assistant.message_delta": lambda self, agent, data: self._said(agent, data, _Turn.text),
        "assistant.reasoning_delta": lambda self, agent, data: self._said(agent, data, _Turn.thought),
        "assistant.reasoning": _whole_thought,
        "assistant.message": _message,
        "assistant.turn_start": lambda self, agent, data: self._turns.begin(agent, data, marked=True)[1],
        "assistant.turn_end": _turn_end,
        "assistant.idle": _idle,
        "session.idle": _idle,
        "session.error": _error,
        "session.shutdown": _shutdown,
        "abort": _abort,
        "user.message": _prompt,
        "permission.requested": _asks,
        "permission.completed": _answered,
        "tool.user_requested": lambda self, agent, data: self._call(agent, data, _Calls.start),
        "tool.execution_start": lambda self, agent, data: self._call(agent, data, _Calls.start),
        "tool.execution_complete": lambda self, _, data: self._decide(data.tool_call_id, _Calls.complete),
        "external_tool.requested": lambda self, agent, data: self._call(agent, data, _Calls.request),
    }
