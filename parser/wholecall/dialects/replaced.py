"""Check whether a frame is still readable after bytes that are not UTF-8 were replaced.

Theory of operation. Text with a replaced byte is still text: it is shown, and arguments that hold it are refused by
their call. A byte that was replaced anywhere else may have been in a label, in the name of a member, or in the event's
type: then the frame is lost, like a frame that cannot be decoded. Text is known by the name of its member, in the words
of all dialects; a text under any other name only costs its frame.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from wholecall.deltas import WireFault
from wholecall.dialects.decode import payloads, plain
from wholecall.framing import Frame

REPLACED = WireFault("invalid_utf8", "bytes that are not UTF-8 were replaced")
_LOST = replace(REPLACED, detail="bytes that are not UTF-8 were replaced where no text stands", hole=True)
_MARK = "\ufffd"

# Members whose value is text where it is a string, or a list of strings.
_TEXTS = frozenset(
    [
        "content",
        "text",
        "delta",
        "thinking",
        "reasoning",
        "reasoning_content",
        "refusal",
        "response",
        "transcript",
        "value",
        "partial_json",
        "plan",
        "tool_plan",
        "deltaContent",
        "argsTextDelta",
        "inputTextDelta",
        "stringValue",
        "string_value",
        "summary",
        "output",
    ]
)
# Members whose whole value was written by the model.
_VALUES = frozenset(["arguments", "parsed_arguments", "args", "input", "parameters", "rawInput", "raw_input"])


def fault_of(frame: Frame) -> WireFault:
    """Return the fault of a frame that holds replaced bytes: with a hole, unless they are in text alone."""
    values = [plain(text) for text in payloads(frame.data)]
    readable = _MARK not in frame.event and all(value is None or _is_readable(value) for value in values)
    return REPLACED if readable else _LOST


def _is_readable(payload: Any) -> bool:
    """Return whether replaced bytes are in text alone; depth is chosen by the sender, so nothing recurses."""
    waiting = [(payload, True)]  # values, and whether strings there are text
    while waiting:
        value, is_text = waiting.pop()
        if isinstance(value, str):
            if not is_text and _MARK in value:
                return False
        elif isinstance(value, list):
            waiting += [(item, is_text) for item in value]
        elif isinstance(value, dict):
            members = [(name, item) for name, item in value.items() if name not in _VALUES]
            if any(_MARK in name for name, _ in members):
                return False
            waiting += [(item, name in _TEXTS) for name, item in members]
    return True
