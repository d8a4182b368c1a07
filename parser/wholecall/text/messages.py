"""Messages with a header: their recipient, and the treatment of the body (Harmony, Beam, Muse).

Theory of operation. A header runs from a start literal to the literal that begins the body; it holds a recipient
(`to=…`) and a channel. A body for a tool is a call, a body for the user is shown as it comes, and no marker in it is
live except its end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from wholecall.text import markers, named_calls, names, records, tagged_calls
from wholecall.text.region import NotOne, Region, Unreadable

if TYPE_CHECKING:
    from wholecall.text.source import Waiting
    from wholecall.text.telling import Teller

_LONGEST_HEADER: Final = 1024
_START: Final = "<|start|>"
_CHANNEL: Final = "<|channel|>"
_TO_USER: Final = frozenset(["", "user", "assistant", "all", "commentary"])
_RECIPIENT: Final = re.compile(r"\bto=([^\s<]+)")
_IGNORED: Final = re.compile(r"<\|constrain\|>|<\|constrain>")
_FUNCTIONS: Final = "functions."


class _Header(NamedTuple):
    recipient: str
    channel: str


def _parsed(header: str) -> _Header:
    """Return the fields of a header: the first recipient in any place, the last word after the channel's marker."""
    recipient = _RECIPIENT.search(header)
    behind = header.rpartition(_CHANNEL)[2] if _CHANNEL in header else ""
    words = [word for word in _IGNORED.sub(" ", _RECIPIENT.sub(" ", behind)).split() if word != "json"]
    return _Header(recipient[1] if recipient else "", words[-1] if words else "")


def read_header(teller: Teller, literal: str) -> Waiting:
    """Read the header at the cursor, and the text after it up to where another mode continues."""
    source, messages = teller.source, teller.rules.form.messages
    assert messages is not None
    region = teller.new_region(literal, messages.ends, teller.limits.max_arguments_bytes)
    source.pos += len(literal)
    stops = markers.matcher([messages.body, *messages.ends, *({_START} & set(messages.starts))])
    mark = yield from source.find(stops, _LONGEST_HEADER)
    header = _parsed(source.text(region.start, source.pos))
    if mark != messages.body:
        if source.at_end and header.recipient not in _TO_USER:
            error = region.cut()
            region.drop(source.pos, error.reason, error.detail, header.recipient)
            teller.finish(region)
            return
        source.pos = region.start + len(literal)
        teller.tell_markup(source.pos)
        return
    source.pos += len(messages.body)
    yield from _addressed(teller, region, header, messages)


def _addressed(teller: Teller, region: Region, header: _Header, messages: records.Messages) -> Waiting:
    """Begin the body, by its recipient."""
    recipient = header.recipient
    if recipient == "self" or recipient in _TO_USER:
        teller.tell_markup(teller.source.pos)
        if recipient or messages.kind != "muse":
            teller.state.mode = "body"
            teller.state.body = recipient == "self" or header.channel == "analysis"
        return
    named = names.cleaned(recipient, teller.declared)
    is_function = recipient.startswith(_FUNCTIONS) or named in teller.declared or messages.kind == "muse"
    try:
        if is_function:
            yield from _call(region, teller, messages, recipient)
        else:
            yield from _unknown(region, messages, recipient)
    except (Unreadable, NotOne) as error:
        unreadable = (
            error if isinstance(error, Unreadable) else Unreadable("unparseable", "its body is no call")
        )
        if not teller.source.at_end:
            yield from _to_end(region, messages)
        region.drop(teller.source.pos, unreadable.reason, unreadable.detail, unreadable.name or recipient)
    teller.finish(region)


def _unknown(region: Region, messages: records.Messages, recipient: str) -> Waiting:
    region.commit()
    yield from _to_end(region, messages)
    raise Unreadable("unknown_tool", "its recipient is no declared function", recipient)


def _to_end(region: Region, messages: records.Messages) -> Waiting:
    """Go past the end of the body; before a message that begins without one."""
    source = region.source
    if "".join(source.before(len(messages.ends[0]))).endswith(messages.ends):
        return
    mark = yield from source.find(markers.matcher((*messages.ends, _START)))
    if mark is not None and mark != _START:
        source.pos += len(mark)


def _call(region: Region, teller: Teller, messages: records.Messages, recipient: str) -> Waiting:
    """Read the body of a call."""
    source = region.source
    region.commit()
    ends = markers.matcher(messages.ends)
    following = yield from source.space()
    tags = markers.matcher(teller.rules.openers)
    if following == "{" or (yield from source.match(tags)) is None:
        if (
            messages.params is not None
            and (yield from source.match(markers.matcher(messages.params.opens))) is not None
        ):
            around = (*messages.starts, messages.body)
            yield from tagged_calls.read_parameters(region, recipient, messages.params, messages.ends, around)
            return
        if not following or (yield from source.match(ends)) is not None:
            yield from _empty(region, messages, recipient)
            return
        arguments = yield from named_calls.read_object(region, (*messages.ends, _START), recipient)
        region.call(source.pos, recipient, arguments)
    else:
        yield from _tags(region, teller, recipient)
    end = source.pos
    yield from source.space()
    if (yield from source.take(ends)) is not None:
        region.close(source.pos)
    else:
        source.pos = end
        region.unclosed()


def _empty(region: Region, messages: records.Messages, recipient: str) -> Waiting:
    """End a body without text: no arguments, if it was a function's and the text did not end in it."""
    source = region.source
    closed = (yield from source.take(markers.matcher(messages.ends))) is not None
    if not closed and source.ended != "clean":
        raise region.cut(recipient)
    if not recipient.startswith(_FUNCTIONS):
        raise Unreadable("unparseable", "its body is empty", recipient)
    region.call(source.pos, recipient, "{}")


def _tags(region: Region, teller: Teller, recipient: str) -> Waiting:
    """Read tags, whose names have to be the recipient's."""
    source, rules = region.source, teller.rules
    openers = markers.matcher(rules.openers)
    while (opener := (yield from source.take(openers))) is not None:
        record = rules.openers[opener]
        if isinstance(record, records.Tag):
            region.opener = opener
            yield from tagged_calls.read_tag(region, record, rules)
            name = getattr(region.items[-1], "name", None)
            meant = names.cleaned(recipient, region.declared)
            if name != meant and not str(name).startswith(f"{meant}."):
                region.retract()
                raise Unreadable("ambiguous", "recipient and name differ", recipient)
        else:
            region.wrapped = record.closes
        end = source.pos
        yield from source.space()
        if (yield from source.take(markers.matcher(region.wrapped))) is not None:
            region.close(source.pos)
            region.wrapped = ()
            end = source.pos
            yield from source.space()
        if (yield from source.match(openers)) is None:
            source.pos = end
            return


def read_body(teller: Teller) -> Waiting:
    """Show the body at the cursor up to its end."""
    source, messages = teller.source, teller.rules.form.messages
    assert messages is not None
    literal = yield from teller.shown_up_to(markers.matcher((*messages.ends, _START)), source.pos)
    if literal is None:
        return
    if (yield from teller.is_quoted()):
        teller.as_text(literal)
        return
    at = source.pos
    if literal != _START:
        source.pos += len(literal)
        yield from source.space()
        follows = yield from source.match(markers.matcher((*messages.ends, *messages.starts)))
        ends = follows is not None or source.at_end
        source.pos = at + len(literal)
        if not ends:
            teller.show(source.pos)
            return
        teller.tell_markup(source.pos)
    teller.state.mode, teller.state.body = "text", False
    teller.state.begin()
