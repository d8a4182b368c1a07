"""Tool calls that a model wrote as text: formats as data, and the engine that reads them."""

from wholecall.text.formats import AUTO, FORMATS, text_formats
from wholecall.text.models import text_format_of
from wholecall.text.options import TextCalls
from wholecall.text.records import Block, Format, Messages, Nested, Params, Record, Tag

__all__ = [
    "AUTO",
    "FORMATS",
    "Block",
    "Format",
    "Messages",
    "Nested",
    "Params",
    "Record",
    "Tag",
    "TextCalls",
    "text_format_of",
    "text_formats",
]
