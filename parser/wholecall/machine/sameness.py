"""The same call again: its one definition, and the memory of a stream for it.

Theory of operation. Two calls are the *same* if they belong to one answer, and have the same public id (or none, under
one response id), the same name and an equal value, in any spelling. It does not matter at which index, in which block,
turn or body of the connection each came, or how it ended. A call that is the same as an emitted call is not a second
call. A call without any text (a *head*) shows only that its id is known. A call that differs is a separate call.

Whoever asks brings the answer and the id: calls of one id are found by a label. `Said` is the rest, name and value, and
`Said.is_same` is the only comparison of calls. `is_shared` decides whether an id identifies nothing. The value of a
custom tool is its text; any other text is read once, whatever the policy would make of it.

Another response id means another answer, and so does another step of a message (`StepBegan`): servers that number their
calls use `functions.run:0` in each. Turns without a response id do not show this: there the call's id decides.

Within a choice the calls of one id are compared by `repeats` (calls that are read together at the end) and by
`duplicates` (calls that end one by one); which call of a choice a message means is found by `matching`. Different calls
show that their id identifies nothing (quirk 64): then equal calls are separate calls too, unless all came equally
often, so that the whole list came again.

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

from msgspec import UNSET

from wholecall.calls.arguments.equal import same_value
from wholecall.calls.arguments.strict import is_json
from wholecall.calls.output.call_events import CustomToolCall, ServerToolCall
from wholecall.calls.output.events import EXECUTABLE, Event
from wholecall.calls.parse import parse_arguments
from wholecall.machine.readings.partitions import final_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wholecall.deltas import CallAnswered, CallWhole
    from wholecall.machine.call import Call

_CALLS = (*EXECUTABLE, ServerToolCall)
_MOST = 256  # calls of one label that are remembered, the last of them; and calls of one id that are compared in a list
_MOST_ANSWERS = 4096  # results that are remembered for calls that have not come, the last of them
_LONGEST_ANSWERS = 1 << 20  # characters of argument text that came with these


Label = tuple["str | None", "str | None"]


class Place(NamedTuple):
    """The place of a call: its turn, its choice, and the wire's id of the answer."""

    turn: int
    choice: int
    response: str | None

    def label(self, id: str | None) -> Label:
        """Return the label of the call beyond its turn: its id, or else the response's."""
        return (id, None) if id is not None else (None, self.response)


class Said:
    """The content of one call: its name and its value, which is read when it is asked for.

    Attributes:
        id: its public id; the name is in its final form, None if none came.
        text: empty if none came; an empty text has the value of an empty object. None if only the value is known.
        is_head: it only announces a call: no text came, and it did not come whole.
    """

    __slots__ = ("_call", "_value", "id", "is_head", "name", "text")
    DERIVED: ClassVar = frozenset(__slots__)  # from a call, an event or a delta

    def __init__(self, id: str | None, name: str | None, text: str | None, value: Any = UNSET) -> None:
        self.id, self.name, self.text = id, None if name is None else final_name(name), text
        self.is_head = text == ""
        self._value = value
        self._call: Call | None = None

    def __repr__(self) -> str:
        return f"<Said of {len(self.text or '')} characters>"

    @classmethod
    def of(cls, call: Call) -> Said:
        """Return what a call says so far; the call keeps the value that is read."""
        text = text_of(call)
        said = cls(call.id, call.name, text, text if call.kind == "custom" else UNSET)
        said.is_head, said._call = call.says_nothing, call
        return said

    @classmethod
    def whole(cls, whole: CallWhole) -> Said:
        """Return what a message says of a call."""
        return cls(whole.id, whole.name, whole.text, whole.text if whole.kind == "custom" else UNSET)

    @classmethod
    def emitted(cls, event: Any) -> Said:
        """Return what the event of an emitted call says."""
        is_custom = isinstance(event, CustomToolCall)
        return cls(event.id, event.name, None, event.input if is_custom else event.arguments)

    @property
    def value(self) -> Any:
        """An object, or the text of a custom tool; None if the text has no value."""
        if self._value is UNSET:
            self._value = self._read()
        return self._value

    def _read(self) -> dict[str, Any] | None:
        text, call = self.text, self._call
        assert text is not None  # else its value is known
        if call is None:
            return parse_arguments(text).arguments
        if call.reading is None or call.reading[0] != text:
            call.reading = text, parse_arguments(text).arguments
        return call.reading[1]

    @property
    def is_whole(self) -> bool:
        """Whether the text has a value, perhaps one that is no object: a cut or unreadable one has none."""
        return self.value is not None or is_json(self.text or "")

    def is_same(self, other: Said) -> bool:
        """Return whether both are the same call, if one id of one answer identifies them."""
        return self.name == other.name and self.is_equal(other)

    def is_equal(self, other: Said) -> bool:
        """Return whether both have the same value, whatever their names."""
        if self.text is not None and self.text == other.text:
            return True
        return self.value is not None and same_value(self.value, other.value)


def text_of(call: Call) -> str:
    """Return the text in force."""
    return call.text if call.restated is None else call.restated


def is_shared(calls: Sequence[Said]) -> bool:
    """Return whether different calls have the id of these calls, so that it identifies nothing.

    Heads have only names, and so have cut or unreadable texts: any of them may be the same call.
    """
    if len({call.name for call in calls}) > 1:
        return True
    filled = [call for call in calls if not call.is_head and call.is_whole]
    return any(not filled[0].is_equal(one) for one in filled)


class _Telling(NamedTuple):
    place: Place
    said: Said


class Told:
    """The emitted calls of a stream, by their labels; without those of turns that were forgotten.

    Attributes:
        answers: calls that were answered before they were announced, by their ids.
        compares: whether there was another turn, so that calls are remembered; a stream of one turn needs none of it.
    """

    __slots__ = ("_by_label", "_size", "answers", "compares")
    DERIVED: ClassVar = frozenset(__slots__)  # from the calls of the turns, and the answers in `Turns`

    def __init__(self) -> None:
        self._by_label: dict[Label, list[_Telling]] = {}
        self._size = 0  # characters of argument text in `answers`
        self.answers: dict[str, CallAnswered] = {}
        self.compares = False

    def note(self, place: Place, call: Call, event: Event) -> None:
        """Remember an emitted call; dropped calls and calls written as text are ignored."""
        if call.source is not None or not isinstance(event, _CALLS):
            return
        tellings = self._by_label.setdefault(place.label(call.id), [])
        tellings.append(_Telling(place, Said.emitted(event)))
        del tellings[:-_MOST]

    def note_all(self, place: Place, calls: Iterable[Call], events: Iterable[Any]) -> None:
        """Remember the calls of a choice by the events that ended them.

        Raises:
            ValueError: an event is not about a call.
        """
        by_number = {call.number: call for call in calls}
        for event in events:
            call = by_number.get(event.index)
            if call is None:
                raise ValueError("an event is of no call")
            self.note(place, call, event)

    def forget(self, place: Place, calls: Iterable[Call]) -> None:
        """Forget the calls of a choice, whose turn is forgotten."""
        for label in {place.label(call.id) for call in calls}:
            kept = [one for one in self._by_label.pop(label, ()) if one.place != place]
            if kept:
                self._by_label[label] = kept

    def restore(self, answers: dict[str, CallAnswered]) -> None:
        """Share the answers that a snapshot held."""
        self.answers, held = answers, [*answers.values()]
        answers.clear()
        for one in held:
            self.answer(one)

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
        said = Said.of(call)
        if not (said.is_head or answered.text is None or said.is_equal(Said(call.id, name, answered.text))):
            return False
        self._take(answered.id)
        return True

    def knows(self, place: Place, id: str | None) -> bool:
        """Return whether a call that opens under this id, or none, may have been emitted in a turn of the response."""
        return place.response is not None and any(
            one.place.response == place.response for one in self._elsewhere(place, id)
        )

    def holds(self, place: Place, call: Call, name: str, calls: Sequence[Call]) -> bool:
        """Return whether a withheld call is the same as an emitted call; `calls` are those of its choice."""
        said = Said.of(call)
        said.name = name  # that of events
        if said.is_head:
            known = self._elsewhere(place, call.id) if call.id is not None and not call.lacks_text else ()
            return any(one.said.name == name for one in known)
        # Without ids equal calls of one response are several calls: they match one to one.
        n_again = 0 if call.id is not None else sum(_is_repeated(other, call, said) for other in calls)
        return self._times(place, call, said) > n_again

    def holds_event(self, place: Place, call: Call, event: Event, here: Sequence[Event]) -> bool:
        """Return whether the call to be emitted equals an emitted call, by its id; `here` are its neighbours."""
        if call.id is None or call.source is not None or not isinstance(event, EXECUTABLE):
            return False
        said = Said.emitted(event)
        beside = [Said.emitted(one) for one in here if isinstance(one, _CALLS)]
        if beside and not is_shared([said, *beside]):
            return True
        if call.empty:  # silence under a known id shows the end of that call once more
            return any(one.said.name == said.name for one in self._elsewhere(place, call.id))
        return self._times(place, call, said) > 0

    def _times(self, place: Place, call: Call, said: Said) -> int:
        return sum(one.said.is_same(said) for one in self._elsewhere(place, call.id))

    def _elsewhere(self, place: Place, id: str | None) -> Iterator[_Telling]:
        """Yield the calls emitted under the label in other turns of the same answer, in a choice of the same number."""
        for one in self._by_label.get(place.label(id), ()):
            there = one.place
            is_answer = None in (there.response, place.response) or there.response == place.response
            if there.turn != place.turn and there.choice == place.choice and is_answer:
                yield one


def _is_repeated(other: Call, call: Call, said: Said) -> bool:
    """Return whether a call without id has ended as a repetition of the same call."""
    ended = other.withheld and other.is_over and other.id is None
    return ended and other.name == call.name and said.is_equal(Said.of(other))


# Calls that are read together.


def repeats(calls: Sequence[Said]) -> dict[int, int]:
    """Return which calls of a list repeat another call of it, each with the number of that call."""
    by_id: dict[str, list[int]] = {}
    for n, call in enumerate(calls):
        if call.id is not None:
            by_id.setdefault(call.id, []).append(n)
    found: dict[int, int] = {}
    for numbers in by_id.values():
        if len(numbers) <= _MOST:
            found.update(_repeats_of(calls, numbers))
    return found


def _repeats_of(calls: Sequence[Said], numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the repetitions among the calls of one id, each with the call that it repeats."""
    if not is_shared([calls[n] for n in numbers]):
        groups = [sorted(numbers, key=lambda n: calls[n].is_head)]
    elif any(calls[n].is_head for n in numbers):
        return
    else:
        groups = _equal(calls, numbers)
    n_times = gcd(*map(len, groups))
    for group in groups:
        for n in group[len(group) // n_times :]:
            yield n, group[0]


def _equal(calls: Sequence[Said], numbers: list[int]) -> list[list[int]]:
    """Return the groups of calls that are the same."""
    groups: list[list[int]] = []
    for n in numbers:
        known = next((group for group in groups if calls[group[0]].is_same(calls[n])), None)
        if known is None:
            groups.append([n])
        else:
            known.append(n)
    return groups
