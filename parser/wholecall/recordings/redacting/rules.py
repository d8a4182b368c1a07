"""Decide which strings are kept, by their keys.

Theory of operation. Dialects match on words: types, roles, reasons, states. These have their own keys, look like words,
and are kept, unless they look like a secret: servers and gateways write keys into names of events and types of errors,
too. A string under any other key, known or unknown, is replaced; therefore nothing that a provider adds later is
published.
"""

from __future__ import annotations

import re
from functools import cache

from wholecall.recordings.secrets import keyless_path, looks_like_a_key

# Objects under these keys are arguments, and strings argument text.
ARGUMENTS = frozenset(
    [
        "arguments",
        "args",
        "input",
        "parameters",
        "parsed_arguments",
        "partial_json",
        "inputText",
        "inputTextDelta",
        "argsTextDelta",
        "rawInput",
        "toolInput",
        "toolArgs",
        "tool_input",
        "tool_args",
        "delta_arguments",
        "argument_delta",
    ]
)
# Objects whose `args` describe a call, with the arguments among them: `{"mcpToolCall": {"args": {"toolName", "args"}}}`.
DESCRIBED = frozenset({"mcpToolCall"})
CODE = frozenset({"code_interpreter"})  # values under these keys are code, which the dialect puts into JSON
BASE64 = frozenset({"bytes"})
# An integer that may be a key, an account or a card, not a count; short enough that its size in bits does not matter.
LONG_NUMBER = r"-?[1-9][0-9]{11,17}"
_LONG_NUMBER = re.compile(LONG_NUMBER)
_NAMES = frozenset(
    [
        "name",
        "tool",
        "tool_name",
        "toolName",
        "toolCallName",
        "tool_call_name",
        "function_name",
        "function",
        "namespace",
        "recipient",
        "server_label",
    ]
)
# The last part of a key (`finish_reason`, `finishReason`), or the whole key, under which words of the protocol are.
_WORDS = frozenset(
    [
        "type",
        "subtype",
        "types",
        "object",
        "role",
        "event",
        "model",
        "kind",
        "status",
        "severity",
        "permission",  # evaluated_permission
        "state",
        "code",
        "phase",
        "reason",
        "finish",
        "index",
        "op",
        "jsonrpc",
        "method",
        "update",
        "provider",
        "tier",
        "modality",
        "category",
        "version",
        "language",
        "execution",
        "encoding",
    ]
)
_IDS = frozenset({"id", "ids"})  # the last part of a key
_FIRST = frozenset({"model"})  # the first part of a key
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_COUNTS = re.compile(r"(?i).*(?:usage|metrics|billed_units|tokens?_?details).*")
_TEXTS = frozenset(
    [
        "content",
        "text",
        "thinking",
        "reasoning",
        "reasoning_content",
        "delta",
        "refusal",
        "message",
        "output_text",
        "transcript",
        "summary",
        "tool_plan",
        "response",
        "generated_text",
        "reasoningText",
        "parts",
        "textDelta",
        "thought",
    ]
)
_CALLS = re.compile(r"(?i)arg(?:s|ument)|input|tool")
# Names of LangChain's serialised objects, in a list under `id`.
_CLASSES = frozenset(
    [
        *("langchain", "langchain_core", "schema", "messages", "ai", "AIMessage", "AIMessageChunk"),
        *("tool", "ToolMessage", "ToolMessageChunk"),
    ]
)
_MODES = frozenset(
    {"messages", "updates", "values", "custom", "debug"}
)  # LangGraph's modes, before their contents
# Words under keys of which others hold anything: who sent a chunk of Mastra's, who executes a call of Snowflake's agents.
_SAID = {
    "from": frozenset({"AGENT", "NETWORK", "SYSTEM", "USER", "WORKFLOW"}),
    "client_side_execute": frozenset({"true", "false"}),
}
_NAMED_TYPE = "tool-"  # followed by the name of a tool, in whole messages of the Vercel AI SDK
_NAMED_LABEL = "CALL "  # the same in the logs of Dify's agents
# Types, models and the like contain numbers; a code, a state or a reason with numbers may be a secret.
_NUMBERED = frozenset(
    {"type", "types", "object", "event", "model", "index", "jsonrpc", "method", "version", "modality"}
)
_WORD = re.compile(r"(?=.{0,80}\Z)[^\W\d]*(?:[.:/@-][^\W\d]+)*(?: [^\W\d]+){0,2}")
_NUMBERED_WORD = re.compile(r"(?=.{0,80}\Z)[\w.:/@\[\]<>-]*(?: [\w.-]+){0,2}")
_NUMBER = re.compile(r"[0-9.]*")
_NAME = re.compile(r"\s*[\w.:/@$;-]*\s*")  # several, in Dify's steps: `tide;ports`
_KEY = re.compile(r"(?!(?:call|toolu|tooluse|fc|msg|run)[_-]\w*\d)[$@\w.:/-]{1,48}")


def is_long_number(text: str) -> bool:
    """Return whether a number is so long that it is replaced."""
    return _LONG_NUMBER.fullmatch(text) is not None


def is_word(key: str, text: str) -> bool:
    """Return whether a value is a word of the protocol."""
    if key == "id":
        return text in _CLASSES
    if key in _SAID:
        return text in _SAID[key]
    if key == "label":
        name = text.removeprefix(_NAMED_LABEL)
        return name != text and _NAME.fullmatch(name) is not None and not looks_like_a_key(name)
    if not key:  # an element of an array that is not a member
        return text in _MODES
    pattern = _pattern(key)
    if pattern is None or pattern.fullmatch(text) is None:
        return False
    if _is_of_model(key):  # `accounts/fireworks/models/qwen3` is a long run only as a whole
        return keyless_path(text) == text
    return not looks_like_a_key(text)


@cache
def _pattern(key: str) -> re.Pattern[str] | None:
    """Return the pattern of words under a key, None where texts are not words."""
    parts = _parts_of(key)
    if _is_of_model(key) or parts[-1] in _NUMBERED:
        return _NUMBERED_WORD
    return _WORD if parts[-1] in _WORDS else None


def _parts_of(key: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(key)] or [""]


@cache
def _is_of_model(key: str) -> bool:
    """Return whether a key is about the model, which may have any name."""
    parts = _parts_of(key)
    return parts[0] in _FIRST or parts[-1] in _FIRST


@cache
def is_count(key: str) -> bool:
    """Return whether an object under a key holds usage counts; words in it are of the protocol."""
    return _COUNTS.fullmatch(key) is not None


def is_counted(text: str) -> bool:
    """Return whether a text in such an object is a word or a number."""
    return bool(_WORD.fullmatch(text) or _NUMBER.fullmatch(text))


@cache
def is_id(key: str) -> bool:
    """Return whether values under a key are ids."""
    return _parts_of(key)[-1] in _IDS


def is_named(key: str) -> bool:
    """Return whether values under a key are names."""
    return key in _NAMES


def is_name(key: str, text: str) -> bool:
    """Return whether a value is the name of a tool, or of anything else that a provider names."""
    return is_named(key) and _NAME.fullmatch(text) is not None


def named_type(key: str, around: str, text: str) -> int:
    """Return the number of characters of a type or a label before the name of a tool, 0 where it has none."""
    if key == "label":
        return len(_NAMED_LABEL) if text.startswith(_NAMED_LABEL) else 0
    is_named = key == "type" and around == "parts" and text.startswith(_NAMED_TYPE)
    return len(_NAMED_TYPE) if is_named else 0


def is_of_call(event: str) -> bool:
    """Return whether an event of this name adds text to a call."""
    return _CALLS.search(event) is not None


def is_text(key: str) -> bool:
    """Return whether values under a key are a model's text or reasoning."""
    return key in _TEXTS


def is_key_word(text: str) -> bool:
    """Return whether a key looks like a key of a protocol, not like an id or a text."""
    return _KEY.fullmatch(text) is not None and not looks_like_a_key(text)
