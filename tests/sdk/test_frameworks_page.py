"""The lines of docs/frameworks.md under the newest SDKs: a call that is cut runs without the transport, and not with it."""

from __future__ import annotations

import pytest

from tests.support.frameworks import CUTS, FRAMEWORKS, HEALTHY, LINES, NEWEST, TOLD, cells, ran

pytestmark = [
    pytest.mark.sdk,
    # Frameworks do not close the clients of their SDKs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_every_row_is_tried() -> None:
    """The page has a line and a row of behaviour for each framework that is tried, here or in `tests/sdk_other`."""
    assert (FRAMEWORKS.keys(), FRAMEWORKS.keys()) == (LINES.keys(), TOLD.keys())


@pytest.mark.parametrize("name", NEWEST)
def test_the_page_tells_what_is_run(name: str) -> None:
    """Without the transport a framework treats a cut call as the page says; with it, it raises as the page says."""
    assert TOLD[name] == cells(name)


@pytest.mark.parametrize("name", NEWEST)
def test_only_whole_calls_run(name: str) -> None:
    """With the transport no cut call runs, and a whole one runs with its arguments, once."""
    found = [ran(name, stream, wrapped=True).ports for stream in (*CUTS, HEALTHY)]

    assert [[], [], [], ["Brest"]] == found
