"""Counts of known faults: a number may only fall.

A test compares its counts with the numbers of a file next to it. More faults are an error of the change; fewer require
the lower number, so that fixed faults stay fixed. A number that is not in the file is 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

Counts = Mapping[str, int]


def known(path: Path) -> dict[str, dict[str, int]]:
    """Return the known numbers, by trial."""
    numbers: dict[str, dict[str, int]] = json.loads(path.read_text("utf-8"))
    return numbers


def complaints(path: Path, tried: str, counts: Counts) -> list[str]:
    """Return the counts that differ from the known numbers, and the remedy."""
    numbers = known(path).get(tried, {})
    left = [(what, counts.get(what, 0), most) for what, most in sorted(numbers.items())]
    return excess(path, tried, counts) + [
        f"{tried}: only {count} x {what} are left of {most}: lower the number in {path.name}"
        for what, count, most in left
        if count < most
    ]


def excess(path: Path, tried: str, counts: Counts) -> list[str]:
    """Return the counts above the known numbers: all that a share of the cases can tell."""
    numbers = known(path).get(tried, {})
    return [
        f"{tried}: {count} x {what}, and at most {numbers.get(what, 0)} are known"
        for what, count in sorted(counts.items())
        if count > numbers.get(what, 0)
    ]


def lowered(path: Path, counts: Mapping[str, Counts]) -> list[str]:
    """Write counts into the file, and return those refused because they are higher than the known numbers.

    A new trial may have any number.
    """
    numbers = known(path) if path.exists() else {}
    refused = []
    for tried, found in counts.items():
        before = numbers.get(tried)
        raised = {what: n for what, n in found.items() if before is not None and n > before.get(what, 0)}
        refused += [f"{tried}: {n} x {what}" for what, n in raised.items()]
        kept = {what: (before or {}).get(what, 0) for what in raised}
        numbers[tried] = {what: n for what, n in {**found, **kept}.items() if n}
    numbers = {tried: dict(sorted(found.items())) for tried, found in sorted(numbers.items())}
    path.write_text(json.dumps(numbers, indent=2) + "\n", "utf-8")
    return refused
