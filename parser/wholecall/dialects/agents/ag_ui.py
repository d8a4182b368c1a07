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

Events are read as JSON only. The binary encoding (`application/vnd.ag-ui.event+proto`) had no place for results
before the protocol's version 1.0: there a call that the agent executed looks like one for the client.
Source: AG-UI documentation, "Events", and the schema of version 1.0.
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.deltas import CallAnswered, Delta
from wholecall.dialects import report
from wholecall.dialects.agents.ag_ui_calls import Calls, told_before
from wholecall.dialects.agents.ag_ui_views import DECODER, Event, Outcome, counted, named_ids, thought
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.translator import Events, TurnTranslator
from wholecall.framing.frame import Frame

__all__ = ["AgUiTranslator"]

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


class AgUiTranslator(TurnTranslator):
    """Frames of one AG-UI stream to deltas."""

    decoder = DECODER
    QUIET = _QUIET

    _calls: Calls
    _history: set[str]
    _foreign: set[str | None]
    _message: str | None

    def _clear(self) -> None:
        self._calls = Calls()
        self._history = set()  # ids of calls that the run was started with
        self._foreign = set()  # ids of messages that are not the agent's
        self._message = None  # the message that chunks without an id continue

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        known = self.EVENTS.get(self._kind(event, frame))
        return super()._take(event, frame) if known is None else known(self, event)

    def _run_started(self, event: Event) -> list[Delta]:
        opened = self._begin(id_label(event.run_id))
        messages = event.input.messages if event.input is not None else None
        self._history = named_ids(messages)
        return opened + told_before(call for message in messages or () for call in message.tool_calls or ())

    def _run_finished(self, event: Event) -> list[Delta]:
        stated = event.outcome or "success"  # an absent outcome means success
        outcome = stated if isinstance(stated, Outcome) else Outcome(stated)
        waiting = [id_label(interrupt.tool_call_id) for interrupt in outcome.interrupts or ()]
        deltas = self._calls.agents_own(waiting, ("needs_approval",))
        deltas += self._calls.agents_own(self._calls.not_among(outcome.pending_tool_call_ids))
        deltas += self._calls.read() + self._calls.chunks_over() + counted(event.usage)
        self._calls = Calls()
        # The calls of a cancelled run must not continue.
        return deltas + report.finish(outcome.type, drops_at="error") + self._end()

    def _run_error(self, event: Event) -> list[Delta]:
        return counted(event.usage) + report.failure(message=event.message, code=event.code)

    def _text_start(self, event: Event) -> list[Delta]:
        self._message = id_label(event.message_id)
        self._foreign.discard(self._message)
        if type(event.role) is str and event.role in _OTHERS:
            self._foreign.add(self._message)
        return []

    def _text(self, event: Event) -> list[Delta]:
        return [] if id_label(event.message_id) in self._foreign else report.text(event.delta)

    def _text_chunk(self, event: Event) -> list[Delta]:
        if event.message_id is None:
            event.message_id = self._message
        elif event.role is not None or id_label(event.message_id) != self._message:
            self._text_start(event)
        return self._text(event)

    def _sealed(self, event: Event) -> list[Delta]:
        value, entity = text_label(event.encrypted_value), id_label(event.entity_id)
        if value is not None and event.subtype == "tool-call":
            return self._calls.sealed(entity, value)
        return report.thought(None, entity, id=entity, data=value)

    def _call_start(self, event: Event) -> list[Delta]:
        return self._calls.seen(id_label(event.tool_call_id), name_label(event.tool_call_name), event.extra)

    def _call_chunk(self, event: Event) -> list[Delta]:
        id_, name = id_label(event.tool_call_id), name_label(event.tool_call_name)
        return self._calls.chunk(id_, name, event.extra, event.delta)

    def _call_result(self, event: Event) -> list[Delta]:
        id_ = id_label(event.tool_call_id)
        known = self._calls.knows(id_) or id_ in self._history
        if known:
            return self._calls.answered(id_)
        return [*self._calls.all_answered(), *([] if id_ is None else [CallAnswered(id_)])]

    EVENTS: ClassVar[Events] = {
        "TOOL_CALL_ARGS": lambda self, event: self._calls.piece(event.tool_call_id, event.delta),
        "TEXT_MESSAGE_CONTENT": _text,
        "REASONING_MESSAGE_CONTENT": lambda _self, event: thought(event),
        "REASONING_MESSAGE_CHUNK": lambda _self, event: thought(event),
        "THINKING_TEXT_MESSAGE_CONTENT": lambda _self, event: thought(event),  # before version 1.0
        "REASONING_ENCRYPTED_VALUE": _sealed,
        "TEXT_MESSAGE_CHUNK": _text_chunk,
        "TEXT_MESSAGE_START": _text_start,
        "TOOL_CALL_CHUNK": _call_chunk,
        "TOOL_CALL_START": _call_start,
        "TOOL_CALL_END": lambda self, event: self._calls.end(id_label(event.tool_call_id)),
        "TOOL_CALL_RESULT": _call_result,
        "MESSAGES_SNAPSHOT": lambda self, event: self._calls.restated(event.messages or [], self._history),
        "RUN_STARTED": _run_started,
        "RUN_FINISHED": _run_finished,
        "RUN_ERROR": _run_error,
    }
