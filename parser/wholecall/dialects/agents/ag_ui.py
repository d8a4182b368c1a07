"""AG-UI, the protocol between agents and user interfaces (SSE `data:` lines; one event each).

    RUN_STARTED           threadId, runId
    TEXT_MESSAGE_CONTENT  messageId, delta      REASONING_MESSAGE_CONTENT  messageId, delta
    TOOL_CALL_START       toolCallId, toolCallName
    TOOL_CALL_ARGS        toolCallId, delta
    TOOL_CALL_END         toolCallId
    TOOL_CALL_CHUNK       toolCallId?, toolCallName?, delta?      the three in one; without an id it continues
    TOOL_CALL_RESULT      toolCallId, content
    MESSAGES_SNAPSHOT     messages[{role, toolCalls?, toolCallId?}]      the whole conversation
    RUN_FINISHED          runId, outcome?{type, pendingToolCallIds?, interrupts?}
    RUN_ERROR             message, code?

A run is a turn. Its calls take turns in the stream; the id distinguishes them. The stream says who executes a call only
after the call's end: a call that gets its result inside the run (an event, or a message of a snapshot) was executed by
the agent, a call that an interrupt names waits for approval, and any call left when the run finishes is the client's.
Therefore `TOOL_CALL_END` closes nothing, and a run that breaks off leaves nothing to execute.

A snapshot restates calls, and adds those that were not streamed; calls before the last message of the user, answered
ones, and those that the run was started with are history. Its text is not an answer, and is skipped.

The ids of a call's events may be absent, shared or unknown. Therefore slots are numbered as ids appear, reports before
the end of a run are for display, and a record keeps the events of its calls, which is read again at the end if a label
was odd.

Events are read as JSON only. The binary encoding (`application/vnd.ag-ui.event+proto`) had no place for results
before the protocol's version 1.0: there a call that the agent executed looks like one for the client.

Covers: AG-UI, from agents to user interfaces: starts and ends, chunks, snapshots; a call is emitted when its run ends
    or the agent answers it, because only then is its executor known; labels in both spellings. JSON events only:
    the binary encoding (`application/vnd.ag-ui.event+proto`) is not read, so ask for `Accept: text/event-stream`.
Calls: told apart by `toolCallId`; each ends with a result, or the end of the run.
Source: AG-UI documentation, "Events", and the schema of version 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Union

import msgspec

from wholecall import deltas
from wholecall.calls.arguments.placeholders import BEGINNINGS
from wholecall.dialects import decode, labels, remembered, report, translator
from wholecall.dialects.hidden_text import Pieces
from wholecall.framing.frame import Frame
from wholecall.types import Flag

# Authors of text messages other than the agent; some agents repeat the user's text.
_OTHERS = frozenset({"developer", "system", "user", "tool", "activity"})
# Events that are not about the answer.
_QUIET = frozenset(
    {
        *("RAW", "CUSTOM", "STEP_STARTED", "STEP_FINISHED", "TEXT_MESSAGE_END"),
        *("STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"),
        *("REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_END", "REASONING_END"),
        *("THINKING_START", "THINKING_END", "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_END"),
        *("SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"),
    }
)
_MOST_PIECES = 4096  # of a record
_LONGEST_BOOK = 1 << 22  # characters of all its pieces


# Views. Servers in Python also write the labels in snake case.


_SPELLINGS = {
    "tool_calls": "snake_calls",
    "tool_call_id": "snake_id",
    "tool_call_name": "snake_name",
    "pending_tool_call_ids": "snake_ids",
    "message_id": "snake_message",
    "run_id": "snake_run",
}


def _read_snake_case(view: msgspec.Struct) -> None:
    """Let members in snake case count where those in the protocol's spelling are absent."""
    for camel, snake in _SPELLINGS.items():
        if getattr(view, snake, None) is not None and getattr(view, camel) is None:
            setattr(view, camel, getattr(view, snake))


class _View(msgspec.Struct, gc=False):
    """A view of a part of an event, in either spelling."""

    def __post_init__(self) -> None:
        _read_snake_case(self)


class _Function(msgspec.Struct, gc=False):
    name: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT


class _ToolCall(msgspec.Struct, gc=False, rename="camel"):
    """A call of a message in a snapshot."""

    id: Any = None
    function: _Function | None = None
    encrypted_value: Any = None


class _Message(_View, gc=False, rename="camel"):
    """A message of a snapshot, or of the input that a run repeats."""

    role: Any = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: Any = None
    snake_calls: list[_ToolCall] | None = msgspec.field(default=None, name="tool_calls")
    snake_id: Any = msgspec.field(default=None, name="tool_call_id")


class _Input(msgspec.Struct, gc=False):
    messages: list[_Message] | None = None


class _Interrupt(_View, gc=False, rename="camel"):
    tool_call_id: Any = None
    snake_id: Any = msgspec.field(default=None, name="tool_call_id")


class _Outcome(_View, gc=False, rename="camel"):
    """The outcome of a run: its end, and the calls that wait for an interrupt."""

    type: Any = None
    pending_tool_call_ids: Any = None
    interrupts: list[_Interrupt] | None = None
    snake_ids: Any = msgspec.field(default=None, name="pending_tool_call_ids")


class _Event(msgspec.Struct, gc=False, rename="camel"):
    """The view of an event of any type; the translator reads its snake case, which few servers write."""

    type: str | None = None
    tool_call_id: Any = None
    delta: Any = None
    tool_call_name: Any = None
    message_id: Any = None
    role: Any = None
    subagent_run_id: Any = None
    metadata: Any = None
    messages: list[_Message] | None = None
    run_id: Any = None
    input: _Input | None = None
    outcome: Union[_Outcome, str, None] = None  # a word in drafts of the protocol
    usage: Any = None
    message: Any = None
    code: Any = None
    subtype: Any = None
    entity_id: Any = None
    encrypted_value: Any = None
    error: Any = None
    snake_id: Any = msgspec.field(default=None, name="tool_call_id")
    snake_name: Any = msgspec.field(default=None, name="tool_call_name")
    snake_message: Any = msgspec.field(default=None, name="message_id")
    snake_run: Any = msgspec.field(default=None, name="run_id")

    @property
    def extra(self) -> dict[str, Any] | None:
        """Return the other members of a call."""
        return report.extra(subagentRunId=self.subagent_run_id, metadata=self.metadata)


_DECODER = msgspec.json.Decoder(_Event)


# Calls.


class _MarkedRecord:
    """The events of one run's calls, in order, to be read at the end in each way in which a server can mean them.

    A snapshot that comes after an oddity waits for the end, too. A piece of text joins the one before it if it has the
    same label, and cannot begin, repeat or restate a text. The record is closed for good by anything that it has no place
    for: a result, a call that continues after a snapshot, or more than it may hold.

    Attributes:
        odd: a label was not as documented.
    """

    odd: bool
    _open: bool
    _chunks: bool
    _pieces: list[deltas.Marked]
    _rest: list[str]
    _n_rest: int
    _room: int
    _listed: list[deltas.CallWhole]

    def __init__(self) -> None:
        self.odd = False
        self._open = True  # more may be added
        self._chunks = False  # some pieces came in chunks
        self._pieces = []
        self._rest = []  # the continuation of the last piece's text, that piece included
        self._n_rest = 0  # the number of wire pieces in it
        self._room = _LONGEST_BOOK
        self._listed = []  # the calls of the last snapshot

    def remade(self) -> None:
        """Check that a continuation has a beginning.

        Raises:
            ValueError: it has no beginning.
        """
        if bool(self._rest) != bool(self._n_rest) or (self._rest and not self._pieces):
            raise ValueError("a text goes on from no piece")

    def start(self, id_: str | None, name: str | None, slot: int, *, chunk: bool = False) -> None:
        """Note that a call starts."""
        self._chunks = self._chunks or chunk
        self._add(deltas.Marked("S", slot, id_, name))

    def text(self, id_: str | None, slot: int | None, text: str) -> None:
        """Note a piece of text."""
        rest = self._rest
        if rest and text and text[0] not in BEGINNINGS and self._room > 0 and id_ == self._pieces[-1].id:
            remembered.keep_piece(rest, text)
            self._n_rest += 1
            self._room -= len(text)
        elif self._open:
            self._add(deltas.Marked("T", slot, id_, None, text))
            self._rest = [text] if text and self._open else []
            self._n_rest = len(self._rest)

    def end(self, id_: str | None, slot: int | None) -> None:
        """Note the end of a call."""
        self._add(deltas.Marked("E", slot, id_, None))

    def _add(self, piece: deltas.Marked) -> None:
        self._join()
        self._room -= len(piece.text)
        self._open = self._open and not self._listed and self._room >= 0 and len(self._pieces) < _MOST_PIECES
        if self._open:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _join(self) -> None:
        if self._n_rest > 1:
            self._pieces[-1].text = "".join(self._rest)
            self._pieces[-1].n = self._n_rest
        self._rest, self._n_rest = [], 0

    def lists(self, calls: list[deltas.CallWhole]) -> bool:
        """Keep the calls of a snapshot for the end; False if they are to be reported at once."""
        if self._open and self.odd:
            self._listed = calls
            return True
        if calls:
            self.close()
        return False

    @property
    def waits(self) -> bool:
        """Whether it holds the calls of a snapshot."""
        return bool(self._listed)

    def close(self) -> list[deltas.CallWhole]:
        """Discard the pieces, and take no more; return the calls of a snapshot that waited."""
        listed, self._listed = self._listed, []
        self._open, self._rest, self._n_rest = False, [], 0
        self._pieces.clear()
        return listed

    def read(self) -> list[deltas.Delta]:
        """Report the whole record, if it is to be read."""
        self._join()
        if not (self.odd and (self._pieces or self._listed)):
            return []
        return [deltas.Reread(0, tuple(self._pieces), tuple(self._listed), self._chunks)]


class _Calls:
    """The calls of one run: their slots, and who executes them.

    An id names its call until the call is answered: models that restart their numbers with each step use an id again
    (quirk 64). The binder resolves the wire's ids: they may be absent, or differ from those of all starts. The end of a
    call ends its text only, for its executor is known later.
    """

    _slots: dict[str, int]
    _open: dict[str | None, int]
    _begun: set[str]
    _over: set[str]
    _answered: set[str]
    _chunked: tuple[int, str, str] | None
    _chunk_slots: list[int]
    _n_slots: int
    _names: dict[str, str]
    _marked: _MarkedRecord
    _shared: set[str]

    def __init__(self) -> None:
        self._slots = {}  # by ids without an answer
        self._names = {}  # by ids of calls with a name
        self._marked = _MarkedRecord()
        self._shared = set()  # ids shared by calls of several names: they identify no call (quirk 64)
        self._open = {}  # of ids with open calls; None is never among them
        self._begun = set()  # ids of calls that began without an answer yet
        self._over = set()  # ids of calls whose text is over
        self._answered = set()  # ids of calls that had their answer
        self._chunked = None  # the call that chunks continue: slot, id and name, "" for none
        self._chunk_slots = []  # the slots of calls that began in chunks
        self._n_slots = 0

    def seen(
        self, id_: str | None, name: str | None, extra: dict[str, Any] | None, *, chunk: bool = False
    ) -> list[deltas.Delta]:
        """Report that a call starts, or that it is labelled again."""
        if id_ is None or name is None or id_ in self._begun:
            self._marked.odd = True
        if id_ is not None and name is not None and self._names.setdefault(id_, name) != name:
            self._shared.add(id_)
            self._names[id_] = name
            self._open.pop(id_, None)
            del self._slots[id_]
        slot = self._slot(id_)
        if id_ is not None:
            self._begun.add(id_)
            if id_ not in self._shared:
                self._open[id_] = slot
        self._marked.start(id_, name, slot, chunk=chunk)
        self._chunk_slots += [slot] if chunk else []
        return [deltas.CallSeen(0, slot, None, id_, name, extra=extra, begins=True)]

    def piece(self, wire_id: object, text: object) -> list[deltas.Delta]:
        """Report a piece of a call's text; an id that is known needs no second look."""
        if type(wire_id) is str and (slot := self._open.get(wire_id)) is not None:
            id_: str | None = wire_id
        else:
            id_ = labels.id_label(wire_id)
            slot = self._slot_of_text(id_)
        said = text if type(text) is str else "" if text is None else decode.dumped(text)
        self._marked.text(id_, slot, said)
        return [deltas.Slot(0, slot, id_, said)] if said else []

    def _slot_of_text(self, id_: str | None) -> int | None:
        """Return the slot that an id names; the run is odd if the id is not that of an open call."""
        if id_ in self._open:
            return self._open[id_]
        self._marked.odd = True
        return self._known(id_)

    def chunk(
        self, id_: str | None, name: str | None, extra: dict[str, Any] | None, text: object
    ) -> list[deltas.Delta]:
        """Return the deltas of a chunk: an id or a name starts or resumes its call; without labels it continues one."""
        told: list[deltas.Delta] = []
        if id_ is None and name is not None and self._chunked is not None and self._chunked[1:] == ("", name):
            slot = self._chunked[0]
            self._marked.start(None, name, slot, chunk=True)
            self._chunk_slots.append(slot)
            told = [deltas.CallSeen(0, slot, None, None, name, extra=extra, begins=True)]
        elif name is not None or (id_ is not None and id_ not in self._begun):
            told = self.seen(id_, name, extra, chunk=True)
            self._chunked = (self._n_slots - 1 if id_ is None else self._slots[id_]), id_ or "", name or ""
        elif id_ is not None:
            self._chunked = self._slots[id_], id_, ""
        if text is None:
            return told
        if self._chunked is None:
            return self.piece(None, text)
        slot, known, _ = self._chunked
        said = decode.dumped(text)
        self._marked.text(id_, slot, said)
        return [*told, deltas.Slot(0, slot, known or None, said)] if said else told

    def read(self) -> list[deltas.Delta]:
        """Report everything again, if the run is read at its end."""
        return self._marked.read()

    def chunks_over(self) -> list[deltas.Delta]:
        """Report that the calls of chunks are over: nothing else ends them."""
        return [deltas.CallClosed(0, slot, None, of_text=True) for slot in self._chunk_slots]

    def end(self, id_: str | None) -> list[deltas.Delta]:
        """Report that the text of a call is over."""
        slot = self._known(id_)
        self._marked.end(id_, slot)
        self._marked.odd = self._marked.odd or id_ not in self._open
        self._chunked = None
        if id_ is not None:
            self._open.pop(id_, None)
            self._over.add(id_)
        return [deltas.CallClosed(0, slot, id_, waits=True)]

    def answered(self, id_: str | None) -> list[deltas.Delta]:
        """Report that a call has its result: the agent executed it."""
        if id_ is None or id_ not in self._begun:
            return []
        waited = self._marked.close()  # now the call of each id matters
        self._answered.add(id_)
        slot = self._slots.pop(id_)
        self._names.pop(id_, None)
        self._begun.discard(id_)
        self._open.pop(id_, None)
        self._over.discard(id_)
        self._chunked = None
        return [
            *waited,
            deltas.CallSeen(0, slot, None, None, None, "server"),
            deltas.CallClosed(0, slot, None),
        ]

    def knows(self, id_: str | None) -> bool:
        """Return whether a call of this id is or was there."""
        return id_ in self._slots or id_ in self._answered

    def all_answered(self) -> list[deltas.Delta]:
        """Report a result under an unknown id: it is of one of the calls whose text is over (quirk 124)."""
        return [*self._marked.close(), *self.agents_own([id_ for id_ in self._slots if id_ in self._over])]

    def agents_own(self, ids: Iterable[str | None], flags: tuple[Flag, ...] = ()) -> list[deltas.Delta]:
        """Report that the agent executes these calls, though they have no answer yet."""
        slots = [self._slots[id_] for id_ in ids if id_ in self._begun]
        waited = self._marked.close() if slots else []
        return [
            *waited,
            *(deltas.CallSeen(0, slot, None, None, None, "server", flags=flags) for slot in slots),
        ]

    def not_among(self, ids: object) -> list[str]:
        """Return the ids of unanswered calls that are not among these ids; none if no ids are given."""
        wanted = {labels.id_label(id_) for id_ in ids} if isinstance(ids, list) else set()
        return [id_ for id_ in self._slots if wanted and id_ in self._begun and id_ not in wanted]

    def sealed(self, id_: str | None, value: str) -> list[deltas.Delta]:
        """Report that the provider wants a value back with a call."""
        slot = self._slots[id_] if id_ in self._begun else None
        extra = {"encryptedValue": value}
        return [] if slot is None else [deltas.CallSeen(0, slot, None, None, None, extra=extra)]

    def restated(self, messages: list[_Message], history: set[str]) -> list[deltas.Delta]:
        """Report the calls of a snapshot of the conversation: their whole text, and which are answered."""
        answered = [labels.id_label(message.tool_call_id) for message in messages if message.role == "tool"]
        done = {*answered, *history}
        asked = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
        wholes: list[deltas.Delta] = []
        earlier: list[_ToolCall] = []
        for n, message in enumerate(messages):
            for call in message.tool_calls or ():
                id_ = labels.id_label(call.id)
                if id_ is not None and (id_ in self._begun or (n > asked and id_ not in done)):
                    wholes.append(self._whole(id_, call))
                else:
                    earlier.append(call)
        restated = [
            whole for whole in report.restated_together(wholes) if isinstance(whole, deltas.CallWhole)
        ]
        results = [*_told_before(earlier), *(delta for id_ in answered for delta in self.answered(id_))]
        return results if self._marked.lists(restated) else [*deltas.in_telling_order(restated), *results]

    @property
    def wait(self) -> bool:
        """Whether the calls of a snapshot wait for the end of the run."""
        return self._marked.waits

    def _whole(self, id_: str, call: _ToolCall) -> deltas.CallWhole:
        slot, function = self._slot(id_), call.function
        self._begun.add(id_)
        self._open[id_] = slot
        name = labels.name_label(function.name) if function is not None else None
        text = decode.wire_text(function.arguments) if function is not None else ""
        sealed = labels.text_label(call.encrypted_value)
        extra = {"encryptedValue": sealed} if sealed else None
        # A blank text restates nothing: it may be a placeholder for arguments that are still to come.
        said = "" if decode.is_blank(text) else text
        return deltas.CallWhole(0, slot, None, id_, name, said, deltas.HYDRATION, extra=extra)

    def _known(self, id_: str | None) -> int | None:
        """Return the slot that an id names, None if it names no slot, or several."""
        return None if id_ is None or id_ in self._shared else self._slots.get(id_)

    def _slot(self, id_: str | None) -> int:
        """Return the slot of a call, a new one for a call that is not known."""
        if id_ is not None and id_ in self._slots:
            return self._slots[id_]
        slot = self._n_slots
        self._n_slots += 1
        if id_ is not None:
            self._slots[id_] = slot
        return slot


def _told_before(calls: Iterable[_ToolCall]) -> list[deltas.Delta]:
    """Report calls of earlier runs: they are history, also if they are announced again."""
    told: list[deltas.Delta] = []
    for call in calls:
        id_, function = labels.id_label(call.id), call.function
        if id_ is not None and function is not None:
            told.append(
                deltas.CallAnswered(
                    id_, labels.name_label(function.name), decode.wire_text(function.arguments)
                )
            )
    return told


# The run.


class AgUiTranslator(translator.TurnTranslator):
    """Frames of one AG-UI stream to deltas."""

    decoder = _DECODER
    PIECES: ClassVar[Pieces] = {'"TOOL_CALL_ARGS"': "delta", '"TOOL_CALL_CHUNK"': "delta"}
    QUIET = _QUIET

    _calls: _Calls
    _history: set[str]
    _foreign: set[str | None]
    _message: str | None

    def _clear(self) -> None:
        self._calls = _Calls()
        self._history = set()  # ids of calls that the run was started with
        self._foreign = set()  # ids of messages that are not the agent's
        self._message = None  # the message that chunks without an id continue

    def _take(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        snake = (event.snake_id, event.snake_name, event.snake_message, event.snake_run)
        if snake != (None, None, None, None):
            _read_snake_case(event)
        known = self.EVENTS.get(self._kind(event, frame))
        return super()._take(event, frame) if known is None else known(self, event)

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether the frame is a snapshot whose calls wait for the end of the run."""
        return self._calls.wait and '"MESSAGES_SNAPSHOT"' in frame.data

    def _run_started(self, event: _Event) -> list[deltas.Delta]:
        opened = self._begin(labels.id_label(event.run_id))
        messages = event.input.messages if event.input is not None else None
        self._history = _named_ids(messages)
        return opened + _told_before(call for message in messages or () for call in message.tool_calls or ())

    def _run_finished(self, event: _Event) -> list[deltas.Delta]:
        stated = event.outcome or "success"  # an absent outcome means success
        outcome = stated if isinstance(stated, _Outcome) else _Outcome(stated)
        waiting = [labels.id_label(interrupt.tool_call_id) for interrupt in outcome.interrupts or ()]
        told = self._calls.agents_own(waiting, ("needs_approval",))
        told += self._calls.agents_own(self._calls.not_among(outcome.pending_tool_call_ids))
        told += self._calls.read() + self._calls.chunks_over() + _counted(event.usage)
        self._calls = _Calls()
        # The calls of a cancelled run must not continue.
        return told + report.finish(outcome.type, drops_at="error") + self._end()

    def _run_error(self, event: _Event) -> list[deltas.Delta]:
        return _counted(event.usage) + report.failure(message=event.message, code=event.code)

    def _text_start(self, event: _Event) -> list[deltas.Delta]:
        self._message = labels.id_label(event.message_id)
        self._foreign.discard(self._message)
        if type(event.role) is str and event.role in _OTHERS:
            self._foreign.add(self._message)
        return []

    def _text(self, event: _Event) -> list[deltas.Delta]:
        return [] if labels.id_label(event.message_id) in self._foreign else report.text(event.delta)

    def _text_chunk(self, event: _Event) -> list[deltas.Delta]:
        if event.message_id is None:
            event.message_id = self._message
        elif event.role is not None or labels.id_label(event.message_id) != self._message:
            self._text_start(event)
        return self._text(event)

    def _sealed(self, event: _Event) -> list[deltas.Delta]:
        value, entity = labels.text_label(event.encrypted_value), labels.id_label(event.entity_id)
        if value is not None and event.subtype == "tool-call":
            return self._calls.sealed(entity, value)
        return report.thought(None, entity, id=entity, data=value)

    def _call_start(self, event: _Event) -> list[deltas.Delta]:
        return self._calls.seen(
            labels.id_label(event.tool_call_id), labels.name_label(event.tool_call_name), event.extra
        )

    def _call_chunk(self, event: _Event) -> list[deltas.Delta]:
        id_, name = labels.id_label(event.tool_call_id), labels.name_label(event.tool_call_name)
        return self._calls.chunk(id_, name, event.extra, event.delta)

    def _call_result(self, event: _Event) -> list[deltas.Delta]:
        id_ = labels.id_label(event.tool_call_id)
        known = self._calls.knows(id_) or id_ in self._history
        if known:
            return self._calls.answered(id_)
        return [*self._calls.all_answered(), *([] if id_ is None else [deltas.CallAnswered(id_)])]

    EVENTS: ClassVar[translator.Events] = {
        "TOOL_CALL_ARGS": lambda self, event: self._calls.piece(event.tool_call_id, event.delta),
        "TEXT_MESSAGE_CONTENT": _text,
        "REASONING_MESSAGE_CONTENT": lambda _self, event: _thought(event),
        "REASONING_MESSAGE_CHUNK": lambda _self, event: _thought(event),
        "THINKING_TEXT_MESSAGE_CONTENT": lambda _self, event: _thought(event),  # before version 1.0
        "REASONING_ENCRYPTED_VALUE": _sealed,
        "TEXT_MESSAGE_CHUNK": _text_chunk,
        "TEXT_MESSAGE_START": _text_start,
        "TOOL_CALL_CHUNK": _call_chunk,
        "TOOL_CALL_START": _call_start,
        "TOOL_CALL_END": lambda self, event: self._calls.end(labels.id_label(event.tool_call_id)),
        "TOOL_CALL_RESULT": _call_result,
        "MESSAGES_SNAPSHOT": lambda self, event: self._calls.restated(event.messages or [], self._history),
        "RUN_STARTED": _run_started,
        "RUN_FINISHED": _run_finished,
        "RUN_ERROR": _run_error,
    }


def _named_ids(messages: list[_Message] | None) -> set[str]:
    """Return the ids of all calls in the messages."""
    calls = [call for message in messages or () for call in message.tool_calls or ()]
    return {id_ for call in calls if (id_ := labels.id_label(call.id)) is not None}


def _counted(usage: object) -> list[deltas.Delta]:
    """Return the token counts of a run, summed: there is one entry per model."""
    totals: dict[str, Any] = {}
    for entry in usage if isinstance(usage, list) else ():
        for name, count in entry.items() if isinstance(entry, dict) else ():
            if type(count) is int:
                totals[name] = totals.get(name, 0) + count
    return report.usage(totals)


def _thought(event: _Event) -> list[deltas.Delta]:
    """Return a piece of reasoning; pieces of one message are one block."""
    id_ = labels.id_label(event.message_id)
    return report.thought(event.delta, id_, id=id_)
