"""Rules of argument text: one JSON object, in pieces that are joined, with the values that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise
from typing import Any

from wholecall.calls.arguments.equal import same_value
from wholecall.calls.parse import json_state, parse_arguments
from wholecall.grading.probe.exchange import AskedCall
from wholecall.grading.probe.reading.model import UNSET, CallSeen, Label
from wholecall.grading.probe.rules import rule
from wholecall.grading.probe.rules.asking import mangled, pairs, rounded
from wholecall.grading.probe.sight import Sight

_FEW = 2  # texts that restate all before them, at least, before it is a habit


def _calls(sight: Sight) -> list[CallSeen]:
    return sight.answer.calls if sight.answer else []


def _pieces(call: CallSeen) -> list[Label]:
    return [piece for piece in call.pieces if isinstance(piece.value, str) and piece.value]


def _object(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    if not calls:
        return None
    labels = (label for call in calls for label in (*call.pieces, *call.wholes))
    return [rule.Hit(label.frame) for label in labels if isinstance(label.value, (dict, list))][:1]


def _text(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.wholes]
    if not calls:
        return None
    return [rule.Hit(label.frame) for call in calls for label in call.wholes if isinstance(label.value, str)][
        :1
    ]


def _by_edit(*kinds: str) -> Callable[[Sight], rule.Hits]:
    """Return a check for edits that make a text readable."""

    def check(sight: Sight) -> rule.Hits:
        judged = [(call, verdict) for call, verdict in sight.judged if call.text]
        if not judged:
            return None
        return [
            rule.Hit(call.last)
            for call, verdict in judged
            if {edit.kind for edit in verdict.edits} & {*kinds}
        ]

    return check


def _several(sight: Sight) -> rule.Hits:
    judged = [(call, verdict) for call, verdict in sight.judged if call.text]
    if not judged:
        return None
    return [
        rule.Hit(call.last)
        for call, verdict in judged
        if verdict.reason == "multiple_objects" and not _grows(call)
    ]


def _not_object(sight: Sight) -> rule.Hits:
    judged = [(call, verdict) for call, verdict in sight.judged if call.text]
    if not judged:
        return None
    return [rule.Hit(call.last) for call, verdict in judged if verdict.reason == "not_an_object"]


def _grows(call: CallSeen) -> bool:
    """Return whether each text restates all before it and adds to it."""
    texts = [piece.value for piece in _pieces(call)]
    grown = [after for before, after in pairwise(texts) if _extends(before, after)]
    return len(grown) >= _FEW and len(grown) >= len(texts) - 2


def _extends(before: str, after: str) -> bool:
    """Return whether a text begins with another one, whose closers may be missing then."""
    stem = before.rstrip('"}] ')
    return len(after) > len(before) and bool(stem) and after.startswith(stem)


def _snapshots(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if len(_pieces(call)) > _FEW]
    if not calls:
        return None
    return [rule.Hit(_pieces(call)[1].frame) for call in calls if _grows(call) and not _is_exact(call)]


def _is_exact(call: CallSeen) -> bool:
    return parse_arguments(call.text).status == "exact"


def _repeated(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if len(_pieces(call)) > 1]
    if not calls:
        return None
    found = [rule.Hit(frame) for call in calls if (frame := _again(call)) is not None]
    return found + [
        rule.Hit(call.last) for call, asked, value in pairs(sight) if _is_doubled(call, asked, value)
    ]


def _is_doubled(call: CallSeen, asked: AskedCall, value: Any) -> bool:
    """Return whether readable arguments are the asked ones, but for pieces that came twice."""
    pieces = _pieces(call)
    if len(pieces) < 2 or same_value(asked.arguments, value):
        return False
    return same_value(asked.arguments, parse_arguments(_halved(pieces)).arguments)


def _halved(pieces: list[Label]) -> str:
    """Return the text without every second one of equal pieces in a row."""
    runs = [(text, len(list(run))) for text, run in groupby(piece.value for piece in pieces)]
    return "".join(text * ((count + 1) // 2) for text, count in runs)


def _again(call: CallSeen) -> int | None:
    """Return the frame with the whole text again, or with the piece before it again where the text is broken."""
    pieces = _pieces(call)
    if _is_exact(call) or _grows(call) or _is_placeholder(call):
        return None
    if any(edit.kind == "duplicate_object" for edit in parse_arguments(call.text).edits):
        return pieces[-1].frame
    before = ""
    for piece in pieces:
        if piece.value == before and json_state(before) == "complete":
            return piece.frame
        before += piece.value
    return _without_repeats(pieces)


def _without_repeats(pieces: list[Label]) -> int | None:
    again = [after.frame for before, after in pairwise(pieces) if after.value == before.value]
    return again[0] if again and parse_arguments(_halved(pieces)).status == "exact" else None


def _empty(sight: Sight) -> rule.Hits:
    asked = {call.name for call in sight.exchange.asked.calls if call.arguments == {}}
    calls = [call for call in _calls(sight) if call.name in asked]
    if not calls:
        return None
    return [
        rule.Hit(call.last) for call in calls if call.value is UNSET and call.text.strip() in {"", "null"}
    ]


def _placeholder(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.pieces and len(call.pieces) > 1]
    if not calls:
        return None
    return [rule.Hit(call.pieces[0].frame) for call in calls if _is_placeholder(call)]


def _is_placeholder(call: CallSeen) -> bool:
    texts = [piece.value for piece in _pieces(call)]
    if len(texts) < 2:
        return False
    rests = ((texts[0], texts[1:]), (texts[-1], texts[:-1]))
    return any(
        end.strip() == "{}" and parse_arguments("".join(rest)).status == "exact" for end, rest in rests
    )


def _surrogate(sight: Sight) -> rule.Hits:
    judged = [(call, verdict) for call, verdict in sight.judged if call.text]
    if not judged:
        return None
    return [rule.Hit(call.last) for call, verdict in judged if verdict.reason == "lone_surrogate"]


def _mangled(sight: Sight) -> rule.Hits:
    found = pairs(sight)
    if not found:
        return None
    words = ((call, mangled(asked.arguments, value)) for call, asked, value in found)
    return [rule.Hit(call.last, word) for call, word in words if word is not None]


def _rounded(sight: Sight) -> rule.Hits:
    found = [
        (call, asked.arguments, value) for call, asked, value in pairs(sight) if _has_large(asked.arguments)
    ]
    if not found:
        return None
    return [rule.Hit(call.last) for call, asked, value in found if rounded(asked, value)]


def _has_large(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_large, value.values()))
    return type(value) is int and int(float(value)) != value


def _restated(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.wholes and call.pieces]
    if not calls:
        return None
    labels = ((call, label) for call in calls for label in call.wholes if isinstance(label.value, str))
    return [rule.Hit(label.frame) for call, label in labels if _differs(call, label.value)][:1]


def _differs(call: CallSeen, stated: str) -> bool:
    joined = "".join(piece.value for piece in _pieces(call))
    one, other = parse_arguments(joined), parse_arguments(stated)
    if one.status == "dropped" or other.status == "dropped":
        return joined != stated
    return not same_value(one.arguments, other.arguments)


def _elsewhere(sight: Sight) -> rule.Hits:
    calls = _calls(sight)
    return [rule.Hit(call.elsewhere[0]) for call in calls if call.elsewhere] if calls else None


def _late(sight: Sight) -> rule.Hits:
    calls = [call for call in _calls(sight) if call.closed is not None]
    return [rule.Hit(call.late[0]) for call in calls if call.late] if calls else None


RULES = (
    rule.Rule(
        id="arguments.object",
        severity="major",
        source=rule.CHAT,
        check=_object,
        quirks=(22,),
        wires=rule.TEXTS,
        says="The arguments are an object where the wire has JSON text.",
    ),
    rule.Rule(
        id="arguments.text",
        severity="major",
        source=rule.GEMINI,
        check=_text,
        wires=rule.OBJECTS,
        says="The arguments are JSON text where the wire has an object.",
    ),
    rule.Rule(
        id="arguments.double-encoded",
        severity="major",
        source=rule.CALLING,
        check=_by_edit("double_encoded"),
        quirks=(27,),
        says="The arguments are encoded twice.",
    ),
    rule.Rule(
        id="arguments.fenced",
        severity="major",
        source=rule.CALLING,
        check=_by_edit("code_fence"),
        quirks=(28,),
        says="The arguments stand in a code fence.",
    ),
    rule.Rule(
        id="arguments.markers",
        severity="major",
        source=rule.CALLING,
        check=_by_edit("special_token", "trailing_text", "leading_text"),
        quirks=(28, 61),
        says="Text or markers of the model's format stand around the arguments.",
    ),
    rule.Rule(
        id="arguments.several",
        severity="critical",
        source=rule.CALLING,
        check=_several,
        quirks=(29,),
        wires=rule.PIECES,
        says="One call has several different objects of arguments.",
    ),
    rule.Rule(
        id="arguments.not-object",
        severity="major",
        source=rule.CALLING,
        check=_not_object,
        quirks=(30,),
        says="The arguments are JSON, but no object.",
    ),
    rule.Rule(
        id="arguments.snapshots",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_snapshots,
        quirks=(24,),
        wires=rule.PIECES,
        says="Each piece restates the arguments from the beginning: clients that append have no JSON.",
    ),
    rule.Rule(
        id="arguments.repeated",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_repeated,
        quirks=(23,),
        wires=rule.PIECES,
        says="Pieces of the arguments, or all of them, come again.",
    ),
    rule.Rule(
        id="arguments.empty",
        severity="major",
        source=rule.CALLING,
        check=_empty,
        quirks=(21, 26),
        wires=rule.TEXTS,
        says="A call without arguments has empty text and not {}: clients that decode it fail.",
    ),
    rule.Rule(
        id="arguments.placeholder",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_placeholder,
        quirks=(25, 87),
        wires=rule.PIECES,
        says="An empty object stands before or after the real arguments.",
    ),
    rule.Rule(
        id="arguments.surrogate",
        severity="major",
        source=rule.JSON,
        check=_surrogate,
        quirks=(35,),
        says="Half a character (a lone surrogate) stands in the arguments.",
    ),
    rule.Rule(
        id="arguments.mangled",
        severity="critical",
        source=rule.JSON,
        check=_mangled,
        quirks=(34, 100),
        says="A text in the arguments was changed as servers change texts, not as models do.",
    ),
    rule.Rule(
        id="arguments.rounded",
        severity="critical",
        source=rule.JSON,
        check=_rounded,
        says="A whole number was read as floating point: its last digits are wrong.",
    ),
    rule.Rule(
        id="arguments.restated",
        severity="critical",
        source=rule.RESPONSES,
        check=_restated,
        quirks=(40, 70),
        wires=rule.RESPONSES_ONLY,
        says="The arguments as a whole are not those of the pieces.",
    ),
    rule.Rule(
        id="arguments.elsewhere",
        severity="major",
        source=rule.CHAT,
        check=_elsewhere,
        quirks=(36,),
        wires=rule.PIECES,
        says="Arguments come under the name of another member.",
    ),
    rule.Rule(
        id="arguments.late",
        severity="critical",
        source=rule.RESPONSES,
        check=_late,
        quirks=(44, 77),
        wires=rule.PIECES,
        says="Argument text follows the end of its call.",
    ),
)
