"""Which result answers which call.

Theory of operation. Lines are read in order, each conversation (thread) of a file by itself. Calls wait under
their id, under their name (where results may come without an id) and under their aliases. Results that follow
each other are one *run*, and a run answers the most recent calls that wait under its key, in their order: so
repeated ids pair by occurrence, and one lost result shifts no other. A call has one result at most. Of several
the first real one counts; a real result replaces one that was made, wherever it stands. A result before its call
is taken only if one call alone has its id. All else answers nothing.

Every list is consumed from its end, so the work is linear however often an id repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from wholecall.history.parts import Line, Part

__all__ = ["Pairing", "pair"]

Key = tuple[str, str]


class Pairing:
    """The calls that wait in one thread, and the results that found none."""

    def __init__(self) -> None:
        self.waiting: dict[Key, list[Part]] = {}  # calls without a result; answered ones are skipped when met
        self.filled: dict[Key, list[Part]] = {}  # calls whose result was made
        self.calls: dict[str, list[Part]] = {}  # every call by its id
        self.run: list[Part] = []
        self.results: list[Part] = []
        self.astray: list[Part] = []
        self.refers = False  # whether calls may be where we do not see them

    def add(self, call: Part) -> None:
        """Let a call wait for its result."""
        for key in _call_keys(call):
            self.waiting.setdefault(key, []).append(call)
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
        calls = _last(self.waiting[key], len(results), _is_open)
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
            call = next(iter(_last(self.filled.get(key, []), 1, _is_filled)), None) if result.real else None
            if call is None:
                self.astray.append(result)
            else:
                _join(call, result)


def _is_open(call: Part) -> bool:
    return call.partner is None


def _is_filled(call: Part) -> bool:
    return call.partner is not None and not call.partner.real


def _accepts(call: Part, result: Part) -> bool:
    return call.partner is None or (result.real and not call.partner.real)


def _join(call: Part, result: Part) -> None:
    if call.partner is not None:
        call.partner.partner = None
    call.partner, result.partner = result, call


def _last(calls: list[Part], count: int, fits: Callable[[Part], bool]) -> list[Part]:
    """Take the last `count` calls that fit from a list, in their order; those that do not are forgotten."""
    taken: list[Part] = []
    while calls and len(taken) < count:
        call = calls.pop()
        if fits(call):
            taken.append(call)
    return taken[::-1]


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
        if line.side == "other":
            continue
        pairing = threads.setdefault(line.reading.thread, Pairing())
        for part in line.parts:
            if part.kind == "call":
                if pairing.run:
                    pairing.flush()
                pairing.add(part)
            elif part.kind == "result":
                pairing.run.append(part)
                pairing.results.append(part)
            elif part.kind == "reference":
                pairing.refers = True
        if pairing.run and any(part.kind not in ("result", "blank") for part in line.parts):
            pairing.flush()
    return [orphan for pairing in threads.values() for orphan in pairing.close()]
