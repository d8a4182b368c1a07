"""The strings of a stream that form one text: the argument text of a call, or a model's text in pieces.

Theory of operation
-------------------
Whether the letters `true` are a literal depends on the text before them, perhaps in other frames. The timeline shows
the text that each step added to each call; the strings of that step are searched from the last to the first for those
that add up to it, and where a call is shown for the first time, those of earlier steps, too. The text of a call is then
substituted as one text, and each string gets its part. A string that added nothing is a separate text: a whole text, a
repetition, a restatement. The model's text and reasoning are found the same way, by the events of each step; code that
a server runs is found by the name of its member.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from wholecall import ReasoningDelta, TextDelta
from wholecall.deltas import OLDER_FORM
from wholecall.recordings.redacting.leaves import Leaf
from wholecall.recordings.redacting.letters import Letters
from wholecall.recordings.redacting.rules import CODE, is_text
from wholecall.recordings.timeline.effects import CallChange
from wholecall.recordings.timeline.steps import Step
from wholecall.types import Kind

_JSON = frozenset('{["') | {""}
_MOST_EARLY = 256
_FREE = frozenset({"custom", "builtin", None})  # kinds of calls whose input need not be JSON


@dataclass(eq=False)
class Text:
    """The text in force of one call, since it was last replaced.

    Attributes:
        pieces: the texts that were added.
        size: their characters.
        kind: the kind of the call; None for the model's text.
        parts: the strings of the stream that form it, and their positions in it.
        is_code: whether it is code as the wire has it, without the JSON that the dialect puts around it.
    """

    kind: Kind | None
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    parts: list[tuple[Leaf, int]] = field(default_factory=list)
    is_code: bool = False

    @property
    def free(self) -> bool:
        """Whether the text need not be JSON: the input of a custom tool, code that a server runs."""
        is_code = self.kind == "server" and "".join(self.pieces[:2]).lstrip()[:1] not in _JSON
        return self.kind in _FREE or is_code or self.is_code

    def take(self, text: str, leaves: Iterable[Leaf]) -> None:
        """Add text, and the strings that form it, if they are known."""
        at = self.size
        for leaf in leaves:
            self.parts.append((leaf, at))
            at += len(leaf.text)
        self.pieces.append(text)
        self.size += len(text)

    def add(self, text: str, *places: list[Leaf]) -> None:
        """Add text, and the strings that form it, from the first place that has all of them."""
        for strings in places:
            found = self._found(text, strings)
            for leaf, at in found:
                strings.remove(leaf)
                twins = [other for other in strings if _is_twin(leaf, other)]
                self.parts += [(one, at) for one in (leaf, *twins)]
                strings[:] = [other for other in strings if other not in twins]
            if found:
                break
        self.pieces.append(text)
        self.size += len(text)

    def _found(self, text: str, strings: list[Leaf]) -> list[tuple[Leaf, int]]:
        """Return the strings that add up to a text, with their positions; none if they do not."""
        found: list[tuple[Leaf, int]] = []
        end = len(text)
        for leaf in reversed(strings):
            if not end:
                break
            if leaf.text and text.endswith(leaf.text, 0, end):
                end -= len(leaf.text)
                found.append((leaf, self.size + end))
        return [] if end else found

    def substituted(self, letters: Letters) -> list[tuple[Leaf, str]]:
        """Return the strings with their substitutes."""
        whole = "".join(self.pieces)
        other = letters.plain(whole) if self.free else letters.arguments(whole)
        return [
            (
                leaf,
                letters.arguments(leaf.text)
                if self._begins_anew(leaf, at)
                else other[at : at + len(leaf.text)],
            )
            for leaf, at in self.parts
        ]

    def _begins_anew(self, leaf: Leaf, at: int) -> bool:
        """Return whether a piece repeats the beginning: a snapshot, or an object that begins like the one around it."""
        first = next((piece for piece in self.pieces if piece.strip()), "")
        return at > 0 and not self.free and len(first) > 1 and leaf.text.startswith(first)


def _is_twin(leaf: Leaf, other: Leaf) -> bool:
    """Return whether a frame has a piece in the list of calls and in chat's older form (quirk 143)."""
    is_other = leaf.around != other.around and OLDER_FORM in (leaf.around, other.around)
    return is_other and leaf.key == other.key and leaf.text == other.text


def texts_of(steps: Iterable[Step], leaves: list[Leaf]) -> list[Text]:
    """Return the texts of all calls of a stream, and the model's texts.

    Args:
        steps: the stream's timeline.
        leaves: the strings that may be part of such a text, in order.
    """
    texts = _Texts()
    early: list[Leaf] = []  # the last unused strings: a call may be shown later, with all of its text
    taken = 0
    for step in steps:
        end = step.offset + step.size
        strings: list[Leaf] = []
        while taken < len(leaves) and leaves[taken].place < end:
            strings.append(leaves[taken])
            taken += 1
        for change in step.changes:
            texts.change(change, strings, early)
        said = texts.say(step, strings)
        early += [leaf for leaf in strings if leaf not in said]
        del early[:-_MOST_EARLY]
    return texts.found


class _Texts:
    """The texts of a stream while it is read."""

    def __init__(self) -> None:
        self.found: list[Text] = []
        self._current: dict[tuple[object, ...], Text] = {}

    def change(self, change: CallChange, strings: list[Leaf], early: list[Leaf]) -> None:
        """Apply a step's change of a call, with the strings of the step and those before it."""
        key = change.turn, change.choice, change.index
        if key not in self._current or change.replaced:
            self._begin(key, Text(change.kind))
        text = self._current[key]
        code = _code(change, strings)
        if code is not None:
            text.is_code = True
            text.take(code.text, [code])
            strings.remove(code)
        elif change.added and not text.is_code:
            text.add(change.added, strings, *([early] if change.before is None else []))

    def say(self, step: Step, strings: list[Leaf]) -> set[Leaf]:
        """Add the model's text of a step, with the strings of the step; return those that form it."""
        leaves = [leaf for leaf in strings if is_text(leaf.key)]
        said: set[Leaf] = set()
        end = 0
        for event in step.events:
            if not isinstance(event, (TextDelta, ReasoningDelta)):
                continue
            key = type(event), event.turn, event.choice
            if key not in self._current:
                self._begin(key, Text(None))
            start, end = _row(event.text, leaves, end)
            self._current[key].take(event.text, leaves[start:end])
            said.update(leaves[start:end])
        return said

    def _begin(self, key: tuple[object, ...], text: Text) -> None:
        self._current[key] = text
        self.found.append(text)


def _row(text: str, leaves: list[Leaf], start: int) -> tuple[int, int]:
    """Return start and end of consecutive strings that form a text, not far after `start`; `start` twice if none do."""
    for first in range(start, min(start + _MOST_EARLY, len(leaves))):
        at, end = 0, first
        while at < len(text) and end < len(leaves) and text.startswith(leaves[end].text, at):
            at += len(leaves[end].text)
            end += 1
        if at == len(text):
            return first, end
    return start, start


def _code(change: CallChange, strings: list[Leaf]) -> Leaf | None:
    """Return the code that a step added to a server's call, which the dialect puts into JSON; None if there is none."""
    if change.kind != "server":
        return None
    codes = (leaf for leaf in strings if leaf.around in CODE)
    return next(
        (leaf for leaf in codes if change.added.endswith(json.dumps(leaf.text, ensure_ascii=False)[1:-1])),
        None,
    )
