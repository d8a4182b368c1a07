"""The contenders: each a separate process, on a separate core if possible, watched through the kernel."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.proxy.scripts import KEY

_PATIENCE: Final = 60.0  # seconds until a contender listens; LiteLLM takes many
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class NotStarted(Exception):
    """A contender does not listen."""


class System(NamedTuple):
    """A system that takes requests.

    Attributes:
        name: the name in the table.
        port: its port on the loopback interface.
        pid: the id of its process; 0 is the upstream itself, which is not timed.
    """

    name: str
    port: int
    pid: int

    @property
    def host(self) -> str:
        """Its name in a request."""
        return f"127.0.0.1:{self.port}"

    def cpu(self) -> float:
        """Return the processor time that it has taken so far, in seconds, as the kernel says."""
        if not self.pid:
            return 0.0
        folder = Path(f"/proc/{self.pid}")
        with contextlib.suppress(OSError):  # in nanoseconds, where the kernel counts them
            return sum(
                int((task / "schedstat").read_text().split()[0]) / 1e9 for task in (folder / "task").iterdir()
            )
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> int:
        """Return its memory in use, in bytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE


DIRECT: Final = "direct"


@functools.cache
def cores() -> tuple[set[int], set[int]]:
    """Return the core of the contenders, and those of this process; the same where there is only one."""
    found = sorted(os.sched_getaffinity(0))
    return {found[-1]}, set(found[:-1]) or {found[-1]}


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _proxy(port: int, upstream: int, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "wholecall", "proxy"),
        *("--listen", f"127.0.0.1:{port}", "--upstream", f"http://127.0.0.1:{upstream}"),
        *("--log", "off", *options),
    ]


def _litellm(command: str, port: int, upstream: int, folder: Path) -> list[str]:
    upstream_url = f"http://127.0.0.1:{upstream}/v1"
    parameters = {"model": "openai/*", "api_base": upstream_url, "api_key": KEY}
    settings = {
        "model_list": [{"model_name": "*", "litellm_params": parameters}],
        "general_settings": {"master_key": KEY},
    }
    config = folder / "litellm.yaml"
    config.write_text(json.dumps(settings))  # which is YAML, too
    return [
        *shlex.split(command),
        *("--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"),
    ]


Command = Callable[[int, int, Path], Sequence[str]]


def _commands(litellm: str | None) -> dict[str, Command]:
    """Return how each contender is started."""
    found: dict[str, Command] = {
        "relay": lambda port, up, _: [sys.executable, "-m", "benchmarks.proxy.relay", str(port), str(up)],
        "pass": lambda port, up, _: _proxy(port, up, "--no-repair"),
        "repair": lambda port, up, _: _proxy(port, up),
        "no pings": lambda port, up, _: _proxy(port, up, "--ping", "off"),
    }
    if litellm is not None:
        found["litellm"] = lambda port, up, folder: _litellm(litellm, port, up, folder)
    return found


@contextlib.contextmanager
def _process(argv: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process on the core of the proxy, and end it."""
    here = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores()[0])  # child processes inherit it
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
            )
    finally:
        os.sched_setaffinity(0, here)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _until_it_listens(process: subprocess.Popen[bytes], name: str, port: int, log: Path) -> None:
    """Return when a connection is taken.

    Raises:
        NotStarted: the process ended, or takes too long.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + _PATIENCE
    while process.poll() is None and loop.time() < end:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)
    raise NotStarted(f"{name} does not listen: {_end_of(log)}")


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", "replace").strip()[-2000:]


@contextlib.asynccontextmanager
async def started(upstream: int, litellm: str | None) -> AsyncIterator[dict[str, System]]:
    """Start all contenders, each with its connections to the upstream's port, and end them.

    Args:
        upstream: the port.
        litellm: the command of LiteLLM's proxy; None leaves it out.

    Raises:
        NotStarted: one of them does not start.
    """
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = {DIRECT: System(DIRECT, upstream, 0)}
        for name, command in _commands(litellm).items():
            port, log = _free_port(), folder / f"{name}.log"
            process = stack.enter_context(_process(command(port, upstream, folder), log))
            await _until_it_listens(process, name, port, log)
            found[name] = System(name, port, process.pid)
        yield found
