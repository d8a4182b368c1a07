"""Laws of the lane's templates and rows: an event that differs in anything but its piece is read as the machine does."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from tests.laws.test_lanes import differing, leaves
from tests.support.together import together
from wholecall import ToolCallParser


class Text(NamedTuple):
    """A text in pieces: the events before it, an event with `%s` in place of the piece's content, and those after it."""

    before: str
    event: str
    after: str


_CHUNK = (
    'data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,'
    '"finish_reason":%s}]}\n\n'
)


def _chunk(delta: str, reason: str = "null") -> str:
    return _CHUNK % (delta, reason)


def _named(name: str, data: str) -> str:
    return f'event: {name}\ndata: {{"type":"{name}",{data}}}\n\n'


def _block(kind: str, piece: str) -> Text:
    """Return a text of Anthropic's: the second block of a message."""
    start = _named(
        "message_start",
        '"message":{"id":"m1","role":"assistant","model":"m","content":[],"stop_reason":null}',
    )
    text = _named("content_block_start", '"index":0,"content_block":{"type":"text","text":""}')
    stop = _named("content_block_stop", '"index":%d')
    head = _named("content_block_start", f'"index":1,"content_block":{kind}')
    reason = "tool_use" if "tool_use" in kind else "end_turn"
    end = _named("message_delta", f'"delta":{{"stop_reason":"{reason}"}}') + _named(
        "message_stop", '"usage":null'
    )
    event = _named("content_block_delta", f'"index":1,"delta":{piece}')
    return Text(start + text + stop % 0 + head, event, stop % 1 + end)


_ROLE = _chunk('{"role":"assistant","content":null}')
_CALL = _chunk(
    '{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}'
)
_STOP, _CALLED = (_chunk("{}", f'"{reason}"') + "data: [DONE]\n\n" for reason in ("stop", "tool_calls"))
_ARGUMENTS = _chunk('{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}')
TEXTS = {
    "chat text": Text(_ROLE, _chunk('{"content":"%s"}'), _STOP),
    "chat reasoning": Text(_ROLE, _chunk('{"reasoning_content":"%s","reasoning":""}'), _STOP),
    "chat arguments": Text(_ROLE + _CALL, _ARGUMENTS, _CALLED),
    "anthropic text": _block('{"type":"text","text":""}', '{"type":"text_delta","text":"%s"}'),
    "anthropic thinking": _block(
        '{"type":"thinking","thinking":""}', '{"type":"thinking_delta","thinking":"%s"}'
    ),
    "anthropic arguments": _block(
        '{"type":"tool_use","id":"t1","name":"f","input":{}}',
        '{"type":"input_json_delta","partial_json":"%s"}',
    ),
}
_PADDED = _CHUNK.replace("]}", '],"usage":null,"obfuscation":"k3J"}')


def _item(kind: str, event: str) -> Text:
    """Return a text of Responses: the first item; `%n` is an event's number."""
    begin = _numbered(
        "response.created", '"response":{"id":"r1","model":"m","status":"in_progress","output":[]}'
    )
    item = f'{{"type":"{kind}","id":"i1","call_id":"c1","name":"f","arguments":"","status":"in_progress"}}'
    added = _numbered("response.output_item.added", f'"output_index":0,"item":{item}')
    end = _numbered("response.in_progress", '"response":{"id":"r1","model":"m","status":"in_progress"}')
    return Text(begin + added, event, end)


def _numbered(name: str, data: str) -> str:
    return _named(name, f'"sequence_number":%n,{data}')


_OF_CALL, _OF_TEXT = "response.function_call_arguments.delta", "response.output_text.delta"
TEXTS |= {
    "chat text, padded": Text(_ROLE, _PADDED % ('{"content":"%s"}', "null"), _STOP),
    "chat arguments, padded": Text(
        _ROLE + _CALL,
        _PADDED % ('{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}', "null"),
        _CALLED,
    ),
    "responses text": _item(
        "message",
        _numbered(
            _OF_TEXT, '"item_id":"i1","output_index":0,"content_index":0,"delta":"%s","obfuscation":"k3J"'
        ),
    ),
    "responses text, numbered at the end": _item(
        "message", _named(_OF_TEXT, '"delta":"%s","item_id":"i1","output_index":0,"sequence_number":%n')
    ),
    "responses arguments": _item(
        "function_call", _numbered(_OF_CALL, '"item_id":"i1","output_index":0,"delta":"%s"')
    ),
}


def counted(events: Sequence[str], first: int = 0) -> list[bytes]:
    """Return the reads with the numbers of their events."""
    numbers = itertools.count(first)
    return [re.sub("%n", lambda _: str(next(numbers)), event).encode() for event in events]


_ARGUMENT = ['{\\"a', '\\":[\\"', *["piece, "] * 7]  # and its end, after one event more
_SPEECH = ["piece "] * 9
# Contents of a JSON string, and characters that end one or belong to none.
CONTENTS = [
    *(
        "",
        " ",
        "x",
        "{",
        '\\"',
        "\\\\",
        "\\n",
        "\\u00e9",
        "é",
        "\\ud83d\\ude00",
        "😀",
        "\u200d",
        "\u2028",
        "\x7f",
    ),
    *(
        '"',
        "\\",
        "\\ud83d",
        "\\x",
        '","text":"b',
        '"}}',
        "\n",
        "\t",
        "\x00",
        "\r",
        "\n\n",
        'a\\"}}\n\ndata: {}',
    ),
]
_CHARACTERS = ["", "  ", '"', "\\", "{", "}", ",", "0", "é", "\n"]


def streams(text: Text, event: str, *, is_call: bool) -> Iterator[list[bytes]]:
    """Yield a stream with an event among the pieces of a text, in four ways to cut it."""
    pieces = [text.event.replace("%s", piece) for piece in (_ARGUMENT if is_call else _SPEECH)]
    last = [text.event.replace("%s", piece) for piece in ("more, ", "last", '\\"]}' if is_call else ".")]
    yield counted([text.before, *pieces, event, *last, text.after])
    yield counted([text.before, "".join(pieces), "".join([event, *last]), text.after])
    yield counted([text.before, "".join(pieces[:5]), "".join([*pieces[5:], event, *last]), text.after])
    head, data, end = counted([text.before, "".join([*pieces, event, *last]), text.after])
    yield [head, *(data[start : start + 301] for start in range(0, len(data), 301)), end]


def _odd(name: str, events: Sequence[str]) -> list[Sequence[bytes]]:
    """Return the streams with one of these events among the pieces, for which lane and machine differ."""
    is_call = "arguments" in name
    every = (reads for event in events for reads in streams(TEXTS[name], event, is_call=is_call))
    return differing(every)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", TEXTS)
def test_pieces_with_any_content(name: str) -> None:
    """Law 129: a piece of any content among others is read as the machine reads it, in any reads."""
    event = TEXTS[name].event
    contents = [*CONTENTS, *(f"a{one}b" for one in CONTENTS), *(one * 2 for one in CONTENTS)]

    assert [] == _odd(name, [event.replace("%s", content) for content in contents])


@pytest.mark.sampled(119)
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("character", _CHARACTERS)
def test_events_that_differ_in_a_character(name: str, character: str) -> None:
    """Law 129: an event with another character at any place is read as the machine reads it, in any reads."""
    event = TEXTS[name].event.replace("%s", "piece ")
    changed = [event[:place] + character + event[place + 1 :] for place in range(len(event))]

    assert [] == _odd(name, changed)


@together("name", TEXTS)
def test_members_that_come_later(name: str) -> None:
    """Law 129: a member that is new among pieces, or has another value in each, is read as the machine reads it."""
    text = TEXTS[name]
    data = json.loads(text.event.partition("data: ")[2].replace("%s", "piece ").replace("%n", '"%n"'))
    extra = [{"usage": {"total_tokens": n}} for n in range(3)] + [{"obfuscation": "x" * n} for n in range(3)]
    events = [
        text.event.partition("data: ")[0] + f"data: {json.dumps({**data, **one}, separators=(',', ':'))}\n\n"
        for one in extra
    ]

    events = [event.replace('"%n"', "%n") for event in events]

    assert [] == _odd(name, [*events, "".join(events)])


def test_pieces_of_another_item() -> None:
    """A piece of Responses with the labels of an item that is not open is left to the machine, in any reads."""
    text = TEXTS["responses arguments"]
    other = text.event.replace("%s", "piece ").replace('"i1"', '"i2"').replace('_index":0', '_index":1')

    assert [True] * 4 == [leaves(reads) for reads in streams(text, other, is_call=True)]


def test_pieces_after_the_item() -> None:
    """Law 129: pieces of Responses in a row, after their item was done, are read as the machine reads them."""
    text = TEXTS["responses arguments"]
    item = (
        '{"type":"function_call","id":"i1","call_id":"c1","name":"f","arguments":"{ }","status":"completed"}'
    )
    done = _numbered("response.output_item.done", f'"output_index":0,"item":{item}')
    pieces = [text.event.replace("%s", piece) for piece in ("{", " ", "}", " ")]

    assert [] == differing(
        [counted([text.before, *pieces[:3], done, pieces[3] * n, text.after]) for n in (1, 2)]
    )


@pytest.mark.slow
@together("name", TEXTS)
def test_a_line_that_ends_in_the_data(name: str) -> None:
    """Law 129: an event whose data go over two lines, as JSON may, is read as the machine reads it, in any reads."""
    event = TEXTS[name].event.replace("%s", "piece ")
    places = [place + 1 for place, character in enumerate(event) if character in "{:,["]

    assert [] == _odd(name, [event[:at] + end + event[at:] for at in places for end in ("\r", "\n", "\r\n")])


@together("name", TEXTS)
def test_a_member_that_repeats_the_piece(name: str) -> None:
    """Law 129: a member whose value is the piece is not taken for the piece, where it comes before or after that."""
    text = TEXTS[name]
    first, _, rest = text.event.partition("{")
    streams = [
        [text.before, *(form.replace("%s", "piece ").replace("%%", value) for value in values), text.after]
        for form in (f'{first}{{"echo":"%%",{rest}', text.event.replace("}\n\n", ',"echo":"%%"}\n\n'))
        for values in (["piece "] * 9 + ["other "] * 3, ["other "] * 9 + ["piece "] * 3)
    ]

    assert [] == differing(map(counted, streams))


@together("name", TEXTS)
def test_a_piece_after_the_text(name: str) -> None:
    """Law 129: pieces after any later event are read as the machine reads them."""
    text, is_call = TEXTS[name], "arguments" in name
    pieces = [text.event.replace("%s", piece) for piece in (_ARGUMENT if is_call else _SPEECH)]
    late = text.event.replace("%s", "late ")
    *after, end = [f"{event}\n\n" for event in text.after.split("\n\n") if event]
    streams = [
        [text.before, *pieces, *after[:place], late * n, *after[place:], end]
        for place in range(len(after) + 1)
        for n in (1, 2)
    ]

    assert [] == differing(map(counted, streams))


@together("name", TEXTS)
def test_a_text_in_large_reads_stays_in_the_lane(name: str) -> None:
    """Reads of many pieces of one text stay in the lane where only the pieces differ; if not, only those of Responses.

    Those are decoded at once.
    """
    text, is_call = TEXTS[name], "arguments" in name
    event = text.event.replace("%s", "piece, ")
    other = [event.replace("\n\n", "").removesuffix("}") + f',"service":"{n}"}}\n\n' for n in range(40)]
    begin = [text.event.replace("%s", piece) for piece in (_ARGUMENT if is_call else _SPEECH)]
    like, unlike = (
        counted([text.before, *begin, *("".join(events[at : at + 8]) for at in range(0, 40, 8))])
        for events in ([event] * 40, other)
    )

    assert [False, not name.startswith("responses")] == [leaves(like), leaves(unlike)]


@together("name", [name for name in TEXTS if not name.startswith("chat")])
def test_a_long_text_in_a_first_read_is_the_machines(name: str) -> None:
    """A first read whose middle is one text is not taken by the lane, as the machine takes many pieces at once."""
    text = TEXTS[name]
    piece = '{\\"a\\":1}' if "arguments" in name else "piece "
    long, short = (
        counted([text.before + text.event.replace("%s", piece) + text.event.replace("%s", " ") * n])
        for n in (500, 50)
    )

    assert [True, False] == [leaves(long), leaves(short)]
    assert [] == differing([long, short])


def test_another_text_has_another_template() -> None:
    """A template is of one text: events of the text before, after its end, are not pieces of the next one."""
    chat = TEXTS["chat text"]
    text, thought = (TEXTS[f"chat {kind}"].event.replace("%s", "piece ") for kind in ("text", "reasoning"))
    reads = [one.encode() for one in [chat.before, *[thought] * 9, *[text] * 9, thought, text, chat.after]]
    parser = ToolCallParser()
    kinds = [type(event).__name__ for read in reads for event in parser.feed(read)]

    assert [] == differing([reads])
    assert ["ReasoningDelta", "TextDelta"] == kinds[-2:]
