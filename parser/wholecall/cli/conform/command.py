"""The command `wholecall conform`: run clients over the conformance suite, and read the results.

Theory of operation. `run` makes a plan of the cases and clients, and a runner takes it from there; a table goes to
standard output, a line of progress to standard error, and reports go to files. A run that is interrupted is reported
like a whole one, and its exit code says so. Without a program the client is wholecall itself.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from wholecall.cli import output, show
from wholecall.cli.conform import page
from wholecall.cli.options import add_command_parser
from wholecall.cli.progress import Progress
from wholecall.grading import badge, junit
from wholecall.grading.conform import results
from wholecall.grading.conform.cases import LEVELS, WIRES, BadSuite, Case, Suite, open_suite
from wholecall.grading.conform.own import OwnClient
from wholecall.grading.conform.protocol import Adapter, AdapterFailed, Client, Program
from wholecall.grading.conform.results import ALL, Results, Run, Score
from wholecall.grading.conform.running import Job, Reading, Runner, Settings, plan, readings, writes_of
from wholecall.grading.conform.seeds import THINGS, reseeded, reseeding
from wholecall.grading.conform.serving import HandServer
from wholecall.grading.conform.writes import pieces

_WRONG = 2
_INTERRUPTED = 130
_SHOWN = 200  # characters of a reason in a line

_ABOUT = """\
Run a client over published streams of tool calls, and list the calls it got wrong: calls that nobody sent
(unsafe), calls that were lost without a word, calls that were refused.
"""
_EXAMPLES = """\
examples:
  wholecall conform list --pack core               the cases
  wholecall conform run                            wholecall itself as the client
  wholecall conform run -- node adapter.mjs        a client behind an adapter, in any language
  wholecall conform serve --port 4711              a server of the cases, for clients driven by hand
  wholecall conform compare old.json new.json      what changed

`wholecall conform COMMAND --help` says more. `INTERPRETING.md` in the folder of the suite says how to write an adapter.
"""
_RUN_ABOUT = """\
Run clients over cases. The program after -- is an adapter: it gets JSON lines on standard input, and answers each
with one on standard output. Without a program the client is wholecall itself.

Each level has two numbers: safety, the share of runs in which no call was handed over that nobody sent, and
completeness, the share that passed.
"""
_RUN_EXAMPLES = """\
examples:
  wholecall conform run --pack core,common,damage --report out.json -- python adapter.py
  wholecall conform run --only 'responses/*' --write byte -- node adapter.mjs
  wholecall conform run --seed 7 --jobs 2 --html out.html --junit out.xml --badge out.svg -- python adapter.py
  wholecall conform run --client openai --blind -- python adapter.py
  wholecall conform run --reader 'python openai_sdk.py' -- python gateway.py

exit status:
  0    no run was unsafe, and every run of the level core passed
  1    otherwise
  2    the command line was wrong, or there is no suite, or no adapter
  3    a report could not be written
  130  it was interrupted; what was measured until then is reported
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "conform", "run clients over the conformance suite", _ABOUT, _EXAMPLES
    )
    parts = command.add_subparsers(metavar="COMMAND", required=True)
    _add_list(parts)
    _add_run(parts)
    _add_serve(parts)
    _add_show(parts)
    _add_compare(parts)
    _add_matrix(parts)


def _add_list(parts: Any) -> None:
    about = "List the cases of the suite: id, level, accepted ends, subject."
    examples = (
        "examples:\n  wholecall conform list --pack core --wire responses\n  wholecall conform list --json\n"
    )
    command = add_command_parser(parts, "list", "list the cases", about, examples)
    command.set_defaults(run=_list)
    _add_choice(command)
    command.add_argument("--json", action="store_true", help="write one JSON object a line")


def _add_run(parts: Any) -> None:
    command = add_command_parser(parts, "run", "run clients over cases", _RUN_ABOUT, _RUN_EXAMPLES)
    command.set_defaults(run=_run)
    _add_choice(command)
    command.add_argument(
        "--client",
        action="append",
        default=[],
        metavar="NAME",
        help="a client of the adapter; may be given again",
    )
    command.add_argument(
        "--reader",
        action="append",
        default=[],
        metavar="COMMAND",
        help="an adapter whose clients read the gateway, too, as clients\nof their own; may be given again",
    )
    command.add_argument(
        "--seed",
        type=_whole,
        metavar="N",
        help="other names, ids, argument values and cuts,\ndrawn by a seed",
    )
    text = "frame, byte, whole, a number of bytes, seed:N, or all that a\ncase names (the first, and in core byte, too)"
    command.add_argument("--write", metavar="HOW", help=f"how the bytes are written: {text}")
    command.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="how many adapters run side by side (1)"
    )
    command.add_argument(
        "--timeout", type=_seconds, default=20.0, metavar="S", help="seconds for each case (20)"
    )
    command.add_argument("--blind", action="store_true", help="do not tell the client the names of cases")
    command.add_argument("--quiet", action="store_true", help="discard the adapter's standard error")
    for name, what in (
        ("report", "the results as JSON"),
        ("html", "the results as one page for a browser"),
        ("junit", "the results in the XML of JUnit"),
        ("badge", "a badge; with .json the data of one for shields.io"),
    ):
        command.add_argument(f"--{name}", metavar="FILE", help=what)
    command.add_argument(
        "program", nargs="*", metavar="PROGRAM", help="the adapter and its arguments, after --"
    )


def _add_serve(parts: Any) -> None:
    about = """\
Serve the cases on 127.0.0.1 until you interrupt it, for clients that are driven by hand. /cases lists them with the
URLs to give to a client. POST what the client made of a case, as an adapter would answer, to /report/RUN/WIRE/NAME;
/report has the results.
"""
    examples = "examples:\n  wholecall conform serve --port 4711\n  curl http://127.0.0.1:4711/cases\n"
    command = add_command_parser(parts, "serve", "serve the cases on loopback", about, examples)
    command.set_defaults(run=_serve)
    _add_choice(command)
    command.add_argument("--port", type=_whole, default=0, metavar="N", help="the port; a free one without")


def _add_show(parts: Any) -> None:
    about = "Show a case: its sidecar in words, its bytes, and what the clients of result files made of it."
    examples = "examples:\n  wholecall conform show responses/item-id-null --results out.json\n"
    command = add_command_parser(parts, "show", "show a case", about, examples)
    command.set_defaults(run=_show)
    _add_data(command)
    command.add_argument("case", metavar="CASE", help="its id, WIRE/NAME")
    command.add_argument("--write", default="frame", metavar="HOW", help="how the bytes are cut (frame)")
    command.add_argument("--seed", type=_whole, metavar="N", help="the case under the names of this seed")
    command.add_argument(
        "--results", action="append", default=[], metavar="FILE", help="a file of results; may be given again"
    )


def _add_compare(parts: Any) -> None:
    about = "Compare two files of results: the runs of which the verdict is another one."
    examples = """\
examples:
  wholecall conform compare old.json new.json

exit status:
  0  no client does worse
  1  some run of the second file has a worse verdict
  2  a file cannot be read
"""
    command = add_command_parser(parts, "compare", "compare two files of results", about, examples)
    command.set_defaults(run=_compare)
    command.add_argument("old", metavar="A", help="the earlier results")
    command.add_argument("new", metavar="B", help="the later results")


def _add_matrix(parts: Any) -> None:
    about = (
        "Write a page with the clients of several files of results, the safest first, and a badge for each."
    )
    examples = "examples:\n  wholecall conform matrix results/*.json -o site\n"
    command = add_command_parser(parts, "matrix", "write a page about many clients", about, examples)
    command.set_defaults(run=_matrix)
    command.add_argument("files", nargs="+", metavar="FILE", help="files of results")
    command.add_argument("-o", "--out", required=True, metavar="DIR", help="the folder to write")


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data", default="conformance", metavar="DIR", help="the folder of the suite (conformance)"
    )


def _add_choice(command: argparse.ArgumentParser) -> None:
    """Add the options that choose cases."""
    _add_data(command)
    command.add_argument(
        "--pack",
        type=lambda text: text.split(","),
        default=[],
        metavar="P,P",
        help=f"packs or levels ({', '.join(LEVELS)})",
    )
    command.add_argument(
        "--wire", action="append", default=[], choices=WIRES, metavar="W", help="a wire; may be given again"
    )
    command.add_argument("--only", metavar="GLOB", help="a pattern for the id, such as 'responses/*'")


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def _count(text: str) -> int:
    if (number := _whole(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


# list, show and serve.


def _or_wrong(work: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Return the command with its mistakes reported: no suite, no adapter, no such case."""

    def run(options: argparse.Namespace) -> int:
        try:
            return work(options)
        except (BadSuite, AdapterFailed) as error:
            output.complain(str(error))
            return _WRONG

    return run


def _chosen(options: argparse.Namespace) -> tuple[Suite, list[Case]]:
    suite = open_suite(options.data)
    cases = suite.cases(options.pack, options.wire, options.only)
    if not cases:
        raise BadSuite(f"{options.data}: no case is as the options want it")
    return suite, cases


@_or_wrong
def _list(options: argparse.Namespace) -> int:
    _, cases = _chosen(options)
    if options.json:
        write = output.line_writer()
        for case in cases:
            facts = {
                "id": case.id,
                "level": case.level,
                "kind": case.kind,
                "accept": case.accept,
                "about": case.about,
            }
            write(json.dumps(facts))
        return output.OK
    width = max(len(case.id) for case in cases)
    for case in cases:
        ends = " or ".join(case.accept)
        output.write(f"{case.id:{width}}  {case.level:8}  {ends:22}  {show.printable(case.about)}\n")
    return output.OK


@_or_wrong
def _show(options: argparse.Namespace) -> int:
    _, [case] = _chosen(argparse.Namespace(data=options.data, pack=[], wire=[], only=options.case))
    if options.seed is not None:
        case = reseeded(case, options.seed)
    facts = [f"{case.id} ({case.level}, {case.kind}): {case.about}", f"accepted: {' or '.join(case.accept)}"]
    for title in ("sent", "may", "retracted", "server"):
        facts += [
            f"{title:9} {call.name} {json.dumps(call.arguments, ensure_ascii=False)} ({call.id or 'no id'})"
            for call in getattr(case, title)
        ]
    facts += [f"HTTP {case.http.status} {case.http.content_type}, ending: {case.http.ending}"]
    facts += [f"evidence: {url}" for url in case.evidence]
    output.write("".join(f"{show.printable(fact)}\n" for fact in facts) + "\n")
    for piece in pieces(case, options.write):
        output.write(show.printable(piece.decode("utf-8", "backslashreplace").rstrip("\r\n")) + "\n")
    for path in options.results:
        _show_runs(results.load(path), case)
    return output.OK


def _show_runs(found: Results, case: Case) -> None:
    """Show what the clients of a file made of a case."""
    for client, run in found.runs():
        if run.case == case.id:
            output.write(f"\n{show.printable(client.label)}, written by {run.write}: {_said(run)}\n")
            if run.got is not None:
                output.write(show.printable(json.dumps(run.got, ensure_ascii=False)) + "\n")


@_or_wrong
def _serve(options: argparse.Namespace) -> int:
    suite, chosen = _chosen(options)
    cases = [case for case in chosen if not case.is_session]
    try:
        server = HandServer(suite, cases, port=options.port).__enter__()
    except (OSError, OverflowError) as error:
        output.complain(f"cannot listen on port {options.port}: {error}")
        return _WRONG
    output.write(f"{len(cases):,} cases are at {server.url}/cases, results at {server.url}/report\n")
    sys.stdout.flush()
    try:
        while True:
            time.sleep(3600)
    finally:
        server.__exit__(None, None, None)


# run.


@_or_wrong
def _run(options: argparse.Namespace) -> int:
    suite, cases = _chosen(options)
    cases, unchanged, kept = (cases, None, None) if options.seed is None else _reseeded(cases, options.seed)
    settings = Settings(
        seed=options.seed,
        unchanged=unchanged,
        kept=kept,
        write=options.write,
        blind=options.blind,
        timeout=options.timeout,
        jobs=options.jobs,
    )
    for write in writes_of(cases[0], settings):
        pieces(cases[0], write)  # a wrong way of writing is told before anything runs
    adapter, readers = _adapter(options), [_program(shlex.split(text), options) for text in options.reader]
    clients = _clients(adapter, options)
    pairs = _readings(clients, readers)
    runner = Runner(suite, adapter, settings, readers)
    found, is_whole = _measured(runner, clients, plan(clients, cases, settings, pairs), pairs)
    _print(found)
    if not _write_reports(found, options):
        return output.UNREADABLE
    if not is_whole:
        return _INTERRUPTED
    return output.OK if found.is_good else output.FOUND


def _reseeded(cases: list[Case], seed: int) -> tuple[list[Case], int, dict[str, int]]:
    """Return cases under other names, how many stayed as they are, and of each thing in how many it stayed."""
    others = [reseeding(case, seed) for case in cases]
    unchanged = sum(case is other.case for case, other in zip(cases, others, strict=True))
    kept = {thing: sum(thing in other.kept for other in others) for thing in THINGS}
    return [other.case for other in others], unchanged, kept


def _adapter(options: argparse.Namespace) -> Callable[[], Adapter]:
    if not options.program:
        return OwnClient
    return _program(options.program, options)


def _program(command: list[str], options: argparse.Namespace) -> Callable[[], Adapter]:
    return lambda: Program(command, quiet=options.quiet)


def _readings(clients: Sequence[Client], readers: Sequence[Callable[[], Adapter]]) -> list[Reading]:
    """Return the gateways with each client that is to read them."""
    if not readers:
        return []
    found = readings(clients, [_greeted(reader) for reader in readers])
    if not found:
        raise BadSuite("--reader goes with a gateway, and with an adapter that has a client in the mode http")
    return found


def _greeted(adapter: Callable[[], Adapter]) -> list[Client]:
    """Return the clients of an adapter."""
    first = adapter()
    try:
        return first.hello()
    finally:
        first.close()


def _clients(adapter: Callable[[], Adapter], options: argparse.Namespace) -> list[Client]:
    """Return the clients that are to be run."""
    clients = _greeted(adapter)
    known = {client.name for client in clients}
    if missing := set(options.client) - known:
        raise BadSuite(
            f"the adapter has no client {', '.join(sorted(missing))}; it has {', '.join(sorted(known))}"
        )
    return [client for client in clients if not options.client or client.name in options.client]


def _measured(
    runner: Runner, clients: Sequence[Client], jobs: Sequence[Job], pairs: Sequence[Reading]
) -> tuple[Results, bool]:
    """Return what was measured, and whether that is everything."""
    if not jobs:
        raise BadSuite("no client reads a wire of the chosen cases")
    unsafe = done = 0
    running = runner.run(jobs)
    with Progress(quiet=True) as progress:
        try:
            for job, run in running:
                done += 1
                unsafe += run.verdict == "unsafe"
                progress.show(
                    f"{done:,} of {len(jobs):,}, {unsafe:,} unsafe", f"{job.client.name} {run.case}"
                )
        except KeyboardInterrupt:
            running.close()
    asked = {id(job.client) for job in jobs}
    all_of = [*clients, *(pair.client for pair in pairs)]
    found = runner.results([client for client in all_of if id(client) in asked], len(jobs))
    heard = {pair.client.name for pair in pairs}
    kept = [client for client in found.clients if client.name not in heard or client.scores[ALL].run]
    found = msgspec.structs.replace(
        found, clients=tuple(kept)
    )  # without readers of wires that no gateway speaks
    return found, found.complete


def _print(found: Results) -> None:
    """Write each run that did not pass, and the scores."""
    for client, run in found.runs():
        if run.verdict not in ("pass", "unsupported"):
            output.write(
                f"{run.verdict:8} {show.printable(client.name)}  {run.case} ({run.write}): {_why(run)}\n"
            )
    rows: list[tuple[str, ...]] = [
        ("client", "wire", "level", "run", "unsafe", "lost", "refused", "crash", "safety", "complete")
    ]
    for client in page.ranked(found.clients):
        rows += [
            (show.printable(client.label), client.wire, level, *_cells(score))
            for level, score in client.scores.items()
        ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if n < 3 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        output.write("  ".join(cells).rstrip() + "\n")
    if found.kept is not None:
        kept = ", ".join(f"{thing} of {count:,}" for thing, count in found.kept.items())
        output.write(
            f"Under the seed {show.counted(found.unchanged or 0, 'case')} stayed unchanged; kept: {kept}.\n"
        )
    if not found.complete:
        output.write("It was interrupted: these are the runs until then.\n")


def _cells(score: Score) -> tuple[str, ...]:
    counts = (score.run, score.unsafe, score.lost, score.refused, score.crash + score.timeout)
    return (*map(str, counts), page.percent(score.safety), page.percent(score.completeness))


def _why(run: Run) -> str:
    return show.printable((run.why or "")[:_SHOWN])


def _said(run: Run) -> str:
    return f"{run.verdict}, {_why(run)}" if run.why else run.verdict


# Reports.


def _write_reports(found: Results, options: argparse.Namespace) -> bool:
    """Write the files that the options name; False if one cannot be written."""
    reports: list[tuple[str | None, Callable[[], bytes]]] = [
        (options.report, lambda: results.to_json(found)),
        (options.html, lambda: page.page_of([found]).encode("utf-8", "backslashreplace")),
        (options.junit, lambda: _junit(found).encode("utf-8", "backslashreplace")),
        (options.badge, lambda: _badge(found, options.badge)),
    ]
    written = [_wrote(path, make()) for path, make in reports if path is not None]
    return all(written)


def _wrote(path: str, data: bytes) -> bool:
    try:
        with output.replacing(path) as file:
            file.write(data)
    except OSError as error:
        output.complain(f"{path}: {error.strerror}")
        return False
    return True


def _junit(found: Results) -> str:
    return junit.document(
        "wholecall conform",
        [
            junit.Case(
                f"{client.label} {client.wire}/{run.case} ({run.write})",
                run.seconds,
                None if run.verdict in ("pass", "unsupported") else _said(run),
                _said(run) if run.verdict == "unsupported" else None,
            )
            for client, run in found.runs()
        ],
    )


def badge_parts(scores: Sequence[dict[str, Score]]) -> tuple[str, str, str]:
    """Return label, message and colour of the badge for the scores of one or several clients."""
    core = [one["core"] for one in scores if "core" in one]
    run = sum(one[ALL].run for one in scores)
    unsafe = sum(one[ALL].unsafe for one in scores)
    n_core, passed = sum(one.run for one in core), sum(one.passed for one in core)
    share = f"core {page.percent(passed / n_core)} · " if n_core else ""
    colour = "red" if unsafe else "amber" if passed < n_core else "green" if run else "grey"
    return "tool calls", f"{share}unsafe {unsafe} of {run}", colour


def _badge(found: Results, path: str) -> bytes:
    parts = badge_parts([client.scores for client in found.clients])
    return (
        json.dumps(badge.endpoint(*parts)).encode() if path.endswith(".json") else badge.svg(*parts).encode()
    )


# compare and matrix.


@_or_wrong
def _compare(options: argparse.Namespace) -> int:
    changes = results.compare(results.load(options.old), results.load(options.new))
    for change in changes:
        mark = "worse " if change.is_worse else "      "
        output.write(
            f"{mark} {show.printable(change.client)}  {change.case} ({change.write}): "
            f"{change.before or 'not run'} -> {change.after or 'not run'}\n"
        )
    worse = sum(change.is_worse for change in changes)
    output.write(f"{len(changes):,} verdicts changed, {worse:,} for the worse.\n")
    return output.FOUND if worse else output.OK


@_or_wrong
def _matrix(options: argparse.Namespace) -> int:
    found = [results.load(path) for path in options.files]
    folder = Path(options.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadSuite(f"{folder}: {error.strerror}") from None
    written = [_wrote(str(folder / "index.html"), page.page_of(found).encode("utf-8", "backslashreplace"))]
    for client in page.ranked([client for one in found for client in one.clients]):
        name = f"{_file_name(client.name)}-{client.wire}"
        parts = badge_parts([client.scores])
        written.append(_wrote(str(folder / f"{name}.svg"), badge.svg(*parts).encode()))
        written.append(_wrote(str(folder / f"{name}.json"), json.dumps(badge.endpoint(*parts)).encode()))
    return output.OK if all(written) else output.UNREADABLE


def _file_name(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in name)
