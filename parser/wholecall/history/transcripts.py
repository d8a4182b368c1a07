"""Repairs transcripts: what an aborted, cut or careless turn left that no provider accepts.

Theory of operation. A transcript is read through the view of its shape (`wholecall.history.shapes`) into lines of
parts, and from there on all shapes are one: results are paired with calls (`pairing`), what must not stay is
taken out (`judging`), ids are made distinct (`naming`), results are put after their turns (`placing`), and only
what was changed is written again (`writing`). A message that needs nothing is the same object as before, and so is
a list of such messages. Every step is linear.

Only transcripts are repaired here; the text of arguments is never repaired, only brought into the form that the
shape needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, cast

import msgspec

from wholecall.history.judging import Rules, answers_of, judge, put_right
from wholecall.history.naming import name_calls
from wholecall.history.pairing import pair
from wholecall.history.parts import RUN, SIDE, Line, MessagesT, Part
from wholecall.history.placing import place
from wholecall.history.shapes.base import Links, Shape, expect_dict
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.table import ShapeName, shape_of
from wholecall.history.writing import Written, write

__all__ = ["Repaired", "Report", "new_messages", "read_lines", "repair_transcript"]


class Report(msgspec.Struct, frozen=True):
    """What a repair did; each list is a fact of its own, in the order of the input.

    Ids are those of the input; a call or result without an id goes by its name. Indices are those of the input.

    Attributes:
        changed: whether anything was changed at all.
        stripped_calls: ids of calls that were taken out.
        dropped_messages: indices of messages that are not in the output.
        dropped_results: ids of results that were dropped: of stripped calls, orphans, and those that came twice.
        synthesized: ids of calls for which a result was made that says that there is none.
        moved: ids of calls whose results were in another place.
        coerced: ids of calls whose arguments were brought into the form of the shape.
        renamed: ids of calls that got another id or a name; the new id where there was none.
        dropped_thinking: for each thought that was taken out, the index of its message.
        adjacent_turns: indices of messages that now follow one of the same role, and did not before.
    """

    changed: bool = False
    stripped_calls: list[str] = []
    dropped_messages: list[int] = []
    dropped_results: list[str] = []
    synthesized: list[str] = []
    moved: list[str] = []
    coerced: list[str] = []
    renamed: list[str] = []
    dropped_thinking: list[int] = []
    adjacent_turns: list[int] = []


class Repaired(msgspec.Struct, Generic[MessagesT], frozen=True):
    """A transcript that can be sent, and what was done for that.

    Attributes:
        messages: the input itself if nothing had to be changed, else a new list (a tuple for a tuple), of the type
            that the input has.
        report: what was done.
    """

    messages: MessagesT
    report: Report

    def __repr__(self) -> str:
        return f"Repaired(messages=<{len(self.messages)}>, report={self.report!r})"


def repair_transcript(
    messages: MessagesT,
    *,
    unanswered: Literal["synthesise", "keep"] = "synthesise",
    nameless: Literal["strip", "rename"] = "strip",
    aborted: Literal["keep_text", "drop_turn"] = "keep_text",
    names: Collection[str] | None = None,
    strict_json_arguments: bool = False,
    shape: ShapeName = "auto",
) -> Repaired[MessagesT]:
    """Make a transcript one that providers take: every call answered once, in its place, and nothing empty.

    Aborted turns lose their calls and thoughts and keep their text; turns cut for length lose the calls that may
    be incomplete. Results go with their calls, come back to them, or are made. Nothing is changed in place, and
    repairing what was repaired changes nothing.

    Args:
        messages: requests' messages or items, or the decoded lines of a session file: a list or tuple of dicts, of
            whatever type, as `list[openai.types.chat.ChatCompletionMessageParam]`.
        unanswered: `"synthesise"` makes a result for each call that lacks one; `"keep"` leaves such calls, for a
            host that repairs before its last results exist.
        nameless: what happens to calls without a name that were not answered: `"strip"` takes them out,
            `"rename"` names them `invalid_tool_call`. Those that were answered are renamed.
        aborted: what stays of a turn that was aborted or failed: `"keep_text"` or nothing (`"drop_turn"`).
        names: the tools that there are. Given, calls of others that were not answered are taken out.
        strict_json_arguments: whether argument text that is not a JSON object is wrapped in one, for servers that
            read it. Otherwise text is sent as it was stored.
        shape: of the messages, where it cannot be seen from them: `"chat-completions"`, `"responses"`,
            `"anthropic"`, `"gemini"`, or the session files of `"pi"`, `"claude-code"`, `"codex"`.

    Returns:
        The repaired list, or the input itself, and a report.

    Raises:
        TypeError: `messages` is not a list or tuple, or something in it is not a dict.
        ValueError: an option that is not one, or arguments that hold themselves.
    """
    rules = _rules(unanswered, nameless, aborted, names, strict_json_arguments)
    lines, view = read_lines(messages, shape)
    orphans = pair(lines)
    stripped = [call for answer in answers_of(lines, view) for call in judge(answer, rules, view)]
    _drop_results(orphans, stripped)
    calls = [(line, part) for line, part in _parts(lines, "call") if part.here]
    coerced, renamed = _put_right(calls, rules)
    renamed += name_calls(calls, keep_counted=view is CHAT)
    plan = place(lines, view, fill=rules.unanswered == "synthesise")
    output = write(lines, plan, view)
    if len(output) == len(lines) and not any(item.changed for item in output):
        return Repaired(messages, Report())
    left = {item.line.index for item in output if item.line is not None}
    report = Report(
        changed=True,
        stripped_calls=_labels(stripped),
        dropped_messages=[line.index for line in lines if line.index not in left],
        dropped_results=_labels(part for _, part in _parts(lines, "result") if part.gone),
        synthesized=_labels(plan.made),
        moved=_labels(plan.moved),
        coerced=coerced,
        renamed=renamed,
        dropped_thinking=[line.index for line, part in _parts(lines, "thinking") if part.gone],
        adjacent_turns=_adjacent(lines, output, view),
    )
    return Repaired(new_messages(messages, [item.message for item in output]), report)


def new_messages(messages: MessagesT, made: list[Any]) -> MessagesT:
    """Return what was made of messages, in a tuple if they were in one."""
    return cast("MessagesT", tuple(made) if isinstance(messages, tuple) else made)


def read_lines(messages: Sequence[Any], shape: str) -> tuple[list[Line], Shape]:
    """Read messages through the view of their shape, which is returned beside them."""
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"messages are of type {type(messages).__name__}, not a list")
    for index, message in enumerate(messages):
        expect_dict(message, f"messages[{index}]")
    view = shape_of(messages, shape)
    lines = [view.read(message) for message in messages]
    for index, line in enumerate(lines):
        line.index, line.message = index, messages[index]
        for part in line.parts:
            part.row = index
            part.label = part.id or part.name
    _count_runs(lines)
    if view.links is not None:
        _part_threads(lines, view.links)
    return lines, view


def _count_runs(lines: Iterable[Line]) -> None:
    """Number the runs, each of which is one answer because nothing is said in between."""
    run, ended = 0, False
    for line in lines:
        if line.answer == RUN:
            run += ended
            ended = False
            line.answer = f"{RUN} {run}"
        elif line.visible:
            ended = True


def _part_threads(lines: Iterable[Line], links: Links) -> None:
    """Distinguish the conversations beside the main one, where only their links do: each has a first entry."""
    first: dict[str, str] = {}
    for line in lines:
        id, parent = line.message.get(links.id), line.message.get(links.parent)
        if isinstance(id, str):
            first[id] = first.get(parent, id) if isinstance(parent, str) else id
            line.thread += f" {first[id]}" if line.thread == SIDE else ""


_CHOICES = {
    "unanswered": ("synthesise", "keep"),
    "nameless": ("strip", "rename"),
    "aborted": ("keep_text", "drop_turn"),
}


def _rules(
    unanswered: Any, nameless: Any, aborted: Any, names: Collection[str] | None, strict_json_arguments: bool
) -> Rules:
    given = {"unanswered": unanswered, "nameless": nameless, "aborted": aborted}
    for option, choices in _CHOICES.items():
        if given[option] not in choices:
            raise ValueError(f"{option} is one of {', '.join(choices)}")
    if isinstance(names, str):
        raise TypeError("names is a collection of names, not one name")
    known = None if names is None else frozenset(names)
    return Rules(unanswered, nameless, aborted, known, strict_json_arguments)


def _parts(lines: Iterable[Line], kind: str) -> Iterator[tuple[Line, Part]]:
    return ((line, part) for line in lines for part in line.parts if part.kind == kind)


def _labels(parts: Iterable[Part]) -> list[str]:
    return [part.label for part in parts]


def _drop_results(orphans: Iterable[Part], stripped: Iterable[Part]) -> None:
    """Drop the results that answer nothing, and those of calls that are gone."""
    for result in orphans:
        result.gone = True
    for call in stripped:
        if call.result is not None:
            call.result.gone = True


def _put_right(calls: Iterable[tuple[Line, Part]], rules: Rules) -> tuple[list[str], list[str]]:
    """Put the calls that stay right; return which were coerced and which got a name."""
    coerced: list[str] = []
    renamed: list[str] = []
    for _, call in calls:
        was_coerced, was_renamed = put_right(call, rules)
        coerced += [call.label] * was_coerced
        renamed += [call.label] * was_renamed
    return coerced, renamed


def _adjacent(lines: list[Line], output: list[Written], shape: Shape) -> list[int]:
    """Return the messages that follow one of the same role in the output, and followed another before."""
    before: dict[int, int] = {}
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
