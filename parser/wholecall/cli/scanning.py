"""The command `wholecall scan`: run a scan, show its progress, and sum up; needs the extra `bulk`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, Final

from wholecall import Limits
from wholecall.bulk.options import Errors, Request, request_of
from wholecall.bulk.scanning import Progress, ScanFailed, preview, run
from wholecall.cli import progress as shown
from wholecall.cli.out import OK, UNREADABLE, complain, write
from wholecall.cli.show import printable

__all__ = ["scan"]

_WRONG: Final = 2  # as argparse exits
_MOST_NAMED: Final = 20
_LIMITS: Final = {"default": Limits(), "gateway": Limits.gateway(), "desktop": Limits.desktop()}
_COLUMNS: Final = ("id", "provider", "model", "recorded_at")


def scan(options: argparse.Namespace) -> int:
    """Run a scan, and return the exit code."""
    try:
        request = _request(options)
        return _plan(request, options) if options.plan else _run(request, options)
    except ValueError as error:
        complain(str(error))
        return _WRONG
    except ScanFailed as error:
        complain(str(error))
        complain(f"to go on: {_again(options)}")
        return UNREADABLE
    except KeyboardInterrupt:
        complain(f"interrupted; to go on: {_again(options)}")
        raise


def _request(options: argparse.Namespace) -> Request:
    return request_of(
        options.paths,
        options.out,
        body=options.body,
        messages=options.messages,
        columns={name: getattr(options, name) for name in _COLUMNS},
        dialect=options.dialect,
        start="resume" if options.resume else "overwrite" if options.overwrite else "new",
        changed=options.changed,
        workers=options.workers,
        errors=Errors() if options.errors is None else Errors.parse(options.errors),
        judging={
            "arguments": options.arguments,
            "hashed": options.hashed,
            "max_bytes": options.max_bytes,
            "imports": tuple(options.modules),
            "limits": _LIMITS[options.limits],
        },
    )


def _again(options: argparse.Namespace) -> str:
    """Return the command that resumes the scan."""
    words = ["wholecall", "scan", *options.paths, "--out", options.out, "--resume"]
    for name in ("body", "messages", *_COLUMNS, "dialect", "workers", "errors", "max_bytes"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    for name, usual in (("changed", "refuse"), ("limits", "default")):
        words += [] if getattr(options, name) == usual else [f"--{name}", getattr(options, name)]
    words += [word for module in options.modules for word in ("--import", module)]
    words += [] if options.arguments else ["--no-arguments"]
    words += [] if options.hashed else ["--no-hash"]
    return shlex.join(words)


# Output of `--plan`.


def _plan(request: Request, options: argparse.Namespace) -> int:
    plan = preview(request)
    if options.json:
        for unit in plan.units:
            told = {"unit": unit.number, "id": unit.id, "inputs": len(unit.pieces), "bytes": unit.weight}
            sys.stdout.write(json.dumps(told | {"done": unit.number in plan.done}) + "\n")
        return OK
    left = [unit for unit in plan.units if unit.number not in plan.done]
    write(f"{_counted(len(plan.units), 'unit')}: {_size(plan.units)}\n")
    if plan.done:
        write(f"{_counted(len(plan.done), 'unit')} done, {_counted(len(left), 'unit')} left: {_size(left)}\n")
    return OK


def _size(units: Iterable[Any]) -> str:
    listed = list(units)
    n_inputs = sum(len(unit.pieces) for unit in listed)
    return f"{_counted(n_inputs, 'input')}, {shown.amount(sum(unit.weight for unit in listed))}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# Progress and summary.


def _run(request: Request, options: argparse.Namespace) -> int:
    begun = time.monotonic()
    first = last = None
    n_named = 0
    with shown.Progress(quiet=True) as bar, closing(run(request)) as steps:
        for last in steps:
            first = first or last
            if options.json:
                sys.stderr.write(_line(last) if last.unit is not None else "")
                sys.stderr.flush()
                continue
            bar.show(*_drawn(first, last, time.monotonic() - begun))
            for id_, trouble in last.named[: _MOST_NAMED - n_named]:
                bar.clear()
                complain(f"{id_}: {trouble}")
            n_named += len(last.named)
    assert first is not None
    assert last is not None
    for line in _summary(first, last, time.monotonic() - begun, options.out):
        write(f"{line}\n")
    return UNREADABLE if last.troubles else OK


def _line(progress: Progress) -> str:
    told = dataclasses.asdict(progress)
    return json.dumps(told) + "\n"


def _drawn(first: Progress, now: Progress, seconds: float) -> tuple[str, str]:
    """Return the progress of a scan: the work done, and the time left."""
    read, size = now.recordings - first.recordings, now.bytes - first.bytes
    speed = f"{read / seconds:,.0f} recordings/s, {shown.amount(int(size / seconds))}/s" if seconds else ""
    count = f"{now.done:,} of {_counted(now.total, 'unit')}, {speed}, {now.dropped:,} dropped, {now.troubles:,} unreadable"
    left = (now.total_bytes - now.bytes) * seconds / size if size else None
    return count, "" if left is None else f"{_time(left)} left"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _summary(first: Progress, last: Progress, seconds: float, out: str) -> Iterator[str]:
    """Yield the lines of the summary; the last is the command that shows more."""
    units, size = last.done - first.done, last.bytes - first.bytes
    yield f"{_counted(last.recordings, 'recording')} in {_counted(last.total, 'unit')}"
    if first.done:
        yield f"{_counted(first.done, 'unit')} done before"
    if units:
        rate = shown.amount(int(size / seconds))
        yield f"{_counted(units, 'unit')} of {shown.amount(size)} in {seconds:,.1f} s ({rate}/s)"
    yield ""
    ended = last.calls + last.dropped
    share = f"  ({last.dropped / ended:.1%})" if last.dropped else ""
    yield f"calls       {last.calls:11,}"
    yield f"dropped     {last.dropped:11,}{share}"
    if last.cancelled:
        yield f"cancelled   {last.cancelled:11,}"
    yield f"unreadable  {last.troubles:11,}"
    if last.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(last.skipped.items()))
        yield f"skipped     {sum(last.skipped.values()):11,}  ({reasons})"
    yield ""
    yield f"wholecall report {shlex.quote(printable(out))}"
