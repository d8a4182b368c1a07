"""From argument text to a verdict, with a check against the tool if the tool is known."""

from __future__ import annotations

from wholecall.calls.parse import accept, accept_output

__all__ = ["accept", "accept_output"]
