"""Law 117: calls of Chat Completions come back in the form in which they were asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx
import pytest

from tests.support.proxying import Client, Reply, Scripted, run
from wholecall.repairing import Repairer, repair_body
from wholecall.repairing.answers import asks_for_functions
from wholecall.transport import RepairTransport

PATH = "/v1/chat/completions"
HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
BODY = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
TEXT = '{"a":1}'
# A request, and the form that its client reads.
REQUESTS = [
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tool_calls"),
    ({"functions": [{"name": "f"}]}, "function_call"),
    ({"tools": [], "functions": [{"name": "f"}]}, "tool_calls"),
    ({}, None),
    ({"tools": None, "functions": None}, None),
]
FORMS = ["tool_calls", "function_call"]


def told(form: str, text: str, *, begins: bool = True) -> dict[str, Any]:
    """Return the members of a message, or of a delta, that hold a call in one of the forms."""
    function = {"name": "f", "arguments": text} if begins else {"arguments": text}
    if form == "function_call":
        return {"function_call": function}
    labels = {"id": "call_1", "type": "function"} if begins else {}
    return {"tool_calls": [{"index": 0, **labels, "function": function}]}


def stream(form: str) -> bytes:
    """Return a stream with a call in one of the forms."""
    deltas = [
        {"role": "assistant", "content": None},
        told(form, TEXT[:3]),
        told(form, TEXT[3:], begins=False),
    ]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": form})
    frames = [b"data: " + json.dumps({**HEAD, "choices": [one]}).encode() + b"\n\n" for one in choices]
    return b"".join(frames) + b"data: [DONE]\n\n"


def body(form: str) -> bytes:
    """Return a whole body with a call in one of the forms."""
    message = {"role": "assistant", "content": None, **told(form, TEXT)}
    return json.dumps({**BODY, "choices": [{"index": 0, "message": message, "finish_reason": form}]}).encode()


def forms(data: bytes) -> tuple[str, str]:
    """Return the form of the call in a stream or a body, and the finish reason; its text is whole."""
    lines = [line.removeprefix(b"data: ") for line in data.splitlines()]
    payloads = [json.loads(line) for line in lines if line.startswith(b"{")]
    choices = [choice for payload in payloads for choice in payload["choices"]]
    views = [choice.get("delta") or choice.get("message") or {} for choice in choices]
    (form,) = {form for form in FORMS for view in views if view.get(form)}
    calls = [view[form] for view in views if view.get(form)]
    functions = [call[0]["function"] for call in calls] if form == "tool_calls" else calls
    assert TEXT == "".join(function.get("arguments", "") for function in functions)
    assert ["f"] == [function["name"] for function in functions if function.get("name")]
    (reason,) = {choice["finish_reason"] for choice in choices if choice.get("finish_reason")}
    return form, reason


def through_transport(request: dict[str, Any], answer: bytes, kind: str) -> bytes:
    """Return the httpx transport's output."""

    class Chunks(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield answer

    headers = [("content-type", kind)]
    inner = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=Chunks()))
    with httpx.Client(transport=RepairTransport(inner)) as client:
        return client.post(f"http://up{PATH}", json=request).content


def through_proxy(request: dict[str, Any], answer: bytes, kind: str) -> bytes:
    """Return the proxy's output."""
    client = Client(PATH, json.dumps(request).encode())
    run(client, Scripted(Reply([answer], 200, [(b"content-type", kind.encode())])))
    return client.body


@pytest.mark.parametrize("door", [through_transport, through_proxy])
@pytest.mark.parametrize(("make", "kind"), [(stream, "text/event-stream"), (body, "application/json")])
def test_calls_come_in_the_form_that_was_asked_for(door: Any, make: Any, kind: str) -> None:
    """Of streams and bodies, for any form of the server's answer; without a form in the request, the server's."""
    for (request, wanted), form in product(REQUESTS, FORMS):
        answer = make(form)
        out = door({"model": "m", "messages": [], **request}, answer, kind)
        expected = wanted or form

        assert (expected, expected) == forms(out), (request, form)
        assert expected != form or answer == out, (request, form)


@pytest.mark.parametrize("legacy", [True, False, None])
def test_several_calls_have_one_form(legacy: bool | None) -> None:
    """The older form has one call per choice: further calls keep their form."""
    call = {"index": 1, "id": "call_2", "type": "function", "function": {"name": "g", "arguments": "{}"}}
    both = told("tool_calls", TEXT)["tool_calls"] + [call]
    choices = [
        {"index": 0, "delta": {"role": "assistant", "tool_calls": both}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
    ]
    frames = [b"data: " + json.dumps({**HEAD, "choices": [one]}).encode() + b"\n\n" for one in choices]
    data = b"".join(frames) + b"data: [DONE]\n\n"
    repairer = Repairer(legacy=legacy)
    message = {"role": "assistant", "content": None, "tool_calls": [{**one, "index": None} for one in both]}
    whole = json.dumps({**BODY, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})

    assert data == repairer.feed(data) + repairer.close()
    assert whole.encode() == repair_body(whole.encode(), legacy=legacy).data


@pytest.mark.parametrize("request_", [b"", b"[]", b"{", b'{"tools":', b"\xff", b'{"tools": null}'])
def test_what_cannot_be_read_asks_for_nothing(request_: bytes) -> None:
    """It is the server's to refuse."""
    assert asks_for_functions(request_) is None
