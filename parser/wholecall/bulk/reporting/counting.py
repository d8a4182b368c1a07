"""From tables to a report.

Theory of operation. Windows of recordings and their calls are read once; each counter takes its values from them. The
memory of the counters is bounded by the number of groups, not by the number of rows. Unreadable recordings are counted
as such and nowhere else, as in `wholecall lint`.

An exact count of duplicates would need all hashes. Only hashes below a limit are kept, at first all; when they are a
million the limit is halved. Hashes are spread evenly, so those below the limit are a fair sample of all.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute

from wholecall.bulk.failures import StoreFailed
from wholecall.bulk.output_folder import Folder
from wholecall.bulk.reporting import result, vectors
from wholecall.bulk.reporting.groups import GROUPS, NO_CALL, Groups
from wholecall.bulk.reporting.tables import Window, found, windows
from wholecall.recordings.counts import OTHERS

_private = True

pc: Any = pyarrow.compute  # its functions are made at import
_MOST_ENDS = 10_000
_N_WORST = 20
_DIGITS: Final = 16  # of a hash in base 16: 64 bits distinguish a million hashes


def report(
    *paths: str | os.PathLike[str], by: Iterable[str] = ("provider", "model"), least: int = 30
) -> result.BulkReport:
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
        self._unreadable = result.Unreadable()
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

    def report(self, least: int) -> result.BulkReport:
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
        return result.BulkReport(
            by=self._by,
            least=least,
            total=result.merged((self._all or self._groups).counts.values()),
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


def _ranked(groups: dict[tuple[str, ...], result.Counts], least: int) -> tuple[result.Group, ...]:
    """Return groups by their drop rate, the worst first; after them the groups with few calls, the largest first."""

    def order(group: result.Group) -> tuple[bool, float, int, tuple[str, ...]]:
        rate = group.counts.drop_rate
        is_ranked = rate.whole >= least
        return not is_ranked, -(rate.share or 0) if is_ranked else 0, -rate.whole, group.key

    return tuple(sorted((result.Group(*item) for item in groups.items()), key=order))


# --- unreadable recordings, ends of turns, duplicates, and the worst -------------------------------------


def readable(window: Window, unreadable: result.Unreadable) -> Window:
    """Return a window without its unreadable recordings, which are counted."""
    is_good = window.recordings["trouble"].is_null()
    if pc.all(is_good).as_py() in {True, None}:
        return window
    is_bad, stays = pc.invert(is_good), is_good.take(window.owners)
    troubles = window.recordings["trouble"].filter(is_bad)
    for trouble, id in zip(
        troubles.to_pylist(), window.recordings["recording_id"].filter(is_bad).to_pylist(), strict=True
    ):
        unreadable.troubles.add(trouble, 1)
        if trouble in unreadable.troubles:
            unreadable.examples[trouble] = min(id or "", unreadable.examples.get(trouble, id or ""))
    unreadable.recordings += len(troubles)
    unreadable.calls += len(stays) - pc.sum(stays, min_count=0).as_py()
    new_numbers = pc.subtract(pc.cumulative_sum(is_good.cast(pa.int64())), 1)
    return Window(
        {name: column.filter(is_good) for name, column in window.recordings.items()},
        {name: column.filter(stays) for name, column in window.calls.items()},
        new_numbers.take(window.owners.filter(stays)),
    )


class Finishes:
    """Counts how last turns ended, according to the provider and to us."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str | None, str | None]] = Counter()

    def add(self, window: Window) -> None:
        """Count the recordings of a window."""
        columns = (vectors.coded(window.recordings[name]) for name in ("provider_finish", "finish"))
        for provider, ours, count in vectors.tallied(*columns):
            is_full = len(self._counts) >= _MOST_ENDS and (provider, ours) not in self._counts
            self._counts[(OTHERS, OTHERS) if is_full else (provider, ours)] += count

    def found(self) -> tuple[result.FinishCount, ...]:
        """Return the counts, the most frequent first."""
        order = sorted(self._counts.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
        return tuple(result.FinishCount(provider, ours, count) for (provider, ours), count in order)


class Hashes:
    """Counts different hashes.

    Args:
        most: how many hashes to keep.
    """

    def __init__(self, most: int = 1_000_000) -> None:
        self._most = most
        self._hashed = 0
        self._limit = 16**_DIGITS  # hashes from here on are not kept
        self._kept = _hash_table(pa.array([], pa.string()))
        self._waiting: list[Any] = []

    def add(self, window: Window) -> None:
        """Count the recordings of a window."""
        hashes = window.recordings["content_hash"].drop_null()
        self._hashed += len(hashes)
        self._waiting.append(self._below(_hash_table(pc.utf8_slice_codeunits(hashes, 0, _DIGITS))))
        if sum(map(len, self._waiting)) > self._most // 4:
            self._unite()

    def _below(self, hashes: Any) -> Any:
        if self._limit == 16**_DIGITS:
            return hashes
        return hashes.filter(pc.less(hashes["hash"], f"{self._limit:0{_DIGITS}x}"))

    def _unite(self) -> None:
        both = pa.concat_tables([self._kept, *self._waiting])
        self._kept = both.group_by("hash", use_threads=False).aggregate([])
        self._waiting = []
        while len(self._kept) > self._most:
            self._limit //= 2
            self._kept = self._below(self._kept)

    def found(self) -> result.Duplicates:
        """Return how many different hashes there are."""
        self._unite()
        all_of, limit = 16**_DIGITS, self._limit
        distinct = min(len(self._kept) * all_of // limit, self._hashed)
        return result.Duplicates(self._hashed, distinct, exact=limit == all_of)


def _hash_table(hashes: Any) -> Any:
    return pa.table({"hash": hashes})


class Worsts:
    """Keeps the recordings with the most drops and faults; among equal recordings the first ids in the alphabet."""

    def __init__(self) -> None:
        self._kept: list[result.Worst] = []

    def add(self, window: Window) -> None:
        """Add the recordings of a window."""
        dropped, scores = _scores(window)
        least = self._kept[-1].dropped + self._kept[-1].faults if len(self._kept) == _N_WORST else 1
        bad = pc.indices_nonzero(pc.greater_equal(scores, least))
        keys = pa.table({"score": scores.take(bad), "id": window.recordings["recording_id"].take(bad)})
        order = pc.sort_indices(keys, [("score", "descending"), ("id", "ascending")])[:_N_WORST]
        self._kept += [_worst(window, row, dropped) for row in bad.take(order).to_pylist()]
        self._kept = sorted(self._kept, key=_order)[:_N_WORST]

    def found(self) -> tuple[result.Worst, ...]:
        """Return them, the worst first."""
        return tuple(self._kept)


def _order(one: result.Worst) -> tuple[int, str]:
    return -one.dropped - one.faults, one.recording_id or ""  # engines give nulls


def _scores(window: Window) -> tuple[Any, Any]:
    """Return which calls were dropped, and the number of drops and faults of each recording."""
    is_dropped = pc.fill_null(pc.equal(window.calls["outcome"], "dropped"), fill_value=False)
    found = [
        window.owners.filter(is_dropped),
        pc.list_parent_indices(window.recordings["faults"]).cast(pa.int64()),
    ]
    counted = pc.value_counts(
        pa.concat_arrays([vectors.numbers(window.n_recordings), *found])
    )  # each number once more, to keep their order
    return is_dropped, pc.subtract(counted.field(1), 1)


def _worst(window: Window, row: int, is_dropped: Any) -> result.Worst:
    its = {name: window.recordings[name][row].as_py() for name in _SHOWN}
    faults, form = its.pop("faults") or [], its.pop("form")
    reasons = window.calls["reason"].filter(pc.and_(is_dropped, pc.equal(window.owners, row))).to_pylist()
    words = Counter([reason or "unknown" for reason in reasons] + faults)
    return result.Worst(
        **its,
        is_file=form is not None,
        dropped=len(reasons),
        faults=len(faults),
        words=dict(words.most_common()),
    )


_SHOWN: Final = ("recording_id", "source", "form", "provider", "model", "faults")
