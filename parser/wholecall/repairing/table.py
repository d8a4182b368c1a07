"""The dialects whose streams can be repaired, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wholecall.repairing.anthropic import AnthropicMender
from wholecall.repairing.chat import ChatMender
from wholecall.repairing.mender import Mender
from wholecall.repairing.responses import ResponsesMender

__all__ = ["MENDERS"]

MENDERS: Final[dict[str, Callable[..., Mender[Any]]]] = {
    "anthropic": AnthropicMender,
    "chat-completions": ChatMender,
    "responses": ResponsesMender,
}
