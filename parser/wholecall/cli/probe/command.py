"""The command `wholecall probe`: grade a live endpoint, or exchanges that were saved, and report.

Theory of operation. A run has three steps: it says what it will cost, and needs consent where that is more than the
quick level on this machine or another; it asks, and saves each exchange at once if it is told to; it judges what it has.
An interruption ends the second step. Saved exchanges are judged by the same third step. All that is written passes the
cover of keys once more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from wholecall import BadRecording, __version__
from wholecall.cli import output
from wholecall.cli.probe import listing, outputs
from wholecall.cli.probe.text import text_of
from wholecall.cli.progress import Progress
from wholecall.grading.probe import keys
from wholecall.grading.probe.asking import Ask, Endpoint, key_header, wire_told_by
from wholecall.grading.probe.exchange import WIRES, Exchange, Wire
from wholecall.grading.probe.folder import Folder, ordered, saved_in
from wholecall.grading.probe.results import About, Report, report_of
from wholecall.grading.probe.running import Run, Runner, asks_of, cost_of, wire_of
from wholecall.grading.probe.scenarios import SCENARIOS, TRIES, Level, scenarios_at
from wholecall.grading.probe.verdict import judge

_WRONG, _INTERRUPTED = 2, 130
_PIPE_WIDTH, _MIN_WIDTH = 110, 60  # columns
_MOST_JOBS = 32
_PURPOSES = {scenario.id: scenario.about for scenario in SCENARIOS}


def probe(options: argparse.Namespace) -> int:
    """Do what the options say, and return the exit code."""
    outputs.check(options)
    if options.list:
        output.write(listing.text_of())
        return output.OK
    if options.regrade is not None:
        return _regrade(options)
    try:
        if options.self_test:
            return listing.self_test(WIRES if options.wire == "auto" else [options.wire])
        return _run(options, _plan_of(options))
    except keys.KeyTrouble as error:
        options.refuse(str(error))
        raise  # never: it exits
    except ImportError as error:
        if (error.name or "httpx").partition(".")[0] not in {"httpx", "httpx2"}:
            raise
        output.complain("probe needs httpx2 or httpx: pip install 'wholecall[http]'")
        return _WRONG


# Judging saved exchanges.


def _regrade(options: argparse.Namespace) -> int:
    try:
        saved = saved_in(options.regrade)
    except BadRecording as error:
        output.complain(str(error))
        return output.UNREADABLE
    except OSError as error:
        output.complain(f"{options.regrade}: {error.strerror}")
        return output.UNREADABLE
    theirs = None if saved.reference is None else (*saved.reference, judge(saved.reference[1]))
    report = report_of(
        saved.about, saved.exchanges, judge(saved.exchanges), _PURPOSES, theirs, saved=options.regrade
    )
    return _show(report, saved.exchanges, keys.Cover([]), options)


# A run.


class _Plan(msgspec.Struct, frozen=True):
    """A run that the command line asks for."""

    endpoint: _Target
    reference: _Target | None
    asks: tuple[Ask, ...]
    cover: keys.Cover
    extra: dict[str, Any]
    tries: int


class _Target(msgspec.Struct, frozen=True):
    """An endpoint as the command line has it; `wire` is None where it has to be found."""

    url: str
    model: str
    wire: Wire | None
    key: keys.Secret | None
    headers: tuple[keys.Secret, ...] = ()

    def __repr__(self) -> str:
        return "_Target()"

    @property
    def secrets(self) -> tuple[keys.Secret, ...]:
        """All secrets, the key without what a wire puts before it."""
        return (*self.headers, *([self.key] if self.key else []))

    def sent(self, wire: Wire) -> tuple[keys.Secret, ...]:
        """Return the headers that carry the secrets."""
        return (*self.headers, *([key_header(wire, self.key)] if self.key else []))


def _plan_of(options: argparse.Namespace) -> _Plan:
    url, model = str(options.url or ""), str(options.model or "")
    if not url or not model:
        options.refuse("a run needs URL and --model")
    if options.jobs > _MOST_JOBS:
        options.refuse(f"--jobs takes 1 to {_MOST_JOBS}")
    if options.reference is None and (options.reference_model or options.reference_key_env):
        options.refuse("--reference-model and --reference-key-env go with --reference")
    wire: Wire | None = None if options.wire == "auto" else options.wire
    headers = tuple(keys.header_from(text) for text in options.header)
    endpoint = _target(url, model, wire, options.key_env, headers)
    other = options.reference_model or model
    reference = (
        None
        if options.reference is None
        else _target(options.reference, other, wire, options.reference_key_env)
    )
    scenarios = scenarios_at(options.level, options.only)
    if not scenarios:
        options.refuse("--only names no scenario of this level; --list shows them")
    tries = options.tries or TRIES[options.level]
    secrets = [*endpoint.secrets, *(reference.secrets if reference else ())]
    return _Plan(endpoint, reference, asks_of(scenarios, tries), keys.Cover(secrets), _extra(options), tries)


def _target(
    url: str, model: str, wire: Wire | None, variable: str | None, headers: tuple[keys.Secret, ...] = ()
) -> _Target:
    key = None if variable is None else keys.secret_from(variable, "authorization")
    checked = keys.checked_url(url, has_key=key is not None or bool(headers))
    return _Target(checked, model, wire or wire_told_by(checked), key, headers)


def _extra(options: argparse.Namespace) -> dict[str, Any]:
    try:
        extra = msgspec.json.decode(options.extra or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        options.refuse("--extra takes a JSON object")
        raise  # never: it exits
    return extra


def _run(options: argparse.Namespace, plan: _Plan) -> int:
    if not _is_agreed(options, plan):
        return _WRONG
    run = Run()
    found = _endpoint(plan.endpoint, plan, options, run)
    reference = _endpoint(plan.reference, plan, options, run) if plan.reference and found else None
    if found is None or (plan.reference and reference is None):
        output.complain("no answer came, or none of the APIs is there; --wire names the API")
        return _WRONG
    about = _about(found, options, plan)
    other = None if reference is None else _about(reference, options, plan)
    try:
        folder = None if options.save is None else Folder(options.save, about, other)
    except OSError as error:
        output.complain(f"{options.save}: {error.strerror}")
        return output.UNREADABLE
    _ask(run, found, reference, folder, options, plan)
    exchanges, theirs = ordered(run.exchanges), ordered(run.reference)
    report = report_of(
        about,
        exchanges,
        judge(exchanges),
        _PURPOSES,
        None if other is None else (other, theirs, judge(theirs)),
        requests=run.requests + sum(one.n_requests for one in (found, reference) if one is not None),
        tokens=run.tokens,
        seconds=round(run.seconds, 1),
        is_interrupted=run.is_interrupted,
        saved=options.save,
        notes=tuple(found.habits.notes),
        unasked=dict(run.unasked),
    )
    code = _show(report, exchanges, plan.cover, options)
    return _INTERRUPTED if run.is_interrupted else code


def _is_agreed(options: argparse.Namespace, plan: _Plan) -> bool:
    """Say what the run costs at most, and return whether that is agreed to."""
    wire, model = plan.endpoint.wire or "chat-completions", plan.endpoint.model
    sides = 2 if plan.reference else 1
    requests, tokens = (sides * n for n in cost_of(plan.asks, wire, model, plan.extra))
    quick: Level = "quick"
    free = cost_of(asks_of(scenarios_at(quick), TRIES[quick]), wire, model, plan.extra)[1]
    budget = f", and stops before {options.budget_tokens:,}" if tokens > options.budget_tokens else ""
    sys.stderr.write(f"wholecall: {requests:,} requests, {tokens:,} tokens at most{budget}\n")
    urls = [plan.endpoint.url, *([plan.reference.url] if plan.reference else [])]
    if options.yes or tokens <= free or all(map(keys.is_loopback, urls)):
        return True
    output.complain("that is more than the quick level costs; --yes agrees to it, --level quick asks less")
    return False


def _endpoint(target: _Target, plan: _Plan, options: argparse.Namespace, run: Run) -> Endpoint | None:
    """Return an endpoint whose wire is known, None if it cannot be found."""

    def make(wire: Wire) -> Endpoint:
        return Endpoint(
            target.url,
            target.model,
            wire,
            secrets=target.sent(wire),
            extra=plan.extra,
            timeout=options.timeout,
            cover=plan.cover,
        )

    wire = target.wire or asyncio.run(wire_of(make, run))
    return None if wire is None else make(wire)


def _about(endpoint: Endpoint, options: argparse.Namespace, plan: _Plan) -> About:
    return About(
        endpoint=keys.shown_url(endpoint.url),
        model=endpoint.model,
        wire=endpoint.wire,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        version=__version__,
        level=options.level,
        tries=plan.tries,
    )


def _ask(
    run: Run,
    endpoint: Endpoint,
    reference: Endpoint | None,
    folder: Folder | None,
    options: argparse.Namespace,
    plan: _Plan,
) -> None:
    """Make the requests of a run, with progress on standard error."""
    total = len(plan.asks) * (2 if reference else 1)
    with Progress(quiet=True) as progress:

        def told(exchange: Exchange, is_reference: bool) -> None:
            if folder is not None:
                folder.save(exchange, is_reference)
            done = len(run.exchanges) + len(run.reference)
            progress.show(f"{done} of {total} requests, {run.tokens:,} tokens", exchange.scenario)

        runner = Runner(run, endpoint, reference, budget=options.budget_tokens, jobs=options.jobs, told=told)
        runner.measure(plan.asks)


# The report.


def _show(
    report: Report, exchanges: Sequence[Exchange], cover: keys.Cover, options: argparse.Namespace
) -> int:
    try:
        outputs.write(report, {exchange.file: exchange for exchange in exchanges}, cover, options)
    except OSError as error:
        output.complain(f"cannot write {error.filename}: {error.strerror}")
        return output.UNREADABLE
    if options.json != output.STDIO:
        width = max(shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns, _MIN_WIDTH)
        for line in text_of(report, width):
            output.write(f"{cover.text(line)}\n")
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    if report.reaches(options.fail_on):
        return output.FOUND
    if not report.is_told:
        output.complain("nothing could be told: no answer came that can be judged")
        return _WRONG
    return output.OK
