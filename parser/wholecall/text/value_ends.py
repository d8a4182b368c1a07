"""Find the end of a raw value: the first closer that has a legal continuation.

Theory of operation. Candidates are the value's closers, the call's closers, and the opener of a parameter. A value's
closer counts if another parameter, the end of the call, or an owed closer follows; the other candidates end a value
that lacks its own closer only if the following text shows that they do. Anything else is part of the value, if it
cannot be read in another way: see `own_markup`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.text import heads, markers, names

if TYPE_CHECKING:
    from wholecall.text.own_markup import Own
    from wholecall.text.records import Params, Tag
    from wholecall.text.region import Region
    from wholecall.text.source import Source
    from wholecall.text.values import Schema

_LONGEST_SPACE: Final = 4096  # characters of white space after a closer


class Shape(NamedTuple):
    """The parts of a call with tagged parameters, opened by a tag or by a name.

    Attributes:
        name: the tool's name.
        params: its parameters.
        closes: the closers of the call.
        again: the openers of the next call of the same kind.
        tag: the record, if a tag opened it; else a name did, and pairs follow.
        around: the opener of a wrapper or a message around it.
        stops: whether its end is a stop token, which servers swallow: a clean end of the text ends it as well.
    """

    name: str
    params: Params
    closes: tuple[str, ...]
    again: tuple[str, ...]
    tag: Tag | None = None
    around: tuple[str, ...] = ()
    stops: bool = False


class ValueEnd(NamedTuple):
    """The end of a value, whether its own closer is there, and whether the value holds any marker."""

    at: int
    closed: bool
    holds_marks: bool


def read_value_end(
    region: Region, shape: Shape, own: Own, schema: Schema, given: dict[str, Any]
) -> Generator[None, None, ValueEnd]:
    """Find the end of the value at the cursor.

    The cursor is after the value's own closer then, else at the end of the value.
    """
    source, opens = region.source, shape.params.opens
    holds_marks = False
    while True:
        mark = yield from source.find(own.marks)
        if mark is None:
            raise region.cut(shape.name)
        at = source.pos
        source.pos = behind = at + len(mark)
        good, closes_value = False, mark in own.closers
        if closes_value:
            good = yield from _may_follow_value(region, shape)
        elif mark in shape.closes:
            good = yield from _may_follow_call(region, shape, mark)
        elif mark in opens:
            source.pos = at
            good = yield from _begins_next(region, shape, schema, given, mark)
        if good:
            source.pos = behind if closes_value else at
            return ValueEnd(at, closes_value, holds_marks)
        holds_marks = True
        source.pos = at + 1


def _may_follow_value(region: Region, shape: Shape) -> Generator[None, None, bool]:
    """Return whether the following text can follow a value's closer."""
    source = region.source
    if not (yield from source.space(_LONGEST_SPACE)):
        return True
    mark = yield from source.take(markers.matcher((*shape.params.opens, *shape.closes, *region.wrapped)))
    if mark is None or mark not in shape.params.opens:
        return mark is not None
    return (yield from heads.read_key(source, shape.params, mark)) is not None


def _may_follow_call(region: Region, shape: Shape, closer: str) -> Generator[None, None, bool]:
    """Return whether a call's closer, in a value without one, ends both."""
    source = region.source
    if not (yield from source.space(_LONGEST_SPACE)):
        return source.ended == "clean"
    others = markers.matcher([other for other in region.wrapped if other != closer])
    if (yield from source.match(others)) is not None:
        return True
    opener = yield from source.take(markers.matcher(shape.again))
    if opener is None:
        return False
    if shape.tag is not None:
        return (yield from heads.read_tag_head(source, shape.tag, opener)) is not None
    yield from source.space()
    if not (yield from source.run(names.NAME, names.LONGEST)):
        return False
    legal = markers.matcher(("\n", *shape.params.opens, *shape.closes))
    yield from source.space_in_line()
    return (yield from source.match(legal)) is not None


def _begins_next(
    region: Region, shape: Shape, schema: Schema, given: dict[str, Any], opener: str
) -> Generator[None, None, bool]:
    """Return whether a parameter that begins in an unclosed value ends it: at a line's start, with a new key.

    Raises:
        Unreadable: the text was cut in a possible head, and the owner of its closers is unknown.
    """
    source = region.source
    line = source.before().rpartition("\n")
    if not line[1] or line[2].strip():
        return False
    source.pos += len(opener)
    head = yield from heads.read_key(source, shape.params, opener)
    if head is None and source.ended != "clean" and _is_cut(source, shape.params):
        raise region.cut(shape.name)
    if head is None or head.name in given:
        return False
    return not schema.properties or head.name in schema.properties


def _is_cut(source: Source, params: Params) -> bool:
    """Return whether the text ends at the cursor, or in a marker of a parameter's head there."""
    marks = (params.key_closes, params.type_opens, params.type_closes, params.value_opens)
    return source.eof and (
        source.pos == source.size or source.ends_in(markers.matcher([mark for mark in marks if mark]))
    )
