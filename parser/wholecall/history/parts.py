"""The form into which the messages of every shape are read: lines of parts, which are edited without being changed.

Theory of operation. A *line* is one message, item or session entry; a *part* is what the repair can keep, change
or take out of it: a text, a thought, a call, a result. A part knows the `field` of the message that its block was
found in ("" where the message itself is the part). Nothing is ever changed in place: a part notes its edits, each of
which makes a shallow copy of the block, and `rebuild` makes a message from the parts that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

__all__ = [
    "ABSENT",
    "LEFT_ALONE",
    "RUN",
    "SIDE",
    "Carried",
    "Form",
    "Line",
    "Message",
    "MessagesT",
    "Part",
    "Path",
    "Places",
    "at",
    "first_id",
    "first_text",
    "found_at",
    "put",
    "rebuild",
    "without",
]

Message = dict[str, Any]
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # A list of messages of any type that is a dict at run time, such as a list of an SDK's `TypedDict`s.
    MessagesT = TypeVar("MessagesT", bound=Sequence[Mapping[str, Any]], default=list[dict[str, Any]])
else:  # what only a type checker knows is the default
    from typing import TypeVar

    MessagesT = TypeVar("MessagesT")
Path = tuple[str, ...]

Kind = Literal[
    "text", "blank", "thinking", "call", "result", "server_call", "server_result", "reference", "other"
]
Side = Literal["model", "user", "result", "other"]
Form = Literal["object", "string", "free", "kept", "own"]
LEFT_ALONE: Final = frozenset[Form]({"kept", "own"})  # arguments that stay as they are
Carried = Literal["absent", "null", "empty", "object", "blank", "text", "other"]
Edit = Callable[[Message], Message]


class _Absent:
    """The type of `ABSENT`."""


ABSENT = _Absent()


RUN = "run"
"""The name of an answer that is made of all lines of the model in a row."""


SIDE = "side"
"""The thread of a conversation beside the main one, where only the links of its lines say which."""


class Places(msgspec.Struct, frozen=True):
    """Where a block keeps what the repair reads and writes; the first path is where a missing fact is put."""

    id: tuple[Path, ...]
    name: tuple[Path, ...] = ()
    arguments: tuple[Path, ...] = ()


# Parts name their line, and results their call, by an index: so no part is in a cycle, and the collector of
# garbage, whose work would grow with the transcript, need not know of them.


class Part(msgspec.Struct, eq=False, gc=False):
    """A piece of a message.

    Attributes:
        kind: what it is; a `blank` is a text (or a list) that holds nothing.
        value: the block, None where only the facts are kept.
        field: the member of the message that holds it, "" where the message itself is the part.
        listed: whether `field` is a list of blocks.
        places: where calls and results keep their id, name and arguments.
        id, name: "" where there is none.
        aliases: further ids under which results may name a call.
        arguments: of a call, as they are read; `ABSENT` where there is no such member, or only facts are kept.
        carried: what kind of arguments a call has.
        form: how a call's arguments are carried: an object, JSON text, free text, either of the first two as whoever
            kept the call left it, or a form of the provider's own; the last two stay as they are.
        scratch: members of a call that only a stream leaves.
        anonymous: whether a call needs no id.
        answerable: whether a result that says there is none can be made.
        real: False for a result that was made to fill a gap.
        due: whether a call has to be answered now, whatever the caller's choice.
        label: how a report names the part: its id in the input, else its name.
        row: the index of the line that it came from, -1 for a part that is new.
        number: among the parts of that line.
        result: of a call, what answers it.
        answers: of a result, the index of the line of its call, -1 where it answers none.
        gone: whether it is taken out.
        away: whether it is moved to another line.
        edited: whether the block is another one than in the message.
        edits: what is to be changed in the block.
    """

    kind: Kind
    value: Any
    field: str = ""
    listed: bool = True
    places: Places = Places(())
    id: str = ""
    name: str = ""
    aliases: tuple[str, ...] = ()
    arguments: Any = ABSENT
    carried: Carried = "absent"
    form: Form = "object"
    scratch: tuple[Path, ...] = ()
    anonymous: bool = False
    answerable: bool = True
    real: bool = True
    due: bool = False
    label: str = ""
    row: int = -1
    number: int = 0
    result: Part | None = None
    answers: int = -1
    gone: bool = False
    away: bool = False
    edited: bool = False
    edits: tuple[Edit, ...] = ()

    def __repr__(self) -> str:
        return f"Part({self.kind}, row={self.row}, field={self.field!r}, here={self.here})"

    @property
    def here(self) -> bool:
        """Whether the part stays in its line."""
        return not (self.gone or self.away)

    def set(self, fact: Literal["id", "name", "arguments"], to: Any) -> None:
        """Write a fact where the block keeps it."""
        self._edit(partial(_set, getattr(self.places, fact), to))

    def cut(self, path: Path) -> None:
        """Take out what the block has at a path."""
        self._edit(partial(without, path))

    def become(self, to: Message) -> None:
        """Be another block."""
        self._edit(partial(_replaced, to))

    def _edit(self, edit: Edit) -> None:
        self.edits += (edit,)
        self.edited = True


def _set(paths: tuple[Path, ...], to: Any, value: Message) -> Message:
    return put(value, found_at(value, paths) or paths[0], to)


def _replaced(to: Message, _value: Message) -> Message:
    return to


class Line(msgspec.Struct, eq=False, gc=False):
    """One message of the input, as its shape reads it.

    Attributes:
        side: who speaks: the model, the user (or anyone else who is not the model), nobody but results, or
            `other` for an entry that is not part of the conversation.
        parts: what the message is made of, in order.
        stop: the provider's word on why the answer ended, None where there is none.
        answer: what lines of one answer of the model share; `RUN` where all lines in a row are one answer, None
            where each line is one.
        thread: what lines of one conversation share, where a file holds several.
        index: in the input.
        order: what it is written from where that are not its own parts, or not in their order.
        head: results that are put into it, after those that it begins with.
        relocated: whether it is put after another line.
    """

    side: Side
    parts: Sequence[Part]
    stop: object = None
    answer: str | None = None
    thread: str = ""
    index: int = -1
    order: list[Part] | None = None
    head: tuple[Part, ...] = ()
    relocated: bool = False

    def __repr__(self) -> str:
        return f"Line({self.side}, index={self.index}, parts={self.parts!r})"

    @property
    def held(self) -> list[Part]:
        """The parts that are left: its own, and those that were put between them."""
        if self.order is None:
            return [part for part in self.parts if part.here]
        return [part for part in self.order if not part.gone and (part.row != self.index or not part.away)]

    @property
    def left(self) -> list[Part]:
        """What the message is written from."""
        here = self.held
        results = next((n for n, part in enumerate(here) if part.kind not in ("result", "blank")), len(here))
        return [*here[:results], *self.head, *here[results:]]

    @property
    def visible(self) -> bool:
        """Whether anything of the line is left that counts as content."""
        return bool(self.head) or any(part.kind != "blank" for part in self.held)

    @property
    def touched(self) -> bool:
        """Whether the message must be written again."""
        if self.head or self.order is not None:
            return True
        return any(not part.here or part.edited for part in self.parts)


def found_at(value: Message, paths: Iterable[Path]) -> Path | None:
    """Return the first path under which `value` holds something, else the first under which it has a member."""
    known = None
    for path in paths:
        found = _follow(value, path)
        if found is ABSENT:
            continue
        if found is not None and found != "":
            return path
        known = known or path
    return known


def _follow(value: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return ABSENT
        value = value[key]
    return value


def at(value: Message, paths: Iterable[Path]) -> Any:
    """Return what `found_at` finds, `ABSENT` where there is nothing."""
    path = found_at(value, paths)
    return ABSENT if path is None else _follow(value, path)


def first_text(value: Message, paths: Iterable[Path]) -> str:
    """Return the first text that is not blank, "" where there is none."""
    for path in paths:
        found = _follow(value, path)
        if isinstance(found, str) and found.strip():
            return found
    return ""


def first_id(value: Message, paths: Iterable[Path]) -> str:
    """Return the first id: a text that is not blank, or an integer as text."""
    for path in paths:
        found = _follow(value, path)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def put(value: Message, path: Path, to: Any) -> Message:
    """Return a copy of `value` with `to` at `path`; only what is on the path is copied."""
    key, rest = path[0], path[1:]
    if rest:
        inner = value.get(key)
        to = put(inner if isinstance(inner, dict) else {}, rest, to)
    return {**value, key: to}


def without(path: Path, value: Message) -> Message:
    """Return a copy of `value` that has nothing at `path`; only what is on the path is copied."""
    key, rest = path[0], path[1:]
    if rest:
        return {**value, key: without(rest, value[key])}
    return {name: member for name, member in value.items() if name != key}


def rebuild(message: Message, parts: list[Part], left: Iterable[Part]) -> Message:
    """Return a message made of the parts that are left; members that no part came from stay as they are.

    A list that has nothing left is removed; only `content` beside other members that count becomes None instead.
    """
    remaining = list(left)
    if any(not part.field for part in remaining):
        whole: Message = next(part.value for part in remaining if not part.field)
        return whole
    written = dict(message)
    fields = dict.fromkeys(part.field for part in (*parts, *remaining) if part.field)
    for field in fields:
        values = [part for part in remaining if part.field == field]
        if values:
            written[field] = [part.value for part in values] if values[0].listed else values[0].value
        elif field == "content":
            written[field] = None
        else:
            written.pop(field, None)
    return written
