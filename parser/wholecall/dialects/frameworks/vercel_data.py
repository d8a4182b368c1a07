"""The data stream protocol of the Vercel AI SDK, versions 3 and 4 (`toDataStreamResponse`): `CODE:JSON` lines.

    f:{"messageId":"m1"}                                          a step begins
    0:"text"  g:"reasoning"  j:{"signature"}  i:{"data"}          and the seal of the reasoning
    b:{"toolCallId":"c1","toolName":"f"}                          a call begins
    c:{"toolCallId":"c1","argsTextDelta":"{}"}                    a piece of its text
    9:{"toolCallId":"c1","toolName":"f","args":{}}                the whole call, which ends it
    e:{"finishReason","usage","isContinued"}                      a step ends
    d:{"finishReason","usage"}                                    the message ends
    3:"error"

The code is the event's name; values that are not objects are text. A call's id is its slot. `9` may come without deltas
before it. A step that begins behind calls, before its `e` or a result, under the same id or none, is their step again,
as after a lost connection. The end of the message repeats the content of a step's end. Version 3 also sent OpenAI's own
calls whole (`7`, `1`). Tool results, data, annotations, sources and files are skipped. A whole message is
`{id, role, content, toolInvocations}`, or has these inside its parts.

Covers: the data stream protocol of the Vercel AI SDK, versions 3 and 4 (`9:{…}` lines), and its stored messages.
Calls: told apart by `toolCallId`; each ends with its `9:` line.
Source: AI SDK documentation of version 4, "Stream Protocols", and the SDK's `formatDataStreamPart`.
"""

from __future__ import annotations

from typing import ClassVar, Union

from wholecall.deltas import Delta, TurnOpened
from wholecall.dialects import at, compiled, decode, report, say
from wholecall.dialects.frameworks.vercel_ui import Announced, Calls
from wholecall.framing.frame import Frame

_TEXTS = frozenset({"0", "3", "g"})  # their values are strings
_QUIET = frozenset("2568hk")  # their values may be anything


def _assistant(content: object) -> list[Delta]:
    """Return the text of an assistant's message that version 3 relays: each part has it in an object."""
    return [
        delta
        for part in decode.listed(content)
        for delta in report.text(decode.member(part, "text", "value"))
    ]


def _usage(counts: object) -> list[Delta]:
    known = counts.items() if isinstance(counts, dict) else ()
    return report.usage({name: count for name, count in known if count is not None})


_ID, _NAME, _STATE = at.id("toolCallId"), at.name("toolName"), at.value("state")
_OPENAI = at.name(at.CHAT_NAME), at.json_text(at.CHAT_ARGUMENTS)
_OPENAI_CALLS = (
    say.each("tool_calls", say.own("_whole", at.id("id"), *_OPENAI)),
    say.given("function_call", say.own("_whole", None, *_OPENAI)),
)
_INVOCATION = say.own("_invocation", _ID, _NAME, at.json_text("args"), _STATE)
_MESSAGE = (
    say.begin("id"),
    say.when(at.value("parts"), (None, []), say.text("content")),
    say.each("parts", say.thought("reasoning"), say.text("text")),
    say.each("parts", say.given("toolInvocation", _INVOCATION)),
    # Version 4 sends both, with the same calls.
    say.when(at.value("parts[].toolInvocation"), (None,), say.each("toolInvocations", _INVOCATION)),
    say.end(),
)


class VercelDataTranslator(compiled.TableTranslator):
    """Lines of one stream to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "f": (say.opened("messageId"), say.own("_step", at.id("messageId"))),
        "e": (say.do("_calls.end_step"),),
        "j": (say.own(report.thought, None, signature=at.value("signature")),),
        "i": (say.own(report.thought, None, data=at.value("data")),),
        "b": (say.own("_begun", _ID, _NAME, _STATE),),
        "c": (say.own("_calls.piece", _ID, at.value("argsTextDelta")),),
        "9": (say.own("_whole", _ID, _NAME, at.json_text("args"), _STATE, listed=False),),
        "a": (say.own("_result", _ID),),
        "d": (say.own(_usage, at.value("usage")), say.own("_finish", at.value("finishReason")), say.end()),
        "7": _OPENAI_CALLS,
        "1": _OPENAI_CALLS,
        "4": (say.own(_assistant, at.value("content")),),
    }
    BODIES: ClassVar[say.Rows] = {"toolInvocations": _MESSAGE, "parts": _MESSAGE}
    KINDS = ()  # the code of the line alone

    _calls: Calls
    _step_id: Union[str, None]

    def _clear(self) -> None:
        self._calls = Calls()
        self._step_id = None

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one line."""
        if frame.event in _TEXTS:
            return _text(frame)
        return [] if frame.event in _QUIET else super().translate(frame)

    def _begin(self, id_: str | None = None, model: object = None) -> list[Delta]:  # noqa: ARG002
        """Begin a message, which has no key: within it another id only names a step."""
        super()._begin()
        return [TurnOpened(None, id_, restart=True)]

    def _finish(self, reason: object) -> list[Delta]:
        return self._calls.ended(report.finish(reason, drops_at="error"))

    def _step(self, id_: str | None) -> list[Delta]:
        """Begin a step, or the same step again."""
        last, self._step_id = self._step_id, id_
        is_other = None not in (last, id_) and last != id_
        return self._calls.next_step() if is_other else self._calls.begin_step()

    # Calls.

    def _begun(self, id_: str | None, name: str | None, state: object) -> list[Delta]:
        return self._calls.begun(_announced(id_, name, state))

    def _whole(
        self, id_: str | None, name: str | None, text: str, state: object = None, *, listed: bool = True
    ) -> list[Delta]:
        return self._calls.whole(_announced(id_, name, state), text, listed=listed) + self._calls.closed(id_)

    def _result(self, id_: str | None) -> list[Delta]:
        return self._calls.answered(id_)

    def _invocation(self, id_: str | None, name: str | None, text: str, state: object) -> list[Delta]:
        if state != "partial-call":
            return self._whole(id_, name, text, state)
        return self._calls.refused(Announced(id_, name), text, "truncated", "the arguments were still coming")


def _announced(id_: str | None, name: str | None, state: object) -> Announced:
    ran = state == "result"  # nothing is left to execute
    return Announced(id_, name, "server" if ran else "function")


def _text(frame: Frame) -> list[Delta]:
    value = decode.plain(frame.data)
    if frame.event == "3":
        return report.error(frame.data if value is None else value)
    if type(value) is not str:
        return [decode.undecodable(frame.data)]
    return report.thought(value) if frame.event == "g" else report.text(value)
