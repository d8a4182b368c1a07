r"""The stream of an app of Dify (`/chat-messages`, `/completion-messages`, `/workflows/run`): an event per frame.

    {"event": "agent_thought", "id", "message_id", "task_id", "position", "thought", "tool": "", "tool_input": "",
        "observation": ""}    a step of the agent, told again as it grows: when it begins, with its calls, with results
    {…, "tool": "f;g", "tool_input": "{\"f\": {…}, \"g\": {…}}", "observation": "{\"f\": …}"}
    {"event": "agent_message" | "message", "message_id", "answer": "Hel"}    {"event": "text_chunk", "data": {"text"}}
    {"event": "message_end", "message_id", "metadata": {"usage"}}    {"event": "message_replace", "answer"}
    {"event": "agent_log", "data": {"id", "label": "CALL f", "status": "start" | "success" | "error", "data": {},
        "parent_id", "node_id"}}    a log of an agent in a workflow, told again when it is finished, with its data:
        {"output": {"tool_call_id", "tool_call_name", "tool_call_input": {…}, "tool_response"}} where functions are called,
        {"tool_name", "tool_call_args": {…}, "output"} with ReAct
    {"event": "workflow_finished", "data": {"status", "error", "total_tokens"}}
    {"event": "error", "status", "code", "message"}

The agent executes its calls, which have no ids. A step names its tools, parted by `;`, and gives an object of their inputs
by their names, so that of several calls of one tool only one is told. The calls of a step end when it has results. Its
thought only repeats messages. In a chat the end of a workflow is not that of the message. An agent in a workflow tells
its calls in logs, whose data have the form of its strategy; those of Dify's own strategies are read. A log names its call
when it starts, and tells all of it when it is finished; one without an input had no such tool.

Covers: streams of apps of Dify: the calls of their agents; texts of chats, completions and workflows.
Calls: told apart by their step and their name; each ends with the results of its step.
Source: langgenius/dify, api/core/app/entities/task_entities.py, api/core/agent/fc_agent_runner.py and
    api/core/app/task_pipeline/easy_ui_based_generate_task_pipeline.py; langgenius/dify-official-plugins,
    agent-strategies/cot_agent/strategies (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, report, say
from wholecall.framing.frame import Frame

_MESSAGE = say.opened("message_id|workflow_run_id")
_INPUTS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_QUIET = frozenset(
    {
        *(
            "message_file",
            "message_replace",
            "tts_message",
            "tts_message_end",
            "node_started",
            "node_finished",
        ),
        *("node_retry", "iteration_started", "iteration_next", "iteration_completed", "loop_started"),
        *("loop_next", "loop_completed", "parallel_branch_started", "parallel_branch_finished"),
        "text_replace",
    }
)
_ENDS = {
    "succeeded": deltas.Finish(0, "stop", "succeeded"),
    "partial-succeeded": deltas.Finish(0, "stop", "partial-succeeded"),
    "failed": deltas.Finish(0, "error", "failed", drops=True),
    "stopped": deltas.Finish(0, "aborted", "stopped", drops=True),
}


def _finished(status: object) -> list[deltas.Delta]:
    """Report why a workflow ended."""
    word = status if isinstance(status, str) else ""
    return [_ENDS.get(word, deltas.Finish(0, "unknown", word))]


def _inputs(text: str) -> dict[str, str]:
    """Return the inputs of tools by their names."""
    try:
        return {name: decode.wire_text(raw) for name, raw in _INPUTS.decode(text).items()}
    except decode.UNREADABLE:
        return {}


class DifyTranslator(compiled.TableTranslator):
    """Events of one answer to deltas."""

    KINDS = ("event", "type")
    ROWS: ClassVar[say.Rows] = {
        "workflow_started": (_MESSAGE,),
        "agent_thought": (
            _MESSAGE,
            say.own(
                "_step", at.id("id"), at.text("tool"), at.json_text("tool_input"), at.text("observation")
            ),
        ),
        "agent_log": (
            _MESSAGE,
            say.own(
                "_log",
                *(at.id("data.id"), at.text("data.label"), at.text("data.status")),
                at.id("data.data.output.tool_call_id"),
                at.name("data.data.output.tool_call_name|data.data.tool_name"),
                at.json_text("data.data.output.tool_call_input|data.data.tool_call_args"),
            ),
        ),
        "agent_message": (_MESSAGE, say.text("answer")),
        "message": (
            _MESSAGE,
            say.text("answer"),
            say.when(
                at.value("mode"),
                (None,),
                otherwise=(say.usage("metadata.usage"), say.own(_finished, "succeeded"), say.end()),
            ),
        ),
        "text_chunk": (_MESSAGE, say.text("data.text")),
        "message_end": (
            say.stop_unless_open(),
            say.usage("metadata.usage"),
            say.own(_finished, "succeeded"),
            say.end(),
        ),
        "workflow_finished": (
            say.stop_unless_open(),
            say.when(at.value("message_id"), (None,), say.own(_finished, at.value("data.status")), say.end()),
        ),
        "error": (
            say.own(
                report.failure,
                status=at.value("status"),
                code=at.value("code"),
                message=at.value("message"),
            ),
        ),
    }
    QUIET = _QUIET
    AGAIN = ('agent_thought"',)

    _steps: set[str]
    _logs: dict[str | None, bool]

    def _clear(self) -> None:
        self._steps = set()  # ids of the steps whose calls have been told
        self._logs = {}  # whether logs of calls are finished, by their ids

    def _kind(self, view: Any, frame: Frame, /) -> str:
        """Return the event that a frame names itself: `message` is also the name of frames without any."""
        kind = super()._kind(view, frame)
        return kind if kind in (view.event, view.type) else ""

    def _step(self, id_: str | None, tools: str | None, text: str, results: str | None) -> list[deltas.Delta]:
        """Report the calls of a step, and their end; a call alone has the step's id."""
        step, names, inputs = id_ or "", (tools or "").split(";"), _inputs(text)
        if not tools:
            return []
        known, told = step in self._steps, []
        self._steps.add(step)
        for number, name in enumerate(names):
            slot, own = f"{step}/{number}", id_ if len(names) == 1 else None
            told_input = inputs.pop(name, None)
            if not known:
                told += self._call(slot, own, name, told_input)
            if results is not None and told_input is not None:
                told += report.closed(slot)
        return told

    def _call(self, slot: str, id_: str | None, name: str, text: str | None) -> list[deltas.Delta]:
        """Report a call that the agent is about to execute, or that its input is not told."""
        if text is not None:
            return report.whole_call(slot, id_, name, text, "server")[:-1]
        seen = deltas.CallSeen(0, slot, None, id_, name, "server")
        return [
            seen,
            deltas.CallRefused(0, slot, None, "empty_arguments", "its step does not tell its input"),
        ]

    def _log(
        self,
        log: str | None,
        label: str | None,
        status: str | None,
        id_: str | None,
        name: str | None,
        text: str,
    ) -> list[deltas.Delta]:
        """Report the call of a log, which is whole and over when the log is finished."""
        before, is_call, named = (label or "").partition("CALL ")
        if before or not is_call or self._logs.get(log, False):
            return []
        self._logs[log] = status != "start"
        slot, seen = f"log {log}", deltas.CallSeen(0, f"log {log}", None, id_, name or named, "server")
        if status == "start":
            return [seen]
        if text:
            return report.whole_call(slot, id_, name or named, text, "server")
        return [seen, deltas.CallRefused(0, slot, None, "aborted", "its log does not tell its input")]
