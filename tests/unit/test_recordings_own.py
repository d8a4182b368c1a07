from __future__ import annotations

import gzip
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from wholecall import BadRecording
from wholecall.recordings import Recorder, Recording, Request, read, write
from wholecall.replay import replay

HEADER = '{"wholecall":"recording","version":1}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(text: str, name: str = "x.jsonl") -> list[Recording]:
    """Write a file and read it."""
    Path(name).write_text(text, "utf-8")
    return list(read(name))


def trouble(recording: Recording) -> str:
    """Return the exception that taking the chunks raises."""
    with pytest.raises(BadRecording) as raised:
        list(recording.chunks)
    return str(raised.value)


class TestFormat:
    """The lines, typed by hand."""

    def test_a_header_and_chunks(self) -> None:
        """Times and boundaries are those of the file; text and base64 are both bytes."""
        (recording,) = written(
            HEADER + '{"t":0.25,"data":"data: ø"}\n{"t":1,"b64":"/wA="}\n\n{"data":""}\n{"t":null,"data":"x"}'
        )
        assert (recording.name, recording.form) == ("x.jsonl", "wholecall")
        assert [(0.25, "data: ø".encode()), (1.0, b"\xff\0"), (None, b""), (None, b"x")] == list(
            recording.chunks
        )

    def test_the_header_tells_what_is_known(self) -> None:
        """Everything in the header has its place; a newer writer's additions are ignored."""
        header = {
            "wholecall": "recording",
            "version": 1,
            "dialect": "gemini",
            "provider": "google",
            "later": [1],
            "method": "POST",
            "url": "https://x/y",
            "status": 200,
            "content_type": "a/b",
            "meta": {"n": 1},
        }
        (recording,) = written(json.dumps(header, separators=(",", ":")))
        assert (recording.dialect, recording.provider) == ("gemini", "google")
        assert (recording.request, recording.status) == (Request("POST", "https://x/y"), 200)
        assert (recording.content_type, recording.meta) == ("a/b", {"n": 1})
        assert [] == list(recording.chunks)

    def test_files_can_be_joined(self) -> None:
        """Each header begins a recording; the first is called like the file."""
        two = HEADER + '{"data":"a"}\n' + HEADER + '{"data":"b"}\n{"data":"c"}\n'
        Path("x.jsonl").write_text(two)
        assert [("x.jsonl", [b"a"]), ("x.jsonl#2", [b"b", b"c"])] == [
            (one.name, [chunk for _, chunk in one.chunks]) for one in read("x.jsonl")
        ]

    def test_chunks_can_be_taken_in_any_order(self) -> None:
        """An unbegun recording can be taken when the reader is far ahead; a begun one cannot continue."""
        first, second = written(HEADER + '{"data":"a"}\n{"data":"b"}\n' + HEADER + '{"data":"c"}\n')
        assert [b"c"] == [chunk for _, chunk in second.chunks]
        assert [b"a", b"b"] == [chunk for _, chunk in first.chunks]
        recordings = read("x.jsonl")
        begun = next(recordings)
        next(begun.chunks)
        next(recordings)
        with pytest.raises(ValueError, match="before the next one"):
            next(begun.chunks)

    def test_standard_input_is_read_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A pipe cannot be read again."""
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(HEADER.encode() * 2)))
        first, _ = read("-")
        with pytest.raises(ValueError, match="before the next one"):
            next(first.chunks)

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ('{"t":1,"da', "line 2 is not a chunk"),
            ("[1]", "line 2 is not a chunk"),
            ('{"t":"soon","data":"x"}', "line 2 is not a chunk"),
            ('{"t":1}', "line 2 has neither or both"),
            ('{"data":"x","b64":""}', "line 2 has neither or both"),
            ('{"b64":"a"}', "base64 of line 2 is damaged"),
            ('{"b64":"é"}', "base64 of line 2 is damaged"),
            ('{"data":"\\ud800"}', "line 2 is not a chunk"),
        ],
    )
    def test_damage_is_told_with_its_line_and_ends_at_the_next_header(self, line: str, told: str) -> None:
        """A damaged line is named, without its content; the next recording is read."""
        broken, sound = written(f"{HEADER}{line}\n" + '{"data":"lost"}\n' + HEADER + '{"data":"b"}\n')
        message = trouble(broken)
        assert told in message
        assert message.startswith("x.jsonl: ")
        assert [b"b"] == [chunk for _, chunk in sound.chunks]

    @pytest.mark.parametrize(
        ("header", "told"),
        [
            ('{"wholecall":"recording","version":2}', "version 2"),
            ('{"wholecall":"song","version":1}', "version 1"),
            ('{"wholecall":"recording","version":"x"}', "not a header"),
            ('{"wholecall":', "not a header"),
        ],
    )
    def test_an_unknown_header_is_trouble(self, header: str, told: str) -> None:
        """An ambiguous file is not read."""
        broken, sound = written(header + "\n" + '{"data":"lost"}\n' + HEADER)
        assert told in (broken.trouble or "")
        assert trouble(broken) == f"x.jsonl: {broken.trouble}"
        assert sound.trouble is None

    def test_a_dialect_that_is_told_is_used(self) -> None:
        """The header's dialect spares the search; one that is not known here is searched for."""
        body = '{"data":"data: {\\"x\\":1}\\n\\n"}\n'
        (told,) = written(HEADER.replace("}", ',"dialect":"anthropic"}') + body)
        assert ["anthropic"] == [e.dialect for e in replay(told) if hasattr(e, "dialect")]
        (strange,) = written(HEADER.replace("}", ',"dialect":"esperanto"}') + body)
        assert ["unknown_dialect"] == [getattr(e, "kind", None) for e in replay(strange)][:1]

    def test_reprs_are_discreet(self) -> None:
        """No repr holds a body, a URL or text meant for people."""
        (recording,) = written(HEADER.replace("}", ',"url":"http://secret/","meta":{"a":"secret"}}'))
        assert "secret" not in repr(recording) + repr(recording.request)


class TestRecorder:
    """The written file."""

    def lines(self, path: str = "x.jsonl") -> list[Any]:
        """Return the lines of a file, decoded."""
        return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]

    def test_a_recording_is_written_chunk_by_chunk(self) -> None:
        """Each chunk is in the file before the next one comes, with the seconds since the beginning."""
        clock = itertools.count(100.0, 0.125).__next__
        chunks = iter([b"data: \xc3", b"\xb8", "ø".encode()])
        with Recorder("x.jsonl", url="http://h/", method="POST", status=200, clock=clock) as recorder:
            seen = [(chunk, len(self.lines())) for chunk in recorder.through(chunks)]
        assert [(b"data: \xc3", 2), (b"\xb8", 3), ("ø".encode(), 4)] == seen
        assert self.lines() == [
            {"wholecall": "recording", "version": 1, "method": "POST", "url": "http://h/", "status": 200},
            {"t": 0.125, "b64": "ZGF0YTogww=="},
            {"t": 0.25, "b64": "uA=="},
            {"t": 0.375, "data": "ø"},
        ]

    def test_a_recording_is_copied_with_all_that_is_known(self) -> None:
        """Written and read again a recording is the same, times that are not known too."""
        chunks = [(None, b"a"), (1.5, b"\xff"), (2.000000123, b"")]
        known: dict[str, Any] = {
            "dialect": "ollama",
            "provider": "p",
            "status": 404,
            "content_type": "x/y",
            "meta": {"a": [1]},
            "request": Request("GET", "http://h/"),
        }
        write("x.jsonl", Recording(name="other", chunks=iter(chunks), **known))
        write("x.jsonl", Recording(name="other", chunks=iter(())), append=True)
        first, second = read("x.jsonl")
        assert [(None, b"a"), (1.5, b"\xff"), (2.0, b"")] == list(first.chunks)
        assert known == {name: getattr(first, name) for name in known}
        assert ([], None) == (list(second.chunks), second.request)

    def test_a_file_or_a_compressed_path(self) -> None:
        """A file that is handed in stays open; a path that ends in `.gz` is compressed."""
        memory = io.BytesIO()
        with Recorder(memory) as recorder:
            recorder.write(memoryview(b"x"), at=0)
        assert not memory.closed
        with Recorder("x.jsonl.gz") as recorder:
            recorder.write(b"x", at=0)
        assert memory.getvalue() == gzip.decompress(Path("x.jsonl.gz").read_bytes())
        (recording,) = read("x.jsonl.gz")
        assert [(0.0, b"x")] == list(recording.chunks)
