"""The calls of a transcript as stored: the called tool, the argument text, and whether a result follows.

Theory of operation. Nothing is repaired or judged anew here: the repair of transcripts decides which messages are one
answer, which result answers which call, and whether a call of a cut or aborted turn may be incomplete. An objection to
a call before its text is read is recorded as a reason; the caller judges the text.

If a transcript carries arguments as text, this is taken as the model's text. If it carries an object, the model's text
is lost: the object is serialised again. An object whose only member is the wrapper of malformed text is read as that
text, which was kept when the call was dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from wholecall.calls.parse import parse_arguments
from wholecall.dialects.reasons import turn_reason
from wholecall.history import pairing, values
from wholecall.history.formats import HistoryFormat
from wholecall.history.indexed import IndexedTranscript
from wholecall.history.judging import Answer, Stop, answers_of, endings, is_incomplete
from wholecall.history.parts import ABSENT, Part, at
from wholecall.types import DropReason, Kind, TurnReason

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("object", "string", "kept"), "function"),
    "free": "custom",
    "own": "builtin",
}
_CALLS = frozenset({"call", "server_call"})
# The members that contain an item's request, if that is not one text.
_ASKED = ("action", "queries", "code", "arguments", "operation", "input", "actions")
_NAMESPACES = ("namespace", "toolset_name")
_WRAPPER = HistoryFormat("object", "object").wrapper


class Stored(msgspec.Struct, frozen=True):
    """A stored call of a transcript.

    Attributes:
        index: its number among the calls of its answer.
        kind: its executor, and the form of its arguments.
        id, name, namespace: None if there is none. A builtin's name is its kind.
        text: of the arguments.
        is_own: whether that is the text in the transcript, not a serialised object.
        ended: how the turn ended, in the terms of `parse_arguments`.
        reason: the objection to the call, independent of its text.
        answered: whether a result follows that was not made to fill a gap; None if made results cannot be
            distinguished.
    """

    index: int
    kind: Kind
    id: str | None
    name: str | None
    namespace: str | None
    text: str
    is_own: bool
    ended: Literal["clean", "length"]
    reason: DropReason | None
    answered: bool | None

    def __repr__(self) -> str:
        return f"Stored(index={self.index}, kind={self.kind!r}, name={self.name!r})"


class StoredAnswer(msgspec.Struct, frozen=True):
    """One answer of the model.

    Attributes:
        first: the index of its first message.
        last: the index of its last message.
        calls: in order.
        reason: why it ended, None if that is not stated.
        provider_reason: the transcript's word for that reason.
    """

    first: int
    last: int
    calls: tuple[Stored, ...]
    reason: TurnReason | None
    provider_reason: str | None


def stored_answers(indexed: IndexedTranscript) -> Iterator[StoredAnswer]:
    """Yield the answers of the model, in the order in which they began.

    Args:
        indexed: the messages, not yet repaired.

    Raises:
        BadRecording: a message cannot be read again.
    """
    pairing.pair(indexed.lines)
    served = {part.id for line in indexed.lines for part in line.parts if part.kind == "server_result"}
    for answer in answers_of(indexed.lines, indexed.view):
        ends: dict[tuple[int, int], tuple[Stop, bool]] = {
            (call.row, call.number): (stop, last) for call, stop, last in endings(answer, indexed.view)
        }
        calls = [
            _stored(index, part, *ends.get((part.row, part.number), ("", False)), served, indexed)
            for index, part in enumerate(filter(_is_call, answer.parts()))
        ]
        reason, said = _reason(answer)
        yield StoredAnswer(answer.lines[0].index, answer.lines[-1].index, tuple(calls), reason, said)


def _is_call(part: Part) -> bool:
    """Return whether a part is a call of client or server; items that the server executes have a name."""
    return part.kind in _CALLS or (part.kind == "other" and part.name != "")


def _reason(answer: Answer) -> tuple[TurnReason | None, str | None]:
    said = next((line.stop for line in reversed(answer.lines) if isinstance(line.stop, str)), None)
    if answer.stop == "aborted":
        return "aborted", said
    known = turn_reason(said)
    return (None, None) if known is None else known


def _stored(
    index: int, part: Part, stop: Stop, last: bool, served: set[str], indexed: IndexedTranscript
) -> Stored:
    kind = _KINDS[part.form] if part.kind == "call" else "server"
    block = indexed.value(part)
    text, is_own = _text(part, kind, block)
    return Stored(
        index,
        kind,
        part.id or None,
        _name(part, kind),
        next((block[name] for name in _NAMESPACES if isinstance(block.get(name), str)), None),
        text,
        is_own,
        "length" if stop == "cut" else "clean",
        _against(part, stop, last, indexed) if part.kind == "call" else None,
        _answered(part, served),
    )


def _name(part: Part, kind: Kind) -> str | None:
    name = part.name.removesuffix("_call") if kind == "builtin" else part.name
    return name or None


def _answered(part: Part, served: set[str]) -> bool | None:
    if part.kind == "call":
        return part.result is not None and part.result.real
    return part.id in served if part.kind == "server_call" else None


def _against(call: Part, stop: Stop, last: bool, indexed: IndexedTranscript) -> DropReason | None:
    """Return the objection to a call before its text is read; a repair removes such calls, or names them."""
    if stop == "aborted":
        return "aborted"
    if not call.name:
        return "nameless"
    if call.result is not None and call.result.real:
        return None
    if call.scratch:
        return "unterminated"
    if call.carried == "absent":
        return "incomplete_input"
    is_judged_by_text = call.carried in ("text", "blank") and call.form != "free"
    return (
        "truncated"
        if stop == "cut" and not is_judged_by_text and is_incomplete(call, last, indexed)
        else None
    )


# --- the text of arguments -------------------------------------------------------------------------------


def _text(part: Part, kind: Kind, block: dict[str, Any]) -> tuple[str, bool]:
    """Return the text of a call's arguments, and whether the transcript carries it as text."""
    arguments = at(block, part.places.arguments)
    if kind == "builtin" or part.kind == "other":
        text = block.get("arguments")
        if part.kind == "other" and isinstance(text, str):
            return text, True
        return _written({name: block[name] for name in _ASKED if block.get(name) is not None}), False
    if isinstance(arguments, str):
        return arguments, True
    if arguments is ABSENT or arguments is None:
        return "", True
    wrapped = arguments.get(_WRAPPER) if isinstance(arguments, dict) and len(arguments) == 1 else None
    if isinstance(wrapped, str) and parse_arguments(wrapped).status == "dropped":
        return wrapped, True
    return _written(arguments), False


def _written(value: Any) -> str:
    """Return a value as JSON; values that JSON lacks (NaN) become text that no parser accepts."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        text = values.dumped(value)
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair as its escape
