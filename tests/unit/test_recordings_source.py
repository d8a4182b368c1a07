from __future__ import annotations

import builtins
import gzip
import io
import sys
import types
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from wholecall import BadRecording
from wholecall.recordings import read
from wholecall.recordings.finding import Place
from wholecall.recordings.reading import MAX_HEAD, form_of
from wholecall.recordings.source import Source, coding_of, inflated

STREAM = b'data: {"a":1}\n\n' * 9000
CODINGS = {
    "gzip": gzip.compress(STREAM),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress(STREAM),
    "deflate": zlib.compress(STREAM),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taken(path: str) -> bytes:
    """Return the bytes of the one recording at a path."""
    (recording,) = read(path)
    return b"".join(chunk for _, chunk in recording.chunks)


class TestCompression:
    """Files that are compressed."""

    @pytest.mark.parametrize("coding", ["gzip", "zstd"])
    @pytest.mark.parametrize("name", ["x.sse.gz", "x.sse.zst", "x.sse"])
    def test_content_decides(self, coding: str, name: str) -> None:
        """A compressed file is read whatever it is called, also one that was appended to."""
        Path(name).write_bytes(CODINGS[coding] * 2)
        assert STREAM * 2 == taken(name)

    @pytest.mark.parametrize("coding", CODINGS)
    @pytest.mark.parametrize("size", [1, 7, 100_000])
    def test_pieces_change_nothing(self, coding: str, size: int) -> None:
        """However compressed bytes are cut, the output is the same."""
        data = CODINGS[coding]
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert STREAM == b"".join(inflated(pieces, coding))

    @pytest.mark.parametrize("coding", ["gzip", "zstd"])
    def test_a_cut_file_gives_what_it_holds_and_says_so(self, coding: str) -> None:
        """The readable part comes first; then the trouble, with the place."""
        Path("x.sse").write_bytes(gzip.compress(STREAM)[:-9] if coding == "gzip" else CODINGS[coding][:-1])
        (recording,) = read("x.sse")
        got: list[bytes] = []
        told = rf"^x\.sse: its {coding} data is cut \(after byte \d+ of"
        with pytest.raises(BadRecording, match=told) as raised:
            got.extend(chunk for _, chunk in recording.chunks)
        assert STREAM.startswith(b"".join(got))
        assert f"byte {sum(map(len, got))} " in str(raised.value)

    @pytest.mark.parametrize("coding", ["gzip", "zstd"])
    def test_a_damaged_file_says_so(self, coding: str) -> None:
        """Changed bytes are not a silent loss."""
        data = bytearray(CODINGS[coding])
        data[len(data) // 2] ^= 0xFF
        Path("x.sse").write_bytes(data)
        (recording,) = read("x.sse")
        with pytest.raises(BadRecording, match=f"its {coding} data is "):
            list(recording.chunks)

    def test_padding_behind_gzip_is_no_damage(self) -> None:
        """Zeros after a member, as tapes leave them, are skipped."""
        assert STREAM == b"".join(inflated([CODINGS["gzip"], b"\0" * 9000], "gzip"))

    def test_a_name_alone_is_not_believed(self) -> None:
        """Tools keep the header of bytes that they decompressed."""
        assert coding_of(b"data: x", "gzip") is None
        assert coding_of(b"x\x9c\x03\0") is None
        assert coding_of(b"x\x9c\x03\0", "deflate") == "deflate"
        assert coding_of(b"\x28\xb5\x2f\xfd") == "zstd"

    def test_python_s_own_zstandard_comes_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From Python 3.14 on no extra is needed."""
        own: Any = types.ModuleType("compression.zstd")
        made: list[dict[str, int]] = []
        own.ZstdDecompressor = lambda options: (
            made.append(options) or zstandard.ZstdDecompressor().decompressobj()
        )
        own.DecompressionParameter = types.SimpleNamespace(window_log_max="window_log_max")
        own.ZstdError = zstandard.ZstdError
        monkeypatch.setitem(sys.modules, "compression", types.ModuleType("compression"))
        monkeypatch.setitem(sys.modules, "compression.zstd", own)
        monkeypatch.setitem(sys.modules, "zstandard", None)
        assert STREAM == b"".join(inflated([CODINGS["zstd"]], "zstd"))
        assert [{"window_log_max": 27}] == made

    def test_what_is_missing_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without Zstandard the trouble names the package to install."""
        monkeypatch.setitem(sys.modules, "compression.zstd", None)
        monkeypatch.setitem(sys.modules, "zstandard", None)
        Path("x.zst").write_bytes(CODINGS["zstd"])
        (recording,) = read("x.zst")
        with pytest.raises(BadRecording, match=r"pip install 'wholecall\[cli\]'"):
            list(recording.chunks)


class TestSource:
    """Bytes that are looked at before they are taken."""

    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    def test_lines_do_not_depend_on_pieces(self, size: int) -> None:
        """Lines are the same for every cut; the last one needs no end."""
        data = b"a\n\nbcd\r\nef"
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert [b"a", b"", b"bcd\r", b"ef"] == list(Source(Place("x"), pieces).lines())

    def test_an_endless_line_is_trouble(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A line has a bound."""
        monkeypatch.setattr("wholecall.recordings.source._MAX_LINE", 5)
        with pytest.raises(BadRecording, match="longer than 5 bytes"):
            list(Source(Place("x"), [b"abc"] * 3).lines())

    def test_a_closed_source_says_so(self) -> None:
        """Chunks of standard input cannot be taken when the reader has gone on."""
        source = Source(Place("-"), [b"x"])
        source.closed = True
        with pytest.raises(ValueError, match="before the next one"):
            source.take()

    def test_a_live_stream_is_not_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first piece of a pipe is passed on before the second one comes."""
        pieces = iter([b'data: {"a":1}\n\n', b"data: [DONE]\n\n", b""])
        asked: list[int] = []

        class Pipe(io.RawIOBase):
            def read1(self, size: int) -> bytes:
                asked.append(size)
                return next(pieces)

        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=Pipe()))
        recording = next(read("-"))
        assert (None, b'data: {"a":1}\n\n') == next(recording.chunks)
        assert len(asked) == 1

    def test_standard_input_can_be_taken_late(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A stream on standard input waits for the holder of its recording."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STREAM)))
        (recording,) = list(read("-"))
        assert STREAM == b"".join(chunk for _, chunk in recording.chunks)

    def test_a_raw_file_can_be_read_when_the_reader_has_gone_on(self) -> None:
        """A list of recordings can be made of files, each opened when its chunks are taken."""
        Path("a.sse").write_bytes(b"a")
        Path("b.sse").write_bytes(b"b")
        assert [(None, b"a")] == list(next(read("a.sse")).chunks)
        first, second = list(read("a.sse", "b.sse"))
        assert [[(None, b"b")], [(None, b"a")]] == [list(second.chunks), list(first.chunks)]


FORMS = [
    (b'{"wholecall":"recording","version":1}', "x", "wholecall"),
    (b'\xef\xbb\xbf {"log": {"version": "1.2"', "x", "har"),
    (b'{"log":"x"}', "x", "raw"),
    (b'{"interactions": [', "x", "interactions"),
    (b'{\n  "version": "2.0",\n  "provider": "openai",\n  "interactions": [\n', "x", "interactions"),
    (b'{"version":1,"other":2}', "x", "raw"),
    (b'{"type":"request","id":"1"', "x", "llm-interceptor"),
    (b'{"type": "response_chunk", "request_id": "1"', "x", "llm-interceptor"),
    (b'{"type":"request","body":1}', "x", "raw"),
    (b'{"type":"message","id":"m"}', "x", "raw"),
    (b'{"id":"chatcmpl"', "x", "raw"),
    (b'{"type":null,"id":1}', "x", "raw"),
    (b"{}", "x.har", "har"),
    (b"{}", "x", "raw"),
    (b"[1]", "x.har", "raw"),
    (b"interactions:\n- request:", "x", "cassette"),
    (b"---\nhttp_interactions:\n", "x", "cassette"),
    (b"# made by hand\n\nversion: 1\ninteractions: []", "x", "cassette"),
    (b"version: 1\nservices:\n", "x", "raw"),
    (b"version: 1\nservices:\n", "x.yml.gz", "cassette"),
    (b"data: {}\n\n", "x.yaml", "raw"),
    (b'0:"text"\n', "x", "raw"),
    (b"", "x", "raw"),
    (b"  \n", "x", "raw"),
]


@pytest.mark.parametrize(("head", "path", "form"), FORMS)
def test_the_form_is_found_from_the_first_bytes(head: bytes, path: str, form: str) -> None:
    """Content decides; the suffix only where it says nothing."""
    assert form == form_of(head, path, at_end=True)


@pytest.mark.parametrize(("head", "path", "form"), FORMS)
def test_a_beginning_decides_nothing_else(head: bytes, path: str, form: str) -> None:
    """For each beginning of a file the answer is the file's form or that more is needed."""
    found = {form_of(head[:size], path, at_end=False) for size in range(len(head) + 1)}
    assert found <= {None, form}


@pytest.mark.parametrize("head", [b'{"id":"c","x":', b"data: ", b'[{"a', b"event: x", b'{"candidates": ['])
def test_a_live_stream_is_decided_by_its_first_member(head: bytes) -> None:
    """Nothing waits for the end of a line."""
    assert form_of(head, "-", at_end=False) == "raw"


def test_the_search_has_an_end() -> None:
    """A file that never decides is a raw stream after the longest head."""
    Path("x").write_bytes(b"#" * (3 * MAX_HEAD))
    assert b"#" * (3 * MAX_HEAD) == taken("x")


def test_a_missing_extra_is_needed_by_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw streams, our own format and HAR are read without any extra."""
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] in {"yaml", "rich", "zstandard"}:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    Path("x.sse").write_bytes(STREAM)
    Path("y.har").write_bytes(b'{"log":{"entries":[]}}')
    Path("z.jsonl").write_bytes(b'{"wholecall":"recording","version":1}\n')
    assert [None, None] == [one.trouble for one in read("x.sse", "y.har", "z.jsonl")]
