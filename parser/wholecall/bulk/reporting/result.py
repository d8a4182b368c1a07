"""The result of a report as values, for programs and for the pages that show it.

Nothing here knows of tables, and nothing holds a text of arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from wholecall.bulk.reporting.counts import Counts, merged
from wholecall.recordings.counts import Words

__all__ = ["BulkReport", "Duplicates", "FinishCount", "Group", "Unreadable", "Worst"]
_private = True


class Group(msgspec.Struct, frozen=True):
    """The counts of a group.

    Attributes:
        key: the key of the group: a value for each of `Report.by`.
        counts: the counts of its recordings and calls.
    """

    key: tuple[str, ...]
    counts: Counts


class Unreadable(msgspec.Struct):
    """Recordings that could not be read to their end. They, and the part that was read, are counted nowhere else.

    Attributes:
        recordings: the number of recordings.
        calls: calls and drops before the damage.
        troubles: how often each trouble was met.
        examples: by trouble, the id of a recording that has it, the first in the alphabet.
    """

    recordings: int = 0
    calls: int = 0
    troubles: Words = msgspec.field(default_factory=Words)
    examples: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class FinishCount(msgspec.Struct, frozen=True):
    """How often a provider stated one end of a turn, while the turn ended another way.

    Attributes:
        provider: the provider's statement, None for nothing.
        ours: a word of `wholecall.types.TurnReason`, None without a turn.
        count: the number of recordings, by their last turn.
    """

    provider: str | None
    ours: str | None
    count: int


class Duplicates(msgspec.Struct, frozen=True):
    """Recordings with the same bytes.

    Attributes:
        hashed: recordings that have a `content_hash`.
        distinct: how many different hashes there are.
        exact: whether they were counted; beyond a million different hashes the number is an estimate, to about 0.2 %.
    """

    hashed: int
    distinct: int
    exact: bool

    @property
    def surplus(self) -> int:
        """The number of recordings to remove to keep one of each."""
        return self.hashed - self.distinct


class Worst(msgspec.Struct, frozen=True):
    """A recording with many drops and faults.

    Attributes:
        recording_id: its key in the tables.
        source: the file or table that holds it.
        is_file: whether commands such as `wholecall inspect` read the source.
        provider: None where it is not known.
        model: as above.
        dropped: how many calls were dropped.
        faults: how many faults there were.
        words: reasons and kinds of both, the most frequent first.
    """

    recording_id: str
    source: str | None
    is_file: bool
    provider: str | None
    model: str | None
    dropped: int
    faults: int
    words: dict[str, int]


class BulkReport(msgspec.Struct, frozen=True):
    """The result of `report`.

    Attributes:
        by: the group columns, some of `provider`, `model`, `dialect` and `tool`.
        least: the number of calls below which rates say little, and are not ranked.
        total: the counts of all readable recordings.
        unreadable: the counts of the others.
        missing: calls that recordings state, but that are not in the tables.
        waiting: units (files and parts of files) that scans have not read yet.
        groups: the worst drop rate first; after them those with few calls, the largest first.
        tools: a group for each tool, in the same order.
        finishes: the most frequent first.
        duplicates: recordings with the same bytes.
        worst: recordings with the most drops and faults, 20 at most.
    """

    by: tuple[str, ...]
    least: int
    total: Counts
    unreadable: Unreadable
    missing: int
    waiting: int
    groups: tuple[Group, ...]
    tools: tuple[Group, ...]
    finishes: tuple[FinishCount, ...]
    duplicates: Duplicates
    worst: tuple[Worst, ...]

    def is_ranked(self, counts: Counts) -> bool:
        """Return whether there are enough calls for a meaningful drop rate."""
        return counts.drop_rate.whole >= self.least

    @staticmethod
    def together(groups: Iterable[Group]) -> Counts:
        """Return the counts of several groups as one."""
        return merged(group.counts for group in groups)

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """Yield the report as JSON objects, each with its `section`; docs/bulk.md lists their members."""
        yield {"section": "total", "missing": self.missing, "waiting": self.waiting} | self.total.to_dict()
        yield {"section": "unreadable", **_plain(self.unreadable)}
        for group in self.groups:
            yield self._described("group", dict(zip(self.by, group.key, strict=True)), group.counts)
        for group in self.tools:
            yield self._described("tool", {"tool": group.key[0]}, group.counts)
        for finish in self.finishes:
            yield {"section": "finish", **_plain(finish)}
        yield {"section": "duplicates", **_plain(self.duplicates), "surplus": self.duplicates.surplus}
        for one in self.worst:
            yield {"section": "worst", **_plain(one)}

    def _described(self, section: str, key: dict[str, str], counts: Counts) -> dict[str, Any]:
        return {"section": section, **key, "ranked": self.is_ranked(counts)} | counts.to_dict()


def _plain(struct: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}
