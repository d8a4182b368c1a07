"""Where results stand, and where they have to: right behind their turn.

Theory of operation. A *turn* is what is answered together: one message of the model, or a run of them where the
shape takes those for one. Behind it lies its zone: results, and nothing else, until somebody speaks. A result of
the turn that stands there is in place; others are moved there, made ones are put there. Where a shape gathers,
the zone is the head of the one next message; elsewhere each result keeps a line of its own, and a line that holds
nothing but results of the turn moves as a whole.

Nothing is written here: `place` says what goes where, `wholecall.history.writing` makes messages of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wholecall.history.parts import Line, Message, Part
from wholecall.history.shapes.base import Shape

__all__ = ["Plan", "place"]


class Turn(msgspec.Struct, eq=False):
    """What is answered together.

    Attributes:
        lines: of the model.
        zone: the lines behind it that hold results of its calls.
        fresh: whether nothing was said since its last line.
    """

    lines: list[Line]
    zone: list[Line] = []
    fresh: bool = True

    @property
    def end(self) -> Line:
        """The last line of the turn or of its zone."""
        return max((*self.lines, *self.zone), key=lambda line: line.index)

    @property
    def calls(self) -> list[Part]:
        """The calls that stay."""
        return [part for line in self.lines for part in line.parts if part.here and part.kind == "call"]


class Plan(msgspec.Struct, eq=False):
    """What goes where.

    Attributes:
        behind: by the index of a line, what is put behind it: lines of the input and messages that are new.
        moved: the calls whose results were not in place.
        made: the calls whose results are made.
    """

    behind: dict[int, list[Line | Message]] = {}
    moved: list[Part] = []
    made: list[Part] = []


class Zones:
    """The turns of all lines, and the results that stand in place."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.turns: list[Turn] = []
        self.turn_of: dict[int, Turn] = {}  # by the index of the model's line
        self.in_place: set[int] = set()  # by the id of the Part, which the lines keep alive
        self._open: dict[str, Turn] = {}  # by thread

    def read(self, line: Line) -> None:
        """Take the next line that is left."""
        turn = self._open.get(line.reading.thread)
        if line.side == "model":
            if turn is None or not self._goes_on(turn, line):
                turn = self._open[line.reading.thread] = Turn([])
                self.turns.append(turn)
            turn.lines.append(line)
            self.turn_of[line.index] = turn
        elif turn is not None:
            turn.fresh = False
            self._read_zone(turn, line)

    def _goes_on(self, turn: Turn, line: Line) -> bool:
        answer = line.reading.answer
        same = answer is not None and answer == turn.lines[-1].reading.answer
        return (self.shape.merges and turn.fresh) or (self.shape.interleaves and same)

    def _read_zone(self, turn: Turn, line: Line) -> None:
        parts = [part for part in line.parts if part.here and part.kind != "blank"]
        own = [part for part in parts if part.kind == "result" and self.of(part) is turn]
        results = next((n for n, part in enumerate(parts) if part.kind != "result"), len(parts))
        self.in_place.update(id(part) for part in parts[:results] if self.of(part) is turn)
        if own:
            turn.zone.append(line)
        if results < len(parts) or (own and self.shape.gathers):
            del self._open[line.reading.thread]

    def of(self, result: Part) -> Turn | None:
        """Return the turn whose call a result answers, None before that turn was read."""
        call = result.partner
        return self.turn_of.get(call.line.index) if call is not None and call.line is not None else None


def place(lines: Iterable[Line], shape: Shape, *, fill: bool) -> Plan:
    """Find a place for every result that has none; with `fill`, make those that are missing."""
    zones = Zones(shape)
    for line in lines:
        if line.side != "other" and line.visible:
            zones.read(line)
    plan = Plan()
    for turn in zones.turns:
        results = _results_to_place(turn, zones, plan, fill)
        if results and shape.gathers:
            _gather(turn, results, shape, plan)
        elif results:
            _line_up(turn, results, shape, plan)
    return plan


def _results_to_place(turn: Turn, zones: Zones, plan: Plan, fill: bool) -> list[Part]:
    results: list[Part] = []
    for call in turn.calls:
        result = call.partner
        if result is None and call.answerable and (fill or call.due):
            made = zones.shape.result(call)
            results.append(Part("result", made, zones.shape.holder, partner=call))
            plan.made.append(call)
        elif result is not None and id(result) not in zones.in_place:
            result.away = True
            results.append(result)
            plan.moved.append(call)
    return results


def _gather(turn: Turn, results: list[Part], shape: Shape, plan: Plan) -> None:
    """Put results into the one next message: that which holds some, else the first that holds nothing else."""
    end = turn.lines[-1]
    home = turn.zone[0] if turn.zone else next(iter(_donors(results).values()), None)
    if home is None:
        new = shape.carrier([part.value for part in results], end.message)
        plan.behind.setdefault(end.index, []).append(new)
        return
    if not turn.zone:
        _relocate(home, end, plan)
    home.head = [part for part in results if part.line is not home or not part.here]


def _line_up(turn: Turn, results: list[Part], shape: Shape, plan: Plan) -> None:
    """Put results behind the turn, each in its own line if that holds nothing else."""
    end = turn.end
    donors = _donors(results)
    for result in results:
        line = result.line
        if line is None or line.index not in donors:
            near = end if line is None else line
            plan.behind.setdefault(end.index, []).append(shape.carrier([result.value], near.message))
        elif not line.relocated:
            _relocate(line, end, plan)


def _donors(results: list[Part]) -> dict[int, Line]:
    """Return the lines of which nothing is left but some of these results, by their index."""
    lines = {part.line.index: part.line for part in results if part.line is not None}
    going = set(map(id, results))
    return {
        index: line
        for index, line in lines.items()
        if not any(part.here and part.kind != "blank" for part in line.parts)
        and all(id(part) in going for part in line.parts if part.away)
    }


def _relocate(line: Line, end: Line, plan: Plan) -> None:
    for part in line.parts:
        part.away = False
    line.relocated = True
    plan.behind.setdefault(end.index, []).append(line)
