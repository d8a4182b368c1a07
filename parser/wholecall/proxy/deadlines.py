"""Deadlines of an exchange: a ping, the upstream's next byte, the client's reading.

Theory of operation. The relay notes when bytes arrived and when they were sent, which costs one clock reading. Each
exchange has one timer. It fires now and then, checks these times, and is set again for the next time when something may
be due. It is not moved with each byte, so that a busy stream pays nothing for it. A ping says that the upstream is
alive: it is due if nothing was sent for a while, and something arrived since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

_private = True

Due = Literal["ping", "upstream_timeout", "upstream_stalled", "client_stalled"]
Stage = Literal["asking", "reading", "sending"]

_NEVER: Final = float("inf")
_SLACK: Final = 0.001  # seconds; clocks are coarse, and a timer that fires early would fire again and again


class Handle(Protocol):
    """The handle of a scheduled call."""

    def cancel(self) -> None:
        """Cancel the call."""


class Clock(Protocol):
    """The time functions of an event loop."""

    def time(self) -> float:
        """Return seconds since an arbitrary moment."""
        ...

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Handle:
        """Call the function after a number of seconds."""
        ...


class Timer:
    """Calls a function repeatedly, after the delay that the function returns.

    Args:
        clock: an event loop, or its replacement in a test.
        look: returns the seconds until its next call; None for never.
    """

    def __init__(self, clock: Clock, look: Callable[[], float | None]) -> None:
        self._clock = clock
        self._look = look
        self._handle: Handle | None = None

    def restart(self, delay: float | None) -> None:
        """Call after a number of seconds, and not earlier; None for never."""
        self.stop()
        if delay is not None:
            self._handle = self._clock.call_later(delay, self._fire)

    def stop(self) -> None:
        """Make no more calls."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self.restart(self._look())


class Deadlines:
    """The times of an exchange's events, and the deadlines that follow from them.

    Args:
        now: the time of the beginning.
        ping: seconds of silence towards the client after which a ping is due, if the upstream sent bytes; None for
            never.
        ping_always: whether a ping is due also if the upstream sent nothing.
        first_byte: seconds until the upstream's head has to arrive; None for no bound.
        idle: seconds that the upstream may be silent; None for no bound.
        write: seconds that one piece may take to be sent; None for no bound.

    Attributes:
        stage: the event that the exchange waits for.
        came: when the upstream last sent bytes.
        sending: when sending of the current piece began.
        sent: when the last piece for the client was sent.
        pinged: when the last ping was tried.
        is_heard: whether bytes arrived since anything was sent.
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
        """Note that the head of the answer has arrived."""
        self.stage = "reading"
        self.came = self.sent = self.pinged = now

    def wants_ping(self, now: float) -> bool:
        """Return whether a ping is due, assuming that bytes arrived just now."""
        return now - max(self.sent, self.pinged) >= self._ping

    def due(self, now: float) -> Due | None:
        """Return the action that is due."""
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
        """Return the seconds until something may be due; None for never."""
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
