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

The index is the slot of a step or a content. The `arguments` at the start of a call are a placeholder when they
are empty, and the whole value when they are not and no delta follows. Steps whose type ends in `_call` are
executed by the provider, except `function_call`; their deltas have the type of the step and carry an object. So
do those of a content, which also have the labels that its start may lack, and may come without one. Other steps
are `model_output`, `thought` and results. A step that stopped is not the last word: an interaction that ends
`incomplete` can stop a step with a member missing, so `CallClosed` is not final. A start, or a delta with a name,
may begin a call and ends none: a step that another one displaces has not ended.

The finished interaction may restate all steps. One that failed or was cancelled takes back what is open (quirk
94). A whole body is an interaction. Source: Gemini API reference, "Interactions" and "Streaming interactions".
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from wholecall.deltas import (
    DONE,
    OBJECT,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Noted,
    Slot,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import (
    is_blank,
    is_noise,
    provider_error,
    wire_text,
)
from wholecall.dialects.google.gemini_steps import (
    Event,
    Interaction,
    Step,
    extra_of,
    kind_of,
    name_of,
    piece,
    restated,
    said,
)
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.other_blocks import OtherBlocks
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.restated import told_together
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Kind

__all__ = ["GeminiInteractionsTranslator"]


_SPEECH = frozenset({"model_output", "thought", "text"})  # steps without arguments: such text is a call's
_NO_STEP = Step()
_NO_INTERACTION = Interaction()


class GeminiInteractionsTranslator(ViewTranslator):
    """Events of one stream to deltas."""

    decoder = msgspec.json.Decoder(Event)

    _key: str | None
    _begun: bool
    _told: bool
    _kinds: dict[Index | None, Kind]
    _others: OtherBlocks
    _skipped: set[Index | None]

    def __init__(self) -> None:
        self._key = None
        self._begun = self._told = False  # a turn at all, and any step of the last one
        self._kinds = {}  # of open calls, by their slots
        self._others = OtherBlocks()
        self._skipped = set()  # open steps that are neither calls nor speech: their arguments are no call's
        self._events: dict[object, Callable[[Event], list[Delta]]] = {
            "step.delta": self._delta,
            "step.start": self._start,
            "step.stop": self._stop,
            "interaction.created": self._created,
            "interaction.status_update": self._quiet,
            "interaction.completed": self._completed,
            "content.delta": self._delta,
            "content.start": self._start,
            "content.stop": self._stop,
            "interaction.start": self._created,
            "interaction.complete": self._completed,
        }

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        if event.error:
            return [provider_error(event.error)]
        kind = text_label(event.event_type)
        if kind is None and (event.steps is not None or event.outputs is not None):
            return self._created(event) + self._over(event)
        known = self._events.get(frame.event if kind is None else kind)
        if known is not None:
            return known(event)
        return [] if is_noise(frame) or event.type == "ping" else [Noted(0, "unknown_events")]

    # Interactions.

    def _created(self, event: Event) -> list[Delta]:
        return self._begin(event.interaction or event)

    def _begin(self, interaction: Interaction) -> list[Delta]:
        self._key = id_label(interaction.id)
        self._begun, self._told = True, False
        self._kinds.clear()
        self._others.indices.clear()
        self._skipped.clear()
        return [TurnOpened(self._key, self._key, name_label(interaction.model), restart=True)]

    def _completed(self, event: Event) -> list[Delta]:
        interaction = event.interaction or _NO_INTERACTION
        opened = [] if self._begun or self._told else self._begin(interaction)
        return opened + self._over(interaction)

    def _over(self, interaction: Interaction) -> list[Delta]:
        """Return the deltas of the finished interaction: its steps once more, or for the first time, and its end."""
        steps = list(enumerate(interaction.steps or interaction.outputs or ()))
        deltas: list[Delta] = []
        if self._told:
            deltas += told_together([restated(at, step) for at, step in steps if kind_of(step) is not None])
        else:
            for at, step in steps:
                deltas += self._started(at, step) + self._stopped(at)
        if isinstance(interaction.usage, dict):
            deltas.append(UsageSeen(interaction.usage))
        return deltas + _finish(interaction.status) + self._end()

    def _end(self) -> list[Delta]:
        return [TurnEnded(self._key)]

    def _quiet(self, _event: Event) -> list[Delta]:
        return []

    # Steps.

    def _start(self, event: Event) -> list[Delta]:
        return self._started(index_label(event.index), event.step or event.content or _NO_STEP)

    def _started(self, index: Index | None, step: Step) -> list[Delta]:
        self._told = True
        kind, id_ = kind_of(step), id_label(step.id)
        self._skipped.discard(index)
        if kind is None:
            self._others.indices.add(index)
            if text_label(step.type) not in _SPEECH:
                self._skipped.add(index)
            return said(index, step)
        self._others.indices.discard(index)
        self._kinds[index] = kind
        name, extra, text = name_of(step), extra_of(step), wire_text(step.arguments)
        if is_blank(text):
            return [CallSeen(0, index, None, id_, name, kind, extra=extra, begins=True)]
        return [CallWhole(0, index, None, id_, name, text, OBJECT, kind, extra=extra, begins=True)]

    def _stop(self, event: Event) -> list[Delta]:
        return self._stopped(index_label(event.index))

    def _stopped(self, index: Index | None) -> list[Delta]:
        self._kinds.pop(index, None)
        self._skipped.discard(index)
        return self._others.stop(index)

    def _delta(self, event: Event) -> list[Delta]:
        self._told = True
        index, delta = index_label(event.index), event.delta or _NO_STEP
        if delta.type == "arguments_delta" or kind_of(delta) is not None:
            return self._arguments(index, delta)
        if index in self._kinds and (extra := extra_of(delta)) is not None:
            return [CallSeen(0, index, None, None, None, self._kinds[index], extra=extra)]
        if index not in self._kinds:
            self._others.indices.add(index)  # its start may be lost
        return piece(index, delta)

    def _arguments(self, index: Index | None, delta: Step) -> list[Delta]:
        if kind_of(delta) is None and index in self._skipped:
            return []
        deltas = self._labels(index, delta)
        text, kind = wire_text(delta.arguments), self._kinds.get(index, "function")
        if text and bytes(delta.arguments).startswith(b'"'):
            return [*deltas, Slot(0, index, None, text)]
        return [*deltas, CallWhole(0, index, None, None, None, text, DONE, kind)] if text else deltas

    def _labels(self, index: Index | None, delta: Step) -> list[Delta]:
        """Report what a delta tells of its call beside the arguments; one with a name may begin it."""
        id_, kind, extra = id_label(delta.id), kind_of(delta), extra_of(delta)
        name = name_label(delta.name)
        if kind is not None:
            if self._kinds.get(index) != kind:  # else the start has told a name
                name = name_of(delta)
            self._others.indices.discard(index)
            self._skipped.discard(index)
            self._kinds[index] = kind
        if id_ is None and name is None and extra is None:
            return []
        known = self._kinds.get(index, "function")
        return [CallSeen(0, index, None, id_, name, known, extra=extra, begins=name is not None)]


def _finish(status: object) -> list[Delta]:
    """Return why the interaction ended; a failure takes back the calls that it leaves open."""
    known = turn_reason(status)
    if known is None or status == "in_progress":
        return []
    if status == "incomplete":
        return [Finish(0, "length", "incomplete")]
    return [Finish(0, *known, drops=known[0] == "error")]
