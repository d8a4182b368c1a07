from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import bless, corpora
from tests.support.make_tool_files import TOOLS
from tests.support.recording_files import FILES
from wholecall import BadRecording, detect
from wholecall.recordings import Recording, read
from wholecall.replay import replay


@cache
def corpus() -> list[dict[str, Any]]:
    """Return the cases; JSON bodies that no dialect knows are not answers in a file of many."""
    return [
        entry
        for entry in corpora.cases()
        if not entry["file"].endswith(".json") or detect(corpora.recorded(entry)) is not None
    ]


@cache
def written(file: str) -> bytes:
    """Return the whole corpus as one file."""
    return FILES[file]([(entry["file"], corpora.recorded(entry)) for entry in corpus()])


def outcome(path: Path) -> list[bytes | str]:
    """Return the result of each recording of a file: its bytes, or its fault."""
    return [taken(recording) for recording in read(path)]


def taken(recording: Recording) -> bytes | str:
    """Return the bytes of a recording, or its trouble."""
    try:
        return b"".join(chunk for _, chunk in recording.chunks)
    except BadRecording as error:
        return str(error)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("file", FILES)
def test_a_recording_is_the_same_in_every_form(file: str, tmp_path: Path) -> None:
    """Law 56: the whole corpus, written in any form and read again, gives the same bytes and events."""
    path = tmp_path / file
    path.write_bytes(written(file))
    wrong = [
        entry["name"]
        for entry, recording in zip(corpus(), read(path), strict=True)
        if bless.lines(replay(recording)) != corpora.golden(entry).read_bytes()
    ]

    assert len(corpus()) > 400
    assert [] == wrong
    assert [corpora.recorded(entry) for entry in corpus()] == outcome(path)


SMALL = {
    "own.jsonl": FILES["own.jsonl"](
        [("a.sse", b"data: \xc3\xb8\n\n"), ("b.bin", b"\xff"), ("c.sse", b"data: 1\n\n")]
    ),
    **{
        path.name: path.read_bytes()
        for path in sorted(TOOLS.iterdir())
        if path.suffix in {".yaml", ".har", ".json"}
    },
}


@given(data=st.data(), file=st.sampled_from(sorted(SMALL)))
def test_no_damage_makes_reading_raise(data: st.DataObject, file: str, tmp_path_factory: Any) -> None:
    """Law 57: for any content of a file, only taking chunks raises, and only `BadRecording`."""
    whole = bytearray(SMALL[file])
    for _ in range(data.draw(st.integers(1, 4), label="damages")):
        place = data.draw(st.integers(0, len(whole)), label="place")
        size = data.draw(st.sampled_from([0, 1, 2, 40, len(whole)]), label="lost")
        whole[place : place + size] = data.draw(st.binary(max_size=6) | st.sampled_from(NASTY), label="put")
    path = tmp_path_factory.getbasetemp() / f"damaged-{file}"
    path.write_bytes(whole)

    assert all(isinstance(one, (bytes, str)) for one in outcome(path))


NASTY = [
    *(
        b'"',
        b"\\",
        b"\\u",
        b"\\ud800",
        b"\xff",
        b"{",
        b"[",
        b"]",
        b"}",
        b"\n",
        b"\0",
        b"null",
        b"1e999",
        b'"entries":[',
    ),
    *(
        b"&a ",
        b"*a",
        b"!!binary ",
        b"!!int ",
        b"!!float ",
        b"- ",
        b": ",
        b"? ",
        b"|\n",
        b"<<: *a",
        b"%YAML",
        b"\t",
        b"---\n",
    ),
]


@example(content=b"interactions:\n- !!float :")
@example(content=b"interactions:\n- !!int :")
@given(
    st.binary(max_size=200) | st.lists(st.sampled_from([*NASTY, *SMALL.values()]), max_size=4).map(b"".join)
)
def test_no_bytes_make_reading_raise(tmp_path_factory: Any, content: bytes) -> None:
    """Law 57, with random files, under every suffix."""
    for suffix in (".har", ".yaml", ".sse", ".gz"):
        path = tmp_path_factory.getbasetemp() / f"anything{suffix}"
        path.write_bytes(content)
        assert all(isinstance(one, (bytes, str)) for one in outcome(path))


@pytest.mark.parametrize("file", ["own.jsonl", "vcrpy.yaml", "mitmproxy.har", "vcrpy.json"])
def test_what_was_read_before_the_damage_stands(file: str, tmp_path: Path) -> None:
    """Law 57: the recordings before a cut are those of the whole file."""
    path = tmp_path / file
    path.write_bytes(SMALL[file])
    whole = outcome(path)
    for size in range(0, len(SMALL[file]), len(SMALL[file]) // 23):
        path.write_bytes(SMALL[file][:size])
        sound = outcome(path)[:-1]
        assert whole[: len(sound)] == sound
