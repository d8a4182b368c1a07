"""The repair of a book of messages: the steps in their order, and the report of their changes.

Theory of operation. Results are paired with calls (`pairing`), invalid parts are removed (`judging`), ids are made
distinct (`naming`), results are put after their turns (`placing`), and the fate of each message is recorded
(`writing`). The steps are the same for all shapes. Every step is linear.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import msgspec

from wholecall.history.book import Book
from wholecall.history.judging import Rules, answers_of, judge, let_joined_be_answered, put_right
from wholecall.history.naming import name_calls
from wholecall.history.pairing import pair
from wholecall.history.parts import Line, Part
from wholecall.history.placing import place
from wholecall.history.served import bring_back
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.chat import CHAT
from wholecall.history.writing import Written, write

__all__ = ["TranscriptReport", "mend"]


class TranscriptReport(msgspec.Struct, frozen=True):
    """The changes of a repair; each list is independent, in the order of the input.

    Ids are those of the input; a call or result without an id is listed by its name. Indices are those of the input.

    Attributes:
        changed: whether anything was changed at all.
        stripped_calls: ids of calls that were removed.
        dropped_messages: indices of messages that are not in the output, or were merged into the one before.
        dropped_results: ids of results that were dropped: of stripped calls, orphans, and duplicates.
        synthesised: ids of calls for which a result was made that states that the real one is missing.
        moved: ids of calls whose results were misplaced.
        coerced: ids of calls whose arguments were converted to the form of the shape.
        renamed: ids of calls that got another id or a name; the new id if there was none.
        dropped_thinking: for each thought that was removed, the index of its message.
        adjacent_turns: indices of messages that now follow one of the same role, and did not before.
    """

    changed: bool = False
    stripped_calls: list[str] = []
    dropped_messages: list[int] = []
    dropped_results: list[str] = []
    synthesised: list[str] = []
    moved: list[str] = []
    coerced: list[str] = []
    renamed: list[str] = []
    dropped_thinking: list[int] = []
    adjacent_turns: list[int] = []

    @property
    def synthesized(self) -> list[str]:
        """An alias of `synthesised` in American spelling."""
        return self.synthesised


def mend(book: Book, rules: Rules) -> tuple[list[Written], TranscriptReport]:
    """Repair a transcript; return the messages of the output, and the report.

    Raises:
        ValueError: arguments that contain themselves.
    """
    lines, shape = book.lines, book.shape
    orphans = pair(lines)
    returned = bring_back(lines)
    stripped = [call for answer in answers_of(lines, shape) for call in judge(answer, rules, book)]
    _drop_results(orphans, stripped)
    if shape.joins is not None:
        let_joined_be_answered(lines, shape.joins)
    coerced, renamed = _put_right(book, rules)
    plan = place(book, fill=rules.unanswered == "synthesise")
    output = write(book, plan)
    if len(output) == len(lines) and not any(item.changed for item in output):
        return output, TranscriptReport()
    left = {item.line.index for item in output if item.line is not None}
    report = TranscriptReport(
        changed=True,
        stripped_calls=_labels(stripped),
        dropped_messages=[line.index for line in lines if line.index not in left],
        dropped_results=_labels(part for line in lines for part in line.parts if _is_dropped(line, part)),
        synthesised=_labels(plan.made),
        moved=_labels([*returned, *plan.moved]),
        coerced=coerced,
        renamed=renamed,
        dropped_thinking=[line.index for line, part in _parts(lines, "thinking") if part.gone],
        adjacent_turns=_adjacent(lines, output, shape),
    )
    return output, report


def _parts(lines: Iterable[Line], kind: str) -> Iterator[tuple[Line, Part]]:
    return ((line, part) for line in lines for part in line.parts if part.kind == kind)


def _is_dropped(line: Line, part: Part) -> bool:
    """Return whether a result was removed; results of the provider's tools count only among the user's words."""
    return part.gone and (part.kind == "result" or (part.kind == "server_result" and line.side != "model"))


def _labels(parts: Iterable[Part]) -> list[str]:
    return [part.label for part in parts]


def _drop_results(orphans: Iterable[Part], stripped: Iterable[Part]) -> None:
    """Drop the results that answer nothing, and those of removed calls."""
    for result in orphans:
        result.gone = True
    for call in stripped:
        if call.result is not None:
            call.result.gone = True


def _put_right(book: Book, rules: Rules) -> tuple[list[str], list[str]]:
    """Correct the remaining calls; return which were coerced, and which got a name or an id."""
    calls = [(line, part) for line, part in _parts(book.lines, "call") if part.here]
    coerced: list[str] = []
    renamed: list[str] = []
    for _, call in calls:
        was_coerced, was_renamed = put_right(call, rules, book)
        coerced += [call.label] * was_coerced
        renamed += [call.label] * was_renamed
    return coerced, renamed + name_calls(calls, keep_counted=book.shape is CHAT)


def _adjacent(lines: list[Line], output: list[Written], shape: Shape) -> list[int]:
    """Return the messages that follow one of the same role in the output, and followed another before."""
    before = array("q", [-1]) * len(lines)
    last: dict[str, int] = {}
    for line in lines:
        if line.side != "other":
            before[line.index] = last.get(line.thread, -1)
            last[line.thread] = line.index
    adjacent: list[int] = []
    roles: dict[str, tuple[str, int | None]] = {}
    for item in output:
        near = item.line or item.put_after
        if near is None or near.side == "other":
            continue
        role = _role(item, shape)
        index = None if item.line is None else item.line.index
        previous = roles.get(near.thread, ("", None))
        roles[near.thread] = (role, index)
        if role == previous[0] != "result" and index is not None and before[index] != previous[1]:
            adjacent.append(index)
    return sorted(adjacent)


def _role(item: Written, shape: Shape) -> str:
    """Return who speaks in a message of the output; where a shape gathers, results are the user's words."""
    side = "result" if item.line is None else item.line.side
    return "user" if side == "result" and shape.gathers else side
