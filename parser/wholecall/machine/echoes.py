"""A call that seems to repeat an earlier one: decides whether it does, and what becomes of both.

Theory of operation. A call is an *echo* if it has the id and the name of an earlier call at another place, or if it
comes in a message that was restarted from its beginning. An echo has no number and no events while it streams. At its
end its text is compared with that of the earlier call (`is_echo`):

* if both mean the same, the echo vanishes, and the earlier call is flagged as `repeated`;
* in a restarted message, the echo also completes the earlier call if that is still open; a text of another value is
  reported as an anomaly, and the first one stays;
* in a message that simply continues, another value under the same id is a call of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.arguments.equal import same_value
from wholecall.deltas import DONE
from wholecall.parse import parse_arguments

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended

__all__ = ["is_echo", "same_text", "text_of"]

_MOST_CLAIMANTS = 16  # calls of one id that are compared with each other


def is_echo(choice: Choice, call: Call, ended: Ended) -> bool:
    """Return whether the call that ends is only an echo; if not, make it a call of its own."""
    earlier, call.echo = call.echo, None
    assert earlier is not None
    restarted = earlier.round < call.round
    whole = ended == "clean" and not call.hole and call.refusal is None
    if not restarted and _is_constant(choice, earlier):
        choice.materialise(call)
        return False
    if restarted and not earlier.is_over:
        if whole:
            _complete(earlier, call)
        return True
    if earlier.dropped is None and (restarted or whole) and (not whole or _same_text(earlier, call)):
        earlier.flags.add("repeated")
        return True
    if restarted and earlier.dropped is None:
        choice.anomalies.add("conflicting_arguments")
        return True
    choice.materialise(call)
    return False


def _is_constant(choice: Choice, earlier: Call) -> bool:
    """Return whether the id identifies nothing: different calls of the message have it."""
    claimants = choice.by_id.get(earlier.id or "", ())
    return any(
        call.name != earlier.name or not _same_text(call, earlier) for call in claimants[1:_MOST_CLAIMANTS]
    )


def _complete(earlier: Call, call: Call) -> None:
    """Give a call that was left open the text of its repetition."""
    earlier.hole, earlier.healed = False, True
    earlier.restated, earlier.rank = text_of(call), DONE
    earlier.flags.add("repeated")


def text_of(call: Call) -> str:
    """Return the text in force."""
    return call.text if call.restated is None else call.restated


def _same_text(one: Call, other: Call) -> bool:
    return same_text(text_of(one), text_of(other))


def same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same value; no text counts as an empty object."""
    texts = [one or "{}", other or "{}"]
    if texts[0] == texts[1]:
        return True
    values = [parse_arguments(text).arguments for text in texts]
    return values[0] is not None and values[1] is not None and same_value(*values)
