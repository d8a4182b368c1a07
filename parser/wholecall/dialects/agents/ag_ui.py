"""AG-UI, the protocol between agents and user interfaces (SSE `data:` lines; an event each).

    RUN_STARTED           threadId, runId
    TEXT_MESSAGE_CONTENT  messageId, delta      REASONING_MESSAGE_CONTENT  messageId, delta
    TOOL_CALL_START       toolCallId, toolCallName
    TOOL_CALL_ARGS        toolCallId, delta
    TOOL_CALL_END         toolCallId
    TOOL_CALL_CHUNK       toolCallId?, toolCallName?, delta?      the three in one; without an id it goes on
    TOOL_CALL_RESULT      toolCallId, content
    MESSAGES_SNAPSHOT     messages[{role, toolCalls?, toolCallId?}]      the whole conversation
    RUN_FINISHED          runId, outcome?{type, pendingToolCallIds?, interrupts?}
    RUN_ERROR             message, code?

A run is a turn. Its calls take turns in the stream; the id tells them apart. Who executes a call is not said
when it ends but later: one that gets its result inside the run (an event, or a message of a snapshot) was
executed by the agent, one that an interrupt names waits for approval, and what is left when the run finishes is
the client's. So `TOOL_CALL_END` closes nothing, and a run that breaks off leaves nothing to execute.

A snapshot restates calls, and tells those that were not streamed; calls before the last message of the user,
answered ones, and those that the run was started with are history. Its text is no answer, and is skipped.

Events are read as JSON only. The binary encoding (`application/vnd.ag-ui.event+proto`) had no place for results
before the protocol's version 1.0: there a call that the agent executed looks like one for the client.
Source: AG-UI documentation, "Events", and the schema of version 1.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wholecall.deltas import Delta, Finish, Noted, ReasoningFragment, TextFragment, TurnEnded, TurnOpened
from wholecall.dialects.agents.ag_ui_calls import Calls
from wholecall.dialects.agents.ag_ui_views import (
    DECODER,
    Event,
    Outcome,
    counted,
    named_ids,
    thought,
)
from wholecall.dialects.decode import is_noise, provider_error
from wholecall.dialects.detect_frameworks import AG_UI_QUIET
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["AgUiTranslator"]

# Who else than the agent writes text messages; some agents repeat what the user said.
_OTHERS = frozenset({"developer", "system", "user", "tool", "activity"})
_SUCCESS: Final = Outcome("success")


class AgUiTranslator(ViewTranslator):
    """Frames of one AG-UI stream to deltas."""

    decoder = DECODER

    _key: str | None
    _calls: Calls
    _history: set[str]
    _foreign: set[str | None]
    _message: str | None

    def __init__(self) -> None:
        self._key = None
        self._calls = Calls()
        self._history = set()  # ids of calls that the run was started with
        self._foreign = set()  # ids of messages that are not the agent's
        self._message = None  # the message that chunks without an id go on with
        self._events: dict[str | None, Callable[[Event], list[Delta]]] = {
            "TOOL_CALL_ARGS": self._call_args,
            "TEXT_MESSAGE_CONTENT": self._text,
            "REASONING_MESSAGE_CONTENT": self._thought,
            "REASONING_MESSAGE_CHUNK": self._thought,
            "THINKING_TEXT_MESSAGE_CONTENT": self._thought,  # before version 1.0
            "REASONING_ENCRYPTED_VALUE": self._sealed,
            "TEXT_MESSAGE_CHUNK": self._text_chunk,
            "TEXT_MESSAGE_START": self._text_start,
            "TEXT_MESSAGE_END": self._text_end,
            "TOOL_CALL_CHUNK": self._call_chunk,
            "TOOL_CALL_START": self._call_start,
            "TOOL_CALL_END": self._call_end,
            "TOOL_CALL_RESULT": self._call_result,
            "MESSAGES_SNAPSHOT": self._snapshot,
            "RUN_STARTED": self._run_started,
            "RUN_FINISHED": self._run_finished,
            "RUN_ERROR": self._run_error,
        }

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        kind = frame.event if event.type is None else event.type
        known = self._events.get(kind)
        if known is not None:
            return known(event)
        if event.error:
            return [provider_error(event.error)]
        return (
            [] if kind in AG_UI_QUIET or kind == "ping" or is_noise(frame) else [Noted(0, "unknown_events")]
        )

    # Runs

    def _run_started(self, event: Event) -> list[Delta]:
        self._key = id_label(event.run_id)
        self._calls = Calls()
        self._history = named_ids(event.input.messages if event.input is not None else None)
        self._foreign.clear()
        return [TurnOpened(self._key, self._key, restart=True)]

    def _run_finished(self, event: Event) -> list[Delta]:
        told = event.outcome or _SUCCESS  # which is what an absent one means
        outcome = told if isinstance(told, Outcome) else Outcome(told)
        waiting = [id_label(interrupt.tool_call_id) for interrupt in outcome.interrupts or ()]
        deltas = self._calls.agents_own(waiting, ("needs_approval",))
        deltas += self._calls.agents_own(self._calls.not_among(outcome.pending_tool_call_ids))
        deltas += self._calls.read()
        deltas += counted(event.usage)
        if (known := turn_reason(outcome.type)) is not None:
            # What a cancelled run began is not to be gone on with.
            deltas.append(Finish(0, *known, drops=known[0] == "error"))
        self._calls = Calls()
        return [*deltas, TurnEnded(self._key)]

    def _run_error(self, event: Event) -> list[Delta]:
        error = {"message": event.message, "code": event.code}
        told = {name: value for name, value in error.items() if value is not None}
        return [*counted(event.usage), provider_error(told)]

    # Messages

    def _text_start(self, event: Event) -> list[Delta]:
        self._message = id_label(event.message_id)
        if type(event.role) is str and event.role in _OTHERS:
            self._foreign.add(self._message)
        else:
            self._foreign.discard(self._message)
        return []

    def _text(self, event: Event) -> list[Delta]:
        text = text_label(event.delta)
        return [] if text is None or id_label(event.message_id) in self._foreign else [TextFragment(0, text)]

    def _text_chunk(self, event: Event) -> list[Delta]:
        if event.message_id is None:
            event.message_id = self._message
        elif event.role is not None or id_label(event.message_id) != self._message:
            self._text_start(event)
        return self._text(event)

    def _text_end(self, _event: Event) -> list[Delta]:
        return []

    def _thought(self, event: Event) -> list[Delta]:
        return thought(event)

    def _sealed(self, event: Event) -> list[Delta]:
        value, entity = text_label(event.encrypted_value), id_label(event.entity_id)
        if value is None:
            return []
        if event.subtype == "tool-call":
            return self._calls.sealed(entity, value)
        return [ReasoningFragment(0, "", entity, entity, data=value)]

    # Calls

    def _call_start(self, event: Event) -> list[Delta]:
        return self._calls.seen(id_label(event.tool_call_id), name_label(event.tool_call_name), _extra(event))

    def _call_args(self, event: Event) -> list[Delta]:
        return self._calls.piece(event.tool_call_id, event.delta)

    def _call_chunk(self, event: Event) -> list[Delta]:
        id_, name = id_label(event.tool_call_id), name_label(event.tool_call_name)
        return self._calls.chunk(id_, name, _extra(event), event.delta)

    def _call_end(self, event: Event) -> list[Delta]:
        return self._calls.end(id_label(event.tool_call_id))

    def _call_result(self, event: Event) -> list[Delta]:
        id_ = id_label(event.tool_call_id)
        if self._calls.knows(id_) or id_ in self._history:
            return self._calls.answered(id_)
        return self._calls.all_answered()

    def _snapshot(self, event: Event) -> list[Delta]:
        return self._calls.restated(event.messages or [], self._history)


def _extra(event: Event) -> dict[str, Any] | None:
    told = {"subagentRunId": event.subagent_run_id, "metadata": event.metadata}
    return {name: value for name, value in told.items() if value} or None
