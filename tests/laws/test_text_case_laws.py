"""The laws of texts over the cases of a case folder: each case in pieces and cut everywhere, and the number of right
results.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import share
from tests.text.cases import ROWS, Case, read_cases, score
from tests.text.reading import begun, calls, cut, merged, read, spelled, visible
from wholecall import parse_arguments
from wholecall.text.engine import TextEngine
from wholecall.text.outputs import Output, Written

pytestmark = pytest.mark.cases
FORMATS = pytest.mark.parametrize("auto", [False, True], ids=["own", "auto"])


@pytest.fixture(scope="module")
def cases(request: pytest.FixtureRequest) -> list[Case]:
    """Return all cases."""
    folder: Path = request.config.getoption("--vectors")
    return list(read_cases(folder / "text_cases.jsonl"))


def made(case: Case, *, auto: bool) -> dict[str, Any]:
    """Return how a case is read."""
    return {"name": "auto" if auto else case.format, "tools": case.tools, "prompt": case.prompt}


def one_by_one(case: Case, *, auto: bool) -> Iterator[tuple[TextEngine, list[Output]]]:
    """Yield an engine that has read each prefix, and its events."""
    engine, found = begun(**made(case, auto=auto)), list[Output]()
    yield engine, found
    for character in case.text:
        found += engine.feed(character)
        yield engine, found


def cut_badly(case: Case, step: int, *, auto: bool, begin: int = 0) -> list[int]:
    """Return where a text that breaks off at every few places gives a call that the whole text does not give."""
    whole = calls(read(pieces=[case.text], ended=case.ended, **made(case, auto=auto)))
    bad: list[int] = []
    for place, (engine, found) in enumerate(one_by_one(case, auto=auto)):
        if place % step != begin:
            continue
        saved = engine.saved()
        for ended in ("length", "open"):
            other = begun(**{**made(case, auto=auto), "prompt": ""})
            other.restore(saved)
            given = calls([*found, *other.close(ended)])
            if given != whole[: len(given)]:
                bad.append(place)
    return bad


@FORMATS
def test_pieces_do_not_matter(cases: list[Case], rng: random.Random, *, auto: bool) -> None:
    """Laws 77 and 80: each case in characters and pieces, with and without a window, gives the whole text's events."""
    for case in cases:
        options = made(case, auto=auto)
        whole = merged(read(pieces=[case.text], ended=case.ended, **options))

        assert case.text == spelled(whole), case.id
        assert whole == merged(read(pieces=list(case.text), ended=case.ended, window=0, **options)), case.id
        assert whole == merged(read(pieces=cut(case.text, rng), ended=case.ended, **options)), case.id


@FORMATS
def test_some_prefixes_give_prefixes(cases: list[Case], *, auto: bool) -> None:
    """Law 78: a case that breaks off gives no call that the whole one does not give; here at some places."""
    assert {} == {case.id: bad for case in cases if (bad := cut_badly(case, 23, auto=auto))}


@pytest.mark.slow
@FORMATS
def test_all_prefixes_give_prefixes(cases: list[Case], *, auto: bool) -> None:
    """Laws 78 and 85: the same at a share of all places, by an engine that continues from the state saved there."""
    step = 1 if share.tries_all() else 53
    bad = {case.id: cut_badly(case, step, auto=auto, begin=share.begin(step, case.id)) for case in cases}

    assert {} == {name: places for name, places in bad.items() if places}


def result(case: Case) -> tuple[list[tuple[str, Any]], str]:
    """Return calls and visible text of a case."""
    outputs = read(pieces=[case.text], ended=case.ended, **made(case, auto=False))
    judged = [(said.name, parse_arguments(said.arguments)) for said in outputs if isinstance(said, Written)]
    return [(name, value.arguments) for name, value in judged if value.arguments is not None], visible(
        outputs
    )


def test_as_many_cases_come_out_right_as_must(cases: list[Case]) -> None:
    """By format and kind, at least the recorded number of cases give the right calls."""
    found = score(cases, result)
    least = {(row.group, kind): few for row in ROWS for kind, (few, _) in row.least.items()}

    assert {} == {key: found[key].calls for key, few in least.items() if found[key].calls < few}
