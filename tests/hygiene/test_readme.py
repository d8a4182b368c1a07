"""The README and the pages next to it keep their word: the commands are there, the code runs."""

from __future__ import annotations

import re
import sys
import types

import pytest

from tests.hygiene.source_tree import DOCS, PROJECT
from tests.support import javascript_table, phase_table, text_table
from tests.support.together import together
from wholecall.dialects import table

# .ci/run takes the second one from the README and runs it unchanged.
COMMANDS = (
    "python3 -m venv .venv && .venv/bin/python -m pip install . && .venv/bin/wholecall replay corpora/recordings",
    "python3 -m venv .venv && .venv/bin/python -m pip install -e '.[test]' && .venv/bin/python -m pytest -n 2",
)
PAGES = ["README.md", *(str(page.relative_to(PROJECT)) for page in sorted(DOCS.rglob("*.md")))]
# After the language may follow the needs of a block: such blocks run where these are installed (tests/sdk,
# tests/engines).
_BLOCK = re.compile(
    r"^```(?P<language>\w*)(?: (?P<needs>[\w.-]+))?\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


NEEDS = frozenset({"anthropic", "fastapi", "openai", "pydantic_ai", "pytest"})
ENGINES = frozenset({"daft", "dask", "datasets", "duckdb", "polars", "ray", "spark"})  # tests/engines


def blocks(*languages: str, page: str = "README.md", needs: str | None = None) -> list[tuple[int, str]]:
    """Return a page's code blocks in one of the languages, each with the line it begins on."""
    text = (PROJECT / page).read_text("utf-8")
    return [
        (text.count("\n", 0, match.start("code")), match["code"])
        for match in _BLOCK.finditer(text)
        if match["language"] in languages and match["needs"] == needs
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_two_commands_are_there(command: str) -> None:
    """The README shows how to see tool calls and how to run the tests, each in one line."""
    lines = [line for _, code in blocks("", "sh", "bash", "shell", "console") for line in code.splitlines()]

    assert command in [line.removeprefix("$ ").strip() for line in lines]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks("python", "py", page=page)])
def test_python_blocks_run(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of a page runs by itself, from the project's root."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(table, "_registered", {})

    ran: list[int] = []
    for line, code in blocks("python", "py", page=page):
        # The newlines in front give a traceback the page's own line numbers.
        program = compile("\n" * line + code, str(PROJECT / page), "exec")
        module = types.ModuleType("page")  # dataclasses look their module up
        monkeypatch.setitem(sys.modules, "page", module)
        exec(program, vars(module))  # noqa: S102 - the pages are ours
        ran.append(line)

    assert [line for line, _ in blocks("python", "py", page=page)] == ran


@together("page", [page for page in PAGES if page != "docs/testing.md"])
def test_no_block_goes_untested(page: str) -> None:
    """A block may need only packages that a test in `tests/sdk` or `tests/engines` runs it with."""
    text = (PROJECT / page).read_text("utf-8")
    needed = {match["needs"] for match in _BLOCK.finditer(text) if match["language"] == "python"}

    assert set() == needed - {None, *NEEDS, *ENGINES}


def test_the_readme_is_short() -> None:
    """The README takes two minutes: longer text is a separate page."""
    assert len((PROJECT / "README.md").read_text("utf-8").splitlines()) <= 195


@pytest.mark.parametrize(
    ("name", "page", "module"),
    [
        ("phases", "docs/architecture.md", phase_table),
        ("javascript", "docs/proxy.md", javascript_table),
        ("javascript", "README.md", javascript_table),
        ("texts", "docs/text.md", text_table),
    ],
    ids=["phases", "javascript", "javascript in the README", "texts"],
)
def test_the_tables_are_those_that_run(name: str, page: str, module: types.ModuleType) -> None:
    """The tables in the pages are made from the running tests, from the recordings, and from test data."""
    text = (PROJECT / page).read_text("utf-8")
    match = re.search(rf"<!-- {name}:[^\n]*-->\n(?P<table>.*?)<!-- /{name} -->", text, re.DOTALL)

    assert match is not None
    assert match["table"] == module.markdown(), f"put into {page} what python -m {module.__name__} prints"
