"""The project is self-contained: it names no machine, no registry and nothing that is not in it."""

from __future__ import annotations

import io
import re
import tokenize
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.hygiene.source_tree import CORPORA, PACKAGE, project_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Each pattern is written so that it does not match itself.
FORBIDDEN = {
    "an absolute path of a machine": r"(?<![\w.~])/(?:wor[k]|roo[t]|hom[e]|User[s])/(?!u[s]er\b)",
    "a package registry's host": r"py[p]i\.org|pythonhoste[d]|registry\.npm[j]s|crate[s]\.io|proxy\.golan[g]",
    "a folder outside the project": r"\.\./share[d]|\bshare[d]/",
    "a document outside the project": (
        r"\b(?:DIALECT[S]|REQUIREMENT[S]|RECOVERY_POLIC[Y]|PROPERTIE[S]|PERFORMANC[E]|TEXT_FORMAT[S]"
        r"|QUIRK_BATTER[Y]|CONVENTION[S]|DESIG[N]|STYL[E]|LIMIT[S]|PAIN[S]|FORM[S]|BUL[K])(?:\.md| section| part)"
    ),
    "who wrote it": r"(?i)\bfiled by a sessio[n]|\bissues sho[w]\b|\bissue #?\d+\b|\bthe CE[O]\b|\bthe brie[f]\b",
}
# Numbers of catalogues that are not ours ("rule R" and a digit): only quirks and laws have numbers here.
FOREIGN_NUMBER = re.compile(r"(?<![\w%.\"'])(?:[RF][1-9]|D[1-9]\d?[ab]?|P[1-9]\d?|Q\d{1,3}|V\d\d)(?![\w\"'])")
# The script that runs the checks may pass a folder of further cases from outside.
EXCEPTIONS = {("run", "a folder outside the project")}


@cache
def prose() -> list[Path]:
    """Return every text of the project that people write: all but the corpora's data."""
    ours = [path for path in project_files() if CORPORA not in path.parents or path.suffix == ".md"]
    return [*ours, *PACKAGE.rglob("*.py")]


@cache
def text_of(path: Path) -> str:
    """Return the text of a file, or none if it has no text."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return ""


def lines_with(pattern: str, path: Path) -> list[str]:
    """Return the lines of a file that match a pattern, with their place."""
    text = text_of(path)
    found = re.compile(pattern)
    if not found.search(text):
        return []
    return [
        f"{path.name}:{n}: {line.strip()}"
        for n, line in enumerate(text.splitlines(), 1)
        if found.search(line)
    ]


def comments(path: Path) -> Iterator[str]:
    """Yield a file's text for people: a document's text, a module's comments and docstrings."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        yield text
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and token.string.endswith('"""')
        if token.type == tokenize.COMMENT or is_docstring:
            yield token.string


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_points_outside(what: str) -> None:
    """No text of the project names things that a reader of the project cannot have."""
    files = [path for path in prose() if (path.name, what) not in EXCEPTIONS]
    found = [line for path in files for line in lines_with(FORBIDDEN[what], path)]

    assert files
    assert [] == found


def test_no_foreign_numbers() -> None:
    """Documents, comments and docstrings cite no catalogue that the project does not hold."""
    files = {path for path in prose() if path.suffix in {".md", ".py"}}
    found = [
        f"{path.name}: {match[0]}"
        for path in sorted(files)
        if FOREIGN_NUMBER.search(text_of(path))  # to find the comments of all takes seconds
        for text in comments(path)
        for match in FOREIGN_NUMBER.finditer(text)
    ]

    assert [] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [("by rule R" + "2", True), ("see Q" + "12.", True), ("%D1%80", False), ("0xF1", False), ("A1R2", False)],
)
def test_foreign_numbers_are_found(text: str, found: bool) -> None:
    """A letter and a number make a citation only where they are alone."""
    assert found == bool(FOREIGN_NUMBER.search(text))
