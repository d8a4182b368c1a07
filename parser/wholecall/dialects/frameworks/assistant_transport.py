"""The assistant-transport protocol of assistant-ui (`AssistantTransportEncoder`, and Python's `assistant-stream`).

    {"type": "step-start", "messageId", "path": []}
    {"type": "part-start", "part": {"type": "text" | "reasoning"}, "path": []}
    {"type": "part-start", "part": {"type": "tool-call", "toolCallId", "toolName"}, "path": []}
    {"type": "text-delta", "textDelta", "path": [0]}    a piece of the part of this number, also of a call's arguments
    {"type": "tool-call-args-text-finish", "path": [0]}    {"type": "part-finish", "path": [0]}
    {"type": "result", "result", "isError", "path": [0]}
    {"type": "step-finish", "finishReason", "usage", "isContinued", "path": []}
    {"type": "message-finish", "finishReason", "usage", "path": []}    [DONE]
    {"type": "error", "error", "code", "severity", "path": []}

The parts of a message are numbered in the order of their starts, whatever they are and in whichever step, and a path is
the number of a part: a call's is its slot. A number that no open part has shows that the start of a part was lost, and
that later numbers may be another part's, so that no later call of the message is known to be whole. So does the end of
the arguments of a part that has none: the start of a part came twice. A step that begins before the last one ended
begins another message. A call with a result, which comes before the end of its part, was
executed by the server; any other is the client's. The encoder ends the parts of a cut answer, too. A message has
several steps, of which the last one's reason counts if the message has none of its own; `[DONE]` ends it. An error of
the severity `warning` or `info` ends nothing. The state that `update-state` changes is the application's.

Covers: the assistant-transport protocol of assistant-ui (`AssistantTransportEncoder`, Python's `assistant-stream`):
    calls that the server answered in the stream are its own, and others are the client's.
Calls: told apart by the number of their part; each ends with its `part-finish`.
Source: assistant-ui/assistant-ui, packages/assistant-stream/src/core/AssistantStreamChunk.ts, and
    serialization/assistant-transport/AssistantTransport.ts next to it, with the fixture of Python's encoder (2026).
"""

from __future__ import annotations

from typing import ClassVar, Final, Union

from wholecall import deltas
from wholecall.dialects import at, compiled, labels, report, say
from wholecall.dialects.hidden_text import Pieces

_LOST: Final = deltas.WireFault("undecodable_frame", "a path names no open part", hole=True)
_PATH: Final = at.value("path")


def _number(path: object) -> int | None:
    """Return the number of a part; None if a path names none."""
    place = path[0] if isinstance(path, list) and len(path) == 1 else None
    number = labels.index_label(place)
    return number if isinstance(number, int) and number >= 0 else None


def _refused(number: int) -> deltas.CallRefused:
    detail = "a frame was lost or came twice before it, so that its number may be that of another part"
    return deltas.CallRefused(0, number, None, "incomplete_input", detail)


class AssistantTransportTranslator(compiled.TableTranslator):
    """Chunks of one stream to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "step-start": (say.own("_steps", at.id("messageId")),),
        "part-start": (
            say.opened(),
            say.own("_starts", at.text("part.type"), at.id("part.toolCallId"), at.name("part.toolName")),
        ),
        "text-delta": (say.opened(), say.own("_piece", _PATH, at.value("textDelta"))),
        "tool-call-args-text-finish": (say.stop_unless_open(), say.own("_over", _PATH, of_text=True)),
        "part-finish": (say.stop_unless_open(), say.own("_over", _PATH)),
        "result": (say.stop_unless_open(), say.own("_answered", _PATH)),
        "step-finish": (
            say.stop_unless_open(),
            say.usage("usage"),
            say.own("_step_over", at.value("finishReason")),
        ),
        "message-finish": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.usage("usage"),
            say.own("_step_over", at.value("finishReason")),
            say.end(),
        ),
        "error": (say.own("_failed", at.value("error"), code=at.value("code"), type=at.value("severity")),),
    }
    FAILURES = frozenset({"error"})
    PIECES: ClassVar[Pieces] = {'"text-delta"': "textDelta"}
    QUIET = frozenset({"annotations", "data", "update-state"})
    DONE_ENDS = True

    _parts: dict[int, Union[str, None]]
    _calls: dict[int, list[Union[str, None]]]
    _n_parts: int
    _stepping: bool
    _reason: Union[str, None]
    _unsure: bool
    _doubted: Union[int, None]

    def __init__(self) -> None:
        super().__init__()
        self._unsure = False  # a frame was lost: the number of a part may be another part's

    def lose(self) -> None:
        """Note that a frame was lost, which could have started a part."""
        self._unsure = True

    def _clear(self) -> None:
        self._parts = {}  # the kinds of open parts, by their numbers
        self._calls = {}  # the ids and names of open calls, by the numbers of their parts
        self._n_parts = 0
        self._doubted = (
            None  # the number of the last part, if its start may be an earlier one that came twice
        )
        self._stepping = False  # the open step has a part
        self._reason = None  # why the last step ended

    def _begin(self, id_: str | None = None, model: object = None) -> list[deltas.Delta]:  # noqa: ARG002
        """Begin a message, which has no key: within it another id only names a step."""
        super()._begin()
        return [deltas.TurnOpened(None, id_, restart=True)]

    def _end(self) -> list[deltas.Delta]:
        """Report why the last step ended, which is why the message did."""
        doubted = self._doubt()
        self._unsure = False
        return [*doubted, *report.finish(self._reason, drops_at="error"), *super()._end()]

    def _steps(self, id_: str | None) -> list[deltas.Delta]:
        """Report another step, in which ids may come again; or another message, if the open step has no end."""
        if self._stepping or not self._open:
            return self._begin(id_)
        self._reason = None
        return [deltas.StepBegan(0)] if self._n_parts else []

    def _step_over(self, reason: object) -> list[deltas.Delta]:
        self._stepping = False
        self._reason = labels.text_label(reason) or self._reason
        return []

    # Parts

    def _starts(self, kind: str | None, id_: str | None, name: str | None) -> list[deltas.Delta]:
        """Report the start of the part of the next number; that of an open call may have come twice, and number no part.

        A frame with its number shows that it is a part; another start before that, that numbers are in doubt.
        """
        doubted = self._doubt()
        number, self._n_parts = self._n_parts, self._n_parts + 1
        self._parts[number] = kind
        self._stepping = True
        if kind != "tool-call":
            return [deltas.TextBegan(0)] if kind == "text" else []
        seen = deltas.CallSeen(0, number, None, id_, name, begins=True)
        if self._unsure:
            return [*doubted, seen, _refused(number)]
        if id_ is not None and [id_, name] in self._calls.values():
            self._doubted = number
        self._calls[number] = [id_, name]
        return [*doubted, seen]

    def _doubt(self) -> list[deltas.Delta]:
        """Refuse the call whose start may have come twice: its number may be that of the part that starts now."""
        number, self._doubted = self._doubted, None
        if number is None:
            return []
        self._unsure = True
        self._calls.pop(number, None)
        return [deltas.Noted(0, "repeated_call"), _refused(number)]

    def _number(self, path: object) -> int | None:
        """Return the number of a part, None where the path is none; it shows that the part is there."""
        number = _number(path)
        if number == self._doubted:
            self._doubted = None
        return number

    def _piece(self, path: object, text: object) -> list[deltas.Delta]:
        number = self._number(path)
        if number is None:
            return [_LOST]
        if number in self._calls:
            return report.piece(number, labels.text_label(text) or "")
        kind = self._parts.get(number, "")
        if kind == "":
            return self._lost(number)
        known = {"text": report.text(text), "reasoning": report.thought(text, number)}
        return report.unknown() if kind is None else known.get(kind, report.unknown())

    def _lost(self, number: int) -> list[deltas.Delta]:
        """Report that the start of a part was lost; all parts up to the number have started."""
        self._n_parts = max(self._n_parts, number + 1)
        self._parts.setdefault(number, None)
        self._unsure = True
        return [_LOST]

    def _over(self, path: object, *, of_text: bool = False) -> list[deltas.Delta]:
        """Report the end of a call's text, after which a result may come, or of its part."""
        number = self._number(path)
        if number is None:
            return [_LOST]
        if of_text and self._parts.get(number) not in (None, "tool-call"):
            return self._lost(number)
        told = [] if number in self._parts else self._lost(number)
        if number in self._calls:
            told.append(deltas.CallClosed(0, number, None, final=False, waits=of_text, of_text=of_text))
        if not of_text:
            self._parts.pop(number, None)
            self._calls.pop(number, None)
        return told

    def _answered(self, path: object) -> list[deltas.Delta]:
        """Report the result of a call: the server executed it."""
        number = self._number(path)
        if number is None:
            return [_LOST]
        if number not in self._calls:
            return report.unknown() if number in self._parts else self._lost(number)
        id_, _ = self._calls[number]
        return [deltas.CallSeen(0, number, None, id_, None, "server"), *report.answered(id_)]

    def _failed(self, error: object, **about: object) -> list[deltas.Delta]:
        """Report an error, which ends the stream unless it is a warning."""
        fatal = about["type"] not in ("warning", "info")
        return report.failure(fatal=fatal, message=error, **about)
