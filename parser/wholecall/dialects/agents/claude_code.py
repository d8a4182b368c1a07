"""Claude Code's stream of JSON lines (`--output-format stream-json`), which the Claude Agent SDK reads as well.

    {"type": "system", "subtype": "init", "session_id", "model", …}
    {"type": "stream_event", "event": {…}, "parent_tool_use_id", "session_id"}       an event of Anthropic Messages
    {"type": "assistant", "message": {id, model, content: [one block], …}, "parent_tool_use_id", "session_id"}
    {"type": "user", "message": {content: [{type: tool_result, tool_use_id, …}]}, …}
    {"type": "control_request", "request_id", "request": {"subtype", …}}
        can_use_tool   tool_name, input, tool_use_id                                may the agent do this?
        mcp_message    server_name, message{id, method: tools/call, params{name, arguments}}
    {"type": "control_cancel_request", "request_id"}
    {"type": "result", "subtype", "is_error", "result", "stop_reason", "usage", …}   the prompt is answered

The agent executes its calls itself, so each is a server's call; a call for which it asks a permission needs an
approval, and is reported then. A request to an MCP server that runs in the client is the client's call: the request's
id is the call's, and `extra` has the members that the answer needs. The model's own call, which led to it, stays the
agent's.

A message's blocks come as whole lines, one each, under the message's id; its events only where they are asked for
(`--include-partial-messages`). Therefore a block of a streamed message comes twice, and its line is the last word,
unless its input is empty: the agent also writes `{}` for input that it cannot read. Without events a message has no
reason: it is over when the agent's next one begins, or with the result. A call is over when its result comes, or its
message is. Sub-agents' lines come between those of the main agent, under the id of the call that began them (quirk
136); each agent has its own turns. A session outlives its errors. With `--output-format json` only the result comes, or
an array of all lines.

Qwen Code writes the same lines (`qwen --output-format stream-json`), and among them states of a session as events
(`goal_state`, `active_goal`, `tool_progress`), which are about no message.

Covers: Claude Code's `stream-json`, which the Claude Agent SDK reads, and Qwen Code's: whole lines, and the model's
    events where they are requested; calls that the agent executes itself, calls that need a permission, calls to an MCP server in its
    client (these are the client's calls); sub-agents, the JSON modes.
Calls: told apart by call id; each ends with its result, a request to the client, or the next message.
Source: Claude Code documentation, "Run Claude Code programmatically" and "CLI reference"; Claude Agent SDK, "Streaming
output" and the types of its messages (November 2026); QwenLM/qwen-code, packages/cli/src/nonInteractive/types.ts and
io/StreamJsonOutputAdapter.ts (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Optional

from msgspec.structs import replace

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, labels, report, say
from wholecall.dialects.agents.beside import Beside
from wholecall.dialects.anthropic import Block, Blocks, Message, finish_deltas, usage_deltas
from wholecall.framing.frame import Frame

_QUIET: Final = frozenset({"redacted_thinking", "container_upload", "compaction"})  # blocks


def _usage(path: str) -> say.Say:
    """Report token counts, as Anthropic Messages does."""
    return say.own(usage_deltas, at.value(path))


def _is_true(value: object) -> bool:
    return value is True


# The parts of rows: events of Anthropic Messages.
_AGENT = at.id("/parent_tool_use_id")  # the call that began a sub-agent
_INDEX = at.index("event.index")
_START = say.own("_message_start", _AGENT, at.Value("event.message", kind=Optional[Message]))
_THINKING = (say.thought("event.delta.thinking", _INDEX, "_thought", signature="event.delta.signature"),)
_DELTAS: say.Rows = {
    "text_delta": (say.text("event.delta.text", _INDEX, "_text"),),
    "thinking_delta": _THINKING,
    "signature_delta": _THINKING,
    "input_json_delta": (say.own("_piece", _INDEX, at.value("event.delta.partial_json")),),
}
_QUIET_DELTAS: Final = ("citations_delta", "compaction_delta")
_EVENTS: say.Rows = {
    "content_block_delta": (say.by(at.value("event.delta.type"), _DELTAS, _QUIET_DELTAS),),
    "content_block_start": (
        say.own("_start", _INDEX, at.Value("event.content_block", kind=Optional[Block])),
    ),
    "content_block_stop": (say.own("_stop", _INDEX),),
    "message_delta": (say.own("_reason", at.value("event.delta.stop_reason")), _usage("event.usage")),
    "message_stop": (say.own("_stopped"),),
}
_GOES_ON = (say.own("_in_events", _AGENT), say.by(at.value("event.type"), _EVENTS, ("ping",)))
_OF_SESSION: Final = ("goal_state", "active_goal", "tool_progress")  # events about no message
_ERROR = say.own(report.error, at.value("event.error"), fatal=False)
_OF_MESSAGE = (say.when(at.Value("event.error", bool), (True,), _ERROR, otherwise=_GOES_ON),)
_EVENT = (say.when(at.value("event.type"), _OF_SESSION, otherwise=_OF_MESSAGE),)

# The parts of rows: whole lines, and requests to the client.
_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_CALL = say.own(
    "_call", at.id("id"), at.name("name"), at.json_text("input"), at.value("caller"), at.value("server_name")
)
_SAID = say.own("_said", at.text("type"), *map(at.value, ("text", "thinking", "signature", "data")))
_ASKS = say.own("_asks", at.id("tool_use_id"), at.name("tool_name"), at.json_text("input"))
_TOOL = at.id("/request_id"), at.name("name"), at.json_text("arguments")
_OURS = say.given(
    "message.params", say.own("_request", *_TOOL, at.value("../server_name"), at.value("../message.id"))
)
_MCP = say.when(at.value("message.method"), ("tools/call",), _OURS)
_FAILS = say.own("_fails", at.value("subtype"), at.value("errors"), at.value("result"), at.value("error"))
_ALONE = say.own("_alone", at.id("session_id"), at.value("result"), at.value("usage"))


class ClaudeCodeTranslator(compiled.TableTranslator):
    """Lines of one session to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "stream_event": (say.when(at.value("event.type"), ("message_start",), _START, otherwise=_EVENT),),
        "assistant": (
            say.own("_on", _AGENT, at.id("message.id"), at.name("message.model")),
            say.each("message.content", say.when(at.text("type"), _CALLS, _CALL, otherwise=(_SAID,))),
            say.own("_reason", at.value("message.stop_reason")),
            _usage("message.usage"),
            say.own("_failed", at.value("error")),
        ),
        "user": (say.each("message.content", say.own("_over", at.id("tool_use_id"))),),
        "control_request": (
            say.when(at.value("request.subtype"), ("can_use_tool",), say.given("request", _ASKS)),
            say.when(at.value("request.subtype"), ("mcp_message",), say.given("request", _MCP)),
        ),
        "control_cancel_request": (say.own("_cancel", at.id("request_id")),),
        "result": (
            say.when(at.Value("is_error", _is_true), (True,), _FAILS, otherwise=(_ALONE,)),
            say.own("_answered", at.value("subtype"), at.value("stop_reason")),
        ),
    }
    QUIET = frozenset(
        {
            *("system", "rate_limit_event", "control_response", "keep_alive", "ping", "prompt_suggestion"),
            *("tool_progress", "tool_use_summary", "auth_status", "streamlined_text"),
            *("streamlined_tool_use_summary", "transcript_mirror", "update_environment_variables"),
        }
    )

    _turns: Beside
    _message: Writing
    _writing: dict[str | None, Writing]
    _asked: set[str]

    def __init__(self) -> None:
        super().__init__()
        self._turns = Beside()
        self._message = Writing("", None, streamed=False)  # the one that the line is about
        self._writing = {}  # the message of each agent, by the call that began it
        self._asked = set()  # requests to the client that are calls

    def close(self) -> list[deltas.Delta]:
        """Report the end of the messages that were whole when the stream ended."""
        stopped = [agent for agent, message in self._writing.items() if message.stopped]
        return [delta for agent in stopped for delta in self._ends(agent)]

    def _take(self, line: Any, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of a line; an error in a line with a type is about its message."""
        kind = line.type if type(line.type) is str else ""
        row = self.EVENTS.get(kind)
        if row is not None:
            return row(self, line)
        return report.error(line.error) if line.error and not kind else self._other(line, frame, kind)

    # The life of messages

    def _on(self, agent: str | None, id_: str | None = None, model: str | None = None) -> list[deltas.Delta]:
        """Make the agent's message the current one, or a new one if another id comes."""
        message = self._writing.get(agent)
        if message is None or (id_ is not None and message.id not in (None, id_)):
            return self._begins(agent, id_, model)
        message.id = message.id or id_
        self._message = message
        return self._turns.switch(message.key)

    def _begins(
        self, agent: str | None, id_: str | None, model: str | None = None, *, streamed: bool = False
    ) -> list[deltas.Delta]:
        told = self._ends(agent)
        key, opened = self._turns.begin(id_, model)
        self._message = self._writing[agent] = Writing(key, id_, streamed=streamed)
        return told + opened

    def _reason(self, reason: object) -> list[deltas.Delta]:
        """Note why the message ends."""
        self._message.reason = reason or self._message.reason
        return []

    def _ends(self, agent: str | None) -> list[deltas.Delta]:
        """End an agent's message; one whose events broke off is left to the machine."""
        message = self._writing.pop(agent, None)
        if message is None:
            return []
        if message.streamed and not message.stopped:
            return self._turns.leave(message.key)
        unsaid: list[deltas.Delta] = [deltas.Finish(0, "tool_calls" if message.n_calls else "stop", None)]
        finish = finish_deltas(message.reason) or unsaid
        return [*self._turns.switch(message.key), *finish, *self._turns.end(message.key)]

    # Events of a streamed message

    def _message_start(self, agent: str | None, message: Message | None) -> list[deltas.Delta]:
        said = message or Message()
        told = self._begins(agent, labels.id_label(said.id), labels.name_label(said.model), streamed=True)
        return told + usage_deltas(said.usage)

    def _in_events(self, agent: str | None) -> list[deltas.Delta]:
        told = self._on(agent)
        self._message.streamed = True
        return told

    def _start(self, index: deltas.Index | None, block: Block | None) -> list[deltas.Delta]:
        """Report the start of a block; every call is the agent's."""
        message, told = self._message, list[deltas.Delta]()
        for said in message.blocks.start(index, block or Block()):
            if isinstance(said, (deltas.CallSeen, deltas.CallWhole)):
                message.n_calls += 1
                if said.id is not None:
                    message.calls[said.id] = index
                told.append(replace(said, kind="server"))
            elif not isinstance(said, (deltas.CallCancelled, deltas.TextBegan)):
                told.append(said)
        return told

    def _text(self, value: object, index: deltas.Index | None) -> list[deltas.Delta]:
        return self._no_call(index, report.text(value))

    def _thought(self, value: object, index: deltas.Index | None, *, signature: object) -> list[deltas.Delta]:
        return self._no_call(index, report.thought(value, index, signature=signature))

    def _no_call(self, index: deltas.Index | None, said: list[deltas.Delta]) -> list[deltas.Delta]:
        if said:
            self._message.blocks.spoken(index)
        return said

    def _piece(self, index: deltas.Index | None, said: object) -> list[deltas.Delta]:
        piece = self._message.blocks.piece(index, said)
        return [] if piece is None else [piece]

    def _stop(self, index: deltas.Index | None) -> list[deltas.Delta]:
        ends = self._message.blocks.stop(index)
        return [replace(end, waits=True) for end in ends if isinstance(end, deltas.CallClosed)]

    def _stopped(self) -> list[deltas.Delta]:
        self._message.stopped = True
        return []

    # Whole lines

    def _call(
        self, id_: str | None, name: str | None, text: str, caller: object, server: object
    ) -> list[deltas.Delta]:
        """Report a call, or the last word on a streamed one, which `{}` is not: it is also written for cut text."""
        message = self._message
        if id_ is not None and id_ in message.over:
            return []
        if id_ is None or id_ not in message.calls:
            slot: deltas.Index | None = message.new_slot(id_)
        elif message.streamed and not decode.is_blank(text):
            slot = message.calls[id_]
        else:
            return []
        extra = report.extra(caller=caller, server_name=server)
        return [deltas.CallWhole(0, slot, None, id_, name, text, deltas.ITEM_DONE, "server", extra=extra)]

    def _said(
        self, kind: str | None, said: object, thinking: object, signature: object, data: object
    ) -> list[deltas.Delta]:
        """Report another block than a call, unless its events did."""
        if self._message.streamed or kind in _QUIET or (kind or "").endswith("tool_result"):
            return []
        if kind == "text":
            return report.text(said)
        if kind != "thinking":
            return report.unknown()
        self._message.n_blocks += 1
        return report.thought(thinking, self._message.n_blocks, signature=signature, data=data)

    def _failed(self, error: object) -> list[deltas.Delta]:
        return report.failure(fatal=False, type=error) if error else []

    def _over(self, id_: str | None, *before: deltas.CallSeen) -> list[deltas.Delta]:
        """End a known call, after the rest of its deltas; nothing if it is over already."""
        message = next((one for one in self._writing.values() if id_ in one.calls), None)
        if message is None or id_ is None:
            return []
        slot = message.calls.pop(id_)
        message.over.add(id_)
        said = [replace(seen, index=slot) for seen in before]
        return [*self._turns.switch(message.key), *said, *report.closed(slot)]

    # The agent's requests to its client

    def _request(
        self, id_: str | None, name: str | None, text: str, server: object, number: object
    ) -> list[deltas.Delta]:
        """Report the call of a tool that the client has."""
        if id_ is not None:
            self._asked.add(id_)
        extra = report.extra(server_name=server, message_id=number)
        told, slot = self._on(None), f"request {id_}"
        told.append(deltas.CallSeen(0, slot, None, id_, name, extra=extra))
        if text:
            told.append(deltas.CallWhole(0, slot, None, id_, None, text, deltas.ITEM_DONE))
        self._message.n_calls += 1
        return told + report.closed(slot)

    def _asks(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report that a call needs an approval; the call is reported with it, if no message reported it."""
        seen = deltas.CallSeen(0, None, None, id_, None, "server", flags=("needs_approval",))
        known = self._over(id_, seen)
        if known or id_ is None or any(id_ in message.over for message in self._writing.values()):
            return known
        told = self._on(None)
        slot = self._message.new_slot(id_)
        told.append(replace(seen, index=slot, name=name))
        told.append(deltas.CallWhole(0, slot, None, id_, None, text, deltas.ITEM_DONE, "server"))
        return told + self._over(id_)

    def _cancel(self, id_: str | None) -> list[deltas.Delta]:
        if id_ is None or id_ not in self._asked:
            return []
        self._asked.discard(id_)
        return [deltas.CallCancelled(id_)]

    # The end of a prompt

    def _fails(self, kind: object, errors: object, result: object, error: object) -> list[deltas.Delta]:
        listing = "; ".join(filter(None, map(labels.text_label, decode.listed(errors))))
        said = listing or labels.text_label(result) or labels.text_label(decode.member(error, "message"))
        return report.failure(fatal=False, type=kind, message=said)

    def _alone(self, session: str | None, said: object, usage: object) -> list[deltas.Delta]:
        """Report the result as an answer: with `--output-format json` only this comes."""
        if self._turns.n_turns:
            return []
        key, opened = self._turns.begin(session)
        self._writing[None] = Writing(key, None, streamed=False)
        return [*opened, *report.text(said), *usage_deltas(usage)]

    def _answered(self, kind: object, reason: object) -> list[deltas.Delta]:
        main = self._writing.get(None)
        if main is not None:
            main.reason = main.reason or reason
        return [
            delta
            for agent in [*self._writing]
            for delta in self._broken_off(agent, kind) or self._ends(agent)
        ]

    def _broken_off(self, agent: str | None, kind: object) -> list[deltas.Delta]:
        """Return the end of a message whose events are not all there when the prompt is over."""
        message = self._writing[agent]
        if not message.streamed or message.stopped:
            return []
        del self._writing[agent]
        finish = deltas.Finish(0, "aborted", kind if type(kind) is str else None, drops=True)
        return [*self._turns.switch(message.key), finish, *self._turns.end(message.key)]


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
    calls: dict[str, deltas.Index | None]
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

    def new_slot(self, id: str | None) -> str:
        """Return the slot of a call that is not a block of events."""
        self.n_calls += 1
        slot = f"call {self.n_calls}"
        if id is not None:
            self.calls[id] = slot
        return slot
