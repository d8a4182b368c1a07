"""The command `wholecall proxy` as a separate process, in front of a server on this machine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LISTENING = re.compile(r"listening: (http://\S+)")
_PATIENCE = 20.0  # seconds in which it has to end


@contextmanager
def proxied(upstream: str, *options: str) -> Iterator[str]:
    """Run the proxy while the block runs; give the address where it listens.

    Args:
        upstream: the address of the server.
        options: further options of the command line.

    Raises:
        RuntimeError: it does not listen.
    """
    where = ("--upstream", upstream, "--listen", "127.0.0.1:0", "--no-env-proxy", "--log", "off")
    words = [sys.executable, "-m", "wholecall", "proxy", *where, *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:  # noqa: S603
        try:
            yield _address(process)
        finally:
            process.terminate()
            process.communicate(timeout=_PATIENCE)


def _address(process: subprocess.Popen[str]) -> str:
    said: list[str] = []
    for line in process.stderr or ():
        said.append(line)
        found = _LISTENING.search(line)
        if found is not None:
            return found[1]
    raise RuntimeError(f"the proxy does not listen: {''.join(said)}")
