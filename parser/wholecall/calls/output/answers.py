"""The answer of a turn as a value: whole and of the wanted type, dropped with a reason, or still arriving.

Theory of operation. With `output=` the text of an answer is one JSON value, and it is treated as the arguments of a
call are. It ends in exactly one of two events, before its `TurnFinished`, and `Turn.output` is that event: an `Output`,
whose text the wire ended and the type accepted, or an `OutputDropped`, which has no value that could be mistaken for an
answer.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, Union, cast

import msgspec
from msgspec.structs import replace

from wholecall.calls.arguments.answer_progress import AnswerScanner, PartialOutput
from wholecall.calls.arguments.verdict import ArgsT, Edit
from wholecall.discreet import answer_repr, discreet_repr, to_line
from wholecall.types import Flag, OutputReason, Status


class OutputProgress(msgspec.Struct, frozen=True, tag_field="type", tag="output_progress"):
    """Progress of an answer that is still arriving, decoded; to show, never to act upon (`live` with `output`).

    Attributes:
        path: the place in the value: keys and indices from the top.
        delta: more text of the string that is open there; the deltas of one path add up to the string.
        closed: whether the value at the path is finished; it never changes again.
        value: the finished value, None while it is open.
        resets: how often shown text turned out not to be part of the answer, because a call or another message
            followed; with a higher count, everything shown before is void.
    """

    type: ClassVar[Literal["output_progress"]] = "output_progress"
    turn: int
    choice: int
    path: tuple[Union[str, int], ...]
    delta: str = ""
    closed: bool = False
    value: Any = None
    resets: int = 0

    to_json = to_line
    __repr__ = discreet_repr


class Output(msgspec.Struct, Generic[ArgsT], frozen=True, tag_field="type", tag="output"):
    """A whole answer, as the requested value.

    Attributes:
        decoded: the JSON value, decoded once.
        raw_text: the text of the answer, as it came.
        status: `exact`, `normalised` or `recovered`.
        edits: the changes made to read the text (status `normalised` or `recovered`).
        flags: its oddities, sorted.
        typed: the value as the wanted type, unset without one; read `value` instead.
    """

    type: ClassVar[Literal["output"]] = "output"
    turn: int
    choice: int
    decoded: Any
    raw_text: str
    status: Status
    edits: tuple[Edit, ...] = ()
    flags: tuple[Flag, ...] = ()
    typed: Any = msgspec.UNSET

    DERIVED: ClassVar[frozenset[str]] = frozenset({"typed"})  # snapshots hold no objects of the caller

    @property
    def value(self) -> ArgsT:
        """The answer as the wanted type: a Struct, a model, a list of them; otherwise the `decoded` JSON."""
        return cast("ArgsT", self.decoded if self.typed is msgspec.UNSET else self.typed)

    def to_json(self) -> bytes:
        """Return the answer as one compact JSON line; `typed` is left out, because it adds nothing."""
        return to_line(self if self.typed is msgspec.UNSET else replace(self, typed=msgspec.UNSET))

    __repr__ = answer_repr


class OutputDropped(msgspec.Struct, frozen=True, tag_field="type", tag="output_dropped"):
    """An answer that is not the requested value; it has no `value`.

    Attributes:
        reason: why; `refused` means that the model or the provider declined to answer, and `raw_text` is its text.
        detail: a sentence for people; it never holds text of the answer.
        raw_text: the text as it came; only the beginning of a text beyond `Limits.max_arguments_bytes`.
    """

    type: ClassVar[Literal["output_dropped"]] = "output_dropped"
    turn: int
    choice: int
    reason: OutputReason
    detail: str
    raw_text: str

    def describe(self) -> str:
        """Return a message for the model, so that it can answer again: the reason, without any of the model's text."""
        return f"Error: your answer could not be used ({self.detail}). Please answer again, with the whole JSON value only."

    def partial(self) -> PartialOutput:
        """Return the readable part of the text up to its first fault; to show, never to act upon."""
        scanner = AnswerScanner()
        scanner.feed(self.raw_text)
        return scanner.snapshot()

    to_json = to_line
    __repr__ = answer_repr
