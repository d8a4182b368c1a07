"""The content of a turn that goes back into history, in order, before a shape writes it.

Theory of operation. `gather` walks a turn once. Text stays text; reasoning is kept where its own provider reads
it again (signatures and encrypted blocks mean nothing to another one), and is left out elsewhere; calls become
`Call`s with the format's id and encoded arguments. Content that cannot go back is left out and listed:

* calls without a name, and calls that an abort or a fault cut off: they cannot be answered;
* calls of provider-defined tools whose text could not be read;
* under `on_malformed="omit"`, calls whose text is not a JSON object;
* calls that the provider executed itself, with exceptions. A provider accepts its own blocks unchanged, and refuses a
  result without its call or, in an answer that was not interrupted, a call without its result. Therefore a result goes
  back only with its call, once; a call goes back if its result is among the blocks, if a block contains all of it (an
  item of Responses, a part of Gemini), or if the provider has yet to execute it: in an answer that it paused, or that
  waits for the client's calls.

A turn that loses all calls that wait for an answer loses its reasoning, too; so does an aborted turn without such
calls. Records, which no model continues from, contain all reasoning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, Union

import msgspec
from msgspec.structs import replace

from wholecall.calls.output import call_events
from wholecall.calls.output.turns import OtherBlock, ReasoningBlock, Turn
from wholecall.history.formats import HistoryFormat, Malformed, encode_arguments
from wholecall.history.ids import CallIds
from wholecall.history.values import copied
from wholecall.types import Kind, TurnReason

CallEvent = Union[
    call_events.ToolCall,
    call_events.CustomToolCall,
    call_events.BuiltinToolCall,
    call_events.ServerToolCall,
    call_events.ToolCallDropped,
]


class Call(msgspec.Struct, frozen=True):
    """A call in the form in which a format accepts it back.

    Attributes:
        id: the format's id of the call.
        name: the tool's name, or the kind of a provider-defined one.
        kind: `function` also if the format has no other kind.
        arguments: as the format carries them; of a `custom` call its free text, of `builtin` and
            `server` calls an object.
        event: the call's event in the turn.
        namespace, extra: the provider's fields, if they go back to their origin.
        has_made_id: whether the wire had no id for it.
    """

    id: str
    name: str
    kind: Kind
    arguments: Any
    event: CallEvent
    namespace: str | None
    extra: dict[str, Any]
    has_made_id: bool = False

    def __repr__(self) -> str:
        return f"<Call {self.kind} {self.id!r} {self.name!r}>"


Piece = Union[str, ReasoningBlock, OtherBlock, Call]


def text_of(pieces: Sequence[Piece]) -> str | None:
    """Return the text of a turn, None if it is blank."""
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    return text if text.strip() else None


def _none(_call: call_events.ServerToolCall) -> bool:
    return False


class Capacity(msgspec.Struct, frozen=True):
    """The content that messages of one shape can hold in addition to text and function calls.

    Attributes:
        origins: the dialects whose reasoning and extra fields are the format's own.
        free_text: whether custom calls go back as such; otherwise they are calls with one member, `input`.
        builtins: whether calls of provider-defined tools go back as such; otherwise they are plain calls.
        blocks: whether the provider's own blocks go back unchanged, with the calls that it executed.
        pauses: whether calls that the provider has not executed yet go back, while it waits for the client.
        made_ids: whether it accepts generated ids.
        server_calls: which of its own calls the provider accepts without their results.
        follows: whether reasoning must be followed by the item that it led to, and calls that are known by their own
            items (`item_id`) preceded by it.
        raw_text: whether text that is not a JSON object is accepted, though arguments are objects.
        record: whether the messages are only a record: no model reads them again as its own. They contain reasoning of
            every origin, regardless of the fate of the calls that it led to.
    """

    origins: frozenset[str] = frozenset()
    free_text: bool = False
    builtins: bool = False
    blocks: bool = False
    pauses: bool = False
    made_ids: bool = True
    server_calls: Callable[[call_events.ServerToolCall], bool] = _none
    follows: bool = False
    raw_text: bool = False
    record: bool = False


class Options(NamedTuple):
    """The caller's options."""

    format: HistoryFormat
    on_malformed: Malformed
    strict_json_arguments: bool

    def encoded(self, arguments: call_events.ToolCall | call_events.ToolCallDropped | dict[str, Any]) -> Any:
        """Return arguments as the format carries them, None if they are to be left out."""
        strict, on_malformed = self.strict_json_arguments, self.on_malformed
        return encode_arguments(
            arguments, self.format, on_malformed=on_malformed, strict_json_arguments=strict
        )


class Gathered(NamedTuple):
    """The pieces of one message, the ids, the ids for results, the calls without an id, and the calls left out."""

    pieces: list[Piece]
    ids: CallIds
    by_index: dict[int, str]
    without_id: frozenset[int]
    left_out: tuple[CallEvent, ...]


def gather(turn: Turn[Any], capacity: Capacity, options: Options, ids: CallIds) -> Gathered:
    """Return the content of the turn that goes back, in the order in which it began."""
    native = capacity.record or turn.dialect in capacity.origins
    keeps = native and capacity.blocks
    executed = Executed.of(turn, pauses=capacity.pauses) if keeps else Executed()
    content = [
        piece
        for piece in _ordered(turn)
        if not (
            isinstance(piece, call_events.ServerToolCall) and executed.is_held(piece)
        )  # its block represents it
    ]
    events = [piece for piece in content if not isinstance(piece, (str, ReasoningBlock, OtherBlock))]
    drafts = [
        draft for event in events if (draft := _draft(event, capacity, options, executed, native=native))
    ]
    before = ids
    ids, given = ids.assign((call.id, call.name) for call in drafts if call.kind != "server")
    names = iter(given)
    calls = [call if call.kind == "server" else replace(call, id=next(names)) for call in drafts]
    kept = {call.event.index: call for call in calls}
    thinks = capacity.record or (native and (bool(given) or _lost_nothing(turn, events)))
    going = (
        executed.going(content, before.pending.union(call.event.id for call in calls))
        if keeps
        else frozenset()
    )
    pieces: list[Piece | None] = []
    for piece in content:
        if isinstance(piece, ReasoningBlock):
            pieces.append(_with_ids(piece, ids) if thinks else None)
        elif isinstance(piece, OtherBlock):
            whole = id(piece) in going and (thinks or not piece.is_reasoning)
            pieces.append(piece if whole else piece.text or None)
        else:
            pieces.append(piece if isinstance(piece, str) else kept.get(piece.index))
    return Gathered(
        _paired(content, pieces) if capacity.follows else [piece for piece in pieces if piece is not None],
        ids.awaiting(_pending(before.pending, content, going, calls)) if keeps and capacity.pauses else ids,
        {index: call.id for index, call in kept.items() if call.kind != "server"},
        frozenset(index for index, call in kept.items() if call.has_made_id and not capacity.made_ids),
        tuple(event for event in events if event.index not in kept),
    )


def _pending(
    before: AbstractSet[str], content: Iterable[object], going: AbstractSet[int], calls: Iterable[Call]
) -> frozenset[str]:
    """Return the ids of the provider's calls that have no result yet, in this turn or before it."""
    blocks = [piece for piece in content if isinstance(piece, OtherBlock) and id(piece) in going]
    called = {call.event.id for call in calls if call.kind == "server" and call.event.id is not None}
    return frozenset(called.union(before) - {result_of(block) for block in blocks})


def _lost_nothing(turn: Turn[Any], events: Sequence[CallEvent]) -> bool:
    """Return whether a turn in which no call waits for an answer was complete, and never had such a call."""
    return turn.reason not in ("aborted", "error") and not any(map(_waits, events))


def _waits(event: CallEvent) -> bool:
    """Return whether the client had to execute the call."""
    return (
        event.kind != "server"
        if isinstance(event, call_events.ToolCallDropped)
        else not isinstance(event, call_events.ServerToolCall)
    )


def _ordered(turn: Turn[Any]) -> list[str | ReasoningBlock | OtherBlock | CallEvent]:
    """Return all of the turn in order; reasoning, text, calls if the turn was made without an order."""
    groups = (turn.calls, turn.custom_calls, turn.builtin_calls, turn.server_calls, turn.dropped)
    events: dict[int, CallEvent] = {event.index: event for group in groups for event in group}
    content = turn.content
    text = "".join(
        piece if isinstance(piece, str) else piece.text
        for piece in content
        if isinstance(piece, (str, OtherBlock))
    )
    blocks = tuple(piece for piece in content if isinstance(piece, ReasoningBlock))
    if text != turn.text or blocks != turn.reasoning.blocks:
        content = (*turn.reasoning.blocks, turn.text)
    placed = [piece for piece in content if isinstance(piece, int)]
    ordered: list[str | ReasoningBlock | OtherBlock | CallEvent] = []
    for piece in (*content, *sorted(events.keys() - set(placed))):
        if not isinstance(piece, int):
            ordered.append(piece)
        elif piece in events:  # else the call has not ended yet
            ordered.append(events[piece])
    return ordered


def _draft(
    event: CallEvent, capacity: Capacity, options: Options, executed: Executed, *, native: bool
) -> Call | None:
    """Return the call under the id of the wire, None if it is to be left out."""
    kind: Kind = "server"
    if not isinstance(event, call_events.ServerToolCall):
        kind, arguments = _encoded(event, capacity, options)
    else:
        taken = native and (executed.goes_back(event) or capacity.server_calls(event))
        arguments = copied(event.arguments) if taken else None
    if arguments is None:
        return None
    name = event.name
    id = event.id if event.id is not None else f"call_{event.turn}_{event.choice}_{event.index}"
    assert name is not None  # nameless calls have no arguments to send
    namespace: str | None = getattr(event, "namespace", None) if native else None
    is_of_wire = native and "from_text" not in getattr(event, "flags", ())  # else no provider knows the extra
    extra: dict[str, Any] = copied(getattr(event, "extra", None) or {}) if is_of_wire else {}
    made = event.id is None or "id_generated" in getattr(event, "flags", ())
    return Call(id, name, kind, arguments, event, namespace, extra, made)


def _encoded(
    event: call_events.ToolCall
    | call_events.CustomToolCall
    | call_events.BuiltinToolCall
    | call_events.ToolCallDropped,
    capacity: Capacity,
    options: Options,
) -> tuple[Kind, Any]:
    """Return the call's kind for the format, and its arguments; None as arguments of a call to leave out."""
    if isinstance(event, call_events.ToolCall):
        return "function", options.encoded(event)
    if isinstance(event, call_events.BuiltinToolCall):
        if capacity.builtins:
            return "builtin", copied(event.arguments)
        return "function", options.encoded(event.arguments)
    if isinstance(event, call_events.CustomToolCall):
        return _free_text(event.input, capacity, options)
    if not event.is_answerable:
        return event.kind, None
    if event.kind == "custom":
        return _free_text(event.raw_arguments, capacity, options)
    as_it_was = capacity.raw_text and options.on_malformed == "wrap"
    return "function", event.raw_arguments if as_it_was else options.encoded(event)


def _free_text(text: str, capacity: Capacity, options: Options) -> tuple[Kind, Any]:
    return ("custom", text) if capacity.free_text else ("function", options.encoded({"input": text}))


def _with_ids(block: ReasoningBlock, ids: CallIds) -> ReasoningBlock:
    """Return the block; encrypted reasoning may be identified by the id of the call that it led to."""
    known = ids.get(block.id) if block.id is not None else None
    return block if known is None else replace(block, id=known)


def _paired(content: Sequence[object], pieces: Sequence[Piece | None]) -> list[Piece]:
    """Return the present pieces, reasoning and calls paired as the provider checks it.

    A call whose reasoning is missing is not identified by its item: the provider knows which reasoning led to the item.
    """
    kept: list[Piece] = []
    orphaned = False
    for origin, piece in zip(content, _followed(pieces), strict=True):
        if isinstance(origin, ReasoningBlock):
            orphaned = piece is None
        if piece is not None:
            kept.append(_without_item(piece) if orphaned and isinstance(piece, Call) else piece)
    return kept


def _without_item(call: Call) -> Call:
    return replace(call, extra={key: value for key, value in call.extra.items() if key != "item_id"})


def _followed(pieces: Sequence[Piece | None]) -> list[Piece | None]:
    """Return the pieces, with None for reasoning whose next piece is None; blank text is not a piece."""
    found: list[Piece | None] = []
    following: Piece | None = None
    for piece in reversed(pieces):
        here = None if isinstance(piece, ReasoningBlock) and following is None else piece
        found.append(here)
        if not isinstance(piece, str) or piece.strip():
            following = here
    return found[::-1]


# --- calls that the provider executed itself -----------------------------------------------------------


_GEMINI_CALLS: Final = ("executableCode", "executable_code", "toolCall", "tool_call")
_UNFINISHED: Final[frozenset[TurnReason | None]] = frozenset({"pause", "tool_calls"})


class Executed(msgspec.Struct, frozen=True):
    """The provider's own calls and blocks of a turn that go back.

    Attributes:
        held: the ids of calls that a block contains.
        holds_unnamed: whether blocks contain calls without an id (parts of Gemini).
        answered: the ids of calls whose results are blocks.
        waits: whether the provider has yet to execute the others.
    """

    held: frozenset[str] = frozenset()
    holds_unnamed: bool = False
    answered: frozenset[str] = frozenset()
    waits: bool = False

    @classmethod
    def of(cls, turn: Turn[Any], *, pauses: bool) -> Executed:
        """Return the facts from a turn's blocks; `pauses` states whether the provider continues calls that it began."""
        blocks = [part for part in turn.content if isinstance(part, OtherBlock)]
        return cls(
            frozenset(id for block in blocks if result_of(block) is None for id in _ids(block)),
            any(call.get("id") is None for block in blocks for call in _calls_of_gemini(block)),
            frozenset(id for block in blocks if (id := result_of(block)) is not None),
            pauses and turn.reason in _UNFINISHED,
        )

    def is_held(self, call: call_events.ServerToolCall) -> bool:
        """Return whether a block represents the call."""
        own = (call.extra or {}).get("item_id")
        bare = self.holds_unnamed and "id_generated" in call.flags
        return bare or call.id in self.held or own in self.held

    def goes_back(self, call: call_events.ServerToolCall) -> bool:
        """Return whether the call goes back as a call."""
        return self.waits or call.id in self.answered

    def going(self, parts: Iterable[object], calls: AbstractSet[str | None]) -> frozenset[int]:
        """Return which blocks go back, by identity: those that are not a result, and the first result of each call.

        `calls` are the ids on the wire of the calls that go back, and of those that have waited since an earlier turn.
        """
        going: set[int] = set()
        answered: set[str] = set()
        for block in parts:
            result = result_of(block) if isinstance(block, OtherBlock) else None
            if result is None or (result not in answered and (result in self.held or result in calls)):
                going.add(id(block))
            if result is not None:
                answered.add(result)
        return frozenset(going)


def result_of(block: OtherBlock) -> str | None:
    """Return the id of the call of which a block is the result, None for any other block."""
    value = block.value
    of_converse = value.get("toolResult")
    named = (
        value.get("tool_use_id")
        or (value.get("call_id") if (block.type or "").endswith("_output") else None)
        or (of_converse.get("toolUseId") if isinstance(of_converse, dict) else None)
    )
    return named if isinstance(named, str) else None


def _ids(block: OtherBlock) -> list[str]:
    """Return the ids under which the call of a block may be known."""
    holders = (block.value, *_calls_of_gemini(block))
    return [id for one in holders for name in ("id", "call_id") if isinstance(id := one.get(name), str)]


def _calls_of_gemini(block: OtherBlock) -> list[dict[str, Any]]:
    """Return the call of a Gemini part, if there is one, in either spelling."""
    return [call for name in _GEMINI_CALLS if isinstance(call := block.value.get(name), dict)]
