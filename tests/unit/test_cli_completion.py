"""Completion in shells: the scripts of `wholecall completion`, run by the installed shells."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wholecall.cli import main

# How a shell shows its completions of a line; `$1` is the script, the line comes after it.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_shtab_wholecall 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = 'source $argv[1]; complete -C (string join -- " " $argv[2..]) | string split --fields 1 \\t'
SHOW = {"bash": ["bash", "--norc", "-c", BASH, "bash"], "fish": ["fish", "--no-config", "-c", FISH]}
HERE = sorted(shell for shell in SHOW if shutil.which(shell))


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Write a shell's script, and return where."""
    assert main(["completion", shell]) == 0
    path = folder / f"script.{shell}"
    path.write_text(capsys.readouterr().out, "utf-8")
    return path


@pytest.mark.parametrize("shell", HERE)
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["wholecall", "re"], {"replay", "record", "redact", "report"}),
        (["wholecall", "history", "sh"], {"shrink"}),
        (["wholecall", "args", "--pa"], {"--partial"}),
        (["wholecall", "args", "ti"], {"tide.sse"}),
        (["wholecall", "replay", "--dialect", "coh"], {"cohere-v1", "cohere-v2"}),
        (["wholecall", "inspect", "--text", "qw"], {"qwen_xml"}),
        (["wholecall", "diff", "--text", "au"], {"auto"}),
        (["wholecall", "replay", "--fu"], {"--full"}),
        (["wholecall", "replay", "ti"], {"tide.sse"}),
        (["wholecall", "convert", "-o", "ti"], {"tide.sse"}),
        (["wholecall", "completion", "f"], {"fish"}),
    ],
)
def test_a_shell_completes(
    shell: str,
    words: list[str],
    found: set[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commands, actions, options, dialects, formats and file names are completed, and nothing else is offered."""
    monkeypatch.chdir(tmp_path)
    written = script(shell, tmp_path, capsys)
    Path("tide.sse").touch()
    done = subprocess.run(  # noqa: S603 - a shell, with a script of ours
        [*SHOW[shell], str(written), *words], capture_output=True, check=False, text=True
    )

    assert ("", found) == (done.stderr, set(done.stdout.split()))


@pytest.mark.parametrize("shell", [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)])
def test_a_script_is_one_of_its_shell(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each shell finds the script well formed."""
    written = script(shell, tmp_path, capsys)
    done = subprocess.run([shell, "-n", written], capture_output=True, check=False, text=True)  # noqa: S603

    assert (0, "") == (done.returncode, done.stderr)


def test_every_command_is_in_every_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scripts are made from the program's own parser: no command and no option is missing."""
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.partition("COMMAND\n")[2].splitlines()
    commands = {line.split()[0] for line in lines if line[:4] == "    " and line[4:5].strip()}
    assert {"replay", "history", "completion"} <= commands
    for shell in ("bash", "zsh", "fish"):
        text = script(shell, tmp_path, capsys).read_text("utf-8")
        assert set() == {word for word in {*commands, "keep-text"} if word not in text}


def test_without_shtab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the command names the package to install, and writes nothing to standard output."""
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 3
    out, err = capsys.readouterr()
    assert ("", "wholecall: completion needs shtab: pip install 'wholecall[cli]'\n") == (out, err)
