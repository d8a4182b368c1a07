"""LangChain's messages, and the events of its runs: frame in, deltas out."""

from __future__ import annotations

from tests.support.together import together
from wholecall import detect


@together(
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
