"""The limits of a text: a breach never raises, and never turns the rest of a value into visible text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.together import together
from tests.text.reading import TOOLS, begun, calls, merged, read, spelled, visible
from wholecall.limits import Limits
from wholecall.text.outputs import Markup, Shown, Unread

CALL = '<tool_call>{"name": "g", "arguments": {}}</tool_call>'


def reasons(outputs: Sequence[object]) -> list[str]:
    """Return the reasons of the drops."""
    return [output.reason for output in outputs if isinstance(output, Unread)]


LONG = {
    "hermes": '<tool_call>{{"name": "f", "arguments": {{"a": "{}"}}}}</tool_call>',
    "qwen_xml": "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>f<arg_key>a</arg_key><arg_value>{}</arg_value></tool_call>",
    "mistral": '[TOOL_CALLS]f[ARGS]{{"a": "{}"}}',
    "lfm2": "<|tool_call_start|>[f(a='{}')]<|tool_call_end|>",
    "gemma4": '<|tool_call>call:f{{a:<|"|>{}<|"|>}}<tool_call|>',
    "minimax_m3": ']<]minimax[>[<invoke name="f">]<]minimax[>[<a>{}]<]minimax[>[</a>]<]minimax[>[</invoke>',
    "minicpm5": '<function name="f"><param name="a"><![CDATA[{}]]></param></function>',
    "muse": ' to=f<|message|><atem:invoke name="f"><atem:parameter name="a">{}</atem:parameter></atem:invoke><|eom|>',
}
INNER = (CALL + " </x> ").replace('"', "`")  # must not be in the output of a value that is too long


@together("name", LONG, one_in=2)
@together("window", [0, 4096])
@together("most", [0, 100, 5000])
@together("size", [11, 10**9])
def test_a_region_that_is_too_long_is_read_to_its_end(name: str, window: int, most: int, size: int) -> None:
    """A call longer than `max_arguments_bytes` is one drop with the beginning of its text, and nothing in it is
    shown.
    """
    text = "Well. " + LONG[name].format(INNER.replace("</tool_call>", "") * 900) + " Done."
    if name == "muse":
        text = "<|start|>assistant" + text.removeprefix("Well. ")
    limits = Limits(max_arguments_bytes=most, max_raw_bytes=64)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    outputs = merged(read(name, pieces, tools=TOOLS, window=window, limits=limits))
    (drop,) = [output for output in outputs if isinstance(output, Unread)]

    assert drop.reason == "arguments_too_large"
    assert drop.source in text
    assert len(drop.source) == min(most, 64)
    assert [] == calls(outputs)
    assert visible(outputs).strip() in {"Well.  Done.", "Well. Done.", "Done."}


def test_what_is_too_long_is_not_kept() -> None:
    """The engine holds no more of it than the limit and its possible backtracking."""
    engine = begun("hermes", limits=Limits(max_arguments_bytes=1000))
    engine.feed('<tool_call>{"name": "f", "arguments": {"a": "')
    for _ in range(4000):
        engine.feed("x" * 250)

    assert sum(map(len, engine.source._parts)) < 100_000


@pytest.mark.parametrize(("size", "is_call"), [(1000, True), (1100, False)])
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("anthropic", '<function_calls><invoke name="f" x="{}"></invoke></function_calls>'),
        (
            "kimi_k3",
            '<|open|>tools<|sep|><|open|>call tool="f" x="{}"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
        ),
    ],
)
def test_a_head_has_at_most_so_many_characters(name: str, form: str, size: int, *, is_call: bool) -> None:
    """A tag's head that is longer than 1,024 characters is not a head."""
    outputs = read(name, list(form.format("x" * size)))

    assert is_call == bool(calls(outputs))
    assert form.format("x" * size) == spelled(outputs)


@pytest.mark.parametrize(("size", "is_call"), [(256, True), (257, False)])
@pytest.mark.parametrize(
    "form", ["[TOOL_CALLS]{}[ARGS]{{}}", "<tool_call>{}\n</tool_call>", "<function={}></function>"]
)
def test_a_name_has_at_most_so_many_characters(form: str, size: int, *, is_call: bool) -> None:
    """A name that is longer than 256 characters is not a name, and the call is text."""
    name, text = "n" * size, form.format("n" * size)
    format_ = "mistral" if text[0] == "[" else "glm" if text[1] == "t" else "qwen_xml"
    outputs = merged(read(format_, list(text), tools={name: None}))

    assert ([(name, "{}")] if is_call else []) == calls(outputs)
    assert (name in visible(outputs)) is not is_call


@pytest.mark.parametrize(("size", "is_header"), [(900, True), (1100, False)])
def test_a_header_has_at_most_so_many_characters(size: int, *, is_header: bool) -> None:
    """A header without an end within 1,024 characters is shown without its marker."""
    text = f"<|channel|>final {'x ' * (size // 2)}<|message|>Well."
    outputs = merged(read("harmony", list(text)))

    assert text == spelled(outputs)
    assert ("Well." == visible(outputs)) is is_header


@pytest.mark.parametrize(("size", "shown"), [(4000, ""), (5000, "\n" * 5000)])
def test_white_space_at_an_edge_waits_up_to_a_limit(size: int, shown: str) -> None:
    """White space before a marker is markup, unless there is very much of it."""
    assert shown == visible(read("hermes", ["\n"] * size + [CALL]))[: len(shown) or None]


@pytest.mark.parametrize(("size", "found"), [(100, 1), (2000, 0)])
def test_a_weak_call_is_held_up_to_a_limit(size: int, found: int) -> None:
    """Text that may be a weak call is shown when too much of it was held."""
    text = f'{{"name": "f", "arguments": {{"a": "{"x" * size}"}}}}'
    limits = Limits(max_held_text=1000)

    for pieces in ([text], list(text)):
        outputs = merged(read("generic", pieces, tools=TOOLS, limits=limits))

        assert found == len(calls(outputs))
        assert found or [Shown(text)] == outputs


@pytest.mark.parametrize(("size", "found"), [(100, 1), (2000, 0)])
def test_a_call_in_reasoning_is_held_up_to_a_limit(size: int, found: int) -> None:
    """A call in reasoning counts no longer when too much of the following text was held."""
    text = f"<think>So {CALL}{' ' * size}"

    for pieces in ([text], list(text)):
        outputs = merged(read("hermes", pieces, limits=Limits(max_held_text=1000)))

        assert found == len(calls(outputs))
        assert found or [Markup("<think>"), Shown(text[7:], reasoning=True)] == outputs


NESTED: list[tuple[str, str]] = [
    ("hermes", '<tool_call>{{"name": "f", "arguments": {}}}</tool_call> Done.'),
    ("mistral", '[TOOL_CALLS]f[ARGS]{{"a": {}}} Done.'),
    ("lfm2", "<|tool_call_start|>[f(a={})]<|tool_call_end|> Done."),
    ("gemma4", "<|tool_call>call:f{{a:{}}}<tool_call|> Done."),
]


@together(("name", "form"), NESTED, one_in=3)
@together("depth", [5, 100_000])
def test_what_is_nested_too_deep_is_dropped_at_its_end(name: str, form: str, depth: int) -> None:
    """Deeper brackets are only counted, and the text after the call is shown."""
    text = form.format("[" * depth + "]" * depth)
    outputs = read(name, [text[at : at + 999] for at in range(0, len(text), 999)], limits=Limits(max_depth=4))

    assert ["nesting_too_deep"] == reasons(outputs)
    assert " Done." == visible(outputs)


def test_elements_that_are_nested_too_deep_are_dropped() -> None:
    """Elements of elements are, too."""
    token = "]<]minimax[>["
    inner = "".join(f"{token}<a>" for _ in range(99)) + "x" + "".join(f"{token}</a>" for _ in range(99))
    outputs = read(
        "minimax_m3", [f'{token}<invoke name="f">{inner}{token}</invoke>'], limits=Limits(max_depth=9)
    )

    assert ["nesting_too_deep"] == reasons(outputs)


def test_a_limit_that_is_off_is_none() -> None:
    """Without limits long and deep calls are read."""
    value: list[Any] = []
    for _ in range(150):
        value = [value]
    text = f'<tool_call>{{"name": "f", "arguments": {{"a": {str(value).replace(chr(39), chr(34))}}}}}</tool_call>'

    assert 1 == len(calls(read("hermes", [text], limits=Limits.none())))


def test_the_oldest_closers_that_are_owed_are_forgotten() -> None:
    """Of many closers that did not come the latest sixteen are still markup."""
    engine = begun("anthropic", tools=TOOLS)
    engine.feed('<function_calls><invoke name="f"></invoke>' * 40)

    assert 16 == len(engine.state.owed)
