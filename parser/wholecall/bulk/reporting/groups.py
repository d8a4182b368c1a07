"""The counts of groups of recordings: by provider, model, dialect, folder, tool, or of all.

Theory of operation. A *member* is a recording in a group. Without tools each recording is one member; by tool it is a
member of the group of each tool that it called, so that shares of recordings mean the same everywhere. The facts of
members and calls are counted by group with Arrow (see `vectors`); only sums reach Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute

from wholecall.bulk.reporting import vectors
from wholecall.bulk.reporting.result import SECONDS, Counts, Histogram
from wholecall.bulk.reporting.tables import Window
from wholecall.recordings.counts import OTHERS

_private = True

pc: Any = pyarrow.compute  # its functions are made at import

GROUPS: Final = ("provider", "model", "dialect", "folder", "tool")  # the columns that make groups
_MOST_GROUPS: Final = 10_000
_SUMS: Final = ("turns", "bytes", "input_tokens", "output_tokens")
_COUNTED: Final = (*_SUMS, *SECONDS, "faults", "anomalies")  # the counts of recordings
UNKNOWN: Final = "unknown"
HERE: Final = "."  # the folder that was scanned
NO_CALL: Final = "(no call)"
NO_NAME: Final = "(no name)"


class Members(NamedTuple):
    """Recordings in groups.

    Attributes:
        recordings: arrays by column, of counted recordings; row n is the recording of member n.
        groups: the key of each member's group.
        of_calls: the number of each call's member.
    """

    recordings: dict[str, Any]
    groups: vectors.Coded
    of_calls: Any


class Groups:
    """Counts by group; beyond 10,000 groups all further groups are one.

    Args:
        by: some of `GROUPS`, in this order; without any there is one group of all.

    Attributes:
        counts: by key, a value for each of `by`.
    """

    def __init__(self, by: Sequence[str]) -> None:
        self._by = by
        self.counts: dict[tuple[str, ...], Counts] = {}

    def add(self, window: Window) -> None:
        """Count some recordings and their calls."""
        members = self._members(window)
        groups = members.groups._replace(values=[self._counts(key) for key in members.groups.values])
        found = dict(_findings(members, window.calls))
        _add_findings(groups, found)
        _add_recordings(groups, members, found)
        _add_calls(groups.take(members.of_calls), members, window.calls)

    def _counts(self, key: tuple[str, ...]) -> Counts:
        if key not in self.counts and len(self.counts) >= _MOST_GROUPS:
            key = (OTHERS,) * len(key)
        return self.counts.setdefault(key, Counts())

    def _members(self, window: Window) -> Members:
        keys = vectors.constant((), window.n_recordings)
        for name in self._by:
            if name != "tool":
                keys = keys.crossed(_named(window, name))
        if "tool" not in self._by:
            return Members(window.recordings, keys, window.owners)
        return _by_tool(window, keys)


def _named(window: Window, name: str) -> vectors.Coded:
    """Return the group columns of each recording; a folder is the folder of its source."""
    if name == "folder":
        inside = pc.replace_substring_regex(window.recordings["source"], r"(^|/)[^/]*$", r"\1")
        names = pc.replace_substring_regex(pc.if_else(pc.equal(inside, ""), HERE, inside), r"(.)/$", r"\1")
    else:
        names = window.recordings[name]
    return vectors.coded(pc.fill_null(names, UNKNOWN))


def _by_tool(window: Window, keys: vectors.Coded) -> Members:
    """Return a member for each tool of each recording, and one for each recording without a call."""
    tools = vectors.coded(pc.fill_null(window.calls["name"], NO_NAME))
    of_calls, owners, called = vectors.distinct(window.owners, window.n_recordings, tools)
    rows = vectors.numbers(window.n_recordings)
    idle = rows.filter(pc.invert(pc.is_in(rows, value_set=owners)))
    owners = pa.concat_arrays([owners, idle])
    nothing = pa.repeat(pa.scalar(len(called.values), pa.int64()), len(idle))
    tools = vectors.Coded(pa.concat_arrays([called.codes, nothing]), [*called.values, NO_CALL])
    recordings = {name: window.recordings[name].take(owners) for name in _COUNTED}
    return Members(recordings, keys.take(owners).crossed(tools), of_calls)


# Findings: for each kind the numbers of the members that have one, and the words, one entry for each finding.

Findings = dict[str, tuple[Any, vectors.Coded]]


def _findings(members: Members, calls: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, vectors.Coded]]]:
    dropped = _is(calls["outcome"], "dropped")
    reasons = pc.fill_null(calls["reason"].filter(dropped), UNKNOWN)
    yield "dropped", (members.of_calls.filter(dropped), vectors.coded(reasons))
    for kind in ("faults", "anomalies"):
        rows, words = _said(members.recordings[kind])
        yield kind, (rows, words)
    for kind in ("flags", "edits"):
        rows, words = _said(calls[kind])
        yield kind, (members.of_calls.take(rows), words)


def _said(lists: Any) -> tuple[Any, vectors.Coded]:
    """Return the words of lists, and the number of the list of each."""
    words = pc.fill_null(pc.list_flatten(lists), UNKNOWN)
    return pc.list_parent_indices(lists).cast(pa.int64()), vectors.coded(words)


def _is(column: Any, word: str) -> Any:
    return pc.equal(column, pa.scalar(word, column.type)).fill_null(_FALSE)


def _add_findings(groups: vectors.Coded, found: Findings) -> None:
    for kind, (rows, words) in found.items():
        for counts, word, count in vectors.tallied(groups.take(rows), words):
            counts.find(kind, word, count)
        _, owners, once = vectors.distinct(rows, len(groups.codes), words)
        for counts, word, count in vectors.tallied(groups.take(owners), once):
            counts.seen[kind].add(word, count)


# Numbers.


def _add_recordings(groups: vectors.Coded, members: Members, found: Findings) -> None:
    columns, rows = members.recordings, vectors.numbers(len(groups.codes))
    odd = pa.concat_arrays([its for its, _ in found.values()])
    sums_of = {
        "recordings": pc.is_valid(rows),
        "odd": pc.is_in(rows, value_set=odd),
        "with_tokens": columns["output_tokens"].is_valid(),
        **{name: columns[name] for name in _SUMS},
    }
    for counts, sums in vectors.summed(groups, sums_of):
        counts.add(sums)
    for name in SECONDS:
        for counts, bucket, count in _spread(groups, columns[name]):
            counts.seconds[name].buckets[bucket] += count


def _add_calls(groups: vectors.Coded, members: Members, calls: dict[str, Any]) -> None:
    whole = pc.invert(_is(calls["outcome"], "dropped"))
    sums_of = {
        "calls": whole,
        "empty": pc.and_(whole, _is(calls["status"], "empty")),
        "recovered": pc.and_(whole, _is(calls["status"], "recovered")),
        "cancelled": _is(calls["outcome"], "cancelled"),
        "server": pc.and_(whole, _is(calls["kind"], "server")),
        "calls_with_tokens": pc.and_(
            whole, members.recordings["output_tokens"].is_valid().take(members.of_calls)
        ),
    }
    for counts, sums in vectors.summed(groups, sums_of):
        counts.add(sums)
    for counts, bucket, count in _spread(groups, calls["n_arguments_bytes"]):
        counts.sizes.buckets[bucket] += count


def _spread(groups: vectors.Coded, values: Any) -> Iterator[tuple[Counts, int, int]]:
    """Yield for each group and bucket of a histogram the number of values."""
    known = pc.is_finite(values).fill_null(_FALSE)
    raised = pc.max_element_wise(values.filter(known).cast(pa.float64(), safe=False), _LEAST)
    buckets = pc.floor(pc.multiply(pc.log2(raised), _STEPS))
    yield from vectors.tallied(groups.filter(known), vectors.coded(buckets.cast(pa.int64())))


_FALSE: Final = pa.scalar(value=False)
_STEPS: Final = pa.scalar(float(Histogram.STEPS))
_LEAST: Final = pa.scalar(2.0 ** (Histogram.LEAST / Histogram.STEPS))
