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

Source: Copilot SDK documentation, "Streaming session events", and the SDK's generated types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from wholecall.deltas import Delta
from wholecall.dialects import report
from wholecall.dialects.agents.copilot_calls import Calls
from wholecall.dialects.agents.copilot_turns import Turn, Turns
from wholecall.dialects.agents.copilot_views import DECODER, Data, Event, is_quiet
from wholecall.dialects.decode import is_noise, member, plain
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import CUT_REASONS, TurnReason

__all__ = ["CopilotTranslator"]

_NO = ("denied", "reject", "cancel", "user-not-available")  # the first words of answers that deny a request
# The possible first words of a type, also of events about the session itself.
_FAMILIES = frozenset(
    {
        *("assistant", "tool", "external_tool", "session", "user", "system"),
        *("permission", "subagent", "hook", "skill", "model", "mcp"),
    }
)


class CopilotTranslator(ViewTranslator):
    """Events of one session to deltas."""

    decoder = DECODER

    _turns: Turns
    _where: dict[str | None, Turn]
    _asked: dict[str | None, str | None]

    def __init__(self) -> None:
        self._turns = Turns()
        self._where = {}  # the turns of calls, by their ids
        self._asked = {}  # calls that wait for a permission, by its request

    def close(self) -> list[Delta]:
        """Report who executes the calls that the stream leaves; those that no message listed are cut."""
        deltas: list[Delta] = []
        for turn in self._turns.all_open():
            deltas += self._turns.switch(turn)
            deltas += turn.calls.settle("unterminated", "the stream ended before a message told the call")
        return deltas

    def _all_over(self) -> list[Delta]:
        return [delta for turn in self._turns.all_open() for delta in self._turns.end(turn)]

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        if event.type is None and _is_session_event(frame.event):
            event.type = frame.event
        known, data = self.EVENTS.get(event.type), event.data or Data()
        agent = id_label(event.agent_id) or id_label(data.parent_tool_call_id)
        if known is not None:
            return known(self, agent, data)
        if event.type == "assistant.usage":
            return self._usage(agent, data, frame)
        if event.type == "result":  # the last line of the command line's output
            code = event.exit_code
            return self._break_off(None, "error", f"exit code {code}") if code else self._all_over()
        if event.error or event.type == "error":
            return report.error(event.error or plain(frame.data))
        return [] if is_quiet(event.type) or is_noise(frame) else report.unknown()

    # The life of turns

    def _turn_end(self, agent: str | None, _data: Data) -> list[Delta]:
        turn = self._turns.of(agent)
        return [] if turn is None else self._turns.end(turn)

    def _idle(self, agent: str | None, data: Data) -> list[Delta]:
        return self._abort(agent, data) if data.aborted is True else self._turn_end(agent, data)

    def _prompt(self, agent: str | None, data: Data) -> list[Delta]:
        turn = self._turns.of(agent)
        goes_on = turn is None or turn.marked or data.delivery == "steering"
        return [] if goes_on else self._turn_end(agent, data)

    def _abort(self, agent: str | None, data: Data) -> list[Delta]:
        return self._break_off(agent, "aborted", text_label(data.reason) or "abort")

    def _break_off(self, agent: str | None, reason: TurnReason, provider_reason: str | None) -> list[Delta]:
        """Report that an agent was stopped; if it is the main one, that all were."""
        turn = self._turns.of(agent)
        turns = self._turns.all_open() if agent is None else [turn] if turn is not None else []
        return [delta for turn in turns for delta in self._turns.break_off(turn, reason, provider_reason)]

    def _error(self, agent: str | None, data: Data) -> list[Delta]:
        """Report that the answer failed; where there is no answer yet, the failure is the answer."""
        fields = {"type": data.error_type, "code": data.status_code, "message": data.message}
        _, opened = self._turns.on(agent, data)
        broken = self._break_off(agent, "error", text_label(data.error_type))
        return opened + report.failure(fatal=False, **fields) + broken

    def _shutdown(self, agent: str | None, data: Data) -> list[Delta]:
        if data.shutdown_type != "error":
            return self._all_over()
        return self._error(agent, Data(error_type="shutdown", message=data.error_reason))

    def _usage(self, agent: str | None, data: Data, frame: Frame) -> list[Delta]:
        turn, reason = self._turns.of(agent), turn_reason(data.finish_reason)
        if turn is not None and reason is not None:
            turn.reason, turn.calls.cut = reason, reason[0] in CUT_REASONS
        return report.usage(member(plain(frame.data), "data")) if self._turns.is_current(agent) else []

    # An agent's text, reasoning and messages

    def _said(self, agent: str | None, data: Data, say: Callable[[Turn, Data], list[Delta]]) -> list[Delta]:
        turn, deltas = self._turns.on(agent, data)
        return deltas + say(turn, data)

    def _whole_thought(self, agent: str | None, data: Data) -> list[Delta]:
        last = self._turns.last(agent)
        said = [] if last is None else last.whole_thought(data)
        if last is not None and (last.open or not said):
            return self._turns.switch(last) + said if said else []
        return self._said(agent, data, Turn.whole_thought)

    def _message(self, agent: str | None, data: Data) -> list[Delta]:
        turn, deltas = self._turns.on(agent, data)
        deltas += turn.message(data)
        for request in data.tool_requests or ():
            self._place(id_label(request.tool_call_id), turn)
        return deltas

    # The outcome of calls

    def _piece(self, agent: str | None, data: Data) -> list[Delta]:
        turn, deltas = self._turns.on(agent, data)
        deltas += turn.calls.piece(data)
        self._place(id_label(data.tool_call_id), turn)
        return deltas

    def remade(self) -> None:
        """Check that each turn knows its calls, as the snapshot may come from anyone.

        Raises:
            ValueError: a turn does not know its calls.
        """
        if not all(turn.calls.has(id_) for id_, turn in self._where.items()):
            raise ValueError("a call is not among those of its turn")

    def _call(self, agent: str | None, data: Data, take: Callable[[Calls, Data], list[Delta]]) -> list[Delta]:
        """Report an event's content about a known call, or about a new one of the agent's."""
        id_ = id_label(data.tool_call_id)
        known = self._where.get(id_)
        if known is not None and known.calls.is_over(id_):
            return []
        turn, deltas = self._turns.on(agent, data) if known is None else (known, self._turns.switch(known))
        deltas += take(turn.calls, data)
        self._place(id_, turn)
        return deltas

    def _place(self, id_: str | None, turn: Turn) -> None:
        if turn.calls.has(id_):
            self._where[id_] = turn

    def _decide(self, id: object, become: Callable[[Calls, str | None], list[Delta]]) -> list[Delta]:
        turn = self._where.get(id_ := id_label(id))
        if turn is None or turn.calls.is_over(id_):
            return []
        return self._turns.switch(turn) + become(turn.calls, id_)

    def _asks(self, _agent: str | None, data: Data) -> list[Delta]:
        asked, request = data.permission_request, id_label(data.request_id)
        id_ = id_label(asked.tool_call_id) if asked is not None else None
        if request is not None:
            self._asked[request] = id_
        return self._decide(id_, Calls.wait)

    def _answered(self, _agent: str | None, data: Data) -> list[Delta]:
        id_ = self._asked.pop(id_label(data.request_id), None) or id_label(data.tool_call_id)
        said = text_label(data.result.kind) if data.result is not None else None
        return self._decide(id_, Calls.deny if (said or "").startswith(_NO) else Calls.permit)

    EVENTS: ClassVar[Mapping[str | None, Callable[[Any, str | None, Data], list[Delta]]]] = {
        "assistant.tool_call_delta": _piece,
        "assistant.message_delta": lambda self, agent, data: self._said(agent, data, Turn.text),
        "assistant.reasoning_delta": lambda self, agent, data: self._said(agent, data, Turn.thought),
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
        "tool.user_requested": lambda self, agent, data: self._call(agent, data, Calls.start),
        "tool.execution_start": lambda self, agent, data: self._call(agent, data, Calls.start),
        "tool.execution_complete": lambda self, _, data: self._decide(data.tool_call_id, Calls.complete),
        "external_tool.requested": lambda self, agent, data: self._call(agent, data, Calls.request),
    }


def _is_session_event(kind: str) -> bool:
    """Return whether a type is one of a session's events: it is in two words."""
    family, dot, name = kind.partition(".")
    return family in _FAMILIES and bool(dot and name)
