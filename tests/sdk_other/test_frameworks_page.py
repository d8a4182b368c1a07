"""The lines of docs/frameworks.md that need older SDKs: a call that is cut runs without the transport, and not with it."""

from __future__ import annotations

import pytest

from tests.support.frameworks import CUTS, FRAMEWORKS, HEALTHY, NEWEST, TOLD, cells, ran

pytestmark = [
    pytest.mark.sdk,
    # Frameworks do not close the clients of their SDKs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

NAMES = [name for name in FRAMEWORKS if name not in NEWEST]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_tells_what_is_run(name: str) -> None:
    """Without the transport a framework treats a cut call as the page says; with it, it raises as the page says."""
    assert TOLD[name] == cells(name)


@pytest.mark.parametrize("name", NAMES)
def test_only_whole_calls_run(name: str) -> None:
    """With the transport no cut call runs, and a whole one runs with its arguments, once."""
    found = [ran(name, stream, wrapped=True).ports for stream in (*CUTS, HEALTHY)]

    assert [[], [], [], ["Brest"]] == found
