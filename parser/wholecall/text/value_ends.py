"""Where a raw value ends: at the first closer that has a legal continuation.

Theory of operation. Candidates are the value's closers, the call's closers, and what opens a parameter. A value's closer
counts where another parameter, the end of the call, or a closer that is owed follows; the others end a value that lacks
its own only where what follows shows that they do. Anything else is part of the value, if it cannot be read in another
way: see `own_markup`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.text.heads import read_key, read_tag_head
from wholecall.text.markers import matcher
from wholecall.text.names import LONGEST, NAME
from wholecall.text.own_markup import own_markup
from wholecall.text.region import Unreadable
from wholecall.text.rules import Rules

if TYPE_CHECKING:
    from wholecall.text.records import Params, Tag
    from wholecall.text.region import Region
    from wholecall.text.source import Source, Waiting
    from wholecall.text.values import Schema

__all__ = ["Shape", "read_value_end"]

_WRONG_CLOSER: Final = "</content>"
_LONGEST_SPACE: Final = 4096  # characters of white space between a closer and what follows it


class Shape(NamedTuple):
    """What a call with tagged parameters consists of, whether a tag or a name opened it.

    Attributes:
        name: the tool's name.
        params: its parameters.
        closes: what ends the call.
        again: what begins the next call of the same kind.
        tag: the record, if a tag opened it; else a name did, and pairs follow.
        stops: whether what ends it is a stop token, which servers swallow: a clean end of the text does as well.
    """

    name: str
    params: Params
    closes: tuple[str, ...]
    again: tuple[str, ...]
    tag: Tag | None = None
    stops: bool = False


def read_value_end(
    region: Region, shape: Shape, schema: Schema, given: dict[str, Any], key: str
) -> Generator[None, None, tuple[int, bool]]:
    """Find the end of the value of `key` at the cursor; return it, and whether its own closer stands there.

    The cursor is behind that closer then, else at the end of the value.

    Raises:
        Unreadable: the text was cut in the value, or the value holds markup that may be none of it.
    """
    source, params, start = region.source, shape.params, region.source.pos
    closers = frozenset((*params.closes, _WRONG_CLOSER)) - frozenset(shape.closes)
    tokens = filter(Rules.has_bar, (*shape.again, *region.wrapped))
    marks = matcher((*closers, *shape.closes, *params.opens, *tokens))
    holds_marks = False
    while True:
        mark = yield from source.find(marks)
        if mark is None:
            raise region.cut(shape.name)
        at = source.pos
        source.pos = behind = at + len(mark)
        if mark in closers:
            good = yield from _may_follow_value(region, shape)
        elif mark in shape.closes:
            good = yield from _may_follow_call(region, shape, mark)
        elif mark in params.opens:
            source.pos = at
            good = yield from _begins_next(region, shape, schema, given, mark)
        else:
            good = False
        if good:
            source.pos = behind if mark in closers else at
            if holds_marks or mark not in closers:
                taken = frozenset((*given, key))
                yield from _no_doubt(
                    region, shape, schema, taken, source.text(start, at), closed=mark in closers
                )
            return at, mark in closers
        holds_marks = True
        source.pos = at + 1


def _no_doubt(
    region: Region, shape: Shape, schema: Schema, taken: frozenset[str], value: str, *, closed: bool
) -> Waiting:
    """Go on if a value holds no markup that may be none of it.

    Raises:
        Unreadable: it does; the cursor is at the end of the call then, and nobody knows whose what follows is.
    """

    def may_begin(key: str) -> bool:
        return key not in taken and (not schema.properties or key in schema.properties)

    own = own_markup(shape.params, shape.closes, shape.again, region.wrapped)
    if not own.is_in_doubt(value, may_begin, closed=closed):
        return
    source = region.source
    closer = yield from source.find(matcher((*shape.closes, *region.wrapped)))
    if closer in shape.closes:
        source.pos += len(closer)
    region.after_unread = True
    raise Unreadable("ambiguous", "a value may end before the markup in it", shape.name)


def _may_follow_value(region: Region, shape: Shape) -> Generator[None, None, bool]:
    """Whether what follows a value's closer can follow it."""
    source = region.source
    if not (yield from source.space(_LONGEST_SPACE)):
        return True
    mark = yield from source.take(matcher((*shape.params.opens, *shape.closes, *region.wrapped)))
    if mark is None or mark not in shape.params.opens:
        return mark is not None
    return (yield from read_key(source, shape.params, mark)) is not None


def _may_follow_call(region: Region, shape: Shape, closer: str) -> Generator[None, None, bool]:
    """Whether a call's closer, in a value without one, ends both."""
    source = region.source
    if not (yield from source.space(_LONGEST_SPACE)):
        return source.ended == "clean"
    others = matcher([other for other in region.wrapped if other != closer])
    if (yield from source.match(others)) is not None:
        return True
    opener = yield from source.take(matcher(shape.again))
    if opener is None:
        return False
    if shape.tag is not None:
        return (yield from read_tag_head(source, shape.tag, opener)) is not None
    yield from source.space()
    if not (yield from source.run(NAME, LONGEST)):
        return False
    legal = matcher(("\n", *shape.params.opens, *shape.closes))
    yield from source.space_in_line()
    return (yield from source.match(legal)) is not None


def _begins_next(
    region: Region, shape: Shape, schema: Schema, given: dict[str, Any], opener: str
) -> Generator[None, None, bool]:
    """Whether a parameter that begins in a value without closer ends that value: at a line's start, with a new key.

    Raises:
        Unreadable: the text was cut in what may be its head, and nobody knows whose the closers in it are.
    """
    source = region.source
    line = source.before().rpartition("\n")
    if not line[1] or line[2].strip():
        return False
    source.pos += len(opener)
    head = yield from read_key(source, shape.params, opener)
    if head is None and source.ended != "clean" and _is_cut(source, shape.params):
        raise region.cut(shape.name)
    if head is None or head.name in given:
        return False
    return not schema.properties or head.name in schema.properties


def _is_cut(source: Source, params: Params) -> bool:
    """Whether the text ends at the cursor, or in a marker of a parameter's head that stands there."""
    marks = (params.key_closes, params.type_opens, params.type_closes, params.value_opens)
    return source.eof and (
        source.pos == source.size or source.ends_in(matcher([mark for mark in marks if mark]))
    )
