"""The life of a call, as a table: the effect of each kind of news in each phase, and the phases that may follow.

Theory of operation. A call is in one of four phases:

* *pending*: it has no final name yet, or nothing to show; no event has reported it;
* *streaming*: `ToolCallStarted` was emitted, and fragments of its text may follow;
* *settled*: its whole text was restated; fragments that still come can only repeat it;
* *ended*: its one terminal event is decided; nothing changes it any more.

There are six kinds of news: a `name`, a `fragment`, a `whole` text, `close` (the wire ended this call), `finish` (the
reason of the turn is known, but more may come) and `end` (the turn is over, or the call was refused or taken back).
`PHASES` has a cell for each pair of phase and news: the action, and the phases to which it may lead. `advance` looks up
the cell. Only two things change the text of a call without it, and neither changes a phase by itself: the fast path of
the assembler, which appends fragments to a streaming call where they cannot mean anything else, and `read_as`, which
replaces the text of a call whose labels were odd, once its choice has ended and has been read.

Rule 1: a phase changes in `_enter` below, which `_start`, `_settle` and `_finish` call, and nowhere else.
Rule 2: completion is decided by the wire. That a text happens to parse ends nothing; at `finish` it only decides which
calls need not wait for the end.

Four smaller state machines exist next to this one, each with its state in the choice: a call that the wire closed is
*held* until the next one shows that its labels were right (`routes`); verdicts *wait* for the end of the turn if the
policy judges all calls together (`holding`); one call represents all beyond the limit, the *overflow*; and a call is
on the *fast path* while its fragments are only appended (`Choice.enable_fast_path`, `Choice.disable_fast_path`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.calls.output.call_events import ArgumentsReset, ToolCallStarted
from wholecall.deltas import OBJECT
from wholecall.machine import claims, duplicates, holding
from wholecall.machine.readings.partitions import final_name
from wholecall.machine.verdicts import Ended, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.machine.call import Call, Phase
    from wholecall.machine.choice import Choice

News = Literal["name", "fragment", "whole", "close", "finish", "end"]


class Cell(NamedTuple):
    """One cell of the table: the action of a kind of news in a phase, and the phases that may follow."""

    do: Callable[[Choice, Call, Any], None]
    to: frozenset[Phase]


@overload
def advance(choice: Choice, call: Call, news: Literal["name", "fragment"], what: str) -> None: ...
@overload
def advance(choice: Choice, call: Call, news: Literal["whole"], what: tuple[str, int]) -> None: ...
@overload
def advance(choice: Choice, call: Call, news: Literal["close"], what: bool) -> None: ...
@overload
def advance(choice: Choice, call: Call, news: Literal["finish", "end"], what: Ended) -> None: ...
def advance(choice: Choice, call: Call, news: News, what: Any) -> None:
    """Change the call as the news requires.

    Args:
        choice: the choice of the call.
        call: in any phase.
        news: the kind of news.
        what: the news itself: the name; the text; the whole text with its rank; whether the wire calls the call that it
            closed incomplete; how the turn, or the call, ended.
    """
    PHASES[call.phase][news].do(choice, call, what)


def read_as(choice: Choice, call: Call, shown: str, text: str) -> None:
    """Give an open call the meaning of its fragments as its text, and correct the emitted events."""
    if not choice.budget.admit(call, text):
        return
    if text:
        call.append(text)
    if call.phase == "pending":
        if call.reportable and text:
            _start(choice, call)
    elif not text.startswith(shown):
        choice.out.add_piece(ArgumentsReset, choice.turn, choice.number, call.number, text)
    elif text != shown:
        choice.out.add_piece(call.to_event, text[len(shown) :])


def name_as(choice: Choice, call: Call, name: str | None) -> None:
    """Give a call that no event has reported the name of its fragments, whatever name it was shown under."""
    if call.phase == "pending":
        _learn_name(choice, call, name, anew=True)


def public_name(choice: Choice, name: str) -> str:
    """Return the name that events carry."""
    name = final_name(name)
    if choice.options.tools is None:
        return _untagged(name)
    return choice.options.tools.named(name) if choice.options.policy.tool_names == "normalised" else name


# The functions that change phases.


def _enter(choice: Choice, call: Call, phase: Phase) -> None:
    """Let the call be in another phase: its next fragment is looked at again, not just appended."""
    if call.fast_at:
        choice.disable_fast_path(call)
    call.phase = phase


def _start(choice: Choice, call: Call) -> None:
    """Make the name final, and emit the start of the call and the text that came so far."""
    assert call.name is not None
    call.name = name = final_name(call.name)
    name = call.public_name = public_name(choice, name)
    _enter(choice, call, "streaming")
    choice.out.events.append(
        ToolCallStarted(choice.turn, choice.number, call.number, call.id, name, call.kind)
    )
    if text := "".join(call.parts):
        choice.out.add_piece(call.to_event, text)


def _settle(choice: Choice, call: Call) -> None:
    if call.phase == "pending":
        _start(choice, call)
    _enter(choice, call, "settled")


def _finish(choice: Choice, call: Call, ended: Ended) -> None:
    if ended == "length" and call.source is not None:
        ended = "clean"  # it was whole before the text was cut
    text = call.flush()
    choice.shut(call)
    if call.orphan:
        claims.show(choice, call)
    if call.tentative or _is_again(choice, call, ended):
        _enter(choice, call, "ended")
        return
    if choice.out.told.answers and call.name is not None and _is_answered(choice, call, call.name):
        call.leave_to_server()
    if call.phase == "pending" and call.name is not None and _may_come_out(choice, call, ended):
        _start(choice, call)
    events = judge(choice, call, ended, text)
    _enter(choice, call, "ended")
    holding.conclude(choice, call, events)


def _is_again(choice: Choice, call: Call, ended: Ended) -> bool:
    """Return whether the call only repeats another one; if not, it has its number from now on."""
    if call.original is None and not call.withheld:
        return False
    if call.original is not None and duplicates.is_duplicate(choice, call, ended):
        return True
    if call.withheld and call.name is not None and call.kind != "server":
        name = public_name(choice, call.name)
        if choice.out.told.holds(choice.place, call, name, choice.calls):
            choice.anomalies.add("repeated_call")
            return True
    call.stand_alone(own=duplicates.is_constant(choice, call))
    choice.materialise(call)
    return False


def _is_answered(choice: Choice, call: Call, name: str) -> bool:
    """Return whether the call was executed elsewhere, because its result came before it."""
    return call.kind != "server" and choice.out.told.takes_answer(call, public_name(choice, name))


def _may_come_out(choice: Choice, call: Call, ended: Ended) -> bool:
    """Return whether a call without events may still be emitted: it ended, or the policy requires no end.

    In a turn that was cut, a call of chat is emitted if its text is whole: others end on their own, or not at all.
    """
    has_text = call.restated is not None or bool(call.text)
    if ended == "length":
        return has_text and not call.slotted
    return ended == "clean" or (ended == "open" and has_text and not choice.options.policy.require_terminal)


# Actions: names.


def _learn_name(choice: Choice, call: Call, name: str | None, *, anew: bool = False) -> None:
    if call is choice.overflow and call.name is not None:
        return
    if call.name is not None and name is not None and not anew:
        name = _joined(choice, call, call.name, name)
    limit = choice.options.limits.max_name_chars
    if limit is not None and name is not None and len(name) > limit:
        call.refuse("name_too_long", f"a name of more than {limit} characters")
    call.name = name and name[:limit]
    if call.reportable and call.restated is not None and not is_placeholder(call.restated):
        _settle(choice, call)
    elif call.reportable and call.parts:
        _start(choice, call)
    if call.closed:
        _finish(choice, call, "clean")


def _joined(choice: Choice, call: Call, old: str, new: str) -> str:
    """Return the name so far: where the tools are known, the two pieces joined as one of their names requires.

    Names of blocks always come whole.
    """
    if call.block:
        if final_name(old) != final_name(new):
            call.refuse("ambiguous", "one id came under two names")
        return old
    if choice.options.tools is None:
        return _merged(call, old, new)
    known = choice.options.tools.joined(old.strip(), new.strip())
    if known is None:
        call.refuse("ambiguous", "two names of tools came for one call")
        return old
    if known not in choice.options.tools:
        return _merged(call, old, new)
    if known not in (old.strip(), new.strip()):
        call.flag("name_joined")
    return known


def _merged(call: Call, old: str, new: str) -> str:
    """Return the name so far: a longer or equal name replaces the old one, a piece is appended."""
    if new.strip().startswith(old.strip()):
        return new
    call.flag("name_joined")
    return old + new


def _untagged(name: str) -> str:
    """Return the name without a tag that a server left after it (quirk 58).

    A server that misreads tags may have lost arguments with them: where the tools are known, such a name matches none.
    """
    return name.partition("<")[0].rstrip() or name


def _confirm_name(_: Choice, call: Call, name: str) -> None:
    assert call.name is not None
    if final_name(name) != call.name:
        call.refuse("ambiguous", "another name came after the arguments had begun")


# Actions: text.


def _buffer(choice: Choice, call: Call, text: str) -> None:
    if choice.budget.admit(call, text):
        call.take(text)
    if call.reportable:
        _start(choice, call)


def _append(choice: Choice, call: Call, text: str) -> None:
    if not choice.budget.admit(call, text):
        return
    shown = call.take(text)
    if shown:
        choice.out.add_piece(call.to_event, shown)
    elif shown is None:
        choice.out.add_piece(ArgumentsReset, choice.turn, choice.number, call.number, call.text)


def _restate(choice: Choice, call: Call, whole: tuple[str, int]) -> None:
    text, rank = whole
    came_twice = call.size == len(text) and text == call.text
    if came_twice:
        text = call.text  # keep one copy only
    if not choice.budget.admit_whole(call, text, counted=came_twice):
        return
    if not call.restate(text, rank):
        choice.anomalies.add("conflicting_arguments")
    preset = call.slotted and rank == OBJECT  # the input at the start of a block: deltas may follow
    if call.reportable and call.restated is not None and not (preset or is_placeholder(text)):
        _settle(choice, call)


def _note_fragment(choice: Choice, call: Call, text: str) -> None:
    if not call.is_restated_by(text) and text.strip():
        choice.anomalies.add("conflicting_arguments")


# Actions: ends.


def _close(choice: Choice, call: Call, truncated: bool) -> None:
    call.note("closed")
    if truncated:
        call.note("cut")
    if call.name is not None:
        _finish(choice, call, "clean")


def _finish_if_whole(choice: Choice, call: Call, ended: Ended) -> None:
    if call.kind == "custom":
        return
    whole = call.holds_object or (call.begins_object and call.complete)
    if call.source is not None or (whole and not call.holds_placeholder):
        _finish(choice, call, ended)


def _stay(_choice: Choice, _call: Call, _what: object) -> None:
    """Change nothing."""


# Actions: after the end.


def _late_fragment(choice: Choice, call: Call, text: str) -> None:
    if text.strip() and not call.is_restated_by(text):
        choice.anomalies.add("late_fragment")


def _late_whole(choice: Choice, call: Call, whole: tuple[str, int]) -> None:
    if not call.is_restated_by(whole[0]) and not is_placeholder(whole[0]):
        choice.anomalies.add("conflicting_arguments")


_PENDING: frozenset[Phase] = frozenset({"pending"})
_STREAMING: frozenset[Phase] = frozenset({"streaming"})
_SETTLED: frozenset[Phase] = frozenset({"settled"})
_ENDED: frozenset[Phase] = frozenset({"ended"})

PHASES: dict[Phase, dict[News, Cell]] = {
    "pending": {
        "name": Cell(_learn_name, _PENDING | _STREAMING | _SETTLED | _ENDED),
        "fragment": Cell(_buffer, _PENDING | _STREAMING),
        "whole": Cell(_restate, _PENDING | _SETTLED),
        "close": Cell(_close, _PENDING | _ENDED),
        "finish": Cell(_stay, _PENDING),
        "end": Cell(_finish, _ENDED),
    },
    "streaming": {
        "name": Cell(_confirm_name, _STREAMING),
        "fragment": Cell(_append, _STREAMING),
        "whole": Cell(_restate, _STREAMING | _SETTLED),
        "close": Cell(_close, _ENDED),
        "finish": Cell(_finish_if_whole, _STREAMING | _ENDED),
        "end": Cell(_finish, _ENDED),
    },
    "settled": {
        "name": Cell(_confirm_name, _SETTLED),
        "fragment": Cell(_note_fragment, _SETTLED),
        "whole": Cell(_restate, _SETTLED),
        "close": Cell(_close, _ENDED),
        "finish": Cell(_finish_if_whole, _SETTLED | _ENDED),
        "end": Cell(_finish, _ENDED),
    },
    "ended": {
        "name": Cell(_stay, _ENDED),
        "fragment": Cell(_late_fragment, _ENDED),
        "whole": Cell(_late_whole, _ENDED),
        "close": Cell(_stay, _ENDED),
        "finish": Cell(_stay, _ENDED),
        "end": Cell(_stay, _ENDED),
    },
}
