"""The tables of dialects as docs/dialects.md shows them, made from the dialects' own words and the recordings.

The words are in the docstring of a dialect's module, and run to the next such line or to the end of the paragraph:

    Covers: the lines of `codex exec --json`, which the Codex SDKs read: calls that the agent executes.
    Calls: told apart by item id; each ends with `item.completed`.

`Calls: none.` is for dialects of text. A module of several dialects names the others in brackets: `Covers (NAME): …`.

python -m tests.support.dialect_table     puts both tables into docs/dialects.md
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import wholecall.dialects
from tests.support import corpora
from wholecall.dialects import DIALECTS
from wholecall.dialects.detect import ENTRIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dialects.md"
_WRAPPED = "bedrock-invoke-"
_TEXT_INSIDE = {"bedrock-invoke-legacy-completions"}  # which shares its words with dialects that have calls
# The folders of dialects, in the order of the page.
_PLACES = ("openai", "anthropic", "cohere", "amazon", "google", "others", "frameworks", "agents")
_CALLS = re.compile(r"told apart by (?P<key>.+); each ends with (?P<end>.+)")


class Words(NamedTuple):
    """The words about one dialect: its coverage, the distinction of two calls, and the end of a call."""

    covers: str
    key: str
    ends: str


def words(name: str) -> Words | None:
    """Return the words of a dialect's module about it, None if it lacks some."""
    said = _said(module_of(name))
    covers = said.get(f"Covers ({name})", said.get("Covers"))
    calls = said.get(f"Calls ({name})", said.get("Calls"))
    if covers is None or calls is None:
        return None
    found = _CALLS.fullmatch(calls)
    if found is None:
        return Words(covers, "(no calls)", "-") if calls == "none" else None
    return Words(covers, found["key"], found["end"])


def carries_calls(name: str) -> bool:
    """Return whether a dialect has calls; there is nothing to agree about for one that carries text."""
    told = words(name)
    return name not in _TEXT_INSIDE and (told is None or told.ends != "-")


def module_of(name: str) -> Path:
    """Return the module of a dialect; those whose events come wrapped in chunks share the one that opens these."""
    dotted = "amazon.invoke.X" if name.startswith(_WRAPPED) else ENTRIES[name].translator
    return Path(wholecall.dialects.__path__[0]).joinpath(*dotted.split(".")[:-1]).with_suffix(".py")


@cache
def _said(module: Path) -> dict[str, str]:
    """Return the paragraphs of a module's docstring that begin with a label, without their full stop."""
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    found = re.findall(r"^((?:Covers|Calls)(?: \([\w-]+\))?): (.+(?:\n +.+)*)", docstring, re.MULTILINE)
    return {label: " ".join(text.split()).removesuffix(".") for label, text in found}


def coverage() -> str:
    """Return the first table: a row for the dialects of one module and one coverage."""
    rows: dict[tuple[Path, str], list[str]] = {}
    for name in sorted(ENTRIES, key=_place):
        told = words(name)
        rows.setdefault((module_of(name), told.covers if told else "?"), []).append(f"`{name}`")
    lines = [f"| {', '.join(names)} | {covers} |" for (_, covers), names in rows.items()]
    return "\n".join(["| dialect | what it covers |", "|---|---|", *lines]) + "\n"


def _place(name: str) -> tuple[int, str]:
    root = Path(wholecall.dialects.__path__[0])
    return _PLACES.index(module_of(name).relative_to(root).with_suffix("").parts[0]), name


def markdown() -> str:
    """Return the second table: a row for each dialect, with the quirks that its recordings show."""
    entries = corpora.cases()
    lines = [
        "| dialect | comes as | calls are told apart by | a call ends with | recordings | quirks they show |",
        "|---|---|---|---|---|---|",
    ]
    for dialect in sorted(DIALECTS, key=lambda dialect: dialect.name):
        mine = [entry for entry in entries if entry["dialect"] == dialect.name]
        quirks = sorted({quirk for entry in mine for quirk in entry["quirks"]})
        shown = ", ".join(_ranges(quirks)) or "-"
        _, key, ends = words(dialect.name) or Words("?", "?", "?")
        framings = ", ".join(dialect.framings)
        lines.append(f"| `{dialect.name}` | {framings} | {key} | {ends} | {len(mine)} | {shown} |")
    return "\n".join(lines) + "\n"


def _ranges(numbers: list[int]) -> list[str]:
    """Return sorted numbers with those in a row put together: 1-3, 5."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}" for row in rows]


def renewed(page: str) -> str:
    """Return the text of the page with both tables written anew."""
    for name, table in (("coverage", coverage()), ("dialects", markdown())):
        parts = re.split(rf"(<!-- {name}:[^\n]*-->\n|<!-- /{name} -->)", page)
        page = "".join([*parts[:2], table, *parts[3:]])
    return page


def write() -> bool:
    """Put the tables into the page; return whether that changed it."""
    page = PAGE.read_text("utf-8")
    PAGE.write_text(renewed(page), "utf-8", newline="\n")
    return page != renewed(page)


if __name__ == "__main__":
    write()
