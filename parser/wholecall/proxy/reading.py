"""An answer as the relay reads it: bytes counted, times noted, and content coding removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from wholecall.framing.codings import Decoder, UndecodableError, decoder_for
from wholecall.proxy.entry import Entry
from wholecall.proxy.headers import value_of
from wholecall.proxy.pings import Clock, Vigil
from wholecall.proxy.wire import Answer, UpstreamFailed

__all__ = ["Reading"]
_private = True

_PLAIN: Final = frozenset({"", "identity"})


class Reading:
    """Reads one answer.

    Args:
        answer: the answer.
        entry: where bytes and times are noted.
        vigil: is notified when bytes arrive.
        clock: tells the time.
        began: when the exchange began, by that clock.
    """

    def __init__(self, answer: Answer, entry: Entry, vigil: Vigil, clock: Clock, began: float) -> None:
        self.answer = answer
        self._entry = entry
        self._vigil = vigil
        self._clock = clock
        self._began = began
        self._decoder: Decoder | None = None

    def __repr__(self) -> str:
        return f"<Reading {self._entry!r}>"

    def can_decode(self) -> bool:
        """Return whether the coding is known; from then on it is removed. Words that name no coding say nothing."""
        coding = value_of(self.answer.headers, b"content-encoding").lower()
        if coding.strip() in _PLAIN:
            return True
        self._decoder = decoder_for(coding)
        return self._decoder is not None

    async def read(self) -> bytes:
        """Return the next bytes of the upstream, unchanged; empty at the end.

        Raises:
            UpstreamFailed: it broke off, or its coding did.
        """
        data = await self.answer.read()
        now = self._vigil.came = self._clock.time()
        if data:
            entry = self._entry
            entry.bytes_in += len(data)
            entry.chunks += 1
            entry.seconds_last = now - self._began
            if entry.seconds_first is None:
                entry.seconds_first = entry.seconds_last
        elif self._decoder is not None:
            try:
                self._decoder.close()
            except UndecodableError:
                raise UpstreamFailed("upstream_lost") from None
        return data

    def pieces(self, data: bytes) -> Iterable[bytes]:
        """Return decoded bytes, in pieces of bounded size.

        Raises:
            UpstreamFailed: they cannot be decoded; the pieces yielded before are right.
        """
        return (data,) if self._decoder is None else self._decoded(self._decoder, data)

    def _decoded(self, decoder: Decoder, data: bytes) -> Iterable[bytes]:
        try:
            yield from decoder.feed(data)
        except UndecodableError:
            raise UpstreamFailed("upstream_lost") from None
