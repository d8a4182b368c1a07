"""Dialects: what the frames of each wire format say, as deltas."""

from wholecall.dialects.decode import undecodable
from wholecall.dialects.table import DIALECTS, Dialect, Translator, load_plugins, register

__all__ = ["DIALECTS", "Dialect", "Translator", "load_plugins", "register", "undecodable"]
