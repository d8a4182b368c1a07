"""Shared parts of both versions of Cohere's chat: calls, the end of a message, and errors that are not events."""

from __future__ import annotations

from typing import Any, Final, Union

from wholecall.deltas import Delta, Index
from wholecall.dialects import report
from wholecall.dialects.decode import is_blank, is_noise, member, plain
from wholecall.dialects.labels import id_label
from wholecall.dialects.openai.chat_calls import name_of
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.pieces import PieceTranslator
from wholecall.framing.frame import Frame

__all__ = ["PLAN", "CohereTranslator", "calls_in", "piece"]

Calls = Union[list[ToolCallView], ToolCallView, None]

PLAN: Final = "tool_plan"  # the block of reasoning that holds the plan


class CohereTranslator(PieceTranslator):
    """Events of one stream to deltas, for either version."""

    ERRORS = frozenset({"error"})

    def _other(self, event: Any, frame: Frame, kind: str) -> list[Delta]:
        """Return the deltas of an unknown event: Cohere's errors are a bare message (quirk 52)."""
        payload = None if kind in self.QUIET or is_noise(frame) else plain(frame.data)
        bare = isinstance(member(payload, "message"), str)
        return report.error(payload) if bare else super()._other(event, frame, kind)

    def _listed(self, calls: Calls) -> list[Delta]:
        """Return calls that are sent whole; their position is their slot."""
        return [delta for slot, call in enumerate(calls_in(calls)) for delta in self._whole(slot, call)]

    def _whole(self, slot: Index, call: ToolCallView) -> list[Delta]:
        """Return a call that is sent whole.

        A call without arguments may have been cut before them: the turn's reason decides whether it is over.
        """
        text, _ = argument_text(call.function, call)
        empty = is_blank(text) or text.strip() == "null"  # the values that mean no arguments (quirk 26)
        return report.whole_call(slot, id_label(call.id), name_of(call), text, final=not empty)

    def _over(self, usage: Any, reason: object, error: object = None) -> list[Delta]:
        """Return the end of a message: a failure takes back the calls that it leaves open."""
        deltas = report.usage(usage) + report.finish(reason, drops_at="error")
        return deltas + (report.error(error) if error else self._end())


def calls_in(calls: Calls) -> list[ToolCallView]:
    """Return the calls of a message: in a stream it has one at a time, and no list."""
    return [calls] if isinstance(calls, ToolCallView) else calls or []


def piece(slot: Index | None, call: ToolCallView) -> list[Delta]:
    """Return the argument piece of a call."""
    text, whole = argument_text(call.function, call)
    return report.piece(slot, text, whole=whole)
