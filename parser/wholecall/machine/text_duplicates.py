"""Calls that a server sent twice: as a structured call, and in the text from which it parsed the call.

Theory of operation. Servers that parse calls out of a text, and leak that text, would cause a call to run twice. If a
choice holds a structured call of the same name and an equal value, a call that was written as text is a duplicate; each
structured call excuses one, because the model may well have written the same call twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.machine.sameness import Said

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice


def is_text_duplicate(choice: Choice, call: Call) -> bool:
    """Return whether a structured call of the choice is the same, and excuses no other."""
    named = [other for other in choice.calls if _name(other) == _name(call)]
    structured = [other for other in named if other.source is None and _counts(other)]
    if not structured:
        return False
    said = Said.of(call)
    same = sum(said.is_equal(Said.of(other)) for other in structured)
    excused = sum(other.dropped == "told_twice" and said.is_equal(Said.of(other)) for other in named)
    return same > excused


def _counts(call: Call) -> bool:
    """Return whether the call is emitted, as far as is known: a dropped call excuses nothing."""
    return call.kind == "function" and call.refusal is None and call.dropped is None and not call.lacks_text


def _name(call: Call) -> str:
    return (call.public_name or call.name or "").strip()
