"""The page of `wholecall conform` in a real browser: its content, its controls, and its limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import console, told
from tests.support.conform_suite import adapter_of, small_suite
from wholecall.cli import main

pytestmark = pytest.mark.browser

EVIL = "</td></script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a client that says what it can to break it."""
    folder = tmp_path_factory.mktemp("page")
    small_suite(folder / "suite")
    call = {"id": EVIL, "name": EVIL, "arguments": {EVIL: EVIL}}
    command = adapter_of(folder, f"return said([{call!r}], error={EVIL!r})")
    path = folder / "page.html"
    assert main(["conform", "run", "--data", str(folder / "suite"), "--html", str(path), "--", *command]) == 1
    return path


def test_no_complaint(page: Path) -> None:
    """The browser finds nothing wrong with it, and its policy refuses none of its own content."""
    assert [] == console(page)


def test_what_a_client_said_is_text(page: Path) -> None:
    """A client's names and errors are shown, and nothing of them is executed."""
    found = told(page, "tell({ pwned: window.pwned ?? null, text: document.body.textContent })")

    assert found["pwned"] is None
    assert EVIL in found["text"]


def test_a_table_is_sorted_by_its_heads(page: Path) -> None:
    """A click on a head sorts the rows."""
    script = "const head = all('#cases th')[0]; head.firstElementChild.click(); tell(texts('#cases td:first-child'))"
    names = ["chat-completions/cut", "chat-completions/plain", "chat-completions/text"]

    assert sorted(names) == told(page, script)
