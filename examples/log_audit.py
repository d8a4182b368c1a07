"""An audit of logs: the number of calls in recorded streams, the number that must not be executed, and the reasons.

    python examples/log_audit.py corpora/recordings

Reads every recording in the named folders and files, in any format (`wholecall.recordings`), and exits with 1 if a
stream held a call that must not be executed.
"""

from __future__ import annotations

import sys
from collections import Counter

from wholecall.recordings import read
from wholecall.replay import replay


def audit(*paths: str) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Return how many calls each dialect held, and how many of them were dropped, by dialect and reason."""
    calls: Counter[str] = Counter()
    dropped: Counter[tuple[str, str]] = Counter()
    for recording in read(*paths):
        dialect = "unknown"
        for event in replay(recording):
            if event.type == "turn_started":
                dialect = event.dialect
            elif event.type == "tool_call":
                calls[dialect] += 1
            elif event.type == "tool_call_dropped":
                calls[dialect] += 1
                dropped[dialect, event.reason] += 1
    return calls, dropped


def main(paths: list[str]) -> int:
    """Print the audit; return the exit code."""
    calls, dropped = audit(*paths)
    for dialect, count in calls.most_common():
        print(f"{count:6} {dialect}")
        for (_, reason), number in sorted(item for item in dropped.items() if item[0][0] == dialect):
            print(f"{number:6}   must not be executed: {reason}")
    return 1 if dropped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
