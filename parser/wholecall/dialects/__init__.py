"""Dialects: translators of each wire format's frames into deltas."""

from wholecall.dialects.decode import undecodable
from wholecall.dialects.table import DIALECTS, Dialect, Translator, load_plugins, register

__all__ = ["DIALECTS", "Dialect", "Translator", "load_plugins", "register", "undecodable"]
