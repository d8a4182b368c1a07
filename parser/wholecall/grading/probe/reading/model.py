"""The form of an answer that rules judge: every label and piece with its frame, nothing repaired or merged.

Theory of operation. The parser survives quirks; a judge must see them. Therefore readers keep each value as it came,
also values of wrong types, and `UNSET` where a member was not there. Only the grouping of fragments to calls is
decided here, by index first and by new labels second, as an unmodified client would have to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

UNSET = msgspec.UNSET


class Label(NamedTuple):
    """A value with the number of its frame; 0 is a whole body."""

    frame: int
    value: Any


class CallSeen(msgspec.Struct, eq=False):
    """One call as the wire shows it.

    Attributes:
        first: the frame of its first fragment.
        position: its index on the wire, `UNSET` if there was none.
        ids: its ids, one for each fragment that could carry one.
        names: the same for names.
        types: the same for types.
        item_ids: ids of the item itself (Responses).
        pieces: its argument pieces, texts or whatever else was there.
        wholes: texts or objects that state the arguments as a whole.
        elsewhere: frames with arguments under another member's name.
        start: the arguments at the start of its block (Anthropic).
        closed: the frame that ended it.
        late: frames with text after its end.
        last: the frame of its last fragment.
        churned: the frame in which it went on under another index.
    """

    first: int
    position: Any = UNSET
    ids: list[Label] = []
    names: list[Label] = []
    types: list[Label] = []
    item_ids: list[Label] = []
    pieces: list[Label] = []
    wholes: list[Label] = []
    elsewhere: list[int] = []
    start: Any = UNSET
    closed: int | None = None
    late: list[int] = []
    last: int = 0
    churned: int | None = None

    def __repr__(self) -> str:
        return f"<CallSeen first={self.first} pieces={len(self.pieces)}>"

    @property
    def name(self) -> str:
        """The name that a client shows: the first one that is not blank; empty if there is none."""
        return next((value for _, value in self.names if isinstance(value, str) and value.strip()), "")

    @property
    def id(self) -> str:
        """The first id that is one; empty if there is none."""
        return next((value for _, value in self.ids if is_id(value)), "")

    @property
    def text(self) -> str:
        """The argument text as a client joins it: the pieces that are texts, else the last text as a whole."""
        joined = "".join(value for _, value in self.pieces if isinstance(value, str))
        if joined or any(isinstance(value, str) for _, value in self.pieces):
            return joined
        return next((value for _, value in reversed(self.wholes) if isinstance(value, str)), "")

    @property
    def value(self) -> Any:
        """The arguments where they came as an object; `UNSET` where they came as text."""
        if any(isinstance(value, str) and value for _, value in self.pieces):
            return UNSET
        objects = (value for _, value in (*self.wholes, *self.pieces) if isinstance(value, dict))
        return next(objects, self.start if isinstance(self.start, dict) else UNSET)


def is_id(value: object) -> bool:
    """Return whether a value is an id, and not a blank or the word for nothing."""
    return isinstance(value, str) and value.strip().lower() not in {"", "null", "none", "undefined"}


class BlockSeen(msgspec.Struct, eq=False):
    """A block of Anthropic or an item of Responses, opened and closed."""

    position: Any
    kind: str = ""
    id: Any = UNSET
    opened: int | None = None
    closed: int | None = None
    again: int | None = None

    def __repr__(self) -> str:
        return f"<BlockSeen {self.kind} opened={self.opened} closed={self.closed}>"


class Answer(msgspec.Struct, eq=False):
    """One answer of a model, read strictly.

    Attributes:
        calls: its calls, in the order of their first fragments.
        texts: pieces of visible text.
        reasonings: pieces of reasoning.
        reasons: reasons why it ended, in the wire's words.
        usages: objects of token counts.
        ids: ids of the answer.
        roles: frames of choices or messages with the role that was stated.
        blocks: blocks or items.
        strays: frames with content of a block that was not opened.
        contents: frames with any content.
        errors: errors of the server in the stream or body.
        final: the response as a whole, stated at the end (Responses).
        sequence: `sequence_number` of each event (Responses).
        is_whole: whether it came as one body.
    """

    calls: list[CallSeen] = []
    texts: list[Label] = []
    reasonings: list[Label] = []
    reasons: list[Label] = []
    usages: list[Label] = []
    ids: list[Label] = []
    roles: list[Label] = []
    blocks: list[BlockSeen] = []
    strays: list[int] = []
    contents: list[int] = []
    errors: list[Label] = []
    final: Label | None = None
    sequence: list[Label] = []
    is_whole: bool = False

    def __repr__(self) -> str:
        return f"<Answer calls={len(self.calls)} reasons={len(self.reasons)}>"

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join(value for _, value in self.texts)

    @property
    def reasoning(self) -> str:
        """The reasoning."""
        return "".join(value for _, value in self.reasonings)


def word(value: object) -> str:
    """Return a value that is a text; an empty text for any other."""
    return value if isinstance(value, str) else ""


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, or none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def member(value: object, name: str) -> dict[str, Any]:
    """Return a member that is an object; an empty one where it is not."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def note(labels: list[Label], frame: int, holder: dict[str, Any], name: str) -> None:
    """Keep a member's value, or that it is not there."""
    labels.append(Label(frame, holder.get(name, UNSET)))


def say(labels: list[Label], frame: int, value: object) -> bool:
    """Keep a text that is not empty, and return whether there is one."""
    if isinstance(value, str) and value:
        labels.append(Label(frame, value))
        return True
    return False
