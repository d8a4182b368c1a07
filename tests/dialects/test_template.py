"""Turns, ends and decisive frames that are made from the cases of a dialect."""

from __future__ import annotations

import pytest

from tests.support import new_dialect, shown, template
from tests.support.encode import Call, Turn, whole

USED = '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":2}}'
TOOL = '"type":"mcp_tool_call","server":"s","tool":"go","arguments":{"b":[2]},"result":null,"error":null'


def rendered(turn: Turn) -> list[str]:
    """Return the lines of a turn, as the cases of `codex exec` write it."""
    render = template.renderer("codex-exec")
    return [] if render is None else render(turn, whole).decode().splitlines()


def test_a_turn_has_the_frames_of_the_cases_with_its_own_values() -> None:
    """The id, the name, the arguments and the texts are those of the turn; all else is as the cases have it."""
    expected = [
        '{"type":"thread.started","thread_id":"t1"}',
        '{"type":"turn.started"}',
        '{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"so"}}',
        '{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"Aye."}}',
        f'{{"type":"item.completed","item":{{"id":"c",{TOOL},"status":"completed"}}}}',
        USED,
    ]

    assert expected == rendered(Turn([Call("c", "go", '{"b": [2]}')], text="Aye.", reasoning="so"))


def test_a_turn_that_was_cut_ends_as_the_cases_say() -> None:
    """By its length, or as a failure where the wire has no word for that."""
    assert '{"type":"turn.failed","error":{"message":"gone"}}' == rendered(Turn(stopped="length"))[-1]
    assert USED == rendered(Turn())[-1]


@pytest.mark.parametrize("name", ["anthropic", "chat-completions", "legacy-completions", "mcp"])
def test_pieces_make_no_renderer(name: str) -> None:
    """Where calls come in pieces, or not at all, the cases show no whole call in frames of its own."""
    assert template.renderer(name) is None


def test_the_executor_of_calls_is_told_by_the_deltas() -> None:
    """`codex exec` executes its calls itself, Ollama asks for them."""
    assert [True, False] == [template.is_of_server(name) for name in ("codex-exec", "ollama")]


def test_the_cases_tell_how_a_dialect_begins_and_ends() -> None:
    """The first frame that begins an answer is decisive; an end says nothing else."""
    begun, ended = shown.decisive()["anthropic"], shown.ends()["anthropic"]

    assert "message_start" == begun["type"]
    assert ["message_delta", "message_stop"] == [frame["type"] for frame in ended]


def test_the_parts_of_a_new_dialect_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """The program writes nothing before they are there."""
    expected = "missing: no entry 'sunflower' in ENTRIES of parser/wholecall/dialects/detect.py\n"

    assert (1, expected) == (new_dialect.main(["sunflower"]), capsys.readouterr().out)


def test_an_old_dialect_lacks_nothing() -> None:
    """Each part of a dialect that is there is found."""
    assert ([], []) == (new_dialect.missing("codex-exec"), new_dialect.unread("codex-exec"))
