"""Counts of recordings and calls, for one group of them or for all.

Theory of operation. Counts hold no row: they are counters by word, and histograms whose buckets grow with the value, so
that their size does not depend on the number of counted rows. Findings are those of `wholecall lint`, under the same
words, and add up to its numbers. Nothing here knows of tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

__all__ = ["KINDS", "OTHERS", "SECONDS", "Counts", "Histogram", "Rate", "Words", "merged"]
_private = True

KINDS: Final = (
    "dropped",
    "faults",
    "flags",
    "edits",
    "anomalies",
)  # kinds of findings; the words of each are closed
SECONDS: Final = ("first_text_s", "first_call_s", "last_s")
OTHERS: Final = "(others)"
_MOST_WORDS = 10_000
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


class Words(Counter[str]):
    """Counts words; beyond 10,000 different words all further words are one word."""

    def add(self, word: str, count: int) -> None:
        """Count a word."""
        known = word in self or len(self) < _MOST_WORDS
        self[word if known else OTHERS] += count


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


def _by_kind() -> dict[str, Words]:
    return {kind: Words() for kind in KINDS}


class Counts(msgspec.Struct, kw_only=True):
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

    recordings: int = 0
    odd: int = 0
    turns: int = 0
    bytes: int = 0
    calls: int = 0
    empty: int = 0
    recovered: int = 0
    cancelled: int = 0
    server: int = 0
    with_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    calls_with_tokens: int = 0
    findings: dict[str, Words] = msgspec.field(default_factory=_by_kind)
    seen: dict[str, Words] = msgspec.field(default_factory=_by_kind)
    sizes: Histogram = msgspec.field(default_factory=Histogram)
    seconds: dict[str, Histogram] = msgspec.field(
        default_factory=lambda: {name: Histogram() for name in SECONDS}
    )

    @property
    def dropped(self) -> int:
        """How many calls were dropped."""
        return self.findings["dropped"].total()

    @property
    def faults(self) -> int:
        """How often the wire was at fault."""
        return self.findings["faults"].total()

    @property
    def drop_rate(self) -> Rate:
        """How many of all calls were dropped."""
        return Rate(self.dropped, self.calls + self.dropped)

    def add(self, numbers: dict[str, Any]) -> None:
        """Add to a numeric count."""
        for name, number in numbers.items():
            setattr(self, name, getattr(self, name) + (number or 0))

    def merge(self, other: Counts) -> None:
        """Add the counts of another group."""
        self.add({name: getattr(other, name) for name in NUMBERS})
        for mine, its in ((self.findings, other.findings), (self.seen, other.seen)):
            for kind in KINDS:
                for word, count in its[kind].items():
                    mine[kind].add(word, count)
        self.sizes.merge(other.sizes)
        for name in SECONDS:
            self.seconds[name].merge(other.seconds[name])

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values; kinds without a finding are left out, as `wholecall lint` does."""
        return {name: getattr(self, name) for name in NUMBERS} | dict(self._described())

    def _described(self) -> Iterator[tuple[str, Any]]:
        low, high = self.drop_rate.interval
        yield "drop_rate", {"share": self.drop_rate.share, "low": low, "high": high}
        for kind, words in self.findings.items():
            if words:
                yield kind, dict(words.most_common())
        yield (
            "recordings_with",
            {kind: dict(words.most_common()) for kind, words in self.seen.items() if words},
        )
        yield "argument_bytes", self.sizes.to_dict()
        yield "seconds", {name: times.to_dict() for name, times in self.seconds.items()}


def merged(many: Iterable[Counts]) -> Counts:
    """Return the counts of several groups together."""
    all_of = Counts()
    for counts in many:
        all_of.merge(counts)
    return all_of


NUMBERS: Final = tuple(field.name for field in msgspec.structs.fields(Counts) if field.type is int)
