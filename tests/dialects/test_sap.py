"""SAP's orchestration: result in, deltas of the chunk out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import Call as Sent
from tests.support.encode import chat_call_deltas, chat_chunk
from tests.support.encode_sap import first, result
from wholecall.deltas import Delta, Fragment, Labelled, Run, TextFragment, TurnEnded, TurnOpened, WireFault
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.dialects.others.sap import SapTranslator
from wholecall.framing.frame import Frame

CHUNKS = [chat_chunk(delta) for delta in chat_call_deltas(0, Sent("c", "f", '{"a": 1}'), list)]


def translate(*payloads: Any) -> list[Delta]:
    """Translate the results of one chain, with their pieces one by one."""
    translator = SapTranslator()
    texts = [one if isinstance(one, str) else json.dumps(one) for one in payloads]
    said = [delta for text in texts for delta in translator.translate(Frame("", text))] + translator.close()
    return [piece for delta in said for piece in (delta.pieces() if isinstance(delta, Run) else [delta])]


@pytest.mark.parametrize("name", ["final_result", "orchestration_result"])
def test_a_result_is_the_chunk_in_it(name: str) -> None:
    """In both versions of the service; the modules' text is not an answer."""
    deltas = translate(
        *({"request_id": "q", "module_results": {"llm": chunk}, name: chunk} for chunk in CHUNKS)
    )

    assert TurnOpened(None, "chatcmpl-turn1", "model-1") == deltas[0]
    assert Labelled(0, 0, "c", "f") == deltas[1]
    assert [Fragment(0, 0, letter) for letter in '{"a": 1}'] == deltas[2:]


def test_results_in_a_row_are_chunks_in_a_row() -> None:
    """The translator of the chunks sees them as it would without the service."""
    frames = [Frame("", json.dumps(result(chunk))) for chunk in CHUNKS]
    bare = [Frame("", json.dumps(chunk)) for chunk in CHUNKS]

    assert ChatTranslator().translate_all(bare) == SapTranslator().translate_all(frames)


def test_a_blank_result_begins_no_answer_of_its_own() -> None:
    """The id and the model that come with the next one are the answer's."""
    opened = [delta for delta in translate(first(), result(CHUNKS[0])) if isinstance(delta, TurnOpened)]

    assert 1 == len(opened)


def test_what_holds_no_result() -> None:
    """The modules alone say nothing, nor does a bare chunk; the end and an error mean the same as in any chat."""
    failed = translate({"error": {"code": 500, "message": "gone", "location": "LLM Module"}})

    assert [] == translate({"request_id": "q", "intermediate_results": {"llm": CHUNKS[0]}}, CHUNKS[0])
    assert [TurnEnded(of_transport=True)] == translate("[DONE]")
    assert [True] == [fault.fatal for fault in failed if isinstance(fault, WireFault)]


def test_several_results_in_one_frame() -> None:
    """Some servers leave out blank lines (quirk 55)."""
    lines = "\n".join(json.dumps(result(chat_chunk({"content": text}))) for text in ("a", "b"))

    assert [TextFragment(0, "a"), TextFragment(0, "b")] == translate(lines)[1:]


def test_a_result_that_cannot_be_read_is_lost_with_a_fault() -> None:
    """It may have held a piece of a call."""
    (fault,) = translate('{"request_id": "q", "final_result": {"choices": [')

    assert isinstance(fault, WireFault)
    assert ("undecodable_frame", True) == (fault.kind, fault.hole)
