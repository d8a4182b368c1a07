"""Meta's Llama API (`POST /v1/chat/completions` of api.llama.com, `stream: true`), its own format.

    data: {"id":"r1","event":{"event_type":"start","delta":{"type":"text","text":""}}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","id":"c1","function":{"name":"f"}}}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","function":{"arguments":"{}"}}}}
    data: {"event":{"event_type":"complete","delta":{"type":"text","text":""},"stop_reason":"tool_calls"}}
    data: {"event":{"event_type":"metrics","delta":{…},"metrics":[{metric, value, unit}, …]}}

Calls have no index and no separate end: a piece without an id continues the call of the last id. The order of ids is
given as the index, and the binder decides the meaning of the labels. A whole body is
`{id, completion_message: {content, stop_reason, tool_calls}, metrics}`.

llama-stack's own API is where this one comes from: a start may be either's, and decides nothing if it has no id.
Where text alone decided, the first call with a `parse_status` hands the stream over.

Covers: Meta's own Llama API.
Calls: told apart by id; each ends with the end of the answer.
Source: Llama API reference, "Chat completion", and the types of its Python SDK.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec.structs import replace

from wholecall.deltas import OBJECT, Delta, Index, Labelled, TurnEnded
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.chat.chunks import content
from wholecall.dialects.others.llama_stack import LlamaStackTranslator, counts
from wholecall.framing.frame import Frame

_TYPES = frozenset({"start", "progress", "complete", "metrics"})


def _labelled(index: Index, id_: str | None, name: str | None, said: tuple[str, bool]) -> list[Delta]:
    text, whole = said
    return [Labelled(0, index, id_, name, text, rank=OBJECT if whole else 0)]


def _text(value: object, kind: object) -> list[Delta]:
    return report.text(value) or ([] if kind in (None, "text") else report.unknown())


def _silent(kind: str | None) -> list[Delta]:
    """Report an event without a delta, which only the known kinds have."""
    return [] if kind in _TYPES else report.unknown()


_LABELS = at.id("id"), at.name(at.CHAT_NAME), at.json_value(at.CHAT_ARGUMENTS)
_CALL = say.own("_call", *_LABELS)
_TYPED = say.when(
    at.value("type"), ("tool_call",), _CALL, otherwise=(say.own(_text, at.value("text"), at.value("type")),)
)
_DELTA = say.when(at.value("function"), (None,), _TYPED, otherwise=(_CALL,))
_BEGUN = say.when(
    at.value("event_type"), ("start",), say.begin("/id", "/model"), otherwise=(say.opened("/id", "/model"),)
)
_OVER = (say.finish("stop_reason"), say.own(counts, at.Value("metrics|/metrics")))
_SAID = (
    say.when(at.value("delta"), (None,), say.own(_silent, at.text("event_type"))),
    say.given("delta", _DELTA),
    *_OVER,
)
_EVENT = (
    _BEGUN,
    say.when(at.value("delta.parse_status"), (None,), *_SAID, otherwise=(say.do("_hand_over"),)),
)
_MESSAGE = (
    _BEGUN,
    say.own(content, at.value("content")),
    say.each("tool_calls", say.own(_labelled, at.POSITION, *_LABELS)),
    *_OVER,
    say.own("_over"),
)


class LlamaTranslator(compiled.TableTranslator):
    """Frames of one stream to deltas; it numbers the calls by their ids."""

    PIECES: ClassVar[Pieces] = {'"tool_call"': "event.delta.function.arguments|event.delta.tool_call"}
    BODIES: ClassVar[say.Rows] = {
        "event": (say.given("event", *_EVENT),),
        "completion_message": (say.given("completion_message", *_MESSAGE),),
    }
    EVENTLESS = True  # the kind is in the inner event: the name of a frame means nothing
    ERRORS = frozenset({"error"})

    _numbers: dict[str, int]
    _names: list[str | None]
    _latest: int
    _guest: LlamaStackTranslator | None

    def __init__(self) -> None:
        super().__init__()
        self._guest = None  # the translator of the stream's real dialect, once it is known

    def _clear(self) -> None:
        self._numbers = {}  # of the calls, by their ids
        self._names = []  # by their numbers
        self._latest = 0

    def _begin(self, id_: str | None = None, model: object = None) -> list[Delta]:
        """Begin an answer; one without an id is always a new one."""
        opened = super()._begin(id_, model)
        return [replace(delta, key=id_ or f"answer {self._n_turns}") for delta in opened]

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        return super().translate(frame) if self._guest is None else self._guest.translate(frame)

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether the translator that replaced this one takes the frame silently."""
        return self._guest is not None and self._guest.takes_silently(frame)

    def close(self) -> list[Delta]:
        """Return the deltas of the end of the stream: none, unless it is llama-stack's."""
        return [] if self._guest is None else self._guest.close()

    def _other(self, view: Any, frame: Frame, kind: str) -> list[Delta]:
        deltas = super()._other(view, frame, kind)
        return deltas if self._guest is None else deltas + self._guest.translate(frame)

    def _hand_over(self) -> None:
        """Leave the stream, this frame included, to the dialect that it is in."""
        self._guest = LlamaStackTranslator(opened=True)

    def _call(self, id_: str | None, name: str | None, said: tuple[str, bool]) -> list[Delta]:
        """Report a piece of a call: of the one with its id, else of the last one; names come whole."""
        if id_ is not None:
            self._latest = self._number(id_, name)
        return _labelled(self._latest, id_, name, said)

    def _number(self, id_: str, name: str | None) -> int:
        """Return the number of the call of an id; another name under the id begins another call."""
        number = self._numbers.get(id_)
        if number is None or (name and self._names[number] not in (None, name)):
            number = self._numbers[id_] = len(self._names)
            self._names.append(None)
        self._names[number] = name or self._names[number]
        return number

    def _over(self) -> list[Delta]:
        return [TurnEnded(self._key)]
