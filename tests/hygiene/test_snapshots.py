"""Nothing that a parser remembers is missing in its snapshots: each attribute is annotated, or named as derived."""

from __future__ import annotations

import ast
import importlib

import msgspec
import pytest

from tests.hygiene.source_tree import modules
from wholecall.snapshots.shapes import annotations_of, derived_of, fields_of

# Where the state of a parser is made. `live` follows calls, whose texts are in their records.
_STATEFUL = ("stream", "undecided", "assembler", "turn_state", "choices", "calls", "budget")
_PACKAGES = ("framing", "dialects")
CLASSES = [
    (name, node.name)
    for name, tree in modules().items()
    if name in _STATEFUL or name.split(".")[0] in _PACKAGES
    for node in tree.body
    if isinstance(node, ast.ClassDef)
]


def named(module: str, name: str) -> type:
    """Return a class of the package."""
    found: type = getattr(importlib.import_module(f"wholecall.{module}"), name)
    return found


def assigned(module: str, name: str) -> set[str]:
    """Return the attributes of itself that any method of a class assigns."""
    node = next(n for n in modules()[module].body if isinstance(n, ast.ClassDef) and n.name == name)
    return {
        target.attr
        for target in ast.walk(node)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }


STATE = [(module, name) for module, name in CLASSES if assigned(module, name)]


@pytest.mark.parametrize(("module", "name"), STATE, ids=[".".join(place) for place in STATE])
def test_every_attribute_is_kept_or_derived(module: str, name: str) -> None:
    """Whatever a class with state assigns to itself, its body annotates, or `DERIVED` names."""
    cls = named(module, name)

    assert set() == assigned(module, name) - annotations_of(cls).keys() - derived_of(cls)
    assert set() == annotations_of(cls).keys() & derived_of(cls)


@pytest.mark.parametrize(("module", "name"), STATE, ids=[".".join(place) for place in STATE])
def test_every_annotation_can_be_packed(module: str, name: str) -> None:
    """What a class keeps has a codec, also what no recording holds."""
    cls = named(module, name)

    assert list(annotations_of(cls)) == [field.name for field in fields_of(cls)]


def test_the_classes_with_state_are_found() -> None:
    """The search looks at classes, and values are none of them."""
    assert {("calls", "Call"), ("framing.base", "LineFraming"), ("dialects.chat", "ChatTranslator")} <= set(
        STATE
    )
    assert [] == [place for place in STATE if issubclass(named(*place), msgspec.Struct)]
