"""The common form of messages of every shape: lines of parts. Edits never change the input.

Theory of operation. A *line* is one message, item or session entry; a *part* is a piece of it that the repair can keep,
change or remove: a text, a thought, a call, a result. A part knows the `field` of the message that holds its block (""
where the message itself is the part). Nothing is changed in place: a part records its edits, each of which makes a
shallow copy of the block, and `rebuild` makes a message from the remaining parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

Message = dict[str, Any]
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # A list of messages of any type that is a dict at run time, such as a list of an SDK's `TypedDict`s.
    MessagesT = TypeVar("MessagesT", bound=Sequence[Mapping[str, Any]], default=list[dict[str, Any]])
else:  # only a type checker knows the default
    from typing import TypeVar

    MessagesT = TypeVar("MessagesT")
Path = tuple[str, ...]

Kind = Literal[
    "text", "blank", "thinking", "call", "result", "server_call", "server_result", "reference", "other"
]
Side = Literal["model", "user", "result", "other"]
Form = Literal["object", "string", "free", "kept", "own"]
LEFT_ALONE: Final = frozenset[Form]({"kept", "own"})  # arguments that are not changed
Carried = Literal["absent", "null", "empty", "object", "blank", "text", "other"]
Edit = Callable[[Message], Message]


class _Absent:
    """The type of `ABSENT`."""


ABSENT = _Absent()


RUN = "run"
"""The name of an answer that is made of all lines of the model in a row."""


SIDE = "side"
"""The thread of a side conversation, where only the links of its lines identify it."""


class Places(msgspec.Struct, frozen=True):
    """The paths of the facts of a block that the repair reads and writes; a missing fact is put at the first path."""

    id: tuple[Path, ...]
    name: tuple[Path, ...] = ()
    arguments: tuple[Path, ...] = ()


# Parts name their line, and results their call, by an index. Therefore no part is in a cycle, and the garbage
# collector, whose work would grow with the transcript, need not track them.


class Part(msgspec.Struct, eq=False, gc=False):
    """A piece of a message.

    Attributes:
        kind: the kind of piece; a `blank` is an empty text (or list).
        value: the block, None if only the facts are kept.
        field: the member of the message that holds it, "" where the message itself is the part.
        listed: whether `field` is a list of blocks.
        places: where calls and results keep their id, name and arguments.
        id, name: "" if there is none.
        aliases: further ids under which results may name a call.
        arguments: of a call, as read; `ABSENT` if there is no such member, or only facts are kept.
        carried: the kind of arguments of a call.
        form: how a call's arguments are carried: an object, JSON text, free text, either of the first two as the call
            was stored, or the provider's own form; the last two are not changed.
        scratch: members of a call that exist only while it is streamed.
        anonymous: whether a call needs no id.
        answerable: whether a result can be made that states that the real one is missing.
        real: False for a result that was made to fill a gap.
        due: whether a call must be answered now, regardless of the caller's choice.
        label: how a report names the part: its id in the input, else its name.
        row: the index of its original line, -1 for a new part.
        number: its index among the parts of that line.
        result: of a call, its result.
        answers: of a result, the index of the line of its call, -1 if it answers none.
        gone: whether it is removed.
        away: whether it is moved to another line.
        edited: whether the block differs from the one in the message.
        edits: the changes to make in the block.
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
        """True if the part stays in its line."""
        return not (self.gone or self.away)

    def set(self, fact: Literal["id", "name", "arguments"], to: Any) -> None:
        """Write a fact at its place in the block."""
        self._edit(partial(_set, getattr(self.places, fact), to))

    def cut(self, path: Path) -> None:
        """Remove the block's member at a path."""
        self._edit(partial(without, path))

    def become(self, to: Message) -> None:
        """Replace the block."""
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
        side: the speaker: the model, the user (or anyone else who is not the model), only results, or `other` for an
            entry that is not part of the conversation.
        parts: the parts of the message, in order.
        stop: the provider's stop reason of the answer, None if there is none.
        answer: an id shared by the lines of one answer of the model; `RUN` if all consecutive lines are one answer,
            None if each line is one.
        thread: an id shared by the lines of one conversation, if a file holds several.
        index: its index in the input.
        order: the parts from which it is written, if these are not its own parts, or not in their order.
        head: results that are inserted, after those at its beginning.
        relocated: whether it is moved after another line.
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
        """The remaining parts: its own, and those that were inserted between them."""
        if self.order is None:
            return [part for part in self.parts if part.here]
        return [part for part in self.order if not part.gone and (part.row != self.index or not part.away)]

    @property
    def left(self) -> list[Part]:
        """The parts from which the message is written."""
        here = self.held
        results = next((n for n, part in enumerate(here) if part.kind not in ("result", "blank")), len(here))
        return [*here[:results], *self.head, *here[results:]]

    @property
    def visible(self) -> bool:
        """True if any remaining part of the line counts as content."""
        return bool(self.head) or any(part.kind != "blank" for part in self.held)

    @property
    def touched(self) -> bool:
        """True if the message must be written again."""
        if self.head or self.order is not None:
            return True
        return any(not part.here or part.edited for part in self.parts)


def found_at(value: Message, paths: Iterable[Path]) -> Path | None:
    """Return the first path at which `value` has content, else the first at which it has a member."""
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
    """Return the value at the path of `found_at`, `ABSENT` if there is none."""
    path = found_at(value, paths)
    return ABSENT if path is None else _follow(value, path)


def first_text(value: Message, paths: Iterable[Path]) -> str:
    """Return the first text that is not blank, "" if there is none."""
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


def call_at(block: Message, field: str, places: Places, **more: Any) -> Part:
    """Return the call that a block is, with the facts at these places; `more` are further attributes."""
    facts: dict[str, Any] = {
        "name": first_text(block, places.name),
        "arguments": at(block, places.arguments),
        **more,
    }
    return Part("call", block, field, places=places, id=first_id(block, places.id), **facts)


def put(value: Message, path: Path, to: Any) -> Message:
    """Return a copy of `value` with `to` at `path`; only containers on the path are copied."""
    key, rest = path[0], path[1:]
    if rest:
        inner = value.get(key)
        to = put(inner if isinstance(inner, dict) else {}, rest, to)
    return {**value, key: to}


def without(path: Path, value: Message) -> Message:
    """Return a copy of `value` without the member at `path`; only containers on the path are copied."""
    key, rest = path[0], path[1:]
    if rest:
        return {**value, key: without(rest, value[key])}
    return {name: member for name, member in value.items() if name != key}


def rebuild(message: Message, parts: list[Part], left: Iterable[Part]) -> Message:
    """Return a message made of the remaining parts; members without a part do not change.

    An empty list is removed; only `content` next to other members that count becomes None instead.
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
