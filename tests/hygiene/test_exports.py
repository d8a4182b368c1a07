"""Exports of the package: literal, sorted, importable, documented."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.resources
import re
from collections import Counter

import pytest

import wholecall
from tests.hygiene.source_tree import DOCS, PROJECT, is_package, module_path, modules
from tests.support.together import together

ASSIGNED = frozenset({"__all__", "__version__", "_private"})  # names that an `__init__` may assign


def dotted(name: str) -> str:
    """Return the import path of a module below `wholecall`."""
    return f"wholecall.{name}" if name else "wholecall"


def exported(name: str) -> list[str] | None:
    """Return the literal `__all__` of a module, None where it has none."""
    for node in modules()[name].body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return None


def reading_order(name: str) -> tuple[int, str]:
    """Sort constants before classes before functions, each by name."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_init_modules_only_import() -> None:
    """An `__init__` holds a docstring, imports, `__all__` and perhaps former names, and nothing else."""
    others = [
        f"{dotted(package)}: {ast.unparse(node)}"
        for package in filter(is_package, modules())
        for node in modules()[package].body
        if not isinstance(node, (ast.Import, ast.ImportFrom))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ASSIGNED)
        and not ast.unparse(node).startswith("if not TYPE_CHECKING:\n    __getattr__ = renamed(__name__, ")
    ]

    assert [] == others


def test_top_level_all_is_sorted() -> None:
    """The top-level `__all__` is a literal without repeats: constants, classes, functions, each by name."""
    names = exported("")

    assert names is not None
    assert sorted(set(names), key=reading_order) == names


def test_the_version_is_the_project_s() -> None:
    """`wholecall.__version__` is the version under which the project is installed."""
    assert importlib.metadata.version("wholecall") == wholecall.__version__


def is_ours(name: str) -> bool:
    """Return whether a module is imported without a framework or an engine."""
    return not name.startswith("integrations.")


def documented() -> dict[str, list[str]]:
    """Return the public modules below `wholecall` and their names, as docs/api.md lists them."""
    sections = re.findall(
        r"\n## `wholecall\.?([\w.]*)`\n(.*?)(?=\n## |\Z)", (DOCS / "api.md").read_text("utf-8"), re.DOTALL
    )
    return {name: re.findall(r"`(\w+)`", text.strip().splitlines()[-1]) for name, text in sections}


def is_private(name: str) -> bool:
    """Return whether a module says that it is not public."""
    return name.startswith("_") or any(
        isinstance(node, ast.Assign) and ast.unparse(node) == "_private = True"
        for node in modules()[name].body
    )


def test_public_is_what_the_docs_list() -> None:
    """A module right below `wholecall`, or an integration, is listed in docs/api.md, or is private; never both."""
    public = {name for name in modules() if "." not in name and not is_private(name)}
    public |= {name for name in modules() if not is_ours(name) and exported(name) is not None}

    assert public == documented().keys()


@together("name", documented())
def test_the_docs_list_every_name(name: str) -> None:
    """For each public module docs/api.md lists just its exports."""
    assert sorted(exported(name) or (), key=reading_order) == documented()[name]


def test_the_reference_says_what_each_module_is_for() -> None:
    """The reference's index has a line for each public module, with the sentence that docs/api.md has for it."""
    said = re.findall(r"^## `([\w.]+)`\n\n(.+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    index = (DOCS / "reference" / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| \[`([\w.]+)`\]\(\w+\.md\) \| (.+) \|$", index, re.MULTILINE)

    assert {module: sentence.replace("](", "](../") for module, sentence in said} == dict(rows)


def test_a_name_has_one_door() -> None:
    """Each public name is imported from one module; what another has under that name is another thing."""
    homes: dict[int, set[str]] = {}
    for module, names in documented().items():
        for name in names if is_ours(module) else ():
            value = getattr(importlib.import_module(dotted(module)), name)
            homes.setdefault(id(value), set()).add(f"{module}.{name}")

    assert [] == [sorted(doors) for doors in homes.values() if len(doors) > 1]


def test_provisional_modules_are_marked() -> None:
    """The page about stability names each public module, and those that are marked as provisional as provisional."""
    page = (DOCS / "stability.md").read_text("utf-8")
    stable, provisional = (
        set(re.findall(r"`(\w+)`", re.search(rf"\*\*{kind}\*\*: (.+?)[.] ", page).group(1)))  # type: ignore[union-attr]
        for kind in ("Stable", "Provisional")
    )
    said = re.findall(
        r"^## `wholecall\.(\w+)`\n\n(Provisional\.)?", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE
    )

    assert provisional == {name for name, mark in said if mark}
    assert stable - {"wholecall"} == {name for name, mark in said if not mark}


def test_former_names_warn() -> None:
    """A name that the page about stability lists as renamed is the present one, and warns."""
    page = (DOCS / "stability.md").read_text("utf-8")
    rows = re.findall(r"^\| (`wholecall.+) \| (.+) \| [\d.]+ \|$", page, re.MULTILINE)
    pairs = [
        pair for row in rows for pair in zip(*(re.findall(r"`([\w.]+)`", cell) for cell in row), strict=True)
    ]

    assert pairs
    for former, now in pairs:
        module, _, name = former.rpartition(".")
        with pytest.warns(DeprecationWarning, match=rf"^{re.escape(former)} is now called {now}$"):
            found = getattr(importlib.import_module(module), name)
        place, _, present = now.rpartition(".")
        assert found is getattr(importlib.import_module(place or module), present)


def test_docs_import_what_is_public() -> None:
    """No document imports from a module that is not listed."""
    pages = [PROJECT / "README.md", *sorted(DOCS.rglob("*.md"))]
    found = {
        (page.name, module)
        for page in pages
        for module in re.findall(
            r"^(?:from|import) wholecall\.([\w.]+)", page.read_text("utf-8"), re.MULTILINE
        )
        if module not in documented()
    }

    assert set() == found


def test_top_level_exports_what_the_readme_needs() -> None:
    """The parser, the shells, the whole-call events and the options are one import away."""
    needed = {
        *("ToolCallParser", "ToolCall", "ToolCallDropped", "CustomToolCall", "TurnFinished", "StreamFault"),
        *("Limits", "Policy", "Turn", "parse_arguments", "WholecallError"),
        *("events", "aevents", "collect", "acollect"),
    }

    assert set() == needed - set(exported("") or ())


def test_exports_exist() -> None:
    """Every name of an `__all__` can be imported from its module; an integration, which needs its framework, has it."""
    absent = [
        f"{dotted(name)}.{export}"
        for name, tree in modules().items()
        if not name.endswith("__main__")  # importing it runs the program
        for export in exported(name) or ()
        if not (
            hasattr(importlib.import_module(dotted(name)), export)
            if is_ours(name)
            else any(export in defined(node) for node in tree.body)
        )
    ]

    assert [] == absent


def defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_no_name_is_unused() -> None:
    """A function, class or constant of a module is used in the package, or public."""
    words = Counter(
        word for name in modules() for word in re.findall(r"\w+", module_path(name).read_text("utf-8"))
    )
    unused = [
        f"{dotted(name)}.{word}"
        for name, tree in modules().items()
        for node in tree.body
        for word in defined(node)
        if words[word] == 1 and word not in {"_private", "__getattr__"}
    ]

    assert [] == unused


def test_what_is_public_is_documented() -> None:
    """Public functions and classes of every exporting module have a docstring."""
    silent = [
        f"{dotted(name)}.{node.name}"
        for name, tree in modules().items()
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and node.name in (exported(name) or ())
        and "overload" not in map(ast.unparse, node.decorator_list)
        and ast.get_docstring(node) is None
    ]

    assert [] == silent


def test_every_module_has_a_docstring() -> None:
    """Each module's docstring begins with a description."""
    assert [] == [dotted(name) for name, tree in modules().items() if ast.get_docstring(tree) is None]


def test_the_package_is_typed() -> None:
    """The installed package carries its marker for type checkers."""
    assert (importlib.resources.files(wholecall) / "py.typed").is_file()
