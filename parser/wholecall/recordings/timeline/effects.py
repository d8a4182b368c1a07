"""The effects of each step of a stream: the changes of its calls, and the spans of its texts.

Theory of operation
-------------------
Events hold only certain facts; the things that a call waits for (a name, its end) are only in its record. After each
step `CallWatch` reads the records of the open calls, without changing them, and describes the differences from the
previous step in a `CallChange`. That takes time in proportion to the open calls and to the new text, never to the text
so far.

Text in force is reported as it arrived: `added` after the known text, or, with `replaced`, in its place. All changes of
a call together give the raw text of its end: where they would not, the last change replaces the text.

The engines that read calls from the texts of a stream classify each span; spans that show no text and open no call
leave no trace in the events. `ListeningAssembler` only listens to the layer that calls the engines: its use of their
answers stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Optional, cast

import msgspec

from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.calls.arguments.verdict import Edit
from wholecall.calls.output import call_events
from wholecall.calls.output.events import EXECUTABLE, TERMINAL, Event
from wholecall.deltas import CallWritten, Delta, ReasoningFragment, TextFragment
from wholecall.discreet import discreet_repr
from wholecall.machine.call import Call, Phase
from wholecall.stream.written import TextAssembler
from wholecall.text.layer import TextLayer
from wholecall.text.outputs import Markup, Output, Shown, Written
from wholecall.types import Anomaly, DropReason, Flag, Kind

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.machine.turn import TurnState
    from wholecall.policy import Policy
    from wholecall.text.engine import TextEngine
    from wholecall.text.options import TextCalls
    from wholecall.text.source import Ended

Outcome = Literal["exact", "normalised", "recovered", "empty", "whole", "dropped"]
SpanKind = Literal["text", "reasoning", "markup", "call", "drop"]
Key = tuple[int, int, int]


class CallChange(msgspec.Struct, frozen=True):
    """The effect of one step on one call.

    Attributes:
        turn, choice, index: the call, as in events.
        before: its phase before the step, None if it did not exist.
        after: its phase after the step.
        kind: the kind of the call.
        id: the id that became known with this step (also a minted id), else None.
        name: the name since this step, None if it did not change.
        added: argument text that came into force.
        replaced: whether that text replaces the known text, instead of following it.
        size: characters of the text in force after the step.
        flags: oddities of the call that became known with this step, sorted.
        hole: whether text was lost in this step that may have belonged to this call.
        outcome: how the call ended: the status of its verdict, `whole` for calls without one, or `dropped`; None while
            it is open.
        reason: why it was dropped, else None.
        edits: the changes made to read its text.
        text_format: the format in which the model wrote it as text; None for calls of the wire, and after the first
            change.
    """

    turn: int
    choice: int
    index: int
    before: Optional[Phase]
    after: Phase
    kind: Kind = "function"
    id: Optional[str] = None
    name: Optional[str] = None
    added: str = ""
    replaced: bool = False
    size: int = 0
    flags: tuple[Flag, ...] = ()
    hole: bool = False
    outcome: Optional[Outcome] = None
    reason: Optional[DropReason] = None
    edits: tuple[Edit, ...] = ()
    text_format: Optional[str] = None

    __repr__ = discreet_repr


class CallWatch:
    """A watch on the calls of one stream."""

    def __init__(self) -> None:
        self._seen: dict[Key, _Seen] = {}  # calls that are not over
        self._n_seen: dict[tuple[int, int], int] = {}  # calls of each choice that were looked at
        self._anomalies: dict[tuple[int, int], set[Anomaly]] = {}
        self._tentative: list[Call] = []  # calls without a number, which may never get one
        self._open: list[TurnState] = []  # turns that may still change
        self._n_turns = 0

    def look(
        self, turns: list[TurnState], events: Iterable[Event[Any]], *, end: bool = False
    ) -> tuple[tuple[CallChange, ...], tuple[Anomaly, ...]]:
        """Return the changes since the last look, in the order of the calls, and the new anomalies.

        For turns before the current one that are over, late anomalies are reported at the end.

        Args:
            turns: the turns of the stream.
            events: the events since the last look.
            end: whether the stream is over.
        """
        by_call: dict[Key, list[Event[Any]]] = {}
        for event in events:
            index = getattr(event, "index", None)
            if index is not None:
                by_call.setdefault((event.turn, event.choice, index), []).append(event)
        anomalies: set[Anomaly] = set()
        n_gone = turns[0].number if turns else 0  # a parser forgets the oldest turns
        self._open += turns[max(self._n_turns - n_gone, 0) :]
        self._n_turns = n_gone + len(turns)
        for turn in turns if end else self._open:
            anomalies |= self._meet(turn)
        self._open = [turn for turn in self._open if turn is turns[-1] or not _is_over(turn)]
        changes = [
            change for key in sorted(self._seen) if (change := self._seen[key].change(by_call.get(key, ())))
        ]
        for key in [key for key, seen in self._seen.items() if seen.is_over]:
            del self._seen[key]
        return tuple(changes), tuple(sorted(anomalies))

    def _meet(self, turn: TurnState) -> set[Anomaly]:
        """Add the turn's new calls; return its new anomalies."""
        fresh: set[Anomaly] = set()
        for choice in turn.choices.values():
            where = turn.number, choice.number
            met = [*self._tentative, *choice.calls[self._n_seen.get(where, 0) :]]
            self._n_seen[where] = len(choice.calls)
            self._tentative = [call for call in met if call.number < 0 and not call.is_over]
            for call in met:
                if call.number >= 0:
                    self._seen[call.turn, call.choice, call.number] = _Seen(call)
            known = self._anomalies.setdefault(where, set())
            fresh |= choice.anomalies - known
            known |= choice.anomalies
        return fresh


class _Seen:
    """A call in its state at the last look."""

    def __init__(self, call: Call) -> None:
        self.is_over = False
        self._call = call
        self._phase: Phase | None = None
        self._id: str | None = None
        self._name: str | None = None
        self._flags: set[Flag] = set()
        self._lacks_text = False
        self._parts: list[str] = []  # the text in force, as it was reported
        self._size = 0  # its characters
        self._fragments = 0  # characters of the fragments
        self._restated: str | None = None
        self._shows_restated = False

    def change(self, events: Iterable[Event[Any]]) -> CallChange | None:
        """Return the change since the last look, None without one."""
        call, before = self._call, self._phase
        end = next((event for event in events if isinstance(event, TERMINAL)), None)
        added, replaced = self._news(events, end)
        new_flags = call.flags.union(_final_flags(end)) - self._flags
        facts: dict[str, Any] = {
            "id": self._if_new("_id", end.id if end is not None else call.id),
            "name": self._if_new("_name", call.public_name or call.name),
            "added": added,
            "replaced": replaced,
            "flags": tuple(sorted(new_flags)),
            "hole": call.lacks_text and not self._lacks_text,
            "text_format": (call.extra or {}).get("text_format") if before is None else None,
            **_outcome(end),
        }
        self._phase, self._lacks_text = _phase(call), call.lacks_text
        self._flags |= new_flags
        self.is_over = end is not None
        if before == self._phase and not any(facts.values()):
            return None
        where = call.turn, call.choice, call.number
        return CallChange(*where, before, self._phase, call.kind, size=self._size, **facts)

    def _if_new(self, field: str, value: str | None) -> str | None:
        known = getattr(self, field)
        if value is None or value == known:
            return None
        setattr(self, field, value)
        return value

    # Text.

    def _news(self, events: Iterable[Event[Any]], end: Event[Any] | None) -> tuple[str, bool]:
        """Return the new text, and whether it replaces the reported text."""
        final = _final_text(end)
        if final is not None:
            return self._compared(final)
        call = self._call
        if (
            call.restated is not None
            and call.restated != self._restated
            and not is_placeholder(call.restated)
        ):
            self._restated, self._shows_restated = call.restated, True
            return self._compared(call.restated)
        deltas = [event.delta for event in events if isinstance(event, call_events.ArgumentsDelta)]
        started = self._phase in {None, "pending"} or self._shows_restated
        was_reset = any(isinstance(event, call_events.ArgumentsReset) for event in events)
        if was_reset or (deltas and started):
            self._shows_restated = False
            self._fragments = call.size
            return self._compared(call.tail(call.size))
        if deltas:
            self._fragments = call.size
            return self._noted("".join(deltas), replaced=False)
        return self._buffered() if not self._shows_restated else ("", False)

    def _buffered(self) -> tuple[str, bool]:
        """Return text that waits for a name; no event has reported it."""
        grown, self._fragments = self._call.size - self._fragments, self._call.size
        if grown < 0 or (grown > 0 and {"placeholder"} & self._call.flags - self._flags):
            return self._compared(self._call.tail(self._call.size))
        return self._noted(self._call.tail(grown), replaced=False)

    def _compared(self, text: str) -> tuple[str, bool]:
        """Return the part of a text after the reported text, or all of it if it does not begin with that."""
        known = "".join(self._parts)
        if text.startswith(known):
            return self._noted(text[len(known) :], replaced=False)
        return self._noted(text, replaced=True)

    def _noted(self, text: str, *, replaced: bool) -> tuple[str, bool]:
        if replaced:
            self._parts.clear()
            self._size = 0
        if text:
            self._parts.append(text)
        self._size += len(text)
        return text, replaced


def _is_over(turn: TurnState) -> bool:
    choices = turn.choices.values()
    return bool(turn.finished) or (bool(choices) and all(choice.ended for choice in choices))


def _phase(call: Call) -> Phase:
    phase: Any = call.phase
    checked: Phase = phase
    return checked


def _final_text(end: Event[Any] | None) -> str | None:
    if isinstance(end, (call_events.ToolCall, call_events.ServerToolCall, call_events.ToolCallDropped)):
        return end.raw_arguments
    return end.input if isinstance(end, call_events.CustomToolCall) else None


def _final_flags(end: Event[Any] | None) -> tuple[Flag, ...]:
    if isinstance(end, (*EXECUTABLE, call_events.ServerToolCall)):
        return end.flags
    return ()


def _outcome(end: Event[Any] | None) -> dict[str, Any]:
    if isinstance(end, call_events.ToolCallDropped):
        return {"outcome": "dropped", "reason": end.reason}
    if isinstance(end, call_events.ToolCall):
        return {"outcome": end.status, "edits": end.edits}
    return {"outcome": "whole" if end is not None else None}


# Spans of texts.


class TextSpan(msgspec.Struct, frozen=True):
    """A part of a text.

    Attributes:
        choice: the choice that the text belongs to.
        kind: the class of the span.
        text: the text as the model wrote it.
    """

    choice: int
    kind: SpanKind
    text: str

    __repr__ = discreet_repr


class ListeningAssembler(TextAssembler):
    """An assembler of one stream that also keeps the classes of the parts of its texts."""

    def __init__(self, wanted: TextCalls, policy: Policy, limits: Limits) -> None:
        super().__init__(wanted, policy, limits, None)
        self._layer = self._listening = _ListeningLayer(wanted, None, limits)

    def spans(self) -> tuple[TextSpan, ...]:
        """Return the parts of texts that were decided since the last time."""
        heard, self._listening.heard = self._listening.heard, []
        return tuple(_joined(heard))


class _ListeningLayer(TextLayer):
    """A text layer of one stream that keeps the answers of its engines."""

    def __init__(self, wanted: TextCalls, tools: None, limits: Limits) -> None:
        super().__init__(wanted, tools, limits)
        self.heard: list[TextSpan] = []

    def abort(self) -> Iterator[Delta]:
        """End all texts; the text that they held was classified by no engine."""
        for delta in super().abort():
            if isinstance(delta, CallWritten):
                self.heard.append(TextSpan(delta.choice, "drop", delta.source))
            elif isinstance(delta, TextFragment):
                self.heard.append(TextSpan(delta.choice, "text", delta.text))
            elif isinstance(delta, ReasoningFragment):
                self.heard.append(TextSpan(delta.choice, "reasoning", delta.text))
            yield delta

    def _engine(self, channel: Any) -> TextEngine:
        engine = super()._engine(channel)

        def hear(outputs: list[Output]) -> list[Output]:
            self.heard += (_span(output, channel.choice, channel.is_reasoning) for output in outputs)
            return outputs

        self._engines[channel] = cast("TextEngine", _Listened(engine, hear))
        return self._engines[channel]


class _Listened:
    """An engine whose answers are listened to, with the interface that its layer uses."""

    def __init__(self, engine: TextEngine, hear: Callable[[list[Output]], list[Output]]) -> None:
        self._engine = engine
        self._hear = hear

    @property
    def held(self) -> str:
        return self._engine.held

    def feed(self, piece: str) -> list[Output]:
        return self._hear(self._engine.feed(piece))

    def close(self, ended: Ended) -> list[Output]:
        return self._hear(self._engine.close(ended))


def _joined(spans: list[TextSpan]) -> Iterator[TextSpan]:
    """Yield spans; those other than calls and drops are joined if they were decided in several pieces."""
    for (choice, kind), alike in groupby(spans, lambda span: (span.choice, span.kind)):
        if kind in {"call", "drop"}:
            yield from alike
        else:
            yield TextSpan(choice, kind, "".join(span.text for span in alike))


def _span(output: Output, choice: int, is_reasoning: bool) -> TextSpan:
    if isinstance(output, Shown):
        return TextSpan(choice, "reasoning" if is_reasoning or output.reasoning else "text", output.text)
    if isinstance(output, Markup):
        return TextSpan(choice, "markup", output.text)
    return TextSpan(choice, "call" if isinstance(output, Written) else "drop", output.source)
