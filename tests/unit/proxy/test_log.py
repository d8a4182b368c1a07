from __future__ import annotations

import io
import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.exchanges import SECRET, entry
from wholecall.proxy.config import LogForm
from wholecall.proxy.entry import Lost
from wholecall.proxy.log import Line, Log, Teller, line_of, plain_path, to_text

FIELDS = [
    *("ts", "id", "upstream", "method", "path", "status", "outcome", "error", "dialect", "model"),
    *("ms_first", "ms", "bytes_in", "bytes_out", "calls", "withheld", "mended", "held_ms", "pings"),
    *("tokens_in", "tokens_out", "messages_in", "messages_out", "messages_asked", "close"),
]


def written(*lines: Line, form: LogForm = "json") -> str:
    """Return a log's output."""
    stream = io.StringIO()
    log = Log(stream, form)
    for line in lines:
        log.write(line)
    log.close()
    return stream.getvalue()


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


@pytest.mark.parametrize("form", get_args(LogForm))
def test_people_on_a_terminal_get_text(form: LogForm) -> None:
    """Without a chosen form a terminal gets text and a pipe JSON; the proxy's own messages have the same form."""
    expected = {"auto": ("text", "json")}.get(form, (form, form))
    forms = []
    for stream in (Terminal(), io.StringIO()):
        log = Log(stream, form)
        log.write(line_of(entry()))
        log.close()
        first = stream.getvalue()[:1]
        forms.append({"": "off", "{": "json"}.get(first, "text"))
        stream.seek(0)
        stream.truncate()
        Teller(form, stream).say("listening", "h")
        assert (stream.getvalue()[:1] == "{") == (forms[-1] == "json")

    assert expected == tuple(forms)


def test_an_exchange_is_a_line_of_json() -> None:
    """The line has all fields, in an order that does not change, and ends in a newline."""
    lost = [Lost("read_file", "truncated"), Lost(None, "nameless")]
    told = entry(
        outcome="withheld",
        error="calls_withheld",
        seconds_first=0.5,
        seconds=1.23456,
        held_seconds=0.25,
        bytes_in=900,
        bytes_out=800,
        calls=1,
        n_withheld=2,
        withheld=lost,
        mended=True,
        pings=2,
        tokens_in=100,
        tokens_out=20,
    )
    text = written(line_of(told))
    found: dict[str, Any] = json.loads(text)

    assert text.endswith("}\n")
    assert FIELDS == list(found)
    assert found == {
        "ts": "2026-11-23T09:06:55.250Z",
        "id": "req-1",
        "upstream": "openai",
        "method": "POST",
        "path": "/v1/chat/completions",
        "status": 200,
        "outcome": "withheld",
        "error": "calls_withheld",
        "dialect": "chat-completions",
        "model": "gpt-4.1",
        "ms_first": 500.0,
        "ms": 1234.6,
        "bytes_in": 900,
        "bytes_out": 800,
        "calls": 1,
        "withheld": [
            {"name": "read_file", "reason": "truncated"},
            {"name": None, "reason": "nameless"},
        ],
        "mended": True,
        "held_ms": 250.0,
        "pings": 2,
        "tokens_in": 100,
        "tokens_out": 20,
        "messages_in": None,
        "messages_out": None,
        "messages_asked": None,
        "close": None,
    }


def test_for_people_a_line_says_what_is_special() -> None:
    """The most common fields come first, and zero or absent values are left out."""
    plain = to_text(line_of(entry(seconds=1.2, seconds_first=0.4)))
    odd = to_text(line_of(entry(outcome="withheld", withheld=[Lost("ls", "truncated")], pings=1)))
    begin = "2026-11-23T09:06:55.250Z POST /v1/chat/completions 200"

    assert f"{begin} ok openai chat-completions 1200ms first=400ms model=gpt-4.1 id=req-1" == plain
    assert (
        f"{begin} withheld openai chat-completions 0ms model=gpt-4.1 withheld=ls(truncated) pings=1 id=req-1"
        == odd
    )


def test_off_writes_nothing() -> None:
    """A log that is off has no line, and loses none."""
    stream = io.StringIO()
    log = Log(stream, "off")
    log.write(line_of(entry()))
    log.close()

    assert ("", 0) == (stream.getvalue(), log.lost)


@given(path=st.text(), model=st.text(), method=st.text(), form=st.sampled_from(["json", "text"]))
def test_nothing_breaks_a_line(path: str, model: str, method: str, form: LogForm) -> None:
    """Whatever the client sends, an exchange is one line without a character that a terminal obeys."""
    text = written(line_of(entry(path=path, model=model, method=method)), form=form)

    assert text.endswith("\n")
    assert text.removesuffix("\n").isprintable()


@given(st.text())
def test_a_path_is_one_field(path: str) -> None:
    """A path holds no white space in the log, and a path as it should be stays as it is."""
    shown = plain_path(path)

    assert shown.isascii()
    assert [] == [c for c in shown if c.isspace()]
    assert shown == plain_path(shown)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v1/responses", "/v1/responses"),
        ("/a%20b/c:d@e;f=g", "/a%20b/c:d@e;f=g"),
        ("/a\nINFO forged", "/a%0AINFO%20forged"),
        ("/\x1b[31m", "/%1B[31m"),
        ("/\x9b\u2028é", "/%C2%9B%E2%80%A8%C3%A9"),
        ("/\udc80", "/\\udc80"),
    ],
)
def test_paths_are_shown_in_ascii(path: str, shown: str) -> None:
    """Characters other than printable ASCII are written as in a URL."""
    assert shown == plain_path(path)


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_text_is_in_the_log(form: LogForm) -> None:
    """The request's body is in no line, and in no repr."""
    told = entry()
    line = line_of(told)

    assert told.request == SECRET.encode()
    assert SECRET not in written(line, form=form) + repr(line) + repr(told)


class Broken(io.StringIO):
    """A stream that is no longer read."""

    def write(self, _text: str) -> int:
        """Fail."""
        raise BrokenPipeError


def test_a_reader_that_left_is_no_fault() -> None:
    """Lines that cannot be written are counted, and the caller continues."""
    log = Log(Broken(), "json")
    log.write(line_of(entry()))
    log.write(line_of(entry()))
    log.close()

    assert 2 == log.lost


def test_after_the_end_lines_are_lost() -> None:
    """A line that comes after the log was closed is counted as lost."""
    log = Log(io.StringIO(), "json")
    log.close()
    log.write(line_of(entry()))

    assert 1 == log.lost
