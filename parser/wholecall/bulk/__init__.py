"""Many recordings at once: a pure function from rows to rows, and the tables made from it; needs the extra `bulk`."""

from wholecall.bulk.batch import assemble_batch, assemble_messages, judge_batch
from wholecall.bulk.columns import calls_of, recordings_of, with_json_type
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
from wholecall.bulk.scanning import Progress, ScanFailed, scan
from wholecall.bulk.schema import ASSEMBLED, CALLS, JUDGED, RECORDINGS

__all__ = [
    "ASSEMBLED",
    "CALLS",
    "GROUPS",
    "JUDGED",
    "RECORDINGS",
    "BulkReport",
    "Counts",
    "Duplicates",
    "FinishCount",
    "Group",
    "Histogram",
    "Progress",
    "Rate",
    "ScanFailed",
    "Unreadable",
    "Worst",
    "assemble_batch",
    "assemble_messages",
    "calls_of",
    "judge_batch",
    "recordings_of",
    "report",
    "scan",
    "with_json_type",
]
