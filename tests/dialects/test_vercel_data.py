"""The data stream protocol of the Vercel AI SDK: line in, deltas out."""

from __future__ import annotations

from wholecall import ToolCall, ToolCallParser, TurnStarted, detect
from wholecall.dialects.table import detect_dialect


def test_the_code_of_a_line_tells_the_dialect() -> None:
    """Any line is decisive, also through the door for decoded payloads; so is a message with invocations."""
    invocations = {"role": "assistant", "toolInvocations": []}
    parts = {"role": "assistant", "parts": [{"type": "tool-invocation"}]}

    assert ["vercel-data"] * 3 == [detect(b'0:"a"'), detect(b"3:[]\n"), detect(b'\n2:["x"]\n')]
    assert detect(b"0: a\n") is None
    assert [True] * 2 == [
        dialect is not None and dialect.name == "vercel-data"
        for dialect in (detect_dialect(invocations), detect_dialect(parts))
    ]
    assert detect_dialect({"role": "user", "toolInvocations": []}) is None
    parser = ToolCallParser()
    found = parser.feed_event({"toolCallId": "c", "toolName": "f", "args": {"a": 1}}, "9")
    assert [TurnStarted, ToolCall] == [type(event) for event in (found[0], found[-1])]
