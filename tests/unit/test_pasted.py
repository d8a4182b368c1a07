"""Streams as people paste them: each form has the calls of the stream, and no stream is taken for one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support import corpora, share
from tests.support.together import together
from wholecall import ToolCall
from wholecall.recordings import read
from wholecall.recordings.pasted import is_pasted
from wholecall.replay import replay

_ARGUMENTS = '{"text": "it\'s a \\"{brace}\\" (é)"}'


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "r1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


_HEAD = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
CHUNKS = [
    _chunk({"role": "assistant", "tool_calls": [_HEAD]}),
    _chunk({"tool_calls": [{"index": 0, "function": {"arguments": _ARGUMENTS}}]}),
    _chunk({}, "tool_calls"),
]
LINES = [*(f"data: {json.dumps(chunk)}" for chunk in CHUNKS), "data: [DONE]"]
_MESSAGE = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": _ARGUMENTS}}],
}
BODY = {
    "id": "r1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "tool_calls"}],
}
_EVENTS = [
    ("message_start", {"message": {"id": "m1", "role": "assistant", "model": "m", "content": []}}),
    (
        "content_block_start",
        {"index": 0, "content_block": {"type": "tool_use", "id": "c1", "name": "f", "input": {}}},
    ),
    ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": _ARGUMENTS}}),
    ("content_block_stop", {"index": 0}),
    ("message_delta", {"delta": {"stop_reason": "tool_use"}}),
    ("message_stop", {}),
]
_CHOICE = (
    "finish_reason=None, index=0, logprobs=None)], created=-1, model='m', object='chat.completion.chunk')"
)
FORMS = {
    "times": [f"2026-11-29T10:00:0{n}.123Z INFO http.client: {line}" for n, line in enumerate(LINES)],
    "times in brackets": [f"[10:00:0{n},123] {line}" for n, line in enumerate(LINES)],
    "names of containers": [text for line in LINES for text in (f"api-1  | {line}", "api-1  | ")],
    "a quote": [text for line in LINES for text in (f"> {line}", ">")],
    "a fence": ["The stream (of today):", "", "```", *"\n\n".join(LINES).split("\n"), "```", "That's all."],
    "named events": [
        f"10:00:00 {text}"
        for name, members in _EVENTS
        for text in (f"event: {name}", f"data: {json.dumps({'type': name, **members})}")
    ],
    "JSON after a time": [f"12:00:01 DEBUG {json.dumps(chunk)}" for chunk in CHUNKS],
    "rows of chunks": [json.dumps({"at": 1, "raw_chunk": chunk}) for chunk in CHUNKS],
    "rows of lines": [json.dumps({"raw_chunk": f"{line}\n\n", "at": 1}) for line in LINES],
    "structured logs": [json.dumps({"level": "debug", "msg": line}) for line in LINES],
    "rows of containers": [
        json.dumps({"log": text, "stream": "stdout"}) for line in LINES for text in (f"{line}\n", "\n")
    ],
    "a list of rows": [json.dumps({"events": [{"timestamp": 1, "message": line} for line in LINES]})],
    "a list of rows over several lines": json.dumps(
        {"events": [{"message": line} for line in LINES]}, indent=4
    ).split("\n"),
    "colours": [f"\x1b[2m{line}\x1b[0m" for line in LINES],
    "coloured levels": [f"\x1b[32mINFO\x1b[0m: {line}" for line in LINES],
    "coloured chunks": [f"\x1b[36m{json.dumps(chunk)}\x1b[39;49m" for chunk in CHUNKS],
    "indented lines": [f"    {line}" for line in LINES],
    "names of pods": [f"[pod/llm-7f9c/server] 2026-11-29T10:00:00.1234Z {line}" for line in LINES],
    "a journal": [f"Nov 29 10:00:00 host python[123]: {line}" for line in LINES],
    "the log of a container": [f"2026-11-29T10:00:00.1234Z stdout F {line}" for line in LINES],
    "what curl shows": ["< HTTP/2 200", "< content-type: text/event-stream", "<", *LINES],
    "a row of a stream": [json.dumps({"raw_chunk": "\n\n".join(LINES)})],
    "a row of a response": [json.dumps({"status": 200, "response_body": BODY})],
    "a row of a response as text": [json.dumps({"response_body": json.dumps(BODY)})],
    "bytes": [repr(f"{line}\n\n".encode()) for line in LINES],
    "texts after a time": [f"10:00:00 {line!r}," for line in LINES],
    "dicts": [repr(chunk) for chunk in CHUNKS],
    "objects of an SDK": [
        (
            "ChatCompletionChunk(id='r1', choices=[Choice(delta=ChoiceDelta(content=None, tool_calls=[ChoiceDeltaToolCall("
            f"index=0, id='c1', function=Function(arguments='', name='f'), type='function')]), {_CHOICE}"
        ),
        (
            "ChatCompletionChunk(id='r1', choices=[Choice(delta=ChoiceDelta(tool_calls=[ChoiceDeltaToolCall("
            f"index=0, id=None, function=Function(arguments={_ARGUMENTS!r}, name=None), type=None)]), {_CHOICE}"
        ),
        (
            "ChatCompletionChunk(id='r1', choices=[Choice(delta=ChoiceDelta(), finish_reason='tool_calls', index=0)], "
            "created=1, model='m', object='chat.completion.chunk', service_tier=Tier.DEFAULT)"
        ),
    ],
}


AROUND: dict[str, Callable[[list[str]], list[str]]] = {
    "a quote": lambda lines: [f"> {line}" for line in lines],
    "times": lambda lines: [f"2026-11-29T10:00:00.123Z INFO {line}" for line in lines],
    "names of containers": lambda lines: [f"api-1  | {line}" for line in lines],
    "a fence": lambda lines: ["The log:", "", "```text", *lines, "```"],
    "colours": lambda lines: [f"\x1b[2m{line}\x1b[0m" for line in lines],
}


def _calls(path: Path) -> list[tuple[str, str, Any]]:
    return [
        (recording.form, event.name, event.arguments)
        for recording in read(path)
        for event in replay(recording)
        if isinstance(event, ToolCall)
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", FORMS)
def test_a_pasted_stream_has_its_calls(tmp_path: Path, name: str, end: str) -> None:
    """The lines of a stream with anything before or around them give its call."""
    path = tmp_path / "pasted.txt"
    path.write_bytes("".join(line + end for line in FORMS[name]).encode())

    assert [("pasted", "f", json.loads(_ARGUMENTS))] == _calls(path)


def test_each_row_of_a_response_is_a_recording(tmp_path: Path) -> None:
    """Rows with whole responses are recordings of their own."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"response_body": {**BODY, "id": f"r{n}"}}) + "\n" for n in range(3)))

    assert [f"{path}#{n}" for n in (1, 2, 3)] == [recording.name for recording in read(path)]
    assert 3 == len(_calls(path))


def test_a_line_that_was_cut_is_no_call(tmp_path: Path) -> None:
    """A log that shortens its lines has no call from them: the text is lost, and the call is dropped."""
    path = tmp_path / "short.log"
    path.write_text("".join(f"10:00:00 {line[:150]}\n" for line in LINES))

    assert [] == _calls(path)


def test_marks_around_marks_are_left_out(tmp_path: Path) -> None:
    """A quote of a log, a fence in a quote: each form has its call inside of each other one."""
    lost = []
    for (name, lines), (around, mark) in product(FORMS.items(), AROUND.items()):
        path = tmp_path / "pasted.txt"
        path.write_text("\n".join(mark(lines)) + "\n", encoding="utf-8")
        if [("pasted", "f", json.loads(_ARGUMENTS))] != _calls(path):
            lost.append(f"{name} in {around}")

    assert [] == lost


_CUTTABLE = ("JSON after a time", "dicts", "times", "bytes", "texts after a time", "objects of an SDK")
_ROWS = (
    "rows of chunks",
    "rows of lines",
    "structured logs",
    "rows of containers",
    "colours",
    "indented lines",
)


@share.in_parts(19)
@pytest.mark.parametrize("name", [*_CUTTABLE, *_ROWS])
def test_a_piece_that_was_cut_leaves_no_call_with_a_hole(tmp_path: Path, name: str, part: share.Part) -> None:
    """A line that a log cut anywhere behind its first member is not left out: no call comes out without its text."""
    path, lines = tmp_path / "short.log", FORMS[name]
    begun = re.search(r"""\{["']|\(\w+=""", lines[1])
    assert begun is not None
    found = []
    for end in part.of(range(begun.end(), len(lines[1].rstrip(",").removesuffix("\x1b[0m"))), name):
        path.write_text("\n".join([lines[0], lines[1][:end], *lines[2:]]) + "\n")
        found += _calls(path)

    assert [] == found


@together(
    "text",
    [
        "",
        "\n\n",
        "<html><body>502 Bad Gateway</body></html>\n",
        'Nothing is here, {not} even a "stream"\n',
        "ModuleNotFoundError: No module named 'openai'\n",
        '{"level": "info", "msg": "starting"}\n{"level": "info", "msg": "done"}\n',
        '{"raw_chunk": 7}\n',
        "f(1, 2)\nf(x=__import__('os').system('true'))\n",
        "{" * 5000 + "}" * 5000 + "\n",
        "x " + "(" * 20000 + "\n",
    ],
)
def test_other_texts_are_not_pasted(text: str) -> None:
    """A text without the lines of a stream has another form, and no repr is evaluated."""
    assert not is_pasted(text.encode())


@together("name", [entry["name"] for entry in corpora.cases()])
def test_no_recording_is_taken_for_a_pasted_one(name: str) -> None:
    """A stream as a server sent it is read as it is."""
    (file,) = [entry["file"] for entry in corpora.cases() if entry["name"] == name]

    assert {"raw"} == {recording.form for recording in read(corpora.CORPORA / file)} - {"bodies"}
