"""The notes of a release, from the changelog; refuses a tag that does not fit the project.

    python -m tests.support.release v0.2.0 > notes.md

A release has the version of its tag in the package and in `CITATION.cff`, and a section of its own in `CHANGELOG.md`,
with the date: `## [0.2.0] - 2027-01-15`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_HEAD = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    """Return date and text of each version, the newest first."""
    heads = list(_HEAD.finditer(changelog))
    ends = [head.start() for head in heads[1:]] + [len(changelog)]
    return {
        head["version"]: (head["date"], changelog[head.end() : end].strip() + "\n")
        for head, end in zip(heads, ends, strict=True)
    }


def objections(tag: str, version: str, cited: str, changelog: str) -> list[str]:
    """Return what is wrong with a release.

    Args:
        tag: its tag.
        version: the version of the package.
        cited: the version in `CITATION.cff`.
        changelog: the text of the changelog.
    """
    date, text = sections(changelog).get(version, (None, ""))
    checks = {
        f"the tag {tag} is not v{version}, the version of the package": tag == f"v{version}",
        f"CITATION.cff has version {cited}, and the package {version}": cited == version,
        f"CHANGELOG.md has no section `## [{version}] - DATE`": date is not None,
        "its section in CHANGELOG.md is empty": bool(text.strip()),
    }
    return [wrong for wrong, holds in checks.items() if not holds]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the notes of the release that a tag makes."""
    [tag] = sys.argv[1:] if arguments is None else arguments
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version = _version_in("parser/wholecall/__init__.py", r'__version__ = "(.+)"')
    wrong = objections(tag, version, _version_in("CITATION.cff", r"version: (.+)"), changelog)
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    if not wrong:
        sys.stdout.write(sections(changelog)[version][1])
    return 1 if wrong else 0


def _version_in(file: str, pattern: str) -> str:
    found = re.search(f"^{pattern}$", (ROOT / file).read_text("utf-8"), re.MULTILINE)
    return "" if found is None else found[1]


if __name__ == "__main__":
    sys.exit(main())
