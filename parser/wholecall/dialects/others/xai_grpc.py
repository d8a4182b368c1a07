"""xAI's own API (gRPC `GetCompletionChunk`, `GetCompletion`), its messages as JSON lines.

    {"chunk": {"id", "model", "outputs": [{"index": 0, "delta": DELTA, "finish_reason"?}], "usage": {…}}}

    DELTA is  {"role": "ROLE_ASSISTANT", "content"?, "reasoning_content"?, "encrypted_content"?, "tool_calls"?}
              {"role": "ROLE_TOOL", "content"?, "tool_calls": [{…, "status"}]}

The chunk may also be at the top level, and members with a default value are left out. The index counts the rounds of
one answer, it is not a choice: after the provider has executed tools, the model continues in the next round. Each round
has a reason; `REASON_TOOL_CALLS` of a round whose calls are all the provider's is not the answer's, for the answer
continues. A call `{id, type, function{name, arguments: TEXT}}` is whole in its message and ended by it; one without
arguments waits for the reason, because it may be cut. Calls of `TOOL_CALL_TYPE_CLIENT_SIDE_TOOL`, or without a type,
are the client's, all others the provider's. The content under the role of tools is a result: its text is not an answer,
and its calls are sent again (quirk 98).

No mark ends the stream. A whole body has `message` in place of `delta`. Source: `xai/api/v1/chat.proto` and
`sample.proto` of the xAI SDK.

Covers: xAI's own API (the messages of its gRPC streams as JSON lines): whole calls, rounds with the provider's own
    tools.
Calls: told apart by id; each ends with its own message.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Union

from wholecall.deltas import HYDRATION, CallWhole, Delta
from wholecall.dialects import at, compiled, decode, reasons, report, say
from wholecall.framing.frame import Frame
from wholecall.types import Kind

_OURS: Final = frozenset({None, "TOOL_CALL_TYPE_INVALID", "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"})


def _kind_of(type_: str | None) -> Kind:
    return "function" if type_ in _OURS else "server"


def _told_again(id_: str | None, name: str | None, text: str, type_: str | None) -> list[Delta]:
    """Report a call by its result; without an id its call is unknown."""
    return [] if id_ is None else [CallWhole(0, None, None, id_, name, text, HYDRATION, _kind_of(type_))]


# The parts of rows.
_LABELS = at.id("id"), at.name("function.name"), at.json_text("function.arguments"), at.text("type")
_RESULT = (say.each("tool_calls", say.own(_told_again, *_LABELS)),)
_ANSWER = (
    say.thought("reasoning_content", at.choice("../index"), data="encrypted_content"),
    say.text("content"),
    say.each("tool_calls", say.own("_call", *_LABELS, at.choice("../../index"))),
)
_OUTPUT = (
    say.opened("../id", "../model"),
    say.given("delta|message", say.when(at.value("role"), ("ROLE_TOOL",), *_RESULT, otherwise=_ANSWER)),
    say.own("_finish", at.value("finish_reason"), at.choice("index")),
)
_CHUNK = (
    say.each("outputs", *_OUTPUT),
    say.usage("usage"),
    say.when(at.value("outputs[].message"), (None,), otherwise=(say.end(),)),  # a whole body
)
_FAILED = say.own("_fail", at.value("error"))


class XaiGrpcTranslator(compiled.TableTranslator):
    """Lines of one stream to deltas; all members of a call together distinguish it, for it has no index."""

    BODIES: ClassVar[say.Rows] = {
        "chunk": (say.given("chunk", say.when(at.Value("error", bool), (True,), _FAILED, otherwise=_CHUNK)),),
        "outputs": _CHUNK,
        "usage": _CHUNK,
    }
    EVENTLESS = True  # whatever type a line names

    _slots: dict[Union[tuple[str, str | None, str], int], int]
    _rounds: dict[int, bool]

    def _clear(self) -> None:
        self._slots = {}  # of the calls so far, by all their members
        self._rounds = {}  # rounds with calls, and whether any call is the client's

    def _other(self, line: Any, frame: Frame, kind: str) -> list[Delta]:
        """Return the deltas of a line; an unknown one says nothing before the answer."""
        known = self._open or line.chunk or line.outputs or line.usage
        return super()._other(line, frame, kind) if known else []

    def _call(self, id_: str | None, name: str | None, text: str, type_: str | None, nth: int) -> list[Delta]:
        """Report a whole call of a round."""
        kind = _kind_of(type_)
        self._rounds[nth] = kind == "function" or self._rounds.get(nth, False)
        # A repeated call keeps its slot; without an id nothing distinguishes it from a second one.
        key = (id_, name, text) if id_ is not None else len(self._slots)
        slot = self._slots.setdefault(key, len(self._slots))
        return report.whole_call(slot, id_, name, text, kind, final=not decode.is_blank(text))

    def _finish(self, raw: object, nth: int) -> list[Delta]:
        """Report the reason of a round, unless all its calls are the provider's and the model continues."""
        known = reasons.turn_reason(raw)
        goes_on = known is not None and known[0] == "tool_calls" and self._rounds.get(nth) is False
        return [] if goes_on else report.finish(raw)
