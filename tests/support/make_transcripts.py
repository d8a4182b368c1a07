"""Write `corpora/transcripts`: poisoned transcripts of every shape, and their expected repairs; deterministic.

Each case is a faulty history, rendered as each host would have stored it. Its repaired content and the facts of the
report are derived by hand from the rules and are the same for every shape, except where the function says otherwise.
Next to each transcript is its repaired version, written by the library:

`python tests/support/make_transcripts.py` writes the transcripts and their manifest;
`python tests/support/make_transcripts.py --bless REASON` also writes the repaired versions. The reason belongs
in the commit message.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if not __package__:
    sys.path.insert(0, str(ROOT))

from tests.support.histories import SHAPES, Answer, Block, Happening, Note, Result, Said, render  # noqa: E402
from wholecall.history import repair_transcript  # noqa: E402

JSON = dict[str, Any]
FOLDER = ROOT / "corpora" / "transcripts"
SESSIONS = ("claude-code", "codex", "pi")
ITEMS = ("codex", "responses")  # no word for an aborted turn: unfinished items say `incomplete`
STRINGS = ("chat-completions", "codex", "responses")
PORT = {"port": "Brest"}


def _call(id: str, arguments: Any = PORT, name: str = "get_tide") -> Block:
    return Block("call", id=id, name=name, arguments=arguments)


def _tide(id: str, text: str) -> Result:
    return Result(id, text, "get_tide")


THINKS = Block("thinking", "The harbour is Brest; I need its tide table.")
Case = tuple[list[Happening], list[str], JSON]  # the events, the expected messages, the expected report


def interrupted(shape: str) -> Case:
    """The model was interrupted in the middle of a call, the client noted a result, and the user asked again.

    Among items the call says that it is incomplete, nothing answered it, and the thought had led to the text.
    """
    items = shape in ITEMS
    call = _call("tide_1", '{"port":"Br' if items else PORT)
    broken = Answer((THINKS, Block("text", "Let me look that up."), call), "length" if items else "aborted")
    happened: list[Happening] = [
        Said("When is high water at Brest?"),
        broken,
        *([] if items else [_tide("tide_1", "interrupted by user")]),
        Said("Are you still there?"),
        Answer((_call("tide_2"),), "tool_calls"),
        _tide("tide_2", "05:12"),
        Answer((Block("text", "High water is at 05:12."),), "stop"),
    ]
    says = [
        "user: When is high water at Brest?",
        *(["model thinks"] if items else []),
        *("model: Let me look that up.", "user: Are you still there?", "model calls tide_2", "tide_2: 05:12"),
        "model: High water is at 05:12.",
    ]
    dropped = [] if items else ["tide_1"]
    return happened, says, {"stripped_calls": ["tide_1"], "dropped_results": dropped}


def crashed(_shape: str) -> Case:
    """The host died between two parallel calls; the user hurried, one result came late, another never."""
    happened = [
        Said("Tides for Brest and Le Conquet, please."),
        Answer(
            (Block("text", "Both at once."), _call("brest"), _call("conquet", {"port": "Le Conquet"})),
            "tool_calls",
        ),
        _tide("brest", "05:12"),
        Note(),
        Said("Any news?"),
        _tide("conquet", "05:03"),
        Answer((_call("weather", {"at": "Brest"}, "get_weather"),), "tool_calls"),
        Said("Never mind the weather."),
    ]
    says = [
        *("user: Tides for Brest and Le Conquet, please.", "model: Both at once."),
        *("model calls brest", "model calls conquet", "brest: 05:12", "conquet: 05:03", "user: Any news?"),
        *("model calls weather", "weather is missing", "user: Never mind the weather."),
    ]
    return happened, says, {"moved": ["conquet"], "synthesised": ["weather"]}


def trimmed(_shape: str) -> Case:
    """The beginning was cut off between a call and its result, a resumed run told a result again, ids repeat."""
    happened = [
        _tide("tide_0", "11:40"),
        Said("And tomorrow?"),
        Answer((_call("tide_1"),), "tool_calls"),
        _tide("tide_1", "No result provided"),
        _tide("tide_1", "06:01"),
        _tide("tide_1", "06:01"),
        Answer((Block("text", ""), Block("text", "At 06:01.")), "stop"),
        Said("  "),
        Said("And the day after?"),
        Answer((_call("tide_1", {"port": "Brest", "day": 2}),), "tool_calls"),
        _tide("tide_1", "06:55"),
    ]
    says = [
        *("user: And tomorrow?", "model calls tide_1", "tide_1: 06:01", "model: At 06:01."),
        *("user: And the day after?", "model calls tide_1_2", "tide_1_2: 06:55"),
    ]
    return happened, says, {"dropped_results": ["tide_0", "tide_1", "tide_1"], "renamed": ["tide_1"]}


def careless(shape: str) -> Case:
    """The store kept argument text where an object belongs or the reverse, and calls that never were whole.

    Where text is carried, malformed text that was answered stays as it is.
    """
    strings = shape in STRINGS
    happened = [
        Said("Note the tides."),
        Answer((_call("note", "" if strings else '{"text":"tides"}', "add_note"),), "stop"),
        Result("note", "noted", "add_note"),
        Answer((_call("bad", '{"port":"Br'),), "stop"),
        _tide("bad", "no such port"),
        Answer((Block("text", "Once more."), _call("unnamed", PORT, "")), "stop"),
        Said("Thank you."),
    ]
    says = [
        *("user: Note the tides.", "model calls note", "note: noted", "model calls bad", "bad: no such port"),
        *("model: Once more.", "user: Thank you."),
    ]
    coerced = ["note"] if strings else ["note", "bad"]
    return happened, says, {"coerced": coerced, "stripped_calls": ["unnamed"]}


CASES: tuple[Callable[[str], Case], ...] = (interrupted, crashed, trimmed, careless)


def entries() -> list[JSON]:
    """Return the manifest's entries, by name."""
    found = [_entry(shape, case) for shape in sorted(SHAPES) for case in CASES]
    return sorted(found, key=lambda entry: entry["name"])


def _entry(shape: str, case: Callable[[str], Case]) -> JSON:
    _, says, report = case(shape)
    name = f"{shape}/{case.__name__}"
    return {
        "name": name,
        "file": f"{name}.{'jsonl' if shape in SESSIONS else 'json'}",
        "shape": shape,
        "origin": "generated",
        "about": " ".join((case.__doc__ or "").split()),
        "sha256": hashlib.sha256(written(shape, case(shape)[0])).hexdigest(),
        "says": says,
        "report": {fact: value for fact, value in report.items() if value},
    }


def written(shape: str, happened: list[Happening]) -> bytes:
    """Return a history as the bytes of its file."""
    return lines(shape, render(shape, happened))


def lines(shape: str, messages: Sequence[JSON]) -> bytes:
    """Return messages as a file: a line each in sessions, else one list."""
    if shape in SESSIONS:
        return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in messages).encode()
    return (json.dumps(list(messages), indent=1, ensure_ascii=False) + "\n").encode()


def read(file: Path) -> list[JSON]:
    """Return the messages of a file."""
    data = file.read_text("utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in data.splitlines()]
    messages: list[JSON] = json.loads(data)
    return messages


def repaired_file(entry: JSON) -> Path:
    """Return where the repaired transcript of an entry is kept."""
    file = FOLDER / entry["file"]
    return file.with_name(f"{file.stem}.repaired{file.suffix}")


def main() -> None:
    """Write the files."""
    options = argparse.ArgumentParser(description="Write the corpora's transcripts.")
    options.add_argument(
        "--bless", metavar="REASON", help="write the repaired ones too; say why in the commit"
    )
    reason = options.parse_args().bless
    found = entries()
    made = {f"{shape}/{case.__name__}": case(shape)[0] for shape in SHAPES for case in CASES}
    for entry in found:
        file = FOLDER / entry["file"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(written(entry["shape"], made[entry["name"]]))
        if reason:
            repaired = repair_transcript(read(file)).messages
            repaired_file(entry).write_bytes(lines(entry["shape"], repaired))
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / "manifest.json").write_bytes(text.encode())
    sys.stderr.write(f"{len(found)} transcripts\n")


if __name__ == "__main__":
    main()
