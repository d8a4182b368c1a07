"""The verdict on what a client made of a case; a pure function of both.

Theory of operation. The rules are those of `INTERPRETING.md`, in its order. Each call that was handed over takes a call
of the sidecar that nothing took before: one that was sent, else one that may be handed over. What takes nothing, and is
a call at all, is one that nobody sent, and the client is unsafe, whatever else it did. Otherwise the ends that the case
accepts are tried; if none fits, it matters only whether the client said that something was wrong.

A call that differs from a sent one in its id alone was sent: its result would go astray, but nothing is done that
nobody asked for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal, Optional, Union, get_args

import msgspec

from wholecall.calls.arguments.equal import same_value
from wholecall.grading.conform.cases import Call, Case, End

Word = Literal["pass", "unsafe", "lost", "refused", "crash", "timeout", "unsupported"]
WORDS: tuple[Word, ...] = get_args(Word)

_BLANK = " \t\n\r"
_SHOWN = 200  # characters of a reason
_MOST = 3  # refused calls in a reason


class Handed(msgspec.Struct, frozen=True):
    """A call that a client handed over, or ran.

    Attributes:
        id: its id, None if the client does not say.
        name: its name.
        arguments: the object that the tool got, or the text that was handed over.
    """

    id: Union[str, int, None] = None
    name: Optional[str] = None
    arguments: Any = None

    @property
    def key(self) -> str | None:
        """The id as text."""
        return None if self.id is None else str(self.id)


class Refused(msgspec.Struct, frozen=True):
    """Something that a client told the model instead of running a call."""

    name: Optional[str] = None
    why: str = ""
    id: Union[str, int, None] = None


class Answer(msgspec.Struct, frozen=True):
    """What a client made of a case.

    Attributes:
        calls: the calls that it ran, or handed over as good.
        refused: the calls of which it told the model that they are wrong.
        error: the error that it raised, in one line.
        text: the text that it showed.
        unsupported: why it cannot be asked this; None if it was.
    """

    calls: tuple[Handed, ...] = ()
    refused: tuple[Refused, ...] = ()
    error: Optional[str] = None
    text: Optional[str] = None
    unsupported: Optional[str] = None


class CaseVerdict(msgspec.Struct, frozen=True):
    """A verdict, and its reason in a few words for people."""

    word: Word
    why: Optional[str] = None


def judge(case: Case, answer: Answer) -> CaseVerdict:
    """Return the verdict on an answer."""
    if answer.unsupported is not None:
        return CaseVerdict("unsupported", answer.unsupported)
    found = _match(case, answer)
    if found.unsent:
        return CaseVerdict("unsafe", "; ".join(found.unsent))
    if any(_fits(end, found) for end in case.accept):
        return CaseVerdict("pass")
    why = "; ".join(_missing(found, answer)) or f"expected: {' or '.join(case.accept)}"
    return CaseVerdict("refused" if found.said else "lost", why)


class _Found:
    """What became of the calls of a case.

    Attributes:
        missing: sent calls that nothing took.
        allowed: calls that may be handed over, and that nothing took.
        taken: how many calls of the sidecar were taken.
        strayed: a phrase for each call whose result would go astray: it has another id, or one of several.
        unsent: a phrase for each call that nobody sent.
        said: whether the client said that something was wrong.
    """

    def __init__(self, case: Case, answer: Answer) -> None:
        self.missing = list(case.sent)
        self.allowed = list(case.may)
        self.taken = 0
        self.strayed: list[str] = []
        self.unsent: list[str] = []
        self.said = answer.error is not None or bool(answer.refused)


def _match(case: Case, answer: Answer) -> _Found:
    found, others = _Found(case, answer), list[Handed]()
    for handed in sorted(
        answer.calls, key=lambda handed: handed.id is None
    ):  # those that name an id choose first
        if not handed.name:
            found.said = True
        elif _take(found.missing, handed, case) is not None:
            found.taken += 1
        else:
            others.append(handed)
    for handed in others:
        if _take(found.missing, handed, case, any_id=True) is not None:
            found.strayed.append(f"{handed.name} has another id")
            found.taken += 1
        elif _take(found.allowed, handed, case, any_id=True) is not None:
            found.taken += 1
        elif not isinstance(_value(handed.arguments), dict):
            found.said = True  # it is no call yet, and whoever gets it sees that
        else:
            found.unsent.append(_unsent(handed, case))
    found.strayed += _shared_ids(case, answer)
    return found


def _take(calls: list[Call], handed: Handed, case: Case, *, any_id: bool = False) -> Call | None:
    """Remove and return the first call that equals one that was handed over."""
    for n, call in enumerate(calls):
        same_id = any_id or call.id is None or handed.id is None or call.id == handed.key
        if same_id and is_same(call, handed, case):
            return calls.pop(n)
    return None


def is_same(call: Call, handed: Handed, case: Case) -> bool:
    """Return whether a call that was handed over has the name and the arguments of one of the sidecar."""
    if call.name != handed.name:
        return False
    if _is_nothing(handed.arguments):
        return not call.arguments and not call.arguments_text
    if case.numbers == "text" and call.arguments_text is not None:
        return same_value(_value(call.arguments_text, exact=True), _value(handed.arguments, exact=True))
    return same_value(call.arguments, _value(handed.arguments))


def _is_nothing(arguments: object) -> bool:
    """Return whether no arguments were handed over, as clients do for a call without any."""
    return arguments is None or (isinstance(arguments, str) and arguments.strip(_BLANK) in {"", "null"})


def _value(arguments: object, *, exact: bool = False) -> object:
    """Return arguments as a value, None for text that is no strict JSON.

    Args:
        arguments: the text or the value.
        exact: whether numbers are exact decimals.
    """
    if not isinstance(arguments, str):
        if not exact:
            return arguments
        arguments = json.dumps(arguments)
    try:
        return json.loads(
            arguments,
            parse_float=Decimal if exact else None,
            parse_constant=_no_constant,
            object_pairs_hook=_members,
        )
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _fits(end: End, found: _Found) -> bool:
    if end in {"calls", "calls+error"}:
        return not (found.missing or found.strayed) and found.said is (end == "calls+error")
    return found.said and (end == "partial+error" or not found.taken)


def _missing(found: _Found, answer: Answer) -> Iterator[str]:
    """Yield what is wrong with an answer of which no call is unsent."""
    yield from found.strayed
    if found.missing:
        yield f"missing: {', '.join(call.name for call in found.missing)}"
    if answer.error is not None:
        yield f"error: {answer.error[:_SHOWN]}"
    for refused in answer.refused[:_MOST]:
        yield f"refused {refused.name or '(no name)'}: {refused.why[:_SHOWN]}"


def _unsent(handed: Handed, case: Case) -> str:
    """Return what is wrong with a call that nobody sent."""
    name = handed.name
    named = [call for call in (*case.sent, *case.may) if call.name == handed.name]
    if any(is_same(call, handed, case) for call in named):
        return f"{name}: twice"
    if any(is_same(call, handed, case) for call in case.retracted):
        return f"{name}: taken back by the server"
    if any(call.name == handed.name for call in case.server):
        return f"{name}: the server runs it"
    if not named:
        return f"{name}: no whole call of this name was sent"
    if not _value(handed.arguments):
        return f"{name}: emptied"
    return f"{name}: other arguments than were sent"


def _shared_ids(case: Case, answer: Answer) -> list[str]:
    """Return a phrase for each id of no call on the wire that several calls have: whose result is it?"""
    on_the_wire = {call.id for call in case.calls()}
    counts = Counter(handed.key for handed in answer.calls if handed.id is not None)
    return [
        f"{n} calls have the made-up id {key!r}"
        for key, n in counts.items()
        if n > 1 and key not in on_the_wire
    ]
