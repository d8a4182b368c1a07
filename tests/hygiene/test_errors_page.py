"""docs/errors.md lists the words of an error's class as the code has them."""

from __future__ import annotations

from typing import get_args

from tests.hygiene.source_tree import DOCS, table_cells
from wholecall.history import ErrorCategory, ErrorKind
from wholecall.history.errors import classify
from wholecall.history.errors.classify import RULES

YES = {True: "yes", False: "no"}


def rows(section: str) -> list[list[str]]:
    """Return the cells of a section's table, without its head."""
    text = (DOCS / "errors.md").read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [table_cells(line) for line in text.splitlines() if line.startswith("| `")]


def test_categories_are_documented() -> None:
    """Each category is in the page, with its scope and whether a credential cools down."""
    expected = []
    for category in get_args(ErrorCategory):
        made = classify._class_of(category, None)
        expected.append([f"`{category}`", made.scope, YES[made.cooldown]])

    assert expected == [cells[:3] for cells in rows("Categories")]


def test_kinds_are_documented() -> None:
    """Each kind is in the page, with its category and whether it can be repaired."""
    categories = {rule.kind: rule.category for rule in RULES.rules}
    expected = []
    for kind in get_args(ErrorKind):
        made = classify._class_of(categories[kind], kind)
        expected.append([f"`{kind}`", categories[kind], YES[made.repairable]])

    assert expected == [cells[:3] for cells in rows("Kinds")]


def test_what_sticks_elsewhere_says_so() -> None:
    """A kind that sticks to something else than its category says it in its row."""
    elsewhere = {cells[0].strip("`") for cells in rows("Kinds") if "sticks to the provider" in cells[3]}

    assert set(classify._ELSEWHERE) == elsewhere


def test_meanings_are_given() -> None:
    """Every row explains its word."""
    assert [] == [
        cells[0] for cells in (*rows("Categories"), *rows("Kinds")) if len(cells) != 4 or not cells[3]
    ]


def test_a_kind_has_one_category() -> None:
    """No two rules give one kind to different categories."""
    pairs = {(rule.kind, rule.category) for rule in RULES.rules if rule.kind is not None}

    assert len({kind for kind, _ in pairs}) == len(pairs)
