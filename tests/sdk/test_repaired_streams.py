"""Written and repaired streams against the SDKs: their types take every frame, their clients get the calls.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import importlib
import json
import re
import warnings
from functools import cache, partial
from typing import Any

import pytest

import wholecall.transport
from tests.support import bless, corpora, quirky, share
from tests.support.loopback import serve
from tests.support.naive import data_of
from wholecall.calls.output.call_events import CustomToolCall, ToolCall, ToolCallCancelled
from wholecall.calls.output.events import StreamFault, TurnFinished, TurnStarted
from wholecall.encoders import ENCODERS, encoder
from wholecall.serving import Answer, Loopback

pytestmark = pytest.mark.sdk

# The type of one frame.
TYPES = {
    "anthropic": ("anthropic.types", "RawMessageStreamEvent"),
    "chat-completions": ("openai.types.chat", "ChatCompletionChunk"),
    "gemini": ("google.genai.types", "GenerateContentResponse"),
    "responses": ("openai.types.responses", "ResponseStreamEvent"),
}
NO_BASE64 = {"gemini-live/pretty-printed-two-channels"}  # recordings whose signatures are typed by hand
ENDED = re.compile(
    "must not be executed|after (it was|they were) shown"
)  # how we end a stream that was shown
WITHHELD = "all tool calls were withheld: "  # and one of which no call is emitted


@cache
def _adapter(dialect: str) -> Any:
    module, name = TYPES[dialect]
    return importlib.import_module("pydantic").TypeAdapter(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("dialect", ENCODERS)
def test_every_written_frame_is_of_the_sdks_types(dialect: str) -> None:
    """The SDK's types take each frame that is written for a turn of any recording."""
    validation_error = importlib.import_module("pydantic").ValidationError
    refused = []
    n_frames = 0
    for entry in corpora.cases():
        events = [event for event in bless.parse([corpora.recorded(entry)]) if event.turn == 0]
        if any(isinstance(event, StreamFault) and event.fatal for event in events):
            continue
        if dialect == "chat-completions":  # the SDK's chunks know no free-text tools
            events = [event for event in events if not isinstance(event, CustomToolCall)]
        ours = encoder(dialect)
        for payload in data_of(ours.encode(events) + ours.close()):
            n_frames += 1
            if entry["name"] in NO_BASE64 and dialect == "gemini":
                continue
            try:
                _adapter(dialect).validate_python(payload)
            except validation_error as error:
                refused.append((entry["name"], payload.get("type"), str(error)[:300]))

    assert [] == refused[:5]
    assert n_frames > 1000


def chat(server: Loopback, **options: Any) -> list[Any]:
    """Return the calls that the SDK's own accumulator of chat streams gets."""
    http = wholecall.transport.client(**options)
    openai = importlib.import_module("openai")
    client = openai.OpenAI(api_key="x", base_url=f"{server.url}/v1", http_client=http, max_retries=0)
    with client, client.chat.completions.stream(model="m", messages=[]) as stream:
        message = stream.get_final_completion().choices[0].message
    return [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]


def responses(server: Loopback, **options: Any) -> list[Any]:
    """Return the calls of the SDK's final response."""
    http = wholecall.transport.client(**options)
    openai = importlib.import_module("openai")
    client = openai.OpenAI(api_key="x", base_url=f"{server.url}/v1", http_client=http, max_retries=0)
    with client, client.responses.stream(model="m", input="x") as stream:
        output = stream.get_final_response().output
    return [(item.call_id, item.name, item.arguments) for item in output if item.type == "function_call"]


def anthropic(server: Loopback, **options: Any) -> list[Any]:
    """Return the calls of the SDK's final message."""
    http = wholecall.transport.client(**options)
    module = importlib.import_module("anthropic")
    client = module.Anthropic(api_key="x", base_url=server.url, http_client=http, max_retries=0)
    with client, client.messages.stream(model="m", max_tokens=9, messages=[]) as stream:
        content = stream.get_final_message().content
    return [(item.id, item.name, json.dumps(item.input)) for item in content if item.type == "tool_use"]


def gemini(server: Loopback, **options: Any) -> list[Any]:
    """Return the calls that a loop over the SDK's stream gets; its own chats take them from there, too."""
    chunks = own_loop("gemini", server, **options)
    calls = [call for chunk in chunks for call in chunk.function_calls or ()]
    return [(call.id, call.name, json.dumps(call.args)) for call in calls]


CLIENTS = {"anthropic": anthropic, "chat-completions": chat, "gemini": gemini, "responses": responses}


# Input that the SDKs' own accumulators cannot read in a stream, whatever its calls are.
KNOWN = {
    "chat-completions/custom-tool": "calls of free-text tools",
    "chat-completions/cut-content-filter": "a cut is an exception",
    "chat-completions/cut-length": "a cut is an exception",
    "chat-completions/cut-length-no-arguments": "a cut is an exception",
    "chat-completions/gigachat-object": "the older form of calls",
    "chat-completions/legacy-function-call": "the older form of calls",
    "chat-completions/long-repetition": "a cut is an exception",
    "responses/incomplete": "an incomplete response is an exception",
}


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("dialect", CLIENTS)
def test_clients_get_the_calls_of_every_recording(dialect: str, live: bool) -> None:
    """Under the SDK's own client each recording gives exactly the calls that the parser emits, or raises."""
    wrong = {}
    cases = share.every(9, corpora.cases(), "recordings") if live else corpora.cases()
    for entry in cases:
        data = corpora.recorded(entry)
        if (
            entry["dialect"] != dialect
            or not entry["file"].endswith(".sse")
            or not _ends_well(bless.parse([data]))
        ):
            continue
        told = sorted(_told(data), key=repr)
        found = _found(dialect, data, live=live)
        is_ended = (live and ENDED.search(str(found))) or (not told and WITHHELD in str(found))
        if told != found and not is_ended:
            wrong[entry["name"]] = (told, found)

    known = {name for name in KNOWN if name.startswith(f"{dialect}/")}
    assert {} == {name: case for name, case in wrong.items() if name not in known}
    assert live or known == wrong.keys()


def _found(dialect: str, data: bytes, *, live: bool = False) -> list[Any]:
    """Return the calls that the client gets, or its exception."""
    with serve(Answer([data])) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's, of fields that are not as the SDK types them
        try:
            calls = CLIENTS[dialect](server, live_arguments=live)
        except Exception as error:  # noqa: BLE001 - any error of the SDK is a finding
            return [(type(error).__name__, str(error))]
    return sorted(((name, json.loads(text)) for _, name, text in calls), key=repr)


def _told(data: bytes) -> list[Any]:
    """Return the calls that the parser emits."""
    events = bless.parse([data])
    gone = {event.id for event in events if isinstance(event, ToolCallCancelled)}
    calls = [event for event in events if isinstance(event, ToolCall) and event.choice == 0]
    return [(call.name, call.arguments) for call in calls if call.id not in gone]


def _ends_well(events: list[Any]) -> bool:
    turns = {event.turn for event in events}
    finished = [event for event in events if isinstance(event, TurnFinished) and event.choice == 0]
    faults = [event for event in events if isinstance(event, StreamFault)]
    return (
        len(turns) == 1 and not faults and all("missing_finish" not in event.anomalies for event in finished)
    )


@pytest.mark.parametrize(
    "mode", ["index_zero", "id_churn", "snapshots", "placeholder", "name_split", "message_only"]
)
def test_quirky_chat_streams_reach_the_client(mode: str) -> None:
    """Input that breaks the SDK's accumulator reaches it unchanged."""
    data = quirky.make("sdk", (mode,)).bytes()

    assert sorted(_told(data), key=repr) == _found("chat-completions", data)


def unfit(dialect: str) -> bytes:
    """Return a turn that claims success, and whose only call holds no object."""
    if dialect == "gemini":  # an encoder writes values, and these are objects
        called = {"functionCall": {"name": "f", "args": [1]}}
        candidates: list[Any] = [{"content": {"parts": [called]}}, {"finishReason": "STOP"}]
        responses = [{"candidates": [candidate], "responseId": "r"} for candidate in candidates]
        return b"".join(b"data: " + json.dumps(response).encode() + b"\n\n" for response in responses)
    call = ToolCall(0, 0, 0, "t", "f", arguments={}, raw_arguments="[1]", status="exact")
    ours = encoder(dialect)
    events = [TurnStarted(0, 0, dialect, "r", "m"), call, TurnFinished(0, 0, "tool_calls")]
    return ours.encode(events) + ours.close()


def own_loop(dialect: str, server: Loopback, **options: Any) -> list[Any]:
    """Return the events that a loop over the SDK's plain stream gets."""
    http = wholecall.transport.client(**options)
    if dialect == "anthropic":
        module = importlib.import_module("anthropic")
        client: Any = module.Anthropic(api_key="x", base_url=server.url, http_client=http, max_retries=0)
        stream = client.messages.create(model="m", max_tokens=9, messages=[], stream=True)
    elif dialect == "gemini":
        module = importlib.import_module("google.genai")
        client = module.Client(api_key="x", http_options={"base_url": server.url, "httpx_client": http})
        with http:
            return list(client.models.generate_content_stream(model="m", contents="x"))
    else:
        module = importlib.import_module("openai")
        client = module.OpenAI(api_key="x", base_url=f"{server.url}/v1", http_client=http, max_retries=0)
        if dialect == "responses":
            stream = client.responses.create(model="m", input="x", stream=True)
        else:
            stream = client.chat.completions.create(model="m", messages=[], stream=True)
    with client:
        return list(stream)


@pytest.mark.parametrize("helper", [True, False], ids=["helper", "own loop"])
@pytest.mark.parametrize("dialect", CLIENTS)
def test_a_turn_without_its_calls_is_no_success(dialect: str, helper: bool) -> None:
    """Helpers and plain loops raise, with tool and reason; with `withheld="end"` they continue as after a plain end."""
    read = CLIENTS[dialect] if helper else partial(own_loop, dialect)
    with serve(Answer([unfit(dialect)])) as server:
        with pytest.raises(Exception, match=rf"{WITHHELD}f \(not_an_object\)"):
            read(server)
        ended = read(server, withheld="end")

    assert "not_an_object" not in str(ended)


@pytest.mark.parametrize("helper", [True, False], ids=["helper", "own loop"])
@pytest.mark.parametrize("dialect", CLIENTS)
def test_a_stream_without_an_end_is_no_success(dialect: str, helper: bool) -> None:
    """A body that ends cleanly in the middle of a call is an error for helpers and plain loops."""
    most = 1 if dialect == "gemini" else 2  # frames, of which the next one ends the turn
    half = b"".join(frame + b"\n\n" for frame in unfit(dialect).split(b"\n\n")[:most])
    read = CLIENTS[dialect] if helper else partial(own_loop, dialect)
    with (
        serve(Answer([half])) as server,
        pytest.raises(Exception, match="the stream ended before the turn did"),
    ):
        read(server)
