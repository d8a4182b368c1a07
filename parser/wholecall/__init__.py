"""Whole tool calls, or none: the bytes of any LLM stream to tool calls that are safe to execute."""

from wholecall.calls.arguments.answer_progress import PartialOutput
from wholecall.calls.arguments.partial import PartialArguments
from wholecall.calls.arguments.partial_json import PartialJson
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.calls.output.answers import Output, OutputDropped, OutputProgress
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsProgress,
    ArgumentsReset,
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import (
    EXECUTABLE,
    TERMINAL,
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from wholecall.calls.output.turns import OtherBlock, Reasoning, ReasoningBlock, Turn
from wholecall.calls.parse import json_state, parse_arguments, parse_output, partial_json
from wholecall.calls.tools.tool import Tool, Tools
from wholecall.dialects.table import Dialect, register
from wholecall.errors import (
    BadRecording,
    BadSnapshot,
    StreamClosed,
    StreamFailed,
    StreamUnread,
    UnknownDialect,
    WholecallError,
)
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.stream.json_parser import PartialJsonParser
from wholecall.stream.options import EventsWanted
from wholecall.stream.parser import ToolCallParser
from wholecall.stream.shells.detection import detect
from wholecall.stream.shells.event_iterators import AsyncEventIterator, EventIterator
from wholecall.stream.shells.iterate import acollect, aevents, aturns, collect, events, turns
from wholecall.stream.shells.wrap import AsyncWrappedStream, WrappedStream, wrap
from wholecall.stream.text_parser import TextParser, read_text
from wholecall.text.choosing import text_format_of
from wholecall.text.formats import text_formats
from wholecall.text.options import TextCalls, TextWanted

__version__ = "0.1.0"

__all__ = [
    "EXECUTABLE",
    "TERMINAL",
    "ArgumentsDelta",
    "ArgumentsProgress",
    "ArgumentsReset",
    "AsyncEventIterator",
    "AsyncWrappedStream",
    "BadRecording",
    "BadSnapshot",
    "BuiltinToolCall",
    "CustomToolCall",
    "Dialect",
    "Edit",
    "Event",
    "EventIterator",
    "EventsWanted",
    "Limits",
    "OtherBlock",
    "Output",
    "OutputDropped",
    "OutputProgress",
    "PartialArguments",
    "PartialJson",
    "PartialJsonParser",
    "PartialOutput",
    "Policy",
    "Reasoning",
    "ReasoningBlock",
    "ReasoningDelta",
    "ServerToolCall",
    "StreamClosed",
    "StreamFailed",
    "StreamFault",
    "StreamUnread",
    "TextCalls",
    "TextDelta",
    "TextParser",
    "TextWanted",
    "Tool",
    "ToolCall",
    "ToolCallCancelled",
    "ToolCallDropped",
    "ToolCallParser",
    "ToolCallStarted",
    "Tools",
    "Turn",
    "TurnFinished",
    "TurnStarted",
    "UnknownDialect",
    "Verdict",
    "WholecallError",
    "WrappedStream",
    "acollect",
    "aevents",
    "aturns",
    "collect",
    "detect",
    "events",
    "json_state",
    "parse_arguments",
    "parse_output",
    "partial_json",
    "read_text",
    "register",
    "text_format_of",
    "text_formats",
    "turns",
    "wrap",
]
