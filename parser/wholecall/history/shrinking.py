"""The shortening of old arguments, alone and in transcripts: long strings are cut, and valid JSON stays valid JSON.

Theory of operation. Nothing is decoded and dumped again: `spans` finds the strings of the text and cuts them, and the
new spellings are spliced in. Therefore every number keeps its spelling, keys keep their order and repetitions, and a
text that needs no cut is the same object. A cut that would not make the text shorter, in characters and in UTF-8 bytes,
is not made; therefore shrinking twice is shrinking once.

With a budget (`max_bytes`) further steps follow until the text fits: all long strings are cut to one common length, the
greatest that fits; then, with all strings as short as possible, one marker replaces the middle of each long array,
again down to the greatest common number of items that fits. Both numbers are found by bisection. Keys are never cut. A
dict is shrunk through its JSON text in the same way; the cuts are then made in a copy.

The messages of a transcript are read through the view of their shape, as for a repair, and the arguments of each call
but the last ones are shrunk, text as text and objects as objects. Calls, ids and results stay in place, and messages
without shrunk arguments are the same objects as before. Nothing is repaired here.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from wholecall.calls.arguments.tokens import utf8_size
from wholecall.history.indexed import IndexedTranscript
from wholecall.history.parts import Message, MessagesT, Part
from wholecall.history.shapes.table import ShapeName
from wholecall.history.spans import Cut, Leaf, Marker, Spans, read_spans
from wholecall.history.transcripts import indexed_transcript, new_messages
from wholecall.history.values import Step, built, dumped, walk

A = TypeVar("A", str, dict[str, Any])


class Shrunk(msgspec.Struct, Generic[A], frozen=True):
    """Shrunk arguments.

    Attributes:
        text: the arguments, text for text and dict for dict; the same object if nothing changed.
        changed: whether anything was cut.
        valid: whether the arguments are strict JSON, by grammar alone: repeated keys and numbers of any size are JSON.
            Invalid arguments are returned unchanged; `encode_arguments` can wrap them.
        elided: the decoded characters of strings that are missing, and the characters of JSON text of
            missing array items.
        fits: whether the arguments have at most `max_bytes` (dicts: as compact JSON); True without a budget.
    """

    text: A
    changed: bool
    valid: bool
    elided: int
    fits: bool

    def __repr__(self) -> str:
        return (
            f"Shrunk(text=<{len(self.text)}>, changed={self.changed}, valid={self.valid},"
            f" elided={self.elided}, fits={self.fits})"
        )


def shrink_arguments(
    raw: A,
    *,
    max_leaf: int = 200,
    threshold: int = 500,
    marker: str = "...[truncated]",
    tail: int = 0,
    protect: Collection[str] = (),
    max_bytes: int | None = None,
) -> Shrunk[A]:
    """Return the arguments with long strings cut; valid JSON stays valid, and no text gets longer.

    A cut string keeps its beginning, the marker, and its end if `tail` is given. A text that is one string is never
    cut: it may hold encoded arguments.

    Args:
        raw: argument text, or an object; it is not changed.
        max_leaf: the number of decoded characters that a string keeps.
        threshold: texts of at most this many characters are not changed (dicts: as compact JSON), unless they exceed
            the budget.
        marker: the replacement of the text that was cut.
        tail: decoded characters to keep at the end of a string, out of `max_leaf`.
        protect: keys below which, at any depth, nothing is cut.
        max_bytes: UTF-8 bytes that the arguments should have at most; strings may then be cut below
            `max_leaf`, and arrays lose their middles.

    Raises:
        TypeError: `raw` is neither text nor a dict, a dict contains a value that JSON lacks, or `protect` is one
            string.
        ValueError: a negative number, a `tail` above `max_leaf`, or a marker with a lone surrogate.
    """
    options = _options(max_leaf, threshold, marker, tail, protect, max_bytes)
    try:
        text = _text_of(raw)
    except ValueError:
        return _invalid(raw, max_bytes is None)
    plan = _plan(text, options)
    if plan is None:
        return _invalid(raw, options.fits(utf8_size(text)))
    if not plan.changed:
        return plan.shrunk(raw)
    new: A = _carried_out(plan, raw)
    return plan.shrunk(new)


def _text_of(raw: object) -> str:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, dict):
        return dumped(raw)
    raise TypeError(f"arguments are JSON text or a dict, not {type(raw).__name__}")


def _carried_out(plan: _Plan, raw: object) -> Any:
    return plan.text if isinstance(raw, str) else built(_replayed(plan, raw))


def _invalid(raw: A, fits: bool) -> Shrunk[A]:
    return Shrunk(raw, changed=False, valid=False, elided=0, fits=fits)


class _Options(NamedTuple):
    max_leaf: int
    threshold: int
    marker: Marker
    tail: int
    protect: frozenset[str]
    max_bytes: int | None

    def fits(self, size: int) -> bool:
        return self.max_bytes is None or size <= self.max_bytes

    def tail_of(self, keep: int) -> int:
        """Return how many of `keep` kept characters are at a string's end: the same share for all strings."""
        return self.tail if keep >= self.max_leaf else self.tail * keep // self.max_leaf


def _options(
    max_leaf: int, threshold: int, marker: str, tail: int, protect: Collection[str], max_bytes: int | None
) -> _Options:
    if isinstance(protect, str):
        raise TypeError("protect is a collection of keys; put the one key into a tuple")
    if min(max_leaf, threshold, tail, max_bytes or 0) < 0:
        raise ValueError("max_leaf, threshold, tail and max_bytes cannot be negative")
    if tail > max_leaf:
        raise ValueError(f"tail is a part of max_leaf: {tail} is more than {max_leaf}")
    return _Options(max_leaf, threshold, Marker(marker), tail, frozenset(protect), max_bytes)


class _Plan:
    """The planned changes of a text.

    Attributes:
        text: the new text.
        strings: new spellings of strings, without quotes, by their numbers.
        arrays: the range of the items that the marker replaces, by the numbers of arrays.
    """

    def __init__(self, text: str, marker: Marker) -> None:
        self.text = text
        self.marker = marker
        self.strings: dict[int, str] = {}
        self.arrays: dict[int, tuple[int, int]] = {}
        self.elided = 0
        self.fits = True

    @property
    def changed(self) -> bool:
        return bool(self.strings or self.arrays)

    def shrunk(self, arguments: A) -> Shrunk[A]:
        return Shrunk(arguments, self.changed, valid=True, elided=self.elided, fits=self.fits)


def _plan(text: str, options: _Options) -> _Plan | None:
    """Return the cuts to make in the text; None if it is not JSON."""
    spans = read_spans(text, options.protect)
    if spans is None:
        return None
    plan = _Plan(text, options.marker)
    over = not options.fits(utf8_size(text))
    if over or len(text) > options.threshold:
        _cut_strings(plan, spans, options)
        over = over and not options.fits(utf8_size(plan.text))
    if over:
        shorter = read_spans(plan.text, options.protect, arrays=True)
        assert shorter is not None  # valid JSON stays valid
        _cut_arrays(plan, shorter, options)
    plan.fits = options.fits(utf8_size(plan.text))
    return plan


def _greatest(least: int, most: int, size: Callable[[int], int], budget: int) -> int:
    """Return the greatest number from `least` to `most` of which `size` fits the budget, else `least`."""
    numbers = range(least, most + 1)
    return max(least, least + bisect_right(numbers, budget, key=size) - 1)


def _spliced(text: str, pieces: list[tuple[int, int, str]]) -> str:
    """Return the text with ranges replaced; they do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(pieces):
        parts += (text[done:start], new)
        done = end
    return "".join([*parts, text[done:]])


# --- strings -------------------------------------------------------------------------------------------


def _cut_strings(plan: _Plan, spans: Spans, options: _Options) -> None:
    text, least = plan.text, len(options.marker.spelled)  # strings no longer than the marker stay
    leaves = [
        Leaf(text, string.number, string.start + 1, string.end - 1, options.marker)
        for string in spans.strings
        if string.end - string.start - 2 > least
    ]
    most = max((leaf.length for leaf in leaves), default=0)
    keep = min(most, options.max_leaf) if len(text) > options.threshold else most
    if options.max_bytes is not None:
        total = utf8_size(text)
        keep = _greatest(0, keep, lambda n: total - _saved(leaves, n, options), options.max_bytes)
    cuts = _cuts(leaves, keep, options)
    plan.text = _spliced(text, [(leaf.start, leaf.end, cut.body) for leaf, cut in cuts])
    plan.strings = {leaf.number: cut.body for leaf, cut in cuts}
    plan.elided += sum(cut.elided for _, cut in cuts)


def _cuts(leaves: list[Leaf], keep: int, options: _Options) -> list[tuple[Leaf, Cut]]:
    tail = options.tail_of(keep)
    return [(leaf, cut) for leaf in leaves if (cut := leaf.cut(keep, tail)) is not None]


def _saved(leaves: list[Leaf], keep: int, options: _Options) -> int:
    return sum(leaf.size - utf8_size(cut.body) for leaf, cut in _cuts(leaves, keep, options))


# --- arrays --------------------------------------------------------------------------------------------

_ENDS = 2  # items that every array keeps: its first and its last


class _Middle(NamedTuple):
    """The items of an array to remove: their range, and that of their text."""

    number: int
    first: int
    last: int
    start: int
    end: int


def _cut_arrays(plan: _Plan, spans: Spans, options: _Options) -> None:
    text, budget = plan.text, options.max_bytes or 0
    total = utf8_size(text)
    marker = f'"{options.marker.spelled}"'

    def size(keep: int) -> int:
        middles = _middles(text, spans, keep, marker)
        return total - sum(utf8_size(text[each.start : each.end]) - utf8_size(marker) for each in middles)

    most = max((len(array.starts) for array in spans.arrays), default=_ENDS)
    middles = list(_middles(text, spans, _greatest(_ENDS, most, size, budget), marker))
    plan.text = _spliced(text, [(each.start, each.end, marker) for each in middles])
    plan.arrays = {each.number: (each.first, each.last) for each in middles}
    plan.elided += sum(each.end - each.start for each in middles)


def _middles(text: str, spans: Spans, keep: int, marker: str) -> Iterator[_Middle]:
    """Yield the items to remove if every array keeps `keep` items, in order of the arrays' beginnings."""
    around: list[_Middle] = []  # those that have not ended yet, the innermost last
    for array in spans.arrays:
        if len(array.starts) <= keep:
            continue
        while around and around[-1].end <= array.starts[0]:
            around.pop()
        if around and around[-1].start <= array.starts[0]:
            continue  # it is removed with an array around it
        first, last = keep - keep // 2, len(array.starts) - keep // 2
        middle = _Middle(array.number, first, last, array.starts[first], array.ends[last - 1])
        if _gains(text, middle, marker) and not spans.is_protected(middle.start, middle.end):
            around.append(middle)
            yield middle


def _gains(text: str, middle: _Middle, marker: str) -> bool:
    old = text[middle.start : middle.end]
    return len(old) > len(marker) and utf8_size(old) > utf8_size(marker)


# --- dicts ---------------------------------------------------------------------------------------------


class _Open:
    """An open container: the range of its items to remove, and the number of the next item."""

    __slots__ = ("at", "first", "last")

    def __init__(self, first: int = 0, last: int = 0) -> None:
        self.first, self.last, self.at = first, last, 0


def _replayed(plan: _Plan, value: object) -> Iterator[Step]:
    """Yield the steps of the value with the cuts of its text applied."""
    n_strings = n_arrays = 0
    stack = [_Open()]
    hidden = 0  # open containers within a removed item
    for kind, item in walk(value):
        if kind in ("}", "]"):
            stack.pop()
        if kind in ("}", "]", "key"):
            if not hidden:
                yield kind, item
            hidden -= hidden > 0 and kind != "key"
            continue
        within, new = stack[-1], item
        goes = bool(hidden) or within.first <= within.at < within.last
        if goes and not hidden and within.at == within.first:
            yield "value", plan.marker.text
        within.at += 1
        if kind == "value" and isinstance(item, str):
            body = plan.strings.get(n_strings)
            n_strings += 1
            new = item if body is None else json.loads(f'"{body}"')
        elif kind != "value":
            ranges = plan.arrays.get(n_arrays, (0, 0)) if kind == "[" else (0, 0)
            n_arrays += kind == "["
            stack.append(_Open(*ranges))
            hidden += goes
        if not goes:
            yield kind, new


# --- transcripts ---------------------------------------------------------------------------------------


class ShrunkTranscript(msgspec.Struct, Generic[MessagesT], frozen=True):
    """A transcript whose old calls are short; ids are those of the input, or names if there is none.

    Attributes:
        messages: the input itself if nothing was shrunk, else a new list (a tuple for a tuple), of the same type as the
            input.
        changed: whether anything was shrunk.
        shrunk: the calls whose arguments were.
        invalid: the old calls whose arguments are not JSON: they are not changed, `repair_transcript` handles them.
        elided: the number of missing characters, as in `Shrunk.elided`.
        fits: whether the arguments of each old call have at most `max_bytes`; True without a budget.
    """

    messages: MessagesT
    changed: bool
    shrunk: list[str] = []
    invalid: list[str] = []
    elided: int = 0
    fits: bool = True

    def __repr__(self) -> str:
        return (
            f"ShrunkTranscript(messages=<{len(self.messages)}>, changed={self.changed}, shrunk={self.shrunk!r}, "
            f"invalid={self.invalid!r}, elided={self.elided}, fits={self.fits})"
        )


def shrink_transcript(
    messages: MessagesT,
    *,
    keep_recent: int,
    max_leaf: int = 200,
    threshold: int = 500,
    marker: str = "...[truncated]",
    tail: int = 0,
    protect: Collection[str] = (),
    max_bytes: int | None = None,
    shape: ShapeName = "auto",
) -> ShrunkTranscript[MessagesT]:
    """Shrink the arguments of all calls of a transcript but the last ones; nothing is changed in place.

    Free text (of custom tools) and the arguments of the provider's own tools are not changed. A second shrinking
    changes nothing.

    Args:
        messages: requests' messages or items, or the decoded lines of a session file, as dicts.
        keep_recent: the number of calls at the end of the transcript that are not changed.
        max_leaf: the number of decoded characters that a string keeps.
        threshold: arguments of at most this many characters are not changed.
        marker: the replacement of the text that was cut.
        tail: decoded characters to keep at the end of a string, out of `max_leaf`.
        protect: keys below which nothing is cut.
        max_bytes: UTF-8 bytes that the arguments of each call should have at most.
        shape: as in `repair_transcript`.

    Raises:
        TypeError: `messages` is not a list or tuple, or something in it is not a dict; also as in `shrink_arguments`.
        UnknownDialect: as in `repair_transcript`.
        ValueError: `keep_recent` is negative, the shape is not known; also as in `shrink_arguments`.
    """
    if keep_recent < 0:
        raise ValueError("keep_recent is a number of calls, and cannot be negative")
    shrink = partial(
        shrink_arguments,
        max_leaf=max_leaf,
        threshold=threshold,
        marker=marker,
        tail=tail,
        protect=protect,
        max_bytes=max_bytes,
    )
    shrink("")  # an invalid option raises even if there is no call
    indexed = indexed_transcript(messages, shape)
    shorter = shorten(indexed, keep_recent, shrink)
    if not shorter.calls:
        return ShrunkTranscript(messages, changed=False, invalid=shorter.invalid, fits=shorter.fits)
    made = [messages[page] if isinstance(page, int) else page for page in shorter.pages(indexed)]
    shrunk = [call.label for call in shorter.calls]
    return ShrunkTranscript(
        new_messages(messages, made), True, shrunk, shorter.invalid, shorter.elided, shorter.fits
    )


class Shorter(msgspec.Struct, eq=False):
    """The shortened parts of a transcript.

    Attributes:
        calls: the calls whose arguments were shrunk.
        invalid, elided, fits: as in `ShrunkTranscript`.
    """

    calls: list[Part] = []
    invalid: list[str] = []
    elided: int = 0
    fits: bool = True

    def pages(self, indexed: IndexedTranscript) -> Iterator[int | Message]:
        """Yield the messages; for unchanged messages their index.

        In messages with a shrunk call only the member that contains it is written.
        """
        fields: dict[int, set[str]] = {}
        for call in self.calls:
            fields.setdefault(call.row, set()).add(call.field)
        for line in indexed.lines:
            parts = [part for part in line.parts if part.field in fields.get(line.index, ())]
            yield indexed.written(line, parts, parts) if parts else line.index


def shorten(indexed: IndexedTranscript, keep_recent: int, shrink: Callable[[Any], Shrunk[Any]]) -> Shorter:
    """Shrink the arguments of all calls of a transcript but the last ones."""
    shorter = Shorter()
    calls = list(_calls(indexed))
    for call in islice(calls, max(0, len(calls) - keep_recent)):
        made = shrink(indexed.arguments(call))
        shorter.elided += made.elided
        shorter.fits = shorter.fits and made.fits
        if made.changed:
            call.set("arguments", made.text)
            shorter.calls.append(call)
        if not made.valid:
            shorter.invalid.append(call.label)
    return shorter


def _calls(indexed: IndexedTranscript) -> Iterator[Part]:
    """Yield the calls that have arguments, and have them as JSON."""
    for line in indexed.lines:
        for part in line.parts:
            if part.form in ("object", "string") and part.carried in ("object", "empty", "text"):
                yield part
