"""A call that seems to tell an earlier one again: whether it does, and what becomes of both.

Theory of operation. The same id under the same name at another place, or a call of a message that is told from its
beginning, is an *echo*: it has no number, and nothing is told of it while it comes. At its end it is held against the
earlier call. One that says the same vanishes. In a message that is told again it also says what the earlier
one lacks, if that is still open, and another value is an anomaly: the first one stays. Where the message
goes on, another value under the same id is a call of its own.
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

__all__ = ["is_echo", "same_text"]

_MOST_CLAIMANTS = 16  # of an id that are held against each other


def is_echo(choice: Choice, call: Call, ended: Ended) -> bool:
    """Return whether the call that ends is only an echo; else it becomes a call of its own."""
    earlier, call.echo = call.echo, None
    assert earlier is not None
    retold = earlier.round < call.round
    whole = ended == "clean" and not call.hole and call.refusal is None
    if not retold and _is_constant(choice, earlier):
        choice.materialise(call)
        return False
    if retold and not earlier.is_over:
        if whole:
            _complete(earlier, call)
        return True
    if earlier.dropped is None and (retold or whole) and (not whole or _same_text(earlier, call)):
        earlier.flags.add("repeated")
        return True
    if retold and earlier.dropped is None:
        choice.anomalies.add("conflicting_arguments")
        return True
    choice.materialise(call)
    return False


def _is_constant(choice: Choice, earlier: Call) -> bool:
    """Whether the id says nothing: different calls of the message have it."""
    claimants = choice.by_id.get(earlier.id or "", ())
    return any(
        call.name != earlier.name or not _same_text(call, earlier) for call in claimants[1:_MOST_CLAIMANTS]
    )


def _complete(earlier: Call, call: Call) -> None:
    """The second telling says all of a call that the first one left open."""
    earlier.hole, earlier.healed = False, True
    earlier.restated, earlier.rank = text_of(call), DONE
    earlier.flags.add("repeated")


def text_of(call: Call) -> str:
    """Return the text in force."""
    return call.text if call.restated is None else call.restated


def _same_text(one: Call, other: Call) -> bool:
    return same_text(text_of(one), text_of(other))


def same_text(one: str, other: str) -> bool:
    """Whether two texts say the same; no text says what an empty object says."""
    texts = [one or "{}", other or "{}"]
    if texts[0] == texts[1]:
        return True
    values = [parse_arguments(text).arguments for text in texts]
    return values[0] is not None and values[1] is not None and same_value(*values)
