"""How Bedrock tells errors inside of a stream."""

from __future__ import annotations

from typing import Any

from wholecall.deltas import WireFault
from wholecall.dialects.decode import member, plain, provider_error
from wholecall.framing.frame import Frame

__all__ = ["exception_in", "told_error"]


def told_error(frame: Frame) -> WireFault:
    """Return the fatal fault for a frame that is named `error`."""
    told = plain(frame.data)
    return provider_error(member(told, "error") or (told if isinstance(told, dict) else None) or frame.data)


def exception_in(told: Any) -> dict[str, Any] | None:
    """Return the error that a decoded payload tells as a member with an exception's name."""
    for name, value in told.items() if isinstance(told, dict) else ():
        if name.endswith("Exception"):
            return {"code": name} | (value if isinstance(value, dict) else {"message": value})
    return None
