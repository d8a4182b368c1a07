"""Independent, plain readers with which wholecall is compared."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple


class Refused(ValueError):
    """The reference reader refuses strict JSON that we do not accept."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise Refused("duplicate key")
    return dict(pairs)


def _constant(name: str) -> Any:
    raise Refused(name)


def _float(text: str) -> float:
    if math.isinf(float(text)):
        raise Refused("too large")
    return float(text)


def reference(text: str) -> Any:
    """Read strict JSON with the standard library, and refuse the same texts as we do.

    Raises:
        Refused: it is JSON, or nearly, with content that we refuse: repeated keys, NaN, numbers beyond the range.
        ValueError: it is not JSON, holds a lone surrogate or an integer that is too long.
    """
    value = json.loads(text, object_pairs_hook=_members, parse_constant=_constant, parse_float=_float)
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return value


class SSEvent(NamedTuple):
    """An event as WHATWG HTML 9.2 dispatches it; `retry` is the value that its block set, or None."""

    event: str
    data: str
    id: str
    retry: int | None


def sse_events(
    stream: bytes, *, mark: bool = True, dataless: bool = False, digits: bool = True
) -> list[SSEvent]:
    """Read a whole event stream as WHATWG HTML 9.2.5 and 9.2.6 say it, line by line.

    The options turn single rules off, as other readers do: `mark` takes off one byte order mark, `dataless` makes
    events of blocks without data, and without `digits` any integer that Python reads is a time to retry.
    """
    text = stream.decode("utf-8", "replace")
    lines = re.split("\r\n|\n|\r", text.removeprefix("\ufeff") if mark else text)
    found: list[SSEvent] = []
    name, data, last, retry = "", "", "", None
    begun = False  # the block has a meaningful field
    for line in lines[:-1]:  # text without a line end after it is never a blank line
        if not line:
            if data or (dataless and (begun or last)):
                found.append(SSEvent(name or "message", data.removesuffix("\n"), last, retry))
            name, data, retry, begun = "", "", None, False
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data += value + "\n"
        elif field == "id" and "\0" not in value:
            last = value
        elif field == "retry":
            retry = _time(value, retry, digits=digits)
        begun = bool(name or data) or retry is not None
    return found


def _time(value: str, before: int | None, *, digits: bool) -> int | None:
    if digits:
        return int(value) if value.isascii() and value.isdigit() else before
    try:
        return int(value)
    except ValueError:
        return before
