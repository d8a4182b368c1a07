"""What a snapshot holds of each class: the attributes that the class annotates.

Theory of operation. An object that has state is a row of the fields that its class and its bases annotate in
their bodies, the farthest base first. What a class names in `DERIVED` is not kept: tables of functions, ways in
and caches are made anew. An attribute that is neither is an error, so that none can be forgotten.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Final, Literal, NamedTuple, get_args, get_origin
from zlib import crc32

import msgspec

from wholecall.deltas import CallWhole, Index, ReasoningFragment
from wholecall.dialects.openai.responses import ResponsesTranslator
from wholecall.framing import Frame
from wholecall.machine.budget import Budget
from wholecall.machine.call import Call
from wholecall.machine.choice import Choice
from wholecall.machine.readings import Piece
from wholecall.machine.record import Record
from wholecall.machine.turn import TurnState
from wholecall.output.events import Event, StreamFault, TurnFinished
from wholecall.snapshots.codecs import Codec, codec_of, is_abstract
from wholecall.types import Anomaly, DropReason, Flag, Kind, TurnReason

__all__ = ["Field", "check_kept", "derived_of", "fields_of", "fingerprint"]


class Field(NamedTuple):
    """One attribute of a state class."""

    name: str
    codec: Codec


# What the annotations of the core name, and its modules import for type checkers only.
_NAMES: Final[dict[str, Any]] = {
    "Any": Any,
    "Anomaly": Anomaly,
    "Budget": Budget,
    "Call": Call,
    "CallWhole": CallWhole,
    "Choice": Choice,
    "DropReason": DropReason,
    "Event": Event,
    "Flag": Flag,
    "Frame": Frame,
    "Index": Index,
    "Kind": Kind,
    "Piece": Piece,
    "ReasoningFragment": ReasoningFragment,
    "Record": Record,
    "StreamFault": StreamFault,
    "TurnFinished": TurnFinished,
    "ResponsesTranslator": ResponsesTranslator,
    "TurnReason": TurnReason,
    "TurnState": TurnState,
}


@cache
def annotations_of(cls: type) -> dict[str, Any]:
    """Return what the class and its bases annotate in their bodies, the farthest base first."""
    found: dict[str, Any] = {}
    derived = derived_of(cls)
    for base in reversed(cls.__mro__):
        names = {**_NAMES, **vars(sys.modules[base.__module__])}
        found |= inspect.get_annotations(base, globals=names, locals={}, eval_str=True)
    return {
        name: kind
        for name, kind in found.items()
        if name not in derived and kind is not ClassVar and get_origin(kind) is not ClassVar
    }


def derived_of(cls: type) -> frozenset[str]:
    """Return the attributes that the class and its bases make anew."""
    return frozenset().union(*(vars(base).get("DERIVED", ()) for base in cls.__mro__))


@cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """Return what is kept of an object of the class.

    Raises:
        TypeError: an annotation says nothing that could be kept.
    """
    return tuple(Field(name, codec_of(kind)) for name, kind in annotations_of(cls).items())


def check_kept(value: Any) -> None:
    """See that the class of an object names all of its attributes.

    Raises:
        TypeError: there is an attribute that is neither annotated nor derived.
    """
    cls: type = type(value)
    slots = {name for base in cls.__mro__ for name in vars(base).get("__slots__", ())}
    unknown = {*getattr(value, "__dict__", ()), *slots} - _named(cls)
    if unknown:
        raise TypeError(
            f"a snapshot cannot hold a {cls.__qualname__}: annotate {min(unknown)!r} in its class, "
            "or name it in DERIVED if it is made anew"
        )


@cache
def _named(cls: type) -> frozenset[str]:
    return frozenset(annotations_of(cls)) | derived_of(cls)


def fingerprint(root: object) -> int:
    """Return a number that stands for the shapes of an object and of all that it can hold.

    Two versions with one number read each other's snapshots. For a field of an abstract class the object that
    is in it counts.
    """
    held: dict[type, object] = {type(root): root}
    waiting = [root]
    for value in waiting:  # it grows on the way
        cls: type = type(value)
        for name, part in _holders(cls):
            inner = getattr(value, name, None)
            if inner is not None and type(inner) not in held and (is_abstract(part) or type(inner) is part):
                held[type(inner)] = inner
                waiting.append(inner)
    return _fingerprint_of(frozenset(held))


@cache
def _fingerprint_of(classes: frozenset[type]) -> int:
    shapes: dict[type, str] = {}
    waiting = list(classes)
    while waiting:
        cls = waiting.pop()
        if cls not in shapes:
            shapes[cls], parts = _shape(cls)
            waiting += [part for _, part in parts if not is_abstract(part)]
    return crc32("\n".join(sorted(shapes.values())).encode())


@cache
def _holders(cls: type) -> list[tuple[str, type]]:
    """Return the fields of a class that can hold an object with state, and of which class."""
    return [(name, part) for name, part in _shape(cls)[1] if not issubclass(part, msgspec.Struct)]


@cache
def _shape(cls: type) -> tuple[str, list[tuple[str, type]]]:
    """Return what a class writes of its fields, and the classes of the package that each of them can hold."""
    written = {
        name: str(text)
        for base in reversed(cls.__mro__)
        for name, text in inspect.get_annotations(base).items()
        if name in annotations_of(cls)
    }
    parts = [(name, part) for name, kind in annotations_of(cls).items() for part in _classes_in(kind)]
    return f"{cls.__qualname__} {written}", parts


def _classes_in(kind: Any) -> Iterator[type]:
    parts = [kind]
    while parts:
        part = parts.pop()
        parts += get_args(part) if get_origin(part) is not Literal else ()
        cls = get_origin(part) or part
        if isinstance(cls, type) and cls.__module__.startswith("wholecall"):
            yield cls
