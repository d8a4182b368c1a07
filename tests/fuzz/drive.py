"""One target under atheris, in a process of its own: `python -m tests.fuzz.drive TARGET PACKAGE [libFuzzer's options]`.

`tests.fuzz` starts it; libFuzzer never returns, and what it finds ends the process.
"""

from __future__ import annotations

import pkgutil
import random
import sys
from importlib import import_module

import atheris

__all__ = ["main"]

_OUTSIDE = ("wholecall.cli", "wholecall.testing.plugin", "wholecall.__main__")  # no target runs them


def _instrumented(name: str) -> None:
    """Import a module, and all below it, with counters in its branches; a dialect is imported late otherwise."""
    with atheris.instrument_imports(include=["wholecall"], enable_loader_override=False):
        package = import_module(name)
        for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
            if not module.name.startswith(_OUTSIDE):
                import_module(module.name)


def main() -> None:
    """Run a target until libFuzzer ends the process."""
    name = sys.argv.pop(1)
    _instrumented(sys.argv.pop(1))
    from tests.fuzz.model import mutated_input  # noqa: PLC0415 - after the instrumentation
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415

    target = TARGETS[name]

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        return mutated_input(target, bytes(data), rng)[:most]

    atheris.Setup(sys.argv, lambda data: target.run(bytes(data)), custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
