"""Strict checks of types where frameworks are installed: the examples, and the integrations that they use.

Theory of operation. Elsewhere the types of a framework that is not installed are unknown, and anything fits them. Two
environments share this module, because no one has all frameworks: each checks its own part with the frameworks' types.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import wholecall
from tests.hygiene.source_tree import PROJECT
from tests.support.integrations import LINES, NEWEST

EXAMPLES = PROJECT / "examples"
PACKAGE = Path(wholecall.__file__).parent
INTEGRATIONS = PACKAGE / "integrations"
# Serving engines, of which the modules hold what they use of them: no environment has one.
ENGINES = ("engine_text", "sglang", "tool_parser_plugin", "vllm")
# The integrations by the folder of the tests whose environment has their frameworks.
FOLDERS = {
    "sdk": {LINES[name][0] for name in NEWEST},
    "sdk_other": {module for name, (module, *_) in LINES.items() if name not in NEWEST},
}
CHECKERS = ("mypy", "pyright")
_MYPY = (
    *(
        "--strict",
        "--follow-untyped-imports",
        "--follow-imports",
        "silent",
    ),  # of other modules only the types
    *("--python-version", "3.10", "--cache-dir", os.devnull),
)
# Rules of pyright that the package does not keep: a wire value is Any.
_UNKNOWN = [f"reportUnknown{kind}Type" for kind in ("Argument", "Lambda", "Member", "Parameter", "Variable")]


def examples(folder: str) -> list[Path]:
    """Return the examples that a folder of tests checks: its frameworks', and in `sdk` those of no framework."""
    others = set().union(*FOLDERS.values()) - FOLDERS[folder]
    ours = [path for path in EXAMPLES.glob("*.py") if _framework(path) not in others]
    return sorted(path for path in ours if folder == "sdk" or _framework(path))


def _framework(example: Path) -> str:
    """Return the integration that an example shows, if it shows one."""
    return example.stem.removeprefix("whole_") if example.stem.startswith("whole_") else ""


def modules(folder: str, package: Path = PACKAGE) -> list[Path]:
    """Return the modules of integrations that a folder of tests checks."""
    return [package / "integrations" / f"{name}.py" for name in ("hearing", *sorted(FOLDERS[folder]))]


def complaints(checker: str, folder: str, work: Path) -> str:
    """Return what a type checker has to say against a folder's files, as strict as it can be; nothing if they are right.

    Args:
        checker: `mypy` or `pyright`.
        folder: the folder of tests.
        work: an empty folder.
    """
    sources = work / "sources"  # checkers see an installed package for its uses alone
    package = shutil.copytree(PACKAGE, sources / "wholecall", ignore=shutil.ignore_patterns("__pycache__"))
    paths = [*examples(folder), *modules(folder, package)]
    if checker == "pyright":
        (work / "pyrightconfig.json").write_text(json.dumps(_configuration(paths, sources)), encoding="utf-8")
        command = ["--pythonpath", sys.executable, "-p", str(work)]
    else:
        command = [*_MYPY, *map(str, paths)]
    done = subprocess.run(  # noqa: S603 - a checker
        [sys.executable, "-m", checker, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=work,
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, (EXAMPLES, sources)))},
    )
    return done.stdout + done.stderr if done.returncode else ""


def _configuration(paths: Sequence[Path], sources: Path) -> dict[str, object]:
    """Return pyright's configuration, in the folder above the sources."""
    beside = [os.path.relpath(path, sources.parent) for path in (EXAMPLES, sources)]
    return {
        "include": [os.path.relpath(path, sources.parent) for path in paths],
        "extraPaths": beside,
        "typeCheckingMode": "strict",
        "pythonVersion": "3.10",
        "reportMissingTypeStubs": "none",  # the types of a package without stubs are those of its source
        "executionEnvironments": [
            {"root": beside[1], "extraPaths": beside, **dict.fromkeys(_UNKNOWN, "none")}
        ],
    }
