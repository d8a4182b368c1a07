"""Results of the provider's own tools among the user's words, where no provider accepts them.

Theory of operation. A provider that executed a tool writes the call and its result in its own message. Hosts that sort
blocks by type put that result next to those of the client's tools. It is moved back after its call; if the call has a
result, or is missing, it is removed. The content of the model's own messages is not changed: a call may still run, and
a result may follow in a later message.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wholecall.history.parts import Line, Part

__all__ = ["bring_back"]


class _Call(msgspec.Struct, eq=False, gc=False):
    """A call of the provider, and its results.

    Attributes:
        line: the line of the call.
        part: the call.
        own: whether the model's messages contain its result.
        astray: its results among the user's words.
    """

    line: Line
    part: Part
    own: bool = False
    astray: list[Part] = []


def bring_back(lines: Iterable[Line]) -> list[Part]:
    """Move results of the provider's tools from the user's words to their calls, or remove them.

    Returns:
        The results that were moved to their calls.
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
    """Return the calls in order, with their results, and the results without a call; an id means its last call."""
    calls: list[_Call] = []
    last: dict[tuple[str, str], _Call] = {}
    early: dict[tuple[str, str], list[Part]] = {}  # results that came before their call
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
    """Put results into a line after its calls, which are named by their identity."""
    order: list[Part] = []
    for part in line.parts:
        order.append(part)
        result = results.get(id(part))
        if result is not None:
            result.gone, result.away = False, True
            order.append(result)
    line.order = order
