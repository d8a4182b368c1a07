"""The types of each example and of each integration are checked where its framework is installed."""

from __future__ import annotations

import re

from tests.hygiene.source_tree import PROJECT
from tests.support.type_checks import CHECKERS, ENGINES, EXAMPLES, FOLDERS, INTEGRATIONS, examples, modules


def test_every_example_is_checked_once() -> None:
    """Each example is among those of one folder of tests; one that begins with `whole_` shows an integration."""
    checked = sorted(path for folder in FOLDERS for path in examples(folder))
    shown = {path.stem.removeprefix("whole_") for path in EXAMPLES.glob("whole_*.py")}

    assert sorted(EXAMPLES.glob("*.py")) == checked
    assert set().union(*FOLDERS.values()) == shown


def test_every_integration_is_checked() -> None:
    """Each module of an integration is among those of a folder of tests, but for those of serving engines."""
    checked = {path.stem for folder in FOLDERS for path in modules(folder)}

    assert {path.stem for path in INTEGRATIONS.glob("*.py")} == {"__init__", *ENGINES, *checked}


def test_the_checks_are_run() -> None:
    """The session of a folder runs all its tests, in an environment that has the checkers."""
    script = (PROJECT / "noxfile.py").read_text("utf-8")
    pins = {name: (PROJECT / ".ci" / "pins" / f"{name}.txt").read_text("utf-8") for name in FOLDERS}
    files = {name: (PROJECT / "tests" / name / "test_types.py").read_text("utf-8") for name in FOLDERS}

    assert [f'["tests/{name}"]' for name in FOLDERS] == re.findall(r'\["tests/sdk\w*"\]', script)
    assert [] == [(name, tool) for name in FOLDERS for tool in CHECKERS if f"\n{tool}==" not in pins[name]]
    assert [] == [name for name in FOLDERS if f'complaints(checker, "{name}", ' not in files[name]]
