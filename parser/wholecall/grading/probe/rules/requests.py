"""Rules that need the request: choices of tools, results that go back, requests that are wrong."""

from __future__ import annotations

from typing import Any

from wholecall.calls.tools.schema import schema_check
from wholecall.grading.probe.asked import choice_in, functions_in, history_in, is_serial
from wholecall.grading.probe.reading.model import UNSET, member, objects, word
from wholecall.grading.probe.rules.ends import said_limit
from wholecall.grading.probe.rules.rule import CALLING, ERRORS, HTTP, PIECES, Hit, Hits, Rule
from wholecall.grading.probe.sight import Sight

_OK, _BAD_REQUEST, _SERVER = 200, 400, 500
# Statuses that say nothing about the request itself.
UNTOLD = frozenset({401, 402, 403, 404, 407, 408, 425, 429})


def _choice(sight: Sight) -> str:
    """Return the choice of tools in one word; `named` for one tool."""
    return choice_in(sight.exchange.request).kind


def _named(sight: Sight) -> str:
    return choice_in(sight.exchange.request).name


def _names(sight: Sight) -> list[str]:
    """Return the names of the calls, in whatever form the parser finds them."""
    turn, strict = sight.noted.turn, sight.answer.calls if sight.answer else []
    read = [*(call.name for call in turn.calls), *(call.name or "" for call in turn.dropped)]
    return read or [call.name for call in strict] or sight.written


def _is_over(sight: Sight) -> bool:
    """Return whether the answer could be read to an end that is no cut, so that a call that is not there was not sent."""
    return bool(sight.answer and sight.answer.reasons) and not sight.is_error and not said_limit(sight)


def _required(sight: Sight) -> Hits:
    if _choice(sight) != "required" or not _is_over(sight):
        return None
    return [] if _names(sight) else [Hit()]


def _named_ignored(sight: Sight) -> Hits:
    if _choice(sight) != "named" or not _is_over(sight):
        return None
    names = _names(sight)
    if any(name not in sight.tools for name in names):
        return None  # the rules of labels tell why
    return [] if names and all(name == _named(sight) for name in names) else [Hit()]


def _none_ignored(sight: Sight) -> Hits:
    if _choice(sight) != "none" or sight.is_error or sight.answer is None:
        return None
    return [Hit(call.first) for call in sight.answer.calls]


def _parallel(sight: Sight) -> Hits:
    if not is_serial(sight.exchange.request) or sight.answer is None:
        return None
    return [Hit(call.first) for call in sight.answer.calls[1:]]


def _strict(sight: Sight) -> Hits:
    strict = {name: schema for name, schema in sight.tools.items() if name in _strict_names(sight)}
    calls = [call for call in (sight.answer.calls if sight.answer else []) if call.name in strict]
    if not calls or said_limit(sight):
        return None
    try:
        return [Hit(call.last) for call in calls if not _is_fit(sight.value_of(call), strict[call.name])]
    except ImportError:
        return None  # the extra is not there: it cannot be told


def _strict_names(sight: Sight) -> set[Any]:
    described = functions_in(sight.exchange.request)
    return {word(each.get("name")) for each in described if each.get("strict") is True}


def _is_fit(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether arguments fit a schema.

    Raises:
        ImportError: the extra `schema` is not installed.
    """
    if value is UNSET:
        return False
    try:
        schema_check(schema, "").check(value)
    except ValueError:
        return False
    return True


def has_results(sight: Sight) -> bool:
    """Return whether the request sends results of tools back."""
    for message in objects(history_in(sight.exchange.request)):
        blocks = objects(message.get("content")) + objects(message.get("parts"))
        if message.get("role") == "tool" or message.get("type") == "function_call_output":
            return True
        if any(block.get("type") == "tool_result" or "functionResponse" in block for block in blocks):
            return True
    return False


def _history(sight: Sight) -> int | None:
    """Return the status of an answer to a request with good results; None where the rule does not apply."""
    is_good = has_results(sight) and sight.exchange.asked.outcome != "refusal"
    return None if not is_good or sight.exchange.status in UNTOLD else sight.exchange.status


def _history_refused(sight: Sight) -> Hits:
    status = _history(sight)
    return None if status is None else [Hit(0, str(status))] if _BAD_REQUEST <= status < _SERVER else []


def _accepted(sight: Sight) -> Hits:
    status = sight.exchange.status
    if sight.exchange.asked.outcome != "refusal" or status is None or status in UNTOLD:
        return None
    return [Hit()] if status == _OK and not sight.is_error else []


def _server_error(sight: Sight) -> Hits:
    status = sight.exchange.status
    if sight.exchange.asked.outcome != "refusal" or status is None or status in UNTOLD:
        return None
    return [Hit(0, str(status))] if status >= _SERVER else []


def _body(sight: Sight) -> Hits:
    status = sight.exchange.status
    if status is None or status < _BAD_REQUEST or sight.exchange.ended != "closed":
        return None
    return [] if _is_error_body(sight.whole, sight.wire) else [Hit()]


def _is_error_body(value: object, wire: str) -> bool:
    error = member(value, "error")
    is_typed = wire != "anthropic" or (isinstance(value, dict) and value.get("type") == "error")
    return is_typed and isinstance(error.get("message"), str)


def _as_200(sight: Sight) -> Hits:
    if sight.exchange.status != _OK or sight.whole is UNSET or sight.answer is None:
        return None
    return [Hit()] if sight.is_error and not sight.answer.contents and not sight.answer.calls else []


def _not_failed(sight: Sight) -> bool:
    """Return whether a failed response of Responses says so itself, which is its form for errors."""
    return (
        sight.wire == "responses" and isinstance(sight.whole, dict) and sight.whole.get("status") == "failed"
    )


def _error_as_200(sight: Sight) -> Hits:
    hits = _as_200(sight)
    return [] if hits and _not_failed(sight) else hits


RULES = (
    Rule(
        id="choice.required-ignored",
        severity="major",
        source=CALLING,
        check=_required,
        says="A call was required, and none came.",
    ),
    Rule(
        id="choice.named-ignored",
        severity="major",
        source=CALLING,
        check=_named_ignored,
        says="One tool was required by its name, and no call or another one came.",
    ),
    Rule(
        id="choice.none-ignored",
        severity="critical",
        source=CALLING,
        check=_none_ignored,
        says="Calls were forbidden, and one came.",
    ),
    Rule(
        id="choice.parallel-ignored",
        severity="major",
        source=CALLING,
        check=_parallel,
        wires=PIECES,
        says="Parallel calls were switched off, and several came.",
    ),
    Rule(
        id="choice.strict-ignored",
        severity="major",
        source=CALLING,
        check=_strict,
        wires=PIECES,
        says="The tool is strict, and the arguments do not fit its schema.",
    ),
    Rule(
        id="history.refused",
        severity="major",
        source=CALLING,
        check=_history_refused,
        quirks=(64, 65),
        any_status=True,
        says="The server refuses a history of its own calls with their results.",
    ),
    Rule(
        id="errors.accepted",
        severity="minor",
        source=ERRORS,
        check=_accepted,
        any_status=True,
        says="A wrong request (an orphan result, a missing result, broken arguments) is answered as if it were right.",
    ),
    Rule(
        id="errors.server-error",
        severity="major",
        source=HTTP,
        check=_server_error,
        any_status=True,
        says="A wrong request makes the server fail (5xx): clients try again.",
    ),
    Rule(
        id="errors.body",
        severity="minor",
        source=ERRORS,
        check=_body,
        any_status=True,
        says="An error has no body of the wire's form with a message.",
    ),
    Rule(
        id="errors.as-200",
        severity="major",
        source=ERRORS,
        check=_error_as_200,
        any_status=True,
        says="An error is sent as a body with the status 200.",
    ),
)
