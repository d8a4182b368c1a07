"""A run of one module's tests on each of its mutants, in a forked process.

Theory of operation. A child process collects the tests once. Nearly all changes are inside a function: for those a
grandchild is forked after the collection, which gives the function its changed code and runs the tests up to the first
failure. A change of the module's import-time behaviour gets a separate child that has imported nothing yet, and in
which an import of the module finds the mutant.

Tests that found other mutants of the same function run first, then the fast ones. Processor time and memory of a
process are limited: a mutant that never ends, or never stops growing, is also detected.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import resource
import signal
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from tests.mutation.mutants import Mutant

_MEMORY = 4 << 30  # bytes of address space
_FIRST_RUN = 600  # seconds
_BROKEN = 70  # the exit code of a process in which no tests could be run


def settle() -> None:
    """Make a run over the same code draw the same examples, shrink none, and omit pytest's further plugins."""
    hypothesis.settings.register_profile(
        "mutation",
        deadline=None,
        max_examples=60,
        derandomize=True,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    os.environ["HYPOTHESIS_PROFILE"] = "mutation"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


def source_of(module: str) -> Path:
    """Return the file of a module of the package, without importing it."""
    package = importlib.util.find_spec(module.partition(".")[0])
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")


def tried(module: str, tests: Sequence[Path], mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bool]]:
    """Yield each mutant of a module with whether it survives the tests.

    Raises:
        AssertionError: the tests fail without a mutant, or could not be run with one.
    """
    inner = [mutant for mutant in mutants if mutant.in_function]
    outer = [mutant for mutant in mutants if not mutant.in_function]
    code = yield from _verdicts(inner, lambda tell: _collect(tests, _Loop(module, inner, tell)))
    assert code == 0, f"the tests of {module} cannot be run on its mutants (exit code {code})"
    for mutant in outer:
        code = yield from _verdicts(
            [mutant], lambda tell, mutant=mutant: _import(module, tests, mutant, tell)
        )
        if code != 0:  # no report: the tests broke down, or did not end
            yield mutant, False


# --- processes -----------------------------------------------------------------------------------------


def _fork(work: Callable[[int], int]) -> tuple[int, int]:
    """Do the work in a child, which gets the end of a pipe to write to; return the child and the other end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    code = _BROKEN
    try:
        os.close(reading)
        code = work(writing)
    finally:
        os._exit(code)  # a child never runs beyond this point


def _verdicts(mutants: Sequence[Mutant], work: Callable[[int], int]) -> Iterator[tuple[Mutant, bool]]:
    """Yield a child's reports on mutants, and return its exit code."""
    child, reading = _fork(work)
    with open(reading, encoding="utf-8") as told:  # noqa: PTH123 (a descriptor)
        for line in told:
            at, survives = json.loads(line)
            yield mutants[at], survives
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _bound(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.alarm(20 * seconds)  # a deadlock uses no processor time


def _collect(tests: Sequence[Path], plugin: object) -> int:
    """Let pytest collect the tests and the plugin run them."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    options = ["-q", "--tb=no", "--capture=no", "-p", "no:cacheprovider"]
    return int(pytest.main([*options, *map(str, tests)], plugins=[plugin]))


# --- changes inside functions --------------------------------------------------------------------------


@dataclass
class _Loop:
    """A pytest plugin that replaces the test run by a run for each mutant of a function."""

    module: str
    mutants: Sequence[Mutant]
    tell: int
    durations: dict[str, float] = field(default_factory=dict)
    finders: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: int = _FIRST_RUN

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        report, took = self._run(session.items, lambda: None, _FIRST_RUN)
        assert report.get("failed", "all") is None, "the tests fail without a mutant"
        self.durations, self.seconds = report["durations"], 2 + int(3 * took)
        for at, mutant in enumerate(self.mutants):
            survives = self._survives(session.items, mutant)
            os.write(self.tell, f"{json.dumps([at, survives])}\n".encode())
        return True

    def _survives(self, items: list[pytest.Item], mutant: Mutant) -> bool:
        finders, durations = self.finders[mutant.place], self.durations
        ordered = sorted(items, key=lambda item: (-finders[item.nodeid], durations.get(item.nodeid, 0.0)))
        report, _ = self._run(ordered, _changed(self.module, mutant), self.seconds)
        failed = report.get("failed", "all")  # no report: the tests broke down, or did not end
        if failed is not None:
            finders[failed] += 1
        return failed is None

    def _run(self, items: list[pytest.Item], change: Callable[[], None], seconds: int) -> tuple[Any, float]:
        """Return the report of a child that ran the tests after the change, and its processor time."""

        def work(writing: int) -> int:
            _bound(seconds)
            change()
            os.write(writing, json.dumps(_first_failure(items)).encode())
            return 0

        child, reading = _fork(work)
        with open(reading, encoding="utf-8") as told:  # noqa: PTH123 (a descriptor)
            report = told.read()
        used = os.wait4(child, 0)[2]
        return json.loads(report) if report else {}, used.ru_utime + used.ru_stime


def _first_failure(items: list[pytest.Item]) -> dict[str, Any]:
    """Run tests in order; return the first failing test (None if none fails) and the duration of each."""
    seen = _Reports()
    items[0].config.pluginmanager.register(seen)
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if seen.failed is not None:
            break
    return {"failed": seen.failed, "durations": seen.durations}


class _Reports:
    """A pytest plugin that records the duration of each test, and failed tests."""

    def __init__(self) -> None:
        self.durations: dict[str, float] = {}
        self.failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.durations[report.nodeid] = self.durations.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = report.nodeid


def _changed(module: str, mutant: Mutant) -> Callable[[], None]:
    """Return an action that gives the mutated function its new code wherever it is already referenced."""
    code = mutant.compiled(str(source_of(module)))
    owner: Any = sys.modules[module]
    for name in mutant.place.split("."):
        code = [inner for inner in code.co_consts if isinstance(inner, CodeType) and inner.co_name == name][
            -1
        ]
        owner = vars(owner)[name]
        if isinstance(owner, FunctionType):
            break  # its code holds that of the functions within
    function = owner.fget if isinstance(owner, property) else getattr(owner, "__func__", owner)
    function = inspect.unwrap(function)  # cache contents end with the process
    assert isinstance(function, FunctionType)
    return lambda: setattr(function, "__code__", code)


# --- changes of an import ------------------------------------------------------------------------------


def _import(module: str, tests: Sequence[Path], mutant: Mutant, tell: int) -> int:
    """Run the tests on a mutant that is in place from the first import."""
    _bound(60)
    path = source_of(module)
    sys.meta_path.insert(0, _Finder(module, path, mutant.compiled(str(path))))
    survives = _Once()
    code = _collect(tests, survives)
    assert code in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}
    os.write(tell, f"{json.dumps([0, survives.all_pass])}\n".encode())
    return 0


class _Once:
    """A pytest plugin that runs the tests up to the first failure."""

    all_pass = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:  # a file could not be imported
            raise session.Interrupted
        self.all_pass = _first_failure(session.items)["failed"] is None
        return True


class _Finder(importlib.abc.MetaPathFinder):
    """A finder of one module, whose code is given."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._name, self._path, self._code = name, path, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != self._name:
            return None
        loader = _Loader(fullname, str(self._path))
        loader.code = self._code
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


class _Loader(importlib.machinery.SourceFileLoader):
    code: CodeType

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self.code
