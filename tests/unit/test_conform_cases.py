"""The folder of a conformance suite: cases, packs, ways of writing, other names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.conform_suite import RADIO, TIDE, case_of, chat, chunk, small_suite, write_case
from wholecall.grading.conform.cases import BadSuite, load_case, open_suite
from wholecall.grading.conform.own import OwnClient
from wholecall.grading.conform.running import Runner, Settings, plan
from wholecall.grading.conform.seeds import reseeded
from wholecall.grading.conform.writes import pieces


def test_cases_are_chosen(tmp_path: Path) -> None:
    """Packs, levels, wires and patterns choose cases."""
    suite = small_suite(tmp_path)

    def found(*packs: str, **more: Any) -> list[str]:
        return [case.id.partition("/")[2] for case in suite.cases(packs, **more)]

    assert found() == found("all") == ["cut", "plain", "text"]
    assert found("core") == ["plain"]
    assert found("core", "damage") == ["cut", "plain"]
    assert found(only="*/t*") == ["text"]
    assert found(wires=["responses"]) == []
    with pytest.raises(BadSuite, match="no pack 'cores'; there are common, core, damage"):
        found("cores")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"schema": 2}, "schema"),
        ({"level": "easy"}, r"'easy' - at `\$.level`"),
        ({"accept": ["calls", "maybe"]}, r"\$.accept"),
        ({"sent": [{"id": 7, "name": "a", "arguments": {}}]}, r"\$.sent\[0\].id"),
        ({"id": "chat-completions/other"}, "by its place it is chat-completions/plain"),
        ({"wire": "responses"}, "by its place it is 'chat-completions'"),
    ],
)
def test_a_wrong_sidecar_is_named(tmp_path: Path, members: dict[str, Any], message: str) -> None:
    """An error names the file and the member."""
    path = write_case(tmp_path, b"")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | members), "utf-8")

    with pytest.raises(BadSuite, match=f"plain.case.json.*{message}"):
        load_case(path)


def test_missing_parts_are_named(tmp_path: Path) -> None:
    """A folder without cases, a case without bytes, and a sidecar that is no JSON are errors with a path."""
    path = write_case(tmp_path, b"")
    path.with_name("plain.sse").unlink()
    with pytest.raises(BadSuite, match=r"plain.case.json: its bytes are missing"):
        load_case(path)
    path.write_text("{", "utf-8")
    with pytest.raises(BadSuite, match=r"plain.case.json: "):
        load_case(path)
    with pytest.raises(BadSuite, match="--data"):
        open_suite(tmp_path / "cases")


def test_members_of_later_data_are_left_alone(tmp_path: Path) -> None:
    """A member that is not known is no error."""
    path = write_case(tmp_path, b"", colour="blue")

    assert load_case(path).id == "chat-completions/plain"


@pytest.mark.parametrize("write", ["frame", "byte", "whole", "7", "1460", "seed:3"])
def test_every_way_of_writing_is_the_same_bytes(write: str) -> None:
    """The pieces of a case join to its bytes, and none is empty."""
    case = case_of(chat(TIDE, RADIO)[:-5])
    found = pieces(case, write)

    assert case.data == b"".join(found)
    assert all(found)
    assert found == pieces(case, write)


def test_frames_are_what_a_server_writes() -> None:
    """An event of SSE ends at its blank line, whatever its line ends; a line of NDJSON ends at LF."""
    case = case_of(b"data: 1\n\ndata: 2\r\n\r\ndata: 3")
    lines = replace(case_of(b'{"a":1}\n{"b":2}'), suffix=".ndjson")

    assert [b"data: 1\n\n", b"data: 2\r\n\r\n", b"data: 3"] == pieces(case, "frame")
    assert [b'{"a":1}\n', b'{"b":2}'] == pieces(lines, "frame")


@pytest.mark.parametrize("write", ["", "frames", "0", "seed:", "seed:x", "-1"])
def test_an_unknown_way_of_writing_is_an_error(write: str) -> None:
    """What is no way of writing is named."""
    with pytest.raises(BadSuite, match="is not frame"):
        pieces(case_of(b"x"), write)


def test_names_ids_and_values_change_in_bytes_and_expectation() -> None:
    """A seed gives other names, ids and texts of the same length, the same in bytes, expectation and tools."""
    case = case_of(chat(TIDE, RADIO), sent=[TIDE, RADIO])
    other = reseeded(case, 7)
    [tide, radio] = other.sent

    assert other == reseeded(case, 7) != reseeded(case, 8)
    assert len(case.data) == len(other.data)
    assert b"get_tide" not in other.data
    assert b"call_tide" not in other.data
    assert [tide.name, radio.name] == [tool.name for tool in other.request.tools]
    assert tide.id is not None
    assert tide.id.startswith("call_")
    assert other.data.count(tide.name.encode()) == other.data.count(tide.id.encode()) == 1
    assert TIDE["arguments"] != tide.arguments
    assert RADIO["arguments"] == radio.arguments


@pytest.mark.parametrize(
    "data",
    [
        chunk({"content": "I call get_tide."}) + chat(TIDE),
        chat({**TIDE, "name": "get_"}, {**TIDE, "name": "tide"}) + chat(TIDE),
        chat({**TIDE, "name": "functions.get_tide"}),
        chat({**TIDE, "name": "get_tide", "arguments_text": '{"name":"get_tide"}'}),
        chat(),
    ],
)
def test_a_name_that_is_not_always_whole_stays(data: bytes) -> None:
    """A name that comes in pieces, inside another text, or not at all, is not replaced: nobody could say where."""
    assert reseeded(case_of(data), 7).sent[0].name == "get_tide"


def test_a_name_that_is_an_argument_stays() -> None:
    """A name that is a value of arguments, too, is not replaced."""
    case = case_of(chat(TIDE), sent=[{**TIDE, "arguments": {"port": "get_tide"}}])

    assert reseeded(case, 7).sent[0].name == "get_tide"


def test_a_name_in_another_name_stays() -> None:
    """Of two names one of which holds the other neither is replaced: what was one slip would be another."""
    case = case_of(chat(TIDE), sent=[], may=[TIDE, {**TIDE, "name": "get_tide<|channel|>"}])

    assert ["get_tide", "get_tide<|channel|>"] == [call.name for call in reseeded(case, 7).may]


def test_wholecall_reads_every_seed_alike(tmp_path: Path) -> None:
    """Of twenty seeds each case is read to the expectation of that seed."""
    suite = small_suite(tmp_path)
    found = []
    for seed in range(20):
        settings = Settings(seed=seed)
        jobs = plan(OwnClient().hello(), [reseeded(case, seed) for case in suite.cases()], settings)
        found += [run.verdict for _, run in Runner(suite, OwnClient, settings).run(jobs)]

    assert ["pass"] * 60 == found
