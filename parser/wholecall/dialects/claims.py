"""Claims of dialects to a frame, their evidence, and the choice between several.

Theory of operation. A dialect claims a frame by members that only it has, or by some that others may carry as well:
`{"metadata": {"usage": {}}}` is an event of Bedrock's, and Google's `interaction.created` has that member, too. The
table therefore says which of the members by which any dialect is known are a dialect's *own*, and which of these are
*weak*. Nearly always a frame has no other such members than those of the first dialect that claims it, and that one has
it. A frame with others is contested: claims that hold without their weak members, and without empty members
(`candidates: []`), go before all others; a weak claim counts only where no member names the frame's kind. Where more
than one claim is left, the frame decides nothing, and waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wholecall.dialects.detect import CONVERSE_FIELDS, GEMINI_LIVE_MESSAGES

__all__ = ["KNOWN", "NARROWER", "are_akin", "foreign", "is_labelled", "rivals", "without_weak", "yields"]
_private = True


class _Members(NamedTuple):
    """The members by which a dialect is known, or that its frames have in addition; and which of them are weak."""

    own: frozenset[str]
    weak: frozenset[str]
    strong: frozenset[str]


def _members(own: str, weak: str = "") -> _Members:
    found = frozenset(weak.split())
    return _Members(found.union(own.split()), found, frozenset(own.split()))


_USAGE: Final = "usageMetadata usage_metadata promptFeedback prompt_feedback"
_CHUNK: Final = _members("", "chunk bytes")

KNOWN: Final[dict[str, _Members]] = {
    "legacy-completions": _members("choices object", "generation outputText outputs results"),
    "vercel-data": _members("", "finishReason result toolInvocations parts"),
    "chat-completions": _members("choices object", "apiFormat finishReason toolCalls message"),
    "responses": _members("type object response metadata", "output"),
    "anthropic": _members("type message"),
    "gemini-live": _members(f"{' '.join(GEMINI_LIVE_MESSAGES)} tool_call usageMetadata usage_metadata"),
    "langchain": _members("type usage_metadata", "output"),
    "gemini": _members("candidates", f"response {_USAGE}"),
    "bedrock-converse": _members(" ".join(CONVERSE_FIELDS), "metadata output"),
    "ollama": _members("message", "done"),
    "ollama-generate": _members("response", "done"),
    "bedrock-invoke-anthropic": _CHUNK,
    "bedrock-invoke-nova": _CHUNK,
    "bedrock-invoke-cohere-v1": _CHUNK,
    "bedrock-invoke-cohere-v2": _CHUNK,
    "bedrock-invoke-legacy-completions": _CHUNK,
    "bedrock-invoke-chat-completions": _CHUNK,
    "bedrock-agents": _members("", "trace returnControl invocationInputs chunk bytes"),
    "openai-assistants": _members("object event type metadata"),
    "openai-realtime": _members("type object response metadata", "output"),
    "gemini-interactions": _members("event_type object", "steps outputs"),
    "cohere-v1": _members("event_type response", "generation_id"),
    "cohere-v2": _members("type", "message"),
    "langchain-protocol": _members("event type method metadata"),
    "mistral-conversations": _members("type object", "outputs"),
    "llama-stack": _members("event", "completion_message"),
    "llama-api": _members("event", "completion_message"),
    "ag-ui": _members("type message", "messages"),
    "vercel-ui": _members("type output metadata", "parts"),
    "langchain-events": _members("event metadata"),
    "acp": _members("jsonrpc method result"),
    "copilot": _members("type"),
    "claude-code": _members("type message result event response"),
    "codex-app-server": _members("method result"),
    "a2a": _members("jsonrpc method result"),
    "mcp": _members("jsonrpc method result"),
    "pi": _members("type success message result", "messages"),
    "dashscope": _members("message", "output"),
    "sap-orchestration": _members("", "final_result orchestration_result"),
    "xai-grpc": _members("", "chunk outputs"),
    "gigachat": _members("event", "messages"),
    "workers-ai": _members("messages result", "response success tool_calls"),
}
_RIVALS: Final = {
    member: tuple(name for name, members in KNOWN.items() if member in members.own)
    for member in frozenset[str]().union(*(members.own for members in KNOWN.values()))
}
# By the name of a dialect, the members by which others may be known.
_FOREIGN: Final = {name: frozenset(_RIVALS) - members.strong for name, members in KNOWN.items()}
_LABELS: Final = ("type", "event_type", "jsonrpc", "object")  # members that name a frame's kind

# Pairs of which the second dialect takes frames of the first as well; at equal strength the first dialect has them.
NARROWER: Final = frozenset(
    {
        ("legacy-completions", "chat-completions"),
        ("bedrock-invoke-legacy-completions", "bedrock-invoke-chat-completions"),
        ("vercel-data", "chat-completions"),
        ("vercel-data", "vercel-ui"),
        ("gemini-live", "gemini"),
        ("langchain", "gemini"),
        ("llama-stack", "llama-api"),
    }
)


def foreign(name: str, payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the members of a frame by which other dialects than this one may be known."""
    return _FOREIGN[name].intersection(payload)


def rivals(members: frozenset[str]) -> frozenset[str]:
    """Return the names of the dialects that are known by one of these members."""
    return frozenset(name for member in members for name in _RIVALS[member])


def without_weak(name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a frame without its empty and weak members, which decide nothing where other dialects claim it."""
    weak = KNOWN[name].weak
    return {key: value for key, value in payload.items() if key not in weak and not _is_empty(value)}


def is_labelled(payload: Mapping[str, Any], among: frozenset[str]) -> bool:
    """Return whether one of these members identifies the frame: a word for its kind, or choices."""
    named = any(label in among and isinstance(payload[label], str) for label in _LABELS)
    return named or ("choices" in among and isinstance(payload["choices"], list))


def yields(name: str, others: list[str]) -> bool:
    """Return whether a dialect leaves a frame to one of these others, of whose frames it takes some."""
    return any((other, name) in NARROWER for other in others)


def are_akin(one: str, other: str) -> bool:
    """Return whether one of two dialects takes frames of the other as well."""
    return (one, other) in NARROWER or (other, one) in NARROWER


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)
