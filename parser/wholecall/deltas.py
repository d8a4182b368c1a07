"""Deltas: the report of a dialect's translator on one frame, in terms that all dialects share.

A translator reports the content of the wire and judges nothing: the binders of the machine decide which call a delta
belongs to, and its phases decide the result of the call. There are two ways to identify a call. *Labels* (index, id and
name of chat completions) may be wrong; the binder for them (`machine.labels`) takes that into account. *Slots* (the
index of a block or an item of the output, with aliases: Responses, Anthropic) are mostly right.

`choice` is the wire's choice number. Labels are normalised by the dialect (`dialects.labels`): None means absent, and
the index `INVALID_INDEX` means that the wire sent a value that cannot be an index.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, Union

import msgspec

from wholecall import types
from wholecall.discreet import discreet_repr

__all__ = [
    "DONE",
    "HIGHEST_INDEX",
    "HYDRATION",
    "INVALID_INDEX",
    "ITEM_DONE",
    "OBJECT",
    "BlockKept",
    "CallAnswered",
    "CallCancelled",
    "CallClosed",
    "CallPlaced",
    "CallRefused",
    "CallSeen",
    "CallUnread",
    "CallWhole",
    "CallWritten",
    "CarriesOn",
    "Delta",
    "Finish",
    "Fragment",
    "Index",
    "Labelled",
    "Marked",
    "MessageBegan",
    "Noted",
    "Piecewise",
    "ReasoningFragment",
    "Reread",
    "Restated",
    "Run",
    "SaidAgain",
    "Slot",
    "StepBegan",
    "StepTakenBack",
    "TextBegan",
    "TextFragment",
    "TextRefused",
    "TextUnread",
    "TurnEnded",
    "TurnOpened",
    "UsageSeen",
    "WireFault",
    "by_transport",
    "in_telling_order",
    "without_hole",
]

Index = Union[int, str]
INVALID_INDEX = -1
OLDER_FORM: Final = "function_call"  # the index of the one call of a chat choice that came in the older form
# Integers up to this one have distinct hashes; beyond, any number of them may share a hash, which makes dicts
# quadratic.
HIGHEST_INDEX: Final = 2**61 - 2  # a choice of a higher number had no valid number on the wire

# Ranks of whole texts, lowest first: a text of a higher rank replaces one of a lower rank.
OBJECT = 1  # an object where fragments are usual, or the input at the start of a block
HYDRATION = 2  # a restatement in a final message or in the finished response
DONE = 3  # the arguments' own done event
ITEM_DONE = 4  # the finished item


class Fragment(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """Argument text at an index, with no other label: the common fragment of chat."""

    choice: int
    index: Index
    text: str

    __repr__ = discreet_repr


class Labelled(msgspec.Struct, frozen=True, gc=False):
    """A chat fragment with any label, or without an index; `text` may be empty.

    `rank` is 0 for a fragment and `OBJECT` for the text of a whole JSON value.
    """

    choice: int
    index: Index | None
    id: str | None
    name: str | None
    text: str = ""
    kind: types.Kind = "function"
    rank: int = 0
    extra: dict[str, Any] | None = None

    __repr__ = discreet_repr


class Slot(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """Argument text at a slot: `index` is the slot's number, `alias` the item's id, `id` the call's; all optional."""

    choice: int
    index: Index | None
    alias: str | None
    text: str
    id: str | None = None

    __repr__ = discreet_repr


class CallSeen(msgspec.Struct, frozen=True, gc=False):
    """A call in a slot, without text: it opens there, or its id or name becomes known.

    `name` of a builtin call is its `BuiltinKind`. `flags` go to the call unchanged. `begins` means that a block of the
    wire begins here, with labels of the wire, which may be wrong; otherwise `index` is a key made by the dialect.
    """

    choice: int
    index: Index | None
    alias: str | None
    id: str | None
    name: str | None
    kind: types.Kind = "function"
    namespace: str | None = None
    flags: tuple[types.Flag, ...] = ()
    extra: dict[str, Any] | None = None
    begins: bool = False

    __repr__ = discreet_repr


class CallWhole(msgspec.Struct, frozen=True, gc=False):
    """The whole text of a call, and further facts of the restatement.

    Ranks `DONE` and `ITEM_DONE` are bound by slot; `HYDRATION` by id, then alias, then position. `id_wins` makes the id
    of this delta the public id (the finished item of a Responses stream). `restated_ids` holds the ids of all calls
    that the same message restates. `closes` means the same as a `CallClosed` after it, `begins` the same as in a
    `CallSeen`. `truncated` means that the wire itself calls it cut. `goes_on` means that the wire does not call it
    done, so that it does not show that a call without text ended.
    """

    choice: int
    index: Index | None
    alias: str | None
    id: str | None
    name: str | None
    text: str
    rank: int
    kind: types.Kind = "function"
    namespace: str | None = None
    id_wins: bool = False
    flags: tuple[types.Flag, ...] = ()
    extra: dict[str, Any] | None = None
    restated_ids: frozenset[str] = frozenset()
    closes: bool = False
    begins: bool = False
    truncated: bool = False
    goes_on: bool = False

    __repr__ = discreet_repr


class Restated(msgspec.Struct, frozen=True, gc=False):
    """The calls that a final message lists, in its order; those that were reported before are matched one to one.

    `restated_ids` holds the ids of calls that it lists and that need no second report.
    """

    choice: int
    calls: tuple[CallWhole, ...]
    restated_ids: frozenset[str] = frozenset()

    __repr__ = discreet_repr


class Marked(msgspec.Struct, gc=False):
    """One piece of a marked record: a call's start (`S`), a piece of its text (`T`), or its end (`E`), with its labels.

    `slot` is where it was shown, None if it was not shown. `n` is the number of pieces of text that were joined.
    """

    mark: Literal["S", "T", "E"]
    slot: int | None
    id: str | None
    name: str | None
    text: str = ""
    n: int = 1

    __repr__ = discreet_repr


class Reread(msgspec.Struct, frozen=True, gc=False):
    """All pieces of a choice's calls, whose labels were odd: their meaning outranks the earlier reports.

    `listed` holds the calls of a final message after it. `chunked` means that starts came with their texts, and that
    nothing ends a call.
    """

    choice: int
    pieces: tuple[Marked, ...]
    listed: tuple[CallWhole, ...] = ()
    chunked: bool = False


class CallClosed(msgspec.Struct, frozen=True, gc=False):
    """The wire ended the call in a slot.

    `final=False` holds the verdict until the next call opens or the turn's reason is known: a length stop can close a
    block whose text still parses. `truncated=True` means that the wire itself called it cut. `waits=True` means that
    only its text is over, and the end of the turn ends it; `of_text=True`, that an event ended its text, which is empty
    so far: the item continues.
    """

    choice: int
    index: Index | None
    alias: str | None
    final: bool = True
    truncated: bool = False
    waits: bool = False
    of_text: bool = False


class CallRefused(msgspec.Struct, frozen=True, gc=False):
    """The wire itself states that the call in a slot is not whole, and the call ends here.

    For calls whose text cannot show that: the provider could not read it, or it is built from other parts. `text` is
    the known part of the call's text, for the raw text of the drop.
    """

    choice: int
    index: Index | None
    alias: str | None
    reason: types.DropReason
    detail: str
    text: str = ""

    __repr__ = discreet_repr


class CallCancelled(msgspec.Struct, frozen=True, gc=False):
    """The provider takes back a call that it sent, perhaps in an earlier turn: only the call's id is known.

    `answered=True` means that the stream holds the call's result: it was executed elsewhere. A call that is still open
    then becomes the server's own, and so does a call that is announced only after its result (see `CallAnswered`).
    """

    id: str
    answered: bool = False


class CallUnread(msgspec.Struct, frozen=True, gc=False):
    """A frame seems to hold a call that its dialect does not report; another frame may still report it.

    `ids` are those in it and around it, `names` those in it, and `has_id` means that it contains some id; `holds_text`,
    that it contains text besides labels, which may be a piece of an open call; `whole`, that no text will follow. With
    `is_piece` it is only text of the calls with these ids.
    """

    ids: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    has_id: bool = False
    holds_text: bool = False
    whole: bool = False
    is_piece: bool = False

    __repr__ = discreet_repr


class TextUnread(msgspec.Struct, frozen=True, gc=False):
    """The object of a call without text, which is named next, holds content that its dialect does not read.

    If no text comes for the call, that content may be its arguments.
    """

    choice: int
    id: str | None
    name: str


class CallAnswered(msgspec.Struct, frozen=True, gc=False):
    """A call that is sent as history, or whose result came before it: if announced after this, it is the server's own.

    `name` and `text` are those of the call, where the wire sends them: a call with its id but another name or text is
    another call. It does not affect a call that came in this stream.
    """

    id: str
    name: str | None = None
    text: str | None = None

    __repr__ = discreet_repr


class CallWritten(msgspec.Struct, frozen=True, gc=False):
    """A call that the model wrote as text, whole; or with a `reason`, an unreadable text that was meant as a call.

    It has no slot: no later delta is about it. `text` is its arguments as JSON, `source` all text that the model wrote
    for it, and `edits` list the changes that made it readable.
    """

    choice: int
    name: str | None
    id: str | None
    text: str
    source: str
    edits: tuple[types.EditKind, ...] = ()
    flags: tuple[types.Flag, ...] = ()
    extra: dict[str, Any] | None = None
    reason: types.DropReason | None = None
    detail: str = ""

    __repr__ = discreet_repr


class TurnOpened(msgspec.Struct, frozen=True, gc=False):
    """A message begins, or (a known key) the stream switches back to it.

    `restart=True` means that this is a new message even if the key is known. `outlives=True` means that it is read after
    a message that failed, because it is another one of a session.
    """

    key: str | None
    id: str | None = None
    model: str | None = None
    restart: bool = False
    outlives: bool = False


class Finish(msgspec.Struct, frozen=True, gc=False):
    """The reason why a choice ended: `reason` in our words, `provider_reason` verbatim; more may come.

    `drops=True` drops every open call (a refusal takes back begun calls). `ends=True` means that the end of the turn
    follows in the same frame: no call ends before it, so that all of them end in order. `foreign=True` means that it
    may not be the reason of the calls that came: it has other labels than the rest of the message, which a gateway may
    have made up, or it is in a final message that lacks them.
    """

    choice: int
    reason: types.TurnReason
    provider_reason: str | None
    drops: bool = False
    ends: bool = False
    foreign: bool = False


class TurnEnded(msgspec.Struct, frozen=True, gc=False):
    """The wire ended the message: `[DONE]`, `message_stop`, `response.completed`.

    `of_transport=True` means that it is not a mark of the message itself: it does not end a call without text.
    """

    key: str | None = None
    of_transport: bool = False


class SaidAgain(msgspec.Struct, frozen=True, gc=False):
    """The role was repeated in the middle of a choice: to keep the connection open, or because another answer began."""

    choice: int


class StepBegan(msgspec.Struct, frozen=True, gc=False):
    """Another step of a message began: servers that number their calls repeat the ids of the last step (Vercel).

    `number` is the step's own, as in a message that is sent again; None counts on.
    """

    choice: int
    number: Union[int, None] = None


class StepTakenBack(msgspec.Struct, frozen=True, gc=False):
    """All calls of the current step are taken back, and another step begins: the server runs it again (Vercel)."""

    choice: int
    number: Union[int, None] = None


class MessageBegan(msgspec.Struct, frozen=True, gc=False):
    """Another message of the same turn began: the text so far is not of its answer (Responses)."""

    choice: int


class TextFragment(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """Visible text."""

    choice: int
    text: str

    __repr__ = discreet_repr


class TextBegan(msgspec.Struct, frozen=True, gc=False):
    """A block or an item of text begins: its text is separate from the text before it."""

    choice: int


class TextRefused(msgspec.Struct, frozen=True, gc=False):
    """The wire itself calls visible text of a choice a refusal."""

    choice: int


class BlockKept(msgspec.Struct, frozen=True, gc=False):
    """A part of the answer other than text, reasoning and calls, in the wire's form: it is sent back unchanged.

    `of_text` means that it is the text since the last `TextBegan`, with the wire's further members. `said` is that text
    where the wire repeats it; if the text was reported otherwise, nothing is kept. `grows` names the member that comes
    in pieces, each in a block with the same labels.
    """

    choice: int
    value: dict[str, Any]
    of_text: bool = False
    said: str | None = None
    grows: str | None = None

    __repr__ = discreet_repr


class CallPlaced(msgspec.Struct, frozen=True, gc=False):
    """The call of this id is here among the parts of the answer, though its frame comes later."""

    choice: int
    id: str


class CarriesOn(msgspec.Struct, frozen=True, gc=False):
    """Members that the next request must have in addition to the messages, such as Anthropic's `container`."""

    members: dict[str, Any]

    __repr__ = discreet_repr


class ReasoningFragment(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """Reasoning text, or its signature or data.

    `block` identifies the block (None: the open one), `signature` and `data` (encrypted reasoning) are the provider's,
    to be sent back untouched.
    """

    choice: int
    text: str
    block: Index | None = None
    id: str | None = None
    signature: str | None = None
    data: str | None = None

    __repr__ = discreet_repr


Piecewise = Union[Fragment, Slot, TextFragment, ReasoningFragment]  # the deltas that come many in a row


class Run(msgspec.Struct, frozen=True, gc=False):
    """Pieces of one text that came in a row.

    `of` is their common part, without a text; `texts` holds their texts. None of these is empty, and none holds half of
    a surrogate pair.
    """

    of: Piecewise
    texts: list[str]

    __repr__ = discreet_repr

    def pieces(self) -> list[Piecewise]:
        """Return the pieces one by one."""
        return [msgspec.structs.replace(self.of, text=text) for text in self.texts]


class UsageSeen(msgspec.Struct, frozen=True, gc=False):
    """Token counts; the last non-empty counts are valid."""

    usage: dict[str, Any]


class Noted(msgspec.Struct, frozen=True, gc=False):
    """An oddity that changes nothing: it is listed in `TurnFinished.anomalies`."""

    choice: int
    anomaly: types.Anomaly


class WireFault(msgspec.Struct, frozen=True, gc=False):
    """A fault of the wire.

    `hole=True` means that argument text may have been lost: every open call ends `incomplete_input` unless the wire
    restates it. A fatal fault drops every open call and ends the stream; that of a provider may be outlived (`TurnOpened`).
    """

    kind: types.FaultKind
    detail: str
    error: Any = None
    fatal: bool = False
    raw: str = ""
    hole: bool = False

    __repr__ = discreet_repr


Delta = Union[
    Fragment, Labelled, Slot, Run, CallSeen, CallWhole, CallClosed, Restated, Reread, CallRefused, CallCancelled,
    CallUnread, TextUnread, CallAnswered, CallWritten, MessageBegan, SaidAgain, StepBegan, StepTakenBack, TurnOpened, Finish, TurnEnded, TextBegan, TextFragment, TextRefused, ReasoningFragment,
    BlockKept, CallPlaced, CarriesOn, UsageSeen,
    Noted, WireFault,
]  # fmt: skip


def in_telling_order(wholes: Iterable[CallWhole]) -> list[CallWhole]:
    """Return restated calls, those without text last: then all other text has found its owner."""
    return sorted(wholes, key=lambda whole: not whole.text)


def by_transport(deltas: list[Delta]) -> list[Delta]:
    """Mark ends as ends of the transport, which proxies add to streams of any dialect."""
    replace = msgspec.structs.replace
    return [replace(delta, of_transport=True) if type(delta) is TurnEnded else delta for delta in deltas]


def without_hole(delta: Delta) -> Delta:
    """Return a delta whose hole is cleared: at the end of the stream, open calls end as unterminated anyway."""
    if isinstance(delta, WireFault) and delta.hole:
        return msgspec.structs.replace(delta, hole=False)
    return delta
