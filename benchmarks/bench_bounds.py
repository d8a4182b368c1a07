"""The claim: more entries than any healthy stream has cost little memory and linear time in every dialect.

Each dialect gets separate streams: with far more calls than are allowed, with their ids and indices missing, with
members of new names in each frame; and with other input that is known to fill a dialect's books. The limits are narrow,
so that no permitted call causes the growth. Memory is the growth of held bytes between a third of the stream and its
end, over the bytes that came meanwhile. In addition to that share there is a bound for streams of any length
(`docs/limits.md`): the first row measures it.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

from benchmarks import measure
from benchmarks.claims import Claim, Contender, Figure, Growth, Scale
from tests.support import encode
from tests.support.renderers import RENDERERS
from wholecall import Limits, ToolCallParser
from wholecall.dialects.table import DIALECTS
from wholecall.framing import FRAMINGS
from wholecall.framing.opening import framing_of

_HELD_BUDGET = 6  # bytes for a byte of a stream of labels: an entry of a book, its key, its facts
_MOST_BUDGET = 2.5  # times the memory limit: entries are weighed, not measured, and not with each frame
_CALLS, _N = 4096, 16_384
_LONGEST = 1024 * 1024  # bytes of such a stream: some dialects repeat all earlier content in each frame
_FORGET_EVERY = 64
_LIMITS = Limits(
    max_calls=4,
    max_choices=2,
    max_turns=2,
    max_aliases=2,
    max_faults=2,
    max_raw_bytes=64,
    max_arguments_bytes=256,
    max_total_arguments_bytes=256 * 1024,
)
_MAY_REMEMBER = 1024 * 1024  # with these limits
_LABELS = frozenset({"index", "contentBlockIndex", "output_index", "content_index", "key"})

Event = tuple[Any, str]  # a payload and its event's name


class _Attack(NamedTuple):
    """The events of a stream, and about how many bytes they have."""

    dialect: str
    events: list[Event]
    size: int


def _attack(dialect: str, events: list[Event]) -> _Attack:
    sizes = list(accumulate(len(json.dumps(payload)) + len(name) for payload, name in events))
    n = bisect(sizes, _LONGEST)
    return _Attack(dialect, events[:n], sizes[n - 1])


# Streams that a server can send.


@lru_cache(maxsize=4)
def _calls(dialect: str, n: int) -> list[Event]:
    """Return the events of a turn with so many calls, without its end."""
    calls = [encode.Call(f"call_{number}", f"f{number}", f'{{"n":{number}}}') for number in range(n)]
    data = RENDERERS[dialect](encode.Turn(calls), encode.whole)
    framing = FRAMINGS[framing_of(data) or "sse"](Limits.none())
    frames = [*framing.feed(data), *framing.close()]
    return [(json.loads(frame.data), frame.event) for frame in frames if frame.data[:1] == "{"]


def _stripped(value: Any) -> Any:
    """Return a value without ids and indices, at any depth."""
    if isinstance(value, list):
        return [_stripped(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = ((name, item) for name, item in value.items() if name not in _LABELS and name[-2:].lower() != "id")
    return {name: _stripped(item) for name, item in kept}


def _widened(value: Any, name: str) -> Any:
    """Return a value with an additional member of this name in each object."""
    if isinstance(value, list):
        return [_widened(item, name) for item in value]
    if not isinstance(value, dict):
        return value
    return {**{known: _widened(item, name) for known, item in value.items()}, name: name}


def _numbered(make: Callable[[int], Any]) -> Callable[[str, int], list[Event]]:
    return lambda _dialect, n: [(make(number), "") for number in range(n)]


_SHAPES: dict[str, Callable[[str, int], list[Event]]] = {
    "calls": _calls,
    "no labels": lambda dialect, n: [(_stripped(payload), event) for payload, event in _calls(dialect, n)],
    "new members": lambda dialect, n: [
        (_widened(payload, f"member_{number}"), event)
        for number, (payload, event) in enumerate(_calls(dialect, n))
    ],
}
# By dialect: streams that fill its own books.
_OTHERS: dict[str, Callable[[str, int], list[Event]]] = {
    "chat-completions": _numbered(
        lambda n: {"choices": [{"delta": {"reasoning_details": [{"id": f"r{n}", "data": "x"}]}}]}
    ),
    "responses": _numbered(lambda n: {"type": "response.created", "stream_id": f"s{n}"}),
    "copilot": _numbered(
        lambda n: {"type": "assistant.tool_call_delta", "data": {"toolCallId": f"c{n}", "inputDelta": "{"}}
    ),
    "vercel-data": lambda _dialect, n: [({"toolCallId": f"c{k}", "args": {"n": k}}, "9") for k in range(n)],
}


def _made(dialect: str, n: int) -> Iterator[_Attack]:
    shapes = [*_SHAPES.values(), *(make for name, make in _OTHERS.items() if name == dialect)]
    return (_attack(dialect, make(dialect, n)) for make in shapes)


# The effects.


def _fed(parser: ToolCallParser[Any], events: list[Event]) -> int:
    for number, (payload, event) in enumerate(events):
        parser.feed_event(payload, event)
        if number % _FORGET_EVERY == 0:
            parser.forget()
    parser.forget()
    return len(events)


def _held(dialect: str, scale: Scale) -> float:
    """Return how many bytes are held for a byte of the worst stream of a dialect."""
    return max(map(_share, _made(dialect, _CALLS // scale.part // 4)))


def _share(attack: _Attack) -> float:
    parser: ToolCallParser[Any] = ToolCallParser(attack.dialect, limits=_LIMITS)
    third = len(attack.events) // 3
    first, rest = attack.events[:third], attack.events[third:]
    held = measure.kept_memory(partial(_fed, parser, first), partial(_fed, parser, rest))
    return held / _attack(attack.dialect, rest).size


def _peak(scale: Scale) -> float:
    """Return the most memory that book-filling streams make a parser hold, as a multiple of the memory limit."""
    found: list[int] = []
    for dialect, make in _OTHERS.items():
        events = make(dialect, max(_N // scale.part, 8192) * 2)
        parser: ToolCallParser[Any] = ToolCallParser(dialect, limits=_LIMITS)
        found.append(measure.peak_memory(partial(_fed, parser, events)))
    return max(found) / _MAY_REMEMBER


def _read(attack: _Attack) -> int:
    return _fed(ToolCallParser(attack.dialect, limits=_LIMITS), attack.events)


def _growth(what: str, dialects: tuple[str, ...], *, checked: bool) -> Growth:
    def make(n: int) -> list[_Attack]:
        return [attack for dialect in dialects for attack in _made(dialect, n)]

    contender = Contender(
        lambda attacks: sum(map(_read, attacks)),
        lambda attacks, found: bool(found == sum(len(attack.events) for attack in attacks)),
    )
    n = 256
    return Growth(what, make, n, lambda attacks: sum(attack.size for attack in attacks), contender, checked)


_WITH_CALLS = tuple(dialect.name for dialect in DIALECTS if dialect.name in RENDERERS)  # all that have calls

# Dialects whose translators remember most.
_WITH_BOOKS = (
    *("vercel-data", "chat-completions", "responses", "gemini"),
    *("langchain-protocol", "ag-ui", "acp", "copilot"),
)

CLAIMS: list[Claim] = [
    Figure("peak of endless labels / what may be remembered", _peak, _MOST_BUDGET, checked=False),
    *(
        Figure(f"bytes held of labels, for a byte: {dialect}", partial(_held, dialect), _HELD_BUDGET)
        for dialect in _WITH_CALLS
    ),
    _growth("more calls than there may be, dialects with books", _WITH_BOOKS, checked=True),
    *(
        _growth(f"more calls than there may be, {dialect}", (dialect,), checked=False)
        for dialect in _WITH_CALLS
    ),
]


def test_bounds(race: Callable[[], None]) -> None:
    """Every stream is read to its end."""
    race()
