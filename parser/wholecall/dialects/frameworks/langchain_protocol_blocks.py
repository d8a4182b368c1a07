"""The content blocks of one message of LangChain's protocol, and the calls that are open in them.

A block's index is its place in its message. Snapshots and finishes hold all of their call, and its id, so they are
known by that; a bare piece of arguments names only the index. Where two messages share a place, an index means two
blocks: there such a piece is a hole, which the finish of each call heals.

Bridges from older models finish all blocks together at the end, cut ones too. Therefore a finish ends its call for good
only if another block continued after it. The last finish waits for the reason, and so does a call without arguments: it
may have been cut before its first.
"""

from __future__ import annotations

from typing import Final

from wholecall.deltas import (
    DONE,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Index,
    Noted,
    Slot,
    WireFault,
)
from wholecall.dialects.decode import is_blank, wire_text
from wholecall.dialects.frameworks.langchain_protocol_views import (
    CALLS,
    QUIET_BLOCKS,
    Content,
    sealed,
    spoken,
)
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.remembered import keep_piece
from wholecall.limits import Limits
from wholecall.types import Kind

__all__ = ["Blocks"]

_KEPT: Final = Limits().max_arguments_bytes or 0  # characters of a call: beyond them it is too large anyway
_MOST: Final = 64  # open calls of one index; more cannot be messages in one place
_NO_FIELDS: Final = Content()


class _Call:
    """A call whose block is not finished, and its latest known text."""

    slot: int
    kind: Kind
    id: str | None
    name: str | None
    extras: object
    seen: bool
    doubtful: bool
    rewritten: bool
    _parts: list[str]
    _size: int

    def __init__(self, slot: int, kind: Kind) -> None:
        self.slot = slot
        self.kind = kind
        self.id = None
        self.name = None
        self.extras = None
        self.seen = False
        self.doubtful = False  # a piece may have belonged to it
        self.rewritten = False  # its text is not the sum of its pieces any more
        self._parts = []
        self._size = 0

    def labelled(self, content: Content) -> list[Delta]:
        """Report the new labels of the call."""
        id_, name, extras = id_label(content.id), name_label(content.name), content.extras or None
        news = (id_ and not self.id) or name not in (None, self.name) or extras not in (None, self.extras)
        if self.seen and not news:
            return []
        self.seen, self.id, self.name = True, self.id or id_, name or self.name
        self.extras = extras or self.extras
        extra = None if extras is None else {"extras": extras}
        return [CallSeen(0, self.slot, None, id_, name, self.kind, extra=extra)]

    def add(self, piece: str) -> list[Delta]:
        """Report the next piece of the text."""
        if self._size <= _KEPT:
            keep_piece(self._parts, piece)
        elif not self.rewritten:
            self._parts.clear()  # a large snapshot is reported as a whole
        self._size += len(piece)
        return [] if self.rewritten else [Slot(0, self.slot, None, piece)]

    def put(self, text: str) -> list[Delta]:
        """Report the text that a snapshot adds; a replaced text is reported when the call or its message ends."""
        before = "".join(self._parts)
        known = len(before) == self._size
        self._parts, self._size = [text], len(text)
        if self.rewritten or not text:
            return []
        if known and (text.startswith(before) or before.strip() == "{}"):  # quirk 25
            news = text.removeprefix(before)
            return [Slot(0, self.slot, None, news)] if news else []
        self.rewritten = True
        return []

    def whole(self, text: str, rank: int) -> CallWhole:
        """Report all of the text."""
        return CallWhole(0, self.slot, None, self.id, self.name, text, rank, self.kind)

    def rest(self) -> list[Delta]:
        """Report the text that was not reported yet."""
        return [self.whole("".join(self._parts), DONE)] if self.rewritten else []


class Blocks:
    """The blocks of one message.

    Args:
        crowded: another message began in the same place and was not finished, so its events may still come.
    """

    _crowded: bool
    _open: dict[Index | None, list[_Call]]
    _spoken: set[Index | None]
    _lost: set[Index | None]
    _n_slots: int
    _latest: _Call | None
    _waiting: _Call | None

    def __init__(self, *, crowded: bool = False) -> None:
        self._crowded = crowded
        self._open = {}
        self._spoken = set()  # blocks with visible text or reasoning so far
        self._lost = set()  # indices of pieces that belong to no call
        self._n_slots = 0
        self._latest = None  # the call whose block the model was in last
        self._waiting = None  # the same call, once its block is finished

    def crowd(self) -> None:
        """Note that another message may have begun in the same place."""
        self._crowded = True

    def start(self, index: Index | None, content: Content) -> list[Delta]:
        """Return the deltas of the start of a block."""
        deltas, self._latest = self._passed(), None
        if content.type not in CALLS:
            return deltas + self._block(index, content)
        id_ = id_label(content.id)
        call = self._found(index, id_) if id_ is not None else None
        if call is None or call.id != id_:  # the same start again only restates its labels
            call = self._opened(index, content)
        deltas, text = deltas + self._labelled(index, call, content), wire_text(content.args)
        if bytes(content.args)[:1] != b"{":
            return deltas + call.put(text)
        return deltas if is_blank(text) else [*deltas, call.whole(text, OBJECT)]

    def delta(self, index: Index | None, delta: Content) -> list[Delta]:
        """Report the content that a delta adds to a block."""
        if delta.type == "tool-call-delta":
            return self._called(index, _NO_FIELDS, wire_text(delta.args))
        if delta.type in ("text-delta", "reasoning-delta"):
            self._latest = None
            return self._said(index, delta)
        fields = delta.fields
        if delta.type == "block-delta" and fields is not None and self._means_call(index, fields):
            return self._called(index, fields, wire_text(fields.args), whole=True)
        quiet = delta.type in ("block-delta", "data-delta")  # the finished block has the new values
        return [] if quiet else [Noted(0, "unknown_events")]

    def addition(self, index: Index | None, content: Content) -> list[Delta]:
        """Report the content that a delta in the shape of a block adds to it, as sent before deltas had types."""
        if self._means_call(index, content):
            return self._called(index, content, wire_text(content.args))
        self._latest = None
        return self._said(index, content)

    def finish(self, index: Index | None, content: Content) -> list[Delta]:
        """Return the deltas of a finished block: all of it, and the end of its call."""
        if content.type not in CALLS:
            return self._block(index, content) + sealed(index, content)
        call = self._found(index, id_label(content.id)) or self._opened(index, content)
        call.kind = CALLS[content.type]
        deltas, text = self._labelled(index, call, content), wire_text(content.args)
        self._open[index].remove(call)
        if text:
            deltas.append(call.whole(text, ITEM_DONE))
        if content.type == "invalid_tool_call":
            detail = text_label(content.error) or "the relay could not read the arguments"
            return [*deltas, CallRefused(0, call.slot, None, "unparseable", detail)]
        if is_blank(text):
            return deltas  # the end of the message ends it
        if call is not self._latest:
            return [*deltas, CallClosed(0, call.slot, None)]
        self._waiting = call
        return [*deltas, CallClosed(0, call.slot, None, final=False)]

    def end(self) -> list[Delta]:
        """Report the rest of calls whose blocks were not finished."""
        return [delta for calls in self._open.values() for call in calls for delta in call.rest()]

    # Text.

    def _said(self, index: Index | None, content: Content) -> list[Delta]:
        deltas = spoken(index, content)
        if deltas:
            self._spoken.add(index)
        return deltas

    def _block(self, index: Index | None, content: Content) -> list[Delta]:
        """Report the visible text or reasoning of a block, unless its deltas brought it."""
        if content.type not in QUIET_BLOCKS:
            return [Noted(0, "unknown_events")]
        return [] if index in self._spoken else self._said(index, content)

    # Calls.

    def _means_call(self, index: Index | None, content: Content) -> bool:
        """Return whether something belongs to a call: by its type, else by the block that it is for."""
        return content.type in CALLS or (content.type is None and bool(self._open.get(index)))

    def _opened(self, index: Index | None, content: Content) -> _Call:
        call = self._latest = _Call(self._n_slots, CALLS.get(content.type, "function"))
        self._n_slots += 1
        calls = self._open.setdefault(index, [])
        calls.append(call)
        del calls[:-_MOST]
        return call

    def _passed(self) -> list[Delta]:
        """Report that a finished call was whole, as another block begins."""
        call, self._waiting = self._waiting, None
        return [] if call is None else [CallClosed(0, call.slot, None)]

    def _found(self, index: Index | None, id_: str | None) -> _Call | None:
        """Return the open call with this id, else the only possible one."""
        calls = self._open.get(index, [])
        if id_ is not None:
            known = [call for call in calls if call.id == id_]
            calls = known or [call for call in calls if call.id is None]
        return calls[0] if len(calls) == 1 and (id_ is not None or not self._crowded) else None

    def _called(
        self, index: Index | None, content: Content, text: str, *, whole: bool = False
    ) -> list[Delta]:
        """Report a delta's content of a call: its labels, and a piece of its text or all of it so far."""
        call = self._found(index, id_label(content.id))
        if call is None and id_label(content.id) is None and (self._crowded or self._open.get(index)):
            return self._doubted(index) if text else []
        call = self._latest = call or self._opened(index, content)
        deltas = self._labelled(index, call, content)
        if not text:
            return deltas
        return deltas + (call.put(text) if whole else call.add(text))

    def _labelled(self, index: Index | None, call: _Call, content: Content) -> list[Delta]:
        """Report the labels of a call, and whether its index may mean several calls."""
        deltas = call.labelled(content)
        if self._crowded or len(self._open[index]) > 1:
            deltas += self._doubted(index)
        return deltas

    def _doubted(self, index: Index | None) -> list[Delta]:
        """Report that pieces cannot be placed; once for each of the calls that they may belong to."""
        calls = self._open.get(index, [])
        if index in self._lost and all(call.doubtful for call in calls):
            return []
        self._lost.add(index)
        for call in calls:
            call.doubtful = True
        return [_UNOWNED]


_UNOWNED: Final = WireFault(
    "undecodable_frame", "an index means more than one block, as of messages in one place", hole=True
)
