"""Shared parts of both versions of Cohere's chat: whole calls, the end of a message, and errors that are not events."""

from __future__ import annotations

from typing import Any, Final

from wholecall.deltas import Delta, Index
from wholecall.dialects import decode, report
from wholecall.dialects.narrow import PieceTableTranslator
from wholecall.framing.frame import Frame

PLAN: Final = "tool_plan"  # the block of reasoning that holds the plan


class CohereTranslator(PieceTableTranslator):
    """Events of one stream to deltas, for either version."""

    ERRORS = frozenset({"error"})

    def _other(self, event: Any, frame: Frame, kind: str) -> list[Delta]:
        """Return the deltas of an unknown event: Cohere's errors are a bare message (quirk 52)."""
        payload = None if kind in self.QUIET or decode.is_noise(frame) else decode.plain(frame.data)
        bare = isinstance(decode.member(payload, "message"), str)
        return report.error(payload) if bare else super()._other(event, frame, kind)

    def _whole(self, slot: Index, id_: str | None, name: str | None, text: str) -> list[Delta]:
        """Return a call that is sent whole.

        A call without arguments may have been cut before them: the turn's reason decides whether it is over.
        """
        empty = (
            decode.is_blank(text) or text.strip() == "null"
        )  # the values that mean no arguments (quirk 26)
        return report.whole_call(slot, id_, name, text, final=not empty)

    def _over(self, error: object) -> list[Delta]:
        """End a message, unless it failed."""
        return report.error(error) if error else self._end()
