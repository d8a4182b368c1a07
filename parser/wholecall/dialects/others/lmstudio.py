"""LM Studio's own chat (`POST /api/v1/chat`): named events, each with its type, and whole answers.

    {"type": "chat.start", "model_instance_id"}    model_load.start|progress|end, prompt_processing.start|progress|end
    {"type": "reasoning.start"}    {"type": "reasoning.delta", "content"}    {"type": "reasoning.end"}
    {"type": "message.start"}      {"type": "message.delta", "content"}      {"type": "message.end"}
    {"type": "tool_call.start", "tool", "provider_info"}    {"type": "tool_call.name", "tool_name"}
    {"type": "tool_call.arguments", "tool", "arguments": {…}, "provider_info"}
    {"type": "tool_call.success", "tool", "arguments", "output", "provider_info"}    once `tool_call.result`
    {"type": "tool_call.failure", "reason", "metadata": {"type": "invalid_name" | "invalid_arguments", "tool_name"}}
    {"type": "error", "error": {"type", "message"}}
    {"type": "chat.end", "result": {"model_instance_id", "output": [item], "stats", "response_id"}}

    an item: reasoning and message with `content`, tool_call with `tool`, `arguments` and `output`,
             invalid_tool_call with `reason` and `metadata`

LM Studio executes the calls itself, by plugins and MCP servers, so each is a server's; the client has no tools on this
wire. A call has no id: its arguments and its result belong to the first call of its name that has none yet. It comes
whole, and ends with its success; one that could not be executed, or got no arguments, is dropped. After an error the
last event still comes, with what there is, and takes back the calls without a result. No event says why an answer
ended. The last event repeats the whole answer, which is also the body where nothing streams.

Covers: LM Studio's own chat (`/api/v1/chat`), streamed and whole: calls that LM Studio executes itself (plugins and MCP
    servers). Its compatible addresses are `chat-completions`, `responses` and `anthropic`.
Calls: told apart by order and name; each ends with `tool_call.success`.
Source: lmstudio-ai/docs, 1_developer/_2_rest/streaming-events.md and chat.md, and "Streaming events"
    (lmstudio.ai/docs/developer/rest/streaming-events, 2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.types import DropReason

_CALL = at.name("tool"), at.json_text("arguments"), at.value("provider_info")
_FAILED = (
    *(at.name("metadata.tool_name"), at.json_text("metadata.arguments")),
    *(at.text("metadata.type"), at.text("reason")),
)
_ITEMS: say.Rows = {
    "reasoning": (say.own("_begins_thought"), say.own("_thought", at.value("content"))),
    "message": (say.own("_begins_text"), say.text("content")),
    "tool_call": (say.own("_done_with", *_CALL),),
    "invalid_tool_call": (say.own("_refused", *_FAILED),),
}


class _Call(msgspec.Struct):
    slot: int
    name: Union[str, None]
    filled: bool = False


class LMStudioTranslator(compiled.TableTranslator):
    """Events of one answer to deltas; calls without a result are kept in their order."""

    ROWS: ClassVar[say.Rows] = {
        "chat.start": (say.begin(model="model_instance_id"),),
        "reasoning.start": (say.opened(), say.own("_begins_thought")),
        "reasoning.delta": (say.opened(), say.own("_thought", at.value("content"))),
        "message.start": (say.opened(), say.own("_begins_text")),
        "message.delta": (say.opened(), say.text("content")),
        "tool_call.start": (say.opened(), say.own("_begun", at.name("tool"), at.value("provider_info"))),
        "tool_call.name": (say.opened(), say.own("_named", at.name("tool_name|tool"))),
        "tool_call.arguments": (say.opened(), say.own("_filled", *_CALL)),
        **dict.fromkeys(
            ("tool_call.success", "tool_call.result"), (say.opened(), say.own("_done_with", *_CALL))
        ),
        "tool_call.failure": (say.opened(), say.own("_refused", *_FAILED)),
        "error": (say.own(report.error, at.value("error"), fatal=False), say.do("_fails")),
        "chat.end": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.usage("result.stats"),
            say.own("_over"),
            say.end(),
        ),
    }
    BODIES: ClassVar[say.Rows] = {
        "output": (
            say.begin("response_id", "model_instance_id"),
            say.each(
                "output", say.by(at.text("type"), _ITEMS), text="content"
            ),  # a text is the output of a call
            say.usage("stats"),
            say.end(),
        ),
    }
    FAILURES = frozenset({"error"})
    QUIET = frozenset(
        {
            *("model_load.start", "model_load.progress", "model_load.end"),
            *("prompt_processing.start", "prompt_processing.progress", "prompt_processing.end"),
            *("reasoning.end", "message.end"),
        }
    )
    AGAIN = ('chat.end"',)

    _calls: list[_Call]
    _n_calls: int
    _n_thoughts: int
    _failed: bool

    def _clear(self) -> None:
        self._calls = []  # without a result
        self._n_calls = self._n_thoughts = 0
        self._failed = False

    def _fails(self) -> None:
        self._failed = True

    def _begins_text(self) -> list[deltas.Delta]:
        return [deltas.TextBegan(0)]

    def _begins_thought(self) -> list[deltas.Delta]:
        self._n_thoughts += 1
        return []

    def _thought(self, text: object) -> list[deltas.Delta]:
        return report.thought(text, self._n_thoughts)

    # Calls

    def _begun(self, name: str | None, provider: Any) -> list[deltas.Delta]:
        """Report the start of a call; its number is its slot."""
        slot, self._n_calls = self._n_calls, self._n_calls + 1
        self._calls.append(_Call(slot, name))
        extra = report.extra(provider_info=provider)
        return [deltas.CallSeen(0, slot, None, None, name, "server", extra=extra)]

    def _named(self, name: str | None) -> list[deltas.Delta]:
        """Report the name of the last call, or of one whose start was lost."""
        last = self._calls[-1] if self._calls else None
        if last is None or last.name not in (None, name):
            return self._begun(name, None)
        last.name = name
        return report.seen(last.slot, None, name, "server")

    def _first(self, name: str | None, *, filled: bool | None = None) -> _Call | None:
        """Return the first call of a name, or without one, that has arguments or none."""
        fitting = (one for one in self._calls if one.name in (None, name) and filled in (None, one.filled))
        return next(fitting, None)

    def _filled(self, name: str | None, text: str, provider: Any) -> list[deltas.Delta]:
        """Report the arguments of the first call of this name that has none."""
        call = self._first(name, filled=False)
        told = [] if call else self._begun(name, provider)
        call = call or self._calls[-1]
        call.name, call.filled = name, True
        return [*told, deltas.CallWhole(0, call.slot, None, None, name, text, deltas.OBJECT, "server")]

    def _done_with(self, name: str | None, text: str, provider: Any) -> list[deltas.Delta]:
        """Report that a call was executed, with its arguments."""
        call = self._first(name)
        told = [] if call else self._begun(name, provider)
        call = call or self._calls[-1]
        self._calls.remove(call)
        return [*told, *report.whole_call(call.slot, None, name, text, "server")]

    def _refused(
        self, name: str | None, text: str, kind: str | None, reason: str | None
    ) -> list[deltas.Delta]:
        """Report that a call could not be executed."""
        call = self._first(name)
        told = [] if call else self._begun(name, None)
        call = call or self._calls[-1]
        self._calls.remove(call)
        why: DropReason = "unknown_tool" if kind == "invalid_name" else "unparseable"
        detail = reason or "the server could not execute the call"
        return [*told, deltas.CallRefused(0, call.slot, None, why, detail, text)]

    def _over(self) -> list[deltas.Delta]:
        """Report that the answer failed, or which of its calls got no arguments."""
        if self._failed:
            return [deltas.Finish(0, "error", None, drops=True)]
        detail = "the answer ended before the arguments of the call"
        return [
            deltas.CallRefused(0, call.slot, None, "unterminated", detail)
            for call in self._calls
            if not call.filled
        ]
