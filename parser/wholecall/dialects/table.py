"""The dialects: those of the table (`wholecall.dialects.detect`), and those that others register.

A translator is imported when the first stream of its dialect starts: importing them all costs more than everything else
that the package imports. Marks are compiled when the first frame comes that has one of their members.

Dialects that others register are asked first, the latest before all: the caller that registers a dialect knows the
stream. Packages offer theirs as entry points. To look for these takes some milliseconds, so it is done only on request:
by the commands, and by callers of `load_plugins`; an unregistered name is also looked for there before it is refused.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from wholecall.dialects import claims, translator
from wholecall.dialects.detect import ENTRIES
from wholecall.dialects.marks import Detect, Entry, decisive
from wholecall.errors import UnknownDialect, choices, meant


class Dialect(msgspec.Struct, frozen=True):
    """A wire format.

    Attributes:
        name: as in `TurnStarted.dialect`.
        framings: the framings in which it comes, by their names, the usual one first.
        detect: whether a frame is decisive for this dialect; it is given the decoded object and the event's name.
        start: makes the translator of one stream.
    """

    name: str
    framings: tuple[str, ...]
    detect: Detect
    start: Callable[[], translator.Translator]


_NOBODY: Final = frozenset[str]()
_KINDS = ("type", "event_type")  # the members that hold the type of an event
_PARTED = re.compile(r"\w[._-]\w")

_INVOKED: Final = "bedrock-invoke-"  # the beginning of names of dialects whose events come wrapped in chunks


@cache
def _class(path: str) -> Callable[..., translator.Translator]:
    """Return the class of a translator, whose module is imported now."""
    module, _, name = path.rpartition(".")
    found: Callable[..., translator.Translator] = getattr(import_module(f"wholecall.dialects.{module}"), name)
    return found


def _record(name: str, entry: Entry) -> Dialect:
    """Return the record of a dialect of our own."""

    def start() -> translator.Translator:
        made = _class(entry.translator)
        return _class("amazon.invoke.InvokeTranslator")(made) if name.startswith(_INVOKED) else made()

    return Dialect(name, entry.framings, decisive(entry.rows), start)


DIALECTS: Final = tuple(_record(name, entry) for name, entry in ENTRIES.items())

_UNNAMED: Final = frozenset({"", "message"})  # events whose names tell nothing
# The members of the frames that each dialect is asked about, and whether the name of an event is enough.
_ASKED: Final = tuple(
    (each, known.own, known.is_named) for each in DIALECTS for known in [claims.KNOWN[each.name]]
)

_registered: dict[str, Dialect] = {}  # by third parties; changed only by `setdefault`, which is atomic
_broken: set[str] = set()  # registered dialects whose detection raised, which is reported once


def register(dialect: Dialect) -> None:
    """Register your own dialect, by its name and for detection.

    Raises:
        ValueError: another dialect has this name.
    """
    ours = any(known.name == dialect.name for known in DIALECTS)
    if ours or _registered.setdefault(dialect.name, dialect) is not dialect:
        raise ValueError(f"there is a dialect {dialect.name!r} already; give yours another name")


@cache
def load_plugins() -> None:
    """Register the dialects of installed packages, once a process; parsers that detect ask them from then on.

    A package offers a `Dialect` as an entry point of the group `wholecall.dialects`. One that cannot be loaded, or
    whose name is taken, is named in a warning (`RuntimeWarning`) and left out.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes longer to import than all of ours

    for point in entry_points(group="wholecall.dialects"):
        _load(point)


# The errors of importing another package, and of registering its dialects.
_UNLOADABLE = (
    *(ImportError, AttributeError, SyntaxError, NameError, TypeError, ValueError),
    *(LookupError, OSError, RuntimeError, AssertionError),
)


def _load(point: Any) -> None:
    """Register the dialect of an entry point."""
    try:
        dialect = point.load()
        if isinstance(dialect, Dialect):
            register(dialect)
            return
        trouble = f"it is a {type(dialect).__name__}, not a Dialect"
    except _UNLOADABLE as error:
        trouble = f"{type(error).__name__}: {error}"
    warnings.warn(
        f"the dialect of the entry point {point.name!r} ({point.value}) is left out: {trouble}",
        RuntimeWarning,
        stacklevel=3,
    )


def _all() -> Iterator[Dialect]:
    return chain(tuple(_registered.values())[::-1], DIALECTS)


def named(name: str) -> Dialect:
    """Return the dialect of this name, which may be an alias (`wholecall.errors.ALIASES`).

    Raises:
        UnknownDialect: no dialect has this name.
    """
    found = _found(name)
    if found is None:
        load_plugins()
        found = _found(name)
    if found is not None:
        return found
    raise UnknownDialect(
        f"there is no dialect {name!r}; {choices(name, ['auto', *(dialect.name for dialect in _all())])}"
    )


def _found(name: str) -> Dialect | None:
    known = {dialect.name: dialect for dialect in [*_all()][::-1]}
    return known.get(meant(name, known) or "")


class Claims(NamedTuple):
    """The claims to a frame: the dialects of best right, of which one has it if it is alone, and all others."""

    best: tuple[Dialect, ...] = ()
    others: tuple[Dialect, ...] = ()


def _first_claimant(payload: Mapping[str, Any], event: str, telling: frozenset[str]) -> Dialect | None:
    """Return the first dialect for which a frame is decisive, given its telling members."""
    if _registered:
        for dialect in tuple(_registered.values())[::-1]:
            if decides(dialect, payload, event):
                return dialect
    for dialect, members, is_named in _ASKED:
        if members.isdisjoint(telling) and (not is_named or event in _UNNAMED):
            continue
        if dialect.detect(payload, event):
            return dialect
    return None


def claimants(payload: Mapping[str, Any], event: str = "") -> Claims:
    """Return the claims to a frame."""
    telling = claims.telling(payload)
    first = _first_claimant(payload, event, telling)
    if first is None:
        return Claims()
    foreign = _NOBODY if first.name in _registered else claims.foreign(first.name, telling)
    if not foreign:
        return Claims((first,))
    rivals = claims.rivals(foreign).difference([first.name])
    others = [each for each in DIALECTS if each.name in rivals and decides(each, payload, event)]
    is_labelled = claims.is_labelled(payload, foreign)
    if not others and not is_labelled:
        return Claims((first,))
    willing = [first, *others]
    strong = [each for each in willing if decides(each, claims.without_weak(each.name, payload), event)]
    if not strong and is_labelled:
        return Claims()
    names = [each.name for each in strong or willing]
    best = tuple(each for each in strong or willing if not claims.yields(each.name, names))
    return Claims(best, tuple(each for each in willing if each not in best))


def detect_dialect(payload: Mapping[str, Any], event: str = "") -> Dialect | None:
    """Return the dialect for which the frame is decisive, None where no dialect or more than one claims it."""
    best = claimants(payload, event).best
    return best[0] if len(best) == 1 else None


def decides(dialect: Dialect, payload: Mapping[str, Any], event: str) -> bool:
    """Return whether a frame is decisive for a dialect; a registered one that raises recognises nothing."""
    try:
        return dialect.detect(payload, event)
    except Exception as error:
        if dialect.name not in _registered:
            raise
        if dialect.name not in _broken:
            _broken.add(dialect.name)
            warnings.warn(
                f"the detection of the registered dialect {dialect.name!r} raised {type(error).__name__};"
                " frames that it raises for are not its own",
                RuntimeWarning,
                stacklevel=2,
            )
        return False


def claimants_by_name(payload: Mapping[str, Any], event: str) -> Claims:
    """Return the result of `claimants` if the event's name is used as its type (quirk 118).

    Gateways leave out the type where it only repeats the name. A name of a single word may belong to any dialect
    (`start`, `error`), and is not used.
    """
    if not _PARTED.search(event):
        return Claims()
    named = {**payload, **{kind: event for kind in _KINDS if payload.get(kind) is None}}
    return claimants(named, event)
