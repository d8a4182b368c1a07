"""The end of an oddly labelled choice: its record is read, and its calls get the meaning of the record.

Theory of operation. Until now the calls of such a choice were shown by a guess (`labels`). `settle` has the record read
in every way in which a server can have meant it (`readings.solve`), and corrects the guess: each call of the reading
goes to the call in which its pieces were shown, or to a new call, and gives it its labels, name, flags and text. Where
another text was shown, an event corrects that. Calls that are not in all likely readings are not *sure*, and are
refused as `ambiguous`; the others get the ordinary verdict. Calls that no event has reported yet are numbered again, in
the order in which they began.

If a final message came, it decides: its calls are emitted, and calls that it does not restate are not sure
(`final_message`).
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import count
from operator import eq
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from wholecall.calls.arguments import ladder, strict
from wholecall.deltas import HYDRATION
from wholecall.machine import labels, phases
from wholecall.machine.final_message import Meant, restated
from wholecall.machine.readings.partitions import Piece, final_name
from wholecall.machine.readings.solve import ReadCall, solve
from wholecall.machine.record import Record, is_labelled
from wholecall.machine.sameness import Said, repeats, text_of
from wholecall.types import CUT_REASONS, Flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended

_FLAGS: dict[str, Flag] = {
    "snapshots": "snapshots",
    "repeated": "repeated",
    "placeholder": "placeholder",
    "again": "repeated",
}
_ELSEWHERE = "its fragments belong to other calls"
_UNSURE = "its labels can be read in several ways"


def doubt(choice: Choice, ended: Ended) -> None:
    """Start a record if any text of the choice is not a whole object: labels can look as documented and still be wrong.

    A cut raises no doubt if no call of its turn may be emitted, or if one text only lacks its end.
    """
    if choice.labels.record is not None or not (
        ended == "clean" or ladder.passes(ended, choice.options.policy)
    ):
        return
    odd = [call for call in choice.calls if not _is_plain(call)]
    if odd and not (ended != "clean" and _is_cut(choice, *odd)):
        labels.begin_record(choice)


def _is_cut(choice: Choice, call: Call, *others: Call) -> bool:
    """Return whether one call with documented labels lacks its end, and nothing else is odd."""
    return not others and strict.is_beginning(call.text, choice.options.limits)


def _is_plain(call: Call) -> bool:
    if call.is_over or call.full or call.kind == "custom" or call.restated is not None:
        return True
    return call.blank or not is_labelled(call) or call.holds_object


def settle(choice: Choice, ended: Ended) -> None:
    """Give the calls of the choice the meaning of its record, if it has one."""
    doubt(choice, ended)
    record, choice.labels.record = choice.labels.record, None
    if record is None:
        return
    record.close()
    meant = _meant(choice, record, cut=ended != "clean") if record.pieces and ended != "aborted" else []
    open_calls = [call for call in choice.calls if not call.is_over and call is not choice.overflow]
    shown = [call for call in open_calls if is_labelled(call)]
    if meant:
        give(choice, record, meant, shown)
    else:
        _refuse_all(choice, shown)


def settle_reasoned(choice: Choice) -> None:
    """End the whole calls that came before a finish reason, when an error or an abort follows it.

    Calls whose labels are as documented ended with that reason; those of a record are equally sure, read as if no more
    came.
    """
    record = choice.labels.record
    if record is None or choice.reason is None or not record.n_reasoned:
        return
    record.begin_only()
    ended: Ended = "length" if choice.reason in CUT_REASONS else "clean"
    meant = _meant(choice, record, cut=ended != "clean")
    known = dict.fromkeys(record.shown)
    give(choice, record, meant, [call for call in known if not call.is_over and is_labelled(call)])
    for call in choice.calls:
        if call.reasoned and call.refusal is None and is_labelled(call):
            phases.advance(choice, call, "finish", ended)


def give(choice: Choice, record: Record, meant: list[Meant], shown: list[Call]) -> None:
    """Give the calls that were shown the meaning of the record instead, each call once."""
    again = repeats([_said(record, one) for one in meant])
    twice = {record.shown[meant[n].pieces[0]] for n in again if meant[n].pieces}
    kept = set(again.values())
    meant = [one._replace(comes_again=n in kept) for n, one in enumerate(meant) if n not in again]
    texts = {call: _started_over(choice, call) for call in shown}
    owners = _owners(choice, record, meant, texts)
    for call in texts.keys() - {call for call, _ in owners}:
        if call in twice:
            call.refuse("told_twice", "the same call came out before")
        call.refuse("ambiguous", _ELSEWHERE)
    _number(choice, record, owners, texts)
    for call, one in owners:
        _give(choice, record, call, one, texts.get(call, ""))
    if len(meant) > 1:
        _flag_bound_by_order(record, owners, meant)


def _refuse_all(choice: Choice, shown: list[Call]) -> None:
    """Leave calls as they were shown, and refuse all of them."""
    for call in shown:
        if call.tentative and not call.empty:
            choice.materialise(call)
        call.refuse("ambiguous", _UNSURE)


def _meant(choice: Choice, record: Record, *, cut: bool) -> list[Meant]:
    read = partial(
        ladder.read_arguments, ended="clean", policy=choice.options.policy, limits=choice.options.limits
    )
    tools = choice.options.tools
    known = None if tools is None else tools.__contains__
    solution = solve(record.pieces, read, cut=cut, turns=record.turns, known=known, facts=facts_of(record))
    out = {piece.id for piece, call in zip(record.pieces, record.shown, strict=True) if call.is_over} - {None}
    meant = [
        Meant(
            call, None, sure and not (_has_used_id(record, call, out) or _may_have_come_twice(record, call))
        )
        for call, sure in zip(solution.calls, solution.sure, strict=True)
    ]
    return restated(record, meant) if record.restated else meant


def _has_used_id(record: Record, call: ReadCall, ids: set[str | None]) -> bool:
    """Return whether a call that was not emitted has the id of an emitted call: that call came already."""
    if record.shown[call.pieces[0]].is_over:
        return False
    return not ids.isdisjoint(record.pieces[at].id for at in call.pieces)


def _may_have_come_twice(record: Record, call: ReadCall) -> bool:
    """Return whether a head under another index repeats a free text, which can be one more piece of it as well.

    {"index":1,"id":"c","custom":{"name":"sh","input":"rm x"}}
    {"index":2,"id":"c","custom":{"name":"sh","input":"rm x"}}
    """
    text = ""
    for piece in (record.pieces[at] for at in call.pieces):
        if piece.custom and text and piece.text == text and None not in (piece.id, piece.name):
            return True
        text += piece.text
    return False


def facts_of(record: Record) -> list[tuple[int, str, str]]:
    """Return the calls that were emitted before the first odd label: first piece, name and text."""
    facts: dict[Call, tuple[int, str, str]] = {}
    for at, call in enumerate(record.shown):
        if call.is_over and call.dropped is None and call.name is not None and call not in facts:
            facts[call] = at, call.name, text_of(call)
    return list(facts.values())


# Into calls.


def _started_over(choice: Choice, call: Call) -> str:
    """Clear the state of a shown call that the reading sets; return its text, which users saw if events reported it."""
    for alias in call.aliases:
        others = [other for other in choice.labels.by_id.pop(alias, ()) if other is not call]
        if others:
            choice.labels.by_id[alias] = others
    shown = call.text
    call.start_over()
    choice.budget.release(call)
    return shown


def _owners(
    choice: Choice, record: Record, meant: list[Meant], texts: dict[Call, str]
) -> list[tuple[Call, Meant]]:
    """Return the call that each call of the reading goes to: a call in which it was shown, else a new call."""
    free = dict.fromkeys(texts)
    first = {call: at for at, call in reversed(list(enumerate(record.shown)))}
    owners: list[tuple[Call, Meant]] = []
    for one in meant:
        if one.pieces and record.shown[one.pieces[0]].is_over:
            continue
        name = (
            None
            if one.name is None
            else phases.public_name(choice, one.name[: choice.options.limits.max_name_chars])
        )
        own = set(one.pieces)
        fits = [
            call
            for call in dict.fromkeys(record.shown[at] for at in one.pieces)
            if call in free
            and (call.phase == "pending" or call.public_name == name)
            and (first[call] in own or call is record.shown[one.pieces[0]])
        ]
        call = min(fits, key=lambda call: call.phase == "pending", default=None)
        has_text = one.whole is not None or bool(one.text)
        unreported = call is None or call.phase == "pending"
        if unreported and not (one.is_sure or has_text):
            continue  # only repeated labels
        call = call or choice.open("function" if one.whole is None else one.whole.kind, tentative=True)
        if call is choice.overflow:
            continue
        free.pop(call, None)
        owners.append((call, one))
    return owners


def _number(choice: Choice, record: Record, owners: list[tuple[Call, Meant]], texts: dict[Call, str]) -> None:
    """Number the calls that no event has reported again, in the order in which they began."""
    anew = {call for call in texts if call.phase == "pending"} | {
        call for call, _ in owners if call.number < 0
    }
    places = {number: place for place, (what, number) in choice.content.places if what == "call"}
    old = {call: call.number for call in choice.calls}
    taken = {call.number for call in choice.calls if call not in anew}
    free = (number for number in count() if number not in taken)
    choice.content.places = [at for at in choice.content.places if at[1][0] != "call" or at[1][1] in taken]
    for call, one in owners:
        if call in anew:
            if choice.out.told.knows(choice.place, _id(record, one)):
                call.vanish(withheld=True)
                continue
            began = record.shown[one.pieces[0]] if one.pieces else call
            call.appear(next(free))
            taken.add(call.number)
            choice.content.places.append(
                (places.get(old[began], choice.content.text.size), ("call", call.number))
            )
    choice.n_numbered = max(taken, default=-1) + 1
    _fill(
        choice, [call for call in choice.calls if call in anew.difference(call for call, _ in owners)], taken
    )
    choice.content.places.sort(key=lambda place: place[0])


def _said(record: Record, one: Meant) -> Said:
    """Return what a call says in its text in force."""
    text = one.whole.text if one.whole is not None and one.whole.text else one.text
    is_listed_custom = one.whole is not None and one.whole.kind == "custom"
    is_custom = is_listed_custom or any(record.pieces[at].custom for at in one.pieces)
    return Said(_id(record, one), one.name, text, text if is_custom else UNSET)


def _id(record: Record, one: Meant) -> str | None:
    """Return the public id that a call will have."""
    if one.whole is not None and one.whole.id is not None:
        return one.whole.id
    return next((id for at in one.pieces if (id := record.pieces[at].id) is not None), None)


def _fill(choice: Choice, others: list[Call], taken: set[int]) -> None:
    """Give the entries that proved not to be calls the numbers that would be missing, or none."""
    missing = (number for number in range(choice.n_numbered) if number not in taken)
    for call in others:
        number = next(missing, None)
        if number is None:
            call.vanish(withheld=False)
        else:
            call.appear(number)


def _give(choice: Choice, record: Record, call: Call, one: Meant, shown: str) -> None:
    """Give a call its meaning: labels, name, text in force, and objections."""
    pieces = [record.pieces[at] for at in one.pieces]
    _label(choice, call, one, pieces)
    phases.name_as(choice, call, one.name)
    if one.read is not None:
        phases.read_as(choice, call, shown, one.read.text)
        call.flag(*_flags(one, pieces))
    call.stand_alone(own=True)  # `repeats` has compared it with all others
    if one.comes_again:
        call.flag("repeated")
    if one.whole is not None and one.whole.text:
        phases.advance(choice, call, "whole", (one.whole.text, HYDRATION))
    call.note("read_again")
    if one.whole is not None or one.pieces[0] < record.n_reasoned:
        call.note("reasoned")
    if (
        one.whole is not None
        or one.pieces[0] < record.n_evidenced
        or any(piece.mark == "E" for piece in pieces)
    ):
        call.note("end_shown")
    if not one.is_restated and choice.lost_text and not _stands_alone(record, one):
        call.note("lost_text", detail="text was lost, and its labels may be those of other calls")
    limit = choice.options.limits.max_name_chars
    if limit is not None and one.name is not None and len(one.name) > limit:
        call.refuse("name_too_long", f"a name of more than {limit} characters")
    if any(piece.spoilt for piece in pieces):
        call.refuse("invalid_utf8", "the argument text held bytes that are not UTF-8")
    is_spliced = one.read is not None and one.read.way == "spliced" and not one.is_restated
    if not one.is_sure or is_spliced:
        call.refuse("ambiguous", _UNSURE)


def _flags(one: Meant, pieces: list[Piece]) -> Iterator[Flag]:
    """Yield the flags for how name and text came."""
    assert one.read is not None
    names = {final_name(piece.name) for piece in pieces if piece.name is not None}
    if one.whole is None and one.name not in names:
        yield "name_joined"
    texts = [piece.text for piece in pieces if piece.text]
    if one.read.way in _FLAGS and len(texts) > 1:
        yield _FLAGS[one.read.way]
        if any(map(eq, texts, texts[1:])):
            yield "repeated"


def _flag_bound_by_order(record: Record, owners: list[tuple[Call, Meant]], meant: list[Meant]) -> None:
    """Flag the calls that have a piece without any label that distinguishes its call from all others."""
    indices = _unique_labels(record, meant, "index")
    ids = _unique_labels(record, meant, "id")
    for call, one in owners:
        pieces = [record.pieces[at] for at in one.pieces[1:]]
        if any(piece.index not in indices and piece.id not in ids for piece in pieces):
            call.flag("bound_by_order")


def _unique_labels(record: Record, meant: list[Meant], label: str) -> set[Any]:
    having: Counter[Any] = Counter()
    for one in meant:
        having.update({getattr(record.pieces[at], label) for at in one.pieces})
    return {label for label, n in having.items() if n == 1 and label is not None}


def _label(choice: Choice, call: Call, one: Meant, pieces: list[Piece]) -> None:
    if one.whole is not None and one.whole.id is not None:
        choice.claim_id(call, one.whole.id)
    for id in dict.fromkeys(piece.id for piece in pieces):
        if id is not None:
            choice.claim_id(call, id)
    if any(piece.custom for piece in pieces):
        call.learn_kind("custom")
    extras = [piece.extra for piece in pieces]
    if one.whole is not None:
        extras.append(one.whole.extra)
    for extra in filter(None, extras):
        call.take_extra(extra)
    is_repeated = one.read is not None and one.read.way == "again"
    if not is_repeated and len({piece.index for piece in pieces} - {None}) > 1:
        call.flag("index_churn")


def _stands_alone(record: Record, one: Meant) -> bool:
    """Return whether a call began after the last loss, with an id, a whole name, and labels that no other call has."""
    if not one.pieces or one.pieces[0] < record.n_lost:
        return False
    at, pieces = one.pieces[0], record.pieces
    first = pieces[at]
    if first.id is None or first.name is None or one.name != final_name(first.name):
        return False
    id = first.id if first.id not in {piece.id for piece in pieces[:at]} else None
    index = first.index if first.index not in {piece.index for piece in pieces[:at]} else None
    mine = [pieces[at] for at in one.pieces]
    if any(p.id is not None for p in mine[1:]) and all(p.name is None for p in mine[1:]):
        return False  # ids on all pieces show no beginning, and the name may be the rest of one
    return all((id is not None and p.id == id) or (index is not None and p.index == index) for p in mine)
