"""Report of a trial for people: by the habits of the cheapest reading, each group with its smallest stream.

A case whose habits hold those of a smaller group counts there: most likely it is the same fault.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tests.models.judge import LOST, ORDER
from tests.models.streams import Model, Streams
from tests.models.trial import Case, Trial

Say = Callable[[str], object]


def _told(model: Model, habit: Any, *, costly: bool = False) -> list[str]:
    """The habits that are not the first of their aspect, or only those that cost something."""
    return [
        f"{aspect}={value}"
        for (aspect, values), value in zip(model.habits.items(), habit, strict=True)
        if value != next(iter(values)) and (not costly or values[value][0])
    ]


def _size(case: Case) -> int:
    return len(case.stream)


def _groups(
    model: Model, cases: list[Case]
) -> tuple[dict[frozenset[str], list[Case]], Counter[frozenset[str]]]:
    """The smallest sets of habits with their cases, and the number of cases with further habits."""
    by_habits: dict[frozenset[str], list[Case]] = defaultdict(list)
    for case in cases:
        by_habits[frozenset(_told(model, case.readings[0].habit, costly=True))].append(case)
    groups: dict[frozenset[str], list[Case]] = {}
    besides: Counter[frozenset[str]] = Counter()
    for habits, group in sorted(by_habits.items(), key=lambda item: (len(item[0]), min(map(_size, item[1])))):
        smaller = next((held for held in groups if held <= habits), None)
        if smaller is None:
            groups[habits] = group
        else:
            besides[smaller] += len(group)
    return groups, besides


def report(streams: Streams, trial: Trial, say: Say, *, show: int, wire: bool) -> None:
    """Print the faults, by kind and by habits; `show` groups of each with an example."""
    for what, cases in sorted(trial.wrong.items()):
        if not cases:
            continue
        say(f"{what}: {len(cases)}\n")
        groups, besides = _groups(streams.model, cases)
        for n, (habits, group) in enumerate(groups.items()):
            more = f" (and {besides[habits]} with other habits besides)" if besides[habits] else ""
            say(f"    {len(group)} x {' '.join(sorted(habits)) or 'none'}{more}\n")
            if n < show:
                _say_example(streams, min(group, key=_size), say, wire=wire)


def _say_example(streams: Streams, case: Case, say: Say, *, wire: bool) -> None:
    for number in case.stream:
        say(f"          {json.dumps(streams.events[number])}\n")
        if wire:
            say(f"              {streams.chunks[number]!r}\n")
    came = [(*call, f"after {n}") for n, call in case.came]
    say(f"          {f'cut by {case.end}; ' if case.end else ''}came {came}\n")
    for cost, calls, habit in case.readings[:4]:
        say(f"          means {list(calls)}, {cost}: {' '.join(_told(streams.model, habit)) or 'none'}\n")


def summary(streams: Streams, trial: Trial, most: float, seconds: float) -> str:
    """The run in one line."""
    lost, order = (len(trial.wrong.get(what, ())) for what in (LOST, ORDER))
    return (
        f"model of {streams.model.dialect}, habits up to {most}: {trial.n_tried} streams ({trial.n_cut} cut), "
        f"{trial.n_faults} with a call that was not surely sent, {lost} with one meaning and a call lost, "
        f"{order} out of order ({seconds:.0f} s)\n"
    )
