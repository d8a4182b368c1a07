"""Ids that distinguish calls: repeated ids get a new one, missing ids are made, results follow their calls.

A new id is valid wherever the old one was: it is longer only where longer ids are allowed, and uses letters, digits and
`_`. Ids of the form `functions.<name>:<n>` are counted within one answer by the models that use them, and such models
read them; in chat completions they are kept (quirk 64).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from wholecall.history.ids import is_counted
from wholecall.history.parts import Line, Part

__all__ = ["Ids", "name_calls"]

_ROOM = 40  # characters that every provider accepts for an id, except those that require exactly nine
_EXACT = 9


class Ids:
    """The taken ids, and a source of new ids; deterministic."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self.counts: dict[str, int] = {}

    def like(self, id: str) -> str:
        """Return a new id for a call whose id is taken."""
        if len(id) == _EXACT and id.isalnum():
            return self._next(id[:5], lambda number: id[: _EXACT - max(4, len(str(number)))] + f"{number:04}")
        stem = id if len(id) + 4 <= _ROOM else id[: max(_ROOM, len(id)) - 8]
        return self._next(stem, lambda number: f"{stem}_{number}")

    def fresh(self) -> str:
        """Return an id for a call that has none."""
        return self._next("call", lambda number: f"call_{number}")

    def _next(self, stem: str, make: Callable[[int], str]) -> str:
        number = self.counts.get(stem, 1)
        while True:
            number += 1
            id = make(number)
            if id not in self.taken:
                self.counts[stem] = number
                self.taken.add(id)
                return id


def name_calls(calls: Iterable[tuple[Line, Part]], *, keep_counted: bool) -> list[str]:
    """Give every call a unique id, and its result the same id.

    Returns:
        The renamed calls, by the id in the input, or by the new id if there was none.
    """
    calls = list(calls)
    ids = Ids(call.id for _, call in calls if call.id)
    threads: dict[str, dict[str, int]] = {}
    renamed: list[str] = []
    for line, call in calls:
        before = call.id
        last = threads.setdefault(line.thread, {})
        if before and before in last:
            stays = keep_counted and last[before] != line.index and is_counted(call.id, call.name)
            call.id = before if stays else ids.like(before)
        elif not before and not call.anonymous:
            call.id = _alias(call, ids) or ids.fresh()
        last[before] = line.index
        if call.id != before:
            call.set("id", call.id)
        if _rename_result(call) or call.id != before:
            renamed.append(before or call.id)
    return renamed


def _alias(call: Part, ids: Ids) -> str:
    """Return an alias of the call that no other call has for its id."""
    alias = next((alias for alias in call.aliases if alias not in ids.taken), "")
    ids.taken.add(alias)
    return alias


def _rename_result(call: Part) -> bool:
    """Let the result of a call name it by its id, and by its name too if results name tools."""
    result = call.result
    if result is None:
        return False
    changed = False
    if call.id and call.id != result.id and (result.id or not result.anonymous):
        result.set("id", call.id)
        changed = True
    if result.anonymous and call.name != result.name:
        result.set("name", call.name)
        changed = True
    return changed
