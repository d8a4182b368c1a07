"""From tables to a report.

Theory of operation. Windows of recordings and their calls are read once; each counter takes its values from them. The
memory of the counters is bounded by the number of groups, not by the number of rows. Unreadable recordings are counted
as such and nowhere else, as in `wholecall lint`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pyarrow.compute

from wholecall.bulk.faults import StoreFailed
from wholecall.bulk.folder import Folder
from wholecall.bulk.reporting.counts import Counts, merged
from wholecall.bulk.reporting.files import found
from wholecall.bulk.reporting.groups import GROUPS, NO_CALL, Groups
from wholecall.bulk.reporting.others import Finishes, Hashes, Worsts, readable
from wholecall.bulk.reporting.result import BulkReport, Group, Unreadable
from wholecall.bulk.reporting.windows import Window, windows

__all__ = ["report"]
_private = True

pc: Any = pyarrow.compute  # its functions are made at import


def report(
    *paths: str | os.PathLike[str], by: Iterable[str] = ("provider", "model"), least: int = 30
) -> BulkReport:
    """Return counts of recordings and calls.

    The tables are read once, some thousands of rows at a time, and without the texts of arguments.

    Args:
        paths: folders that `scan` wrote, Parquet files or folders of the tables `CALLS` and `RECORDINGS` (calls in the
            order of their recordings) or `ASSEMBLED`, or URLs of either in an object store.
        by: the columns that make groups: `"provider"`, `"model"`, `"dialect"`, `"folder"` (the folder of the source,
            below the scanned folder), `"tool"`. By tool a recording is counted for each tool that it called.
        least: the number of calls from which on a drop rate is ranked.

    Raises:
        ValueError: `by` names something else, there are no such tables, or one is damaged.
        OSError: a file cannot be read, or a store does not answer.
    """
    counting, addresses = _Counting(_ordered(by)), [os.fspath(path) for path in paths]
    try:
        counting.waiting = sum(Folder(path).n_waiting() for path in addresses)
        for window in windows(found(addresses)):
            counting.add(window)
    except StoreFailed as error:
        raise OSError(str(error)) from None
    return counting.report(least)


def _ordered(by: Iterable[str]) -> tuple[str, ...]:
    names = [by] if isinstance(by, str) else list(by)
    unknown = sorted(set(names) - set(GROUPS))
    if unknown or not names:
        raise ValueError(
            f"{', '.join(unknown) or 'nothing'} makes no groups: take some of {', '.join(GROUPS)}"
        )
    return tuple(name for name in GROUPS if name in names)


class _Counting:
    """All counters of a report."""

    def __init__(self, by: tuple[str, ...]) -> None:
        self._by = by
        self._groups = Groups(by)
        self._tools = self._groups if by == ("tool",) else Groups(("tool",))
        self._all = Groups(()) if "tool" in by else None  # where the groups do not add up to the total
        self._unreadable = Unreadable()
        self._finishes, self._hashes, self._worsts = Finishes(), Hashes(), Worsts()
        self._missing = self.waiting = 0

    def add(self, window: Window) -> None:
        """Count a window."""
        self._missing += _missing(window)
        good = readable(window, self._unreadable)
        self._groups.add(good)
        if self._tools is not self._groups:
            self._tools.add(good)
        if self._all is not None:
            self._all.add(good)
        for counter in (self._finishes, self._hashes, self._worsts):
            counter.add(good)

    def report(self, least: int) -> BulkReport:
        """Return the report.

        Raises:
            ValueError: there are more calls than there should be.
        """
        if self._missing < 0:
            raise ValueError(
                f"there are {-self._missing:,} calls more than the recordings have: give each table once, and those that "
                "belong together"
            )
        by_tool = {key: counts for key, counts in self._tools.counts.items() if key != (NO_CALL,)}
        return BulkReport(
            by=self._by,
            least=least,
            total=merged((self._all or self._groups).counts.values()),
            unreadable=self._unreadable,
            missing=self._missing,
            waiting=self.waiting,
            groups=_ranked(self._groups.counts, least),
            tools=_ranked(by_tool, least),
            finishes=self._finishes.found(),
            duplicates=self._hashes.found(),
            worst=self._worsts.found(),
        )


def _missing(window: Window) -> int:
    """Return how many calls are missing, as far as recordings say how many they have."""
    said = pc.add(window.recordings["n_calls"], window.recordings["n_dropped"])
    found: int = said.is_valid().take(window.owners).true_count
    wanted: int = pc.sum(said, min_count=0).as_py()
    return wanted - found


def _ranked(groups: dict[tuple[str, ...], Counts], least: int) -> tuple[Group, ...]:
    """Return groups by their drop rate, the worst first; after them the groups with few calls, the largest first."""

    def order(group: Group) -> tuple[bool, float, int, tuple[str, ...]]:
        rate = group.counts.drop_rate
        is_ranked = rate.whole >= least
        return not is_ranked, -(rate.share or 0) if is_ranked else 0, -rate.whole, group.key

    return tuple(sorted((Group(*item) for item in groups.items()), key=order))
