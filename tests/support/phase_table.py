"""The phase table as docs/architecture.md shows it, made from the table that the library runs on.

python -m tests.support.phase_table     prints it, to be pasted between the markers in docs/architecture.md
"""

from __future__ import annotations

from wholecall.machine.phases import PHASES, Cell

NEWS = {
    "name": "name",
    "fragment": "fragment",
    "whole": "whole text",
    "close": "the wire ends the call",
    "finish": "finish reason",
    "end": "end of the turn, error, cancel",
}


def _cell(cell: Cell, phase: str) -> str:
    """Return a cell's action, and the phase that it leads to if that differs."""
    done = cell.do.__name__.strip("_").replace("_", " ")
    others = [to for to in PHASES if to in cell.to and to != phase]
    stays = phase in cell.to
    return done + (f" → {' or '.join([*(['same'] if stays else []), *others])}" if others else "")


def markdown() -> str:
    """Return the table: a row for each phase, a column for each kind of news."""
    lines = ["| phase | " + " | ".join(NEWS.values()) + " |", "|---" * (len(NEWS) + 1) + "|"]
    for phase, actions in PHASES.items():
        cells = [_cell(actions[news], phase) for news in NEWS]
        lines.append(f"| **{phase}** | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - that is what it is for
