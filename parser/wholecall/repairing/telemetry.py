"""Calls that were dropped, withheld or mended, told to OpenTelemetry: events of the current span, and counters.

Theory of operation. The functions fit the callbacks of the transport, the middleware, the repairer and the proxy
(`on_dropped`, `on_repaired`), and the events of loops. They only use OpenTelemetry's API: without an SDK in the process
they do nothing. Text of a model never leaves: of a name or an id that is no plain word nothing is told.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import EXECUTABLE

if TYPE_CHECKING:
    from wholecall.repairing.report import RepairReport

_private = True

_PLAIN: Final = re.compile(r"[\w.:/-]{1,128}\Z", re.ASCII)

EventT = TypeVar("EventT")


class Telemetry:
    """Reports of tool calls to OpenTelemetry.

    Args:
        meter_provider: whose counters are used; OpenTelemetry's own one by default.

    Raises:
        ImportError: the extra `otel` is not installed.
    """

    def __init__(self, meter_provider: Any = None) -> None:
        try:
            self._trace = importlib.import_module("opentelemetry.trace")
            metrics = importlib.import_module("opentelemetry.metrics")
        except ImportError as error:
            raise ImportError("OpenTelemetry needs the extra: pip install 'wholecall[otel]'") from error
        meter = metrics.get_meter("wholecall", meter_provider=meter_provider)
        self._calls = meter.create_counter(
            "wholecall.tool_calls", unit="{call}", description="Tool calls of models, by what became of them."
        )
        self._answers = meter.create_counter(
            "wholecall.mended_answers", unit="{answer}", description="Streams and bodies that were changed."
        )

    def __repr__(self) -> str:
        return "<Telemetry>"

    def on_dropped(self, drop: ToolCallDropped) -> None:
        """Tell of a call that was withheld from a client; for the option `on_dropped`."""
        self._dropped(drop, "withheld")

    def on_repaired(self, report: RepairReport) -> None:
        """Tell of a changed stream or body; for the option `on_repaired`."""
        labels = {"wholecall.dialect": report.dialect or "unknown"}
        if report.error is not None:
            labels["error.type"] = report.error
        self._answers.add(1, labels)
        numbers = {"wholecall.calls": report.n_calls, "wholecall.calls_withheld": report.n_withheld}
        self._trace.get_current_span().add_event("wholecall.answer.mended", {**labels, **numbers})

    def note(self, event: object) -> None:
        """Tell of an event of a parser, if it ends a call: whole, mended or dropped."""
        if isinstance(event, ToolCallDropped):
            self._dropped(event, "dropped")
        elif isinstance(event, ToolCall) and event.edits:
            edits = sorted({edit.kind for edit in event.edits})
            self._count("mended")
            self._say("gen_ai.tool_call.mended", event, {"wholecall.edits": edits})
        elif isinstance(event, EXECUTABLE):
            self._count("whole")

    def watch(self, events: Iterable[EventT]) -> Iterator[EventT]:
        """Yield the events of a loop, and tell of each."""
        for event in events:
            self.note(event)
            yield event

    async def awatch(self, events: AsyncIterable[EventT]) -> AsyncIterator[EventT]:
        """Yield the events of an asynchronous loop, and tell of each."""
        async for event in events:
            self.note(event)
            yield event

    def _dropped(self, drop: ToolCallDropped, outcome: str) -> None:
        if drop.kind == "server":  # the provider executes it
            return
        self._count(outcome, {"error.type": drop.reason})
        self._say("gen_ai.tool_call.dropped", drop, {"error.type": drop.reason})

    def _count(self, outcome: str, labels: dict[str, str] | None = None) -> None:
        self._calls.add(1, {"wholecall.outcome": outcome, **(labels or {})})

    def _say(self, name: str, call: Any, labels: dict[str, Any]) -> None:
        told = {"gen_ai.tool.name": call.name, "gen_ai.tool.call.id": call.id}
        plain = {key: text for key, text in told.items() if text is not None and _PLAIN.match(text)}
        self._trace.get_current_span().add_event(name, {**plain, **labels})
