"""One turn while it is made, and its view for users.

Theory of operation. A `TurnState` holds the state that a turn's choices share: id, model, usage, faults, and the budget
of argument text. `view` makes a `Turn`, the immutable object for users, from the current choices; it can be called at
any time, also while the turn is running. Nothing here handles deltas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wholecall.calls.output import call_events
from wholecall.calls.output.events import EXECUTABLE, Event, StreamFault, TurnFinished
from wholecall.calls.output.turns import Reasoning, Turn
from wholecall.deltas import CallUnread, TurnOpened
from wholecall.limits import Limits
from wholecall.machine import answers, claims, endings, verdicts
from wholecall.machine.budget import Budget
from wholecall.machine.choice import Choice

_FIELDS: dict[type, str] = {
    call_events.ToolCall: "calls",
    call_events.CustomToolCall: "custom_calls",
    call_events.BuiltinToolCall: "builtin_calls",
    call_events.ServerToolCall: "server_calls",
    call_events.ToolCallDropped: "dropped",
}


class TurnState:
    """The state of one turn.

    Attributes:
        number: 0 for the first turn of a stream.
        key: the wire's name for it, where several run side by side.
        choices: by the wire's number.
        text_elsewhere: argument text without a name came for a choice beyond the limit.
        lost_text: argument text was lost since it began.
        unread: calls that it seems to hold, and that its dialect does not report as long as no other frame does.
        carries_on: members that the next request has to have.
        ended: every call of it has its verdict.
        finished: the last event of each choice; empty until the turn is over.
    """

    number: int
    key: str | None
    id: str | None
    model: str | None
    dialect: str
    budget: Budget
    choices: dict[int, Choice]
    usage: dict[str, Any]
    faults: list[StreamFault]
    text_elsewhere: bool
    lost_text: bool
    unread: list[CallUnread]
    carries_on: dict[str, Any]
    ended: bool
    finished: dict[int, TurnFinished]

    def __init__(self, number: int, opened: TurnOpened, dialect: str, limits: Limits) -> None:
        self.number = number
        self.key = opened.key
        self.id = opened.id
        self.model = opened.model
        self.dialect = dialect
        self.budget = Budget(limits)
        self.choices = {}
        self.usage = {}
        self.faults = []
        self.text_elsewhere = self.lost_text = self.ended = False
        self.unread = []
        self.carries_on = {}
        self.finished = {}

    def remade(self) -> None:
        """Check that each choice is stored under its number, and make the values of its calls anew.

        Raises:
            ValueError: a choice is not, or a tool does not take its call any more.
        """
        if any((choice.turn, choice.number) != (self.number, key) for key, choice in self.choices.items()):
            raise ValueError("a choice has another number")
        for choice in self.choices.values():
            for events in (choice.emitted, *(events for _, events in choice.waiting)):
                verdicts.type_anew(choice, events)
            answers.type_answer_anew(choice)

    def begin_again(self) -> None:
        """Note in each choice that the message was restarted before it had ended."""
        for choice in self.choices.values():
            claims.begin_again(choice)

    def finish(self) -> None:
        """Make the last event of each choice."""
        for number in sorted(self.choices):
            self.finished[number] = endings.turn_finished(self.choices[number], self._usage())

    def last_words(self) -> Iterator[Event[Any]]:
        """Yield the result of each answer that was requested as a value, and the last event of each choice."""
        for number, finished in self.finished.items():
            answer = self.choices[number].answer
            if answer is not None and answer.said is not None:
                yield answer.said
            yield finished

    def forget(self) -> None:
        """Clear text and reasoning, but not the calls."""
        for choice in self.choices.values():
            choice.forget()

    def _usage(self) -> dict[str, Any] | None:
        """Return a copy of the usage so far, None if there is none; events and views must not change later."""
        return dict(self.usage) or None

    def view(self) -> Turn:
        """Return the turn as it is now: the fields of choice 0, and the other choices separately."""
        others = {number: self._view(number, {}) for number in sorted(self.choices) if number != 0}
        return self._view(0, others)

    def _view(self, number: int, others: dict[int, Turn]) -> Turn:
        choice = self.choices.get(number)
        last = self.finished.get(number)
        shared: dict[str, Any] = {
            "dialect": self.dialect,
            "response_id": self.id,
            "model": self.model,
            "usage": self._usage(),
            "faults": tuple(self.faults),
            "others": others,
            "carries_on": dict(self.carries_on),
        }
        if choice is None:
            return Turn(**shared)
        blocks = tuple(block.seen() for block in choice.content.reasoning)
        return Turn(
            text=choice.content.text.text,
            reasoning=Reasoning(blocks),
            content=choice.content.view(blocks, choice.labels.by_id),
            output=choice.answer.said if choice.answer is not None else None,
            reason=last.reason if last is not None else None,
            provider_reason=choice.provider_reason,
            anomalies=last.anomalies if last is not None else tuple(sorted(choice.anomalies)),
            cancelled=tuple(dict.fromkeys(choice.cancelled.values())),
            **_by_kind(choice),
            **shared,
        )


def _by_kind(choice: Choice) -> dict[str, Any]:
    """Return the terminal events of a choice by the field of `Turn` that holds them, in order of their calls."""
    fields: dict[str, list[Any]] = {name: [] for name in _FIELDS.values()}
    for event in choice.emitted:
        if not (isinstance(event, EXECUTABLE) and event.index in choice.cancelled):
            fields[_FIELDS[type(event)]].append(event)
    return {name: tuple(sorted(events, key=lambda event: event.index)) for name, events in fields.items()}
