"""Exchanges of the proxy, as they are when they are over."""

from __future__ import annotations

from typing import Any

from wholecall.proxy.entry import Entry

SECRET = "canary-6f1d"  # is in places that must not be shown
STARTED = 1_795_424_815.25  # 2026-11-23T09:06:55.250Z


def entry(**known: Any) -> Entry:
    """Return a successful exchange, except for the given values."""
    usual: dict[str, Any] = {
        "id": "req-1",
        "started": STARTED,
        "method": "POST",
        "path": "/v1/chat/completions",
        "upstream": "openai",
        "model": "gpt-4.1",
        "is_stream": True,
        "status": 200,
        "content_type": "text/event-stream",
        "handling": "repaired",
        "outcome": "ok",
        "dialect": "chat-completions",
        "request": SECRET.encode(),
    }
    return Entry(**{**usual, **known})
