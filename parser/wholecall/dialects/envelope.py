"""Frames of any dialect inside a gateway's envelope (quirks 120 and 122).

    {"data": {…}, "success": true}         a gateway's own form round each chunk, or round a whole body
    {"directory": "/srv", "payload": {…}}  an event of one of the folders that an agent's server has (opencode)
    {"event": "message_stop", "data": {…}} an event of a stream of events, written as a line of JSON
    ["messages", [{…}, {…}]]               LangGraph with several modes: a mode, before it perhaps a namespace (quirk 122)

Theory of operation. Only a frame that is decisive for no dialect is looked into. If the content decides, frames are
taken out of their envelopes from then on. The payload may be an object or text, `[DONE]` included; an `event` next to
it is the name of the frame. A payload with its own `type` is an event, not an envelope: agents wrap the events of a
model so, and execute its calls themselves. A frame without an envelope stays as it is.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from wholecall.dialects import decode, labels
from wholecall.framing.frame import Frame


class _Envelope(msgspec.Struct, gc=False):
    data: msgspec.Raw = decode.NO_TEXT
    payload: msgspec.Raw = decode.NO_TEXT
    event: Any = None
    type: Any = None


_DECODER = msgspec.json.Decoder(_Envelope)
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ORIGIN = frozenset({"langgraph_node", "langgraph_step"})


def opened(frame: Frame) -> Frame:
    """Return the frame in the envelope, or the frame itself if it has no envelope."""
    lines = decode.payloads(frame.data)
    if len(lines) > 1:  # of an event that the wire did not end (quirk 55)
        return msgspec.structs.replace(frame, data="\n".join(_opened(line, frame).data for line in lines))
    return _opened(frame.data, frame)


def _opened(text: str, frame: Frame) -> Frame:
    if text.lstrip().startswith("["):
        return _taken(text, frame)
    envelope = decode.decode(_DECODER, text)
    if envelope is not None and envelope.type is None:
        event = labels.text_label(envelope.event)
        inner = decode.wire_text(envelope.data) or decode.wire_text(envelope.payload)
        if inner.startswith("{") or decode.is_done(inner) or (event and inner.startswith("[")):
            return msgspec.structs.replace(frame, event=event or frame.event, data=inner)
    return msgspec.structs.replace(frame, data=text)


def _taken(text: str, frame: Frame) -> Frame:
    """Return the content of an array of LangGraph's, as the frame that it sends over HTTP."""
    parts = _parts(text)
    first, mode = (decode.plain(parts[0]), decode.plain(parts[-2])) if 2 <= len(parts) <= 3 else (None, None)
    if isinstance(mode, str) and isinstance(first, (str, list)):
        return msgspec.structs.replace(frame, event=mode, data=parts[-1])
    origin = decode.plain(parts[1]) if isinstance(first, dict) and len(parts) == 2 else None
    chunk = isinstance(origin, dict) and not _ORIGIN.isdisjoint(origin)
    return msgspec.structs.replace(frame, event="messages" if chunk else frame.event, data=text)


def _parts(text: str) -> list[str]:
    """Return the texts of an array's elements, none if it is not an array."""
    try:
        return [bytes(raw).decode() for raw in _ARRAY.decode(text)]
    except decode.UNREADABLE:
        decoded = decode.plain(text)
    return [json.dumps(part, separators=(",", ":")) for part in decoded] if isinstance(decoded, list) else []
