"""Finds the call of a delta with slots: text belongs to the call that its labels identify, or to none.

Theory of operation. Blocks and items have labels: a call id, an item's id, an index, in this order. The first label
that any call has decides, and the others distinguish several calls that have it; labels of different calls contradict
each other. A delta with labels that no call has can only be meant for the one call that is open.

Text that fits several calls, or none while no call or several are open, has no *owner*. Then it is unknown which call
lacks it. Therefore it is noted as evidence against each call that is open and each call without text; and it
goes to an *orphan*, a call without a name that ends as a dropped call, so that users see the text. An announcement can
turn an orphan into a call only by its id, never by its place. At the end of the choice some of it may prove to be the
text of calls that came whole, and a done event under labels that no call has may prove to be that of the call that
lacks one (see `accounts`).

An announcement with a name begins a new call, unless its id is known under the same name. If that call is open, the
start was simply sent twice. If it has ended, the new call is its *duplicate*: no event reports it until it ends, and
none at all if it has the same text (see `duplicates`).

After text was lost, nothing is bound because it is the only candidate. Some dialects distinguish calls themselves and
number them as they like: such a number is always right (`Call.block` is false then).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall import deltas
from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.machine import claims
from wholecall.machine.sameness import Said

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

_MOST_CANDIDATES = 16  # calls that are examined for one piece of text


def owner(choice: Choice, delta: deltas.Slot | deltas.CallWhole) -> Call:
    """Return the call that a text belongs to: an orphan if it has no owner."""
    found = _labelled(choice, delta.id, delta.alias, delta.index)
    if not found and delta.index not in choice.slots.orphans:
        found = _by_order(choice, delta)
    if len(found) > 1:
        found = [call for call in found if _may_go_on(call, delta.text)]
    return _one_of(found) or _orphan(choice, delta)


def finished_by(choice: Choice, delta: deltas.CallWhole) -> Call | None:
    """Return the call that a finished item is about; None if it is a new call, or may be about several."""
    only = _one_of(choice.slots.at.get(delta.index, []))
    if (
        only is not None
        and only.opened
        and _agree(only.name, delta.name)
        and _is_only_one(choice, only, delta)
    ):
        return only  # nearly always
    named = _same_name(_labelled(choice, delta.id, delta.alias, None), delta)
    here = _same_name(claims.at_slot(choice, delta.index), delta)
    found = [call for call in named if call in here] or named
    found = found or [call for call in here if call.opened or not call.block]
    if len(found) != 1:
        found = [call for call in found if call.opened] or _open_namesakes(choice, delta)
    if not found:
        return _orphan_restated(choice, delta)
    only = _one_of(found)
    if only is None:
        note_missing(choice)  # it is treated as a new call, but is one of these
    elif (only.lost_text and _contradicts(only, delta)) or _is_another(choice, only, delta):
        return None
    return only


def refused_by(choice: Choice, delta: deltas.CallRefused) -> Call | None:
    """Return the call that the wire refuses, None if nothing came of it before."""
    return _one_of(_labelled(choice, None, delta.alias, delta.index))


def ended_by(choice: Choice, delta: deltas.CallClosed) -> Call | None:
    """Return the call that the wire ends; None if that is not an open call, or may be several."""
    if delta.alias in choice.labels.by_id or delta.index in choice.slots.at:
        call = named_by(choice, delta)
        if call is not None and _is_next(choice, call, delta.index):
            call.note("lost_text", detail="it ended under the index of text that has no start")
        return call
    sole = _sole(choice, delta.index)
    if sole is None and delta.index is not None:
        note_missing(choice)  # labels are wrong
    return sole


def named_by(choice: Choice, delta: deltas.CallClosed) -> Call | None:
    """Return the one call that has the labels of an end, None if none has them, or several."""
    return _one_of(_labelled(choice, None, delta.alias, delta.index))


def announced(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call | None:
    """Return the call that is announced or labelled, None if it is a new call."""
    if delta.name is None or not delta.begins:
        call = _labelled_call(choice, delta)
        return None if call is not None and _is_of_another(call, delta) else call
    for call in reversed(_with_id(choice, delta)):
        if call.name in (None, delta.name) and (call.orphan or _goes_on(choice, call, delta)):
            return call
    return _repeated_at(choice, delta)


def is_new(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> bool:
    """Return whether a named start has no label that any call ever had, so that it can only begin another call."""
    if not delta.begins or delta.name is None or delta.index in choice.slots.at or choice.slots.unrepeated:
        return False
    by_id = choice.labels.by_id
    return delta.id not in by_id and delta.alias not in by_id


def is_under_another_name(call: Call, delta: deltas.CallSeen | deltas.CallWhole) -> bool:
    """Return whether the id was that of two calls, in a dialect in which it is the slot: there names come whole."""
    return type(delta.index) is str and not _agree(call.name, delta.name)


def _is_of_another(call: Call, delta: deltas.CallSeen | deltas.CallWhole) -> bool:
    """Return whether an announcement is that of another call than the ended one of its id: where names come whole.

    {"functionCalls":[{"id":"fn-1","name":"open_gate","args":{"lock":4}},{"id":"fn-1","name":"ring_bell"}]}
    """
    return call.is_over and delta.kind != "server" and not (call.block or _agree(call.name, delta.name))


def open_new(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call:
    """Open the call that begins."""
    call = claims.opened_call(choice, delta.kind, delta.id)
    claims.learn_labels(choice, call, delta)
    return call


def open_slot(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call:
    """Open a call with the delta's labels; a duplicate gets no number until it proves not to be a duplicate."""
    earlier_calls = _with_id(choice, delta) if delta.id is not None else choice.slots.at.get(delta.index, [])
    for earlier in earlier_calls if delta.begins else ():
        if _is_filled(earlier) and earlier.id == delta.id:
            choice.shut(earlier)  # all of its text is there, whether the wire ended it or not
    is_shared = any(other.name not in (None, delta.name) for other in choice.having(delta.id))
    original = _original_of(choice, delta) if delta.name else None
    if original is not None and holds_echo(choice, original):
        original.note("lost_text", detail="it holds the text of another call, and began again")
    call = claims.opened_call(choice, delta.kind, delta.id, original)
    call.own = is_shared
    for rival in _rivals(choice, delta):
        rival.refuse("ambiguous", "one id came under two names")
        call.refuse("ambiguous", "one id came under two names")
    claims.learn_labels(choice, call, delta)
    return call


def note_missing(choice: Choice, *, by_text: bool = False) -> None:
    """Note on each call that may own it that text without an owner came, or that labels are wrong.

    Text cannot belong to a call that has some, and that the wire closed before. Wrong labels concern the calls
    that such text may belong to as well: these lack something even where the text is accounted for.
    """
    left = []
    for call in choice.slots.fresh if by_text else (*choice.slots.fresh, *choice.slots.unowned):
        if call.is_over or call.rank >= deltas.HYDRATION:  # a whole text lacks nothing
            continue
        if by_text and call.closed and not call.blank:
            left.append(call)  # other evidence of wrong labels still counts against it
        elif not (call.opened or call.beside or call.blank):
            continue
        elif by_text:
            call.note("orphan_text")
            choice.slots.unowned.add(call)
        else:
            call.note("lost_text", detail="labels contradict each other while it was open")
    choice.slots.fresh[:] = left
    if not by_text:
        choice.slots.unowned.clear()


def is_all_owned(choice: Choice, whole: str) -> bool:
    """Return whether every text without an owner was restated as a call's whole text; `whole` is the current text."""
    if not choice.slots.orphans or len(choice.calls) > 2 * _MOST_CANDIDATES:
        return not choice.slots.orphans
    orphans = [Said(None, None, call.text) for call in choice.calls if call.orphan and not call.blank]
    wholes = [Said(None, None, whole)]
    wholes += (Said(None, None, call.restated) for call in choice.calls if call.restated is not None)
    return all(any(map(orphan.is_equal, wholes)) for orphan in orphans)


def holds_echo(choice: Choice, call: Call) -> bool:
    """Return whether all text of a call came under the label of another one, and repeats that one's text.

    content_block_delta  index 0  {"port":"Brest"}
    content_block_stop   index 0
    content_block_start  index 1  another call
    content_block_delta  index 0  {"port":"Brest"}   again, as all frames since: bound to the only open call
    """
    echoed = [label for label, taker in choice.slots.by_order.items() if taker is call]
    owners = (owner for label in echoed for owner in choice.slots.at.get(label, ()))
    said = Said.of(call)
    return any(said.is_equal(Said.of(owner)) for owner in owners)


# The calls that labels identify.


def _one_of(calls: list[Call]) -> Call | None:
    """Return the only call that can be meant, None if there are several, or none."""
    return calls[0] if len(calls) == 1 else None


def _by_order(choice: Choice, delta: deltas.Slot | deltas.CallWhole) -> list[Call]:
    """Return the calls that text may belong to whose labels no call has."""
    sole = _sole(choice, delta.index)
    found = _unlabelled(choice, delta) if sole is None else [sole]
    if isinstance(delta, deltas.CallWhole):
        found = [call for call in found if call.is_restated_by(delta.text)]  # otherwise see `accounts`
    only = _one_of(found)
    if only is not None:
        if delta.index is not None:
            only.flag("bound_by_order")
        if len(choice.slots.by_order) < choice.options.max_labels:
            choice.slots.by_order.update(
                (label, only) for label in (delta.index, delta.alias) if label is not None
            )
    return found


def _sole(choice: Choice, index: deltas.Index | None) -> Call | None:
    """Return the only open call, for a delta with labels that no open call has.

    An index that no call has shows that indices are wrong: then a call that was open next to others is not sure. That of
    a call that ended is not meant for one with text under its own index, as all texts of a block have the same.
    """
    sole = None if choice.lost_text else choice.slots.sole_open
    if sole is None or (sole.beside and index is not None):
        return None
    return None if index in choice.slots.at and _has_own_text(sole) else sole


def _has_own_text(call: Call) -> bool:
    """Return whether text of a call came under its own labels."""
    return bool(call.parts) and "bound_by_order" not in call.flags


def _is_next(choice: Choice, call: Call, index: deltas.Index | None) -> bool:
    """Return whether the next block ends under the index of text that was bound by order.

    A block that ends under its own index has right labels, so that text was that of a block whose start was lost.
    """
    return type(index) is int and choice.slots.by_order.get(index + 1) is call


def _unlabelled(choice: Choice, delta: deltas.Slot | deltas.CallWhole) -> list[Call]:
    """Return the calls that text without any label may belong to."""
    return _candidates(choice) if (delta.index, delta.alias, delta.id) == (None, None, None) else []


def _candidates(choice: Choice) -> list[Call]:
    """Return the open calls, if they are few; none where text was lost."""
    if choice.lost_text or choice.slots.n_open > _MOST_CANDIDATES:
        return []
    return [call for call in choice.slots.opened if call.opened]


def _may_go_on(call: Call, text: str) -> bool:
    """Return whether the text can continue the call's: only a repetition follows a whole object."""
    if call.kind == "custom" or not call.complete or call.holds_placeholder:
        return True
    return call.is_restated_by(text)


def _labelled(choice: Choice, id: str | None, alias: str | None, index: deltas.Index | None) -> list[Call]:
    """Return the calls that the labels identify, several if the labels contradict each other."""
    only = _one_of(choice.slots.at.get(index, []))
    if only is not None and only.opened and _has(only, id) and _has(only, alias):
        return [only]  # nearly always
    found: list[Call] = []
    for claimants in (
        _open_with(choice, id, index),
        _open_with(choice, alias, index),
        claims.at_slot(choice, index),
    ):
        if not found:
            found = claimants
        elif claimants:
            both = [call for call in found if call in claimants]
            if not both:
                return [*found, *claimants]
            found = both
    return found


def _is_only_one(choice: Choice, call: Call, delta: deltas.CallWhole) -> bool:
    """Return whether no other call has a label of a finished item."""
    by_id, calls = choice.labels.by_id, [call]
    return all(label is None or by_id.get(label) == calls for label in (delta.id, delta.alias))


def _has(call: Call, label: str | None) -> bool:
    return label is None or label in call.aliases


def _labelled_call(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call | None:
    """Return the call that labels without a start are about: the latest that has one of them."""
    held = choice.slots.held
    if delta.begins and delta.id is None and held is not None and held.id is None:
        return held  # the next block continues the one before: no id contradicts that
    here, named = choice.slots.at.get(delta.index, []), _with_id(choice, delta)
    if here and here[-1].block:
        claimants = named or [call for call in here if _agree(call.name, delta.name)]
    else:
        claimants = here or named
    claimants = [call for call in claimants if not call.is_over] or claimants
    return claimants[-1] if claimants else None


def _rivals(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> list[Call]:
    """Return the open calls that have the id of a new call, and its place, but another name."""
    here = (
        choice.slots.at.get(delta.index, ())
        if delta.alias is None
        else choice.labels.by_id.get(delta.alias, ())
    )
    return [
        call
        for call in _with(choice, delta.id, delta.index)
        if call.opened and call in here and not _agree(call.name, delta.name)
    ]


def _with_id(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> list[Call]:
    """Return the calls that have the id of an announcement, or else its alias."""
    return _with(choice, delta.id, delta.index) or _with(choice, delta.alias, delta.index)


def _open_with(choice: Choice, label: str | None, index: deltas.Index | None) -> list[Call]:
    """Return the calls that have an id or an alias: those that are open, else the last one."""
    claimants = _with(choice, label, index)
    return [call for call in claimants if call.opened] or claimants[-1:]


def _with(choice: Choice, label: str | None, index: deltas.Index | None) -> list[Call]:
    """Return the calls that have an id or an alias; where the dialect assigned the index, only the index counts."""
    claimants = choice.labels.by_id.get(label, []) if label is not None else []
    return [call for call in claimants if index is None or call.block or call.orphan]


def _goes_on(choice: Choice, call: Call, delta: deltas.CallSeen | deltas.CallWhole) -> bool:
    """Return whether an announcement repeats that of a call which is still open and lacks text."""
    if not call.opened or _is_filled(call) or _contradicts(call, delta):
        return False
    if delta.index is None or call.slot is None:
        return not _is_another_item(call, delta)
    return call in choice.slots.at.get(delta.index, ()) or delta.alias in call.aliases


def _is_filled(call: Call) -> bool:
    """Return whether all of a call's text is there; after an input at the start of a block, pieces may follow."""
    if call.kind == "custom" or call.holds_placeholder or call.rank == deltas.OBJECT:
        return False
    return not (call.empty or call.unfinished)


def _is_another_item(call: Call, delta: deltas.CallSeen | deltas.CallWhole) -> bool:
    """Return whether an announcement is that of another item: one id on two items is two calls."""
    alias = delta.alias
    return alias is not None and alias not in call.aliases and any(known != call.id for known in call.aliases)


def _repeated_at(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call | None:
    """Return the open call at the index that an announcement can only repeat: one of the two has no id."""
    for call in reversed(choice.slots.at.get(delta.index, [])):
        if call.opened and _agree(call.name, delta.name) and not _is_filled(call):
            return call if call.id is None or delta.id is None else None
    return None


def _original_of(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call | None:
    """Return the call that a new call seems to repeat: one of its id and name that has all of its text, or none yet.

    In a message that was restarted, it is the next call of its id and name.
    """
    for n, call in enumerate(choice.slots.unrepeated):
        if call.id == delta.id and call.name == delta.name:
            return choice.slots.unrepeated.pop(n)
    claimants = choice.having(delta.id)
    if any(call.name != delta.name or (call.opened and not call.blank) for call in claimants):
        return None  # no block is repeated before it is over
    return next(iter(claimants), None)


def _same_name(calls: list[Call], delta: deltas.CallWhole) -> list[Call]:
    return [call for call in calls if _agree(call.name, delta.name)]


def _open_namesakes(choice: Choice, delta: deltas.CallWhole) -> list[Call]:
    """Return the open calls that a finished item without known labels can be about: that with the same text, if any."""
    calls = _same_name([call for call in _candidates(choice) if call.rank < delta.rank], delta)
    whole = Said.whole(delta)
    equal = [call for call in calls if not call.blank and whole.is_equal(Said.of(call))]
    fitting = equal[:1] or [call for call in calls if call.blank or not call.complete]
    return calls if not fitting and is_placeholder(delta.text) else fitting


def _orphan_restated(choice: Choice, delta: deltas.CallWhole) -> Call | None:
    """Return the orphan in an item's place whose text the item repeats: that is where the text came from."""
    orphan = choice.slots.orphans.get(delta.index)
    return orphan if orphan is not None and orphan.is_restated_by(delta.text) else None


def _contradicts(call: Call, delta: deltas.CallSeen | deltas.CallWhole) -> bool:
    """Return whether an item has another id than the call."""
    return delta.id is not None and call.id is not None and delta.id not in call.aliases


def _is_another(choice: Choice, call: Call, delta: deltas.CallWhole) -> bool:
    """Return whether an item at a place of its own holds another value than the ended call of its id.

    output_item.done  output_index 0  call_id "call_1"  {"x":1}
    output_item.done  output_index 1  call_id "call_1"  {"x":2}
    """
    if not call.is_over or None in (call.name, delta.name) or not delta.text or is_placeholder(delta.text):
        return False
    is_elsewhere = (type(delta.index) is int and delta.index not in choice.slots.at) or (
        delta.alias is not None and delta.alias not in choice.labels.by_id
    )
    return is_elsewhere and not Said.whole(delta).is_equal(Said.of(call))


def _agree(old: str | None, new: str | None) -> bool:
    return old is None or new is None or old == new


# Opening.


def open_restated(choice: Choice, delta: deltas.CallSeen | deltas.CallWhole) -> Call:
    """Open a call that only a final message holds."""
    call = choice.open(delta.kind, id=delta.id)
    claims.learn_labels(choice, call, delta)
    return call


def _orphan(choice: Choice, delta: deltas.Slot | deltas.CallWhole) -> Call:
    """Return the orphan that collects text without an owner."""
    if choice.overflow is not None:
        return choice.overflow
    if delta.text.strip():
        note_missing(choice, by_text=True)
    is_piece = not isinstance(delta, deltas.CallWhole)
    is_named = is_piece and (delta.id is not None or delta.alias is not None)
    orphan = claims.orphan_of(choice, delta.index, delta.text, is_named=is_named)
    if delta.alias is not None and delta.alias not in choice.labels.by_id:
        choice.claim_alias(orphan, delta.alias)
    return orphan
