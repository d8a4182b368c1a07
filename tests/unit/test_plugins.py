"""Dialects of other packages: found by their entry points on request; and modules that commands import."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.hygiene.source_tree import DOCS
from wholecall import ToolCallParser, UnknownDialect, detect
from wholecall.cli import main
from wholecall.dialects import load_plugins, table

MODULE = """\
import json

from wholecall.deltas import Finish, TextFragment, TurnEnded
from wholecall import Dialect
from wholecall.dialects import Translator


class TramTranslator(Translator):
    def translate(self, frame):
        line = json.loads(frame.data)
        return [TextFragment(0, line["tram"])] if line["tram"] else [Finish(0, "stop", "end"), TurnEnded()]


TRAM = Dialect("tram", ("jsonl",), lambda frame, event: "tram" in frame, TramTranslator)
OTHER = Dialect("chat-completions", ("jsonl",), lambda frame, event: False, TramTranslator)
"""
STREAM = b'{"tram": "Hi"}\n{"tram": ""}\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package with a dialect, and reset the search for packages."""
    (tmp_path / "tram_plugin.py").write_text(MODULE)
    _offer(tmp_path, "tram = tram_plugin:TRAM")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(table, "_registered", {})
    monkeypatch.delitem(sys.modules, "tram_plugin", raising=False)
    load_plugins.cache_clear()
    return tmp_path


def _offer(folder: Path, *points: str) -> None:
    """Write the metadata of a package with these entry points."""
    info = folder / "tram_plugin-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tram-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(("[wholecall.dialects]", *points)))


@pytest.mark.usefixtures("package")
def test_plugins_are_detected_once_they_are_loaded() -> None:
    """A parser looks for no packages by itself; after `load_plugins` it asks their dialects first."""
    before = detect(STREAM), "tram_plugin" in sys.modules
    load_plugins()
    load_plugins()

    assert ((None, False), "tram") == (before, detect(STREAM))


@pytest.mark.usefixtures("package")
def test_who_names_a_dialect_need_not_load_it() -> None:
    """An unregistered name is looked for among the packages, before it is refused."""
    parser = ToolCallParser("tram")
    parser.feed(STREAM)

    assert "Hi" == parser.turn.text
    with pytest.raises(UnknownDialect, match="there is no dialect 'tran'; did you mean 'tram'"):
        ToolCallParser("tran")


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("other = no_such_module:TRAM", r"'other' \(no_such_module:TRAM\) is left out: ModuleNotFoundError"),
        ("other = tram_plugin:TramTranslator", "is left out: it is a ABCMeta, not a Dialect"),
        (
            "other = tram_plugin:OTHER",
            "is left out: ValueError: there is a dialect 'chat-completions' already",
        ),
    ],
)
def test_a_plugin_that_fails_is_named_and_left_out(package: Path, point: str, told: str) -> None:
    """One package's fault is a warning, and affects no other dialect."""
    _offer(package, point, "tram = tram_plugin:TRAM")
    with pytest.warns(RuntimeWarning, match=told) as caught:
        load_plugins()

    assert (1, "tram") == (len(caught), detect(STREAM))


@pytest.mark.parametrize("command", [("replay", "--json"), ("inspect", "--json"), ("lint", "--json")])
def test_commands_know_plugins(
    package: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """A package's dialect is detected by every command, without an option."""
    (package / "log.jsonl").write_bytes(STREAM)
    code = main([*command, str(package / "log.jsonl")])

    assert 1 >= code
    assert re.search('"(dialect|provider)": ?"tram"', capsys.readouterr().out)


# Each command's arguments in addition to a recording; the dialect comes from the module that it imports.
COMMANDS: dict[str, tuple[str, ...]] = {
    "replay": ("--json",),
    "inspect": ("--json",),
    "lint": ("--json",),
    "fuzz": ("--splits", "1", "--dialect", "tram"),
    "diff": ("log.jsonl",),
    "redact": ("--seed", "1"),
    "convert": (),
    "record": (),
    "scan": ("--out", "tables", "--workers", "1"),
}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_streams_imports(tmp_path: Path, command: str) -> None:
    """`--import` finds modules of the current folder, too, and their dialect is known to the program."""
    (tmp_path / "my_tram.py").write_text(
        f"{MODULE}\nfrom wholecall import register\n\nregister(TRAM)\nprint('registered', flush=True)\n"
    )
    (tmp_path / "log.jsonl").write_bytes(STREAM)
    into = ("-q", "--into", ".", "--case", "one") if command == "record" else ("log.jsonl",)
    # As the installed program, which does not look into the current folder by itself.
    program = "import sys; sys.path.remove(''); from wholecall.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program, command, "--import", "my_tram", *COMMANDS[command], *into],
        cwd=tmp_path,
        input=STREAM,
        capture_output=True,
        check=False,
    )

    assert 0 == done.returncode, done.stderr.decode()
    assert done.stdout.startswith(b"registered\n")
    if command == "record":
        assert (tmp_path / "tram/one.ndjson").read_bytes() == STREAM
    if command == "scan":  # whose workers import it, too
        assert ["tram"] == pq.read_table(tmp_path / "tables/recordings")["dialect"].to_pylist()
    if command == "replay":
        lines = done.stdout.splitlines()[1:]
        assert {"turn_started", "text_delta", "turn_finished"} == {json.loads(line)["type"] for line in lines}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--import", "no_such_module"), "No module named 'no_such_module'"),
        (("--dialect", "opnai"), "there is no dialect 'opnai'; did you mean 'chat-completions'"),
    ],
)
def test_a_wrong_command_line_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, str], told: str
) -> None:
    """A module that cannot be imported, and an unregistered dialect, exit with 2 and a sentence."""
    (tmp_path / "log.jsonl").write_bytes(STREAM)
    with pytest.raises(SystemExit, match="2"):
        main(["replay", *options, str(tmp_path / "log.jsonl")])

    assert told in capsys.readouterr().err


def test_the_page_shows_the_group() -> None:
    """The page names the group of entry points."""
    assert '[project.entry-points."wholecall.dialects"]' in (DOCS / "dialects.md").read_text("utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_plugins.cache_clear()
        load_plugins()  # of this environment
