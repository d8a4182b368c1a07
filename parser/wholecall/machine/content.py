"""The content of a choice in order: texts, reasoning, calls, and parts that are sent back unchanged.

Theory of operation. `Content.places` notes where each part began, in characters of text before it. A part that only its
provider understands (a result of its search, a text with citations, an item of an unknown type) is a `Kept`; a text
with further members covers the text since `begin_text`. A call that the wire lists among such parts before its own
frame comes is placed by its id, where it was listed. `view` makes the view of all these parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.deltas import ReasoningFragment
from wholecall.machine.kept import Kept
from wholecall.machine.said import ReasoningText, SaidText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wholecall.deltas import BlockKept
    from wholecall.machine.call import Call


class Content:
    """What a choice says besides the text of its calls.

    Attributes:
        text: the visible text.
        reasoning: its blocks.
        places: where each part began, in characters of `text` before it: its number in `Choice.calls`, `reasoning`,
            `kept` or `listed`.
        kept: blocks that go back as they came.
        listed: ids of calls that a list of parts named in their place.
    """

    text: SaidText
    reasoning: list[ReasoningText]
    places: list[tuple[int, tuple[Literal["call", "reasoning", "text", "block", "listed"], int]]]
    kept: list[Kept]
    listed: list[str]

    __slots__ = tuple(__annotations__)

    def __init__(self) -> None:
        self.text = SaidText()
        self.reasoning, self.places, self.kept, self.listed = [], [], [], []

    def remade(self) -> None:
        """Check that each part that has a place is there.

        Raises:
            ValueError: one is not.
        """
        sizes = {"reasoning": len(self.reasoning), "block": len(self.kept), "listed": len(self.listed)}
        if any(what in sizes and not 0 <= number < sizes[what] for _, (what, number) in self.places):
            raise ValueError("a part of the answer is not there")

    def place_numbered(self, number: int) -> None:
        """Place the call of this number here."""
        self.places.append((self.text.size, ("call", number)))

    def block_of(self, delta: ReasoningFragment) -> ReasoningText:
        """Return the block of a piece of reasoning; a new block number opens a new block, and so does a seal.

        A signature seals a block once anything else was said: Gemini's parts have no numbers.
        """
        blocks = self.reasoning
        if not blocks or blocks[-1].block != delta.block or self._is_sealed(blocks[-1]):
            self.places.append((self.text.size, ("reasoning", len(blocks))))
            blocks.append(ReasoningText(delta.block))
        blocks[-1].label(delta)
        return blocks[-1]

    def _is_sealed(self, block: ReasoningText) -> bool:
        if not block.is_sealed:
            return False
        place, (what, _) = self.places[-1] if self.places else (0, ("text", 0))
        return what != "reasoning" or place < self.text.size

    def begin_text(self) -> None:
        """Separate the text that follows from the text before it."""
        if not self.places or self.places[-1] != (self.text.size, ("text", 0)):
            self.places.append((self.text.size, ("text", 0)))

    def keep(self, delta: BlockKept) -> None:
        """Keep a part; a text only if it equals the text since it began."""
        kept = self.kept
        if kept and kept[-1].take(delta):
            return
        if delta.of_text and not self._is_said(delta.said):
            return
        self.places.append((self.text.size, ("block", len(kept))))
        part = Kept(dict(delta.value), delta.of_text, delta.grows)
        if delta.grows is not None:
            part.pieces.add(delta.value[delta.grows])
        kept.append(part)

    def _is_said(self, said: str | None) -> bool:
        """Return whether only text came since a text began, and that text equals the given text, if it is known."""
        place, (what, _) = self.places[-1] if self.places else (0, ("call", 0))
        return what == "text" and said in (None, self.text.text[place:])

    def place_listed(self, id: str) -> None:
        """Place the call of an id here, unless it has a place already."""
        self.places.append((self.text.size, ("listed", len(self.listed))))
        self.listed.append(id)

    def join(self) -> None:
        """Join the pieces of all texts."""
        for said in (self.text, *self.reasoning, *(part.pieces for part in self.kept)):
            said.join()

    def forget(self) -> None:
        """Clear text, reasoning and other parts, and the places of calls in them."""
        for held in (self.text, self.places, self.kept, self.listed):
            held.clear()
        del self.reasoning[:-1]
        for block in self.reasoning:  # the last one may continue
            block.clear()

    def view(
        self, blocks: tuple[ReasoningBlock, ...], by_id: Mapping[str, list[Call]]
    ) -> tuple[str | ReasoningBlock | OtherBlock | int, ...]:
        """Return text, reasoning, other parts and the numbers of calls in the order in which they began."""
        found: list[str | ReasoningBlock | OtherBlock | int] = []
        done, said = 0, self.text.text
        for place, (what, number) in [*self.places, (self.text.size, ("text", 0))]:
            text = ""
            if place > done:
                text, done = said[done:place], place
            if what == "block" and self.kept[number].of_text:
                found.append(self.kept[number].seen(text))
                continue
            if text:
                found.append(text)
            if what == "block":
                found.append(self.kept[number].seen(""))
            elif what == "reasoning":
                found.append(blocks[number])
            elif what == "call":
                found.append(number)
            elif what == "listed":
                found += _numbers(by_id.get(self.listed[number], ()))
        return tuple(found) if not self.listed else tuple(_once(found))


def _numbers(calls: Iterable[Call]) -> list[int]:
    """Return the number of the first call that has one."""
    return [call.number for call in calls if call.number >= 0][:1]


def _once(
    parts: list[str | ReasoningBlock | OtherBlock | int],
) -> Iterator[str | ReasoningBlock | OtherBlock | int]:
    """Yield the parts, each call only at its first place."""
    seen: set[int] = set()
    for part in parts:
        if isinstance(part, int):
            if part in seen:
                continue
            seen.add(part)
        yield part
