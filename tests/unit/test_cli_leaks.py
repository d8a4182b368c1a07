"""Calls in unread texts: found, counted, and named by the format that reads them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.leaking import HERMES, QUOTED, QWEN, chat, leaked
from tests.support.together import together
from wholecall import ToolCallParser, detect, read_text, text_formats
from wholecall.stream.shells.leaks import Leaks, leak_in

DOCS = Path(__file__).parents[2] / "docs"


def leaks(data: bytes) -> Counter[str]:
    """Return the leaks of a stream."""
    found, parser = Leaks(), ToolCallParser()
    for event in [*parser.feed(data), *parser.close()]:
        found.add(event)
    return found.found


@together(
    ("text", "found"),
    [
        (HERMES, {"hermes": 1}),
        (HERMES + "\n" + HERMES, {"hermes": 2}),
        (QWEN, {"qwen_xml": 1}),
        ("<function=ring>\n<parameter=bell>\n4\n</parameter>\n</function>", {"qwen_xml": 1}),
        (
            "<tool_call>ring\n<arg_key>bell</arg_key>\n<arg_value>4</arg_value>\n</tool_call>",
            {"glm": 1},
        ),
        ('[TOOL_CALLS]ring[ARGS]{"bell": 4}', {"mistral": 1}),
        ("<function_calls>\nring(bell=4)\nring(bell=5)\n</function_calls>", {"olmo3": 2}),
        (
            "<seed:tool_call>\n<function=ring>\n<parameter=bell>4</parameter>\n</function>\n</seed:tool_call>",
            {"seed_oss": 1},
        ),
        (
            '<|start|>assistant<|channel|>commentary to=functions.ring<|message|>{"bell":4}<|call|>',
            {"harmony": 1},
        ),
        (
            '<minimax:tool_call><invoke name="ring"><parameter name="bell">4</parameter></invoke></minimax:tool_call>',
            {"minimax_m2": 1},
        ),
        (
            '<|tool_call:begin|>0<|tool_call:name|>ring<|tool_call:args|>{"bell": 4}<|tool_call:end|>',
            {"solar_open": 1},
        ),
        (
            "<tool_calls:6124c78e><tool_call:6124c78e>ring</tool_call:6124c78e></tool_calls:6124c78e>",
            {"hunyuan_v3": 1},
        ),
        ('**Tool Call:**\n\n```json\n{"bell": 4}\n```', {}),
        ('<tool_call>{"name": "ring", "argu', {"hermes": 1}),
        (QUOTED, {}),
        ("Write <tool_call> and then the call.", {}),
        ('{"name": "ring", "arguments": {"bell": 4}}', {}),
        (">>> ring(4)", {}),
        ("", {}),
    ],
)
def test_the_format_that_reads_most_names_the_leak(text: str, found: dict[str, int]) -> None:
    """Whole calls and beginnings of calls are counted; a quoted marker, or text without one, is not a leak."""
    assert found == leak_in(text, "length")


@pytest.mark.parametrize("text", [HERMES, QWEN, '[TOOL_CALLS]ring[ARGS]{"bell": 4}'])
def test_the_format_that_is_named_reads_it(text: str) -> None:
    """A leak's name is a value for `text=`, and with it the calls are found."""
    ((name, count),) = leak_in(text).items()

    assert name in text_formats()
    assert count == len(read_text(text, name).calls)


@together("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_documents_leak_nothing(page: Path) -> None:
    """Pages that describe markers contain none that counts."""
    assert {} == leak_in(page.read_text("utf-8"))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_is_the_text_of_its_choices(size: int) -> None:
    """The pieces do not matter; the turn's end decides."""
    assert {"hermes": 1} == leaks(leaked(HERMES, size=size))
    assert {"hermes": 1} == leaks(leaked(HERMES, size=size, finish=None))


def test_reasoning_counts_where_nothing_else_came() -> None:
    """A model that went on after its thoughts did not mean the calls in them."""
    thoughts = {"reasoning_content": HERMES}
    call = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "ring", "arguments": "{}"}}]}

    assert {"hermes": 1} == leaks(chat(thoughts))
    assert {} == leaks(chat(thoughts, {"content": "Done."}))
    assert {} == leaks(chat(thoughts, call))
    assert {"qwen_xml": 1} == leaks(chat(thoughts, {"content": QWEN}))


def test_a_structured_call_beside_it_hides_no_leak() -> None:
    """A server that parses calls and shows them too leaks."""
    call = {
        "tool_calls": [{"index": 0, "id": "c1", "function": {"name": "ring", "arguments": '{"bell": 3}'}}]
    }

    assert {"hermes": 1} == leaks(chat({"content": HERMES}, call, finish="tool_calls"))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (leaked(HERMES), "hermes"),
        (leaked(QWEN), "qwen_xml"),
        (leaked(HERMES)[:-400], "hermes"),
        (leaked(QUOTED), None),
        (leaked("Hello"), None),
    ],
)
def test_detection_hints_at_the_format(data: bytes, found: str | None) -> None:
    """The name of the dialect is a string as before, and carries the format in which calls came as text."""
    detected = detect(data)

    assert "chat-completions" == detected
    assert isinstance(detected, str)
    assert (found, found) == (detected.text_format, pickle.loads(pickle.dumps(detected)).text_format)  # noqa: S301
    assert {"chat-completions": 1}[detected] == 1


def test_without_a_dialect_there_is_no_hint() -> None:
    """A stream that no dialect knows is None, as before."""
    assert detect(b'data: {"x": "<tool_call>{}</tool_call>"}\n\n') is None


def test_the_readers_are_imported_for_who_detects() -> None:
    """`import wholecall` brings no reader of texts."""
    code = "import sys, wholecall; print('wholecall.text.engine' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603

    assert "False\n" == done.stdout
