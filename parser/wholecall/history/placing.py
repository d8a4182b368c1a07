"""The positions of results: where they are, and where they must be, directly after their turn.

Theory of operation. A *turn* is the unit that is answered together: one message of the model, or consecutive messages
if the shape treats these as one. Its zone follows, which contains only results, up to the next text. A result of the
turn in the zone is in place; others are moved there, and made results are put there. If a shape gathers results, the
zone is the beginning of the next message; otherwise each result keeps a separate line, and a line that contains only
results of the turn moves as a whole.

Agents that change providers leave messages of several shapes in one list. A result keeps its form: a result that is a
separate message is never put into another message, and a block never becomes a message.

Nothing is written here: `place` decides the positions, `wholecall.history.writing` makes the messages.
"""

from __future__ import annotations

import msgspec

from wholecall.history.book import Book
from wholecall.history.parts import Line, Message, Part
from wholecall.history.shapes.base import Shape

__all__ = ["Plan", "place"]


class Turn(msgspec.Struct, eq=False, gc=False):
    """The lines that are answered together.

    Attributes:
        lines: of the model.
        end: the line after which results go: the last line of the model, or of the zone if it contains nothing else.
        home: the message that gathers results, None if the zone has none.
        after: the next message of the user, whatever its content.
        fresh: whether no message came after its last line.
    """

    end: Line
    lines: list[Line] = []
    home: Line | None = None
    after: Line | None = None
    fresh: bool = True

    @property
    def calls(self) -> list[Part]:
        """The remaining calls."""
        return [part for line in self.lines for part in line.parts if part.here and part.kind == "call"]


class Plan(msgspec.Struct, eq=False):
    """The positions of moved and made results.

    Attributes:
        put_after: by the index of a line, the items put after it: lines of the input and new messages.
        moved: the calls whose results were not in place.
        made: the calls whose results are made.
    """

    put_after: dict[int, list[Line | Message]] = {}
    moved: list[Part] = []
    made: list[Part] = []

    def put(self, end: Line, item: Line | Message) -> None:
        """Put an item after a line, and after the items already put there."""
        self.put_after.setdefault(end.index, []).append(item)

    def relocate(self, line: Line, end: Line) -> None:
        """Put a line after another line, with all its content."""
        for part in line.parts:
            part.away = False
        line.relocated = True
        self.put(end, line)


class Zones:
    """The turns of all lines, and the results that are in place."""

    def __init__(self, shape: Shape, n_lines: int) -> None:
        self.shape = shape
        self.turns: list[Turn] = []
        self.turn_of: list[Turn | None] = [None] * n_lines  # by the index of the model's line
        self.in_place: set[int] = set()  # by the id of the Part, which the lines keep alive
        self._open: dict[str, Turn] = {}  # by thread

    def read(self, line: Line) -> None:
        """Read the next remaining line."""
        turn = self._open.get(line.thread)
        if line.side == "model":
            if turn is None or not self._goes_on(turn, line):
                turn = self._open[line.thread] = Turn(line)
                self.turns.append(turn)
            turn.lines.append(line)
            turn.end = line
            self.turn_of[line.index] = turn
        elif turn is not None:
            turn.after = turn.after or line
            turn.fresh = False
            self._read_zone(turn, line)

    def _goes_on(self, turn: Turn, line: Line) -> bool:
        answer = line.answer
        same = answer is not None and answer == turn.lines[-1].answer
        return same or (self.shape.merges and turn.fresh)

    def _read_zone(self, turn: Turn, line: Line) -> None:
        parts = [part for part in line.parts if part.here and part.kind != "blank"]
        own = [part for part in parts if part.kind == "result" and self.of(part) is turn]
        results = next((n for n, part in enumerate(parts) if part.kind != "result"), len(parts))
        self.in_place.update(id(part) for part in parts[:results] if self.of(part) is turn)
        if own and self.shape.gathers and own[0].field:
            turn.home = line
        elif own and results == len(parts):
            turn.end = line
        if results < len(parts) or turn.home:
            del self._open[line.thread]

    def of(self, result: Part) -> Turn | None:
        """Return the turn whose call a result answers, None before that turn was read."""
        return None if result.answers < 0 else self.turn_of[result.answers]


def place(book: Book, *, fill: bool) -> Plan:
    """Find a place for every misplaced result; with `fill`, make the missing results."""
    zones = Zones(book.shape, len(book.lines))
    for line in book.lines:
        if line.visible:
            zones.read(line)
    plan = Plan()
    homeless = ((turn, _homeless(turn, zones, book, plan, fill)) for turn in zones.turns)
    placed = [(turn, results) for turn, results in homeless if results]
    book.fetch(part for _, results in placed for part in results)
    for turn, results in placed:
        (_gather if book.shape.gathers else _line_up)(turn, results, book, plan)
    return plan


def _homeless(turn: Turn, zones: Zones, book: Book, plan: Plan, fill: bool) -> list[Part]:
    """Return the results of a turn that must be placed."""
    results: list[Part] = []
    for call in turn.calls:
        result = call.result
        if result is None and (fill or call.due):
            made = book.shape.result(call, book.value(call))
            plan.made.append(call)
            if book.shape.within:
                call.become(made)
            else:
                results.append(Part("result", made, book.shape.holder))
        elif book.shape.within:
            continue
        elif result is not None and id(result) not in zones.in_place:
            result.away = True
            results.append(result)
            plan.moved.append(call)
    return results


def _gather(turn: Turn, results: list[Part], book: Book, plan: Plan) -> None:
    """Put results into the one next message: the message that has some, else the first that has only results."""
    lines = book.lines
    for whole in (part for part in results if not part.field):
        plan.relocate(lines[whole.row], turn.end)
    blocks = [part for part in results if part.field]
    home = turn.home or (turn.after if book.shape.alternates else None)
    stays = home is not None
    home = home or next((lines[row] for row in _donors(blocks, lines)), None)
    if home is None:
        if blocks:
            values = [part.value for part in blocks]
            plan.put(turn.end, book.shape.carrier(values, book.message(turn.end)))
        return
    if not stays:
        plan.relocate(home, turn.end)
    home.head = tuple(part for part in blocks if part.row != home.index or not part.here)


def _line_up(turn: Turn, results: list[Part], book: Book, plan: Plan) -> None:
    """Put results after the turn, each in its own line if that contains nothing else."""
    lines, end = book.lines, turn.end
    donors = _donors(results, lines)
    for result in results:
        line = end if result.row < 0 else lines[result.row]
        if result.row not in donors:
            own = result.field == book.shape.holder
            value = result.value if own else {"role": "user", result.field: [result.value]}
            plan.put(end, book.shape.carrier([value], book.message(line)))
        elif not line.relocated:
            plan.relocate(line, end)


def _donors(results: list[Part], lines: list[Line]) -> dict[int, None]:
    """Return the lines, by index, of which only some of these results are left; no lines of the model."""
    rows = dict.fromkeys(part.row for part in results if part.row >= 0 and lines[part.row].side != "model")
    going = set(map(id, results))
    return {
        row: None
        for row in rows
        if not any(part.here and part.kind != "blank" for part in lines[row].parts)
        and all(id(part) in going for part in lines[row].parts if part.away)
    }
