"""The dialects whose streams and bodies can be repaired, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Union

from wholecall.repairing import anthropic
from wholecall.repairing.anthropic import AnthropicLeaks, AnthropicRewriter
from wholecall.repairing.chat import bodies as chat
from wholecall.repairing.chat.leaks import ChatLeaks
from wholecall.repairing.chat.rewriter import ChatRewriter
from wholecall.repairing.gemini import bodies as gemini
from wholecall.repairing.gemini.leaks import GeminiLeaks
from wholecall.repairing.gemini.rewriter import GeminiRewriter
from wholecall.repairing.responses import bodies as responses
from wholecall.repairing.responses.leaks import ResponsesLeaks
from wholecall.repairing.responses.rewriter import ResponsesRewriter
from wholecall.repairing.wire import Body, LeakWire


class Wire(NamedTuple):
    """A dialect that can be repaired: the rewriter of its streams, its leaks, and the rules for its whole bodies."""

    rewriter: type[Union[AnthropicRewriter, ChatRewriter, GeminiRewriter, ResponsesRewriter]]
    leaks: type[LeakWire]
    body: Body


WIRES: Final[Mapping[str, Wire]] = MappingProxyType(
    {
        "anthropic": Wire(AnthropicRewriter, AnthropicLeaks, anthropic.BODY),
        "chat-completions": Wire(ChatRewriter, ChatLeaks, chat.BODY),
        "gemini": Wire(GeminiRewriter, GeminiLeaks, gemini.BODY),
        "responses": Wire(ResponsesRewriter, ResponsesLeaks, responses.BODY),
    }
)
