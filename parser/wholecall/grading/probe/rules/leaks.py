"""Rules of leaks: calls, markers and thoughts in the visible text."""

from __future__ import annotations

import re

from wholecall.grading.probe.rules.rule import CALLING, CHAT, Hit, Hits, Rule
from wholecall.grading.probe.sight import Sight
from wholecall.stream.shells.leaks import leak_in

_THINK = re.compile(r"</?think(?:ing)?>|<\|channel\|>|\[/?THINK\]|</?seed:think>")
_TOKEN = re.compile(r"<\|[a-z_]{2,24}\|>|</?tool_calls?>|\[/?TOOL_CALLS\]|<\uff5c[^\uff5c<>]{2,40}\uff5c>")


def _first(sight: Sight) -> int:
    """Return the frame of the first visible text."""
    return sight.answer.texts[0].frame if sight.answer and sight.answer.texts else 0


def _has_text(sight: Sight) -> bool:
    return sight.answer is not None and bool(sight.answer.text.strip())


def _call_in_text(sight: Sight) -> Hits:
    if not sight.tools or not _has_text(sight) or sight.answer is None:
        return None
    if sight.answer.calls:
        return []
    return [Hit(_first(sight))] if leak_in(sight.answer.text) or sight.written else []


def _told_twice(sight: Sight) -> Hits:
    if sight.answer is None or not sight.answer.calls or not _has_text(sight):
        return None
    is_twice = any(call.reason == "told_twice" for call in sight.noted.turn.dropped)
    return [Hit(_first(sight))] if is_twice or leak_in(sight.answer.text) or sight.written else []


def _call_in_reasoning(sight: Sight) -> Hits:
    if sight.answer is None or not sight.answer.reasoning or not sight.exchange.asked.calls:
        return None
    if sight.answer.calls or _has_text(sight):
        return []
    return [Hit(sight.answer.reasonings[0].frame)] if leak_in(sight.answer.reasoning) else []


def _marker(sight: Sight) -> Hits:
    if not _has_text(sight) or sight.answer is None:
        return None
    if leak_in(sight.answer.text):
        return []  # a whole call is another rule's
    is_left = _TOKEN.search(sight.answer.text) is not None or "dangling_marker" in sight.noted.turn.anomalies
    return [Hit(_first(sight))] if is_left else []


def _think(sight: Sight) -> Hits:
    if not _has_text(sight) or sight.answer is None:
        return None
    return [Hit(_first(sight))] if _THINK.search(sight.answer.text) else []


RULES = (
    Rule(
        id="leaks.call-in-text",
        severity="critical",
        source=CALLING,
        check=_call_in_text,
        quirks=(62,),
        says="The call stands in the visible text: clients do not run it, and show it.",
    ),
    Rule(
        id="leaks.told-twice",
        severity="major",
        source=CALLING,
        check=_told_twice,
        quirks=(97,),
        says="A call stands in the visible text beside the calls of the wire.",
    ),
    Rule(
        id="leaks.call-in-reasoning",
        severity="major",
        source=CALLING,
        check=_call_in_reasoning,
        quirks=(63,),
        says="The call stands in the reasoning, and nothing else came.",
    ),
    Rule(
        id="leaks.marker",
        severity="major",
        source=CHAT,
        check=_marker,
        quirks=(61, 62),
        says="Markers of the model's format stand in the visible text.",
    ),
    Rule(
        id="leaks.think-tag",
        severity="major",
        source=CHAT,
        check=_think,
        says="Tags of thoughts stand in the visible text.",
    ),
)
