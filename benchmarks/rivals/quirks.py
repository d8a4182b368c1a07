"""Libraries over quirky streams: `python -m benchmarks.rivals.quirks [--json] [--only NAME]`.

Every stream comes from a real HTTP server on the loopback interface, once to the library as it is and once through
the repairing transport of `wholecall.transport`. The verdict is about the calls that reach the program:

- `ok`: the expected calls, or none where none may run;
- `wrong`: an invented call, handed over or run as a good call;
- `lost`: a call is missing without a report;
- `raw`: text that is not a JSON object is handed over as arguments, and the program must notice;
- `raise`: an error, raised or told to the model.

Where nothing may run, `raw` and `raise` are right too. Libraries that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import importlib.util
import json
import logging
import platform
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from benchmarks.rivals.anthropic_streams import ANTHROPIC, ANTHROPIC_FAREWELL
from benchmarks.rivals.responses_streams import RESPONSES, RESPONSES_FAREWELL
from benchmarks.rivals.streams import CHAT, CHAT_FAREWELL, Expected, Stream, sse
from benchmarks.rivals.systems import SYSTEMS, Got, System
from tests.support.loopback import serve
from wholecall.serving import Answer

Verdict = Literal["ok", "wrong", "lost", "raw", "raise"]

STREAMS: dict[str, tuple[Stream, ...]] = {
    "chat-completions": CHAT,
    "anthropic": ANTHROPIC,
    "responses": RESPONSES,
}
FAREWELLS = {
    "chat-completions": CHAT_FAREWELL,
    "anthropic": ANTHROPIC_FAREWELL,
    "responses": RESPONSES_FAREWELL,
    "gemini": sse({"candidates": [{"content": {"parts": [{"text": "Done."}]}, "finishReason": "STOP"}]}),
}


class Result(NamedTuple):
    """The outcome of one system on one stream.

    Attributes:
        without: the verdict on the system as it is.
        mended: the verdict with the transport; None where there is none.
    """

    system: System
    stream: Stream
    without: Verdict
    mended: Verdict | None


def verdict(got: Iterable[Got], expected: Sequence[Expected]) -> Verdict:
    """Judge the calls that reached the program; their order does not count."""
    read: list[Expected] = []
    for call in got:
        arguments = _object(call.arguments)
        if arguments is None:
            return "raw"
        read.append(Expected(call.name or "", arguments))
    missing = list(expected)
    for known in read:
        if known not in missing:
            return "wrong"
        missing.remove(known)
    return "lost" if missing else "ok"


def _object(arguments: Any) -> dict[str, Any] | None:
    """Return arguments as an object, or None if they are not an object; text is read as programs read it."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return dict(arguments) if isinstance(arguments, dict) else None


def is_right(stream: Stream, said: Verdict) -> bool:
    """Return whether a verdict is acceptable: where nothing may run, so is a verdict that the program must notice."""
    return said == "ok" or (not stream.expected and said in {"raw", "raise"})


def measure(system: System, stream: Stream, *, mended: bool) -> Verdict:
    """Run a system once over a stream, with the transport or without."""
    with serve(Answer(stream.pieces), Answer([FAREWELLS[stream.dialect]])) as server:
        return judged(system, stream, server, mended=mended)


def judged(system: System, stream: Stream, server: Any, *, mended: bool) -> Verdict:
    """Run a system once against a server, or any object with a `url`, that answers with a stream."""
    try:
        got = system.run(server, mended, stream.tools)
    except Exception:  # noqa: BLE001 - whatever a library raises is its verdict
        return "raise"
    return verdict(got, stream.expected)


def results(systems: Sequence[System], *, mend: bool) -> Iterator[Result]:
    """Yield the outcome of every system on every stream of its dialect."""
    for system in systems:
        for stream in STREAMS.get(system.dialect, ()):  # of Gemini there are recordings only
            without = measure(system, stream, mended=False)
            mended = measure(system, stream, mended=True) if mend and system.mendable else None
            yield Result(system, stream, without, mended)


def report(found: Sequence[Result]) -> dict[str, Any]:
    """Return all outcomes and the versions as one JSON object."""
    systems = list(dict.fromkeys(result.system for result in found))
    packages = sorted({package for system in systems for package in system.packages})
    return {
        "date": f"{dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": {package: importlib.metadata.version(package) for package in packages},
        "absent": sorted({system.name for system in SYSTEMS if not system.installed}),
        "systems": [_tally(system, found) for system in systems],
        "streams": [_row(stream, found) for table in STREAMS.values() for stream in table],
    }


def _tally(system: System, found: Sequence[Result]) -> dict[str, Any]:
    own = [result for result in found if result.system == system]
    mended = [is_right(result.stream, result.mended) for result in own if result.mended is not None]
    return {
        "system": system.name,
        "dialect": system.dialect,
        "streams": len(own),
        "without": sum(is_right(result.stream, result.without) for result in own),
        "with": sum(mended) if mended else None,
        "wrong": sum(result.without == "wrong" for result in own),
    }


def _row(stream: Stream, found: Sequence[Result]) -> dict[str, Any]:
    own = [result for result in found if result.stream is stream]
    verdicts = {result.system.name: {"without": result.without, "with": result.mended} for result in own}
    return {
        "dialect": stream.dialect,
        "title": stream.title,
        "quirks": list(stream.quirks),
        "may_run": len(stream.expected),
        "verdicts": verdicts,
    }


def markdown(measured: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a summary and of a table for each dialect."""
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    yield f"{measured['date']}, {measured['python']}, {versions}."
    if measured["absent"]:
        yield f"Not installed, not measured: {', '.join(measured['absent'])}."
    yield from ("", "| library | wire | right as it is | silently wrong | right with the transport |")
    yield "|---|---|---|---|---|"
    for row in measured["systems"]:
        mended = "" if row["with"] is None else f"{row['with']} of {row['streams']}"
        right = f"{row['without']} of {row['streams']}"
        yield f"| {row['system']} | {row['dialect']} | {right} | {row['wrong']} | {mended} |"
    for dialect in STREAMS:
        rows = [row for row in measured["streams"] if row["dialect"] == dialect]
        if rows[0]["verdicts"]:
            yield from ("", *_table(dialect, rows))


def _table(dialect: str, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    names = list(rows[0]["verdicts"])
    yield f"| {dialect} | quirk | {' | '.join(names)} |"
    yield "|---|---|" + "---|" * len(names)
    for row in rows:
        quirks = ", ".join(map(str, row["quirks"]))
        nothing = "" if row["may_run"] else " (nothing may run)"
        cells = [_cell(row["verdicts"][name]) for name in names]
        yield f"| {row['title']}{nothing} | {quirks} | {' | '.join(cells)} |"


def _cell(verdicts: dict[str, str | None]) -> str:
    without, mended = verdicts["without"], verdicts["with"]
    return f"{without} → {mended}" if mended is not None and mended != without else f"{without}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals.quirks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--only", default="", help="only systems whose name has this in it")
    options = parser.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    mend = importlib.util.find_spec("wholecall.transport") is not None
    if not mend:
        print("There is no wholecall.transport: only half of the table.", file=sys.stderr)
    systems = [system for system in SYSTEMS if system.installed and options.only in system.name]
    measured = report(list(results(systems, mend=mend)))
    if options.json:
        print(json.dumps(measured, ensure_ascii=False, indent=1))
    else:
        print("\n".join(markdown(measured)))


if __name__ == "__main__":
    main()
