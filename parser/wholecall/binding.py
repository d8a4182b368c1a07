"""Which call a chat fragment belongs to: labels lie, so they are read together.

Theory of operation. Servers send index, id and name in any combination: constant, changing, missing, late.
Neither is trusted alone. Each fragment is classified by what its id and its index say, and each of the
resulting rows is one small function below, named in `ROWS`. What decides where labels contradict each other
is the text: a JSON object has no proper prefix that is itself a complete object, so a fragment that begins
an object while the open call's text is complete starts a new call, and one that arrives in the middle
continues it.

The terms of the table:

* *complete*: the call's text is one whole value;
* *continuable*: it is not, and the call has not ended. A call without text can go on only with text that
  begins a value;
* *starts*: the fragment is an object, or text that begins one;
* *begins anew*: it starts, but neither a value nor the inside of a string may go on so where the call's text
  ends, and it is no snapshot of that text;
* *other name*: both names are known, and the new one is neither the old one nor an extension of it.

Labels without text that follow a complete call may open another one or only come again. They open a *phantom*,
which has no number and vanishes unless text comes.

A fragment that several calls could claim is *ambiguous*: it goes to a call of its own that has no name, and
each of the candidates is marked as having a hole. None of them can be executed then.

Undecidable on the wire, whatever a parser does: two calls of one tool without arguments under different ids
on one index (the same bytes as a changing id), a second name on one index before any text (the same bytes as
a name in two pieces), interleaved continuations without labels. Each ends in a flag or a drop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import INVALID_INDEX
from wholecall.lexical import starts_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.calls import Call
    from wholecall.choices import Choice
    from wholecall.deltas import Labelled

__all__ = ["ROWS", "bind"]


def bind(choice: Choice, delta: Labelled) -> Call | None:
    """Return the call that the fragment belongs to, opened if need be; None if it says nothing.

    The call has learnt the fragment's id and index, not its name.
    """
    if not (delta.id or delta.name or delta.text):
        return None
    index = delta.index
    if index == INVALID_INDEX:
        choice.anomalies.add("invalid_index")
        if not (delta.id or delta.name):
            return _ambiguous(choice, delta, _open_calls(choice))
        index = None
    by_id = _with_id(choice, delta)
    by_index = _latest(choice.by_index.get(index, [])) if index is not None else None
    row = ROWS[_id_says(delta, by_id), _index_says(index, by_id, by_index)]
    call = row(choice, delta, by_id or by_index)
    if index is not None:
        choice.claim_index(call, index)
    if delta.id:
        choice.claim_id(call, delta.id)
    return call


def _with_id(choice: Choice, delta: Labelled) -> Call | None:
    """Return the call that claimed the id: at the same index, if that can go on or is repeated, else the latest."""
    claimants = choice.by_id.get(delta.id, []) if delta.id else []
    here = [call for call in claimants if delta.index in call.indices]
    if here and not any(call.continuable for call in here) and not here[-1].is_restated_by(delta.text):
        here = [call for call in claimants if call.continuable] or here
    return _latest(here or claimants)


def _latest(claimants: list[Call]) -> Call | None:
    """Return the latest call that can go on, else the latest; in doubt a later call has ended one."""
    if not claimants:
        return None
    latest = claimants[-1]
    if latest.continuable:
        return latest
    return next((c for c in reversed(claimants) if c.continuable and not c.has_two_readings), latest)


def _id_says(delta: Labelled, by_id: Call | None) -> str:
    if delta.id is None:
        return "absent"
    return "unseen" if by_id is None else "known"


def _index_says(index: object, by_id: Call | None, by_index: Call | None) -> str:
    if index is None:
        return "absent"
    if by_id is not None:
        return "here" if index in by_id.indices else "elsewhere"
    return "free" if by_index is None else "taken"


# What the text says.


def _starts(delta: Labelled) -> bool:
    return delta.rank > 0 or starts_value(delta.text)


def _begins_anew(delta: Labelled, call: Call) -> bool:
    if not _starts(delta):
        return False
    return not call.may_go_on_with_object and not (delta.rank == 0 and call.extends(delta.text))


def _other_name(delta: Labelled, call: Call) -> bool:
    if not delta.name or not call.name:
        return False
    return not delta.name.strip().startswith(call.name.strip())


def _is_another_tool(choice: Choice, delta: Labelled, call: Call) -> bool:
    """Whether the tools' names tell that the name is a second tool's, and no piece of the first one."""
    if choice.tools is None or not delta.name or not call.name:
        return False
    old, new = call.name.strip(), delta.name.strip()
    return old in choice.tools and new in choice.tools and not choice.tools.begins(old + new)


def _may_begin(delta: Labelled) -> bool:
    """Whether the text can be the beginning of a call's text: blank, or the beginning of a value."""
    text = delta.text.strip()
    return not text or text[0] in '{["' or "null".startswith(text) or "None".startswith(text)


def _candidates(choice: Choice, delta: Labelled) -> list[Call]:
    """Return the calls whose text this can continue, and the latest if this can fill its placeholder."""
    begins = _may_begin(delta)
    calls = [call for call in choice.calls if call.continuable and (begins or not call.empty)]
    latest = choice.calls[-1] if choice.calls else None
    if latest is not None and latest not in calls and latest.phase != "ended":
        calls += [latest] if _starts(delta) and latest.holds_placeholder else []
    return calls


def _open_calls(choice: Choice) -> list[Call]:
    return [call for call in choice.calls if call.phase != "ended"]


# Opening calls.


def _new(choice: Choice, delta: Labelled, *, phantom: bool = False) -> Call:
    call = choice.open(delta.kind, phantom=phantom and not delta.text)
    if delta.index is None or delta.index == INVALID_INDEX:
        call.inside = _unfinished_namesake(choice.calls, call, delta)
    else:
        call.inside = _unfinished_namesake(choice.by_index.get(delta.index, []), call, delta)
    return call


def _unfinished_namesake(calls: list[Call], opened: Call, delta: Labelled) -> Call | None:
    """Return the unfinished call of the same name within which this one opens."""
    for call in reversed(calls):
        if call is not opened and call.unfinished and not _other_name(delta, call):
            return call
    return None


def _ambiguous(choice: Choice, delta: Labelled, candidates: list[Call]) -> Call:
    nameless = choice.open(delta.kind)
    nameless.hole = bool(candidates) or not _may_begin(delta)
    for call in candidates:
        call.hole = True
    return nameless


# The rows: what the id says, what the index says.


def _known_here(choice: Choice, delta: Labelled, call: Call | None) -> Call:
    assert call is not None
    if not delta.name and _repeats_beside_an_empty_one(choice, delta, call):
        choice.left_over = True
    if not delta.name or call.phase == "ended" or not call.complete:
        return call
    if _other_name(delta, call) or (_tells_more(delta, call) and not call.holds_placeholder):
        return _new(choice, delta)
    return call


def _tells_more(delta: Labelled, call: Call) -> bool:
    """Whether the text begins a value that a complete call does not hold yet, also not as its next snapshot."""
    return _starts(delta) and not (call.is_restated_by(delta.text) or call.grows_by(delta.text))


def _repeats_beside_an_empty_one(choice: Choice, delta: Labelled, call: Call) -> bool:
    """Whether the text repeats that of a call, and could be that of another, empty one with the same id."""
    claimants = choice.by_id[delta.id] if delta.id else []
    if len(claimants) < 2 or not (_starts(delta) and call.is_restated_by(delta.text)):
        return False
    return any(other is not call and other.hollow and _waits(choice, other) for other in claimants)


def _known_elsewhere(choice: Choice, delta: Labelled, call: Call | None) -> Call:
    assert call is not None
    if delta.name and (call.complete or delta.name.strip() != (call.name or delta.name).strip()):
        return _new(choice, delta)
    call.flags.add("index_churn")
    return call


def _unseen_taken(choice: Choice, delta: Labelled, call: Call | None) -> Call:
    assert call is not None
    if _other_name(delta, call):
        return _new(choice, delta)
    another = _another_of_same_name if delta.name else _another_without_name
    if not another(delta, call):
        return call
    return _new(choice, delta, phantom=not delta.name or "id_churn" in call.flags)


def _another_of_same_name(delta: Labelled, call: Call) -> bool:
    if call.id is None and (not _starts(delta) or call.is_restated_by(delta.text)):
        return False  # the id comes late (quirk 11)
    if call.kind == "custom":  # free text is never complete: an id that comes with a name must do
        return not call.empty
    return call.complete or _begins_anew(delta, call)


def _another_without_name(delta: Labelled, call: Call) -> bool:
    if not call.complete or call.holds_placeholder:
        return False
    if not delta.text.strip():
        return not delta.text and call.id is not None
    return delta.rank > 0 or _may_begin(delta)


def _unseen_free(choice: Choice, delta: Labelled, _: Call | None) -> Call:
    if delta.name or choice.overflow is not None:
        return _new(choice, delta)
    candidates = _candidates(choice, delta)
    if len(candidates) == 1 and candidates[0].id is None:
        return candidates[0]
    return _new(choice, delta)


def _absent_taken(choice: Choice, delta: Labelled, call: Call | None) -> Call:
    assert call is not None
    if not delta.name:
        return _unlabelled_at(choice, delta, call)
    if _other_name(delta, call):
        split = call.empty and call.phase == "pending" and not call.phantom  # a name in pieces (quirk 16)
        split = split and not _is_another_tool(choice, delta, call)
        return call if split else _new(choice, delta)
    if call.phase == "ended" or not call.complete or call.holds_placeholder:
        return call
    if call.name is None:  # a late name (quirk 17), unless several calls go by this index
        shared = delta.index is not None and len(choice.by_index[delta.index]) > 1
        if shared and call.id is None:
            return _new(choice, delta)
        if _could_be_text_of_another(choice, call):
            call.refuse("ambiguous", "its text may be an earlier call's, which has a name and no text")
        return call
    if not delta.text:  # the head of another call, or the name once more (quirk 15)
        return _new(choice, delta, phantom=True)
    return _new(choice, delta) if _tells_more(delta, call) else call


def _could_be_text_of_another(choice: Choice, nameless: Call) -> bool:
    """Whether an earlier call still lacks text and id, so that the nameless one may be its late id (quirk 11)."""
    earlier = choice.calls[: choice.calls.index(nameless)]
    return any(call.phase != "ended" and call.name and call.id is None and call.hollow for call in earlier)


def _unlabelled_at(choice: Choice, delta: Labelled, call: Call) -> Call:
    """Text at a known index goes to its call, unless that is complete and the latest call lacks text.

    Some servers send the tail of every call on an index that is not its head's (quirk 5). An object is the
    latest call's then; anything else may be, so that call has a hole.
    """
    latest = choice.calls[-1]
    continuable = call.continuable and not (call.has_two_readings and _starts(delta))
    if continuable or call.holds_placeholder or latest is call or not _waits(choice, latest):
        return call
    if latest.hollow and _starts(delta) and not call.is_restated_by(delta.text):
        return latest
    latest.hole = latest.hole or bool(delta.text.strip())
    return call


def _waits(choice: Choice, call: Call) -> bool:
    """Whether a call lacks text and has no index to itself under which it could come."""
    own = any(choice.by_index[index] == [call] for index in call.indices)
    return call.phase != "ended" and (call.hollow or call.continuable) and not own


def _absent_free(choice: Choice, delta: Labelled, _: Call | None) -> Call:
    if delta.name:
        return _new(choice, delta)
    if choice.overflow is not None:
        return choice.overflow
    candidates = _candidates(choice, delta)
    if len(candidates) == 1 and not _begins_anew(delta, candidates[0]):
        candidates[0].flags.add("index_churn")
        return candidates[0]
    if not candidates and choice.calls and choice.calls[-1].is_restated_by(delta.text):
        choice.left_over = True  # a repeat, or the same arguments for a call whose name is to come
        return choice.calls[-1]
    return _ambiguous(choice, delta, candidates)


def _absent_absent(choice: Choice, delta: Labelled, _: Call | None) -> Call:
    candidates = _candidates(choice, delta)
    if delta.name:
        if not (candidates or delta.text):
            candidates = [call for call in _open_calls(choice)[-1:] if call.name is None]  # quirk 17
        if len(candidates) == 1 and not _is_separate(delta, candidates[0]):
            return candidates[0]
        return _new(choice, delta)
    if choice.overflow is not None:
        return choice.overflow
    if not candidates and choice.calls:
        return choice.calls[-1]
    return candidates[0] if len(candidates) == 1 else _ambiguous(choice, delta, candidates)


def _is_separate(delta: Labelled, call: Call) -> bool:
    if call.name is not None and delta.name is not None and delta.name.strip() != call.name.strip():
        return True
    return _begins_anew(delta, call)


ROWS: dict[tuple[str, str], Callable[[Choice, Labelled, Call | None], Call]] = {
    ("known", "absent"): _known_here,
    ("known", "here"): _known_here,
    ("known", "elsewhere"): _known_elsewhere,
    ("unseen", "taken"): _unseen_taken,
    ("unseen", "free"): _unseen_free,
    ("unseen", "absent"): _unseen_free,
    ("absent", "taken"): _absent_taken,
    ("absent", "free"): _absent_free,
    ("absent", "absent"): _absent_absent,
}
