"""Deadlines of an exchange: a ping, the upstream's next byte, the client's reading.

Theory of operation. The relay notes when bytes came and when they went, which costs a look at the clock. One timer for
each exchange fires now and then, looks at these notes, and is set again for when something may be due: it is not moved
with each byte, so that a busy stream pays nothing for it. A ping says that the upstream lives: it is due if nothing
went out for a while, and something came in since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

__all__ = ["Clock", "Due", "Timer", "Vigil"]
_private = True

Due = Literal["ping", "upstream_timeout", "upstream_stalled", "client_stalled"]
Stage = Literal["asking", "reading", "sending"]

_NEVER: Final = float("inf")
_SLACK: Final = 0.001  # seconds; clocks are coarse, and a timer that fires early would fire again and again


class Handle(Protocol):
    """What a clock gives for a call that waits."""

    def cancel(self) -> None:
        """Forget the call."""


class Clock(Protocol):
    """What an event loop knows of time."""

    def time(self) -> float:
        """Return seconds since any moment."""
        ...

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Handle:
        """Call the function after so many seconds."""
        ...


class Timer:
    """Calls a function that says when it is to be called again.

    Args:
        clock: an event loop, or what a test has in its place.
        look: returns after how many seconds it wants to look again; None for never.
    """

    def __init__(self, clock: Clock, look: Callable[[], float | None]) -> None:
        self._clock = clock
        self._look = look
        self._handle: Handle | None = None

    def restart(self, delay: float | None) -> None:
        """Look after so many seconds, and no sooner; None for never."""
        self.stop()
        if delay is not None:
            self._handle = self._clock.call_later(delay, self._fire)

    def stop(self) -> None:
        """Look no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self.restart(self._look())


class Vigil:
    """Notes when something happened, and says what is due.

    Args:
        now: the time of the beginning.
        ping: seconds of silence towards the client after which a ping is due, if the upstream spoke; None for never.
        ping_always: whether one is due also if it did not.
        first_byte: seconds until the upstream's head has to be there; None for no bound.
        idle: seconds that the upstream may be silent; None for no bound.
        write: seconds that one piece may take to be sent; None for no bound.

    Attributes:
        stage: what the exchange waits for.
        came: when the upstream gave bytes last.
        sending: when the piece was begun that is being sent.
        sent: when the last piece for the client was sent.
        pinged: when the last ping was tried.
        is_heard: whether bytes came since anything went out.
    """

    __slots__ = (
        "_first_byte",
        "_idle",
        "_period",
        "_ping",
        "_ping_always",
        "_write",
        "came",
        "is_heard",
        "pinged",
        "sending",
        "sent",
        "stage",
    )

    def __init__(
        self,
        now: float,
        *,
        ping: float | None = None,
        ping_always: bool = False,
        first_byte: float | None = None,
        idle: float | None = None,
        write: float | None = None,
    ) -> None:
        self.stage: Stage = "asking"
        self.is_heard = False
        self.came = self.sending = self.sent = self.pinged = now
        self._ping = _NEVER if ping is None else ping
        self._ping_always = ping_always
        self._first_byte = _NEVER if first_byte is None else first_byte
        self._idle = _NEVER if idle is None else idle
        self._write = _NEVER if write is None else write
        self._period = min(self._ping, self._idle, self._write)

    def begin(self, now: float) -> None:
        """Take note that the head of the answer is there."""
        self.stage = "reading"
        self.came = self.sent = self.pinged = now

    def wants_ping(self, now: float) -> bool:
        """Whether a ping is due, if something came in just now."""
        return now - max(self.sent, self.pinged) >= self._ping

    def due(self, now: float) -> Due | None:
        """Return what is due."""
        now += _SLACK
        if self.stage == "asking":
            return "upstream_timeout" if now - self.came >= self._first_byte else None
        if self.stage == "sending":
            return "client_stalled" if now - self.sending >= self._write else None
        if now - max(self.came, self.sent) >= self._idle:
            return "upstream_stalled"
        is_wanted = self._ping_always or self.is_heard
        return "ping" if is_wanted and now - max(self.sent, self.pinged) >= self._ping else None

    def wait(self, now: float) -> float | None:
        """Return in how many seconds something may be due; None for never."""
        if self.stage == "asking":
            deadline, longest = self.came + self._first_byte, _NEVER
        elif self.stage == "sending":
            deadline, longest = self.sending + self._write, self._period
        else:
            deadline, longest = max(self.came, self.sent) + self._idle, self._period
            if self._ping_always or self.is_heard:
                deadline = min(deadline, max(self.sent, self.pinged) + self._ping)
        seconds = min(deadline - now, longest)
        return None if seconds == _NEVER else max(seconds, _SLACK)
