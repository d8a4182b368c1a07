"""The result of a report as values, for programs and for the pages that show it.

Theory of operation. Counts hold no row: they are counters by word, and histograms whose buckets grow with the value, so
that their size does not depend on the number of counted rows. They extend the counts that `wholecall lint` fills from
events, and have its numbers. Nothing here knows of tables, and nothing holds a text of arguments.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from wholecall.recordings.counts import KINDS, RecordingCounts, Words, described, merge_words

_private = True

SECONDS: Final = ("first_text_s", "first_call_s", "last_s")
_Z = 1.959964  # of the normal distribution, for 95 %


class Rate(NamedTuple):
    """A part of a whole; `whole` may be 0."""

    part: int
    whole: int

    @property
    def share(self) -> float | None:
        """The share, None if the whole is 0."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the true share; from 0 to 1 if the whole is 0."""
        if not self.whole:
            return 0.0, 1.0
        n, share = self.whole, self.part / self.whole
        middle = share + _Z * _Z / (2 * n)
        reach = _Z * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
        scale = 1 + _Z * _Z / n
        return max((middle - reach) / scale, 0.0), min((middle + reach) / scale, 1.0)


class Histogram(msgspec.Struct):
    """Counts values in buckets that are 9 % wide, so that any quantile is known to 5 %.

    Attributes:
        buckets: the number of values in each: bucket n holds values from `2 ** (n / 8)` on, below the next one.
    """

    STEPS: ClassVar[int] = 8  # buckets per doubling
    LEAST: ClassVar[int] = -160  # the bucket of a millionth, and of smaller values
    buckets: Counter[int] = msgspec.field(default_factory=Counter[int])

    def merge(self, other: Histogram) -> None:
        """Add the counts of another histogram."""
        self.buckets.update(other.buckets)

    @property
    def total(self) -> int:
        """The number of counted values."""
        return self.buckets.total()

    def quantile(self, share: float) -> float | None:
        """Return the value that this share of all values does not exceed, None without values."""
        wanted, below = math.ceil(share * self.total), 0
        for bucket, count in sorted(self.buckets.items()):
            below += count
            if below >= wanted:
                return self.value_of(bucket)
        return None

    def above_zero(self) -> dict[int, int]:
        """Return the buckets without the lowest one, which holds zeros."""
        return {bucket: count for bucket, count in self.buckets.items() if bucket > self.LEAST}

    @classmethod
    def value_of(cls, bucket: float) -> float:
        """Return the value in the middle of a bucket."""
        return 0.0 if bucket <= cls.LEAST else 2.0 ** ((bucket + 0.5) / cls.STEPS)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return three quantiles, and the number of values."""
        quantiles = {f"p{share}": self.quantile(share / 100) for share in (50, 90, 99)}
        return {"count": self.total} | {name: _rounded(value) for name, value in quantiles.items()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


class Counts(RecordingCounts):
    """Counts of recordings and of their calls.

    Attributes:
        recordings: readable recordings.
        odd: recordings with a finding.
        turns: messages.
        bytes: bytes of the bodies.
        calls: whole calls; the next four are among them.
        empty: calls without arguments.
        recovered: calls whose text had slips.
        cancelled: calls that the same recording took back.
        server: calls that the provider executed.
        findings: by kind (`KINDS`), how often each word was counted.
        seen: by kind, in how many recordings each word was counted.
        with_tokens: recordings that state their output tokens.
        input_tokens: the sum over recordings that state it.
        output_tokens: as above.
        calls_with_tokens: whole calls of recordings with tokens.
        sizes: bytes of arguments, of each call and drop.
        seconds: seconds by column (`SECONDS`), of recordings that have times.
    """

    NUMBERS: ClassVar[tuple[str, ...]] = (
        *("recordings", "odd", "turns", "bytes", "calls", "empty", "recovered", "cancelled", "server"),
        *("with_tokens", "input_tokens", "output_tokens", "calls_with_tokens"),
    )

    bytes: int = 0
    recovered: int = 0
    cancelled: int = 0
    server: int = 0
    with_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    calls_with_tokens: int = 0
    seen: dict[str, Words] = msgspec.field(default_factory=lambda: {kind: Words() for kind in KINDS})
    sizes: Histogram = msgspec.field(default_factory=Histogram)
    seconds: dict[str, Histogram] = msgspec.field(
        default_factory=lambda: {name: Histogram() for name in SECONDS}
    )

    @property
    def drop_rate(self) -> Rate:
        """How many of all calls were dropped."""
        return Rate(self.dropped, self.calls + self.dropped)

    def merge(self, other: RecordingCounts) -> None:
        """Add the counts of another group."""
        assert isinstance(other, Counts)
        super().merge(other)
        merge_words(self.seen, other.seen)
        self.sizes.merge(other.sizes)
        for name in SECONDS:
            self.seconds[name].merge(other.seconds[name])

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values; kinds without a finding are left out."""
        low, high = self.drop_rate.interval
        return (
            self.numbers()
            | {"drop_rate": {"share": self.drop_rate.share, "low": low, "high": high}}
            | described(self.findings)
            | {
                "recordings_with": described(self.seen),
                "argument_bytes": self.sizes.to_dict(),
                "seconds": {name: times.to_dict() for name, times in self.seconds.items()},
            }
        )


def merged(many: Iterable[Counts]) -> Counts:
    """Return the counts of several groups together."""
    all_of = Counts()
    for counts in many:
        all_of.merge(counts)
    return all_of


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
