"""The pages in docs/recipes hold together with the tests, and recipes are short."""

from __future__ import annotations

import re

import pytest

from tests.hygiene.source_tree import DOCS, PROJECT, table_cells
from tests.hygiene.test_readme import ENGINES, blocks

INDEX = (DOCS / "recipes" / "index.md").read_text("utf-8")


def extras() -> dict[str, str]:
    """Return the lowest version of each engine that its extra takes."""
    project = (PROJECT / "pyproject.toml").read_text("utf-8")
    return dict(re.findall(r'^engine-(\w+) = \[.*?"(?:py)?\1(?:\[\w+\])?>=([\d.]+)"', project, re.MULTILINE))


def test_every_engine_has_its_places() -> None:
    """An engine has a page, a line in the list of pages, a test and an extra."""
    pages = {path.stem for path in (DOCS / "recipes").glob("*.md")} - {"index"}
    listed = re.findall(r"^(\w+)$", INDEX.partition("```{toctree}")[2].partition("```")[0], re.MULTILINE)
    tested = {path.stem.removeprefix("test_") for path in (PROJECT / "tests" / "engines").glob("test_*.py")}

    assert ENGINES == pages == set(listed) == tested == extras().keys()


def test_the_versions_are_those_of_the_extras() -> None:
    """The table says with which version a recipe was tested: the lowest that the extra takes."""
    cells = [table_cells(line) for line in INDEX.splitlines() if line.startswith("| [")]
    shown = {re.findall(r"\((\w+)\.md\)", row[0])[0]: row[-1] for row in cells}

    assert shown == {name: ".".join(version.split(".")[:2]) for name, version in extras().items()}


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_recipes_are_short(engine: str) -> None:
    """A recipe has at most 25 lines of code."""
    found = blocks("python", page=f"docs/recipes/{engine}.md", needs=engine)
    lines = [sum(bool(line.strip()) for line in code.splitlines()) for _, code in found]

    assert lines
    assert max(lines) <= 25
