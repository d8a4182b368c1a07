"""Decide the one terminal event of a call at its end.

Theory of operation. `judge` is called once per call, when it ends. It checks the objections to the call in a fixed
order: a missing name, a limit, lost text, a cut, and last the text itself, which is parsed once. It returns the events
to emit: first those that correct the text that was shown so far, then the terminal event, which is the call itself or
its drop. It changes no phase.

Where two texts exist, the fragments and a restated one, `_read` decides which is in force: the restated one, unless
only the fragments are valid JSON. A call without any text is only believed to have no arguments if the wire gives
evidence for that (`_against_silence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET
from msgspec.structs import replace

from wholecall.calls.arguments import equal, placeholders
from wholecall.calls.arguments.ladder import Ending, read_arguments
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.calls.output import call_events
from wholecall.calls.parse import accept
from wholecall.deltas import DONE, HYDRATION, OBJECT
from wholecall.machine.sameness import text_of
from wholecall.machine.two_forms import is_second_form

if TYPE_CHECKING:
    from wholecall.calls.output.events import Event
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.types import DropReason, Flag

Ended = Literal[Ending, "aborted"]

_CUT: dict[Ending, tuple[DropReason, str]] = {
    "length": ("truncated", "the turn was cut inside this call"),
    "open": ("unterminated", "the stream ended without ending this call"),
}


_LIMITS: frozenset[DropReason | None] = frozenset(
    {"too_many_calls", "id_too_long", "name_too_long", "arguments_too_large"}
)
# Objections that outrank a missing name: the overflow is not a single call, and an unreadable call cannot show its
# name.
_BEFORE_NAME: frozenset[DropReason | None] = frozenset({"too_many_calls", "unparseable"})
_GARBLED: frozenset[DropReason | None] = frozenset({"invalid_json", "unparseable"})


def judge(choice: Choice, call: Call, ended: Ended, fragments: str) -> list[Event]:
    """Return the events that end the call, the terminal one last.

    `ended` is `clean` if the wire ended the call or the turn, `length` if the turn was cut, `open` if the stream just
    stopped, `aborted` after a fault or a cancel. `fragments` is the text that came in pieces.
    """
    if ended == "aborted":
        return [drop(choice, call, "aborted", call.aborted or choice.aborted or "the turn was aborted")]
    against = _objection(choice, call, ended)
    if against is not None:
        return [drop(choice, call, *against)]
    if is_second_form(choice, call):
        return [drop(choice, call, "told_twice", "the server sent the same call in the list of calls")]
    if call.kind == "custom":
        return _silent(choice, call, ended) or _custom(choice, call)
    text, verdict = _read(choice, call, fragments, ended)
    if not verdict.arguments and (silent := _silent(choice, call, ended)):
        return silent
    verdict = _accept(choice, call, text, verdict)
    if verdict.reason is not None:
        return [drop(choice, call, verdict.reason, verdict.detail, text)]
    if verdict.flags:
        call.flag(*verdict.flags)
    if call.edits:
        verdict = _edited(call, verdict)
    event = _terminal(choice, call, text, verdict)
    refused = _refused(choice, event) if call.flags else ""
    if refused:
        return [drop(choice, call, "ambiguous", refused, text)]
    return [*_show(choice, call, fragments, text), event]


def drop(choice: Choice, call: Call, reason: DropReason, detail: str, text: str | None = None) -> Event:
    """Return the event that drops the call; it holds the text in force."""
    call.note("dropped", reason, detail)
    if call.source is not None:
        text = call.source[: choice.options.limits.max_raw_bytes]
    elif text is None:
        text = text_of(call)
    name = call.public_name or (call.name.strip() if call.name else None)
    facts = tuple(fact for fact in call.told_against() if fact != detail)
    return call_events.ToolCallDropped(
        choice.turn, choice.number, call.number, call.id, name, call.kind, text, reason, detail, facts
    )


def type_anew(choice: Choice, events: list[Event]) -> None:
    """Make, in place, the values of calls that tools took: snapshots do not hold them.

    Raises:
        ValueError: a tool does not take its call any more.
    """
    for place, event in enumerate(events):
        if choice.options.tools is None or not isinstance(event, call_events.ToolCall):
            continue
        check = choice.options.tools.check_of(event.name)
        if check is None:
            continue
        verdict = read_arguments(event.raw_arguments, "clean", choice.options.policy, choice.options.limits)
        verdict = accept(verdict, event.raw_arguments, check, choice.options.policy, choice.options.limits)
        if verdict.value is None:
            raise ValueError("the tools do not take a call that they took; are they the same?")
        events[place] = replace(event, typed=verdict.value)


def _objection(choice: Choice, call: Call, ended: Ending) -> tuple[DropReason, str] | None:
    """Return the objection to the call that comes before its text is read, by precedence."""
    if call.name is None and call.refusal not in _BEFORE_NAME and call.source is None:
        return "nameless", "no name came before the call ended"
    if call.refusal is not None and call.refusal in _LIMITS:
        return call.refusal, _limit_detail(choice, call)
    if call.lacks_text:
        return "incomplete_input", "argument text that could belong to this call was lost"
    if call.cut:  # whatever its text: some servers close the JSON of calls that they cut
        return "truncated", "the wire itself calls this call incomplete"
    if ended == "length" and (call.slotted or call.kind == "custom"):
        return _CUT["length"]
    if call.kind == "custom" and (ended == "open" or not (call.reasoned or call.closed or call.restated)):
        return _CUT["open"]  # only the wire can show where free text ends
    return None if call.refusal is None else (call.refusal, call.detail)


def _limit_detail(choice: Choice, call: Call) -> str:
    return f"{choice.n_overflow} calls {call.detail}" if call is choice.overflow else call.detail


def _silent(choice: Choice, call: Call, ended: Ending) -> list[Event]:
    """Return the drop of a call without text that may have lost it; None if there is evidence that it has none."""
    against = _against_silence(choice, call) if ended == "clean" and call.blank else None
    return [] if against is None else [drop(choice, call, *against)]


def _against_silence(choice: Choice, call: Call) -> tuple[DropReason, str] | None:
    """Return why a call without text, or with an empty text, cannot be a call without arguments."""
    if choice.text_elsewhere and not call.slotted:
        return "ambiguous", "its text may have come in another choice"
    if choice.labels.doubts(call):
        return "incomplete_input", "no text came for it, but content in a member that is not read"
    if call.slotted and _may_be_again(choice, call):
        return "incomplete_input", "it has no id, and its text may have come for a call that has one"
    if choice.lost_text and (call.empty or not call.slotted):
        return "incomplete_input", "text was lost in its turn, and no text came for it"
    if choice.slots.orphans and call.rank < HYDRATION:
        return "incomplete_input", "text that could be its own has no owner"
    if call.role_repeated and choice.reason != "tool_calls":
        return "incomplete_input", "who speaks was said again after it began, and no reason promised calls"
    if not (call.end_shown or call.closed or call.holds_object):
        return "incomplete_input", "no text came for it, and nothing said that it ended"
    return None


def _may_be_again(choice: Choice, call: Call) -> bool:
    r"""Return whether a call without text, an id and its own end may be the head of one that has text and an id.

    {"Function":{"Name":"get_tide"}}, then {"Id":"c1","Function":{"Name":"","Arguments":"{\"port\":…}"}}
    """
    if call.id is not None or call.closed or call.read_again or call.holds_object:
        return False
    others = [other for other in choice.calls if other.id is not None and not other.blank]
    return any(other.name in (None, call.name) for other in others)


def _read(choice: Choice, call: Call, fragments: str, ended: Ending) -> tuple[str, Verdict]:
    """Return the text in force and its verdict: the restated one, unless only the fragments are valid."""
    preset = call.rank == OBJECT and bool(fragments) and not placeholders.is_placeholder(fragments)
    if call.restated is None or preset:
        verdict = read_arguments(fragments, ended, choice.options.policy, choice.options.limits)
        if call.rank >= DONE and verdict.reason in _GARBLED and not fragments.lstrip().startswith("{"):
            call.flag("done_mismatch")  # pieces that were never JSON, of a text that was restated as empty
            return "{}", read_arguments("{}", ended, choice.options.policy, choice.options.limits)
        return (
            (fragments, verdict) if verdict.reason is None else _second_reading(choice, call, ended, verdict)
        )
    verdict = read_arguments(call.restated, ended, choice.options.policy, choice.options.limits)
    if not fragments or call.restored or call.rank == OBJECT or fragments == call.restated:
        return call.restated, verdict
    extends = call.restated.startswith(fragments)
    if extends and verdict.status == "exact":
        call.flag("done_completed_buffer")
        return call.restated, verdict
    other = read_arguments(fragments, ended, choice.options.policy, choice.options.limits)
    streamed = verdict.status != "exact" and other.status == "exact"
    if extends and not streamed:
        call.flag("done_completed_buffer")
    elif not equal.same_value(verdict.arguments, other.arguments):
        call.flag("done_mismatch")
    return (fragments, other) if streamed else (call.restated, verdict)


def _second_reading(choice: Choice, call: Call, ended: Ending, verdict: Verdict) -> tuple[str, Verdict]:
    """Return the other reading of the fragments if that can be parsed, else the first one, with its verdict.

    Fragments that seem to be one whole value were meant as one, unless they are not JSON and the other reading is.
    """
    if ended == "clean" and call.other_reading:
        other = read_arguments(call.other_reading, ended, choice.options.policy, choice.options.limits)
        if other.status == "exact" or (call.unfinished and other.reason is None):
            call.flag("snapshots")
            return call.other_reading, other
    return call.text, verdict


def _edited(call: Call, verdict: Verdict[Any]) -> Verdict[Any]:
    """Return the verdict with the changes that made the call's text readable before its own edits."""
    status = "normalised" if verdict.status == "exact" else verdict.status
    edits = (*(Edit(kind, 0) for kind in call.edits), *verdict.edits)
    return replace(verdict, status=status, edits=edits)


def _accept(choice: Choice, call: Call, text: str, verdict: Verdict) -> Verdict[Any]:
    """Check the arguments against the policy, and against the schema of their tool if the tools are known."""
    if verdict.reason is not None:
        return verdict
    if verdict.status == "empty" and choice.options.policy.silence == "drop" and call.kind != "server":
        return Verdict("dropped", reason="empty_arguments", detail="no text came, and the policy wants some")
    check = None
    if choice.options.tools is not None:
        unknown = _unknown_tool(choice, call)
        if unknown is not None:
            return Verdict("dropped", reason="unknown_tool", detail=unknown)
        if call.kind == "function":
            check = choice.options.tools.check_of(_name(call))
    if check is None and not choice.options.policy.json_safe_ints:  # most calls, by far
        return verdict
    return accept(verdict, text, check, choice.options.policy, choice.options.limits)


def _unknown_tool(choice: Choice, call: Call) -> str | None:
    """Return the objection to a call of a tool that was not given to the model; the policy may only flag it."""
    if (
        choice.options.tools is None
        or call.kind not in ("function", "custom")
        or _name(call) in choice.options.tools
    ):
        return None
    if choice.options.policy.unknown_tool == "flag":
        call.flag("unknown_tool")
        return None
    return "no tool of this name was given"


def _show(choice: Choice, call: Call, shown: str, text: str) -> list[Event]:
    """Return the events that turn the shown text into the text in force, if pieces of text are reported."""
    if text == shown or not choice.out.pieces:
        return []
    if text.startswith(shown):
        return [call.to_event(text[len(shown) :])]
    return [call_events.ArgumentsReset(choice.turn, choice.number, call.number, text)]


def _custom(choice: Choice, call: Call) -> list[Event]:
    unknown = _unknown_tool(choice, call)
    if unknown is not None:
        return [drop(choice, call, "unknown_tool", unknown)]
    text = text_of(call)
    if call.restated is not None and call.text not in ("", call.restated):
        call.flag("done_completed_buffer" if text.startswith(call.text) else "done_mismatch")
    event = call_events.CustomToolCall(
        choice.turn,
        choice.number,
        call.number,
        _public_id(choice, call),
        _name(call),
        text,
        call.namespace,
        _flags(call),
        call.extra,
    )
    refused = _refused(choice, event)
    if refused:
        return [drop(choice, call, "ambiguous", refused, text)]
    return [*_show(choice, call, call.text, text), event]


def _refused(choice: Choice, event: Any) -> str:
    """Return why the policy refuses a call because of its flags; server calls are never refused."""
    found = choice.options.policy.refused_flags.intersection(event.flags)
    if isinstance(event, call_events.ServerToolCall):
        found = frozenset()
    return f"flagged {', '.join(sorted(found))}, which the policy refuses" if found else ""


def _terminal(choice: Choice, call: Call, text: str, verdict: Verdict) -> Event:
    turn, number, index = choice.turn, choice.number, call.number
    id, name, extra = _public_id(choice, call), _name(call), call.extra
    arguments, flags = verdict.arguments, _flags(call)
    assert arguments is not None
    if call.kind == "builtin":
        return call_events.BuiltinToolCall(turn, number, index, id, name, arguments, flags, extra)  # type: ignore[arg-type]
    if call.kind == "server":
        return call_events.ServerToolCall(turn, number, index, id, name, arguments, text, flags, extra)
    status, edits = verdict.status, verdict.edits
    assert status != "dropped"
    typed = UNSET if verdict.value is None else verdict.value
    return call_events.ToolCall(
        turn, number, index, id, name, arguments, text, status, call.namespace, edits, flags, extra, typed
    )


def _flags(call: Call) -> tuple[Flag, ...]:
    return tuple(sorted(call.flags)) if call.flags else ()


def _name(call: Call) -> str:
    assert call.public_name is not None
    return call.public_name


def _public_id(choice: Choice, call: Call) -> str:
    """Return the call's id, or a minted one if it has none or an earlier call has it."""
    if call.id is None:
        call.flag("id_generated")
        return choice.ids.free(f"call_{choice.turn}_{choice.number}_{call.number}", choice.labels.by_id)
    if call.source is not None:  # no later delta is found by such an id
        if call.id in choice.ids.taken or call.id in choice.labels.by_id:
            call.flag("duplicate_id")
            return choice.ids.free(call.id, choice.labels.by_id)
        choice.ids.taken.add(call.id)
        return call.id
    for other in choice.labels.by_id.get(call.id, ()):
        if other.id == call.id:
            if other is call:
                break
            call.flag("duplicate_id")
            return choice.ids.free(call.id, choice.labels.by_id)
    return call.id
