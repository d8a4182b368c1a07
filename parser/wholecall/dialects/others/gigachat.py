"""GigaChat's second chat (Sber, `POST /v2/chat/completions`): named events, each with messages that consist of parts.

    event: response.message.delta    data: {"model", "created_at", "messages": [{"role", "content": [PART]}]}
    event: response.tool.in_progress, response.tool.completed            the provider's own tools, in the same form
    event: response.message.done     data: {"model", "messages"?: […], "finish_reason", "usage"}

    PART is  {"text"}  or  {"function_call": {"id"?, "name", "arguments": OBJECT}}  or  {"tool_execution": {…}}  or files

A call is whole in its part, and the client's to execute; in some streams it comes only in the last event. One without
arguments waits for the reason. Old servers send no ids: the calls of the last event are distinguished by their position
from those that came before it. The state of the tools, which an answer needs, is in `extra`. The provider's own
executions show no arguments, and are not calls. The role `reasoning` thinks aloud; content may also be one text.

No `[DONE]` ends the stream. A whole response is one last event without a name, as are lines of JSON.

Covers: GigaChat's second chat (`/v2/chat/completions`, named events): calls as parts, whole, before or in the last
    event; calls that GigaChat executes itself show no arguments and are not reported as calls. Its first chat is
    `chat-completions`.
Calls: told apart by id, or order; each ends with its own part.
Source: Sber, "GigaChat API", `POST /v2/chat/completions`, and the recordings of its Python SDK (June 2026).
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.deltas import ITEM_DONE, CallWhole, Delta, Finish
from wholecall.dialects import at, compiled, report, say, whole_calls
from wholecall.types import TurnReason

_STATE = at.value("../../tool_state_id"), at.value("../../tools_state_id")
_CALL = say.own("_call", at.id("id"), at.name("name"), at.json_text("arguments"), *_STATE)
_OURS = say.each("content", say.text("text"), say.given("function_call", _CALL), text="text")
_MESSAGES = say.each(
    "messages",
    say.thought("reasoning_content"),
    say.when(at.value("role"), (None, "assistant"), _OURS),
    say.when(at.value("role"), ("reasoning",), say.each("content", say.thought("text"), text="text")),
)
_SAID = (say.opened(model="model"), say.do("_calls.next_frame"), _MESSAGES)
_LAST = (
    say.own("_open_last", at.name("model"), at.value("messages")),
    say.stop_unless_open(),
    say.do("_calls.next_frame"),
    say.do("_count_anew"),
    _MESSAGES,
    say.usage("usage"),
    say.own("_finish", at.value("finish_reason")),
    say.end(),
)


class GigaChatTranslator(compiled.TableTranslator):
    """Events of one stream to deltas; calls without ids are counted."""

    ROWS: ClassVar[say.Rows] = {"response.message.delta": _SAID, "response.message.done": _LAST}
    BODIES: ClassVar[say.Rows] = {"finish_reason": _LAST, "messages": _SAID}
    KINDS = ("event", "type")
    QUIET = frozenset({"response.tool.in_progress", "response.tool.completed", "response.tool.failed"})
    ERRORS = frozenset({"error", "response.error"})

    _calls: whole_calls.WholeCalls
    _n_calls: int

    def _clear(self) -> None:
        self._calls = whole_calls.WholeCalls()
        self._n_calls = 0

    def lose(self) -> None:
        """Note that a frame was lost, perhaps with calls."""
        self._calls.lose()

    def _is_body(self, _view: object, kind: str) -> bool:
        return kind in ("", "message")  # events that have no name on the wire

    def _open_last(self, model: str | None, messages: object) -> list[Delta]:
        return self._opened(None, model, repeats=not messages)

    def _count_anew(self) -> None:
        """Count from the first call: those of the last event may be repeats of earlier calls."""
        self._n_calls = 0

    def _call(
        self, id_: str | None, name: str | None, text: str, state: object, states: object
    ) -> list[Delta]:
        extra = report.extra(tool_state_id=state, tools_state_id=states)
        nth = None if id_ is not None else self._n_calls
        self._n_calls += 1
        return self._calls.add(CallWhole(0, None, None, id_, name, text, ITEM_DONE, extra=extra), nth)

    def _finish(self, raw: object) -> list[Delta]:
        finish = report.finish(raw)
        reason: TurnReason | None = next((end.reason for end in finish if isinstance(end, Finish)), None)
        return [*self._calls.finish(0, reason), *finish]
