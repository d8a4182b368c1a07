"""Snowflake Cortex Agents (`agents/NAME:run`, `/api/v2/cortex/agent:run`): named events, and the whole answer at the end.

    event: response.status           {"status", "message"}
    event: response.thinking.delta   {"content_index", "text"}       response.thinking repeats all of it
    event: response.text.delta       {"content_index", "text"}       response.text repeats all of it
    event: response.tool_use         {"content_index", "tool_use_id", "type", "name", "input", "client_side_execute"}
    event: response.tool_result      {"content_index", "tool_use_id", "type", "name", "content", "status"}
    event: response                  {"role": "assistant", "content": [ITEM]}
    event: error                     {"code", "message", "request_id"}
    also response.table, response.chart, response.tool_result.status, response.tool_result.analyst.delta, metadata

    ITEM is {"type": "text", "text"}, {"type": "thinking", "thinking": {"text"}}, {"type": "tool_use", "tool_use": {…}} or
    {"type": "tool_result", "tool_result": {…}}, with the members of the events

The `type` in a tool's event is the tool's. The agent runs its tools itself, so each call is a server's, whole when it is
announced, and over when its result comes, whether or not it failed; one with `client_side_execute` is the client's, and
is over at once. One that offers options of a permission waits for it. The last event repeats all of the answer, and is
the whole of it without `stream`.

Covers: Snowflake Cortex Agents (`agent:run`), streamed and whole: calls that the agent executes, and those that the
    client has to (`client_side_execute`).
Calls: told apart by `tool_use_id`; each ends with `response.tool_result`, or with a request to the client.
Source: Snowflake documentation, "Cortex Agents Run API" (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from wholecall import deltas
from wholecall.dialects import at, compiled, remembered, report, say
from wholecall.framing.frame import Frame
from wholecall.types import Flag

_UNNAMED: Final = ("", "message")  # events that have no name on the wire
_TEXT = at.value("content_index"), at.value("text")


def _call(of: str) -> say.Say:
    """Return the statement about a call, whose members are in some object."""
    labels = at.id(f"{of}tool_use_id"), at.name(f"{of}name"), at.json_text(f"{of}input")
    return say.own(
        "_call", *labels, at.value(f"{of}client_side_execute"), at.value(f"{of}permission.options")
    )


_ITEMS: say.Rows = {
    "text": (say.own("_said", at.POSITION, at.value("text"), whole=True),),
    "thinking": (say.own("_thought", at.POSITION, at.value("thinking.text"), whole=True),),
    "tool_use": (_call("tool_use."),),
    "tool_result": (say.closed(at.id("tool_result.tool_use_id")),),
}
_ALL = (
    say.opened(repeats=True),
    say.stop_unless_open(),
    say.each("content", say.by(at.text("type"), _ITEMS, ("table", "chart", "suggested_queries"))),
    say.usage("metadata.usage"),
    say.own("_ended", at.value("status")),
    say.end(),
)


class SnowflakeAgentsTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "response.text.delta": (say.opened(), say.own("_said", *_TEXT)),
        "response.thinking.delta": (say.opened(), say.own("_thought", *_TEXT)),
        "response.text": (say.opened(), say.own("_said", *_TEXT, whole=True)),
        "response.thinking": (say.opened(), say.own("_thought", *_TEXT, whole=True)),
        "response.tool_use": (say.opened(), _call("")),
        "response.tool_result": (say.stop_unless_open(), say.closed(at.id("tool_use_id"))),
        "response": _ALL,
    }
    BODIES: ClassVar[say.Rows] = {"content": _ALL}
    ERRORS = frozenset({"error"})
    QUIET = frozenset(
        {
            *("response.status", "response.tool_result.status", "response.tool_result.analyst.delta"),
            *("response.table", "response.chart", "response.text.annotation", "response.suggested_queries"),
            *("response.warning", "metadata", "done"),
        }
    )

    _texts: set[str]
    _calls: set[str]
    _asks: bool

    def _clear(self) -> None:
        self._texts = set()  # the kind and the place of those that came
        self._calls = set()  # their ids, and what came of each
        self._asks = False  # a call is for the client

    def _kind(self, view: Any, frame: Frame, /) -> str:
        """Return the name of an event; its type is that of a tool, unless it has no name."""
        return super()._kind(view, frame) if frame.event in _UNNAMED else frame.event

    def _is_body(self, _view: object, kind: str) -> bool:
        return kind in _UNNAMED

    def _said(self, place: object, text: object, *, whole: bool = False) -> list[deltas.Delta]:
        """Report visible text, unless all of it was said in pieces."""
        return report.text(text) if self._is_new(f"text {place}", whole=whole) else []

    def _thought(self, place: object, text: object, *, whole: bool = False) -> list[deltas.Delta]:
        return report.thought(text) if self._is_new(f"thought {place}", whole=whole) else []

    def _is_new(self, key: str, *, whole: bool) -> bool:
        """Note a text; return whether it is a piece, or none came of it."""
        known = key in self._texts
        self._texts.add(key)
        return not (whole and known)

    def _call(
        self, id_: str | None, name: str | None, text: str, ours: object, options: object
    ) -> list[deltas.Delta]:
        """Report a call, which the last event repeats; its id is its slot, unless another call has it."""
        told, slot = f"{id_} {name} {remembered.checksum(text)}", id_
        if id_ is not None:
            if told in self._calls:
                return []
            slot = f"{id_} {len(self._calls)}" if id_ in self._calls else id_
            self._calls |= {id_, told}
        if ours is True or ours == "true":
            self._asks = True
            return report.whole_call(slot, id_, name, text)
        flags: tuple[Flag, ...] = ("needs_approval",) if options else ()
        seen = deltas.CallSeen(0, slot, None, id_, name, "server", flags=flags)
        whole = deltas.CallWhole(0, slot, None, id_, None, text, deltas.OBJECT, "server", flags=flags)
        return [seen, whole] if text else [seen]

    def _ended(self, status: object) -> list[deltas.Delta]:
        """Report the end of a run, for which it has a word only as a whole."""
        if self._asks:
            return [deltas.Finish(0, "tool_calls", None)]
        return report.finish(status, drops_at="error") or [deltas.Finish(0, "stop", None)]
