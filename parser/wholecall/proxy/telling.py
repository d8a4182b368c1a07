"""Messages of the proxy and its libraries on standard error, in addition to its access log.

Theory of operation. Libraries log an exception that leaves an application with its traceback. The exception that ends
an answer is not a fault, and is dropped. Of any other exception the type and the place are kept: its message may quote
a client's text.
"""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Sequence
from typing import IO, Final

from wholecall.discreet import compact
from wholecall.proxy.config import LogForm
from wholecall.proxy.errors import CutOff
from wholecall.proxy.log import form_on

__all__ = ["Teller", "quieten"]
_private = True

_LIBRARIES: Final = ("uvicorn", "asyncio", "aiohttp")
_NO_FAULT: Final = ("Unsupported upgrade request.", "No supported WebSocket library")


class Teller:
    """Writes messages about the proxy itself.

    Args:
        form: the form of the access log on the same stream.
        stream: the destination.
    """

    def __init__(self, form: LogForm, stream: IO[str]) -> None:
        self._form = form_on(stream, form)
        self._stream = stream

    def say(self, event: str, detail: str) -> None:
        """Write a line.

        Args:
            event: the event, in a few words.
            detail: the details.
        """
        if self._form == "json":
            line = compact({"event": event, "detail": detail})
        else:
            line = f"wholecall: {event}: {detail}"
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def listening(self, sockets: Sequence[socket.socket], *, is_tls: bool) -> None:
        """Report the addresses for clients."""
        for one in sockets:
            name = one.getsockname()
            if isinstance(name, tuple):
                host = f"[{name[0]}]" if ":" in name[0] else name[0]
                self.say("listening", f"{'https' if is_tls else 'http'}://{host}:{name[1]}")
            else:
                self.say("listening", f"unix:{name}")


class _Handler(logging.Handler):
    """Passes log records of libraries to a teller."""

    def __init__(self, teller: Teller) -> None:
        super().__init__(logging.WARNING)
        self._teller = teller

    def emit(self, record: logging.LogRecord) -> None:
        """Report the record, unless it is not a fault."""
        error = record.exc_info[1] if record.exc_info else None
        text = record.getMessage().strip()
        if isinstance(error, CutOff) or text.startswith(_NO_FAULT):
            return
        self._teller.say(record.name, text.partition("\n")[0] if error is None else _place(error))


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def quieten(teller: Teller) -> None:
    """Restrict libraries to safe messages."""
    handler = _Handler(teller)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
