"""From deltas to events: passes each delta of a stream to the choice that it belongs to.

Theory of operation. A stream consists of turns, a turn of choices, a choice of calls. A dialect turns each frame of the
wire into deltas, and the `Assembler` takes these one after another and collects the events that follow. A delta that
belongs to a choice goes to `routes`, which finds its call. Deltas that concern a turn or the whole stream are handled
in the base class (`turns`) and here: usage counts, calls that are taken back, and faults, which may leave a hole, that
is, argument text that was lost. Nothing here parses argument text.

Most deltas of a stream are fragments of one call in a row, or of several calls in turn. They take the fast path
(`_append`): if the choice has the call in its table for that, if no fragment can begin an object longer than the text
so far, and if the budget has room, the fragments are appended as one text and emitted as they came. All others are
taken one by one (`_route`), which puts the call back on the fast path if it can.

Not handled here: framing, dialects and their detection (see `wholecall.stream`), and the meaning of argument text (see
`wholecall.calls.arguments`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from wholecall import deltas
from wholecall.calls.arguments import placeholders, tokens
from wholecall.calls.output.call_events import ToolCallCancelled
from wholecall.calls.output.events import Event, ReasoningDelta, StreamFault, TextDelta
from wholecall.machine import answers, cancelling, phases, routes
from wholecall.machine.said import SaidText
from wholecall.machine.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wholecall.calls.tools.tool import Tools
    from wholecall.limits import Limits
    from wholecall.machine.answer import OutputWanted
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.policy import Policy

_LONGEST_DETAIL = 4096  # characters of a server's description of its error
_MOST_COUNTS = 256  # members of a turn's usage; further ones are ignored
_OVERRUN = deltas.WireFault(
    "stream_too_large", "a call goes on for more than max_total_arguments_bytes beyond its limit", fatal=True
)
# Deltas that mean nothing once a turn is over.
_AFTERTHOUGHTS = (
    deltas.Finish,
    deltas.CallClosed,
    deltas.CallPlaced,
    deltas.Noted,
    deltas.SaidAgain,
    deltas.StepBegan,
    deltas.StepTakenBack,
    deltas.TextBegan,
    deltas.BlockKept,
)


class Assembler(Turns):
    """The assembler, which turns the deltas of one stream into events."""

    DERIVED: ClassVar = frozenset(["_fast", "_last", "_said", "_to_event"])

    def __init__(
        self,
        policy: Policy,
        limits: Limits,
        tools: Tools[Any] | None = None,
        *,
        pieces: bool = True,
        wanted: OutputWanted | None = None,
    ) -> None:
        super().__init__(policy, limits, tools, pieces=pieces, wanted=wanted)
        # While only pieces come: the calls to which they are appended, by what the pieces of a run have in common; and
        # the last text or reasoning, with the function that reports its pieces.
        self._fast: dict[deltas.Piecewise, Call] = {}
        self._last: deltas.Piecewise | None = None
        self._said = SaidText()
        self._to_event: Callable[[str], Event[Any]] = partial(TextDelta, 0, 0)

    @property
    def is_holding(self) -> bool:
        """Whether text waits that may still become a call: only where texts are read."""
        return False

    def keep(self) -> None:
        """Join the texts for a snapshot, whether they were read before or not."""
        for turn in self.turns:
            for choice in turn.choices.values():
                choice.content.join()

    def take(self) -> list[Event[Any]]:
        """Return the events since the last call."""
        out = self._out
        events, out.events = out.events, []
        return events

    def advance(self, told: Iterable[deltas.Delta]) -> None:
        """Take deltas, in the order of their frames."""
        for delta in told:
            if type(delta) is deltas.Run:
                call = self._fast.get(delta.of)
                if not (
                    self._append(call, delta.texts)
                    if call is not None
                    else self._take_at_once(delta.of, delta.texts)
                ):
                    self._take_singly(delta)
            elif type(delta) is deltas.Slot or type(delta) is deltas.Fragment:
                if (
                    not (text := delta.text)
                    or tokens.holds_half(text)
                    or (call := self._call_of(delta)) is None
                    or not self._append(call, (text,))
                ):
                    self._route(delta)
            else:
                self._route(delta)

    def _take_singly(self, run: deltas.Run) -> None:
        """Take the first piece of a run the long way, which puts its call on the fast path; then all others at once."""
        self._route(replace(run.of, text=run.texts[0]))
        others = run.texts[1:]
        if others and not self._take_at_once(run.of, others):
            for piece in run.pieces()[1:]:
                self._route(piece)

    def _take_at_once(self, of: deltas.Piecewise, texts: Sequence[str]) -> bool:
        """Take the pieces of a run; return False, and take none, if one could be more."""
        if of is not self._last:
            if isinstance(of, (deltas.Slot, deltas.Fragment)):
                call = self._call_of(of)
                if call is None:
                    return False
                self._fast[of] = call
                return self._append(call, texts)
            if not self._finds_speech(of):
                return False
        out, to_event = self._out, self._to_event
        if len(texts) == 1:
            self._said.add(texts[0])
            if out.pieces:
                out.events.append(to_event(texts[0]))
        else:
            self._said.add("".join(texts))
            if out.pieces:
                out.events.extend(map(to_event, texts))
        return True

    def _call_of(self, of: deltas.Slot | deltas.Fragment) -> Call | None:
        """Return the call on the fast path to which a piece is appended, None if there is none."""
        choice = self._choices.get(of.choice)
        if choice is None:
            return None
        if isinstance(of, deltas.Fragment):
            return choice.labels.fast.get(of.index)
        call = choice.slots.fast.get(of.index)
        if call is None or of.alias != call.fast_alias or (of.id is not None and of.id != call.id):
            return None
        return call

    def _append(self, call: Call, texts: Sequence[str]) -> bool:
        """Append pieces to a call; return False, and take none, if one could be more."""
        one = len(texts) == 1
        text = texts[0] if one else "".join(texts)
        room = call.room - len(text)
        if room < 0 or ("{" in text and not placeholders.PLACEHOLDER_SIZE < call.size > len(text)):
            return False
        call.parts.append(text)
        call.room = room
        out, to_event = self._out, call.to_event
        if out.pieces:
            if one:
                out.events.append(to_event(text))
            else:
                out.events.extend(map(to_event, texts))
        return True

    def _finds_speech(self, of: deltas.TextFragment | deltas.ReasoningFragment) -> bool:
        """Find the text of a choice to which pieces are added; return False if there is none."""
        choice = self._choices.get(of.choice)
        if choice is None or choice.ended:
            return False
        if type(of) is deltas.ReasoningFragment:
            self._said, self._to_event = (
                choice.content.block_of(of),
                partial(ReasoningDelta, choice.turn, choice.number),
            )
        else:
            self._said, self._to_event = choice.content.text, partial(TextDelta, choice.turn, choice.number)
        self._last = of
        return True

    def advance_replaced(self, told: Iterable[deltas.Delta]) -> None:
        """Take the deltas of a frame in which bytes that are not UTF-8 were replaced."""
        for delta in told:
            for piece in delta.pieces() if isinstance(delta, deltas.Run) else (delta,):
                self._route(piece, replaced=True)
                if (
                    isinstance(piece, deltas.TextFragment)
                    and (choice := self._choices.get(piece.choice)) is not None
                ):
                    answers.spoil(choice)

    def _route(self, delta: Any, *, replaced: bool = False) -> None:
        if self._fast:
            self._fast.clear()
        self._last = None
        if self.failed:
            if isinstance(delta, deltas.TurnOpened):
                self._outlive(delta)
            return
        rule = routes.RULES.get(type(delta))
        if rule is None:
            self._take_for_turns(delta)
            return
        choice = self._choices.get(delta.choice) or self._choice(delta.choice)
        if choice is None:
            self._ignore(delta)
        elif not choice.ended:
            choice.replaced = replaced
            choice.holed = False
            rule(choice, delta)
            if choice.budget.is_overrun:
                self._end_overrun(choice)
        elif not isinstance(delta, _AFTERTHOUGHTS):
            choice.anomalies.add("data_after_end")

    def _end_overrun(self, choice: Choice) -> None:
        """End the stream, because too much text was refused; the calls that lost it are dropped for their limit."""
        for call in choice.calls:
            if call.full and not call.is_over:
                phases.advance(choice, call, "end", "clean")
        self._fault(_OVERRUN)

    def _ignore(self, delta: Any) -> None:
        """Drop a delta of a choice beyond the limit; argument text without a name may be missing elsewhere."""
        nameless = isinstance(delta, deltas.Fragment) or (
            isinstance(delta, deltas.Labelled) and delta.name is None
        )
        if nameless and delta.text and self._turn is not None:
            self._turn.text_elsewhere = True

    # Deltas of the whole turn, and about calls of any turn.

    def _take_for_turns(self, delta: deltas.Delta) -> None:
        """Take a delta that belongs to no choice."""
        if isinstance(delta, deltas.UsageSeen):
            self._usage(delta)
        elif isinstance(delta, deltas.TurnOpened):
            self._turn_opened(delta)
        elif isinstance(delta, deltas.TurnEnded):
            self._turn_ended(delta)
        elif isinstance(delta, deltas.CarriesOn):
            self._carries_on(delta)
        elif isinstance(delta, deltas.CallAnswered):
            self._answered(delta)
        elif isinstance(delta, deltas.CallCancelled):
            self._cancelled(delta)
        elif isinstance(delta, deltas.CallUnread):
            self._unread(delta)
        else:
            assert isinstance(delta, deltas.WireFault), delta
            self._fault(delta)

    def _usage(self, delta: deltas.UsageSeen) -> None:
        usage = self._early_usage if self._turn is None else self._turn.usage
        if len(usage) <= _MOST_COUNTS or delta.usage.keys() <= usage.keys():
            usage.update(delta.usage)

    def _carries_on(self, delta: deltas.CarriesOn) -> None:
        if self._turn is not None:
            self._turn.carries_on.update(delta.members)

    def _cancelled(self, delta: deltas.CallCancelled) -> None:
        choice = self._having(delta.id)
        turn, number = (self._turn.number if self._turn is not None else 0), 0
        if choice is not None:
            turn, number = choice.turn, choice.number
        elif delta.answered:  # of an earlier stream, or of a call that will come later
            self._out.told.answer(deltas.CallAnswered(delta.id))
        if cancelling.take_back(choice, delta):
            self._out.events.append(ToolCallCancelled(turn, number, delta.id))

    def _having(self, id: str) -> Choice | None:
        """Return the choice that has a call of an id: a choice of this turn, else the last of those that ended."""
        here = (choice for choice in self._choices.values() if id in choice.labels.by_id)
        return next(here, None) or self._over.get(id)

    def _answered(self, delta: deltas.CallAnswered) -> None:
        if self._having(delta.id) is None:
            self._out.told.answer(delta)

    def _fault(self, delta: deltas.WireFault) -> None:
        turn = self._turn
        number = turn.number if turn is not None else 0
        detail, raw = delta.detail[:_LONGEST_DETAIL], delta.raw[: self._limits.max_raw_bytes]
        fault = StreamFault(number, 0, delta.kind, detail, delta.error, delta.fatal, raw)
        self._out.events.append(fault)
        faults = turn.faults if turn is not None else self._early_faults
        limit = self._limits.max_faults
        if limit is None or len(faults) < limit:
            faults.append(fault)
        if delta.hole:
            self._hole()
        if delta.fatal:
            self.failed, self.is_refused = True, delta.kind == "provider_error"
            for turn in self.turns:
                self._end_turn(turn, "aborted")
