"""Finders of flaws in a transcript: each yields the places and the calls that a provider refuses.

Theory of operation. A transcript is read once, through the view of the shape that the provider takes, into lines of
parts. Consecutive lines that the provider reads as one are a *turn*. A finder is a generator over that reading and is
independent of providers; the rules of each provider are data (`wholecall.history.checking`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from wholecall.history.formats import HistoryFormat, IdRule, encode_arguments
from wholecall.history.indexed import IndexedTranscript
from wholecall.history.parts import LEFT_ALONE, Line, Message, Part
from wholecall.history.shapes.base import View

_IDS: Final[dict[IdRule, re.Pattern[str]]] = {
    "any": re.compile(r".+", re.DOTALL),
    "kimi": re.compile(r".+", re.DOTALL),
    "openai40": re.compile(r".{1,40}", re.DOTALL),
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "responses": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "mistral9": re.compile(r"[a-zA-Z0-9]{9}"),
}
_TEXTS, _OBJECTS = frozenset({"text", "blank"}), frozenset({"object", "empty"})


class Flaw(NamedTuple):
    """A place where a rule is broken.

    Attributes:
        at: the index of the message, None if there is none.
        ids: of the calls, or their names if they have no id.
    """

    at: int | None
    ids: tuple[str, ...] = ()


class Turn(NamedTuple):
    """Consecutive lines of one side: the model, or the user with the results."""

    by_model: bool
    lines: list[Line]

    def parts(self, *kinds: str) -> list[Part]:
        """Return the parts of these kinds, in order."""
        return [part for line in self.lines for part in line.parts if part.kind in kinds]


class Reading:
    """A transcript as a provider would read it.

    Args:
        messages: the messages, each a dict.
        view: of the shape that the provider takes.
        format: the format to the provider.
        gathers: whether all consecutive lines of one side are one turn; else each line of the model is a separate turn.
    """

    def __init__(
        self, messages: Sequence[Message], view: View, format: HistoryFormat, *, gathers: bool
    ) -> None:
        self.indexed = IndexedTranscript(messages, view)
        self.format = format
        # A system prompt among the messages does not affect the order of the others.
        self.lines = [line for line in self.indexed.lines if self.role(line) not in ("system", "developer")]
        self.turns = [
            Turn(by_model, part)
            for by_model, lines in groupby(self.indexed.lines, lambda line: line.side == "model")
            for part in ([list(lines)] if gathers or not by_model else [[line] for line in lines])
        ]

    def role(self, line: Line) -> object:
        """Return the role of a line's message, None if it has none."""
        return self.indexed.message(line).get("role")

    def parts(self, *kinds: str) -> Iterator[tuple[int, Part]]:
        """Yield the parts of these kinds, each with the index of its message."""
        for line in self.indexed.lines:
            for part in line.parts:
                if part.kind in kinds:
                    yield line.index, part

    @cached_property
    def loop(self) -> list[Turn]:
        """The turns of the model since the user's last message, if the last turn is results: the open loop."""
        if not self.turns or not self.turns[-1].parts("result"):
            return []
        said = [number for number, turn in enumerate(self.turns) if not turn.by_model and _speaks(turn)]
        return [turn for turn in self.turns[said[-1] if said else 0 :] if turn.by_model]


def _speaks(turn: Turn) -> bool:
    return not turn.parts("result") and bool(turn.lines)


Finder = Callable[[Reading], Iterator[Flaw]]


def _flaws(found: Iterable[tuple[int, Part]]) -> Iterator[Flaw]:
    """Yield a flaw for each message, with all of its parts."""
    for index, parts in groupby(found, lambda one: one[0]):
        yield Flaw(index, tuple(part.label for _, part in parts if part.label))


# --- ids, names, arguments -----------------------------------------------------------------------------


def bad_ids(reading: Reading) -> Iterator[Flaw]:
    """Ids of calls and results that the provider does not accept, or that are missing."""
    rule = _IDS[reading.format.ids]
    return _flaws(
        (index, part)
        for index, part in reading.parts("call", "result")
        if not (part.anonymous or rule.fullmatch(part.id))
    )


def bad_names(most: int, alphabet: str = r"[a-zA-Z0-9_-]") -> Finder:
    """Return the finder of names of calls that are too long, are empty, or contain other characters."""
    legal = re.compile(rf"{alphabet}{{1,{most}}}", re.DOTALL)
    return lambda reading: _flaws(
        (index, part) for index, part in reading.parts("call") if not legal.fullmatch(part.name)
    )


def arguments_type(reading: Reading) -> Iterator[Flaw]:
    """Arguments that are text where an object is required, or the reverse; or are missing."""
    due = _OBJECTS if reading.format.carries == "object" else _TEXTS
    return _flaws(
        (index, part)
        for index, part in reading.parts("call")
        if part.form != "free" and part.form not in LEFT_ALONE and part.carried not in due
    )


def argument_text(reading: Reading) -> Iterator[Flaw]:
    """Argument text that is not the text of an object."""
    return _flaws((index, part) for index, part in reading.parts("call") if _is_malformed(part, reading))


def _is_malformed(call: Part, reading: Reading) -> bool:
    if call.form == "free" or call.carried not in _TEXTS:
        return False
    text = reading.indexed.arguments(call)
    return bool(encode_arguments(text, reading.format, strict_json_arguments=True) != text)


# --- calls and results ---------------------------------------------------------------------------------


class Pairs(NamedTuple):
    """The flaws of the calls of a turn and the results after it."""

    unanswered: list[Part]
    orphans: list[Part]
    again: list[Part]


def _is_of(result: Part, call: Part) -> bool:
    if result.id and call.id:
        return result.id in (call.id, *call.aliases)
    return call.anonymous and result.name == call.name


def _paired(calls: list[Part], results: Iterable[Part]) -> Pairs:
    waiting, answered = list(calls), list[Part]()
    orphans, again = list[Part](), list[Part]()
    for result in results:
        # The call that has the result's id comes before those that have it as an alias.
        own = (call for call in waiting if result.id and result.id == call.id)
        call = next(own, None) or next((call for call in waiting if _is_of(result, call)), None)
        if call is not None:
            waiting.remove(call)
            answered.append(call)
        else:
            (again if any(_is_of(result, call) for call in answered) else orphans).append(result)
    return Pairs(waiting, orphans, again)


def _results(turn: Turn | None, leading: bool) -> tuple[list[Part], list[Part]]:
    """Return the results of a turn that are in place, and the others."""
    if turn is None or turn.by_model:
        return [], []
    parts = turn.parts("result", "server_result", "text", "blank", "other")
    end = next((number for number, part in enumerate(parts) if part.kind != "result"), len(parts))
    found = [part for part in parts if part.kind == "result"]
    return (found[:end], found[end:]) if leading else (found, [])


def _pairs(reading: Reading, where: str) -> Iterator[Pairs]:
    if where == "within":
        yield Pairs([part for _, part in reading.parts("call") if part.result is None], [], [])
        return
    if where == "anywhere":
        calls = [part for _, part in reading.parts("call")]
        yield _paired(calls, [part for _, part in reading.parts("result")])
        return
    for turn, after in pairwise([Turn(False, []), *reading.turns, None]):
        if turn is None or (not turn.by_model and turn.lines):
            continue
        placed, displaced = _results(after, leading=where == "first")
        pairs = _paired(turn.parts("call"), placed)
        yield Pairs(pairs.unanswered, [*pairs.orphans, *displaced], pairs.again)


def _paired_flaws(fact: str, where: str) -> Finder:
    return lambda reading: _flaws(
        (part.row, part) for pairs in _pairs(reading, where) for part in getattr(pairs, fact)
    )


def unanswered(where: str) -> Finder:
    """Return the finder of calls without a result in its place.

    The place is `"first"` in the next turn, `"next"`, `"anywhere"`, or `"within"` it.
    """
    return _paired_flaws("unanswered", where)


def orphan_results(where: str) -> Finder:
    """Return the finder of results whose call is not in the required place."""
    return _paired_flaws("orphans", where)


def served_to_user(reading: Reading) -> Iterator[Flaw]:
    """Results of the provider's own tools among the user's words, where their calls cannot be."""
    return _flaws(
        (line.index, part)
        for line in reading.lines
        if line.side != "model"
        for part in line.parts
        if part.kind == "server_result"
    )


def duplicate_results(where: str) -> Finder:
    """Return the finder of further results of a call that has one."""
    return _paired_flaws("again", where)


def duplicate_calls(*, over_all: bool) -> Finder:
    """Return the finder of ids that name several calls, of all turns or of one."""

    def find(reading: Reading) -> Iterator[Flaw]:
        seen: set[str] = set()
        for turn in reading.turns:
            seen = seen if over_all else set()
            for call in turn.parts("call"):
                if call.id and call.id in seen:
                    yield Flaw(call.row, (call.id,))
                seen.add(call.id)

    return find


# --- roles and their order -----------------------------------------------------------------------------


def no_messages(reading: Reading) -> Iterator[Flaw]:
    """No message at all but system prompts."""
    if not reading.lines:
        yield Flaw(None)


def roles_beside(*known: str) -> Finder:
    """Return the finder of roles that the provider does not know; an item without a role has none."""
    return lambda reading: (
        Flaw(line.index)
        for line in reading.indexed.lines
        if (role := reading.role(line)) is not None and role not in known
    )


def first_not_user(reading: Reading) -> Iterator[Flaw]:
    """A first message that is from the model."""
    if reading.turns and reading.turns[0].by_model:
        yield Flaw(reading.turns[0].lines[0].index)


def not_alternating(reading: Reading) -> Iterator[Flaw]:
    """A message of the same role as the one before."""
    for one, other in pairwise(reading.lines):
        if reading.role(one) == reading.role(other):
            yield Flaw(other.index)


def user_after_tool(reading: Reading) -> Iterator[Flaw]:
    """A message of the user directly after results, with no answer of the model in between."""
    for one, other in pairwise(reading.lines):
        if one.side == "result" and other.side == "user":
            yield Flaw(other.index)


def ends_with_model(reading: Reading) -> Iterator[Flaw]:
    """A last message that is from the model and is not marked to be continued."""
    for line in reading.lines[-1:]:
        if line.side == "model" and reading.indexed.message(line).get("prefix") is not True:
            yield Flaw(line.index)


# --- contents ------------------------------------------------------------------------------------------


def blank_texts(reading: Reading) -> Iterator[Flaw]:
    """Blocks of text without text."""
    return _flaws(
        (index, part) for index, part in reading.parts("blank") if part.listed and part.field == "content"
    )


def blank_results(reading: Reading) -> Iterator[Flaw]:
    """Results that hold a block of text without text."""
    for line in reading.lines:
        content = reading.indexed.message(line).get("content")
        if isinstance(content, list) and any(map(_holds_blank_text, content)):
            yield Flaw(line.index)


def _holds_blank_text(block: object) -> bool:
    """Return whether a block is a result with a blank text in its list of contents."""
    if not isinstance(block, dict):
        return False
    of_converse = block.get("toolResult")
    held = (of_converse if isinstance(of_converse, dict) else block).get("content")
    texts = [one.get("text") for one in held if isinstance(one, dict)] if isinstance(held, list) else []
    return any(isinstance(text, str) and not text.strip() for text in texts)


def bodiless(reading: Reading) -> Iterator[Flaw]:
    """Messages with no content at all; the last one of the model may have none."""
    for line in reading.lines:
        is_last = line is reading.lines[-1] and line.side == "model"
        if not is_last and all(part.kind == "blank" for part in line.parts):
            yield Flaw(line.index)


def wordless(reading: Reading) -> Iterator[Flaw]:
    """Messages of the model with neither content nor calls."""
    for line in reading.lines:
        said = isinstance(reading.indexed.message(line).get("content"), str)
        if (
            line.side == "model"
            and not said
            and all(part.kind in ("thinking", "blank") for part in line.parts)
        ):
            yield Flaw(line.index)


def empty_call_lists(reading: Reading) -> Iterator[Flaw]:
    """Lists of calls without a call."""
    for line in reading.lines:
        if reading.indexed.message(line).get("tool_calls") == []:
            yield Flaw(line.index)


def lists_of_blocks(reading: Reading) -> Iterator[Flaw]:
    """Contents that are a list, where only text is accepted."""
    for line in reading.indexed.lines:
        if isinstance(reading.indexed.message(line).get("content"), list):
            yield Flaw(line.index)


# --- thoughts ------------------------------------------------------------------------------------------


def unsigned_thoughts(reading: Reading) -> Iterator[Flaw]:
    """Blocks of thinking without their signature, or without their data where they are redacted."""
    for index, part in reading.parts("thinking"):
        if not part.listed:  # another provider's member
            continue
        block = reading.indexed.value(part)
        proof = "data" if block.get("type") == "redacted_thinking" else "signature"
        if not block.get(proof):
            yield Flaw(index)


def thoughtless_loop(reading: Reading) -> Iterator[Flaw]:
    """An open tool loop whose first turn of the model does not begin with thinking."""
    for turn in reading.loop[:1]:
        parts = [part for line in turn.lines for part in line.parts if part.kind != "blank"]
        if parts and parts[0].kind != "thinking":
            yield Flaw(turn.lines[0].index)


def unsigned_calls(reading: Reading) -> Iterator[Flaw]:
    """Turns of an open tool loop whose first call has no thought signature."""
    for turn in reading.loop:
        for call in turn.parts("call")[:1]:
            part = reading.indexed.value(call)
            if not (part.get("thoughtSignature") or part.get("thought_signature")):
                yield Flaw(call.row, (call.label,))


def unfollowed_reasoning(reading: Reading) -> Iterator[Flaw]:
    """Items of reasoning that no item of the model follows."""
    lines = [line for line in reading.lines if line.parts]
    for line, after in pairwise([*lines, None]):
        if line is not None and _is_thought(line) and (after is None or after.side != "model"):
            yield Flaw(line.index)


def _is_thought(line: Line) -> bool:
    return all(part.kind == "thinking" for part in line.parts)
