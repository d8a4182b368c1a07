"""Steps of a run, told apart by ids of calls that come again.

Theory of operation. The models of an agent number their calls anew in each step of a run, as `call_0` or
`functions.run:0`, and the wire does not say where a step begins. A call under the id of one that has its result begins
another step. Its slot is the id, with the number of the step from the second one on.
"""

from __future__ import annotations

from wholecall.deltas import Delta, StepBegan


class Steps:
    """The ids of one run's calls.

    Attributes:
        calls: whether calls of the current step have their results, by their ids.
    """

    calls: dict[str | None, bool]
    _answers: set[str | None]
    _number: int

    def __init__(self) -> None:
        self.calls = {}
        self._answers = set()  # ids of calls with results, of all steps
        self._number = 0

    def slot(self, id: str | None) -> str | None:
        """Return the slot of a call of the current step."""
        return f"{self._number}/{id}" if self._number else id

    def call(self, id: str | None) -> list[Delta]:
        """Note a call that begins, or goes on; return the beginning of another step if the last call has its result."""
        told: list[Delta] = []
        if self.calls.get(id, False):
            self.calls = {}
            self._number += 1
            told.append(StepBegan(0))
        self.calls[id] = False
        return told

    def answer(self, id: str | None) -> None:
        """Note that a call has its result."""
        self.calls[id] = True
        self._answers.add(id)

    def is_answered(self, id: str | None) -> bool:
        """Return whether a call under this id has its result, in any step."""
        return id in self._answers
