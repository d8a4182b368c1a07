"""Heads of tags, and the keys of parameters: `<function=NAME>`, `<invoke name="NAME">`, `<arg_key>KEY</arg_key>`.

Theory of operation. A head goes up to its end on one line and is bounded, so that a marker in prose costs no more than
that. Its text is the name itself, or attributes; only in attributes entities are decoded.
"""

from __future__ import annotations

import html
import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Final, NamedTuple

from wholecall.text.markers import matcher

if TYPE_CHECKING:
    from wholecall.text.records import Params, Tag
    from wholecall.text.region import Region

__all__ = ["Head", "begun_by", "read_head", "read_key", "read_tag_head"]

LONGEST_HEAD: Final = 1024
_ATTRIBUTE: Final = re.compile(r"""([\w.\-:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>/]+|/(?!\s*$))+)""")
_HEAD_MARKS: Final = matcher([">", "<", "\n", "\r", '"', "'"])


class Head(NamedTuple):
    """The head of a tag: its name or key, its other attributes, and whether it closes itself."""

    name: str
    attributes: dict[str, str]
    closed: bool


def begun_by(opener: str, tag: Tag) -> str:
    """Return the head that the opener already began: `<invoke name=` ends in the attribute."""
    return f"{tag.name_attr}=" if tag.name == "attr" and opener.endswith("=") else ""


def read_tag_head(region: Region, tag: Tag, opener: str) -> Generator[None, None, Head | None]:
    """Read the head of a call's tag; return None where none with a name stands."""
    eq = tag.name == "eq"
    head = yield from read_head(region, tag.gt, begun_by(opener, tag), eq=eq, attr=tag.name_attr)
    return head if head is not None and head.name.strip() else None


def read_head(
    region: Region, gt: str, begun: str, *, eq: bool, attr: str
) -> Generator[None, None, Head | None]:
    """Read a head up to its end, and go behind it; return None where none stands."""
    source = region.source
    start = source.pos
    if gt != ">":
        found = yield from source.find(matcher([gt]), LONGEST_HEAD)
        head = None if found is None else source.text(start, source.pos)
    else:
        head = yield from _line_head(region)
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


def _line_head(region: Region) -> Generator[None, None, str | None]:
    """Return what stands before the `>` on this line; None if there is none, or a `<` outside quotes before it."""
    source = region.source
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
    """Return the attributes in a head; entities are decoded in them, and nowhere else."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(head):
        key, double, single, _ = match.groups()
        value = double if double is not None else single
        if value is None:
            value = match.group().split("=", 1)[1].strip()
        found.setdefault(key, html.unescape(value))
    return found


def _unquoted(head: str) -> str:
    head = head.strip()
    if len(head) > 1 and head[0] == head[-1] and head[0] in "\"'":
        return head[1:-1]
    return head.strip("\"'")


def read_key(region: Region, params: Params, opener: str) -> Generator[None, None, Head | None]:
    """Read a key, and go where its value begins."""
    if params.key != "pair":
        begun = f"{params.key_attr}=" if params.key == "attr" and opener.endswith("=") else ""
        return (yield from read_head(region, params.gt, begun, eq=params.key == "eq", attr=params.key_attr))
    source = region.source
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
        yield from source.take(matcher([params.type_closes] if params.type_closes else []))
        yield from source.space()
        found = yield from source.take(matcher([params.value_opens]))
    return Head(key, attributes, closed=False) if key and found == params.value_opens else None
