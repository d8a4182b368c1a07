"""The checks of the project by name: `nox --list` shows them, `nox -s lint` runs one, `.ci/run` all that CI needs.

A session makes an environment of the packages that a file of `.ci/pins` lists, each by its hash, and puts the package
on top. Words after `--` go to pytest in place of the session's own selection: `nox -s slow -- -m slow -k damage`.

    WHOLECALL_WHEEL=FILE         the wheel that sessions install; else the package is built from the folder
    WHOLECALL_CASES=DIR          a folder of further cases: vectors/, recordings/, recordings2/ and so on
    WHOLECALL_DIST=DIR           where `dist` puts the wheel and the source distribution; else `dist`
    WHOLECALL_FUZZ_CORPUS=DIR    where the inputs are kept that fuzzing goes on from; else it begins anew
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.options.default_venv_backend = "uv"  # an environment takes a tenth as long as with pip
nox.options.download_python = "never"
nox.options.sessions = ["lint", "tests-3.10"]

PINS = Path(__file__).parent / ".ci" / "pins"
MAIN = "3.11"  # lints, builds, and runs all that needs no other
EVENTS = ("tests/golden/test_corpora.py", "tests/golden/test_text.py", "tests/golden/test_vectors.py")
# The pins of each other interpreter and its selection of tests: of each test's cases every third, other ones after each
# change of the package. The oldest has the oldest dependencies that are promised to work. What differs between
# interpreters shows on the oldest and the newest, and without the lock.
ELSEWHERE = {
    "3.10": ("oldest", "tests/unit", "tests/dialects", *EVENTS),
    "3.12": ("test", EVENTS[0]),
    "3.13": ("test", EVENTS[0]),
    "3.14": ("test", "tests/unit"),
}
WITHOUT_LOCK = ("3.13t", "3.14t")
ENGINES = ("duckdb", "ray")  # the others are run by hand
PYTEST = ("python", "-m", "pytest", "-n", "2")
SLOWEST = ("--durations", "30")  # what costs most of a long session is printed
# Both commands of the README as a user runs them: in bash, with the interpreter that is `python3`.
README = {
    "tests": r"python3 -m venv .* -m pytest -n 2",
    "first": r"python3 -m venv .* -m pip install \. && .*",
}


def install(session: nox.Session, pins: str, *package: str) -> None:
    """Install what a file of pins lists, and nothing else; then the package."""
    session.install(
        *("--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:"),
        *("--requirement", str(PINS / f"{pins}.txt")),
    )
    wheel = os.environ.get("WHOLECALL_WHEEL")
    again = ("--no-deps", "--reinstall-package", "wholecall")
    session.install("--quiet", *again, *(package or (wheel or ".",)))
    session.run_install("uv", "pip", "check", "--quiet")


def install_if_possible(session: nox.Session, pins: str) -> None:
    """Install as `install` does; skip the session if a package has no wheel for its interpreter."""
    try:
        install(session, pins)
    except CommandFailed:
        shutil.rmtree(session.virtualenv.location)
        session.skip("a package has no wheel for this interpreter")


def cases() -> tuple[list[str], list[Path]]:
    """Return the options of pytest for further cases, and the folders of recordings that are read on their own."""
    if "WHOLECALL_CASES" not in os.environ:
        return [], []
    folder = Path(os.environ["WHOLECALL_CASES"]).resolve()
    options = [f"--{kind}={folder / kind}" for kind in ("vectors", "recordings") if (folder / kind).is_dir()]
    return options, sorted(path for path in folder.glob("recordings?*") if path.is_dir())


def at_once(session: nox.Session, *commands: tuple[str, ...]) -> None:
    """Run commands beside each other, one for each core, and print the output of each when it ends."""
    environment = {**os.environ, "PATH": os.pathsep.join([session.bin, os.environ["PATH"]])}
    running = [
        subprocess.Popen(  # noqa: S603 - commands of this file
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for command in commands
    ]
    codes = []
    for command, process in zip(commands, running, strict=True):
        output, _ = process.communicate()
        session.log(" ".join(command))
        sys.stdout.write(output)
        codes.append(process.returncode)
    if any(codes):
        session.error("a command failed")


@nox.session(python=False)
def readme(session: nox.Session) -> None:
    """The two commands of the README, as they are printed; one of them, with its name after `--`."""
    text = Path("README.md").read_text("utf-8")
    for name in session.posargs or README:
        found = re.search(rf"^(?:\$ )?({README[name]})$", text, re.MULTILINE)
        if found is None:
            session.error(f"README.md shows no command {name}")
        session.run("bash", "-c", found[1], env={"PIP_QUIET": "2"}, external=True, silent=name == "first")
        shutil.rmtree(".venv")


@nox.session(python=MAIN)
def lint(session: nox.Session) -> None:
    """Rules, format and types."""
    install(session, "dev", "--no-build-isolation", "--editable", ".")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    python = str(Path(session.bin) / "python")
    at_once(session, ("mypy",), ("pyright", "--pythonpath", python))


@nox.session(python=MAIN)
def dist(session: nox.Session) -> None:
    """The wheel, with its bill of materials, and the source distribution."""
    install(session, "dev", "--no-build-isolation", "--editable", ".")
    folder = os.environ.get("WHOLECALL_DIST", "dist")
    session.run("python", "-m", "build", "--no-isolation", "--outdir", folder, ".", silent=True)
    (wheel,) = Path(folder).glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        if not any(name.endswith(".dist-info/sboms/wholecall.cdx.json") for name in packed.namelist()):
            session.error(f"{wheel.name} has no bill of materials")


@nox.session(python=MAIN)
def site(session: nox.Session) -> None:
    """The site of all pages: no warning, no broken link, every public name."""
    install(session, "docs")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-c", "docs", ".", "site")
    shutil.rmtree("site")


@nox.session(python=MAIN)
def benchmarks(session: nox.Session) -> None:
    """The benchmarks agree with their baselines, and no ratio is far beyond its budget."""
    install(session, "dev", "--no-build-isolation", "--editable", ".")
    session.run("python", "-m", "pytest", "benchmarks", "--benchmark-disable", "--beyond-check", "--quiet")
    session.run("python", "-m", "benchmarks", "--check")  # which begins with the results of all others


@nox.session(python=MAIN)
def slow(session: nox.Session) -> None:
    """The slow tests, with further cases; then the command line over all recordings."""
    install(session, "test")
    options, folders = cases()
    chosen = session.posargs or [
        "-m",
        "(slow or browser) and not later and not sdk and not engines and not stores and not node",
    ]
    session.run(*PYTEST, "--dist", "worksteal", *SLOWEST, *options, *chosen)
    for folder in [] if session.posargs else folders:
        further = f"--recordings={folder}", "tests/golden/test_recordings.py"
        session.run(*PYTEST, *further, env={"HYPOTHESIS_PROFILE": "quick"})
    session.run("wholecall", "replay", "corpora/recordings", silent=True)


@nox.session(python=list(ELSEWHERE))
def tests(session: nox.Session) -> None:
    """The tests whose outcome may depend on the interpreter, and the budgets of speed."""
    pins, *selection = ELSEWHERE[str(session.python)]
    install(session, pins)
    chosen = session.posargs or [*cases()[0], "--one-in", "3", *selection]
    session.run(*PYTEST, "--dist", "worksteal", *chosen, env={"HYPOTHESIS_PROFILE": "quick"})
    session.run("python", "-m", "benchmarks", "--check", "streams")


@nox.session(python=WITHOUT_LOCK)
def free(session: nox.Session) -> None:
    """Unit tests and the law of threads without the global lock."""
    install_if_possible(session, "test")
    session.run(*PYTEST, *(session.posargs or ["tests/unit", "tests/laws/test_concurrency.py"]))


@nox.session(python=MAIN)
def proxy(session: nox.Session) -> None:
    """The proxy starts with no more than its extra, and runs until it is stopped."""
    install(session, "proxy")
    asked = ("--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0")
    session.run("timeout", "3", "wholecall", "proxy", *asked, external=True, success_codes=[124])


@nox.session(python=MAIN)
def sdk(session: nox.Session) -> None:
    """SDKs, their types and rules; where Node.js is, also the clients in JavaScript."""
    install(session, "sdk")
    session.run(*PYTEST, *SLOWEST, "-m", "sdk", *(session.posargs or ["tests/sdk"]))
    if session.posargs:
        return
    if not (shutil.which("node") and shutil.which("npm")):
        session.log("no Node.js: the tests marked node are skipped")
        return
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    session.run("npm", "ci", *quiet, "--prefix", "tests/node", external=True)
    session.run(*PYTEST, "-m", "node and not slow", "tests/node")


@nox.session(python=MAIN)
def sdk_other(session: nox.Session) -> None:
    """Frameworks that ask for older SDKs."""
    install(session, "sdk_other")
    session.run(*PYTEST, "-m", "sdk", *(session.posargs or ["tests/sdk_other"]))


@nox.session(python=MAIN)
def stores(session: nox.Session) -> None:
    """Object stores on loopback."""
    install(session, "stores")
    session.run(*PYTEST, "-m", "stores and not slow", *(session.posargs or ["tests/stores"]))


@nox.session(python=MAIN)
@nox.parametrize("engine", ENGINES, ids=ENGINES)
def engines(session: nox.Session, engine: str) -> None:
    """Recipes for engines of tables."""
    install(session, engine)
    chosen = session.posargs or [f"tests/engines/test_{engine}.py"]
    session.run("python", "-m", "pytest", "-m", "engines and not slow", *chosen)


@nox.session(python=MAIN)
def fuzz(session: nox.Session) -> None:
    """Fuzzing guided by coverage, three seconds each target; a finding is told, and chance fails no change; all run."""
    install_if_possible(session, "fuzz")
    work = os.environ.get("WHOLECALL_FUZZ_CORPUS", session.create_tmp())
    run = f'python -m tests.fuzz --seconds 3 --work "{work}" "$@" || {{ [ $? = 1 ] && echo "a finding"; }}'
    streams = ("feed", "feed-event", "repair", "snapshots")
    values = ("damage", "text", "arguments", "shrink", "transcripts", "errors", "recordings")
    at_once(session, *(("bash", "-c", run, "fuzz", *targets) for targets in (streams, values)))
