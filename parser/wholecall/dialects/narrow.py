"""The short way of a table: narrow views for events that hold one piece of a text and nothing else.

Theory of operation. Most events of a stream are pieces: `{"type":"content-delta","index":0,"delta":{"text":"Hi"}}`. Some
statements are about pieces (`text`, `thought`, `piece`). For each row that consists of such statements there is a view
with the first path of each, which has to be a text, and with all other members that the row reads, and all objects that
any row reads, which have to be absent. So the view refuses an event that means more than the piece, and the wide view
reads it. One decoder for the narrow views of all rows finds the view by the event's kind. The translator joins pieces
in a row to runs, as `wholecall.dialects.pieces` describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Union, cast

import msgspec

from wholecall.deltas import HIGHEST_INDEX, Index, Piecewise, ReasoningFragment, Slot, TextFragment
from wholecall.dialects.at import FirstOf, Value
from wholecall.dialects.compiled import Node, TableTranslator, members_of, run
from wholecall.dialects.pieces import NO_PIECE, Key, PieceTranslator, Read
from wholecall.dialects.say import Each, Given, Row, Say

_Index = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_INDEX)]
_ABSENT: Final = type(None)


class PieceTableTranslator(PieceTranslator, TableTranslator):
    """A translator whose class is a table, and most of whose events are pieces of texts."""

    _readers: ClassVar[list[Read]]

    def __init_subclass__(cls) -> None:
        """Compile the table of the class, if it has one."""
        super().__init_subclass__()
        if "ROWS" in vars(cls):
            cls._readers = [_reader(cls)]  # in a list, so that it is no method

    def _reader(self, _event: str, /) -> Read:
        return self._readers[0]

    def in_common(self, key: Key, /) -> Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, block = key[0], cast("Index | None", key[1])
        if kind == "call":
            return Slot(0, block, None, "")
        return TextFragment(0, "") if kind == "text" else ReasoningFragment(0, "", block)


class _Placed(NamedTuple):
    """A piece of a row.

    Attributes:
        kind: of its text.
        path: the members that lead to it.
        slot: the members that lead to the index of its block.
        block: of the text, where it is no index.
    """

    kind: str
    path: tuple[str, ...]
    slot: tuple[str, ...]
    block: Any


def _reader(cls: type[TableTranslator]) -> Read:
    """Return the reader of a table's pieces: it returns the key and the text of a piece."""
    names: dict[str, Any] = {"NO_PIECE": NO_PIECE}
    views: list[Any] = [msgspec.defstruct("Nothing", [], tag_field=cls.KINDS[0], tag="")]
    lines = ["def read(data):", "    event = decode(data)", "    kind = type(event)"]
    root = members_of([*cls.ROWS.values(), *cls.BODIES.values()])
    kinds: dict[int, list[str]] = {}  # of events with one row
    for kind, row in cls.ROWS.items():
        kinds.setdefault(id(row), []).append(kind)
    for of in kinds.values():
        row = cls.ROWS[of[0]]
        pieces = [piece for piece in _pieces(row, ()) if piece is not None]
        if not pieces or None in _pieces(row, ()):
            continue
        made = [_view(pieces, members_of([row]), root, (), (cls.KINDS[0], kind)) for kind in of]
        called = [f"View{number}" for number, _ in enumerate(made, len(views))]
        names.update(zip(called, made, strict=True))
        views += made
        lines += [f"    if kind is {' or kind is '.join(called)}:", *_branch(pieces)]
    names["decode"] = msgspec.json.Decoder(Union[tuple(views)]).decode
    run("\n".join([*lines, "    return NO_PIECE", ""]), f"<the pieces of {cls.__name__}>", names)
    read: Read = names["read"]
    return read


def _pieces(row: Row, outer: tuple[str, ...]) -> Iterator[_Placed | None]:
    """Yield the pieces of a row, None for a statement that is none: such rows are read the usual way."""
    for statement in row:
        if isinstance(statement, Given) or (isinstance(statement, Each) and statement.alone):
            yield from _pieces(statement.row, _members(statement.path, outer))
        elif isinstance(statement, Say) and statement.piece is not None:
            kind, path, block = statement.piece
            of = block.values[0] if isinstance(block, FirstOf) else block
            index = _members(of.path, outer) if isinstance(of, Value) else ()
            yield _Placed(kind, _members(path, outer), index, None if index else block)
        else:
            yield None


def _members(path: str, outer: tuple[str, ...]) -> tuple[str, ...]:
    """Return the members that the first of alternative paths leads through, from the event on."""
    first = path.partition("|")[0]
    return (*(() if first.startswith("/") else outer), *first.lstrip("/").split("."))


def _view(
    pieces: list[_Placed], row: Node, root: Node, outer: tuple[str, ...], tag: tuple[str, str] | None = None
) -> Any:
    """Return the narrow view of the object at a path.

    Args:
        pieces: of the row.
        row: the members of this object that the row reads.
        root: those that any row reads.
        outer: the path of the object.
        tag: of an event's view, and the member that holds it.
    """
    names = {*row.members, *(name for name, of in root.members.items() if not _is_label(of))}
    names = names - {tag[0]} | {"error"} if tag else names
    fields = [_field(pieces, row, root, (*outer, name)) for name in sorted(names)]
    fields.sort(key=len)  # required ones are first
    tag_field, kind = tag or (None, None)
    return msgspec.defstruct("_".join(["Piece", *outer]), fields, gc=False, tag_field=tag_field, tag=kind)


def _is_label(of: Any) -> bool:
    return not isinstance(of, Node) and of is not msgspec.Raw


def _field(pieces: list[_Placed], row: Node, root: Node, path: tuple[str, ...]) -> Any:
    """Return the field of a member: of a piece or its index, of an object that holds one, or of nothing."""
    name, depth = path[-1], len(path)
    if any(piece.slot == path for piece in pieces):
        return name, _Index
    through = [piece for piece in pieces if path in (piece.path[:depth], piece.slot[:depth])]
    if not through:
        return name, _ABSENT, None
    always = len(through) == len(pieces)
    if any(piece.path == path for piece in through):
        return (name, str) if always else (name, str, "")
    inner = row.members[name], root.members[name]
    view = _view(pieces, *inner, path)
    return (name, view) if always else (name, Union[view, None], None)


def _branch(pieces: list[_Placed]) -> list[str]:
    """Return the lines that read one view: the key and the text of the only piece that it holds."""
    lines: list[str] = []
    for number, piece in enumerate(pieces):
        lines.append(f"        text{number} = {_walk(pieces, piece.path, '')}")
    if len(pieces) > 1:
        empty = " + ".join(f"(not text{number})" for number in range(len(pieces)))
        lines += [f"        if {empty} < {len(pieces) - 1}:", "            return NO_PIECE"]
    for number, piece in enumerate(pieces):
        block = _walk(pieces, piece.slot, None) if piece.slot else repr(piece.block)
        lines += [f"        if text{number}:", f"            return ({piece.kind!r}, {block}), text{number}"]
    return lines


def _walk(pieces: list[_Placed], path: tuple[str, ...], absent: str | None) -> str:
    """Return the expression of the member at a path, of which objects may be absent that not all pieces have."""
    code, guards = "event", []
    for depth, name in enumerate(path, 1):
        code += f".{name}"
        of_all = all(path[:depth] in (piece.path[:depth], piece.slot[:depth]) for piece in pieces)
        if not of_all and depth < len(path):
            guards.append(code)
    return f"({code} if {' and '.join(guards)} else {absent!r})" if guards else code
