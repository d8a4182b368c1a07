"""Which strings of a stream are argument text, and of which call.

Theory of operation
-------------------
Whether the letters `true` are a literal depends on the text before them, perhaps in other frames. The timeline
shows what text each step added to which call; the strings of that step are looked through from the last to the
first for the ones that add up to it, and where a call is shown for the first time, those of the steps before it, too.
The text of a call is then substituted as one text, and each string gets its part. A string that added nothing is a text
by itself: a whole text, a repetition, a restatement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wholecall.redacting.leaves import Leaf
from wholecall.redacting.letters import Letters
from wholecall.timeline import Step
from wholecall.types import Kind

__all__ = ["Text", "texts_of"]

_JSON = frozenset('{["') | {""}
_MOST_EARLY = 256
_FREE = frozenset({"custom", "builtin"})  # kinds of calls whose input need not be JSON


@dataclass(eq=False)
class Text:
    """Text in force of one call, from where it last was replaced.

    Attributes:
        pieces: the texts that were added.
        size: their characters.
        kind: what kind of call it is.
        parts: the strings of the stream that it came from, and where they begin in it.
    """

    kind: Kind
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    parts: list[tuple[Leaf, int]] = field(default_factory=list)

    @property
    def free(self) -> bool:
        """Whether it need not be JSON: the input of a custom tool, code that a server runs."""
        is_code = self.kind == "server" and "".join(self.pieces[:2]).lstrip()[:1] not in _JSON
        return self.kind in _FREE or is_code

    def add(self, text: str, *places: list[Leaf]) -> None:
        """Take more text, and the strings that it came from out of the first place that has them all."""
        for strings in places:
            found = self._found(text, strings)
            self.parts += found
            for leaf, _ in found:
                strings.remove(leaf)
            if found:
                break
        self.pieces.append(text)
        self.size += len(text)

    def _found(self, text: str, strings: list[Leaf]) -> list[tuple[Leaf, int]]:
        """Return the strings that add up to a text, and where they begin; none if they do not."""
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
        """Whether a piece repeats the beginning: a snapshot, or an object that begins like the one around it."""
        first = next(piece for piece in self.pieces if piece.strip())
        return at > 0 and not self.free and len(first) > 1 and leaf.text.startswith(first)


def texts_of(steps: Iterable[Step], leaves: list[Leaf]) -> list[Text]:
    """Return the texts of all calls of a stream.

    Args:
        steps: the stream's timeline.
        leaves: the strings that may be argument text, in order.
    """
    texts: list[Text] = []
    current: dict[tuple[int, int, int], Text] = {}
    early: list[
        Leaf
    ] = []  # the last strings that added nothing: a call may be shown later, with all of its text
    taken = 0
    for step in steps:
        end = step.offset + step.size
        strings: list[Leaf] = []
        while taken < len(leaves) and leaves[taken].place < end:
            strings.append(leaves[taken])
            taken += 1
        for change in step.changes:
            key = change.turn, change.choice, change.index
            if key not in current or change.replaced:
                current[key] = Text(change.kind)
                texts.append(current[key])
            if change.added:
                current[key].add(change.added, strings, *([early] if change.before is None else []))
        early += strings
        del early[:-_MOST_EARLY]
    return texts
