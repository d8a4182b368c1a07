"""A call that seems to repeat an earlier one: decides whether it does, and the result for both.

Theory of operation. A call is a *duplicate* if it has the id and the name of an earlier call at another place, or if it
comes in a message that was restarted from its beginning. A duplicate has no number and no events while it streams. At
its end its text is compared with that of the earlier call (`is_duplicate`):

* if both mean the same, the duplicate vanishes, and the earlier call is flagged as `repeated`;
* in a restarted message, the duplicate also completes the earlier call if that is still open; a text of another value
  is reported as an anomaly, and the first one stays;
* in a message that simply continues, another value under the same id is a separate call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import DONE
from wholecall.machine import slots
from wholecall.machine.sameness import Said, is_shared, text_of

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended

_MOST_CLAIMANTS = 16  # calls of one id that are compared with each other


def may_be_duplicate(choice: Choice, call: Call) -> bool:
    """Return whether a call that the wire closed may be a duplicate of a call of its message: later calls show that."""
    earlier = call.original
    if earlier is None or earlier.round != call.round or is_constant(choice, call):
        return False
    return call.says_nothing or not earlier.is_over or _is_same(earlier, call)


def is_duplicate(choice: Choice, call: Call, ended: Ended) -> bool:
    """Return whether the call that ends is only a duplicate; if not, it is a separate call."""
    earlier = call.original
    assert earlier is not None
    whole = ended == "clean" and not call.lacks_text and call.refusal is None
    if earlier.round == call.round:
        if whole and not earlier.is_over and slots.holds_echo(choice, earlier):
            _complete(earlier, call)
            return True
        return not is_constant(choice, call) and _is_again(earlier, call, whole=whole)
    if not earlier.is_over:
        if whole:
            _complete(earlier, call)
        return True
    if earlier.dropped is None and (not whole or _is_same(earlier, call)):
        earlier.flag("repeated")
        return True
    if earlier.dropped is None:
        choice.anomalies.add("conflicting_arguments")
        return True
    return False


def is_constant(choice: Choice, call: Call) -> bool:
    """Return whether the id identifies nothing: different calls of the message have it."""
    return is_shared([Said.of(other) for other in choice.having(call.id, call.step)[:_MOST_CLAIMANTS]])


def _is_again(earlier: Call, call: Call, *, whole: bool) -> bool:
    """Return whether a call that continues a message repeats an earlier call; it fills a head without text."""
    if call.says_nothing and whole:
        earlier.flag("repeated")
        return True
    if earlier.says_nothing and not earlier.is_over:
        if whole:
            _complete(earlier, call)
        else:
            earlier.note("lost_text", detail="it came again, and not whole")
        return whole
    if earlier.dropped is None and whole and _is_same(earlier, call):
        earlier.flag("repeated")
        return True
    return False


def _complete(earlier: Call, call: Call) -> None:
    """Give a call that was left open the text of its repetition; a head does not take back text that filled another."""
    is_filled = earlier.restored and bool(earlier.restated)
    earlier.note("restored")
    if not (call.says_nothing and (earlier.original is not None or is_filled)):
        earlier.replace_whole(text_of(call), DONE)
    earlier.flag("repeated")


def _is_same(one: Call, other: Call) -> bool:
    return Said.of(one).is_same(Said.of(other))
