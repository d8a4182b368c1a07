"""The views of Claude Code's lines, and the state of the message that an agent is writing."""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.deltas import Index
from wholecall.dialects.anthropic.blocks import Blocks
from wholecall.dialects.anthropic.views import Event, Message
from wholecall.dialects.decode import NO_TEXT

__all__ = ["DECODER", "QUIET", "Line", "Request", "Writing"]

# Lines that are not about an answer.
QUIET: Final = frozenset(
    {
        *("system", "rate_limit_event", "control_response", "keep_alive", "ping", "prompt_suggestion"),
        *("tool_progress", "tool_use_summary", "auth_status", "streamlined_text"),
        *("streamlined_tool_use_summary", "transcript_mirror", "update_environment_variables"),
    }
)


class _Params(msgspec.Struct, gc=False):
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT


class _Rpc(msgspec.Struct, gc=False):
    id: Any = None
    method: Any = None
    params: Union[_Params, None] = None


class Request(msgspec.Struct, gc=False):
    """A request of the agent to its client: for a permission, or for an answer of an MCP server in the client."""

    subtype: Any = None
    tool_name: Any = None
    tool_use_id: Any = None
    input: msgspec.Raw = NO_TEXT
    server_name: Any = None
    message: Union[_Rpc, None] = None


class Line(msgspec.Struct, gc=False):
    """A line of the agent's output."""

    type: Any = None
    subtype: Any = None
    event: Union[Event, None] = None
    message: Union[Message, None] = None
    parent_tool_use_id: Any = None
    request_id: Any = None
    request: Union[Request, None] = None
    session_id: Any = None
    is_error: Any = None
    result: Any = None
    stop_reason: Any = None
    usage: Any = None
    errors: Any = None
    error: Any = None


DECODER = msgspec.json.Decoder(Line)


class Writing:
    """A message of one agent, from its beginning to the next one.

    Attributes:
        key: of its turn.
        id: of the message.
        streamed: its events come as well as its whole blocks.
        stopped: its last event came.
        reason: why it ended, in the wire's word.
        calls: the slots of its calls that are not over, by their ids.
        over: the ids of the calls that are over.
        n_calls: the number of its calls.
        n_blocks: the number of thoughts among its blocks of whole lines.
    """

    key: str
    id: str | None
    streamed: bool
    stopped: bool
    reason: Any
    blocks: Blocks
    calls: dict[str, Index | None]
    over: set[str]
    n_calls: int
    n_blocks: int

    def __init__(self, key: str, id: str | None, *, streamed: bool) -> None:
        self.key = key
        self.id = id
        self.streamed = streamed
        self.stopped = False
        self.reason = None
        self.blocks = Blocks()
        self.calls = {}
        self.over = set()
        self.n_calls = self.n_blocks = 0
