"""A rule: words to find in a provider's message, and their meaning.

Theory of operation
-------------------
A rule reads one text: the whole message of a provider, in lower case, quotes unified, a line for each JSON
object (`wholecall.history.errors.text`). The first rule of a table that finds its words decides. A dot does
not cross lines, no gap is unbounded and no repetition nests: the work is linear in the text. Rules are
compiled once, at the first error. The vocabularies of their meanings are closed; docs/errors.md explains each word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Literal, NamedTuple

ErrorCategory = Literal[
    "transcript",
    "context_overflow",
    "request",
    "rate_limit",
    "billing",
    "auth",
    "content_filter",
    "overloaded",
    "server_error",
    "unknown",
]
ErrorScope = Literal["session", "request", "credential", "provider"]
ErrorKind = Literal[
    # transcript
    "unanswered_tool_call",
    "orphan_tool_result",
    "duplicate_tool_call_id",
    "duplicate_tool_result",
    "malformed_arguments",
    "arguments_type",
    "bad_tool_call_id",
    "bad_tool_name",
    "empty_tool_calls",
    "empty_content",
    "empty_history",
    "role_order",
    "bad_role",
    "thinking_signature",
    "missing_reasoning",
    "orphan_reasoning",
    "unknown_item",
    "unknown_field",
    "missing_field",
    "content_form",
    "bad_media",
    # context_overflow
    "request_too_large",
    # request
    "unsupported_parameter",
    "invalid_parameter",
    "tool_definition",
    "missing_tools",
    "response_format",
    "unknown_model",
    "unsupported_feature",
    "failed_generation",
    "malformed_body",
    # rate_limit
    "upstream",
    # auth
    "blocked",
]


class Rule(NamedTuple):
    """One row of the table.

    Attributes:
        category: the class of problem.
        kind: the exact problem, None if the category is exact enough.
        says: a provider's phrase that the rule is for.
        words: regular expressions; one of them must be found.
        also: an expression that must be found too, anywhere in the text.
        unless: an expression that must not be found.
        statuses: the HTTP statuses that the rule is for, 0 for an unknown status; empty for all.
    """

    category: ErrorCategory
    kind: ErrorKind | None
    says: str
    words: tuple[str, ...]
    also: str = ""
    unless: str = ""
    statuses: frozenset[int] = frozenset()


class Found(NamedTuple):
    """The rule that decided, and the place of its words in the text."""

    rule: Rule
    start: int
    end: int


class _Compiled(NamedTuple):
    rule: Rule
    words: re.Pattern[str]
    also: re.Pattern[str] | None
    unless: re.Pattern[str] | None


class RuleTable:
    """An ordered list of rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)

    def first(self, text: str, status: int) -> Found | None:
        """Return the first rule that matches, None if there is none.

        Args:
            text: the provider's message, in lower case.
            status: the HTTP status, 0 if none is known.
        """
        for row in self._compiled:
            if row.rule.statuses and status not in row.rule.statuses:
                continue
            match = row.words.search(text)
            if match is None or (row.also and not row.also.search(text)):
                continue
            if not (row.unless and row.unless.search(text)):
                return Found(row.rule, match.start(), match.end())
        return None

    @cached_property
    def _compiled(self) -> tuple[_Compiled, ...]:
        return tuple(
            _Compiled(rule, re.compile("|".join(rule.words)), _optional(rule.also), _optional(rule.unless))
            for rule in self.rules
        )


def _optional(pattern: str) -> re.Pattern[str] | None:
    return re.compile(pattern) if pattern else None
