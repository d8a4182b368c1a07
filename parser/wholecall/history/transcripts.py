"""The repair of transcripts: remains of an aborted, cut or careless turn that no provider accepts.

Theory of operation. A transcript is read through the view of its shape (`wholecall.history.shapes`) into lines of
parts (`book`), the lines are repaired (`mending`), and only changed messages are written again. A message that needs no
repair is the same object as before, and so is a list of such messages.

Only transcripts are repaired here; the text of arguments is never repaired, only converted to the form that the shape
needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Generic, Literal, cast

import msgspec

from wholecall.history.book import Book
from wholecall.history.judging import Rules
from wholecall.history.mending import TranscriptReport, mend
from wholecall.history.parts import MessagesT
from wholecall.history.settled import Settled, settle
from wholecall.history.shapes.base import expect_dict
from wholecall.history.shapes.table import ShapeName

__all__ = ["Repaired", "TranscriptReport", "new_messages", "read_book", "repair_transcript"]


class Repaired(msgspec.Struct, Generic[MessagesT], frozen=True):
    """A transcript that can be sent, and the report of its repair.

    Attributes:
        messages: the input itself if nothing had to be changed, else a new list (a tuple for a tuple), of the same type
            as the input.
        report: the changes.
        settled: the messages that the next repair need not read, if it is given this object (`after=`).
    """

    messages: MessagesT
    report: TranscriptReport
    settled: Settled

    def __repr__(self) -> str:
        return f"Repaired(messages=<{len(self.messages)}>, report={self.report!r})"


def repair_transcript(
    messages: MessagesT,
    *,
    unanswered: Literal["synthesise", "keep"] = "synthesise",
    nameless: Literal["strip", "rename"] = "strip",
    aborted: Literal["keep_text", "drop_turn"] = "keep_text",
    names: Collection[str] | None = None,
    strict_json_arguments: bool = False,
    shape: ShapeName = "auto",
    after: Repaired[Any] | None = None,
) -> Repaired[MessagesT]:
    """Make a transcript acceptable to providers: every call answered once, in its place, and nothing empty.

    Aborted turns lose their calls and thoughts and keep their text; turns cut for length lose the calls that may
    be incomplete. Results are removed with their calls, moved back to them, or made. Nothing is changed in place, and a
    second repair changes nothing.

    Args:
        messages: requests' messages or items, or the decoded lines of a session file: a list or tuple of dicts, of any
            type, as `list[openai.types.chat.ChatCompletionMessageParam]`.
        unanswered: `"synthesise"` makes a result for each call that lacks one; `"keep"` leaves such calls, for a
            host that repairs before its last results exist.
        nameless: the treatment of unanswered calls without a name: `"strip"` removes them, `"rename"` names them
            `invalid_tool_call`. Answered ones are renamed.
        aborted: the kept part of a turn that was aborted or failed: `"keep_text"` or nothing (`"drop_turn"`).
        names: the existing tools. If given, unanswered calls of other tools are removed.
        strict_json_arguments: whether argument text that is not a JSON object is wrapped in one, for servers that
            read it. Otherwise text is sent as it was stored.
        shape: of the messages, if they do not show it: `"chat-completions"`, `"responses"`, `"anthropic"`, `"gemini"`,
            `"bedrock-converse"`, `"ollama"`, `"mistral-conversations"`, `"langchain"`, `"ag-ui"`, `"vercel-ui"`, or the
            session files of `"pi"`, `"claude-code"`, `"codex"`.
        after: the return value for the same conversation before it grew. Messages that were sound then, and with which
            this list begins (the same objects), are not read again; the result is the same. Omit it if a message was
            changed in place.

    Returns:
        The repaired list, or the input itself, and a report.

    Raises:
        TypeError: `messages` is not a list or tuple, or something in it is not a dict.
        UnknownDialect: `shape` is `"auto"`, and no known shape has messages like these, or they are a record.
        ValueError: an unknown option value, or arguments that contain themselves.
    """
    rules = _rules(unanswered, nameless, aborted, names, strict_json_arguments)
    known = after.settled if after is not None else None
    if known is not None and isinstance(messages, (list, tuple)):
        grown = known.grown(messages, rules, shape)
        if grown is not None:
            return Repaired(messages, TranscriptReport(), grown)
    book = read_book(messages, shape)
    output, report = mend(book, rules)
    if not report.changed:
        return Repaired(messages, report, settle(book, rules, shape))
    made = new_messages(messages, [item.message(book) for item in output])
    return Repaired(made, report, known or Settled(rules, shape, book.shape))


def new_messages(messages: MessagesT, made: list[Any]) -> MessagesT:
    """Return the new messages, in a tuple if the input was one."""
    return cast("MessagesT", tuple(made) if isinstance(messages, tuple) else made)


def read_book(messages: Sequence[Any], shape: str) -> Book:
    """Read messages through the view of their shape."""
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"messages are of type {type(messages).__name__}, not a list")
    for index, message in enumerate(messages):
        expect_dict(message, f"messages[{index}]")
    return Book(messages, shape)


_CHOICES = {
    "unanswered": ("synthesise", "keep"),
    "nameless": ("strip", "rename"),
    "aborted": ("keep_text", "drop_turn"),
}


def _rules(
    unanswered: Any, nameless: Any, aborted: Any, names: Collection[str] | None, strict_json_arguments: bool
) -> Rules:
    given = {"unanswered": unanswered, "nameless": nameless, "aborted": aborted}
    for option, choices in _CHOICES.items():
        if given[option] not in choices:
            raise ValueError(f"{option} is one of {', '.join(choices)}")
    if isinstance(names, str):
        raise TypeError("names is a collection of names, not one name")
    known = None if names is None else frozenset(names)
    return Rules(unanswered, nameless, aborted, known, strict_json_arguments)
