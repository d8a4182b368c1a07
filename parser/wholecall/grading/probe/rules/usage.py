"""Rules of token counts."""

from __future__ import annotations

from typing import Any

from wholecall.grading.probe.reading.model import member, objects
from wholecall.grading.probe.rules.rule import CHAT, CHAT_ONLY, CHAT_STREAM, TEXTS, Hit, Hits, Rule
from wholecall.grading.probe.sight import Sight

IN_OUT = {
    "chat-completions": ("prompt_tokens", "completion_tokens"),
    "responses": ("input_tokens", "output_tokens"),
    "anthropic": ("input_tokens", "output_tokens"),
    "gemini": ("promptTokenCount", "candidatesTokenCount"),
}


def counts(sight: Sight) -> dict[str, Any]:
    """Return the members of all counts of an answer, later ones before earlier ones; none where there are none."""
    found: dict[str, Any] = {}
    for label in sight.answer.usages if sight.answer else []:
        if isinstance(label.value, dict):
            found.update({name: value for name, value in label.value.items() if value is not None})
    return found


def is_wanted(sight: Sight) -> bool:
    """Return whether the answer has to hold counts."""
    if sight.answer is None or sight.is_error:
        return False
    if sight.answer.is_whole or sight.wire != "chat-completions":
        return bool(sight.answer.reasons)
    return member(sight.exchange.request, "stream_options").get("include_usage") is True


def _missing(sight: Sight) -> Hits:
    if not is_wanted(sight):
        return None
    return [] if counts(sight) else [Hit(len(sight.frames))]


def _zero(sight: Sight) -> Hits:
    found = counts(sight)
    if not found or not is_wanted(sight):
        return None
    numbers = [found.get(name) for name in IN_OUT[sight.wire]]
    frame = sight.answer.usages[-1].frame if sight.answer else 0
    is_sound = all(isinstance(number, int) and number > 0 for number in numbers)
    return [] if is_sound or _is_cached(found) else [Hit(frame)]


def _is_cached(found: dict[str, Any]) -> bool:
    """Return whether the input was read from a cache, which some wires count apart."""
    return bool(found.get("cache_read_input_tokens") or found.get("cache_creation_input_tokens"))


def _sum(sight: Sight) -> Hits:
    found = counts(sight)
    total, parts = found.get("total_tokens"), [found.get(name) for name in IN_OUT[sight.wire]]
    numbers = [each for each in (total, *parts) if isinstance(each, int)]
    if len(numbers) != 3 or sight.answer is None:
        return None
    return [] if numbers[0] == numbers[1] + numbers[2] else [Hit(sight.answer.usages[-1].frame)]


def _twice(sight: Sight) -> Hits:
    if sight.answer is None or sight.answer.is_whole or not sight.answer.usages:
        return None
    return [Hit(label.frame) for label in sight.answer.usages[1:2]]


def _place(sight: Sight) -> Hits:
    if sight.answer is None or sight.answer.is_whole or not sight.answer.usages:
        return None
    last = sight.answer.usages[-1].frame
    value = sight.frames[last - 1].value
    is_alone = not objects(value.get("choices"))
    end = next((frame.number for frame in sight.frames if frame.is_done), len(sight.frames))
    is_late = all(frame.is_done for frame in sight.frames[last:end])
    return [] if is_alone and is_late else [Hit(last)]


def _unasked(sight: Sight) -> Hits:
    if sight.answer is None or sight.answer.is_whole or sight.is_error:
        return None
    is_asked = member(sight.exchange.request, "stream_options").get("include_usage") is True
    return None if is_asked else [Hit(label.frame) for label in sight.answer.usages[:1]]


RULES = (
    Rule(
        id="usage.missing",
        severity="minor",
        source=CHAT,
        check=_missing,
        says="There are no token counts, although the wire has them there or they were asked for.",
    ),
    Rule(
        id="usage.zero", severity="minor", source=CHAT, check=_zero, says="A token count is zero or missing."
    ),
    Rule(
        id="usage.sum",
        severity="minor",
        source=CHAT,
        check=_sum,
        wires=TEXTS,
        says="The total of the token counts is not their sum.",
    ),
    Rule(
        id="usage.twice",
        severity="minor",
        source=CHAT_STREAM,
        check=_twice,
        quirks=(88,),
        wires=CHAT_ONLY,
        says="Token counts come more than once: clients that add them up count too much.",
    ),
    Rule(
        id="usage.place",
        severity="minor",
        source=CHAT_STREAM,
        check=_place,
        quirks=(54, 88),
        wires=CHAT_ONLY,
        says="The token counts are not in a last chunk without choices.",
    ),
    Rule(
        id="usage.unasked",
        severity="note",
        source=CHAT_STREAM,
        check=_unasked,
        quirks=(54,),
        wires=CHAT_ONLY,
        says="Token counts come in a stream that was not asked for them.",
    ),
)
