"""Every dialect of the table is in every list of dialects; CONTRIBUTING.md names these places."""

from __future__ import annotations

import re

from tests.hygiene.source_tree import PROJECT
from tests.support import dialect_lines, dialect_table, shown
from tests.support.renderers import RENDERERS
from wholecall.dialects import DIALECTS

NAMES = [dialect.name for dialect in DIALECTS]
WRAPPED = "bedrock-invoke-"


def missing(known: set[str], names: list[str], what: str) -> str:
    """Return the complaint about the dialects that are not known, nothing if there is none."""
    absent = [name for name in names if name not in known]
    return "" if not absent else f"{what}: {', '.join(absent)}"


def test_every_dialect_says_what_it_covers() -> None:
    """Its module says so, and how calls are told apart, in the docstring, from which the tables of the page are made."""
    told = {name for name in NAMES if dialect_table.words(name)}

    assert "" == missing(told, NAMES, "write `Covers:` and `Calls:` (tests/support/dialect_table.py) for")


def test_the_page_shows_these_words() -> None:
    """Both tables of docs/dialects.md are made from the dialects and the recordings."""
    page = dialect_table.PAGE.read_text("utf-8")

    assert page == dialect_table.renewed(page), "run python -m tests.support.dialect_table"


def test_the_cost_of_every_dialect_is_counted() -> None:
    """The table of lines has a row for each, with code and an entry."""
    rows = {
        name: counts.split(" | ")
        for name, counts in re.findall(r"\| `(.+?)` \| (.+) \|", dialect_lines.table())
    }

    assert sorted(NAMES) == sorted(rows)
    assert [] == [name for name, counts in rows.items() if "0" in counts[:3]]


def test_every_dialect_is_rendered() -> None:
    """The laws about all dialects are tried on streams of every dialect that carries calls."""
    rendered = {name.partition(",")[0] for name in RENDERERS}
    carrying = [name for name in NAMES if dialect_table.carries_calls(name)]

    assert "" == missing(
        rendered, carrying, "python -m tests.support.new_dialect says what the cases lack of"
    )


def test_every_dialect_is_detected_by_a_test() -> None:
    """The cases of every dialect have a decisive frame; a wrapped frame is found by its content."""
    own = [name for name in NAMES if not name.startswith(WRAPPED)]

    assert "" == missing(
        set(shown.decisive()), own, "tests/dialects/cases/<dialect>.txt has no frame that tells its dialect"
    )


def test_every_translator_has_a_test() -> None:
    """The content of each dialect's deltas is tested: in its cases, or next to the tests of its kin."""
    folder = PROJECT / "tests" / "dialects"
    shared = {"test_detect.py", "test_table.py"}
    paths = [path for path in folder.glob("test_*.py") if path.name not in shared]
    words = set(re.findall(r"\w+", "".join(path.read_text("utf-8") for path in paths)))
    tested = {dialect.name for dialect in DIALECTS if type(dialect.start()).__name__ in words}
    tested |= {path.stem for path in folder.glob("cases/*.txt")}

    assert "" == missing(
        tested, NAMES, "write frames and their deltas into tests/dialects/cases/<dialect>.txt"
    )
