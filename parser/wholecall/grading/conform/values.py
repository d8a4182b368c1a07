"""String values of arguments in other letters, wherever they stand in a stream.

Theory of operation. A value may come whole, in pieces, again as a snapshot, escaped, or as JSON in JSON. One exchange of
letters for all argument text of a case, each letter for one other of its kind, fits all of these: the pieces of an
exchanged text are the exchanged pieces. What must stay are keys, literals, escapes, numbers, enumerated words and
markers; therefore only those letters and digits are exchanged that none of these has. Argument text is what is under a
key for it. A word of a value that also stands under a key of another kind, or that the argument text does not have, is a
sign that the stream was not understood: then nothing is exchanged.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from wholecall.grading.conform.cases import Call, Case

_UNDER = re.compile(rb'"(?:arguments|partial_json|input|args|stringValue)"\s*:\s*(?=["{\[])')
_DELTA = re.compile(rb'"delta"\s*:\s*(?=")')
_DELTA_TYPE = b"_call_arguments.delta"
_BLANKS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_STRING = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*)')
_PARTS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_LABEL = re.compile(rb'"(?:index|output_index|contentBlockIndex|item_id)"\s*:\s*("[^"]*"|\d+)')
_MEMBER = re.compile(rb'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_TEXTS = frozenset({b"content", b"text", b"delta", b"reasoning", b"reasoning_content", b"thinking"})
_KEY = re.compile(r'"((?:[^"\\]|\\[^"])*)\\*"\s*:')
_NUMBER = re.compile(r"(?:^|[:,\[])\s*-?\d")
_LITERAL = re.compile(r"true|false|null|None|NaN|undefined|Infinity|[Ee][+-]?\d")
_QUOTE = re.compile(r'\\+"')
_MARKED = re.compile(r"[<>{}\[\]|`]")
_RUN = re.compile(r"[A-Za-z0-9]+")
_WHOLE = re.compile(rb"[A-Za-z0-9_]+")
_LONG = 4  # letters of a word that is no word of a wire by chance
_ESCAPES = frozenset("bfnrtu" + string.hexdigits)
_ALPHABETS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
Exchange = dict[int, int]  # as `str.translate` takes it


class _Span(NamedTuple):
    """A place of argument text: its first byte, the byte after it, and the label of its call in the frame."""

    start: int
    end: int
    label: bytes


def exchanged_values(case: Case, random: Random) -> Case:
    """Return a case with other string values in its arguments; the same object where that cannot be done safely."""
    try:
        return _exchanged(case, random)
    except RecursionError:  # arguments that are too deep to walk through
        return case


def _exchanged(case: Case, random: Random) -> Case:
    spans = sorted({*_spans(case.data)})
    text = _text(case.data, spans)
    if not _is_understood(case, spans, text):
        return case
    table = _table(_kept(case, text), random)
    if not any(ord(char) in table for char in text):
        return case
    data, swaps = bytearray(case.data), bytes(table.get(n, n) for n in range(256))
    for span in spans:
        data[span.start : span.end] = data[span.start : span.end].translate(swaps)
    lists = {
        member: tuple(_call(call, table) for call in getattr(case, member))
        for member in ("sent", "may", "retracted", "server")
    }
    return replace(case, data=bytes(data), **lists)


def has_values(case: Case) -> bool:
    """Return whether a case has a call with a letter or a digit in a string value."""
    return any(True for call in case.calls() for _ in _runs(call))


def _call(call: Call, table: Exchange) -> Call:
    text = None if call.arguments_text is None else call.arguments_text.translate(table)
    return replace(call, arguments=_valued(call.arguments, table), arguments_text=text)


def _valued(value: Any, table: Exchange) -> Any:
    if isinstance(value, str):
        return value.translate(table)
    if isinstance(value, dict):
        return {name: _valued(one, table) for name, one in value.items()}
    return [_valued(one, table) for one in value] if isinstance(value, list) else value


# Where argument text is.


def _spans(data: bytes) -> Iterator[_Span]:
    for match in _UNDER.finditer(data):
        yield _span(data, match.end())
    for match in _DELTA.finditer(data):
        start, end = _frame(data, match.start())
        if _DELTA_TYPE in data[start:end]:
            yield _span(data, match.end())


def _span(data: bytes, start: int) -> _Span:
    """Return the place of the string, object or list that begins at a byte; one that is not ended goes to the line's."""
    labels = _LABEL.findall(data, *_frame(data, start))
    label = labels[-1] if labels else b""
    if data[start : start + 1] == b'"':
        found = _STRING.match(data, start)
        assert found is not None
        return _Span(*found.span(1), label)
    depth = 0
    for part in _PARTS.finditer(data, start):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(part[0], 0)
        if depth == 0:
            return _Span(start, part.end(), label)
    line = data.find(b"\n", start)
    return _Span(start, len(data) if line < 0 else line, label)


def _frame(data: bytes, place: int) -> tuple[int, int]:
    """Return the bounds of the frame around a place: lines between blank ones."""
    start = max(data.rfind(blank, 0, place) for blank in _BLANKS)
    ends = [end for blank in _BLANKS if (end := data.find(blank, place)) >= 0]
    return max(start, 0), min(ends, default=len(data))


def _text(data: bytes, spans: Iterable[_Span]) -> str:
    return b"".join(data[span.start : span.end] for span in spans).decode("utf-8", "replace")


# Whether it is all of it.


def _is_understood(case: Case, spans: list[_Span], text: str) -> bool:
    """Return whether each word of a call that may be run is argument text, and long words are under no other key."""
    labelled: dict[bytes, list[_Span]] = defaultdict(list)
    for span in spans:
        labelled[span.label].append(span)
    texts = [text, *(_text(case.data, found) for found in labelled.values())]
    runs = {run for call in (*case.sent, *case.may) for run in _runs(call)}
    if not all(any(run in one for one in texts) for run in runs):
        return False
    long = {run.encode() for call in case.calls() for run in _runs(call) if len(run) >= _LONG}
    rest = _without(case.data, spans)
    others = [found for key, found in _MEMBER.findall(rest) if key not in _TEXTS]
    return not any(word in _WHOLE.findall(other) for other in others for word in long)


def _runs(call: Call) -> Iterator[str]:
    """Yield the runs of letters and digits in the string values of a call."""
    for text in _strings(call.arguments):
        yield from _RUN.findall(text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def _without(data: bytes, spans: Iterable[_Span]) -> bytes:
    pieces, end = [], 0
    for span in spans:
        pieces.append(data[end : span.start])
        end = max(end, span.end)
    return b"".join([*pieces, data[end:]])


# Which letters are exchanged.


def _table(kept: frozenset[str], random: Random) -> Exchange:
    """Return an exchange of all letters and digits that are not kept, each for another one of its kind."""
    table: Exchange = {}
    for alphabet in _ALPHABETS:
        free = [ord(char) for char in alphabet if char not in kept]
        random.shuffle(free)
        table |= dict(zip(free, free[1:] + free[:1], strict=True)) if len(free) > 1 else {}
    return table


def _kept(case: Case, text: str) -> frozenset[str]:
    """Return the characters that must stay in argument text."""
    words = [*_words(case, text), *_KEY.findall(text), *_LITERAL.findall(text)]
    kept = {char for word in words for char in word}
    if "\\" in _QUOTE.sub("", text):
        kept |= _ESCAPES
    if _NUMBER.search(text) or kept & {*string.digits}:
        kept |= {*string.digits}
    if "\n" in text:  # the lines of a frame have names
        kept |= {*"dataeventid"}
    return frozenset(kept)


def _words(case: Case, text: str) -> Iterator[str]:
    """Yield words of the case that mean something in its arguments: keys, literals, names, marked text."""
    for call in case.calls():
        yield from (word for word in (call.name, call.id) if word and word in text)
        yield from _fixed(call.arguments)
    for tool in case.request.tools:
        yield from _described(tool.schema)


def _fixed(value: object) -> Iterator[str]:
    """Yield what must stay of arguments: keys, the letters and digits of other values than strings, marked texts."""
    if isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from _fixed(one)
    elif isinstance(value, list):
        for one in value:
            yield from _fixed(one)
    elif not isinstance(value, str):
        yield "truefalsenull" if value is None or isinstance(value, bool) else f"{string.digits}eE"
    elif _MARKED.search(value):
        yield value


def _described(schema: object) -> Iterator[str]:
    """Yield what a schema fixes: names of properties, and enumerated words."""
    if isinstance(schema, list):
        for one in schema:
            yield from _described(one)
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name in {"enum", "const"}:
            yield from _strings([value])
        elif name == "properties" and isinstance(value, dict):
            yield from value
        yield from _described(value)
