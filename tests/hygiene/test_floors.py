"""The floors of the house: a room imports only from the floors below it.

A *room* is a folder right below `wholecall`; the modules beside the folders are the *ground*, on which all rooms stand,
or public *pages*, which only import. An *arrow* runs from a room to each other room that it imports from, wherever the
import is: at the top, in a function, or for types alone. Run as a program it prints them:
`python -m tests.hygiene.test_floors`.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.hygiene.source_tree import imports, is_package, module_path, modules, nodes

# Lowest first. Rooms of one floor know nothing of each other.
FLOORS = (
    ("ground",),
    ("calls", "framing"),
    ("dialects",),
    ("machine", "history", "text"),
    ("stream",),
    ("wholecall",),
    ("recordings", "repairing"),
    ("proxy", "bulk", "grading", "integrations"),
    ("cli",),
    ("pages",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
MOST_ROOMS, MOST_FLOORS, MOST_ARROWS = 14, 10, 85
GROUND = frozenset({"errors", "limits", "types", "discreet", "policy", "deltas"})
# Public modules of which the code is in a room.
PAGES = frozenset(
    {
        "asgi",
        "encoders",
        "parse",
        "probe",
        "redacting",
        "replay",
        "serving",
        "telemetry",
        "testing",
        "timeline",
        "translation",
        "transport",
        "__main__",
    }
)
# Imports that the floors alone would allow, and that are forbidden all the same: readers of argument text know no wire,
# and history sees finished turns only.
WIRE = {"deltas", "framing", "dialects"}
STRANGERS = {
    "calls": WIRE,
    "history": {"deltas", "framing"},
}
PLACEHOLDERS = "calls.arguments.placeholders"  # a dialect may ask whether a text is one; it decodes none
EQUAL = "calls.arguments.equal"
# Modules whose only use is to reach the world outside.
WORLD = frozenset(
    {"asyncio", "io", "logging", "os", "pathlib", "random", "socket", "subprocess", "threading", "time"}
)
# Imports in a function rather than at the top, up to the floor of the stream.
LATE = {
    (
        "stream.lanes.table",
        "importlib",
    ),  # a lane, for who names its dialect or once a stream begins as its own
    # a frame of it inside a chat stream
    ("dialects.openai.chat.translator", "wholecall.dialects.openai.responses.translator"),
    ("dialects.table", "importlib"),  # a translator, once its dialect is known
    ("dialects.table", "importlib.metadata"),  # the dialects of other packages, for who asks for them
    ("errors", "difflib"),  # to guess which name was meant
    ("framing.codings", "importlib"),  # the libraries of codings, once an answer or a file has one
    ("stream.assembling", "wholecall.stream.written"),  # the readers of calls in text, for who wants them
    ("stream.parser", "wholecall.stream.snapshots"),  # of the few streams that are moved
    ("stream.shells.detection", "wholecall.stream.shells.leaks"),  # for bytes of which no dialect is found
    ("calls.tools.described", "pydantic"),  # the caller's, who gives a dataclass of its
    ("calls.tools.schema", "jsonschema_rs"),  # an extra
    ("text.choosing", "wholecall.text"),  # the engine, which renders and reads back for who has a template
    ("text.rendering", "jinja2"),  # an extra
    ("text.rendering", "jinja2.sandbox"),
}


@cache
def edges() -> list[tuple[str, str, int]]:
    """Return who imports whom, and in which line."""
    return [
        (name, imported, line)
        for name in modules()
        for imported, line, _ in imports(name)
        if imported != name
    ]


def room_of(module: str) -> str:
    """Return the room that a module is in; one beside the rooms is of the ground, a page, or `wholecall` itself."""
    top = module.partition(".")[0] or "wholecall"
    return "ground" if top in GROUND else "pages" if top in PAGES else top


def arrows() -> set[tuple[str, str]]:
    """Return which room imports from which other one."""
    return {(room_of(name), room_of(imported)) for name, imported, _ in edges()} - {(r, r) for r in FLOOR}


def said(found: list[tuple[str, str, int]]) -> list[str]:
    """Return imports as a person wants to read them."""
    return [f"{name or 'wholecall'}:{line} imports {to or 'wholecall'}" for name, to, line in found]


def figures() -> dict[str, int]:
    """Return how large the house is."""
    upward = [(here, there) for here, there in arrows() if FLOOR[there] >= FLOOR[here]]
    n_rooms = len(FLOOR.keys() - {"ground", "pages", "wholecall"})  # which are no folders
    return {"rooms": n_rooms, "floors": len(FLOORS), "arrows": len(arrows()), "upward": len(upward)}


def test_every_module_has_a_floor() -> None:
    """The table places each room, and has no room that is not there; so do the lists of ground and pages."""
    beside = {name for name in modules() if "." not in name and not is_package(name)} - {""}

    assert {room_of(name) for name in modules()} == set(FLOOR)
    assert beside == GROUND | PAGES


@pytest.mark.slow
def test_pages_only_import() -> None:
    """A page holds its docstring, imports and exports, and no module of the package imports from it."""
    pages = PAGES - {"__main__"}
    others = [
        f"{name}: {ast.unparse(node)}"
        for name in pages
        for node in modules()[name].body
        if not isinstance(node, ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not ast.unparse(node).startswith("__all__ = ")
    ]

    assert [] == others
    assert [] == said([edge for edge in edges() if edge[1] in pages])


def test_imports_go_down() -> None:
    """A module imports only from lower floors, or within its own room."""
    upward = [
        (name, to, line)
        for name, to, line in edges()
        if room_of(name) != room_of(to) and FLOOR[room_of(to)] >= FLOOR[room_of(name)]
    ]

    assert [] == said(upward)


def test_no_circles() -> None:
    """No module imports itself by way of others, inside a room neither, and for types neither."""
    graph = {name: {to for source, to, _ in edges() if source == name} for name in modules()}
    circle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]

    assert [] == circle


def test_the_house_stays_small() -> None:
    """Rooms, floors and arrows are few enough to be held in one picture."""
    found = figures()

    assert found["rooms"] <= MOST_ROOMS
    assert found["floors"] <= MOST_FLOORS
    assert found["arrows"] <= MOST_ARROWS


@pytest.mark.parametrize("room", STRANGERS)
def test_neighbours_that_must_not_meet(room: str) -> None:
    """Some rooms know nothing of others, although these are below them."""
    met = [
        edge for edge in edges() if room_of(edge[0]) == room and edge[1].partition(".")[0] in STRANGERS[room]
    ]

    assert [] == said(met)


def test_a_dialect_decodes_no_argument_text() -> None:
    """Of all that reads argument text, dialects know only the placeholders, and which values are the same."""
    met = [
        edge for edge in edges() if room_of(edge[0]) == "dialects" and edge[1].startswith("calls.arguments")
    ]

    assert [] == said([edge for edge in met if edge[1] not in {PLACEHOLDERS, EQUAL}])


def test_the_tree_is_called_by_its_import_name() -> None:
    """No module of the package imports relatively, or by the folder's name."""
    relative = [
        f"{name}:{node.lineno}"
        for name in modules()
        for node in nodes(name)
        if isinstance(node, ast.ImportFrom)
        and (node.level > 0 or (node.module or "").split(".")[0] == "parser")
    ]

    assert [] == relative


def test_core_does_no_io() -> None:
    """Nothing up to the floor of the stream imports a module that reads files, clocks, sockets or logs."""
    found = [
        f"{name}:{node.lineno} imports {', '.join(sorted(met))}"
        for name in modules()
        if FLOOR[room_of(name)] <= FLOOR["stream"]
        for node in nodes(name)
        if (met := WORLD & set(_outside_imports(node)))
    ]

    assert [] == found


def test_little_is_imported_late() -> None:
    """Up to the floor of the stream modules are imported at the top, but for the few that the table names."""
    found = {
        (name, imported)
        for name in modules()
        if FLOOR[room_of(name)] <= FLOOR["stream"]
        for function in nodes(name)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        for imported in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _outside_imports(node))
    }
    by_name = {
        (name, "importlib")
        for name in modules()
        if FLOOR[room_of(name)] <= FLOOR["stream"] and "import_module" in module_path(name).read_text("utf-8")
    }

    assert found | by_name == LATE


def _outside_imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module.split(".")[0]]
    return []


if __name__ == "__main__":
    for rooms in FLOORS[::-1]:
        sys.stdout.write("   ".join(rooms) + "\n")
    sys.stdout.write(", ".join(f"{number} {what}" for what, number in figures().items()) + "\n")
