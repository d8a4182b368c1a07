"""The installed package and the project around it, as the hygiene tests read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import wholecall

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = Path(wholecall.__file__).resolve().parent
CORPORA = PROJECT / "corpora"
DOCS = PROJECT / "docs"

_NOT_OURS = frozenset(
    {".git", "__pycache__", "build", "dist", "htmlcov", "node_modules"}
)  # `.git` is a file in a worktree


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the package by its dotted name below `wholecall`.

    A package's `__init__` goes by the package's name, the top-level one by `""`.
    """
    trees = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        trees[".".join(parts)] = ast.parse(path.read_text("utf-8"), filename=str(path))
    return trees


@cache
def nodes(name: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a module that `modules` names: to walk through all modules takes a second."""
    return tuple(ast.walk(modules()[name]))


def module_path(name: str) -> Path:
    """Return the file of a module that `modules` names."""
    path = PACKAGE.joinpath(*name.split(".")) if name else PACKAGE
    init = path / "__init__.py"  # a folder without it is left of another version
    return init if init.exists() else path.with_suffix(".py")


def is_package(name: str) -> bool:
    """Return whether a module that `modules` names is a package's `__init__`."""
    return module_path(name).name == "__init__.py"


@cache
def imports(module: str) -> tuple[tuple[str, int, bool], ...]:
    """Return a module's imports from the package: name below `wholecall`, line, whether at run time.

    An import under `if TYPE_CHECKING:` is not at run time.
    """
    for_types = {
        inner
        for node in nodes(module)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in nodes(module):
        for name in _imported_names(node):
            root, _, below = name.partition(".")
            if root == "wholecall":
                imported = below if below in modules() else below.rpartition(".")[0]
                found.append((imported, getattr(node, "lineno", 0), node not in for_types))
    return tuple(found)


def _imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def project_files(*suffixes: str) -> list[Path]:
    """Return the project's own text files with one of the suffixes (all text files if none is given)."""
    found: list[Path] = []
    folders = [PROJECT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.name in _NOT_OURS:
                continue
            if path.is_dir():
                hidden = path.name.startswith(".") and path.name not in (".ci", ".github")
                if not hidden and not path.name.endswith(".egg-info"):
                    folders.append(path)
            elif not suffixes or path.suffix in suffixes:
                found.append(path)
    return found


def numbered_rows(document: str) -> dict[int, list[str]]:
    """Return the cells of each table row of a catalogue in docs/ that begins with a number."""
    rows: dict[int, list[str]] = {}
    for line in (DOCS / document).read_text("utf-8").splitlines():
        cells = table_cells(line)
        if cells and cells[0].isdecimal():
            number = int(cells[0])
            if number in rows:
                message = f"{document} has two rows {number}"
                raise AssertionError(message)
            rows[number] = cells[1:]
    return rows


def table_cells(line: str) -> list[str]:
    r"""Return the cells of a Markdown table row (a `\|` stays in its cell), none for any other line."""
    if not line.startswith("| "):
        return []
    hidden = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0")
    return [cell.replace("\0", "|").strip() for cell in hidden.split("|")]
