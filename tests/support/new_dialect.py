"""A new dialect: `python -m tests.support.new_dialect NAME` names the parts that are missing, and writes the others.

Three parts are written by hand: the dialect's module, its entry in `dialects/detect.py`, and the titles and frames of
its cases. Written from these are the deltas of the cases, recordings of three turns and their golden logs, the tables of
the pages, and the dictionary for fuzzers. At last it says what a person must read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tests.fuzz import words as fuzz_words
from tests.support import (
    bless,
    captures,
    corpora,
    dialect_cases,
    dialect_table,
    policy_costs,
    shown,
    template,
)
from tests.support.encode import Call, Turn, whole
from wholecall.dialects.detect import ENTRIES

# The turns of the first recordings: calls of each, and what the sidecar says of it.
TIDE = Call("call_7", "get_tide", '{"port":"Brest","days":[1,2]}')
PORTS = Call("call_8", "list_ports", "{}")
QUAYS = Call("call_9", "list_quays", '{"port":"H\\u00f8vik"}')
TURNS = {
    "single-call": ((TIDE,), "One call, after a text.", []),
    "parallel-calls": ((TIDE, QUAYS), "Two calls of one turn.", []),
    "no-arguments": ((PORTS,), "A call with an empty object as arguments.", [26]),
}


def missing(name: str) -> list[str]:
    """Return what must be written by hand before anything can be made of it."""
    if name not in ENTRIES:
        return [f"no entry {name!r} in ENTRIES of parser/wholecall/dialects/detect.py"]
    found = []
    if not dialect_table.module_of(name).exists():
        found.append(f"no module {dialect_table.module_of(name)}")
    elif dialect_table.words(name) is None:
        found.append("no `Covers:` and `Calls:` in the module's docstring (tests/support/dialect_table.py)")
    if not (dialect_cases.FOLDER / f"{name}.txt").exists():
        found.append(
            f"no tests/dialects/cases/{name}.txt: titles and frames (tests/support/dialect_cases.py)"
        )
    return found


def make_recordings(name: str) -> list[str]:
    """Write recordings of a dialect that has none: turns in the frames of its cases, and the calls that were sent."""
    render = template.renderer(name)
    folder = corpora.RECORDINGS / name
    if render is None or folder.exists():
        return []
    folder.mkdir(parents=True)
    suffix = ".sse" if dialect_cases.usual_name(name) else ".ndjson"
    for case, (calls, about, quirks) in TURNS.items():
        data = render(Turn(calls, text="Let me look."), whole)
        (folder / (case + suffix)).write_bytes(data)
        wanted = [{"id": one.id, "name": one.name, "arguments": json.loads(one.arguments)} for one in calls]
        member = "server" if template.is_of_server(name) else "calls"
        said = {
            "about": about,
            "origin": "typed",
            "quirks": quirks,
            "expect": {member: wanted, "text": "Let me look."},
        }
        (folder / (case + corpora.SIDECAR)).write_bytes(corpora.sidecar_text(said))
    corpora.forget()
    return [f"{name}/{case}" for case in TURNS]


def unread(name: str) -> list[str]:
    """Return what the cases do not show, and tests will ask for."""
    found = []
    if name not in shown.decisive():
        found.append(
            "no frame that begins an answer tells the dialect by itself: add one, or look at its marks"
        )
    if name not in shown.ends():
        found.append("no frame that only ends an answer (`stop` or `tool_calls`)")
    if dialect_table.carries_calls(name) and template.renderer(name) is None:
        found.append(
            "no text, whole call and end in frames of their own: add these, or write a renderer from the provider's"
            " documents, for which see tests/support/renderers.py, and add recordings"
        )
    return found


def main(names: Sequence[str] | None = None) -> int:
    """Run the program; 1 if something is missing."""
    (name,) = sys.argv[1:] if names is None else names
    absent = missing(name)
    if absent:
        sys.stdout.write("".join(f"missing: {part}\n" for part in absent))
        return 1
    dialect_cases.rewrite(name)
    shown.streams.cache_clear()
    made = make_recordings(name)
    fresh = [case["name"] for case in corpora.cases() if not corpora.golden(case).exists()]
    logs = bless.bless(fresh) if fresh else []
    for write in (dialect_table.write, policy_costs.write, captures.write, fuzz_words.write):
        write()
    asked = unread(name)
    sys.stdout.write("".join(f"missing in the cases: {part}\n" for part in asked))
    sys.stdout.write(
        f"read tests/dialects/cases/{name}.txt: each delta, and whether it is what the frame says\n"
    )
    sys.stdout.write(
        "".join(f"read corpora/recordings/{one}: bytes as the provider sends them?\n" for one in made)
    )
    sys.stdout.write("".join(f"read the golden log of {one}\n" for one in logs))
    return 1 if asked else 0


if __name__ == "__main__":
    sys.exit(main())
