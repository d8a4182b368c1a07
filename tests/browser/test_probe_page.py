"""The page of `wholecall probe` in a real browser: its content, its one control, and its limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import console, told
from tests.support.endpoint import Answered, Got, endpoint, good
from wholecall.cli import main

pytestmark = pytest.mark.browser

EVIL = "</td></script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>"


def without_indices(got: Got, _number: int) -> Answered:
    """Answer well, but leave out the indices of calls."""
    answer = good(got)
    pieces = tuple(
        one.replace(b'"index": 0, "function"', b'"function"').replace(b', "index": 0}', b"}")
        for one in answer.pieces
    )
    return answer._replace(pieces=pieces)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about an endpoint with a fault, and a model whose name is markup."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    with endpoint(without_indices) as server:
        options = ["--model", EVIL, "--level", "quick", "--only", "one", "--tries", "2"]
        assert main(["probe", server.url, *options, "--html", str(path)]) == 1
    return path


def test_no_complaint(page: Path) -> None:
    """The browser finds nothing wrong with it, and its policy refuses none of its own content."""
    assert [] == console(page)


def test_names_are_text(page: Path) -> None:
    """The model's name is shown, and nothing of it is executed."""
    found = told(page, "tell({ pwned: window.pwned ?? null, text: document.body.textContent })")

    assert found["pwned"] is None
    assert EVIL in found["text"]


def test_the_clients_that_break_are_folded(page: Path) -> None:
    """A fault has a line with the number of clients that it breaks, and their list under it."""
    script = "tell(all('#wire details')[0].textContent)"

    assert str(told(page, script)).startswith("breaks ")
