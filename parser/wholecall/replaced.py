"""What can be told of a frame in which bytes that are not UTF-8 were replaced.

Theory of operation. Text with a replaced byte is still text: it is shown, and arguments that hold it are refused by
their call. A byte that was replaced anywhere else may have stood in a label, in the name of a member, or in what says
which event this is. Such a frame is lost for calls; only text that is shown and faults are kept of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from wholecall.deltas import Delta, ReasoningFragment, Restated, Run, TextFragment, WireFault
from wholecall.framing import Frame

__all__ = ["REPLACED", "certain"]

REPLACED = WireFault("invalid_utf8", "bytes that are not UTF-8 were replaced")
_LOST = replace(REPLACED, detail="bytes that are not UTF-8 were replaced where no text stands", hole=True)
_MARK = "\ufffd"
_KEPT = (TextFragment, ReasoningFragment, WireFault)


def certain(frame: Frame, deltas: list[Delta]) -> list[Delta]:
    """Return the fault of a frame that holds replaced bytes, then what the frame says for certain."""
    within_text = sum(text.count(_MARK) for delta in deltas for text in _texts(delta))
    if frame.data.count(_MARK) + frame.event.count(_MARK) <= within_text:
        return [REPLACED, *deltas]
    return [_LOST, *(delta for delta in deltas if isinstance(_of(delta), _KEPT))]


def _of(delta: Delta) -> Delta:
    return delta.of if isinstance(delta, Run) else delta


def _texts(delta: Delta) -> Iterator[str]:
    if isinstance(delta, Run):
        yield from delta.texts
    elif isinstance(delta, Restated):
        yield from (call.text for call in delta.calls)
    else:
        yield getattr(delta, "text", "")
