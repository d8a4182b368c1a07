"""Write the matrix of clients in `docs/conformance.md` from the published results.

    python -m tests.support.conformance_matrix

A row is a client at a version, over one wire. The order is that of the suite's rules.
"""

from __future__ import annotations

import re
from pathlib import Path

from wholecall.cli.conform.page import percent, ranked
from wholecall.grading.conform.results import ALL, Graded, load

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "conformance" / "results"
PAGE = ROOT / "docs" / "conformance.md"
_PART = re.compile(r"(<!-- made by [^>]* -->\n).*?(<!-- end -->)", re.DOTALL)
_HEADS = "| client | wire | runs | unsafe | lost | refused | core | common | damage, safe | damage |"


def clients() -> list[Graded]:
    """Return the published clients, the safest first."""
    return ranked(client for path in sorted(RESULTS.glob("*.json")) for client in load(path).clients)


def matrix() -> str:
    """Return the table: counts of runs, then completeness by level, and the safety where streams are damaged."""
    lines = [_HEADS, "|---|---|" + "---:|" * 8]
    return "".join(f"{line}\n" for line in [*lines, *map(_row, clients())])


def page() -> str:
    """Return the page as it should be."""
    return _PART.sub(lambda found: found[1] + matrix() + found[2], PAGE.read_text("utf-8"))


def _row(client: Graded) -> str:
    every = client.scores[ALL]
    counts = [every.run, every.unsafe, every.lost, every.refused]
    shares = [_share(client, "core"), _share(client, "common")]
    damage = [_share(client, "damage", "safety"), _share(client, "damage")]
    cells = [f"{client.name} {client.version}", client.wire, *map(str, counts), *shares, *damage]
    return f"| {' | '.join(cells)} |"


def _share(client: Graded, level: str, number: str = "completeness") -> str:
    score = client.scores.get(level)
    return percent(None if score is None else getattr(score, number))


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
