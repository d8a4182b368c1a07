"""Argument text that is shown while it arrives: the shown part, and the part kept for the verdict."""

from __future__ import annotations

import json

import pytest

from tests.support import bless, corpora
from tests.support.naive import read_calls
from tests.support.together import together
from wholecall import Limits, ToolCall, parse_arguments
from wholecall.encoders import argument_text
from wholecall.repairing import Repairer
from wholecall.repairing.live import LiveText


def shown(*pieces: str, is_json: bool = True) -> list[str]:
    """Return the shown text for each piece."""
    text = LiveText(Limits(), is_json=is_json)
    return [text.add(piece) for piece in pieces]


@together(
    ("text", "expected"),
    [
        ('{"a":"b"}', '{"a":"b"'),
        ('{"a": [1, 2], "b": {}}', '{"a": [1, 2], "b": {}'),
        ("{}", "{"),
        ('{"a":12', '{"a":'),
        ('{"a":12,', '{"a":12'),
        ('{"a":1 , ', '{"a":1'),
        ('{"a":1 , "b"', '{"a":1 , "b"'),
        ('{"a":[1,', '{"a":[1'),
        ('{"a":1,}', '{"a":1'),
        ('{"a":tru', '{"a":'),
        ('{"a":True}', '{"a":'),
        ('{"a":01}', '{"a":'),
        ("{'a':1}", "{"),
        ('{"a":"x\ny"}', '{"a":"x'),
        ('{"a":"x\\u00', '{"a":"x'),
        ('{"a":"x\\u00e9', '{"a":"x\\u00e9'),
        ('{"a":"x\\ud83d', '{"a":"x'),
        ('```json\n{"a":1}', ""),
        ('"{\\"a\\":1}"', ""),
        ('\ufeff{"a":1}', ""),
        (' {"a":1}', ' {"a":1'),
        ('{"a":1}{"a":1}', '{"a":1'),
        ("[1]", ""),
        ("", ""),
    ],
)
def test_what_a_correction_could_change_is_kept(text: str, expected: str) -> None:
    """Only the strict beginning is shown, without the last brace; the same for every cut of the text."""
    for size in (1, 2, 3, 100):
        assert expected == "".join(shown(*(text[at : at + size] for at in range(0, len(text), size)))), size


def test_free_text_is_shown_as_it_comes() -> None:
    """There is nothing in it that could be a slip."""
    assert ["SELECT", ",}"] == shown("SELECT", ",}", is_json=False)


@pytest.mark.parametrize(
    ("before", "whole", "expected"),
    [
        ("{}", '{"a":1}', ["{", '"a":1']),
        ('{"a":1', '{"a":12,"b":"x', ['{"a":', '12,"b":"x']),
        ('{"a":"x', '{"a":"x', ['{"a":"x', ""]),
        ('{"a":"x', '{"b":"y"}', ['{"a":"x', ""]),
    ],
)
def test_a_text_that_is_told_anew_goes_on_where_it_was(before: str, whole: str, expected: list[str]) -> None:
    """Shown text is not repeated; a text that does not repeat it waits for the verdict."""
    text = LiveText(Limits(), is_json=True)

    assert expected == [text.add(before), text.reset(whole)]


@pytest.mark.parametrize(
    ("pieces", "text", "expected"),
    [
        (['{"a": 1, '], '{"a": 1}', "}"),
        (['{"a": [1, 2 ,'], '{"a":[1,2]}', "]}"),
        (['{ "a b" : "c d'], '{"a b":"c d"}', '"}'),
        (['{"a":"x'], '{"b":"x"}', None),
        ([], '{"a":1}', '{"a":1}'),
    ],
)
def test_the_rest_completes_what_was_shown(pieces: list[str], text: str, expected: str | None) -> None:
    """White space outside of strings does not matter; a contradicting text cannot be completed."""
    live = LiveText(Limits(), is_json=True)
    began = "".join(map(live.add, pieces))

    assert expected == live.rest(text)
    if expected is not None:
        assert json.loads(text) == json.loads(began + expected)


@together(
    "text",
    [
        '{"a": 1, "b": [1, 2,],}',
        '```json\n{"a": 1}\n```',
        '"{\\"a\\": 1}"',
        '{"a": True, "b": None}',
        "{'a': 'b'}",
        '{"a": 1} // done',
        '{a: "b"}',
        '{"a": "line\nline"}',
        '\ufeff{"a": 1}',
        '{"a": 1}{"a": 1}',
    ],
)
def test_slips_are_repaired_live(text: str) -> None:
    """Every slip with one reading: the shown text and its rest are the arguments of the verdict."""
    verdict = parse_arguments(text)
    call = ToolCall(0, 0, 0, "c", "f", verdict.arguments, text, verdict.status)
    live = LiveText(Limits(), is_json=True)
    began = "".join(map(live.add, text))

    assert verdict.status in {"recovered", "normalised"}
    assert verdict.arguments == json.loads(began + (live.rest(argument_text(call)) or "?"))


REPAIRED_LIVE = (
    *("arguments-code-fence", "arguments-double-encoded", "arguments-placeholder", "arguments-recovered"),
    "arguments-surplus-brace",
)


@pytest.mark.parametrize("name", REPAIRED_LIVE)
def test_recordings_that_can_be_repaired_are_repaired_live(name: str) -> None:
    """Streams with slips and placeholders are output whole, without an error."""
    (entry,) = [entry for entry in corpora.cases() if entry["name"] == f"chat-completions/{name}"]
    data = corpora.recorded(entry)
    repairer = Repairer(live_arguments=True)
    out = repairer.feed(data) + repairer.close()
    calls = [event for event in bless.parse([data]) if isinstance(event, ToolCall)]
    found = [json.loads(text) for _, _, text in read_calls("chat-completions", out)]

    assert None is repairer.report.error
    assert [call.arguments for call in calls] == found != []
