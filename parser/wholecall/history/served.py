"""Results of the provider's own tools that stand with the user's words, where no provider takes them.

Theory of operation. A provider that ran a tool tells the call and its result in its own message. Hosts that sort blocks
by type put that result beside those of the client's tools. It comes back behind its call; where the call has a result,
or is not there, it goes. What the model's own messages hold is left alone: a call may still run, and a result may follow
in a later message.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wholecall.history.parts import Line, Part

__all__ = ["bring_back"]


class _Call(msgspec.Struct, eq=False, gc=False):
    """A call of the provider's, and what answers it.

    Attributes:
        line: that holds the call.
        part: the call.
        own: whether the model's messages hold its result.
        astray: its results among the user's words.
    """

    line: Line
    part: Part
    own: bool = False
    astray: list[Part] = []


def bring_back(lines: Iterable[Line]) -> list[Part]:
    """Put results of the provider's tools that stand among the user's words behind their calls, or take them out.

    Returns:
        Those that were put behind their calls.
    """
    calls, early = _read(lines)
    for part in early:
        part.gone = True
    behind: dict[int, dict[int, Part]] = {}  # by the index of a line and the identity of its call
    lines_of: dict[int, Line] = {}
    for call in calls:
        for part in call.astray:
            part.gone = True
        if call.astray and not call.own:
            lines_of[call.line.index] = call.line
            behind.setdefault(call.line.index, {})[id(call.part)] = call.astray[0]
    for index, results in behind.items():
        _hold(lines_of[index], results)
    return [part for results in behind.values() for part in results.values()]


def _read(lines: Iterable[Line]) -> tuple[list[_Call], list[Part]]:
    """Return the calls in their order, each with its results, and the results of none; an id means its last call."""
    calls: list[_Call] = []
    last: dict[tuple[str, str], _Call] = {}
    early: dict[tuple[str, str], list[Part]] = {}  # results that came before any call of theirs
    for line, part in ((one, held) for one in lines for held in one.parts):
        key = line.thread, part.id
        if part.kind == "server_call":
            call = last[key] = _Call(line, part, astray=early.pop(key, []))
            calls.append(call)
        elif part.kind == "server_result" and line.side != "model":
            (last[key].astray if key in last else early.setdefault(key, [])).append(part)
        elif part.kind == "server_result" and key in last:
            last[key].own = True
    return calls, [part for parts in early.values() for part in parts]


def _hold(line: Line, results: dict[int, Part]) -> None:
    """Let a line hold results behind its calls, which are named by their identity."""
    order: list[Part] = []
    for part in line.parts:
        order.append(part)
        result = results.get(id(part))
        if result is not None:
            result.gone, result.away = False, True
            order.append(result)
    line.order = order
