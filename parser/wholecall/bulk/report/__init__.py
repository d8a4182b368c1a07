"""What the tables of recordings and calls hold, counted: drop rates, quirks, tools, times, by group."""

from wholecall.bulk.report.counting import report
from wholecall.bulk.report.counts import KINDS, OTHERS, SECONDS, Counts, Histogram, Rate
from wholecall.bulk.report.result import Group, Report

__all__ = ["KINDS", "OTHERS", "SECONDS", "Counts", "Group", "Histogram", "Rate", "Report", "report"]
_private = True
