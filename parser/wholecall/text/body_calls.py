"""Calls as a tag with the tool's name, a body of plain text or one JSON object, and a closer.

Theory of operation. The body has no escaping and nothing in it says what it is, so its end is where the format places
it: a closer that begins or ends its line, with nothing but a further call, markup or the end of the text after it. In
the middle of a line the format's own markup is text of the body; anywhere else it can be read in two ways, and the call
is a drop. Plain text is the tool's only parameter, or the argument that the format names.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

import msgspec

from wholecall.text import markers, names, values
from wholecall.text.region import Region, Unreadable

if TYPE_CHECKING:
    from wholecall.text.records import Body
    from wholecall.text.rules import Rules
    from wholecall.text.source import Waiting

_LINE_ENDS: Final = markers.matcher(["\n", "\r\n"])
_BEGINS_OBJECT: Final = re.compile(r"""\{\s*["'}]""")


def read_body_call(region: Region, body: Body, rules: Rules) -> Waiting:
    """Read the tag after the opener, its body and its closer."""
    source = region.source
    name = yield from _name(region, body)
    start = source.pos
    end = yield from _end(region, body, name)
    after = source.pos
    yield from _check_rest(region, body, rules, name)
    source.pos = after
    raw = source.text(start, end)
    line_end = "\r\n" if raw.endswith("\r\n") else "\n"
    arguments, is_json = _arguments(region, body, name, raw.removesuffix(line_end))
    region.call(after, name, arguments, edits=[] if is_json else ["translated"])


def _name(region: Region, body: Body) -> Generator[None, None, str]:
    """Return the tool's name, and go to the start of the text of its arguments.

    Raises:
        NotOne: no call begins here.
        Unreadable: the text ends in the head.
    """
    source = region.source
    name = yield from source.run(names.NAME, names.LONGEST)
    if not region.at_line or not 0 < len(name) <= names.LONGEST:
        region.reject()
    if (yield from source.take(markers.matcher([body.gt]))) is None:
        region.reject()
    following = yield from source.space_in_line()
    if following and (yield from source.take(_LINE_ENDS)) is None:
        region.reject()
    is_generic = name in body.generic and name not in region.declared
    if is_generic:
        name = yield from _first_word(region, body)
    if name and names.cleaned(name, region.declared) not in region.declared:
        region.reject()
    region.commit()
    if source.at_end:
        raise region.cut(name or None)
    return name


def _first_word(region: Region, body: Body) -> Generator[None, None, str]:
    """Return the first word of the body, and go past it and the white space that ends it; "" if the text ends."""
    source = region.source
    if not (yield from source.space()):
        return ""
    word = yield from source.run(names.NAME, names.LONGEST)
    if not 0 < len(word) <= names.LONGEST:
        region.reject()
    end = source.pos
    if (yield from source.space_in_line()) and source.pos == end:
        ends = markers.matcher((*_LINE_ENDS.literals, *body.closes))
        mark = yield from source.match(ends)
        if mark is None:
            region.reject()
        source.pos += 0 if mark in body.closes else len(mark)
    return word


def _end(region: Region, body: Body, name: str) -> Generator[None, None, int]:
    """Return the end of the body, and go past its closer.

    Raises:
        Unreadable: the text ends before it, or another call begins before it.
    """
    source = region.source
    marks = markers.matcher((*body.closes, *body.opens))
    while True:
        mark = yield from source.find(marks)
        if mark is None:
            raise region.cut(name)
        place, before = source.pos, source.before()
        begins_line = "\n" in before and not before[before.rfind("\n") :].strip()
        source.pos += len(mark)
        after = source.pos
        if mark in body.closes:
            ends_line = (yield from source.space_in_line()) in ("", "\n", "\r")
            source.pos = after
            if begins_line or ends_line:
                return place
        elif begins_line:
            yield from _in_doubt(region, body, name)


def _check_rest(region: Region, body: Body, rules: Rules, name: str) -> Waiting:
    """Check that nothing but calls and markup follows the closer before the cursor.

    Raises:
        Unreadable: other text does, so that the closer may be text of the body; or the text was cut there.
    """
    source = region.source
    following = yield from source.space()
    markup = markers.matcher(rules.calls.literals | rules.behind_noise.literals)
    found = yield from source.match(markup)
    is_cut = not following or (found is None and source.ends_in(markup))
    if is_cut and source.ended != "clean":
        raise region.cut(name)
    if following and (found is None or found in body.closes):
        yield from _in_doubt(region, body, name)


def _in_doubt(region: Region, body: Body, name: str) -> Waiting:
    """Drop a call whose end can be read in two ways; the owner of later calls is then unknown too.

    Raises:
        Unreadable: always; the cursor is after the next closer then.
    """
    source = region.source
    closer = yield from source.find(markers.matcher(body.closes))
    if closer is not None:
        source.pos += len(closer)
    region.after_unread = True
    raise Unreadable("ambiguous", "its own markup stands where its text may end", name)


def _arguments(region: Region, body: Body, name: str, raw: str) -> tuple[str, bool]:
    """Return the JSON of the arguments, and whether the model wrote it.

    Raises:
        Unreadable: it is broken JSON, or a plain text for a tool that has other parameters.
    """
    text = raw.strip()
    if not text:
        return "{}", True
    if _BEGINS_OBJECT.match(text):
        if not _is_object(text):
            raise Unreadable("invalid_json", "its arguments are no JSON", name)
        return text, True
    properties = region.declared.schema(names.cleaned(name, region.declared)).properties
    key = next(iter(properties)) if len(properties) == 1 else body.key
    if properties and key not in properties:
        raise Unreadable("unparseable", "its text does not say which argument it is", name)
    return values.written({key: raw}), False


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
