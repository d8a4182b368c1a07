"""Texts as serving engines hand them to a tool parser, cut anywhere, and what has to come out of it.

A *choice* is the engine's own object that has a tool parser and takes the pieces of one answer; the functions here work
with the engines' own ones, and with the doubles of `engine_doubles`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from tests.support.texts import in_pieces, texts
from wholecall import Turn, read_text

SIZES: Final = (0, 1, 7)  # whole, in characters, in pieces of seven
END: Final = 2  # the token that ends a text
_WORD: Final = 7  # any other token
_OPTIONS: Final = frozenset({"prompt", "in_reasoning", "in_fence"})
# A tool, a call of it in the format of Hermes, and what is read of that.
TIDE: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": "get_tide",
        "parameters": {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]},
    },
}
CALL: Final = '<tool_call>{"name": "get_tide", "arguments": {"port": "Oban"}}</tool_call>'
OBAN: Final = ("get_tide", {"port": "Oban"})


class Given(NamedTuple):
    """What an engine shows its client: the content, and name and arguments of each call."""

    content: str
    calls: list[tuple[str, dict[str, Any]]]


class Tokenizer:
    """The part of a tokenizer that a tool parser asks for."""

    eos_token_id = END

    def get_vocab(self) -> dict[str, int]:
        """Return no token: texts alone count."""
        return {}


def cases() -> list[dict[str, Any]]:
    """Return the project's texts with tools, read without further options: an engine has none."""
    return [case for case in texts() if case["tools"] and not _OPTIONS & case.keys()]


def definitions(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of a case as a request declares them."""
    found = case["tools"]
    listed = (
        [(tool["name"], tool.get("parameters")) for tool in found]
        if isinstance(found, list)
        else found.items()
    )
    return [
        {"type": "function", "function": {"name": name, "parameters": schema or {"type": "object"}}}
        for name, schema in listed
    ]


def is_clean(case: dict[str, Any]) -> bool:
    """Return whether the model ended the text."""
    return bool(case.get("ended", "clean") == "clean")


def reading(case: dict[str, Any], *, clean: bool) -> Turn[Any]:
    """Return wholecall's own reading of the whole text."""
    ended = "clean" if clean else "length"
    return read_text(case["text"], case["format"], tools=definitions(case), ended=ended)


def calls_of(turn: Turn[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return name and arguments of the calls of a turn."""
    return [(call.name, call.arguments) for call in turn.calls if hasattr(call, "arguments")]


def lost(turn: Turn[Any], content: str) -> list[str]:
    """Return the texts of a turn that the content lacks: what is shown, what is thought, and what was dropped."""
    parts = [
        *(drop.raw_arguments for drop in turn.dropped),
        turn.reasoning.text if turn.reasoning else "",
        turn.text,
    ]
    left, missing = content, list[str]()
    for part in parts:
        pieces = [part] if part in left else [line for line in part.splitlines() if line.strip()]
        for piece in pieces:
            if piece not in left:
                missing.append(piece)
            left = left.replace(piece, "", 1)
    return missing


# vLLM.


def streamed(choice: Any, request: Any, pieces: Sequence[str], *, clean: bool) -> Given:
    """Return what vLLM's parser of a choice gives for an answer in pieces."""
    content, calls, texts_by_index = "", list[dict[str, Any]](), dict[int, dict[str, Any]]()
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1
        ids = [_WORD, END] if is_last and clean else [_WORD]
        delta = choice.parse_delta(piece, ids, request, prompt_token_ids=[1], finished=is_last)
        if delta is None:
            continue
        content += delta.content or ""
        for said in delta.tool_calls or ():
            call = texts_by_index.setdefault(said.index, {"id": said.id, "name": "", "text": ""})
            call["name"] += said.function.name or ""
            call["text"] += said.function.arguments or ""
    calls += (texts_by_index[index] for index in sorted(texts_by_index))
    return Given(content, [(call["name"], json.loads(call["text"])) for call in calls])


def whole(choice: Any, request: Any, text: str) -> Given:
    """Return what vLLM's parser of a choice gives for a whole answer."""
    _, content, calls = choice.parse(text, request, enable_auto_tools=True)
    return Given(content or "", [(call.name, json.loads(call.arguments)) for call in calls or ()])


Began = Callable[
    ..., tuple[Any, Any]
]  # the choice and the request of a format, for tools and a choice of tools


def wrong_in_vllm(begin: Began, chosen: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the cases of which a cut of the text changes anything, a call is not wholecall's, or a text is lost."""
    for case in chosen:
        clean = is_clean(case)
        given = list[Given]()
        for size in SIZES:
            choice, request = begin(case["format"], definitions(case))
            given.append(streamed(choice, request, in_pieces(case["text"], size), clean=clean))
        turn = reading(case, clean=clean)
        if any(one != given[0] for one in given):
            yield f"{case['case']}: cuts"
        if given[0].calls != calls_of(turn):
            yield f"{case['case']}: calls"
        if lost(turn, given[0].content):
            yield f"{case['case']}: text"
        yield from _wrong_whole(begin, case)


def _wrong_whole(begin: Began, case: dict[str, Any]) -> Iterator[str]:
    choice, request = begin(case["format"], definitions(case))
    once = whole(choice, request, case["text"])
    choice, request = begin(case["format"], definitions(case))
    pieces = streamed(choice, request, in_pieces(case["text"], 7), clean=False)
    as_it_is = not once.calls and once.content.strip() == case["text"].strip()  # of vLLM before 0.32
    if not as_it_is and (once.content.strip(), once.calls) != (pieces.content.strip(), pieces.calls):
        yield f"{case['case']}: not as in pieces"
    if as_it_is and pieces.calls:
        yield f"{case['case']}: no calls in one piece"
    if once.calls not in (calls_of(reading(case, clean=True)), calls_of(reading(case, clean=False))):
        yield f"{case['case']}: calls of the whole"


# SGLang.


def wrong_in_sglang(begin: Callable[..., Any], chosen: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the cases of which a cut of the text changes anything, a call is not wholecall's, or a text is lost."""
    for case in chosen:
        given = [
            detected(begin(case["format"], definitions(case)), in_pieces(case["text"], size))
            for size in SIZES
        ]
        turns = [reading(case, clean=clean) for clean in (True, False)]
        if any(one != given[0] for one in given):
            yield f"{case['case']}: cuts"
        fitting = [turn for turn in turns if given[0].calls == calls_of(turn)]
        if not fitting:
            yield f"{case['case']}: calls"
        elif all(lost(turn, given[0].content) for turn in fitting):
            yield f"{case['case']}: text"
        once = detected_whole(begin(case["format"], definitions(case)), case["text"])
        if once.calls != given[0].calls:
            yield f"{case['case']}: calls of the whole"


def detected(parser: Any, pieces: Sequence[str]) -> Given:
    """Return what SGLang's parser gives for an answer in pieces."""
    content, calls = "", list[Any]()
    for piece in pieces:
        text, items = parser.parse_stream_chunk(piece)
        content += text
        calls += items
    text, items = parser.parse_stream_end()
    return Given(content + text, [(item.name, json.loads(item.parameters)) for item in [*calls, *items]])


def detected_whole(parser: Any, text: str) -> Given:
    """Return what SGLang's parser gives for a whole answer."""
    if not parser.has_tool_call(text):
        return Given(text, [])
    content, items = parser.parse_non_stream(text)
    return Given(content, [(item.name, json.loads(item.parameters)) for item in items])
