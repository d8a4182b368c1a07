"""Discretion: argument text is in events and turns, and nowhere else that could end in a log."""

from __future__ import annotations

import copy
import io
import json
import logging
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import encode
from tests.support.discretion import CANARY, spilled_by, spilled_in
from tests.support.renderers import RENDERERS
from tests.support.snapshots import opened, resealed
from tests.support.together import together
from tests.support.turns import frame, parse
from wholecall import Limits, StreamFailed, ToolCallParser, history, parse_arguments
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.cli.main import main
from wholecall.errors import WholecallError
from wholecall.framing import FRAMINGS
from wholecall.machine.call import Call
from wholecall.recordings import read
from wholecall.stream.snapshots.shapes import kept_by
from wholecall.types import DropReason

_ARGUMENTS = json.dumps({"path": f"/srv/{CANARY}", CANARY: [CANARY, {"deep": CANARY}]})
# Texts that hold the canary in a value and in a key, and why each is dropped.
_TEXTS: dict[DropReason, str] = {
    "truncated": _ARGUMENTS[:-1],
    "invalid_json": f'{{"{CANARY}": "{CANARY}" : 1}}',
    "unparseable": f"rm -rf {CANARY}",
    "ambiguous": f'{{"{CANARY}": "{CANARY} \\d \\n"}}',
    "multiple_objects": f'{{"a": "{CANARY}"}}{{"{CANARY}": 1}}',
    "not_an_object": f'["{CANARY}"]',
    "duplicate_key": f'{{"{CANARY}": 1, "{CANARY}": 2}}',
    "lone_surrogate": f'{{"{CANARY}": "{CANARY}\\ud800"}}',
    "nesting_too_deep": f'{{"{CANARY}": ' + "[" * 200 + f'"{CANARY}"' + "]" * 200 + "}",
    "number_too_long": f'{{"{CANARY}": {"1" * 5000}}}',
    "number_out_of_range": f'{{"{CANARY}": 1e999}}',
    "arguments_too_large": f'{{"{CANARY}": "{CANARY * 100}"}}',
    "schema": _ARGUMENTS,
}
_TOOL: dict[str, Any] = {
    "name": "f",
    "description": "",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "integer"}},
        "additionalProperties": False,
    },
}


def _silently(act: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of an action, and everything that it printed, logged or warned of."""
    out, log = io.StringIO(), io.StringIO()
    stream = logging.StreamHandler(log)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(stream)
    root.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(out), redirect_stderr(out):
            warnings.simplefilter("always")
            given = act()
    finally:
        root.removeHandler(stream)
        root.setLevel(level)
    return given, out.getvalue() + log.getvalue() + "".join(str(warning.message) for warning in warned)


def _rendered(dialect: str, text: str = _ARGUMENTS) -> bytes:
    calls = [encode.Call("call_1", "f", text), encode.Call("call_2", "g", text)]
    return RENDERERS[dialect](encode.Turn(calls), encode.every(9))


@given(st.sampled_from(sorted(RENDERERS)), st.floats(0, 1), st.booleans(), st.booleans())
def test_nothing_shows_wherever_a_stream_is(dialect: str, part: float, live: bool, named: bool) -> None:
    """Law 28: no object of ours that a parser holds or gives shows argument text, for any input so far."""
    data = _rendered(dialect)
    name = dialect.partition(",")[0] if named else "auto"
    parser: ToolCallParser[Any] = ToolCallParser(name, live=live)

    def act() -> list[Any]:
        events: list[Any] = parser.feed(data[: round(len(data) * part)])
        held = spilled_in(parser, events, parser.turns)
        return [held, spilled_in(parser.close(), parser, parser.turns)]

    assert ([set(), set()], "") == _silently(act)


@pytest.mark.parametrize("framing", sorted(FRAMINGS))
def test_frames_and_deltas_show_nothing(framing: str) -> None:
    """Law 28: nor do the frames in between, nor the frames that wait for a dialect."""
    dialect = {"sse": "chat-completions", "jsonl": "ollama", "jsonarray": "gemini, as a JSON array"}.get(
        framing, {"eventstream": "bedrock-converse", "vercel": "vercel-data"}.get(framing, "")
    )
    reader = FRAMINGS[framing](Limits())
    frames = [*reader.feed(_rendered(dialect)), *reader.close()]
    waiting: ToolCallParser[Any] = ToolCallParser()
    waiting.feed(frame({"unknown": CANARY}))

    assert frames
    assert set() == spilled_in(frames, waiting)


def _drops(reason: DropReason, dialect: str) -> list[ToolCallDropped]:
    tools = [_TOOL, {"name": "g", "parameters": {"type": "object"}}] if reason == "schema" else None
    limits = Limits(max_arguments_bytes=1000 if reason == "arguments_too_large" else None)
    chunks = [_rendered(dialect, _TEXTS[reason])]
    found = parse(chunks, "auto", tools=tools, limits=limits)
    return [event for event in found if isinstance(event, ToolCallDropped)]


@together("dialect", ["chat-completions", "responses", "anthropic"])
@together("reason", _TEXTS)
def test_no_drop_says_what_was_dropped(reason: DropReason, dialect: str) -> None:
    """Law 28: reason, detail and repr of a drop name the fault, never the text; nor does the message to the model."""
    drops = _drops(reason, dialect)
    told = [[repr(drop), drop.detail, drop.describe(), repr(drop.as_tool_result(dialect))] for drop in drops]

    assert reason in {drop.reason for drop in drops}
    assert [] == [words for words in told if CANARY in "".join(words)]
    assert all(CANARY in drop.raw_arguments for drop in drops)


def test_every_reason_of_a_verdict_was_tried() -> None:
    """Only reasons that come before the text is read are left out."""
    before = {
        *("nameless", "unterminated", "aborted", "incomplete_input", "empty_arguments", "invalid_utf8"),
        *("too_many_calls", "id_too_long", "name_too_long", "unknown_tool", "told_twice"),
    }

    assert set(get_args(DropReason)) == {*_TEXTS, *before}


@together("reason", sorted(set(_TEXTS) - {"schema"}))
def test_no_verdict_shows_its_text(reason: DropReason) -> None:
    """Law 28: nor does a verdict on a text alone."""
    verdict = parse_arguments(_TEXTS[reason], limits=Limits(max_arguments_bytes=1000))

    assert CANARY not in repr(verdict) + verdict.detail


# Exceptions.


class _Odd(msgspec.Struct):
    """Holds the canary, and values that no payload contains."""

    text: str = CANARY
    odd: Any = None


def _closed() -> None:
    parser: ToolCallParser[Any] = ToolCallParser()
    parser.close()
    parser.feed(_ARGUMENTS.encode())


def _failed() -> None:
    error = {"message": f"error parsing tool call: raw={_ARGUMENTS}, err=invalid character"}
    parser: ToolCallParser[Any] = ToolCallParser("chat-completions")
    parser.feed(frame({"error": error}))
    parser.close()
    try:
        parser.turn.raise_for_fault()
    except StreamFailed as error:
        raise WholecallError(str(error), repr(error)) from None


def _of_file(name: str, data: bytes) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        path = folder / name
        path.write_bytes(data)
        for recording in read(str(path)):
            list(recording.chunks)
        raise WholecallError("nothing was wrong")

    return act


def _snapshot(**options: Any) -> bytes:
    parser: ToolCallParser[Any] = ToolCallParser(**options)
    parser.feed(_rendered("chat-completions")[:-400])
    return parser.snapshot()


def _with_a_forged_call(name: str) -> bytes:
    """Return a snapshot in which a field of the calls holds argument text."""
    inside = opened(_snapshot())
    place = 1 + list(kept_by(Call)).index(name)
    for row in inside[2]:
        if len(row) == 1 + len(kept_by(Call)):
            row[place] = _ARGUMENTS
    return resealed(inside)


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    path: int


def _from_snapshot(make: Callable[[], bytes], tools: Any = None) -> Callable[[Path], Any]:
    return lambda _: ToolCallParser.restore(make(), tools=tools)


_TEXTS_OF_CALLS = {
    "id",
    "name",
    "public_name",
    "namespace",
    "restated",
    "detail",
    "slot",
    "fast_alias",
    "elsewhere",
    "source",
}  # any text fits there
_LINE = json.dumps({"t": 0, "data": _ARGUMENTS}).encode()
_HEAD = json.dumps({"wholecall": 1, "dialect": None}).encode()
RAISES: dict[str, Callable[[Path], Any]] = {
    "text": lambda _: ToolCallParser().feed(_ARGUMENTS),  # type: ignore[arg-type]
    "closed": lambda _: _closed(),
    "a payload that is none": lambda _: ToolCallParser("chat-completions").feed_event(_Odd(odd={1j})),
    "arguments that are none": lambda _: history.encode_arguments({"a": CANARY, "b": {1j}}, "anthropic"),
    "a key that is none": lambda _: history.encode_arguments({"a": {b"k": CANARY}}, "anthropic"),  # type: ignore[dict-item]
    "not finite": lambda _: history.encode_arguments({"a": CANARY, "b": float("nan")}, "anthropic"),
    "shrinking": lambda _: history.shrink_arguments({"a": CANARY, "b": {1j}}),
    "a transcript": lambda _: history.repair_transcript({"content": CANARY}),  # type: ignore[arg-type]
    "a copy": lambda _: copy.copy(ToolCallParser.restore(_snapshot(live=True))),
    "a snapshot as text": lambda _: ToolCallParser.restore(_snapshot().decode("latin-1")),  # type: ignore[call-overload]
    "a snapshot that is cut": _from_snapshot(lambda: _snapshot()[:-5]),
    "a snapshot that is none": _from_snapshot(_ARGUMENTS.encode),
    "a body that is none": _from_snapshot(lambda: resealed([CANARY, _ARGUMENTS, [_ARGUMENTS]])),
    "a snapshot of other tools": _from_snapshot(_snapshot, {"f": _Strict}),
    **{
        f"a snapshot with another {name}": _from_snapshot(partial(_with_a_forged_call, name))
        for name in kept_by(Call)
        if name not in _TEXTS_OF_CALLS
    },
    "yaml": _of_file("cut.yaml", f"interactions:\n- request: {{\n  x: '{CANARY}\n".encode()),
    "har": _of_file("cut.har", b'{"log": {"entries": [{"response": ' + _ARGUMENTS[:-1].encode()),
}


@pytest.mark.parametrize("what", RAISES)
def test_no_exception_holds_arguments(what: str, tmp_path: Path) -> None:
    """Law 28: no exception that we raise, nor any that it came from, holds argument text anywhere."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whichever it is
        RAISES[what](tmp_path)

    assert [] == spilled_by(caught.value)


def test_a_failed_stream_does_not_quote_the_model() -> None:
    """Law 28: servers quote arguments in their errors; the error of `raise_for_fault` shows their words up to there."""
    with pytest.raises(WholecallError) as caught:
        _failed()

    assert (CANARY not in str(caught.value), "error parsing tool call: raw=" in str(caught.value)) == (
        True,
        True,
    )


_FILES: dict[str, tuple[list[str], bytes]] = {
    "replay": (["replay"], f"data: {CANARY}".encode()),
    "replay, a recording of ours": (["replay"], _HEAD + b"\n" + _LINE[:-3] + b"\xff\n"),
    "lint": (["lint"], b'{"type":"message_start","x":"' + CANARY.encode() + b"\xff"),
    "history": (["history", "check", "--dialect", "chat-completions"], _ARGUMENTS.encode()[:-2] + b"\n{}"),
    "args": (["args"], _ARGUMENTS.encode()[:-2]),
    "args, partial": (["args", "--partial"], _ARGUMENTS.encode()[:-2] + b"x"),
    "args, not UTF-8": (["args"], _ARGUMENTS.encode() + b"\xff"),
    "diff": (["diff"], b'{"type":"turn_started"}\n"' + CANARY.encode() + b'\xff"\n'),
    "redact": (["redact", "-o", "OUT"], f"data: {CANARY}".encode()),
}


@pytest.mark.parametrize("command", _FILES)
def test_the_command_line_complains_without_quoting(command: str, tmp_path: Path) -> None:
    """Law 28: failures are reported on stderr, with files and lines, but without their content."""
    words, data = _FILES[command]
    path = tmp_path / "file.jsonl"
    path.write_bytes(data)
    paths = [str(path)] * (2 if command == "diff" else 1)
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors), suppress(SystemExit):  # for a wrong command line
        main([*(str(tmp_path / word) if word == "OUT" else word for word in words), *paths])

    assert CANARY not in errors.getvalue()
