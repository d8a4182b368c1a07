"""One target under atheris, in a separate process: `python -m tests.fuzz.drive TARGET PACKAGE [libFuzzer's options]`.

`tests.fuzz` starts it, and so do the programs that `tests.fuzz.build` writes; libFuzzer never returns, and a finding
ends the process. The package is given because to look it up would import the code to be instrumented.
"""

from __future__ import annotations

import pkgutil
import random
import sys
from importlib import import_module

import atheris

_OUTSIDE = (
    "wholecall.cli",
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


if __name__ == "__main__":
    drive(sys.argv[1], sys.argv[2], [sys.argv[0], *sys.argv[3:]])
