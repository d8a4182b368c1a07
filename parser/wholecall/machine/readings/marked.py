"""Reads a marked record in every way: calls whose starts and ends the wire marks, where their labels are wrong.

Theory of operation. Each piece has a mark: a call's start, a piece of its text, or its end. A server with wrong labels
still sends the pieces in an order that it keeps: call after call (a *row*), or all starts first and then the rest of
each call, in the order of the starts (*opened*) or in reverse (*crossed*). Within that, a *rule* decides where the next
call begins. Each order and rule assigns the pieces to calls in one way (`_assignments`). Each assignment is then judged
(`_reading`): for each column (starts, ends, ids, labels of texts and ends, texts) a table lists the habits that servers
have, and their costs, as for fragments of chat (see `solve`).

A pattern is a regular expression for the marks of one call under a habit. Numbers in brackets are quirks.

`solve_marked` adds two things. A connection that was restarted may have sent all of it twice, so a record whose halves
are equal is also read as one half (that a model makes all of its calls again, in the same pieces, is about as likely).
And if the wire lists the calls at the end, a reading with just these calls is the meaning.
"""

from __future__ import annotations

import re
from itertools import accumulate, chain, combinations, product
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from wholecall.machine.readings.labels import Costs, pooled
from wholecall.machine.readings.partitions import WAYS, Assignment, Columns, Piece, Way, final_name
from wholecall.machine.readings.solve import MOST, NEAR, ReadCall, Reading, Solution, agreed, meaning, trusted
from wholecall.machine.readings.texts import Values, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wholecall.calls.arguments.verdict import Verdict

    Rule = Callable[["MarkedRecord"], Iterable[bool]]  # for each piece whether the next call begins with it
    Patterns = dict[str, tuple[float, re.Pattern[str]]]  # by habit: its cost, and the marks of a call

START, TEXT, END = "S", "T", "E"

STARTS: Patterns = {
    "once": (0, re.compile("SE?T*E*")),
    "twice": (1, re.compile("SSE?T*E*")),  # when it begins, and when it runs (130)
    "each": (1, re.compile("SE?(T(ST)*)?E*")),  # before each piece (13)
}
ENDS: Patterns = {
    "each": (0, re.compile("[ST]*E")),
    "none": (1, re.compile("[ST]*")),  # the run ends them (51)
    "twice": (1, re.compile("[ST]*EE")),  # when it is complete, and when it ran (130)
    "early": (1.5, re.compile("S+E[ST]*")),  # after its head (131)
}
TOGETHER = {
    ("twice", "twice"): -0.5
}  # starts and ends, by a server that reports each call once more when it runs
IDS: Costs = {"own": 0, "none": 1, "one": 1}  # of starts (8, 64)
LABELS: Costs = {"own": 0, "none": 1, "strange": 1}  # of texts and ends (7, 10)
# The same for chunks, which hold start and text: nothing ends them, and later ones may have no id.
CHUNK_FORMS: tuple[Patterns, Patterns] = (
    {"once": (0, re.compile("ST*")), "each": (0.5, re.compile("S(T(ST)*)?"))},
    {"none": (0, re.compile("[ST]*")), "each": (0, re.compile("[ST]*E"))},
)
CHUNK_LABELS: Costs = {"own": 0, "none": 0}
BLANKS = (
    re.compile("t*"),
    re.compile("(bt*|bb)?"),
)  # the pieces of a call, `t` with text, `b` without: all have text, or all but the first
ODD_BLANKS = 1
ODD = 3
MOST_ASSIGNMENTS = 20  # ways to assign fewer texts than calls


class MarkedRecord(NamedTuple):
    """All pieces of the calls of one run, and their marks as one string; `chunked`: they came in chunks."""

    pieces: Sequence[Piece]
    marks: str
    chunked: bool = False

    def part(self, start: int, stop: int) -> MarkedRecord:
        """Return some of the pieces in a row."""
        return self._replace(pieces=self.pieces[start:stop], marks=self.marks[start:stop])


def solve_marked(
    record: MarkedRecord,
    read: Callable[[str], Verdict[Any]],
    *,
    known: Callable[[str], bool] | None = None,
    listed: Sequence[tuple[str | None, str]] = (),
) -> Solution:
    """Return the meaning of a marked record.

    Args:
        record: the pieces, in the order of the stream.
        read: returns the verdict on a text, as if its call had ended well.
        known: whether there is a tool of a name.
        listed: names and texts of the calls that the wire lists at the end.
    """
    values = Values(read)
    readings = _readings(record, values)
    half, odd = divmod(len(record.pieces), 2)
    once = record.part(0, half)
    if not odd and once == record.part(half, 2 * half):
        readings += [r._replace(cost=r.cost + NEAR) for r in _readings(once, values)]
    meant = [(name, values.value(text)) for name, text in listed]
    same = [reading for reading in readings if [meaning(call, values)[:2] for call in reading.calls] == meant]
    return agreed(same or readings, values, known=known)._replace(is_listed=bool(meant and same))


def _readings(record: MarkedRecord, values: Values) -> list[Reading]:
    """Return the meaning of the pieces in each way in which they can be assigned."""
    found: list[Reading] = []
    seen: set[tuple[int, ...]] = set()
    for numbers in _assignments(record):
        if tuple(numbers) not in seen:
            seen.add(tuple(numbers))
            reading = _reading(record, numbers, values)
            found += [] if reading is None else [reading]
    return found


# How pieces can be assigned.


def _assignments(record: MarkedRecord) -> Iterator[Assignment]:
    """Yield, for each way to assign the pieces, the number of the call of each piece."""
    keyed = _by_id(record)
    if keyed is not None:
        yield keyed
    n_ends = len(record.marks) - len(record.marks.rstrip(END))
    tails = {0, n_ends if _follow_all(record, n_ends) else 0}
    for heads, n_after in product({0} if record.chunked else _heads(record.marks), tails):
        body = record.part(heads, len(record.marks) - n_after)
        for numbers in chain.from_iterable(_assigned(body, rule, heads) for rule in RULES):
            if n_after in (0, heads or max(numbers) + 1):
                yield [*range(heads), *numbers, *range(n_after)]


def _follow_all(record: MarkedRecord, n_ends: int) -> bool:
    """Return whether all ends follow all calls, with the ids of these."""
    starts = {piece.id for piece, mark in zip(record.pieces, record.marks, strict=True) if mark == START}
    ends = {piece.id for piece in record.pieces[len(record.pieces) - n_ends :]}
    return record.marks.count(END) == n_ends and ends <= starts


def _heads(marks: str) -> set[int]:
    """Return how many calls may have been opened before the first call continued; 0 for calls in a row."""
    first = len(marks) - len(marks.lstrip(START))
    half, odd = divmod(marks.count(START), 2)
    return {0} | {n for n in (first, 0 if odd else half) if 2 <= n <= first}


def _by_id(record: MarkedRecord) -> Assignment | None:
    """Assign by ids; None unless each id is that of a start."""
    numbers: dict[str | None, int] = {None: -1}
    for piece, mark in zip(record.pieces, record.marks, strict=True):
        if mark == START:
            numbers.setdefault(piece.id, len(numbers) - 1)
    found = [numbers.get(piece.id, -1) for piece in record.pieces]
    return None if -1 in found else found


def _assigned(body: MarkedRecord, rule: Rule, heads: int) -> Iterator[Assignment]:
    """Assign the sections that a rule makes: in a row, or to the calls that were opened, in order and crossed."""
    if not body.pieces:
        yield []
        return
    cut = list(accumulate(rule(body)))
    numbers = [n - cut[0] for n in cut]
    n = numbers[-1] + 1
    if not heads:
        yield numbers
    elif n <= heads and comb(heads, n) <= MOST_ASSIGNMENTS:
        for owners in combinations(range(heads), n):
            yield [owners[number] for number in numbers]
            yield [owners[n - 1 - number] for number in numbers]


def _at_starts(body: MarkedRecord) -> Iterable[bool]:
    return (mark == START for mark in body.marks)


def _at_pairs(body: MarkedRecord) -> Iterable[bool]:
    n = accumulate(mark == START for mark in body.marks)
    return (mark == START and n % 2 == 1 for mark, n in zip(body.marks, n, strict=True))


def _at_bare_texts(body: MarkedRecord) -> Iterable[bool]:
    return (
        mark == TEXT and before != START for before, mark in zip(" " + body.marks, body.marks, strict=False)
    )


def _at_ends(body: MarkedRecord) -> Iterable[bool]:
    return (mark == END for mark in body.marks)


def _after_ends(body: MarkedRecord) -> Iterable[bool]:
    return (mark == END for mark in " " + body.marks[:-1])


def _after_pairs_of_ends(body: MarkedRecord) -> Iterable[bool]:
    n = accumulate(mark == END for mark in " " + body.marks[:-1])
    return (mark == END and n % 2 == 0 for mark, n in zip(" " + body.marks[:-1], n, strict=True))


def _at_other(kind: str) -> Rule:
    """Return the rule by which a new label on a mark of this kind begins a call."""

    def opens(body: MarkedRecord) -> Iterator[bool]:
        last = None
        for piece, mark in zip(body.pieces, body.marks, strict=True):
            label = (piece.id, piece.name)
            yield mark == kind and last not in (None, label)
            last = label if mark == kind else last

    return opens


def _by_text(way: Way) -> Rule:
    """Return the rule by which only the text shows that it is whole; a start counts as the text after it."""

    def opens(body: MarkedRecord) -> Iterator[bool]:
        marks = body.marks
        texts = Columns([piece for piece, mark in zip(body.pieces, marks, strict=True) if mark == TEXT])
        n, n_texts = 0, marks.count(TEXT)
        after = -1  # the text that begins the next call
        last = None
        for at, (piece, mark) in enumerate(zip(body.pieces, marks, strict=True)):
            after_start = marks[at - 1 : at] == START
            begins = at == 0
            if mark == TEXT:
                begins = begins or (not after_start and n == after)
            elif mark == START:
                label, last = last, (piece.id, piece.name)
                goes_on = marks[at + 1 : at + 2] == TEXT and n != after
                begins = begins or not (after_start or goes_on) or label not in (None, last)
            if begins:
                after = way(texts, n, n_texts) if n < n_texts else -1
            n += mark == TEXT
            yield begins

    return opens


RULES: tuple[Rule, ...] = (
    _at_starts,
    _at_pairs,
    _at_bare_texts,
    _at_ends,
    _after_ends,
    _after_pairs_of_ends,
    _at_other(START),
    _at_other(TEXT),
    *map(_by_text, WAYS),
)


# The cost of an assignment.


def _reading(record: MarkedRecord, numbers: Assignment, values: Values) -> Reading | None:
    """Return the meaning of the pieces if they are assigned in this way; None if that is not credible."""
    assigned: list[list[int]] = [[] for _ in range(max(numbers, default=-1) + 1)]
    for at, number in enumerate(numbers):
        assigned[number].append(at)
    calls = [
        _Call([record.pieces[at] for at in places], "".join(record.marks[at] for at in places))
        for places in assigned
    ]
    names = [{final_name(p.name) for p in call.all(START) if p.name is not None} for call in calls]
    if any(len(name) != 1 for name in names) or any(call.marks[0] != START for call in calls):
        return None
    odd = _cost_of_marks(calls, CHUNK_FORMS if record.chunked else (STARTS, ENDS)) + _cost_of_blanks(calls)
    odd += _cost_of_ids(calls) + _cost_of_labels(calls, CHUNK_LABELS if record.chunked else LABELS)
    read = texts_of([call.all(TEXT) for call in calls], values, set()) if odd <= MOST else None
    if read is None:
        return None
    texts, cost = read
    read_calls = [
        ReadCall(places, name.pop(), text, trusted(way, text, odd, values, call.all(TEXT)), call.pieces[0].id)
        for places, name, (text, way, _), call in zip(assigned, names, texts, calls, strict=True)
    ]
    return Reading(cost + odd, read_calls, is_row=True)


class _Call(NamedTuple):
    """The pieces of one call."""

    pieces: list[Piece]
    marks: str

    def all(self, kind: str) -> list[Piece]:
        """Return its pieces that have this mark."""
        return [piece for piece, mark in zip(*self, strict=True) if mark == kind]

    def ids(self, kind: str) -> set[str | None]:
        """Return the ids on its pieces that have this mark."""
        return {piece.id for piece in self.all(kind)}


def _cost_of_marks(calls: list[_Call], forms: tuple[Patterns, Patterns]) -> float:
    """Return the cost of how often calls are started and ended."""
    starts, ends = (_fitting(form, calls) for form in forms)
    return min(
        cost + other + TOGETHER.get((start, end), 0)
        for start, cost in starts.items()
        for end, other in ends.items()
    )


def _fitting(forms: Patterns, calls: list[_Call]) -> Costs:
    """Return the habits that the marks of all calls have, with their costs."""
    found = [{habit for habit, (_, form) in forms.items() if form.fullmatch(call.marks)} for call in calls]
    costs = {habit: cost for habit, (cost, _) in forms.items()}
    return pooled(costs, found) if all(found) else {"odd": ODD}


def _cost_of_blanks(calls: list[_Call]) -> float:
    """Return the cost of pieces without text: none if each call begins with one, or no call has any."""
    blanks = ["".join("t" if piece.text else "b" for piece in call.all(TEXT)) for call in calls]
    return 0 if any(all(map(form.fullmatch, blanks)) for form in BLANKS) else ODD_BLANKS


def _cost_of_ids(calls: list[_Call]) -> float:
    """Return the cost of the ids of starts: one for each call, none, or the same for all."""
    ids = [call.ids(START) for call in calls]
    known = set().union(*ids)
    if any(len(own) > 1 for own in ids):
        return ODD
    if known == {None}:
        return IDS["none"]
    if len(known) == len(calls) and None not in known:
        return IDS["own"]
    return IDS["one"] if len(known) == 1 else ODD


def _cost_of_labels(calls: list[_Call], costs: Costs) -> float:
    """Return the cost of the ids of texts and ends."""
    starts = set().union(*(call.ids(START) for call in calls))
    strange = [call.ids(TEXT) or call.ids(END) - starts for call in calls]
    found = [_label_habits(call, starts) for call in calls]
    if sum(map(len, strange)) != len(set().union(*strange)):
        found = [here - {"strange"} for here in found]
    return min((cost for habit, cost in costs.items() if all(habit in here for here in found)), default=ODD)


def _label_habits(call: _Call, starts: set[str | None]) -> set[str]:
    own, texts, ends = call.ids(START), call.ids(TEXT), call.ids(END)
    here: set[str] = set()
    if texts | ends <= own:
        here.add("own")
    if texts | ends <= own | {None}:
        here.add("none")
    if len(texts) < 2 and not texts & {*starts, None} and len(ends - own) < 2:
        strangers = ends - own
        if (strangers <= texts or not texts) and None not in strangers and not strangers & starts:
            here.add("strange")
    return here
