"""The class of an error: the problem, its scope (request, key, provider), and the possible remedy.

Theory of operation
-------------------
One decision serves all forms of an error: the response to a request, an SDK's exception, and a `StreamFault` inside a
stream. The provider's text counts more than its status: gateways send a bad transcript as 500, an empty account as 400,
an overloaded engine as 429. Therefore the text is examined first, by one ordered table of rules; the status decides if
no rule matches the text. The class then follows from the category and the kind alone. docs/errors.md lists the words and
their meanings.

Nothing here retries, waits or logs, and no body makes it raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Optional, Union

import msgspec

from wholecall.calls.output.events import StreamFault
from wholecall.history.errors import messages, requests
from wholecall.history.errors.rules import ErrorCategory, ErrorKind, ErrorScope, RuleTable
from wholecall.history.errors.text import expected_type, listen, named_ids, refusal_of


class ErrorClass(msgspec.Struct, frozen=True):
    """The class of one error.

    Attributes:
        category: the class of problem.
        kind: the exact problem, where the category leaves it open.
        ids: the call ids that the message names, in its order; only of category `transcript`.
        scope: the extent of the error: `session` (each further request with these messages fails too), `request` (this
            one), `credential` (each request with this key), `provider` (each request to it).
        cooldown: whether a gateway should pause the credential. Never for a format error.
        repairable: whether `repair_transcript` repairs the usual cause.
        expects: for kind `arguments_type`, the required type of arguments: a JSON `string` or an `object`. None if the
            message does not state it.
    """

    category: ErrorCategory
    kind: Optional[ErrorKind] = None
    ids: tuple[str, ...] = ()
    scope: ErrorScope = "request"
    cooldown: bool = False
    repairable: bool = False
    expects: Optional[Literal["string", "object"]] = None


def classify_error(
    status: Union[int, StreamFault, BaseException, None],
    body: Any = None,
    headers: Optional[Mapping[str, Any]] = None,
) -> ErrorClass:
    """Return the class of a provider's error.

    Args:
        status: the HTTP status, the exception that an SDK or an HTTP client raised, a fault of a stream, or None if
            there is only a message.
        body: the response's body: text, bytes, or the decoded value; an SDK's message is text, too. With an exception
            or a fault, taken from it unless given. Of bodies above 256 KiB only both ends are read.
        headers: the response's headers, names in any case; with an exception, taken from it unless given.

    Raises:
        TypeError: `status` is none of these.
    """
    if isinstance(status, BaseException):
        refusal = refusal_of(status)
        status, body, headers = refusal.status, body or refusal.body, headers or refusal.headers
    if isinstance(status, StreamFault) and body is None:
        body = _told_by(status)
    said = listen(body, headers)
    answered = _status_of(status) or said.status
    text = said.text.lower()
    found = RULES.first(text, answered)
    if found is None:
        return _class_of(*_by_status(answered, blank=said.blank))
    category, kind = found.rule.category, found.rule.kind
    ids = named_ids(said.text) if category == "transcript" else ()
    near = text[max(0, found.start - _NEAR) : found.end + _NEAR]
    return _class_of(category, kind, ids, expected_type(near) if kind == "arguments_type" else None)


_FIRST_ERROR = 400
_NEAR = 200
# Faults whose bytes may be a response that is not a stream at all; the bytes of other faults were written by the model.
_UNREAD = frozenset({"unknown_dialect", "not_sse"})

_SCOPES: dict[ErrorCategory, ErrorScope] = {
    "transcript": "session",
    "context_overflow": "session",
    "request": "request",
    "rate_limit": "credential",
    "billing": "credential",
    "auth": "credential",
    "content_filter": "request",
    "overloaded": "provider",
    "server_error": "provider",
    "unknown": "request",
}
# Kinds with another scope than the rest of their category.
_ELSEWHERE: dict[ErrorKind | None, ErrorScope] = {"upstream": "provider", "blocked": "provider"}
_REPAIRABLE: frozenset[ErrorKind | None] = frozenset(
    {
        *("unanswered_tool_call", "orphan_tool_result", "duplicate_tool_call_id", "duplicate_tool_result"),
        *("malformed_arguments", "arguments_type", "bad_tool_call_id", "bad_tool_name"),
        *("empty_tool_calls", "empty_content", "orphan_reasoning"),
    }
)
_STATUSES: dict[int, tuple[ErrorCategory, ErrorKind | None]] = {
    401: ("auth", None),
    402: ("billing", None),
    403: ("auth", None),
    407: ("auth", None),
    408: ("server_error", None),
    413: ("context_overflow", "request_too_large"),
    424: ("server_error", None),  # Bedrock: the model failed
    429: ("rate_limit", None),
    451: ("auth", "blocked"),
    498: ("content_filter", None),  # Cohere
    499: ("unknown", None),  # the client went away
    503: ("overloaded", None),
    529: ("overloaded", None),  # Anthropic
}
# Without a text these mean nothing: proxies send them for any rejected request.
_MUTE = frozenset({400, 422})


def _status_of(status: object) -> int:
    """Return an HTTP status, 0 if there is none or it is not an error status."""
    if isinstance(status, int):
        return status if status >= _FIRST_ERROR else 0
    if status is None or isinstance(status, StreamFault):
        return 0
    raise TypeError(
        f"status must be an HTTP status, an exception, a StreamFault or None, not {type(status).__name__}"
    )


def _told_by(fault: StreamFault) -> Any:
    if fault.kind == "provider_error":
        return fault.detail if fault.error is None else fault.error
    return fault.raw if fault.kind in _UNREAD else None


def _by_status(status: int, *, blank: bool) -> tuple[ErrorCategory, ErrorKind | None]:
    if status in _STATUSES:
        return _STATUSES[status]
    if blank and status in _MUTE:
        return "unknown", None
    families: dict[int, ErrorCategory] = {4: "request", 5: "server_error"}
    return families.get(status // 100, "unknown"), None


def _class_of(
    category: ErrorCategory,
    kind: ErrorKind | None,
    ids: tuple[str, ...] = (),
    expects: Literal["string", "object"] | None = None,
) -> ErrorClass:
    scope = _ELSEWHERE.get(kind, _SCOPES[category])
    return ErrorClass(category, kind, ids, scope, scope == "credential", kind in _REPAIRABLE, expects)


# --- the order of rules --------------------------------------------------------------------------------

# The first matching words of a text are not always its meaning; therefore the order is:
#
# 1. Model output that the server could not read: its text may contain any of the words below.
# 2. Members that the provider does not know: their names contain words like "tokens" and "limit".
# 3. The messages: a gateway may send a bad transcript with any status, and with any type.
# 4. Tools and JSON without a place among the messages.
# 5. Limits per minute or day, and money owed, before the context: all three speak of too many tokens.
# 6. The context, before the values of parameters: both speak of `max_tokens`.
# 7. An overloaded engine and flagged content, before rates and credits: "429", "no credits were charged".
# 8. Rates, before weaker words for money: a limit may advise to buy credits.
# 9. Models and their missing features, before keys and rights: "does not exist, or you have no access to it".
# 10. Failures, for errors that come without a status; at last any place among the messages.
RULES = RuleTable(
    (
        *requests.GENERATED,
        *requests.TOOL_PLACES,
        *messages.MEMBERS,
        *requests.MEMBERS,
        *messages.PAIRS,
        *messages.CALLS,
        *messages.THINKING,
        *messages.CONTENTS,
        *messages.TURNS,
        *requests.TOOLS,
        *requests.JSON,
        *requests.LIMITS,
        *requests.MONEY_OWED,
        *requests.CONTEXT,
        *requests.BUSY,
        *requests.FLAGGED,
        *requests.RATES,
        *requests.MONEY,
        *requests.PLACES,
        *requests.MODELS,
        *requests.RIGHTS,
        *requests.VALUES,
        *requests.FAILURES,
        *messages.ANY_PLACE,
    )
)
