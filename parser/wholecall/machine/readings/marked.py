"""Reads a marked record in every way: calls whose starts and ends the wire marks, where their labels are wrong.

Theory of operation. Each piece has a mark: a call's start, a piece of its text, or its end. A server with wrong labels
still sends the pieces in an order that it keeps: call after call (a *row*), or all starts first and then the rest of
each call, in the order of the starts (*opened*) or in reverse (*crossed*). Within that, a *rule* decides where the next
call begins. Each order and rule assigns the pieces to calls in one way (`_assignments`). Each assignment is then judged
(`_reading`): for each column (starts, ends, ids, labels of texts and ends, texts) a table lists the habits that servers
have, and their costs, as for fragments of chat (see `solve`).

A *form* is the way in which a wire marks calls: which marks there are, and the label that finds the call of a text and
an end (`Form`). A run's events are found by ids, blocks by their indices. A pattern is a regular expression for the
marks of one call under a habit. Numbers in brackets are quirks.

`solve_marked` adds two things. A connection that was restarted may have sent all of it twice, so a record whose halves
are equal is also read as one half (that a model makes all of its calls again, in the same pieces, is about as likely).
And if the wire lists the calls at the end, a reading with just these calls is the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate, chain, combinations, product
from math import comb
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from wholecall.machine.readings.labels import Costs, pooled
from wholecall.machine.readings.partitions import WAYS, Assignment, Columns, Piece, Way, final_name
from wholecall.machine.readings.solve import (
    MOST,
    NEAR,
    ReadCall,
    Reading,
    Solution,
    agreed,
    meaning,
    trusted,
)
from wholecall.machine.readings.texts import Values, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
IDS: Costs = {"own": 0, "one": 1}  # of starts; one for all, or none (8, 64)
LABELS: Costs = {"own": 0, "none": 1, "strange": 1}  # of texts and ends (7, 10)
BLOCK_STARTS: Patterns = {
    **STARTS,
    "blocks": (1, re.compile("SE(STE)*")),  # a block for each piece (126)
}
BLOCK_LABELS: Costs = {
    "own": 0,
    "none": 1,  # (1)
    "zero": 1.5,  # (106)
    "strange": 1,  # (77, 125)
}
GIVEN_TWICE = 1  # the whole text with the start, and in pieces (23)


class Form(NamedTuple):
    """The way in which a wire marks calls: the habits of servers with starts, ends and labels of texts and ends.

    Attributes:
        label: returns the label that finds the call of a text or an end.
        has_slots: starts have an index as well as an id.
        has_heads: calls may be opened before the first of them continues.
    """

    starts: Patterns
    ends: Patterns
    labels: Costs
    label: Callable[[Piece], str | int | None]
    has_slots: bool = False
    has_heads: bool = True


_id_of, _index_of, _labels_of = attrgetter("id"), attrgetter("index"), attrgetter("index", "id")
EVENTS = Form(STARTS, ENDS, LABELS, _id_of)
# Chunks hold start and text: nothing ends them, and later ones may have no id.
CHUNKS = Form(
    {"once": (0, re.compile("ST*")), "each": (0.5, re.compile("S(T(ST)*)?"))},
    {"none": (0, re.compile("[ST]*")), "each": (0, re.compile("[ST]*E"))},
    {"none": 0},
    _id_of,
    has_heads=False,
)
BLOCKS = Form(BLOCK_STARTS, ENDS, BLOCK_LABELS, _index_of, has_slots=True)
BLANKS = (
    re.compile("t*"),
    re.compile("(bt*|bb)?"),
)  # the pieces of a call, `t` with text, `b` without: all have text, or all but the first
ODD_BLANKS = 1
ODD = 3
MOST_ASSIGNMENTS = 20  # ways to assign fewer texts than calls


class MarkedRecord(NamedTuple):
    """All pieces of the calls of one run or message, and their marks as one string."""

    pieces: Sequence[Piece]
    marks: str
    form: Form = EVENTS

    def part(self, start: int, stop: int) -> MarkedRecord:
        """Return some of the pieces in a row."""
        return self._replace(pieces=self.pieces[start:stop], marks=self.marks[start:stop])


def solve_marked(
    record: MarkedRecord,
    read: Callable[[str], Verdict[Any]],
    *,
    listed: Sequence[tuple[str | None, str]] = (),
) -> Solution:
    """Return the meaning of a marked record.

    Args:
        record: the pieces, in the order of the stream.
        read: returns the verdict on a text, as if its call had ended well.
        listed: names and texts of the calls that the wire lists at the end.
    """
    values = Values(read)
    readings = _readings(record, values)
    half = len(record.pieces) // 2
    once = record.part(0, half)
    if once == record.part(half, len(record.pieces)):
        readings += [r._replace(cost=r.cost + NEAR) for r in _readings(once, values)]
    readings = [one for one in readings if one.cost <= MOST]
    meant = [(name, values.value(text)) for name, text in listed]
    same = [reading for reading in readings if [meaning(call, values)[:2] for call in reading.calls] == meant]
    return agreed(same or readings, values)._replace(is_listed=bool(same))


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
    form = record.form
    keyed = [_by_label(record, form.label)]
    if form.has_slots:
        strangers = _by_strangers(record)
        if strangers is None:
            return
        keyed += strangers
    yield from (numbers for numbers in keyed if numbers is not None)
    n_ends = len(record.marks) - len(record.marks.rstrip(END))
    tails = {0, n_ends * _follow_all(record, n_ends)}
    for heads, n_after in product(_heads(record.marks) if form.has_heads else {0}, tails):
        body = record.part(heads, len(record.marks) - n_after)
        for numbers in chain.from_iterable(_assigned(body, rule, heads) for rule in RULES):
            if n_after in (0, heads or max(numbers) + 1):
                yield [*range(heads), *numbers, *range(n_after)]


def _follow_all(record: MarkedRecord, n_ends: int) -> bool:
    """Return whether all ends follow all calls, with the labels of these."""
    label = record.form.label
    starts = {label(piece) for piece in record.pieces if piece.mark == START}
    ends = {label(piece) for piece in record.pieces[len(record.pieces) - n_ends :]}
    return record.marks.count(END) == n_ends and ends <= starts


def _heads(marks: str) -> set[int]:
    """Return how many calls may have been opened before the first call continued; 0 for calls in a row."""
    first = len(marks) - len(marks.lstrip(START))
    half = marks.count(START) / 2
    return {0, *(n for n in range(2, first + 1) if n in (first, half))}


def _by_label(record: MarkedRecord, label: Callable[[Piece], Any]) -> Assignment | None:
    """Assign by the label of a form; None unless each label is that of a start."""
    starts = dict.fromkeys(label(piece) for piece in record.pieces if piece.mark == START)
    numbers = {known: number for number, known in enumerate(starts) if known is not None}
    labels = [label(piece) for piece in record.pieces]
    return [numbers[known] for known in labels] if numbers.keys() >= set(labels) else None


def _by_strangers(record: MarkedRecord) -> list[Assignment] | None:
    """Assign each index of texts to one of the calls, in their order (77); return None for too many ways.

    An end has the index of its start, or else that of its text; an index that only ends have is that of a call without
    text. Where calls take turns, no order of the pieces shows to which call an index belongs.
    """
    pieces = record.pieces
    texts, ends = (
        dict.fromkeys(piece.index for piece in pieces if piece.mark == kind) for kind in (TEXT, END)
    )
    is_own = ends.keys() <= {piece.index for piece in pieces if piece.mark == START}
    others = [] if is_own else [index for index in ends if index not in texts]
    label = _index_of if is_own else _labels_of
    labels = dict.fromkeys(label(piece) for piece in pieces if piece.mark == START)
    starts = {known: number for number, known in enumerate(labels)}
    n = len(starts)
    if others and len(texts) + len(others) != n:
        return []
    if comb(n, len(texts)) > MOST_ASSIGNMENTS:
        return None
    found: list[Assignment] = []
    for owners in combinations(range(n), len(texts)):
        of_text = dict(zip(texts, owners, strict=True))
        left = (number for number in range(n) if number not in owners)
        of_end = starts if is_own else {**of_text, **dict(zip(others, left, strict=False))}
        found.append(
            [
                starts[label(piece)]
                if piece.mark == START
                else (of_text if piece.mark == TEXT else of_end)[piece.index]
                for piece in pieces
            ]
        )
    return found


def _assigned(body: MarkedRecord, rule: Rule, heads: int) -> Iterator[Assignment]:
    """Assign the sections that a rule makes: in a row, or to the calls that were opened, in order and crossed."""
    if not body.pieces:  # nothing follows the starts, as in a row
        return
    cut = list(accumulate(rule(body)))
    numbers = [n - cut[0] for n in cut]
    n = numbers[-1] + 1
    if not heads:
        yield numbers
    elif comb(heads, n) <= MOST_ASSIGNMENTS:
        for owners in combinations(range(heads), n):
            yield [owners[number] for number in numbers]
            yield [owners[n - 1 - number] for number in numbers]


# Rules. The first piece begins a call anyway.


def _at_starts(body: MarkedRecord) -> Iterable[bool]:
    return (mark == START for mark in body.marks)


def _at_other_ids(body: MarkedRecord) -> Iterator[bool]:
    """Begin a call with a start that has another id."""
    last = None
    for piece in body.pieces:
        here = piece.id if piece.mark == START else last
        yield last not in (None, here)
        last = here


def _at_bare_texts(body: MarkedRecord) -> Iterable[bool]:
    marks = body.marks
    return (mark == TEXT and marks[at - 1] != START for at, mark in enumerate(marks))


def _after_ends(body: MarkedRecord) -> Iterable[bool]:
    return (body.marks[at - 1] == END for at in range(len(body.marks)))


def _after_pairs_of_ends(body: MarkedRecord) -> Iterable[bool]:
    marks = body.marks
    n_ends = [*accumulate(mark == END for mark in marks)]
    return (marks[at - 1] == END and n_ends[at - 1] % 2 == 0 for at in range(len(marks)))


def _by_text(way: Way) -> Rule:
    """Return the rule by which only the text shows that it is whole; a start counts as the text after it."""

    def opens(body: MarkedRecord) -> Iterator[bool]:
        marks = body.marks
        texts = Columns([piece for piece in body.pieces if piece.mark == TEXT])
        n_texts = marks.count(TEXT)
        n = after = 0  # the next text; the text that begins the next call
        last = None
        for at, piece in enumerate(body.pieces):
            begins = False
            if piece.mark == TEXT:
                # Never true right after a start: that began the call, or came in the middle of its text.
                begins = n == after
            elif piece.mark == START:
                label, last = last, (piece.id, piece.name)
                goes_on = marks[at - 1] == START or (marks[at + 1 : at + 2] == TEXT and n != after)
                begins = not goes_on or label not in (None, last)
            if n < n_texts and (begins or at == 0):
                after = way(texts, n, n_texts)
            n += piece.mark == TEXT
            yield begins

    return opens


RULES: tuple[Rule, ...] = (
    _at_starts,
    _at_other_ids,
    _at_bare_texts,
    _after_ends,
    _after_pairs_of_ends,
    *map(_by_text, WAYS),
)


# The cost of an assignment.


def _reading(record: MarkedRecord, numbers: Assignment, values: Values) -> Reading | None:
    """Return the meaning of the pieces if they are assigned in this way; None if that is not credible."""
    assigned: list[list[int]] = [[] for _ in range(max(numbers) + 1)]
    for at, number in enumerate(numbers):
        assigned[number].append(at)
    calls = [
        _Call([record.pieces[at] for at in places], "".join(record.marks[at] for at in places))
        for places in assigned
    ]
    names = [{final_name(p.name) for p in call.all(START) if p.name is not None} for call in calls]
    if any(len(name) != 1 for name in names) or any(call.marks[0] != START for call in calls):
        return None
    texts, odd = _texts_of_pieces(calls)
    odd += _cost_of_marks(calls, record.form) + _cost_of_blanks(texts)
    odd += _cost_of_starts(calls, _id_of) + _cost_of_labels(calls, record.form)
    odd += _cost_of_starts(calls, _index_of) if record.form.has_slots else 0
    read = texts_of(texts, values, set()) if odd <= MOST else None
    if read is None:
        return None
    found, cost = read
    read_calls = [
        ReadCall(places, name.pop(), text, trusted(way, text, odd, values, own), call.pieces[0].id)
        for places, name, (text, way, _), call, own in zip(assigned, names, found, calls, texts, strict=True)
    ]
    return Reading(cost + odd, read_calls, is_row=True)


class _Call(NamedTuple):
    """The pieces of one call."""

    pieces: list[Piece]
    marks: str

    def all(self, kind: str) -> list[Piece]:
        """Return its pieces that have this mark."""
        return [piece for piece in self.pieces if piece.mark == kind]

    def labels(self, kind: str, form: Form) -> set[Any]:
        """Return the labels on its pieces that have this mark."""
        return {form.label(piece) for piece in self.all(kind)}


def _texts_of_pieces(calls: list[_Call]) -> tuple[list[list[Piece]], float]:
    """Return the texts of the calls, and the cost if all of them that have pieces were given whole before."""
    texts = [[*(piece for piece in call.all(START) if piece.text), *call.all(TEXT)] for call in calls]
    filled = [own for own in texts if own]
    further = [own for own in filled if len(own) > 1]
    is_again = all(own[0].text == "".join(piece.text for piece in own[1:]) for own in further)
    if further and is_again and all(own[0].whole for own in filled):
        return [own[1:] or own for own in texts], GIVEN_TWICE
    return texts, 0


def _cost_of_marks(calls: list[_Call], form: Form) -> float:
    """Return the cost of how often calls are started and ended."""
    starts, ends = _fitting(form.starts, calls), _fitting(form.ends, calls)
    if "blocks" in starts and any(call.marks.count(START) > 1 for call in calls):
        return starts["blocks"]  # which end, too
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


def _cost_of_blanks(texts: list[list[Piece]]) -> float:
    """Return the cost of pieces without text: none if each call begins with one, or no call has any."""
    blanks = ["".join("t" if piece.text else "b" for piece in own) for own in texts]
    return 0 if any(all(map(form.fullmatch, blanks)) for form in BLANKS) else ODD_BLANKS


def _cost_of_starts(calls: list[_Call], label: Callable[[Piece], Any]) -> float:
    """Return the cost of a label of starts: one for each call, none, the same for all, or one for each start."""
    labels = [{label(piece) for piece in call.all(START)} for call in calls]
    known = set().union(*labels)
    is_own = None not in known and sum(map(len, labels)) == len(known)
    if is_own and (label is _index_of or len(known) == len(calls)):
        return IDS["own"]
    return IDS["one"] if len(known) == 1 else ODD


def _cost_of_labels(calls: list[_Call], form: Form) -> float:
    """Return the cost of the labels of texts and ends."""
    starts = set().union(*(call.labels(START, form) for call in calls))
    found = [_habits(call, starts, form) for call in calls]
    strange = [call.labels(TEXT, form) or call.labels(END, form) - starts for call in calls]
    if sum(map(len, strange)) != len(set().union(*strange)):
        found = [here - {"strange"} for here in found]
    return min(
        (cost for habit, cost in form.labels.items() if all(habit in here for here in found)), default=ODD
    )


def _habits(call: _Call, starts: set[Any], form: Form) -> set[str]:
    """Return the habits of a call's labels; an index that is strange to a call may be that of the next one.

    The texts of a block all have an index, or none has; and its ends all have its own, or none has: an end that is not
    its own beside one that is may be that of a block whose start was lost.
    """
    own, texts, ends = (call.labels(kind, form) for kind in (START, TEXT, END))
    strange = texts | ends - own
    is_mixed = form.has_slots and not (ends <= own or ends.isdisjoint(own))
    may_be = {
        "own": strange <= own,
        "none": strange <= ({None} if form.has_slots else own | {None}),
        "zero": texts <= {0} and ends <= own,
        "strange": not (
            is_mixed or len(strange) > 1 or strange & {None, *(own if form.has_slots else starts)}
        ),
    }
    return {habit for habit, is_so in may_be.items() if is_so}
