"""Cases under other names: a client that was tuned to the published ones is found out.

Theory of operation. The names of tools and the ids of calls are replaced in the bytes and in the expectation, each by
one of the same length and the same kinds of letters, drawn by a seed. A replacement has to be consistent: the same name
may come whole, in pieces, or inside other text. Therefore a name is replaced only if each of its occurrences in the
bytes is a whole JSON string under a key that holds names (or ids), and no string under such a key is a piece of it or
holds it. Names and ids that do not come so, messages with checksums, ids of responses and items, string values of
arguments and texts of the model stay as they are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from random import Random

from msgspec.structs import replace

from wholecall.grading.conform.cases import Call, Case, Request, Tool

_NAMES = re.compile(rb'"(?:name|tool_name|toolName|function_name)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_IDS = re.compile(
    rb'"(?:id|call_id|tool_call_id|tool_use_id|toolUseId|toolCallId|callId)"\s*:\s*"((?:[^"\\]|\\.)*)"'
)
_PREFIX = re.compile(r"[A-Za-z]+[_-]|")  # of an id: clients may look at it
_LEAST = 3  # characters of which enough other names can be made
_TRIES = 100


def reseeded(case: Case, seed: int) -> Case:
    """Return a case with other names and ids; equal ones for equal seeds."""
    if case.suffix == ".bin":
        return case
    random = Random(f"{seed}/{case.id}")  # noqa: S311 - reproducible names, no secrets
    said = frozenset(text for call in case.calls() for text in _strings(call.arguments))
    names = _replacements(case.data, _NAMES, _names(case) - said, random)
    ids = _replacements(case.data, _IDS, _ids(case) - said, random, keep=_PREFIX)
    data = _rewritten(_rewritten(case.data, _NAMES, names), _IDS, ids)
    return replace(
        case,
        data=data,
        request=_request(case.request, names),
        **{
            member: tuple(_call(call, names, ids) for call in getattr(case, member))
            for member in ("sent", "may", "retracted", "server")
        },
    )


def _names(case: Case) -> set[str]:
    """Return names of tools that the client runs, none a part of another; those of a server's tools mean something."""
    known = {call.name for call in case.calls()} | {tool.name for tool in case.request.tools}
    servers = {call.name for call in case.server}
    return {
        name
        for name in {call.name for call in (*case.sent, *case.may, *case.retracted)} - servers
        if not any(name in other or other in name for other in known - {name})
    }


def _ids(case: Case) -> set[str]:
    return {call.id for call in case.calls() if call.id}


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


def _replacements(
    data: bytes,
    under: re.Pattern[bytes],
    old: Iterable[str],
    random: Random,
    keep: re.Pattern[str] = re.compile(""),
) -> dict[str, str]:
    """Return the other name for each that can be replaced."""
    found = [match[1] for match in under.finditer(data)]
    new: dict[str, str] = {}
    for name in sorted(old):
        if len(name) >= _LEAST and _is_whole(name.encode("utf-8", "surrogatepass"), data, found):
            other = _drawn(name, data, set(new.values()), random, keep)
            if other is not None:
                new[name] = other
    return new


def _is_whole(name: bytes, data: bytes, found: list[bytes]) -> bool:
    """Return whether a name comes only as a whole string under a key for such names."""
    related = [one for one in found if one and (one in name or name in one)]
    return bool(related) and set(related) == {name} and data.count(name) == len(related)


def _drawn(name: str, data: bytes, taken: set[str], random: Random, keep: re.Pattern[str]) -> str | None:
    """Return another name of the same kind that nothing else has, None if no draw is one."""
    kept = keep.match(name)
    start = kept.end() if kept else 0
    for _ in range(_TRIES):
        other = name[:start] + "".join(_letter(char, random) for char in name[start:])
        if other != name and other not in taken and other.encode("utf-8", "surrogatepass") not in data:
            return other
    return None


def _letter(char: str, random: Random) -> str:
    for letters in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        if char in letters:
            return random.choice(letters)
    return char


def _rewritten(data: bytes, under: re.Pattern[bytes], new: Mapping[str, str]) -> bytes:
    names = {
        old.encode("utf-8", "surrogatepass"): name.encode("utf-8", "surrogatepass")
        for old, name in new.items()
    }

    def rewrite(match: re.Match[bytes]) -> bytes:
        head = match[0][: match.start(1) - match.start()]
        return head + names.get(match[1], match[1]) + b'"'

    return under.sub(rewrite, data)


def _call(call: Call, names: Mapping[str, str], ids: Mapping[str, str]) -> Call:
    id_ = ids.get(call.id, call.id) if call.id is not None else None
    return replace(call, id=id_, name=names.get(call.name, call.name))


def _request(request: Request, names: Mapping[str, str]) -> Request:
    tools = tuple(Tool(names.get(tool.name, tool.name), tool.schema) for tool in request.tools)
    return replace(request, tools=tools)
