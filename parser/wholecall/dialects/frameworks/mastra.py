"""The stream of Mastra's agents (`/api/agents/NAME/stream`, `agent.stream().fullStream`): one chunk per event.

    {"type": "start", "runId", "from": "AGENT", "payload": {"id", "messageId"}}
    {"type": "text-delta", …, "payload": {"id", "text"}}    {"type": "reasoning-delta", …, "payload": {"id", "text"}}
    {"type": "tool-call-input-streaming-start", …, "payload": {"toolCallId", "toolName"}}
    {"type": "tool-call-delta", …, "payload": {"toolCallId", "argsTextDelta"}}
    {"type": "tool-call-input-streaming-end", …, "payload": {"toolCallId"}}
    {"type": "tool-call", …, "payload": {"toolCallId", "toolName", "args", "providerExecuted"}}
    {"type": "tool-result" | "tool-error", …, "payload": {"toolCallId", "toolName", "result" | "error"}}
    {"type": "tool-call-approval" | "tool-call-suspended", …, "payload": {"toolCallId", "toolName", "args"}}
    {"type": "step-start" | "step-finish", …}
    {"type": "finish", …, "payload": {"stepResult": {"reason"}, "output": {"usage"}}}    [DONE]
    {"type": "error", …, "payload": {"error"}}    {"type": "abort" | "tripwire", …, "payload": {"reason", "retry"}}
    {"text", "steps": [{"toolCalls": [CHUNK], "toolResults": [CHUNK]}], "finishReason", "totalUsage", "tripwire", …}

A run is one turn of several steps. A step that begins behind calls, before its `step-finish` or a result, is their step
again, as after a lost connection. A call is whole in its `tool-call`, with or without pieces before it, and its `args`
are Mastra's own reading of the pieces, absent where that failed: the client's call without any is dropped. Nothing
tells the client's tools from the server's but the result: a call with one, or with an error, was executed by the
server; one that waits for an approval, or is suspended, will be; any other is the client's, which is known when the run
ends. In the whole run that `/generate` returns, a call without a result that a step follows has failed, and one of a
suspended run waits for an approval. A tripwire blocks the answer, or takes back the step and has it run again. Chunks
of other agents and of workflows come inside of chunks; their calls are theirs.

Covers: the stream of Mastra's agents (`/api/agents/NAME/stream`), and their whole runs (`/generate`): calls that the
    server answered are its own, those that wait for an approval are marked, and others are the client's.
Calls: told apart by `toolCallId`; each ends with its result, or when the run ends.
Source: mastra-ai/mastra, packages/core/src/stream/types.ts (`ChunkType`) and aisdk/v5/transform.ts next to it;
    base/output.ts (`getFullOutput`), which the server's handler of `generate` returns (2026).
"""

from __future__ import annotations

from typing import ClassVar

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.hidden_text import Pieces
from wholecall.types import Flag

_ID, _NAME = at.id("payload.toolCallId"), at.name("payload.toolName")
_OURS = at.value("payload.providerExecuted")
_CALL = _ID, _NAME, at.json_text("payload.args")
_TRIPPED = deltas.Finish(0, "content_filter", "tripwire", drops=True)


def _tripped(retry: object) -> list[deltas.Delta]:
    """Report that a processor blocked the answer, or the step."""
    return [deltas.StepTakenBack(0)] if retry is True else [_TRIPPED]


def _finished(reason: object) -> list[deltas.Delta]:
    return [_TRIPPED] if reason == "tripwire" else report.finish(reason, drops_at="error")


def _aborted() -> list[deltas.Delta]:
    return [deltas.Finish(0, "aborted", "abort", drops=True)]


class MastraTranslator(compiled.TableTranslator):
    """Chunks of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "start": (say.begin("runId"),),
        "step-start": (say.opened("runId"), say.own("_step")),
        "step-finish": (say.do("_step_over"),),
        "text-delta": (say.opened("runId"), say.text("payload.text")),
        "reasoning-delta": (say.opened("runId"), say.thought("payload.text", at.id("payload.id"))),
        "reasoning-signature": (
            say.opened("runId"),
            say.own(report.thought, None, at.id("payload.id"), signature=at.value("payload.signature")),
        ),
        "redacted-reasoning": (
            say.opened("runId"),
            say.own(report.thought, None, at.id("payload.id"), data=at.value("payload.data")),
        ),
        "tool-call-input-streaming-start": (say.opened("runId"), say.own("_begun", _ID, _NAME, _OURS)),
        "tool-call-delta": (
            say.opened("runId"),
            say.own("_piece", _ID, _NAME, at.value("payload.argsTextDelta")),
        ),
        "tool-call-input-streaming-end": (say.stop_unless_open(), say.own("_text_over", _ID)),
        "tool-call": (say.opened("runId"), say.own("_whole", *_CALL, _OURS)),
        **dict.fromkeys(("tool-result", "tool-error"), (say.stop_unless_open(), say.own("_answered", _ID))),
        "tool-call-approval": (
            say.opened("runId"),
            say.own("_servers", *_CALL, flags=("needs_approval",)),
        ),
        "tool-call-suspended": (say.opened("runId"), say.own("_servers", *_CALL)),
        "tripwire": (say.opened("runId"), say.own(_tripped, at.value("payload.retry"))),
        "finish": (
            say.opened("runId", repeats=True),
            say.stop_unless_open(),
            say.usage("payload.output.usage"),
            say.own("_refused"),
            say.own(_finished, at.value("payload.stepResult.reason")),
            say.end(),
        ),
        "abort": (say.stop_unless_open(), say.own(_aborted), say.end()),
        "error": (say.own(report.error, at.value("payload.error")),),
    }
    BODIES: ClassVar[say.Rows] = {
        "steps": (
            say.opened("runId"),
            say.text("text"),
            say.thought("reasoningText"),
            say.each(
                "steps",
                say.own("_follows"),
                say.each("toolCalls", say.own("_whole", *_CALL, _OURS)),
                say.each("toolResults", say.own("_answered", _ID)),
            ),
            say.usage("totalUsage"),
            say.own("_refused"),
            say.own("_finished", at.value("finishReason"), at.value("tripwire")),
            say.end(),
        ),
    }
    PIECES: ClassVar[Pieces] = {'"tool-call-delta"': "payload.argsTextDelta"}
    QUIET = frozenset(
        {
            *("text-start", "text-end", "reasoning-start", "reasoning-end", "source", "file"),
            *("response-metadata", "raw", "object", "object-result", "watch", "is-task-complete"),
            *("tool-output", "step-output", "workflow-step-output"),
        }
    )
    AGAIN = (
        *('step-start"', 'step-finish"', 'finish"', 'raw"', 'tool-output"', 'step-output"', "workflow-"),
        *("agent-execution-", "routing-agent-", "tool-execution-", "network-execution-"),
    )
    DONE_ENDS = True

    _kinds: dict[str | None, bool]
    _filled: set[str | None]
    _unread: set[str | None]
    _waiting: dict[str | None, None]
    _is_over: bool

    def _clear(self) -> None:
        self._kinds = {}  # whether the provider executes a call, by its id
        self._filled = set()  # ids of calls with pieces of text
        self._unread = set()  # ids of calls that are whole, without arguments
        self._waiting = {}  # ids of whole calls without a result
        self._is_over = False  # the step has ended, or a result of one of its calls came

    def _step_over(self) -> None:
        self._is_over = True

    def _step(self) -> list[deltas.Delta]:
        return self._next_step() if self._is_over else []

    def _next_step(self) -> list[deltas.Delta]:
        """Report another step, in which ids may come again."""
        known, self._kinds = self._kinds, {}
        self._is_over = False
        return [deltas.StepBegan(0)] if known else []

    def _follows(self) -> list[deltas.Delta]:
        """Report another step of a whole run: a call before it that has no result has failed."""
        return [*self._by_server(), *self._next_step()]

    def _by_server(self) -> list[deltas.Delta]:
        return [delta for id_ in list(self._waiting) for delta in self._answered(id_)]

    def _finished(self, reason: object, tripwire: object) -> list[deltas.Delta]:
        """Report why a whole run ended; where it is suspended, the server will execute its calls."""
        told = self._by_server() if reason == "suspended" else []
        return [*told, *_finished(reason if tripwire is None else "tripwire")]

    def _begun(self, id_: str | None, name: str | None, ours: object) -> list[deltas.Delta]:
        """Report the start of a call; its id is its slot."""
        self._kinds[id_] = ours is True
        return report.call_start(id_, id_, name, kind="server" if ours is True else "function")

    def _piece(self, id_: str | None, name: str | None, text: object) -> list[deltas.Delta]:
        told = [] if id_ in self._kinds else self._begun(id_, name, None)
        if not isinstance(text, str) or not text:
            return told
        self._filled.add(id_)
        return [*told, *report.piece(id_, text)]

    def _text_over(self, id_: str | None) -> list[deltas.Delta]:
        """Report the end of a call's text."""
        known = id_ in self._kinds
        return [deltas.CallClosed(0, id_, None, waits=True, of_text=True)] if known else []

    def _whole(self, id_: str | None, name: str | None, text: str, ours: object) -> list[deltas.Delta]:
        """Report all of a call, which waits for its result or for the end of the run."""
        server = ours is True or self._kinds.get(id_, False)
        self._kinds[id_] = server
        self._waiting[id_] = None
        *told, _ = report.whole_call(id_, id_, name, text, "server" if server else "function")
        if text or id_ in self._filled:
            return [*told, deltas.CallClosed(0, id_, None, waits=True)]
        self._unread.add(id_)  # without an end, which would make it a call without arguments
        return told

    def _servers(
        self, id_: str | None, name: str | None, text: str, *, flags: tuple[Flag, ...] = ()
    ) -> list[deltas.Delta]:
        """Report a call that the server will execute."""
        told = [] if id_ in self._kinds else self._whole(id_, name, text, True)
        return [*told, deltas.CallSeen(0, id_, None, id_, name, "server", flags=flags)]

    def _answered(self, id_: str | None) -> list[deltas.Delta]:
        """Report the result of a call, or its error: the server executed it."""
        self._step_over()
        self._unread.discard(id_)
        self._waiting.pop(id_, None)
        if id_ not in self._kinds:
            return report.answered(id_)
        return [deltas.CallSeen(0, id_, None, id_, None, "server"), *report.closed(id_)]

    def _refused(self) -> list[deltas.Delta]:
        """Refuse the client's calls without arguments: these are absent where Mastra could not read them, too."""
        detail = "the arguments are absent, as they are where the server could not read them"
        return [
            deltas.CallRefused(0, id_, None, "empty_arguments", detail)
            for id_ in sorted(self._unread, key=str)
            if not self._kinds.get(id_, False)
        ]
