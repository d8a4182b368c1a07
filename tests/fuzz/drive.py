"""Targets under atheris, each in a separate process: `python -m tests.fuzz.drive PACKAGE`.

`tests.fuzz` starts it, and names the targets in lines of its input; the programs that `tests.fuzz.build` writes call
`drive`. libFuzzer never returns, and a finding ends the process, so that each target runs in a child. To instrument the
package takes longer than a short run: it is done once. The package is given because to look it up would import the code
to be instrumented.
"""

from __future__ import annotations

import json
import os
import pkgutil
import random
import sys
from importlib import import_module

import atheris

_OUTSIDE = (
    "wholecall.cli",
    "wholecall.integrations",  # each needs its framework
    "wholecall.recordings.testing.plugin",
    "wholecall.__main__",
)  # no target runs them


def _instrumented(name: str) -> None:
    """Import a module, and all below it, with counters in its branches; a dialect is imported late otherwise."""
    is_packed = hasattr(sys, "frozen")  # by PyInstaller, whose loader is not the one of files
    with atheris.instrument_imports(include=["wholecall"], enable_loader_override=is_packed):
        package = import_module(name)
        for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
            if not module.name.startswith(_OUTSIDE):
                import_module(module.name)


def drive(name: str, package: str, arguments: list[str]) -> None:
    """Run a target until libFuzzer ends the process; its arguments begin with the program."""
    _instrumented(package)
    _fuzz(name, arguments)


def _fuzz(name: str, arguments: list[str]) -> None:
    from tests.fuzz.model import mutated_input  # noqa: PLC0415 - after the instrumentation
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415

    target = TARGETS[name]

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        return mutated_input(target, bytes(data), rng)[:most]

    atheris.Setup(arguments, lambda data: target.run(bytes(data)), custom_mutator=mutate)
    atheris.Fuzz()


def serve(package: str) -> None:
    """Run targets one after the other, and say of each how it ended, and its CPU time in seconds.

    A line of the input is a list: the target, the file for its output, and libFuzzer's options.
    """
    _instrumented(package)
    for line in sys.stdin:
        name, log, *options = json.loads(line)
        child = os.fork()
        if not child:
            with open(log, "wb", buffering=0) as output:  # noqa: PTH123 - two descriptors get it
                os.dup2(output.fileno(), sys.stdout.fileno())
                os.dup2(output.fileno(), sys.stderr.fileno())
            _fuzz(name, [sys.argv[0], *options])
        _, status, used = os.wait4(child, 0)
        ended = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]
        sys.stdout.write(json.dumps(ended) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
