"""The integrations of docs/frameworks.md under the newest SDKs: the model is told of a cut call, and sends it again."""

from __future__ import annotations

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support.integrations import BOTH, CUTS, FRAMEWORKS, HEALTHY, LINES, NEWEST, answered, ran

pytestmark = [
    pytest.mark.sdk,
    # Frameworks do not close the clients of their SDKs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

LIVE = [name for name in NEWEST if LINES[name][2]]


def test_every_row_is_tried() -> None:
    """The page has a line for each framework that is tried, here or in `tests/sdk_other`."""
    assert FRAMEWORKS.keys() == LINES.keys()


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", NEWEST)
def test_a_cut_call_is_sent_again(name: str, cut: str) -> None:
    """A cut call is not run, the model is told of it, and the whole call of its next turn is run, once."""
    found = ran(name, cut, HEALTHY)

    assert (["Brest"], [False, True], "") == (found.ports, found.told[:2], found.error)
    assert 3 == len(found.requests)


@pytest.mark.parametrize("name", NEWEST)
def test_a_good_stream_is_untouched(name: str) -> None:
    """A whole call is run, and the model is told of nothing else."""
    found = ran(name, HEALTHY)

    assert (["Brest"], [False, False], "") == (found.ports, found.told, found.error)


@pytest.mark.parametrize("name", NEWEST)
def test_a_whole_call_is_run_beside_a_cut_one(name: str) -> None:
    """Of two calls the whole one is run, and in its next turn the model is told of the other."""
    found = ran(name, BOTH)

    assert (["Brest"], [False, True], "") == (found.ports, found.told, found.error)


@pytest.mark.parametrize("name", NEWEST)
def test_a_model_that_cannot_is_given_up(name: str) -> None:
    """If each turn has a cut call only, none is run, and the run ends with an exception."""
    found = ran(name, *[CUTS[0]] * 5)

    assert ([], True) == (found.ports, bool(found.error))
    assert len(found.requests) <= 3


@pytest.mark.parametrize("name", LIVE)
def test_arguments_are_shown_while_they_arrive(name: str) -> None:
    """With live arguments the beginning of a cut call is shown, not run, and the call asked for again."""
    found = ran(name, CUTS[0], HEALTHY, live_arguments=True)

    assert (["Brest"], [False, True], "") == (found.ports, found.told[:2], found.error)
    assert 3 == len(found.requests)
    assert "".join(found.shown).startswith('{"port": "Bre')


@pytest.mark.parametrize("name", NEWEST)
def test_the_end_is_no_option(name: str) -> None:
    """A silent end is refused where the integration is made."""
    found = ran(name, HEALTHY, withheld="end")

    assert ("TypeError", []) == (found.error, found.requests)


@pytest.mark.parametrize("name", NEWEST)
def test_the_example_goes_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The framework's example answers although its model's first call was cut: the model was told."""
    monkeypatch.syspath_prepend(PROJECT / "examples")
    answer, told = answered(name)

    assert (True, [False, True]) == (answer.endswith(("Done.", "At 04:12.")), told[:2])
    assert 3 == len(told)
