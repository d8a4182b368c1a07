"""Bounds on a file of recordings, and the cost of hostile ones."""

from __future__ import annotations

import base64
import gzip
import json
import tracemalloc
from collections import deque
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard

import wholecall.recordings.source as inflating
from tests.support.scanning import stream
from wholecall import BadRecording
from wholecall.cli.main import main
from wholecall.recordings import Recording, read
from wholecall.recordings.source import inflated

MIB = 1024 * 1024
ENCODE: dict[str, Any] = {"gzip": gzip.compress, "zstd": zstandard.compress}
each_coding = pytest.mark.parametrize("coding", ENCODE)
BODY = {"choices": [{"message": {"role": "assistant", "content": "x" * 90_000}, "finish_reason": "stop"}]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def size_of(recordings: Any) -> int:
    """Return how many bytes the recordings hold."""
    return sum(len(chunk) for recording in recordings for _, chunk in recording.chunks)


def trouble_of(name: str, **options: Any) -> str:
    """Return the trouble that reading a file ends in."""
    with pytest.raises(BadRecording) as raised:
        size_of(read(name, **options))
    return str(raised.value)


@each_coding
def test_a_bomb_ends_at_its_bound(coding: str) -> None:
    """A file of some kilobytes gives 64 MiB at most, holds a piece of them at a time, and its trouble gives advice."""
    frame = ENCODE[coding](b"data: x\n\n" * (MIB // 2))
    sizes = map(len, inflated([frame[:1000], frame[1000:] + frame * 20], coding))
    counted = accumulate(sizes)
    last: deque[int] = deque(maxlen=1)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="holds more than") as raised:
            last.extend(counted)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (True, True) == (63 * MIB < last[0] <= 64 * MIB, peak < 4 * MIB)
    assert (
        f"its {coding} data holds more than 67,108,864 bytes; max_bytes (--max-bytes N) lets it hold more"
        == str(raised.value)
    )


@each_coding
def test_the_bound_grows_with_the_file(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was compressed no better than recordings are is read, however large it is."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    data = b"".join(stream(number) for number in range(500))
    packed = ENCODE[coding](data)
    assert len(packed) * 200 > len(data)
    pieces = [packed[start : start + 65536] for start in range(0, len(packed), 65536)]
    bomb = ENCODE[coding](bytes(MIB))
    most = 200 * len(bomb)

    assert data == b"".join(inflated(pieces, coding))
    with pytest.raises(ValueError, match=f"more than {most:,} bytes, 200 times its size; max_bytes"):
        list(inflated([bomb], coding))


@each_coding
def test_who_trusts_a_file_says_so(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound of the reader's own is the only one, up or down, to the byte."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    text = b"data: x\n\n" * 40_000
    Path("a.sse").write_bytes(ENCODE[coding](text))

    assert len(text) == size_of(read("a.sse", max_bytes=len(text)))
    assert f"more than {len(text) - 1:,} bytes; max_bytes" in trouble_of("a.sse", max_bytes=len(text) - 1)
    assert trouble_of("a.sse").startswith(f"a.sse: its {coding} data holds more than ")


def har(body: bytes, coding: str) -> str:
    """Return an archive whose one body is still compressed."""
    content = {"mimeType": "application/json", "encoding": "base64", "text": base64.b64encode(body).decode()}
    headers = [{"name": "content-encoding", "value": coding}]
    entry = {
        "request": {"url": "u", "method": "POST"},
        "response": {"status": 200, "headers": headers, "content": content},
    }
    return json.dumps({"log": {"entries": [entry]}})


def cassette(body: bytes, coding: str) -> str:
    """Return the same as a cassette."""
    headers = f"{{content-type: [application/json], content-encoding: [{coding}]}}"
    text = base64.b64encode(body).decode()
    return (
        "interactions:\n- request: {method: POST, uri: u}\n  response:\n    status: {code: 200}\n"
        f"    headers: {headers}\n    body: {{string: !!binary {text}}}\n"
    )


@each_coding
@pytest.mark.parametrize(("name", "make"), [("a.har", har), ("a.yaml", cassette)])
def test_bodies_have_the_same_bound(
    coding: str, name: str, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compressed body inside a file counts as a file does."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    Path(name).write_text(make(ENCODE[coding](json.dumps(BODY).encode()), coding))

    assert len(json.dumps(BODY)) == size_of(read(name, max_bytes=MIB))
    assert f"{name}#1: its {coding} data holds more than" in trouble_of(name)


@each_coding
def test_many_small_members_are_read(coding: str) -> None:
    """A file may have been appended to any number of times."""
    Path("a.sse").write_bytes(ENCODE[coding](b"") * 20_000 + ENCODE[coding](b"data: x\n\n"))

    assert b"data: x\n\n" == b"".join(chunk for one in read("a.sse") for _, chunk in one.chunks)


@pytest.mark.parametrize(
    "command", ["replay", "lint", "fuzz", "inspect", "convert -o out", "redact -o out", "convert --to raw"]
)
def test_commands_lift_the_bound(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that reads recordings names the bound, and takes another one."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    data = stream(1) + b": " + b"x" * 150_000 + b"\n\n"
    Path("a.sse.gz").write_bytes(gzip.compress(data))
    word, *options = command.split()
    codes = [main([word, "a.sse.gz", *options])]
    said = capsys.readouterr().err
    codes.append(main([word, "a.sse.gz", *options, "--max-bytes", str(len(data))]))

    assert [3, 0] == codes
    assert "a.sse.gz: its gzip data holds more than" in said
    assert "--max-bytes N" in said
    assert "holds more" not in capsys.readouterr().err


def test_diff_lifts_the_bound(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As the others do."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    Path("a.sse.gz").write_bytes(gzip.compress(stream(1) + b": " + b"x" * 150_000 + b"\n\n"))
    codes = [main(["diff", "a.sse.gz", "a.sse.gz", *more]) for more in ([], ["--max-bytes", "1000000"])]

    assert [3, 0] == codes
    assert 1 == capsys.readouterr().err.count("holds more than")


@pytest.mark.parametrize("text", ["0", "-1", "1e6", "²"])
def test_a_bound_is_a_number(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is a wrong command line."""
    with pytest.raises(SystemExit) as raised:
        main(["replay", "a.sse", "--max-bytes", text])

    assert 2 == raised.value.code
    assert "is not a number of bytes from 1" in capsys.readouterr().err


YAML = """\
interactions:
- request: {method: POST, uri: u}
  response:
    status: {code: 200}
    headers: {content-type: [application/json]}
    parsed_body: {choices: [{message: {content: hi, n: %s}}]}
"""


def only(text: str) -> Recording:
    """Return the one recording of a cassette."""
    Path("a.yaml").write_text(text)
    (recording,) = read("a.yaml")
    return recording


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1:30", "1:30"),
        ("-1:30:00", "-1:30:00"),
        ("1:30.5", "1:30.5"),
        ("!!int '1:30'", "1:30"),
        ("!!float '1:30.5'", "1:30.5"),
        ("1_000", 1000),
        ("0x1F", 31),
        ("2.5", 2.5),
        ("yes", True),
        ("~", None),
        ("9" * 1000, int("9" * 1000)),
        ("9" * 1001, "9" * 1001),
        ("0b" + "1" * 5000, "0b" + "1" * 5000),
        ("{7: a, 0x10: b, 1.5: c}", {"7": "a", "16": "b", "1.5": "c"}),
    ],
)
def test_leaves_of_cassettes(written: str, value: object) -> None:
    """Numbers of base 60 and endless ones are text, and so are numbers that are keys."""
    body = b"".join(chunk for _, chunk in only(YAML % written).chunks)

    assert value == json.loads(body)["choices"][0]["message"]["n"]


def test_numbers_of_base_60_cost_no_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them reaches the constructor, whose work grows with the square of their length."""
    asked: list[str] = []

    def construct(_: object, node: Any) -> int:
        asked.append(node.value)
        return 0

    monkeypatch.setattr(yaml.constructor.SafeConstructor, "construct_yaml_int", construct)
    body = b"".join(chunk for _, chunk in only(YAML % ("1" + ":1" * 20_000)).chunks)

    assert (["200"], True) == (asked, b"1:1:1:1" in body)
