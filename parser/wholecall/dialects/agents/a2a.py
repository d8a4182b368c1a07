"""A2A, the Agent2Agent protocol: the answers of one agent to another, as JSON-RPC in server-sent events. It holds no
calls.

    {"jsonrpc": "2.0", "id", "result": {"kind": "task", "id", "status": STATUS, "artifacts"?: [ARTIFACT]}}
    {"jsonrpc": "2.0", "id", "result": {"kind": "status-update", "taskId", "status": STATUS, "final"}}
    {"jsonrpc": "2.0", "id", "result": {"kind": "artifact-update", "taskId", "artifact": ARTIFACT, "append"?}}
    {"jsonrpc": "2.0", "id", "result": {"kind": "message", "role", "parts": [{"kind": "text", "text"}]}}
    {"jsonrpc": "2.0", "id", "error": {"code", "message"}}

    STATUS is {"state", "message"?}; ARTIFACT is {"artifactId", "parts"}

In version 1.0 the result has one member instead of a kind: `task`, `statusUpdate`, `artifactUpdate` or `message`, and
states are spelt `TASK_STATE_COMPLETED`. The agent executes its tools itself. The data that it sends is data, even if it
looks like a call. Messages and artifacts are text; those of a task are reported once, though the task lists them again.
A turn is a task up to a state that ends or interrupts it, or a message without a task. The error of a failed task is a
fault.

The client's messages are not read: a log may hold both directions. Source: A2A Protocol Specification, versions 0.3 and
1.0, "Streaming".

Covers: the Agent2Agent protocol, versions 0.3 and 1.0, JSON-RPC over SSE: messages and artifacts as text, the state
    in which a task ends. No call is ever emitted: an agent executes its calls itself, and its data is data.
Calls: none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Union

import msgspec

from wholecall.deltas import Delta, Finish
from wholecall.dialects import labels, report, translator
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

_MOST_ARTIFACTS = 4096  # artifacts of a task that are remembered, for when it lists them again
_OVER: Mapping[str, TurnReason] = {
    "completed": "stop",
    **dict.fromkeys(("input_required", "auth_required"), "pause"),
    **dict.fromkeys(("failed", "rejected"), "error"),
    **dict.fromkeys(("canceled", "cancelled"), "aborted"),
}


class _Part(msgspec.Struct, gc=False):
    kind: Any = None
    type: Any = None
    text: Any = None


class _Said(msgspec.Struct, gc=False, rename="camel"):
    """A message, or an artifact."""

    role: Any = None
    task_id: Any = None
    artifact_id: Any = None
    parts: Union[list[_Part], None] = None


class _Status(msgspec.Struct, gc=False):
    state: Any = None
    message: Union[_Said, None] = None


class _Result(_Said, gc=False, rename="camel"):
    """A task, an update of one, or a message, under its kind or in a member of that name."""

    kind: Any = None
    id: Any = None
    status: Union[_Status, None] = None
    final: Any = None
    artifact: Union[_Said, None] = None
    artifacts: Union[list[_Said], None] = None
    task: Union[_Result, None] = None
    message: Union[_Result, None] = None
    status_update: Union[_Result, None] = None
    artifact_update: Union[_Result, None] = None

    def told(self) -> tuple[object, _Result]:
        """Return the kind of this result, and the object that holds it."""
        members = {
            "task": self.task,
            "message": self.message,
            "status-update": self.status_update,
            "artifact-update": self.artifact_update,
        }
        return next(((kind, one) for kind, one in members.items() if one is not None), (self.kind, self))


class _View(translator.EventView, gc=False):
    jsonrpc: Any = None
    result: Union[_Result, None] = None


class A2aTranslator(translator.TurnTranslator):
    """Answers of one stream to deltas."""

    decoder = msgspec.json.Decoder(_View)

    _shown: set[str]

    def takes_silently(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return True: there are no calls, and anything that looks like a call is data."""
        return True

    def _clear(self) -> None:
        self._shown = set()  # the ids of the artifacts that were reported

    def _other(self, view: _View, frame: Frame, kind: str) -> list[Delta]:
        if view.result is None:
            return [] if view.jsonrpc is not None else super()._other(view, frame, kind)
        what, result = view.result.told()
        known = self.RESULTS.get(what) if type(what) is str else None
        return [] if known is None else known(self, result)

    def _task(self, result: _Result) -> list[Delta]:
        deltas = self._opened(labels.id_label(result.id), repeats=_is_over(result))
        if not self._open:
            return deltas
        for artifact in result.artifacts or ():
            deltas += [] if labels.id_label(artifact.artifact_id) in self._shown else self._show(artifact)
        return deltas + self._state(result)

    def _status(self, result: _Result) -> list[Delta]:
        deltas = self._opened(labels.id_label(result.task_id), repeats=_is_over(result))
        return deltas + self._state(result) if self._open else deltas

    def _artifact(self, result: _Result) -> list[Delta]:
        return self._opened(labels.id_label(result.task_id)) + self._show(result.artifact or _Said())

    def _message(self, result: _Result) -> list[Delta]:
        began = self._opened(labels.id_label(result.task_id))
        said = report.text(_text(result))
        return [*began, *said, Finish(0, "stop", None), *self._end()] if began else said

    def _show(self, artifact: _Said) -> list[Delta]:
        id_ = labels.id_label(artifact.artifact_id)
        if id_ is not None and len(self._shown) < _MOST_ARTIFACTS:
            self._shown.add(id_)
        return report.text(_text(artifact))

    def _state(self, result: _Result) -> list[Delta]:
        """Return the content of the status of the open turn's task, and the end of the turn."""
        status = result.status or _Status()
        said, state = _text(status.message or _Said()), labels.text_label(status.state)
        reason = _OVER.get(_word(state)) or ("unknown" if result.final is True else None)
        failed = report.error({"message": said or state}, fatal=False) if reason == "error" else []
        deltas = failed or report.text(said)
        return deltas if reason is None else [*deltas, Finish(0, reason, state), *self._end()]

    RESULTS: ClassVar[Mapping[str, Callable[[Any, _Result], list[Delta]]]] = {
        "task": _task,
        "status-update": _status,
        "artifact-update": _artifact,
        "message": _message,
    }


def _word(state: str | None) -> str:
    """Return a state in one spelling for both versions."""
    return (state or "").lower().replace("-", "_").removeprefix("task_state_")


def _is_over(result: _Result) -> bool:
    return result.status is not None and _word(labels.text_label(result.status.state)) in _OVER


def _text(said: _Said) -> str:
    """Return the agent's text; files and data are not text, and the user's text is not an answer."""
    if type(said.role) is str and said.role.lower().endswith("user"):
        return ""
    texts = (part.text for part in said.parts or () if (part.kind or part.type or "text") == "text")
    return "".join(text for text in texts if type(text) is str)
