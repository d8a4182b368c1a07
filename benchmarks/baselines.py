"""Ways in which wholecall reads a stream for a measurement, and their results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from benchmarks.texts import Result
from wholecall import Limits, ToolCallParser, Tools


def parse(
    reads: Iterable[bytes],
    limits: Limits = Limits(),  # noqa: B008 - frozen
    tools: Tools[Any] | None = None,
    *,
    events: Literal["all", "calls"] = "all",
) -> ToolCallParser[Any]:
    """Feed a stream to a parser of unknown dialect and close it: the timed work."""
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools, events=events, limits=limits)
    for read in reads:
        parser.feed(read)
    parser.close()
    return parser


def ours(reads: Iterable[bytes], limits: Limits = Limits()) -> Result:  # noqa: B008 - frozen
    """Return wholecall's result of a stream."""
    return found(parse(reads, limits))


def found(parser: ToolCallParser[Any]) -> Result:
    """Return the result of a parser."""
    turn = parser.turn
    return Result(turn.text, [(call.id, call.name, call.arguments) for call in turn.calls])
