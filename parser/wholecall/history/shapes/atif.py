"""ATIF, the Agent Trajectory Interchange Format: steps, each with the calls of the agent and their results.

A trajectory is `{"schema_version": "ATIF-v…", "agent", "steps": […]}`. A step of the agent holds `tool_calls`
(`tool_call_id`, `function_name`, `arguments`, an object) and an `observation`, whose `results` name a call of the same
step by `source_call_id`; a result that names none answers none. Steps that were copied from another trajectory for
context (`is_copied_context`) belong to that trajectory. It is a record: none of it is sent again.

Source: the format's request for comments, versions 1.4 to 1.7, in the repository of harbor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wholecall.history.parts import Line, Message, Part, Places, call_at, first_id
from wholecall.history.shapes.base import View, expect_dict
from wholecall.history.shapes.blocks import read_text

_SOURCES = ("system", "user", "agent")
_CALL = Places((("tool_call_id",),), (("function_name",),), (("arguments",),))
_RESULT = Places((("source_call_id",),))
_VERSION = "ATIF-"


def steps_of(trajectory: Message) -> list[Any] | None:
    """Return the steps of a trajectory, followed by those of its subagents; None if it is not a trajectory."""
    steps, version = trajectory.get("steps"), trajectory.get("schema_version")
    if not isinstance(steps, list) or not (isinstance(version, str) and version.startswith(_VERSION)):
        return None
    found: list[Any] = list(steps)
    waiting = _subagents(trajectory)
    while waiting:
        below = waiting.pop(0)
        found += _listed(below.get("steps"))
        waiting = _subagents(below) + waiting
    return found


def _subagents(trajectory: Message) -> list[Message]:
    return [one for one in _listed(trajectory.get("subagent_trajectories")) if isinstance(one, dict)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _read(step: Message) -> Line:
    source = step.get("source")
    if source not in _SOURCES or step.get("is_copied_context") is True:
        return Line("other", [])
    said = [read_text(step, step.get("message"), "message", listed=False)]
    if source != "agent":
        return Line("user", said)
    thinks = [Part("thinking", step, "reasoning_content")] if step.get("reasoning_content") else []
    return Line("model", [*thinks, *said, *_calls(step), *_results(step)])


def _calls(step: Message) -> Iterator[Part]:
    for value in _listed(step.get("tool_calls")):
        block = expect_dict(value, "a tool call")
        yield call_at(block, "tool_calls", _CALL)


def _results(step: Message) -> Iterator[Part]:
    observation = step.get("observation")
    for value in _listed(observation.get("results")) if isinstance(observation, dict) else []:
        block = expect_dict(value, "a result")
        id = first_id(block, _RESULT.id)
        yield Part("result" if id else "other", block, "observation", places=_RESULT, id=id)


def _is_own(step: Message) -> bool:
    return step.get("source") in _SOURCES and "step_id" in step


ATIF = View(name="atif", read=_read, is_own=_is_own)
