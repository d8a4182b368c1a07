"""Calls as tags: the name in a head, then parameters with raw values, or one JSON object, then the closer.

Theory of operation. Raw values have no escaping, so a closer counts only where what follows it can follow it: another
parameter, the end of the call, or a closer that is owed. All else in a value is data, markers of other formats included.
A call is told with its closer; what lacks a parameter's end or its own is a call only where something else shows that
nothing is missing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.text.markers import NONE, matcher
from wholecall.text.named_calls import read_object
from wholecall.text.names import LONGEST, NAME, cleaned
from wholecall.text.region import Unreadable
from wholecall.text.values import json_typed, self_typed, typed, written

if TYPE_CHECKING:
    from wholecall.text.markers import Matcher
    from wholecall.text.records import Block, Params, Tag
    from wholecall.text.region import Region
    from wholecall.text.rules import Rules
    from wholecall.text.source import Waiting
    from wholecall.text.values import Schema

__all__ = ["Head", "read_head", "read_pairs", "read_parameters", "read_tag"]

LONGEST_HEAD: Final = 1024
_ATTRIBUTE: Final = re.compile(r"""([\w.\-:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>/]+|/(?!\s*$))+)""")
_BARE_VALUE: Final = re.compile(r"""[^\s"'<>]+""")
_WRONG_CLOSER: Final = "</content>"


class Head(NamedTuple):
    """The head of a tag: its name or key, its other attributes, and whether it closes itself."""

    name: str
    attributes: dict[str, str]
    closed: bool


class Shape(NamedTuple):
    """What a call with tagged parameters consists of, whether a tag or a name opened it.

    Attributes:
        name: the tool's name.
        params: its parameters.
        closes: what ends the call.
        again: what begins the next call of the same kind.
        is_head: whether a head follows that opener, rather than a name and pairs.
    """

    name: str
    params: Params
    closes: tuple[str, ...]
    again: tuple[str, ...]
    tag: Tag | None = None


def read_tag(region: Region, tag: Tag, rules: Rules) -> Waiting:
    """Read the tag behind the opener."""
    source = region.source
    head = yield from read_head(region, tag.gt, _starts(region.opener, tag), eq=tag.name == "eq", attr=tag.name_attr)
    if head is None or not head.name.strip() or len(head.name) > LONGEST:
        region.reject()
    name = cleaned(head.name, region.declared)
    if tag.bare == "line" and not region.wrapped and not (region.at_line and name in region.declared):
        region.reject()
    if head.closed:
        region.call(source.pos, head.name, "{}")
        return
    following = yield from source.space()
    shape = Shape(head.name, tag.params, tag.closes, tag.opens, tag)
    legal = matcher((*tag.params.opens, *tag.closes, "{"))
    if following and (yield from source.match(legal)) is None:
        region.reject()
    region.committed = True
    if following == "{":
        yield from _object_body(region, shape)
    else:
        yield from _parameters(region, shape)


def read_pairs(region: Region, block: Block, rules: Rules) -> Generator[None, None, bool]:
    """Read the name at the cursor and its pairs; return False, the cursor unmoved, if that does not stand there."""
    source, params = region.source, block.pairs
    if params is None:
        return False
    start = source.pos
    name = yield from source.run(NAME, LONGEST)
    if not 0 < len(name) <= LONGEST:
        return False
    good = yield from _behind_name(region, block)
    if not good:
        source.pos = start
        return False
    region.committed = True
    shape = Shape(name, params, block.closes, block.opens)
    if (yield from source.space()) == "{":
        yield from _object_body(region, shape)
    else:
        yield from _parameters(region, shape)
    return True


def read_parameters(region: Region, name: str, params: Params, closes: tuple[str, ...]) -> Waiting:
    """Read parameters that stand for themselves, up to what closes them."""
    yield from _parameters(region, Shape(name, params, closes, ()))


def _behind_name(region: Region, block: Block) -> Generator[None, None, bool]:
    """Go behind what ends a name before pairs; return whether it is legal there."""
    source = region.source
    assert block.pairs is not None
    legal = matcher((*block.seps, *block.pairs.opens, *block.closes, "{", "\n", "\\n", "\r\n"))
    if (yield from source.space_in_line()) == "":
        return True
    found = yield from source.match(legal)
    if found is None:
        return False
    if found in block.seps or found in ("\n", "\\n", "\r\n"):
        source.pos += len(found)
    return True


def _starts(opener: str, tag: Tag) -> str:
    """Return the head that the opener already began: `<invoke name=` ends in the attribute."""
    return f"{tag.name_attr}=" if tag.name == "attr" and opener.endswith("=") else ""


def read_head(
    region: Region, gt: str, begun: str, *, eq: bool, attr: str
) -> Generator[None, None, Head | None]:
    """Read a head up to its end, and go behind it; return None where none stands."""
    source = region.source
    start = source.pos
    if gt != ">":
        found = yield from source.find(matcher([gt]), LONGEST_HEAD)
        head = source.text(start, source.pos)
    else:
        head = yield from _line_head(region)
        found = ">" if head is not None else None
    if found is None or head is None:
        return None
    source.pos += len(gt)
    closed = head.endswith("/") and gt == ">"
    head = begun + (head[:-1] if closed else head)
    if eq:
        return Head(_unquoted(head), {}, closed)
    attributes = _attributes(head)
    name = attributes.pop(attr, None)
    return None if name is None else Head(name, attributes, closed)


_HEAD_MARKS: Final = matcher([">", "<", "\n", "\r", '"', "'"])


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


def _object_body(region: Region, shape: Shape) -> Waiting:
    """Read one JSON object in place of parameters."""
    source = region.source
    arguments = yield from read_object(region, shape.closes, shape.name)
    end = source.pos
    following = yield from source.space()
    closer = yield from source.take(matcher(shape.closes))
    if closer is not None:
        region.call(source.pos, shape.name, arguments)
    elif not following or (yield from source.match(matcher(region.wrapped))) is not None:
        source.pos = end
        region.call(end, shape.name, arguments)
        region.unclosed()
    else:
        raise Unreadable("unparseable", "its closer is missing", shape.name)


class _Given(NamedTuple):
    """A parameter as it came: its key, its value, and whether it was closed."""

    key: str
    value: Any
    closed: bool


def _parameters(region: Region, shape: Shape) -> Waiting:
    """Read parameters up to the end of the call."""
    source, params = region.source, shape.params
    schema = region.declared.schema(cleaned(shape.name, region.declared))
    given: dict[str, Any] = {}
    missing = False
    marks = matcher((*params.opens, *shape.closes, *region.wrapped))
    while True:
        end = source.pos
        following = yield from source.space()
        mark = yield from source.take(marks)
        if mark is not None and mark in params.opens:
            one = yield from _parameter(region, shape, schema, given, mark)
            missing = missing or not one.closed
            if given.setdefault(one.key, one.value) != one.value:
                yield from _to_closer(region, shape)
                raise Unreadable("duplicate_key", "a parameter is given twice", shape.name)
        elif mark is not None and mark in shape.closes:
            yield from _whole(region, shape, given, missing=missing)
            return
        elif mark is not None:  # the closer of the wrapper
            source.pos = end
            _tell(region, shape, given, missing=True)
            region.unclosed()
            return
        elif not following:
            raise region.cut(shape.name)
        else:
            yield from _to_closer(region, shape)
            raise Unreadable("unparseable", "what stands in it is no parameter", shape.name)


def _whole(region: Region, shape: Shape, given: dict[str, Any], *, missing: bool) -> Waiting:
    """End a call at its closer, unless the text was cut there: that closer may stand in its last value."""
    source = region.source
    if region.wrapped and given:
        end = source.pos
        if not (yield from source.space()) and source.ended != "clean":
            raise region.cut(shape.name)
        source.pos = end
    _tell(region, shape, given, missing=missing)


def _tell(region: Region, shape: Shape, given: dict[str, Any], *, missing: bool) -> None:
    edits = ("translated", "closer_missing") if missing else ("translated",)
    region.call(region.source.pos, shape.name, written(given), edits=edits)


def _to_closer(region: Region, shape: Shape) -> Waiting:
    source = region.source
    closer = yield from source.find(matcher(shape.closes))
    if closer is not None:
        source.pos += len(closer)


# One parameter.


def _parameter(
    region: Region, shape: Shape, schema: Schema, given: dict[str, Any], opener: str
) -> Generator[None, None, _Given]:
    """Read the parameter behind its opener."""
    source, params = region.source, shape.params
    head = yield from _key(region, params, opener)
    if head is None:
        yield from _to_closer(region, shape)
        raise Unreadable("unparseable", "a parameter has no key", shape.name)
    if head.closed:
        return _Given(head.name, _typed(region, params, schema, head, ""), closed=True)
    start = source.pos
    cdata = yield from _cdata(region, params, shape)
    if cdata is not None:
        return _Given(head.name, _typed(region, params, schema, head, cdata), closed=True)
    end, closed = yield from _value_end(region, shape, schema, given)
    raw = _trimmed(source.text(start, end), params)
    return _Given(head.name, _typed(region, params, schema, head, raw), closed)


def _key(region: Region, params: Params, opener: str) -> Generator[None, None, Head | None]:
    """Read a key, and go where its value begins."""
    if params.key != "pair":
        begun = f"{params.key_attr}=" if params.key == "attr" and opener.endswith("=") else ""
        return (yield from read_head(region, params.gt, begun, eq=params.key == "eq", attr=params.key_attr))
    source = region.source
    start = source.pos
    ends = matcher([end for end in (params.key_closes, params.type_opens, params.value_opens) if end])
    found = yield from source.find(ends, LONGEST_HEAD)
    if found is None:
        return None
    key = source.text(start, source.pos).strip()
    attributes: dict[str, str] = {}
    source.pos += len(found)
    if found == params.key_closes:
        yield from source.space()
        found = yield from source.take(ends)
    if params.type_opens and found == params.type_opens:
        start = source.pos
        if (yield from source.find(matcher([params.type_closes or params.value_opens]), LONGEST_HEAD)) is None:
            return None
        attributes["type"] = source.text(start, source.pos).strip()
        yield from source.take(matcher([params.type_closes] if params.type_closes else []))
        yield from source.space()
        found = yield from source.take(matcher([params.value_opens]))
    return Head(key, attributes, closed=False) if key and found == params.value_opens else None


_CDATA_OPENS: Final = matcher(["<![CDATA["])
_CDATA_CLOSES: Final = matcher(["]]>"])


def _cdata(region: Region, params: Params, shape: Shape) -> Generator[None, None, str | None]:
    """Return the value in a CDATA section, and go behind the parameter's closer; None, the cursor unmoved, if it is none."""
    source = region.source
    start = source.pos
    if not params.cdata:
        return None
    yield from source.space()
    if (yield from source.take(_CDATA_OPENS)) is None:
        source.pos = start
        return None
    first = source.pos
    closers = matcher(params.closes)
    while True:
        if (yield from source.find(_CDATA_CLOSES)) is None:
            raise region.cut(shape.name)
        last = source.pos
        source.pos += 3
        yield from source.space()
        if (yield from source.take(closers)) is not None:
            return source.text(first, last)
        source.pos = last + 1


def _trimmed(raw: str, params: Params) -> str:
    """Return a value without the line ends round it that are markup."""
    leading = raw[:1] == "\n" or raw[:2] == "\r\n"
    if params.trim == "none" or (params.trim == "nl2" and not leading):
        return raw
    if leading:
        raw = raw[1 if raw[0] == "\n" else 2 :]
    return raw[: -2 if raw.endswith("\r\n") else -1] if raw.endswith("\n") else raw


def _typed(region: Region, params: Params, schema: Schema, head: Head, raw: str) -> Any:
    """Return what a raw value means: the format's own word for its type wins, then the tool's schema."""
    depth, kinds = region.limits.max_depth, schema.kinds(head.name)
    said = head.attributes.get("string" if params.typing == "string_attr" else "type")
    if params.typing == "string_attr" and said is not None:
        return raw if said == "true" else json_typed(raw, kinds, max_depth=depth)
    if params.typing == "type_attr" and said is not None:
        return self_typed(raw, said, kinds, max_depth=depth)
    return typed(raw, kinds, max_depth=depth)


# Where a raw value ends.


def _value_end(
    region: Region, shape: Shape, schema: Schema, given: dict[str, Any]
) -> Generator[None, None, tuple[int, bool]]:
    """Find the end of the value at the cursor; return it, and whether its own closer stands there.

    The cursor is behind that closer then, else at the end of the value.
    """
    source, params = region.source, shape.params
    closers = frozenset((*params.closes, _WRONG_CLOSER)) - frozenset(shape.closes)
    marks = matcher((*closers, *shape.closes, *params.opens))
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
        else:
            source.pos = at
            good = yield from _begins_next(region, shape, schema, given, mark)
        if good:
            source.pos = behind if mark in closers else at
            return at, mark in closers
        source.pos = at + 1


def _may_follow_value(region: Region, shape: Shape) -> Generator[None, None, bool]:
    """Whether what follows a value's closer can follow it."""
    source = region.source
    if not (yield from source.space()):
        return True
    mark = yield from source.take(matcher((*shape.params.opens, *shape.closes, *region.wrapped)))
    if mark is None or mark not in shape.params.opens:
        return mark is not None
    return (yield from _key(region, shape.params, mark)) is not None


def _may_follow_call(region: Region, shape: Shape, closer: str) -> Generator[None, None, bool]:
    """Whether a call's closer, in a value without one, ends both."""
    source = region.source
    if not (yield from source.space()):
        return source.ended == "clean"
    others = matcher([other for other in region.wrapped if other != closer])
    if (yield from source.match(others)) is not None:
        return True
    opener = yield from source.take(matcher(shape.again))
    if opener is None:
        return False
    if shape.tag is not None:
        begun = _starts(opener, shape.tag)
        tag = shape.tag
        head = yield from read_head(region, tag.gt, begun, eq=tag.name == "eq", attr=tag.name_attr)
        return head is not None and bool(head.name.strip())
    yield from source.space()
    if not (yield from source.run(NAME, LONGEST)):
        return False
    legal = matcher(("\n", *shape.params.opens, *shape.closes))
    yield from source.space_in_line()
    return (yield from source.match(legal)) is not None


def _begins_next(
    region: Region, shape: Shape, schema: Schema, given: dict[str, Any], opener: str
) -> Generator[None, None, bool]:
    """Whether a parameter that begins in a value without closer ends that value: at a line's start, with a new key."""
    source = region.source
    line = source.before().rpartition("\n")
    if not line[1] or line[2].strip():
        return False
    source.pos += len(opener)
    head = yield from _key(region, shape.params, opener)
    if head is None or head.name in given:
        return False
    return not schema.properties or head.name in schema.properties


