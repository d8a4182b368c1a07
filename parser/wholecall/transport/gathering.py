"""A body that is judged as a whole, while it is gathered.

Theory of operation. A body labelled as JSON or as text may be a stream, and the first byte that is not blank decides.
JSON is gathered to its end, or until it is too large to be judged; a stream is passed on with the bytes so far.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Final

from wholecall.repairing import RepairedBody, answers, repair_body
from wholecall.repairing.bodies import most_of_body
from wholecall.transport.exchange import Notices

__all__ = ["Gathering"]

_MOST_BLANK: Final = 64 * 1024  # bytes in front of JSON: servers send some while they think


class Gathering:
    """The bytes of a body so far.

    Args:
        notices: of its exchange.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._most = most_of_body(notices.options.get("limits"))
        self._data = bytearray()
        self._is_json: bool | None = None
        self._is_full = False

    @property
    def data(self) -> bytes:
        """All bytes so far."""
        return bytes(self._data)

    def gather(self, chunks: Iterator[bytes]) -> None:
        """Take chunks until the kind of the body is known, and then all of a JSON body that can be judged."""
        for chunk in chunks:
            if not self._wants_more(chunk):
                break

    async def agather(self, chunks: AsyncIterator[bytes]) -> None:
        """Do the same, asynchronously."""
        async for chunk in chunks:
            if not self._wants_more(chunk):
                break

    def judged(self) -> RepairedBody | None:
        """Return the judged body; None for a stream, or a body too large to be judged that is not one large value."""
        if not self._is_json:
            return None
        options = {name: value for name, value in self._notices.options.items() if name != "live_arguments"}
        body = repair_body(self.data, expected=self._notices.expected, **options)
        if self._is_full and body.report.error is None:
            return None
        self._notices.end(body.report)
        return body

    def _wants_more(self, chunk: bytes) -> bool:
        """Take a chunk; return whether another one is wanted here."""
        self._data += chunk
        if self._is_json is None:
            self._is_json = answers.is_json(chunk)
        if self._is_json:
            self._is_full = self._most is not None and len(self._data) > self._most
            return not self._is_full
        return self._is_json is None and len(self._data) <= _MOST_BLANK
