"""Nothing that a parser remembers is missing in its snapshots: each attribute is annotated, or named as derived."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest

from tests.hygiene.source_tree import modules
from tests.support.together import together
from wholecall import Limits, ToolCallParser
from wholecall.dialects.table import DIALECTS
from wholecall.framing import FRAMINGS
from wholecall.stream.snapshots.shapes import Asked, kept_by, listed, row_of, shape_of

# Where the state of a parser is made. `live` follows calls, whose texts are in their records. The decoder of a content
# coding is not part of a parser, which gets the decoded bytes. A lane is left before a snapshot is taken. Shells hold
# parsers, and snapshots their copies.
_PACKAGES = ("framing", "dialects", "machine", "stream")
_STATELESS = (
    *("machine.readings", "stream.live", "stream.lanes", "stream.shells", "stream.snapshots"),
    *("framing.forms", "framing.frame", "framing.codings", "framing.zstd_blocks"),
)
CLASSES = [
    (name, node.name)
    for name, tree in modules().items()
    if name.split(".")[0] in _PACKAGES and not name.startswith(_STATELESS)
    for node in tree.body
    if isinstance(node, ast.ClassDef)
]


def named(module: str, name: str) -> type:
    """Return a class of the package."""
    found: type = getattr(importlib.import_module(f"wholecall.{module}"), name)
    return found


def assigned(module: str, name: str) -> set[str]:
    """Return the attributes of itself that any method of a class assigns, and those that its body sets to a constant."""
    node = next(n for n in modules()[module].body if isinstance(n, ast.ClassDef) and n.name == name)
    preset = {
        target.id
        for part in node.body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)
        for target in part.targets
        if isinstance(target, ast.Name) and target.id.islower() and not target.id.startswith("__")
    }
    return preset | {
        target.attr
        for target in ast.walk(node)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }


STATE = [(module, name) for module, name in CLASSES if assigned(module, name)]


@together(("module", "name"), STATE, ids=[".".join(place) for place in STATE])
def test_every_attribute_is_kept_or_derived(module: str, name: str) -> None:
    """Whatever a class with state assigns to itself, its body annotates, or `DERIVED` names."""
    cls = named(module, name)

    assert set() == assigned(module, name) - kept_by(cls).keys() - listed(cls, "DERIVED")
    assert set() == kept_by(cls).keys() & listed(cls, "DERIVED")


@together(("module", "name"), STATE, ids=[".".join(place) for place in STATE])
def test_every_annotation_can_be_packed(module: str, name: str) -> None:
    """Msgspec can read everything that a class keeps, also values that no recording holds."""
    cls = named(module, name)

    assert [*kept_by(cls)] == [*row_of(cls).__struct_fields__]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert([], row_of(cls) if kept_by(cls) else int, dec_hook=lambda kind, _: kind)


def _parts(kind: Any) -> Iterator[type]:
    """Return the classes whose objects an annotation leads to."""
    if isinstance(kind, Asked):
        yield from kind.classes if not kind.items else _parts(kind.items)
    for part in get_args(kind):
        yield from _parts(part)


def _reached() -> set[type]:
    """Return the classes whose objects a snapshot of any stream may hold."""
    found: set[type] = set()
    waiting = [ToolCallParser, *(type(make(Limits())) for make in FRAMINGS.values())]
    waiting += [type(dialect.start()) for dialect in DIALECTS]
    while waiting:
        cls = waiting.pop()
        if cls not in found:
            found.add(cls)
            waiting += [part for field in msgspec.structs.fields(row_of(cls)) for part in _parts(field.type)]
    return found


def test_shapes_differ() -> None:
    """A row says by its shape of which class it is."""
    reached = _reached()

    assert len({shape_of(cls) for cls in reached}) == len(reached) > 80


def test_no_class_with_state_is_overlooked() -> None:
    """Whatever a parser of any dialect and framing leads to is looked at above, wherever it is defined."""
    places = {
        (cls.__module__.removeprefix("wholecall."), cls.__name__)
        for cls in _reached()
        if not issubclass(cls, msgspec.Struct)
    }

    assert len(places) > 60
    assert [] == [place for place in sorted(places) if assigned(*place) and place not in STATE]


def test_the_classes_with_state_are_found() -> None:
    """The search looks at classes, not at values."""
    assert {
        ("machine.call", "Call"),
        ("framing.base", "LineFraming"),
        ("dialects.openai.chat.translator", "ChatTranslator"),
    } <= set(STATE)
    assert [] == [place for place in STATE if issubclass(named(*place), msgspec.Struct)]
