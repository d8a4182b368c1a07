"""The reading of one call by naive accumulators, as long as all of them agree.

Accumulators differ in two ways: they set labels once or append them, and they take the first or the last of repeated
values. A call is strict if its id and its name come whole in its first fragment and never again, and its text is
strings that only need to be joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_text(value: object) -> bool:
    """Return whether a value is a string that any decoder of UTF-8 takes: it holds no single half of a character."""
    if type(value) is not str:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class Track:
    """One call of a turn: its labels and the pieces of its text.

    Attributes:
        kind: the wire's name for such a call.
        id: the id to answer with.
        name: the tool's name.
        item_id: the id of the item that holds the call, where there is one.
        is_restated: whether the whole text was restated.
    """

    def __init__(self, kind: str, field: str) -> None:
        self.kind = kind
        self.id = ""
        self.name = ""
        self.item_id: object = None
        self.is_restated = False
        self._field = field
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def begin(self, id: object, body: Mapping[str, Any]) -> bool:
        """Take the first fragment; return False if it is invalid. The older form has no `id`: None."""
        name = body.get("name")
        if type(name) is not str or not name or (id is not None and (type(id) is not str or not id)):
            return False
        self.id, self.name = str(id or ""), name
        return self.add(body.get(self._field))

    def go_on(self, body: Mapping[str, Any]) -> bool:
        """Take a further fragment; return False if it has a name, or text that is not a string."""
        return body.get("name") is None and self.add(body.get(self._field))

    def add(self, text: object) -> bool:
        """Take a piece of text."""
        if not is_text(text):
            return False
        self._pieces.append(str(text))
        return True
