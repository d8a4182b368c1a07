"""Rules of the labels of calls: ids, names, types and indices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from wholecall.calls.parse import json_state
from wholecall.grading.probe.reading.model import UNSET, CallSeen, Label, is_id
from wholecall.grading.probe.rules import rule
from wholecall.grading.probe.sight import Sight

_MOST_ID = 64  # characters; some providers refuse more than 40 or 64


def _calls(sight: Sight) -> list[CallSeen]:
    return sight.answer.calls if sight.answer else []


def _streamed(sight: Sight) -> list[CallSeen]:
    return [] if sight.answer is None or sight.answer.is_whole else sight.answer.calls


def _there(labels: list[Label]) -> list[Label]:
    return [label for label in labels if label.value is not UNSET]


def _texts(labels: list[Label]) -> list[Label]:
    return [label for label in labels if isinstance(label.value, str) and label.value.strip()]


def _id_missing(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    return [rule.Hit(call.first) for call in calls if not _there(call.ids)] if calls else None


def _id_null(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    if not calls:
        return None
    firsts = [_there(call.ids)[:1] for call in calls]
    return [rule.Hit(found[0].frame) for found in firsts if found and _is_nothing(found[0].value)]


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not is_id(value))


def _id_type(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    if not calls:
        return None
    labels = (label for call in calls for label in _there(call.ids))
    return [rule.Hit(label.frame) for label in labels if not isinstance(label.value, (str, type(None)))][:1]


def _id_twice(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.id]
    if len(calls) < 2:
        return None
    ids = [call.id for call in calls]
    return [rule.Hit(call.first) for at, call in enumerate(calls) if call.id in ids[:at]]


def _id_churn(sight: Sight) -> rule.Hits:
    calls = [call for call in _streamed(sight) if call.id]
    if not calls:
        return None
    return [rule.Hit(label.frame) for call in calls for label in _changed(call.ids, call.id)[:1]]


def _changed(labels: list[Label], first: str) -> list[Label]:
    return [label for label in labels if is_id(label.value) and label.value != first]


def _id_late(sight: Sight) -> rule.Hits:
    calls = [call for call in _streamed(sight) if call.id]
    return [rule.Hit(call.first) for call in calls if not is_id(call.ids[0].value)] if calls else None


def _id_long(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.id]
    if not calls:
        return None
    return [rule.Hit(call.first) for call in calls if len(call.id) > _MOST_ID or not call.id.isprintable()]


def _item_churn(sight: Sight) -> rule.Hits:
    calls = [call for call in _streamed(sight) if _texts(call.item_ids)]
    if not calls:
        return None
    firsts = ((call, _texts(call.item_ids)[0].value) for call in calls)
    return [rule.Hit(label.frame) for call, first in firsts for label in _changed(call.item_ids, first)[:1]]


def _type_missing(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    return [rule.Hit(call.first) for call in calls if not _texts(call.types)] if calls else None


def _type_word(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if _texts(call.types)]
    if not calls:
        return None
    return [
        rule.Hit(label.frame)
        for call in calls
        for label in _texts(call.types)
        if label.value not in {"function", "custom"}
    ]


def _index_missing(sight: Sight) -> rule.Hits:
    calls = _streamed(sight)
    return [rule.Hit(call.first) for call in calls if not isinstance(call.position, int)] if calls else None


def _positions(sight: Sight) -> list[int] | None:
    """Return the indices of a stream's calls, or of Anthropic's and Responses' blocks, in order of appearance."""
    if sight.answer is None or sight.answer.is_whole or not sight.answer.calls:
        return None
    holders = sight.answer.calls if sight.wire == "chat-completions" else sight.answer.blocks
    return [holder.position for holder in holders if isinstance(holder.position, int)]


def _index_from_zero(sight: Sight) -> rule.Hits:
    found = _positions(sight)
    if not found:
        return None
    return [] if set(found) == set(range(len(set(found)))) else [rule.Hit(_calls(sight)[0].first)]


def _index_order(sight: Sight) -> rule.Hits:
    found = _positions(sight)
    if found is None or len(found) < 2:
        return None
    return [] if found == sorted(found) else [rule.Hit(_calls(sight)[0].first)]


def _index_reused(sight: Sight) -> rule.Hits:
    if sight.answer is None or sight.answer.is_whole or not sight.answer.calls:
        return None
    if sight.wire != "chat-completions":
        return [rule.Hit(block.again) for block in sight.answer.blocks if block.again is not None]
    calls = [call for call in sight.answer.calls if call.position is not UNSET]
    used = [call.position for call in calls]
    return [rule.Hit(call.first) for at, call in enumerate(calls) if call.position in used[:at]]


def _index_churn(sight: Sight) -> rule.Hits:
    calls = _streamed(sight)
    return [rule.Hit(call.churned) for call in calls if call.churned is not None] if calls else None


def _name_missing(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    return [rule.Hit(call.first) for call in calls if not call.name] if calls else None


def _name_repeated(sight: Sight) -> rule.Hits:
    calls = [call for call in _streamed(sight) if call.name]
    if not calls or sight.wire != "chat-completions":
        return None
    return [rule.Hit(found[1].frame) for call in calls if _is_repeat(found := _texts(call.names))]


def _is_repeat(names: list[Label]) -> bool:
    return len(names) > 1 and all(label.value == names[0].value for label in names)


def _name_pieces(sight: Sight) -> rule.Hits:
    calls = [call for call in _streamed(sight) if call.name]
    if not calls:
        return None
    named = ((call, _texts(call.names)) for call in calls)
    return [rule.Hit(found[1].frame) for _, found in named if len(found) > 1 and not _is_repeat(found)]


def _name_late(sight: Sight) -> rule.Hits:
    calls = [call for call in _streamed(sight) if call.name]
    if not calls:
        return None
    return [rule.Hit(call.first) for call in calls if not _texts(call.names[:1])]


def _name_markers(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.name]
    if not calls or not sight.tools:
        return None
    return [
        rule.Hit(call.first)
        for call in calls
        if call.name not in sight.tools and _bare(call.name) in sight.tools
    ]


def _bare(name: str) -> str:
    bare = name.strip().partition("<")[0].strip()
    return bare.removeprefix("functions.")


def _interleaved(sight: Sight) -> rule.Hits:
    calls = _streamed(sight)
    return list(_overlaps(calls)) if len(calls) > 1 else None


def _overlaps(calls: list[CallSeen]) -> Iterator[rule.Hit]:
    for before, after in pairwise(calls):
        if after.first < before.last and json_state(before.text) == "complete":
            yield rule.Hit(after.first)


RULES = (
    rule.Rule(
        id="labels.id-missing",
        severity="major",
        source=rule.CHAT,
        check=_id_missing,
        quirks=(8, 75),
        wires=rule.PIECES,
        says="A call has no id: its result cannot be sent back.",
    ),
    rule.Rule(
        id="labels.id-null",
        severity="major",
        source=rule.CHAT,
        check=_id_null,
        quirks=(7, 9),
        says="The id of a call is null, blank, or the word for nothing.",
    ),
    rule.Rule(
        id="labels.id-type",
        severity="major",
        source=rule.CHAT,
        check=_id_type,
        quirks=(12,),
        says="The id of a call is no text.",
    ),
    rule.Rule(
        id="labels.id-twice",
        severity="critical",
        source=rule.CHAT,
        check=_id_twice,
        quirks=(64,),
        says="Two calls of one turn have the same id: results reach the wrong call, or one call is lost.",
    ),
    rule.Rule(
        id="labels.id-churn",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_id_churn,
        quirks=(10, 69),
        wires=rule.PIECES,
        says="The id of a call changes while it streams.",
    ),
    rule.Rule(
        id="labels.id-late",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_id_late,
        quirks=(11,),
        wires=rule.PIECES,
        says="The id is not in the first fragment of its call.",
    ),
    rule.Rule(
        id="labels.id-long",
        severity="note",
        source=rule.CHAT,
        check=_id_long,
        quirks=(65,),
        says="The id is one that other providers refuse: too long, or with control characters.",
    ),
    rule.Rule(
        id="labels.item-churn",
        severity="minor",
        source=rule.RESPONSES,
        check=_item_churn,
        quirks=(69,),
        wires=rule.RESPONSES_ONLY,
        says="The id of an item changes between its events.",
    ),
    rule.Rule(
        id="labels.type-missing",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_type_missing,
        quirks=(92,),
        wires=rule.CHAT_ONLY,
        says="A call has no type: strict clients refuse it.",
    ),
    rule.Rule(
        id="labels.type-word",
        severity="major",
        source=rule.CHAT,
        check=_type_word,
        quirks=(92,),
        wires=rule.CHAT_ONLY,
        says="The type of a call is no word of the wire.",
    ),
    rule.Rule(
        id="labels.index-missing",
        severity="critical",
        source=rule.CHAT_STREAM,
        check=_index_missing,
        quirks=(1, 2),
        wires=rule.PIECES,
        says="A fragment has no index: clients cannot say which call it belongs to.",
    ),
    rule.Rule(
        id="labels.index-from-zero",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_index_from_zero,
        quirks=(4,),
        wires=rule.PIECES,
        says="Indices do not count from 0 without gaps: arrays of clients get holes.",
    ),
    rule.Rule(
        id="labels.index-order",
        severity="minor",
        source=rule.CHAT_STREAM,
        check=_index_order,
        quirks=(4,),
        wires=rule.PIECES,
        says="Calls or blocks do not begin in the order of their indices.",
    ),
    rule.Rule(
        id="labels.index-reused",
        severity="critical",
        source=rule.CHAT_STREAM,
        check=_index_reused,
        quirks=(3, 6, 77),
        wires=rule.PIECES,
        says="A second call or block uses the index of another one: clients merge them.",
    ),
    rule.Rule(
        id="labels.index-churn",
        severity="critical",
        source=rule.CHAT_STREAM,
        check=_index_churn,
        quirks=(5,),
        wires=rule.CHAT_ONLY,
        says="A call goes on under another index: clients split it.",
    ),
    rule.Rule(
        id="labels.name-missing",
        severity="critical",
        source=rule.CHAT,
        check=_name_missing,
        quirks=(18, 20),
        says="A call has no name.",
    ),
    rule.Rule(
        id="labels.name-repeated",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_name_repeated,
        quirks=(13, 15),
        wires=rule.CHAT_ONLY,
        says="The name comes again in later fragments: clients that append get it doubled.",
    ),
    rule.Rule(
        id="labels.name-pieces",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_name_pieces,
        quirks=(16,),
        wires=rule.PIECES,
        says="The name comes in pieces, or changes: clients that take the first one have a wrong name.",
    ),
    rule.Rule(
        id="labels.name-late",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_name_late,
        quirks=(17, 18),
        wires=rule.PIECES,
        says="The name is not in the first fragment of its call.",
    ),
    rule.Rule(
        id="labels.name-markers",
        severity="major",
        source=rule.CHAT,
        check=_name_markers,
        quirks=(58, 59, 60),
        says="A name has white space, markup or a prefix of the server's around it.",
    ),
    rule.Rule(
        id="labels.interleaved",
        severity="note",
        source=rule.ANTHROPIC,
        check=_interleaved,
        quirks=(56,),
        wires=rule.PIECES,
        says="Fragments of several calls take turns: allowed, and some clients mix them up.",
    ),
)
