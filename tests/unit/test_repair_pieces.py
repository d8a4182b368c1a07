"""Frames for the rewriters from the bytes of blocks, and their attributes."""

from __future__ import annotations

from typing import Any

import pytest

from wholecall import Limits
from wholecall.framing import SSEFraming
from wholecall.repairing import Repairer
from wholecall.repairing.pieces import PieceReader

TEXT = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'
STOP = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
STREAM = TEXT + TEXT + STOP + b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    "block",
    [
        b'data: {"a":1}\n\n',
        b'event: x\ndata: {"a":1}\n\n',
        b'event: message\ndata: {"a":1}\n\n',
        b'event: \ndata: {"a":1}\n\n',
        b'event: data: x\ndata: {"a":1}\n\n',
        b'event: x\nevent: y\ndata: {"a":1}\n\n',
        b"data: [DONE]\n\n",
        b"data:  [DONE]\n\n",
        b"data: {}\n\n",
        b"data: {\n\n",
        b'data: {"a":1}{\n\n',
        b'data: {"a":1}\ndata: {"b":1}\n\n',
        b'data: {"a":1}\r\n\r\n',
        b'data: {"a":1}\n\r\n',
        b'data:{"a":1}\n\n',
        b'\xef\xbb\xbfdata: {"a":1}\n\n',
        b'\xef\xbb\xbf: x\ndata: {"a":1}\n\n',
        b'data: {"a":"\xff"}\n\n',
        b'data: {"a":"\xe2\x80\xa8"}\n\n',
        b'id: 1\ndata: {"a":1}\n\n',
        b': c\ndata: {"a":1}\n\n',
        b"event: ping\ndata: {}\n\n",
        b'xdata: {"a":1}\n\n',
        b"data: null\n\n",
        b": hi\n\n",
        b'{"error":1}\n\n',
    ],
)
@pytest.mark.parametrize("before", [b"", b'data: {"z":1}\n\n', b": c\nid: 1\ndata: x\n\n"])
def test_simple_frames_are_read_as_all_others(
    block: bytes, before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame of the simplest form is read as a framing reads it, wherever it is."""
    blocks = [before, block, before, block] if before else [block]
    limits = Limits(max_stream_bytes=len(before) + len(block) + 3)
    for bounds in (Limits(), limits):
        ours = PieceReader(bounds, 1 << 20)
        found = [ours.read(part) for part in blocks]
        with monkeypatch.context() as patched:
            patched.setattr("wholecall.repairing.pieces._simple", lambda _: None)
            other = PieceReader(bounds, 1 << 20)
            expected = [other.read(part) for part in blocks]

        assert expected == found


def test_a_framing_is_made_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of simple frames needs no second framing."""
    made: list[SSEFraming] = []
    init = SSEFraming.__init__

    def noted(self: SSEFraming, *args: Any, **options: Any) -> None:
        made.append(self)
        init(self, *args, **options)

    monkeypatch.setattr(SSEFraming, "__init__", noted)
    repairer = Repairer()
    out = repairer.feed(STREAM) + repairer.close()

    assert (STREAM, 1) == (out, len(made))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_strict_stream_is_not_mended_whatever_its_line_ends(end: bytes) -> None:
    """A stream that is output unchanged is not reported as mended, also where lines end in CR."""
    data = STREAM.replace(b"\n", end)
    repairer = Repairer()
    out = b"".join([*(repairer.feed(data[at : at + 1]) for at in range(len(data))), repairer.close()])

    assert (data, False) == (out, repairer.report.mended)
