"""`check_transcript`: the reasons for which each provider refuses a transcript, found before it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support.together import together
from wholecall import UnknownDialect
from wholecall.history import (
    HISTORY_FORMATS,
    HistoryFormat,
    check_transcript,
    classify_error,
    repair_transcript,
)
from wholecall.history.checking import RULES

Messages = list[dict[str, Any]]
IDS = dict.fromkeys(("mistral", "mistral-conversations"), ("abcdefgh1", "abcdefgh2"))


def ids_for(provider: str) -> tuple[str, str]:
    """Return two ids that a provider takes."""
    return IDS.get(provider, ("call_1", "call_2"))


def chat(provider: str) -> Messages:
    """Return a sound conversation of Chat Completions: two calls, their results, an answer, a question."""
    arguments: Any = (
        {"port": "Brest"} if HISTORY_FORMATS[provider].carries == "object" else '{"port":"Brest"}'
    )
    function = {"name": "tide", "arguments": arguments}
    calls = [{"id": id, "type": "function", "function": function} for id in ids_for(provider)]
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": id, "content": "5 pm"} for id in ids_for(provider)),
        {"role": "assistant", "content": "At five."},
        {"role": "user", "content": "Thanks."},
    ]


def anthropic(_provider: str) -> Messages:
    """Return the same as blocks, with thinking."""
    thought = {"type": "thinking", "thinking": "Both.", "signature": "c2ln"}
    calls = [
        {"type": "tool_use", "id": id, "name": "tide", "input": {"port": "Brest"}} for id in ("t_1", "t_2")
    ]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "5 pm"} for id in ("t_1", "t_2")]
    return [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": [thought, *calls]},
        {"role": "user", "content": [*results, {"type": "text", "text": "Go on."}]},
    ]


def converse(_provider: str) -> Messages:
    """Return the same as Converse has it."""
    calls = [
        {"toolUse": {"toolUseId": id, "name": "tide", "input": {"port": "Brest"}}} for id in ("t_1", "t_2")
    ]
    results = [{"toolResult": {"toolUseId": id, "content": [{"text": "5 pm"}]}} for id in ("t_1", "t_2")]
    return [
        {"role": "user", "content": [{"text": "When?"}]},
        {"role": "assistant", "content": [{"text": "Both."}, *calls]},
        {"role": "user", "content": results},
    ]


def gemini(_provider: str) -> Messages:
    """Return the same as contents, without ids."""
    calls: list[dict[str, Any]] = [
        {"functionCall": {"name": "tide", "args": {"port": port}}} for port in "ab"
    ]
    calls[0]["thoughtSignature"] = "c2ln"
    answers = [{"functionResponse": {"name": "tide", "response": {"output": "5 pm"}}} for _ in "ab"]
    return [
        {"role": "user", "parts": [{"text": "When?"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": answers},
    ]


def responses(_provider: str) -> Messages:
    """Return the same as items."""
    return [
        {"role": "user", "content": "When?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c_1", "name": "tide", "arguments": "{}"},
        {"type": "function_call", "call_id": "c_2", "name": "tide", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c_1", "output": "5 pm"},
        {"type": "function_call_output", "call_id": "c_2", "output": "5 pm"},
    ]


def conversations(provider: str) -> Messages:
    """Return the same as entries of a conversation of Mistral's."""
    calls = [
        {"type": "function.call", "tool_call_id": id, "name": "tide", "arguments": "{}"}
        for id in ids_for(provider)
    ]
    results = [{"type": "function.result", "tool_call_id": id, "result": "5 pm"} for id in ids_for(provider)]
    return [{"type": "message.input", "role": "user", "content": "When?"}, *calls, *results]


def langchain(_provider: str) -> Messages:
    """Return the same as messages of LangChain."""
    calls = [{"type": "tool_call", "id": id, "name": "tide", "args": {"port": "Brest"}} for id in "ab"]
    results = [{"type": "tool", "tool_call_id": id, "content": "5 pm"} for id in "ab"]
    return [
        {"type": "human", "content": "When?"},
        {"type": "ai", "content": "", "tool_calls": calls},
        *results,
    ]


def ag_ui(_provider: str) -> Messages:
    """Return the same as messages of AG-UI."""
    function = {"name": "tide", "arguments": "{}"}
    calls = [{"id": id, "type": "function", "function": function} for id in "ab"]
    results = [{"id": f"r{id}", "role": "tool", "toolCallId": id, "content": "5 pm"} for id in "ab"]
    thought = {"id": "t", "role": "reasoning", "content": "Both."}
    said = {"id": "u", "role": "user", "content": "When?"}
    return [said, thought, {"id": "m", "role": "assistant", "toolCalls": calls}, *results]


def vercel(_provider: str) -> Messages:
    """Return the same as UI messages, where calls hold their outputs."""
    parts = [
        {"type": "tool-tide", "toolCallId": id, "state": "output-available", "input": {}, "output": "5 pm"}
        for id in "ab"
    ]
    return [
        {"id": "u", "role": "user", "parts": [{"type": "text", "text": "When?"}]},
        {"id": "m", "role": "assistant", "parts": [{"type": "step-start"}, *parts]},
    ]


SOUND: dict[str, Callable[[str], Messages]] = {
    name: {
        "anthropic": anthropic,
        "gemini": gemini,
        "responses": responses,
        "bedrock-converse": converse,
        "mistral-conversations": conversations,
        "langchain": langchain,
        "ag-ui": ag_ui,
        "vercel-ui": vercel,
    }.get(manners.view.name, chat)
    for name, manners in RULES.items()
}


def kinds(messages: Messages, provider: str, **options: bool) -> set[str]:
    """Return the kinds of the findings."""
    return {finding.kind for finding in check_transcript(messages, provider, **options)}


@together("provider", RULES)
def test_what_is_sound_has_no_finding(provider: str) -> None:
    """A conversation as the provider documents it breaks none of its rules, with thinking or without."""
    messages = SOUND[provider](provider)

    assert ([], []) == (
        check_transcript(messages, provider),
        check_transcript(messages, provider, thinking=True),
    )


REFUSALS = sorted(
    {(rule.kind, rule.refusal) for manners in RULES.values() for rule in manners.rules if rule.refusal}
)


@together(("kind", "refusal"), REFUSALS)
def test_a_rule_has_the_name_of_its_refusal(kind: str, refusal: str) -> None:
    """`classify_error` gives the provider's words the kind that the rule has before anything is sent."""
    found = classify_error(400, {"error": {"message": refusal}})

    assert ("transcript", kind) == (found.category, found.kind)


def first_result(messages: Messages) -> int:
    """Return the index of the first message that holds a result."""
    marks = (
        '"tool"',
        '"tool_result"',
        '"toolResult"',
        '"functionResponse"',
        "function_call_output",
        "function.result",
    )
    return [any(mark in json.dumps(message) for mark in marks) for message in messages].index(True)


PAIRED = sorted(
    name for name, manners in RULES.items() if "orphan_tool_result" in {rule.kind for rule in manners.rules}
)


@together("provider", PAIRED)
def test_a_cut_result_is_noticed(provider: str) -> None:
    """A call whose result is gone is a finding wherever the provider reads pairs."""
    messages = SOUND[provider](provider)
    del messages[first_result(messages)]

    assert "unanswered_tool_call" in kinds(messages, provider)


@together("provider", PAIRED)
def test_a_cut_call_is_noticed(provider: str) -> None:
    """A result whose call is gone is a finding wherever the provider reads pairs."""
    messages = SOUND[provider](provider)
    del messages[first_result(messages) - 1]

    assert "orphan_tool_result" in kinds(messages, provider)


def with_id(provider: str, id: str) -> Messages:
    """Return the sound conversation with another id for its first call, and for the result."""
    messages = SOUND[provider](provider)
    first = {"anthropic": "t_1", "bedrock-converse": "t_1", "responses": "c_1"}
    old = first.get(RULES[provider].view.name, ids_for(provider)[0])
    renamed: Messages = json.loads(json.dumps(messages).replace(f'"{old}"', json.dumps(id)))
    return renamed


LONG = {"any": 10**3, "kimi": 10**3, "openai40": 40, "anthropic": 64, "responses": 64, "mistral9": 9}
WITH_IDS = sorted(
    name for name, manners in RULES.items() if "bad_tool_call_id" in {rule.kind for rule in manners.rules}
)


@together("provider", WITH_IDS)
def test_ids_are_those_of_the_format(provider: str) -> None:
    """An id of the length that the format takes is not a finding; a longer one is, unless any is taken."""
    rule = HISTORY_FORMATS[provider].ids
    found = [kinds(with_id(provider, "a" * size), provider) for size in (LONG[rule], LONG[rule] + 1)]

    assert [set(), set() if rule in ("any", "kimi") else {"bad_tool_call_id"}] == found


# The broken rule: the provider, its kind, the index of the message, and the change to the sound conversation.
BROKEN: list[tuple[str, str, int | None, Callable[[Messages], Messages]]] = [
    ("anthropic", "empty_history", None, lambda _: []),
    ("anthropic", "role_order", 0, lambda m: m[1:]),
    ("anthropic", "bad_role", 0, lambda m: [{"role": "system", "content": "Be brief."}, *m]),
    (
        "anthropic",
        "empty_content",
        0,
        lambda m: [{"role": "user", "content": [{"type": "text", "text": ""}]}, *m[1:]],
    ),
    ("anthropic", "empty_content", 0, lambda m: [{"role": "user", "content": ""}, *m[1:]]),
    (
        "anthropic",
        "empty_content",
        2,
        lambda m: [*m[:2], json.loads(json.dumps(m[2]).replace('"5 pm"', '[{"type": "text", "text": ""}]'))],
    ),
    ("anthropic", "thinking_signature", 1, lambda m: [m[0], _unsigned(m[1]), m[2]]),
    ("anthropic", "unanswered_tool_call", 1, lambda m: [*m[:2], _turned(m[2])]),
    ("anthropic", "duplicate_tool_result", 2, lambda m: [*m[:2], _doubled(m[2])]),
    ("anthropic", "duplicate_tool_call_id", 3, lambda m: [*m, *m[1:]]),
    ("anthropic", "content_form", 2, lambda _: chat("chat-completions")),
    ("chat-completions", "content_form", 1, lambda _: anthropic("")),
    ("chat-completions", "content_form", 1, lambda _: converse("")),
    ("bedrock-converse", "role_order", 1, lambda m: [m[0], *m]),
    ("bedrock-converse", "role_order", 0, lambda m: m[1:]),
    (
        "bedrock-converse",
        "empty_content",
        0,
        lambda m: [{"role": "user", "content": [{"text": " "}]}, *m[1:]],
    ),
    (
        "bedrock-converse",
        "empty_content",
        2,
        lambda m: [*m[:2], json.loads(json.dumps(m[2]).replace("5 pm", ""))],
    ),
    ("gemini", "role_order", 0, lambda m: m[1:]),
    ("gemini", "bad_role", 0, lambda m: [{**m[0], "role": "assistant"}, *m[1:]]),
    ("gemini", "unanswered_tool_call", 1, lambda m: [*m[:2], {**m[2], "parts": m[2]["parts"][:1]}]),
    ("gemini", "unanswered_tool_call", 1, lambda m: [*m[:2], {"role": "user", "parts": [{"text": "Well?"}]}]),
    ("responses", "orphan_reasoning", 6, lambda m: [*m, m[1]]),
    ("responses", "orphan_reasoning", 1, lambda m: [*m[:2], m[0], *m[2:]]),
    ("mistral", "role_order", 5, lambda m: [*m[:5], m[6]]),
    ("mistral", "role_order", 5, lambda m: m[:6]),
    ("chat-completions", "empty_tool_calls", 5, lambda m: [*m[:5], {**m[5], "tool_calls": []}]),
    ("chat-completions", "empty_content", 5, lambda m: [*m[:5], {"role": "assistant", "content": None}]),
    ("chat-completions", "unanswered_tool_call", 2, lambda m: [*m[:3], m[1], *m[3:]]),
    ("chat-completions", "orphan_tool_result", 4, lambda m: [*m[:3], m[0], *m[3:]]),
    ("chat-completions", "duplicate_tool_result", 4, lambda m: [*m[:4], m[3], *m[4:]]),
    (
        "minimax",
        "malformed_arguments",
        2,
        lambda m: json.loads(json.dumps(m).replace('\\"Brest\\"}', "Brest")),
    ),
    ("ollama", "arguments_type", 2, lambda _: chat("chat-completions")),
    ("chat-completions", "arguments_type", 2, lambda _: chat("ollama")),
    (
        "ollama",
        "content_form",
        1,
        lambda m: [m[0], {"role": "user", "content": [{"type": "text", "text": "a"}]}, *m[2:]],
    ),
]


def _unsigned(message: dict[str, Any]) -> dict[str, Any]:
    thought = {"type": "thinking", "thinking": "Both."}
    return {**message, "content": [thought, *message["content"][1:]]}


def _turned(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "content": message["content"][::-1]}


def _doubled(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "content": [*message["content"][:2], *message["content"][:2]]}


@together(("provider", "kind", "index", "change"), BROKEN)
def test_what_is_broken_is_found_at_its_message(
    provider: str, kind: str, index: int | None, change: Callable[[Messages], Messages]
) -> None:
    """Each rule that a conversation breaks is a finding with the rule's kind, at the message that breaks it."""
    found = check_transcript(change(SOUND[provider](provider)), provider)

    assert (kind, index) in [(finding.kind, finding.index) for finding in found]


def test_with_thinking_a_loop_begins_with_it() -> None:
    """Only a request that lets the model think needs the thoughts, or the signatures, of the loop that is open."""
    bare = anthropic("")
    bare[1]["content"] = bare[1]["content"][1:]
    bare[2]["content"] = bare[2]["content"][:2]
    unsigned = gemini("")
    del unsigned[1]["parts"][0]["thoughtSignature"]
    found = [kinds(bare, "anthropic", thinking=on) for on in (False, True)]
    found += [kinds(unsigned, "gemini", thinking=on) for on in (False, True)]

    assert [set(), {"missing_reasoning"}, set(), {"thinking_signature"}] == found


@pytest.mark.parametrize("provider", ["anthropic", "chat-completions", "gemini", "responses"])
def test_what_was_repaired_can_be_sent(provider: str) -> None:
    """A crashed conversation of the corpora has findings; once repaired it has none that repair handles."""
    folder = PROJECT / "corpora" / "transcripts" / RULES[provider].view.name
    files = [path for path in sorted(folder.glob("*.json")) if ".repaired" not in path.name]
    pairs = {"unanswered_tool_call", "orphan_tool_result", "duplicate_tool_result", "empty_content"}
    left = {
        path.name: found
        for path in files
        if (found := pairs & kinds(repair_transcript(json.loads(path.read_bytes())).messages, provider))
    }

    assert {} == left


def test_a_provider_without_rules_is_refused() -> None:
    """Silence would read as a yes, so a format without known rules raises, as an unknown one does."""
    for name in (*(HISTORY_FORMATS.keys() - RULES.keys()), "antropic"):
        with pytest.raises(UnknownDialect):
            check_transcript([], name)


def test_a_format_of_ones_own_has_its_ids() -> None:
    """A `HistoryFormat` is judged by the rules of its name and by its own rule of ids."""
    mine = HistoryFormat("chat-completions", "string", ids="any")

    assert [] == check_transcript(with_id("chat-completions", "a" * 99), mine)


def test_findings_hold_no_argument_text() -> None:
    """Findings about arguments name the call and not a character of them."""
    messages = json.loads(json.dumps(chat("minimax")).replace('\\"Brest\\"}', "s3cret"))
    said = [repr(finding) + str(finding) for finding in check_transcript(messages, "minimax")]

    assert (True, False) == (bool(said), any("s3cret" in text for text in said))
