"""The speech of a Responses stream, text and reasoning: items with one part each, which is sent in pieces."""

from __future__ import annotations

from typing import Any, Final

import msgspec

__all__ = ["MESSAGE", "REASONING", "Speech", "SpeechKind"]


class SpeechKind(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two kinds of speech.

    Attributes:
        type: of the item.
        parts: the item's field that holds its parts.
        part: a part, without its text.
        event, part_event: the names of the events of its text and of its part, without the verb.
        labels: further members of the item.
        place: the place of its part in the item.
        more: further members of the events of the text.
    """

    type: str
    parts: str
    part: dict[str, Any]
    event: str
    part_event: str
    place: dict[str, int]
    labels: dict[str, Any] = {}
    more: dict[str, Any] = {}


MESSAGE: Final = SpeechKind(
    type="message",
    parts="content",
    part={"type": "output_text", "annotations": [], "logprobs": []},
    event="response.output_text",
    part_event="response.content_part",
    place={"content_index": 0},
    labels={"role": "assistant"},
    more={"logprobs": []},
)
REASONING: Final = SpeechKind(
    type="reasoning",
    parts="summary",
    part={"type": "summary_text"},
    event="response.reasoning_summary_text",
    part_event="response.reasoning_summary_part",
    place={"summary_index": 0},
)


class Speech:
    """An open item: its place, and its text so far."""

    def __init__(self, kind: SpeechKind, index: int) -> None:
        self.kind = kind
        self.index = index
        self.texts: list[str] = []
        self._id = f"{kind.type}_{index}"

    @property
    def text(self) -> str:
        """All of the text so far."""
        return "".join(self.texts)

    @property
    def place(self) -> dict[str, Any]:
        """The place of the part."""
        return {"item_id": self._id, "output_index": self.index, **self.kind.place}

    def item(self, status: str, text: str | None = None) -> dict[str, Any]:
        """Return the item, with the text if that is given."""
        kind = self.kind
        parts = [] if text is None else [{**kind.part, "text": text}]
        return {"type": kind.type, "id": self._id, "status": status, kind.parts: parts, **kind.labels}
