"""The reader of a growing JSON text without a stream.

Theory of operation. `JsonScanner` reads the text and provides the whole state; this parser gives it a beginning and an
end.
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.calls.arguments.partial_json import JsonScanner, PartialJson
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.limits import Limits


class PartialJsonParser(Uncopyable):
    """A reader of one JSON text while it grows, which shows the value so far.

    ::

        parser = PartialJsonParser()
        for piece in pieces:
            show(parser.feed(piece).value)
        last = parser.close()

    A shown value is never taken back, however the text is cut and continued, and each character is read once.
    Nothing is repaired: text that stops being strict JSON is not followed further, and its state is `invalid`.

    Args:
        limits: bounds on bytes, depth and numbers; text beyond them is `invalid`, with the reason.
    """

    INSTEAD: ClassVar = "feed the same text to a new one"
    DERIVED: ClassVar = frozenset({"_closed", "_scanner"})  # no snapshot holds one

    def __init__(self, *, limits: Limits = Limits()) -> None:  # noqa: B008 (frozen)
        self._scanner = JsonScanner(limits)
        self._closed = False

    def __repr__(self) -> str:
        return f"<PartialJsonParser {'closed' if self._closed else 'open'}>"

    def feed(self, text: str) -> PartialJson:
        """Read more text, cut anywhere, and return the state after it; never raises, whatever the text holds.

        It costs time for the new text alone; the value is built when it is requested.

        Raises:
            StreamClosed: the parser was closed.
            TypeError: `text` is not a str.
        """
        if self._closed:
            raise StreamClosed("the text is closed; use a new parser for another one")
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise TypeError(f"text is a str, not {type(text).__name__}")
        self._scanner.feed(text)
        return self._scanner.partial()

    def close(self) -> PartialJson:
        """End the text and return the state after it: a number at the top level is whole now. May be called again."""
        if not self._closed:
            self._closed = True
            self._scanner.end()
        return self._scanner.partial()
