"""Errors that Bedrock sends inside a stream."""

from __future__ import annotations

from typing import Any

from wholecall.deltas import WireFault
from wholecall.dialects.decode import member, plain, provider_error
from wholecall.framing.frame import Frame


def error_of(frame: Frame) -> WireFault:
    """Return the fatal fault for a frame that is named `error`."""
    body = plain(frame.data)
    return provider_error(member(body, "error") or (body if isinstance(body, dict) else None) or frame.data)


def exception_in(payload: Any) -> dict[str, Any] | None:
    """Return the error that a decoded payload holds under an exception's name."""
    for name, value in payload.items() if isinstance(payload, dict) else ():
        if name.endswith("Exception"):
            return {"code": name} | (value if isinstance(value, dict) else {"message": value})
    return None
