"""The form of a rule, and the published texts that rules go back to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Optional

import msgspec

from wholecall.grading.probe.exchange import WIRES, Severity, Wire
from wholecall.grading.probe.sight import Sight


class Hit(NamedTuple):
    """A place where a rule is broken.

    Attributes:
        frame: the number of the event, from 1; 0 for the answer as a whole.
        detail: a word of ours about it, never content of the answer.
    """

    frame: int = 0
    detail: str = ""


Hits = Optional[Iterable[Hit]]  # None: the rule did not apply


class Source(NamedTuple):
    """A published text.

    Attributes:
        title: its title.
        url: its address.
    """

    title: str
    url: str


CHAT = Source("OpenAI API reference: Chat Completions", "https://platform.openai.com/docs/api-reference/chat")
CHAT_STREAM = Source(
    "OpenAI API reference: the chat completion chunk object",
    "https://platform.openai.com/docs/api-reference/chat-streaming/streaming",
)
RESPONSES = Source(
    "OpenAI API reference: Responses, streaming events",
    "https://platform.openai.com/docs/api-reference/responses-streaming",
)
CALLING = Source("OpenAI: function calling", "https://platform.openai.com/docs/guides/function-calling")
ANTHROPIC = Source(
    "Anthropic API: streaming messages", "https://platform.claude.com/docs/en/build-with-claude/streaming"
)
GEMINI = Source("Gemini API: generating content", "https://ai.google.dev/api/generate-content")
EVENTS = Source(
    "WHATWG HTML: server-sent events", "https://html.spec.whatwg.org/multipage/server-sent-events.html"
)
JSON = Source("RFC 8259: JSON", "https://www.rfc-editor.org/rfc/rfc8259")
HTTP = Source("RFC 9110: HTTP semantics", "https://www.rfc-editor.org/rfc/rfc9110")
ERRORS = Source("OpenAI: error codes", "https://platform.openai.com/docs/guides/error-codes")

CHAT_ONLY: tuple[Wire, ...] = ("chat-completions",)
RESPONSES_ONLY: tuple[Wire, ...] = ("responses",)
BLOCKS: tuple[Wire, ...] = ("responses", "anthropic")
PIECES: tuple[Wire, ...] = ("chat-completions", "responses", "anthropic")  # calls come in pieces, with labels
TEXTS: tuple[Wire, ...] = ("chat-completions", "responses")  # arguments are a text in bodies, too
OBJECTS: tuple[Wire, ...] = ("anthropic", "gemini")  # arguments are an object in bodies
NAMELESS: tuple[Wire, ...] = ("responses", "anthropic", "gemini")  # whose streams have no [DONE]
REASONED: tuple[Wire, ...] = ("chat-completions", "anthropic", "gemini")  # with a reason in its own member


class RuleText(msgspec.Struct, frozen=True, kw_only=True):
    """A rule without its check.

    Attributes:
        id: its id, the group before the dot.
        severity: how bad a breach is.
        says: what a breach is, in words.
        source: the published text that asks for it.
        quirks: numbers of the quirks that are breaches of it.
        wires: the wires that it applies to.
    """

    id: str
    severity: Severity
    says: str
    source: Source
    quirks: tuple[int, ...] = ()
    wires: tuple[Wire, ...] = WIRES

    @property
    def group(self) -> str:
        """The group that it is in."""
        return self.id.partition(".")[0]


class Rule(RuleText, frozen=True, kw_only=True):
    """One rule about an exchange.

    Attributes:
        check: returns the breaches in an exchange; None where the rule did not apply.
        any_status: whether it also applies to answers that are not a whole 200.
    """

    check: Callable[[Sight], Hits]
    any_status: bool = False


class PairRule(RuleText, frozen=True, kw_only=True):
    """One rule about a plain and a streamed answer to the same request.

    Attributes:
        check: returns the breaches; None where the two cannot be compared.
    """

    check: Callable[[Sight, Sight], Hits]
