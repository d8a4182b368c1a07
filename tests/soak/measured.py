"""The program `wholecall`, in a process that reports its memory: `python -m tests.soak.measured FILE ARGUMENT...`.

The memory of a process also grows by holes between objects that live for different times. Therefore growth is judged by
the memory in use: at each SIGUSR1, after a collection, a line of the file says how many blocks Python's own allocator
has given out (all objects of up to 512 bytes), and how many bytes the C library's has (all that are larger).
"""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from wholecall.cli import main

_MIB = 2**20


class Held(NamedTuple):
    """The memory that a process has in use."""

    blocks: int
    mib: float

    def __str__(self) -> str:
        return f"{self.blocks:,} blocks and {self.mib:.1f} MiB"


class _Mallinfo(ctypes.Structure):
    # struct mallinfo2 of glibc, malloc.h
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    ]


def held() -> Held:
    """Return this process's memory in use; without the C library's part where it does not report it."""
    gc.collect()
    asked = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if asked is None:
        return Held(sys.getallocatedblocks(), 0.0)
    asked.restype = _Mallinfo
    said = asked()
    return Held(sys.getallocatedblocks(), (said.uordblks + said.hblkhd) / _MIB)


def _tell(file: Path) -> None:
    """Write a line at each SIGUSR1."""

    def write(*_: object) -> None:
        with file.open("a", encoding="ascii") as out:
            out.write("{} {}\n".format(*held()))

    signal.signal(signal.SIGUSR1, write)


if __name__ == "__main__":
    _tell(Path(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
