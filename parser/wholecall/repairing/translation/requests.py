"""Requests of one wire, written as requests of another.

Theory of operation. The wire of the client reads the request into the form of no wire, and the wire of the server
writes it. Every member is said, left out with a note, or a reason to refuse the request; what a request does not say,
its translation does not say either, but for the bound of tokens that Anthropic requires, `store` (Responses, false)
and the usage of streams (Chat Completions), which other wires always send.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

import msgspec

from wholecall.discreet import compact
from wholecall.errors import UnknownDialect, choices, meant
from wholecall.repairing.translation.anthropic import ANTHROPIC
from wholecall.repairing.translation.chat import CHAT
from wholecall.repairing.translation.places import Wire, Writing
from wholecall.repairing.translation.reading import Members, Notes, Untranslatable
from wholecall.repairing.translation.responses import RESPONSES

_private = True

WIRES: Final[Mapping[str, Wire]] = MappingProxyType(
    {"anthropic": ANTHROPIC, "chat-completions": CHAT, "responses": RESPONSES}
)


class TranslatedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request in the words of another wire.

    Attributes:
        body: JSON for the server.
        left_out: the paths of members that the server's wire cannot say, in the words of the client's; places in
            lists have no number (`messages[].content[].cache_control`). At most 64, then `...`; they are plain letters,
            fit for a header.
        model: the model that is asked for.
        is_stream: whether the client asked for a stream.
        wants_usage: whether it wants the token counts of a stream, which Chat Completions sends on request only.
    """

    body: bytes
    left_out: tuple[str, ...]
    model: str
    is_stream: bool
    wants_usage: bool

    def __repr__(self) -> str:
        return f"<TranslatedRequest {len(self.body)} bytes, left out {list(self.left_out)}>"


def wire_named(name: str) -> str:
    """Return the name of a wire from it or a common alias (`chat`).

    Raises:
        UnknownDialect: requests of this wire are not translated.
    """
    found = meant(name, WIRES)
    if found is None:
        raise UnknownDialect(f"requests of {name!r} are not translated; {choices(name, WIRES)}")
    return found


def translate_request(body: bytes, client: str, server: str) -> TranslatedRequest:
    """Return the request of a client in the words of its server's wire.

    Args:
        body: the request, as JSON.
        client: the wire of the client: `anthropic`, `chat-completions` or `responses`.
        server: the wire of the server, another of these.

    Raises:
        Untranslatable: it is no JSON object, or a member cannot be said, whose loss would change the task.
        UnknownDialect: a wire has another name.
    """
    reader, writer = WIRES[wire_named(client)], WIRES[wire_named(server)]
    notes = Notes()
    asked = reader.read(Members(_value(body), "", notes))
    said = writer.write(asked, Writing(notes, reader.places, wire_named(server)))
    return TranslatedRequest(
        body=_bytes(said),
        left_out=tuple(notes.left_out),
        model=asked.model,
        is_stream=asked.stream,
        wants_usage=asked.wants_usage,
    )


def _value(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_number, parse_float=_number)
    except (ValueError, RecursionError):
        raise Untranslatable("the request", "is no JSON") from None


def _no_number(_word: str) -> NoReturn:
    raise ValueError


def _number(digits: str) -> float:
    """Return a number with a fraction; one that is too large for it has no JSON of its own."""
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError
    return value


def _bytes(said: dict[str, Any]) -> bytes:
    """Return compact JSON; a lone surrogate is escaped."""
    return compact(said).encode("utf-8", "backslashreplace")
