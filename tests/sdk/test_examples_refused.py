"""The examples' agents against servers that refuse, like providers, a turn that does not come back unchanged.

The servers know their turns. They answer 400 where a turn lacks a part, where a call has no result directly after it,
where code that waits has no container, and where Vertex AI gets an id, which it does not know.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support.surfaces import CLIENTS, sdk
from tests.support.turn_streams import content_stream, message_stream, response_stream
from wholecall.serving import Answer, IncomingRequest, Loopback

pytestmark = pytest.mark.sdk

JSON = dict[str, Any]
Refuse = Callable[[Any, list[list[JSON]]], Iterator[str]]
QUESTION = "When is high water at Brest?"
TIDE = {"port": "Brest"}


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the examples import each other, as they do where they are run."""
    monkeypatch.syspath_prepend(PROJECT / "examples")


class Provider(Loopback):
    """A server that sends its turns one after the other, and refuses requests.

    Args:
        turns: to send: blocks of Anthropic, items of Responses, parts of Gemini.
        write: makes a turn a stream.
        refuse: yields the faults of a request, given its body and the turns that were sent before.
    """

    def __init__(
        self, turns: list[list[JSON]], write: Callable[[list[JSON]], list[bytes]], refuse: Refuse
    ) -> None:
        super().__init__()
        self.turns, self.write, self.refuse = turns, write, refuse
        self.refused: list[str] = []

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the next turn, or raise with the reason."""
        n = len(self.requests)
        self.requests.append(request)
        assert n < len(self.turns), "the loop goes on without end"
        found = list(self.refuse(request.json(), self.turns[:n]))
        self.refused += found
        if found:
            error = {"error": {"message": found[0], "code": 400, "status": "INVALID_ARGUMENT"}}
            return Answer([json.dumps(error).encode()], "application/json", 400)
        return Answer([self.write(self.turns[n])])


def run(example: str, client: Any, messages: list[Any]) -> str:
    """Return the answer of an example's agent."""
    answer: str = importlib.import_module(example).answer(client, messages)
    return answer


# --- Anthropic: a pause, and code that calls a tool from its container ------------------------------------------

_SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "Brest tides"}}
_PAGE = {"type": "web_search_result", "url": "https://t.example", "title": "Tides", "encrypted_content": "E"}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [_PAGE]}
_CODE = {
    "type": "server_tool_use",
    "id": "srv_2",
    "name": "code_execution",
    "input": {"code": "get_tide('Brest')"},
}
_CALLER = {"type": "code_execution_20250825", "tool_id": "srv_2"}
_PROGRAMMED = {"type": "tool_use", "id": "toolu_1", "name": "get_tide", "input": TIDE, "caller": _CALLER}
_RAN = {"type": "code_execution_result", "stdout": "06:12", "stderr": "", "return_code": 0, "content": []}
_OUTPUT = {"type": "code_execution_tool_result", "tool_use_id": "srv_2", "content": _RAN}
_THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
_CITED = {
    "type": "web_search_result_location",
    "url": "https://t.example",
    "cited_text": "06:12",
    "encrypted_index": "I",
}
MESSAGES = [
    [_THOUGHT, {"type": "text", "text": "Let me look."}, _SEARCH],
    [_FOUND, {"type": "text", "text": "High water.", "citations": [_CITED]}, _CODE, _PROGRAMMED],
    [_OUTPUT, {"type": "text", "text": "At 06:12."}],
]
CONTAINER = {"id": "container_1", "expires_at": "2027-01-01T00:00:00Z"}


def written_message(blocks: list[JSON]) -> bytes:
    """Return a message as a stream: it pauses after a search, and asks for results after a call."""
    if blocks[-1] is _SEARCH:
        return message_stream(blocks, "pause_turn")
    if blocks[-1] is _PROGRAMMED:
        return message_stream(blocks, "tool_use", container=CONTAINER)
    return message_stream(blocks, "end_turn", container=CONTAINER)


def refused_messages(body: Any, said: list[list[JSON]]) -> Iterator[str]:
    """Yield the faults that Anthropic refuses."""
    messages = body["messages"]
    sent = [block for message in messages if message["role"] == "assistant" for block in message["content"]]
    if sent != [block for blocks in said for block in blocks]:
        yield "messages: blocks in the latest assistant message cannot be modified"
    for message, after in zip(messages, [*messages[1:], {"content": []}], strict=True):
        calls = [
            one["id"] for one in message["content"] if isinstance(one, dict) and one["type"] == "tool_use"
        ]
        results = [one["tool_use_id"] for one in after["content"] if "tool_use_id" in one]
        if calls and calls != results:
            yield "messages: `tool_use` ids were found without `tool_result` blocks immediately after"
    if any("caller" in block for block in sent) and body.get("container") != CONTAINER["id"]:
        yield "container_id is required when there are pending tool uses generated by code execution with tools"


def test_anthropic_goes_on_after_a_pause_and_in_its_container(capsys: pytest.CaptureFixture[str]) -> None:
    """A paused turn goes back unchanged, code's call is answered in the code's container; no request is refused."""
    with (
        Provider(MESSAGES, written_message, refused_messages) as server,
        CLIENTS["anthropic"](server.url) as one,
    ):
        answer = run("anthropic_messages", one, [{"role": "user", "content": QUESTION}])

    assert [] == server.refused
    assert ("At 06:12.", 3) == (answer, len(server.requests))
    assert "Let me look.High water.At 06:12." == capsys.readouterr().out


# --- Responses: items that must not be left out -----------------------------------------------------------------

_REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}
_WEB = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "tides"},
}
_CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "get_tide",
    "arguments": '{"port": "Brest"}',
    "status": "completed",
}
_SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "At 06:12.", "annotations": []}],
}
RESPONSES = [[_REASONING, _WEB, _CALL], [_SAID]]


def _known(item: JSON) -> JSON:
    """Return the required members of an item; OpenAI alone sets the status of a call."""
    return {
        name: value for name, value in item.items() if (item["type"], name) != ("function_call", "status")
    }


def refused_items(body: Any, said: list[list[JSON]]) -> Iterator[str]:
    """Yield the faults that OpenAI refuses."""
    items = body["input"]
    own = [item for item in items if item.get("role") != "user" and item["type"] != "function_call_output"]
    if [_known(item) for item in own] != [_known(item) for turn in said for item in turn]:
        yield "Item 'rs_1' of type 'reasoning' was provided without its required following item."
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    if calls != [item["call_id"] for item in items if item.get("type") == "function_call_output"]:
        yield "No tool output found for function call call_1."


def test_responses_gets_all_items_back() -> None:
    """Reasoning, a search and a call go back as they came, with the result after them; no request is refused."""
    with (
        Provider(RESPONSES, lambda items: response_stream(items, items), refused_items) as server,
        CLIENTS["openai"](server.url) as one,
    ):
        answer = run("openai_responses", one, [{"role": "user", "content": QUESTION}])

    assert [] == server.refused
    assert ("At 06:12.", 2) == (answer, len(server.requests))


# --- Gemini on Vertex AI: no member that it does not know -------------------------------------------------------

_PARTS = [{"functionCall": {"name": "get_tide", "args": {"port": port}}} for port in ("Brest", "Ushant")]
CONTENTS = [[{**_PARTS[0], "thoughtSignature": "c2ln"}, _PARTS[1]], [{"text": "At "}, {"text": "06:12."}]]


def refused_contents(body: Any, said: list[list[JSON]]) -> Iterator[str]:
    """Yield the faults that Vertex AI refuses."""
    contents = body["contents"]
    parts = [part for content in contents for part in content["parts"]]
    for kind in ("functionCall", "functionResponse"):
        if any("id" in part[kind] for part in parts if kind in part):
            yield f"Invalid JSON payload received. Unknown name \"id\" at '{kind}': Cannot find field."
    if [content["parts"] for content in contents if content["role"] == "model"] != said:
        yield "Please ensure that function call turn has its thought_signature."
    names = [
        [part[kind]["name"] for part in parts if kind in part]
        for kind in ("functionCall", "functionResponse")
    ]
    if names[0] != names[1]:
        yield "Please ensure that the number of function response parts is equal to the number of function call parts."


@pytest.mark.filterwarnings("ignore:there are non-text parts")
def test_vertex_gets_no_id() -> None:
    """Calls without ids go back without ids, signed as they came, results in their order; no request is refused."""
    with Provider(CONTENTS, content_stream, refused_contents) as server:
        client = sdk("google.genai").Client(vertexai=True, api_key="k", http_options={"base_url": server.url})
        with client:
            answer = run("google_gemini", client, [{"role": "user", "parts": [{"text": QUESTION}]}])

    assert [] == server.refused
    assert ("At 06:12.", 2) == (answer, len(server.requests))


# --- the servers refuse wrong requests ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refuse", "body", "said"),
    [
        (refused_messages, {"messages": [{"role": "user", "content": QUESTION}]}, MESSAGES[:1]),
        (
            refused_messages,
            {
                "messages": [{"role": "assistant", "content": [*MESSAGES[0], *MESSAGES[1]]}],
                "container": "container_1",
            },
            MESSAGES[:2],
        ),
        (
            refused_messages,
            {
                "messages": [
                    {"role": "assistant", "content": [*MESSAGES[0], *MESSAGES[1]]},
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}],
                    },
                ]
            },
            MESSAGES[:2],
        ),
        (
            refused_items,
            {"input": [_CALL, {"type": "function_call_output", "call_id": "call_1"}]},
            RESPONSES[:1],
        ),
        (refused_items, {"input": RESPONSES[0]}, RESPONSES[:1]),
        (refused_contents, {"contents": [{"role": "model", "parts": CONTENTS[0]}]}, CONTENTS[:1]),
        (
            refused_contents,
            {"contents": [{"role": "model", "parts": [{"functionCall": {"id": "call_0", "name": "f"}}]}]},
            [[{"functionCall": {"id": "call_0", "name": "f"}}]],
        ),
    ],
)
def test_the_servers_refuse(refuse: Refuse, body: JSON, said: list[list[JSON]]) -> None:
    """A turn that lacks something, a call without its result, code without its container, an id: each is refused."""
    assert list(refuse(body, said))
