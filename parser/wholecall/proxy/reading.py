"""An answer as the relay reads it: with its bytes counted, its times noted, and its content coding taken off."""

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
        vigil: is told when something came.
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
        """Whether the coding is known; from then on it is taken off. Words that name none say nothing of the bytes."""
        coding = value_of(self.answer.headers, b"content-encoding").lower()
        if coding.strip() in _PLAIN:
            return True
        self._decoder = decoder_for(coding)
        return self._decoder is not None

    async def read(self) -> bytes:
        """Return what the upstream sent, as it came, nothing at its end.

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
        """Return what was read without its coding, in pieces of bounded size.

        Raises:
            UpstreamFailed: it does not decode; what was yielded before is right.
        """
        return (data,) if self._decoder is None else self._decoded(self._decoder, data)

    def _decoded(self, decoder: Decoder, data: bytes) -> Iterable[bytes]:
        try:
            yield from decoder.feed(data)
        except UndecodableError:
            raise UpstreamFailed("upstream_lost") from None
