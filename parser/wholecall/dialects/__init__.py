"""Dialects: what the frames of each wire format say, as deltas."""

from wholecall.dialects.table import DIALECTS, Dialect, Translator, detect_dialect, named, register

__all__ = ["DIALECTS", "Dialect", "Translator", "detect_dialect", "named", "register"]
