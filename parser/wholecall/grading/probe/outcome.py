"""The outcome of an exchange for the model: right, wrong, or not to be told, and the reasons.

Theory of operation. The model is judged by what the parser can read with all its leniency, so that a fault of the
wire is not counted twice. Where the calls are not those that were asked for, and the wire is at fault in a way that
loses or changes calls, the model's part cannot be told, and counts for nothing.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wholecall.calls.arguments.equal import same_value
from wholecall.calls.tools.schema import schema_check
from wholecall.grading.probe.exchange import AskedCall, Ending, Exchange
from wholecall.grading.probe.rules.ends import said_limit
from wholecall.grading.probe.sight import Sight

_OK, _BAD_REQUEST, _SERVER, _TOO_MANY = 200, 400, 500, 429
# Groups of rules whose breaches lose or change calls.
BLAMED = frozenset({"frame", "schema", "labels", "arguments", "ends", "leaks", "choice", "errors"})
# Rules whose breach is why there is no answer: it is told, and not open.
TOLD = frozenset({"errors.server-error", "errors.as-200", "history.refused"})

_ENDINGS: dict[Ending, tuple[str, str]] = {
    "timed_out": ("open.timed-out", "The answer did not come in time."),
    "unreachable": ("open.unreachable", "No answer came."),
    "broken": ("open.broken", "The connection broke inside the answer."),
}
_LIMITED = ("open.rate-limited", "The server limits the rate of requests.")
_REFUSED = ("open.refused", "The server refuses the request.")
_FAILED = ("open.failed", "The server failed.")
_CUT = ("open.cut", "The answer was cut at its token limit before it could be judged.")
OPEN: dict[str, str] = dict((*_ENDINGS.values(), _LIMITED, _REFUSED, _FAILED, _CUT))
MODEL: dict[str, str] = {
    "model.no-call": "A call was asked for, and the model made none.",
    "model.wrong-calls": "The model made other calls, or another number of them, than it was asked for.",
    "model.arguments": "The model wrote other arguments than it was asked for, or broken ones.",
    "model.unasked-call": "No call was needed, and the model made one.",
}


class Outcome(NamedTuple):
    """What an exchange says about the model.

    Attributes:
        state: `right`, `wrong`, `open` (with a reason), or `none` where nothing was asked of the model.
        rule: the id of the reason, for `wrong` and `open`.
    """

    state: Literal["right", "wrong", "open", "none"]
    rule: str = ""


def open_reason(sight: Sight) -> str | None:
    """Return the id of the reason why nothing can be told from an exchange; None where something can."""
    exchange = sight.exchange
    status = exchange.status
    if exchange.ended in _ENDINGS:
        return _ENDINGS[exchange.ended][0]
    if exchange.ended == "hung_up":
        return None
    if status is None:
        return "open.unreachable"
    if status == _TOO_MANY:
        return _LIMITED[0]
    if exchange.asked.outcome == "refusal" and status < _SERVER:
        return None
    if status >= _BAD_REQUEST:
        return _FAILED[0] if status >= _SERVER else _REFUSED[0]
    return _FAILED[0] if sight.is_error else None


def outcome_of(sight: Sight, *, is_blamed: bool, is_told: bool = False) -> Outcome:
    """Return what an exchange says about the model.

    Args:
        sight: the exchange.
        is_blamed: whether the wire is at fault in a way that may lose or change calls.
        is_told: whether a fault of the wire is why there is no answer.
    """
    if is_told:
        return Outcome("none")
    reason = open_reason(sight)
    if reason is not None:
        return Outcome("open", reason)
    asked = sight.exchange.asked
    if asked.outcome not in {"calls", "text"} or not sight.is_answer:
        return Outcome("none")
    found = _wrong(sight)
    if found is None:
        return Outcome("right")
    if is_blamed:
        return Outcome("none")
    return Outcome("open", _CUT[0]) if said_limit(sight) else Outcome("wrong", found)


def _wrong(sight: Sight) -> str | None:
    """Return the id of what the model did not do; None where it did everything."""
    turn, asked = sight.noted.turn, sight.exchange.asked
    names = [*(call.name for call in turn.calls), *(call.name or "" for call in turn.dropped)]
    if asked.outcome == "text":
        return "model.unasked-call" if names else None
    if not names:
        return "model.no-call"
    if sorted(names) != sorted(call.name for call in asked.calls):
        return "model.wrong-calls"
    if turn.dropped:
        return "model.arguments"
    given: list[tuple[str, Any]] = [(call.name, call.arguments) for call in turn.calls]
    return None if _are_fit(sight, given) else "model.arguments"


def _are_fit(sight: Sight, given: list[tuple[str, Any]]) -> bool:
    exact = [call for call in sight.exchange.asked.calls if call.arguments is not None]
    rest = list(given)
    for call in exact:
        match = next((each for each in rest if _is_same(each, call)), None)
        if match is None:
            return False
        rest.remove(match)
    return all(_fits_schema(sight, name, value) for name, value in rest)


def _is_same(given: tuple[str, Any], asked: AskedCall) -> bool:
    return given[0] == asked.name and same_value(asked.arguments, given[1])


def _fits_schema(sight: Sight, name: str, value: Any) -> bool:
    """Return whether arguments fit the schema of their tool; True where the extra for schemas is not installed."""
    try:
        schema_check(sight.tools.get(name), name).check(value)
    except ImportError:
        return True
    except ValueError:
        return False
    return True


def task_of(exchange: Exchange) -> str:
    """Return the name of the model's task: the scenario, with its variant."""
    return f"{exchange.scenario}/{exchange.variant}" if exchange.variant else exchange.scenario
