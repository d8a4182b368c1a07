"""The peak of a process's memory.

`getrusage` is wrong for it on Linux: a child process begins with its parent's peak, so that a large parent hides its
child's use. The kernel's account of the address space starts anew.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak() -> int:
    """Return the most memory that this process has held so far, in bytes."""
    if _STATUS.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", _STATUS.read_text("ascii", "replace"))):
        return int(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
