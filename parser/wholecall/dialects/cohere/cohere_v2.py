"""Cohere chat, version 2 (`POST /v2/chat`, `stream: true`); the event's name repeats `type`.

    message-start      id, delta{message{role, …}}
    tool-plan-delta    delta{message{tool_plan}}
    tool-call-start    index, delta{message{tool_calls: {id, type, function{name, arguments: ""}}}}
    tool-call-delta    index, delta{message{tool_calls: {function{arguments}}}}
    tool-call-end      index
    content-start, content-delta, content-end    index, delta{message{content{type, text | thinking}}}
    message-end        delta{finish_reason, usage, error?}

The index is the call's slot. `tool_calls` is one object, with some relays a list of one. A call without arguments has
no delta at all; neither has a call that was cut before its arguments, so `CallClosed` is not final. A start ends
nothing: a call that another one displaces has not ended. The plan is reasoning. Citations are not about calls. A reason
that means failure takes back the calls that are open. A whole body is `{id, finish_reason, message, usage}`.

Covers: version 2 of Cohere's own chat: plans and thinking are reasoning.
Calls: told apart by index; each ends with `tool-call-end`.
Source: Cohere API reference, "Chat with streaming".
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.deltas import Delta, Index
from wholecall.dialects import at, report, say
from wholecall.dialects.cohere.shared import PLAN, CohereTranslator
from wholecall.dialects.hidden_text import Pieces


def _slot(index: Index | None, nth: int) -> Index | None:
    """Return the slot of a call: further calls of one event get their own, though no server sends any yet."""
    return index if nth == 0 else f"{index}.{nth}"


def _start(index: Index | None, nth: int, id_: str | None, name: str | None) -> list[Delta]:
    return report.call_start(_slot(index, nth), id_, name)


def _piece(index: Index | None, nth: int, said: tuple[str, bool]) -> list[Delta]:
    return report.piece(_slot(index, nth), said[0], whole=said[1])


_CALLS = "delta.message.tool_calls|message.tool_calls"
_START = say.own(_start, at.index("/index"), at.POSITION, at.id("id"), at.name(at.CHAT_NAME))
_PIECE = say.own(
    _piece,
    at.index("/index"),
    at.POSITION,
    at.json_value(at.CHAT_ARGUMENTS),
    piece=say.Piece("call", at.CHAT_ARGUMENTS, at.index("/index")),
)
_WHOLE = say.own("_whole", at.POSITION, at.id("id"), at.name(at.CHAT_NAME), at.json_text(at.CHAT_ARGUMENTS))
_SAID = (
    say.thought("delta.message.tool_plan|message.tool_plan", PLAN),
    say.each(
        "delta.message.content|message.content",
        say.thought("thinking", at.first_of(at.index("/index"), at.POSITION)),
        say.text("text"),
        text="text",
        alone=True,
    ),
)
_OVER = (
    say.usage("delta.usage|usage"),
    say.finish("delta.finish_reason|finish_reason", drops_at="error"),
    say.own("_over", at.value("delta.error")),
)


class CohereV2Translator(CohereTranslator):
    """Frames of one stream to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "message-start": (say.begin("id"), *_SAID),
        "tool-plan-delta": _SAID,
        "content-start": _SAID,
        "content-delta": _SAID,
        "tool-call-start": (say.each(_CALLS, _START, _PIECE, alone=True),),
        "tool-call-delta": (say.each(_CALLS, _PIECE, alone=True),),
        "tool-call-end": (say.closed(at.index("index"), final=False),),
        "message-end": _OVER,
    }
    BODIES: ClassVar[say.Rows] = {
        "message": (say.begin("id"), *_SAID, say.each(_CALLS, _WHOLE, alone=True), *_OVER)
    }
    PIECES: ClassVar[Pieces] = {
        '"tool-call-delta"': "|".join(
            f"{calls}.{way}" for calls in _CALLS.split("|") for way in at.CHAT_PIECES
        )
    }
    QUIET = frozenset({"content-end", "citation-start", "citation-end", "debug"})
