"""The layers: a module imports only from below, or from an earlier row of its own layer.

Inside a layer the order binds what is imported at run time: two modules of one layer may name each other's
types.
"""

from __future__ import annotations

import ast

import pytest

from tests.hygiene.source_tree import imports, modules

# Lowest first. Inside a layer the order of the rows is the order of imports; a row names a module, or a
# package and all that is in it (inside a package imports are free of order, but not of cycles).
LAYERS = (
    ("errors", "limits", "vocabulary", "policy", "single"),
    (
        "tokens",
        "partial",
        "grammar",
        "progress",
        "feedback",
        "event_lines",
        "call_events",
        "events",
        "deltas",
    ),
    (
        "placeholders",
        "lexical",
        "recovery",
        "strict",
        "tools",
        "arguments",
        "framing",
        "dialects",
        "encoders",
    ),
    (
        *(
            "readings",
            "call_text",
            "calls",
            "record",
            "budget",
            "verdicts",
            "choices",
            "binding",
            "claims",
            "echoes",
            "slots",
            "phases",
            "cancelling",
            "final_message",
            "settling",
            "rereading",
        ),
        *("turns", "endings", "turn_state", "restating", "facts", "assembler", "live"),
    ),
    ("door", "objects", "replaced", "undecided", "snapshots", "options", "stream", "detection"),
    (
        *("pieces", "call_watch", "timeline"),
        *(
            "sources",
            "iterate",
            "wrap",
            "recordings",
            "replay",
            "redacting",
            "golden",
            "serving",
            "history",
            "repairing",
        ),
    ),
    ("transport", "cli", "__main__", "pytest_plugin"),
    ("",),
)
PLACES = {row: (layer, place) for layer, rows in enumerate(LAYERS) for place, row in enumerate(rows)}
# What the order alone would allow, and is forbidden all the same: a dialect decodes no argument text, and
# what reads argument text knows nothing of the wire, and the history sees finished turns only.
READERS = ("lexical", "tokens", "recovery", "strict", "tools", "arguments", "partial", "grammar", "progress")
FORBIDDEN = {
    "dialects": {*READERS, *LAYERS[3]},
    "framing": {*READERS, "dialects"},
    "history": {"deltas", "framing", *LAYERS[3], "stream", "iterate", "recordings", "replay", "serving"}
    - {"turns"},
    **{reader: {"deltas", "framing", "dialects"} for reader in READERS},
}
# Modules whose only use is to reach the world outside.
WORLD = frozenset(
    {"asyncio", "io", "logging", "os", "pathlib", "random", "socket", "subprocess", "threading", "time"}
)


def row_of(module: str) -> str:
    """Return the row of the table that a module belongs to: itself or its package."""
    return module if module in PLACES else module.partition(".")[0]


UNPLACED = [name for name in modules() if row_of(name) not in PLACES]
EDGES = [
    (name, imported, line, runs)
    for name, tree in modules().items()
    for imported, line, runs in imports(tree)
    if name not in UNPLACED and imported not in UNPLACED
]


def is_upward(module: str, imported: str, runs: bool) -> bool:
    """Tell whether an import goes up: to a higher layer, or at run time to a later row of its own layer."""
    here, there = PLACES[row_of(module)], PLACES[row_of(imported)]
    return there > here if runs else there[0] > here[0]


def test_every_module_has_a_layer() -> None:
    """No module exists that the table of layers does not place."""
    assert [] == UNPLACED


def test_imports_go_down() -> None:
    """A module imports only from lower layers and from earlier rows of its own."""
    upward = [
        f"{name or 'wholecall'}:{line} imports {imported or 'wholecall'}"
        for name, imported, line, runs in EDGES
        if is_upward(name, imported, runs)
    ]

    assert [] == upward


@pytest.mark.parametrize("package", sorted(FORBIDDEN))
def test_neighbours_that_must_not_meet(package: str) -> None:
    """A dialect knows neither the machine nor argument text, these know no wire, and history no machine."""
    met = [
        f"{name}:{line} imports {imported}"
        for name, imported, line, _ in EDGES
        if row_of(name) == package and row_of(imported) in FORBIDDEN[package]
    ]

    assert [] == met


def test_no_import_cycles() -> None:
    """What modules import at run time has no cycle, inside a package neither."""
    waiting = {
        name: {to for source, to, _, runs in EDGES if runs and source == name} - {name} for name in modules()
    }
    while ready := [name for name, needs in waiting.items() if not needs & waiting.keys()]:
        for name in ready:
            del waiting[name]

    assert [] == sorted(waiting)


def test_the_tree_is_called_by_its_import_name() -> None:
    """No module of the package imports relatively, or by the folder's name."""
    relative = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.level > 0 or (node.module or "").split(".")[0] == "parser")
    ]

    assert [] == relative


def test_core_does_no_io() -> None:
    """Nothing up to the stream layer imports a module that reads files, clocks, sockets or logs."""
    top = PLACES["stream"][0]
    found = [
        f"{name}:{node.lineno} imports {', '.join(sorted(met))}"
        for name, tree in modules().items()
        if name not in UNPLACED and PLACES[row_of(name)][0] <= top
        for node in ast.walk(tree)
        if (met := WORLD & set(_outside_imports(node)))
    ]

    assert [] == found


def _outside_imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module.split(".")[0]]
    return []
