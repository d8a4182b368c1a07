"""Calls as nested elements, where a token precedes every tag (MiniMax M3).

Theory of operation. The body is cut at the token: each piece is a tag and the text after it. Elements become members,
repeated elements and `item`s become lists, and so does any element that the tool's schema calls an array. A stack holds
the open elements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from wholecall.text import heads, markers, names
from wholecall.text.region import Region, Unreadable
from wholecall.text.values import Schema, typed, written

if TYPE_CHECKING:
    from wholecall.text.records import Nested
    from wholecall.text.rules import Rules
    from wholecall.text.source import Waiting

_TAG: Final = re.compile(r"<(/?)([^<>/\s][^<>]*)>([\s\S]*)")
_ITEM: Final = "item"


def read_nested(region: Region, nested: Nested, _rules: Rules) -> Waiting:
    """Read the element after the opener."""
    source = region.source
    head = yield from heads.read_head(source, ">", "name=", eq=False, attr="name")
    if head is None or not head.name.strip() or len(head.name) > names.LONGEST:
        region.reject()
    region.commit()
    start = source.pos
    closer = yield from source.find(markers.matcher(nested.closes))
    if closer is None:
        raise region.cut(head.name)
    body = source.text(start, source.pos)
    source.pos += len(closer)
    yield from _no_more(region, nested, head.name)
    schema = region.declared.schema(names.cleaned(head.name, region.declared))
    arguments = _read(body, nested.token, schema, head.name, region.limits.max_depth)
    region.call(source.pos, head.name, written(arguments), edits=["translated"])


_GLUED: Final = frozenset("<\"'=/")


def _no_more(region: Region, nested: Nested, name: str) -> Waiting:
    """Check that the call ends at its closer: the wrapper's closer or another call has to follow.

    Raises:
        Unreadable: it continues, or may, since the text was cut there.
    """
    source, end = region.source, region.source.pos
    if not region.wrapped:
        return
    tags = [opener.partition(" ")[0] for opener in nested.opens]  # a cut may leave only these
    legal = markers.matcher((*region.wrapped, *tags))
    following = yield from source.space()
    goes_on = (yield from source.match(legal)) is None
    has_token = (yield from source.match(markers.matcher([nested.token]))) is not None
    if source.ended != "clean" and (not following or source.ends_in(legal)):
        raise region.cut(name)
    is_glued = source.pos == end and (following.isalnum() or following in _GLUED)
    if goes_on and (has_token or is_glued):
        yield from source.find(markers.matcher(region.wrapped))
        region.after_unread = True
        raise Unreadable("ambiguous", "its own markup stands behind its closer", name)
    source.pos = end


class _Open:
    """An open element: its key, its schema, its children so far and its text."""

    __slots__ = ("children", "key", "schema", "text")

    def __init__(self, key: str, schema: Schema) -> None:
        self.key = key
        self.schema = schema
        self.children: dict[str, list[Any]] = {}
        self.text = ""


def _read(body: str, token: str, schema: Schema, name: str, max_depth: int | None) -> dict[str, Any]:
    """Return the arguments in the elements.

    Raises:
        Unreadable: a tag is out of order, or there is text where none may be.
    """
    first, *pieces = body.split(token)
    stack = [_Open("", schema)]
    if first.strip():
        raise Unreadable("unparseable", "text stands between its elements", name)
    for piece in pieces:
        match = _TAG.fullmatch(piece)
        if match is None:
            raise Unreadable("unparseable", "a tag of it is broken", name)
        closing, key, text = match.groups()
        if not closing:
            if max_depth is not None and len(stack) > max_depth:
                raise Unreadable("nesting_too_deep", "it is nested too deep", name)
            inner = stack[-1].schema
            stack.append(_Open(key, inner.items if key == _ITEM else inner.of(key)))
            stack[-1].text = text
            continue
        if len(stack) == 1 or stack[-1].key != key or text.strip():
            raise Unreadable("unparseable", "a tag of it is out of order", name)
        closed = stack.pop()
        stack[-1].children.setdefault(key, []).append(_value(closed, name, max_depth))
    if len(stack) > 1:
        raise Unreadable("unparseable", "an element of it is not closed", name)
    return {key: _one(values, schema.of(key)) for key, values in stack[0].children.items()}


def _value(element: _Open, name: str, max_depth: int | None) -> Any:
    allowed = element.schema.allowed
    if not element.children:
        if not element.text.strip() and allowed & {"object", "array"} and "string" not in allowed:
            return [] if "array" in allowed else {}
        return typed(element.text, allowed, max_depth=max_depth)
    if element.text.strip():
        raise Unreadable("unparseable", "text stands between its elements", name)
    if element.children.keys() == {_ITEM}:
        return element.children[_ITEM]
    return {key: _one(values, element.schema.of(key)) for key, values in element.children.items()}


def _one(values: list[Any], schema: Schema) -> Any:
    """Return the value of elements of one key: a list if there are several, or if an array is wanted."""
    (value, *more) = values
    wants_list = schema.allowed == frozenset({"array"}) and not isinstance(value, list)
    return values if more or wants_list else value
