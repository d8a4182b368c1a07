"""ERNIE's numbered frames: how many are known if they come again."""

from __future__ import annotations

import pytest

from wholecall.deltas import TextFragment
from wholecall.dialects.others import ernie
from wholecall.framing.frame import Frame


def test_known_frames_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first frames of an answer are known if they come again; what comes beyond a number is read again."""
    monkeypatch.setattr(ernie, "_MOST_FRAMES", 2)
    translator = ernie.ErnieTranslator()
    frames = [
        Frame("message", f'{{"id":"as-1","sentence_id":{n},"is_end":false,"result":"{n}"}}') for n in range(4)
    ]
    told = [delta for frame in frames * 2 for delta in translator.translate(frame)]

    assert ["0", "1", "2", "3", "2", "3"] == [one.text for one in told if isinstance(one, TextFragment)]
