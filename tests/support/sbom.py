"""The bill of materials that the wheel carries: `python -m tests.support.sbom` writes `wholecall.cdx.json`.

It is CycloneDX: the package, and its unconditional dependencies. The wheel bundles nothing; a dependency therefore has
the version range of pyproject.toml and no fixed version. No time and no serial number: the same project has the same
bill. `tests/hygiene/test_sbom.py` reports an outdated file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

import wholecall

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PROJECT = Path(__file__).resolve().parents[2]
FILE = _PROJECT / "wholecall.cdx.json"


def project_table() -> dict[str, Any]:
    """Return the `[project]` table of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((_PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def bill() -> str:
    """Return the bill of materials as pyproject.toml and the package's version have it."""
    project = project_table()
    needed = [_needed(Requirement(line)) for line in project["dependencies"]]
    package = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{project['name']}@{wholecall.__version__}",
        "name": project["name"],
        "version": wholecall.__version__,
        "description": project["description"],
        "licenses": [{"license": {"id": project["license"]}}],
        "purl": f"pkg:pypi/{project['name']}@{wholecall.__version__}",
    }
    references = [component["bom-ref"] for component in needed]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": package},
        "components": needed,
        "dependencies": [
            {"ref": package["bom-ref"], "dependsOn": references},
            *({"ref": reference} for reference in references),
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _needed(requirement: Requirement) -> dict[str, Any]:
    purl = f"pkg:pypi/{requirement.name}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": requirement.name,
        "scope": "required",
        "purl": purl,
        "properties": [{"name": "wholecall:requirement", "value": str(requirement)}],
    }


if __name__ == "__main__":
    FILE.write_text(bill(), "utf-8")
