r"""Snowflake Cortex's own completions (`/api/v2/cortex/inference:complete`): chunks like chat's, blocks like Claude's.

    data: {"id", "model", "choices": [{"delta": {"content": "Hel", "content_list": [BLOCK]}}], "usage": {}}
    data: {"choices": [{"delta": {"content_list": [{"tool_use_id": "c1", "name": "f"}]}}], "usage": {}}
    data: {"choices": [{"delta": {"content_list": [{"input": "{\"a\""}]}}], "usage": {}}
    data: {"choices": [{"delta": {}}], "usage": {"prompt_tokens", "completion_tokens", "total_tokens"}}
    {"choices": [{"message": {"content", "content_list": [BLOCK]}}], "usage"}    a whole response

    BLOCK is {"type": "text", "text"}, or {"type": "tool_use", "tool_use": {"tool_use_id", "name", "input"}}

A delta may have the members of its block itself (`"type": "tool_use", "tool_use_id", "name", "input"`); the list then only
repeats them. A call begins where its id or its name is, and its pieces have no label, or the same: they belong to the
call that began last. Nothing ends a call (a call without any text may lack it, whatever follows), and there is no finish
reason: the message is over with the counts of its last chunk, which are empty before. Models that count in every chunk
(Mistral's) call no tools, and their streams just end.

Covers: Snowflake Cortex's `inference:complete`, streamed and whole: calls in blocks of a chunk like chat's. Its other
    addresses (`/api/v2/cortex/v1/…`) are `chat-completions` and `anthropic`.
Calls: told apart by order, as each begins with its id; each ends with the counts of the last chunk.
Source: Snowflake documentation, "Cortex LLM REST API", tool calling; langchain-ai/langchain-snowflake,
    chat_models/streaming.py; BerriAI/litellm, llms/snowflake/chat/transformation.py (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.hidden_text import Pieces

_THOUGHT = say.thought(
    "thinking|anthropic.thinking.thinking", signature="signature|anthropic.thinking.signature"
)
_CALL = at.id("tool_use_id"), at.name("name"), at.json_text("input")
_INNER = at.id("tool_use.tool_use_id"), at.name("tool_use.name"), at.json_text("tool_use.input")
_DELTA = (
    say.text("content"),
    say.when(
        *(at.value("type"), (None,)),
        say.each("content_list", _THOUGHT, say.own("_piece", *_CALL)),
        otherwise=(_THOUGHT, say.own("_piece", *_CALL)),
    ),
)
_MESSAGE = (
    say.text("content"),
    say.each(
        "content_list",
        *(_THOUGHT, say.when(at.value("../content"), (None, ""), say.text("text"))),
        *(say.own("_whole", *_CALL), say.given("tool_use", say.own("_whole", *_CALL))),
    ),
)


class SnowflakeCortexTranslator(compiled.TableTranslator):
    """Chunks of one stream to deltas."""

    BODIES: ClassVar[say.Rows] = {
        "choices": (
            say.opened("id", "model"),
            say.each("choices", say.given("delta", *_DELTA), say.given("message", *_MESSAGE)),
            say.usage("usage"),
            say.each("choices", say.finish("finish_reason")),
            say.own("_counted", at.value("usage"), at.value("choices[].message")),
        ),
    }
    PIECES: ClassVar[Pieces] = dict.fromkeys(
        ('"content_list":', '"input":'), "choices.delta.content_list.input|choices.delta.input"
    )
    EVENTLESS = True
    DONE_ENDS = True

    _n_calls: int
    _filled: bool
    _last: tuple[Union[str, None], Union[str, None]]
    _uncounted: bool

    def _clear(self) -> None:
        self._n_calls = 0
        self._last = None, None  # id and name of the last call
        self._filled = False  # a piece of the last call's text came
        self._uncounted = False  # a chunk had no counts: they come at the end

    def _piece(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report the start of a call, or a piece of the one that began last; its number is its slot."""
        begins = id_ is not None or name is not None
        if begins and (id_ is None or (id_, name or self._last[1]) != self._last):
            before = report.closed(self._n_calls, final=False) if self._filled else []
            self._n_calls += 1
            self._filled, self._last = bool(text), (id_, name)
            told = [*before, *report.call_start(self._n_calls, id_, name)]
            return told + report.piece(self._n_calls, text)
        if text and not self._n_calls:
            return report.unknown()
        self._filled = self._filled or bool(text)
        return report.piece(self._n_calls, text)

    def _whole(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call of a whole message."""
        if id_ is None and name is None:
            return []
        self._n_calls += 1
        return report.whole_call(self._n_calls, id_, name, text, final=False)

    def _counted(self, counts: Any, message: object) -> list[deltas.Delta]:
        """Report the end of the message, if this is its last chunk."""
        if message is not None or (counts and self._uncounted):
            return self._end()
        self._uncounted = self._uncounted or counts == {}
        return []
