r"""JSON that readers read differently: objects that name a member twice, raw control characters, NaN.

Theory of operation. JSON does not define the meaning of `{"arguments":"{}","arguments":"{\"a\":1}"}`: most readers take
the last value, some the first one, some none. A frame whose call was judged by one value must not reach a client that
reads another. And text that is not strict JSON (a tab inside a string, `NaN`) is read by some clients and makes others
fail. Therefore passing frames name each member once, in strict JSON; all others are rewritten with the values that were
judged.
"""

from __future__ import annotations

import json
from typing import Any, Final

from wholecall.dialects.decode import integer, plain

__all__ = ["once"]


class _NamedTwice(ValueError):
    """The error for an object that names a member twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NamedTwice
    return found


def _constant(name: str) -> float:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_int=integer, parse_constant=_constant)


def once(text: str) -> tuple[Any, bool]:
    """Return the value of a JSON text, as the parser reads it, and whether readers may differ about it.

    They may also differ if the text is nested too deeply to be read. The value is None if the text is not JSON.
    """
    try:
        return _DECODER.decode(text), False
    except (ValueError, RecursionError):
        return plain(text), True
