"""Turns of several agents in one stream, and which of them is the current one.

Theory of operation. Each turn has its number as its key. The turn of the agent that speaks becomes the current one. A
turn that follows a finished turn may discard it; one that follows an open turn of another agent must not.
"""

from __future__ import annotations

from wholecall.deltas import Delta, TurnEnded, TurnOpened


class Beside:
    """The turns of one stream, side by side.

    Attributes:
        n_turns: the number of turns that began.
    """

    n_turns: int
    _now: str | None
    _over: bool

    def __init__(self) -> None:
        self.n_turns = 0
        self._now = None  # the key of the current turn
        self._over = False  # whether that turn is over

    def begin(self, id: str | None = None, model: str | None = None) -> tuple[str, list[Delta]]:
        """Return the key of a new turn, and its beginning."""
        self.n_turns += 1
        key, over = str(self.n_turns), self._over
        self._now, self._over = key, False
        return key, [TurnOpened(key, id, model, restart=over)]

    def switch(self, key: str) -> list[Delta]:
        """Return the deltas that make an open turn the current one."""
        if key == self._now:
            return []
        self._now, self._over = key, False
        return [TurnOpened(key)]

    def end(self, key: str) -> list[Delta]:
        """Return the end of a turn."""
        deltas = self.switch(key)
        self._over = True
        return [*deltas, TurnEnded(key)]

    def leave(self, key: str) -> list[Delta]:
        """Return the deltas that let the next turn replace one that the wire did not end."""
        deltas = self.switch(key)
        self._over = True
        return deltas
