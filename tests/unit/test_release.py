"""The notes of a release, and what its tag must fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import release
from wholecall import __version__

CHANGELOG = """# Changelog

## [Unreleased]

### Added

- New.

## [0.2.0] - 2027-01-15

### Fixed

- Mended.

## [0.1.0] - 2026-12-01

### Added

- First.
"""


def test_a_section_is_the_text_below_its_head() -> None:
    """Each version has its date and its own text; what is not released has no date."""
    assert release.sections(CHANGELOG) == {
        "Unreleased": (None, "### Added\n\n- New.\n"),
        "0.2.0": ("2027-01-15", "### Fixed\n\n- Mended.\n"),
        "0.1.0": ("2026-12-01", "### Added\n\n- First.\n"),
    }


@pytest.mark.parametrize(
    ("tag", "version", "cited", "expected"),
    [
        ("v0.2.0", "0.2.0", "0.2.0", []),
        ("v0.3.0", "0.2.0", "0.2.0", ["the tag v0.3.0 is not v0.2.0, the version of the package"]),
        ("v0.2.0", "0.2.0", "0.1.0", ["CITATION.cff has version 0.1.0, and the package 0.2.0"]),
        ("v0.4.0", "0.4.0", "0.4.0", ["CHANGELOG.md has no section `## [0.4.0] - DATE`", "its section in CHANGELOG.md is empty"]),
    ],
)  # fmt: skip
def test_a_release_fits_its_tag(tag: str, version: str, cited: str, expected: list[str]) -> None:
    """Tag, package, citation and changelog name one version."""
    assert release.objections(tag, version, cited, CHANGELOG) == expected


def test_notes_are_those_of_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program prints the section of the tag, and refuses any other tag."""
    package = tmp_path / "parser" / "wholecall"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.2.0"\n', "utf-8")
    (tmp_path / "CITATION.cff").write_text("version: 0.2.0\n", "utf-8")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG, "utf-8")
    monkeypatch.setattr(release, "ROOT", tmp_path)

    assert release.main(["v0.2.0"]) == 0
    assert capsys.readouterr().out == "### Fixed\n\n- Mended.\n"
    assert release.main(["v0.2"]) == 1
    assert capsys.readouterr().out == ""


def test_this_changelog_has_such_sections() -> None:
    """The project's changelog has this form, and its citation the version of the package."""
    found = release.sections((release.ROOT / "CHANGELOG.md").read_text("utf-8"))
    cited = (release.ROOT / "CITATION.cff").read_text("utf-8")

    assert "Unreleased" in found
    assert {date is None for name, (date, _) in found.items() if name != "Unreleased"} <= {False}
    assert cited.partition("\nversion: ")[2].partition("\n")[0] == __version__
