"""Every dialect of the table is in every list of dialects; CONTRIBUTING.md names these places."""

from __future__ import annotations

import re

from tests.dialects.test_detect import DECISIVE
from tests.hygiene.source_tree import DOCS, PROJECT, table_cells
from tests.support.dialect_table import CALLS
from tests.support.renderers import RENDERERS
from wholecall.dialects import DIALECTS

NAMES = [dialect.name for dialect in DIALECTS]
WRAPPED = "bedrock-invoke-"
# Facts that only the names of events give, in a framing that has them.
NAMED_BY_EVENTS = {"bedrock-converse", "vercel-data"}
# A dialect that carries text and no calls has no renderer: there is nothing to agree about.
WITHOUT_CALLS = {"legacy-completions", "bedrock-invoke-legacy-completions", "ollama-generate", "a2a", "mcp"}


def covered() -> set[str]:
    """Return the dialects of the coverage table; `-nova` after `bedrock-invoke-x` is a dialect, too."""
    section = (DOCS / "dialects.md").read_text("utf-8").split("\n## What is read\n")[1].split("\n## ")[0]
    cells = [table_cells(line)[0] for line in section.splitlines() if table_cells(line)]
    names = {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}
    return {WRAPPED + name[1:] if name.startswith("-") else name for name in names}


def missing(known: set[str], names: list[str], what: str) -> str:
    """Return the complaint about the dialects that are not known, nothing if there is none."""
    absent = [name for name in names if name not in known]
    return "" if not absent else f"{what}: {', '.join(absent)}"


def test_the_page_says_what_it_covers() -> None:
    """Readers of docs/dialects.md learn of every dialect."""
    assert "" == missing(covered(), NAMES, "add a row to the first table in docs/dialects.md")


def test_it_is_known_how_calls_are_told_apart() -> None:
    """The page's second table has a row for every dialect, from a table in words."""
    own = [name for name in NAMES if not name.startswith(WRAPPED)]

    assert "" == missing(
        set(CALLS), own, "add what tells calls apart to CALLS in tests/support/dialect_table.py"
    )


def test_every_dialect_is_rendered() -> None:
    """The laws about all dialects are tried on streams of every dialect that carries calls."""
    rendered = {name.partition(",")[0] for name in RENDERERS}
    carrying = [name for name in NAMES if name not in WITHOUT_CALLS]

    assert "" == missing(rendered, carrying, "add a renderer to RENDERERS in tests/support/renderers.py")


def test_every_dialect_is_detected_by_a_test() -> None:
    """A first frame is written down for every dialect; a wrapped frame is found by its content."""
    own = [name for name in NAMES if not name.startswith(WRAPPED) and name not in NAMED_BY_EVENTS]

    assert "" == missing(
        set(DECISIVE), own, "add a decisive frame to DECISIVE in tests/dialects/test_detect.py"
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
