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

Source: Claude Code documentation, "Run Claude Code programmatically" and "CLI reference"; Claude Agent SDK, "Streaming
output" and the types of its messages (November 2026).
"""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from wholecall.deltas import ITEM_DONE, CallCancelled, CallSeen, CallWhole, Delta, Finish
from wholecall.dialects import report
from wholecall.dialects.agents.beside import Beside
from wholecall.dialects.agents.claude_code_blocks import event_deltas, new_slot, whole_block
from wholecall.dialects.agents.claude_code_views import DECODER, QUIET, Line, Request, Writing
from wholecall.dialects.anthropic.views import Event, Message, finish_deltas, usage_deltas
from wholecall.dialects.decode import is_noise, listed, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.translator import Events, ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["ClaudeCodeTranslator"]


class ClaudeCodeTranslator(ViewTranslator):
    """Lines of one session to deltas."""

    decoder = DECODER

    _turns: Beside
    _writing: dict[str | None, Writing]
    _asked: set[str]

    def __init__(self) -> None:
        self._turns = Beside()
        self._writing = {}  # the message of each agent, by the call that began it
        self._asked = set()  # requests to the client that are calls

    def close(self) -> list[Delta]:
        """Report the end of the messages that were whole when the stream ended."""
        stopped = [agent for agent, message in self._writing.items() if message.stopped]
        return [delta for agent in stopped for delta in self._end(agent)]

    def _take(self, line: Line, frame: Frame) -> list[Delta]:
        kind = line.type if type(line.type) is str else ""
        known = self.LINES.get(kind)
        if known is not None:
            return known(self, line)
        if line.error and not kind:
            return report.error(line.error)
        return [] if kind in QUIET or is_noise(frame) else report.unknown()

    # The life of messages

    def _on(self, agent: str | None, message: Message | None = None) -> tuple[Writing, list[Delta]]:
        """Return the agent's message, or a new one if another id comes, and the deltas that make it the current one."""
        said = message or Message()
        id_, open_ = id_label(said.id), self._writing.get(agent)
        if open_ is not None and (id_ is None or open_.id in (None, id_)):
            open_.id = open_.id or id_
            return open_, self._turns.switch(open_.key)
        return self._begin(agent, said)

    def _begin(
        self, agent: str | None, said: Message, *, streamed: bool = False
    ) -> tuple[Writing, list[Delta]]:
        deltas = self._end(agent)
        id_ = id_label(said.id)
        key, opened = self._turns.begin(id_, name_label(said.model))
        message = self._writing[agent] = Writing(key, id_, streamed=streamed)
        return message, deltas + opened

    def _end(self, agent: str | None) -> list[Delta]:
        """End an agent's message; one whose events broke off is left to the machine."""
        message = self._writing.pop(agent, None)
        if message is None:
            return []
        if message.streamed and not message.stopped:
            return self._turns.leave(message.key)
        unsaid: list[Delta] = [Finish(0, "tool_calls" if message.n_calls else "stop", None)]
        finish = finish_deltas(message.reason) or unsaid
        return [*self._turns.switch(message.key), *finish, *self._turns.end(message.key)]

    # Events of a streamed message

    def _stream_event(self, line: Line) -> list[Delta]:
        event, agent = line.event or Event(), id_label(line.parent_tool_use_id)
        if event.type == "message_start":
            said = event.message or Message()
            return self._begin(agent, said, streamed=True)[1] + usage_deltas(said.usage)
        if event.error:
            return report.error(event.error, fatal=False)
        message, deltas = self._on(agent)
        message.streamed = True
        return deltas + event_deltas(message, event)

    # Whole lines

    def _assistant(self, line: Line) -> list[Delta]:
        said = line.message or Message()
        message, deltas = self._on(id_label(line.parent_tool_use_id), said)
        for block in said.content or ():
            deltas += whole_block(message, block)
        message.reason = said.stop_reason or message.reason
        failed = report.failure(fatal=False, type=line.error) if line.error else []
        return deltas + usage_deltas(said.usage) + failed

    def _user(self, line: Line) -> list[Delta]:
        blocks = (line.message or Message()).content or ()
        return [delta for block in blocks for delta in self._over(id_label(block.tool_use_id))]

    def _over(self, id_: str | None, *before: Delta) -> list[Delta]:
        """End a known call, after the rest of its deltas; nothing if it is over already."""
        message = next((one for one in self._writing.values() if id_ in one.calls), None)
        if message is None or id_ is None:
            return []
        slot = message.calls.pop(id_)
        message.over.add(id_)
        said = [replace(delta, index=slot) for delta in before if isinstance(delta, CallSeen)]
        return [*self._turns.switch(message.key), *said, *report.closed(slot)]

    # The agent's requests to its client

    def _request(self, line: Line) -> list[Delta]:
        asked = line.request or Request()
        if asked.subtype == "can_use_tool":
            return self._asks(asked)
        rpc = asked.message
        if asked.subtype != "mcp_message" or rpc is None or rpc.method != "tools/call" or rpc.params is None:
            return []
        id_, params = id_label(line.request_id), rpc.params
        if id_ is not None:
            self._asked.add(id_)
        extra = report.extra(server_name=asked.server_name, message_id=rpc.id)
        message, deltas = self._on(None)
        slot = f"request {id_}"
        deltas.append(CallSeen(0, slot, None, id_, name_label(params.name), extra=extra))
        if text := wire_text(params.arguments):
            deltas.append(CallWhole(0, slot, None, id_, None, text, ITEM_DONE))
        message.n_calls += 1
        return deltas + report.closed(slot)

    def _asks(self, asked: Request) -> list[Delta]:
        """Report that a call needs an approval; the call is reported with it, if no message reported it."""
        id_ = id_label(asked.tool_use_id)
        seen = CallSeen(0, None, None, id_, None, "server", flags=("needs_approval",))
        known = self._over(id_, seen)
        if known or id_ is None or any(id_ in message.over for message in self._writing.values()):
            return known
        message, deltas = self._on(None)
        slot = new_slot(message, id_)
        deltas.append(replace(seen, index=slot, name=name_label(asked.tool_name)))
        deltas.append(CallWhole(0, slot, None, id_, None, wire_text(asked.input), ITEM_DONE, "server"))
        return deltas + self._over(id_)

    def _cancel(self, line: Line) -> list[Delta]:
        id_ = id_label(line.request_id)
        if id_ is None or id_ not in self._asked:
            return []
        self._asked.discard(id_)
        return [CallCancelled(id_)]

    # The end of a prompt

    def _result(self, line: Line) -> list[Delta]:
        deltas: list[Delta] = []
        if line.is_error is True:
            said = "; ".join(filter(None, map(text_label, listed(line.errors)))) or text_label(line.result)
            deltas += report.failure(fatal=False, type=line.subtype, message=said)
        elif not self._turns.n_turns:  # with `--output-format json` only this comes
            key, opened = self._turns.begin(id_label(line.session_id))
            self._writing[None] = Writing(key, None, streamed=False)
            deltas += [*opened, *report.text(line.result), *usage_deltas(line.usage)]
        main = self._writing.get(None)
        if main is not None:
            main.reason = main.reason or line.stop_reason
        for agent in [*self._writing]:
            deltas += self._broken_off(agent, line) or self._end(agent)
        return deltas

    def _broken_off(self, agent: str | None, line: Line) -> list[Delta]:
        """Return the end of a message whose events are not all there when the prompt is over."""
        message = self._writing[agent]
        if not message.streamed or message.stopped:
            return []
        del self._writing[agent]
        finish = Finish(0, "aborted", line.subtype if type(line.subtype) is str else None, drops=True)
        return [*self._turns.switch(message.key), finish, *self._turns.end(message.key)]

    LINES: ClassVar[Events] = {
        "stream_event": _stream_event,
        "assistant": _assistant,
        "user": _user,
        "control_request": _request,
        "control_cancel_request": _cancel,
        "result": _result,
    }
