"""The content of a choice in order: texts, reasoning, calls, and parts that are sent back unchanged.

Theory of operation. `Choice.places` notes where each part began, in characters of text before it. A part that only its
provider understands (a result of its search, a text with citations, an item of an unknown type) is a `Kept`; a text
with further members covers the text since `begin_text`. A call that the wire lists among such parts before its own
frame comes is placed by its id, where it was listed. `content` makes the view of all these parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.machine.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wholecall.deltas import BlockKept
    from wholecall.machine.choice import Choice


def begin_text(choice: Choice) -> None:
    """Separate the text that follows from the text before it."""
    if not choice.places or choice.places[-1] != (choice.text.size, ("text", 0)):
        choice.places.append((choice.text.size, ("text", 0)))


def keep(choice: Choice, delta: BlockKept) -> None:
    """Keep a part; a text only if it equals the text since it began."""
    kept = choice.kept
    if kept and kept[-1].take(delta):
        return
    if delta.of_text and not _is_said(choice, delta.said):
        return
    choice.places.append((choice.text.size, ("block", len(kept))))
    part = Kept(dict(delta.value), delta.of_text, delta.grows)
    if delta.grows is not None:
        part.pieces.add(delta.value[delta.grows])
    kept.append(part)


def _is_said(choice: Choice, said: str | None) -> bool:
    """Return whether only text came since a text began, and that text equals the given text, if it is known."""
    place, (what, _) = choice.places[-1] if choice.places else (0, ("call", 0))
    return what == "text" and said in (None, choice.text.text[place:])


def place_call(choice: Choice, id: str) -> None:
    """Place the call of an id here, unless it has a place already."""
    choice.places.append((choice.text.size, ("listed", len(choice.listed))))
    choice.listed.append(id)


def content(
    choice: Choice, blocks: tuple[ReasoningBlock, ...]
) -> tuple[str | ReasoningBlock | OtherBlock | int, ...]:
    """Return text, reasoning, other parts and the numbers of calls in the order in which they began."""
    found: list[str | ReasoningBlock | OtherBlock | int] = []
    done, said = 0, choice.text.text
    for place, (what, number) in [*choice.places, (choice.text.size, ("text", 0))]:
        text = ""
        if place > done:
            text, done = said[done:place], place
        if what == "block" and choice.kept[number].of_text:
            found.append(choice.kept[number].seen(text))
            continue
        if text:
            found.append(text)
        if what == "block":
            found.append(choice.kept[number].seen(""))
        elif what == "reasoning":
            found.append(blocks[number])
        elif what == "call":
            found.append(number)
        elif what == "listed":
            found += _listed(choice, choice.listed[number])
    return tuple(found) if not choice.listed else tuple(_once(found))


def _listed(choice: Choice, id: str) -> list[int]:
    """Return the number of the first call of an id, if there is one."""
    calls = choice.by_id.get(id, ())
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
