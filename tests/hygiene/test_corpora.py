"""The files of the corpora hold together: a case is its stream, its sidecar and its golden log, side by side."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.hygiene.source_tree import PROJECT, numbered_rows
from tests.support import make_corpora
from tests.support.corpora import GOLDEN, RECORDINGS, SIDECAR, cases, recorded, sidecar_of, streams
from wholecall.dialects import DIALECTS

if TYPE_CHECKING:
    from pathlib import Path

MEMBERS = ["about", "origin", "quirks", "expect"]
ORIGINS = {"generated", "recorded", "typed"}
SUFFIXES = {".sse", ".ndjson", ".json", ".bin"}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
EXPECTED = {
    *("calls", "dropped", "custom", "server", "builtin"),
    *("text", "faults", "anomalies", "reason"),
}

# JSON must escape control characters; UTF-8 lacks halves of surrogate pairs.
ESCAPED_LETTER = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?!00[01]|d[89a-f])", re.IGNORECASE)


def shown(path: Path) -> str:
    """Return a path as people type it."""
    return path.relative_to(PROJECT).as_posix()


def sidecars() -> dict[Path, Any]:
    """Return the content of each sidecar; None where it is not a JSON object."""
    said: dict[Path, Any] = {}
    for path in sorted(RECORDINGS.rglob("*" + SIDECAR)):
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            found = None
        said[path] = found if isinstance(found, dict) else None
    return said


def about_flaw(about: Any) -> str | None:
    """Return the faults of a sidecar's sentence."""
    if not isinstance(about, str) or not about.strip():
        return "`about` is empty: say in one sentence what the stream shows"
    one_sentence = (
        about == " ".join(about.split()) and about.endswith(".") and not re.search(r"[.!?] ", about)
    )
    return None if one_sentence else "`about` is not one sentence that ends in a full stop"


def expect_flaw(expect: Any) -> str | None:
    """Return the faults of a sidecar's expectation."""
    if not isinstance(expect, dict):
        return "`expect` is empty: write down by hand what must come out (corpora/README.md)"
    strange = sorted(set(expect) - EXPECTED)
    return f"`expect` has no member {', '.join(strange)} (corpora/README.md)" if strange else None


def quirks_flaw(quirks: Any) -> str | None:
    """Return the faults of a sidecar's quirks."""
    known = numbered_rows("quirks.md")
    if not isinstance(quirks, list) or any(type(quirk) is not int or quirk not in known for quirk in quirks):
        return "`quirks` names what is no number of docs/quirks.md"
    return None if quirks == sorted(set(quirks)) else "`quirks` are not sorted, or one is there twice"


def flaws(said: Any) -> list[str]:
    """Return the faults of a sidecar's content."""
    if said is None:
        return ["it is no JSON object"]
    if list(said) != MEMBERS:
        return [
            f"its members are {', '.join(said) or 'none'}; they must be {', '.join(MEMBERS)}, in this order"
        ]
    origin = None if said["origin"] in ORIGINS else f"`origin` is none of {', '.join(sorted(ORIGINS))}"
    found = [about_flaw(said["about"]), origin, quirks_flaw(said["quirks"]), expect_flaw(said["expect"])]
    return [flaw for flaw in found if flaw]


def test_every_stream_has_a_sidecar_and_a_golden_log() -> None:
    """Next to each stream are the expected calls, and the log of the events."""
    sidecars_missing = [
        f"{shown(sidecar_of(stream))} is missing: write it (corpora/README.md says what is in it)"
        for stream in streams()
        if not sidecar_of(stream).exists()
    ]
    logs_missing = [
        f"{shown(stream.with_name(stream.stem + GOLDEN))} is missing: "
        f"python -m tests.support.bless --reason '...' {stream.parent.name}/{stream.stem}"
        for stream in streams()
        if not stream.with_name(stream.stem + GOLDEN).exists()
    ]

    assert "" == "\n".join(sidecars_missing + logs_missing)


def test_every_sidecar_and_golden_log_has_a_stream() -> None:
    """No sidecar and no log lies alone, and no stem is that of two streams."""
    stems = Counter(stream.with_suffix("") for stream in streams())
    beside = sorted(path for end in (SIDECAR, GOLDEN) for path in RECORDINGS.rglob("*" + end))
    alone = [
        f"{shown(path)} has no stream beside it: add the bytes, or delete it"
        for path in beside
        if path.with_name(path.name.removesuffix(SIDECAR).removesuffix(GOLDEN)) not in stems
    ]
    double = [
        f"{shown(stem)}.* are several streams: rename one" for stem, count in stems.items() if count > 1
    ]

    assert streams()
    assert "" == "\n".join(alone + double)


def test_sidecars_say_what_they_must() -> None:
    """A sidecar has the known members, one sentence, known quirks and an expectation."""
    found = [f"{shown(path)}: {flaw}" for path, said in sidecars().items() for flaw in flaws(said)]

    assert "" == "\n".join(found)


def test_sidecars_are_text_that_can_be_read_and_merged() -> None:
    """A sidecar is indented by two, without escapes of letters, and its last line ends."""
    flawed = [
        f"{shown(path)}: indent it by two, write letters as they are, end the last line"
        for path in sidecars()
        for data in [path.read_bytes()]
        if not data.startswith(b'{\n  "about"')
        or not data.endswith(b"}\n")
        or b"\r" in data
        or ESCAPED_LETTER.search(data)
    ]

    assert "" == "\n".join(flawed)


def test_names_say_dialect_and_framing() -> None:
    """A stream lies in the folder of its dialect, under a plain name, with a suffix that can be replayed."""
    dialects = {dialect.name for dialect in DIALECTS}
    flawed = [
        f"{shown(stream)}: move it to recordings/<dialect>/<case>{{{','.join(sorted(SUFFIXES))}}}"
        for stream in streams()
        if stream.parent.parent != RECORDINGS
        or stream.parent.name not in dialects
        or stream.suffix not in SUFFIXES
        or not NAME.fullmatch(stream.stem)
    ]

    assert "" == "\n".join(flawed)


def test_every_dialect_has_recordings() -> None:
    """There is a folder of recordings for each dialect of the table."""
    missing = [
        f"corpora/recordings/{dialect.name} holds no recording: add some (CONTRIBUTING.md, A new dialect)"
        for dialect in DIALECTS
        if not any(case["dialect"] == dialect.name for case in cases())
    ]

    assert "" == "\n".join(missing)


def test_no_recording_is_there_twice() -> None:
    """No two recordings are the same bytes."""
    first: dict[bytes, str] = {}
    double = [
        f"{case['file']} holds the bytes of {name}"
        for case in cases()
        if (name := first.setdefault(recorded(case), case["file"])) != case["file"]
    ]

    assert "" == "\n".join(double)


def test_what_a_program_makes_is_what_lies_there() -> None:
    """The generated cases, and no others, are made by the program, to the byte."""
    made = make_corpora.made()
    changed = [
        f"{shown(path)} is not what the program makes: python -m tests.support.make_corpora"
        for path, data in made.items()
        if not path.exists() or path.read_bytes() != data
    ]
    unmade = [
        f"{shown(path)}: no program makes it, so its `origin` is `recorded` or `typed`"
        for path, said in sidecars().items()
        if said and said.get("origin") == "generated" and path not in made
    ]

    assert "" == "\n".join(changed + unmade)
