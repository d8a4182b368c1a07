"""Change the core a little, again and again, and see whether its tests notice: `python -m tests.mutation`.

For each module the tests are its own: the test files named for it in `tests/unit`, for dialects in `tests/dialects`.
The table shows the number of changes (mutants) that they noticed; the unnoticed changes are listed below it. A mutant
that changes no behaviour at all is named in `equivalent.txt`, with the reason. The exit code is 1 if a module has
another survivor, or if the list names a mutant that is found or no longer exists.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.trial import settle, source_of, tried

MODULES = {
    "phases": "wholecall.machine.phases",
    "labels": "wholecall.machine.labels",
    "assembler": "wholecall.machine.assembler",
    "turns": "wholecall.machine.turns",
    "ladder": "wholecall.calls.arguments.ladder",
    "parse": "wholecall.calls.parse",
    "recovery": "wholecall.calls.arguments.recovery",
    "sse": "wholecall.framing.sse",
    "forms": "wholecall.framing.forms",
    "decode": "wholecall.dialects.decode",
    "hidden_text": "wholecall.dialects.hidden_text",
    "gemini_views": "wholecall.dialects.google.gemini.views",
    "compiled": "wholecall.dialects.compiled",
    "narrow": "wholecall.dialects.narrow",
    "marks": "wholecall.dialects.marks",
    "verdicts": "wholecall.machine.verdicts",
    "slots": "wholecall.machine.slots",
    "routes": "wholecall.machine.routes",
    "settling": "wholecall.machine.settling",
    "endings": "wholecall.machine.endings",
    "claims": "wholecall.machine.claims",
    "equal": "wholecall.calls.arguments.equal",
    "lexical": "wholecall.calls.arguments.lexical",
    "duplicates": "wholecall.machine.duplicates",
    "holding": "wholecall.machine.holding",
    "two_forms": "wholecall.machine.two_forms",
    "strict": "wholecall.repairing.strict",
    "blocks": "wholecall.machine.blocks",
    "evidence": "wholecall.machine.evidence",
    "matching": "wholecall.machine.matching",
    "rereading": "wholecall.machine.rereading",
    "marked": "wholecall.machine.readings.marked",
    "sameness": "wholecall.machine.sameness",
}
_TESTS = {  # how the names of their files begin, where they go by another name
    "ladder": ["arguments"],
    "parse": ["arguments"],
    "turns": ["assembler", "turns", "settling", "blocks"],
    "gemini_views": ["gemini", "cases"],
    "claims": ["claims", "slots", "routes"],
    "duplicates": ["duplicates", "slots", "routes"],
    "holding": ["holding", "verdicts"],
    "phases": ["phases", "sameness", "duplicates"],
    "rereading": ["rereading", "blocks"],
    "sameness": ["sameness", "holding"],
    "routes": ["routes", "assembler_unread"],
    "two_forms": ["two_forms", "verdicts_written"],
    "verdicts": ["verdicts", "assembler_unread"],
}
_HERE = Path(__file__).parent
_ROW = "{:<13} {:>8} {:>7} {:>9} {:>11} {:>8} {:>8}"


@dataclass
class Outcome:
    """The outcome of the mutants of one module."""

    name: str
    total: int
    survivors: list[Mutant]
    listed: set[str]
    seconds: float

    @property
    def unlisted(self) -> list[Mutant]:
        """Return the survivors that are not listed as equivalent."""
        return [mutant for mutant in self.survivors if mutant.name not in self.listed]

    @property
    def row(self) -> str:
        """Return the row of the table."""
        killed = self.total - len(self.survivors)
        equivalent = len(self.survivors) - len(self.unlisted)
        share = f"{100 * killed / self.total:.1f} %"
        return _ROW.format(
            self.name, self.total, killed, len(self.survivors), equivalent, share, f"{self.seconds:.0f}"
        )


def main() -> int:
    """Try the mutants of the named modules, or of all, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="module", help=", ".join(MODULES))
    parser.add_argument("--place", default="", help="only mutants of functions whose names begin so")
    options = parser.parse_args()
    names = options.modules or list(MODULES)
    if not set(names) <= set(MODULES):
        parser.error(f"the modules are {', '.join(MODULES)}")
    settle()
    outcomes = [try_module(name, options.place) for name in names]
    print(_ROW.format("module", "mutants", "killed", "survived", "equivalent", "share", "seconds"))
    for outcome in outcomes:
        print(outcome.row)
    wrong = [report(outcome, partly=bool(options.place)) for outcome in outcomes]
    return 1 if any(wrong) else 0


def try_module(name: str, place: str) -> Outcome:
    """Run the tests of a module on each of its mutants."""
    module = MODULES[name]
    tests = tests_of(name)
    began = time.perf_counter()
    found = [one for one in mutants(source_of(module).read_text("utf-8")) if one.place.startswith(place)]
    survivors = []
    for mutant, survives in tried(module, tests, found):
        if survives:
            survivors.append(mutant)
            print(f"{name}:{mutant.line} {mutant.name}", file=sys.stderr, flush=True)
    survivors.sort(key=lambda mutant: mutant.line)
    return Outcome(name, len(found), survivors, equivalents(name), time.perf_counter() - began)


def tests_of(name: str) -> list[Path]:
    """Return the test files of a module."""
    folder = "dialects" if ".dialects." in MODULES[name] else "unit"
    beginnings = _TESTS.get(name, [name])
    return sorted({file for one in beginnings for file in (_HERE.parent / folder).glob(f"test_{one}*.py")})


def equivalents(name: str) -> set[str]:
    """Return the mutants of a module that are listed as equivalent."""
    lines = (_HERE / "equivalent.txt").read_text("utf-8").splitlines()
    return {line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")}


def report(outcome: Outcome, *, partly: bool) -> bool:
    """Print the faults of an outcome; return whether there are any."""
    for mutant in outcome.unlisted:
        print(f"survived: {outcome.name}:{mutant.line} {mutant.name}")
    stale = outcome.listed - {mutant.name for mutant in outcome.survivors}
    for name in sorted(stale if not partly else ()):
        print(f"no survivor, but listed: {outcome.name} {name}")
    return bool(outcome.unlisted or (stale and not partly))


if __name__ == "__main__":
    sys.exit(main())
