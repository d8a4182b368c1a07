"""The bill of materials in the wheel agrees with pyproject.toml."""

from __future__ import annotations

import json
from importlib.metadata import requires

from packaging.requirements import Requirement

import wholecall
from tests.support.sbom import FILE, bill


def test_the_bill_is_up_to_date() -> None:
    """`python -m tests.support.sbom` would write the file that is there."""
    assert bill() == FILE.read_text("utf-8")


def test_the_bill_names_what_is_installed_with_the_package() -> None:
    """The package in this version, and each hard dependency with its bounds, no other."""
    said = json.loads(FILE.read_text("utf-8"))
    package = said["metadata"]["component"]
    needed = [
        line for line in map(Requirement, requires("wholecall") or []) if "extra" not in str(line.marker)
    ]

    assert ("wholecall", wholecall.__version__) == (package["name"], package["version"])
    assert {str(line) for line in needed} == {part["properties"][0]["value"] for part in said["components"]}
    assert {part["bom-ref"] for part in said["components"]} == set(said["dependencies"][0]["dependsOn"])
