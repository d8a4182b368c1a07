"""The history shelf: what was said, made fit to be sent again."""

from wholecall.history.markers import MISSING_RESULT
from wholecall.history.transcripts import Repaired, Report, repair_transcript

__all__ = ["MISSING_RESULT", "Repaired", "Report", "repair_transcript"]
