"""Look for inputs that break a law, guided by coverage: `python -m tests.fuzz [TARGET ...] --seconds N`.

Each target runs in its own process, one after the other, for so many seconds; those of one package share its start.
Findings are kept under `--work` with the command that reproduces them, and so are the inputs that reached new branches:
the next run continues from them, or from as many of them as it has time for. Needs the extra `fuzz`; `--input FILE`
shows a finding without it.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.model import LONGEST
from tests.fuzz.targets import TARGETS
from tests.fuzz.words import DICTIONARY

_PROJECT = Path(__file__).resolve().parents[2]
_EXECUTIONS = re.compile(r"^(?:stat::number_of_executed_units: +|#)(\d+)", re.MULTILINE)
_BEGIN = 20  # inputs for each second, drawn from the seeds and the corpus: a short run would never end with all of them
_SLOWEST = 60  # seconds for one input, also on a busy machine
_MEMORY = 1024  # MiB for one process
_HEAD = "{:<12} {:>12} {:>9} {:>9} {:>8}\n"


class DidNotRun(Exception):
    """A target that ended without a finding, and not because its time was over."""


class Outcome(NamedTuple):
    """The result of one run of a target; CPU time in seconds, the corpus in inputs."""

    executions: int
    cpu: float
    findings: list[Path]
    corpus: int
    log: str


def run(name: str, seconds: int, work: Path) -> Outcome:
    """Run one target and return its result."""
    target = TARGETS[name]
    corpus, found = work / "corpus" / name, work / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    known = set(found.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        fresh, begin = Path(folder, "fresh"), Path(folder, "begin")
        fresh.mkdir()
        begin.mkdir()
        inputs = [*target.seeds(), *(path.read_bytes() for path in sorted(corpus.iterdir()))]
        for data in random.sample(inputs, min(len(inputs), _BEGIN * seconds)):
            (begin / sha256(data).hexdigest()[:20]).write_bytes(data)
        limits = [
            f"-max_total_time={seconds}",
            f"-timeout={_SLOWEST}",
            f"-report_slow_units={_SLOWEST}",
            f"-rss_limit_mb={_MEMORY}",
        ]
        shown = [f"-max_len={LONGEST}", "-print_final_stats=1", f"-artifact_prefix={found}/{name}-"]
        options = [*limits, *shown, f"-dict={DICTIONARY}", str(fresh), str(begin)]
        code, cpu, log = _driver(target.package).run(name, Path(folder, "log"), options)
        for path in fresh.iterdir():  # named by libFuzzer for their content
            shutil.move(path, corpus / path.name)
    findings = sorted(set(found.iterdir()) - known)
    if code != 0 and not findings:
        raise DidNotRun(f"{name} did not run:\n{log[-3000:]}")
    executions = max((int(number) for number in _EXECUTIONS.findall(log)), default=0)
    return Outcome(executions, cpu, findings, len(list(corpus.iterdir())), log)


class _Driver:
    """A process that has instrumented a package, and runs targets in its children."""

    def __init__(self, package: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", "tests.fuzz.drive", package],
            cwd=_PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def run(self, name: str, log: Path, options: list[str]) -> tuple[int, float, str]:
        """Run a target, and return its exit code, its CPU time in seconds, and its output."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        try:
            to.write(json.dumps([name, str(log), *options]).encode() + b"\n")
            to.flush()
        except BrokenPipeError:  # it ended; its output says why
            return 1, 0, self._why()
        ended = back.readline()
        if not ended:
            return 1, 0, self._why()
        code, cpu = json.loads(ended)
        return code, cpu, log.read_text("utf-8", "replace")

    def _why(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")


@functools.cache
def _driver(package: str) -> _Driver:
    """Return the driver of a package, which ends with this process, when its input does."""
    return _Driver(package)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _why(log: str) -> str:
    """Return the end of the traceback that libFuzzer's report begins with."""
    told = log.partition("=== Uncaught Python exception: ===")[2].partition("==")[0].strip()
    return "\n".join(("    " + line) for line in told.splitlines()[:14])


def _shown(name: str, path: Path) -> int:
    """Run one input; whatever it raises is shown as it is."""
    TARGETS[name].run(path.read_bytes())
    _say(f"{path}: nothing wrong\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the targets and print a table; the exit code is 1 if anything was found, 2 if a target does not run."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    options.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    options.add_argument("--seconds", type=int, default=30, help="for each target (30)")
    options.add_argument(
        "--work", type=Path, default=Path(".fuzz"), help="where inputs and findings are kept (.fuzz)"
    )
    options.add_argument("--input", type=Path, help="run the target over this one input, and nothing else")
    given = options.parse_args(arguments)
    if unknown := set(given.targets) - TARGETS.keys():
        options.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    names = given.targets or list(TARGETS)
    if given.input is not None:
        if len(given.targets) != 1:
            options.error("--input needs one target")
        return _shown(names[0], given.input)
    if find_spec("atheris") is None:
        options.error("atheris is not installed: pip install -e '.[test,fuzz]'")
    try:
        return _campaign(names, given.seconds, given.work.resolve())
    except DidNotRun as failure:
        options.error(str(failure))


def _campaign(names: Sequence[str], seconds: int, work: Path) -> int:
    started, total = time.monotonic(), 0
    _say(_HEAD.format("target", "executions", "CPU s", "findings", "corpus"))
    for name in names:
        outcome = run(name, seconds, work)
        _say(
            _HEAD.format(
                name,
                f"{outcome.executions:,}",
                f"{outcome.cpu:.0f}",
                len(outcome.findings),
                outcome.corpus,
            )
        )
        for path in outcome.findings:
            _say(f"  python -m tests.fuzz {name} --input {path}\n{_why(outcome.log)}\n")
        total += len(outcome.findings)
    _say(f"{total} findings in {time.monotonic() - started:.0f} s\n")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
