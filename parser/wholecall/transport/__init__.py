"""Repair under an unmodified SDK: an HTTP transport that makes event streams strict while they are read.

::

    import wholecall.transport

    client = openai.OpenAI(http_client=wholecall.transport.client())
"""

from __future__ import annotations

from wholecall.transport.repair import (
    AsyncRepairTransport,
    Counters,
    Exchange,
    RepairTransport,
    async_client,
    client,
)

__all__ = ["AsyncRepairTransport", "Counters", "Exchange", "RepairTransport", "async_client", "client"]
