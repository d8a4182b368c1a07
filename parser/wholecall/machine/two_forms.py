"""Calls that a server sent in two forms: in a list of calls, and as text or as chat's older `function_call`.

Theory of operation. A server that leaks the text from which it parsed a call, or that sends each call in chat's older
form, too, would cause a call to run twice. If the list of a choice holds a call of the same name and an equal value, the
call in the other form is a duplicate; each call of the list excuses one, because the model may well have written the
same call twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import OLDER_FORM
from wholecall.machine.sameness import Said

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice


def is_second_form(choice: Choice, call: Call) -> bool:
    """Return whether the call is not of the list of its choice, and one there is the same, and excuses no other."""
    if _is_listed(call):
        return False
    named = [other for other in choice.calls if _name(other) == _name(call)]
    listed = [other for other in named if _is_listed(other) and _counts(other)]
    if not listed:
        return False
    said = Said.of(call)
    same = sum(said.is_equal(Said.of(other)) for other in listed)
    excused = sum(other.dropped == "told_twice" and said.is_equal(Said.of(other)) for other in named)
    return same > excused


def _is_listed(call: Call) -> bool:
    return call.source is None and OLDER_FORM not in call.indices


def _counts(call: Call) -> bool:
    """Return whether the call is emitted, as far as is known: a dropped call excuses nothing."""
    return call.kind == "function" and call.refusal is None and call.dropped is None and not call.lacks_text


def _name(call: Call) -> str:
    return (call.public_name or call.name or "").strip()
