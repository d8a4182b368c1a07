"""The base class of the tables of Amazon's event streams: errors come as frames of that name, or as exceptions."""

from __future__ import annotations

from typing import Any

from wholecall import deltas
from wholecall.dialects import compiled, decode, report
from wholecall.dialects.amazon.errors import error_of, exception_in
from wholecall.framing.frame import Frame


class EventStreamTranslator(compiled.TableTranslator):
    """A table of events, each of which is the content of the event of its name, or a member of that name."""

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one event."""
        return [error_of(frame)] if frame.event == "error" else super().translate(frame)

    def _other(self, view: Any, frame: Frame, kind: str, /) -> list[deltas.Delta]:
        error = exception_in(decode.plain(frame.data)) if 'Exception"' in frame.data else None
        return report.error(error) if error else super()._other(view, frame, kind)
