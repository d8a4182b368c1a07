"""LangChain's messages, and the events of its runs: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import detect
from wholecall.deltas import (
    ITEM_DONE,
    OBJECT,
    CallCancelled,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.frameworks.langchain import LangChainTranslator
from wholecall.dialects.frameworks.langchain_events import LangChainEventsTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("m", "m")


def translate(*frames: Any, events: bool = False) -> list[Delta]:
    """Translate the frames of one stream: a payload or text alone, or the event's name before it."""
    translator = LangChainEventsTranslator() if events else LangChainTranslator()
    deltas: list[Delta] = []
    for frame in frames:
        event, payload = frame if isinstance(frame, tuple) else ("data", frame)
        data = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def chunk(*calls: dict[str, Any], id: Any = "m", **more: Any) -> dict[str, Any]:
    """Return a chunk with these pieces of calls."""
    return {"type": "AIMessageChunk", "id": id, "content": "", "tool_call_chunks": list(calls), **more}


def piece(index: Any, args: Any, **labels: Any) -> dict[str, Any]:
    """Return a piece of a call."""
    return {"index": index, "args": args, "type": "tool_call_chunk", "id": None, "name": None, **labels}


def test_chunks_are_bound_by_their_labels() -> None:
    """Indices may be words or missing; an entry with only index and text is a plain fragment."""
    deltas = translate(
        chunk(piece(0, "", id="c", name="f"), response_metadata={"model_name": "gpt"}),
        chunk(piece(0, '{"a"'), piece("lc_tc_1", "{}")),
        chunk(piece(None, ":1}"), piece(0, {"a": 1}), piece(0, None)),
    )

    assert [
        TurnOpened("m", "m", "gpt"),
        Labelled(0, 0, "c", "f"),
        Fragment(0, 0, '{"a"'),
        Fragment(0, "lc_tc_1", "{}"),
        Labelled(0, None, None, None, ":1}"),
        Labelled(0, 0, None, None, '{"a":1}', rank=OBJECT),
        Labelled(0, 0, None, None),
    ] == deltas


def test_guessed_calls_of_a_chunk_do_not_count() -> None:
    """LangChain closes brackets in `tool_calls`: they never restate a message that came in chunks."""
    guess = [{"id": "c", "name": "f", "args": {"a": 1}}]
    streamed = chunk(piece(0, '{"a":1', id="c", name="f"), tool_calls=guess)
    whole = {"type": "ai", "id": "m", "content": "", "tool_calls": guess}

    told = [OPENED, Labelled(0, 0, "c", "f", '{"a":1'), TurnEnded("m")]
    assert told == translate(streamed, whole)
    assert told[:2] == translate(streamed, ("messages/partial", [whole]))
    assert told[:1] == translate(("messages/partial", [whole]))
    assert told == translate(streamed, ("messages/complete", [streamed]))


def test_a_whole_message_says_all() -> None:
    """Its calls are reported in slots and held: a cut message may end with a guess. Unreadable ones keep their text."""
    message = {
        "type": "ai",
        "id": "m",
        "content": [{"type": "text", "text": "Hi"}, {"type": "thinking", "thinking": "hm", "signature": "s"}],
        "tool_calls": [{"id": "c", "name": "f", "args": {"a": 1}}],
        "invalid_tool_calls": [{"id": "d", "name": "g", "args": "{x", "error": "no"}],
        "response_metadata": {"stop_reason": "max_tokens", "model": "claude"},
        "usage_metadata": {"input_tokens": 1},
    }
    deltas = [
        TurnOpened("m", "m", "claude"),
        TextFragment(0, "Hi"),
        ReasoningFragment(0, "hm", signature="s"),
        CallSeen(0, "whole/0", None, "c", "f"),
        CallWhole(0, "whole/0", None, "c", "f", '{"a":1}', ITEM_DONE),
        CallClosed(0, "whole/0", None, final=False),
        CallSeen(0, "whole/1", None, "d", "g"),
        CallWhole(0, "whole/1", None, "d", "g", "{x", ITEM_DONE),
        CallClosed(0, "whole/1", None, final=False),
        UsageSeen({"input_tokens": 1}),
        Finish(0, "length", "max_tokens"),
        TurnEnded("m"),
    ]
    path = ["langchain", "schema", "messages", "AIMessage"]

    assert deltas == translate(message)
    assert deltas == translate({"output": message, "metadata": {}})
    assert deltas == translate({"lc": 1, "type": "constructor", "id": path, "kwargs": message})
    assert deltas == translate(("messages", [message, {"langgraph_node": "n"}]))


def test_cumulative_messages_add_what_is_new() -> None:
    """LangGraph repeats everything so far each time; the finished message, repeated, adds nothing."""
    frames = [
        ("messages/partial", [chunk(piece(0, args, id="c", name="f"), content=text)])
        for args, text in (("", "Hi"), ('{"a"', "Hi you"), ('{"a":1}', "Hi you"))
    ]
    whole = {"type": "ai", "id": "m", "content": "Hi you", "tool_calls": []}
    deltas = translate(*frames, ("messages/complete", [whole]), ("messages/complete", [whole]))

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        Labelled(0, 0, "c", "f"),
        TextFragment(0, " you"),
        Labelled(0, 0, "c", "f", '{"a"'),
        Labelled(0, 0, "c", "f", ":1}"),
        TurnEnded("m"),
    ] == deltas


def test_cumulative_reasoning_adds_what_is_new() -> None:
    """Also where it is next to the content."""
    frames = [("messages/partial", [chunk(additional_kwargs={"reasoning_content": t})]) for t in ("a", "ab")]

    assert [OPENED, ReasoningFragment(0, "a"), ReasoningFragment(0, "b")] == translate(*frames)


def test_messages_side_by_side_are_turns() -> None:
    """The id of a chunk identifies its message; chunks without one continue, and an id that comes late is the same."""
    other = TurnOpened("n", "n")
    spoken = [chunk(id=id, content=id) for id in ("m", "n", "m")]
    said = [OPENED, TextFragment(0, "m"), other, TextFragment(0, "n"), OPENED, TextFragment(0, "m")]

    assert [*said, TurnEnded("m"), TurnEnded("n")] == translate(*spoken, ("end", {}))
    late = translate(chunk(id=None, content="a"), chunk(), chunk(id=None, chunk_position="last"))
    assert [TurnOpened(None), TextFragment(0, "a"), TurnEnded("m")] == late
    first = chunk(piece(0, "{}", id="c", name="f"), id=None, content="a")
    whole = {"type": "ai", "id": "m", "content": "a", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}
    call = Labelled(0, 0, "c", "f", "{}")
    assert [TurnOpened(None), TextFragment(0, "a"), call, TurnEnded("m")] == translate(first, whole)
    again = translate(*[chunk(id=None, chunk_position="last")] * 2)
    assert [TurnOpened(None), TurnEnded(None), TurnOpened(None, restart=True), TurnEnded(None)] == again


def test_a_run_is_the_message_that_waits_for_it() -> None:
    """Chunks that go by the run's id belong to the message that a chunk with the provider's id opened."""
    deltas = translate(
        chunk(id="resp_1"),
        chunk(piece(0, "{}", id="c", name="f"), id="lc_run-1"),
        chunk(id="lc_run-1", chunk_position="last"),
    )

    assert [TurnOpened("resp_1", "resp_1"), Labelled(0, 0, "c", "f", "{}"), TurnEnded("resp_1")] == deltas


def test_the_empty_last_chunk_goes_by_the_run() -> None:
    """LangChain's own last chunk ends the message, although all others had the provider's id."""
    deltas = translate(
        chunk(piece(0, "{}", id="c", name="f")),
        chunk(id="lc_run-1", chunk_position="last"),
    )

    assert [OPENED, Labelled(0, 0, "c", "f", "{}"), TurnEnded("m")] == deltas


def test_a_run_that_could_be_two_messages_is_its_own() -> None:
    """Where two messages wait, and where the open message has reported something, a run is another message."""
    two = translate(chunk(id="a"), chunk(id="b"), chunk(content="x", id="lc_run-1"))
    told = translate(chunk(content="x"), chunk(content="y", id="lc_run-1"))

    assert [TurnOpened(key, key) for key in ("a", "b", "lc_run-1")] == two[:3]
    assert [OPENED, TextFragment(0, "x"), TurnOpened("lc_run-1", "lc_run-1"), TextFragment(0, "y")] == told


def test_text_is_told_once() -> None:
    """A finished message repeats its chunks."""
    whole = {"type": "ai", "id": "m", "content": "Hi", "response_metadata": {"finish_reason": "stop"}}

    assert [OPENED, TextFragment(0, "Hi"), Finish(0, "stop", "stop"), TurnEnded("m")] == translate(
        chunk(content="Hi"), whole
    )


@pytest.mark.parametrize(
    ("told", "finish"),
    [
        ({"status": "completed"}, [Finish(0, "stop", "completed")]),
        ({"status": "incomplete"}, [Finish(0, "length", "incomplete")]),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            [Finish(0, "content_filter", "incomplete")],
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            [Finish(0, "length", "incomplete")],
        ),
        ({"status": "failed"}, [Finish(0, "error", "failed", drops=True)]),
        ({"status": "in_progress"}, []),
        ({"status": 5}, []),
        ({"status": "completed", "finish_reason": "length"}, [Finish(0, "length", "length")]),
    ],
)
def test_models_that_speak_responses_have_a_status(told: dict[str, Any], finish: list[Delta]) -> None:
    """The status of a response is its message's reason, where the metadata has no other."""
    assert [OPENED, *finish] == translate(chunk(response_metadata=told))


def test_a_place_in_the_graph_stands_behind_the_mode() -> None:
    """LangGraph names the events of graphs within a graph for their places, too."""
    frame = [chunk(content="x"), {"langgraph_node": "n"}]

    assert translate(("messages", frame)) == translate(("messages|tides:1", frame))
    assert [] == translate(("updates|tides:1", {"agent": {}}))


@pytest.mark.parametrize(
    ("frame", "deltas"),
    [
        (("error", {"message": "no"}), [WireFault("provider_error", "no", {"message": "no"}, fatal=True)]),
        (("error", "no"), [WireFault("provider_error", "no", "no", fatal=True)]),
        ({"error": "no"}, [WireFault("provider_error", "no", "no", fatal=True)]),
        (("metadata", {"run_id": "r"}), []),
        (("values", {"messages": []}), []),
        ({"type": "tool", "content": "x", "tool_call_id": "c"}, [CallCancelled("c", answered=True)]),
        (("messages", [{"type": "tool", "tool_call_id": "c"}, {}]), [CallCancelled("c", answered=True)]),
        ({"type": "tool", "content": "x"}, []),
        ({"type": "human", "content": "x", "tool_call_id": "c"}, []),
        ({"type": "ping"}, []),
        ({}, []),
        ({"kind": "x"}, [Noted(0, "unknown_events")]),
        ("{", [WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)]),
        (
            ("messages", "{"),
            [WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)],
        ),
        (
            ("messages", '[{"type":"AIMessageChunk","id":"m","content":"\\ud83d"}]'),
            [OPENED, TextFragment(0, "\ud83d")],
        ),
        ('{"type":"AIMessageChunk","id":"m","content":"\\ud83d"}', [OPENED, TextFragment(0, "\ud83d")]),
    ],
)
def test_errors_and_odd_frames(frame: Any, deltas: list[Delta]) -> None:
    """An error is fatal, a tool's message is the result of a call, others' messages and LangGraph's other events say nothing."""
    assert deltas == translate(frame)


def event(kind: str, run: str = "r", **data: Any) -> dict[str, Any]:
    """Return an event of a run."""
    return {"event": f"on_{kind}", "run_id": run, "name": "M", "data": data}


def test_a_run_of_a_model_is_a_turn() -> None:
    """Chunks need no own id, the end restates nothing that chunks gave, other runs are skipped."""
    guess = {"type": "ai", "content": "Hi", "tool_calls": [{"id": "c", "name": "f", "args": {"a": 1}}]}
    deltas = translate(
        event("chain_stream", chunk="text"),
        event("chat_model_start", input={}),
        event("chat_model_stream", chunk=chunk(piece(0, "{", id="c", name="f"), id=None, content="Hi")),
        event("chat_model_stream", chunk=None),
        event("tool_end", output={"type": "tool"}),
        event("chat_model_end", output=guess | {"response_metadata": {"finish_reason": "length"}}),
        event("chat_model_end", output=guess),
        events=True,
    )

    assert [
        TurnOpened("r", "r"),
        TextFragment(0, "Hi"),
        Labelled(0, 0, "c", "f", "{"),
        Finish(0, "length", "length"),
        TurnEnded("r"),
    ] == deltas


def test_a_run_that_does_not_stream_has_its_message_at_the_end() -> None:
    """The id is the message's own, the key is the run's; a run without a message only ends."""
    message = {"type": "ai", "id": "m", "content": "Hi"}

    assert [TurnOpened("r", "m"), TextFragment(0, "Hi"), TurnEnded("r")] == translate(
        event("chat_model_end", output=message), events=True
    )
    assert [TurnEnded("r")] == translate(event("chat_model_end", output=None), events=True)


@pytest.mark.parametrize(
    ("frame", "deltas"),
    [
        (("error", {"message": "no"}), [WireFault("provider_error", "no", {"message": "no"}, fatal=True)]),
        ({"error": {"message": "no"}}, [WireFault("provider_error", "no", {"message": "no"}, fatal=True)]),
        (("metadata", {"run_id": "r"}), []),
        ({"event": "on_retriever_end", "run_id": "r"}, []),
        ({"kind": "x"}, [Noted(0, "unknown_events")]),
        ({}, []),
        ("[DONE]", []),
        ("{", [WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)]),
    ],
)
def test_errors_and_odd_events(frame: Any, deltas: list[Delta]) -> None:
    """As with messages."""
    assert deltas == translate(frame, events=True)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ('event: messages\ndata: [{"type":"AIMessageChunk"},{}]\n\n', "langchain"),
        ('event: messages\ndata: {"a":1}\n\n', None),
        ('event: messages|n:1\ndata: [{"type":"AIMessageChunk"},{}]\n\n', "langchain"),
        ('["messages",[{"type":"AIMessageChunk"},{}]]', "langchain"),
        ('[["n:1"],"messages",[{"type":"AIMessageChunk"},{}]]', "langchain"),
        ('data: ["messages",[{"type":"AIMessageChunk"},{}]]\n\n', "langchain"),
        ('data: [{"type":"AIMessageChunk"},{"langgraph_node":"n"}]\n\n', "langchain"),
        ('data: [{"type":"AIMessageChunk"},{"node":"n"}]\n\n', None),
        ('["updates",{"agent":{"messages":[]}}]', None),
        ('["messages"]', None),
        ('["messages",1,2,3]', None),
        ('event: values\ndata: {"a":1}\n\n', None),
        ('{"type":"AIMessageChunk","content":""}', "langchain"),
        ('{"lc":1,"type":"constructor","id":["langchain","AIMessage"],"kwargs":{}}', "langchain"),
        ('{"lc":1,"type":"constructor","id":["langchain","HumanMessage"],"kwargs":{}}', None),
        ('{"output":{"type":"ai","content":"","tool_calls":[]}}', "langchain"),
        ('{"type":"ai","content":""}', None),
        ('{"event":"on_chain_start","run_id":"r"}', "langchain-events"),
        ('{"event":"on_chain_start"}', None),
        ('{"event":"message-start","run_id":"r"}', "langchain-protocol"),
    ],
)
def test_detection(data: str, name: str | None) -> None:
    """A message of a model is known by its type, LangGraph's lists by their event, events by their names, or by those of the protocol."""
    assert name == detect(data.encode())
