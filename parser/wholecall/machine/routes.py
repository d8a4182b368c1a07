"""Route each delta of a choice to the call that it is about.

Theory of operation. There is one function per kind of delta that belongs to a choice; the table `RULES` at the end
holds them. Each first finds the call: `labels` finds it for deltas with labels (chat), `slots` for deltas with slots,
`restating` for final messages. Then it takes over ids, flags and the like, and lets `phases.advance` change the call.

A call that the wire closed is often not ended at once: it is *held* (`SlotTable.held`), because the next block may show
that the labels were wrong. It is released, and ends, when the next call begins or ends, or when the finish reason
comes. Also decided here is when a restated text *heals* a call of which text was lost (`_heals`).

Ends of turns and faults concern more than one choice: see `assembler` and `turns`.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Union

from wholecall import deltas
from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.calls.output.events import ReasoningDelta, TextDelta
from wholecall.calls.output.reasons import outranks
from wholecall.machine import (
    answers,
    blocks,
    cancelling,
    claims,
    duplicates,
    labels,
    restating,
    settling,
    slots,
)
from wholecall.machine.endings import allows_calls
from wholecall.machine.holding import release
from wholecall.machine.phases import advance
from wholecall.machine.record import is_labelled
from wholecall.machine.rereading import reread
from wholecall.machine.sameness import Said, repeats
from wholecall.types import CUT_REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended

# Labelled deltas.


def _labelled(choice: Choice, delta: deltas.Labelled) -> None:
    call = labels.bind(choice, delta)
    if call is None:
        if delta.extra:
            _take_bare(choice, delta.index, delta.extra)
        return
    if delta.kind == "custom":
        call.learn_kind("custom")
    if delta.extra:
        choice.budget.take_extra(call, delta.extra)
    if delta.name is not None:
        advance(choice, call, "name", delta.name)
    _take_text(choice, call, delta.text, delta.rank)
    if delta.index is not None:
        choice.enable_fast_path(call, delta.index)


def _take_bare(choice: Choice, index: deltas.Index | None, extra: dict[str, Any]) -> None:
    """Keep the fields of a fragment that has nothing else: they belong to the call of its index, else to the last."""
    call = labels.bare_owner(choice, index)
    if call is None:
        return
    choice.budget.take_extra(call, extra)
    if choice.labels.record is not None:
        choice.labels.record.take_extra(call, extra)


def _fragment(choice: Choice, delta: deltas.Fragment) -> None:
    _labelled(choice, deltas.Labelled(delta.choice, delta.index, None, None, delta.text))


def _take_text(choice: Choice, call: Call, text: str, rank: int = 0) -> None:
    if not text:
        return
    if choice.replaced and "\ufffd" in text:
        call.refuse("invalid_utf8", "the argument text held bytes that are not UTF-8")
    if rank:
        advance(choice, call, "whole", (text, rank))
    else:
        advance(choice, call, "fragment", text)


# Slotted deltas.


def _slot(choice: Choice, delta: deltas.Slot) -> None:
    call = slots.owner(choice, delta)
    held = choice.slots.held
    if held is not None and call.name is None and held.blank:
        held.note("lost_text", detail="text without a name came after its end")
    blocks.keep_text(choice, delta, call)
    _take_text(choice, call, delta.text)
    if delta.index is not None and choice.slots.record is None:
        choice.enable_fast_path(call, delta.index, delta.alias)


def _text_unread(choice: Choice, delta: deltas.TextUnread) -> None:
    """Note by its labels that content of a call is not read: it may be known by one of them only."""
    choice.labels.doubt(delta.name if delta.id is None else delta.id)


def _call_seen(choice: Choice, delta: deltas.CallSeen) -> None:
    call = _announced(choice, delta)
    _learn(choice, call, delta)


def _announced(choice: Choice, delta: Union[deltas.CallSeen, deltas.CallWhole]) -> Call:
    """Return the call that is announced; if it is new, release the held call."""
    if slots.is_new(choice, delta):
        _release_held(choice)
        call = slots.open_new(choice, delta)
        if call is not choice.overflow:
            if choice.slots.record is not None:
                blocks.keep_start(choice, delta, call)
            return call
    else:
        known = slots.announced(choice, delta)
        call = known or _opened(choice, delta)
        blocks.keep_start(choice, delta, call, opens=known is None)
    if call.orphan and delta.name is not None:
        claims.adopt(choice, call)
    if delta.begins and not call.is_over:
        choice.reopen(call)
    claims.learn_labels(choice, call, delta)
    return call


def _call_whole(choice: Choice, delta: deltas.CallWhole) -> None:
    if delta.rank == deltas.HYDRATION and choice.labels.record is not None and type(delta.index) is not str:
        choice.labels.record.restated.append(delta)
        return
    if delta.rank == deltas.HYDRATION:
        call = restating.find_restated(choice, delta) or _opened(choice, delta)
    elif delta.begins:
        call = _announced(choice, delta)
    elif delta.rank == deltas.DONE and delta.name is None:
        call = slots.owner(choice, delta)
    else:
        call = _finished_item(choice, delta)
    heals = _heals(choice, call, delta)
    if delta.begins:
        call.note("came_whole")
    else:
        blocks.spoil(choice)
    missing = call.missing_text() if call.block and not heals else ()
    if heals and call.refusal == "ambiguous" and delta.name == call.name:
        call.note("permitted")  # the delta settles the doubts about labels
    if not call.orphan:
        claims.learn_labels(choice, call, delta)
    if delta.id_wins and delta.id is not None:
        choice.rename(call, delta.id)
    if delta.rank == deltas.HYDRATION:
        call.note("reasoned")
        call.note("end_shown")
    _learn(choice, call, delta)
    _take_text(choice, call, delta.text, delta.rank)
    unowned = delta.rank > deltas.HYDRATION and call.blank
    unowned = unowned and (call.block or delta.id is None)  # else no call began that it could be
    # A place alone restores nothing, and neither does the text that servers send when they lost the real one.
    call.note_again(missing)
    if unowned and not slots.is_all_owned(choice, delta.text):
        call.note("orphan_text", detail="it came without text, and other text has no owner")
    if delta.closes:
        _close(choice, call, truncated=False)


def _accept_silence(choice: Choice, call: Call) -> None:
    """Believe a final message that a call has no text, if it restates all text that came without an owner."""
    if call.lacks_text and call.blank and not choice.lost_text and slots.is_all_owned(choice, ""):
        call.note("confirmed_empty")
        call.replace_whole(call.restated, max(call.rank, deltas.HYDRATION))


def _restated(choice: Choice, delta: deltas.Restated) -> None:
    found = restating.matched(choice, delta)
    again = repeats([Said.whole(whole) for whole, _ in found])
    pairs = [
        (whole, call or _opened(choice, whole))
        for n, (whole, call) in enumerate(found)
        if call is not None or n not in again
    ]
    for n in again:
        _take_over_told(choice, found[n][0])
    for whole, call in sorted(
        pairs, key=lambda pair: not pair[0].text
    ):  # empty texts last, when owners are known
        _take_restated(choice, whole, call)


def _take_restated(choice: Choice, whole: deltas.CallWhole, call: Call) -> None:
    missing = () if _heals(choice, call, whole) else call.missing_text()
    _learn(choice, call, whole)
    is_over = call.end_shown or call.closed
    call.note("end_shown")
    _take_text(choice, call, whole.text, whole.rank)
    call.note_again(missing)
    if not missing:
        _accept_silence(choice, call)
    if whole.goes_on and call.empty and not is_over:
        call.note("lost_text", detail="a message lists it as unfinished")
    if whole.truncated:
        _close(choice, call, truncated=True)


def _reread(choice: Choice, delta: deltas.Reread) -> None:
    if not reread(choice, delta):
        for whole in deltas.in_telling_order(delta.listed):
            _call_whole(choice, whole)


def _heals(choice: Choice, call: Call, delta: deltas.CallWhole) -> bool:
    """Return whether a whole text replaces all of the call's: it has its id, and is not empty if text has no owner."""
    own = (
        delta.id in call.aliases
        or delta.alias in call.aliases
        or (
            call.id is None
            and (delta.rank == deltas.HYDRATION or (delta.id is None and delta.name is not None))
        )
    )
    return own and (not is_placeholder(delta.text) or slots.is_all_owned(choice, delta.text))


def _finished_item(choice: Choice, delta: deltas.CallWhole) -> Call:
    call = slots.finished_by(choice, delta) or _opened(choice, delta)
    if call.orphan and delta.name is not None:
        claims.adopt(choice, call)
        if not call.blank and is_placeholder(delta.text):
            call.note("lost_text", detail="other text came under its labels")
    return call


def _opened(
    choice: Choice, delta: Union[deltas.CallSeen, deltas.CallWhole], *, refused: bool = False
) -> Call:
    """Open a call, and release the held one, unless the new call has no name and may continue the held one."""
    _take_over_told(choice, delta)
    held = choice.slots.held
    if (
        held is not None
        and held.empty
        and held.id is not None
        and (held.id, held.name) == (delta.id, delta.name)
    ):
        choice.slots.take_held()  # it may come again with its text: the end of the message decides
    elif held is not None and (delta.name is not None or refused or not held.blank):
        _release_by(choice, is_again=_is_known(choice, delta))
    restated = isinstance(delta, deltas.CallWhole) and delta.rank == deltas.HYDRATION
    known = choice.having(delta.id) if delta.name is not None else ()
    if any(call.name != delta.name for call in known):
        _release_duplicates(choice, known)
    return (slots.open_restated if restated else slots.open_slot)(choice, delta)


def _is_known(choice: Choice, delta: Union[deltas.CallSeen, deltas.CallWhole]) -> bool:
    """Return whether a start repeats that of an earlier call, so that it is not the next one."""
    return any(call.name == delta.name for call in choice.having(delta.id))


def _take_over_told(choice: Choice, delta: Union[deltas.CallSeen, deltas.CallWhole]) -> None:
    """Leave a client's call to the server, if the server sends it once more as its own."""
    if delta.kind == "server":
        cancelling.take_over(choice, [call for call in choice.having(delta.id) if call.name == delta.name])


def _release_duplicates(choice: Choice, calls: Iterable[Call]) -> None:
    """Release calls of an id that seemed to be duplicates: another call shows that the id identifies nothing."""
    for call in calls:
        if call.is_over or (call.original is not None and call.original.round != call.round):
            continue  # a call in a message that was restarted is certainly a repetition
        is_shown = call.original is not None and not call.withheld
        call.stand_alone(own=True)
        if is_shown:
            choice.materialise(call)
        if call.closed:
            advance(choice, call, "close", False)


def _learn(choice: Choice, call: Call, delta: Union[deltas.CallSeen, deltas.CallWhole]) -> None:
    if call.kind not in ("server", delta.kind):  # a call that the server executes is never the client's again
        if delta.kind == "server":  # statements about a repeated call apply to it
            cancelling.take_over(choice, [call.original or call])
        call.learn_kind(delta.kind)
    if delta.id is not None and delta.id != call.id and not call.is_over:
        choice.claim_id(call, delta.id)
    if delta.namespace:
        call.namespace = call.namespace or delta.namespace
    if delta.flags:
        call.flag(*delta.flags)
    if delta.extra:
        choice.budget.take_extra(call, delta.extra)
    if delta.name is not None and call.name is None:
        _release_others(choice, call)
    if slots.is_under_another_name(call, delta):
        call.refuse("ambiguous", "one id came under two names")
    elif delta.name is not None and delta.name != call.name:
        advance(choice, call, "name", delta.name)


def _call_closed(choice: Choice, delta: deltas.CallClosed) -> None:
    if delta.of_text:
        call = slots.named_by(choice, delta)
    else:
        labelled = choice.labels.by_index.get(delta.index) if type(delta.index) is str else None
        call = labelled or slots.ended_by(choice, delta)
    blocks.keep_end(choice, delta, call)
    if call is None:
        return
    if delta.of_text:
        call.note("end_shown")
    elif delta.waits:
        call.note("end_shown")
        choice.shut(call)
    elif delta.final or delta.truncated:
        if delta.final:
            call.note("came_whole")
        _close(choice, call, truncated=delta.truncated)
    elif not call.is_over:
        _release_others(choice, call)
        call.note("closed")
        choice.shut(call)
        if not (call.beside and call.block):  # otherwise the labels of the others may still prove wrong
            choice.slots.held = call


def _close(choice: Choice, call: Call, *, truncated: bool) -> None:
    if not truncated and not call.is_over:
        _release_others(choice, call)
    if not truncated and (call.orphan_text or duplicates.may_be_duplicate(choice, call)):
        choice.shut(call)  # whether it lacks text, or is a duplicate, is decided at the end of the message
        call.note("closed")
        return
    is_again = call.original is not None and call.original.round == call.round
    if is_again and (truncated or duplicates.is_constant(choice, call)):
        _release_duplicates(choice, choice.having(call.id, call.step))
    advance(choice, call, "close", truncated)


def _release_others(choice: Choice, call: Call) -> None:
    if choice.slots.held is not call:
        _release_by(choice, is_again=call.original is not None)


def _release_by(choice: Choice, *, is_again: bool) -> None:
    """Release the held call, because another one begins or ends; one that only comes again shows nothing about silence."""
    held = choice.slots.held
    if not (is_again and held is not None and held.says_nothing):
        _release_held(choice)


def _call_refused(choice: Choice, delta: deltas.CallRefused) -> None:
    seen = deltas.CallSeen(delta.choice, delta.index, delta.alias, None, None)
    call = slots.refused_by(choice, delta) or _opened(choice, seen, refused=True)
    _take_text(choice, call, delta.text)
    if call is not choice.overflow:  # which must stay open to count further calls
        call.refuse(delta.reason, delta.detail)
        advance(choice, call, "end", "clean")


def _release_held(choice: Choice) -> None:
    """End the held call: the next block begins or ends, so it was whole."""
    held = choice.slots.held
    if held is not None:
        choice.slots.take_held()
        _close(choice, held, truncated=False)


# Calls that were written as text.


def _call_written(choice: Choice, delta: deltas.CallWritten) -> None:
    call = choice.open("function", slotted=True)
    if call is choice.overflow:
        return
    call.source, call.edits = delta.source, delta.edits
    call.flag(*delta.flags)
    if delta.extra:
        call.take_extra(delta.extra)
    if delta.id is not None:
        choice.give_id(call, delta.id)  # no later delta is found by it
    if delta.name is not None:
        advance(choice, call, "name", delta.name)
    if delta.reason is not None:
        call.refuse(delta.reason, delta.detail)
        advance(choice, call, "end", "clean")
        return
    advance(choice, call, "fragment", delta.text)
    advance(choice, call, "whole", (delta.text, deltas.DONE))


# Text, reasons and ends.


def _text_began(choice: Choice, _delta: deltas.TextBegan) -> None:
    choice.content.begin_text()


def _kept(choice: Choice, delta: deltas.BlockKept) -> None:
    choice.content.keep(delta)


def _placed(choice: Choice, delta: deltas.CallPlaced) -> None:
    choice.content.place_listed(delta.id)


def _text(choice: Choice, delta: deltas.TextFragment) -> None:
    choice.content.text.add(delta.text)
    choice.out.add_piece(TextDelta, choice.turn, choice.number, delta.text)


def _reasoning(choice: Choice, delta: deltas.ReasoningFragment) -> None:
    choice.content.block_of(delta).add(delta.text)
    if delta.text:
        choice.out.add_piece(ReasoningDelta, choice.turn, choice.number, delta.text)


def _noted(choice: Choice, delta: deltas.Noted) -> None:
    choice.anomalies.add(delta.anomaly)


def _said_again(choice: Choice, _delta: deltas.SaidAgain) -> None:
    """Note on the calls so far that another answer may have begun, which would not be about them."""
    for call in choice.calls:
        call.note("role_repeated")


def _step_began(choice: Choice, delta: Union[deltas.StepBegan, deltas.StepTakenBack]) -> None:
    """Free the ids of the calls so far: a later call under one of them is another call, and text is another message."""
    choice.step = choice.step + 1 if delta.number is None else delta.number
    blocks.spoil(choice)
    answers.begin_message(choice)


def _step_taken_back(choice: Choice, delta: deltas.StepTakenBack) -> None:
    """Take back the calls of a step, and begin another."""
    cancelling.take_step_back(choice)
    _step_began(choice, delta)


def _message_began(choice: Choice, _delta: deltas.MessageBegan) -> None:
    answers.begin_message(choice)


def _text_refused(choice: Choice, _delta: deltas.TextRefused) -> None:
    if choice.answer is not None:
        choice.answer.is_refused = True


def _finish(choice: Choice, delta: deltas.Finish) -> None:
    if outranks(delta.reason, choice.reason):
        choice.reason, choice.provider_reason = delta.reason, delta.provider_reason
    reason_all([choice], delta)
    if delta.drops:
        settling.settle(choice, "aborted")
        judge_all(choice, "aborted")
    elif not delta.ends:
        _end_whole(choice)


def _end_whole(choice: Choice) -> None:
    """End the calls that are whole, because a reason came for the end of the turn."""
    ended: Ended = "length" if choice.reason in CUT_REASONS else "clean"
    settling.doubt(choice, ended)
    held = choice.slots.take_held()
    for call in choice.calls:
        if call is not held:
            if not _is_in_record(choice, call):
                advance(choice, call, "finish", ended)
        elif ended == "length":  # a cut turn can close a block whose last members are missing
            advance(choice, call, "end", ended)
        else:
            advance(choice, call, "close", False)


def _is_in_record(choice: Choice, call: Call) -> bool:
    """Return whether the pieces of a record may be the call's, so that its text is decided at the end of the turn."""
    if choice.slots.record is not None and call.lacks_text:
        return True
    return choice.labels.record is not None and is_labelled(call)


def reason_all(choices: Iterable[Choice], finish: deltas.Finish | None = None) -> None:
    """Note on all calls so far that an end of their turn came after they began, and whether its reason allows calls."""
    allowed = finish is not None and allows_calls(finish, own_ends=True)
    allowed_by_labels = finish is not None and allows_calls(finish, own_ends=False)
    for choice in choices:
        for call in choice.calls:
            call.note("reasoned")
            if allowed if call.slotted else allowed_by_labels:
                call.note("end_shown")
        for record, is_allowed in ((choice.labels.record, allowed_by_labels), (choice.slots.record, allowed)):
            if record is not None:
                record.note_reason(is_evidence=is_allowed)


def judge_all(choice: Choice, ended: Ended, unreasoned: Ended | None = None) -> None:
    """End every open call in order; `unreasoned` is the ending of those that began after the finish reason."""
    for call in sorted(choice.calls, key=attrgetter("number")):
        advance(choice, call, "end", ended if unreasoned is None or call.reasoned else unreasoned)
    choice.slots.take_held()
    release(choice)


RULES: Final[dict[type, Callable[[Choice, Any], None]]] = {
    deltas.Fragment: _fragment,
    deltas.Labelled: _labelled,
    deltas.Slot: _slot,
    deltas.CallSeen: _call_seen,
    deltas.CallWhole: _call_whole,
    deltas.TextUnread: _text_unread,
    deltas.CallClosed: _call_closed,
    deltas.CallRefused: _call_refused,
    deltas.CallWritten: _call_written,
    deltas.TextBegan: _text_began,
    deltas.TextFragment: _text,
    deltas.BlockKept: _kept,
    deltas.CallPlaced: _placed,
    deltas.ReasoningFragment: _reasoning,
    deltas.Finish: _finish,
    deltas.Noted: _noted,
    deltas.SaidAgain: _said_again,
    deltas.StepBegan: _step_began,
    deltas.StepTakenBack: _step_taken_back,
    deltas.MessageBegan: _message_began,
    deltas.TextRefused: _text_refused,
    deltas.Restated: _restated,
    deltas.Reread: _reread,
}
