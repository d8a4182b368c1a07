"""The numbered catalogues and their citations agree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.hygiene.source_tree import DOCS, PACKAGE, PROJECT, numbered_rows, project_files, table_cells
from wholecall.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

# "quirk 3", "quirks 3, 7 and 12", "law 5": the only ways to cite.
_CITATION = re.compile(r"\b(quirk|law)s?[ \n]+(\d+(?:(?:,\s+|\s+and\s+|,\s+and\s+)\d+)*)", re.IGNORECASE)
CATALOGUES = {"quirk": "quirks.md", "law": "laws.md"}
KIB = 1024
MIB = 1024 * KIB


def citations(text: str) -> Iterator[tuple[str, int]]:
    """Yield the catalogue and the number of each citation in a text."""
    for match in _CITATION.finditer(text):
        for number in re.findall(r"\d+", match[2]):
            yield match[1].lower(), int(number)


def shown(value: int | None) -> str:
    """Return a default as docs/limits.md writes it."""
    if value is None:
        return "off"
    for size, unit in ((MIB, "MiB"), (KIB, "KiB")):
        if value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return str(value)


def documented_limits() -> dict[str, list[str]]:
    """Return the cells of docs/limits.md by limit."""
    lines = (DOCS / "limits.md").read_text("utf-8").splitlines()
    rows = [table_cells(line) for line in lines if line.startswith("| `max_")]
    return {row[0].strip("`"): row[1:] for row in rows}


@pytest.mark.parametrize("catalogue", sorted(CATALOGUES.values()))
def test_catalogues_count_from_one(catalogue: str) -> None:
    """A catalogue's numbers are 1, 2, 3 … in order: a number, once given, is never reused."""
    numbers = list(numbered_rows(catalogue))

    assert list(range(1, len(numbers) + 1)) == numbers


@pytest.mark.parametrize("catalogue", sorted(CATALOGUES.values()))
def test_catalogue_rows_are_whole(catalogue: str) -> None:
    """Every row of a catalogue fills all of its columns."""
    rows = numbered_rows(catalogue)
    width = max(len(cells) for cells in rows.values())

    assert {} == {number: cells for number, cells in rows.items() if len(cells) != width or "" in cells}


def test_citations_exist() -> None:
    """Each quirk or law that code, tests or documents cite is in its catalogue."""
    known = {kind: numbered_rows(document).keys() for kind, document in CATALOGUES.items()}
    files = {*project_files(".py", ".md"), *PACKAGE.rglob("*.py")}
    dangling = [
        f"{path.name}: {kind} {number}"
        for path in sorted(files)
        for kind, number in citations(path.read_text("utf-8"))
        if number not in known[kind]
    ]

    assert [] == dangling


def test_citations_are_found() -> None:
    """A list of numbers cites each of them."""
    text = "Quirks 3, 7 and 12 (law 5) are not quirky 9."

    assert [("quirk", 3), ("quirk", 7), ("quirk", 12), ("law", 5)] == list(citations(text))


def test_tests_of_laws_exist() -> None:
    """Each row of docs/laws.md names tests or benchmarks that are there, or says that it is planned."""
    named = {
        number: re.findall(r"`((?:tests|benchmarks)/[\w./]+)`", cells[-1])
        for number, cells in numbered_rows("laws.md").items()
        if cells[-1] != "*planned*"
    }

    assert [] == [number for number, paths in named.items() if not paths]
    assert [] == sorted({p for paths in named.values() for p in paths if not (PROJECT / p).exists()})


def test_the_readme_counts_the_laws() -> None:
    """The README says how many laws docs/laws.md has."""
    said = re.findall(r"\[(\d+) laws\]\(docs/laws\.md\)", (PROJECT / "README.md").read_text("utf-8"))

    assert [str(len(numbered_rows("laws.md")))] == said


def test_limits_are_documented() -> None:
    """docs/limits.md lists exactly the fields of `Limits`, with their defaults, in their order."""
    defaults = {field.name: shown(field.default) for field in msgspec.structs.fields(Limits)}

    assert defaults == {name: cells[0] for name, cells in documented_limits().items()}
    assert list(defaults) == list(documented_limits())


def test_limits_have_reasons() -> None:
    """Each limit states the effect of a breach and the reason for the limit."""
    assert {} == {
        name: cells for name, cells in documented_limits().items() if len(cells) != 3 or "" in cells
    }
