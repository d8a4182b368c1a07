"""The repair of transcripts: remains of an aborted, cut or careless turn that no provider accepts.

Theory of operation. A transcript is read through the view of its shape (`wholecall.history.shapes`) into lines of parts
(`indexed`). Results are paired with calls (`pairing`), invalid parts are removed, ids are made distinct (`judging`), and
results are put after their turns (`pairing`). The steps are the same for all shapes, and every step is linear. Only
changed messages are written again: a message that needs no repair is the same object as before, and so is a list of such
messages. Only transcripts are repaired here; the text of arguments is never repaired, only converted to the form that
the shape needs.

An agent repairs its messages before each request, and has added only a few since the last one. A *settled* beginning of
a sound list ends before an answer of the model, with each of its calls answered in it: later messages can neither answer
nor continue anything there. If the next list begins with the same objects, only the rest is read and repaired, as a
separate list. If the rest is sound, begins with an answer, and has no id of the beginning, the whole is sound, and the
beginning grows. In any other case the whole list is read again: the result is always that of a full repair.

    user, [assistant calls c1, result c1], [assistant calls c2, result c2], assistant calls c3
    ------------------- settled -------------------------------------------
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import is_
from typing import Any, Final, Generic, Literal, Optional, cast

import msgspec

from wholecall.errors import UnknownDialect
from wholecall.history import ids, pairing
from wholecall.history.indexed import IndexedTranscript, Written, write
from wholecall.history.judging import Rules, answers_of, judge, let_joined_be_answered, name_calls, put_right
from wholecall.history.parts import RUN, Line, Message, MessagesT, Part
from wholecall.history.shapes.base import Shape, expect_messages
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.table import NOTHING, Seen, ShapeName, seen_in, shape_of


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


class Repaired(msgspec.Struct, Generic[MessagesT], frozen=True):
    """A transcript that can be sent, and the report of its repair.

    Attributes:
        messages: the input itself if nothing had to be changed, else a new list (a tuple for a tuple), of the same type
            as the input.
        report: the changes.
        settled: the messages that the next repair need not read, if it is given this object (`after=`).
    """

    messages: MessagesT
    report: TranscriptReport
    settled: Settled

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
    after: Repaired[Any] | None = None,
) -> Repaired[MessagesT]:
    """Make a transcript acceptable to providers: every call answered once, in its place, and no message empty.

    Aborted turns lose their calls and thoughts and keep their text; turns cut for length lose the calls that may
    be incomplete. Results are removed with their calls, moved back to them, or made. Nothing is changed in place, and a
    second repair changes nothing.

    Args:
        messages: requests' messages or items, or the decoded lines of a session file: a list or tuple of dicts, of any
            type, as `list[openai.types.chat.ChatCompletionMessageParam]`.
        unanswered: `"synthesise"` makes a result for each call that lacks one; `"keep"` leaves such calls, for a
            host that repairs before its last results exist.
        nameless: the treatment of unanswered calls without a name: `"strip"` removes them, `"rename"` names them
            `invalid_tool_call`. Answered ones are renamed.
        aborted: the kept part of a turn that was aborted or failed: `"keep_text"` or nothing (`"drop_turn"`).
        names: the existing tools. If given, unanswered calls of other tools are removed.
        strict_json_arguments: whether argument text that is not a JSON object is wrapped in one, for servers that
            read it. Otherwise text is sent as it was stored.
        shape: of the messages, if they do not show it: `"chat-completions"`, `"responses"`, `"anthropic"`, `"gemini"`,
            `"bedrock-converse"`, `"ollama"`, `"mistral-conversations"`, `"langchain"`, `"ag-ui"`, `"vercel-ui"`, or the
            session files of `"pi"`, `"claude-code"`, `"codex"`.
        after: the return value for the same conversation before it grew. Messages that were sound then, and with which
            this list begins (the same objects), are not read again; the result is the same. Omit it if a message was
            changed in place.

    Returns:
        The repaired list, or the input itself, and a report.

    Raises:
        TypeError: `messages` is not a list or tuple, or something in it is not a dict.
        UnknownDialect: `shape` is `"auto"`, and no known shape has messages like these, or they are a record.
        ValueError: an unknown option value, or arguments that contain themselves.
    """
    rules = _rules(unanswered, nameless, aborted, names, strict_json_arguments)
    known = after.settled if after is not None else None
    if known is not None and isinstance(messages, (list, tuple)):
        grown = known.grown(messages, rules, shape)
        if grown is not None:
            return Repaired(messages, TranscriptReport(), grown)
    indexed = indexed_transcript(messages, shape)
    output, report = mend(indexed, rules)
    if not report.changed:
        return Repaired(messages, report, settle(indexed, rules, shape))
    made = new_messages(messages, [item.message(indexed) for item in output])
    return Repaired(made, report, known or Settled(rules, shape, indexed.shape))


def new_messages(messages: MessagesT, made: list[Any]) -> MessagesT:
    """Return the new messages, in a tuple if the input was one."""
    return cast("MessagesT", tuple(made) if isinstance(messages, tuple) else made)


def indexed_transcript(messages: Sequence[Any], shape: str) -> IndexedTranscript:
    """Read messages through the view of their shape."""
    expect_messages(messages)
    return IndexedTranscript(messages, shape)


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


# --- the steps -----------------------------------------------------------------------------------------


def mend(indexed: IndexedTranscript, rules: Rules) -> tuple[list[Written], TranscriptReport]:
    """Repair a transcript; return the messages of the output, and the report.

    Raises:
        ValueError: arguments that contain themselves.
    """
    lines, shape = indexed.lines, indexed.shape
    orphans = pairing.pair(lines)
    returned = pairing.bring_back(lines)
    stripped = [call for answer in answers_of(lines, shape) for call in judge(answer, rules, indexed)]
    _drop_results(orphans, stripped)
    if shape.joins is not None:
        let_joined_be_answered(lines, shape.joins)
    coerced, renamed = _put_right(indexed, rules)
    plan = pairing.place(indexed, fill=rules.unanswered == "synthesise")
    output = write(indexed, plan.put_after)
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
    """Drop the results that answer no call, and those of removed calls."""
    for result in orphans:
        result.gone = True
    for call in stripped:
        if call.result is not None:
            call.result.gone = True


def _put_right(indexed: IndexedTranscript, rules: Rules) -> tuple[list[str], list[str]]:
    """Correct the remaining calls; return which were coerced, and which got a name or an id."""
    calls = [(line, part) for line, part in _parts(indexed.lines, "call") if part.here]
    coerced: list[str] = []
    renamed: list[str] = []
    for _, call in calls:
        was_coerced, was_renamed = put_right(call, rules, indexed)
        coerced += [call.label] * was_coerced
        renamed += [call.label] * was_renamed
    return coerced, renamed + name_calls(calls, keep_counted=indexed.shape is CHAT)


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


# --- messages that the next repair need not read -------------------------------------------------------


_RUN: Final = re.compile(rf"{RUN} \d+")


class Settled(msgspec.Struct, frozen=True, eq=False):
    """The settled beginning of a list of messages.

    Attributes:
        rules: the rules by which it is sound.
        asked: the shape that the caller named.
        shape: the shape by which it was read.
        messages: the messages themselves, never changed.
        seen: the evidence of their shape.
        labels: ids and aliases of their calls, and names of their answers.
    """

    rules: Rules
    asked: str
    shape: Shape
    messages: tuple[Message, ...] = ()
    seen: Seen = NOTHING
    labels: frozenset[str] = frozenset()

    def grown(self, messages: Sequence[Any], rules: Rules, asked: str) -> Optional[Settled]:
        """Return the settled part of a sound list that begins with this, None if the whole list must be read."""
        n = len(self.messages)
        if (self.rules, self.asked) != (rules, asked) or len(messages) < n or not n:
            return None
        if not all(map(is_, self.messages, messages)):
            return None
        indexed = self._read(messages[n:])
        if indexed is None or not self._goes_on(indexed.lines) or mend(indexed, rules)[1].changed:
            return None
        return _extended(self, indexed)

    def _read(self, rest: Sequence[Any]) -> IndexedTranscript | None:
        """Read the following messages; None if they are refused, or show that all are of another shape."""
        if not all(isinstance(message, dict) for message in rest):
            return None
        try:
            shape = shape_of(rest, self.asked, self.seen)
        except UnknownDialect:
            return None
        return IndexedTranscript(rest, shape) if shape is self.shape else None

    def _goes_on(self, lines: Sequence[Line]) -> bool:
        """Return whether messages begin with an answer, and name nothing in the settled beginning."""
        if not lines:
            return True
        first = lines[0]
        begins = first.side == "model" and first.visible and _is_plain(lines)
        return begins and self.labels.isdisjoint(_named(lines, counted=self.shape is CHAT))


def settle(indexed: IndexedTranscript, rules: Rules, asked: str) -> Settled:
    """Return the settled beginning of a list that needed no repair."""
    empty = Settled(rules, asked, indexed.shape)
    return _extended(empty, indexed) if _is_plain(indexed.lines) else empty


def _extended(before: Settled, indexed: IndexedTranscript) -> Settled:
    """Return the settled beginning of sound messages and those before them."""
    n = _n_closed(indexed.lines)
    if not n:
        return before
    closed = indexed.messages[:n]
    return msgspec.structs.replace(
        before,
        messages=(*before.messages, *closed),
        seen=seen_in(closed, before.seen) if before.asked == "auto" else before.seen,
        labels=before.labels.union(_names_of(indexed.lines[:n])),
    )


def _is_plain(lines: Iterable[Line]) -> bool:
    """Return whether all lines are one conversation, and no call may be hidden by a reference."""
    threads = {line.thread for line in lines if line.side != "other"}
    return threads <= {""} and not any(part.kind == "reference" for line in lines for part in line.parts)


def _n_closed(lines: Sequence[Line]) -> int:
    """Return how many lines there are before the last answer at which no call is open, 0 if there is none."""
    found = 0
    latest = -1  # the last line of a result of the calls so far; beyond all lines if one has none
    for index, line in enumerate(lines):
        before = lines[index - 1].side if index else "other"
        if line.side == "model" and line.visible and before in ("user", "result") and latest < index:
            found = index
        for call in (part for part in line.parts if part.kind == "call"):
            row = len(lines) if call.result is None else call.result.row
            latest = max(latest, row)
    return found


def _names_of(lines: Iterable[Line]) -> set[str]:
    """Return the labels by which later messages could name calls and answers of these lines."""
    labels: set[str] = set()
    for line in lines:
        if line.answer and not _RUN.fullmatch(line.answer):
            labels.add(line.answer)
        for part in line.parts:
            if part.kind == "call":
                labels.update((part.id, *part.aliases))
    return labels - {""}


def _named(lines: Sequence[Line], *, counted: bool) -> set[str]:
    """Return the labels that messages name, without the ids that models count within each answer if these are kept."""
    parts = [part for line in lines for part in line.parts]
    own = {
        part.id for part in parts if counted and part.kind == "call" and ids.is_counted(part.id, part.name)
    }
    return _names_of(lines).union(part.id for part in parts if part.kind == "result") - own
