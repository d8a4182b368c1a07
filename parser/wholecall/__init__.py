"""Whole tool calls, or none: the bytes of any LLM stream to tool calls that are safe to execute."""

from wholecall.arguments import Verdict, parse_arguments
from wholecall.detection import detect
from wholecall.dialects.table import Dialect, register
from wholecall.errors import (
    BadRecording,
    BadSnapshot,
    StreamClosed,
    StreamFailed,
    UnknownDialect,
    WholecallError,
)
from wholecall.events import (
    ArgumentsDelta,
    ArgumentsProgress,
    ArgumentsReset,
    BuiltinToolCall,
    CustomToolCall,
    Edit,
    Event,
    ReasoningDelta,
    ServerToolCall,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from wholecall.iterate import acollect, aevents, aturns, collect, events, turns
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.progress import PartialArguments
from wholecall.stream import ToolCallParser
from wholecall.tools import Tool, Tools
from wholecall.turns import Reasoning, ReasoningBlock, Turn
from wholecall.vocabulary import (
    Anomaly,
    BuiltinKind,
    DropReason,
    EditKind,
    FaultKind,
    Flag,
    Kind,
    Status,
    TurnReason,
)
from wholecall.wrap import AsyncWrappedStream, WrappedStream, wrap

__all__ = [
    "Anomaly",
    "ArgumentsDelta",
    "ArgumentsProgress",
    "ArgumentsReset",
    "AsyncWrappedStream",
    "BadRecording",
    "BadSnapshot",
    "BuiltinKind",
    "BuiltinToolCall",
    "CustomToolCall",
    "Dialect",
    "DropReason",
    "Edit",
    "EditKind",
    "Event",
    "FaultKind",
    "Flag",
    "Kind",
    "Limits",
    "PartialArguments",
    "Policy",
    "Reasoning",
    "ReasoningBlock",
    "ReasoningDelta",
    "ServerToolCall",
    "Status",
    "StreamClosed",
    "StreamFailed",
    "StreamFault",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolCallCancelled",
    "ToolCallDropped",
    "ToolCallParser",
    "ToolCallStarted",
    "Tools",
    "Turn",
    "TurnFinished",
    "TurnReason",
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
    "parse_arguments",
    "register",
    "turns",
    "wrap",
]
