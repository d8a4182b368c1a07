"""Runs: each client over each case, by several workers, with an adapter for each.

Theory of operation. The plan lists the runs in order. Workers take them one after the other, each with an adapter of
its own, because a client may keep state. Whoever waits for the results may leave at any time: what was measured until
then is kept, in the order of the plan.
"""

from __future__ import annotations

import platform
import queue
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any, NamedTuple, Optional

import msgspec

import wholecall
from wholecall.grading.conform.cases import Case, Suite
from wholecall.grading.conform.gateways import ask
from wholecall.grading.conform.protocol import Adapter, Client, Died, TooSlow
from wholecall.grading.conform.results import Graded, Results, Run, scores
from wholecall.grading.conform.server import CaseServer
from wholecall.grading.conform.verdicts import Answer, CaseVerdict, judge
from wholecall.grading.conform.writes import pieces

EVERY = "all"  # every way of writing that a case names


class Reading(NamedTuple):
    """A client that reads the other side of a gateway.

    Attributes:
        client: the two as one client: the reader's name with the gateway's, the gateway's version and upstream.
        gateway: the gateway.
        reader: the reader.
        program: the number of its adapter.
    """

    client: Client
    gateway: Client
    reader: Client
    program: int


class Job(NamedTuple):
    """One run of the plan; `reading` where another client than wholecall reads a gateway."""

    number: int
    client: Client
    case: Case
    write: str
    reading: Reading | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How the runs are made.

    Attributes:
        seed: the seed of the cases, which were renamed with it; None without.
        write: a way of writing for all cases, `all` for each that a case names, None for the first of each case and,
            in the level core, for the bytewise one too.
        unchanged: how many cases a seed could not change at all; None without one.
        kept: in how many cases a seed could not change names, ids, values; None without one.
        blind: whether clients are not told the names of cases.
        timeout: seconds that a client has for a case.
        jobs: how many workers there are.
    """

    seed: Optional[int] = None
    unchanged: Optional[int] = None
    kept: Optional[dict[str, int]] = None
    write: Optional[str] = None
    blind: bool = False
    timeout: float = 20.0
    jobs: int = 1


def plan(
    clients: Iterable[Client],
    cases: Sequence[Case],
    settings: Settings,
    readings: Iterable[Reading] = (),
) -> list[Job]:
    """Return the runs: each client over the cases of its wire, under each way of writing; gateways once per reader."""
    by = [(client, None) for client in clients] + [(one.client, one) for one in readings]
    wanted = [
        (client, case, write, reading)
        for client, reading in by
        for case in cases
        if case.wire == client.wire and (client.mode == "bytes" or not case.is_session)
        for write in writes_of(case, settings)
    ]
    return [Job(number, *one) for number, one in enumerate(wanted)]


def readings(gateways: Iterable[Client], readers: Sequence[Iterable[Client]]) -> list[Reading]:
    """Return the pairs of each gateway with each client that can be pointed at one.

    Args:
        gateways: clients; those that are no gateways are left out.
        readers: the clients of each adapter; those of other modes than `http` are left out.
    """
    return [
        Reading(_joined(gateway, reader), gateway, reader, program)
        for gateway in gateways
        if gateway.mode == "gateway"
        for program, clients in enumerate(readers)
        for reader in clients
        if reader.mode == "http"
    ]


def _joined(gateway: Client, reader: Client) -> Client:
    return msgspec.structs.replace(
        gateway,
        name=f"{reader.name}+{gateway.name}",
        runs_tools=reader.runs_tools,
        dependencies={**gateway.dependencies, **reader.dependencies, reader.name: reader.version},
    )


def writes_of(case: Case, settings: Settings) -> tuple[str, ...]:
    """Return the ways in which a case is written."""
    if settings.write == EVERY:
        return case.http.writes
    if settings.write is not None:
        return (settings.write,)
    if settings.seed is not None:
        return (f"seed:{settings.seed}",)
    first = case.http.writes[0]
    return (first, "byte") if case.level == "core" and "byte" in case.http.writes[1:] else (first,)


class Runner:
    """Runs a plan.

    Args:
        suite: the folder of the suite.
        adapter: makes an adapter; it is called once for each worker.
        settings: how the runs are made.
        readers: each makes an adapter whose clients read gateways.
    """

    def __init__(
        self,
        suite: Suite,
        adapter: Callable[[], Adapter],
        settings: Settings,
        readers: Sequence[Callable[[], Adapter]] = (),
    ) -> None:
        self._suite = suite
        self._readers = readers
        self._adapter = adapter
        self._settings = settings
        self._left: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Job, Run] | Future[None]] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._adapters: list[Adapter] = []
        self._runs: dict[int, tuple[Job, Run]] = {}
        self._started = datetime.now(timezone.utc)
        self._clock = time.monotonic()

    def run(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Run]]:
        """Yield the runs as they end; whoever stops taking them stops the workers, and `results` has those so far.

        Raises:
            BadSuite: a case cannot be written in the way that was asked for.
        """
        for job in jobs:
            self._left.put(job)
        workers = min(self._settings.jobs, len(jobs))
        with CaseServer(self._suite) as server:
            pool = ThreadPoolExecutor(max(workers, 1))
            try:
                for _ in range(workers):
                    pool.submit(self._work, server).add_done_callback(self._done.put)
                yield from self._finished(workers)
            finally:
                self._stopped.set()
                for adapter in self._adapters:
                    adapter.close()
                pool.shutdown(wait=False)

    def _finished(self, workers: int) -> Iterator[tuple[Job, Run]]:
        while workers:
            found = self._done.get()
            if isinstance(found, Future):
                found.result()
                workers -= 1
            else:
                self._runs[found[0].number] = found
                yield found

    def _work(self, server: CaseServer) -> None:
        adapter, *readers = found = [make() for make in (self._adapter, *self._readers)]
        self._adapters += found
        while not self._stopped.is_set():
            try:
                job = self._left.get_nowait()
            except queue.Empty:
                return
            self._done.put((job, self._measure(job, adapter, readers, server)))

    def _measure(self, job: Job, adapter: Adapter, readers: Sequence[Adapter], server: CaseServer) -> Run:
        run, began = f"{job.number:x}", time.monotonic()
        request = self._request(job, run, server)
        got: dict[str, Any] | None = None
        try:
            answer = self._answer(job, adapter, readers, request)
            got = msgspec.to_builtins(answer)
            verdict = judge(job.case, answer)
        except Died as error:
            verdict = CaseVerdict("crash", str(error))
        except TooSlow as error:
            verdict = CaseVerdict("timeout", str(error))
        finally:
            server.withdraw(run)
        return Run(
            case=job.case.id,
            level=job.case.level,
            verdict=verdict.word,
            why=verdict.why,
            write=job.write,
            seconds=round(time.monotonic() - began, 3),
            got=got,
            disputed=job.case.disputed is not None,
        )

    def _answer(
        self, job: Job, adapter: Adapter, readers: Sequence[Adapter], request: dict[str, Any]
    ) -> Answer:
        """Return what a client, or a client of a gateway, made of a case."""
        if job.client.mode != "gateway":
            return adapter.run(request)
        found = adapter.gateway(request)
        if found.unsupported is not None:
            return Answer(unsupported=found.unsupported)
        wire = found.wire or job.client.wire
        if job.reading is None:
            return ask(found.gateway, wire, job.case, self._settings.timeout)
        reader = job.reading.reader
        if reader.wire != wire:
            return Answer(unsupported=f"the gateway speaks {wire}")
        there = {"client": reader.name, "wire": wire, "url": found.gateway}
        return readers[job.reading.program].run(request | there)

    def _request(self, job: Job, run: str, server: CaseServer) -> dict[str, Any]:
        case, http = job.case, job.case.http
        request: dict[str, Any] = {
            "do": "run",
            "client": (job.reading.gateway if job.reading else job.client).name,
            "wire": case.wire,
            "case": f"{case.wire}/{run}" if self._settings.blind else case.id,
            "stream": case.request.stream,
            "asked": list(case.request.asked),
            "tools": [{"name": tool.name, "schema": tool.schema} for tool in case.request.tools],
            "timeout": self._settings.timeout,
        }
        if case.numbers == "text":
            request["numbers"] = "text"
        if job.client.mode != "bytes":
            return request | {"url": server.offer(run, case, job.write, blind=self._settings.blind)}
        return request | {
            "chunks": [b64encode(piece).decode() for piece in pieces(case, job.write)],
            "content_type": http.content_type,
            "status": http.status,
            "ending": http.ending,
        }

    def results(self, clients: Sequence[Client], planned: int) -> Results:
        """Return what was measured so far.

        Args:
            clients: the clients of the plan.
            planned: how many runs the plan has.
        """
        return Results(
            data=self._suite.version,
            seed=self._settings.seed,
            unchanged=self._settings.unchanged,
            kept=self._settings.kept,
            write=self._settings.write,
            blind=self._settings.blind,
            runner={"name": "wholecall", "version": wholecall.__version__},
            platform=_platform(),
            started=self._started.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._clock, 3),
            complete=len(self._runs) == planned,
            clients=tuple(self._graded(client) for client in clients),
        )

    def _graded(self, client: Client) -> Graded:
        found = [run for _, (job, run) in sorted(self._runs.items()) if job.client is client]
        return Graded(
            name=client.name,
            version=client.version,
            wire=client.wire,
            mode=client.mode,
            runs_tools=client.runs_tools,
            dependencies=client.dependencies,
            scores=scores(found),
            cases=tuple(found),
        )


def _platform() -> dict[str, str]:
    return {"system": platform.system(), "machine": platform.machine(), "python": platform.python_version()}
