"""Law 112: redacted text cannot be recovered, by counting or by a known word."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from tests.support import corpora
from wholecall.recordings import Recording, read
from wholecall.redacting import Redaction, redact
from wholecall.replay import replay
from wholecall.stream.parser import ToolCallParser

WORDS = [
    "the",
    "harbour",
    "master",
    "of",
    "Bletchley",
    "wrote",
    "that",
    "a",
    "ferry",
    "which",
    "leaves",
    "in",
    "the",
    "morning",
    "is",
    "late",
    "when",
    "there",
    "is",
    "fog",
    "and",
    "that",
    "no",
    "passenger",
    "of",
    "the",
    "evening",
    "ferry",
    "has",
    "to",
    "wait",
    "for",
    "it",
    "because",
    "the",
    "other",
    "one",
    "takes",
    "them",
    "to",
    "the",
    "island",
    "first",
]
TALK = 400  # words of a text


def said(seed: int) -> str:
    """Return a text in which each word comes often."""
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(TALK))


def chat(text: str, size: int) -> bytes:
    """Return a chat stream that sends a text in pieces, and calls a tool with it."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    raw = json.dumps({"note": text, text[:20]: [text[20:40]]})
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces]
    deltas.append({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": ""}}]})
    deltas += [
        {"tool_calls": [{"index": 0, "function": {"arguments": raw[at : at + size]}}]}
        for at in range(0, len(raw), size)
    ]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    frames = [{"id": "c", "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    return (
        b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"
    )


def shown(data: bytes, seed: str = "law") -> bytes:
    """Return a stream redacted."""
    recording = Recording(name="made", chunks=iter([(None, data)]))
    return b"".join(chunk for _, chunk in redact(recording, Redaction(seed)).chunks)


def text_of(data: bytes) -> str:
    """Return the text of a stream, and the arguments of its call."""
    parser: ToolCallParser[Any] = ToolCallParser()
    parser.feed(data)
    parser.close()
    return parser.turn.text + "".join(call.raw_arguments for call in parser.turn.calls)


def read_by_table(before: str, after: str) -> float:
    """Return which share of letters the best fixed table would read, that somebody who knows all could make."""
    pairs = [(one, other) for one, other in zip(before, after, strict=True) if one.isalpha()]
    best: dict[str, Counter[str]] = {}
    for one, other in pairs:
        best.setdefault(other, Counter())[one] += 1
    return sum(counts.most_common(1)[0][1] for counts in best.values()) / len(pairs)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("size", [1, 4, 10_000])
def test_no_table_reads_a_text(size: int, seed: int) -> None:
    """The best of all tables reads hardly more letters than a constant guess of the most common letter."""
    data = chat(said(seed), size)
    before, after = text_of(data), text_of(shown(data))
    letters = Counter(char for char in before if char.isalpha())
    always_one = letters.most_common(1)[0][1] / sum(letters.values())

    assert read_by_table(before, after) < always_one + 0.1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [1, 4, 10_000])
def test_a_known_word_is_not_found_elsewhere(size: int) -> None:
    """A word that is in a text a hundred times has another substitute each time."""
    data = chat(said(3), size)
    before, after = text_of(data), text_of(shown(data))
    places = [at for at in range(len(before)) if before.startswith(" ferry ", at)]
    found = Counter(after[at + 1 : at + 6] for at in places)

    assert len(places) > 20
    assert {"2 or fewer"} == {"2 or fewer" if n <= 2 else f"{n} of {word}" for word, n in found.items()}


def test_a_fresh_key_gives_other_letters_each_time() -> None:
    """Two redactions of one text with different keys agree in hardly a letter."""
    data = chat(said(4), 7)
    one, other = text_of(shown(data, "one")), text_of(shown(data, "other"))
    same = [first == second for first, second in zip(one, other, strict=True) if first.isalpha()]

    assert sum(same) < len(same) / 20


def test_pieces_are_the_whole() -> None:
    """Text that a wire sends in pieces and then whole stays so: of Responses' texts in all recordings."""
    checked = 0
    for entry in corpora.cases():
        if entry["dialect"] != "responses" or not entry["file"].endswith(".sse"):
            continue
        for recording in read(corpora.CORPORA / entry["file"]):
            data = b"".join(chunk for _, chunk in recording.chunks)
            before, after = (wholes(one) for one in (data, shown(data)))
            checked += len(before)

            assert list(before.values()) == list(after.values()), entry["name"]
    assert checked > 1


def wholes(data: bytes) -> dict[int, bool]:
    """Return, for each finished text, whether it equals the sum of its pieces."""
    pieces: Counter[Any] = Counter()
    texts: dict[Any, str] = {}
    found: dict[int, bool] = {}
    for line in data.splitlines():
        try:
            event = json.loads(line.removeprefix(b"data: "))
        except ValueError:
            continue
        key = event.get("item_id"), event.get("content_index")
        if event.get("type") == "response.output_text.delta":
            texts[key] = texts.get(key, "") + event.get("delta", "")
            pieces[key] += 1
        elif event.get("type") == "response.output_text.done":
            found[len(found)] = texts.get(key) == event.get("text")
    return found


def test_redacted_streams_still_replay() -> None:
    """The law concerns streams that still have content."""
    data = shown(chat(said(5), 5))

    assert ["ToolCall", "TurnFinished"] == [
        type(event).__name__ for event in replay(Recording(name="made", chunks=iter([(None, data)])))
    ][-2:]
