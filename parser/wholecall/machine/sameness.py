"""The same call again: its one definition, and the memory of a stream for it.

Theory of operation. Two calls are the *same* if they belong to one answer, and have the same public id (or none, under
one response id), the same name and an equal value, in any spelling. It does not matter at which index, in which block,
turn or body of the connection each came, or how it ended. A call that is the same as an emitted call is not a second
call. A call without any text shows only that its id is known. A call that differs is a separate call.

Another response id means another answer, and so does another step of a message (`StepBegan`): servers that number their
calls use `functions.run:0` in each. Turns without a response id do not show this: there the call's id decides.

Within a choice the calls of one id are compared by `repeats` (calls that are read together at the end) and by
`duplicates` (calls that end one by one). Different calls show that their id identifies nothing (quirk 64): then equal
calls are separate calls too, unless all came equally often, so that the whole list came again.

From the second turn on `Told` remembers the emitted calls, for as long as their turns are kept (`Limits.max_turns`),
and the last calls of each label. A call that opens in another turn under a response id and a label that are known there
is *withheld* (`Call.withheld`): it has no number and no events until it ends, and none at all if it is the same. If its
id comes too late for that, or if no response id shows that an answer comes again, it is shown as it comes, and
`holding` replaces it by a drop (`told_twice`). Calls that are executed elsewhere are remembered, and are reported as
often as they come. Alternative answers, that is, choices of other numbers, are never compared, and ids that we
generated are ignored.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from wholecall.arguments.equal import same_value
from wholecall.calls.output.call_events import CustomToolCall, ServerToolCall
from wholecall.calls.output.events import EXECUTABLE, Event
from wholecall.calls.parse import parse_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wholecall.deltas import CallAnswered
    from wholecall.machine.call import Call

_CALLS = (*EXECUTABLE, ServerToolCall)
_MOST = 256  # calls of one label that are remembered, the last of them; and calls of one id that are compared in a list
_MOST_ANSWERS = 4096  # results that are remembered for calls that have not come, the last of them
_LONGEST_ANSWERS = 1 << 20  # characters of argument text that came with these


class Place(NamedTuple):
    """The place of a call: its turn, its choice, and the wire's id of the answer."""

    turn: int
    choice: int
    response: str | None

    def label(self, id: str | None) -> tuple[str, bool] | None:
        """Return the label of the call beyond its turn: its id, else the response's; None if it has neither."""
        if id is not None:
            return id, False
        return None if self.response is None else (self.response, True)


class _Telling(NamedTuple):
    turn: int
    choice: int
    response: str | None
    name: str
    value: Any  # an object, or the text of a custom tool

    def __repr__(self) -> str:
        return f"<_Telling in turn {self.turn}>"


class Told:
    """The emitted calls of a stream, by their labels; without those of turns that were forgotten.

    Attributes:
        answers: calls that were answered before they were announced, by their ids.
        compares: whether there was another turn, so that calls are remembered; a stream of one turn needs none of it.
    """

    __slots__ = ("_by_label", "_size", "answers", "compares")
    DERIVED: ClassVar = frozenset(__slots__)  # from the calls of the turns, and the answers in `Turns`

    def __init__(self) -> None:
        self._by_label: dict[tuple[str, bool], list[_Telling]] = {}
        self._size = 0  # characters of argument text in `answers`
        self.answers: dict[str, CallAnswered] = {}
        self.compares = False

    def note(self, place: Place, call: Call, event: Event) -> None:
        """Remember an emitted call; dropped calls and calls written as text are ignored."""
        label = place.label(call.id)
        if label is None or call.source is not None or not isinstance(event, _CALLS):
            return
        tellings = self._by_label.setdefault(label, [])
        tellings.append(_Telling(*place, *_said(event)))
        if len(tellings) > _MOST:
            del tellings[0]

    def note_all(self, place: Place, calls: Iterable[Call], events: Iterable[Any]) -> None:
        """Remember the calls of a choice by the events that ended them.

        Raises:
            ValueError: an event is not about a call.
        """
        by_number = {call.number: call for call in calls}
        for event in events:
            call = by_number.get(getattr(event, "index", -2))
            if call is None:
                raise ValueError("an event is of no call")
            self.note(place, call, event)

    def forget(self, place: Place, calls: Iterable[Call]) -> None:
        """Forget the calls of a choice, whose turn is forgotten."""
        for label in {place.label(call.id) for call in calls}:
            if label is None or label not in self._by_label:
                continue
            tellings = self._by_label[label]
            tellings[:] = [one for one in tellings if (one.turn, one.choice) != place[:2]]
            if not tellings:
                del self._by_label[label]

    def restore(self, answers: dict[str, CallAnswered]) -> None:
        """Share the answers that a snapshot held."""
        self.answers, self._size = answers, sum(len(one.text or "") for one in answers.values())

    def answer(self, answered: CallAnswered) -> None:
        """Remember a call that was answered and has not come; beyond a limit the oldest calls are forgotten."""
        self._take(answered.id)
        self.answers[answered.id] = answered
        self._size += len(answered.text or "")
        while len(self.answers) > _MOST_ANSWERS or self._size > _LONGEST_ANSWERS:
            self._take(next(iter(self.answers)))

    def _take(self, id: str) -> None:
        answered = self.answers.pop(id, None)
        if answered is not None:
            self._size -= len(answered.text or "")

    def takes_answer(self, call: Call, name: str) -> bool:
        """Return whether the call has its result already, which counts for one call."""
        answered = self.answers.get(call.id) if call.id is not None else None
        if answered is None or answered.name not in (None, name):
            return False
        if (
            answered.text is not None
            and not call.says_nothing
            and not same_text(answered.text, text_of(call))
        ):
            return False
        self._take(answered.id)
        return True

    def knows(self, place: Place, id: str | None) -> bool:
        """Return whether a call that opens under this id, or none, may have been emitted in a turn of the response."""
        if place.response is None or not self.compares:
            return False
        return any(one.response == place.response for one in self._elsewhere(place, id))

    def holds(self, place: Place, call: Call, name: str, calls: Sequence[Call]) -> bool:
        """Return whether a withheld call is the same as an emitted call; `calls` are those of its choice."""
        if call.says_nothing:
            known = self._elsewhere(place, call.id) if call.id is not None and not call.lacks_text else ()
            return any(one.name == name for one in known)
        text = text_of(call)
        value = text if call.kind == "custom" else held_value(call, text)
        if value is None:
            return False
        # Without ids equal calls of one response are several calls: they match one to one.
        n_again = 0 if call.id is not None else sum(_is_repeated(other, value) for other in calls)
        return self._times(place, call, name, value) > n_again

    def holds_event(self, place: Place, call: Call, event: Event, here: Sequence[Event]) -> bool:
        """Return whether the call to be emitted equals an emitted call, by its id; `here` are its neighbours."""
        if call.id is None or call.source is not None or not isinstance(event, EXECUTABLE):
            return False
        name, value = _said(event)
        said = [_said(one) for one in here if isinstance(one, _CALLS)]
        if said and all(one[0] == name and same_value(one[1], value) for one in said):
            return True  # different calls would show that the id identifies nothing
        return self.compares and self._times(place, call, name, value) > 0

    def _times(self, place: Place, call: Call, name: str, value: Any) -> int:
        known = self._elsewhere(place, call.id)
        return sum(one.name == name and same_value(one.value, value) for one in known)

    def _elsewhere(self, place: Place, id: str | None) -> Iterator[_Telling]:
        """Yield the calls emitted under the label in other turns of the same answer, in a choice of the same number."""
        label = place.label(id)
        for one in self._by_label.get(label, ()) if label is not None else ():
            is_other = None not in (one.response, place.response) and one.response != place.response
            if one.turn != place.turn and one.choice == place.choice and not is_other:
                yield one


def _said(event: Any) -> tuple[str, Any]:
    """Return name and value of a call."""
    return event.name, event.input if isinstance(event, CustomToolCall) else event.arguments


def _is_repeated(call: Call, value: Any) -> bool:
    """Return whether a call without id has ended as a repetition of this value."""
    ended = call.withheld and call.is_over and call.id is None
    return ended and same_value(held_value(call, text_of(call)), value)


# Calls that are read together.


class Said(NamedTuple):
    """The content of one call of a list; its text is empty if none came."""

    id: str | None
    name: str | None
    text: str

    def __repr__(self) -> str:
        return f"<Said of {len(self.text)} characters>"


def repeats(calls: Sequence[Said]) -> dict[int, int]:
    """Return which calls of a list repeat another call of it, each with the number of that call."""
    by_id: dict[str, list[int]] = {}
    for n, call in enumerate(calls):
        if call.id is not None:
            by_id.setdefault(call.id, []).append(n)
    found: dict[int, int] = {}
    for numbers in by_id.values():
        if 1 < len(numbers) <= _MOST:
            found.update(_repeats_of(calls, numbers))
    return found


def _repeats_of(calls: Sequence[Said], numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the repetitions among the calls of one id, each with the call that it repeats."""
    groups: list[list[int]] = []  # of equal calls
    blank = [n for n in numbers if not calls[n].text]
    for n in numbers:
        known = next((group for group in groups if _is_same(calls[group[0]], calls[n])), None)
        if calls[n].text and known is None:
            groups.append([n])
        elif calls[n].text and known is not None:
            known.append(n)
    heads = len({calls[n].name for n in numbers}) == 1 and len(groups) < 2
    if blank and not heads:
        groups += [[n] for n in blank]  # of an id that identifies nothing
    elif blank:
        groups = [[*(groups[0] if groups else ()), *blank]]
    n_times = gcd(*map(len, groups))
    for first, *others in groups:
        kept = (1 + len(others)) // n_times
        for n in others[kept - 1 :]:
            yield n, first


def _is_same(one: Said, other: Said) -> bool:
    return one.name == other.name and same_text(one.text, other.text)


# The values of calls.


def text_of(call: Call) -> str:
    """Return the text in force."""
    return call.text if call.restated is None else call.restated


def same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same value; an empty text counts as an empty object."""
    texts = [one or "{}", other or "{}"]
    if texts[0] == texts[1]:
        return True
    values = [parse_arguments(text).arguments for text in texts]
    return values[0] is not None and values[1] is not None and same_value(*values)


def held_value(call: Call, held: str) -> dict[str, Any] | None:
    """Return the value of a call's text; the last value is kept, so that no text is read twice."""
    if call.reading is None or call.reading[0] != held:
        call.reading = held, parse_arguments(held).arguments
    return call.reading[1]
