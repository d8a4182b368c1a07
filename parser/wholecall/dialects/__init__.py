"""Dialects: translators of each wire format's frames into deltas."""

from typing import TYPE_CHECKING

from wholecall.dialects.decode import undecodable
from wholecall.dialects.table import DIALECTS, load_plugins
from wholecall.dialects.translator import Translator
from wholecall.errors import renamed

__all__ = ["DIALECTS", "Translator", "load_plugins", "undecodable"]

if not TYPE_CHECKING:
    __getattr__ = renamed(__name__, {name: f"wholecall.{name}" for name in ("Dialect", "register")})
