"""Marks: the language of tests, and the table of all dialects' marks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.support.marked import INVOKED, frames_of, words_of
from tests.support.together import together
from wholecall.dialects.claims import KNOWN, are_akin, members_of
from wholecall.dialects.detect import ENTRIES, SUPPORTING
from wholecall.dialects.marks import (
    ABSENT,
    EMPTY,
    FILLED,
    FRAME,
    HERE,
    LIST,
    NAME,
    NULL,
    OBJECT,
    SAID,
    TEXT,
    TRUTH,
    UNSAID,
    Row,
    decisive,
    holds,
    mark_of,
    no,
    source_of,
)
from wholecall.dialects.table import DIALECTS, claimants

OURS = {dialect.name: dialect for dialect in DIALECTS}
VALUES: list[Any] = [None, True, 0, "", "x", [], [0], {}, {"x": 0}]
# Dialects besides those that are akin whose smallest frames others claim as well, weakly.
CLAIMED_BESIDES = {
    ("ollama-generate", "workers-ai"): "a line without its date, which only imitating servers leave out",
}
# Kinds of events that only one dialect has, and that decide nothing.
NOT_DECISIVE = {
    "langchain": (
        {"checkpoints", "events", "feedback", "messages/metadata", "tasks", "updates", "values"},
        "names of LangGraph's events around the messages, whose data may be of any form",
    ),
    "bedrock-agents": (
        {"files"},
        "names of frames without an answer, as other binary streams have",
    ),
    "gemini-interactions": ({"a whole body"}, "no event of the wire"),
    "cohere-v2": (
        {"citation-end", "citation-start", "content-end"},
        "never first, and without a message that would tell them from another dialect's",
    ),
    "langchain-protocol": ({"usage"}, "common words, and never first"),
    "mistral-conversations": (
        {"agent.handoff", "agent.handoff.done", "agent.handoff.started"},
        "common words in two parts, and never first",
    ),
    "ag-ui": ({"CUSTOM", "RAW"}, "common words, whose content is anybody's"),
    "vercel-ui": (
        {
            *("reasoning-file", "reset-step", "source-document", "source-url"),
            *("steering-message", "tool-approval-request", "tool-approval-response"),
        },
        "common words, and never first",
    ),
    "mastra": (
        {
            *("is-task-complete", "object", "object-result", "raw", "reasoning-signature"),
            *("redacted-reasoning", "response-metadata", "source", "step-output", "tool-call"),
            *("tool-call-approval", "tool-call-input-streaming-end", "tool-call-input-streaming-start"),
            *("tool-call-suspended", "tool-error", "tool-output", "tool-result", "tripwire", "watch"),
            "workflow-step-output",
        },
        "every chunk tells its dialect by its other members",
    ),
    "snowflake-agents": ({"done"}, "a common word, and never first"),
    "assistant-transport": (
        {"annotations", "data"},
        "common words, and never first",
    ),
    "claude-code": (
        {
            *("auth_status", "control_cancel_request", "keep_alive", "prompt_suggestion", "rate_limit_event"),
            *("streamlined_text", "streamlined_tool_use_summary", "tool_progress", "tool_use_summary"),
            *("transcript_mirror", "update_environment_variables"),
        },
        "lines around a session, of which no member is always there",
    ),
    "codex-app-server": (
        {"applyPatchApproval", "execCommandApproval"},
        "requests of older versions, without a thread",
    ),
    "goose": (
        {
            *("Error", "ModelChange", "Ping", "PlanProposal", "RoutingDecision"),
            *("ToolAvailabilityChange", "notification"),
        },
        "events around an answer, and an error that a run may not outlive",
    ),
    "opencode": (
        {
            *("command.executed", "file.edited", "file.watcher.updated", "lsp.client.diagnostics"),
            *("lsp.updated", "project.updated", "todo.updated", "vcs.branch.updated"),
        },
        "events around a session, of words that others may have",
    ),
    "pi": (
        {
            *(
                "agent_start",
                "auto_compaction_end",
                "auto_compaction_start",
                "auto_retry_end",
                "auto_retry_start",
            ),
            *("compaction", "compaction_end", "compaction_start", "extension_error", "extension_ui_request"),
            *("queue_update", "session", "turn_start"),
        },
        "words that other agents have as well, without a member that is pi's alone",
    ),
}
# Words next to those of a translator's events that are no events of its own.
NO_EVENTS = {
    "vercel-data": ({*"02356 8ghk"} - {" "}, "lines without anything of an answer"),
    "langchain-protocol": ({"message-start"}, "the message is opened before its event is looked up"),
    "openai-realtime": (
        {"session.created", "session.updated"},
        "the beginning of a session, not of an answer",
    ),
    "copilot": (
        {"hook.*", "mcp.*", "model.*", "skill.*", "subagent.*", "system.*"},
        "families of events about the session",
    ),
}


def holding(test: Any) -> list[Any]:
    """Return the values for which a test holds, in a member that is there."""
    detect = decisive(({"m": test},))
    return [value for value in VALUES if detect({"m": value}, "")]


def claiming(payload: dict[str, Any], event: str) -> set[str]:
    """Return the names of the dialects for which a frame is decisive."""
    return {name for name, dialect in OURS.items() if dialect.detect(payload, event)}


def kinds() -> dict[str, set[str]]:
    """Return the kinds of events of each dialect, as its translator has them."""
    classes = {name: type(dialect.start()) for name, dialect in OURS.items() if name not in INVOKED}
    return {
        name: {kind for kind in (*getattr(cls, "EVENTS", ()), *getattr(cls, "QUIET", ())) if kind}
        for name, cls in classes.items()
    }


def is_decisive(name: str, kind: str) -> bool:
    """Return whether a row of the dialect takes the kind as a word, or asks for a member that is called so."""
    rows = ENTRIES[name].rows
    tests = [test for row in rows for test in row.values() if not mark_of(test).negative]
    words = [test for test in tests if isinstance(test, (str, frozenset, set))]
    return any(decisive(({NAME: test},))({}, kind) for test in words) or any(
        kind in path.replace("|", ".").split(".") for row in rows for path in row
    )


@together(
    ("test", "expected"),
    [
        (TEXT, ["", "x"]),
        (OBJECT, [{}, {"x": 0}]),
        (LIST, [[], [0]]),
        (TRUTH, [True]),
        (FILLED, [{"x": 0}]),
        (EMPTY, [[]]),
        (NULL, [None]),
        (HERE, VALUES),
        (ABSENT, []),
        (SAID, VALUES[1:]),
        (UNSAID, [None]),
        ("x", ["x"]),
        ({"x", "y"}, ["x"]),
        ({"x*"}, []),
        (no(TEXT), [None, True, 0, [], [0], {}, {"x": 0}]),
        (no("x"), [None, True, 0, "", [], [0], {}, {"x": 0}]),
        (holds(callable), []),
        (holds(bool), [True, "x", [0], {"x": 0}]),
    ],
)
def test_a_test_holds_for_these_values(test: Any, expected: list[Any]) -> None:
    """A type, presence, a word or a function; a word is never a number or a container."""
    assert expected == holding(test)


@together("test", [TEXT, NULL, SAID, HERE, "x", {"x", "y*"}, FILLED, EMPTY])
def test_a_path_that_leads_nowhere_passes_only_negative_tests(test: Any) -> None:
    """At any step: no member, a value of another type, an empty list."""
    frames: list[dict[str, Any]] = [
        {},
        {"a": None},
        {"a": []},
        {"a": [0]},
        {"a": {"b": {}}},
        {"a": [{"c": {}}]},
    ]
    asked = [decisive(({"a[0].b": made},)) for made in (test, no(test))]

    assert [[False, True]] * 6 == [[detect(frame, "") for detect in asked] for frame in frames]


@together(
    ("row", "payload", "event", "expected"),
    [
        ({"a.b": "x"}, {"a": {"b": "x"}}, "", True),
        ({"a.b": "x"}, {"a": [{"b": "x"}]}, "", False),
        ({"a[0].b": "x"}, {"a": [{"b": "x"}, {}]}, "", True),
        ({"a[0].b": "x"}, {"a": {"b": "x"}}, "", False),
        ({"a[-1]": "x"}, {"a": ["y", "x"]}, "", True),
        ({"a[-1]": "x"}, {"a": ["x", "y"]}, "", False),
        ({"a.b[0].c": "x"}, {"a": {"b": [{"c": "x"}]}}, "", True),
        ({"a|b.c": TEXT}, {"a": 1, "b": {"c": ""}}, "", True),
        ({"a|b.c": TEXT}, {"a": 1, "b": {}}, "", False),
        ({"a|b": ABSENT}, {"b": 1}, "", False),
        ({"a|b": ABSENT}, {"c": 1}, "", True),
        ({"a": "x", "b": "y"}, {"a": "x", "b": "y"}, "", True),
        ({"a": "x", "b": "y"}, {"a": "x"}, "", False),
        ({NAME: "x"}, {}, "x", True),
        ({NAME: "x"}, {"event": "x", NAME: "x"}, "", False),
        ({f"{NAME}|event": {"x.*"}}, {"event": "x.y"}, "", True),
        ({NAME: no({"x*", "x"})}, {}, "xy", False),
        ({FRAME: no(FILLED)}, {}, "", True),
        ({FRAME: no(FILLED)}, {"a": 1}, "", False),
        ({"<frame>": holds(len)}, {"a": 1}, "", True),
        ({"<name>": "x"}, {}, "x", True),
        ({"a": "don't"}, {"a": "don't"}, "", True),
        ({"a": {"don't", 'a "word"'}}, {"a": 'a "word"'}, "", True),
    ],
)
def test_a_path_names_members(row: Row, payload: dict[str, Any], event: str, expected: bool) -> None:
    """Steps lead through objects and lists; one of several paths is enough, and all tests of a row hold."""
    assert expected == decisive((row,))(payload, event)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("xy", True), ("x", False), ("", False), ("axy", False), ("y", True), ("yz", False)],
)
def test_a_star_is_any_ending(word: str, expected: bool) -> None:
    """But not none: a beginning alone is another word."""
    assert expected == decisive(({"a": {"x*", "y"}},))({"a": word}, "")


@pytest.mark.parametrize(
    ("payload", "expected"), [({"a": 1, "b": 1}, True), ({"a": 1, "c": 1}, True), ({"a": 1}, False)]
)
def test_one_row_is_enough(payload: dict[str, Any], expected: bool) -> None:
    """Also where it begins as another one does."""
    rows: tuple[Row, ...] = ({"a": HERE, "b": HERE}, {"a": HERE, "c": HERE}, {"d": HERE})

    assert expected == decisive(rows)(payload, "")
    assert 1 == source_of(rows, {}).count("'a'")


def test_a_row_that_is_the_beginning_of_another_is_enough() -> None:
    """The longer one adds nothing."""
    rows: tuple[Row, ...] = ({"a": HERE}, {"a": HERE, "b": HERE})

    assert decisive(rows)({"a": 1}, "")


def test_a_row_becomes_this_source() -> None:
    """It is the same in every process, and a test for one word is a comparison."""
    row: Row = {"a": "x", "b.c[0]": {*"gfedcba", *("q*", "p*", "o*", "n*", "m*")}}
    second = (
        "  if isinstance(at := payload.get('b'), dict) and isinstance(at := at.get('c'), list) and at"
        " and (isinstance(at := at[0], str) and (at in {'a', 'b', 'c', 'd', 'e', 'f', 'g'}"
        " or begins(at, ('m', 'n', 'o', 'p', 'q')))):"
    )
    first = " if (payload.get('a') == 'x'):"
    expected = ["def detect(payload, event):", first, second, "   return True", " return False"]

    assert expected == source_of((row,), {}).split("\n")


def test_the_source_names_its_functions() -> None:
    """They are compiled with it."""
    names: dict[str, Any] = {}

    assert "if (callable(payload.get('a'))):" in source_of(({"a": holds(callable)},), names)
    assert {"callable": callable} == names


def test_a_traceback_shows_that_marks_were_asked() -> None:
    """Their functions have no file; the name of the source is shown instead."""
    with pytest.raises(TypeError) as caught:
        decisive(({"a": holds(len)},))({"a": 1}, "")

    assert "<marks>" in [str(entry.path) for entry in caught.traceback]


@together("name", ENTRIES)
def test_a_row_is_decisive_for_its_dialect_alone(name: str) -> None:
    """The smallest frames of each row, made of its data, are claimed by no other dialect, unless it is akin."""
    for payload, event in frames_of(name):
        others = claiming(payload, event) - {name}
        strangers = {other for other in others if not are_akin(name, other)}

        assert name in claiming(payload, event), payload
        assert strangers <= {other for one, other in CLAIMED_BESIDES if one == name}, payload


@together("name", ENTRIES)
def test_the_best_claim_to_a_smallest_frame_is_its_own(name: str) -> None:
    """Where others claim it as well, the order and the weak members decide."""
    found = [([each.name for each in claimants(*frame).best], frame) for frame in frames_of(name)]

    assert [] == [(best, frame) for best, frame in found if best != [name]]


@pytest.mark.parametrize(("one", "other"), CLAIMED_BESIDES)
def test_an_exception_is_claimed_indeed(one: str, other: str) -> None:
    """A pair that no longer is one leaves the table."""
    assert any(other in claiming(*frame) for frame in frames_of(one))


def test_the_kinds_of_a_single_dialect_are_decisive_for_it() -> None:
    """A kind of event that exactly one translator has decides, or is listed with the reason why not."""
    had = kinds()
    times = Counter(kind for found in had.values() for kind in found)
    silent = {
        name: {kind for kind in found if times[kind] == 1 and not is_decisive(name, kind)}
        for name, found in had.items()
    }

    assert {name: words for name, (words, _) in NOT_DECISIVE.items()} == {
        k: v for k, v in silent.items() if v
    }


def test_the_words_of_a_row_are_kinds_of_the_translator() -> None:
    """Of several words at one place of which a translator has one, it has all, or they are listed with a reason."""
    found: dict[str, set[str]] = {}
    for name, had in kinds().items():
        for row in ENTRIES[name].rows:
            for words in (words_of(row, way) for path in row for way in path.split("|")):
                odd = {
                    word for word in words if not any(decisive(({NAME: {word}},))({}, kind) for kind in had)
                }
                if odd < set(words):
                    found.setdefault(name, set()).update(odd)

    assert {name: words for name, (words, _) in NO_EVENTS.items()} == {k: v for k, v in found.items() if v}


def test_every_row_rests_on_a_member_that_is_known_or_on_the_name_of_the_event() -> None:
    """Dialects are asked only about frames that have such a member or name."""
    rows = [(KNOWN[name].own | {NAME}, row) for name, marks in ENTRIES.items() for row in marks.rows]
    paths = [(own, [members_of({path: test}) for path, test in row.items()]) for own, row in rows]

    assert [] == [asked for own, asked in paths if not any(found and found <= own for found in asked)]


def test_the_usual_name_of_events_tells_nothing() -> None:
    """`message` is the name of every event without one."""
    assert [] == [(name, event) for event in ("", "message") for name in claiming({}, event)]


def test_members_are_said_once() -> None:
    """A member that rows ask for is not listed again among those besides; each supporting member is asked for."""
    asked = {
        name: frozenset[str]().union(*(members_of(row) for row in marks.rows))
        for name, marks in ENTRIES.items()
    }

    assert {} == {
        n: both for n, m in ENTRIES.items() if (both := (asked[n] - SUPPORTING) & set(m.besides.split()))
    }
    assert SUPPORTING == SUPPORTING & frozenset[str]().union(*asked.values())
