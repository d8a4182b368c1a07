"""The build for OSS-Fuzz: `python -m tests.fuzz.build SCRIPTS OUT`, which `fuzz/build.sh` calls.

Writes for each target `fuzz_NAME.py` into SCRIPTS, a program of libFuzzer's, and next to the built program in OUT its
seeds (`fuzz_NAME_seed_corpus.zip`), its dictionary and its options. All of it follows from `tests.fuzz.targets`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tests.fuzz.model import LONGEST, Target
from tests.fuzz.targets import TARGETS
from tests.fuzz.words import DICTIONARY

_PROGRAM = '''\
"""The target {name} of tests.fuzz, as a program: written by tests.fuzz.build."""

import sys

from tests.fuzz.drive import drive

drive("{name}", "{package}", sys.argv)
'''
_OPTIONS = f"[libfuzzer]\nmax_len = {LONGEST}\ntimeout = 60\n"


def program_of(target: Target) -> str:
    """Return the name of the target's program."""
    return f"fuzz_{target.name.replace('-', '_')}"


def build(scripts: Path, out: Path, targets: Iterable[Target] = tuple(TARGETS.values())) -> None:
    """Write the programs of targets, and the files next to them; both folders are made."""
    scripts.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    for target in targets:
        program = program_of(target)
        (scripts / f"{program}.py").write_text(_PROGRAM.format(name=target.name, package=target.package))
        (out / f"{program}.options").write_text(_OPTIONS)
        (out / f"{program}.dict").write_bytes(DICTIONARY.read_bytes())
        _zip(out / f"{program}_seed_corpus.zip", target.seeds())


def _zip(path: Path, seeds: Iterable[bytes]) -> None:
    """Write seeds, each under its digest, so that the same ones make the same file."""
    named = {sha256(seed).hexdigest()[:20]: seed for seed in seeds}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, seed in sorted(named.items()):
            archive.writestr(ZipInfo(name), seed, ZIP_DEFLATED)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
