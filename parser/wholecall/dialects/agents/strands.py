"""The events of an agent of Strands, and of agents on Amazon Bedrock AgentCore Runtime: a line or a frame each.

    {"init_event_loop": true}    {"start": true}    {"start_event_loop": true}
    {"event": {"contentBlockStart": {…}}}    an event of the model, as in ConverseStream, often without indices
    {"data": "Hel", "delta": {"text": "Hel"}}    {"current_tool_use": {"toolUseId", "name", "input"}, "delta"}
    {"message": {"role": "assistant", "content": [{"toolUse": {…}}]}}
    {"message": {"role": "user", "content": [{"toolResult": {"toolUseId", …}}]}}
    {"force_stop": true, "force_stop_reason"}    {"error", "error_type", "message"}    {"result"}
    {"type": "multiagent_node_stream", "node_id", "event": LINE}    a line of an agent in a graph or a swarm
    {"type": "multiagent_node_start" | "multiagent_node_stop" | "multiagent_handoff" | "multiagent_result", …}

The model's events are read by the translator of ConverseStream; the other lines repeat them in pieces or whole. The
agent executes its calls itself, so each is a server's call. Where a service lets only the model's events through,
nothing says that an agent is behind them: a message's calls then wait for what follows. They are the agent's if its next
message begins or a line of its own comes, and the client's if the stream ends with the message; a stream that breaks
there looks the same. Lines that the runtime could not write as JSON come as texts. Where no events come, the whole
messages are read. The agents of a graph run at once, and their events mix: of these only the whole messages are read. Older
versions name such a line by a member (`"multi_agent_node_stream": true`).

Covers: the events of Strands agents, also through Bedrock AgentCore Runtime: calls that the agent executes; the
    model's events alone, whose last calls are the client's; whole messages alone; graphs and swarms of agents, whose
    calls are told when their messages are whole.
Calls: told apart by as in ConverseStream; each ends with as in ConverseStream, and what follows.
Source: strands-agents/sdk-python, src/strands/types/_events.py (`MultiAgentNodeStreamEvent` and others) and
event_loop/streaming.py;
aws/bedrock-agentcore-sdk-python, src/bedrock_agentcore/runtime/app.py; AWS, "Amazon Bedrock AgentCore", response
streaming (2026).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from wholecall import deltas
from wholecall.dialects import decode, labels, report, translator
from wholecall.dialects.amazon.converse import ConverseTranslator
from wholecall.framing.frame import Frame


class _Line(translator.EventView, gc=False):
    event: msgspec.Raw = decode.NO_TEXT
    message: msgspec.Raw = decode.NO_TEXT
    data: Any = None
    error_type: Any = None
    force_stop: Any = None
    force_stop_reason: Any = None
    multi_agent_node_stream: Any = None

    @property
    def is_of_several(self) -> bool:
        """Whether the event is about the run of several agents, and not a line of one."""
        return isinstance(self.type, str) and self.type in _OF_SEVERAL

    @property
    def is_node(self) -> bool:
        """Whether the event is a line of one of several agents."""
        return self.type == "multiagent_node_stream" or self.multi_agent_node_stream is True


class _Event(msgspec.Struct, gc=False, rename="camel"):
    message_start: Any = None
    message_stop: Any = None
    content_block_start: Any = None
    content_block_delta: Any = None


class _Message(msgspec.Struct, gc=False):
    role: Any = None
    content: Any = None


_LINES = frozenset(
    {
        *("message", "data", "current_tool_use", "force_stop"),
        *("init_event_loop", "start", "start_event_loop", "delta", "callback", "reasoning", "reasoningText"),
        *("reasoning_signature", "reasoningRedactedContent", "event_loop_throttled_delay", "result"),
        *("complete", "event_loop_parent_cycle_id", "event_loop_cycle_id", "request_state", "response"),
        *(
            "multi_agent_node_start",
            "multi_agent_node_complete",
            "multi_agent_node_stop",
            "multi_agent_handoff",
        ),
        *("multiagent_result", "tool_stream_event"),
    }
)
_OF_SEVERAL = frozenset(
    {
        *("multiagent_node_start", "multiagent_node_stop", "multiagent_node_cancel", "multiagent_handoff"),
        *("multiagent_node_interrupt", "multiagent_result"),
    }
)
_FORCED = '{"messageStop":{"stopReason":"force_stop"}}'
_EVENTS, _MESSAGES = msgspec.json.Decoder(_Event), msgspec.json.Decoder(_Message)


class StrandsTranslator(translator.ViewTranslator):
    """Events of one run to deltas; the model's own go to the translator of ConverseStream."""

    decoder = msgspec.json.Decoder(_Line)
    DERIVED = frozenset({"_inner"})

    _of_agent: bool
    _chunked: bool
    _repeats: bool
    _stop: str
    _ids: list[str]

    def __init__(self) -> None:
        self._inner = ConverseTranslator()
        self._of_agent = False  # a line of the agent itself came
        self._chunked = False  # the events of the current message came
        self._repeats = False  # the line repeats them
        self._stop = ""  # the end of a message, which waits for what follows
        self._ids = []  # of the calls of that message

    @property
    def wrapped(self) -> translator.Translator:
        """The translator of the model's events."""
        return self._inner

    def takes_silently(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return whether a line repeats the events of the model."""
        return self._repeats

    def lose(self) -> None:
        """Note that a frame was lost."""
        self._inner.lose()

    def close(self) -> list[deltas.Delta]:
        """Report the end of the last message, and of the stream."""
        return self._ended() + self._inner.close()

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one line; a text is a line that was no JSON."""
        if frame.data.lstrip().startswith('"') and not decode.is_noise(frame):
            return self._agents() if isinstance(decode.plain(frame.data), str) else super().translate(frame)
        return super().translate(frame)

    def _take(self, view: _Line, frame: Frame) -> list[deltas.Delta]:
        self._repeats = False
        if inner := decode.wire_text(view.event):
            return self._node(inner) if view.is_node else self._event(inner)
        if view.error:
            words = isinstance(view.error, str)
            return (
                report.failure(type=view.error_type, message=view.error)
                if words
                else report.error(view.error)
            )
        payload = decode.plain(frame.data)
        if not isinstance(payload, dict) or (_LINES.isdisjoint(payload) and not view.is_of_several):
            return [] if decode.is_noise(frame) or view.type == "ping" else report.unknown()
        told, self._repeats = self._agents(), self._chunked
        if view.force_stop:
            return told + self._forced(view.force_stop_reason)
        if inner := decode.wire_text(view.message):
            return told + self._message(inner)
        return told if self._chunked else told + report.text(view.data)

    # Events of the model

    def _event(self, text: str) -> list[deltas.Delta]:
        """Report an event of the model; the end of a message waits, unless its calls are known to be the agent's."""
        event = decode.decode(_EVENTS, text) or _Event()
        if event.message_stop is not None and self._ids and not self._of_agent:
            told, self._stop = self._ended(), text
            return told
        begins = event.message_start is not None or event.content_block_start is not None
        told = self._ended(executed=True) if begins or event.content_block_delta is not None else []
        self._chunked = True
        return told + self._told(text)

    def _told(self, text: str) -> list[deltas.Delta]:
        told = self._inner.translate(Frame("", text))
        if self._of_agent:
            return [_executed(delta) for delta in told]
        self._ids += [d.id for d in told if isinstance(d, (deltas.CallSeen, deltas.CallWhole)) and d.id]
        return [replace(d, waits=True) if isinstance(d, deltas.CallClosed) else d for d in told]

    def _ended(self, *, executed: bool = False) -> list[deltas.Delta]:
        """Report the end of a message that waits, whose calls the agent perhaps `executed`."""
        if not self._stop:
            return []
        answered = [delta for id_ in self._ids if executed for delta in report.answered(id_)]
        told = answered + self._inner.translate(Frame("", self._stop))
        self._stop, self._ids = "", []
        return told

    # Lines of the agent, or of several

    def _node(self, text: str) -> list[deltas.Delta]:
        """Report the whole message that a line of one of several agents has; its other lines repeat it in pieces."""
        line = decode.decode(self.decoder, text) or _Line()
        while line.is_node:  # an agent of a graph may itself be a graph
            line = decode.decode(self.decoder, decode.wire_text(line.event)) or _Line()
        told, inner = self._agents(), decode.wire_text(line.message)
        self._repeats = not inner
        if line.force_stop:
            return told + self._forced(line.force_stop_reason)
        return told + self._message(inner) if inner else told

    def _agents(self) -> list[deltas.Delta]:
        """Note that the stream is an agent's, who executes its calls."""
        open_calls = [] if self._of_agent or self._stop else self._ids
        answered = [delta for id_ in open_calls for delta in report.answered(id_)]
        told = answered + self._ended(executed=True)
        self._of_agent, self._ids = True, []
        return told

    def _forced(self, reason: object) -> list[deltas.Delta]:
        """Report that the run was stopped; the open message ends with it."""
        fault = report.failure(fatal=False, type="force_stop", message=labels.text_label(reason))
        end = self._inner.translate(Frame("", _FORCED)) if self._chunked else []
        self._chunked = False
        stop = deltas.Finish(0, "error", "force_stop", drops=True)
        return [*fault, *(stop if isinstance(delta, deltas.Finish) else delta for delta in end)]

    def _message(self, text: str) -> list[deltas.Delta]:
        """Report a whole message, unless its events came."""
        chunked, message = self._chunked, decode.decode(_MESSAGES, text) or _Message()
        if message.role != "assistant":
            return []
        self._chunked = False
        if chunked:
            return []
        calls = any(decode.member(part, "toolUse") for part in decode.listed(message.content))
        finish = deltas.Finish(0, "tool_calls" if calls else "stop", None)
        told = map(_executed, self._inner.translate(Frame("", f'{{"output":{{"message":{text}}}}}')))
        return [one for d in told for one in ((finish, d) if isinstance(d, deltas.TurnEnded) else (d,))]


def _executed(delta: deltas.Delta) -> deltas.Delta:
    """Return the delta of a call as that of one that the agent executes."""
    is_call = isinstance(delta, (deltas.CallSeen, deltas.CallWhole))
    return replace(delta, kind="server") if is_call else delta
