"""The parts of a request that the proxy needs: the model, streaming, and the tools.

Theory of operation. A body is decoded once into types that have only these members; all other members are skipped. A
body that cannot be decoded passes, without any knowledge of it: refusing it is left to the upstream. Tools that cannot
be decoded check nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from wholecall import Tools
from wholecall.repairing.answers import form_of

__all__ = ["Asked", "asked_of", "tools_of"]
_private = True

_MOST_MODEL = 128  # characters
_NESTED = ("function", "custom")


class Asked(msgspec.Struct, frozen=True):
    """The known parts of a request's body.

    Attributes:
        model: the requested model.
        stream: whether the answer is to be a stream.
        tools: the tools as the body has them.
        functions: their equivalent in the older form of Chat Completions.
    """

    model: Any = None
    stream: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    functions: msgspec.Raw = msgspec.Raw(b"null")

    def __repr__(self) -> str:
        return f"<Asked stream={self.stream is True}>"

    @property
    def is_legacy(self) -> bool | None:
        """Return whether the client reads a `function_call`; None if it asks for no calls."""
        return form_of(bytes(self.tools), bytes(self.functions))

    @property
    def model_name(self) -> str | None:
        """The model, if it is named."""
        return self.model[:_MOST_MODEL] if isinstance(self.model, str) else None


_DECODER = msgspec.json.Decoder(Asked)
_NOTHING = Asked()


def asked_of(body: bytes) -> Asked:
    """Return the known parts of a body; all of them empty if it cannot be decoded."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOTHING


def tools_of(asked: Asked, mode: Literal["off", "names", "schema"]) -> Tools[Any] | None:
    """Return the tools that calls are checked against; None for no check.

    Args:
        asked: the request.
        mode: `"names"` for the names of its tools alone, `"schema"` for their schemas too, `"off"` for neither.
    """
    if mode == "off":
        return None
    try:
        listed = msgspec.json.decode(asked.tools)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(listed, list):
        return None
    named = dict(_named(listed))
    if not named or mode == "names":
        return _names_only(named)
    try:
        return Tools(list(named.values()))
    except (TypeError, ValueError, ImportError):  # an invalid schema: the upstream has to refuse it
        return _names_only(named)


def _named(listed: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tools that have a name; a tool that the provider executes has none, or is not called by the client."""
    for tool in listed:
        if not isinstance(tool, dict):
            continue
        inner = next((tool[key] for key in _NESTED if isinstance(tool.get(key), dict)), tool)
        name = inner.get("name")
        if isinstance(name, str) and name:
            yield name, tool


def _names_only(named: dict[str, Any]) -> Tools[Any] | None:
    return Tools([{"type": "custom", "name": name} for name in named]) if named else None
