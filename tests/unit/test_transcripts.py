"""The rules of repair, each in every shape that can break it; contents are compared in neutral words."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.support.histories import SHAPES, Answer, Block, Happening, Note, Result, Said, render
from tests.support.together import together
from tests.support.transcript_rules import complaints, said
from wholecall.history import MISSING_RESULT, Repaired, repair_transcript, shrink_transcript
from wholecall.history.transcripts import indexed_transcript

EVERY = sorted(SHAPES)
# Items have no word for a turn that was aborted: unfinished items say `incomplete`.
ABORTING = [shape for shape in EVERY if shape not in ("responses", "codex")]
STRINGS = ["chat-completions", "codex", "responses"]  # shapes that carry arguments as JSON text
OBJECTS = [shape for shape in EVERY if shape not in STRINGS]
WITH_IDS = [shape for shape in EVERY if shape != "gemini"]
SCRATCHED = [shape for shape in EVERY if shape not in ("responses", "codex")]

PATH = {"path": "/x"}


def text(words: str) -> Block:
    """Return a text."""
    return Block("text", words)


def call(id: str = "c1", arguments: Any = PATH, **more: Any) -> Block:
    """Return a call."""
    return Block("call", id=id, arguments=arguments, **more)


THOUGHT = Block("thinking", "hmm")


def repaired(shape: str, *happened: Happening, **options: Any) -> tuple[list[str], Repaired]:
    """Repair a history; return its content then, and the repair's result."""
    found = repair_transcript(render(shape, list(happened)), shape=shape, **options)
    rules = complaints(shape, list(found.messages), kept=options.get("unanswered") == "keep")
    assert rules == []
    return said(shape, list(found.messages)), found


def answered(id: str = "c1", **more: Any) -> tuple[Happening, ...]:
    """Return a call and its result."""
    return (Answer((call(id, **more),), "tool_calls"), Result(id))


# --- turns that were aborted or cut -------------------------------------------------------------------------


@together("stop", ["aborted", "error"])
@together("shape", ABORTING)
def test_an_aborted_turn_keeps_its_text_alone(shape: str, stop: str) -> None:
    """A turn that was aborted or failed loses its calls and its thoughts, and keeps its text."""
    words, found = repaired(shape, Said("a"), Answer((THOUGHT, text("look"), call()), stop), Said("b"))

    assert ["user: a", "model: look", "user: b"] == words
    assert ["c1"] == found.report.stripped_calls
    assert 1 == len(found.report.dropped_thinking)
    assert [] == found.report.synthesised


@pytest.mark.parametrize("shape", ABORTING)
def test_an_aborted_turn_without_text_goes(shape: str) -> None:
    """A message of which nothing is left, or only thoughts, is dropped."""
    words, found = repaired(shape, Said("a"), Answer((THOUGHT, call()), "aborted"), Said("b"))

    assert ["user: a", "user: b"] == words
    assert found.report.dropped_messages


@pytest.mark.parametrize("shape", ABORTING)
def test_an_aborted_turn_loses_calls_that_were_answered(shape: str) -> None:
    """Results that answer a stripped call go with it, wherever they are, and none is made."""
    happened = (Said("a"), Answer((text("look"), call()), "error"), Result("c1"), Said("b"), Result("c1"))
    words, found = repaired(shape, *happened)

    assert ["user: a", "model: look", "user: b"] == words
    assert ["c1", "c1"] == found.report.dropped_results
    assert [] == found.report.synthesised


@pytest.mark.parametrize("shape", ABORTING)
def test_an_aborted_turn_of_text_is_left_alone(shape: str) -> None:
    """An aborted turn that has nothing to lose is not a change, and the list comes back as it was."""
    messages = render(shape, [Said("a"), Answer((text("partial"),), "aborted"), Said("b")])

    assert repair_transcript(messages, shape=shape).messages is messages  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", ABORTING)
def test_an_aborted_turn_can_be_dropped_whole(shape: str) -> None:
    """With `aborted="drop_turn"` nothing of an aborted turn stays."""
    happened = (
        Said("a"),
        Answer((text("look"), call()), "aborted"),
        Result("c1"),
        Said("b"),
        Answer((text("x"),)),
    )
    words, found = repaired(shape, *happened, aborted="drop_turn")

    assert ["user: a", "user: b", "model: x"] == words
    assert (["c1"], ["c1"]) == (found.report.stripped_calls, found.report.dropped_results)


@together("member", ["stopReason", "stop_reason", "finish_reason", "finishReason"])
@together("word", ["aborted", "error", "ABORTED", "cancelled", "canceled"])
def test_the_word_for_aborted_stands_in_many_places(member: str, word: str) -> None:
    """Why a turn ended is read under each name that hosts give it, in any case."""
    message = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": PATH}]}
    found = repair_transcript([{"role": "user", "content": "a"}, message | {member: word}])

    assert [{"role": "user", "content": "a"}] == found.messages


@together("shape", STRINGS)
@together("arguments", ['{"pa', "", "{}", "[1]", None])
def test_a_cut_call_with_text_goes(shape: str, arguments: Any) -> None:
    """In a turn cut for length, a call goes unless its text is a complete object that is not empty."""
    words, found = repaired(shape, Said("a"), Answer((call("c1", arguments),), "length"), Said("b"))

    assert ["user: a", "user: b"] == words
    assert ["c1"] == found.report.stripped_calls


@pytest.mark.parametrize("shape", STRINGS)
def test_a_complete_call_of_a_cut_turn_stays(shape: str) -> None:
    """A call of a cut turn whose text is complete stays, and is answered like any other."""
    words, found = repaired(shape, Said("a"), Answer((call("c1", '{"path":"/x"}'),), "length"), Said("b"))

    assert ["user: a", "model calls c1", "c1 is missing", "user: b"] == words
    assert [] == found.report.stripped_calls

    kept, _ = repaired(shape, Answer((call("c1", '{"path":"/x"}'),), "length"), unanswered="keep")
    assert ["model calls c1"] == kept


@together("shape", OBJECTS)
@together("unanswered", ["synthesise", "keep"])
def test_an_object_of_a_cut_turn_is_judged_by_its_place(shape: str, unanswered: str) -> None:
    """An object shows no cut: in a cut turn the empty ones go and the last one, and the rest is settled."""
    cut = Answer((text("look"), call("c1"), call("c2", {}), call("c3")), "length")
    words, found = repaired(shape, Said("a"), cut, Said("b"), unanswered=unanswered)

    assert ["user: a", "model: look", "model calls c1", "c1 is missing", "user: b"] == words
    assert ["c2", "c3"] == found.report.stripped_calls


@pytest.mark.parametrize("shape", OBJECTS)
def test_what_is_no_object_is_incomplete(shape: str) -> None:
    """In a cut turn a list of arguments goes wherever it is; a made result keeps the last object."""
    cut = Answer((text("look"), call("c1", [1]), call("c2")), "length")
    words, _ = repaired(shape, cut, Result("c2", MISSING_RESULT), Said("b"))

    assert ["model: look", "model calls c2", "c2 is missing", "user: b"] == words


@pytest.mark.parametrize("shape", EVERY)
def test_an_answered_call_of_a_cut_turn_stays(shape: str) -> None:
    """A call that was answered was executed, and stays whatever its turn says."""
    words, found = repaired(shape, Said("a"), Answer((THOUGHT, call()), "length"), Result("c1"))

    assert ["user: a", "model thinks", "model calls c1", "c1: done"] == words
    assert not found.report.changed


@pytest.mark.parametrize("shape", STRINGS)
def test_a_made_result_does_not_save_a_cut_call(shape: str) -> None:
    """A result that an earlier repair made says nothing of execution: the cut call goes, and it as well."""
    happened = (
        Said("a"),
        Answer((call("c1", '{"pa'),), "length"),
        Result("c1", "No result provided"),
        Said("b"),
    )
    words, found = repaired(shape, *happened)

    assert ["user: a", "user: b"] == words
    assert ["c1"] == found.report.dropped_results


# --- thoughts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", EVERY)
def test_a_turn_that_loses_all_calls_loses_its_thoughts(shape: str) -> None:
    """A thought that led to a call which is no longer there is no longer valid."""
    cut = Answer((THOUGHT, text("look"), call("c1", '{"pa')), "length")
    words, _ = repaired(shape, Said("a"), cut, Said("b"))
    # Among items a thought belongs to the next item, and this one led to the text as well.
    led_on = ["model thinks"] * (shape in ("responses", "codex"))

    assert ["user: a", *led_on, "model: look", "user: b"] == words


@pytest.mark.parametrize("shape", EVERY)
def test_a_turn_that_keeps_a_call_keeps_its_thoughts(shape: str) -> None:
    """As long as one call stays, so do the thoughts."""
    cut = Answer((THOUGHT, call("c1"), call("c2", '{"pa')), "length")
    words, found = repaired(shape, Said("a"), cut, Result("c1"))

    assert ["user: a", "model thinks", "model calls c1", "c1: done"] == words
    assert [] == found.report.dropped_thinking


@pytest.mark.parametrize("shape", EVERY)
def test_thoughts_alone_are_no_message(shape: str) -> None:
    """A turn of nothing but thoughts is dropped, however it ended."""
    words, found = repaired(shape, Said("a"), Answer((THOUGHT,), "stop"), Said("b"))

    assert ["user: a", "user: b"] == words
    assert 1 == len(found.report.dropped_thinking)


@pytest.mark.parametrize("shape", ["anthropic", "claude-code"])
def test_pairs_of_the_providers_own_tools_stay(shape: str) -> None:
    """In an aborted turn, calls that the provider ran and answered stay; a half of such a pair goes."""
    blocks = (text("x"), Block("server", id="s1"), Block("server_alone", id="s2"), call())
    words, _ = repaired(shape, Said("a"), Answer(blocks, "aborted"))

    assert ["user: a", "model: x", "model does something", "model does something"] == words


@pytest.mark.parametrize("shape", ["anthropic", "claude-code"])
def test_a_paused_tool_of_the_provider_stays(shape: str) -> None:
    """Elsewhere a call of the provider's own tool may still be running."""
    messages = render(shape, [Said("a"), Answer((Block("server_alone", id="s1"),), None)])

    assert repair_transcript(messages, shape=shape).messages is messages  # type: ignore[arg-type]


# --- results ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", EVERY)
def test_a_missing_result_is_made(shape: str) -> None:
    """A call without a result gets one that says so, after the results that are there."""
    happened = (Said("a"), Answer((call("c1"), call("c2")), "tool_calls"), Result("c1"), Said("b"))
    words, found = repaired(shape, *happened)

    assert [
        *("user: a", "model calls c1", "model calls c2"),
        *("c1: done", "c2 is missing", "user: b"),
    ] == words
    assert ["c2"] == found.report.synthesised
    assert ([], [], []) == (found.report.moved, found.report.stripped_calls, found.report.dropped_results)


@pytest.mark.parametrize("shape", EVERY)
def test_a_last_call_is_answered_too(shape: str) -> None:
    """Nothing has to follow a turn for its results to be made."""
    words, _ = repaired(shape, Said("a"), Answer((call(),), "tool_calls"))

    assert ["user: a", "model calls c1", "c1 is missing"] == words


@pytest.mark.parametrize("shape", EVERY)
def test_unanswered_calls_can_be_kept(shape: str) -> None:
    """With `unanswered="keep"` a host's last results may still come."""
    messages = render(shape, [Said("a"), Answer((call(),), "tool_calls")])
    found = repair_transcript(messages, shape=shape, unanswered="keep")  # type: ignore[arg-type]

    assert found.messages is messages


@pytest.mark.parametrize("shape", EVERY)
def test_a_displaced_result_comes_back(shape: str) -> None:
    """A result after another message is moved to its call."""
    happened = (Said("a"), Answer((call(),), "tool_calls"), Said("hurry"), Result("c1"), Said("b"))
    words, found = repaired(shape, *happened)

    assert ["user: a", "model calls c1", "c1: done", "user: hurry", "user: b"] == words
    assert (["c1"], []) == (found.report.moved, found.report.synthesised)
    last = len(render(shape, list(happened))) - 1
    met = (
        [last - 2, last] if shape in ("anthropic", "gemini") else [last]
    )  # there results are the user's words
    assert met == found.report.adjacent_turns


@pytest.mark.parametrize("shape", WITH_IDS)
def test_a_result_before_its_call_comes_back(shape: str) -> None:
    """A result before the one call with its id is moved after it."""
    words, found = repaired(shape, Said("a"), Result("c1"), Answer((call(),), "tool_calls"), Said("b"))

    assert ["user: a", "model calls c1", "c1: done", "user: b"] == words
    assert ["c1"] == found.report.moved


@pytest.mark.parametrize("shape", EVERY)
def test_the_second_result_is_dropped(shape: str) -> None:
    """A call has one result; the first one counts."""
    happened = (Said("a"), Answer((call(),), "tool_calls"), Result("c1"), Result("c1", "again"), Said("b"))
    words, found = repaired(shape, *happened)

    assert ["user: a", "model calls c1", "c1: done", "user: b"] == words
    assert ["c1"] == found.report.dropped_results


@together("shape", EVERY)
@together("between", [(), (Said("hurry"),)], ids=["beside", "later"])
def test_a_real_result_replaces_a_made_one(shape: str, between: tuple[Happening, ...]) -> None:
    """A result that was made to fill a gap goes when the gap is filled, wherever the real result is."""
    happened = (Answer((call(),), "tool_calls"), Result("c1", MISSING_RESULT), *between, Result("c1"))
    words, found = repaired(shape, Said("a"), *happened, Said("b"))

    assert [
        "user: a",
        "model calls c1",
        "c1: done",
        *(f"user: {one.text}" for one in between),
        "user: b",
    ] == words
    assert ["c1"] == found.report.dropped_results


@pytest.mark.parametrize("shape", EVERY)
def test_an_orphan_is_dropped(shape: str) -> None:
    """Every provider refuses a result without a call."""
    words, found = repaired(shape, Said("a"), Result("c9", name="exec"), *answered(), Said("b"))

    assert ["user: a", "model calls c1", "c1: done", "user: b"] == words
    assert ["c9"] == found.report.dropped_results


@pytest.mark.parametrize(
    "marker",
    [
        MISSING_RESULT,
        "No result provided",
        "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.",
        (
            "Error: this tool call was not executed, or its result was lost from the conversation history. "
            "Do not assume it succeeded."
        ),
    ],
)
def test_made_results_are_known_by_their_words(marker: str) -> None:
    """Results that pi, openclaw, turnsafe or wholecall made give way to real ones; other texts do not."""
    happened = [Answer((call(),), "tool_calls"), Result("c1", marker), Result("c1")]
    other = [Answer((call(),), "tool_calls"), Result("c1", marker + "!"), Result("c1")]

    assert "c1: done" in said("pi", list(repair_transcript(render("pi", happened)).messages))
    assert f"c1: {marker}!" in said("pi", list(repair_transcript(render("pi", other)).messages))


# --- ids ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", EVERY)
def test_a_repeated_id_is_renamed(shape: str) -> None:
    """Calls that share an id are told apart on their later occurrences, call and result alike."""
    words, found = repaired(shape, Said("a"), *answered(), Said("b"), *answered(), Said("c"), *answered())

    assert [
        *("user: a", "model calls c1", "c1: done", "user: b", "model calls c1_2", "c1_2: done"),
        *("user: c", "model calls c1_3", "c1_3: done"),
    ] == words
    assert ["c1", "c1"] == found.report.renamed


@pytest.mark.parametrize("shape", EVERY)
def test_repeated_ids_pair_by_occurrence(shape: str) -> None:
    """A lost result of one call leaves the results of the others with that id where they belong."""
    asked = Answer((call(),), "tool_calls")
    happened = (asked, Result("c1", "one"), Said("b"), asked, Said("c"), asked, Result("c1", "three"))
    words, found = repaired(shape, *happened)

    assert [
        *("model calls c1", "c1: one", "user: b", "model calls c1_2", "c1_2 is missing"),
        *("user: c", "model calls c1_3", "c1_3: three"),
    ] == words
    assert ["c1"] == found.report.synthesised
    assert found.report.synthesized == found.report.synthesised  # one fact in either spelling


def test_new_ids_fit_where_the_old_ones_did() -> None:
    """A new id keeps to nine characters where the old one had nine, never grows past the common length, and is new."""
    ids = ["a1b2c3d4e", "x" * 40, "call_9999", "c1", "c1_2"]
    happened = [one for id in (*ids, *ids[:4]) for one in answered(id)]
    found = repair_transcript(render("chat-completions", happened))
    new = [message["tool_calls"][0]["id"] for message in found.messages[10::2]]

    assert ["a1b2c0002", "x" * 32 + "_2", "call_9999_2", "c1_3"] == new


@pytest.mark.parametrize("id", ["functions.read:0", "read:0"])
def test_counted_ids_stay_in_chat_completions(id: str) -> None:
    """Ids that a model counts within each answer stay as they are in chat completions (quirk 64)."""
    happened = [*answered(id), Said("b"), *answered(id)]
    chat, anthropic = (render(shape, happened) for shape in ("chat-completions", "anthropic"))

    assert repair_transcript(chat).messages is chat
    assert [id] == repair_transcript(anthropic).report.renamed


def test_only_ids_that_count_the_calls_of_a_tool_stay() -> None:
    """An id that names another tool than its call counts nothing, and within one answer no id may repeat."""
    other = [*answered("functions.exec:0"), Said("b"), *answered("functions.exec:0")]
    twice = [Answer((call("read:0"), call("read:0")), "stop"), Result("read:0"), Result("read:0")]

    for happened, id in ((other, "functions.exec:0"), (twice, "read:0")):
        assert [id] == repair_transcript(render("chat-completions", happened)).report.renamed


@together("shape", WITH_IDS)
@together("blank", ["", " "])
def test_a_missing_id_is_made(shape: str, blank: str) -> None:
    """A call without an id, or with a blank one, gets one, and so does the result that follows it."""
    words, found = repaired(shape, Said("a"), *answered(blank))
    new = "fc_1" if shape in ("responses", "codex") else "call_2"

    assert ["user: a", f"model calls {new}", f"{new}: done"] == words
    assert [new] == found.report.renamed


# --- calls that are not whole -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SCRATCHED)
def test_scratch_of_a_stream_is_no_call(shape: str) -> None:
    """A call that still holds a stream's leftovers was never finished, and goes."""
    words, found = repaired(shape, Said("a"), Answer((text("look"), call(scratch=True)), "stop"), Said("b"))

    assert ["user: a", "model: look", "user: b"] == words
    assert ["c1"] == found.report.stripped_calls


@pytest.mark.parametrize("shape", SCRATCHED)
def test_scratch_of_an_answered_call_is_cleaned(shape: str) -> None:
    """A call that was answered was executed: it stays, without the scratch."""
    _, found = repaired(shape, Said("a"), Answer((call(scratch=True),), "stop"), Result("c1"))

    assert ["c1"] == found.report.coerced
    assert "partialJson" not in str(found.messages)
    assert "willContinue" not in str(found.messages)


@pytest.mark.parametrize("shape", [shape for shape in EVERY if shape != "gemini"])
def test_a_call_without_arguments_goes(shape: str) -> None:
    """A stored call that has no member for arguments was cut down on the way to the store."""
    words, found = repaired(shape, Said("a"), Answer((text("x"), call("c1", None)), "stop"), Said("b"))

    assert ["user: a", "model: x", "user: b"] == words
    assert ["c1"] == found.report.stripped_calls


@pytest.mark.parametrize("shape", EVERY)
def test_an_answered_call_gets_its_missing_arguments(shape: str) -> None:
    """A call without arguments that was answered had none."""
    words, _ = repaired(shape, Said("a"), Answer((call("c1", None),), "stop"), Result("c1"))

    assert ["user: a", "model calls c1", "c1: done"] == words


@together("shape", EVERY)
@together("name", ["", " "])
def test_a_nameless_call_goes_or_gets_a_name(shape: str, name: str) -> None:
    """A call without a name goes, or is renamed on request; an answered one is always renamed."""
    asked = Answer((text("x"), call(name=name)), "stop")
    stripped, _ = repaired(shape, Said("a"), asked, Said("b"))
    renamed, found = repaired(shape, Said("a"), asked, Said("b"), nameless="rename")
    kept, _ = repaired(shape, Said("a"), asked, Result("c1"), Said("b"))

    known = repaired(shape, Said("a"), asked, Said("b"), nameless="rename", names={"read"})[1].messages
    options: dict[str, Any] = {"shape": shape, "nameless": "rename", "names": {"read"}}

    assert ["user: a", "model: x", "user: b"] == stripped
    assert ["user: a", "model: x", "model calls c1", "c1 is missing", "user: b"] == renamed
    assert repair_transcript(known, **options).messages is known
    assert ["c1"] == found.report.renamed
    assert "invalid_tool_call" in str(found.messages)
    assert ["user: a", "model: x", "model calls c1", "c1: done", "user: b"] == kept


@together("shape", EVERY)
@together("name", ["exec", "read me", "x" * 65])
def test_unknown_tools_go_if_names_are_given(shape: str, name: str) -> None:
    """With `names`, calls of other tools and of names that no provider takes go, unless they were answered."""
    asked = Answer((text("x"), call(name=name)), "stop")
    without, _ = repaired(shape, Said("a"), asked, Said("b"), names={"read", "read me", "x" * 65})
    all_known, _ = repaired(shape, Said("a"), asked, Said("b"))
    answered_one, _ = repaired(shape, Said("a"), asked, Result("c1", name=name), names=["read"])

    assert ["user: a", "model: x", "user: b"] == without
    assert "model calls c1" in all_known
    assert "c1: done" in answered_one


@together("shape", OBJECTS)
@together(
    ("arguments", "object_"),
    [
        ('{"path":"/x"}', PATH),
        ('{"path":"/x",}', PATH),
        ('"{\\"path\\":\\"/x\\"}"', PATH),
        ("", {}),
        ('{"pa', {"INVALID_JSON": '{"pa'}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        ([1], {"INVALID_JSON": "[1]"}),
        ('{"a":1,"a":2}', {"INVALID_JSON": '{"a":1,"a":2}'}),
    ],
)
def test_arguments_become_objects(shape: str, arguments: Any, object_: dict[str, Any]) -> None:
    """Where objects are carried, text is read once; a text without an object is wrapped, never emptied (quirk 84)."""
    _, found = repaired(shape, Answer((call("c1", arguments),), "stop"), Result("c1"))

    assert ["c1"] == found.report.coerced
    assert repr(object_) in str(found.messages)


@together("shape", STRINGS)
@together(
    ("arguments", "lenient", "strict"),
    [
        ('{"path":"/x"}', None, None),
        ("", "{}", "{}"),
        ('{"pa', None, '{"INVALID_JSON":"{\\"pa"}'),
        ('{"a":1,}', None, '{"a":1}'),
        ('{"s":"\\ud83d"}', None, '{"INVALID_JSON":"{\\"s\\":\\"\\\\ud83d\\"}"}'),
    ],
)
def test_arguments_stay_text(shape: str, arguments: str, lenient: str | None, strict: str | None) -> None:
    """Where text is carried it is sent as it was stored; only strict servers get malformed text wrapped."""
    for option, expected in ((False, lenient), (True, strict)):
        history = (Answer((call("c1", arguments),), "stop"), Result("c1"))
        _, found = repaired(shape, *history, strict_json_arguments=option)
        stored = repr(arguments if expected is None else expected)[1:-1]

        assert (expected is not None) == found.report.changed
        assert stored in str(found.messages)


def test_null_is_no_arguments() -> None:
    """A member that holds null is there, and means no arguments."""
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": None}
    chat = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": None}}
    blocks = repair_transcript([{"role": "assistant", "content": [use]}])
    calls = repair_transcript([{"role": "assistant", "content": None, "tool_calls": [chat]}])

    assert {} == blocks.messages[0]["content"][0]["input"]
    assert "{}" == calls.messages[0]["tool_calls"][0]["function"]["arguments"]
    assert (["c1"], ["c1"]) == (blocks.report.coerced, calls.report.coerced)


def test_objects_become_text() -> None:
    """An object where text is carried is written as compact JSON, with non-ASCII characters unchanged."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"c": "Zürich \ud83d"}}}]
    messages = [{"role": "assistant", "content": None, "tool_calls": calls}]
    found = repair_transcript([*messages, {"role": "tool", "tool_call_id": "c1", "content": "ok"}])

    assert '{"c":"Zürich \\ud83d"}' == found.messages[0]["tool_calls"][0]["function"]["arguments"]
    assert ["c1"] == found.report.coerced


# --- emptiness ----------------------------------------------------------------------------------------------


@together("shape", EVERY)
@together("blank", ["", " \n"])
def test_blank_texts_go(shape: str, blank: str) -> None:
    """Blank blocks are taken out, and messages of nothing else are dropped, the user's as well."""
    words, found = repaired(
        shape, Said("a"), Answer((text(blank), text("x")), "stop"), Said(blank), Said("b")
    )

    assert ["user: a", "model: x", "user: b"] == words
    assert found.report.dropped_messages


@pytest.mark.parametrize("content", [[{"type": "text", "text": " "}], [{"type": "text", "text": ""}] * 2])
def test_blank_texts_in_results_go(content: list[Any]) -> None:
    """Providers refuse a blank block in a result too; the empty result stays."""
    call_block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": content}
    messages = [{"role": "assistant", "content": [call_block]}, {"role": "user", "content": [result]}]
    found = repair_transcript(messages)

    assert [result | {"content": ""}] == found.messages[1]["content"]
    assert repair_transcript(found.messages).messages is found.messages


@pytest.mark.parametrize("shape", EVERY)
def test_an_answer_of_nothing_goes(shape: str) -> None:
    """A message of the model without text and calls is dropped."""
    words, _ = repaired(shape, Said("a"), Answer((text(""),), "stop"), Answer((), "stop"), Said("b"))

    assert ["user: a", "user: b"] == words


# --- the report, and the unchanged parts ---------------------------------------------------------------------

SOUND: tuple[Happening, ...] = (
    Said("a"),
    Answer((THOUGHT, text("look"), call("c1"), call("c2")), "tool_calls"),
    Result("c2"),
    Result("c1", glued=True),
    Note(),
    Answer((THOUGHT, text("there")), "stop"),
    Said("b"),
    Note(),
    Answer((call("c3", {}),), "tool_calls"),
    Result("c3"),
)


@pytest.mark.parametrize("shape", EVERY)
def test_a_sound_transcript_is_the_same_object(shape: str) -> None:
    """A history that needs nothing is returned unchanged, and the report says so."""
    messages = render(shape, list(SOUND))
    found = repair_transcript(messages)

    assert found.messages is messages
    assert type(found.report)() == found.report


@pytest.mark.parametrize("shape", EVERY)
def test_untouched_messages_keep_their_identity(shape: str) -> None:
    """In a list that changes, messages that do not are the same objects, and the input is left as it was."""
    messages = render(shape, [*SOUND, Answer((text("x"), call("c4", '{"pa')), "length"), Said("end")])
    before = copy.deepcopy(messages)
    found = repair_transcript(messages, shape=shape)  # type: ignore[arg-type]
    last = 3 if shape in ("claude-code", "codex", "responses") else 2  # the cut answer and the next message

    assert before == messages
    assert found.report.changed
    assert all(old is new for old, new in zip(messages[:-last], found.messages, strict=False))


@pytest.mark.parametrize("shape", EVERY)
def test_facts_are_reported_each_for_itself(shape: str) -> None:
    """A call that is stripped moves nothing, and a result that is moved strips nothing."""
    _, stripped = repaired(shape, *SOUND, Answer((text("x"), call("c4", '{"pa')), "length"))
    _, moved = repaired(shape, Answer((call(),), "stop"), Said("b"), Result("c1"))

    assert (["c4"], [], []) == (
        stripped.report.stripped_calls,
        stripped.report.moved,
        stripped.report.synthesised,
    )
    assert ([], ["c1"], []) == (moved.report.stripped_calls, moved.report.moved, moved.report.dropped_results)


@pytest.mark.parametrize("shape", EVERY)
def test_turns_that_meet_are_reported(shape: str) -> None:
    """Where a drop lets two messages of the same role meet, the report names the second one."""
    happened = [Said("a"), Note(), Answer((call("c1", '{"pa'),), "length"), Note(), Said("b"), Said("c")]
    messages = render(shape, list(happened))
    found = repair_transcript(messages, shape=shape)  # type: ignore[arg-type]

    assert [len(messages) - 2] == found.report.adjacent_turns


@pytest.mark.parametrize("shape", EVERY)
def test_nothing_makes_nothing(shape: str) -> None:
    """An empty list is sound."""
    nothing: list[dict[str, Any]] = []

    assert repair_transcript(nothing, shape=shape).messages is nothing  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", ["[]", {"role": "user"}, None, iter([])])
def test_only_lists_are_transcripts(messages: Any) -> None:
    """Anything but a list or a tuple is a mistake of the caller."""
    with pytest.raises(TypeError, match="not a list"):
        repair_transcript(messages)


@pytest.mark.parametrize(
    "messages",
    [
        [object()],
        [{"role": "assistant", "content": [object()]}],
        [{"role": "assistant", "tool_calls": [object()]}],
        [{"role": "model", "parts": [object()]}],
    ],
)
def test_objects_of_sdks_are_refused(messages: Any) -> None:
    """A call that cannot be seen would cost its result: objects are refused, with advice."""
    with pytest.raises(TypeError, match="model_dump"):
        repair_transcript(messages)


@pytest.mark.parametrize(
    "options",
    [{"unanswered": "drop"}, {"nameless": ""}, {"aborted": "keep"}, {"shape": "openai"}],
    ids=lambda options: next(iter(options)),
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    """An option that is not one is a mistake of the caller."""
    with pytest.raises(ValueError, match="one of"):
        repair_transcript([], **options)


def test_names_are_not_a_name() -> None:
    """A string would be a collection of letters."""
    with pytest.raises(TypeError, match="one name"):
        repair_transcript([], names="read")


@pytest.mark.parametrize("shape", EVERY)
def test_what_was_said_is_in_no_repr(shape: str) -> None:
    """Reprs show how much there is, and no text of messages or arguments (law 28)."""
    secret = "do not tell"
    messages = render(
        shape, [Said(secret), Answer((text(secret), call("c1", {"a": secret})), "stop"), Said("b")]
    )
    lines = indexed_transcript(messages, shape).lines
    shown = [
        repair_transcript(messages),
        shrink_transcript(messages, keep_recent=0, max_leaf=1, threshold=0, marker=""),
        *lines,
    ]

    assert [] == [one for one in map(repr, shown) if secret in one]


def test_a_tuple_comes_out_as_a_tuple() -> None:
    """Repaired messages are in the container that they came in, as its type says."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": json.dumps({"a": "x" * 900})},
    }
    messages: tuple[dict[str, Any], ...] = (
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    )

    repaired, shrunk = repair_transcript(messages), shrink_transcript(messages, keep_recent=0)
    kinds = [tuple, tuple, list, list]
    assert (True, True) == (repaired.report.changed, shrunk.changed)
    assert kinds == [
        type(found.messages)
        for found in (
            repaired,
            shrunk,
            repair_transcript([*messages]),
            shrink_transcript([*messages], keep_recent=0),
        )
    ]
