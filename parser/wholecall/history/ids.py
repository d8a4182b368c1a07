"""The ids of calls in one format: one map for calls and for their results, over all turns of a conversation.

Theory of operation. Providers refuse ids that are not of their own kind (quirk 65), and some give the same ids in every
turn (quirk 64). Therefore each call of a conversation gets an id that its format accepts and that is unique in the
conversation; a result takes the id of its call. A valid id is kept. An invalid id is spelled with its allowed
characters, followed by a digest of the whole id, so that ids which differ only in lost characters stay distinct. A
second call of the same id is counted; its results are matched in order of appearance.

Kimi's own ids are the exception: the model reads the tool and the number of a call from them. Where text of any kind is
accepted they stay, repeated or not, as long as they differ within one turn and name the call's tool.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, Final

from wholecall.history.formats import IdRule

_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_MISTRAL = re.compile(r"[a-zA-Z0-9]{9}")
_KIMI = re.compile(r"(?:functions\.)?[a-zA-Z0-9_.-]+:\d+", re.ASCII)
_COUNTED = re.compile(r"(?:functions\.)?(?P<name>.+):\d+", re.DOTALL)
_PAIR = re.compile(r"([^|]+)\|[a-zA-Z0-9_-]+")  # call|item, as clients of Responses keep them in one field
_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OPENAI_SIZE = 40
_SIZE = 64


def is_counted(id: str, name: str) -> bool:
    """Return whether an id is one that a model counts within each answer, for calls of this tool."""
    match = _COUNTED.fullmatch(id)
    return match is not None and match["name"] == name


def _digest(id: str) -> str:
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _cut(stem: str, ending: str, size: int) -> str:
    return stem[: size - len(ending)] + ending


def _call_of(id: str) -> str:
    pair = _PAIR.fullmatch(id)
    return id if pair is None else pair[1]


def _any(id: str, n: int) -> str:
    return id if n == 1 else f"{id}#{n}"


def _openai(id: str, n: int) -> str:
    call = _call_of(id)
    if len(call) > _OPENAI_SIZE or not call:
        call = _cut(call, f"_{_digest(id)}", _OPENAI_SIZE)
    return call if n == 1 else _cut(call, f"_{n}", _OPENAI_SIZE)


def _sanitised(id: str, n: int) -> str:
    call = _call_of(id)
    if not _LEGAL.fullmatch(call):
        call = _cut(_OTHER.sub("_", call), f"_{_digest(id)}", _SIZE)
    return call if n == 1 else _cut(call, f"_{n}", _SIZE)


def _mistral(id: str, n: int) -> str:
    if n == 1 and _MISTRAL.fullmatch(id):
        return id
    number = int.from_bytes(hashlib.sha256(f"{n} {id}".encode("utf-8", "surrogatepass")).digest(), "big")
    return "".join(_ALPHANUMERIC[number // 62**place % 62] for place in range(9))


_SPELLINGS: Final[Mapping[IdRule, Callable[[str, int], str]]] = {
    "any": _any,
    "openai40": _openai,
    "anthropic": _sanitised,
    "responses": _sanitised,
    "mistral9": _mistral,
    "kimi": _any,
}
_NATIVE: Final = frozenset({"openai40", "kimi"})  # formats that accept ids of Kimi's form


# The members that name a call, in messages of any shape.
_NAMES = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId"})


def _objects_in(messages: Iterable[object]) -> Iterator[dict[str, Any]]:
    """Yield all objects in messages, any of which may name a call; other ids do no harm."""
    waiting: list[Any] = list(messages)
    seen: set[int] = set()
    for value in waiting:  # it grows during the loop
        if isinstance(value, (str, int, float, type(None))) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)
        elif callable(dump := getattr(value, "model_dump", None)):  # an SDK's object among the dicts
            waiting.append(dump())


def _pending_in(messages: Iterable[dict[str, Any]]) -> frozenset[str]:
    """Return the ids of the provider's calls that have no result among some objects of messages."""
    called: set[str] = set()
    answered: set[str] = set()
    for one in messages:
        kind, id, of = one.get("type"), one.get("id"), one.get("tool_use_id")
        if isinstance(id, str) and kind in ("server_tool_use", "mcp_tool_use"):
            called.add(id)
        if isinstance(of, str):
            answered.add(of)
    return frozenset(called - answered)


class CallIds(Mapping[str, str]):
    """The ids of calls in one kind of format; immutable: `assign` makes a new one.

    As a mapping it returns the id to use now: `ids[call.id]` is the id of that call in the last turn that has it. For
    the results of a whole conversation use `answers`.

    Attributes:
        rule: the rule that the ids follow, see `HistoryFormat.ids`.
        pending: ids of the provider's own calls whose results follow in a later turn.
    """

    __slots__ = ("_count", "_latest", "_of", "_taken", "pending", "rule")

    def __init__(self, rule: IdRule = "any") -> None:
        self.rule: IdRule = rule
        self._of: dict[str, tuple[str, ...]] = {}  # by id: those of its calls, in order
        self._latest: dict[str, str] = {}
        self._taken: set[str] = set()
        self._count = 0
        self.pending: frozenset[str] = frozenset()

    @classmethod
    def after(cls, messages: Iterable[object], rule: IdRule = "any") -> CallIds:
        """Return the ids of a conversation that continues messages of any shape: their ids are taken."""
        ids = cls(rule)
        objects = list(_objects_in(messages))
        named = (said for one in objects for name, said in one.items() if name in _NAMES)
        ids._taken = {said for said in named if isinstance(said, str)}
        ids._count = len(ids._taken)
        ids.pending = _pending_in(objects)
        return ids

    def __repr__(self) -> str:
        return f"<CallIds {self.rule} of {len(self)}>"

    def __getitem__(self, id: str) -> str:
        return self._latest[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._latest)

    def __len__(self) -> int:
        return len(self._latest)

    def occurrences(self, id: str) -> tuple[str, ...]:
        """Return the ids of all calls that had this id, in order; empty if there were none."""
        return self._of.get(id, ())

    def answers(self, ids: Iterable[str]) -> list[str]:
        """Return the ids for results in the order of the conversation.

        The first result of an id answers the first call of that id, the second one the second.

        Args:
            ids: the ids that the results name, as in the stored conversation.

        Raises:
            KeyError: more results than calls name this id.
        """
        seen: dict[str, int] = {}
        found: list[str] = []
        for id in ids:
            n = seen[id] = seen.get(id, 0) + 1
            calls = self.occurrences(id)
            if n > len(calls):
                raise KeyError(
                    f"result {n} of {id!r} answers no call; leave it out, or encode its call first"
                )
            found.append(calls[n - 1])
        return found

    def assign(self, turn: Iterable[tuple[str, str]]) -> tuple[CallIds, list[str]]:
        """Give ids to the calls of one more turn.

        Args:
            turn: id and tool name of each call, in order. Ids may repeat.

        Returns:
            The map with these calls, and their new ids in order. This map does not change.
        """
        new = CallIds(self.rule)
        new._of, new._latest, new._taken = dict(self._of), dict(self._latest), set(self._taken)
        new._count, new.pending = self._count, self.pending
        first: dict[str, str] = {}
        given: dict[str, None] = {}
        for id, name in turn:
            chosen = new._choose(id, name, given)
            given[chosen] = None
            new._taken.add(chosen)
            new._count += 1
            new._of[id] = (*new.occurrences(id), chosen)
            first.setdefault(id, chosen)
        new._latest |= first
        return new, list(given)

    def awaiting(self, pending: frozenset[str]) -> CallIds:
        """Return these ids, with others of the provider's calls that wait for their results."""
        if pending == self.pending:
            return self
        same, _ = self.assign(())
        same.pending = pending
        return same

    def _choose(self, id: str, name: str, siblings: Container[str]) -> str:
        own = self.rule in _NATIVE and _KIMI.fullmatch(id) and self._fits(id) and id not in siblings
        if own and (id not in self._taken or is_counted(id, name)):
            return id
        if self.rule == "kimi":
            return self._counted(name)
        spelled, n = _SPELLINGS[self.rule], len(self.occurrences(id)) + 1
        while (chosen := spelled(id, n)) in self._taken:
            n += 1
        return chosen

    def _fits(self, id: str) -> bool:
        return self.rule == "kimi" or len(id) <= _OPENAI_SIZE

    def _counted(self, name: str) -> str:
        """Return an id in Kimi's form: the tool and the number of the call in the conversation."""
        number = self._count
        while (chosen := f"functions.{name}:{number}") in self._taken:
            number += 1
        return chosen
