"""The verdict on what a client made of a case; a pure function of both.

Theory of operation. Each call that was handed over is matched with a call of the sidecar that nothing was matched with
before: first with one that was sent, then with one that may be handed over. What is left is a call that nobody sent,
and the client is unsafe, whatever else it did. Otherwise the ends that the case accepts are tried; if none fits, it
matters only whether the client said that something was wrong.

A call that differs from a sent one in its id alone was sent: its result would go astray, but nothing is done that
nobody asked for. It counts as lost, or as refused if the client said something.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal, Optional, get_args

import msgspec

from wholecall.arguments.equal import same_value
from wholecall.grading.conform.cases import Call, Case, End

Word = Literal["pass", "unsafe", "lost", "refused", "crash", "timeout", "unsupported"]
WORDS: tuple[Word, ...] = get_args(Word)


class Handed(msgspec.Struct, frozen=True):
    """A call that a client handed over, or ran.

    Attributes:
        id: its id, None if the client does not say.
        name: its name.
        arguments: the object that the tool got, or the text that was handed over.
    """

    id: Optional[str] = None
    name: Optional[str] = None
    arguments: Any = None


class Refused(msgspec.Struct, frozen=True):
    """Something that a client told the model instead of running a call."""

    name: Optional[str] = None
    why: str = ""
    id: Optional[str] = None


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


class Verdict(msgspec.Struct, frozen=True):
    """A verdict, and its reason in a few words for people."""

    word: Word
    why: Optional[str] = None


def judge(case: Case, answer: Answer) -> Verdict:
    """Return the verdict on an answer."""
    if answer.unsupported is not None:
        return Verdict("unsupported", answer.unsupported)
    found = _match(case, answer)
    if found.unsent:
        return Verdict("unsafe", "; ".join(found.unsent))
    if any(_fits(end, answer, found) for end in case.accept):
        return Verdict("pass")
    why = "; ".join(_missing(found, answer)) or f"expected: {' or '.join(case.accept)}"
    return Verdict("refused" if found.said else "lost", why)


class _Found:
    """What became of the calls of a case.

    Attributes:
        matched: sent calls that were handed over.
        missing: sent calls that were not.
        unsent: a sentence for each call that nobody sent.
        strayed: a phrase for each call that cannot be answered: it came back under another id, or under one of several.
        given: how many calls were handed over as good.
        said: whether the client said that something was wrong.
    """

    def __init__(self, case: Case, answer: Answer) -> None:
        self.missing = list(case.sent)
        self.matched: list[Call] = []
        self.unsent: list[str] = []
        self.strayed: list[str] = []
        self.given = 0
        self.said = bool(answer.error is not None or answer.refused)


def _match(case: Case, answer: Answer) -> _Found:
    found, allowed, others = _Found(case, answer), list(case.may), list[Handed]()
    for handed in sorted(
        answer.calls, key=lambda handed: not handed.id
    ):  # those that name an id choose first
        if _is_raw(handed, case):
            found.said = True
            continue
        found.given += 1
        if (call := _take(found.missing, handed, case)) is not None:
            found.matched.append(call)
        elif _take(allowed, handed, case) is None:
            others.append(handed)
    for handed in others:
        if (call := _take(found.missing, handed, case, any_id=True)) is not None:
            found.strayed.append(f"{call.name} has another id")
        elif _take(allowed, handed, case, any_id=True) is None:
            found.unsent.append(_unsent(handed, case))
    found.strayed += _shared_ids(case, answer)
    return found


def _take(calls: list[Call], handed: Handed, case: Case, *, any_id: bool = False) -> Call | None:
    """Remove and return the first call that equals one that was handed over."""
    for n, call in enumerate(calls):
        same_id = any_id or call.id is None or not handed.id or call.id == handed.id
        if same_id and is_same(call, handed, case):
            return calls.pop(n)
    return None


def is_same(call: Call, handed: Handed, case: Case) -> bool:
    """Return whether a call that was handed over has the name and the arguments of one of the sidecar."""
    if call.name != handed.name:
        return False
    if isinstance(handed.arguments, str) and handed.arguments == call.arguments_text:
        return True
    if case.numbers == "text" and call.arguments_text is not None:
        expected, exact = _decoded(call.arguments_text, exact=True), True
    else:
        expected, exact = call.arguments, False
    try:
        return same_value(expected, _value(handed, exact=exact))
    except ValueError:
        return False


def _value(handed: Handed, *, exact: bool) -> object:
    """Return arguments as a value.

    Raises:
        ValueError: they are text that is no JSON.
    """
    if isinstance(handed.arguments, str):
        return _decoded(handed.arguments, exact=exact)
    return _exact(handed.arguments) if exact else handed.arguments


def _decoded(text: str, *, exact: bool) -> object:
    try:
        return json.loads(text, parse_float=Decimal) if exact else json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _exact(value: object) -> object:
    """Return a value with decimal fractions as they are written."""
    return json.loads(json.dumps(value), parse_float=Decimal)


def _is_raw(handed: Handed, case: Case) -> bool:
    """Return whether arguments were handed over as text that is no JSON: whoever gets it sees that it is none."""
    if not isinstance(handed.arguments, str):
        return False
    if any(handed.arguments == call.arguments_text for call in case.calls()):
        return False
    try:
        _decoded(handed.arguments, exact=False)
    except ValueError:
        return True
    return False


def _fits(end: End, answer: Answer, found: _Found) -> bool:
    if found.strayed:
        return False
    if end == "calls":
        return not found.missing and answer.error is None
    if end == "refuse":
        return not found.given and found.said
    return found.said


def _missing(found: _Found, answer: Answer) -> Iterable[str]:
    yield from found.strayed
    if found.missing:
        yield f"missing: {', '.join(call.name for call in found.missing)}"
    if answer.error is not None:
        yield f"error: {answer.error[:200]}"


def _unsent(handed: Handed, case: Case) -> str:
    """Return what is wrong with a call that nobody sent."""
    name = handed.name or "(no name)"
    named = [call for call in (*case.sent, *case.may) if call.name == handed.name]
    if any(is_same(call, handed, case) for call in named):
        return f"{name}: twice"
    if any(is_same(call, handed, case) for call in case.retracted):
        return f"{name}: taken back by the server"
    if any(call.name == handed.name for call in case.server):
        return f"{name}: the server runs it"
    if not named:
        return f"{name}: nobody sent it"
    if handed.arguments in ({}, None) or handed.arguments == "{}":
        return f"{name}: emptied"
    return f"{name}: other arguments than were sent"


def _shared_ids(case: Case, answer: Answer) -> list[str]:
    """Return a phrase for each made-up id that several calls have: a result could not be told from another's."""
    on_the_wire = {call.id for call in case.calls()}
    counts = Counter(handed.id for handed in answer.calls if handed.id)
    return [
        f"{n} calls have the made-up id {id!r}" for id, n in counts.items() if n > 1 and id not in on_the_wire
    ]
