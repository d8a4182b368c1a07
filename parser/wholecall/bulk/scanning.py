"""Scan files into tables: in parallel, each input exactly once, also after an interrupted scan.

Theory of operation. The inputs are planned into units before the first is read (`units`, `plan`); workers do them,
and each unit is done when its marker exists (`output_folder`, `tasks`). A scan that continues keeps the old plan, so
that the parts keep their names and their bytes; it does the units without a marker, and new inputs as new units. The
parent only hands out work and counts (`pool`, `retries`).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager

from wholecall import Limits, Policy, WholecallError
from wholecall.bulk.failures import CannotWriteError, StoreFailed
from wholecall.bulk.options import Changed, Errors, Request, request_of
from wholecall.bulk.output_folder import Folder, Marker, PlanLine, Tally
from wholecall.bulk.plan import Plan, check_folder, inputs, new_plan, plan_of, write_plan
from wholecall.bulk.pool import Pool, StartError
from wholecall.bulk.retries import HopelessError, Retries
from wholecall.bulk.tasks import Task
from wholecall.bulk.units import Piece

_private = True


class ScanFailed(WholecallError):
    """A scan had to stop: the output cannot be written, workers cannot work, or too much could not be read.

    Finished units stay; a scan that continues (`resume`) does the rest.
    """


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a scan.

    Attributes:
        done: finished units, including earlier runs.
        total: all units.
        bytes: bytes of the inputs of finished units; before decompression, of tables the bodies in memory.
        total_bytes: bytes of all inputs.
        recordings: rows of `recordings`.
        calls: emitted calls.
        dropped: dropped calls.
        cancelled: calls that were taken back.
        troubles: recordings that could not be read.
        skipped: responses that are not recordings, by reason.
        unit: the number of the unit that was finished last; None before the first.
        named: ids and troubles of recordings in this unit that could not be read, the first 20.
    """

    done: int
    total: int
    bytes: int
    total_bytes: int
    recordings: int
    calls: int
    dropped: int
    cancelled: int
    troubles: int
    skipped: Mapping[str, int]
    unit: int | None = None
    named: tuple[tuple[str, str], ...] = ()


def scan(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    changed: Changed = "refuse",
    errors: int | str | None = None,
    body: str | None = None,
    messages: str | None = None,
    id: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    dialect: str | None = None,
    recorded_at: str | None = None,
    arguments: bool = True,
    hashed: bool = True,
    max_bytes: int | None = None,
    imports: Iterable[str] = (),
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Iterator[Progress]:
    """Read recordings into two tables in Parquet, `out/calls` and `out/recordings`, with several processes.

    ::

        if __name__ == "__main__":
            for progress in scan(["logs"], "out"):
                print(f"{progress.done} of {progress.total} units, {progress.recordings:,} recordings")

    Every recording is a row, also an unreadable one. However a scan ends, `resume` continues it: each input is in the
    tables once, and the bytes of the parts are the same.

    Args:
        paths: files, folders and globs of recordings, in any form that `wholecall.recordings.read` reads, and of
            transcripts; with `body` or `messages` of tables: `.parquet`, `.arrow`, `.jsonl`. Also URLs of all these in
            object stores, as `s3://bucket/logs`.
        out: the output folder, which is made if it is missing; or the URL of a folder in a store, into which no other
            process may write meanwhile.
        workers: processes; None takes one for each core that this process may use.
        resume: continue an existing scan, if there is one. It has to have the same options.
        overwrite: remove an existing scan, and begin anew.
        changed: the reaction to inputs that have changed since a scan was planned: `"refuse"` raises, `"redo"` reads
            their units again, `"keep"` leaves finished units.
        errors: stop if more recordings than this are unreadable: a number, or a share such as `"2%"`, which counts from
            1,000 recordings on; None never stops.
        body: the column of a table that holds raw bodies. `a.b` goes into structs, here and below.
        messages: the column of a table that holds conversations: texts of JSON, or lists of structs.
        id: the column that becomes `recording_id`; by default it is the source and the number of the row.
        provider: the column of the provider.
        model: the column of the requested model; the model that the response states outranks it.
        dialect: the wire format of all recordings; for tables a name that is not a dialect is a column.
        recorded_at: the column of the time of recording.
        arguments: whether the tables hold the texts of arguments.
        hashed: whether the tables hold a hash of each body.
        max_bytes: the largest content of a compressed file, and of a compressed body in it; by default 64 MiB, or 200
            times its size if that is more.
        imports: modules that register dialects, which each worker imports; modules of installed packages are loaded
            without it.
        policy: the policy for judging calls.
        limits: the limits of a stream.

    Yields:
        The progress: at first, and after each unit.

    Raises:
        ValueError: before anything is read: the options do not fit together, or not to the existing scan; an input is
            named twice, or lacks a column; a URL has credentials, or its store refuses.
        UnknownDialect: the dialect is not known.
        ImportError: a module of `imports` is missing.
        ScanFailed: the scan had to stop.
    """
    if resume and overwrite:
        raise ValueError("resume goes on, overwrite begins anew: choose one")
    columns = {"id": id, "provider": provider, "model": model, "recorded_at": recorded_at}
    request = request_of(
        paths,
        out,
        body=body,
        messages=messages,
        columns=columns,
        dialect=dialect,
        start="resume" if resume else "overwrite" if overwrite else "new",
        changed=changed,
        workers=workers,
        errors=Errors() if errors is None else Errors.parse(str(errors)),
        judging={
            "arguments": arguments,
            "hashed": hashed,
            "max_bytes": max_bytes,
            "imports": tuple(imports),
            "policy": policy,
            "limits": limits,
        },
    )
    yield from run(request)


def _workers_here() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begun(request: Request) -> tuple[Folder, list[Piece]]:
    """Return the output folder and the inputs.

    Raises:
        ValueError: the scan is refused, also by a disk or a store.
    """
    try:
        folder = Folder(request.out)
        check_folder(folder, request.start, request.options)
        return folder, inputs(request.paths, folder.path, request.options)
    except StoreFailed as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from error


def preview(request: Request) -> Plan:
    """Return the plan of a scan without writing anything.

    Raises:
        ValueError: the scan would be refused.
    """
    folder, pieces = _begun(request)
    if request.start == "overwrite":
        return new_plan(pieces, request.options)
    return plan_of(folder, pieces, request.options, request.changed)


def run(request: Request) -> Generator[Progress]:
    """Run a request, and yield the progress; for errors see `scan`."""
    folder, pieces = _begun(request)
    with _failing(), folder.locked():
        folder.remove_leftovers()
        check_folder(folder, request.start, request.options)  # again: no other process writes now
        if request.start == "overwrite":
            folder.clear()
        plan = plan_of(folder, pieces, request.options, request.changed)
        del pieces
        write_plan(folder, plan, request.options, request.paths)
        running = _Running(folder.read_plan(), plan)
        del plan  # it may be large, and is in the file
        yield running.progress()
        try:
            yield from _worked(folder, request, running)
        finally:
            folder.remove_leftovers()


class _Running:
    """The units of a scan, and the counts so far.

    Attributes:
        waiting: the places of the units that have to be done.
        tally: the counts of finished units.
    """

    def __init__(self, places: list[PlanLine], plan: Plan) -> None:
        self.waiting = [place for place in places if place.number not in plan.done]
        self.tally = Tally()
        self._total, self._total_bytes = len(places), sum(place.weight for place in places)
        self._done = self._bytes = 0
        for place in places:
            if place.number in plan.done:
                self._count(place, plan.done[place.number])

    def finished(self, place: PlanLine, marker: Marker) -> Progress:
        """Count a unit, and return the progress."""
        self._count(place, marker)
        return self.progress(place.number, marker.troubles)

    def _count(self, place: PlanLine, marker: Marker) -> None:
        self._done += 1
        self._bytes += place.weight
        self.tally.merge(marker.counts, marker.skipped)

    def progress(self, unit: int | None = None, named: Iterable[tuple[str, str]] = ()) -> Progress:
        """Return the progress of the scan."""
        counts = self.tally.counts
        return Progress(
            done=self._done,
            total=self._total,
            bytes=self._bytes,
            total_bytes=self._total_bytes,
            recordings=counts["recordings"],
            calls=counts["calls"],
            dropped=counts["dropped"],
            cancelled=counts["cancelled"],
            troubles=counts["troubles"],
            skipped=dict(self.tally.skipped),
            unit=unit,
            named=tuple(named),
        )


def _worked(folder: Folder, request: Request, running: _Running) -> Generator[Progress]:
    """Let workers do the remaining units."""
    pool = Pool(request.workers or _workers_here(), folder.path, request.options)
    retries = Retries(
        lambda place: len(folder.unit(place).pieces), has_rows=request.options.columns is not None
    )
    for place in running.waiting:
        pool.put(Task(kind="scan", place=place))
    is_over = False
    try:
        for task, result in pool.results():
            for following in reversed(retries.after(task, result)):
                pool.put(following, first=True)
            if isinstance(result, Marker):
                yield running.finished(task.place, result)
                _stop_at(request.errors, running.tally, at_end=False)
        is_over = True
    finally:
        pool.close(at_once=not is_over)
    _stop_at(request.errors, running.tally, at_end=True)


def _stop_at(errors: Errors, tally: Tally, *, at_end: bool) -> None:
    troubles, recordings = tally.counts["troubles"], tally.counts["recordings"]
    if not errors.allow(troubles, recordings, at_end=at_end):
        raise ScanFailed(f"{troubles:,} of {recordings:,} recordings could not be read, more than allowed")


@contextmanager
def _failing() -> Generator[None]:
    """Turn errors that stop a scan into `ScanFailed`.

    Raises:
        ScanFailed: instead of the errors of its parts.
    """
    try:
        yield
    except OSError as error:
        raise ScanFailed(f"cannot write: {error.strerror or type(error).__name__}") from error
    except CannotWriteError as error:
        raise ScanFailed(f"cannot write: {error}") from error
    except (HopelessError, StartError, StoreFailed) as error:
        raise ScanFailed(str(error)) from error
