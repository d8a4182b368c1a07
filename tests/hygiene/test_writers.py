"""The machine's state has owners: no field of it is assigned by more than two functions, its constructor aside.

A rule that changes a field can then be read whole in one place, or two. A third function that has to change it calls one
of these, by the name of the change: `call.leave_to_server()`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tests.hygiene.source_tree import modules
from tests.support.together import together

Trees = Mapping[str, ast.Module]
Fields = dict[str, set[str]]  # by class
MOST = 2


def machine() -> Trees:
    """Return the modules of the machine."""
    return {name: tree for name, tree in modules().items() if name.startswith("machine.")}


def bases(trees: Trees) -> dict[str, list[str]]:
    """Return each class with its own name and those of its bases, the furthest first."""
    direct = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def line(name: str) -> list[str]:
        return [one for base in direct[name] if base in direct for one in line(base)] + [name]

    return {name: line(name) for name in direct}


def annotated(trees: Trees) -> dict[str, set[str]]:
    """Return the classes of each name: of a parameter, a variable or an attribute, by its annotations.

    A list of calls, or a dict of them, is no call.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.arg) and node.annotation is not None:
            found[node.arg] |= alternatives(node.annotation)
        elif isinstance(node, ast.AnnAssign):
            found[ast.unparse(node.target).rpartition(".")[2]] |= alternatives(node.annotation)
    return found


def alternatives(annotation: ast.expr) -> set[str]:
    """Return the classes of which an annotation is one: `Call | None` and `Union[Call, None]` are of `Call`."""
    if isinstance(annotation, ast.BinOp):
        return alternatives(annotation.left) | alternatives(annotation.right)
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in ("Union", "Optional"):
        return {name.id for name in ast.walk(annotation.slice) if isinstance(name, ast.Name)}
    return {annotation.id} if isinstance(annotation, ast.Name) else set()


def functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a module, each with its class; those inside another one are a part of it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield inside, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, node.name)


def stored(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a function assigns or deletes, each after the last name of its owner."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield ast.unparse(node.value).rpartition(".")[2], node.attr


def fields_of(trees: Trees) -> Fields:
    """Return the fields of each class: those that its body annotates, and those that its constructor assigns."""
    found: Fields = {}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            found[node.name] = {
                part.target.id
                for part in node.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            }
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    found[node.name] |= {field for owner, field in stored(part) if owner == "self"}
    return found


def writers(trees: Trees) -> dict[tuple[str, str], set[str]]:
    """Return the functions that assign each field, by class and field.

    Where no annotation names the class of an owner, every class with such a field counts.
    """
    fields, lines, named = fields_of(trees), bases(trees), annotated(trees)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in trees.items():
        for inside, function in functions(tree):
            for owner, field in stored(function):
                if function.name == "__init__" and owner == "self":
                    continue
                known = {inside} if owner == "self" else (named[owner] & lines.keys()) or set(lines)
                classes = {next((one for one in lines[name] if field in fields[one]), "") for name in known}
                for name in classes - {""}:
                    found[name, field].add(f"{module}.{inside}.{function.name}".replace("..", "."))
    return found


def test_no_field_has_more_than_two_writers() -> None:
    """Each field of a call, of a choice, of its tables and of its turn is assigned by two functions at most."""
    found = writers(machine())

    assert {} == {field: names for field, names in found.items() if len(names) > MOST}
    assert found["Call", "phase"] == {"machine.phases._enter"}
    assert len(found) > 80


@together(
    ("source", "found"),
    [
        ("def f(call: Call): call.x = 1", {"f"}),
        ("def f(call: Call): a, call.x = 1, 2", {"f"}),
        ("def f(call: Call): call.x += 1", {"f"}),
        ("def f(call: Call): del call.x", {"f"}),
        ("def f(call: Call | None): call.x = 1", {"f"}),
        ("def f(call: Union[Call, None]): call.x = 1", {"f"}),
        ("def f(choice):\n for choice.last.x in y: pass\nclass C:\n last: Call", {"f"}),
        ("def f():\n def g(): call.x = 1", {"f"}),
        ("def f(one): one.x = 1", {"f"}),  # which may be any class
        ("def f(one: B): one.x = 1\nclass B:\n x: int", set()),
        ("def f(call: Call): call.x.append(call.x)", set()),
        ("class B(Call):\n def f(self): self.x = 1", {"B.f"}),
        ("class B(Call):\n def __init__(self): self.x = 1", set()),
        ("class B:\n x: int\n def f(self): self.x = 1", set()),
    ],
)
def test_writers_are_seen(source: str, found: set[str]) -> None:
    """Each function that assigns a field of a class is found, however it comes by the object, but its constructors."""
    tree = ast.parse(f"class Call:\n def __init__(self): self.x = 0\n{source}")

    assert {f"m.{name}" for name in found} == writers({"m": tree}).get(("Call", "x"), set())


def test_no_field_is_set_by_name() -> None:
    """No module of the machine hides an assignment in `setattr`."""
    names = [
        ast.unparse(node)
        for tree in machine().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
    ]

    assert set() == {"setattr", "delattr"} & set(names)
