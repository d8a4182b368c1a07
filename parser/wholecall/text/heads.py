"""Heads of tags, and the keys of parameters: `<function=NAME>`, `<invoke name="NAME">`, `<arg_key>KEY</arg_key>`.

Theory of operation. A head goes up to its end on one line and is bounded, so that a marker in prose costs no more than
that. Its text is the name itself, or attributes; entities are decoded only in attributes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Final, NamedTuple

from wholecall.text.markers import matcher
from wholecall.text.source import Source

if TYPE_CHECKING:
    from wholecall.text.records import Params, Tag

LONGEST_HEAD: Final = 1024
_ATTRIBUTE: Final = re.compile(r"""([\w.\-:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>/]+|/(?!\s*$))+)""")
_NO_KEY: Final = re.compile(r"""[>="\r\n]|</""")  # markup, or the rest of another head
_LEFT_OVER: Final = " \t\r\n\"'/"  # allowed next to attributes; else a head was not read whole
_HEAD_MARKS: Final = matcher([">", "<", "\n", "\r", '"', "'"])


class Head(NamedTuple):
    """The head of a tag: its name or key, its other attributes, and whether it closes itself."""

    name: str
    attributes: dict[str, str]
    closed: bool


def begun_by(opener: str, tag: Tag) -> str:
    """Return the head that the opener already began: `<invoke name=` ends in the attribute."""
    return f"{tag.name_attr}=" if tag.name == "attr" and opener.endswith("=") else ""


def read_tag_head(source: Source, tag: Tag, opener: str) -> Generator[None, None, Head | None]:
    """Read the head of a call's tag; return None where there is none with a name."""
    eq = tag.name == "eq"
    head = yield from read_head(source, tag.gt, begun_by(opener, tag), eq=eq, attr=tag.name_attr)
    return head if head is not None and head.name.strip() else None


def read_head(
    source: Source, gt: str, begun: str, *, eq: bool, attr: str
) -> Generator[None, None, Head | None]:
    """Read a head up to its end, and go past it; return None where there is none."""
    start = source.pos
    if gt != ">":
        found = yield from source.find(matcher([gt]), LONGEST_HEAD)
        head = None if found is None else source.text(start, source.pos)
    else:
        head = yield from _line_head(source)
    if head is None:
        return None
    source.pos += len(gt)
    closed = head.endswith("/") and gt == ">"
    head = begun + (head[:-1] if closed else head)
    if eq:
        return Head(_unquoted(head), {}, closed)
    attributes = _attributes(head)
    name = attributes.pop(attr, None)
    return None if name is None else Head(name, attributes, closed)


def _line_head(source: Source) -> Generator[None, None, str | None]:
    """Return the text before the `>` on this line; None if there is none, or a `<` outside quotes before it."""
    start, quote = source.pos, ""
    while source.pos - start <= LONGEST_HEAD:
        mark = yield from source.find(_HEAD_MARKS, LONGEST_HEAD)
        if mark is None or mark in "\r\n":
            return None
        if mark in "\"'":
            before = source.before(1)
            quote = "" if quote == mark else quote or (mark if before == "=" or source.pos == start else "")
        elif not quote:
            return source.text(start, source.pos) if mark == ">" else None
        source.pos += 1
    return None


def _attributes(head: str) -> dict[str, str]:
    """Return the attributes in a head, none if it holds anything else; entities are decoded only in them."""
    found: dict[str, str] = {}
    at = 0
    for match in _ATTRIBUTE.finditer(head):
        if match.start() != at and head[at : match.start()].strip(_LEFT_OVER):
            return {}
        at = match.end()
        key, double, single, _ = match.groups()
        value = double if double is not None else single
        if value is None:
            value = match.group().split("=", 1)[1].strip()
        found.setdefault(key, html.unescape(value))
    return {} if at != len(head) and head[at:].strip(_LEFT_OVER) else found


def _unquoted(head: str) -> str:
    head = head.strip()
    if len(head) > 1 and head[0] == head[-1] and head[0] in "\"'":
        return head[1:-1]
    return head.strip("\"'")


def read_key(source: Source, params: Params, opener: str) -> Generator[None, None, Head | None]:
    """Read a key, and go to the start of its value; return None where there is no key, or one that holds markup."""
    if params.key == "pair":
        head = yield from _pair(source, params)
    else:
        begun = f"{params.key_attr}=" if params.key == "attr" and opener.endswith("=") else ""
        head = yield from read_head(source, params.gt, begun, eq=params.key == "eq", attr=params.key_attr)
    return head if head is not None and (head.name.isidentifier() or _is_key(head.name)) else None


def _is_key(name: str) -> bool:
    return bool(name.strip()) and _NO_KEY.search(name) is None


def key_in(text: str, at: int, params: Params, opener: str) -> tuple[str | None, int]:
    """Return the key whose opener ends at a place of a complete text, or None, and the end of its head."""
    source = Source()
    source.append(text[at : at + 3 * LONGEST_HEAD])
    source.eof = True
    walk = read_key(source, params, opener)
    try:
        next(walk)
    except StopIteration as stop:
        head: Head | None = stop.value
        return (None, at) if head is None else (head.name, at + source.pos)
    raise AssertionError("a complete text leaves nothing open")


def _pair(source: Source, params: Params) -> Generator[None, None, Head | None]:
    """Read the key of a pair, and go to the start of its value."""
    start = source.pos
    ends = matcher([end for end in (params.key_closes, params.type_opens, params.value_opens) if end])
    found = yield from source.find(matcher([*ends.literals, *params.opens, *params.closes]), LONGEST_HEAD)
    if found not in ends.literals:
        return None
    key = source.text(start, source.pos).strip()
    attributes: dict[str, str] = {}
    source.pos += len(found)
    if found == params.key_closes:
        yield from source.space()
        found = yield from source.take(ends)
    if params.type_opens and found == params.type_opens:
        start = source.pos
        if (
            yield from source.find(matcher([params.type_closes or params.value_opens]), LONGEST_HEAD)
        ) is None:
            return None
        attributes["type"] = source.text(start, source.pos).strip()
        if "<" in attributes["type"]:
            return None
        yield from source.take(matcher([params.type_closes] if params.type_closes else []))
        yield from source.space()
        found = yield from source.take(matcher([params.value_opens]))
    return Head(key, attributes, closed=False) if "<" not in key and found == params.value_opens else None
