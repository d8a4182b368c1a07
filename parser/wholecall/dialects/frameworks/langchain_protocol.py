"""LangChain's content-block protocol: `stream_events(version="v3")`, and the streams of agent servers.

    {"type": "event", "seq"?, "method": "messages", "params": {"namespace": […], "node"?, "data": DATA}}
        message-start         role, id, metadata?{model}
        content-block-start   index, content{type: tool_call_chunk, id, name, args: ""}
        content-block-delta   index, delta{type: text-delta, text}
                                          {type: reasoning-delta, reasoning}
                                          {type: tool-call-delta, args}          the next piece
                                          {type: block-delta, fields{args, …}}   all so far
        content-block-finish  index, content{type: tool_call | server_tool_call, id, name, args: OBJECT}
                                            {type: invalid_tool_call, id, name, args: TEXT, error}
        message-finish        usage?, metadata?{finish_reason}, reason?
        error                 message, code?

Inside a process DATA comes bare, or as a pair `[DATA, {run_id, langgraph_node}]`. The other methods report the graph's
actions; `tools` reports the execution of calls, and is skipped.

A message is a turn. Its events do not name it: it is the current one at their namespace and node, or of their run where
they have a `run_id`. A second start there breaks off the message before. Graphs repeat messages in their parents'
namespaces, and replay those of people: such messages are skipped. The finish of a block is the last word on it; it
comes before the reason, so `CallClosed` is not final.

Source: LangChain's Agent Streaming Protocol, `protocol.cddl`; LangChain reference, `language_models.event`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from wholecall.deltas import Delta, Finish, TurnEnded, TurnOpened
from wholecall.dialects import report
from wholecall.dialects.decode import is_noise, plain
from wholecall.dialects.frameworks import langchain_protocol_views as views
from wholecall.dialects.frameworks.langchain_protocol_blocks import Blocks
from wholecall.dialects.frameworks.langchain_protocol_messages import HERE, Message, Messages, Place
from wholecall.dialects.frameworks.langchain_protocol_views import Data, Envelope, Params
from wholecall.dialects.labels import id_label, index_label, text_label
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["LangChainProtocolTranslator"]

# The kinds of a frame's subject; only messages hold calls. Custom channels have their own names.
_METHODS = frozenset(
    {
        *("messages", "tools", "lifecycle", "values", "updates", "checkpoints", "tasks", "custom"),
        *("input", "input.requested", "debug"),
    }
)
_MOST_CALLS = 4096  # that are recognized when another message repeats them
_BLOCKS = {  # the role of an event's content in its block
    "content-block-delta": Blocks.addition,
    "content-block-start": Blocks.start,
    "content-block-finish": Blocks.finish,
}
_OTHERS = frozenset({"human", "user", "system", "developer", "tool"})  # authors whose messages are no answer


class LangChainProtocolTranslator(ViewTranslator):
    """Frames of one stream to deltas."""

    decoder = views.DECODER

    _messages: Messages
    _now: Message | None
    _begun: set[str | None]
    _callers: dict[str, tuple[str, bool]]
    _n_turns: int

    def __init__(self) -> None:
        self._messages = Messages()
        self._now = None  # whose turn is current
        self._begun = set()  # ids of messages that began
        self._callers = {}  # of calls, by their ids: their message's turn, and whether its start came
        self._n_turns = 0

    def _take(self, view: Envelope, frame: Frame) -> list[Delta]:
        if view.method is not None:
            return self._enveloped(view, view.params or Params())
        if view.event is not None:
            return self._event(view, HERE, view.seq)
        if view.error or frame.event == "error":
            # An answer to a command has an id: the failure of a command is not a failure of the stream.
            fatal = view.type != "error" or view.id is None
            return report.error(view.error or plain(frame.data) or frame.data, fatal=fatal)
        quiet = view.type in ("success", "ping") or is_noise(frame)
        return [] if quiet else report.unknown()

    def lose(self) -> None:
        """Note that a frame was lost: it may have begun another message in the place of any."""
        self._messages.crowd()

    def _enveloped(self, view: Envelope, params: Params) -> list[Delta]:
        parts = params.data if isinstance(params.data, list) else [params.data or Data()]
        data, origin = (parts[0], parts[-1]) if parts else (Data(), Data())
        namespace = tuple(map(str, params.namespace)) if isinstance(params.namespace, list) else ()
        if view.method == "messages":
            data.run_id = data.run_id or origin.run_id
            return self._event(data, (namespace, str(params.node or origin.langgraph_node)), view.seq)
        if view.method == "lifecycle" and data.event == "failed":
            return self._run_failed(namespace, data)
        known = view.method in _METHODS or (view.method or "").startswith("custom:")
        return [] if known else report.unknown()

    def _event(self, data: Data, place: Place, seq: object) -> list[Delta]:
        if data.event == "message-start":
            return self._start(data, place, seq)
        known = self.EVENTS.get(data.event)
        if known is None:
            return [] if data.event == "provider" else report.unknown()
        message, deltas = self._messages.found(place, id_label(data.run_id)), list[Delta]()
        if message is None:  # its start came before this stream began
            message, deltas = self._opened(data, place)
        if message.has_heard(seq):
            return []
        if message.muted:
            if data.event in ("message-finish", "error"):
                self._messages.forget(message)
            return []
        deltas += self._switch(message)
        if self._is_known(message, views.content_of(data)):
            message.muted = True
            return [*deltas, TurnEnded(message.turn)]
        return deltas + known(self, message, data)

    def _is_known(self, message: Message, content: views.Content) -> bool:
        """Return whether a call came in another message: the start of one of them was lost, the other repeats it."""
        id_ = id_label(content.id) if content.type in views.CALLS else None
        if id_ is None or (id_ not in self._callers and len(self._callers) >= _MOST_CALLS):
            return False
        turn, whole = self._callers.setdefault(id_, (message.turn, message.begun))
        return turn != message.turn and not (whole and message.begun)

    def _start(self, data: Data, place: Place, seq: object) -> list[Delta]:
        before, id_ = self._messages.found(place, id_label(data.run_id)), views.message_id(data)
        if before is not None and before.has_heard(seq) and (id_ in (None, before.id) or id_ in self._begun):
            return []  # else the numbers start again, with another run
        again = before is not None and id_ is not None and before.id == id_
        muted = data.role in _OTHERS or (id_ in self._begun and not again)
        deltas = [] if before is None or muted or before.muted else self._switch(before)
        if before is not None and not muted:
            self._messages.forget(before)  # its turn is current, so the next message breaks it off
        message, opened = self._opened(data, place, muted=muted)
        message.has_heard(seq)
        message.begun = True
        message.blocks = Blocks(crowded=before is not None and not again)
        return [] if muted else [*deltas, *opened, *report.usage(data.usage)]

    def _opened(self, data: Data, place: Place, *, muted: bool = False) -> tuple[Message, list[Delta]]:
        run, id_ = id_label(data.run_id), views.message_id(data) if data.event == "message-start" else None
        message = Message(f"{self._n_turns}", id_, place, run, muted=muted)
        self._messages.add(message)
        if muted:
            return message, []
        over = self._now is not None and not self._now.open
        self._now = message
        self._n_turns += 1
        if id_ is not None:
            self._begun.add(id_)
        return message, [TurnOpened(message.turn, id_, views.model_of(data.metadata), restart=over)]

    def _switch(self, message: Message) -> list[Delta]:
        if message is self._now:
            return []
        self._now = message
        return [TurnOpened(message.turn)]

    def _finish(self, message: Message, data: Data) -> list[Delta]:
        self._messages.forget(message)
        return [*message.blocks.end(), *views.finish_deltas(data), TurnEnded(message.turn)]

    def _error(self, message: Message, data: Data) -> list[Delta]:
        fault = report.failure(message=data.message, code=data.code, fatal=False)
        return [*fault, *self._failed(message, text_label(data.code))]

    def _failed(self, message: Message, why: str | None) -> list[Delta]:
        """Report that a message was broken off; others continue."""
        self._messages.forget(message)
        return [Finish(0, "error", why or "error", drops=True), TurnEnded(message.turn)]

    def _run_failed(self, namespace: tuple[str, ...], data: Data) -> list[Delta]:
        """Report that a graph failed with every open message in it; all of them if it is the whole run."""
        deltas = report.failure(message=text_label(data.error) or "the run failed", fatal=False)
        for message in self._messages.within(namespace):
            self._messages.forget(message)
            if not message.muted:
                deltas += self._switch(message) + self._failed(message, None)
        return deltas

    def _block(self, message: Message, data: Data) -> list[Delta]:
        index, content = index_label(data.index), views.content_of(data)
        if data.event == "content-block-delta" and data.delta is not None:
            return message.blocks.delta(index, data.delta)
        return _BLOCKS[data.event or ""](message.blocks, index, content)

    EVENTS: ClassVar[Mapping[str | None, Callable[[Any, Message, Data], list[Delta]]]] = {
        **dict.fromkeys(_BLOCKS, _block),
        "message-finish": _finish,
        "usage": lambda _self, _message, data: report.usage(data.usage),
        "error": _error,
    }
