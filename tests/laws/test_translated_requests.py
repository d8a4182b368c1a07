"""Law 138: a member of a request that is translated is said, left out with a note, or a reason to refuse it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest

from tests.hygiene.source_tree import DOCS
from tests.support.translation_table import BASE, MEMBERS, PIXEL, SCHEMA, fate, markdown, others
from wholecall.translation import TranslatedRequest, Untranslatable, translate_request

JSON = dict[str, Any]
PAIRS = [(client, server) for client in BASE for server in others(client)]
IMAGE = f"data:image/png;base64,{PIXEL}"
# A request with nearly everything that a wire can say and another can, too.
RICH: dict[str, JSON] = {
    "anthropic": {
        "model": "m",
        "max_tokens": 10,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
        "tools": [{"name": "f", "description": "the tide", "input_schema": SCHEMA, "strict": True}],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                    {"type": "image", "source": {"type": "url", "url": "https://h/x.png"}},
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": PIXEL},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"port": "Brést", "n": 1.5}},
                    {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "5 pm"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "is_error": True,
                        "content": [
                            {"type": "text", "text": "no"},
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                            },
                        ],
                    },
                    {"type": "text", "text": "go on"},
                ],
            },
        ],
    },
    "chat-completions": {
        "model": "m",
        "max_completion_tokens": 10,
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {"type": "image_url", "image_url": {"url": IMAGE, "detail": "high"}},
                    {"type": "file", "file": {"file_data": IMAGE, "filename": "x"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [
                    {
                        "id": "call|1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"port": "B'},
                    },
                    {"id": "call_2", "type": "function", "function": {"name": "f", "arguments": ""}},
                ],
            },
            {"role": "tool", "tool_call_id": "call|1", "content": "5 pm"},
            {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "no"}]},
            {"role": "user", "content": "go on"},
            {"role": "system", "content": "Be kind."},
        ],
    },
    "responses": {
        "model": "m",
        "instructions": "Be brief.",
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}],
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "hi"},
                    {"type": "input_image", "image_url": IMAGE, "detail": "high"},
                    {"type": "input_file", "file_data": IMAGE, "filename": "x"},
                ],
            },
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "5 pm"},
            {"role": "user", "content": "go on"},
        ],
    },
}
# Objects that belong to the user or the model: any member may be in them, and stays.
FREE = {"input_schema", "parameters", "schema", "input", "metadata", "prompt_cache_options"}


def said(request: JSON, client: str, server: str) -> TranslatedRequest:
    """Return the translation of a request."""
    return translate_request(json.dumps(request).encode(), client, server)


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all objects with members of the wire."""
    if isinstance(value, dict):
        yield path
        for name, each in value.items():
            if name not in FREE or isinstance(each, list):
                yield from objects(each, (*path, name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from objects(each, (*path, at))


def members(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all members, and of all entries of lists."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield (*path, key)
        yield from members(each, (*path, key))


def changed(request: JSON, path: tuple[Any, ...], value: object) -> JSON:
    """Return a request with another value at a place."""
    whole = deepcopy(request)
    place: Any = whole
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return whole


THOUGHTS = "messages[].reasoning_content"
NAMES_OF_FORMS = {"response_format.json_schema.name", "text.format.name"}  # which OpenAI's wires require


def without_thoughts(request: JSON) -> JSON:
    """Return a request of chat completions without its reasoning; another one as it is."""
    said_by = [
        {name: each for name, each in message.items() if name != "reasoning_content"}
        for message in request.get("messages", [])
    ]
    return {**request, "messages": said_by} if said_by else request


@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_no_published_member_is_lost(client: str, server: str) -> None:
    """Each member of the published request is said, left out or refused."""
    fates = {member: fate(member, value, client, server) for member, value in MEMBERS[client].items()}

    assert [] == [member for member, word in fates.items() if word == "lost"]


@pytest.mark.parametrize("wire", BASE)
def test_the_page_tells_the_fate_of_each_member(wire: str) -> None:
    """`python -m tests.support.translation_table` makes the tables of docs/translation.md."""
    assert markdown(wire) in (DOCS / "translation.md").read_text("utf-8")


@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_no_unknown_member_is_lost(client: str, server: str) -> None:
    """One in any object of a request is noted at its place."""
    found = []
    for path in objects(RICH[client]):
        request = changed(RICH[client], (*path, "frobnicate"), 1)
        try:
            noted = said(request, client, server).left_out
        except Untranslatable as error:
            noted = (error.member,)
        if not any(name.endswith("frobnicate") for name in noted):
            found.append(path)

    assert [] == found


@pytest.mark.sampled(7)
@pytest.mark.parametrize("value", [None, 5, "", "x", True, [], {}, [None], [5], {"x": 1}])
@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_a_strange_value_is_said_or_refused(client: str, server: str, value: object) -> None:
    """A member of any other type gives a request, or the one exception that becomes a 400."""
    found = []
    for path in members(RICH[client]):
        with suppress(Untranslatable):  # any other exception is the fault that is looked for
            found.append(json.loads(said(changed(RICH[client], path, value), client, server).body))

    assert [True] * len(found) == ["model" in body for body in found]


def without_late_systems(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request without the messages of the system's that are not in front."""
    if "messages" not in request:
        return request
    first, *rest = request["messages"]
    return {**request, "messages": [first, *(one for one in rest if one["role"] != "system")]}


@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_a_wire_says_again_what_it_could_say(client: str, server: str) -> None:
    """A request that went to another wire, back and there again, is the same as after the first way.

    Reasoning without a signature is one exception: Chat Completions says it, and the others do not take it back. A
    message of the system's further on is the other: Responses takes it, and Chat Completions says it as the user's.
    """
    there = said(without_late_systems(RICH[client]), client, server)
    back = translate_request(there.body, server, client)
    again = json.loads(translate_request(back.body, client, server).body)

    assert without_thoughts(json.loads(there.body)) == without_thoughts(again)
    assert set() == set(back.left_out) - {THOUGHTS, "store", *NAMES_OF_FORMS}


@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_every_text_arrives(client: str, server: str) -> None:
    """Texts of people, tools and the model are in the translation, in their order."""
    words = ["Be brief.", "hi", "5 pm", "go on"]
    body = json.dumps(json.loads(said(RICH[client], client, server).body), ensure_ascii=False)
    ordered = [word for word in words if word != "Be brief."]
    places = [body.find(f'"{word}') for word in ordered]

    assert "Be brief." in body
    assert sorted(places) == places
    assert -1 not in places


def test_numbers_stay_what_they_are() -> None:
    """A number that Python holds exactly is written as such; one that JSON has no word for is refused."""
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"n": 12345678901234567890123}}
    request = {**BASE["anthropic"], "messages": [{"role": "assistant", "content": [call]}]}
    told = json.loads(said(request, "anthropic", "chat-completions").body)

    assert '{"n":12345678901234567890123}' == told["messages"][0]["tool_calls"][0]["function"]["arguments"]
    for odd in (b"NaN", b"1e999", b"-Infinity"):
        with pytest.raises(Untranslatable):
            translate_request(b'{"model": "m", "temperature": ' + odd + b"}", "anthropic", "responses")


@pytest.mark.parametrize(("length", "is_said"), [(64, True), (65, False)])
def test_a_long_name_of_a_user_is_left_out(length: int, is_said: bool) -> None:
    """OpenAI refuses a request with one, and agents of Anthropic's send them."""
    request = {**BASE["anthropic"], "metadata": {"user_id": "u" * length}}
    found = {server: said(request, "anthropic", server) for server in others("anthropic")}

    assert dict.fromkeys(found, [] if is_said else ["metadata.user_id"]) == {
        server: list(one.left_out) for server, one in found.items()
    }


def test_broken_arguments_are_wrapped_for_anthropic() -> None:
    """Text that is no object goes there as an object that says so; ids that it refuses are spelled anew."""
    told = json.loads(said(RICH["chat-completions"], "chat-completions", "anthropic").body)
    call, second = (block for block in told["messages"][1]["content"] if block["type"] == "tool_use")
    result = told["messages"][2]["content"][0]

    assert ({"INVALID_JSON": '{"port": "B'}, {}) == (call["input"], second["input"])
    assert call["id"] == result["tool_use_id"]
    assert call["id"].replace("_", "").isalnum()
