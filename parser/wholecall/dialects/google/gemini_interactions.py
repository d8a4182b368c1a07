"""Gemini Interactions (`POST /v1beta/interactions`, `stream: true`); the event's name repeats `event_type`.

    interaction.created        interaction{id, model, status}
    interaction.status_update  interaction_id, status
    step.start                 index, step{type: function_call, id, name, arguments: {}, signature?}
    step.delta                 index, delta{type: arguments_delta, arguments: TEXT}
    step.stop                  index
    interaction.completed      interaction{id, status, steps?, usage}
    error                      error{code, message}

Before there were steps, an interaction was a list of contents, and its events had other names:

    interaction.start          interaction{id, model, status}
    content.start              index, content{type, …}
    content.delta              index, delta{type: function_call, id, name, arguments: OBJECT}
    content.stop               index
    interaction.complete       interaction{id, status, outputs?, usage}

The index is the slot of a step or a content. The `arguments` at the start of a call are a placeholder when they are
empty, and the whole value when they are not and no delta follows. Steps whose type ends in `_call` are executed by the
provider, except `function_call`; their deltas have the type of the step and carry an object. The deltas of a content do
so as well; they also have the labels that its start may lack, and may come without one. Other steps are `model_output`,
`thought` and results. A stopped step is not final: an interaction that ends `incomplete` can stop a step with a member
missing, so `CallClosed` is not final. A start, or a delta with a name, may begin a call and does not end one: a step
that another one displaces has not ended.

The finished interaction may restate all steps. An interaction that failed or was cancelled takes back its open calls
(quirk 94). A whole body is an interaction. Source: Gemini API reference, "Interactions" and "Streaming interactions".

Covers: the Gemini Interactions API: calls as steps, or as contents under the older names of its events; the
    provider's own tools, steps that the end repeats.
Calls: told apart by step index; each ends with `step.stop`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, report, translator
from wholecall.dialects.hidden_text import Pieces
from wholecall.framing.frame import Frame
from wholecall.types import Kind

# Views.


class _Step(msgspec.Struct, gc=False):
    """A step as it starts, whole, or a piece of one."""

    type: Any = None
    id: Any = None
    name: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT
    signature: Any = None
    server_name: Any = None
    text: Any = None
    content: Any = None
    summary: Any = None
    call_id: Any = None


class _Interaction(msgspec.Struct, gc=False):
    """An interaction as it begins, as it ends, or whole; `outputs` was the name of its contents."""

    id: Any = None
    model: Any = None
    status: Any = None
    steps: list[_Step] | None = None
    outputs: list[_Step] | None = None
    usage: Any = None


class _Event(_Interaction, gc=False):
    """An event, or a whole body."""

    event_type: Any = None
    type: Any = None
    index: Any = None
    step: _Step | None = None
    content: _Step | None = None
    delta: _Step | None = None
    interaction: _Interaction | None = None
    error: Any = None


# Steps.

_CALL = "function_call"
_QUIET = frozenset({"image", "audio", "video", "document", "text_annotation", "text_annotation_delta"})


def _kind_of(step: _Step) -> Kind | None:
    """Return who executes the call that a step or a delta is about, None if it is not about a call."""
    if step.type == _CALL:
        return "function"
    return "server" if isinstance(step.type, str) and step.type.endswith("_call") else None


def _name_of(step: _Step) -> str | None:
    """Return the name of a call: the provider's own tools have that of their type."""
    return labels.name_label(step.name) or (step.type.removesuffix("_call") if step.type != _CALL else None)


def _extra_of(step: _Step) -> dict[str, Any] | None:
    """Return the values that must be sent back with the call."""
    return report.extra(signature=step.signature, server_name=step.server_name)


def _restated(position: int, step: _Step) -> deltas.Delta:
    """Return the deltas of the finished interaction about a call."""
    id_, text, kind = labels.id_label(step.id), decode.wire_text(step.arguments), _kind_of(step) or "function"
    return deltas.CallWhole(
        0, position, None, id_, _name_of(step), text, deltas.HYDRATION, kind, extra=_extra_of(step)
    )


def _said(index: deltas.Index | None, step: _Step) -> list[deltas.Delta]:
    """Return the deltas of a step that is not a call: a thought, visible text, or none if it does not concern calls."""
    text = _text(step.content)
    if step.type == "thought":
        return report.thought(_text(step.summary) or text, index, signature=step.signature)
    if step.type in ("model_output", "text"):
        return report.text(text or step.text)
    if _is_quiet(step):
        return report.answered(step.call_id)  # the result of a call
    return [] if step.type == "user_input" else report.unknown()


def _piece(index: deltas.Index | None, delta: _Step) -> list[deltas.Delta]:
    """Return the deltas of a piece of a step, without arguments."""
    if delta.type == "text":
        return report.text(delta.text)
    if delta.type in ("thought_summary", "thought_signature"):
        return report.thought(_text(delta.content) or delta.text, index, signature=delta.signature)
    return [] if _is_quiet(delta) else report.unknown()


def _is_quiet(step: _Step) -> bool:
    """Return whether a step or a piece is of a kind without calls: media, or the result of a tool."""
    type_ = labels.text_label(step.type) or ""
    return type_ in _QUIET or type_.endswith("_result")


def _text(content: Any) -> str | None:
    """Return the text of a content: a string, a part or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    texts = [labels.text_label(part.get("text") if isinstance(part, dict) else part) for part in parts]
    return "".join(text for text in texts if text) or None


# The stream.

_BODY = "a whole body"  # not an event
_SPEECH = frozenset({"model_output", "thought", "text"})  # steps without arguments: such text is a call's


class GeminiInteractionsTranslator(translator.TurnTranslator):
    """Events of one stream to deltas."""

    decoder = msgspec.json.Decoder(_Event)
    PIECES: ClassVar[Pieces] = {'"arguments_delta"': "delta.arguments"}
    QUIET = frozenset({"interaction.status_update"})

    _has_steps: bool
    _kinds: dict[deltas.Index | None, Kind]
    _others: dict[deltas.Index | None, bool]

    def _clear(self) -> None:
        self._has_steps = False  # whether steps came in separate events
        self._kinds = {}  # of open calls, by their slots
        self._others = {}  # the slots of other open steps, and whether arguments in these are a call's

    def _kind(self, event: _Event, frame: Frame) -> str:
        kind = labels.text_label(event.event_type)
        if kind is None and not (event.steps is event.outputs is None):
            return _BODY
        return kind or ("ping" if event.type == "ping" else frame.event)

    def _created(self, event: _Event) -> list[deltas.Delta]:
        interaction = event.interaction or event
        return self._begin(labels.id_label(interaction.id), interaction.model)

    def _completed(self, event: _Event) -> list[deltas.Delta]:
        opened = [] if self._n_turns or self._has_steps else self._created(event)
        return opened + self._over(event.interaction or _Interaction())

    def _over(self, interaction: _Interaction) -> list[deltas.Delta]:
        """Return the deltas of the finished interaction: its steps again, or for the first time, and its end."""
        listed = [*enumerate(interaction.steps or interaction.outputs or ())]
        if self._has_steps:
            told = report.restated_together([_restated(at, step) for at, step in listed if _kind_of(step)])
        else:
            events = [_Event(index=at, step=step) for at, step in listed]
            told = [delta for event in events for delta in self._start(event) + self._stop(event)]
        return told + report.usage(interaction.usage) + _finish(interaction.status) + self._end()

    def _end(self) -> list[deltas.Delta]:
        return [deltas.TurnEnded(self._key)]  # the last event may come twice

    def _start(self, event: _Event) -> list[deltas.Delta]:
        self._has_steps = True
        index, step = labels.index_label(event.index), event.step or event.content or _Step()
        kind, text = _kind_of(step), decode.wire_text(step.arguments)
        if kind is None:
            self._others[index] = labels.text_label(step.type) in _SPEECH
            return _said(index, step)
        self._others.pop(index, None)
        self._kinds[index] = kind
        return report.call_start(
            index, labels.id_label(step.id), _name_of(step), text, kind, extra=_extra_of(step)
        )

    def _stop(self, event: _Event) -> list[deltas.Delta]:
        index = labels.index_label(event.index)
        self._kinds.pop(index, None)
        return report.closed(index, final=False) if self._others.pop(index, None) is None else []

    def _delta(self, event: _Event) -> list[deltas.Delta]:
        self._has_steps = True
        index, delta = labels.index_label(event.index), event.delta or _Step()
        if delta.type == "arguments_delta" or _kind_of(delta) is not None:
            return self._arguments(index, delta)
        if index in self._kinds and (extra := _extra_of(delta)) is not None:
            return [deltas.CallSeen(0, index, None, None, None, self._kinds[index], extra=extra)]
        if index not in self._kinds:
            self._others.setdefault(index, True)  # its start may be lost
        return _piece(index, delta)

    def _arguments(self, index: deltas.Index | None, delta: _Step) -> list[deltas.Delta]:
        if _kind_of(delta) is None and self._others.get(index) is False:
            return []
        told = self._labels(index, delta)
        text, kind = decode.wire_text(delta.arguments), self._kinds.get(index, "function")
        if bytes(delta.arguments).startswith(b'"'):
            return told + report.piece(index, text)
        return (
            [*told, deltas.CallWhole(0, index, None, None, None, text, deltas.DONE, kind)] if text else told
        )

    def _labels(self, index: deltas.Index | None, delta: _Step) -> list[deltas.Delta]:
        """Report the labels of a call in a delta, without the arguments; a delta with a name may begin the call."""
        id_, kind, extra, name = (
            labels.id_label(delta.id),
            _kind_of(delta),
            _extra_of(delta),
            labels.name_label(delta.name),
        )
        if kind is not None:
            if self._kinds.get(index) != kind:  # else the start brought a name
                name = _name_of(delta)
            self._others.pop(index, None)
            self._kinds[index] = kind
        if id_ is name is None and extra is None:
            return []
        known = self._kinds.get(index, "function")
        return [deltas.CallSeen(0, index, None, id_, name, known, extra=extra, begins=name is not None)]

    EVENTS: ClassVar[translator.Events] = {
        "step.delta": _delta,
        "step.start": _start,
        "step.stop": _stop,
        "interaction.created": _created,
        "interaction.completed": _completed,
        "content.delta": _delta,
        "content.start": _start,
        "content.stop": _stop,
        "interaction.start": _created,
        "interaction.complete": _completed,
        _BODY: lambda self, event: self._created(event) + self._over(event),
    }


def _finish(status: object) -> list[deltas.Delta]:
    """Return why the interaction ended; a failure takes back the calls that it leaves open."""
    if status == "incomplete":
        return [deltas.Finish(0, "length", "incomplete")]
    return [] if status == "in_progress" else report.finish(status, drops_at="error")
