"""Pair results with the calls that they answer.

Theory of operation. Lines are read in order, each conversation (thread) of a file by itself. Calls wait under
their id, under their name (where results may come without an id) and under their aliases. Consecutive results are one
*run*, and a run answers the most recent answers whose calls wait under its key, the calls of each in order: repeated
ids pair by occurrence, and one lost result does not shift others. A call has at most one result, the first one; but a
real result replaces a made one, wherever it is. A result before its call is taken only if a single call has its id. All
other results answer nothing.

Every list is consumed from its end; the work is linear however often an id repeats.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wholecall.history.parts import Line, Part

__all__ = ["Pairing", "pair"]

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
        self.astray: list[Part] = []
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
        self.astray += [result for result in left if not self._replaces(result)]

    def close(self) -> list[Part]:
        """Return the results that answer nothing; results before their only call are assigned to it."""
        self.flush()
        for result in self.astray:
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
    """Join calls and results; return the results that answer nothing."""
    by_name = any(part.kind == "result" and not part.id for line in lines for part in line.parts)
    threads: dict[str, Pairing] = {}
    for line in lines:
        if line.side != "other":
            thread = line.thread
            if thread not in threads:
                threads[thread] = Pairing(by_name=by_name)
            threads[thread].read(line)
    return [orphan for pairing in threads.values() for orphan in pairing.close()]
