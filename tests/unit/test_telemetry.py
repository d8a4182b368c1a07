"""OpenTelemetry is told of dropped, withheld and mended calls, with the SDK's exporters in memory."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from wholecall import Event, ToolCallDropped, ToolCallParser, events
from wholecall.proxy.config import Config
from wholecall.proxy.entry import Entry
from wholecall.proxy.watch import Watch
from wholecall.repairing import Repairer, RepairReport, repair_body
from wholecall.telemetry import Telemetry

Said = list[tuple[str, dict[str, Any]]]
SECRET = "a secret of the model"


def stream(*calls: tuple[str, str], reason: str = "tool_calls") -> bytes:
    """Return a stream of Chat Completions with these calls by name and argument text."""
    deltas = [
        {"tool_calls": [{"index": number, "id": f"call_{number}", "type": "function", "function": function}]}
        for number, (name, text) in enumerate(calls)
        for function in [{"name": name, "arguments": text}]
    ]
    chunks = [
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d}]} for d in deltas
    ]
    last = {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
    }
    return (
        b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in [*chunks, last])
        + b"data: [DONE]\n\n"
    )


CUT = ("send_mail", f'{{"body": "{SECRET}')
MENDED = ("get_tide", "{'port': 'Oban'}")
WHOLE = ("get_tide", '{"port": "Io"}')


class Told:
    """Exporters in memory, and a span that is current."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer = provider.get_tracer("tests")
        self._reader = InMemoryMetricReader()
        self.telemetry = Telemetry(MeterProvider([self._reader]))

    def said(self) -> Said:
        """Return the events of the spans that ended, by name and attributes."""
        return [
            (event.name, dict(event.attributes or {}))
            for span in self._spans.get_finished_spans()
            for event in span.events
        ]

    def counts(self) -> dict[tuple[str, ...], int]:
        """Return the counters by name and attributes."""
        data = self._reader.get_metrics_data()
        return {
            (metric.name, *(str(value) for _, value in sorted(point.attributes.items()))): point.value
            for resource in (data.resource_metrics if data is not None else [])
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        }


@pytest.fixture
def told() -> Told:
    """Give exporters in memory."""
    return Told()


def named(tool: str, number: int, **labels: Any) -> dict[str, Any]:
    """Return the attributes of a call's event."""
    return {"gen_ai.tool.name": tool, "gen_ai.tool.call.id": f"call_{number}", **labels}


def test_a_loop_tells_of_its_calls(told: Told) -> None:
    """Each call of a loop is counted once, as whole, mended or dropped; the latter two are events of the span."""
    with told.tracer.start_as_current_span("chat"):
        seen = list(told.telemetry.watch(events([stream(WHOLE, MENDED, CUT, reason="length")])))

    assert seen == list(events([stream(WHOLE, MENDED, CUT, reason="length")]))
    dropped = named("send_mail", 2, **{"error.type": "truncated"})
    assert ("gen_ai.tool_call.dropped", dropped) in told.said()
    (mended,) = [labels for name, labels in told.said() if name == "gen_ai.tool_call.mended"]
    assert named("get_tide", 1) == {key: mended[key] for key in named("get_tide", 1)}
    assert mended["wholecall.edits"]
    assert {
        ("wholecall.tool_calls", "whole"): 1,
        ("wholecall.tool_calls", "mended"): 1,
        ("wholecall.tool_calls", "truncated", "dropped"): 1,
    } == told.counts()


def test_an_asynchronous_loop_tells_the_same(told: Told) -> None:
    """`awatch` passes the events of an asynchronous loop, and tells of each."""
    parser: ToolCallParser[Any] = ToolCallParser()
    found = [*parser.feed(stream(CUT, reason="length")), *parser.close()]

    async def source() -> AsyncIterator[Event]:
        for event in found:
            yield event

    async def read() -> list[Event]:
        with told.tracer.start_as_current_span("chat"):
            return [event async for event in told.telemetry.awatch(source())]

    assert found == asyncio.run(read())
    assert ["gen_ai.tool_call.dropped"] == [name for name, _ in told.said()]


def test_a_repairer_tells_what_it_withholds(told: Told) -> None:
    """The callbacks of the repairer and of bodies: a withheld call is an event and a count, and so is a changed answer."""
    telemetry = told.telemetry
    with told.tracer.start_as_current_span("chat"):
        repairer = Repairer(on_dropped=telemetry.on_dropped)
        repairer.feed(stream(WHOLE, CUT, reason="length"))
        repairer.close()
        telemetry.on_repaired(repairer.report)

    dropped, mended = told.said()
    assert ("gen_ai.tool_call.dropped", named("send_mail", 1, **{"error.type": "truncated"})) == dropped
    assert "wholecall.answer.mended" == mended[0]
    assert {
        "wholecall.dialect": "chat-completions",
        "wholecall.calls": 1,
        "wholecall.calls_withheld": 1,
    } == mended[1]
    assert {
        ("wholecall.tool_calls", "truncated", "withheld"): 1,
        ("wholecall.mended_answers", "chat-completions"): 1,
    } == told.counts()


def test_an_error_is_told_with_the_answer(told: Told) -> None:
    """An answer that ended with an error of ours has its code."""
    with told.tracer.start_as_current_span("chat"):
        told.telemetry.on_repaired(RepairReport(error="calls_withheld"))

    assert {("wholecall.mended_answers", "calls_withheld", "unknown"): 1} == told.counts()


def test_the_text_of_a_model_never_leaves(told: Told) -> None:
    """Neither argument text, nor a name or an id that is more than a word, is in any event or count."""
    with told.tracer.start_as_current_span("chat"):
        for call in (CUT, (SECRET, "{}"), (f'{{"{SECRET}"', "{")):
            body = repair_body(stream(call, reason="length"), on_dropped=told.telemetry.on_dropped)
            repairer = Repairer(on_dropped=told.telemetry.on_dropped)
            repairer.feed(stream(call, reason="length"))
            repairer.close()
            told.telemetry.on_repaired(body.report)
            list(told.telemetry.watch(events([stream(call, reason="length")])))

    assert told.said()
    assert SECRET not in repr((told.said(), told.counts()))


def test_calls_that_the_provider_executes_are_not_told(told: Told) -> None:
    """A dropped call of the provider's own tools is no call of the client."""
    drop = ToolCallDropped(
        turn=0,
        choice=0,
        index=0,
        id=None,
        name="web_search",
        kind="server",
        raw_arguments="",
        reason="truncated",
    )
    told.telemetry.on_dropped(drop)

    assert {} == told.counts()


def test_the_proxy_tells_of_its_exchanges(told: Told) -> None:
    """An exchange of the proxy tells of its withheld calls and of its changed answer, where the settings ask for it."""
    entries = []
    for watch in (Watch(telemetry=told.telemetry), Watch.of(Config(upstreams=(), log="off"), io.StringIO())):
        entry = Entry(id="x", started=0.0, method="POST", path="/v1/chat/completions")
        watch.begin(entry)
        repairer = Repairer(on_dropped=entry.lose)
        repairer.feed(stream(WHOLE, CUT, reason="length"))
        repairer.close()
        entry.report(repairer.report)
        entries.append(entry)

    assert [1, 1] == [entry.n_withheld for entry in entries]
    assert {
        ("wholecall.tool_calls", "truncated", "withheld"): 1,
        ("wholecall.mended_answers", "chat-completions"): 1,
    } == told.counts()
    assert Watch.of(Config(upstreams=(), log="off", telemetry=True), io.StringIO()) is not None


def test_without_an_sdk_nothing_happens() -> None:
    """OpenTelemetry's own providers do nothing until an SDK is set."""
    telemetry = Telemetry()
    telemetry.on_repaired(RepairReport())

    assert "<Telemetry>" == repr(telemetry)


def test_the_extra_is_asked_for() -> None:
    """Without OpenTelemetry the module is importable, and the class says what to install."""
    program = (
        "import sys; sys.modules['opentelemetry.trace'] = None\n"
        "from wholecall.telemetry import Telemetry\n"
        "try: Telemetry()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)  # noqa: S603

    assert "OpenTelemetry needs the extra: pip install 'wholecall[otel]'" == done.stdout.strip()
