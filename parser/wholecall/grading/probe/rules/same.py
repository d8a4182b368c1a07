"""Rules of sameness: the plain and the streamed answer to one request have one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.grading.probe.reading.model import UNSET, CallSeen, is_id
from wholecall.grading.probe.rules.rule import CHAT, CHAT_STREAM, Hit, Hits, PairRule, RuleText
from wholecall.grading.probe.rules.usage import IN_OUT, counts, is_wanted
from wholecall.grading.probe.sight import Sight

_HOW = frozenset({"stream", "stream_options"})  # members of a request that say how the answer comes
_TRIES = 3  # of each kind, before "always" and "never" mean something


def _calls(sight: Sight) -> list[CallSeen]:
    return sight.answer.calls if sight.answer else []


def _is_alike(plain: Sight, streamed: Sight) -> bool:
    """Return whether both answers have the same calls by name, so that their shapes can be compared."""
    return sorted(call.name for call in _calls(plain)) == sorted(call.name for call in _calls(streamed))


def _reason(plain: Sight, streamed: Sight) -> Hits:
    one, other = (sight.answer.reasons if sight.answer else [] for sight in (plain, streamed))
    if not one or not other or not _is_alike(plain, streamed):
        return None
    return [] if one[-1].value == other[-1].value else [Hit(other[-1].frame)]


def _shape(call: CallSeen) -> tuple[bool, bool, bool]:
    has_type = any(label.value not in (UNSET, None) for label in call.types)
    return any(is_id(label.value) for label in call.ids), has_type, call.value is UNSET


def _members(plain: Sight, streamed: Sight) -> Hits:
    if not _calls(plain) or not _is_alike(plain, streamed):
        return None
    compared = 1 if plain.wire == "anthropic" else 3  # there, a body has an object, and a stream has text
    shapes = [[_shape(call)[:compared] for call in _calls(sight)] for sight in (plain, streamed)]
    return [] if sorted(shapes[0]) == sorted(shapes[1]) else [Hit(_calls(streamed)[0].first)]


def _ids(plain: Sight, streamed: Sight) -> Hits:
    one, other = ([call.id for call in _calls(sight) if call.id] for sight in (plain, streamed))
    if not one or not other:
        return None
    return [] if _prefix(one[0]) == _prefix(other[0]) else [Hit(_calls(streamed)[0].first)]


def _prefix(name: str) -> str:
    """Return the beginning of an id that says its kind, with its sign (`call_`); empty without one."""
    for sign in "_-.:":
        head, found, _ = name.partition(sign)
        if found and head.isalpha():
            return head + sign
    return ""


def _usage(plain: Sight, streamed: Sight) -> Hits:
    if not is_wanted(plain) or not is_wanted(streamed) or not counts(plain) or not counts(streamed):
        return None
    names = [{name for name in counts(sight) if name.endswith("_tokens")} for sight in (plain, streamed)]
    if not any(names):
        return None
    return [] if names[0] == names[1] else [Hit(len(streamed.frames))]


def _asked(sight: Sight) -> dict[str, Any]:
    """Return what a request asks for: in a conversation it has the ids and texts of the answers before it."""
    return {name: value for name, value in sight.exchange.request.items() if name not in _HOW}


def _prompt(plain: Sight, streamed: Sight) -> Hits:
    if _asked(plain) != _asked(streamed):
        return None
    name = IN_OUT[plain.wire][0]
    one, other = counts(plain).get(name), counts(streamed).get(name)
    if not isinstance(one, int) or not isinstance(other, int) or not one or not other:
        return None
    return [] if one == other else [Hit(len(streamed.frames))]


PAIR_RULES = (
    PairRule(
        id="same.reason",
        severity="major",
        source=CHAT,
        check=_reason,
        quirks=(43,),
        says="The plain and the streamed answer with the same calls have different reasons.",
    ),
    PairRule(
        id="same.members",
        severity="major",
        source=CHAT,
        check=_members,
        quirks=(8, 22, 92),
        says="The calls of plain and streamed answers have different members.",
    ),
    PairRule(
        id="same.ids",
        severity="note",
        source=CHAT,
        check=_ids,
        quirks=(65,),
        says="The ids of plain and streamed answers begin in another way.",
    ),
    PairRule(
        id="same.usage",
        severity="minor",
        source=CHAT_STREAM,
        check=_usage,
        quirks=(88,),
        says="The token counts of plain and streamed answers have different members.",
    ),
    PairRule(
        id="same.prompt-tokens",
        severity="minor",
        source=CHAT_STREAM,
        check=_prompt,
        says="The same request has another number of tokens when it is streamed.",
    ),
)
SAME_CALLS = RuleText(
    id="same.calls",
    severity="major",
    source=CHAT,
    quirks=(62,),
    says="One of the two ways, plain and streamed, never brings the calls that the other one always brings.",
)


def never_and_always(plain: Sequence[Sight], streamed: Sequence[Sight]) -> Sequence[Sight] | None:
    """Return the answers of the way that never brings a call where the other one always does; none if there is none.

    Returns None where there are too few answers of either way, or no calls were asked for.
    """
    if min(len(plain), len(streamed)) < _TRIES or plain[0].exchange.asked.outcome != "calls":
        return None
    have = [[bool(_calls(sight)) for sight in sights] for sights in (plain, streamed)]
    if all(have[0]) and not any(have[1]):
        return streamed
    return plain if all(have[1]) and not any(have[0]) else []
