"""Rules of ends: reasons, cuts, blocks that open and close."""

from __future__ import annotations

from collections.abc import Mapping

from wholecall.calls.parse import json_state
from wholecall.grading.probe.asked import limit_in
from wholecall.grading.probe.reading.model import UNSET, CallSeen, Label, objects, word
from wholecall.grading.probe.rules import rule
from wholecall.grading.probe.rules.asking import is_shorter
from wholecall.grading.probe.rules.usage import IN_OUT, counts
from wholecall.grading.probe.sight import Sight
from wholecall.repairing.schema import END_WORDS

_LIMIT = frozenset(
    {"length", "max_tokens", "model_context_window_exceeded", "incomplete.max_output_tokens", "MAX_TOKENS"}
)
_CALLS: Mapping[str, frozenset[str]] = {
    "chat-completions": frozenset({"tool_calls", "function_call"}),
    "anthropic": frozenset({"tool_use"}),
    "responses": frozenset({"completed"}),
}
_NEARLY = 0.9  # of the limit, which servers count differently
_STOP = frozenset({"stop", "end_turn", "stop_sequence"})
_RESPONSE_WORDS = frozenset({"completed", "failed", "cancelled", "incomplete"})


def said_limit(sight: Sight) -> bool:
    """Return whether the answer says that it was cut at a limit."""
    return sight.answer is not None and any(word(label.value) in _LIMIT for label in sight.answer.reasons)


def _reasons(sight: Sight) -> list[Label]:
    return sight.answer.reasons if sight.answer else []


def _has_content(sight: Sight) -> bool:
    return sight.answer is not None and bool(
        sight.answer.calls or sight.answer.texts or sight.answer.reasonings
    )


def _reason_missing(sight: Sight) -> rule.Hits:
    if not _has_content(sight) or sight.is_error:
        return None
    return [] if any(label.value for label in _reasons(sight)) else [rule.Hit(len(sight.frames))]


def _reason_twice(sight: Sight) -> rule.Hits:
    reasons = _reasons(sight)
    if not reasons or sight.answer is None or sight.answer.is_whole:
        return None
    return [rule.Hit(label.frame) for label in reasons[1:]]


def _reason_word(sight: Sight) -> rule.Hits:
    reasons = [label for label in _reasons(sight) if isinstance(label.value, str)]
    if not reasons:
        return None
    words = END_WORDS[sight.wire].own if sight.wire in END_WORDS else _RESPONSE_WORDS
    return [rule.Hit(label.frame) for label in reasons if label.value.partition(".")[0] not in words]


def _not_calls(sight: Sight) -> rule.Hits:
    if sight.answer is None or not sight.answer.calls or not _reasons(sight):
        return None
    return [rule.Hit(label.frame) for label in _reasons(sight)[-1:] if word(label.value) in _STOP]


def _without_call(sight: Sight) -> rule.Hits:
    if sight.answer is None or not _reasons(sight):
        return None
    if sight.answer.strays:
        return None  # calls may be among the content that nothing opened
    last = _reasons(sight)[-1]
    return [rule.Hit(last.frame)] if word(last.value) in _CALLS[sight.wire] and not sight.answer.calls else []


def _is_whole(sight: Sight, call: CallSeen) -> bool:
    return sight.value_of(call) is not UNSET


def _closed_after_cut(sight: Sight) -> rule.Hits:
    """Look at answers whose token limit falls inside the arguments: a call that reads well, and is too short."""
    asked = sight.exchange.asked
    calls = sight.answer.calls if sight.answer else []
    if asked.outcome != "cut" or not calls or not asked.calls:
        return None
    wanted = asked.calls[-1]
    if wanted.arguments is None or not (_is_whole(sight, calls[-1]) or _is_claimed(calls[-1])):
        return [] if wanted.arguments is not None else None
    value = sight.value_of(calls[-1])
    is_cut = (
        is_shorter(wanted.arguments, value) and _is_at_limit(sight) and not _is_untouched(sight, calls[-1])
    )
    return [rule.Hit(calls[-1].last)] if is_cut else []


def _is_claimed(call: CallSeen) -> bool:
    return call.value is not UNSET


def _is_at_limit(sight: Sight) -> bool:
    """Return whether the counts, if there are any, say that the limit was reached: else the model stopped itself."""
    count = counts(sight).get(IN_OUT[sight.wire][1])
    limit = limit_in(sight.exchange.request)
    return said_limit(sight) or limit is None or not isinstance(count, int) or count >= _NEARLY * limit


def _is_untouched(sight: Sight, call: CallSeen) -> bool:
    """Return whether a body of Anthropic's holds the readable part of a cut call, as documented, and says so."""
    return sight.wire == "anthropic" and call.value is not UNSET and said_limit(sight)


def _cut_unsaid(sight: Sight) -> rule.Hits:
    calls = [
        call for call in (sight.answer.calls if sight.answer else []) if call.value is UNSET and call.text
    ]
    if not calls or not _reasons(sight):
        return None
    if said_limit(sight):
        return []
    return [rule.Hit(call.last) for call in calls if json_state(call.text) == "incomplete"]


def _length_with_call(sight: Sight) -> rule.Hits:
    asked = sight.exchange.asked
    if asked.outcome != "calls" or not _reasons(sight) or sight.answer is None or not sight.answer.calls:
        return None
    is_whole = all(_is_whole(sight, call) for call in sight.answer.calls)
    is_all = len(sight.answer.calls) >= len(asked.calls)
    return [rule.Hit(_reasons(sight)[-1].frame)] if is_whole and is_all and said_limit(sight) else []


def _late_content(sight: Sight) -> rule.Hits:
    if sight.answer is None or sight.answer.is_whole or not sight.answer.reasons:
        return None
    end = sight.answer.reasons[0].frame
    return [rule.Hit(frame) for frame in sight.answer.contents if frame > end][:1]


def _unclosed(sight: Sight) -> rule.Hits:
    if sight.answer is None or not sight.answer.blocks or sight.is_error:
        return None
    return [rule.Hit(block.opened or 0) for block in sight.answer.blocks if block.closed is None]


def _unopened(sight: Sight) -> rule.Hits:
    if sight.answer is None or sight.answer.is_whole or not (sight.answer.blocks or sight.answer.strays):
        return None
    hits = [rule.Hit(frame) for frame in sight.answer.strays]
    return hits + [rule.Hit(block.closed or 0) for block in sight.answer.blocks if block.opened is None]


def _final_response(sight: Sight) -> rule.Hits:
    if sight.answer is None or sight.answer.is_whole or sight.answer.final is None or not sight.answer.blocks:
        return None
    frame, response = sight.answer.final
    listed = [item.get("type") for item in objects(response.get("output"))]
    return [] if listed == [block.kind for block in sight.answer.blocks] else [rule.Hit(frame)]


def _status(sight: Sight) -> rule.Hits:
    if sight.answer is None or sight.answer.final is None or sight.answer.is_whole:
        return None
    frame, response = sight.answer.final
    end = word(_reasons(sight)[-1].value).partition(".")[0] if _reasons(sight) else ""
    return [] if response.get("status") == end else [rule.Hit(frame)]


RULES = (
    rule.Rule(
        id="ends.closed-after-cut",
        severity="critical",
        source=rule.CHAT,
        check=_closed_after_cut,
        quirks=(48, 49),
        says="The token limit fell inside the arguments, and the server closed them: a call that nobody sent.",
    ),
    rule.Rule(
        id="ends.cut-unsaid",
        severity="critical",
        source=rule.CHAT,
        check=_cut_unsaid,
        quirks=(32, 48),
        wires=rule.PIECES,
        says="The arguments are cut, and the answer does not say so.",
    ),
    rule.Rule(
        id="ends.length-with-call",
        severity="major",
        source=rule.CHAT,
        check=_length_with_call,
        quirks=(49,),
        says="The answer says that it was cut, and all calls are whole: careful clients discard them.",
    ),
    rule.Rule(
        id="ends.reason-missing",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_reason_missing,
        wires=rule.REASONED,
        quirks=(45, 46),
        says="The answer has no reason why it ended.",
    ),
    rule.Rule(
        id="ends.reason-twice",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_reason_twice,
        quirks=(44,),
        says="The answer states a reason why it ended more than once.",
    ),
    rule.Rule(
        id="ends.reason-word",
        severity="minor",
        source=rule.CHAT_STREAM,
        check=_reason_word,
        says="The reason is no word of the wire.",
    ),
    rule.Rule(
        id="ends.reason-not-calls",
        severity="major",
        source=rule.CHAT,
        check=_not_calls,
        quirks=(43,),
        wires=("chat-completions", "anthropic"),
        says="The answer has calls, and its reason says that it just ended: loops do not run them.",
    ),
    rule.Rule(
        id="ends.reason-without-call",
        severity="major",
        source=rule.CHAT,
        check=_without_call,
        quirks=(47,),
        wires=("chat-completions", "anthropic"),
        says="The reason speaks of calls, and there is none.",
    ),
    rule.Rule(
        id="ends.late-content",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_late_content,
        quirks=(44,),
        says="Content follows the reason why the answer ended.",
    ),
    rule.Rule(
        id="ends.block-unclosed",
        severity="major",
        source=rule.ANTHROPIC,
        check=_unclosed,
        quirks=(77, 78),
        wires=rule.BLOCKS,
        says="A block or item is opened and never closed.",
    ),
    rule.Rule(
        id="ends.block-unopened",
        severity="major",
        source=rule.ANTHROPIC,
        check=_unopened,
        quirks=(74, 77),
        wires=rule.BLOCKS,
        says="Content comes for a block or item that is not open.",
    ),
    rule.Rule(
        id="ends.final-response",
        severity="major",
        source=rule.RESPONSES,
        check=_final_response,
        quirks=(72, 73),
        wires=rule.RESPONSES_ONLY,
        says="The response at the end does not list the items of the stream.",
    ),
    rule.Rule(
        id="ends.status",
        severity="minor",
        source=rule.RESPONSES,
        check=_status,
        quirks=(76,),
        wires=rule.RESPONSES_ONLY,
        says="The status of the response at the end is not that of its event.",
    ),
)
