"""Pieces of one text in a row are one run, within a read and from one read to the next."""

from __future__ import annotations

import json

from wholecall.deltas import Fragment, Run, TextFragment
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.dialects.pieces import NO_KEY, Runs
from wholecall.dialects.translator import MOST_SLOTS
from wholecall.framing.frame import Frame

ZERO, OF = Fragment(0, 0, ""), Fragment(0, 3, "")
LIKE = Frame("message", "")


def piece(index: int, text: str) -> str:
    """Return a chunk of chat completions with a piece of a call's text."""
    call = {"index": index, "function": {"arguments": text}}
    return json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})


def begun() -> ChatTranslator:
    """Return a translator in whose stream two calls began."""
    translator = ChatTranslator()
    for index in (0, 3):
        call = {"index": index, "id": f"c{index}", "function": {"name": "f", "arguments": ""}}
        frame = Frame("message", json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
        translator.translate_texts([frame.data], frame)
    return translator


def test_texts_of_a_run_come_in_their_order() -> None:
    """Pieces of one text in a row are one run."""
    deltas = begun().translate_texts([piece(3, "a"), piece(3, "b")], LIKE)

    assert [Run(OF, ["a", "b"])] == deltas


def test_a_run_goes_on_in_the_next_read() -> None:
    """It has the same in common, and the deltas of the read before do not grow."""
    translator = begun()

    before = translator.translate_texts([piece(3, "a")], LIKE)
    after = translator.translate_texts([piece(3, "b")], LIKE)

    assert ([Run(OF, ["a"])], [Run(OF, ["b"])]) == (before, after)


def test_texts_whose_pieces_come_in_turn_are_looked_up_once() -> None:
    """The runs of a text have the same object in common until something else than a piece comes."""
    translator = begun()

    deltas = translator.translate_texts([piece(0, "a"), piece(3, "b"), piece(0, "c"), piece(3, "d")], LIKE)

    assert [Run(of, [text]) for of, text in ((ZERO, "a"), (OF, "b"), (ZERO, "c"), (OF, "d"))] == deltas
    ofs = [delta.of for delta in deltas if isinstance(delta, Run)]
    assert ofs[0] is ofs[2]
    assert ofs[1] is ofs[3]


def test_few_texts_are_remembered() -> None:
    """A server with ever more texts does not fill the memory of a translator."""
    runs = Runs()
    for index in range(10 * MOST_SLOTS):
        runs.learn((0, index), Fragment(0, index, ""))

    assert MOST_SLOTS >= len(runs.known)


def test_what_stopped_has_no_key() -> None:
    """Nothing that a dialect compares is equal to it, and nothing is remembered."""
    runs = Runs()
    runs.key = (0, None)
    runs.learn(runs.key, TextFragment(0, ""))

    number, index = runs.stop()

    assert NO_KEY == runs.key == (number, index)
    assert {} == runs.known
    assert not {number, index} & {0, -1, None, "", "text"}
