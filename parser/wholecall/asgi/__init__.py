"""Repair inside a server: an ASGI middleware that gives every client whole tool calls or none.

::

    app.add_middleware(wholecall.asgi.RepairMiddleware)
"""

from __future__ import annotations

from wholecall.asgi.answer import AnswerEnded
from wholecall.asgi.middleware import RepairMiddleware

__all__ = ["AnswerEnded", "RepairMiddleware"]
