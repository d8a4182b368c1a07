"""Calls as JSON objects, one or several, in lists or in sequence, with or without a closer.

Theory of operation. The extent of each value is found by its brackets and strings, so that markers in strings are data.
Whole elements of a list count even if the list breaks off: an object has no prefix that is an object, so nothing can be
missing inside a whole one. The text after a value decides between another value, the closer, and the end of the region.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from wholecall.calls.arguments.tokens import scan
from wholecall.text import envelopes, extents
from wholecall.text.markers import Matcher, matcher
from wholecall.text.rules import FENCE, Rules

if TYPE_CHECKING:
    from wholecall.text.records import Block
    from wholecall.text.region import Region
    from wholecall.text.source import Waiting

_FENCES = matcher([FENCE])


def read_json(region: Region, block: Block, rules: Rules, *, fenced: bool) -> Waiting:
    """Read the values from the bracket at the cursor on."""
    source = region.source
    region.commit()
    closers = matcher(block.closes)
    stops = frozenset(block.closes)
    while True:
        start = source.pos
        outcome, too_deep = yield from extents.extent(source, extents.JSON, stops, region.limits.max_depth)
        if outcome != "ok":
            _whole_elements(region, block, start)
            yield from _broken_off(region, block, rules, is_cut=outcome == "cut")
            return
        if too_deep:
            region.drop(source.pos, "nesting_too_deep", "it is nested too deep")
        else:
            _value(region, block, start, source.pos)
            region.close(source.pos)
        more = yield from _after(region, closers, rules, fenced=fenced)
        if not more:
            return


def _value(region: Region, block: Block, start: int, end: int) -> None:
    text = region.source.text(start, end)
    if text[:1] == "{":
        _object(region, block, text, end)
        return
    for first, last in envelopes.elements(text):
        _object(region, block, text[first:last], start + last)


def _object(region: Region, block: Block, text: str, end: int) -> None:
    """Record the call that an element means; several, if it lists them, share its end."""
    if text[:1] != "{":
        region.drop(end, "unparseable", "an element of the list is no object")
        return
    for meant in envelopes.read_envelope(text, as_key=block.as_key):
        if meant.reason is not None:
            region.drop(end, meant.reason, meant.detail, meant.name, meant.id)
        else:
            region.call(end, meant.name or "", meant.arguments, id=meant.id)


def _whole_elements(region: Region, block: Block, start: int) -> None:
    """Record the elements before the fault of a list that is not whole."""
    text = region.source.text(start, region.source.pos)
    if text[:1] != "[":
        return
    for first, last in envelopes.elements(text):
        size = _size_of_whole(text[first:last])
        if size:
            _object(region, block, text[first : first + size], start + first + size)


def _size_of_whole(text: str) -> int:
    """Return the end of the object at the start of an element, whatever the fault after it; 0 if there is none."""
    depth = 0
    for token in scan(text) if text[:1] == "{" else ():
        depth += (token.kind in "{[") - (token.kind in "}]")
        if depth == 0:
            return token.end
    return 0


def _broken_off(region: Region, block: Block, rules: Rules, *, is_cut: bool) -> Waiting:
    """End a region with open brackets; if only that of a list of whole elements is open, nothing is missing."""
    source = region.source
    is_rest_blank = bool(region.items) and not source.text(region.told, source.pos).strip()
    if is_rest_blank and not is_cut and (yield from source.take(matcher(block.closes))) is not None:
        region.close(source.pos)
    elif is_rest_blank and is_cut:
        region.close(source.pos)
        region.unclosed()
    elif is_cut:
        error = region.cut()
        region.drop(source.pos, error.reason, error.detail)
    else:
        yield from _past_fault(region, block, rules)


def _past_fault(region: Region, block: Block, rules: Rules) -> Waiting:
    """Drop the text up to the first closer; without closers up to the next opener, or the end."""
    source = region.source
    if block.closes:
        closer = yield from source.find(matcher(block.closes))
        if closer is not None:
            source.pos += len(closer)
    else:
        yield from source.find(rules.calls)
    region.drop(source.pos, "invalid_json", "it is no JSON, and where it ends cannot be known")
    region.after_unread = True


def _is_value(region: Region, bracket: str, rules: Rules) -> Generator[None, None, bool]:
    """Return whether another value begins at the bracket at the cursor.

    Without a closer to come, only an object is one, or a list that begins with one: another bracket is a marker, or
    text that goes on after the calls.
    """
    source = region.source
    if (yield from source.match(rules.calls)) is not None:
        return False
    if region.closes:
        return True
    start = source.pos
    source.pos += 1
    inner = bracket if bracket == "{" else (yield from source.space())
    source.pos = start
    return inner in ("{", "")


def _after(region: Region, closers: Matcher, rules: Rules, *, fenced: bool) -> Generator[None, None, bool]:
    """Read the text after a value; return whether another value follows."""
    source = region.source
    end = source.pos
    separated = False
    while True:
        following = yield from source.space()
        literal = yield from source.take(closers)
        if literal is not None:
            region.close(source.pos)
            return False
        if following in ("{", "[") and (yield from _is_value(region, following, rules)):
            return True
        if following and following in "}]" and not separated:
            source.pos += 1  # surplus brackets
            end = source.pos
        elif fenced and (yield from source.take(_FENCES)) is not None:
            fenced = False
            end = source.pos
        elif following and following in ",;" and not separated:
            source.pos += 1
            separated = True
        else:
            break
    source.pos = end
    region.close(end)
    region.unclosed()
    return False
