"""The lines that each dialect costs, as a table: `python -m tests.support.dialect_lines`.

Counted are the lines by hand: of its module (those of code, and those of its docstrings and comments), of its entry in
the table of detection, and of its cases. Dialects of one module share its lines; they are counted once in the sum.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wholecall import dialects
from wholecall.dialects import DIALECTS, detect
from wholecall.dialects.agents import entries

_HERE = Path(dialects.__file__).parent
_CASES = Path(__file__).parents[1] / "dialects" / "cases"
_TABLES = (Path(detect.__file__), Path(entries.__file__))


class Lines(NamedTuple):
    """The lines of one dialect: of code, of its explanation, of its entry, of its cases."""

    code: int
    words: int
    entry: int
    cases: int


def table() -> str:
    """Return the table, a row for each dialect, the longest code first."""
    entry, counted = dict(_entries()), {}
    for dialect in DIALECTS:
        code, words = _of_module(_module(dialect.start()))
        cases = _CASES / f"{dialect.name}.txt"
        n_cases = len(cases.read_text("utf-8").splitlines()) if cases.exists() else 0
        counted[dialect.name] = Lines(code, words, entry.get(dialect.name, 0), n_cases)
    rows = sorted(counted.items(), key=lambda row: (-row[1].code, row[0]))
    modules = {_module(dialect.start()) for dialect in DIALECTS}
    code, words = (sum(column) for column in zip(*map(_of_module, modules), strict=True))
    total = Lines(
        code, words, sum(row.entry for row in counted.values()), sum(row.cases for row in counted.values())
    )
    head = ["| dialect | code | words | entry | cases |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_row(f"`{name}`", lines) for name, lines in rows), _row("**all**", total)])


def _row(name: str, lines: Lines) -> str:
    return f"| {name} | {' | '.join(map(str, lines))} |"


def _module(translator: object) -> Path:
    """Return the file of a translator's class, or its folder if it has one of its own."""
    path = Path(str(sys.modules[type(translator).__module__].__file__))
    return path if _HERE in (path.parent.parent, path.parent) else path.parent


def _of_module(path: Path) -> tuple[int, int]:
    """Return the numbers of lines of code, and of docstrings and comments; blank ones do not count."""
    files = [path] if path.is_file() else sorted(path.glob("*.py"))
    counts = [_of_source(file.read_text("utf-8")) for file in files]
    return sum(code for code, _ in counts), sum(words for _, words in counts)


def _of_source(source: str) -> tuple[int, int]:
    lines, explaining = source.splitlines(), set(_docstrings(ast.parse(source)))
    said = [number for number, line in enumerate(lines, 1) if line.strip()]
    words = sum(number in explaining or lines[number - 1].lstrip().startswith("#") for number in said)
    return len(said) - words, words


def _docstrings(tree: ast.Module) -> Iterator[int]:
    """Yield the numbers of the lines of docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def _entries() -> Iterator[tuple[str, int]]:
    """Yield the dialects of the table of detection, with the number of lines of each entry."""
    for path in _TABLES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Dict):
                continue
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Call):
                    yield str(key.value), (value.end_lineno or value.lineno) - key.lineno + 1


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
