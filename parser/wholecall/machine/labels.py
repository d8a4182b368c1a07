"""Finds the call of a chat fragment: by its index if labels are as documented, else by a guess that is checked later.

Theory of operation. As documented, the first fragment of a call brings a new index, an id and a name, and later
fragments repeat the index. As long as a choice's labels are like this, the index alone decides (`_documented`). With
the first odd label the choice gets a `Record` that keeps all fragments, and each one is shown in the call that it most
likely belongs to (`_guessed`). That guess is for display only: which calls may be executed is decided at the end of the
turn, when the record is read in every way in which a server can have meant it (`settling`).

A label is *odd* if it has two possible meanings: no index, a name that comes again or late, an id that changes or that
several calls have, ids on some calls only, and text that could repeat the call's text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import INVALID_INDEX, Index, Labelled
from wholecall.machine.readings.partitions import final_name
from wholecall.machine.record import Record, is_labelled

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice


def bind(choice: Choice, delta: Labelled) -> Call | None:
    """Return the call that the fragment belongs to, opened if necessary; None if the fragment holds nothing.

    The call has learnt the fragment's id and index, but not its name.
    """
    slot = _slot_of(choice, delta)
    if slot is not None:
        return slot
    if choice.labels.record is None:
        if not (delta.id or delta.name or delta.text):
            _mark_bare(choice, delta)
            return None
        call = _documented(choice, delta)
        if call is not None:
            return call
        begin_record(choice)
    return _recorded(choice, delta)


def begin_record(choice: Choice) -> None:
    """Start the record of a choice whose labels are odd, with its fragments so far."""
    own = (call for call in choice.calls if call is not choice.overflow)
    calls = (call for call in own if is_labelled(call) and not call.dropped)
    choice.labels.record = Record(calls, turns=choice.labels.alternated)
    choice.labels.fast.clear()


# Slots: indices that a dialect assigned, and calls that were found by slot.


def _slot_of(choice: Choice, delta: Labelled) -> Call | None:
    """Return the call of an index that the dialect assigned, or a slotted call that has this id or index; else None."""
    index = delta.index
    call = choice.labels.by_index.get(index) if index is not None else None
    if type(index) is str:
        if not (delta.id or delta.name or delta.text):
            return call
        call = call or _begun(choice, delta)
        return _learnt(choice, call, delta)
    if call is None and delta.id in choice.labels.by_id:
        call = choice.labels.by_id[delta.id][-1]
    if call is None or is_labelled(call) or call.dropped:
        return None
    return _learnt(choice, call, delta)


def _learnt(choice: Choice, call: Call, delta: Labelled) -> Call:
    if delta.index is not None and delta.index != INVALID_INDEX:
        choice.claim_index(call, delta.index)
    if delta.id is not None:
        choice.claim_id(call, delta.id)
    return call


def _begun(choice: Choice, delta: Labelled) -> Call:
    """Open the fragment's call; after a loss only an id shows that it is the first, and that its name is whole."""
    call = choice.open(delta.kind, id=delta.id)
    if choice.lost_text and delta.id is None:
        call.note("lost_text", detail="it began without an id after text was lost")
    return call


# As documented.


def _mark_bare(choice: Choice, delta: Labelled) -> None:
    """Note on a call without text that a fragment without labels and text came."""
    call = choice.labels.by_index.get(delta.index) if delta.index is not None else None
    if call is not None and call.empty:
        call.bare = True


def bare_owner(choice: Choice, index: Index | None) -> Call | None:
    """Return the call that a fragment without an id, a name and text is about: that of its index, else the last."""
    if index is None or index == INVALID_INDEX:
        return choice.calls[-1] if choice.calls else None
    return choice.labels.by_index.get(index)


def _documented(choice: Choice, delta: Labelled) -> Call | None:
    """Return the fragment's call by its index; None if its labels are odd."""
    index, id = delta.index, delta.id
    if index is None or index == INVALID_INDEX:
        return None
    call = choice.labels.by_index.get(index)
    if call is None:
        return _opened(choice, delta)
    if call.is_over and id is not None and id == call.id and not _other_name(delta, call):
        return call  # a call is emitted only once
    if delta.name is not None or (id is not None and id != call.id):
        return None
    if id is not None and choice.lost_text:
        call.note(
            "lost_text", detail="its pieces have ids, and text was lost"
        )  # ids on all fragments show no beginning, see `_begun`
    if delta.text and not call.is_over:
        if (
            call.restated is not None
            or (delta.rank and not call.empty)
            or call.may_be_repeated_by(delta.text)
        ):
            return None
        call.labelled += len(delta.text) if id is not None else 0
        choice.labels.alternated = choice.labels.alternated or call is not choice.labels.latest
    return call


def _opened(choice: Choice, delta: Labelled) -> Call | None:
    """Open a call at a new index; None if it has no name, or no own id where the others have one."""
    latest = choice.labels.latest
    if choice.overflow is not None:
        return choice.overflow if delta.name is None else choice.open(delta.kind)
    if delta.name is None:
        return None
    if delta.id in choice.labels.by_id or (latest is not None and (latest.id is None) != (delta.id is None)):
        return None
    call = _begun(choice, delta)
    if call.refusal is not None:  # the call that represents all beyond the limit
        return call
    choice.labels.latest, call.head = call, len(delta.text)
    choice.labels.fast.clear()  # so the next fragment of an earlier call shows that they alternate
    return _learnt(choice, call, delta)


# After the first odd label.


def _recorded(choice: Choice, delta: Labelled) -> Call | None:
    """Keep the fragment, and return the call in which it is shown."""
    record = choice.labels.record
    assert record is not None
    if delta.index == INVALID_INDEX:
        choice.anomalies.add("invalid_index")
    if not (delta.id or delta.name or delta.text):
        record.mark()
        return None
    goes_on = record.goes_on(delta)
    call = record.shown[-1] if goes_on else _guessed(choice, record, delta)
    record.add(delta, call, goes_on=goes_on, spoilt=choice.replaced and "\ufffd" in delta.text)
    limit = choice.options.limits.max_total_arguments_bytes
    if limit is not None and record.size > limit:
        record.drop()
        for held in choice.calls:
            if not held.is_over and is_labelled(held):
                held.refuse("arguments_too_large", "the oddly labelled fragments of the turn exceed a limit")
    return call


def _guessed(choice: Choice, record: Record, delta: Labelled) -> Call:
    """Return the call to which a fragment most likely belongs in the end, opened if necessary."""
    index = None if delta.index == INVALID_INDEX else delta.index
    here = choice.labels.by_index.get(index) if index is not None else None
    known = choice.labels.by_id[delta.id][-1] if delta.id in choice.labels.by_id else None
    last = record.shown[-1] if record.shown else None
    fits = here is not None and (here.id is None or (known is not None and delta.id in here.aliases))
    call = (here if fits else known) or here or last
    if call is None:
        return _learnt(choice, choice.open(delta.kind, id=delta.id), delta)
    if delta.name is None and call is not choice.overflow and _is_more_of(delta, call):
        # The common case: the checks below would give the same.
        return call if call is here and delta.id is None else _learnt(choice, call, delta)
    is_new_id = delta.id is not None and call.id is not None and known is None
    again = is_new_id or (delta.name is not None and call.name is not None)
    is_new_place = index is not None and here is None
    if _other_name(delta, call):
        opens = is_new_id or is_new_place or not _may_be_named(choice, call, delta.name or "")
        record.doubtful = record.doubtful or not (is_new_id or is_new_place or call.complete)
    else:
        opens = _opens(delta, call, is_new_place=is_new_place, is_new_id=is_new_id)
        is_plain = (is_new_place and is_new_id) or (fits and delta.id is not None and bool(delta.text))
        if again and not is_plain and (call.empty or (not delta.text if opens else call.complete)):
            record.doubtful = True
    if opens:
        call = choice.open(delta.kind, tentative=record.doubtful, id=delta.id)
    return call if call is choice.overflow else _learnt(choice, call, delta)


def _opens(delta: Labelled, call: Call, *, is_new_place: bool, is_new_id: bool) -> bool:
    """Return whether a fragment without another name opens a new call, or continues this one."""
    name, text = delta.name, delta.text
    if name is not None and is_new_id and (is_new_place or call.name is None):
        return True
    if name is not None and call.name is None and is_new_place and text[:1] == "{":
        return True
    if _is_more_of(delta, call):
        return False
    is_marked = name is not None or is_new_id or (text[:1] == "{" and call.complete)
    if is_new_place and is_marked and delta.id not in call.aliases:
        return True
    if not is_new_id and (name is None or call.name is None):
        return False  # a continuation, or a late name
    if call.kind == "custom":
        return not call.empty and name is not None and is_new_id
    if not call.complete:
        return is_new_id and name is not None and not call.empty
    return not (call.is_restated_by(text) or call.grows_by(text) or (text and call.holds_placeholder))


def _is_more_of(delta: Labelled, call: Call) -> bool:
    """Return whether the call's text is open and the fragment can only continue it."""
    if call.kind == "custom" or not call.parts or call.complete:
        return False
    return not _begins_anew(delta, call)


def _begins_anew(delta: Labelled, call: Call) -> bool:
    """Return whether the fragment begins a new text and cannot continue the call's; an empty one could precede it."""
    if delta.rank or not delta.text:
        return True
    return delta.text.lstrip()[:1] == "{" and not (call.takes_value or call.may_be_repeated_by(delta.text))


def _other_name(delta: Labelled, call: Call) -> bool:
    if delta.name is None or call.name is None:
        return False
    return final_name(delta.name) != final_name(call.name)


def _may_be_named(choice: Choice, call: Call, name: str) -> bool:
    """Return whether another name may be the next piece of the call's name (quirk 16)."""
    assert call.name is not None
    if not call.empty or call.phase != "pending" or call.tentative:
        return False
    old, new, tools = call.name.strip(), name.strip(), choice.options.tools
    return tools is None or not (old in tools and new in tools and not tools.begins(old + new))
