"""From deltas to events: routes each fact to its turn, its choice and its call.

Theory of operation. A stream holds turns, a turn holds choices, a choice holds calls. Deltas come in order and
are dispatched by type: labelled facts are bound by `binding`, slotted ones by `slots`; `phases` decides what
the news does to the call; `verdicts` judges it at its end. Nothing here parses or looks at argument text.

The hot path is the loop in `advance`: a fragment whose call is on the choice's hot list, which begins no
object longer than the text and fits the granted room, is appended and shown. All else goes the cold way,
which heats the call again if it can.

Not handled here: framing, dialects, detection (see `stream`), and what an argument text means
(see `arguments`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall import slots
from wholecall.binding import bind
from wholecall.choices import Choice
from wholecall.deltas import (
    HYDRATION,
    CallClosed,
    CallSeen,
    CallWhole,
    Finish,
    Fragment,
    Labelled,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.endings import outranks
from wholecall.events import ArgumentsDelta, ReasoningDelta, StreamFault, TextDelta, TurnStarted
from wholecall.phases import advance
from wholecall.turn_state import TurnState
from wholecall.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wholecall.calls import Call
    from wholecall.deltas import Delta
    from wholecall.events import Event
    from wholecall.limits import Limits
    from wholecall.policy import Policy
    from wholecall.verdicts import Ended

__all__ = ["Assembler"]

_PLACEHOLDER_SIZE = 8  # a text this short may be `{}`, which an object replaces
_CUT_REASONS = frozenset({"length", "content_filter"})


class Assembler:
    """Turns the deltas of one stream into events.

    Attributes:
        dialect: the name that `TurnStarted` carries; the parser sets it when it is known.
        turns: all turns of the stream so far.
    """

    def __init__(self, policy: Policy, limits: Limits) -> None:
        self.dialect = "unknown"
        self.turns: list[TurnState] = []
        self.replaced = False  # the current frame held invalid UTF-8
        self.failed = False
        self._policy = policy
        self._limits = limits
        self._out: list[Event] = []
        self._early_faults: list[StreamFault] = []  # of frames before the first turn
        self._keys: dict[str, TurnState] = {}
        self._turn: TurnState | None = None
        self._choices: dict[int, Choice] = {}  # those of the current turn

    def take(self) -> list[Event]:
        """Return the events since the last call."""
        events = self._out[:]
        self._out.clear()
        return events

    def advance(self, deltas: Iterable[Delta]) -> None:
        """Take the deltas of one frame, in order."""
        choices, out = self._choices, self._out
        for delta in deltas:
            kind = type(delta)
            choice = choices.get(delta.choice) if kind is Fragment or kind is Slot else None
            if choice is not None:  # the hot path: most common case first
                call = (choice.hot if kind is Fragment else choice.hot_slots).get(delta.index)
                if (
                    call is not None
                    and call.room >= len(text := delta.text)
                    and (text[0] != "{" or _PLACEHOLDER_SIZE < call.size > len(text))
                    and not "\ud800" <= text[-1] <= "\udbff"
                ):
                    call.append(text)
                    call.room -= len(text)
                    out.append(ArgumentsDelta(choice.turn, choice.number, call.number, text))
                    continue
            if not self.failed:
                _HANDLERS[kind](self, delta)
                choices = self._choices

    def snapshot(self) -> Turn:
        """Return the current turn as it stands, an empty one if none began."""
        return self._turn.view() if self._turn is not None else Turn(None)

    def snapshots(self) -> tuple[Turn, ...]:
        """Return all turns so far."""
        return tuple(turn.view() for turn in self.turns)

    # Turns and choices.

    def _choice(self, number: int) -> Choice:
        choice = self._choices.get(number)
        if choice is not None:
            return choice
        turn = self._turn or self._open_turn(TurnOpened(None))
        choice = Choice(turn.number, number, self._out, turn.budget, self._policy, self._limits)
        limit = self._limits.max_choices
        if limit is not None and len(turn.choices) >= limit:
            next(iter(turn.choices.values())).anomalies.add("unknown_events")
            choice.out = []  # nobody listens to choices beyond the limit
            return choice
        turn.choices[number] = choice
        return choice

    def _begin(self, opened: TurnOpened) -> TurnState:
        turn = TurnState(len(self.turns), opened, self.dialect, self._limits)
        turn.faults, self._early_faults = self._early_faults, []
        self.turns.append(turn)
        if opened.key is not None:
            self._keys[opened.key] = turn
        self._switch(turn)
        return turn

    def _open_turn(self, opened: TurnOpened) -> TurnState:
        turn = self._begin(opened)
        self._out.append(TurnStarted(turn.number, 0, self.dialect, opened.id, opened.model))
        return turn

    def _switch(self, turn: TurnState) -> None:
        self._turn = turn
        self._choices = turn.choices

    def _turn_opened(self, delta: TurnOpened) -> None:
        known = self._keys.get(delta.key) if delta.key is not None else None
        if known is not None and not delta.restart and not known.finished:
            self._switch(known)
            return
        if delta.restart and self._turn is not None:
            self._finish_turn(self._turn, "aborted")
        self._open_turn(delta)

    def _turn_ended(self, delta: TurnEnded) -> None:
        turn = self._keys.get(delta.key) if delta.key is not None else None
        self._end_turn(turn or self._turn or self._open_turn(TurnOpened(None)), "clean")

    def _end_turn(self, turn: TurnState, ended: Ended) -> None:
        """Every open call of the turn gets its verdict; the last word on the turn waits for `_finish_turn`."""
        for number in sorted(turn.choices):
            choice = turn.choices[number]
            if not choice.ended:
                self._end_choice(choice, ended)

    def _end_choice(self, choice: Choice, ended: Ended) -> None:
        choice.ended = True
        if ended == "aborted":
            choice.reason = "error" if self.failed else "aborted"
        elif choice.reason in _CUT_REASONS:
            ended = "length"
        elif choice.reason is not None:
            ended = "clean"
        self._judge_all(choice, ended)

    def _judge_all(self, choice: Choice, ended: Ended) -> None:
        """Judge the open calls: hollow ones last, as their text may have gone to one that is dropped."""
        news = "abort" if ended == "aborted" else "end"
        before = len(self._out)
        held_back: dict[int, list[Event]] = {}
        for call in sorted(choice.calls, key=lambda call: (call.hollow, call.number)):
            advance(choice, call, news, ended)
            held_back[call.number] = self._out[before:]
            del self._out[before:]
        for number in sorted(held_back):
            self._out.extend(held_back[number])
        choice.held = None
        choice.release()

    def _finish_turn(self, turn: TurnState, ended: Ended) -> None:
        """End what is open and say the last word on each choice."""
        if turn.finished:
            return
        if not turn.choices:
            self._switch(turn)
            self._choice(0)
        self._end_turn(turn, ended)
        turn.finish()
        self._out.extend(turn.finished.values())

    def close(self, ended: Ended = "open") -> None:
        """The stream is over: finish every turn; an empty stream has one empty turn."""
        if not self.turns:
            self._begin(TurnOpened(None))
        for turn in self.turns:
            self._finish_turn(turn, "aborted" if self.failed else ended)

    # Labelled facts.

    def _labelled(self, delta: Labelled) -> None:
        choice = self._choice(delta.choice)
        if choice.ended:
            choice.anomalies.add("data_after_end")
            return
        call = bind(choice, delta)
        if call is None:
            return
        if delta.kind == "custom" and call.empty:
            call.kind = "custom"
        _add_extra(call, delta.extra)
        if delta.name is not None:
            advance(choice, call, "name", delta.name)
        if delta.rank:
            advance(choice, call, "whole", (delta.text, delta.rank))
        elif delta.text:
            self._take_text(choice, call, delta.text)
        if delta.index is not None:
            choice.heat(call, delta.index)

    def _fragment(self, delta: Fragment) -> None:
        self._labelled(Labelled(delta.choice, delta.index, None, None, delta.text))

    def _take_text(self, choice: Choice, call: Call, text: str) -> None:
        if self.replaced and "\ufffd" in text:
            call.refuse("invalid_utf8", "the argument text held bytes that are not UTF-8")
        advance(choice, call, "fragment", text)

    # Slotted facts.

    def _slot(self, delta: Slot) -> None:
        choice = self._choice(delta.choice)
        call = self._located(choice, delta)
        if call is not None and delta.text:
            self._take_text(choice, call, delta.text)
            if delta.index is not None:
                choice.heat(call, delta.index)

    def _call_seen(self, delta: CallSeen) -> None:
        choice = self._choice(delta.choice)
        call = self._located(choice, delta)
        if call is not None:
            self._learn(choice, call, delta)

    def _call_whole(self, delta: CallWhole) -> None:
        choice = self._choice(delta.choice)
        call = self._located(choice, delta)
        if call is None:
            return
        if delta.id_wins and delta.id is not None and call.id not in (None, delta.id):
            choice.claim_id(call, delta.id)
            call.id = delta.id
        self._learn(choice, call, delta)
        if delta.text:
            if self.replaced and "\ufffd" in delta.text:
                call.refuse("invalid_utf8", "the argument text held bytes that are not UTF-8")
            advance(choice, call, "whole", (delta.text, delta.rank))

    def _located(self, choice: Choice, delta: Slot | CallSeen | CallWhole) -> Call | None:
        """Return the call in the delta's slot, opened if need be."""
        if choice.ended:
            choice.anomalies.add("data_after_end")
            return None
        if isinstance(delta, CallWhole) and delta.rank == HYDRATION:
            call = slots.find_restated(choice, delta)
        else:
            call = slots.find(choice, delta)
        if call is None or (isinstance(delta, CallSeen) and slots.is_another(call, delta)):
            self._release_held(choice)
            return slots.open_slot(choice, delta)
        if not (isinstance(delta, CallWhole) and delta.rank == HYDRATION):
            slots.learn_slot(choice, call, delta)
        return call

    def _learn(self, choice: Choice, call: Call, delta: CallSeen | CallWhole) -> None:
        if delta.kind != call.kind and call.phase == "pending":
            choice.cool(call)
            call.kind = delta.kind
        if delta.id is not None and call.phase != "ended":
            choice.claim_id(call, delta.id)
        call.namespace = call.namespace or delta.namespace
        call.flags.update(delta.flags)
        _add_extra(call, delta.extra)
        if delta.name is not None:
            advance(choice, call, "name", delta.name)

    def _call_closed(self, delta: CallClosed) -> None:
        choice = self._choice(delta.choice)
        call = slots.find(choice, delta)
        if call is None or choice.ended:
            return
        if delta.final or delta.truncated:
            advance(choice, call, "close", delta.truncated)
        elif call.phase != "ended":
            if choice.held is not call:
                self._release_held(choice)
            call.closed = True
            choice.held = call

    def _release_held(self, choice: Choice) -> None:
        """The next block begins: the one before it was whole."""
        held, choice.held = choice.held, None
        if held is not None:
            advance(choice, held, "close", False)

    # Ends and the rest.

    def _finish(self, delta: Finish) -> None:
        choice = self._choice(delta.choice)
        if choice.ended:
            return
        if outranks(delta.reason, choice.reason):
            choice.reason, choice.provider_reason = delta.reason, delta.provider_reason
        if delta.drops:
            self._judge_all(choice, "aborted")
            return
        ended: Ended = "length" if delta.reason in _CUT_REASONS else "clean"
        for call in choice.calls:
            if call is choice.held and ended == "length":
                advance(choice, call, "end", ended)
            elif call is choice.held:
                advance(choice, call, "close", False)
            else:
                advance(choice, call, "finish", ended)
        choice.held = None

    def _text(self, delta: TextFragment) -> None:
        choice = self._choice(delta.choice)
        if choice.ended:
            choice.anomalies.add("data_after_end")
            return
        choice.text.append(delta.text)
        self._out.append(TextDelta(choice.turn, choice.number, delta.text))

    def _reasoning(self, delta: ReasoningFragment) -> None:
        choice = self._choice(delta.choice)
        choice.reason_with(delta)
        if delta.text:
            self._out.append(ReasoningDelta(choice.turn, choice.number, delta.text))

    def _usage(self, delta: UsageSeen) -> None:
        turn = self._turn or self._open_turn(TurnOpened(None))
        turn.usage = {**(turn.usage or {}), **delta.usage}

    def _noted(self, delta: Noted) -> None:
        self._choice(delta.choice).anomalies.add(delta.anomaly)

    def _fault(self, delta: WireFault) -> None:
        turn = self._turn
        number = turn.number if turn is not None else 0
        fault = StreamFault(number, 0, delta.kind, delta.detail, delta.error, delta.fatal, delta.raw)
        self._out.append(fault)
        faults = turn.faults if turn is not None else self._early_faults
        limit = self._limits.max_faults
        if limit is None or len(faults) < limit:
            faults.append(fault)
        if delta.hole:
            self._hole()
        if delta.fatal:
            self.failed = True
            for turn in self.turns:
                self._end_turn(turn, "aborted")

    def _hole(self) -> None:
        """Argument text was lost: it may have been any open call's."""
        for choice in self._choices.values():
            for call in choice.calls:
                if call.phase != "ended":
                    call.hole = True


def _add_extra(call: Call, extra: dict[str, Any] | None) -> None:
    if extra:
        call.extra = {**(call.extra or {}), **extra}


_HANDLERS: dict[type, Callable[[Assembler, Any], None]] = {
    Fragment: Assembler._fragment,
    Labelled: Assembler._labelled,
    Slot: Assembler._slot,
    CallSeen: Assembler._call_seen,
    CallWhole: Assembler._call_whole,
    CallClosed: Assembler._call_closed,
    TurnOpened: Assembler._turn_opened,
    TurnEnded: Assembler._turn_ended,
    Finish: Assembler._finish,
    TextFragment: Assembler._text,
    ReasoningFragment: Assembler._reasoning,
    UsageSeen: Assembler._usage,
    Noted: Assembler._noted,
    WireFault: Assembler._fault,
}
