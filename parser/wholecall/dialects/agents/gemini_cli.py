"""The events of Gemini CLI without a terminal (`gemini --output-format stream-json`): one per line.

    {"type": "init", "timestamp", "session_id", "model"}
    {"type": "message", "timestamp", "role": "user" | "assistant", "content", "delta"}
    {"type": "tool_use", "timestamp", "tool_name", "tool_id", "parameters"}
    {"type": "tool_result", "timestamp", "tool_id", "status": "success" | "error", "output", "error"}
    {"type": "error", "timestamp", "severity": "warning" | "error", "message"}
    {"type": "result", "timestamp", "status": "success" | "error", "error": {"type", "message"}, "stats"}

The agent executes its calls itself, so each is a server's call. A call comes whole, and is over when its result comes,
whether or not it failed, or when the run is. The whole run is one turn; one that failed takes back its open calls. The
run outlives the errors before its result.

With `--output-format json` only the answer comes, `{"session_id", "response", "stats"}`, or `error` in its place.

Covers: the lines of `gemini --output-format stream-json`: calls that the agent executes, whole when they are
    announced; runs that fail; the answer alone (`--output-format json`).
Calls: told apart by `tool_id`; each ends with `tool_result`.
Source: google-gemini/gemini-cli, packages/core/src/output/types.ts and packages/cli/src/nonInteractiveCli.ts (2026).
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.deltas import OBJECT, CallSeen, CallWhole, Delta, Finish
from wholecall.dialects import at, compiled, report, say


def _call(id_: str | None, name: str | None, text: str) -> list[Delta]:
    """Report a call that the agent is about to execute; its id is its slot."""
    seen = CallSeen(0, id_, None, id_, name, "server")
    return [seen, CallWhole(0, id_, None, id_, None, text, OBJECT, "server")] if text else [seen]


def _ended(status: object, error: object) -> list[Delta]:
    """Report the end of a run."""
    if status == "error":
        fault = report.error(error, fatal=False) if error else []
        return [*fault, Finish(0, "error", "error", drops=True)]
    return [Finish(0, "stop", status if type(status) is str else None)]


class GeminiCliTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "init": (say.begin("session_id", "model"),),
        "message": (say.when(at.value("role"), ("assistant",), say.opened(), say.text("content")),),
        "tool_use": (
            say.opened(),
            say.own(_call, at.id("tool_id"), at.name("tool_name"), at.json_text("parameters")),
        ),
        "tool_result": (say.stop_unless_open(), say.closed(at.id("tool_id"))),
        "error": (
            say.own(report.failure, fatal=False, message=at.value("message"), type=at.value("severity")),
        ),
        "result": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.usage("stats"),
            say.own(_ended, at.value("status"), at.value("error")),
            say.end(),
        ),
    }
    BODIES: ClassVar[say.Rows] = {
        "response": (
            say.begin("session_id"),
            say.text("response"),
            say.own(_ended, None, None),
            say.end(),
        ),
    }
    FAILURES = frozenset({"tool_result", "result"})
