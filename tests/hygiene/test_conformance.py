"""The folder of the conformance suite is what the program makes of the corpora, and fits its own schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.hygiene.source_tree import numbered_rows
from tests.support import make_conformance
from tests.support.conformance_case import HTTP_WIRES, habits
from tests.support.conformance_judge import stream_of
from tests.support.conformance_recorded import readings
from tests.support.corpora import SIDECAR
from tests.support.corpora import cases as recordings
from wholecall.grading.conform.cases import LEVELS

FOLDER = make_conformance.CONFORMANCE
HOW = "run `python -m tests.support.make_conformance`"


@cache
def validator(name: str) -> jsonschema_rs.Validator:
    """Return a validator of one of the suite's schemas."""
    return jsonschema_rs.validator_for(json.loads((FOLDER / "schema" / f"{name}.schema.json").read_bytes()))


def sidecars() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the path and the content of each sidecar."""
    for path in sorted((FOLDER / "cases").rglob(f"*{SIDECAR}")):
        yield path, json.loads(path.read_bytes())


def examples() -> list[Any]:
    """Return the lines of the protocol that INTERPRETING.md shows, with values where it has an ellipsis."""
    text = (FOLDER / "INTERPRETING.md").read_text("utf-8").replace("{…}", "{}")
    return [json.loads(line) for line in re.findall(r"^[<>] (\{.*\})$", text, re.MULTILINE)]


def test_the_folder_is_up_to_date() -> None:
    """No file is missing, changed by hand, or left over."""
    files = make_conformance.made()
    stale = [path.name for path, data in files.items() if not path.exists() or path.read_bytes() != data]
    extra = [path.name for path in make_conformance.present() if path not in files]

    assert ([], []) == (stale, extra), HOW


def test_sidecars_fit_the_schema() -> None:
    """Each sidecar has the members of the schema and no others."""
    found = {
        path.name: [error.message for error in validator("case").iter_errors(said)]
        for path, said in sidecars()
    }

    assert found
    assert {} == {name: errors for name, errors in found.items() if errors}


def test_sidecars_stand_beside_their_bytes() -> None:
    """A case is named by its folder and its file, and has bytes."""
    wrong = [
        said["id"]
        for path, said in sidecars()
        if said["id"] != f"{path.parent.name}/{path.name.removesuffix(SIDECAR)}"
        or said["wire"] != path.parent.name
        or not stream_of(path).stat().st_size
    ]

    assert [] == wrong


def test_packs_hold_every_case_once() -> None:
    """A case is in the pack of its level, and in no other."""
    levels = {said["id"]: said["level"] for _, said in sidecars()}
    packs = [
        (name, level)
        for level in LEVELS
        for name in (FOLDER / "packs" / f"{level}.txt").read_text("utf-8").splitlines()
    ]

    assert sorted(levels.items()) == sorted(packs)


def test_a_call_is_in_one_list() -> None:
    """No call is sent and something else at once, and only whole answers demand nothing to be said."""
    twice = [
        said["id"]
        for _, said in sidecars()
        for call in said["sent"]
        if call in said["may"] or call in said["retracted"] or call in said["server"]
    ]
    hidden = [
        said["id"]
        for _, said in sidecars()
        if said["level"] in ("core", "common") and said["accept"][0] != "calls"
    ]

    assert ([], []) == (twice, hidden)


def test_every_wire_has_its_farewells() -> None:
    """A conversation on each wire of HTTP can end, streamed and not; a session has no requests."""
    stems = {path.stem for path in (FOLDER / "farewells").iterdir()}

    assert set(HTTP_WIRES) == stems
    assert 2 * len(HTTP_WIRES) == len(list((FOLDER / "farewells").iterdir()))


def test_the_protocol_is_as_shown() -> None:
    """The lines that the rules show fit the schema of the protocol."""
    lines = examples()

    assert [[]] * len(lines) == [
        [error.message for error in validator("protocol").iter_errors(line)] for line in lines
    ]
    assert ["hello", None, "run", None, "bye"] == [line.get("do") for line in lines]


@pytest.mark.parametrize("name", ["case", "protocol", "results"])
def test_schemas_are_schemas(name: str) -> None:
    """Each schema can be used, and refuses a number."""
    assert not validator(name).is_valid(1)


def test_readings_are_about_recordings() -> None:
    """A reading names a recording that is there."""
    assert set() == readings().keys() - {entry["name"] for entry in recordings()}


def test_habits_are_quirks() -> None:
    """The survey is about quirks of the catalogue, each once and in order, with threads that can be looked up."""
    numbers = list(habits())
    threads = [url for habit in habits().values() for url in habit["threads"]]

    assert sorted(set(numbers)) == numbers
    assert set() == set(numbers) - numbered_rows("quirks.md").keys()
    assert [] == [
        url
        for url in threads
        if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", url)
    ]
