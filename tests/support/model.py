"""A naive model of the assembler: the whole input at once, the simplest code, quadratic where it is shorter.

It knows honest streams and a core of quirks (labels late, blank or repeated, split names, `{}` first, a full
repeat), all under indices that can be trusted. It imports nothing from wholecall but the types of events.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wholecall.types import DropReason

Ended = Literal["done", "silent", "aborted"]  # `[DONE]`, the end of the bytes, `abort`


@dataclass(frozen=True)
class Fragment:
    """One entry of `tool_calls`; `None` leaves a label out."""

    index: int
    id: str | None = None
    name: str | None = None
    text: str | None = None

    def entry(self) -> dict[str, Any]:
        """Return the fragment as an entry of `tool_calls`."""
        function = {k: v for k, v in (("name", self.name), ("arguments", self.text)) if v is not None}
        entry: dict[str, Any] = {"index": self.index, "function": function}
        return entry if self.id is None else {**entry, "id": self.id}


@dataclass(frozen=True)
class Outcome:
    """The required end of a call: with arguments, or with a reason."""

    id: str | None
    name: str | None
    raw: str
    arguments: dict[str, Any] | None = None
    reason: DropReason | None = None


def expected(fragments: Sequence[Fragment], finish: str | None, ended: Ended) -> list[Outcome]:
    """Return the outcome of every call, in order of first appearance."""
    calls: dict[int, list[Fragment]] = {}
    for fragment in fragments:
        if (fragment.id or "").strip() or (fragment.name or "").strip() or fragment.text:
            calls.setdefault(fragment.index, []).append(fragment)
    outcomes = [_outcome(mine, finish, ended) for mine in calls.values()]
    if any(outcome.reason == "nameless" and not _is_hollow(outcome) for outcome in outcomes):
        return [_without_text(outcome) for outcome in outcomes]
    return outcomes


def _is_hollow(outcome: Outcome) -> bool:
    return "".join(outcome.raw.split()) in {"{}", "null", "None"} or not outcome.raw


def _without_text(outcome: Outcome) -> Outcome:
    """Text that no name claims may be the text of a call that has none."""
    if outcome.reason is None and _is_hollow(outcome):
        return replace(outcome, arguments=None, reason="ambiguous")
    return outcome


def _outcome(mine: list[Fragment], finish: str | None, ended: Ended) -> Outcome:
    ids = [f.id for f in mine if f.id is not None and f.id.strip() not in {"", "null", "None"}]
    ident, name, raw = (ids[0] if ids else None), _name(mine), _text(mine)
    reason = _reason(name, raw, finish, ended)
    if reason is not None:
        return Outcome(ident, name, raw, reason=reason)
    return Outcome(ident, name, raw, arguments=json.loads(raw) if raw.strip() else {})


def _name(mine: list[Fragment]) -> str | None:
    name = ""
    for fragment in mine:
        new = (fragment.name or "").strip()
        if new.startswith(name):
            name = new or name
        elif new:
            name += new
    return name or None


def _text(mine: list[Fragment]) -> str:
    text = ""
    for fragment in mine:
        new = fragment.text or ""
        if text == "{}" and new.startswith("{"):
            text = new
        elif not (new == text and _value(text) is not None):
            text += new
    return text


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _reason(name: str | None, raw: str, finish: str | None, ended: Ended) -> DropReason | None:
    value = _value(raw)
    whole = isinstance(value, dict) and bool(value)
    if ended == "aborted" and not (finish is not None and whole and name is not None):
        return "aborted"
    if name is None:
        return "nameless"
    if finish in {"length", "content_filter"} and not whole:
        return "truncated"
    if finish is None and ended == "silent":
        return "unterminated"
    if not raw.strip():  # only a finish reason shows that there are no arguments
        return "incomplete_input" if finish is None else None
    if value is None:
        return "truncated"
    return None if isinstance(value, dict) else "not_an_object"
