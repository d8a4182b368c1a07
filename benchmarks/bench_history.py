"""The claim: shrinking arguments of any content is linear, with a budget and without."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.claims import Contender, Growth
from benchmarks.texts import KIB, SHRINKING
from wholecall.history import Shrunk, shrink_arguments

# The budget is found by bisection.
_BUDGETS: dict[str, int | None] = {"": None, " to 4 KB": 4 * KIB}


def _claim(what: str, budget: str) -> Growth:
    most = _BUDGETS[budget]

    def right(text: str, found: Shrunk[str]) -> bool:
        return len(found.text) <= len(text) and (found.valid or most is not None)

    shrinks = Contender(lambda text: shrink_arguments(text, max_bytes=most), right)
    return Growth(
        f"shrinking{budget}, {what}", SHRINKING[what], KIB * KIB, len, shrinks, checked=most is None
    )


CLAIMS = [_claim(what, budget) for what in SHRINKING for budget in _BUDGETS]


def test_shrinking(race: Callable[[], None]) -> None:
    """The result is not longer."""
    race()
