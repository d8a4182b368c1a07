"""The quirk generator against the parser: no call invented, and none lost where the wire decides."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support import quirky, share
from tests.support.turns import violations


def _judge(case: quirky.Case) -> list[str]:
    events = quirky.parse([case.bytes()])
    found = quirky.judge(case, events) + quirky.unequal_splits(case, events) + violations(events)
    return [f"{case.seed} {'+'.join(case.modes)}: {text}" for text in found]


@pytest.mark.sampled(25)
@pytest.mark.parametrize("mode", quirky.MODES)
def test_each_mode(mode: str) -> None:
    """Laws 1, 8 and 32: each quirk alone, over random calls; no call is invented, and all decidable calls appear."""
    found = [text for number in range(12) for text in _judge(quirky.make(f"alone:{number}", (mode,)))]

    assert [] == found


@pytest.mark.slow
def test_each_pair_of_modes() -> None:
    """Laws 1, 8 and 32: pairs of quirks; at most 1 % of pairs lose a call that the generator distinguishes."""
    found = [text for pair in quirky.PAIRS for text in _judge(quirky.make("pair", pair))]
    lost = [text for text in found if ": rule 2: " in text]

    assert [] == [text for text in found if text not in lost][:10]
    assert len(lost) * 100 <= len(quirky.PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("part", share.every(20, range(20), "quirky"))
def test_many_cases(part: int) -> None:
    """Laws 1, 8 and 32: one of twenty thousands of cases (`python tests/support/quirky.py` runs more).

    With two quirks at once some calls are in doubt that the generator could distinguish: at most one case in a hundred.
    """
    cases = (quirky.make_numbered(1, number) for number in range(part * 1000, part * 1000 + 1000))
    found = [text for case in cases for text in _judge(case)]
    lost = [text for text in found if ": rule 2: " in text]

    assert [] == [text for text in found if text not in lost][:10]
    assert len(lost) <= 10


def test_generator_repeats_itself() -> None:
    """The same seed gives the same bytes, independently of earlier streams."""
    first = [quirky.make_numbered(3, number).bytes() for number in range(40)]
    again = [quirky.make_numbered(3, number).bytes() for number in reversed(range(40))]

    assert first == again[::-1]


def test_generator_decides_most() -> None:
    """Most cases are decidable and few are excused: a generator that excuses everything would test nothing."""
    cases = [quirky.make_numbered(5, number) for number in range(800)]
    decided = sum(case.decidable for case in cases)
    excused = sum(case.excused for case in cases)

    assert decided > 0.8 * len(cases)
    assert excused < 0.05 * len(cases)


def test_generator_reaches_every_mode() -> None:
    """Each mode has decidable cases, and each kind of doubt is met by some case."""
    cases = [quirky.make(str(n), pair) for n, pair in enumerate(quirky.PAIRS)]
    decided = Counter(mode for case in cases if case.decidable for mode in case.modes)
    doubts = {doubt for case in cases for doubt in case.doubts}

    assert set(quirky.MODES) - {"plain"} == set(decided)
    assert doubts <= quirky.DOUBTS.keys()


def test_judge_sees_inventions_and_losses() -> None:
    """The judge itself works: a call too many breaks rule 1, a call too few breaks rule 2."""
    case = next(c for n in range(99) if (c := quirky.make(str(n), ("plain",))).decidable and len(c.sent) > 1)
    other = next(
        c for n in range(99) if (c := quirky.make(f"o{n}", ("plain",))).sent and c.sent[0] not in case.sent
    )
    events = quirky.parse([case.bytes()])

    assert [] == quirky.judge(case, events)
    assert quirky.judge(case, [])[0].startswith("rule 2")
    assert quirky.judge(case, quirky.parse([other.bytes()]))[0].startswith("rule 1")


def test_random_splits_keep_the_bytes() -> None:
    """A random split loses nothing."""
    rng = random.Random(0)
    data = bytes(range(256)) * 3

    assert all(b"".join(quirky.random_split(rng, data)) == data for _ in range(50))
