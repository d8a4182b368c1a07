"""The result of a report as values, for programs and for the pages that show it.

Nothing here knows of tables, and nothing holds a text of arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from wholecall.bulk.reporting.counts import Counts, Words, merged

__all__ = ["Duplicates", "Finish", "Group", "Report", "Unreadable", "Worst"]
_private = True


class Group(msgspec.Struct, frozen=True):
    """The counts of a group.

    Attributes:
        key: what makes the group: a value for each of `Report.by`.
        counts: of its recordings and calls.
    """

    key: tuple[str, ...]
    counts: Counts


class Unreadable(msgspec.Struct):
    """Recordings that could not be read to their end. They, and what was read of them, are counted nowhere else.

    Attributes:
        recordings: how many.
        calls: calls and drops before the damage.
        troubles: how often each trouble was met.
        examples: by trouble, the id of a recording that has it, the first in the alphabet.
    """

    recordings: int = 0
    calls: int = 0
    troubles: Words = msgspec.field(default_factory=Words)
    examples: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Finish(msgspec.Struct, frozen=True):
    """How often a provider said one thing of the end of a turn, while the turn ended another way.

    Attributes:
        provider: what the provider said, None for nothing.
        ours: a word of `wholecall.types.TurnReason`, None where no turn was.
        count: of how many recordings, by their last turn.
    """

    provider: str | None
    ours: str | None
    count: int


class Duplicates(msgspec.Struct, frozen=True):
    """Recordings with the same bytes.

    Attributes:
        hashed: recordings that have a `content_hash`.
        distinct: how many different ones there are.
        exact: whether they were counted; beyond a million different ones a sample tells, to about 0.2 %.
    """

    hashed: int
    distinct: int
    exact: bool

    @property
    def surplus(self) -> int:
        """How many would go if one of each stayed."""
        return self.hashed - self.distinct


class Worst(msgspec.Struct, frozen=True):
    """A recording with many drops and faults.

    Attributes:
        recording_id: its key in the tables.
        source: the file or table that it is in.
        is_file: whether commands such as `wholecall inspect` read that.
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


class Report(msgspec.Struct, frozen=True):
    """What `report` found.

    Attributes:
        by: what makes groups, some of `provider`, `model`, `dialect` and `tool`.
        least: rates of fewer calls say little, and are not ranked.
        total: the counts of all readable recordings.
        unreadable: the others.
        missing: calls that recordings say they have, and the tables have not.
        waiting: units (files and parts of files) that scans have not read yet.
        groups: the worst drop rate first; those with few calls behind them, the largest first.
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
    finishes: tuple[Finish, ...]
    duplicates: Duplicates
    worst: tuple[Worst, ...]

    def is_ranked(self, counts: Counts) -> bool:
        """Return whether there are enough calls for a drop rate to say something."""
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
