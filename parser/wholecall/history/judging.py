"""The parts of a transcript that stay, and the form of the remaining calls: arguments, names, ids.

Theory of operation. Lines of the model are grouped into *answers*, because one reason ends all of them. An answer that
was aborted loses its calls and its thoughts; one that was cut loses the calls that may be incomplete. A stored
call without its name or its arguments, or with members that exist only while it is streamed, is removed as well, unless a
real result shows that it was executed: then it is corrected. A thought is removed with the calls that it led to, and a
result with its call; nothing else is decided about results here.

Argument text is judged by `parse_arguments`, written by `encode_arguments`, and not read otherwise.

Repeated ids get a new one, missing ids are made, results follow their calls. A new id is valid wherever the old one was:
it is longer only where longer ids are allowed, and uses letters, digits and `_`. Ids of the form `functions.<name>:<n>`
are counted within one answer by the models that use them, and such models read them; in chat completions they are kept
(quirk 64).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal

import msgspec

from wholecall.calls.parse import parse_arguments
from wholecall.dialects.reasons import turn_reason
from wholecall.history.formats import HistoryFormat, encode_arguments
from wholecall.history.ids import is_counted
from wholecall.history.indexed import IndexedTranscript
from wholecall.history.parts import ABSENT, LEFT_ALONE, Carried, Form, Line, Part
from wholecall.history.shapes.base import View
from wholecall.history.values import dumped
from wholecall.types import CUT_REASONS

_ABORTED = frozenset({"aborted", "abort", "canceled", "interrupted"})
_CUT = CUT_REASONS | {"malformed"}
_INVALID_NAME = "invalid_tool_call"  # of a nameless call that must stay
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

_OBJECT, _TEXT = HistoryFormat("object", "object"), HistoryFormat("text", "string")
_TEXTS: tuple[Carried, ...] = ("text", "blank")
_CARRIED: dict[Form, tuple[Carried, ...]] = {"object": ("object", "empty"), "string": _TEXTS, "free": _TEXTS}

Stop = Literal["", "cut", "aborted"]


class Rules(msgspec.Struct, frozen=True):
    """The caller's choices; see `wholecall.history.repair_transcript`."""

    unanswered: Literal["synthesise", "keep"] = "synthesise"
    nameless: Literal["strip", "rename"] = "strip"
    aborted: Literal["keep_text", "drop_turn"] = "keep_text"
    names: Collection[str] | None = None
    strict_json_arguments: bool = False


class Answer(msgspec.Struct, eq=False, gc=False):
    """The lines of one answer of the model.

    Attributes:
        lines: in order.
        stop: how it ended, as far as relevant here.
    """

    lines: list[Line]
    stop: Stop = ""

    def parts(self, *kinds: str) -> list[Part]:
        """Return the remaining parts, of these kinds or of all."""
        found = [part for line in self.lines for part in line.held]
        return [part for part in found if part.kind in kinds] if kinds else found


def answers_of(lines: Iterable[Line], shape: View) -> list[Answer]:
    """Group the lines of the model into answers, each at the place of its first line.

    If an answer is all consecutive lines, each line has its own stop: two answers may follow each other.
    """
    answers: list[Answer] = []
    named: dict[tuple[str, str], Answer] = {}
    for line in lines:
        if line.side != "model":
            continue
        key = (line.thread, line.answer or "")
        answer = named.get(key) if line.answer else None
        if answer is None:
            answer = Answer([])
            answers.append(answer)
            if line.answer:
                named[key] = answer
        answer.lines.append(line)
        if shape.by_order:
            continue
        stops = {answer.stop, _stop(line.stop)}
        answer.stop = "aborted" if "aborted" in stops else "cut" if "cut" in stops else ""
    return answers


def _stop(raw: object) -> Stop:
    if isinstance(raw, str) and raw.strip().lower() in _ABORTED:
        return "aborted"
    reason = turn_reason(raw)
    if reason is None:
        return ""
    return "aborted" if reason[0] == "error" else "cut" if reason[0] in _CUT else ""


# --- parts to remove -----------------------------------------------------------------------------------


def judge(answer: Answer, rules: Rules, indexed: IndexedTranscript) -> list[Part]:
    """Remove the invalid parts of an answer; return the removed calls."""
    calls = answer.parts("call")
    if answer.stop == "aborted" and rules.aborted == "drop_turn":
        _drop(answer.parts())
        return calls
    ends = list(endings(answer, indexed.shape))
    going = [call for call, stop, last in ends if _goes(call, last, stop, rules, indexed)]
    for call, stop, _ in ends:
        # A call that is judged by its place must be answered: once its last sibling is removed, it would be next.
        call.due = stop == "cut" and call.form == "object"
    _drop(going)
    if answer.stop == "aborted":
        _drop(answer.parts("thinking"))
        _drop(_unpaired(answer))
    elif indexed.shape.by_order:
        _drop(_pointless(answer))
    elif calls and len(going) == len(calls):
        _drop(answer.parts("thinking"))
    if all(part.kind in ("thinking", "blank") for part in answer.parts()):
        _drop(answer.parts("thinking"))
    return going


def let_joined_be_answered(lines: Iterable[Line], joins: Callable[[Line, Line], bool]) -> None:
    """Require answers for calls that will be in a cut message, because their lines are merged into the message before.

    The next repair would judge them by their place there.
    """
    last: dict[
        str, tuple[Line, bool]
    ] = {}  # by thread: the line into which others are merged, and whether it was cut
    for line in (line for line in lines if line.side != "other" and line.visible):
        before, was_cut = last.get(line.thread, (line, False))
        if before is line or not joins(before, line):
            last[line.thread] = line, _stop(line.stop) == "cut"
        elif was_cut:
            for call in line.parts:
                call.due = call.due or (call.kind == "call" and call.here and call.form == "object")


def endings(answer: Answer, shape: View) -> Iterator[tuple[Part, Stop, bool]]:
    """Yield each call, its stop, and whether it is the last call to which this stop applies."""
    said = [Answer([line], _stop(line.stop)) for line in answer.lines] if shape.by_order else [answer]
    for one in said:
        calls = one.parts("call")
        for call in calls:
            yield call, one.stop, call is calls[-1]


def _drop(parts: Iterable[Part]) -> None:
    for part in parts:
        part.gone = True


def _goes(call: Part, last: bool, stop: Stop, rules: Rules, indexed: IndexedTranscript) -> bool:
    if stop == "aborted":
        return True
    if call.result is not None and call.result.real:
        return False
    if stop == "cut" and is_incomplete(call, last, indexed):
        return True
    if call.scratch or call.carried == "absent":
        return True
    if not call.name.strip():
        return rules.nameless == "strip"
    if not call.answerable and rules.unanswered == "synthesise":
        return True
    if rules.names is None or call.name == _INVALID_NAME:
        return False
    return call.name not in rules.names or not _NAME.fullmatch(call.name)


def is_incomplete(call: Part, last: bool, indexed: IndexedTranscript) -> bool:
    """Return whether a call without a real result may lack its end: judged by its text, or else by its place."""
    if call.carried in _TEXTS and call.form != "free":
        return parse_arguments(indexed.arguments(call), ended="length").status == "dropped"
    if call.carried not in ("object", "empty"):
        return True
    # A made result shows that an earlier repair found the call complete. Without one, `{}` may stand for lost arguments.
    return call.result is None and (last or call.carried == "empty" or call.form in LEFT_ALONE)


def _unpaired(answer: Answer) -> list[Part]:
    """Return the blocks of the provider's own tools that lack their other half."""
    calls, results = answer.parts("server_call"), answer.parts("server_result")
    called, answered = {part.id for part in calls}, {part.id for part in results}
    return [part for part in calls if part.id not in answered] + [
        part for part in results if part.id not in called
    ]


def _pointless(answer: Answer) -> list[Part]:
    """Return the thoughts of an answer that no part follows any more before the next thought."""
    parts = [part for line in answer.lines for part in line.parts if part.kind != "blank"]
    starts = [
        number
        for number, part in enumerate(parts)
        if part.kind == "thinking" and (number == 0 or parts[number - 1].kind != "thinking")
    ]
    pointless: list[Part] = []
    for start, end in pairwise([*starts, len(parts)]):
        group = parts[start:end]
        if not any(part.here for part in group if part.kind != "thinking"):
            pointless += [part for part in group if part.here]
    return pointless


# --- corrections ---------------------------------------------------------------------------------------


def put_right(call: Part, rules: Rules, indexed: IndexedTranscript) -> tuple[bool, bool]:
    """Give a remaining call a name and arguments of the right form; return whether it was coerced, renamed."""
    coerced = bool(call.scratch)
    for path in call.scratch:
        call.cut(path)
    arguments = _coerced(call, rules.strict_json_arguments, indexed)
    if arguments is not ABSENT:
        call.set("arguments", arguments)
        coerced = True
    if call.name.strip():
        return coerced, False
    call.set("name", _INVALID_NAME)
    result = call.result
    if result is not None and result.name:
        result.set("name", _INVALID_NAME)
    call.name = _INVALID_NAME
    return coerced, True


def _coerced(call: Part, strict: bool, indexed: IndexedTranscript) -> Any:
    """Return arguments in the form that the shape carries, `ABSENT` if they have it already."""
    if call.form in LEFT_ALONE or call.carried in _CARRIED[call.form]:
        stays = call.form != "string" or (call.carried == "text" and not strict)
        return ABSENT if stays else _strictly(indexed.arguments(call), strict)
    if call.carried in ("absent", "null"):
        return {"object": {}, "string": "{}", "free": ""}[call.form]
    arguments = indexed.arguments(call)
    raw = arguments if isinstance(arguments, str) else _text(arguments)
    if call.form == "object":
        return encode_arguments(raw, _OBJECT)
    strictly = _strictly(raw, strict) if call.form == "string" else ABSENT
    return raw if strictly is ABSENT else strictly


def _strictly(raw: str, strict: bool) -> Any:
    """Return a text's replacement on a strict format, `ABSENT` if it can stay; empty text is not arguments."""
    if not raw.strip():
        return "{}"
    if not strict:
        return ABSENT
    # Half surrogate pairs are spelled out: as escapes of the wrapping text they would be wrapped again.
    spelled = raw.encode("utf-8", "backslashreplace").decode()
    text = encode_arguments(spelled, _TEXT, strict_json_arguments=True)
    return ABSENT if text == raw else text


def _text(value: Any) -> str:
    try:
        return dumped(value)
    except ValueError:  # a number that JSON lacks
        return dumped({_OBJECT.wrapper: json.dumps(value, separators=(",", ":"))})


# --- ids -----------------------------------------------------------------------------------------------


_ROOM = 40  # characters that every provider accepts for an id, except those that require exactly nine
_EXACT = 9


class _Ids:
    """The taken ids, and a source of new ids; deterministic."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self.counts: dict[str, int] = {}

    def like(self, id: str) -> str:
        """Return a new id for a call whose id is taken."""
        if len(id) == _EXACT and id.isalnum():
            return self._next(id[:5], lambda number: id[: _EXACT - max(4, len(str(number)))] + f"{number:04}")
        stem = id if len(id) + 4 <= _ROOM else id[: max(_ROOM, len(id)) - 8]
        return self._next(stem, lambda number: f"{stem}_{number}")

    def fresh(self) -> str:
        """Return an id for a call that has none."""
        return self._next("call", lambda number: f"call_{number}")

    def _next(self, stem: str, make: Callable[[int], str]) -> str:
        number = self.counts.get(stem, 1)
        while True:
            number += 1
            id = make(number)
            if id not in self.taken:
                self.counts[stem] = number
                self.taken.add(id)
                return id


def name_calls(calls: Iterable[tuple[Line, Part]], *, keep_counted: bool) -> list[str]:
    """Give every call a unique id, and its result the same id.

    Returns:
        The renamed calls, by the id in the input, or by the new id if there was none.
    """
    calls = list(calls)
    ids = _Ids(call.id for _, call in calls if call.id)
    threads: dict[str, dict[str, int]] = {}
    renamed: list[str] = []
    for line, call in calls:
        before = call.id
        last = threads.setdefault(line.thread, {})
        if before and before in last:
            stays = keep_counted and last[before] != line.index and is_counted(call.id, call.name)
            call.id = before if stays else ids.like(before)
        elif not before and not call.anonymous:
            call.id = _alias(call, ids) or ids.fresh()
        last[before] = line.index
        if call.id != before:
            call.set("id", call.id)
        if _rename_result(call) or call.id != before:
            renamed.append(before or call.id)
    return renamed


def _alias(call: Part, ids: _Ids) -> str:
    """Return an alias of the call that no other call has for its id."""
    alias = next((alias for alias in call.aliases if alias not in ids.taken), "")
    ids.taken.add(alias)
    return alias


def _rename_result(call: Part) -> bool:
    """Let the result of a call name it by its id, and by its name too if results name tools."""
    result = call.result
    if result is None:
        return False
    changed = False
    if call.id and call.id != result.id and (result.id or not result.anonymous):
        result.set("id", call.id)
        changed = True
    if result.anonymous and call.name != result.name:
        result.set("name", call.name)
        changed = True
    return changed
