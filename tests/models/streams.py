"""All small streams of a server with a few habits, each with all of its meanings.

Theory of operation. A *habit* is a way in which servers label, cut and restate calls; it costs 0 if the provider
documents it, 1 if some real server has it, 1.5 if that is rarer. A *scenario* is a list of calls, and the places where
their texts are cut. A server with certain habits sends one certain stream for a scenario. A *reading* of a stream is a
scenario's calls with habits under which exactly this stream is sent; its cost is the sum of its habits' costs.

The readings of all streams are found by sending all scenarios with all habits, and comparing the streams. An event
becomes a number when it is first seen; a stream is a tuple of these numbers, and its readings are numbers, too:
millions of them must fit. Labels that a server makes up are numbered in order of arrival, because only their equality
can be known.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import gcd
from typing import Any, NamedTuple

NAMES = ("go", "to")
ARGUMENTS = ("", "{}", '{"x":1}', '{"x":{}}')
NO_CUT, FIRST, MIDDLE, LAST = range(4)

Event = tuple[Any, ...]  # as a model writes it: its kind, labels, texts
Chunk = bytes | list[dict[str, Any]]  # bytes of the wire, or the objects of an SDK
Calls = tuple[tuple[str, str], ...]  # names, and arguments as JSON
Cuts = tuple[int, ...]
Stream = tuple[int, ...]  # the numbers of its events
Seen = tuple[tuple[int, ...], dict[tuple[str, ...], int]]
Family = tuple[frozenset[str], frozenset[str]]
Habits = Mapping[str, Mapping[str, tuple[float, str]]]  # by aspect: the cost of each, and who does it


class Label(NamedTuple):
    """A label that a server made up. Which one it is cannot be known, only which are equal; `kind` is its prefix."""

    kind: str
    key: Any


class Kind(NamedTuple):
    """Scenarios of a number of calls: their names, texts, and the places where a text may be cut."""

    n_calls: int
    names: tuple[str, ...] = NAMES
    texts: tuple[str, ...] = ARGUMENTS
    cuts: tuple[int, ...] = (NO_CUT, FIRST, MIDDLE, LAST)

    def scenarios(self) -> Iterator[tuple[Calls, Cuts]]:
        """Every choice of calls and cuts; a text of two characters has one place to be cut."""
        for calls in itertools.product(itertools.product(self.names, self.texts), repeat=self.n_calls):
            places = [
                self.cuts if len(text) > 2 else self.cuts[:2] if text else self.cuts[:1] for _, text in calls
            ]
            for cuts in itertools.product(*places):
                yield calls, cuts


def kinds(texts: tuple[str, ...] = ARGUMENTS, *, whole: bool = False) -> tuple[Kind, ...]:
    """One call with every text and cut; two with fewer cuts; three without. Where arguments are objects, no cuts."""
    one, two = ((NO_CUT,), (NO_CUT,)) if whole else ((NO_CUT, FIRST, MIDDLE, LAST), (NO_CUT, MIDDLE))
    return (
        Kind(1, texts=texts, cuts=one),
        Kind(2, texts=texts, cuts=two),
        Kind(3, texts=(texts[0], '{"x":1}'), cuts=(NO_CUT,)),
    )


class Model(NamedTuple):
    """One dialect: its habits, the events of a server with them, and their encoding.

    Attributes:
        dialect: as the parser calls it.
        habits: by aspect, each with its cost and with who does it; the first of an aspect is the plain one.
        send: calls, cuts and habits to events.
        encode: an event to its form on the wire.
        ends: continuations of a cut stream, perhaps depending on the events before.
        sensible: whether a server can have these habits at once, for so many calls.
        opening: sent before all events.
        kinds: the scenarios.
        discount: the reduction in cost of habits that come together.
        name: of the model, where a dialect has several.
        slack: the cost of readings beyond the cheapest of the streams that are tried.
        evident: whether these habits show that a call without text ended; else such a stream does not mean that call,
            which may have been cut (gateways also make up, for example, `message_stop` without a stop of its block).
        is_shared: whether all calls have one id under these habits. Then equal calls may also be one repeated call, and
            a call without text may be the head of the call with text (quirk 139).
        has_heads: whether calls come without any text under these habits, and not with an empty object.
        of_server: whether the sender executes the calls.
    """

    dialect: str
    habits: Habits
    send: Callable[[Any, Any, Any], Sequence[Event]]
    encode: Callable[[Event], Chunk]
    ends: Mapping[str, Chunk | Callable[[Sequence[Event]], Chunk]]
    sensible: Callable[[Any, int], bool] = lambda _habit, _n_calls: True
    opening: bytes = b""
    kinds: tuple[Kind, ...] = kinds()
    discount: Callable[[Any], float] = lambda _habit: 0.0
    slack: float = 0.0
    evident: Callable[[Any], bool] = lambda _habit: True
    name: str = ""
    is_shared: Callable[[Any], bool] = lambda habit: getattr(habit, "id", "") == "same"
    has_heads: Callable[[Any], bool] = lambda habit: getattr(habit, "text", "") != "placeholder"
    of_server: bool = False


class Reading(NamedTuple):
    """A possible meaning of a stream: its cost, the calls as they would be emitted, and the habits."""

    cost: float
    calls: Calls
    habit: Any


# Events that models of several dialects share.


def _cut(text: str, where: int) -> list[str]:
    if where == NO_CUT or len(text) < 2:
        return [text]
    at = {FIRST: 1, MIDDLE: max(1, text.find(":") + 1), LAST: len(text) - 1}[where]
    return [text[:at], text[at:]]


def pieces(text: str, where: int, coming: str) -> list[str]:
    """The pieces in which a text comes. Where `coming` is not one of the following values, they simply add up."""
    parts = _cut(text, where)
    if coming == "snapshots":
        return ["".join(parts[: n + 1]) for n in range(len(parts))]
    if coming == "repeated":
        return [*parts, text] if text else parts
    if coming == "placeholder":
        return ["{}", *parts] if text != "{}" else parts
    if coming == "head":
        return ["", *parts]
    return parts


def told_in(order: str, rows: Sequence[Sequence[Event]]) -> list[Event]:
    """The calls' events in the order of the stream; each row begins with the event that opens its call."""
    if order == "turns":
        return [event for turn in itertools.zip_longest(*rows) for event in turn if event]
    if order in {"opened", "crossed"}:  # all calls open first; crossed: then the last one comes first
        rests = [row[1:] for row in rows]
        rests = rests[::-1] if order == "crossed" else rests
        return [row[0] for row in rows] + [event for row in rests for event in row]
    return [event for row in rows for event in row]


# The enumeration.


def _names_of(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for part in value:
            yield from _names_of(part)
    elif value in NAMES:
        yield value


def _labels_of(value: Any) -> Iterator[Label]:
    if isinstance(value, Label):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _labels_of(part)


def _renamed(value: Any, names: Mapping[Label, str]) -> Any:
    if isinstance(value, Label):
        return names[value]
    return tuple(_renamed(part, names) for part in value) if isinstance(value, tuple) else value


class Streams:
    """The streams of a model whose habits cost up to `most` together.

    Args:
        model: the dialect.
        most: the limit of the habits' cost.
        few: only those of some scenarios. All readings of a stream hold the same long texts, and where names come whole
            the same names. Therefore the streams of these scenarios have no readings in others.

    Attributes:
        events: those that occur, by their numbers, with labels as they are on the wire.
        chunks: the same, encoded.
    """

    def __init__(self, model: Model, most: float, *, few: bool = False) -> None:
        self.model = model
        self.events: list[Event] = []
        self.chunks: list[Chunk] = []
        self._numbers: dict[str, int] = {}  # by form on the wire: events that look the same are the same
        self._seen: dict[Event, Seen] = {}
        self._labels: dict[Label, int] = {}
        self._kinds: list[str] = []  # of the labels
        scenarios = [(kind.n_calls, *one) for kind in model.kinds for one in kind.scenarios()]
        self._scenarios = [one for one in scenarios if not few or family(model, one[1]) in _few(model)]
        self._meanings: dict[tuple[int, bool, bool, bool], set[Calls]] = {}
        self._habits = list(_habits(model, most + model.slack))
        self._most = most
        self._readings = self._enumerated()

    def __len__(self) -> int:
        return len(self._readings)

    def __iter__(self) -> Iterator[Stream]:
        return iter(self._readings)

    @cached_property
    def n_ambiguous(self) -> int:
        """The number of streams with several readings."""
        return sum(
            len(self.readings(s)) > 1 for s, found in self._readings.items() if isinstance(found, tuple)
        )

    def _enumerated(self) -> dict[Stream, int | tuple[int, ...]]:
        """Each stream with its reading, or its readings: a scenario's number, and above it that of the habits."""
        found: dict[Stream, int | tuple[int, ...]] = {}
        send, sensible, settled = self.model.send, self.model.sensible, self._settled
        many = len(self._scenarios)
        for place, (_, habit) in enumerate(self._habits):
            counts = {kind.n_calls for kind in self.model.kinds if sensible(habit, kind.n_calls)}
            for number, (n_calls, calls, cuts) in enumerate(self._scenarios):
                if n_calls not in counts:
                    continue
                stream = settled(send(calls, cuts, habit))
                before = found.setdefault(stream, place * many + number)
                if before != (reading := place * many + number):
                    found[stream] = (*(before if isinstance(before, tuple) else (before,)), reading)
        if self.model.slack:
            return {s: one for s, one in found.items() if min(self._costs(one)) <= self._most}
        return found

    def _costs(self, readings: int | tuple[int, ...]) -> Iterator[float]:
        for reading in readings if isinstance(readings, tuple) else (readings,):
            yield self._habits[reading // len(self._scenarios)][0]

    def readings(self, stream: Stream) -> list[Reading]:
        """The meanings of a stream: the cheapest reading of equal calls, sorted by cost."""
        found = self._readings[stream]
        cheapest: dict[Calls, Reading] = {}
        for number in found if isinstance(found, tuple) else (found,):
            place, scenario = divmod(number, len(self._scenarios))
            cost, habit = self._habits[place]
            for calls in self._meant(scenario, habit):
                before = cheapest.get(calls)
                if before is None or cost < before.cost:
                    cheapest[calls] = Reading(cost, calls, habit)
        return sorted(cheapest.values(), key=lambda reading: (reading.cost, reading.calls))

    def _meant(self, scenario: int, habit: Any) -> set[Calls]:
        """The meanings of a scenario with these habits."""
        model = self.model
        key = scenario, model.evident(habit), model.is_shared(habit), model.has_heads(habit)
        meant = self._meanings.get(key)
        if meant is None:
            _, is_evident, is_shared, has_heads = key
            calls = tuple(call for call in self._scenarios[scenario][1] if call[1] or is_evident)
            told = [calls, *([_told_once(calls, heads=has_heads)] if is_shared else [])]
            meant = self._meanings[key] = {_meaning(one) for one in told}
        return meant

    def families(self, stream: Stream) -> set[Family]:
        """The families of a stream's readings; it should be one."""
        found = self._readings[stream]
        scenarios = {
            number % len(self._scenarios) for number in (found if isinstance(found, tuple) else (found,))
        }
        return {family(self.model, self._scenarios[number][1]) for number in scenarios}

    def is_mirrored(self, stream: Stream) -> bool:
        """Return whether the second name comes first, as in half of the streams, the mirror images of the others."""
        first = next((name for event in self.told(stream) for name in _names_of(event)), NAMES[0])
        return first != NAMES[0] and self.model.kinds[0].names == NAMES

    def told(self, stream: Iterable[int]) -> list[Event]:
        """The events of a stream."""
        return [self.events[number] for number in stream]

    def _settled(self, events: Iterable[Event]) -> Stream:
        """The stream as a parser can know it: the numbers of its events, their labels named as they come."""
        names: dict[int, str] = {}
        stream = []
        for event in events:
            seen = self._seen.get(event)
            if seen is None:
                seen = self._seen[event] = self._first_seen(event)
            labels, numbers = seen
            for label in labels:
                if label not in names:
                    names[label] = self._name(label, names)
            known = tuple([names[label] for label in labels])
            number = numbers.get(known)
            if number is None:
                number = numbers[known] = self._number(
                    event, dict(zip(_labels_of(event), known, strict=True))
                )
            stream.append(number)
        return tuple(stream)

    def _first_seen(self, event: Event) -> Seen:
        """The numbers of an event's labels, and its own number for each way of naming them."""
        return tuple(self._labels.setdefault(label, len(self._labels)) for label in _labels_of(event)), {}

    def _name(self, label: int, names: Iterable[int]) -> str:
        if len(self._kinds) < len(self._labels):
            self._kinds = [label.kind for label in self._labels]
        kinds = self._kinds
        return f"{kinds[label]}_{sum([kinds[other] == kinds[label] for other in names])}"

    def _number(self, event: Event, names: Mapping[Label, str]) -> int:
        event = _renamed(event, names)
        chunk = self.model.encode(event)
        number = self._numbers.setdefault(str(chunk), len(self.events))
        if number == len(self.events):
            self.events.append(event)
            self.chunks.append(chunk)
        return number


def family(model: Model, calls: Iterable[tuple[str, str]]) -> Family:
    """The common content of all readings of a stream: the names, unless they may come in pieces, and the long texts."""
    calls = list(calls)
    names = frozenset(name for name, _ in calls if model.kinds[0].names == NAMES)
    return names, frozenset(text for _, text in calls if len(text) > 2)


def _told_once(calls: Calls, *, heads: bool) -> Calls:
    """The calls of one id, if equal calls are one and calls without text are heads; differing calls void the id."""
    filled = {call for call in calls if call[1]}
    if heads and len(filled) == 1 and len({name for name, _ in calls}) == 1:
        return tuple(filled)
    told = Counter((name, text or "{}") for name, text in calls)
    times = gcd(*told.values())
    left = Counter({call: n // times for call, n in told.items()})
    kept: list[tuple[str, str]] = []
    for call in calls:
        said = call[0], call[1] or "{}"
        if left[said]:
            left[said] -= 1
            kept.append(call)
    return tuple(kept)


def _few(model: Model) -> set[Family]:
    longest = frozenset([max(model.kinds[0].texts, key=len)])
    silent: frozenset[str] = frozenset()  # as calls of the others may begin
    return {
        (names, texts)
        for names in (frozenset(), frozenset(NAMES[:1]), frozenset(NAMES))
        for texts in (longest, silent)
    }


def _meaning(calls: Iterable[tuple[str, str]]) -> Calls:
    return tuple((name, json.dumps(json.loads(text or "{}"))) for name, text in calls)


def _habits(model: Model, most: float) -> Iterator[tuple[float, Any]]:
    """Every choice of habits that costs no more than `most`, with its cost."""
    habit = namedtuple("Habit", model.habits)  # noqa: PYI024 - the aspects are data

    def choices(
        aspects: list[Mapping[str, tuple[float, str]]], left: float
    ) -> Iterator[tuple[float, list[str]]]:
        if not aspects:
            yield 0.0, []
            return
        for value, (cost, _) in aspects[0].items():
            if cost <= left:
                for more, values in choices(aspects[1:], left - cost):
                    yield cost + more, [value, *values]

    most_discount = 0.5
    for cost, values in choices(list(model.habits.values()), most + most_discount):
        chosen = habit(*values)
        if (total := cost - model.discount(chosen)) <= most:
            yield total, chosen
