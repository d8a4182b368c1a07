"""The tools as text formats need them: their names, and for each key the types that its schema allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wholecall.text.values import Schema

if TYPE_CHECKING:
    from wholecall.calls.tools.tool import Tools

_NOTHING = Schema(None)


class Declared:
    """The declared tools; without any, every name is equally valid."""

    __slots__ = ("_schemas", "_tools")

    def __init__(self, tools: Tools[Any] | None) -> None:
        self._tools = tools
        self._schemas: dict[str, Schema] = {}

    def __bool__(self) -> bool:
        return self._tools is not None

    def __contains__(self, name: object) -> bool:
        return self._tools is not None and name in self._tools

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools or ())

    def schema(self, name: str) -> Schema:
        """Return the JSON Schema of a tool's arguments; of an unknown tool an empty one."""
        if self._tools is None or name not in self._tools:
            return _NOTHING
        known = self._schemas.get(name)
        if known is None:
            known = self._schemas[name] = Schema(self._tools.schema_of(name))
        return known
