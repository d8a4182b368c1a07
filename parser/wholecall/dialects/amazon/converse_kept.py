"""The parts of Converse that go back as they came: results of the provider's tools, texts with citations, and others.

    {"toolResult": {"toolUseId", "type", "status", "content": [{"text"}, {"json"}]}}
    {"citationsContent": {"content": [{"text"}], "citations": [{"title", "location", …}]}}
    {"image": {"format", "source"}}, and parts of unknown kinds

In a stream a result has its labels in the start of its block and its content in pieces, and citations come between the
pieces of the text that they are about. Source: AWS, "Bedrock Runtime API", ContentBlock and ContentBlockDelta.
"""

from __future__ import annotations

from typing import Any

from wholecall.deltas import BlockKept, Delta, Index
from wholecall.dialects.amazon.converse_views import Part
from wholecall.dialects.decode import listed

__all__ = ["KeptParts", "is_other", "is_unknown", "kept_whole"]


def is_other(part: Part) -> bool:
    """Return whether a whole part is more than a call, plain text or a thought."""
    return part.tool_use is None and part.reasoning_content is None and part.text is None


def is_unknown(part: Part) -> bool:
    """Return whether the kind of such a part is unknown."""
    known = (part.citations_content, part.tool_result, part.citation, part.image)
    return is_other(part) and all(one is None for one in known)


def kept_whole(part: Part, wire: Any) -> list[Delta]:
    """Return the kept content of a whole part, as on the wire."""
    if not isinstance(wire, dict) or not wire or not is_other(part):
        return []
    return [BlockKept(0, wire, of_text=part.citations_content is not None)]


class KeptParts:
    """The open blocks of one message that go back as they came."""

    _growing: dict[Index | None, dict[str, Any]]

    def __init__(self) -> None:
        self._growing = {}

    def start(self, index: Index | None, part: Part) -> None:
        """Note the start of a block: only results have one."""
        if isinstance(part.tool_result, dict):
            content = [*listed(part.tool_result.get("content"))]
            self._growing[index] = {"toolResult": {**part.tool_result, "content": content}}

    def grow(self, index: Index | None, part: Part) -> None:
        """Add a piece: of a result's content, or a citation to the text of its block."""
        value = self._growing.get(index)
        if value is None and isinstance(part.citation, dict):
            value = self._growing[index] = {"citationsContent": {"citations": []}}
        if value is None:
            return
        if "citationsContent" in value:
            value["citationsContent"]["citations"] += [] if part.citation is None else [part.citation]
        for piece in listed(part.tool_result) if "toolResult" in value else ():
            _add(value["toolResult"]["content"], piece)

    def stop(self, index: Index | None) -> list[Delta]:
        """Return the kept content of a block that ended."""
        value = self._growing.pop(index, None)
        return [] if value is None else [BlockKept(0, value, of_text="citationsContent" in value)]


def _add(content: list[Any], piece: Any) -> None:
    """Add a piece to the content of a result: text continues where text was last."""
    last = content[-1] if content else None
    if isinstance(piece, dict) and isinstance(last, dict) and piece.keys() == last.keys() == {"text"}:
        content[-1] = {"text": f"{last['text']}{piece['text']}"}
    else:
        content.append(piece)
