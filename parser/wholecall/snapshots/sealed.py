"""A snapshot as bytes: how the parser was made, and the rows of its state, under a checksum.

Theory of operation. A snapshot is MessagePack, `["wholecall.snapshot", format, checksum, body]`; the body is an
array of how the parser was made (`Made`) and the rows of its objects (see `graph`). The checksum finds damage,
not forgery. What is read is held against annotations and against what the code relies on, names no class, and
costs memory in proportion to its size; whatever is wrong with it is one exception, `BadSnapshot`.

Tools do not travel, for they are types and functions of the caller's. Their names do, and `typed` values are
made anew from the texts of the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Union
from zlib import crc32

import msgspec

from wholecall.arguments.ladder import read_arguments
from wholecall.arguments.progress import Path
from wholecall.dialects.table import DIALECTS, named
from wholecall.errors import BadSnapshot, UnknownDialect
from wholecall.framing import FRAMINGS
from wholecall.framing.base import BytesLike, checked
from wholecall.limits import Limits
from wholecall.output.events import ToolCall
from wholecall.parse import accept
from wholecall.policy import Policy
from wholecall.snapshots.codecs import codec_of
from wholecall.snapshots.graph import packed_objects, read_objects
from wholecall.snapshots.shapes import fingerprint
from wholecall.snapshots.values import Odd
from wholecall.tools import Tools

__all__ = ["Held", "Made", "fill", "opened", "sealed"]

_MAGIC: Final = "wholecall.snapshot"
_FORMAT: Final = 1
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """How a parser was made, in what a snapshot can hold; and what it follows live.

    Attributes:
        dialect, framing: their names, None while they are not known.
        live, watch, policy, limits: the parser's options.
        tools: the names of its tools, sorted; None if it has none.
        resets: the calls that are followed live (turn, choice, index), and how often their texts were replaced.
    """

    dialect: str | None
    framing: str | None
    live: bool
    watch: dict[str, Union[str, Path]] | None
    policy: Policy
    limits: Limits
    tools: tuple[str, ...] | None
    resets: dict[tuple[int, int, int], int]

    def options(self, tools: Tools[Any] | None) -> dict[str, Any]:
        """Return the options of a parser that is made so, but for its tools, which are given.

        Raises:
            BadSnapshot: they are not the tools that the snapshot was taken with, by their names; or the dialect
                or the framing is not known here.
        """
        given = None if tools is None else tuple(sorted(tools))
        if given != self.tools:
            raise BadSnapshot(
                f"the snapshot was taken with {_listed(self.tools)}, and {_listed(given)} given; "
                "restore it with the `tools` that its parser had"
            )
        try:
            named(self.dialect or DIALECTS[0].name)
        except UnknownDialect as error:
            raise BadSnapshot(f"the stream's dialect must be registered here as well: {error}") from None
        if self.framing not in (None, *FRAMINGS) or (self.watch and () in self.watch.values()):
            raise BadSnapshot("the snapshot has options that no parser has")
        return {
            "dialect": self.dialect or "auto",
            "framing": self.framing,
            **{name: getattr(self, name) for name in ("live", "watch", "policy", "limits")},
        }


_MADE = codec_of(Made)


def sealed(parser: object, made: Made) -> bytes:
    """Return the snapshot of a parser.

    Raises:
        TypeError: a class, named in the message, holds state that it does not annotate.
    """
    rows = packed_objects(parser)
    body = msgspec.msgpack.encode([fingerprint(parser), _MADE.pack(made, _NOTHING), rows])
    return msgspec.msgpack.encode([_MAGIC, _FORMAT, crc32(body), body])


class Held(msgspec.Struct, frozen=True):
    """What a snapshot holds, not yet held against a parser."""

    shapes: int
    made: Made
    rows: list[Any]


def opened(data: BytesLike) -> Held:
    """Return what a snapshot holds.

    Raises:
        BadSnapshot: it is none, or damaged, or of another format.
        TypeError: `data` is no bytes.
    """
    told = _decoded(checked(data))
    if type(told) is not list or len(told) != 4 or told[0] != _MAGIC:
        raise BadSnapshot("this is no snapshot of a parser")
    if told[1] != _FORMAT:
        raise BadSnapshot(f"the snapshot has a format that this version cannot read; it reads {_FORMAT}")
    body = told[3]
    if type(body) is not bytes or told[2] != crc32(body):
        raise BadSnapshot("the snapshot is damaged")
    parts = _decoded(body)
    if type(parts) is not list or len(parts) != 3 or type(parts[2]) is not list:
        raise BadSnapshot("the snapshot is damaged")
    try:
        made = _MADE.read(parts[1], _NOTHING)
    except Odd as odd:
        raise BadSnapshot(f"the parser's options: {odd}") from None
    return Held(parts[0], made, parts[2])


def fill(
    parser: object, held: Held, tools: Tools[Any] | None, makers: Mapping[type, Callable[[], Any]]
) -> None:
    """Put the state that a snapshot holds into a parser that was made as `held.made` says.

    Raises:
        BadSnapshot: it is no state of such a parser.
    """
    if held.shapes != fingerprint(parser):
        raise BadSnapshot(
            "the snapshot was taken by another version of wholecall, or of a registered dialect; "
            "streams move between workers of one version only"
        )
    made = held.made

    def typed(call: ToolCall[Any]) -> ToolCall[Any]:
        check = None if tools is None else tools.check_of(call.name)
        verdict = read_arguments(call.raw_arguments, "clean", made.policy, made.limits)
        verdict = accept(verdict, call.raw_arguments, check, made.policy, made.limits)
        if verdict.value is None:
            raise Odd("the tools do not take a call that they took; are they the same?")
        return msgspec.structs.replace(call, typed=verdict.value)

    try:
        read_objects(held.rows, parser, makers, typed)
    except Odd as odd:
        raise BadSnapshot(str(odd)) from None


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.msgpack.decode(data)
    except _UNREADABLE:
        raise BadSnapshot("the snapshot is cut or damaged, or this is none") from None


def _listed(names: tuple[str, ...] | None) -> str:
    return "no tools" if names is None else "the tools " + ", ".join(map(repr, names[:20]))


class _Nothing:
    """Where no object is kept."""

    def number_of(self, value: Any, /) -> int:
        raise TypeError(f"a {type(value).__name__} is no option of a parser")

    def object_at(self, number: int, wanted: type, /) -> Any:  # noqa: ARG002
        raise Odd("an option is no object")

    def typed(self, call: ToolCall[Any], /) -> ToolCall[Any]:
        return call


_NOTHING = _Nothing()
