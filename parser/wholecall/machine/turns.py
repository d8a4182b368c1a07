"""The turns of one stream: which one is current, how they begin and end, and which are kept.

Theory of operation. A turn begins when the wire opens one, or with the first delta of a choice. Deltas go to the
current turn. Some dialects run several turns side by side and switch between them by their keys. When a turn ends, all
of its calls get their verdict (`_end_turn`). Its last event (`TurnFinished`) waits until nothing can follow it any
more: until the next turn begins, until more turns than `Limits.max_turns` are kept, or until the stream ends
(`_finish_turn`).

The effect of each delta is defined in `assembler`, the subclass of `Turns`.
"""

from __future__ import annotations

from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from wholecall.calls.output.events import StreamFault, TurnStarted
from wholecall.calls.output.turns import Turn
from wholecall.deltas import HIGHEST_INDEX, CallAnswered, CallUnread, TurnEnded, TurnOpened
from wholecall.machine import accounts, answers, endings, rereading, routes, settling
from wholecall.machine.budget import Budget
from wholecall.machine.call import Call
from wholecall.machine.choice import Choice, Options, Outbox
from wholecall.machine.sameness import Told
from wholecall.machine.turn import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.calls.tools.tool import Tools
    from wholecall.limits import Limits
    from wholecall.machine.answer import Answer, OutputWanted
    from wholecall.machine.verdicts import Ended
    from wholecall.policy import Policy

_MOST_UNREAD = 256  # different frames that may wait, of which no call came; more are ignored


class Turns:
    """The turns of one stream.

    `pieces` is whether pieces of text are reported, too; `wanted` describes the answers, if they are to be values.

    Attributes:
        dialect: the name that `TurnStarted` carries; the parser sets it when it is known.
        turns: the last `Limits.max_turns` of them.
        n_turns: how many there were.
        failed: a fatal fault ended the stream's turns, and nothing is read.
        is_refused: the fault is the provider's, so that a session's next message is read.
    """

    DERIVED: ClassVar = frozenset(["dialect", "_limits", "_options", "_out", "_choices"])

    turns: list[TurnState]
    n_turns: int
    failed: bool
    is_refused: bool
    _early_faults: list[StreamFault]
    _early_usage: dict[str, Any]
    _early_loss: bool
    _early_unread: list[CallUnread]
    _keys: dict[str, TurnState]
    _turn: TurnState | None
    _spoke: set[TurnState]
    _since_hole: set[TurnState]
    _over: dict[str, Choice]
    _answers: dict[str, CallAnswered]

    def __init__(
        self,
        policy: Policy,
        limits: Limits,
        tools: Tools[Any] | None = None,
        *,
        pieces: bool,
        wanted: OutputWanted | None,
    ) -> None:
        self.dialect = "unknown"
        self.turns, self.n_turns, self.failed, self.is_refused = [], 0, False, False
        self._limits, self._options = limits, Options(policy, limits, tools, wanted)
        self._out = Outbox(pieces=pieces)
        self._early_faults, self._early_usage = [], {}  # of frames before the first turn
        self._early_unread = []  # unread frames before the next turn that seem to hold a call
        self._early_loss = False  # text was lost while no turn ran: it may have been the next turn's
        self._keys = {}
        self._turn = None
        self._spoke = set()  # turns that may hold text that was not forgotten
        self._since_hole = set()  # turns in which calls may have opened since the last hole
        self._choices: dict[int, Choice] = {}  # those of the current turn
        self._answers = self._out.told.answers
        self._over = {}  # of turns that ended, by the ids of their calls

    def makers(self) -> dict[type, Callable[[], Any]]:
        """Return how to make the objects of turns that a snapshot holds."""
        limits = self._limits
        return {
            Choice: lambda: Choice(0, 0, self._out, Budget(limits), self._options),
            Call: lambda: Call(0, 0, "function"),
            Budget: lambda: Budget(limits),
        }

    def remade(self) -> None:
        """Restore the choices of the current turn; snapshots hold them once.

        Raises:
            ValueError: the turns are not the last ones, in their order.
        """
        if [turn.number for turn in self.turns] != list(range(self._n_gone, self.n_turns)):
            raise ValueError("the turns are not the last ones")
        self._choices = self._turn.choices if self._turn is not None else {}
        told = self._out.told = Told()
        told.restore(self._answers)
        if self.n_turns > 1:
            self._compare()

    def _compare(self) -> None:
        """Remember the calls of the turns so far, and of later turns."""
        told = self._out.told
        told.compares = True
        for choice in (choice for turn in self.turns for choice in turn.choices.values()):
            told.note_all(choice.place, choice.calls, choice.emitted)

    @property
    def _n_gone(self) -> int:
        """The number of turns that were forgotten."""
        return self.n_turns - len(self.turns)

    @property
    def is_over(self) -> bool:
        """Whether nothing is read any more, whatever comes."""
        return self.failed and not self.is_refused

    def call(self, turn: int, choice: int, number: int) -> Call | None:
        """Return the call of this number, None if there is none."""
        known = self._choice_at(turn, choice)
        return next((call for call in known.calls if call.number == number), None) if known else None

    def answer(self, turn: int, choice: int) -> Answer | None:
        """Return the answer of a choice with its text so far, None if there is none."""
        known = self._choice_at(turn, choice)
        return answers.answer_of(known) if known else None

    def _choice_at(self, turn: int, number: int) -> Choice | None:
        place = turn - self._n_gone
        return self.turns[place].choices.get(number) if 0 <= place < len(self.turns) else None

    def snapshot(self) -> Turn[Any]:
        """Return the current turn as it is now, an empty turn if none began."""
        return self._turn.view() if self._turn is not None else Turn(None)

    @property
    def has_reasons(self) -> bool:
        """Whether the provider has stated why each choice of the current turn ended."""
        choices = {} if self._turn is None else self._turn.choices
        return 0 in choices and all(choice.provider_reason is not None for choice in choices.values())

    def snapshots(self, start: int = 0) -> tuple[Turn[Any], ...]:
        """Return the turns so far that are kept, from this number on."""
        return tuple(turn.view() for turn in self.turns[max(start - self._n_gone, 0) :])

    def over(self, start: int, stop: int) -> tuple[tuple[Turn[Any], ...], int]:
        """Return the kept turns in a row from `start` up to `stop` that are over, and the number of the next one."""
        first = max(start, self._n_gone)
        places = slice(first - self._n_gone, max(stop - self._n_gone, 0))
        turns = [turn.view() for turn in takewhile(attrgetter("ended"), self.turns[places])]
        return tuple(turns), first + len(turns)

    def forget(self) -> None:
        """Clear text and reasoning of the turns so far."""
        for turn in self._spoke:
            turn.forget()
        self._spoke = {self._turn} if self._turn is not None else set()

    # How turns begin and end.

    def _choice(self, number: int) -> Choice | None:
        """Return a new choice of this number, None beyond the limit."""
        turn = self._turn or self._open_turn(TurnOpened(None))
        limit = self._limits.max_choices
        if limit is None or len(turn.choices) < max(limit, 1):
            choice = turn.choices[number] = Choice(turn.number, number, self._out, turn.budget, self._options)
            choice.response = turn.id
            if turn.lost_text:
                choice.note("lost_text")
            if number > HIGHEST_INDEX:
                choice.anomalies.add("invalid_choice")
            return choice
        next(iter(turn.choices.values())).anomalies.add("unknown_events")
        return None

    def _begin(self, opened: TurnOpened) -> TurnState:
        self._let_go()
        turn = TurnState(self.n_turns, opened, self.dialect, self._limits)
        turn.faults, self._early_faults = self._early_faults, []
        turn.usage, self._early_usage = self._early_usage, {}
        turn.lost_text, self._early_loss = self._early_loss, False
        turn.unread, self._early_unread = self._early_unread, []
        if self.n_turns == 1:
            self._compare()
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
        """Make room for a turn: end the oldest turn if it is still running, and remove it."""
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
            self._out.told.forget(choice.place, choice.calls)
            for id in choice.labels.by_id:
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

    def _outlive(self, delta: TurnOpened) -> None:
        """Open a turn after those that an error of the provider ended, if it is another one of a session."""
        if not (self.is_refused and delta.outlives):
            return
        for turn in self.turns:
            self._finish_turn(turn, "aborted")
        self.failed = self.is_refused = False
        self._open_turn(delta)

    def _turn_ended(self, delta: TurnEnded) -> None:
        turn = self._keys.get(delta.key) if delta.key is not None else None
        turn = turn or self._turn or self._open_turn(TurnOpened(None))
        if not delta.of_transport:
            routes.reason_all(turn.choices.values())
        self._end_turn(turn, "clean")

    def _end_turn(self, turn: TurnState, ended: Ended) -> None:
        """Give every open call of the turn its verdict; the last event of the turn waits for `_finish_turn`."""
        turn.ended = True
        choices = [choice for _, choice in sorted(turn.choices.items()) if not choice.ended]
        if not choices:
            return
        for choice in choices:
            if ended == "aborted":
                settling.settle_reasoned(choice)
            rereading.reread_blocks(choice, endings.ending(choice.reason, ended))
            settling.settle(choice, endings.ending(choice.reason, ended))
            accounts.account(choice, ended=ended == "clean")
        if turn.unread:
            self._judge_unread(turn)
        elsewhere = turn.text_elsewhere or any(choice.holds_orphans for choice in turn.choices.values())
        for choice in choices:
            if elsewhere:
                choice.note("text_elsewhere")
            self._end_choice(choice, ended)
            self._over.update(dict.fromkeys(choice.labels.by_id, choice))

    def _end_choice(self, choice: Choice, ended: Ended) -> None:
        choice.ended = True
        if ended == "aborted":
            choice.reason = "error" if self.failed else "aborted"
        routes.judge_all(choice, endings.ending(choice.reason, ended), "open" if ended == "open" else None)
        answers.conclude(choice, endings.ending(choice.reason, ended))

    def _finish_turn(self, turn: TurnState, ended: Ended) -> None:
        """End open calls, and emit the last event of each choice."""
        if turn.finished:
            return
        if not turn.choices:
            current = self._turn or turn
            self._switch(turn)
            self._choice(0)
            self._switch(current)
        self._end_turn(turn, ended)
        if turn.unread:  # since the turn ended, or without any choice
            self._judge_unread(turn)
        turn.finish()
        self._out.events.extend(turn.last_words())

    def close(self, ended: Ended = "open", detail: str = "") -> None:
        """Finish every turn, because the stream is over; an empty stream has one empty turn.

        `detail` is the reason, for calls that an abort drops.
        """
        if not self.turns:
            self._begin(TurnOpened(None))
        self.explain(detail)
        for turn in self.turns:
            self._finish_turn(turn, "aborted" if self.failed else ended)

    def explain(self, detail: str) -> None:
        """Set the reason why calls are dropped that an abort or a fatal fault ends from now on."""
        for turn in self.turns if detail else ():
            for choice in turn.choices.values():
                choice.note("aborted", detail=detail)

    def _unread(self, delta: CallUnread) -> None:
        """Keep a frame that seems to hold a call until its turn is over: another frame may report the call.

        It may hold a piece of the call that it names by id; without an id, of each open call, unless it holds a whole
        text. If it only begins a call, the rest of its text may be taken for another call's.
        """
        if delta.is_piece:
            self._lose_text_of(delta)
            return
        known = self._is_told(delta)
        if known and delta.has_id:
            if delta.holds_text:
                self._lose_text_of(delta)
        elif not (known and not delta.holds_text) and not (delta.whole and (delta.has_id or delta.names)):
            self._hole()
        waiting = self._early_unread if self._turn is None else self._turn.unread
        if len(waiting) == _MOST_UNREAD:
            waiting[:] = self._untold(waiting, self._choices)
        if delta not in waiting and len(waiting) < _MOST_UNREAD:
            waiting.append(delta)

    def _lose_text_of(self, delta: CallUnread) -> None:
        for choice in self._choices.values():
            choice.lose_text_of(delta.ids, whole=delta.whole)

    def _is_told(self, delta: CallUnread) -> bool:
        """Return whether a call with one of the ids was reported; without an id, one with one of the names."""
        choices = self._choices.values()
        if not delta.has_id:
            return any(call.name in delta.names for choice in choices for call in choice.calls)
        known = [self._over.keys(), *(choice.labels.by_id.keys() for choice in choices)]
        return not all(labels.isdisjoint(delta.ids) for labels in known)

    def _judge_unread(self, turn: TurnState) -> None:
        """Report for each choice of a turn that a call was not read, if one was not."""
        unread, turn.unread = turn.unread, []
        if self._untold(unread, turn.choices):
            for choice in turn.choices.values():
                choice.anomalies.add("unread_call")

    def _untold(self, unread: list[CallUnread], choices: dict[int, Choice]) -> list[CallUnread]:
        """Return the frames whose call was not reported under one of their ids, or in a turn's choices under their name.

        A frame without an id and without a name may be a piece of any call of the turn.
        """
        all_choices = (*choices.values(), *self._choices.values())
        ids = [self._over.keys(), *(choice.labels.by_id.keys() for choice in all_choices)]
        names = {call.name for choice in choices.values() for call in choice.calls}
        return [
            each
            for each in unread
            if all(each.ids.isdisjoint(known) for known in ids)
            and (each.has_id or not (names & each.names if each.names else names))
        ]

    def _hole(self) -> None:
        """Note that argument text of any open call was lost; only changes since the last hole are examined."""
        self._early_loss = self._turn is None or self._turn.ended
        for turn in self._since_hole:
            turn.lost_text = True
            for choice in turn.choices.values():
                if not choice.holed:
                    choice.lose_text()
        self._since_hole = {self._turn} if self._turn is not None else set()
