"""The events of a run of Agno's agents, teams and workflows (`/agents/ID/runs` …), and the run itself, whole.

    {"event": "RunStarted", "created_at", "run_id", "parent_run_id"?, "model"}
    {"event": "RunContent", …, "content": "Hel", "reasoning_content"?}    {"event": "ReasoningContentDelta", …}
    {"event": "ToolCallArgsDelta", …, "tool_call_id", "tool_call_name", "arguments_delta"}
    {"event": "ToolCallStarted", …, "tool": {"tool_call_id", "tool_name", "tool_args": {…}}}
    {"event": "ToolCallCompleted" | "ToolCallError", …, "tool": {…, "result", "tool_call_error"}}
    {"event": "RunPaused", …, "tools": [{…, "requires_confirmation" | "external_execution_required": true}]}
    {"event": "RunCompleted", …, "content", "metrics", "tools": […]}    {"event": "RunCancelled", …, "reason"}
    {"event": "RunError", …, "content", "error_type"}
    {"event": "WorkflowStarted" | "WorkflowCompleted" | "WorkflowCancelled" | "WorkflowError", …, "run_id", "error"?}
    {"run_id", "agent_id", "status": "COMPLETED" | "PAUSED" | …, "content", "tools": […], "metrics"}    a whole run

The agent executes its calls: each begins with `ToolCallStarted`, whole, and ends with its result. A run that pauses lists
all calls so far: those without a result that are to be executed outside are the client's, others wait for its approval
or its input. A call under the id of one that has its result is of another step. Events of a team have `Team` before
their names; the runs of its members, and of the steps of a workflow, are told in between, by the run that began them, and
end nothing.

Covers: the events of runs of Agno's agents, teams and workflows, and whole runs: calls that the agent executes, those that wait for
    an approval, and those that the client executes (`external_execution`).
Calls: told apart by `tool_call_id`; each ends with its result, or where the run pauses.
Source: agno-agi/agno, libs/agno/agno/run/agent.py, run/team.py, run/workflow.py, run/base.py and
    models/response.py (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.agents.steps import Steps
from wholecall.types import Flag, Kind

_RUN, _WITHIN = at.id("run_id"), at.id("parent_run_id|workflow_run_id")
_OPEN: Final = say.own("_opens", _RUN)


def _tool(of: str) -> tuple[Any, ...]:
    return at.id(f"{of}tool_call_id"), at.name(f"{of}tool_name"), at.json_text(f"{of}tool_args")


_TOOLS: Final = say.each(
    "tools",
    say.own(
        "_listed",
        *_tool(""),
        at.value("result"),
        external=at.value("external_execution_required"),
        asks=at.value("requires_confirmation"),
    ),
)
_RESULT: Final = (say.stop_unless_open(), say.own("_answered", *_tool("tool.")))
_EVENTS: Final[say.Rows] = {
    "RunStarted": (say.own("_starts", _RUN, _WITHIN, at.name("model")),),
    "RunContinued": (say.own("_starts", _RUN, _WITHIN, None),),
    "RunContent": (_OPEN, say.thought("reasoning_content"), say.text("content")),
    "ReasoningContentDelta": (_OPEN, say.thought("reasoning_content")),
    "ToolCallArgsDelta": (
        _OPEN,
        say.own("_piece", at.id("tool_call_id"), at.name("tool_call_name"), at.value("arguments_delta")),
    ),
    "ToolCallStarted": (_OPEN, say.own("_called", *_tool("tool."))),
    "ToolCallCompleted": _RESULT,
    "ToolCallError": _RESULT,
    "RunPaused": (_OPEN, _TOOLS, say.own("_over", _RUN, "PAUSED")),
    "RunCompleted": (say.stop_unless_open(), say.usage("metrics"), say.own("_over", _RUN, "COMPLETED")),
    "RunCancelled": (say.stop_unless_open(), say.own("_over", _RUN, "CANCELLED")),
    "RunError": (say.own("_failed", _RUN, type=at.value("error_type"), message=at.value("content")),),
}
_OF_WORKFLOWS: Final[say.Rows] = {
    "WorkflowStarted": (say.own("_starts", _RUN, _WITHIN, None),),
    "WorkflowCompleted": (
        say.stop_unless_open(),
        say.usage("metrics"),
        say.own("_over", _RUN, "COMPLETED"),
    ),
    "WorkflowCancelled": (say.stop_unless_open(), say.own("_over", _RUN, "CANCELLED")),
    "WorkflowError": (say.own("_failed", _RUN, message=at.value("error")),),
    "StepError": (say.own(report.failure, fatal=False, message=at.value("error")),),
}
_QUIET_STEPS: Final = (
    *("StepStarted", "StepCompleted", "StepOutput", "LoopExecutionStarted", "LoopIterationStarted"),
    *("LoopIterationCompleted", "LoopExecutionCompleted", "ParallelExecutionStarted"),
    *("ParallelExecutionCompleted", "ConditionExecutionStarted", "ConditionExecutionCompleted"),
    *("RouterExecutionStarted", "RouterExecutionCompleted", "StepsExecutionStarted"),
    *("StepsExecutionCompleted", "WorkflowAgentStarted", "WorkflowAgentCompleted"),
)
_QUIET: Final = (
    *("RunContentCompleted", "RunIntermediateContent", "ReasoningStarted", "ReasoningStep"),
    *("ReasoningCompleted", "PreHookStarted", "PreHookCompleted", "PostHookStarted", "PostHookCompleted"),
    *("MemoryUpdateStarted", "MemoryUpdateCompleted", "SessionSummaryStarted", "SessionSummaryCompleted"),
    *("ParserModelResponseStarted", "ParserModelResponseCompleted", "OutputModelResponseStarted"),
    *("OutputModelResponseCompleted", "ModelRequestStarted", "ModelRequestCompleted"),
    *("CompressionStarted", "CompressionCompleted", "FollowupsStarted", "FollowupsCompleted"),
)


class AgnoTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    KINDS = ("event", "type")
    ROWS: ClassVar[say.Rows] = {
        **{f"{of}{name}": row for of in ("", "Team") for name, row in _EVENTS.items()},
        **_OF_WORKFLOWS,
    }
    BODIES: ClassVar[say.Rows] = {
        "status": (
            say.opened("run_id", "model"),
            say.thought("reasoning_content"),
            say.text("content"),
            _TOOLS,
            say.usage("metrics"),
            say.own("_over", _RUN, at.value("status")),
        ),
    }
    QUIET = frozenset({*_QUIET, *(f"Team{name}" for name in _QUIET), "CustomEvent", *_QUIET_STEPS})
    FAILURES = frozenset({"ToolCallError", "TeamToolCallError", "StepError", "WorkflowError"})
    AGAIN = (
        *('RunCompleted"', 'RunContinued"', 'WorkflowCompleted"', 'StepCompleted"', 'StepOutput"'),
        *('LoopIterationCompleted"', 'LoopExecutionCompleted"', 'ParallelExecutionCompleted"'),
        *('ConditionExecutionCompleted"', 'RouterExecutionCompleted"', 'StepsExecutionCompleted"'),
    )

    _steps: Steps

    def _clear(self) -> None:
        self._steps = Steps()

    def _starts(self, run: str | None, within: str | None, model: str | None) -> list[deltas.Delta]:
        """Begin a run, unless another one that is open began it."""
        return [] if self._open and within is not None else self._begin(run, model)

    def _opens(self, run: str | None) -> list[deltas.Delta]:
        return [] if self._open else self._begin(run)

    def _piece(self, id_: str | None, name: str | None, text: object) -> list[deltas.Delta]:
        """Report a piece of a call, with its start."""
        new = self._steps.calls.get(id_, True)
        told, slot = self._steps.call(id_), self._steps.slot(id_)
        if new:
            told += report.call_start(slot, id_, name, kind="server")
        return told + report.piece(slot, text if isinstance(text, str) else "")

    def _called(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call that the agent is about to execute."""
        told = self._steps.call(id_)
        return told + report.whole_call(self._steps.slot(id_), id_, name, text, "server")[:-1]

    def _answered(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report the result of a call, or its error: the agent executed it."""
        told = [] if id_ in self._steps.calls else self._called(id_, name, text)
        self._steps.answer(id_)
        return told + report.closed(self._steps.slot(id_))

    def _listed(
        self, id_: str | None, name: str | None, text: str, result: object, **waits: object
    ) -> list[deltas.Delta]:
        """Report a call of a run that pauses or is over, unless it has ended before."""
        known = self._steps.calls.get(id_, False) or (result is not None and self._steps.is_answered(id_))
        if id_ is not None and known:
            return []
        self._steps.answer(id_)
        slot = self._steps.slot(id_)
        is_external = result is None and waits["external"] is True
        asks = result is None and waits["asks"] is True
        kind: Kind = "function" if is_external else "server"
        flags: tuple[Flag, ...] = ("needs_approval",) if asks else ()
        seen = deltas.CallSeen(0, slot, None, id_, name, kind, flags=flags)
        return [seen, *report.whole_call(slot, id_, name, text, kind)[1:]]

    def _over(self, run: str | None, status: object) -> list[deltas.Delta]:
        """Report why a run ended, unless another run that goes on began it."""
        if not self._open or self._key not in (None, run):
            return []
        ends = {
            "PAUSED": deltas.Finish(0, "tool_calls", "PAUSED"),
            "CANCELLED": deltas.Finish(0, "aborted", "CANCELLED", drops=True),
            "ERROR": deltas.Finish(0, "error", "ERROR", drops=True),
            "COMPLETED": deltas.Finish(0, "stop", "COMPLETED"),
        }
        word = status if isinstance(status, str) else ""
        return [ends.get(word, deltas.Finish(0, "unknown", word)), *self._end()]

    def _failed(self, run: str | None, **error: object) -> list[deltas.Delta]:
        """Report an error, which ends the stream unless it is that of a run within another one."""
        return report.failure(fatal=self._key in (None, run), **error)
