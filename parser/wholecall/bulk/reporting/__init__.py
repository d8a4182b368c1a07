"""Count the tables of recordings and calls: drop rates, quirks, tools and times, by group."""

from wholecall.bulk.reporting.counting import report
from wholecall.bulk.reporting.groups import GROUPS
from wholecall.bulk.reporting.result import (
    BulkReport,
    Counts,
    Duplicates,
    FinishCount,
    Group,
    Histogram,
    Rate,
    Unreadable,
    Worst,
)

__all__ = [
    "GROUPS",
    "BulkReport",
    "Counts",
    "Duplicates",
    "FinishCount",
    "Group",
    "Histogram",
    "Rate",
    "Unreadable",
    "Worst",
    "report",
]
_private = True
