"""Calls as a name, a separator and a JSON object.

Theory of operation. `[lead] [prefix] NAME (separator)* [fence] OBJECT [fence] [closer]`. A well-formed name commits only if
the text after it is legal there, so that prose after a marker stays text.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Final, NoReturn

from wholecall.text import extents, markers, names, rules
from wholecall.text.region import Region, Unreadable

if TYPE_CHECKING:
    from wholecall.text.records import Block
    from wholecall.text.source import Waiting

_FENCES: Final = markers.matcher(rules.JSON_FENCES)
_END_FENCE: Final = markers.matcher([rules.FENCE])
_IN_TAGS: Final = re.compile(r"[^<\n]*")


def read_named(region: Region, block: Block) -> Generator[None, None, bool]:
    """Read the name at the cursor and its object; return False, the cursor unmoved, if no name is there."""
    source = region.source
    start = source.pos
    lead = yield from _lead(region, block)
    if lead is None:
        source.pos = start
        return False
    yield from source.take(markers.matcher(block.skip_prefix))
    yield from source.space()
    name = yield from source.run(names.NAME, names.LONGEST)
    if not 0 < len(name) <= names.LONGEST:
        source.pos = start
        return False
    if block.declared and names.cleaned(name, region.declared) not in (*region.declared, *block.text_names):
        source.pos = start
        return False
    end = source.pos
    following = yield from source.space()
    if name in block.text_names:
        region.markup(end if (yield from source.take(markers.matcher(block.seps))) is None else source.pos)
        source.pos = region.told
        return True
    if not following:
        yield from _at_end(region, block, name)
        return True
    legal = markers.matcher((*_separators_of(block), *rules.JSON_FENCES, *block.closes, *block.opens, "{"))
    if (yield from source.match(legal)) is None:
        if lead and source.ends_in(legal):
            _cut_in_head(region, name)
        source.pos = start
        return False
    region.commit()
    id = yield from _separators(region, block)
    if block.name_is_id and ":" in name:
        id = name
    elif block.lead_is_id:
        id = lead or None
    try:
        arguments = yield from read_object(region, block.closes, name)
    except Unreadable:
        if block.tails:  # what stands in the elements is no text
            yield from _past_closer(region, block)
        raise
    end = source.pos
    yield from _closer(region, block, name, id, arguments, end)
    return True


def _past_closer(region: Region, block: Block) -> Waiting:
    """Go past the closer of a call that cannot be read; the owner of later calls is unknown then."""
    source = region.source
    closer = yield from source.find(markers.matcher(block.closes))
    source.pos += len(closer or "")
    region.after_unread = True


def _lead(region: Region, block: Block) -> Generator[None, None, str | None]:
    """Go past the text before the name, and return it; None if it is not there."""
    source, (opener, closer) = region.source, block.lead
    if not closer:
        return ""
    if opener and (yield from source.take(markers.matcher([opener]))) is None:
        return None
    lead = yield from source.run(_IN_TAGS if opener else names.NAME, names.LONGEST)
    end = markers.matcher([closer])
    if len(lead) <= names.LONGEST and (source.at_end or source.ends_in(end)):
        _cut_in_head(region)
    if len(lead) > names.LONGEST or (yield from source.take(end)) is None:
        return None
    yield from source.space()
    return lead.strip()


def _cut_in_head(region: Region, name: str | None = None) -> NoReturn:
    """Raise that the text ends before the object: a call was meant."""
    region.commit()
    region.source.pos = region.source.size
    raise region.cut(name)


def _at_end(region: Region, block: Block, name: str) -> Waiting:
    """End a name at the end of the text: where calls have no closer it can be a call without arguments."""
    yield from ()
    if block.name_alone and region.source.ended == "clean" and name in region.declared:
        region.call(region.source.pos, name, "{}")
        return
    region.commit()
    raise region.cut(name)


def _separators_of(block: Block) -> tuple[str, ...]:
    return (*block.seps, block.id_sep) if block.id_sep else block.seps


def _separators(region: Region, block: Block) -> Generator[None, None, str | None]:
    """Skip the text between a name and its object; return the id in it."""
    source, id = region.source, None
    separators = markers.matcher(_separators_of(block))
    while True:
        yield from source.space()
        literal = yield from source.take(separators)
        if literal is None:
            return id
        if literal == block.id_sep:
            yield from source.space()
            id = yield from source.run(names.NAME, names.LONGEST)


def read_object(region: Region, stops: tuple[str, ...], name: str) -> Generator[None, None, str]:
    """Return the text of the object at the cursor, perhaps in a fence.

    Raises:
        Unreadable: there is none, or it is not whole.
    """
    source = region.source
    fence = yield from source.take(_FENCES)
    following = yield from source.space()
    if following != "{":
        if not following:
            raise region.cut(name)
        raise Unreadable("unparseable", "no object follows the name", name)
    start = source.pos
    outcome, too_deep = yield from extents.extent(source, extents.JSON, stops, region.limits.max_depth)
    if outcome == "cut":
        raise region.cut(name)
    if outcome == "bad":
        raise Unreadable("invalid_json", "its arguments are no JSON", name)
    if too_deep:
        raise Unreadable("nesting_too_deep", "it is nested too deep", name)
    text = source.text(start, source.pos)
    if fence is not None:
        end = source.pos
        yield from source.space()
        if (yield from source.take(_END_FENCE)) is None:
            source.pos = end
    return text


def _closer(region: Region, block: Block, name: str, id: str | None, arguments: str, end: int) -> Waiting:
    """Record the call, with its closer if that follows."""
    source = region.source
    following = yield from source.space()
    while following == "}":  # surplus
        source.pos += 1
        end = source.pos
        following = yield from source.space()
    while block.tails and (yield from source.take(markers.matcher(block.tails))) is not None:
        end = source.pos
        yield from source.space()
    closer = yield from source.take(markers.matcher(block.closes))
    if closer is not None:
        region.call(source.pos, name, arguments, id=id)
        return
    if block.strict:
        raise Unreadable("unparseable", "its closer is missing", name)
    source.pos = end
    region.call(end, name, arguments, id=id)
    region.unclosed()
