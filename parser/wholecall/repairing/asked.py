"""The form of calls that a request asks for.

Chat Completions has an older form: a request lists `functions`, and the answer has one `function_call`. Servers answer
requests in one form with the other, and clients read only the form that they asked for. Source: OpenAI API reference,
"Create chat completion", deprecated members.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["asks_for_functions", "form_of"]

_NULL: Final = msgspec.Raw(b"null")


class _Asked(msgspec.Struct, frozen=True):
    tools: msgspec.Raw = _NULL
    functions: msgspec.Raw = _NULL


_DECODER: Final = msgspec.json.Decoder(_Asked)


def asks_for_functions(body: bytes) -> bool | None:
    """Return whether a request lists functions, in the older form, or tools: False; None if it has neither.

    Args:
        body: of the request; an unreadable body gives None.
    """
    try:
        asked = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return form_of(bytes(asked.tools), bytes(asked.functions))


def form_of(tools: bytes, functions: bytes) -> bool | None:
    """Return the same from the JSON of both members, `null` for a missing one."""
    if tools != b"null":
        return False
    return True if functions != b"null" else None
