"""Twenty-four Chat Completions streams: a plain one, and one for each of 23 habits of servers and relays.

A stream is described by its differences: the entries of `choices[0].delta.tool_calls`, chunk by chunk, and how it
ends. Everything else is the same. The numbers of quirks are those of `docs/quirks.md`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

JSON = dict[str, Any]


TOOLS = ("find_berth", "get_tide", "list_ports")  # names that the streams call, or call by half


class Expected(NamedTuple):
    """A call that must be emitted."""

    name: str
    arguments: JSON


class Stream(NamedTuple):
    """An answer of a server.

    Attributes:
        dialect: the wire, as `wholecall` names it.
        title: its oddity.
        quirks: its numbers in the catalogue of quirks; none for a plain stream.
        pieces: the body, a piece for each write to the socket.
        expected: the calls that may run, in order; none where nothing may.
    """

    dialect: str
    title: str
    quirks: tuple[int, ...]
    pieces: tuple[bytes, ...]
    expected: tuple[Expected, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that the model was given."""
        return tuple(sorted({*TOOLS, *(call.name for call in self.expected)}))


# Two calls of two tools, a call without arguments, and a call that is cut within a string.
TIDE = Expected("get_tide", {"port": "Brest"})
BERTH = Expected("find_berth", {"pier": "C4"})
PORTS = Expected("list_ports", {})
TIDE_TEXT = '{"port": "Brest"}'
TIDE_PIECES = ('{"po', 'rt":', ' "Br', 'est"', "}")
TIDE_SNAPSHOTS = ('{"po', '{"port": ', '{"port": "Bre', TIDE_TEXT)
CUT_PIECES = ('{"po', 'rt":', ' "Br', "e")
BERTH_TEXT = '{"pier": "C4"}'
BERTH_PIECES = ('{"pi', 'er": ', '"C4"', "}")


def sse(payload: JSON, event: str | None = None, newline: str = "\n") -> bytes:
    """Return one event of a stream; characters outside ASCII are not escaped."""
    head = f"event: {event}{newline}" if event else ""
    return f"{head}data: {json.dumps(payload, ensure_ascii=False)}{newline}{newline}".encode()


def entry(
    index: int | None,
    text: Any = None,
    *,
    name: str | None = None,
    id: str | None = None,
) -> JSON:
    """Return an entry of `tool_calls`; members that are None are left out. An entry with an id has a type too."""
    labels = {"index": index, "id": id, "type": None if id is None else "function"}
    function = {"name": name, "arguments": text}
    told = {key: value for key, value in labels.items() if value is not None}
    return {**told, "function": {key: value for key, value in function.items() if value is not None}}


def more(texts: Sequence[str], index: int = 0, **labels: Any) -> list[list[JSON]]:
    """Return chunks of one entry each that continue a call."""
    return [[entry(index, text, **labels)] for text in texts]


def chat(
    *entries: list[JSON], reason: str | None = "tool_calls", last: JSON | None = None, newline: str = "\n"
) -> list[bytes]:
    """Return the events of an answer.

    Args:
        entries: the tool call entries of each chunk.
        reason: the finish reason; None for an answer that breaks off without one.
        last: the members of the last chunk's choice in addition to its reason.
        newline: the end of a line.
    """
    choices: list[JSON] = [{"delta": {"role": "assistant", "content": None}}]
    choices += [{"delta": {"tool_calls": calls}} for calls in entries]
    if reason is not None:
        choices.append({"delta": {}, **(last or {}), "finish_reason": reason})
    head = {"id": "chatcmpl-q", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "finish_reason": None, **choice}]} for choice in choices]
    frames = [sse(chunk, newline=newline) for chunk in chunks]
    return frames if reason is None else [*frames, f"data: [DONE]{newline}{newline}".encode()]


def _row(
    title: str, quirks: tuple[int, ...], expected: Sequence[Expected], pieces: Sequence[bytes]
) -> Stream:
    return Stream("chat-completions", title, quirks, tuple(pieces), tuple(expected))


def _opened(text: Any = "", index: int | None = 0) -> list[JSON]:
    return [entry(index, text, name="get_tide", id="call_1")]


def _second(text: str, index: int | None = 0) -> list[JSON]:
    return [entry(index, text, name="find_berth", id="call_2")]


def _labelled() -> Stream:
    repeated = more(TIDE_PIECES, name="get_tide", id="call_1")
    return _row("id and name in every chunk", (15,), [TIDE], chat(*repeated))


def _restless() -> Stream:
    churning = [[entry(0, text, id=f"call_x{n}")] for n, text in enumerate(TIDE_PIECES)]
    return _row("another id in every chunk", (10,), [TIDE], chat(_opened(), *churning))


def _broken() -> Stream:
    fault = {"error": {"message": "the engine stopped", "type": "server_error", "code": 502}}
    frames = chat(_opened('{"port'))
    return _row("an error object in the middle", (52,), [], [*frames[:2], sse(fault), frames[-1]])


def _bytewise() -> Stream:
    harbour = Expected("get_tide", {"port": "Göteborg 港"})
    text = json.dumps(harbour.arguments, ensure_ascii=False)
    data = b"".join(chat(_opened(text), newline="\r\n"))
    return _row("CRLF, and a write for each byte", (35, 55), [harbour], [bytes((byte,)) for byte in data])


def _late() -> Stream:
    call = entry(None, TIDE_TEXT, name="get_tide", id="call_1")
    message = {"message": {"role": "assistant", "tool_calls": [call]}}
    return _row("the call only in a last whole message", (40,), [TIDE], chat(last=message))


CHAT: tuple[Stream, ...] = (
    _row(
        "two calls, as documented",
        (),
        [TIDE, BERTH],
        chat(_opened(), *more(TIDE_PIECES), _second("", 1), *more(BERTH_PIECES, 1)),
    ),
    _row("index 0 for every call", (3,), [TIDE, BERTH], chat(_opened(TIDE_TEXT), _second(BERTH_TEXT))),
    _row("no index", (1,), [TIDE, BERTH], chat(_opened(TIDE_TEXT, None), _second(BERTH_TEXT, None))),
    _labelled(),
    _row("each chunk restates the text so far", (24,), [TIDE], chat(_opened(), *more(TIDE_SNAPSHOTS))),
    _restless(),
    _row("empty id and name later on", (7, 19), [TIDE], chat(_opened(), *more(TIDE_PIECES, id="", name=""))),
    _row("arguments as an object", (22,), [TIDE], chat(_opened(TIDE.arguments))),
    _row("{} before the arguments", (25,), [TIDE], chat(_opened("{}"), *more([TIDE_TEXT]))),
    _row(
        "a tool without arguments: empty text",
        (26,),
        [PORTS],
        chat([entry(0, "", name="list_ports", id="c1")]),
    ),
    _row("cut text, called finished", (48,), [], chat(_opened(), *more(CUT_PIECES))),
    _row("cut at the token limit", (49,), [], chat(_opened(), *more(CUT_PIECES), reason="length")),
    _row("dropped after the name", (51,), [], chat(_opened(), reason=None)),
    _row(
        "two entries of one call in a chunk",
        (41,),
        [TIDE],
        chat([*_opened('{"po'), entry(0, 'rt": ')], *more(['"Brest"}'])),
    ),
    _row("finish reason stop", (43,), [TIDE], chat(_opened(TIDE_TEXT), reason="stop")),
    _row(
        "the name in pieces",
        (16,),
        [TIDE],
        chat([entry(0, "", name="get_", id="call_1")], [entry(0, TIDE_TEXT, name="tide")]),
    ),
    _row(
        "the name after arguments began",
        (17,),
        [TIDE],
        chat([entry(0, '{"port":', id="call_1")], [entry(0, ' "Brest"}', name="get_tide")]),
    ),
    _row(
        "the id after the name",
        (11,),
        [TIDE],
        chat([entry(0, "", name="get_tide")], [entry(0, TIDE_TEXT, id="call_1")]),
    ),
    _row("no id at all", (8,), [TIDE], chat([entry(0, TIDE_TEXT, name="get_tide")])),
    _row(
        "deltas, then the whole call again",
        (23,),
        [TIDE],
        chat(_opened(), *more(TIDE_PIECES), _opened(TIDE_TEXT)),
    ),
    _broken(),
    _bytewise(),
    _row(
        "indices collide, the tail has its own",
        (3, 5),
        [TIDE, BERTH],
        chat(_opened(TIDE_TEXT), _second('{"pier"'), *more([': "C4"}'], 1)),
    ),
    _late(),
)

# The model's words after tool results.
CHAT_FAREWELL = b"".join(chat(reason="stop", last={"delta": {"content": "Done."}}))
