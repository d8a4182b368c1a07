"""What a recording to be is: how it is registered, and how what must come out of it is written down."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.encode import JSON, compact

__all__ = ["CASES", "Built", "Case", "case", "drop", "expect", "good"]

Built = tuple[bytes, JSON]


@dataclass(frozen=True)
class Case:
    """A recording to be: its name is `<dialect>/<case>`."""

    name: str
    about: str
    quirks: tuple[int, ...]
    origin: str
    suffix: str
    build: Callable[[], Built]

    @property
    def dialect(self) -> str:
        """The folder of the recording."""
        return self.name.partition("/")[0]


CASES: list[Case] = []


def case(
    name: str, *quirks: int, origin: str = "generated", suffix: str = "sse"
) -> Callable[[Callable[[], Built]], Callable[[], Built]]:
    """Register a function as the maker of a recording; its docstring says what the recording is about."""

    def register(build: Callable[[], Built]) -> Callable[[], Built]:
        CASES.append(Case(name, build.__doc__ or "", quirks, origin, suffix, build))
        return build

    return register


# Expectations


def good(id: str | None, name: str, arguments: Any, status: str | None = "exact", **more: Any) -> JSON:
    """Return an expected call; `id` None means minted, `status` None is left open.

    Arguments of 1 KB or more are kept as their hash.
    """
    call: JSON = {"id": id, "name": name}
    text = compact(arguments)
    if len(text) >= 1024:
        call["arguments_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    else:
        call["arguments"] = arguments
    if id is None:
        more["flags"] = sorted({*more.get("flags", ()), "id_generated"})
    return call | ({} if status is None else {"status": status}) | more


def drop(id: str | None, name: str | None, reason: str | None, raw: str) -> JSON:
    """Return an expected drop; `reason` None leaves it open."""
    dropped: JSON = {"id": id, "name": name}
    if reason is not None:
        dropped["reason"] = reason
    if len(raw) >= 1024:
        return dropped | {"raw_sha256": hashlib.sha256(raw.encode()).hexdigest()}
    return dropped | {"raw": raw}


def expect(*calls: JSON, reason: str | None = "tool_calls", **more: Any) -> JSON:
    """Return an expectation: these calls and nothing else, but for what `more` names."""
    expected: JSON = {"calls": list(calls)} if calls else {}
    expected |= more
    return expected if reason is None else expected | {"reason": reason}
