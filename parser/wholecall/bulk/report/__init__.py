"""What the tables of recordings and calls hold, counted: drop rates, quirks, tools, times, by group."""

from wholecall.bulk.report.counting import report
from wholecall.bulk.report.counts import Counts, Histogram, Rate
from wholecall.bulk.report.groups import GROUPS
from wholecall.bulk.report.result import Duplicates, Finish, Group, Report, Unreadable, Worst

__all__ = [
    "GROUPS",
    "Counts",
    "Duplicates",
    "Finish",
    "Group",
    "Histogram",
    "Rate",
    "Report",
    "Unreadable",
    "Worst",
    "report",
]
_private = True
