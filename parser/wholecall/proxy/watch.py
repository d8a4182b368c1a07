"""Process a finished exchange: log line, counters, recording, and the list of recent exchanges.

Theory of operation. The relay reports the beginning of each exchange, the pieces of its answer, and once its end. Open
exchanges are kept in a list, so that current values (how many streams, how many bytes held) are counted on request, and
cost nothing before. All of this happens in the event loop's thread, except for work that waits for a disk or a pipe.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import partial
from typing import IO, Final

from wholecall.proxy.config import Config, UpstreamConfig
from wholecall.proxy.entry import Entry
from wholecall.proxy.log import Line, Log, Teller, line_of, plain_path
from wholecall.proxy.metrics import Snapshot, Tally
from wholecall.proxy.recording import Recordings, Tape
from wholecall.repairing.telemetry import Telemetry

_private = True

MOST_RECENT: Final = 100
_NONE: Final = "none"
_OTHER: Final = "other"
_INTERVAL: Final = 1.0


class Watch:
    """Observes the exchanges of one process; a `Watcher`.

    Args:
        upstreams: the upstreams whose names and models may be labels.
        log: the access log; None for no log.
        recordings: where answers are recorded; None for no recordings.
        telemetry: who tells OpenTelemetry of calls; None for nobody.

    Attributes:
        tally: the metrics.
        recent: the last odd exchanges, the newest last.
    """

    def __init__(
        self,
        upstreams: Iterable[UpstreamConfig] = (),
        *,
        log: Log | None = None,
        recordings: Recordings | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self.tally = Tally()
        self.recent: deque[Line] = deque(maxlen=MOST_RECENT)
        self._log = log
        self._recordings = recordings
        self._telemetry = telemetry
        self._open: set[Entry] = set()
        self._tapes: dict[Entry, Tape] = {}
        self._models: dict[str, tuple[str, ...]] = {}
        self.know(upstreams)

    def __repr__(self) -> str:
        return f"<Watch {len(self._open)} open>"

    @classmethod
    def of(cls, config: Config, stream: IO[str]) -> Watch:
        """Return an observer for a configuration; later changes do not affect its log and its recordings.

        Args:
            config: the configuration.
            stream: the destination of the access log.

        Raises:
            OSError: the folder of the recordings cannot be created, or nothing can be written into it.
        """
        log = None if config.log == "off" else Log(stream, config.log)
        told = partial(_say_skipped, Teller(config.log, stream))
        recordings = None if config.record.dir is None else Recordings(config.record, told=told)
        telemetry = Telemetry() if config.telemetry else None
        return cls(config.upstreams, log=log, recordings=recordings, telemetry=telemetry)

    def know(self, upstreams: Iterable[UpstreamConfig]) -> None:
        """Take the upstreams of another configuration; the counts stay."""
        self._models = {upstream.name: upstream.models for upstream in upstreams}

    def begin(self, entry: Entry) -> None:
        """Note that an exchange began."""
        self._open.add(entry)
        entry.telemetry = self._telemetry

    def chunk(self, entry: Entry, data: bytes) -> None:
        """Take a piece of the upstream's body, before repair."""
        if self._recordings is None:
            return
        tape = self._tapes.get(entry)
        if tape is None:
            tape = self._tapes[entry] = self._recordings.tape(entry)
        tape.chunk(data)

    def over(self, entry: Entry) -> None:
        """Take a finished exchange."""
        self._open.discard(entry)
        tape = self._tapes.pop(entry, None)
        if tape is not None:
            tape.over(is_odd=entry.is_odd)
        self._count(entry)
        if self._log is None and not entry.is_odd:
            return
        line = line_of(entry)
        if entry.is_odd:
            self.recent.append(line)
        if self._log is not None:
            self._log.write(line)

    def snapshot(self) -> Snapshot:
        """Return all current numbers."""
        tally = self.tally
        streams: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in self._models})
        held: Counter[tuple[str, ...]] = Counter(streams)
        sockets: Counter[tuple[str, ...]] = Counter(streams)
        for entry in self._open:
            labels = (entry.upstream or _NONE,)
            streams[labels] += 1
            held[labels] += entry.held()
            sockets[labels] += entry.messages_in is not None
        tally.put("streams", streams)
        tally.put("websockets", sockets)
        tally.put("held_bytes", held)
        if self._recordings is not None:
            tally.put("recordings_lost_total", {(): self._recordings.lost})
        if self._log is not None:
            tally.put("log_lines_lost_total", {(): self._log.lost})
        return tally.snapshot()

    def close(self, seconds: float | None = None) -> None:
        """Write the data that waits for the disk and for the log, when all exchanges are over.

        Args:
            seconds: how long each of the two may take at most.
        """
        if self._recordings is not None:
            self._recordings.close(seconds)
        if self._log is not None:
            self._log.close(seconds)

    def _count(self, entry: Entry) -> None:
        tally, upstream = self.tally, entry.upstream or _NONE
        tally.add("requests_total", (upstream, entry.dialect or _NONE, entry.outcome or "failed"))
        tally.observe("exchange_seconds", entry.seconds, (upstream,))
        tally.add("bytes_total", ("in",), entry.bytes_in)
        tally.add("bytes_total", ("out",), entry.bytes_out)
        if entry.seconds_first is not None:
            tally.observe("first_byte_seconds", entry.seconds_first, (upstream,))
        if entry.messages_in is not None:
            tally.add("websockets_total", (upstream,))
            told = (("in", entry.messages_in), ("out", entry.messages_out), ("asked", entry.messages_asked))
            for direction, n_messages in told:
                tally.add("websocket_messages_total", (upstream, direction), n_messages or 0)
        if entry.unrepaired is not None:
            tally.add("not_repaired_total", (entry.unrepaired,))
        if entry.handling != "passed":
            self._count_calls(entry, upstream)

    def _count_calls(self, entry: Entry, upstream: str) -> None:
        tally = self.tally
        tally.observe("own_seconds", entry.own_seconds)
        if entry.held_seconds:
            tally.observe("hold_seconds", entry.held_seconds)
        if entry.pings:
            tally.add("pings_total", (), entry.pings)
        if entry.calls:
            tally.add("calls_total", (upstream, "whole"), entry.calls)
        if entry.n_withheld:
            tally.add("calls_total", (upstream, "withheld"), entry.n_withheld)
        for reason, n in entry.reasons.items():
            tally.add("calls_withheld_total", (upstream, reason), n)
        model = self._label_of(entry.upstream, entry.model)
        for direction, n_tokens in (("in", entry.tokens_in), ("out", entry.tokens_out)):
            if n_tokens is not None:
                tally.add("tokens_total", (upstream, model, direction), n_tokens)

    def _label_of(self, upstream: str, model: str | None) -> str:
        """Return the configured pattern for a model: clients choose model names, and could make any number of them."""
        patterns = self._models.get(upstream, ())
        return next((p for p in patterns if model is not None and fnmatchcase(model, p)), _OTHER)


def _say_skipped(teller: Teller, name: str) -> None:
    teller.say("no regular file, left alone", plain_path(name))


class LoopLag:
    """Measures once a second how late the event loop is.

    Args:
        loop: the running event loop.
        tally: where the histogram is.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, tally: Tally) -> None:
        self._loop = loop
        self._tally = tally
        self._due = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"<LoopLag {'stopped' if self._handle is None else 'running'}>"

    def start(self) -> None:
        """Begin; must be called only once."""
        self._due = self._loop.time() + _INTERVAL
        self._handle = self._loop.call_at(self._due, self._look)

    def stop(self) -> None:
        """End; idempotent."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _look(self) -> None:
        self._tally.observe("loop_lag_seconds", max(0.0, self._loop.time() - self._due))
        self.start()
