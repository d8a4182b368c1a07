"""Write `conformance/cases`, `conformance/packs` and `conformance/farewells` from `corpora/`.

`python -m tests.support.make_conformance` writes them, always the same, and removes cases that are no longer made. The
input is data: the recordings and their sidecars, and in `corpora/conformance` the turns of conforming streams, the sizes
of hostile ones, readings (what a recording's sidecar does not say), and a survey of habits.

A level follows from data:

- `recovery`: the sidecar has an edit of the argument text, a placeholder, or a quirk whose text is no single JSON object
  although nothing was lost; or the name on the wire has markers or white space around it (a reading says so).
- `damage`: the sidecar has a dropped call or a fault, or the stream was cut or has lost a frame here.
- `core`: typed for the suite by the published form of the wire, or a reading lists the recording as conforming.
- `hostile`: large, deep or many, in size or in number.
- `common`: all quirks that depart from the wire's published form are in the survey with at least three public sources
  and at least two servers.
- `rare`: all others.

Of a recording's calls those are `sent` that its sidecar has unedited. Edited ones are in `may`, never demanded. A dropped
call is in `may` if its text is a whole object and only its end was not told. Nothing here runs a parser.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from tests.support import conformance_damage, conformance_recorded, conformance_typed
from tests.support.conformance_case import Case
from tests.support.corpora import CORPORA, SIDECAR, sidecar_text
from wholecall.grading.conform.cases import LEVELS, WIRES

CONFORMANCE = CORPORA.parent / "conformance"
README = CONFORMANCE / "README.md"
MADE = ("cases", "packs", "farewells")


def cases() -> list[Case]:
    """Return all cases in the order of their wires and names; a name that is used twice is an error."""
    found = [
        *conformance_recorded.cases(),
        *conformance_typed.core(),
        *conformance_typed.bodies(),
        *conformance_typed.framed(),
        *conformance_typed.hostile(),
        *conformance_damage.cuts(),
        *conformance_damage.losses(),
    ]
    twice = [name for name, count in Counter(case.id for case in found).items() if count > 1]
    if twice:
        raise ValueError(f"two cases have one name: {', '.join(twice)}")
    return sorted(found, key=lambda case: (WIRES.index(case.wire), case.name))


def made() -> dict[Path, bytes]:
    """Return the files that the program makes."""
    files: dict[Path, bytes] = {}
    found = cases()
    for case in found:
        place = CONFORMANCE / "cases" / case.wire
        files[place / f"{case.name}.{case.suffix}"] = case.data
        files[place / f"{case.name}{SIDECAR}"] = sidecar_text(case.sidecar())
    for level in LEVELS:
        names = [case.id for case in found if case.level == level]
        files[CONFORMANCE / "packs" / f"{level}.txt"] = "".join(f"{name}\n" for name in names).encode()
    for name, data in conformance_typed.farewells().items():
        files[CONFORMANCE / "farewells" / name] = data
    files[README] = readme()
    return files


def readme() -> bytes:
    """Return the README, with the counts and the list of what is left out as they are now."""
    text = README.read_text("utf-8")
    for name, made_text in (("counts", table()), ("left out", left_out())):
        pattern = re.compile(rf"(<!-- made by [^>]*: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = pattern.sub(lambda match, new=made_text: match[1] + new + match[2], text)
    return text.encode()


def present() -> list[Path]:
    """Return the files that are there, in the folders that the program writes."""
    return sorted(path for folder in MADE for path in (CONFORMANCE / folder).rglob("*") if path.is_file())


def table() -> str:
    """Return the counts of cases by wire and level, as the README shows them."""
    counts = Counter((case.wire, case.level) for case in cases())
    lines = [f"| wire | {' | '.join(LEVELS)} | all |", "|---|" + "---|" * (len(LEVELS) + 1)]
    for wire in WIRES:
        numbers = [counts[wire, level] for level in LEVELS]
        lines.append(f"| {wire} | {' | '.join(map(str, numbers))} | {sum(numbers)} |")
    sums = [sum(counts[wire, level] for wire in WIRES) for level in LEVELS]
    lines.append(f"| all | {' | '.join(map(str, sums))} | {sum(sums)} |")
    return "\n".join(lines) + "\n"


def left_out() -> str:
    """Return the recordings that are no cases, as the README lists them."""
    reasons: dict[str, list[str]] = {}
    for name, why in sorted(conformance_recorded.left_out().items()):
        reasons.setdefault(why, []).append(f"`{name}`")
    return "".join(f"- {why}: {', '.join(names)}\n" for why, names in reasons.items())


def main() -> None:
    """Write the files, and remove those of cases that are gone."""
    files = made()
    for path in present():
        if path not in files:
            path.unlink()
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    sys.stderr.write(table() + left_out())


if __name__ == "__main__":
    main()
