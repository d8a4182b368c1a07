"""The events of the coding agent opencode: of its server (`/event`), and the lines of `opencode run --format json`.

    {"type": "message.updated", "properties": {"info": {"id", "role", "modelID", "error", "finish", …}}}
    {"type": "message.part.updated", "properties": {"part": {…}, "delta"}}
    {"type": "message.part.delta", "properties": {"messageID", "partID", "field": "text", "delta"}}
    {"type": "session.error", "properties": {"sessionID", "error": {"name", "data": {"message"}}}}
    {"type": "session.next.step.started" | …, "properties": {"sessionID", "assistantMessageID", …}}    newer events, see below
    {"type": "step_start" | "text" | "reasoning" | "tool_use" | "step_finish", "timestamp", "sessionID", "part": {…}}
    {"type": "error", "timestamp", "sessionID", "error": {"name", "data": {"message"}}}
    {"info": {…}, "parts": [part]}    a whole message, the answer to a prompt

    a part: {"id", "messageID", "type", …}
        step-start     step-finish  reason, tokens      text  text      reasoning  text
        tool           callID, tool, state: {"status": pending | running | completed | error, "input", …}

The agent executes its calls itself, so each is a server's call. The input of a call that is pending is still to come; a
call is whole when it is running, and over when it is completed or has an error. One with an error and without an input
never ran, and is dropped. A step of a message, between its start and its finish, is a turn; the steps of sub-agents come
between those of the main agent. The user's messages have parts as well. A part's text comes whole, or in pieces that
the whole text repeats; older servers send all of it anew each time.

Newer servers tell a step in events of their own, beside the parts of its message or without them (`/api/event`): with
`session.next.` or only `session.` before their names, and their members in `properties` or in `data`:

    step.started  model         step.ended  finish, tokens    step.failed  error
    text.delta  delta           text.ended  text              reasoning.delta, reasoning.ended
    tool.input.started  callID, name    .delta, .ended        the text of the input, which the next event repeats
    tool.called  callID, tool, input    tool.success, tool.failed  callID    execution.interrupted

The first event of a message decides which of both tell it; the others are left out.

Covers: the events of opencode's server (`/event`, `/api/event`), older and newer ones, the lines of `opencode run
    --format json`, and whole messages: calls that the agent executes, by their states; texts whole or in pieces;
    sub-agents beside the main agent.
Calls: told apart by `callID`; each ends with its state.
Source: anomalyco/opencode, packages/sdk/js/src/v2/gen/types.gen.ts, packages/opencode/src/cli/cmd/run.ts and
    packages/schema/src/session-event.ts (2026).
"""

from __future__ import annotations

from typing import ClassVar

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, labels, report, say
from wholecall.dialects.agents.beside import Beside


def _part(of: str, delta: str) -> say.Row:
    """Return the statements about a part."""
    ids, text = (at.id("messageID"), at.id("id")), (at.value("text"), at.value(delta))
    call = at.id("callID"), at.name("tool"), at.json_text("state.input"), at.value("state.status")
    rows: say.Rows = {
        "step-start": (say.own("_starts", at.id("messageID")),),
        "text": (say.own("_said", *ids, *text),),
        "reasoning": (say.own("_said", *ids, *text, thinks=True),),
        "tool": (say.own("_call", at.id("messageID"), *call),),
        "step-finish": (say.own("_finished", at.id("messageID"), at.value("reason"), at.value("tokens")),),
    }
    quiet = ("file", "agent", "subtask", "snapshot", "patch", "retry", "compaction")
    of_part = say.by(at.text("type"), rows, quiet)
    return (say.each(of, of_part) if of == "parts" else say.given(of, of_part),)


def _info(of: str) -> tuple[at.Value, ...]:
    """Return the values of a message: whose it is, and whether it failed."""
    return at.id(f"{of}id"), at.value(f"{of}role"), at.name(f"{of}modelID"), at.value(f"{of}error")


_RUN = _part("part", "/delta")
_INFO = "properties.info."


def _in(*names: str) -> str:
    """Return the path of the first of these members of a newer event."""
    return "|".join(f"{of}.{name}" for name in names for of in ("properties", "data"))


_STEP = at.id(_in("assistantMessageID", "sessionID"))
_CALL_ID = at.id(_in("callID"))


def _newer_rows() -> say.Rows:
    """Return the statements about newer events."""
    told, place = (
        (at.value(_in("text")), at.value(_in("delta"))),
        at.value(_in("textID", "reasoningID", "ordinal")),
    )
    said = say.own("_new_text", _STEP, place, *told)
    thought = say.own("_new_text", _STEP, place, *told, thinks=True)
    over = say.own("_new_over", _STEP, _CALL_ID)
    rows: say.Rows = {
        "step.started": (say.own("_new_step", _STEP, at.name(_in("model.id"))),),
        "step.ended": (say.own("_new_end", _STEP, at.value(_in("finish")), at.value(_in("tokens"))),),
        "step.failed": (say.own("_new_failure", _STEP, at.value(_in("error"))),),
        "text.delta": (said,),
        "text.ended": (said,),
        "reasoning.delta": (thought,),
        "reasoning.ended": (thought,),
        "tool.input.started": (say.own("_new_call", _STEP, _CALL_ID, at.name(_in("name"))),),
        "tool.called": (
            say.own("_new_call", _STEP, _CALL_ID, at.name(_in("tool")), at.json_text(_in("input"))),
        ),
        "tool.success": (over,),
        "tool.failed": (say.own("_new_over", _STEP, _CALL_ID, failed=True),),
        "execution.interrupted": (say.own("_interrupted"),),
        "execution.failed": (say.own("_interrupted"),),
    }
    return {f"{of}{name}": row for of in _NEWER for name, row in rows.items()}


_NEWER = ("session.next.", "session.")
_NEWER_QUIET = (
    *("agent.switched", "model.switched", "agent.selected", "model.selected", "moved", "renamed", "deleted"),
    *("prompted", "prompt.admitted", "context.updated", "synthetic", "shell.started", "shell.ended"),
    *("retried", "retry.scheduled", "compaction.admitted", "compaction.started", "compaction.delta"),
    *("compaction.ended", "compaction.failed", "revert.staged", "revert.cleared", "revert.committed"),
    *("text.started", "reasoning.started", "tool.input.delta", "tool.input.ended", "tool.progress"),
    *("execution.started", "execution.succeeded", "usage.updated", "forked", "input.promoted"),
    *("input.admitted", "instructions.updated", "skill.activated"),
)


class OpencodeTranslator(compiled.TableTranslator):
    """Events of the sessions of one server, or lines of one run, to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "message.updated": (
            say.own(
                "_told",
                *_info(_INFO),
                *(at.value(f"{_INFO}finish"), at.value(f"{_INFO}time.completed")),
            ),
        ),
        "message.part.updated": _part("properties.part", "/properties.delta"),
        "message.part.delta": (
            say.own(
                "_piece",
                *(at.id("properties.messageID"), at.id("properties.partID")),
                *(at.value("properties.field"), at.value("properties.delta")),
            ),
        ),
        "session.error": (say.own("_failed", at.value("properties.error|data.error")),),
        **_newer_rows(),
        **dict.fromkeys(("step_start", "text", "reasoning", "tool_use", "step_finish"), _RUN),
        "error": (say.own("_failed", at.value("error")),),
    }
    BODIES: ClassVar[say.Rows] = {
        "parts": (say.own("_told", *_info("info.")), *_part("parts", "/delta")),
    }
    FAILURES = frozenset({"error"})
    QUIET = frozenset(
        {
            *("server.connected", "server.heartbeat", "session.created", "session.updated"),
            *("session.deleted", "session.status", "session.idle", "session.diff", "session.compacted"),
            *("message.removed", "message.part.removed", "permission.asked", "permission.updated"),
            *("permission.replied", "todo.updated", "file.edited", "file.watcher.updated", "lsp.updated"),
            *("lsp.client.diagnostics", "vcs.branch.updated", "command.executed", "project.updated"),
            *("permission.v2.asked", "permission.v2.replied"),
            *(f"{of}{name}" for of in _NEWER for name in _NEWER_QUIET),
        }
    )

    _turns: Beside
    _steps: dict[str | None, Step]
    _asked: set[str | None]
    _over: set[str | None]
    _newer: dict[str | None, bool]

    def __init__(self) -> None:
        super().__init__()
        self._turns = Beside()
        self._steps = {}  # open ones, by their messages
        self._asked = set()  # messages of the user
        self._over = set()  # messages of the agent that are over
        self._newer = {}  # whether newer events tell a message, by its id

    # Messages and their steps

    def _told(
        self,
        id_: str | None,
        role: object,
        model: str | None,
        error: object,
        finish: object = None,
        done: object = None,
    ) -> list[deltas.Delta]:
        """Note whose message it is, which its first step needs; or report that it failed."""
        if role != "assistant":
            self._asked.add(id_)
            return []
        if not error:
            new = id_ not in self._steps and id_ not in self._over and finish is done is None
            return self._on(id_, model) if new else []
        step = self._steps.pop(id_, None)
        if step is None:
            return []  # the session's error says it as well
        self._over.add(id_)
        end = deltas.Finish(0, "error", labels.text_label(decode.member(error, "name")), drops=True)
        return [*self._turns.switch(step.key), end, *self._turns.end(step.key)]

    def _on(self, message: str | None, model: str | None = None) -> list[deltas.Delta]:
        """Make the step of a message the current one, or begin it."""
        step = self._steps.get(message)
        if step is not None:
            return self._turns.switch(step.key)
        key, opened = self._turns.begin(message, model)
        self._steps[message] = Step(key)
        return opened

    def _is_told(self, message: str | None, *, newer: bool = False) -> bool:
        """Return whether the events of this form tell a message: those of the form that tells it first."""
        return self._newer.setdefault(message, newer) is newer

    def _starts(self, message: str | None) -> list[deltas.Delta]:
        return self._on(message) if self._is_told(message) else []

    def _finished(
        self, message: str | None, reason: object, tokens: object, *, newer: bool = False
    ) -> list[deltas.Delta]:
        if not self._is_told(message, newer=newer):
            return []
        told = [*self._on(message), *report.usage(tokens)]
        told += report.finish(reason, drops_at="error") or [deltas.Finish(0, "unknown", None)]
        self._over.add(message)
        return told + self._turns.end(self._steps.pop(message).key)

    def _failed(self, error: object) -> list[deltas.Delta]:
        said = labels.text_label(decode.member(error, "data", "message"))
        return report.failure(fatal=False, type=labels.text_label(decode.member(error, "name")), message=said)

    # Parts

    def _said(
        self, message: str | None, id_: str | None, text: object, delta: object, *, thinks: bool = False
    ) -> list[deltas.Delta]:
        """Report the part of a text that is new."""
        late = message in self._over and message not in self._steps
        if message in self._asked or late or not self._is_told(message):
            return []
        told = self._on(message)
        part = self._steps[message].parts.setdefault(id_, Part(thinks=thinks))
        said = delta if isinstance(delta, str) else text[part.size :] if isinstance(text, str) else ""
        return told + part.report(said, id_)

    def _piece(
        self, message: str | None, id_: str | None, field: object, delta: object
    ) -> list[deltas.Delta]:
        """Report a piece of a part's text; its kind is that of the part, which was sent before."""
        step = self._steps.get(message)
        part = None if step is None else step.parts.get(id_)
        if step is None or part is None or field != "text" or not isinstance(delta, str):
            return []
        return [*self._turns.switch(step.key), *part.report(delta, id_)]

    def _call(
        self, message: str | None, id_: str | None, name: str | None, text: str, status: object
    ) -> list[deltas.Delta]:
        """Report a state of a call; its id is its slot."""
        if (message in self._over and message not in self._steps) or not self._is_told(message):
            return []  # a call's state after its turn
        told = [*self._on(message), deltas.CallSeen(0, id_, None, id_, name, "server")]
        over = status in ("completed", "error")
        ran = status == "running" or id_ in self._steps[message].ran
        if status == "error" and not ran and decode.is_blank(text):
            return [*told, deltas.CallRefused(0, id_, None, "aborted", "the call has an error, and no input")]
        if text and status != "pending":
            self._steps[message].ran.add(id_)
            told.append(
                deltas.CallWhole(
                    0, id_, None, id_, None, text, deltas.ITEM_DONE if over else deltas.OBJECT, "server"
                )
            )
        return told + report.closed(id_) if over else told

    # Newer events

    def _new_step(self, message: str | None, model: str | None) -> list[deltas.Delta]:
        return self._on(message, model) if self._is_told(message, newer=True) else []

    def _new_end(self, message: str | None, reason: object, tokens: object) -> list[deltas.Delta]:
        return self._finished(message, reason, tokens, newer=True) if message in self._steps else []

    def _new_failure(self, message: str | None, error: object) -> list[deltas.Delta]:
        """Report an error, and that it ended the step."""
        fault = report.error(error, fatal=False)
        step = self._steps.pop(message, None)
        if step is None:
            return fault
        self._over.add(message)
        end = deltas.Finish(0, "error", labels.text_label(decode.member(error, "type")), drops=True)
        return [*fault, *self._turns.switch(step.key), end, *self._turns.end(step.key)]

    def _interrupted(self) -> list[deltas.Delta]:
        """Report that all open steps are taken back."""
        told: list[deltas.Delta] = []
        for message, step in self._steps.items():
            self._over.add(message)
            end = deltas.Finish(0, "aborted", "interrupted", drops=True)
            told += [*self._turns.switch(step.key), end, *self._turns.end(step.key)]
        self._steps = {}
        return told

    def _new_text(
        self, message: str | None, place: object, text: object, delta: object, *, thinks: bool = False
    ) -> list[deltas.Delta]:
        """Report the part of a text that is new."""
        late = message in self._over and message not in self._steps
        if late or not self._is_told(message, newer=True):
            return []
        told, key = self._on(message), f"{'thought' if thinks else 'text'} {place}"
        part = self._steps[message].parts.setdefault(key, Part(thinks=thinks))
        said = delta if isinstance(delta, str) else text[part.size :] if isinstance(text, str) else ""
        return told + part.report(said, key)

    def _new_call(
        self, message: str | None, id_: str | None, name: str | None, text: str = ""
    ) -> list[deltas.Delta]:
        """Report the start of a call, or all of it."""
        late = message in self._over and message not in self._steps
        if late or not self._is_told(message, newer=True):
            return []
        told = [*self._on(message), deltas.CallSeen(0, id_, None, id_, name, "server")]
        if text:
            self._steps[message].ran.add(id_)
            told.append(deltas.CallWhole(0, id_, None, id_, None, text, deltas.OBJECT, "server"))
        return told

    def _new_over(self, message: str | None, id_: str | None, *, failed: bool = False) -> list[deltas.Delta]:
        """Report that a call is over; one that failed before it was called never ran."""
        step = self._steps.get(message)
        if step is None or not self._is_told(message, newer=True):
            return []
        told = self._turns.switch(step.key)
        if failed and id_ not in step.ran:
            return [*told, deltas.CallRefused(0, id_, None, "aborted", "the call failed before it ran")]
        return told + report.closed(id_)


class Part:
    """A text of a message: its kind, and the number of characters so far."""

    thinks: bool
    size: int

    def __init__(self, *, thinks: bool) -> None:
        self.thinks = thinks
        self.size = 0

    def report(self, said: str, id: str | None) -> list[deltas.Delta]:
        """Return the deltas of more text."""
        self.size += len(said)
        return report.thought(said, id) if self.thinks else report.text(said)


class Step:
    """A step of a message: the key of its turn, its texts, and its calls whose input was whole."""

    key: str
    parts: dict[str | None, Part]
    ran: set[str | None]

    def __init__(self, key: str) -> None:
        self.key = key
        self.parts = {}
        self.ran = set()
