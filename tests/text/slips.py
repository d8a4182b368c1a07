"""Slips of a model: a call in a format's own form, with one fault after its first value.

They are made from the format's records, so that a new format has its slips without a word here. Text *inside* a value
or a key is part of it, and not a visible slip; such places are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from tests.text.reading import literals
from tests.text.writers import WRITERS, Call
from wholecall.text.records import Format, Tag

CALL: Final = Call("sh", {"cmd": "ls", "cwd": "/var"})
_SIGNS: Final = '{}[]()",:='  # characters of JSON, of Python's spelling and of heads of tags
_TEXT: Final = "and then"


class Slip(NamedTuple):
    """A text with a slip: its description, and the marker that was inserted, if any."""

    what: str
    text: str
    put: str = ""


def own_literals(form: Format) -> list[str]:
    """Return the literals of a format's calls."""
    sections = (
        ["<![CDATA[", "]]>"]
        if any(isinstance(record, Tag) and record.params.cdata for record in form.calls)
        else []
    )
    return [*literals(replace(form, noise=(), think=(), imply=())), *sections]


def forms(name: str) -> list[str]:
    """Return the call as the format writes it, and without white space between its tags."""
    writer = WRITERS[name]
    written = writer.write([CALL])
    before = "" if writer.before == "So be it. " else writer.before
    compact = re.sub(r"\s*(<[^<>]*>)\s*", r"\1", written) if writer.raw else written
    return [before + text for text in dict.fromkeys((written, compact))]


def outermost(form: Format, text: str) -> frozenset[str]:
    """Return the end of a text's outermost opening: after it the search for the call stops."""
    opened = [
        (text.index(opener), record.closes)
        for record in form.calls
        for opener in record.opens
        if opener in text
    ]
    ends = form.messages.ends if form.messages is not None else ()
    return frozenset((*(min(opened)[1] if opened else ()), *ends))


def slips(form: Format, text: str) -> Iterator[Slip]:
    """Yield the text with each slip after its first value."""
    own = own_literals(form)
    signs = sorted({*own, *_SIGNS}, key=len, reverse=True)
    start = _end_of(text, "ls")
    for what, broken in _of_heads(text):
        yield Slip(what, broken)
    for match in re.finditer("|".join(map(re.escape, signs)), text[start:]):
        first, end = start + match.start(), start + match.end()
        if match.group().strip():
            yield from _of_letters(text, first, end)
            yield from _of_markers(text, first, end, own)


def _of_heads(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text with another head, or none, before its second value, if heads are tags."""
    for head in re.findall(r"<[^<>]*cwd[^<>]*>", text):
        for put in ("", "\n", head.replace("cwd", ""), "<parameter>", '<arg name="cwd">', "</cwd>"):
            yield f"{put!r} for the head", text.replace(head, put, 1)
        yield "no attribute", re.sub(r'\s*\w+="cwd"', "", text, count=1)


def _of_letters(text: str, first: int, end: int) -> Iterator[Slip]:
    marker, inside = text[first:end], _inside(text)
    for at in range(first, end):
        what = f"{marker} at {at - first}: "
        yield Slip(f"{what}missing", text[:at] + text[at + 1 :])
        first_alike = at - len(text[: at + 1]) + len(text[: at + 1].rstrip(text[at])) + 1  # `]]` and `]`
        if not {first_alike, at + 1} & inside:
            yield Slip(f"{what}doubled", text[: at + 1] + text[at:])
        if at + 1 < end and text[at] != text[at + 1]:
            yield Slip(f"{what}swapped", text[:at] + text[at + 1] + text[at] + text[at + 2 :])
        if text[at].isalpha():
            yield Slip(f"{what}wrong", text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :])


def _of_markers(text: str, first: int, end: int, own: Iterable[str]) -> Iterator[Slip]:
    marker, inside = text[first:end], _inside(text)
    yield Slip(f"{marker} missing", text[:first] + text[end:])
    if end not in inside:
        yield Slip(f"{marker} doubled", text[:end] + marker + text[end:])
        yield Slip(f"{marker} doubled by line", text[:end] + "\n" + marker + text[end:])
    for other in sorted({literal.strip() for literal in own} - {marker}):
        yield Slip(f"{other} for {marker}", text[:first] + other + text[end:], other)
        if first not in inside:
            yield Slip(f"{other} before {marker}", text[:first] + other + text[first:], other)
    if first not in inside:
        yield Slip(f"text before {marker}", text[:first] + _TEXT + text[first:])
        yield Slip(f"a line before {marker}", f"{text[:first]}\n{_TEXT}\n{text[first:]}")


def _end_of(text: str, word: str) -> int:
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    assert match is not None
    return match.end()


def _inside(text: str) -> frozenset[int]:
    """Return where inserted text is part of a value or a key: next to each, white space round it included."""
    places: set[int] = set()
    for word in ("ls", "cwd", "/var"):
        end = _end_of(text, word)
        start = end - len(word)
        before, behind = text[:start], text[end:]
        places |= {start, end, len(before.rstrip()), end + len(behind) - len(behind.lstrip())}
    return frozenset(places)
