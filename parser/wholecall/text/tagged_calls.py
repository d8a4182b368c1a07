"""Calls as tags: the name in a head, then parameters with raw values, or one JSON object, then the closer.

Theory of operation. Raw values have no escaping, so a closer counts only if the text after it can follow it: another
parameter, the end of the call, or an owed closer. All else in a value is data, markers of other formats included.
A call is emitted with its closer; a call that lacks a parameter's end or its own counts only if something else shows
that nothing is missing.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.text import markers, named_calls, names, values
from wholecall.text.heads import Head, read_key, read_tag_head
from wholecall.text.own_markup import Own, Taken, own_markup
from wholecall.text.region import Region, Unreadable
from wholecall.text.value_ends import Shape, read_value_end

if TYPE_CHECKING:
    from wholecall.text.records import Block, Params, Tag
    from wholecall.text.rules import Rules
    from wholecall.text.source import Waiting
    from wholecall.types import EditKind


_WORDS: Final = re.compile(r"\w[\w.\-:/ ]*")  # a name, and what may have run into it


def read_tag(region: Region, tag: Tag, rules: Rules) -> Waiting:
    """Read the tag after the opener."""
    source = region.source
    head = yield from read_tag_head(source, tag, region.opener)
    if head is None or len(head.name) > names.LONGEST:
        region.reject()
    name = names.cleaned(head.name, region.declared)
    if tag.bare == "line" and not region.wrapped and not (region.at_line and name in region.declared):
        region.reject()
    if head.closed:
        region.call(source.pos, head.name, "{}")
        return
    following = yield from source.space()
    around = rules.opens_of(region.wrapped)
    shape = Shape(head.name, tag.params, tag.closes, tag.opens, tag, around)
    legal = markers.matcher((*tag.params.opens, *tag.closes, "{"))
    if following and (yield from source.match(legal)) is None:
        region.reject()
    region.commit()
    if following == "{":
        yield from _object_body(region, shape)
    else:
        yield from _parameters(region, shape)


def read_pairs(region: Region, block: Block, rules: Rules) -> Generator[None, None, bool]:
    """Read the name at the cursor and its pairs; return False, with the cursor unmoved, if they are not there."""
    source, params = region.source, block.pairs
    if params is None:
        return False
    start = source.pos
    name = (yield from _name_of_kind(region, block)) or (yield from source.run(names.NAME, names.LONGEST))
    if not 0 < len(name) <= names.LONGEST:
        return False
    good = yield from _behind_name(region, block)
    if good and not (region.at_line or names.cleaned(name, region.declared) in region.declared):
        good = (
            yield from source.match(markers.matcher(block.closes))
        ) is None  # a word between tags in a sentence
    if not good:
        source.pos = start
        yield from _refuse_spoilt(region, block, params)
        source.pos = start
        return False
    region.commit()
    shape = Shape(name, params, block.closes, block.opens, around=rules.opens_of(region.wrapped))
    if (yield from source.space()) == "{":
        yield from _object_body(region, shape)
    else:
        yield from _parameters(region, shape)
    return True


def read_parameters(
    region: Region, name: str, params: Params, closes: tuple[str, ...], around: tuple[str, ...]
) -> Waiting:
    """Read parameters without a name before them, up to their closers, inside of `around`."""
    yield from _parameters(region, Shape(name, params, closes, (), around=around, stops=True))


def _name_of_kind(region: Region, block: Block) -> Generator[None, None, str]:
    """Return the name in the line after the word for what is called, if its object follows; else the cursor stays."""
    source, start = region.source, region.source.pos
    if block.kinds and (yield from source.take(markers.matcher(block.kinds))) is not None:
        name = yield from source.run(names.NAME, names.LONGEST)
        end = source.pos
        following = yield from source.space()
        is_one = not following or (following == "{" and source.pos != end)
        if is_one and 0 < len(name) <= names.LONGEST:
            source.pos = end
            return name
        source.pos = start
    return ""


def _refuse_spoilt(region: Region, block: Block, params: Params) -> Waiting:
    """Go on if the words at the cursor are text; a later marker of a pair after them shows a call without a head.

    Raises:
        Unreadable: a call was meant: its name and its first key cannot be told apart.
    """
    source = region.source
    words = yield from source.run(_WORDS, names.LONGEST)
    later = markers.matcher((*filter(None, (params.key_closes, params.value_opens)), *params.closes))
    if not words or (yield from source.match(later)) is None:
        return
    if not (region.at_line or any(map(words.startswith, region.declared))):
        return  # a sentence about tags
    region.commit()
    closer = yield from source.find(markers.matcher(block.closes))
    source.pos += len(closer or "")
    region.after_unread = True
    raise Unreadable("unparseable", "no key opens after its name") if closer else region.cut()


def _behind_name(region: Region, block: Block) -> Generator[None, None, bool]:
    """Go past the end of a name before pairs; return whether it is legal there."""
    source = region.source
    assert block.pairs is not None
    legal = markers.matcher(
        (*block.seps, *block.head_ends, *block.pairs.opens, *block.closes, "{", "\n", "\\n", "\r\n")
    )
    if (yield from source.space_in_line()) == "":
        return True
    found = yield from source.match(legal)
    if found is None:
        return False
    if found in block.head_ends:
        source.pos += len(found)
        return (yield from source.space()) in ("{", "")
    if found in block.seps or found in ("\n", "\\n", "\r\n"):
        source.pos += len(found)
    return True


def _object_body(region: Region, shape: Shape) -> Waiting:
    """Read one JSON object in place of parameters."""
    source = region.source
    arguments = yield from named_calls.read_object(region, shape.closes, shape.name)
    end = source.pos
    yield from source.space()
    if (yield from source.take(markers.matcher(shape.closes))) is not None:
        region.call(source.pos, shape.name, arguments)
        return
    source.pos = end  # nothing can be missing in a whole object
    region.call(end, shape.name, arguments)
    region.unclosed()


class _Given(NamedTuple):
    """A parameter as written: its key, its value, and whether it was closed."""

    key: str
    value: Any
    closed: bool


def _parameters(region: Region, shape: Shape) -> Waiting:
    """Read parameters up to the end of the call."""
    source, params = region.source, shape.params
    schema = region.declared.schema(names.cleaned(shape.name, region.declared))
    given: dict[str, Any] = {}
    missing = False
    marks = markers.matcher((*params.opens, *shape.closes, *region.wrapped))
    own = own_markup(params, shape.closes, shape.again, (*region.wrapped, *shape.around))
    while True:
        end = source.pos
        following = yield from source.space()
        mark = yield from source.take(marks)
        if mark is not None and mark in params.opens:
            one = yield from _parameter(region, shape, own, schema, given, mark)
            missing = missing or not one.closed
            if given.setdefault(one.key, one.value) != one.value:
                yield from _to_closer(region, shape)
                raise Unreadable("duplicate_key", "a parameter is given twice", shape.name)
        elif mark is not None and mark in shape.closes:
            yield from _whole(region, shape, own, given, missing=missing)
            return
        elif mark is not None:  # the closer of the wrapper
            yield from _no_more(region, shape, own)
            source.pos = end
            _tell(region, shape, given, missing=True)
            region.unclosed()
            return
        elif not following and shape.stops and region.source.ended == "clean":
            source.pos = end
            _tell(region, shape, given, missing=missing)
            return
        elif not following:
            raise region.cut(shape.name)
        else:
            yield from _to_closer(region, shape)
            raise Unreadable("unparseable", "what stands in it is no parameter", shape.name)


def _whole(region: Region, shape: Shape, own: Own, given: dict[str, Any], *, missing: bool) -> Waiting:
    """End a call at its closer; in a wrapper, only if it is clear that the call does not continue."""
    if region.wrapped and given:
        end = region.source.pos
        yield from _no_more(region, shape, own)
        region.source.pos = end
    _tell(region, shape, given, missing=missing)


_IN_HEADS: Final = frozenset("\"'=/")  # other characters in the rest of a head: `</function>="cwd">`


def _no_more(region: Region, shape: Shape, own: Own) -> Waiting:
    """Check that the call does not continue after the closer before the cursor.

    Raises:
        Unreadable: it does, or may: the text was cut there, and that closer may be in the call's last value.
    """
    source, end = region.source, region.source.pos
    following = yield from source.space()
    mark = yield from source.match(own.inner)
    if source.ended != "clean" and (not following or source.ends_in(own.inner)):
        raise region.cut(shape.name)
    is_glued = source.pos == end and (following.isalnum() or following in _IN_HEADS)
    if mark is not None or is_glued:
        yield from _in_doubt(region, shape)


def _tell(region: Region, shape: Shape, given: dict[str, Any], *, missing: bool) -> None:
    edits: tuple[EditKind, ...] = ("translated", "closer_missing") if missing else ("translated",)
    region.call(region.source.pos, shape.name, values.written(given), edits=edits)


def _to_closer(region: Region, shape: Shape) -> Waiting:
    source = region.source
    closer = yield from source.find(markers.matcher(shape.closes))
    if closer is not None:
        source.pos += len(closer)


# One parameter.


def _parameter(
    region: Region, shape: Shape, own: Own, schema: values.Schema, given: dict[str, Any], opener: str
) -> Generator[None, None, _Given]:
    """Read the parameter after its opener."""
    source, params = region.source, shape.params
    head = yield from read_key(source, params, opener)
    if head is None:
        yield from _to_closer(region, shape)
        raise Unreadable("unparseable", "a parameter has no key", shape.name)
    if head.closed:
        return _Given(head.name, _typed(region, params, schema, head, ""), closed=True)
    start = source.pos
    cdata = yield from _cdata(region, params, shape)
    if cdata is not None:
        return _Given(head.name, _typed(region, params, schema, head, cdata), closed=True)
    end = yield from read_value_end(region, shape, own, schema, given)
    raw = source.text(start, end.at)
    if end.holds_marks or not end.closed or params.cdata or raw[:1] == ">":
        taken = Taken(head.name, given.keys(), schema.properties)
        if own.is_in_doubt(raw, taken, closed=end.closed):
            yield from _in_doubt(region, shape)
    if params.typing == "quoted" and values.is_half_quoted(raw):
        yield from _in_doubt(region, shape)
    return _Given(head.name, _typed(region, params, schema, head, _trimmed(raw, params)), end.closed)


def _in_doubt(region: Region, shape: Shape) -> Waiting:
    """Drop a call that can be read in two ways; the owner of later calls is then unknown too.

    Raises:
        Unreadable: always; the cursor is after the next closer then.
    """
    source = region.source
    closer = yield from source.find(markers.matcher((*shape.closes, *region.wrapped)))
    if closer in shape.closes:
        source.pos += len(closer)
    region.after_unread = True
    raise Unreadable("ambiguous", "its own markup stands where a value or the call may end", shape.name)


_CDATA_OPENS: Final = markers.matcher(["<![CDATA["])
_CDATA_CLOSES: Final = markers.matcher(["]]>"])


def _cdata(region: Region, params: Params, shape: Shape) -> Generator[None, None, str | None]:
    """Return the value in a CDATA section, and go past its closer; None, with the cursor unmoved, for other text."""
    source = region.source
    start = source.pos
    if not params.cdata:
        return None
    yield from source.space()
    if (yield from source.take(_CDATA_OPENS)) is None:
        source.pos = start
        return None
    first = source.pos
    closers = markers.matcher(params.closes)
    while True:
        if (yield from source.find(_CDATA_CLOSES)) is None:
            raise region.cut(shape.name)
        last = source.pos
        source.pos += 3
        yield from source.space()
        if (yield from source.take(closers)) is not None:
            text = source.text(first, last)
            if "<![CDATA[" in text or text.rstrip().endswith(
                "]]>"
            ):  # a section cannot hold another, or end twice
                yield from _in_doubt(region, shape)
            return text
        source.pos = last + 1


def _trimmed(raw: str, params: Params) -> str:
    """Return a value without the surrounding line ends that are markup."""
    leading = raw[:1] == "\n" or raw[:2] == "\r\n"
    if params.trim == "none" or (params.trim == "nl2" and not leading):
        return raw
    end = "\r\n" if raw.startswith("\r\n") or (not leading and raw.endswith("\r\n")) else "\n"
    return raw.removeprefix(end).removesuffix(end)


def _typed(region: Region, params: Params, schema: values.Schema, head: Head, raw: str) -> Any:
    """Return the meaning of a raw value: the format's own word for its type wins, then the tool's schema."""
    depth, kinds = region.limits.max_depth, schema.kinds(head.name)
    if params.typing == "quoted":
        return values.quoted(raw, kinds, max_depth=depth)
    said = head.attributes.get("string" if params.typing == "string_attr" else "type")
    if params.typing == "string_attr" and said is not None:
        return raw if said == "true" else values.json_typed(raw, kinds, max_depth=depth)
    if params.typing == "type_attr" and said is not None:
        return values.self_typed(raw, said, kinds, max_depth=depth)
    return values.typed(raw, kinds, max_depth=depth)
