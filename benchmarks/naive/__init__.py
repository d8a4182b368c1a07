"""The commonly pasted naive loops, one per dialect, for the first comparison.

They split the stream, load every event and gather pieces in dicts of lists. They handle no quirk, no limit, no checksum
and no cut stream, and they give no events on the way. Each takes a JSON loader: `json.loads`, or the one import that
makes it fast, `msgspec.json.decode`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.naive import documented, others
from benchmarks.naive.splitting import Loads
from benchmarks.texts import Result

__all__ = ["NAIVE", "Loads"]

NAIVE: dict[str, Callable[[Iterable[bytes], Loads], Result]] = {
    "chat-completions": documented.chat,
    "anthropic": documented.anthropic,
    "responses": documented.responses,
    "gemini": others.gemini,
    "ollama": others.ollama,
    "bedrock-converse": others.converse,
    "bedrock-invoke-anthropic": others.invoke_anthropic,
    "cohere-v2": others.cohere,
    "vercel-ui": others.vercel,
}
