"""Cases under other names: a client that was tuned to the published ones is found out.

Theory of operation. Three things are changed, each on its own, and each only where it is safe. String values of
arguments get other letters (`values`). The names of tools and all ids (of calls, items, responses) are replaced in the
bytes and in the expectation, each by one of the same length and the same kinds of letters, drawn by a seed. A
replacement has to be consistent: the same name may come whole, in pieces, or inside other text. Therefore a name is
replaced only if each of its occurrences in the bytes is a whole JSON string under a key that holds names (or ids), and
no string under such a key is a piece of it or holds it. Names and ids that do not come so and texts of the model stay as
they are; what stays is counted. Checksums of binary messages that were right are made right again.
"""

from __future__ import annotations

import re
import string
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from wholecall.grading.conform.cases import Call, Case, Request, Tool
from wholecall.grading.conform.values import exchanged_values, has_values

_NAMES = re.compile(rb'"(?:name|tool_name|toolName|function_name)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_IDS = re.compile(
    rb'"(?:id|call_id|item_id|message_id|response_id|responseId|generation_id|tool_call_id|tool_use_id|toolUseId|toolCallId'
    rb'|callId)"\s*:\s*"((?:[^"\\]|\\.)*)"'
)
# Of an answer or an item, which no sidecar names: some digit, or a prefix.
_AN_ID = re.compile(rb"(?=.*[0-9]|[A-Za-z]+[_-].{4})[A-Za-z0-9_-]{6,}")
_PREFIX = re.compile(r"[A-Za-z]+[_-]|")  # of an id: clients may look at it
THINGS = ("names", "ids", "values")  # that a seed changes
_LEAST = 3  # characters of which enough other names can be made
_TRIES = 100
_CRC, _LEAST_MESSAGE = 4, 16  # bytes of a checksum, and of a length; of the smallest message


class Reseeded(NamedTuple):
    """A case under other names.

    Attributes:
        case: the case; the same object where nothing could be changed.
        kept: the things that it has and that could not be changed: `names`, `ids`, `values`.
    """

    case: Case
    kept: frozenset[str]


def reseeded(case: Case, seed: int) -> Case:
    """Return a case with other names, ids and values, equal ones for equal seeds; see `reseeding`."""
    return reseeding(case, seed).case


def reseeding(case: Case, seed: int) -> Reseeded:
    """Return a case with other names, ids and values, and what stayed the same."""
    random = Random(f"{seed}/{case.id}")  # noqa: S311 - reproducible names, no secrets
    other = exchanged_values(case, random)
    kept = {"values"} if other is case and has_values(case) else set()
    said = frozenset(text for call in case.calls() for text in _strings(call.arguments))
    called, own = _names(case), _ids(case)
    ids = _other_ids(other.data, (own | _answers(other.data)) - said, random)
    data = _rewritten(other.data, _IDS, ids)
    unsent = {tool.name for tool in case.request.tools} - {call.name for call in case.calls()}
    names = _other_names(data, called - said, unsent, random)
    kept |= {word for word, old, new in (("names", called, names), ("ids", own, ids)) if old - new.keys()}
    if other is case and not names and not ids:
        return Reseeded(case, frozenset(kept))
    data = _rewritten(data, _NAMES, names)
    if case.suffix == ".bin":
        data = b"".join(_checked(case.data, data))
    lists = {
        member: tuple(_call(call, names, ids) for call in getattr(other, member))
        for member in ("sent", "may", "retracted", "server")
    }
    changed = replace(other, data=data, request=_request(case.request, names), **lists)
    return Reseeded(changed, frozenset(kept))


def _names(case: Case) -> set[str]:
    """Return names of tools that the client runs, none a part of another; those of a server's tools mean something."""
    known = {call.name for call in case.calls()} | {tool.name for tool in case.request.tools}
    servers = {call.name for call in case.server}
    return {
        name
        for name in known - servers
        if not any(name in other or other in name for other in known - {name})
    }


def _ids(case: Case) -> set[str]:
    """Return the ids of calls."""
    return {call.id for call in case.calls() if call.id}


def _answers(data: bytes) -> set[str]:
    """Return all other ids: of the answer, of its items."""
    found = (match[1] for match in _IDS.finditer(data))
    return {id_.decode() for id_ in found if _AN_ID.fullmatch(id_)}


def _strings(value: object) -> Iterator[str]:
    """Yield every string in a value, keys too."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value


def _other_names(data: bytes, old: Iterable[str], unsent: Iterable[str], random: Random) -> dict[str, str]:
    """Return the other name for each that can be replaced.

    Args:
        data: the bytes.
        old: the names.
        unsent: those of them that no call has, which need not be in the bytes.
        random: draws.
    """
    found = [match[1] for match in _NAMES.finditer(data)]
    new: dict[str, str] = {}
    for name in sorted(old):
        text = _bytes(name)
        is_safe = _is_whole(text, data, found) or (name in unsent and _is_absent(text, data, found))
        if len(name) >= _LEAST and is_safe:
            _draw(name, data, new, random)
    return new


def _is_whole(name: bytes, data: bytes, found: list[bytes]) -> bool:
    """Return whether a name comes only as a whole string under a key for such names."""
    related = [one for one in found if one and (one in name or name in one)]
    return bool(related) and set(related) == {name} and data.count(name) == len(related)


def _is_absent(name: bytes, data: bytes, found: list[bytes]) -> bool:
    """Return whether a name is nowhere in the bytes, nor may be there in pieces."""
    return name not in data and not any(one and one in name for one in found)


def _other_ids(data: bytes, old: Iterable[str], random: Random) -> dict[str, str]:
    """Return the other id for each that can be replaced.

    An id may hold another one, as an item's does that is made of its call's; then both are replaced, or neither.
    """
    found = [match[1] for match in _IDS.finditer(data)]
    counts = Counter(found)
    safe = {
        text
        for id_ in old
        if (text := _bytes(id_)) in counts
        and len(id_) >= _LEAST
        and data.count(text) == sum(one.count(text) * n for one, n in counts.items())
    }
    while lonely := {
        text
        for text in safe
        if any(one and (one in text or text in one) and one not in safe for one in counts)
    }:
        safe -= lonely
    new: dict[str, str] = {}
    for id_ in sorted(old):
        if _bytes(id_) in safe:
            _draw(id_, data, new, random, _PREFIX)
    return new


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _draw(
    name: str, data: bytes, new: dict[str, str], random: Random, keep: re.Pattern[str] = re.compile("")
) -> None:
    """Add another name of the same kind that nothing else has; none if no draw is one."""
    kept = keep.match(name)
    start = kept.end() if kept else 0
    taken = set(new.values())
    for _ in range(_TRIES):
        other = name[:start] + "".join(_letter(char, random) for char in name[start:])
        if other != name and other not in taken and _bytes(other) not in data:
            new[name] = other
            return


def _letter(char: str, random: Random) -> str:
    for letters in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        if char in letters:
            return random.choice(letters)
    return char


def _rewritten(data: bytes, under: re.Pattern[bytes], new: Mapping[str, str]) -> bytes:
    names = {_bytes(old): _bytes(name) for old, name in new.items()}

    def rewrite(match: re.Match[bytes]) -> bytes:
        head = match[0][: match.start(1) - match.start()]
        return head + names.get(match[1], match[1]) + b'"'

    return under.sub(rewrite, data)


def _checked(old: bytes, new: bytes) -> Iterator[bytes]:
    """Yield the messages of an event stream of Amazon, with the checksums of those that had a right one."""
    start = 0
    while start < len(old):
        end = start + max(int.from_bytes(old[start : start + _CRC], "big"), _LEAST_MESSAGE)
        is_right = zlib.crc32(old[start : end - _CRC]) == int.from_bytes(old[end - _CRC : end], "big")
        body = new[start : end - _CRC]
        yield body + (zlib.crc32(body).to_bytes(_CRC, "big") if is_right else new[end - _CRC : end])
        start = end


def _call(call: Call, names: Mapping[str, str], ids: Mapping[str, str]) -> Call:
    id_ = ids.get(call.id, call.id) if call.id is not None else None
    return replace(call, id=id_, name=names.get(call.name, call.name))


def _request(request: Request, names: Mapping[str, str]) -> Request:
    tools = tuple(Tool(names.get(tool.name, tool.name), tool.schema) for tool in request.tools)
    return replace(request, tools=tools)
