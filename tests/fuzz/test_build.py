"""The files from which fuzzers are built: a program per target, seeds, and the words of the dialects."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from zipfile import ZipFile

from tests.fuzz.build import build, program_of
from tests.fuzz.targets import TARGETS
from tests.fuzz.words import DICTIONARY, dictionary

LINE = re.compile(r'"(?:[^"\\]|\\\\|\\"|\\x[0-9A-F]{2})+"').fullmatch  # as libFuzzer reads them


def test_the_dictionary_is_up_to_date() -> None:
    """`python -m tests.fuzz.words` would write the file that is there."""
    assert dictionary() == DICTIONARY.read_text("utf-8")


def test_the_dictionary_is_one_of_libfuzzer() -> None:
    """Each line is a text in quotation marks, and the words of the wire are among them."""
    lines = dictionary().splitlines()[1:]

    assert [] == [line for line in lines if not LINE(line)]
    assert {'"data: "', r'"\"tool_calls\""', r'"\"content_block_start\""'} <= set(lines)


def test_each_target_is_built(tmp_path: Path) -> None:
    """A target has a program that names it, its seeds as they are, a dictionary and options."""
    some = [TARGETS[name] for name in ("arguments", "feed-event")]
    build(tmp_path / "scripts", tmp_path / "out", some)
    suffixes = (".dict", ".options", "_seed_corpus.zip")

    assert sorted(f"{program_of(target)}.py" for target in some) == _names(tmp_path / "scripts")
    assert sorted(program_of(target) + end for target in some for end in suffixes) == _names(tmp_path / "out")
    for target in some:
        program = program_of(target)
        tree = ast.parse((tmp_path / "scripts" / f"{program}.py").read_text())
        with ZipFile(tmp_path / "out" / f"{program}_seed_corpus.zip") as seeds:
            assert {seeds.read(name) for name in seeds.namelist()} == set(target.seeds())
        assert f"drive('{target.name}', '{target.package}', sys.argv)" == ast.unparse(tree.body[-1])


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
