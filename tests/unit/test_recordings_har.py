from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from wholecall import BadRecording
from wholecall.recordings import Recording, Request, read

STREAM = 'data: {"choices":[{"index":0,"delta":{"content":"潮 🌊"}}]}\n\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entry(text: Any = STREAM, kind: str = "text/event-stream;charset=utf-8", **more: Any) -> dict[str, Any]:
    """Return an entry; `content` in the added members goes into the content, the rest into the entry."""
    content = {
        "mimeType": kind,
        "size": 1,
        **({} if text is None else {"text": text}),
        **more.pop("content", {}),
    }
    request = {"method": "POST", "url": "https://api.anthropic.com/v1/messages"}
    return {"request": request, "response": {"status": 200, "content": content}, **more}


def archive(*entries: Any, **more: Any) -> bytes:
    """Return an archive."""
    log = {
        "version": "1.2",
        "creator": {"name": "hand"},
        "pages": [{"x": [1, {}]}],
        "entries": entries,
        **more,
    }
    return json.dumps({"log": log}, ensure_ascii=False).encode()


def taken(data: bytes) -> list[Recording]:
    """Return the recordings of a file."""
    Path("x.har").write_bytes(data)
    return list(read("x.har"))


def chunks(data: bytes) -> list[list[tuple[float | None, bytes]]]:
    """Return the chunks of each recording of a file."""
    return [list(one.chunks) for one in taken(data)]


class TestEntries:
    """The content of an entry."""

    def test_an_entry_is_a_recording(self) -> None:
        """Its body in one chunk, the request, the status, the type, the start, and the server."""
        (one,) = taken(archive(entry(startedDateTime="2026-01-01T00:00:00Z")))
        assert [(None, STREAM.encode())] == list(one.chunks)
        assert (one.name, one.form, one.status) == ("x.har#1", "har", 200)
        assert (one.request, one.provider) == (
            Request("POST", "https://api.anthropic.com/v1/messages"),
            "anthropic",
        )
        assert (one.content_type, one.meta) == (
            "text/event-stream;charset=utf-8",
            {"started": "2026-01-01T00:00:00Z"},
        )

    def test_base64_and_compressed_bodies(self) -> None:
        """Base64 is decoded, with line ends in it too; bytes that are still compressed are decompressed."""
        plain = base64.encodebytes(STREAM.encode()).decode()
        packed = base64.b64encode(gzip.compress(STREAM.encode())).decode()
        content = {"encoding": "base64"}
        data = archive(entry(plain, content=content), entry(packed, content=content))
        assert [[(None, STREAM.encode())]] * 2 == chunks(data)

    @pytest.mark.parametrize(
        ("one", "reason"),
        [
            (entry("<html>", "text/html"), "other_type"),
            (entry("", "text/event-stream"), "no_body"),
            (entry(None), "no_body"),
            (entry('{"object":"list"}', "application/json"), "no_dialect"),
            (entry("ok", "text/plain"), "no_dialect"),
            (entry('{"error":{"message":"x"}}', "application/json"), "no_dialect"),
            ({"request": {}}, "no_body"),
        ],
    )
    def test_what_is_no_answer_is_skipped_and_counted(self, one: Any, reason: str) -> None:
        """Other types, empty bodies and JSON that no dialect knows are not recordings; numbers stay."""
        Path("x.har").write_bytes(archive(one, entry()))
        recordings = read("x.har")
        assert ["x.har#2"] == [found.name for found in recordings]
        assert {reason: 1} == recordings.skipped

    def test_whole_answers_and_errors_count(self) -> None:
        """JSON that a dialect knows, an error, and a stream under a type that says nothing are recordings."""
        answer = '{"type":"message","role":"assistant","content":[{"type":"text","text":"x"}]}'
        failed = entry('{"error":{"message":"x"}}', "application/json")
        failed["response"]["status"] = 529
        data = archive(entry(answer, "application/json"), failed, entry(STREAM, "text/plain"))
        assert ["x.har#1", "x.har#2", "x.har#3"] == [one.name for one in taken(data)]

    @pytest.mark.parametrize("codec", ["latin-1", "whatwg"])
    def test_a_misread_body_is_put_right(self, codec: str) -> None:
        """Without a charset tools read UTF-8 as Latin-1 or Windows-1252; the bytes come back."""
        misread = "".join(
            bytes([byte]).decode("cp1252", "ignore") or chr(byte) if codec == "whatwg" else chr(byte)
            for byte in STREAM.encode()
        )
        assert misread != STREAM
        assert [[(None, STREAM.encode())]] == chunks(archive(entry(misread, "text/event-stream")))

    @pytest.mark.parametrize("text", [STREAM, 'data: "café ÷ €"\n\n', 'data: "\u00c3"\n\n'])
    def test_what_was_read_rightly_stays(self, text: str) -> None:
        """Text that is not a misreading is taken as it is, with a charset and without."""
        data = archive(entry(text, "text/event-stream"), entry(text))
        assert [[(None, text.encode())]] * 2 == chunks(data)

    def test_what_a_browser_keeps_of_an_open_stream(self) -> None:
        """Chrome's messages are events again, with names, ids and times since the first."""
        messages = [
            {"time": 1000.5, "eventName": "message", "eventId": "", "data": "a\nb"},
            {"time": 1002.0, "eventName": "done", "eventId": "7", "data": "{}"},
            {"time": "soon", "eventName": "x"},
            "no message",
        ]
        (found,) = chunks(archive(entry(None, _eventSourceMessages=messages)))
        assert [(0.0, b"data: a\ndata: b\n\n"), (1.5, b"event: done\nid: 7\ndata: {}\n\n")] == found

    def test_what_a_web_socket_received(self) -> None:
        """The received messages are lines of JSON, one each; sent messages are left out, and so is sound."""
        messages = [
            {"type": "send", "time": 1.0, "opcode": 1, "data": "{}"},
            {"type": "receive", "time": 2.0, "opcode": 1, "data": '{"type":"session.created"}'},
            {"type": "receive", "time": 2.5, "opcode": 2, "data": base64.b64encode(b"{}").decode()},
            {"type": "receive", "time": 2.6, "opcode": 2, "data": base64.b64encode(b"\0{}").decode()},
            {"type": "receive", "time": 3.0, "opcode": 1, "data": '{\n"toolCall":\r\n{'},
        ]
        (found,) = chunks(archive(entry(None, "x-unknown", _webSocketMessages=messages)))
        assert [
            (0.0, b'{"type":"session.created"}\n'),
            (0.5, b"{}\n"),
            (1.0, b'{ "toolCall":  {\n'),
        ] == found


class TestDamage:
    """The faults of a file."""

    @pytest.mark.parametrize(
        ("one", "told"),
        [
            (entry("a", content={"encoding": "base64"}), "the base64 of its body is damaged"),
            (entry("é", content={"encoding": "base64"}), "the base64 of its body is damaged"),
            ([], "it is not an entry"),
            (entry(None, _webSocketMessages=[{"type": "receive", "opcode": 2, "data": "a"}]), "of a message"),
        ],
    )
    def test_a_damaged_entry_stops_no_other(self, one: Any, told: str) -> None:
        """It is a recording with its trouble, and the next one is read."""
        broken, sound = taken(archive(one, entry()))
        with pytest.raises(BadRecording, match=f"^x.har#1: .*{told}"):
            list(broken.chunks)
        assert told in (broken.trouble or "")
        assert sound.name == "x.har#2"

    def test_a_body_that_stops_in_the_middle(self) -> None:
        """Bodies that can be decompressed come first."""
        packed = base64.b64encode(gzip.compress(STREAM.encode() * 900)[:-20]).decode()
        (one,) = taken(archive(entry(packed, content={"encoding": "base64"})))
        with pytest.raises(BadRecording, match=r"^x\.har#1: its gzip data is cut$"):
            list(one.chunks)

    @pytest.mark.parametrize("size", range(60, len(archive(entry(), entry())), 41))
    def test_a_cut_archive_gives_its_whole_entries(self, size: int) -> None:
        """Entries before the cut are read; then the trouble, with the place."""
        data = archive(entry(), entry())
        *sound, last = taken(data[:size])
        assert [[(None, STREAM.encode())]] * len(sound) == [list(one.chunks) for one in sound]
        assert len(sound) == data[:size].count(STREAM[-9:-6].encode() + b"}}}") or len(sound) <= 2
        assert last.trouble == f"the JSON is cut (between byte {size} and {size})"

    @pytest.mark.parametrize(
        ("data", "told"),
        [
            (b'{"log":{"entries":[{"a":"\xff"}]}}', "it is not JSON (between byte 0 and 31)"),
            (b'{"log":{"entries":[nul]}}', "it is not JSON (between byte 0 and 25)"),
            (
                b'{"log":{"entries":[1e99999999999999999999]}}',
                "a number is too large (between byte 0 and 44)",
            ),
            (b'{"log":{"entries":[1e999]}}', "it is not an entry"),
            (b'{"log":{"pages":[]}}', "it holds no list log.entries"),
            (b'{"log":{"entries":{"x":1}}}', "it holds no list log.entries"),
            (b'{"log":{"entries":[]}} secret', "it is not JSON"),
        ],
    )
    def test_no_archive(self, data: bytes, told: str) -> None:
        """A file that is not JSON or not an archive reports this and the place, and never the content."""
        *_, last = taken(data)
        assert told in (last.trouble or "")
        assert "secret" not in (last.trouble or "")

    @pytest.mark.parametrize(
        "opening", ['{"log":{"entries":' + "[" * 10**6, '{"log":{"entries":[' + '{"a":' * 10**5]
    )
    def test_deep_nesting_is_trouble(self, opening: str) -> None:
        """Nesting has a bound, and costs nothing beyond it."""
        (last,) = taken(opening.encode())
        assert last.trouble == "it nests deeper than 200"

    def test_half_a_surrogate_pair_is_no_text(self) -> None:
        """Content that JSON text cannot hold becomes bytes that are not UTF-8, never other text."""
        text = json.dumps("data: \ud83c\udf0a \\ud800 ")[1:-1]
        for half in (r"\ud800", r"\uDFFF", r"\udc80\ud83c", r"\\\\\ud83cx"):
            Path("x.har").write_bytes(archive(entry("TEXT")).replace(b"TEXT", (text + half).encode()))
            (one,) = read("x.har")
            ((_, body),) = one.chunks
            assert "data: \U0001f30a \\ud800 ".encode() == body[:18]
            assert b"\xff" in body[18:]
            assert b"?" not in body

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
    def test_pairs_that_pieces_cut_stay_whole(self, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whole pairs and escaped backslashes pass, wherever the reading stops in between."""
        monkeypatch.setattr("wholecall.recordings.source.PIECE", size)
        monkeypatch.setattr("wholecall.recordings.large_json._FIRST_PIECE", size)
        text = 'data: "\U0001f30a \\\\ud800 \\ud83c\\\\\U0001f30a"\n\n'
        data = json.dumps({"log": {"entries": [entry(text)]}}).encode()
        assert [[(None, text.encode())]] == chunks(data)
