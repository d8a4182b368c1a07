"""The results of a transcript: each is paired with the call that it answers, and put in its place.

Theory of operation. *Pairing.* Lines are read in order, each conversation (thread) of a file by itself. Calls wait under
their id, under their name (where results may come without an id) and under their aliases. Consecutive results are one
*run*, and a run answers the most recent answers whose calls wait under its key, the calls of each in order: repeated
ids pair by occurrence, and one lost result does not shift others. A call has at most one result, the first one; but a
real result replaces a made one, wherever it is. A result before its call is taken only if a single call has its id. All
other results answer no call. Every list is consumed from its end; the work is linear however often an id repeats.

*Placing.* A *turn* is the unit that is answered together: one message of the model, or consecutive messages if the shape
treats these as one. Its zone follows, which contains only results, up to the next text. A result of the turn in the zone
is in place; others are moved there, and made results are put there. If a shape gathers results, the zone is the
beginning of the next message; otherwise each result keeps a separate line, and a line that contains only results of the
turn moves as a whole. Agents that change providers leave messages of several shapes in one list. A result keeps its
form: a result that is a separate message is never put into another message, and a block never becomes a message.

*The provider's own tools.* A provider that executed a tool writes the call and its result in its own message. Hosts that
sort blocks by type put that result next to those of the client's tools, where no provider accepts it. It is moved back
after its call; if the call has a result, or is missing, it is removed. The content of the model's own messages is not
changed: a call may still run, and a result may follow in a later message.

The positions are decided, `wholecall.history.indexed` makes the messages.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wholecall.history.indexed import IndexedTranscript
from wholecall.history.parts import Line, Message, Part
from wholecall.history.shapes.base import Shape

# --- pairing -------------------------------------------------------------------------------------------

Key = tuple[str, str]
# The kinds of keys by which a result finds its call, surest first: "any" is for results without any of the others.
_KINDS = ("id", "alias", "no id", "name", "any")


class Group(msgspec.Struct, eq=False, gc=False):
    """The calls of one answer that wait under one key; those before `next` were answered."""

    answer: str
    calls: list[Part]
    next: int = 0


class Pairing:
    """The calls that wait in one thread, and the results without a call."""

    def __init__(self, *, by_name: bool) -> None:
        self.by_name = by_name  # whether some results name no id
        # Calls without a result, those of one answer together; answered ones are skipped when met.
        self.waiting: dict[Key, list[Group]] = {}
        self.filled: dict[Key, list[Part]] = {}  # calls whose result was made
        self.only: dict[str, Part | None] = {}  # the only call with an id; None: there are several
        self.run: list[Part] = []
        self.results: list[Part] = []
        self.misplaced: list[Part] = []
        self.refers = False  # whether calls may be hidden by a reference

    def read(self, line: Line) -> None:
        """Read the next line; any content between results ends their run."""
        answer = line.answer or f"#{line.index}"
        for part in line.parts:
            if part.kind == "call":
                self.flush()
                self.add(part, answer)
            elif part.kind == "result":
                self.run.append(part)
                self.results.append(part)
            elif part.kind == "reference":
                self.refers = True
        if any(part.kind not in ("result", "blank") for part in line.parts):
            self.flush()

    def add(self, call: Part, answer: str) -> None:
        """Let a call wait for its result."""
        for key in self._keys(call):
            waiting = self.waiting.setdefault(key, [])
            if waiting and waiting[-1].answer == answer:
                waiting[-1].calls.append(call)
            else:
                waiting.append(Group(answer, [call]))
        if call.id:
            self.only[call.id] = None if call.id in self.only else call

    def flush(self) -> None:
        """Assign the results of a finished run to their calls: by the surest key first."""
        left, self.run = self.run, []
        for kind in _KINDS:
            groups: dict[Key, list[Part]] = {}
            unplaced: list[Part] = []
            for result in left:
                key = self._key(result, kind)
                groups.setdefault(key, []).append(result) if key in self.waiting else unplaced.append(result)
            for key, results in groups.items():
                unplaced += self._answer(key, results)
            left = unplaced
            if not left:
                return
        self.misplaced += [result for result in left if not self._replaces(result)]

    def close(self) -> list[Part]:
        """Return the results that answer nothing; results before their only call are assigned to it."""
        self.flush()
        for result in self.misplaced:
            call = self.only.get(result.id)
            if call is not None and _accepts(call, result):
                _join(call, result)
        return [result for result in self.results if result.answers < 0 and not self._elsewhere(result)]

    def _elsewhere(self, result: Part) -> bool:
        """Return whether the call of a result may be hidden by a reference."""
        return self.refers and result.id not in self.only

    def _keys(self, call: Part) -> Iterable[Key]:
        """Yield the keys under which a call waits."""
        if call.id:
            yield "id", call.id
        elif call.name:
            yield "no id", call.name
        for alias in call.aliases:
            yield "alias", alias
        if self.by_name:
            yield "name", call.name
            yield "any", ""

    def _key(self, result: Part, kind: str) -> Key:
        """Return the key of the calls that a result can answer; no call waits under a blank key."""
        if kind == "id" or (kind == "alias" and result.id not in self.only):
            return kind, result.id
        if kind == "no id" and result.id not in self.only:
            return kind, result.name
        if result.id or kind not in ("name", "any") or (kind == "any") == bool(result.name):
            return "", ""
        return kind, result.name

    def _answer(self, key: Key, results: list[Part]) -> list[Part]:
        """Answer the calls under a key; return the remaining results."""
        calls = _recent(self.waiting[key], len(results))
        if not self.waiting[key]:
            del self.waiting[key]
        for call, result in zip(calls, results, strict=False):
            _join(call, result)
            if not result.real:
                for known in self._keys(call):
                    self.filled.setdefault(known, []).append(call)
        return results[len(calls) :]

    def _replaces(self, result: Part) -> bool:
        """Let a remaining real result replace a made one; return whether there was one."""
        keys = (self._key(result, kind) for kind in _KINDS) if result.real else ()
        call = next(filter(None, map(self._filled, keys)), None)
        if call is not None:
            _join(call, result)
        return call is not None

    def _filled(self, key: Key) -> Part | None:
        """Take the last call whose result was made."""
        calls = self.filled.get(key, [])
        while calls:
            call = calls.pop()
            if call.result is not None and not call.result.real:
                return call
        return None


def _accepts(call: Part, result: Part) -> bool:
    return call.result is None or (result.real and not call.result.real)


def _join(call: Part, result: Part) -> None:
    if call.result is not None:
        call.result.answers = -1
    call.result, result.answers = result, call.row


def _recent(waiting: list[Group], count: int) -> list[Part]:
    """Take the calls of the most recent answers, the first of each; forget those that were answered."""
    taken: list[list[Part]] = []
    while waiting and count > 0:
        group = waiting[-1]
        some: list[Part] = []
        while group.next < len(group.calls) and len(some) < count:
            call = group.calls[group.next]
            group.next += 1
            some += [call] * (call.result is None)
        if group.next == len(group.calls):
            waiting.pop()
        taken.append(some)
        count -= len(some)
    return [call for some in reversed(taken) for call in some]


def pair(lines: list[Line]) -> list[Part]:
    """Join calls and results; return the results that answer no call."""
    by_name = any(part.kind == "result" and not part.id for line in lines for part in line.parts)
    threads: dict[str, Pairing] = {}
    for line in lines:
        if line.side != "other":
            thread = line.thread
            if thread not in threads:
                threads[thread] = Pairing(by_name=by_name)
            threads[thread].read(line)
    return [orphan for pairing in threads.values() for orphan in pairing.close()]


# --- placing -------------------------------------------------------------------------------------------


class Turn(msgspec.Struct, eq=False, gc=False):
    """The lines that are answered together.

    Attributes:
        lines: of the model.
        end: the line after which results go: the last line of the model, or of the zone if it contains only results.
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


def place(indexed: IndexedTranscript, *, fill: bool) -> Plan:
    """Find a place for every misplaced result; with `fill`, make the missing results."""
    zones = Zones(indexed.shape, len(indexed.lines))
    for line in indexed.lines:
        if line.visible:
            zones.read(line)
    plan = Plan()
    homeless = ((turn, _homeless(turn, zones, indexed, plan, fill)) for turn in zones.turns)
    placed = [(turn, results) for turn, results in homeless if results]
    indexed.fetch(part for _, results in placed for part in results)
    for turn, results in placed:
        (_gather if indexed.shape.gathers else _line_up)(turn, results, indexed, plan)
    return plan


def _homeless(turn: Turn, zones: Zones, indexed: IndexedTranscript, plan: Plan, fill: bool) -> list[Part]:
    """Return the results of a turn that must be placed."""
    results: list[Part] = []
    for call in turn.calls:
        result = call.result
        if result is None and (fill or call.due):
            made = indexed.shape.result(call, indexed.value(call))
            plan.made.append(call)
            if indexed.shape.within:
                call.become(made)
            else:
                results.append(Part("result", made, indexed.shape.holder))
        elif indexed.shape.within:
            continue
        elif result is not None and id(result) not in zones.in_place:
            result.away = True
            results.append(result)
            plan.moved.append(call)
    return results


def _gather(turn: Turn, results: list[Part], indexed: IndexedTranscript, plan: Plan) -> None:
    """Put results into the one next message: the message that has some, else the first that has only results."""
    lines = indexed.lines
    for whole in (part for part in results if not part.field):
        plan.relocate(lines[whole.row], turn.end)
    blocks = [part for part in results if part.field]
    home = turn.home or (turn.after if indexed.shape.alternates else None)
    stays = home is not None and not home.relocated  # else it went to the calls of another turn
    if home is None or not stays:
        donors = (lines[row] for row in _donors(blocks, lines))
        home = next((line for line in donors if not (line.head or line.relocated)), None)
    if home is None:
        if blocks:
            values = [part.value for part in blocks]
            plan.put(turn.end, indexed.shape.carrier(values, indexed.message(turn.end)))
        return
    if not stays:
        plan.relocate(home, turn.end)
    home.head = tuple(part for part in blocks if part.row != home.index or not part.here)


def _line_up(turn: Turn, results: list[Part], indexed: IndexedTranscript, plan: Plan) -> None:
    """Put results after the turn, each in its own line if that contains only results."""
    lines, end = indexed.lines, turn.end
    donors = _donors(results, lines)
    for result in results:
        line = end if result.row < 0 else lines[result.row]
        if result.row not in donors:
            own = result.field == indexed.shape.holder
            value = result.value if own else {"role": "user", result.field: [result.value]}
            plan.put(end, indexed.shape.carrier([value], indexed.message(line)))
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


# --- the provider's own tools --------------------------------------------------------------------------


class _Served(msgspec.Struct, eq=False, gc=False):
    """A call of the provider, and its results.

    Attributes:
        line: the line of the call.
        part: the call.
        own: whether the model's messages contain its result.
        misplaced: its results among the user's words.
    """

    line: Line
    part: Part
    own: bool = False
    misplaced: list[Part] = []


def bring_back(lines: Iterable[Line]) -> list[Part]:
    """Move results of the provider's tools from the user's words to their calls, or remove them.

    Returns:
        The results that were moved to their calls.
    """
    calls, early = _served(lines)
    for part in early:
        part.gone = True
    moved: dict[int, dict[int, Part]] = {}  # by the index of a line and the identity of its call
    lines_of: dict[int, Line] = {}
    for call in calls:
        for part in call.misplaced:
            part.gone = True
        if call.misplaced and not call.own:
            lines_of[call.line.index] = call.line
            moved.setdefault(call.line.index, {})[id(call.part)] = call.misplaced[0]
    for index, results in moved.items():
        _hold(lines_of[index], results)
    return [part for results in moved.values() for part in results.values()]


def _served(lines: Iterable[Line]) -> tuple[list[_Served], list[Part]]:
    """Return the calls in order, with their results, and the results without a call; an id means its last call."""
    calls: list[_Served] = []
    last: dict[tuple[str, str], _Served] = {}
    early: dict[tuple[str, str], list[Part]] = {}  # results that came before their call
    for line, part in ((one, held) for one in lines for held in one.parts):
        key = line.thread, part.id
        if part.kind == "server_call":
            call = last[key] = _Served(line, part, misplaced=early.pop(key, []))
            calls.append(call)
        elif part.kind == "server_result" and line.side != "model":
            (last[key].misplaced if key in last else early.setdefault(key, [])).append(part)
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
