"""Search for argument text that could leak from an object or an exception."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable, Iterator
from typing import Any

CANARY = "zq-canary-7731"  # is in arguments and nowhere else
_CODE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType)


def _reachable(roots: Iterable[object]) -> Iterator[Any]:
    """Yield all objects that can be reached, also those that the collector does not follow."""
    waiting, seen = list(roots), dict[int, object]()
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _CODE):
            continue
        seen[id(found)] = found
        yield found
        waiting += gc.get_referents(found)
        waiting += [getattr(found, name) for name in getattr(found, "__struct_fields__", ())]


def spilled_in(*roots: object) -> set[str]:
    """Return the types of ours whose repr or text shows the canary, among all that can be reached."""
    ours = (found for found in _reachable(roots) if type(found).__module__.startswith("wholecall"))
    return {type(found).__name__ for found in ours if CANARY in repr(found) or CANARY in str(found)}


def spilled_by(error: BaseException) -> list[str]:
    """Return the parts of an exception, its causes and its contexts (suppressed too) that hold the canary."""
    found: list[str] = []
    waiting: list[BaseException | None] = [error]
    for here in waiting:  # it grows on the way
        if here is None:
            continue
        waiting += [here.__cause__, here.__context__]
        held = {"str": str(here), "repr": repr(here), "args": here.args, **vars(here)}
        held |= {name: getattr(here, name, None) for name in ("doc", "object", "msg", "reason", "filename")}
        found += [f"{type(here).__name__}.{name}" for name, value in held.items() if CANARY in repr(value)]
    return found
