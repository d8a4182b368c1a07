"""The check of a transcript against a provider's rules: where the provider will complain, and in which words.

Theory of operation. A table has a row for each rule of each provider: the kind of the provider's error (in the terms of
`classify_error`, so that a finding and a refusal have one name), the function that finds where the rule is broken
(`wholecall.history.flaws`), an explanation for people, and the provider's own words if they are known. Providers that
speak one protocol share its rows.

Sources: the API references of the providers, and their error responses (docs/errors.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Optional

import msgspec

from wholecall.errors import UnknownDialect, choices
from wholecall.history import flaws
from wholecall.history.errors.rules import ErrorKind
from wholecall.history.flaws import Finder, Flaw, Reading
from wholecall.history.formats import HistoryFormat, format_named
from wholecall.history.parts import MessagesT
from wholecall.history.shapes.ag_ui import AG_UI
from wholecall.history.shapes.anthropic import ANTHROPIC
from wholecall.history.shapes.base import View, expect_messages
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.converse import CONVERSE
from wholecall.history.shapes.gemini import GEMINI
from wholecall.history.shapes.langchain import LANGCHAIN
from wholecall.history.shapes.mistral import MISTRAL
from wholecall.history.shapes.ollama import OLLAMA
from wholecall.history.shapes.responses import RESPONSES
from wholecall.history.shapes.table import SHAPES
from wholecall.history.shapes.vercel import VERCEL


class Finding(msgspec.Struct, frozen=True):
    """A rule of a provider that a transcript breaks.

    Attributes:
        kind: the rule, named by the kind that `classify_error` returns for the provider's refusal.
        index: of the message in the input, None if the finding concerns the whole list.
        ids: of the calls; the name of a call that has no id.
        about: the problem, for people.
        refusal: the provider's words for it, from an example; None if they are not known.
    """

    kind: ErrorKind
    index: Optional[int]
    ids: tuple[str, ...]
    about: str
    refusal: Optional[str] = None

    def __str__(self) -> str:
        where = "the list" if self.index is None else f"message {self.index}"
        which = f" ({', '.join(self.ids)})" if self.ids else ""
        return f"{where}: {self.about}{which}"


class Rule(NamedTuple):
    """A row of the table.

    Attributes:
        kind: of the refusal.
        find: finds where the rule is broken.
        about: the problem, for people.
        refusal: the provider's words, None if they are not known.
        thinking: whether the rule holds only for requests that let the model think.
    """

    kind: ErrorKind
    find: Finder
    about: str
    refusal: str | None = None
    thinking: bool = False


class Provider(NamedTuple):
    """The rules of one provider.

    Attributes:
        view: of the shape of its messages.
        rules: the rules by which it refuses.
        gathers: whether it reads consecutive messages of the model as one turn.
    """

    view: View
    rules: tuple[Rule, ...]
    gathers: bool = True


_ARGUMENTS = "arguments are text where an object is due, or are missing"
_ARGUMENT_TEXT = "arguments are an object where text is due, or are missing"
_NO_RESULT = "a call has no result directly after it"
_NO_CALL = "a result has no call directly before it"
_NAME = "the name of a call is empty, too long, or has characters that the provider refuses"
_ID = "the id of a call is missing, too long, or has characters that the provider refuses"
_ROLE = "the provider does not know the role of the message"
_AGAIN = "a call is answered more than once"
_SAME_ID = "two calls have the same id"
_NOTHING = "there is no message"
_NO_CONTENT = "the message has no content"
_BLANK_RESULT = "a result holds a block of text that is empty"
_FIRST = "the first message is the model's; it has to be the user's"

_ANTHROPIC = (
    Rule("empty_history", flaws.no_messages, _NOTHING, "messages: at least one message is required"),
    Rule(
        "bad_role",
        flaws.roles_beside("user", "assistant"),
        _ROLE,
        'messages: Unexpected role "tool". Allowed roles are "user" or "assistant".',
    ),
    Rule("role_order", flaws.first_not_user, _FIRST, 'messages: first message must use the "user" role'),
    Rule(
        "empty_content",
        flaws.blank_texts,
        "a block of text is empty",
        "messages: text content blocks must be non-empty",
    ),
    Rule(
        "empty_content",
        flaws.blank_results,
        _BLANK_RESULT,
        "messages: text content blocks must be non-empty",
    ),
    Rule(
        "empty_content",
        flaws.bodiless,
        _NO_CONTENT,
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
    ),
    Rule(
        "bad_tool_call_id",
        flaws.bad_ids,
        _ID,
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    Rule(
        "bad_tool_name",
        flaws.bad_names(200),
        _NAME,
        "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'",
    ),
    Rule(
        "arguments_type",
        flaws.arguments_type,
        _ARGUMENTS,
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    Rule(
        "unanswered_tool_call",
        flaws.unanswered("first"),
        "a call has no result at the beginning of the next message",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    Rule(
        "orphan_tool_result",
        flaws.orphan_results("first"),
        "a result has no call in the message before, or does not stand before everything else",
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
    ),
    Rule(
        "orphan_tool_result",
        flaws.served_to_user,
        "a result of a tool that the provider ran stands with the user's words, not behind its call",
        "messages.2.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1.",
    ),
    Rule(
        "duplicate_tool_call_id",
        flaws.duplicate_calls(over_all=True),
        _SAME_ID,
        "messages: `tool_use` ids must be unique",
    ),
    Rule(
        "duplicate_tool_result",
        flaws.duplicate_results("first"),
        _AGAIN,
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
    ),
    Rule(
        "thinking_signature",
        flaws.unsigned_thoughts,
        "a block of thinking has no signature",
        "messages.1.content.0.thinking.signature: Field required",
    ),
    Rule(
        "missing_reasoning",
        flaws.thoughtless_loop,
        "a loop of tools is open, and its first turn does not begin with thinking",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        thinking=True,
    ),
)

_GEMINI = (
    Rule(
        "empty_history",
        flaws.no_messages,
        _NOTHING,
        "GenerateContentRequest.contents: contents is not specified",
    ),
    Rule(
        "bad_role",
        flaws.roles_beside("user", "model", "function"),
        _ROLE,
        "Please use a valid role: user, model.",
    ),
    Rule("role_order", flaws.first_not_user, _FIRST),
    Rule(
        "empty_content",
        flaws.bodiless,
        _NO_CONTENT,
        "Unable to submit request because it must include at least one parts field",
    ),
    Rule("bad_tool_name", flaws.bad_names(128, r"[a-zA-Z0-9_.:-]"), _NAME),
    Rule("arguments_type", flaws.arguments_type, _ARGUMENTS),
    Rule(
        "unanswered_tool_call",
        flaws.unanswered("next"),
        "a call has no response in the content directly after it",
        "Please ensure that the number of function response parts is equal to the number of function call parts of"
        " the function call turn.",
    ),
    Rule(
        "orphan_tool_result",
        flaws.orphan_results("next"),
        "a response has no call in the content directly before it",
        "Please ensure that function response turn comes immediately after a function call turn.",
    ),
    Rule("duplicate_tool_result", flaws.duplicate_results("next"), _AGAIN),
    Rule(
        "thinking_signature",
        flaws.unsigned_calls,
        "the first call of a turn of the open loop has no thought signature",
        "Function call is missing a thought_signature in functionCall parts.",
        thinking=True,
    ),
)

_CONVERSE = (
    Rule("empty_history", flaws.no_messages, _NOTHING),
    Rule("bad_role", flaws.roles_beside("user", "assistant"), _ROLE),
    Rule(
        "role_order",
        flaws.first_not_user,
        _FIRST,
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    ),
    Rule(
        "role_order",
        flaws.not_alternating,
        "the message has the role of the one before; roles have to alternate",
        "A conversation must alternate between user and assistant roles.",
    ),
    Rule(
        "empty_content",
        flaws.blank_texts,
        "a block of text is empty",
        "The text field in the ContentBlock object at messages.1.content.0 is blank.",
    ),
    Rule(
        "empty_content",
        flaws.blank_results,
        _BLANK_RESULT,
        "messages: text content blocks must be non-empty",
    ),
    Rule(
        "empty_content",
        flaws.bodiless,
        _NO_CONTENT,
        "The content field in the Message object at messages.1 is empty.",
    ),
    Rule(
        "bad_tool_call_id",
        flaws.bad_ids,
        _ID,
        "Value 'a.1' at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member"
        " must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    ),
    Rule("bad_tool_name", flaws.bad_names(64), _NAME),
    Rule("arguments_type", flaws.arguments_type, _ARGUMENTS),
    Rule(
        "unanswered_tool_call",
        flaws.unanswered("next"),
        _NO_RESULT,
        "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
    ),
    Rule(
        "orphan_tool_result",
        flaws.orphan_results("next"),
        _NO_CALL,
        "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
    ),
    Rule("duplicate_tool_result", flaws.duplicate_results("next"), _AGAIN),
)

# Rules of every Chat Completions server that checks the pairs of calls and results at all.
_CHAT_PAIRS = (
    Rule(
        "unanswered_tool_call",
        flaws.unanswered("first"),
        _NO_RESULT,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        " The following tool_call_ids did not have response messages: call_1",
    ),
    Rule(
        "orphan_tool_result",
        flaws.orphan_results("first"),
        _NO_CALL,
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
    Rule("duplicate_tool_call_id", flaws.duplicate_calls(over_all=False), _SAME_ID),
    Rule("duplicate_tool_result", flaws.duplicate_results("first"), _AGAIN),
    Rule("arguments_type", flaws.arguments_type, _ARGUMENT_TEXT),
)
_CHAT = (
    Rule(
        "empty_history",
        flaws.no_messages,
        _NOTHING,
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ),
    Rule(
        "bad_role", flaws.roles_beside("system", "developer", "user", "assistant", "tool", "function"), _ROLE
    ),
    Rule(
        "empty_tool_calls",
        flaws.empty_call_lists,
        "`tool_calls` is an empty list; leave the member out",
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
    ),
    Rule(
        "empty_content",
        flaws.wordless,
        "the message has neither content nor calls",
        "Invalid value for 'content': expected a string, got null.",
    ),
    Rule(
        "bad_tool_call_id",
        flaws.bad_ids,
        _ID,
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
    ),
    Rule(
        "bad_tool_name",
        flaws.bad_names(64),
        _NAME,
        "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern.",
    ),
    *_CHAT_PAIRS,
)
_STRICT_CHAT = (
    *_CHAT,
    Rule(
        "malformed_arguments",
        flaws.argument_text,
        "arguments are not the text of an object",
        "invalid params, invalid function arguments json string, tool_call_id: call_1",
    ),
)
_MISTRAL = (
    Rule("empty_history", flaws.no_messages, _NOTHING),
    Rule("bad_role", flaws.roles_beside("system", "user", "assistant", "tool"), _ROLE),
    Rule(
        "role_order",
        flaws.user_after_tool,
        "the user speaks directly after results; the model has to answer them first",
        "Unexpected role 'user' after role 'tool'",
    ),
    Rule(
        "role_order",
        flaws.ends_with_model,
        "the last message is the model's, and has no `prefix: true`",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ),
    Rule(
        "empty_content",
        flaws.wordless,
        "the message has neither content nor calls",
        "Assistant message must have either content or tool_calls, but not none.",
    ),
    Rule(
        "bad_tool_call_id",
        flaws.bad_ids,
        "the id of a call is not 9 letters and digits",
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
    ),
    Rule("bad_tool_name", flaws.bad_names(256), _NAME),
    *(
        rule._replace(refusal="Not the same number of function calls and responses")
        if rule.kind == "unanswered_tool_call"
        else rule._replace(refusal="Unexpected role 'tool' after role 'user'")
        if rule.kind == "orphan_tool_result"
        else rule
        for rule in _CHAT_PAIRS
    ),
)
_OLLAMA = (
    Rule(
        "arguments_type",
        flaws.arguments_type,
        _ARGUMENTS,
        "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type"
        " api.ToolCallFunctionArguments",
    ),
    Rule(
        "content_form",
        flaws.lists_of_blocks,
        "the content is a list; only text is taken",
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    ),
    Rule("bad_tool_name", flaws.bad_names(256, "."), "a call has no name"),
)

_RESPONSES = (
    Rule("empty_history", flaws.no_messages, _NOTHING),
    Rule("bad_role", flaws.roles_beside("system", "developer", "user", "assistant"), _ROLE),
    Rule(
        "bad_tool_call_id",
        flaws.bad_ids,
        _ID,
        "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64.",
    ),
    Rule(
        "bad_tool_name",
        flaws.bad_names(128),
        _NAME,
        "Invalid 'input[1].name': string does not match pattern. Expected a string that matches the pattern"
        " '^[a-zA-Z0-9_-]+$'.",
    ),
    Rule("arguments_type", flaws.arguments_type, _ARGUMENT_TEXT),
    Rule(
        "unanswered_tool_call",
        flaws.unanswered("anywhere"),
        "a call has no output",
        "No tool output found for function call call_1.",
    ),
    Rule(
        "orphan_tool_result",
        flaws.orphan_results("anywhere"),
        "an output has no call",
        "No tool call found for function call output with call_id call_1.",
    ),
    Rule("duplicate_tool_call_id", flaws.duplicate_calls(over_all=True), _SAME_ID),
    Rule("duplicate_tool_result", flaws.duplicate_results("anywhere"), _AGAIN),
    Rule(
        "orphan_reasoning",
        flaws.unfollowed_reasoning,
        "an item of reasoning is not followed by the item that it led to",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
)

_CONVERSATIONS = (
    Rule("empty_history", flaws.no_messages, _NOTHING),
    Rule("bad_tool_call_id", flaws.bad_ids, "the id of a call is not 9 letters and digits"),
    Rule("bad_tool_name", flaws.bad_names(256), _NAME),
    Rule("unanswered_tool_call", flaws.unanswered("next"), _NO_RESULT),
    Rule("orphan_tool_result", flaws.orphan_results("next"), _NO_CALL),
    Rule("duplicate_tool_call_id", flaws.duplicate_calls(over_all=True), _SAME_ID),
    Rule("duplicate_tool_result", flaws.duplicate_results("next"), _AGAIN),
)
# Frameworks pass messages on to some provider: the rules are those that all providers share.
_FRAMEWORK = tuple(rule._replace(refusal=None) for rule in _CHAT_PAIRS)
_LANGCHAIN = tuple(
    rule._replace(about=_ARGUMENTS) if rule.kind == "arguments_type" else rule for rule in _FRAMEWORK
)
_VERCEL = (
    Rule(
        "unanswered_tool_call",
        flaws.unanswered("within"),
        "a call has neither an output nor an error in its part",
    ),
    Rule("duplicate_tool_call_id", flaws.duplicate_calls(over_all=True), _SAME_ID),
)

_CHATS = Provider(CHAT, _CHAT, gathers=False)
_STRICT_CHATS = Provider(CHAT, _STRICT_CHAT, gathers=False)
RULES: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "chat-completions": _CHATS,
        "bedrock-invoke-chat-completions": _CHATS,
        "dashscope": _CHATS,
        "kimi": _CHATS,
        "minimax": _STRICT_CHATS,
        "stepfun": _STRICT_CHATS,
        "mistral": Provider(CHAT, _MISTRAL, gathers=False),
        "cohere-v2": _CHATS,
        "bedrock-invoke-cohere-v2": _CHATS,
        "llama-api": _CHATS,
        "ollama": Provider(OLLAMA, _OLLAMA, gathers=False),
        "responses": Provider(RESPONSES, _RESPONSES),
        "openai-realtime": Provider(RESPONSES, _RESPONSES),
        "anthropic": Provider(ANTHROPIC, _ANTHROPIC),
        "bedrock-invoke-anthropic": Provider(ANTHROPIC, _ANTHROPIC),
        "bedrock-converse": Provider(CONVERSE, _CONVERSE),
        "bedrock-invoke-nova": Provider(CONVERSE, _CONVERSE),
        "gemini": Provider(GEMINI, _GEMINI),
        "gemini-live": Provider(GEMINI, _GEMINI),
        "mistral-conversations": Provider(MISTRAL, _CONVERSATIONS),
        "langchain": Provider(LANGCHAIN, _LANGCHAIN, gathers=False),
        "ag-ui": Provider(AG_UI, _FRAMEWORK, gathers=False),
        "vercel-ui": Provider(VERCEL, _VERCEL, gathers=False),
    }
)
"""The rules by which each provider refuses, by the name of its format."""


def check_transcript(
    messages: MessagesT, provider: str | HistoryFormat, *, thinking: bool = False
) -> list[Finding]:
    """List the flaws for which a provider will refuse a transcript: "may I send this to Anthropic?".

    The messages are neither sent nor changed. `repair_transcript` repairs most findings; `CallIds` spells ids for a
    provider; roles and words of another shape are not translated.

    Args:
        messages: of the request, as the provider takes them: a list or tuple of dicts.
        provider: the name of its format, such as `"anthropic"` or `"mistral"`, or a `HistoryFormat` of such a name.
        thinking: whether the request lets the model think, as Anthropic's `thinking` does, and Gemini 3 always: then
            the turns of an open tool loop must contain their thoughts, or signatures.

    Returns:
        The findings, by message; empty if the provider has no reason to refuse.

    Raises:
        TypeError: `messages` is not a list or tuple, or something in it is not a dict.
        UnknownDialect: there is no such format, or no rules are known for it.
    """
    format = format_named(provider)
    rules_of = RULES.get(format.name)
    if rules_of is None:
        raise UnknownDialect(f"no rules are known for {format.name!r}: {choices(format.name, RULES)}")
    given = expect_messages(messages)
    found = list(_foreign(given, rules_of.view, format.name))
    if not found:
        reading = Reading(given, rules_of.view, format, gathers=rules_of.gathers)
        found = list(_findings(reading, rules_of.rules, thinking))
    return sorted(found, key=lambda finding: -1 if finding.index is None else finding.index)


def _findings(reading: Reading, rules: Sequence[Rule], thinking: bool) -> Iterable[Finding]:
    found: dict[tuple[str, Flaw], Finding] = {}
    for rule in rules:
        if rule.thinking and not thinking:
            continue
        for flaw in rule.find(reading):  # two rules of one kind may have the same finding
            finding = Finding(rule.kind, flaw.at, flaw.ids, rule.about, rule.refusal)
            found.setdefault((rule.kind, flaw), finding)
    return found.values()


# Shapes of which neither is foreign to the other: the rules find their differences.
_KIN: Final = (CHAT, OLLAMA)


def _foreign(messages: Sequence[dict[str, Any]], view: View, name: str) -> Iterator[Finding]:
    """Yield the first message that belongs to another shape only, which the provider would not understand."""
    for index, message in enumerate(messages):
        shape = next((shape for shape in SHAPES if shape.is_own(message)), None)
        if shape is None or shape is view or (shape in _KIN and view in _KIN):
            continue
        if not view.is_own(message):
            about = f"the message is written as for {shape.name}, which {name} does not take"
            yield Finding("content_form", index, (), about)
            return
