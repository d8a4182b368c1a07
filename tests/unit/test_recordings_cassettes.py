from __future__ import annotations

import base64
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from wholecall import BadRecording
from wholecall.recordings import Recording, Request, read

STREAM = "data: {}\n\n"
HEAD = "interactions:\n"
ONE = """\
- request: {method: POST, uri: 'https://api.openai.com/v1/x'}
  response:
    headers: {Content-Type: [text/event-stream]}
    body: {string: "data: {}\\n\\n"}
    status: {code: 200, message: OK}
"""


@pytest.fixture(autouse=True, params=["C", "Python"])
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Make an empty folder the current one, and read with PyYAML's C parser or without."""
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taken(text: str | bytes, name: str = "x.yaml") -> list[Recording]:
    """Return the recordings of a file."""
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read(name))


def bodies(text: str, name: str = "x.yaml") -> list[bytes]:
    """Return the bodies of the recordings of a file."""
    return [b"".join(chunk for _, chunk in one.chunks) for one in taken(text, name)]


def response(**fields: Any) -> str:
    """Return a cassette of one response as PyYAML writes it."""
    headers = {"content-type": ["text/event-stream"], **fields.pop("headers", {})}
    answer = {"headers": headers, "status": {"code": 200}, **fields}
    return yaml.safe_dump({"interactions": [{"request": {}, "response": answer}], "version": 1})


class TestShapes:
    """Interactions as different tools write them."""

    def test_vcrpy(self) -> None:
        """An interaction is a recording with all that is known."""
        first, second = taken(HEAD + ONE + ONE + "version: 1\n")
        assert [(None, STREAM.encode())] == list(first.chunks)
        assert (first.name, first.form, first.status) == ("x.yaml#1", "cassette", 200)
        assert (first.request, first.provider) == (Request("POST", "https://api.openai.com/v1/x"), "openai")
        assert second.name == "x.yaml#2"

    @pytest.mark.parametrize(
        "text", [STREAM, "data: ø 🌊\r\n\r\n", "event: x\ndata: \x07 \u2028 \t\n\n", "  x: y\n\n"]
    )
    def test_text_is_what_was_dumped(self, text: str) -> None:
        """Whatever style YAML needs for it, a text comes back as it was."""
        assert [text.encode()] == bodies(response(body={"string": text}))

    def test_bytes_and_compressed_bytes(self) -> None:
        """`!!binary` is bytes; gzip, zlib and a coding that is only claimed all give the stream."""
        packed = gzip.compress(STREAM.encode())
        cases = [
            ({"string": b"\xff\0"}, "", b"\xff\0"),
            ({"string": packed}, "gzip", STREAM.encode()),
            ({"string": packed}, "", STREAM.encode()),
            ({"string": STREAM}, "gzip", STREAM.encode()),
            ({"string": STREAM}, "br", STREAM.encode()),
        ]
        for body, coding, expected in cases:
            assert [expected] == bodies(response(body=body, headers={"Content-Encoding": [coding]}))

    def test_brotli_is_named(self) -> None:
        """A body that cannot be decompressed says so instead of being an empty stream."""
        (one,) = taken(response(body={"string": b"\x8b\x02\x80data\x03"}, headers={"content-encoding": "br"}))
        assert "Brotli" in (one.trouble or "")

    def test_older_and_other_tools(self) -> None:
        """The old httpx form of vcrpy, VCR for Ruby, and decoded JSON in place of a body."""
        old = {"headers": {"content-type": "text/event-stream"}, "status_code": 201, "content": STREAM}
        ruby = {"encoding": "ASCII-8BIT", "base64_string": base64.b64encode(STREAM.encode()).decode()}
        parsed = {"type": "message", "role": "assistant", "content": [], "n": [1, 2.5, True, None, "1"]}
        items = [
            {"response": old},
            {"response": {"headers": old["headers"], "body": ruby, "status": {"code": 7}}},
        ]
        items += [{"response": {"headers": {"content-type": ["application/json"]}, "parsed_body": parsed}}]
        first, second, third = taken("---\n" + yaml.safe_dump({"http_interactions": items}))
        assert (first.status, list(first.chunks)) == (201, [(None, STREAM.encode())])
        assert (second.status, list(second.chunks)) == (7, [(None, STREAM.encode())])
        ((_, body),) = third.chunks
        assert parsed == json.loads(body)

    def test_json_cassettes_and_llm_mock(self) -> None:
        """A file of JSON interactions: vcrpy's, and llm-mock's events, an event a chunk."""
        events = [{"event": "ping", "data": {"a": "ø"}}, {"data": "[DONE]"}]
        items = [
            {"hash": "h", "request": {}, "streaming": True, "stream_events": events, "recorded_at": "2026"},
            {
                "hash": "h",
                "response": {"type": "message", "role": "assistant", "content": []},
                "stream_events": [],
            },
            {"hash": "h", "request": {}, "response": {}, "stream_events": []},
        ]
        data = json.dumps({"version": "2.0", "provider": "anthropic", "interactions": items}, indent=2)
        first, second = taken(data, "x.json")
        assert [b'event: ping\ndata: {"a":"\xc3\xb8"}\n\n', b"data: [DONE]\n\n"] == [
            one for _, one in first.chunks
        ]
        assert (first.name, first.provider, first.meta) == ("x.json#1", "anthropic", {"recorded_at": "2026"})
        assert second.content_type == "application/json"

    def test_aliases_are_what_they_name(self) -> None:
        """A value that YAML wrote once is found wherever it is referred to."""
        text = ONE.replace("body: {", "body: &b {")
        again = ONE.replace('{string: "data: {}\\n\\n"}', "*b")
        assert [STREAM.encode()] * 2 == bodies(HEAD + text + again)


class TestDamage:
    """The faults of a file."""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (HEAD + ONE + "- secret: [1", "it is not YAML (at line "),
            (HEAD + ONE + "- request: {}\n response: secret", "it is not YAML (at line "),
            (HEAD + ONE + "- *secret", "without an anchor"),
            (HEAD + ONE + "- &a [*a]", "without an anchor"),
            (HEAD + ONE + "- ? [secret]\n  : 1", "a key is not a scalar (at line 7)"),
            (HEAD + ONE + "- {body: !!binary a}", "its base64 is damaged (at line 7)"),
            (HEAD + ONE + "- " + "[" * 200 + "]" * 200, "it nests deeper than 100 (at line 7)"),
            (
                HEAD + ONE + "- [" + ", ".join(f"&a{n} x" for n in range(10_002)) + "]",
                "more than 10,000 anchors",
            ),
        ],
    )
    def test_damage_is_told_with_its_line(self, text: str, told: str) -> None:
        """Interactions before the damage are read; the trouble names the line, never its content."""
        first, last = taken(text)
        assert [(None, STREAM.encode())] == list(first.chunks)
        assert told in (last.trouble or "")
        assert "secret" not in (last.trouble or "")
        with pytest.raises(BadRecording, match=r"^x\.yaml: "):
            list(last.chunks)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("- 1", "a cassette is a mapping (at line 1)"),
            ("version: 1\n", "it holds no interactions"),
            ("interactions: {}\n", "it holds no interactions"),
            ("interactions: \xff\n".encode("latin-1"), "it is not YAML (at character "),
            ("", "a cassette is a mapping (at line 1)"),
        ],
    )
    def test_no_cassette(self, text: str | bytes, told: str) -> None:
        """A file that was named as a cassette and is not a cassette says so."""
        (one,) = taken(text)
        assert told in (one.trouble or "")

    @pytest.mark.parametrize("text", ["- x", "- {response: {parsed_body: .nan}}"])
    def test_a_strange_interaction_stops_no_other(self, text: str) -> None:
        """It is a recording with trouble, or skipped; the next one is read."""
        *_, last = taken(HEAD + text + "\n" + ONE)
        assert [(None, STREAM.encode())] == list(last.chunks)

    @pytest.mark.parametrize(("levels", "is_refused"), [(5, False), (60, True)])
    def test_a_bomb_is_refused(self, levels: int, is_refused: bool) -> None:
        """The expansion of aliases of aliases is bounded, whether it is used or not."""
        lines = ["- bomb:", "  - &a0 [x, x]"]
        lines += [f"  - &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
        headers = "headers: {content-type: [application/json]}"
        lines += [f"  response: {{{headers}, parsed_body: {{x: *a{levels - 1}}}}}"]
        (*_, last) = taken(HEAD + "\n".join(lines) + "\n" + ONE)
        assert is_refused == ("more than 67,108,864 characters" in (last.trouble or ""))

    def test_no_tag_runs(self) -> None:
        """A tag that would make an object is text, or nothing."""
        text = HEAD + "- !!python/object/apply:os.system ['touch owned']\n" + ONE
        taken(text)
        assert not Path("owned").exists()

    def test_other_yaml_in_a_folder_is_skipped(self) -> None:
        """A folder may hold YAML that is not a cassette; asked for by name it is trouble."""
        Path("compose.yaml").write_text("services: {}\n")
        Path("x.yml").write_text(HEAD + ONE)
        recordings = read(".")
        assert ["x.yml#1"] == [one.name for one in recordings]
        assert {"no_cassette": 1} == recordings.skipped
        (named,) = read("compose.yaml")
        assert named.trouble == "it holds no interactions"

    def test_without_pyyaml_the_trouble_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """PyYAML is an extra."""
        monkeypatch.setitem(sys.modules, "yaml", None)
        (one,) = taken(HEAD + ONE)
        assert "pip install 'wholecall[cli]'" in (one.trouble or "")
