"""Frames from one template: they are repaired at once, and exactly as if each had been looked at closely."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from tests.support import corpora, quirky
from tests.support.encode import Call, Turn, every
from tests.support.naive import read_calls
from tests.support.renderers import RENDERERS
from wholecall import Limits
from wholecall.encoders import ENCODERS
from wholecall.repairing import Repairer
from wholecall.repairing.templates import FrameTemplate

RECORDED = {entry["name"]: entry for entry in corpora.cases()}
MENDED = [
    name for name, entry in RECORDED.items() if entry["dialect"] in ENCODERS and entry["file"].endswith("sse")
]
SMALL = [name for name in MENDED if len(corpora.recorded(RECORDED[name])) < 8_000]


def frames_of(data: bytes) -> list[bytes]:
    """Return the frames of a stream."""
    return [frame for frame in re.split(rb"(?<=\n\n)", data) if frame]


def in_chunks(data: bytes, size: int) -> list[bytes]:
    """Return a stream in chunks of so many bytes."""
    return [data[start : start + size] for start in range(0, len(data), size)]


class Fitted:
    """Takes note of the frames that fit a template; or lets none fit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.frames: list[bytes] = []
        self.is_on = True
        fits = FrameTemplate.fits

        def noted(template: FrameTemplate, block: bytes) -> bool:
            if not self.is_on or not fits(template, block):
                return False
            self.frames.append(block)
            return True

        monkeypatch.setattr(FrameTemplate, "fits", noted)

    def off(self, chunks: Sequence[bytes], **options: Any) -> list[object]:
        """Return the output of a stream all of whose frames are looked at closely."""
        self.is_on = False
        became = fate(chunks, **options)
        self.is_on = True
        return became


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> Fitted:
    """Return a note of the frames that fit."""
    return Fitted(monkeypatch)


def fate(chunks: Iterable[bytes], **options: Any) -> list[object]:
    """Return the result of a stream: the output for each chunk, the report and the ping after it, the reported
    events.
    """
    told: list[Any] = []
    repairer = Repairer(on_dropped=told.append, on_fault=told.append, **options)
    became: list[object] = []
    for chunk in chunks:
        became += (repairer.feed(chunk), repairer.report, repairer.ping())
    return [*became, repairer.close(), repairer.report, told]


# The streams.

HEAD = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
TAIL = ',"finish_reason":null}]}'
ITEM = '"item_id":"i","output_index":0'


def chat(delta: str, tail: str = TAIL) -> bytes:
    """Return a chunk."""
    return f"data: {HEAD}{delta}{tail}\n\n".encode()


def named(kind: str, members: str) -> bytes:
    """Return an event of Anthropic or Responses."""
    return f'event: {kind}\ndata: {{"type":"{kind}",{members}}}\n\n'.encode()


def chat_text(text: str, _: int) -> bytes:
    """Return a piece of text, as JSON writes it."""
    return chat(f'{{"content":"{text}"}}')


def chat_call(text: str, _: int) -> bytes:
    """Return a piece of a call."""
    return chat(f'{{"tool_calls":[{{"index":0,"function":{{"arguments":"{text}"}}}}]}}')


def anthropic_text(text: str, _: int) -> bytes:
    """Return a piece of text."""
    return named("content_block_delta", f'"index":0,"delta":{{"type":"text_delta","text":"{text}"}}')


def anthropic_call(text: str, _: int) -> bytes:
    """Return a piece of a call."""
    return named(
        "content_block_delta", f'"index":0,"delta":{{"type":"input_json_delta","partial_json":"{text}"}}'
    )


def responses_text(text: str, number: int) -> bytes:
    """Return a piece of text."""
    return named(
        "response.output_text.delta", f'"sequence_number":{number},{ITEM},"content_index":0,"delta":"{text}"'
    )


def responses_call(text: str, number: int) -> bytes:
    """Return a piece of a call."""
    return named(
        "response.function_call_arguments.delta", f'"sequence_number":{number},{ITEM},"delta":"{text}"'
    )


CHAT_CALL = chat(
    '{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}'
)
MESSAGE = named("message_start", '"message":{"id":"m","model":"m","content":[]}')
RESPONSE = named("response.created", '"sequence_number":0,"response":{"id":"r","output":[]}')
MESSAGE_ITEM = '"sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","content":[]}'
CALL_ITEM = (
    '"sequence_number":1,"output_index":0,'
    '"item":{"id":"i","type":"function_call","call_id":"a","name":"f","arguments":""}'
)
# By dialect and the visible kind: the beginning of a stream, and the frames of its text.
STREAMS: dict[str, tuple[list[bytes], Any]] = {
    "chat text": ([chat('{"role":"assistant","content":"w"}')], chat_text),
    "chat call": ([CHAT_CALL], chat_call),
    "anthropic text": (
        [MESSAGE, named("content_block_start", '"index":0,"content_block":{"type":"text","text":""}')],
        anthropic_text,
    ),
    "anthropic call": (
        [
            MESSAGE,
            named(
                "content_block_start",
                '"index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}',
            ),
        ],
        anthropic_call,
    ),
    "responses text": ([RESPONSE, named("response.output_item.added", MESSAGE_ITEM)], responses_text),
    "responses call": ([RESPONSE, named("response.output_item.added", CALL_ITEM)], responses_call),
}
ENDS = {
    "chat": [chat("{}", ',"finish_reason":"stop"}]}'), b"data: [DONE]\n\n"],
    "anthropic": [
        named("content_block_stop", '"index":0'),
        named("message_delta", '"delta":{"stop_reason":"end_turn"},"usage":{}'),
        named("message_stop", '"x":1'),
    ],
    "responses": [
        named("response.completed", '"sequence_number":9,"response":{"id":"r","status":"completed"}')
    ],
}
each_stream = pytest.mark.parametrize("kind", STREAMS)


# Frames that fit.


@each_stream
@pytest.mark.parametrize(
    "texts",
    [
        ["a", "bc", "dé"],
        [r"\n", r"\t\\", r"\u00e9", r"\ud83d\ude00", r"\/"],
        [r"he said \"yes\"", r"\"tool_calls\": ", r"{\"a\":"],
    ],
)
def test_frames_that_differ_in_their_text_fit(fitted: Fitted, kind: str, texts: list[str]) -> None:
    """All but the first one of frames that differ in their text alone are treated like the first."""
    begin, make = STREAMS[kind]
    frames = [make(text, number) for number, text in enumerate(["x", *texts], 2)]
    fate([*begin, *frames])

    assert frames[1:] == fitted.frames


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("chat text", lambda frame, n: frame.replace(b"]}\n", b'],"obfuscation":"%b"}\n' % (b"x" * n))),
        ("chat call", lambda frame, n: frame.replace(b"]}\n", b'],"obfuscation":"%b"}\n' % (b"x" * n))),
        ("anthropic text", lambda frame, n: frame.replace(b"}\n", b" " * n + b"}\n")),
        ("anthropic call", lambda frame, n: frame.replace(b"}\n", b" " * n + b"}\n")),
        ("responses text", lambda frame, n: frame.replace(b"}\n", b',"obfuscation":"%b"}\n' % (b"x" * n))),
        ("responses call", lambda frame, n: frame.replace(b"}\n", b',"obfuscation":"%b"}\n' % (b"x" * n))),
        ("chat text", lambda frame, _: frame.replace(b"\n", b"\r\n")),
    ],
)
def test_padding_may_differ_too(fitted: Fitted, kind: str, more: Any) -> None:
    """So may the padding against eavesdroppers, as the providers send it; and line ends may be of any kind."""
    begin, make = STREAMS[kind]
    frames = [more(make("x", number), number) for number in range(2, 6)]
    fate([*begin, *frames])

    assert frames[1:] == fitted.frames


# Frames that do not.


def odd_frames(kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield frames that look like the stream's usual frame, and must be recognised as different."""
    make = STREAMS[kind][1]
    usual = make("x", 4)
    if kind.endswith("text"):
        yield "no text", make("", 4)
    for text in (r"\ud83d", r"\ude00", r"\q", "\t", "\u2028", "\x85", r"\u12", '","role":"tool'):
        yield f"text {text!r}", make(text, 4)
    yield "bytes that are no UTF-8", usual.replace(b'"x"', b'"\xff"')
    for one, other in (
        (b'"finish_reason":null', b'"finish_reason":"stop"'),
        (b'"choices":[{', b'"choices":[],"choices":[{'),
        (b'"choices":[{', b'"choices":[{"index":1,"delta":{"content":"z"}},{'),
        (b'"choices":[{', b'"choices":{},"x":[{'),
        (b'"delta":{', b'"delta":{"tool_calls":[{"index":0,"id":"z","function":{"name":"g"}}],'),
        (b'"delta":{', b'"delta":{"function_call":{"name":"g","arguments":"{}"},'),
        (b'"delta":{', b'"delta":{"role":"assistant",'),
        (b'"delta":{', b'"delta":null,"x":{'),
        (b'"index":0', b'"index":1'),
        (b'"output_index":0', b'"output_index":1'),
        (b'"sequence_number":4', b'"sequence_number":3'),
        (b'"sequence_number":4', b'"sequence_number":6'),
        (b'"sequence_number":4', b'"sequence_number":40'),
        (b'"item_id":"i"', b'"item_id":"j"'),
        (b'"text_delta"', b'"input_json_delta"'),
        (b'"text":', b'"text":"y","text":'),
        (b'"content":', b'"content":"y","content":'),
        (b'"content":', b'"message":{"tool_calls":[{"id":"z"}]},"content":'),
        (b'"arguments":', b'"arguments":"y","arguments":'),
        (b'"arguments":', b'"\\u0061rguments":"y","arguments":'),
        (b'"arguments":', b'"name":"g","arguments":'),
        (b'"function":', b'"id":"z","function":'),
        (b'"partial_json":', b'"partial_json":"y","partial_json":'),
        (b'"id":"c"', b'"id":"d"'),
        (b'"model":"m"', b'"model":"n"'),
        (b"event: ", b"id: 1\nevent: "),
        (b"data: ", b"data:"),
        (b"data: ", b": hi\ndata: "),
        (b"data: ", b"data: {}\ndata: "),
        (b"\n\n", b"\n\n\n"),
        (b"}\n\n", b',"error":{"message":"e"}}\n\n'),
        (b"}\n\n", b"\n\n"),
        (b"}\n\n", b"}}\n\n"),
        (b'"x"', b'["x"]'),
        (b'"x"', b"7"),
        (b'"x"', b"null"),
    ):
        if one in usual:
            yield f"{one!r} is {other!r}", usual.replace(one, other, 1)


@pytest.mark.sampled(13)
@each_stream
@pytest.mark.parametrize("live", [False, True])
def test_odd_frames_are_seen_for_what_they_are(fitted: Fitted, kind: str, live: bool) -> None:
    """A frame that differs in more than its text does not fit, and has the same result as without templates, in any
    chunks.
    """
    begin, make = STREAMS[kind]
    wrong = []
    for what, odd in odd_frames(kind):
        frames = [
            *begin,
            make("x", 2),
            make("y", 3),
            odd,
            make("x", 5),
            make("y", 6),
            *ENDS[kind.split(maxsplit=1)[0]],
        ]
        for chunks in (frames, [b"".join(frames)], in_chunks(b"".join(frames), 700)):
            fitted.frames.clear()
            became = fate(chunks, live_arguments=live)
            if fitted.off(chunks, live_arguments=live) != became or odd in fitted.frames:
                wrong.append((what, len(chunks)))
            assert make("y", 3) in fitted.frames

    assert [] == wrong


@pytest.mark.parametrize("name", ["tool_calls", "toolCalls", "function_call", "message", "apiFormat"])
def test_text_that_ends_in_a_name_is_looked_at(fitted: Fitted, name: str) -> None:
    """Text that ends as a member's name would begin one is taken for doubtful, as it always was."""
    begin, make = STREAMS["chat text"]
    frames = [*begin, make("x", 0), make(rf"a \"{name}", 0), make("x", 0), make(r"\"response.", 0)]

    assert fitted.off(frames) == fate(frames)
    assert [] == fitted.frames


@pytest.mark.parametrize(
    "frame",
    [
        chat(r'{"tool_calls":[{"index":0,"function":{"\u0061rguments":"x","arguments":"x"}}]}'),
        chat('{"tool_calls":[{"index":0,"function":{"arguments" : "x"},"text":"x"}]}'),
        chat(
            '{"tool_calls":[{"index":0,"function":{"name":null},"function":{"arguments":"x"},"input":"x"}]}'
        ),
        chat('{"tool_calls":[{"index":0,"function":{"arguments":"x"}},{"index":1,"function":{}}]}'),
        chat('{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]},"message":{}'),
        chat('{"tool_calls":[{"index":0,"function":{"arguments":"\t"},"text":"x"}]}'),
        chat('{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}', TAIL[:-1] + ',"usage":{"a":1}}'),
    ],
)
def test_no_template_is_made_of_an_unclear_frame(fitted: Fitted, frame: bytes) -> None:
    """Where the text is in more than one place, or the frame holds more than the text, the next frame is looked at."""
    frames = [*STREAMS["chat call"][0], frame, frame, frame, *ENDS["chat"]]

    assert fitted.off(frames) == fate(frames)
    assert [] == fitted.frames


@pytest.mark.parametrize(
    "place",
    ['"meta":{{"sequence_number":{}}}', '"sequence_number":{}.5', '"stream_id":"s","sequence_number":{}'],
)
def test_only_the_numbers_of_events_count(fitted: Fitted, place: str) -> None:
    """A number in another place, of another kind or of one of several streams does not say which frame is the next one."""
    kind = "response.function_call_arguments.delta"
    pieces = [named(kind, f'{place.format(number)},{ITEM},"delta":"x"') for number in range(2, 6)]
    frames = [*STREAMS["responses call"][0], *pieces, *ENDS["responses"]]

    assert fitted.off(frames) == fate(frames)
    assert [] == fitted.frames


@each_stream
@pytest.mark.parametrize("between", [b": hi\n\n", b'event: ping\ndata: {"type":"ping"}\n\n', b"data: {}\n\n"])
def test_nothing_may_come_between(fitted: Fitted, kind: str, between: bytes) -> None:
    """A template holds for the next frame only; after anything else a frame is looked at again."""
    begin, make = STREAMS[kind]
    frames = [*begin, make("x", 2), between, make("y", 3), make("z", 4)]

    assert fitted.off(frames) == fate(frames)
    assert [make("z", 4)] == fitted.frames


# Whole streams.


@pytest.mark.sampled(11)
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("names", corpora.groups(SMALL))
def test_recordings_become_the_same(fitted: Fitted, names: list[str], live: bool) -> None:
    """Every recording has the same result as without templates: frame by frame, and in packets."""
    for name in names:
        data = corpora.recorded(RECORDED[name])
        for chunks in (frames_of(data), in_chunks(data, 1460)):
            assert fitted.off(chunks, live_arguments=live) == fate(chunks, live_arguments=live), name


@pytest.mark.sampled(7)
@pytest.mark.parametrize("mode", quirky.MODES)
def test_quirky_streams_become_the_same(fitted: Fitted, mode: str) -> None:
    """So does the stream of each server with a quirk."""
    for number in range(2):
        data = quirky.make(f"templates:{number}", (mode,)).bytes()
        for chunks in (frames_of(data), in_chunks(data, 1460)):
            assert fitted.off(chunks) == fate(chunks), number


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a stream with a byte changed, a frame lost, repeated or at another place."""
    frames = frames_of(data)
    at, other = rng.randrange(len(frames)), rng.randrange(len(frames))
    match rng.randrange(4):
        case 0:
            place = rng.randrange(len(frames[at]))
            frames[at] = frames[at][:place] + bytes([rng.randrange(256)]) + frames[at][place + 1 :]
        case 1:
            del frames[at]
        case 2:
            frames.insert(other, frames[at])
        case _:
            frames[at], frames[other] = frames[other], frames[at]
    return b"".join(frames)


TURN = Turn(
    calls=(
        Call("call_1", "get_tide", '{"port":"Brést","n":[1,{"x":"}\\""}]}'),
        Call("call_2", "now", '{"z": 1}'),
    ),
    text="Some words, one after the other.",
)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ENCODERS)
def test_damaged_streams_become_the_same(fitted: Fitted, dialect: str) -> None:
    """So does a healthy stream with damage in any place."""
    data = RENDERERS[dialect](TURN, every(3)).replace(b"\r\n", b"\n")
    for seed in range(60):
        rng = random.Random(seed)
        chunks = frames_of(damaged(damaged(data, rng), rng))

        assert fitted.off(chunks) == fate(chunks), seed
    assert len(fitted.frames) > 200


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dialect", ENCODERS)
@pytest.mark.parametrize(
    "limit", ["max_stream_bytes", "max_event_bytes", "max_line_bytes", "max_arguments_bytes"]
)
def test_limits_are_met_at_the_same_byte(fitted: Fitted, dialect: str, limit: str) -> None:
    """A limit ends the stream, or withholds a call, where it does so without templates."""
    data = RENDERERS[dialect](TURN, every(3))
    for size in range(30, 1500, 210):
        limits = Limits(**{limit: size})
        for chunks in (frames_of(data), [data], in_chunks(data, 1460)):
            assert fitted.off(chunks, limits=limits) == fate(chunks, limits=limits), size


@each_stream
@pytest.mark.parametrize("limit", ["max_event_bytes", "max_line_bytes"])
def test_a_frame_beyond_a_limit_does_not_fit(fitted: Fitted, kind: str, limit: str) -> None:
    """A frame that is too long meets the limit, though it differs from the one before it in its text alone."""
    begin, make = STREAMS[kind]
    frames = [
        *begin,
        make("x", 2),
        make("y", 3),
        make("z" * 900, 4),
        make("x", 5),
        *ENDS[kind.partition(" ")[0]],
    ]
    limits = Limits(**{limit: 800})

    assert fitted.off(frames, limits=limits) == fate(frames, limits=limits)
    assert make("z" * 900, 4) not in fitted.frames


@each_stream
def test_nothing_follows_an_error_of_ours(kind: str) -> None:
    """Where an endless event has ended the stream, a frame that would have fitted goes nowhere."""
    begin, make = STREAMS[kind]
    repairer = Repairer(limits=Limits(max_event_bytes=800))
    for data in (*begin, make("x", 2), make("y", 3), b"data: " + b"z" * 900):
        repairer.feed(data)

    assert ("event_too_large", b"") == (repairer.report.error, repairer.feed(b"\n\n" + make("z", 4)))


def test_frames_after_a_withheld_call_are_numbered_anew(fitted: Fitted) -> None:
    """Where the numbers have to change, each frame of a template gets its own; here the second item takes the place of the first."""
    item = '"item":{{"id":"i{0}","type":"function_call","call_id":"a{0}","name":"f","arguments":"{1}"}}'
    frames = [RESPONSE]
    for call, text in enumerate((["[1", ",2", "]"], [r"{\"a\"", ":", "1", "}"])):
        where, whole = f'"item_id":"i{call}","output_index":0', "".join(text)
        bodies = [("output_item.added", f'"output_index":0,{item.format(call, "")}')]
        bodies += [("function_call_arguments.delta", f'{where},"delta":"{piece}"') for piece in text]
        bodies += [("function_call_arguments.done", f'{where},"arguments":"{whole}"')]
        bodies += [("output_item.done", f'"output_index":0,{item.format(call, whole)}')]
        frames += [
            named(f"response.{kind}", f'"sequence_number":{number},{body}')
            for number, (kind, body) in enumerate(bodies, len(frames))
        ]
    frames.append(named("response.in_progress", f'"sequence_number":{len(frames)},"response":{{"id":"r"}}'))
    out = b"".join(map(Repairer().feed, frames))
    found = [json.loads(data) for data in re.findall(rb"data: (.*)", out)]
    deltas = [payload["delta"] for payload in found if "delta" in payload]

    assert fitted.off(frames) == fate(frames)
    assert [("a1", "f", '{"a":1}')] == read_calls("responses", out)
    assert ['{"a"', ":", "1", "}"] == deltas
    assert list(range(len(found))) == [payload["sequence_number"] for payload in found]


@each_stream
def test_any_bytes_like_object_may_come(kind: str) -> None:
    """The output consists of our own bytes, whatever the input's type."""
    begin, make = STREAMS[kind]
    repairer = Repairer()
    out = [repairer.feed(bytearray(frame)) for frame in (*begin, make("x", 2), make("y", 3))]

    assert {bytes} == set(map(type, out))


@pytest.mark.parametrize(
    "frame",
    [
        responses_text("x", 0).replace(b":0,", b":" + b"1" * 5000 + b",", 1),
        anthropic_text("x", 0).replace(b":0,", b":" + b"1" * 5000 + b",", 1),
    ],
)
def test_numbers_of_any_length_may_come(frame: bytes) -> None:
    """A number that is too long for an integer of Python makes nothing raise."""
    begin = STREAMS["responses text" if b"response" in frame else "anthropic text"][0]
    out = fate([*begin, frame, frame])

    assert b"x" in b"".join(part for part in out if isinstance(part, bytes))
