"""Bedrock ConverseStream: frame in, deltas out."""

from __future__ import annotations

import json

from wholecall import ToolCallParser


def test_a_whole_message_holds_results() -> None:
    """A result in a whole message says that its call was executed, as one in a stream does."""
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "secret"}]}}
    parser = ToolCallParser("bedrock-converse")
    parser.feed(
        json.dumps({"output": {"message": {"content": [call, result]}}, "stopReason": "tool_use"}).encode()
    )
    parser.close()

    assert ((), ["tooluse_1"]) == (parser.turn.calls, [one.id for one in parser.turn.server_calls])
