"""Classify a block by the text after its opener.

Theory of operation. `<tool_call>` is shared by five formats: the text after it decides, never the format's name. The
ways are tried in one order, and the first way whose beginning is there continues. A marker that holds another opener is
a wrapper: it is markup, and its closer is owed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Final

from wholecall.text import json_calls, markers, named_calls, names, tagged_calls, values
from wholecall.text.extents import PYTHON, RELAXED, Spelling, extent
from wholecall.text.python_values import NotPython, python_calls
from wholecall.text.region import Region, Unreadable
from wholecall.text.relaxed_values import NotRelaxed, relaxed_object
from wholecall.text.rules import JSON_FENCES, Rules

if TYPE_CHECKING:
    from wholecall.text.records import Block
    from wholecall.text.source import Waiting

    _Way = Callable[[Region, Block, Rules], Generator[None, None, bool]]

_MOST_NOISE: Final = 4096
_FENCES: Final = markers.matcher(JSON_FENCES)
_CALL: Final = markers.matcher(["call:", "call ", ":"])


def read_block(region: Region, block: Block, rules: Rules) -> Waiting:
    """Read the content of the block at the cursor."""
    source = region.source
    following = yield from source.space()
    closers = markers.matcher(block.closes)
    if not following:
        region.markup(source.pos, dangling=True)
        return
    if (yield from source.take(closers)) is not None:
        region.markup(source.pos)
        return
    start = source.pos
    for way in _ways(block):
        done = yield from way(region, block, rules)
        if done:
            return
        source.pos = start
    region.reject()


def _ways(block: Block) -> Generator[_Way, None, None]:
    holds = block.holds
    if "json" in holds:
        yield _json
    if "python" in holds:
        yield _python
    if "relaxed" in holds:
        yield _relaxed
    if "inner" in holds:
        yield _inner
    if "named" in holds:
        yield _named
    if "pairs" in holds:
        yield tagged_calls.read_pairs


def _json(region: Region, block: Block, rules: Rules) -> Generator[None, None, bool]:
    source = region.source
    fence = yield from source.take(_FENCES)
    following = yield from source.space()
    if following not in ("{", "[") or (block.fenced and fence is None):
        return False
    if following == "[" and "python" in block.holds and (yield from begins_call(region)):
        return False
    if following == "[" and (yield from source.match(rules.calls)) is not None:
        return False
    yield from json_calls.read_json(region, block, rules, fenced=fence is not None)
    return True


def _named(region: Region, block: Block, _rules: Rules) -> Generator[None, None, bool]:
    return (yield from named_calls.read_named(region, block))


def _inner(region: Region, block: Block, rules: Rules) -> Generator[None, None, bool]:
    """Treat the marker as a wrapper if another opener follows: its closer is owed."""
    source = region.source
    end = source.pos
    for prefix in block.skip_prefix:
        yield from source.take(markers.matcher([prefix]))
    found = yield from source.match(rules.calls)
    if found is None and source.ends_in(rules.calls):
        source.pos = source.size
        region.markup(source.pos, dangling=True)
        return True
    if found is None and block.noise:
        found = yield from source.find(rules.calls, _MOST_NOISE)
    if found is None:
        return False
    end = source.pos
    region.markup(end)
    region.owed = block.closes
    region.is_wrapper = True
    return True


def begins_call(region: Region) -> Generator[None, None, bool]:
    """Return whether a call in Python's spelling begins at the bracket at the cursor; the cursor stays."""
    source = region.source
    start = source.pos
    source.pos += 1
    yield from source.space()
    name = yield from source.run(names.NAME, names.LONGEST)
    is_call = bool(name) and (yield from source.space()) == "("
    source.pos = start
    return is_call


def _python(region: Region, block: Block, _rules: Rules) -> Generator[None, None, bool]:
    source = region.source
    start = source.pos
    if (yield from source.space()) == "[":
        good = yield from begins_call(region)
    else:
        name = yield from source.run(names.NAME, names.LONGEST)
        good = bool(name) and (yield from source.space()) == "("
        source.pos = start
    if not good:
        return False
    region.commit()
    yield from read_python(region, frozenset(block.closes))
    yield from _end(region, block)
    return True


def read_python(region: Region, stops: frozenset[str]) -> Waiting:
    """Read a list of calls in Python's spelling, or calls one after the other, and record them.

    Raises:
        Unreadable: they cannot be read, or the text ends in them.
    """
    source = region.source
    start = source.pos
    if (yield from source.space()) != "[":
        yield from _calls_in_line(region, stops)
    else:
        yield from _past(region, PYTHON, stops)
        _tell(region, start)
    region.close(source.pos)


def _calls_in_line(region: Region, stops: frozenset[str]) -> Waiting:
    """Record successive calls, each when it ends: a fault in the next call does not affect it."""
    source = region.source
    while True:
        start = source.pos
        yield from source.run(names.NAME, names.LONGEST)
        if (yield from source.space()) != "(":
            raise Unreadable("unparseable", "a call has no arguments")
        yield from _past(region, PYTHON, stops)
        _tell(region, start)
        end = source.pos
        following = yield from source.space()
        if following in (",", ";"):
            source.pos += 1
            yield from source.space()
        name_at = source.pos
        name = yield from source.run(names.NAME, names.LONGEST)
        is_call = bool(name) and (yield from source.space()) == "("
        source.pos = name_at if is_call else end
        if not is_call:
            return


def _tell(region: Region, start: int) -> None:
    """Record the calls between `start` and the cursor."""
    text = region.source.text(start, region.source.pos)
    try:
        calls = python_calls(text, max_depth=region.limits.max_depth)
    except NotPython as error:
        raise Unreadable(error.reason, "its arguments cannot be read") from None
    for call in calls:
        region.call(start + call.end, call.name, values.written(call.arguments), edits=["translated"])


def _past(region: Region, spelling: Spelling, stops: frozenset[str]) -> Waiting:
    outcome, too_deep = yield from extent(region.source, spelling, stops, region.limits.max_depth)
    if outcome == "cut":
        raise region.cut()
    if outcome == "bad":
        raise Unreadable("unparseable", "its brackets do not match")
    if too_deep:
        raise Unreadable("nesting_too_deep", "it is nested too deep")


def _relaxed(region: Region, block: Block, _rules: Rules) -> Generator[None, None, bool]:
    source = region.source
    if (yield from source.match(_CALL)) is None:
        return False
    region.commit()
    yield from read_relaxed(region, frozenset(block.closes))
    yield from _end(region, block)
    return True


def read_relaxed(region: Region, stops: frozenset[str]) -> Waiting:
    """Read `call:NAME{…}`, and record the call.

    Raises:
        Unreadable: it cannot be read, or the text ends in it.
    """
    source = region.source
    yield from source.take(_CALL)
    yield from source.space()
    name = yield from source.run(names.NAME, names.LONGEST)
    if not 0 < len(name) <= names.LONGEST:
        raise Unreadable("unparseable", "the call names no tool")
    following = yield from source.space()
    if not following:
        raise region.cut(name)
    if following != "{":
        raise Unreadable("unparseable", "no object follows the name", name)
    start = source.pos
    try:
        yield from _past(region, RELAXED, stops)
        arguments = relaxed_object(source.text(start, source.pos), max_depth=region.limits.max_depth)
    except Unreadable as error:
        raise Unreadable(error.reason, error.detail, name) from None
    except NotRelaxed as error:
        raise Unreadable(error.reason, "its arguments cannot be read", name) from None
    region.call(source.pos, name, values.written(arguments), edits=["translated"])


def _end(region: Region, block: Block) -> Waiting:
    """Read the closer after recorded calls."""
    source = region.source
    end = source.pos
    yield from source.space()
    if (yield from source.take(markers.matcher(block.closes))) is not None:
        region.close(source.pos)
        return
    source.pos = end
    region.unclosed()
