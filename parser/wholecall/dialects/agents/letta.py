"""The messages of Letta's agents (`/v1/agents/ID/messages` and conversations), a message or a piece of one per event.

    {"message_type": "reasoning_message", "id", "reasoning", "signature"}
    {"message_type": "hidden_reasoning_message", "id", "state", "hidden_reasoning"}
    {"message_type": "assistant_message", "id", "content": "…" | [{"type": "text", "text"}]}
    {"message_type": "tool_call_message", "id", "tool_call": CALL, "tool_calls": CALL | [CALL]}
    {"message_type": "approval_request_message", "id", "tool_call": CALL, "tool_calls": CALL | [CALL]}
    {"message_type": "tool_return_message", "tool_call_id", "status", "tool_return", "tool_returns": [{"tool_call_id"}]}
    {"message_type": "stop_reason", "stop_reason": end_turn | tool_rule | requires_approval | max_steps | error | …}
    {"message_type": "error_message", "run_id", "error_type", "message", "detail"}
    {"message_type": "usage_statistics", "prompt_tokens", "completion_tokens"}    [DONE]
    {"messages": [message], "stop_reason": {…}, "usage": {…}}    where nothing streams

    CALL is {"name", "tool_call_id", "arguments": "…"}, of which any may be absent in a piece

With tokens streamed a call comes in pieces of one shape with whole calls; a piece without an id is of the last call. The
agent executes its calls itself, so each is a server's, and over with its return, or when the run ends. Calls in requests
for an approval wait for the client, flagged: the client approves them, or executes them where it brought the tool along
(`client_tools`), of which the wire tells nothing. A run is one turn of several steps, and ends with its counts or
`[DONE]`; one that failed takes back its open calls.

Covers: the messages of Letta's agents, streamed by steps and by tokens, and whole: calls that the agent executes, and
    those that wait for the client (approvals, and the client's own tools, which look the same).
Calls: told apart by `tool_call_id`; each ends with its return, or when the run ends.
Source: letta-ai/letta, letta/schemas/letta_message.py, letta_stop_reason.py, and letta/interfaces (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Union

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.types import Flag, TurnReason

_REASONS: Final[dict[object, TurnReason]] = {
    "tool_rule": "stop",
    "requires_approval": "tool_calls",
    "cancelled": "aborted",
    **dict.fromkeys(
        ("error", "llm_api_error", "invalid_llm_response", "invalid_tool_call", "no_tool_call"), "error"
    ),
}
_LOST: Final = deltas.WireFault("undecodable_frame", "a piece of a call whose start is not known", hole=True)
_CALL = at.id("tool_call_id"), at.name("name"), at.json_text("arguments")


def _ended(reason: object) -> list[deltas.Delta]:
    """Report why a run ended; one that failed takes back its open calls."""
    known = _REASONS.get(reason) if isinstance(reason, str) else None
    if known is None:
        return report.finish(reason)
    return [deltas.Finish(0, known, str(reason), drops=known in ("error", "aborted"))]


def _calls(*, asks: bool = False) -> say.Row:
    """Report the calls of a message, or the piece of one."""
    one = say.own("_piece", *_CALL, asks=asks)
    listed = say.each("tool_calls", one, alone=True)
    return say.opened(), say.when(
        at.value("tool_calls"), (None,), say.given("tool_call", one), otherwise=(listed,)
    )


_MESSAGES: say.Rows = {
    "reasoning_message": (
        say.opened(),
        say.thought("reasoning", at.id("id"), signature="signature"),
    ),
    "hidden_reasoning_message": (
        say.opened(),
        say.own(report.thought, None, at.id("id"), data=at.value("hidden_reasoning")),
    ),
    "assistant_message": (say.opened(), say.each("content", say.text("text"), text="text")),
    "tool_call_message": _calls(),
    "approval_request_message": _calls(asks=True),
    "tool_return_message": (
        say.stop_unless_open(),
        say.own("_answered", at.id("tool_call_id")),
        say.each("tool_returns", say.own("_answered", at.id("tool_call_id"))),
    ),
}
_QUIET: Final = (
    *("system_message", "user_message", "approval_response_message", "summary_message", "event_message"),
    "ping",
)
_COUNTS = (
    *("prompt_tokens", "completion_tokens", "total_tokens", "step_count"),
    *("prompt_tokens_details", "completion_tokens_details"),
)
_COUNTED: dict[str, Any] = {name: at.value(f"usage.{name}") for name in _COUNTS}


class LettaTranslator(compiled.TableTranslator):
    """Messages of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        **_MESSAGES,
        "stop_reason": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.own(_ended, at.value("stop_reason")),
        ),
        "error_message": (
            say.own(
                report.failure,
                fatal=False,
                message=at.value("message"),
                type=at.value("error_type"),
                detail=at.value("detail"),
            ),
        ),
        "usage_statistics": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.counts(*_COUNTS),
            say.end(),
        ),
    }
    BODIES: ClassVar[say.Rows] = {
        "messages": (
            say.begin(),
            say.each("messages", say.by(at.text("message_type"), _MESSAGES, _QUIET)),
            say.own(report.counts, **_COUNTED),
            say.own("_over", at.value("stop_reason")),
            say.end(),
        ),
    }
    KINDS = ("message_type", "type")
    FAILURES = frozenset({"error_message"})
    QUIET = frozenset(_QUIET)
    AGAIN = ("approval_response_message",)
    DONE_ENDS = True

    _last: Union[str, None]
    _answers: set[Union[str, None]]
    _names: dict[Union[str, None], Union[str, None]]

    def _clear(self) -> None:
        self._last = None  # the id of the last call
        self._answers = set()  # ids of calls with a result
        self._names = {}  # of calls, by their ids

    def _over(self, reason: object) -> list[deltas.Delta]:
        """Report why a whole run ended."""
        return _ended(reason.get("stop_reason") if isinstance(reason, dict) else reason)

    def _piece(
        self, id_: str | None, name: str | None, text: str, *, asks: bool = False
    ) -> list[deltas.Delta]:
        """Report the start of a call, a piece of its text, or both; its id is its slot."""
        if id_ is None and (self._last is None or self._last in self._answers):
            return [_LOST]
        id_ = self._last if id_ is None else id_
        told: list[deltas.Delta] = []
        if id_ in self._answers:  # another step, in which the server numbers its calls anew
            self._answers, self._names = set(), {}
            told.append(deltas.StepBegan(0))
        if id_ not in self._names or name not in (None, self._names[id_]):
            flags: tuple[Flag, ...] = ("needs_approval",) if asks else ()
            begins = id_ not in self._names
            told.append(deltas.CallSeen(0, id_, None, id_, name, "server", flags=flags, begins=begins))
            self._names[id_] = name
        self._last = id_
        return told + report.piece(id_, text)

    def _answered(self, id_: str | None) -> list[deltas.Delta]:
        """Report the result of a call, which is over."""
        if id_ in self._answers:
            return []
        self._answers.add(id_)
        return report.closed(id_) if id_ in self._names else report.answered(id_)
