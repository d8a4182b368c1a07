"""Which result answers which call.

Theory of operation. Lines are read in order, each conversation (thread) of a file by itself. Calls wait under
their id, under their name (where results may come without an id) and under their aliases. Results that follow
each other are one *run*, and a run answers the most recent answers whose calls wait under its key, the calls of
each in their order: so repeated ids pair by occurrence, and one lost result shifts no other. A call has one
result at most. Of several
the first real one counts; a real result replaces one that was made, wherever it stands. A result before its call
is taken only if one call alone has its id. All else answers nothing.

Every list is consumed from its end, so the work is linear however often an id repeats.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from wholecall.history.parts import Line, Part

__all__ = ["Pairing", "pair"]

Key = tuple[str, str]
Waiting = tuple[str, deque[Part]]  # an answer, and its calls


class Pairing:
    """The calls that wait in one thread, and the results that found none."""

    def __init__(self) -> None:
        # Calls without a result, those of one answer together; answered ones are skipped when met.
        self.waiting: dict[Key, list[Waiting]] = {}
        self.filled: dict[Key, list[Part]] = {}  # calls whose result was made
        self.calls: dict[str, list[Part]] = {}  # every call by its id
        self.run: list[Part] = []
        self.results: list[Part] = []
        self.astray: list[Part] = []
        self.refers = False  # whether calls may be where we do not see them

    def read(self, line: Line) -> None:
        """Take the next line; whatever is said between results ends their run."""
        answer = line.reading.answer or f"#{line.index}"
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
        for key in _call_keys(call):
            waiting = self.waiting.setdefault(key, [])
            if not waiting or waiting[-1][0] != answer:
                waiting.append((answer, deque()))
            waiting[-1][1].append(call)
        if call.id:
            self.calls.setdefault(call.id, []).append(call)

    def flush(self) -> None:
        """Give the results of a run, which is over, to their calls."""
        groups: dict[Key, list[Part]] = {}
        for result in self.run:
            key = self._key(result)
            if key is None:
                self.astray.append(result)
            else:
                groups.setdefault(key, []).append(result)
        self.run = []
        for key, results in groups.items():
            self._answer(key, results)

    def close(self) -> list[Part]:
        """Return the results that answer nothing; those that came before their only call are given to it."""
        self.flush()
        for result in self.astray:
            calls = self.calls.get(result.id, [])
            if len(calls) == 1 and _accepts(calls[0], result):
                _join(calls[0], result)
        return [result for result in self.results if result.partner is None and not self._elsewhere(result)]

    def _elsewhere(self, result: Part) -> bool:
        """Whether the call of a result may be behind a reference."""
        return self.refers and result.id not in self.calls

    def _key(self, result: Part) -> Key | None:
        keys = _result_keys(result)
        return next((key for key in keys if key in self.waiting), None)

    def _answer(self, key: Key, results: list[Part]) -> None:
        calls = _recent(self.waiting[key], len(results))
        chosen = results
        if len(calls) < len(results):
            ranked = sorted(range(len(results)), key=lambda number: not results[number].real)
            kept = set(ranked[: len(calls)])
            chosen = [results[number] for number in sorted(kept)]
            self._replace(key, [result for number, result in enumerate(results) if number not in kept])
        for call, result in zip(calls, chosen, strict=True):
            _join(call, result)
            if not result.real:
                for known in _call_keys(call):
                    self.filled.setdefault(known, []).append(call)

    def _replace(self, key: Key, results: list[Part]) -> None:
        """Let real results that are left over take the place of made ones."""
        for result in results:
            call = self._filled(key) if result.real else None
            if call is None:
                self.astray.append(result)
            else:
                _join(call, result)

    def _filled(self, key: Key) -> Part | None:
        """Take the last call whose result was made."""
        calls = self.filled.get(key, [])
        while calls:
            call = calls.pop()
            if call.partner is not None and not call.partner.real:
                return call
        return None


def _accepts(call: Part, result: Part) -> bool:
    return call.partner is None or (result.real and not call.partner.real)


def _join(call: Part, result: Part) -> None:
    if call.partner is not None:
        call.partner.partner = None
    call.partner, result.partner = result, call


def _recent(waiting: list[Waiting], count: int) -> list[Part]:
    """Take the calls of the most recent answers, the first of each; forget those that were answered."""
    taken: list[list[Part]] = []
    while waiting and count > 0:
        _, calls = waiting[-1]
        group: list[Part] = []
        while calls and len(group) < count:
            call = calls.popleft()
            group += [call] * (call.partner is None)
        if not calls:
            waiting.pop()
        taken.append(group)
        count -= len(group)
    return [call for group in reversed(taken) for call in group]


def _call_keys(call: Part) -> Iterable[Key]:
    if call.id:
        yield "id", call.id
    elif call.name:
        yield "nameless id", call.name
    if call.name:
        yield "name", call.name
    yield "any", ""
    for alias in call.aliases:
        yield "alias", alias


def _result_keys(result: Part) -> Iterable[Key]:
    """Yield where the calls may wait that a result can answer, the surest first."""
    if result.id:
        yield "id", result.id
        yield "alias", result.id
        yield "nameless id", result.name
    elif result.name:
        yield "name", result.name
    else:
        yield "any", ""


def pair(lines: Iterable[Line]) -> list[Part]:
    """Join calls and results; return the results that answer nothing."""
    threads: dict[str, Pairing] = {}
    for line in lines:
        if line.side != "other":
            threads.setdefault(line.reading.thread, Pairing()).read(line)
    return [orphan for pairing in threads.values() for orphan in pairing.close()]
