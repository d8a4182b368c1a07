from __future__ import annotations

import re
import subprocess
import sys

import pyarrow as pa
import pytest

from tests.hygiene.source_tree import DOCS, table_cells
from tests.hygiene.test_exports import documented
from wholecall import __version__
from wholecall.bulk import ASSEMBLED, CALLS, JUDGED, RECORDINGS

TYPES = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "list of string": pa.list_(pa.string()),
}
SECTIONS = {"### Calls": CALLS, "### Recordings": RECORDINGS, "## Arguments that are whole already": JUDGED}


def columns_of(heading: str) -> list[tuple[str, pa.DataType]]:
    """Return the columns that a section of docs/bulk.md lists, with their types."""
    text = (DOCS / "bulk.md").read_text("utf-8")
    section = re.split(r"\n##+ ", text.partition(f"\n{heading}\n")[2])[0]
    cells = [table_cells(line) for line in section.splitlines()]
    return [(row[0].strip("`"), TYPES[row[1].rstrip("?")]) for row in cells if row and row[0].startswith("`")]


@pytest.mark.parametrize("heading", SECTIONS)
def test_the_page_lists_the_columns(heading: str) -> None:
    """docs/bulk.md has the columns of every schema, in their order, with their types."""
    assert [(field.name, field.type) for field in SECTIONS[heading]] == columns_of(heading)


@pytest.mark.parametrize("schema", [ASSEMBLED, CALLS, JUDGED, RECORDINGS])
def test_schemas_name_themselves(schema: pa.Schema) -> None:
    """A schema names its table, its version, and its writer."""
    said = {name.decode(): value.decode() for name, value in schema.metadata.items()}

    assert ("1", __version__) == (said.pop("wholecall.schema"), said.pop("wholecall.version"))
    assert ["wholecall.table"] == list(said)


@pytest.mark.slow
def test_only_tables_need_pyarrow() -> None:
    """Without pyarrow everything that is public can be imported but `wholecall.bulk`, and the commands start."""
    others = [
        f"wholecall.{name}".rstrip(".")
        for name in documented()
        if name != "bulk" and not name.startswith("integrations.")  # which need their frameworks
    ]
    program = "\n".join(
        [
            "import sys",
            "sys.modules['pyarrow'] = None",
            *(f"import {name}" for name in others),
            "from wholecall.cli.main import main",
            "sys.exit(main(['replay', 'corpora/recordings/anthropic']))",
        ]
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)  # noqa: S603 - our own

    assert (0, "") == (run.returncode, run.stderr)
    assert "recordings" in run.stdout
