"""The claim: importing wholecall costs little more than importing its decoder."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import measure
from benchmarks.claims import Figure, Scale


def _import(scale: Scale) -> float:
    ours, theirs = measure.import_times(("wholecall", "msgspec"), scale.rounds)
    return min(ours) / min(theirs)


CLAIMS = [Figure("warm import of wholecall / of msgspec", _import, 2)]


def test_import(race: Callable[[], None]) -> None:
    """Both can be imported in a fresh interpreter."""
    race()
