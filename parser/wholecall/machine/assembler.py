"""From deltas to events: keeps the turns of a stream, and routes each delta to its choice.

Theory of operation. A stream holds turns, a turn holds choices, a choice holds calls. A delta that belongs to
a choice is passed on to `routes`; those that concern a turn or the whole stream are handled here: turns that
begin, switch and end, faults that leave holes, and the last word on each choice, which waits until nothing
can follow. Nothing here parses or looks at argument text.

The hot path is `_say`: fragments in a row whose call is on the choice's hot list, of which none can begin an
object longer than the text, and which fit the granted room, are appended as one text and shown as they came.
All else goes the cold way, fragment by fragment, which heats the call again if it can.

Not handled here: framing, dialects, detection (see `wholecall.stream`), and what an argument text means
(see `wholecall.arguments`).
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from wholecall.arguments.placeholders import PLACEHOLDER_SIZE
from wholecall.arguments.tokens import holds_half
from wholecall.deltas import (
    CallCancelled,
    CallClosed,
    Finish,
    Fragment,
    Labelled,
    Noted,
    Run,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.machine.budget import Budget
from wholecall.machine.call import Call
from wholecall.machine.cancelling import take_back
from wholecall.machine.choice import Choice, Outbox
from wholecall.machine.endings import ending
from wholecall.machine.routes import action_of, judge_all, reason_all
from wholecall.machine.settling import settle
from wholecall.machine.turn import TurnState
from wholecall.output.events import StreamFault, TextDelta, ToolCallCancelled, TurnStarted
from wholecall.output.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wholecall.deltas import Delta, Piecewise
    from wholecall.limits import Limits
    from wholecall.machine.verdicts import Ended
    from wholecall.output.events import Event
    from wholecall.policy import Policy
    from wholecall.tools import Tools

__all__ = ["Assembler"]

_LONGEST_DETAIL = 4096  # characters of what a server says of its error
_MOST_COUNTS = 256  # members of a turn's usage, after which no more are taken up
_AFTERTHOUGHTS = (Finish, CallClosed, Noted)  # deltas that say nothing once a turn is over


class Assembler:
    """Turns the deltas of one stream into events.

    Attributes:
        dialect: the name that `TurnStarted` carries; the parser sets it when it is known.
        turns: the turns of the stream so far, the last `Limits.max_turns` of them.
        n_turns: how many there were.
    """

    DERIVED: ClassVar = frozenset(
        ["dialect", "_policy", "_limits", "_tools", "_out", "_choices", "_turn_actions"]
    )

    turns: list[TurnState]
    n_turns: int
    failed: bool
    _early_faults: list[StreamFault]
    _early_usage: dict[str, Any]
    _keys: dict[str, TurnState]
    _turn: TurnState | None
    _spoke: set[TurnState]
    _since_hole: set[TurnState]
    _over: dict[str, Choice]

    def __init__(self, policy: Policy, limits: Limits, tools: Tools[Any] | None = None) -> None:
        self.dialect = "unknown"
        self.turns, self.n_turns, self.failed = [], 0, False
        self._policy, self._limits, self._tools = policy, limits, tools
        self._out = Outbox()
        self._early_faults, self._early_usage = [], {}  # of frames before the first turn
        self._keys = {}
        self._turn = None
        self._spoke = set()  # turns that may hold text
        self._since_hole = set()  # turns in which calls may have opened since the last hole
        self._choices: dict[int, Choice] = {}  # those of the current turn
        self._over = {}  # of turns that ended, by the ids of their calls
        self._turn_actions: dict[type, Callable[[Any], None]] = {
            TurnOpened: self._turn_opened,
            TurnEnded: self._turn_ended,
            UsageSeen: self._usage,
            CallCancelled: self._cancelled,
            WireFault: self._fault,
        }

    def makers(self) -> dict[type, Callable[[], Any]]:
        """Return how to make the objects of turns that a snapshot holds."""
        limits = self._limits
        return {
            TurnState: lambda: TurnState(0, TurnOpened(None), self.dialect, limits),
            Choice: lambda: Choice(0, 0, self._out, Budget(limits), self._policy, limits, self._tools),
            Call: lambda: Call(0, 0, "function"),
            Budget: lambda: Budget(limits),
        }

    def remade(self) -> None:
        """Find the choices of the current turn; snapshots hold them once.

        Raises:
            ValueError: the turns are not the last ones, in their order.
        """
        if [turn.number for turn in self.turns] != list(range(self._n_gone, self.n_turns)):
            raise ValueError("the turns are not the last ones")
        self._choices = self._turn.choices if self._turn is not None else {}

    @property
    def _n_gone(self) -> int:
        """How many turns were forgotten."""
        return self.n_turns - len(self.turns)

    def call(self, turn: int, choice: int, number: int) -> Call | None:
        """Return the call of this number, None if there is none."""
        choices = self.turns[place].choices if 0 <= (place := turn - self._n_gone) < len(self.turns) else {}
        calls = choices[choice].calls if choice in choices else []
        return next((call for call in calls if call.number == number), None)

    def take(self) -> list[Event[Any]]:
        """Return the events since the last call."""
        out = self._out
        events, out.events = out.events, []
        return events

    def advance(self, deltas: Iterable[Delta]) -> None:
        """Take deltas in the order of their frames."""
        for delta in deltas:
            if type(delta) is Run:
                if not self._say(delta.of, delta.texts):
                    self._take_singly(delta)
            elif type(delta) is Slot or type(delta) is Fragment:
                if not (text := delta.text) or holds_half(text) or not self._say(delta, (text,)):
                    self._route(delta)
            else:
                self._route(delta)

    def _take_singly(self, run: Run) -> None:
        """Take the pieces of a run the cold way, but for those that follow a first one at once: it heats its call."""
        self._route(replace(run.of, text=run.texts[0]))
        others = run.texts[1:]
        if others and not self._say(run.of, others):
            self.advance(run.pieces()[1:])

    def _say(self, of: Piecewise, texts: Sequence[str]) -> bool:
        """Take pieces of what `of` says at once; False, and nothing taken, where one could mean anything else."""
        choice = self._choices.get(of.choice)
        if choice is None:
            return False
        if type(of) is Slot:
            call = choice.hot_slots.get(of.index)
            if call is not None and (of.alias != call.heard or (of.id is not None and of.id != call.id)):
                call = None
        elif type(of) is Fragment:
            call = choice.hot.get(of.index)
        else:
            return type(of) is TextFragment and self._tell(choice, texts)
        if call is None:
            return False
        text = "".join(texts)
        room = call.room - len(text)
        if room < 0 or ("{" in text and not PLACEHOLDER_SIZE < call.size > len(text)):
            return False
        call.parts.append(text)
        call.room = room
        self._out.events.extend(map(call.tell, texts))
        return True

    def _tell(self, choice: Choice, texts: Sequence[str]) -> bool:
        """Tell pieces of visible text of a choice that goes on; False if it was ended."""
        if choice.ended:
            return False
        choice.text.append("".join(texts))
        self._out.events.extend(map(TextDelta, repeat(choice.turn), repeat(choice.number), texts))
        return True

    def advance_replaced(self, deltas: Iterable[Delta]) -> None:
        """Take the deltas of a frame in which bytes that are not UTF-8 were replaced."""
        for delta in deltas:
            for piece in delta.pieces() if isinstance(delta, Run) else (delta,):
                self._route(piece, replaced=True)

    def _route(self, delta: Any, *, replaced: bool = False) -> None:
        if self.failed:
            return
        action = action_of(type(delta))
        if action is None:
            self._turn_actions[type(delta)](delta)
            return
        choice = self._choices.get(delta.choice) or self._choice(delta.choice)
        if choice is None:
            self._ignore(delta)
        elif not choice.ended:
            choice.replaced = replaced
            choice.holed = False
            action(choice, delta)
        elif not isinstance(delta, _AFTERTHOUGHTS):
            choice.anomalies.add("data_after_end")

    def _ignore(self, delta: Any) -> None:
        """A delta of a choice beyond the limit; if it is argument text without a name, a call elsewhere may lack it."""
        nameless = isinstance(delta, Fragment) or (isinstance(delta, Labelled) and delta.name is None)
        if nameless and delta.text and self._turn is not None:
            self._turn.unclaimed = True

    def snapshot(self) -> Turn[Any]:
        """Return the current turn as it stands, an empty one if none began."""
        return self._turn.view() if self._turn is not None else Turn(None)

    def snapshots(self, start: int = 0) -> tuple[Turn[Any], ...]:
        """Return the turns so far that are kept, from the one of this number on."""
        return tuple(turn.view() for turn in self.turns[max(start - self._n_gone, 0) :])

    def forget(self) -> None:
        """Let go of what turns said so far."""
        for turn in self._spoke:
            turn.forget()
        self._spoke = {self._turn} if self._turn is not None else set()

    # Turns and choices.

    def _choice(self, number: int) -> Choice | None:
        """Return a new choice of this number, None beyond the limit."""
        turn = self._turn or self._open_turn(TurnOpened(None))
        limit = self._limits.max_choices
        if limit is None or len(turn.choices) < max(limit, 1):
            options = self._policy, self._limits, self._tools
            choice = turn.choices[number] = Choice(turn.number, number, self._out, turn.budget, *options)
            choice.lost = turn.lost
            return choice
        next(iter(turn.choices.values())).anomalies.add("unknown_events")
        return None

    def _begin(self, opened: TurnOpened) -> TurnState:
        self._let_go()
        turn = TurnState(self.n_turns, opened, self.dialect, self._limits)
        turn.faults, self._early_faults = self._early_faults, []
        turn.usage, self._early_usage = self._early_usage, {}
        self.turns.append(turn)
        self.n_turns += 1
        if opened.key is not None:
            self._keys[opened.key] = turn
        self._switch(turn)
        return turn

    def _open_turn(self, opened: TurnOpened) -> TurnState:
        turn = self._begin(opened)
        self._out.events.append(TurnStarted(turn.number, 0, self.dialect, opened.id, opened.model))
        return turn

    def _let_go(self) -> None:
        """Make room for a turn: end the oldest one if it still goes on, and forget it."""
        limit = self._limits.max_turns
        if limit is None or len(self.turns) < max(limit, 1):
            return
        oldest = self.turns[0]
        self._finish_turn(oldest, "open")
        del self.turns[0]
        self._spoke.discard(oldest)
        self._since_hole.discard(oldest)
        if oldest.key is not None and self._keys.get(oldest.key) is oldest:
            del self._keys[oldest.key]
        for choice in oldest.choices.values():
            for id in choice.by_id:
                if self._over.get(id) is choice:
                    del self._over[id]

    def _switch(self, turn: TurnState) -> None:
        self._turn = turn
        self._choices = turn.choices
        self._spoke.add(turn)
        self._since_hole.add(turn)

    def _turn_opened(self, delta: TurnOpened) -> None:
        known = self._keys.get(delta.key) if delta.key is not None else None
        if known is not None and not delta.restart and not known.finished:
            self._switch(known)
            return
        now = self._turn
        if delta.restart and now is not None:
            if now.key == delta.key and not now.ended:
                now.begin_again()
                return
            self._finish_turn(now, "open")
        self._open_turn(delta)

    def _turn_ended(self, delta: TurnEnded) -> None:
        turn = self._keys.get(delta.key) if delta.key is not None else None
        turn = turn or self._turn or self._open_turn(TurnOpened(None))
        if not delta.of_transport:
            reason_all(turn.choices.values())
        self._end_turn(turn, "clean")

    def _end_turn(self, turn: TurnState, ended: Ended) -> None:
        """Every open call of the turn gets its verdict; the last word on the turn waits for `_finish_turn`."""
        turn.ended = True
        choices = [choice for _, choice in sorted(turn.choices.items()) if not choice.ended]
        for choice in choices:
            settle(choice, ending(choice.reason, ended))
        unclaimed = turn.unclaimed or any(choice.holds_strays for choice in turn.choices.values())
        for choice in choices:
            choice.unclaimed = unclaimed
            self._end_choice(choice, ended)
            self._over.update(dict.fromkeys(choice.by_id, choice))

    def _end_choice(self, choice: Choice, ended: Ended) -> None:
        choice.ended = True
        if ended == "aborted":
            choice.reason = "error" if self.failed else "aborted"
        judge_all(choice, ending(choice.reason, ended), "open" if ended == "open" else None)

    def _finish_turn(self, turn: TurnState, ended: Ended) -> None:
        """End what is open and say the last word on each choice."""
        if turn.finished:
            return
        if not turn.choices:
            current = self._turn or turn
            self._switch(turn)
            self._choice(0)
            self._switch(current)
        self._end_turn(turn, ended)
        turn.finish()
        self._out.events.extend(turn.finished.values())

    def close(self, ended: Ended = "open", detail: str = "") -> None:
        """The stream is over: finish every turn; an empty stream has one empty turn.

        `detail` says why, for calls that an abort drops.
        """
        if not self.turns:
            self._begin(TurnOpened(None))
        for turn in self.turns:
            for choice in turn.choices.values():
                choice.abort_detail = detail or choice.abort_detail
            self._finish_turn(turn, "aborted" if self.failed else ended)

    # Deltas of the whole turn, and about calls of any turn.

    def _usage(self, delta: UsageSeen) -> None:
        usage = self._early_usage if self._turn is None else self._turn.usage
        if len(usage) <= _MOST_COUNTS:
            usage.update(delta.usage)

    def _cancelled(self, delta: CallCancelled) -> None:
        here = (choice for choice in self._choices.values() if delta.id in choice.by_id)
        choice = next(here, None) or self._over.get(delta.id)
        turn, number = (self._turn.number if self._turn is not None else 0), 0
        if choice is not None:  # else it is a call of a stream before this one
            turn, number = choice.turn, choice.number
        if take_back(choice, delta):
            self._out.events.append(ToolCallCancelled(turn, number, delta.id))

    def _fault(self, delta: WireFault) -> None:
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
            self.failed = True
            for turn in self.turns:
                self._end_turn(turn, "aborted")

    def _hole(self) -> None:
        """Argument text was lost, of any open call; only what changed since the last hole is looked at (of many)."""
        for turn in self._since_hole:
            turn.lost = True
            for choice in turn.choices.values():
                if not choice.holed:
                    choice.lose_text()
        self._since_hole = {self._turn} if self._turn is not None else set()
