from __future__ import annotations

import asyncio
import heapq
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.exchanges import SECRET, entry
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.proxy.config import Config, RecordConfig, UpstreamConfig
from wholecall.proxy.entry import Watcher
from wholecall.proxy.log import Log
from wholecall.proxy.metrics import to_text
from wholecall.proxy.recording import Recordings
from wholecall.proxy.watch import MOST_RECENT, LoopLag, Watch
from wholecall.types import DropReason

UPSTREAMS = (
    UpstreamConfig(url="https://a.example", name="openai", models=("gpt-4.1", "gpt-*")),
    UpstreamConfig(url="https://b.example", name="other"),
)


def numbers(watch: Watch, name: str) -> dict[tuple[str, ...], list[float]]:
    """Return the series of a metric."""
    return {tuple(labels): values for labels, values in watch.snapshot()[name]}


def seen(*told: dict[str, Any], watch: Watch | None = None) -> Watch:
    """Return a watch that has seen exchanges that are over."""
    watch = watch or Watch(UPSTREAMS)
    for known in told:
        exchange = entry(**known)
        watch.begin(exchange)
        watch.over(exchange)
    return watch


def test_it_is_a_watcher() -> None:
    """A relay accepts it as its watcher."""
    watcher: Watcher = Watch()

    assert isinstance(watcher, Watch)


def test_requests_are_counted_by_what_became_of_them() -> None:
    """Each exchange counts once, by upstream, dialect and outcome; an unknown value is `none`."""
    watch = seen(
        {}, {}, {"outcome": "mended", "mended": True}, {"outcome": "refused", "upstream": "", "dialect": None}
    )

    assert {
        ("openai", "chat-completions", "ok"): [2],
        ("openai", "chat-completions", "mended"): [1],
        ("none", "none", "refused"): [1],
    } == numbers(watch, "requests_total")


def test_calls_are_counted_with_their_reasons() -> None:
    """Whole calls are counted, withheld calls, and these by reason."""
    exchange = entry(calls=3, outcome="withheld")
    reasons: tuple[DropReason, ...] = ("truncated", "truncated", "nameless")
    for n, reason in enumerate(reasons):
        exchange.lose(ToolCallDropped(0, 0, n, f"c{n}", "ls", "function", SECRET, reason))
    watch = Watch()
    watch.begin(exchange)
    watch.over(exchange)

    assert {("openai", "whole"): [3], ("openai", "withheld"): [3]} == numbers(watch, "calls_total")
    assert {("openai", "truncated"): [2], ("openai", "nameless"): [1]} == numbers(
        watch, "calls_withheld_total"
    )


def test_what_passed_is_no_call() -> None:
    """For an answer that passed unread no calls, tokens or repair times are counted; the reason is."""
    watch = seen({"handling": "passed", "unrepaired": "encoding", "bytes_in": 10, "bytes_out": 12})
    found = watch.snapshot()

    assert {("encoding",): [1]} == numbers(watch, "not_repaired_total")
    assert {("in",): [10], ("out",): [12]} == numbers(watch, "bytes_total")
    assert ([], [], 0) == (found["calls_total"], found["tokens_total"], sum(found["own_seconds"][0][1]))


@pytest.mark.parametrize(
    ("upstream", "model", "label"),
    [
        ("openai", "gpt-4.1", "gpt-4.1"),
        ("openai", "gpt-5-anything", "gpt-*"),
        ("openai", "somebody's", "other"),
        ("openai", None, "other"),
        ("other", "gpt-4.1", "other"),
        ("gone", "gpt-4.1", "other"),
    ],
)
def test_a_model_is_a_label_only_if_it_is_named(upstream: str, model: str | None, label: str) -> None:
    """The configuration's own words are labels; clients cannot make series by asking for models."""
    watch = seen({"upstream": upstream, "model": model, "tokens_in": 7, "tokens_out": 3})

    assert {(upstream, label, "in"): [7], (upstream, label, "out"): [3]} == numbers(watch, "tokens_total")


def test_another_configuration_has_other_models() -> None:
    """After a reload the new names are labels, and earlier counts stay."""
    watch = seen({"model": "new", "tokens_in": 1})
    watch.know([UpstreamConfig(url="https://a.example", name="openai", models=("new",))])
    seen({"model": "new", "tokens_in": 1}, watch=watch)

    assert {("openai", "other", "in"): [1], ("openai", "new", "in"): [1]} == numbers(watch, "tokens_total")


def test_times_are_observed() -> None:
    """First byte, whole exchange, hold and our own time each have a histogram."""
    watch = seen({"seconds_first": 0.5, "seconds": 2.0, "held_seconds": 1.5, "own_seconds": 0.125}, {})
    found = watch.snapshot()

    sums = {name: sum(values[-1] for _, values in found[name]) for name in found if name.endswith("_seconds")}
    counts = {name: sum(sum(values[:-1]) for _, values in found[name]) for name in sums}
    assert {
        "first_byte_seconds": 0.5,
        "exchange_seconds": 2.0,
        "hold_seconds": 1.5,
        "own_seconds": 0.125,
        "loop_lag_seconds": 0,
    } == sums
    assert [1, 2, 1, 2, 0] == list(counts.values())


def test_what_is_open_is_counted_when_asked() -> None:
    """The gauges report how many exchanges are open and the bytes they hold now, and return to zero."""
    watch = Watch(UPSTREAMS)
    exchanges = [entry(held=lambda: 40), entry(held=lambda: 2), entry(upstream="")]
    for exchange in exchanges:
        watch.begin(exchange)
    before = numbers(watch, "streams"), numbers(watch, "held_bytes")
    for exchange in exchanges:
        watch.over(exchange)

    assert {("openai",): [2], ("other",): [0], ("none",): [1]} == before[0]
    assert {("openai",): [42], ("other",): [0], ("none",): [0]} == before[1]
    assert {("openai",): [0], ("other",): [0]} == numbers(watch, "streams")


def test_odd_ones_are_kept() -> None:
    """The last hundred odd exchanges are kept, the others not at all."""
    odd = [{"id": f"odd-{n}", "outcome": "mended", "mended": True} for n in range(MOST_RECENT + 5)]
    watch = seen(*odd, {"id": "fine"}, watch=Watch(log=Log(io.StringIO(), "json")))
    watch.close()

    assert [f"odd-{n}" for n in range(5, MOST_RECENT + 5)] == [line.id for line in watch.recent]


def test_each_exchange_has_its_line() -> None:
    """The log has one line for each exchange, and the body of the request is nowhere."""
    stream = io.StringIO()
    watch = Watch(UPSTREAMS, log=Log(stream, "json"))
    seen({"id": "a"}, {"id": "b", "outcome": "mended", "mended": True}, watch=watch)
    watch.close()

    assert ["a", "b"] == [json.loads(line)["id"] for line in stream.getvalue().splitlines()]
    assert SECRET not in stream.getvalue() + to_text(watch.snapshot()) + repr(watch) + repr(watch.recent)


def test_answers_are_recorded(tmp_path: Path) -> None:
    """The pieces of each answer are written to a separate file; an answer without pieces has none."""
    watch = Watch(UPSTREAMS, recordings=Recordings(RecordConfig(dir=tmp_path)))
    one, other, silent = (entry(id=id) for id in ("one", "other", "silent"))
    for exchange in (one, other, silent):
        watch.begin(exchange)
    for exchange in (one, other, one):
        watch.chunk(exchange, b"data: {}\n\n")
    for exchange in (one, other, silent):
        watch.over(exchange)
    watch.close()

    lines = {path.stem.partition("_")[2]: len(path.read_bytes().splitlines()) for path in tmp_path.iterdir()}
    assert {"one": 3, "other": 2} == lines
    assert {} == watch._tapes
    assert [([], [0])] == watch.snapshot()["recordings_lost_total"]


def test_losses_are_counted(tmp_path: Path) -> None:
    """Recordings and lines that were given up are counted, too."""
    recordings, log = Recordings(RecordConfig(dir=tmp_path)), Log(io.StringIO(), "json")
    watch = Watch(log=log, recordings=recordings)
    watch.close()
    exchange = entry()
    watch.begin(exchange)
    watch.chunk(exchange, b"data: {}\n\n")
    watch.over(exchange)

    found = watch.snapshot()
    assert [([], [1])] == found["recordings_lost_total"]
    assert [([], [1])] == found["log_lines_lost_total"]


def test_a_configuration_says_what_is_done(tmp_path: Path) -> None:
    """A watch is made of a configuration: the form of the log, the folder of recordings, the names of models."""
    stream = io.StringIO()
    config = Config(upstreams=UPSTREAMS, log="text", record=RecordConfig(dir=tmp_path, only="odd"))
    watch = Watch.of(config, stream)
    exchange = entry(model="gpt-9", tokens_in=5, outcome="cut")
    watch.begin(exchange)
    watch.chunk(exchange, b"data: {}\n\n")
    watch.over(exchange)
    watch.close()

    assert stream.getvalue().startswith("2026-11-23T09:06:55.250Z POST ")
    assert {("openai", "gpt-*", "in"): [5]} == numbers(watch, "tokens_total")
    assert ["2026-11-23T09-06-55_req-1.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_nothing_asked_nothing_done() -> None:
    """Without a log and recordings there are only the counters."""
    stream = io.StringIO()
    watch = seen({}, watch=Watch.of(Config(upstreams=UPSTREAMS, log="off"), stream))
    watch.close()

    assert ("", [1]) == (stream.getvalue(), *numbers(watch, "requests_total").values())


class SlowLoop(asyncio.AbstractEventLoop):
    """An event loop whose clock is set by hand, and which runs due callbacks a little late."""

    def __init__(self) -> None:
        self.now = 50.0
        self.due: list[tuple[float, int, asyncio.TimerHandle]] = []

    def time(self) -> float:
        """Return the time."""
        return self.now

    def get_debug(self) -> bool:
        """Return the attributes that handles ask for."""
        return False

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing."""

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, **_: Any) -> asyncio.TimerHandle:
        """Record a due callback."""
        handle = asyncio.TimerHandle(when, callback, args, self)
        heapq.heappush(self.due, (when, len(self.due), handle))
        return handle

    def go_on(self, late: float) -> None:
        """Run the next due callback, so late."""
        when, _, handle = heapq.heappop(self.due)
        self.now = when + late
        if not handle.cancelled():
            handle._run()


def test_the_lag_of_the_loop_is_measured() -> None:
    """Once a second it is observed how late the loop calls, until it is stopped."""
    loop, watch = SlowLoop(), Watch()
    lag = LoopLag(loop, watch.tally)
    lag.start()
    for late in (0.0, 0.25, 0.0625):
        loop.go_on(late)
    lag.stop()
    lag.stop()
    loop.go_on(9)

    values = watch.snapshot()["loop_lag_seconds"][0][1]
    assert (3, 0.3125, []) == (sum(values[:-1]), values[-1], loop.due)
