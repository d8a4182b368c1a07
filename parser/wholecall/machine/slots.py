"""Finds the call of a delta with slots: text belongs to the call that its labels identify, or to none.

Theory of operation. Blocks and items have labels: a call id, an item's id, an index, in this order. The first
label that any call has decides, and the others distinguish several calls that have it; labels of different calls
contradict each other. A delta with labels that no call has can only be meant for the one call that is open.

Text that fits several calls, or none while no call or several are open, has no *owner*. Then nobody knows what is
missing where. So it taints every call that is open and every call without text, that is, these have a hole; and it
goes to a *stray*, a call without a name that ends as a dropped call, so that users see the text. An announcement can
turn a stray into a call only by its id, never by its place. At the end of the choice some of it may prove to be what
calls were told whole, and a done event under labels that no call has to be that of the call that lacks one (see
`accounts`).

An announcement with a name begins a new call, unless its id is known under the same name. If that call is open, the
start was simply sent twice. If it has ended, the new call is its *echo*: no event reports it until it ends, and none
at all if it has the same text (see `echoes`).

After text was lost, nothing is bound because it is the only candidate. Some dialects distinguish calls themselves and
number them as they like: such a number is always right (`Call.block` is false then).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.arguments.placeholders import is_placeholder
from wholecall.deltas import DONE, OBJECT, CallWhole
from wholecall.machine.claims import at_slot, learn_labels, opened_call, stray_of
from wholecall.machine.sameness import same_text

if TYPE_CHECKING:
    from wholecall.deltas import CallClosed, CallRefused, CallSeen, Index, Slot
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

__all__ = [
    "announced",
    "ended_by",
    "finished_by",
    "is_all_owned",
    "is_new",
    "open_new",
    "open_restated",
    "open_slot",
    "owner",
    "refused_by",
]

_MOST_CANDIDATES = 16  # calls that are looked at for one piece of text


def owner(choice: Choice, delta: Slot | CallWhole) -> Call:
    """Return the call that a text belongs to: a stray if it has no owner."""
    if (only := _only(choice, delta.id, delta.alias, delta.index)) is not None:
        return only
    found = _labelled(choice, delta.id, delta.alias, delta.index)
    if not found and delta.index not in choice.strays:
        found = _sole(choice, delta.index) or _unlabelled(choice, delta)
        if isinstance(delta, CallWhole):
            found = [call for call in found if call.is_restated_by(delta.text)]  # else see `accounts`
        if len(found) == 1 and delta.index is not None:
            found[0].flags.add("bound_by_order")
            found[0].elsewhere = delta.index
    if len(found) > 1:
        found = [call for call in found if _may_go_on(call, delta.text)]
    return found[0] if len(found) == 1 else _stray(choice, delta)


def finished_by(choice: Choice, delta: CallWhole) -> Call | None:
    """Return the call that a finished item is about; None if it is a new one, or may be about several."""
    only = _only(choice, delta.id, delta.alias, delta.index)
    if only is not None and only.name == delta.name:
        return only
    found = _same_name(_labelled(choice, delta.id, delta.alias, None), delta)
    here = _same_name(at_slot(choice, delta.index), delta)
    if len(found) > 1:
        found = [call for call in found if call in here] or found
    found = found or [call for call in here if call.opened or not call.block]
    if len(found) != 1:
        found = [call for call in found if call.opened] or _open_namesakes(choice, delta)
    if not found:
        return _stray_restated(choice, delta)
    if found[0].torn and _contradicts(found[0], delta):
        return None
    if len(found) == 1:
        return found[0]
    taint(choice)  # it is treated as a new call, but is one of these
    return None


def refused_by(choice: Choice, delta: CallRefused) -> Call | None:
    """Return the call that the wire refuses, None if nothing came of it before."""
    found = _labelled(choice, None, delta.alias, delta.index)
    return found[0] if len(found) == 1 else None


def ended_by(choice: Choice, delta: CallClosed) -> Call | None:
    """Return the call that the wire ends; None if that is not an open one, or may be several."""
    only = _only(choice, None, delta.alias, delta.index)
    if only is not None and only.elsewhere is None:
        return only
    if delta.alias in choice.by_id or delta.index in choice.slots:
        found = _labelled(choice, None, delta.alias, delta.index)
        if len(found) != 1:
            return None
        if _is_next(found[0].elsewhere, delta.index):
            found[0].hole = True
        return found[0]
    sole = _sole(choice, delta.index)
    if not sole and delta.index is not None:
        taint(choice)  # labels are wrong
    return sole[0] if sole else None


def named_by(choice: Choice, delta: CallClosed) -> Call | None:
    """Return the one call that has the labels of an end, None if none has them, or several."""
    found = _labelled(choice, None, delta.alias, delta.index)
    return found[0] if len(found) == 1 else None


def announced(choice: Choice, delta: CallSeen | CallWhole) -> Call | None:
    """Return the call that is announced or labelled, None if it is a new one."""
    if delta.name is None or not delta.begins:
        return _labelled_call(choice, delta)
    for call in reversed(_with_id(choice, delta)):
        if call.name in (None, delta.name) and (call.stray or _goes_on(choice, call, delta)):
            return call
    return _repeated_at(choice, delta)


def is_new(choice: Choice, delta: CallSeen | CallWhole) -> bool:
    """Return whether a named start has no label that any call ever had, so that it can only begin another call."""
    if not delta.begins or delta.name is None or delta.index in choice.slots or choice.unrepeated:
        return False
    by_id = choice.by_id
    return delta.id not in by_id and delta.alias not in by_id


def open_new(choice: Choice, delta: CallSeen | CallWhole) -> Call:
    """Open the call that begins."""
    call = opened_call(choice, delta.kind, delta.id)
    call.block = True
    learn_labels(choice, call, delta)
    return call


def open_slot(choice: Choice, delta: CallSeen | CallWhole) -> Call:
    """Open a call with the delta's labels; an echo gets no number until it proves not to be one."""
    begins = delta.begins and delta.name is not None
    earlier_calls = _with_id(choice, delta) if delta.id is not None else choice.slots.get(delta.index, [])
    for earlier in earlier_calls if begins else ():
        if _is_filled(earlier) and earlier.id == delta.id:
            choice.shut(earlier)  # all of its text is there, whether the wire ended it or not
    is_shared = any(other.name not in (None, delta.name) for other in choice.having(delta.id))
    call = opened_call(choice, delta.kind, delta.id, _echoed(choice, delta) if delta.name else None)
    call.own = is_shared
    call.block = delta.begins or delta.alias is not None
    for rival in _rivals(choice, delta) if call.block else ():
        rival.refuse("ambiguous", "one id came under two names")
        call.refuse("ambiguous", "one id came under two names")
    learn_labels(choice, call, delta)
    return call


def taint(choice: Choice, *, by_text: bool = False) -> None:
    """Note on each call that may own it that text without an owner came, or that labels are wrong.

    Text is none of a call that has some, and that the wire closed before. Wrong labels concern calls that such text could
    be of once more: these lack something even where the text is accounted for.
    """
    left = []
    for call in choice.fresh if by_text else (*choice.fresh, *choice.unowned):
        if by_text and call.closed and not (call.blank or call.is_over):
            left.append(call)  # what else shows that labels are wrong still speaks against it
            continue
        is_open = not call.is_over and call.rank < DONE  # a whole text lacks nothing
        if not (is_open and (call.opened or call.beside or call.blank)):
            continue
        if by_text:
            call.unowned = True
            choice.unowned.add(call)
        else:
            call.hole = True
    choice.fresh[:] = left
    if not by_text:
        choice.unowned.clear()


def is_all_owned(choice: Choice, whole: str) -> bool:
    """Return whether every text without an owner was restated as some call's whole text; `whole` is the one at hand."""
    if not choice.strays or len(choice.calls) > 2 * _MOST_CANDIDATES:
        return not choice.strays
    strays = [call.text for call in choice.calls if call.stray and not call.blank]
    wholes = [whole, *(call.restated for call in choice.calls if call.restated is not None)]
    return all(any(same_text(text, other) for other in wholes) for text in strays)


# What labels identify.


def _only(choice: Choice, id: str | None, alias: str | None, index: Index | None) -> Call | None:
    """Return the only call at an index if it is open and has the other labels: no other can be meant."""
    here = choice.slots.get(index)
    if here is None or len(here) != 1 or not (call := here[0]).opened:
        return None
    known = call.aliases
    return call if (alias is None or alias in known) and (id is None or id in known) else None


def _sole(choice: Choice, index: Index | None) -> list[Call]:
    """Return the only open call, for a delta with labels that no call has.

    An index that no call has shows that indices are wrong: then a call that was open beside others is not sure.
    """
    sole = None if choice.lost else choice.sole_open
    return [] if sole is None or (sole.beside and index is not None) else [sole]


def _is_next(elsewhere: Index | None, index: Index | None) -> bool:
    """Return whether the next block ends under the index of text that was bound by order.

    A block that ends under its own index has right labels, so that text was that of a block whose start was lost.
    """
    return type(elsewhere) is int and type(index) is int and elsewhere == index + 1


def _unlabelled(choice: Choice, delta: Slot | CallWhole) -> list[Call]:
    """Return the calls that text without any label may belong to, if they are few."""
    if (
        choice.lost
        or choice.n_open > _MOST_CANDIDATES
        or (delta.index, delta.alias, delta.id) != (None, None, None)
    ):
        return []
    return [call for call in choice.opened if call.opened]


def _may_go_on(call: Call, text: str) -> bool:
    """Return whether the text can continue the call's: only a repetition follows a whole object."""
    if call.kind == "custom" or not call.complete or call.holds_placeholder:
        return True
    return call.is_restated_by(text)


def _labelled(choice: Choice, id: str | None, alias: str | None, index: Index | None) -> list[Call]:
    """Return the calls that the labels identify, several if the labels contradict each other."""
    found: list[Call] = []
    for claimants in (
        _open_with(choice, id, index),
        _open_with(choice, alias, index),
        at_slot(choice, index),
    ):
        if not found:
            found = claimants
        elif claimants:
            both = [call for call in found if call in claimants]
            if not both:
                return [*found, *claimants]
            found = both
    return found


def _labelled_call(choice: Choice, delta: CallSeen | CallWhole) -> Call | None:
    """Return the call that labels without a start are about: the latest that has one of them."""
    held = choice.held
    if delta.begins and delta.id is None and held is not None and held.id is None:
        return held  # the next block continues the one before: no id contradicts that
    here, named = choice.slots.get(delta.index, []), _with_id(choice, delta)
    if here and here[-1].block:
        claimants = named or [call for call in here if _agree(call.name, delta.name)]
    else:
        claimants = here or named
    claimants = [call for call in claimants if not call.is_over] or claimants
    return claimants[-1] if claimants else None


def _rivals(choice: Choice, delta: CallSeen | CallWhole) -> list[Call]:
    """Return the open calls that have the id of a new one, and its place, but another name."""
    here = choice.slots.get(delta.index, ()) if delta.alias is None else choice.by_id.get(delta.alias, ())
    return [
        call
        for call in _with(choice, delta.id, delta.index)
        if call.opened and call in here and not _agree(call.name, delta.name)
    ]


def _with_id(choice: Choice, delta: CallSeen | CallWhole) -> list[Call]:
    """Return the calls that have the id of an announcement, or else its alias."""
    return _with(choice, delta.id, delta.index) or _with(choice, delta.alias, delta.index)


def _open_with(choice: Choice, label: str | None, index: Index | None) -> list[Call]:
    """Return the calls that have an id or an alias: those that are open, else the last one."""
    claimants = _with(choice, label, index)
    return [call for call in claimants if call.opened] or claimants[-1:]


def _with(choice: Choice, label: str | None, index: Index | None) -> list[Call]:
    """Return the calls that have an id or an alias; where the dialect assigned the index, only the index counts."""
    claimants = choice.by_id.get(label, []) if label is not None else []
    return (
        [call for call in claimants if index is None or call.block or call.stray] if claimants else claimants
    )


def _goes_on(choice: Choice, call: Call, delta: CallSeen | CallWhole) -> bool:
    """Return whether an announcement repeats that of a call which is still open and lacks text."""
    if not call.opened or call.round != choice.round or _is_filled(call):
        return False
    if _contradicts(call, delta):
        return False
    if _is_here(choice, call, delta):
        return (call.slot is not None and delta.index is not None) or not _is_another_item(call, delta)
    return delta.alias is not None and delta.alias in call.aliases


def _is_filled(call: Call) -> bool:
    """Return whether all of a call's text is there; after an input at the start of a block, pieces may follow."""
    if call.kind == "custom" or call.holds_placeholder or (call.restated is not None and call.rank == OBJECT):
        return False
    return call.complete and not call.unfinished


def _is_another_item(call: Call, delta: CallSeen | CallWhole) -> bool:
    """Return whether an announcement is that of another item: one id on two items is two calls."""
    alias = delta.alias
    return alias is not None and alias not in call.aliases and any(known != call.id for known in call.aliases)


def _is_here(choice: Choice, call: Call, delta: CallSeen | CallWhole) -> bool:
    return delta.index is None or call.slot is None or call in choice.slots.get(delta.index, ())


def _repeated_at(choice: Choice, delta: CallSeen | CallWhole) -> Call | None:
    """Return the open call at the index that an announcement can only repeat: one of the two has no id."""
    for call in reversed(choice.slots.get(delta.index, [])):
        if (
            call.opened
            and call.round == choice.round
            and _agree(call.name, delta.name)
            and not _is_filled(call)
        ):
            return call if call.id is None or delta.id is None else None
    return None


def _echoed(choice: Choice, delta: CallSeen | CallWhole) -> Call | None:
    """Return the call that a new one seems to repeat: one of its id and name that has all of its text, or none yet.

    In a message that was restarted, it is the next one of its id and name.
    """
    for n, call in enumerate(choice.unrepeated):
        if call.id == delta.id and call.name == delta.name:
            return choice.unrepeated.pop(n)
    claimants = choice.having(delta.id)
    if any(call.name != delta.name or (call.opened and not call.blank) for call in claimants):
        return None  # no block is repeated before it is over
    return next(iter(claimants), None)


def _same_name(calls: list[Call], delta: CallWhole) -> list[Call]:
    return [call for call in calls if _agree(call.name, delta.name)]


def _open_namesakes(choice: Choice, delta: CallWhole) -> list[Call]:
    """Return the open calls that a finished item without known labels can be about: one with the same text, if any."""
    if choice.lost or choice.n_open > _MOST_CANDIDATES:
        return []
    calls = _same_name([call for call in choice.opened if call.opened and call.rank < delta.rank], delta)
    equal = [call for call in calls if not call.blank and same_text(call.text, delta.text)]
    fitting = equal[:1] or [call for call in calls if call.blank or not call.complete]
    return calls if not fitting and is_placeholder(delta.text) else fitting


def _stray_restated(choice: Choice, delta: CallWhole) -> Call | None:
    """Return the stray in an item's place whose text the item repeats: that is where the text came from."""
    stray = choice.strays.get(delta.index)
    return stray if stray is not None and stray.stray and stray.is_restated_by(delta.text) else None


def _contradicts(call: Call, delta: CallSeen | CallWhole) -> bool:
    """Whether an item has another id than the call."""
    return delta.id is not None and call.id is not None and delta.id not in call.aliases


def _agree(old: str | None, new: str | None) -> bool:
    return old is None or new is None or old == new


# Opening.


def open_restated(choice: Choice, delta: CallSeen | CallWhole) -> Call:
    """Open a call that only a final message holds."""
    call = choice.open(delta.kind, id=delta.id)
    learn_labels(choice, call, delta)
    return call


def _stray(choice: Choice, delta: Slot | CallWhole) -> Call:
    """Return the stray that collects text without an owner."""
    if choice.overflow is not None:
        return choice.overflow
    if delta.text.strip():
        taint(choice, by_text=True)
    is_piece = not isinstance(delta, CallWhole)
    is_named = is_piece and (delta.id is not None or delta.alias is not None)
    stray = stray_of(choice, delta.index, delta.text, is_named=is_named)
    if delta.alias is not None and delta.alias not in choice.by_id:
        choice.claim_alias(stray, delta.alias)
    return stray
