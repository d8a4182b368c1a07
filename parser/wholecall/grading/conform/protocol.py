"""Adapters: programs that run a client over a case and say what became of it, in JSON lines.

Theory of operation. A line ends at LF alone: answers hold U+2028. One thread reads what the program writes, so that a
wait for it can end. A program that dies, or does not answer in time, is ended with all that it started, and is started
again for the next case. Standard error is the program's own.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any, Literal, Optional, Protocol, TypeVar

import msgspec

from wholecall.errors import WholecallError
from wholecall.grading.conform.cases import Wire
from wholecall.grading.conform.verdicts import Answer

Told = TypeVar("Told")

PROTOCOL = 1

_HELLO = 60.0  # seconds that a program may take to say who it is: it imports the client
_GRACE = 5.0  # seconds more than those that the program is told
_BYE = 3.0


class AdapterFailed(WholecallError):
    """A program that is no adapter: it cannot be started, or says something else."""


class Died(Exception):
    """The program ended, or wrote no answer, while it was asked."""


class TooSlow(Exception):
    """The program did not answer in time."""


class Client(msgspec.Struct, frozen=True):
    """A client of an adapter, on one wire.

    Attributes:
        name: its name.
        version: its version.
        wire: the wire that it reads.
        mode: `http`, `bytes` or `gateway`.
        runs_tools: whether it runs tools itself, rather than handing calls over.
        dependencies: versions of what it is built on, by name.
    """

    name: str
    version: str
    wire: Wire
    mode: Literal["http", "bytes", "gateway"]
    runs_tools: bool = False
    dependencies: dict[str, str] = {}


class _Hello(msgspec.Struct):
    protocol: Literal[1]
    clients: list[Client]


class Gateway(msgspec.Struct, frozen=True):
    """Where a gateway listens.

    Attributes:
        gateway: its base URL.
        wire: the wire that it speaks there; None is that of its upstream.
        unsupported: why it cannot be asked this; None if it can.
    """

    gateway: str = ""
    wire: Optional[Wire] = None
    unsupported: Optional[str] = None


class Adapter(Protocol):
    """Something that runs clients over cases."""

    def hello(self) -> list[Client]:
        """Return its clients.

        Raises:
            AdapterFailed: it has none.
        """
        ...

    def run(self, request: Mapping[str, Any]) -> Answer:
        """Return what a client made of a case.

        Raises:
            Died: it ended, or wrote no answer.
            TooSlow: it did not answer in time.
        """
        ...

    def gateway(self, request: Mapping[str, Any]) -> Gateway:
        """Return where the gateway listens that has the case as its upstream.

        Raises:
            Died: it ended, or wrote no answer.
            TooSlow: it did not answer in time.
        """
        ...

    def close(self) -> None:
        """End it."""
        ...


class Program:
    """An adapter that is a program.

    Args:
        command: the program and its arguments.
        quiet: whether its standard error is thrown away.
    """

    def __init__(self, command: Sequence[str], *, quiet: bool = False) -> None:
        self._command = list(command)
        self._stderr = subprocess.DEVNULL if quiet else None
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue()

    def hello(self) -> list[Client]:
        """Start the program and return its clients.

        Raises:
            AdapterFailed: it cannot be started, or is no adapter.
        """
        try:
            line = self._ask({"do": "hello", "protocol": PROTOCOL}, _HELLO)
        except TooSlow:
            raise AdapterFailed(f"{self._command[0]}: no answer to hello in {_HELLO:.0f} seconds") from None
        except Died as error:
            raise AdapterFailed(f"{self._command[0]}: {error}") from None
        try:
            return msgspec.convert(json.loads(line), _Hello).clients
        except (msgspec.ValidationError, ValueError, RecursionError) as error:
            self.close()
            raise AdapterFailed(f"{self._command[0]}: its answer to hello is wrong: {error}") from None

    def run(self, request: Mapping[str, Any]) -> Answer:
        """Return what a client made of a case; the program is started if it does not run.

        Raises:
            Died: it ended, or wrote no answer.
            TooSlow: it did not answer in time.
        """
        return self._told(request, Answer)

    def gateway(self, request: Mapping[str, Any]) -> Gateway:
        """Return where the gateway listens that has the case as its upstream.

        Raises:
            Died: it ended, or wrote no answer.
            TooSlow: it did not answer in time.
        """
        return self._told(request, Gateway)

    def _told(self, request: Mapping[str, Any], kind: type[Told]) -> Told:
        self._check_quiet()
        if self._process is None:
            try:
                self.hello()
            except AdapterFailed as error:
                raise Died(str(error)) from None
        line = self._ask(request, float(request["timeout"]) + _GRACE)
        try:
            return msgspec.convert(json.loads(line), kind)
        except (msgspec.ValidationError, ValueError, RecursionError) as error:
            self._kill()
            raise Died(f"its answer is wrong: {error}") from None

    def close(self) -> None:
        """Say goodbye to the program and end it."""
        process = self._process
        if process is None:
            return
        try:
            self._write(process, {"do": "bye"})
            assert process.stdin is not None
            process.stdin.close()
            process.wait(_BYE)
        except (OSError, subprocess.TimeoutExpired):  # it is ended below
            pass
        self._kill()

    def _check_quiet(self) -> None:
        """End a program that has ended, or wrote something, since its last answer.

        Raises:
            Died: it wrote a line that nobody asked for.
        """
        if self._process is None or self._lines.empty():
            return
        line = self._lines.get()
        self._kill()
        if line:
            raise Died(f"it wrote a line that nobody asked for: {line[:80]!r}")

    def _ask(self, request: Mapping[str, Any], seconds: float) -> bytes:
        process = self._process or self._start()
        try:
            self._write(process, request)
        except OSError:  # it has ended; it may have said something before
            process.poll()
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self._kill()
            raise TooSlow(f"no answer in {seconds:.0f} seconds") from None
        if not line:
            self._kill()
            raise Died(f"the program ended ({process.returncode})")
        return line

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise AdapterFailed(f"{self._command[0]}: {error.strerror}") from None
        assert process.stdout is not None
        self._process, self._lines = process, queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        return process

    def _write(self, process: subprocess.Popen[bytes], request: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        process.stdin.flush()

    def _kill(self) -> None:
        """End the program, and on POSIX all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        except OSError:  # it has ended
            pass
        process.wait()
        if process.stdin is not None and not process.stdin.closed:
            _close(process.stdin)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:  # what was to be written has no reader any more
        return


def _read(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Queue the lines of a program, and an empty one at the end."""
    for line in pipe:
        lines.put(line)
    pipe.close()
    lines.put(b"")
