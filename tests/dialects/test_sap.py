"""SAP's orchestration: result in, deltas of the chunk out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import Call as Sent
from tests.support.encode import chat_call_deltas, chat_chunk
from tests.support.encode_sap import result
from wholecall.deltas import Delta, Fragment, Labelled, Run, TurnOpened
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
