"""Tool calls that a model wrote as text: formats as data, and the engine that reads them."""

from typing import TYPE_CHECKING

from wholecall.errors import renamed
from wholecall.text.formats import AUTO, FORMATS
from wholecall.text.records import Block, Body, Format, Messages, Nested, Params, Record, Tag

__all__ = [
    "AUTO",
    "FORMATS",
    "Block",
    "Body",
    "Format",
    "Messages",
    "Nested",
    "Params",
    "Record",
    "Tag",
]

if not TYPE_CHECKING:
    __getattr__ = renamed(
        __name__,
        {name: f"wholecall.{name}" for name in ("TextCalls", "text_format_of", "text_formats")},
    )
