"""Judges the answer that was requested as a value, at the end of its turn.

Theory of operation. An answer is complete when the wire says that its turn is, never because its text happens to parse.
Therefore a turn that was cut, failed or just stopped has none, and no policy changes that. A turn that ended in calls
for the client, or that continues in the next turn, has no answer yet: neither an `Output` nor an `OutputDropped`. An
answer that the wire calls a refusal, or withholds, is `refused` and is never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from wholecall.calls.output.answers import Output, OutputDropped, OutputProgress
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import EXECUTABLE
from wholecall.calls.parse import accept_output

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.machine.answer import Answer
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended
    from wholecall.types import OutputReason


def answer_of(choice: Choice) -> Answer | None:
    """Return the answer of a choice with its text so far, None if no value was requested."""
    answer = choice.answer
    if answer is not None:
        answer.gather(choice.content.text.text, choice.content.places, choice.options.limits)
    return answer


def begin_message(choice: Choice) -> None:
    """Note that another message of the turn begins."""
    answer, wanted = answer_of(choice), choice.options.wanted
    if answer is not None and answer.end_message() and wanted is not None and wanted.is_live:
        choice.out.add_piece(OutputProgress, choice.turn, choice.number, ())


def spoil(choice: Choice) -> None:
    """Note that bytes of a text were not UTF-8."""
    if choice.answer is not None:
        choice.answer.is_spoilt = True


def conclude(choice: Choice, ended: Ended) -> None:
    """Set the result of the answer of a choice whose turn has ended, and whose calls have their verdicts."""
    answer, wanted = answer_of(choice), choice.options.wanted
    if answer is None or wanted is None:
        return
    raw = answer.give()
    if _has_none_yet(choice, answer):
        return
    for reason, (holds, detail) in _OBJECTIONS.items():
        if holds(choice, answer, ended):
            answer.said = OutputDropped(choice.turn, choice.number, reason, detail, raw)
            return
    place = choice.turn, choice.number
    answer.said = accept_output(raw, wanted.check, choice.options.policy, choice.options.limits, *place)


def type_answer_anew(choice: Choice) -> None:
    """Make the value of an answer that its type took: snapshots do not hold it.

    Raises:
        ValueError: the type does not take it any more.
    """
    answer, wanted = choice.answer, choice.options.wanted
    if answer is None or wanted is None or wanted.check is None or not isinstance(answer.said, Output):
        return
    again = accept_output(answer.said.raw_text, wanted.check, choice.options.policy, choice.options.limits)
    if not isinstance(again, Output):
        raise ValueError(  # noqa: TRY004 - of a snapshot
            "the type of the output does not take an answer that it took; is it the same?"
        )
    answer.said = replace(answer.said, typed=again.typed)


def _has_none_yet(choice: Choice, answer: Answer) -> bool:
    """Return whether the turn ended in calls for the client, or continues in the next turn."""
    if any(isinstance(event, EXECUTABLE) and event.index not in choice.cancelled for event in choice.emitted):
        return True
    if _is_refused(choice, answer, "clean"):
        return False
    return choice.reason == "pause" or any(
        isinstance(event, ToolCallDropped) and event.kind != "server" and event.reason != "told_twice"
        for event in choice.emitted
    )


# Objections to an answer before its text is read, by precedence.


def _is_refused(choice: Choice, answer: Answer, _: Ended) -> bool:
    return answer.is_refused or choice.reason == "content_filter"


def _failed(choice: Choice, _: Answer, ended: Ended) -> bool:
    return ended == "aborted" or choice.reason in ("error", "aborted")


def _is_cut(_: Choice, __: Answer, ended: Ended) -> bool:
    return ended == "length"


def _has_no_end(choice: Choice, _: Answer, ended: Ended) -> bool:
    return ended == "open" or (choice.reason is None and choice.options.policy.require_reason)


def _is_malformed(choice: Choice, _: Answer, __: Ended) -> bool:
    return choice.reason == "malformed"


def _lacks_text(choice: Choice, _: Answer, __: Ended) -> bool:
    return choice.lost_text


def _is_spoilt(_: Choice, answer: Answer, __: Ended) -> bool:
    return answer.is_spoilt


def _is_too_large(_: Choice, answer: Answer, __: Ended) -> bool:
    return answer.is_full


_OBJECTIONS: dict[OutputReason, tuple[Callable[[Choice, Answer, Ended], bool], str]] = {
    "refused": (_is_refused, "the answer was refused or withheld"),
    "aborted": (_failed, "the turn failed or was aborted"),
    "truncated": (_is_cut, "the answer was cut"),
    "unterminated": (_has_no_end, "the stream ended without ending the answer"),
    "unparseable": (_is_malformed, "the provider itself calls the answer malformed"),
    "incomplete_input": (_lacks_text, "text of the turn was lost"),
    "invalid_utf8": (_is_spoilt, "bytes of the text were not UTF-8"),
    "arguments_too_large": (_is_too_large, "the text has more bytes than Limits.max_arguments_bytes"),
}
