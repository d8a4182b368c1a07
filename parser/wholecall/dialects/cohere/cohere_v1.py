"""Cohere chat, version 1 (`POST /v1/chat`, `stream: true`): JSON lines, or server-sent events.

    stream-start           generation_id
    text-generation        text
    tool-calls-chunk       text?, tool_call_delta?{index, name?, parameters? (a piece of text), text?}
    tool-calls-generation  text?, tool_calls[{name, parameters: OBJECT}]
    stream-end             finish_reason, response{text, tool_calls?, finish_reason, meta, …}

`event_type` names the event. Calls have no ids. They stream as text under their index, and are repeated as objects, in
the same order, which ends them: the object is the last word. The last event repeats the whole response; only its new
content counts. The text of a plan is reasoning. Searches and citations are not about calls. A whole body is the
`response` alone.

Covers: version 1 of Cohere's own chat: plans are reasoning, and calls that it repeats stay one.
Calls: told apart by index; each ends with `tool-calls-generation`.
Source: Cohere API reference, "Chat (v1) with streaming".
"""

from __future__ import annotations

from typing import Any, ClassVar

from wholecall.deltas import CallRefused, Delta, Index, Piecewise
from wholecall.dialects import at, decode, labels, pieces, report, say
from wholecall.dialects.cohere.shared import PLAN, CohereTranslator


def _usage(meta: object) -> list[Delta]:
    return report.usage(
        {name: count for name in ("billed_units", "tokens") if (count := decode.member(meta, name))}
    )


_CHUNK = say.own(
    "_chunk",
    at.index("index"),
    at.id("id"),
    at.name(at.CHAT_NAME),
    at.json_value(at.CHAT_ARGUMENTS),
    piece=say.Piece("call", "parameters", at.index("index")),
)
_WHOLE = say.own("_whole", at.POSITION, at.id("id"), at.name(at.CHAT_NAME), at.json_text(at.CHAT_ARGUMENTS))
_PLAN = say.thought("text", PLAN, "_plan")
_LAST = (
    say.own("_unsaid", at.value("response.text|text")),
    say.each("response.tool_calls|tool_calls", _WHOLE),
    say.own(_usage, at.value("response.meta|meta")),
    say.finish("finish_reason|response.finish_reason", drops_at="error"),
    say.end(),
)


class CohereV1Translator(CohereTranslator):
    """Frames of one stream to deltas; it remembers the text, because the end repeats it."""

    ROWS: ClassVar[say.Rows] = {
        "stream-start": (say.begin("generation_id"),),
        "text-generation": (say.text("text", report="_text"),),
        "tool-calls-chunk": (_PLAN, say.given("tool_call_delta", _PLAN, _CHUNK)),
        "tool-calls-generation": (say.own("_unplanned", at.value("text")), say.each("tool_calls", _WHOLE)),
        "stream-end": _LAST,
    }
    BODIES: ClassVar[say.Rows] = {"generation_id": (say.begin("generation_id"), *_LAST)}
    KINDS = ("event_type", "type")
    QUIET = frozenset({"search-queries-generation", "search-results", "citation-generation", "debug"})

    _spoken: bool
    _planned: bool
    _names: dict[Index, str]

    def in_common(self, key: pieces.Key) -> Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        self._spoken = self._spoken or key[0] == "text"
        self._planned = self._planned or key[0] == "thought"
        return super().in_common(key)

    def _clear(self) -> None:
        self._spoken = self._planned = False
        self._names = {}  # of the calls that came in chunks, by slot

    def _is_body(self, view: Any, _kind: str) -> bool:
        return labels.text_label(view.event_type) is None

    def _text(self, value: object) -> list[Delta]:
        said = report.text(value)
        self._spoken = self._spoken or bool(said)
        return said

    def _plan(self, value: object, block: str) -> list[Delta]:
        plans = report.thought(value, block)
        self._planned = self._planned or bool(plans)
        return plans

    def _unplanned(self, value: object) -> list[Delta]:
        """Report a plan that did not come in chunks."""
        return [] if self._planned else self._plan(value, PLAN)

    def _unsaid(self, value: object) -> list[Delta]:
        """Report the text of an answer that did not come in pieces."""
        return [] if self._spoken or self._planned else self._text(value)

    def _chunk(
        self, index: Index | None, id_: str | None, name: str | None, said: tuple[str, bool]
    ) -> list[Delta]:
        """Report a chunk of a call; without an index a name opens the next one."""
        slot = max(len(self._names) - (name is None), 0) if index is None else index
        if name is not None:
            self._names.setdefault(slot, name)
        return report.seen(slot, id_, name) + report.piece(slot, said[0], whole=said[1])

    def _whole(self, slot: Index, id_: str | None, name: str | None, text: str) -> list[Delta]:
        if name is None or self._names.get(slot, name) == name:
            return super()._whole(slot, id_, name, text)
        return [CallRefused(0, slot, None, "ambiguous", "it came under two names")]
