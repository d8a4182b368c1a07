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

Covers: LangChain's content-block protocol (`stream_events` version 3, agent servers), in its envelope or bare:
    messages of many agents side by side, pieces and snapshots, blocks that the finish repeats.
Calls: told apart by message, block index and id; each ends with `content-block-finish`, and what follows.
Source: LangChain's Agent Streaming Protocol, `protocol.cddl`; LangChain reference, `language_models.event`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, remembered, report, translator
from wholecall.dialects.frameworks.langchain import Message as EndedMessage
from wholecall.dialects.frameworks.langchain import ended
from wholecall.dialects.hidden_text import Pieces, holds_text
from wholecall.framing.frame import Frame
from wholecall.limits import Limits
from wholecall.types import Kind

# Views.


class _Content(msgspec.Struct, gc=False):
    """A content block, the fields of one, or a piece of one."""

    type: str | None = None
    id: Any = None
    name: Any = None
    args: msgspec.Raw = decode.NO_TEXT
    error: Any = None
    text: Any = None
    reasoning: Any = None
    thinking: Any = None
    signature: Any = None
    extras: Any = None
    fields: Union[_Content, None] = None


class _Data(msgspec.Struct, gc=False):
    """An event of a message; in a pair the second member holds the event's origin."""

    event: str | None = None
    index: Any = None
    role: str | None = None
    id: Any = None
    message_id: Any = None
    messageId: Any = None  # noqa: N815 - as older servers spell it
    run_id: Any = None
    langgraph_node: Any = None
    metadata: Union[dict[str, Any], None] = None
    responseMetadata: Union[dict[str, Any], None] = None  # noqa: N815
    content: Union[_Content, None] = None
    content_block: Union[_Content, None] = None
    contentBlock: Union[_Content, None] = None  # noqa: N815
    delta: Union[_Content, None] = None
    usage: Any = None
    reason: Any = None
    message: Any = None
    code: Any = None
    error: Any = None


class _Params(msgspec.Struct, gc=False):
    """The origin of an event, and the event."""

    namespace: Any = None
    node: Any = None
    data: Union[_Data, list[_Data], None] = None


class _Envelope(_Data, gc=False):
    """An event in its envelope, or bare."""

    type: str | None = None
    method: str | None = None
    params: Union[_Params, None] = None
    seq: Any = None


_DECODER = msgspec.json.Decoder(_Envelope)
_NO_CONTENT: Final = _Content()


def _content_of(data: _Data) -> _Content:
    """Return the block that an event holds, in any of its spellings."""
    return data.content or data.content_block or data.contentBlock or _NO_CONTENT


# Blocks.

# Blocks that hold a call, and who executes it.
_CALLS: Final[dict[str | None, Kind]] = {
    "tool_call_chunk": "function",
    "tool_call": "function",
    "invalid_tool_call": "function",
    "server_tool_call_chunk": "server",
    "server_tool_call": "server",
}
_QUIET_BLOCKS: Final = frozenset(
    {
        *("text", "reasoning", "thinking", "image", "audio", "video", "file", "non_standard"),
        *("server_tool_result", "citation", "text-plain"),
    }
)
_LONGEST: Final = Limits().max_arguments_bytes or 0  # characters of a call, which beyond is too large anyway
_MOST_OPEN: Final = 64  # open calls of one index; more cannot be messages in one place
_UNOWNED: Final = deltas.WireFault(
    "undecodable_frame", "an index means more than one block, as of messages in one place", hole=True
)


class _Call:
    """A call whose block is not finished, and its latest known text."""

    slot: int
    kind: Kind
    id: str | None
    name: str | None
    extras: object
    seen: bool
    doubtful: bool
    rewritten: bool
    _parts: list[str]
    _size: int

    def __init__(self, slot: int, kind: Kind) -> None:
        self.slot = slot
        self.kind = kind
        self.id = None
        self.name = None
        self.extras = None
        self.seen = False
        self.doubtful = False  # a piece may have belonged to it
        self.rewritten = False  # its text is not the sum of its pieces any more
        self._parts = []
        self._size = 0

    def labelled(self, content: _Content) -> list[deltas.Delta]:
        """Report the new labels of the call."""
        id_, name, extras = (
            labels.id_label(content.id),
            labels.name_label(content.name),
            content.extras or None,
        )
        news = (id_ and not self.id) or name not in (None, self.name) or extras not in (None, self.extras)
        if self.seen and not news:
            return []
        self.seen, self.id, self.name = True, self.id or id_, name or self.name
        self.extras = extras or self.extras
        extra = None if extras is None else {"extras": extras}
        return [deltas.CallSeen(0, self.slot, None, id_, name, self.kind, extra=extra)]

    def add(self, piece: str) -> list[deltas.Delta]:
        """Report the next piece of the text."""
        if self._size <= _LONGEST:
            remembered.keep_piece(self._parts, piece)
        elif not self.rewritten:
            self._parts.clear()  # a large snapshot is reported as a whole
        self._size += len(piece)
        return [] if self.rewritten else [deltas.Slot(0, self.slot, None, piece)]

    def put(self, text: str) -> list[deltas.Delta]:
        """Report the text that a snapshot adds; a replaced text is reported when the call or its message ends."""
        before = "".join(self._parts)
        known = len(before) == self._size
        self._parts, self._size = [text], len(text)
        if self.rewritten or not text:
            return []
        if known and (text.startswith(before) or before.strip() == "{}"):  # quirk 25
            news = text.removeprefix(before)
            return [deltas.Slot(0, self.slot, None, news)] if news else []
        self.rewritten = True
        return []

    def whole(self, text: str, rank: int) -> deltas.CallWhole:
        """Report all of the text."""
        return deltas.CallWhole(0, self.slot, None, self.id, self.name, text, rank, self.kind)

    def rest(self) -> list[deltas.Delta]:
        """Report the text that was not reported yet."""
        return [self.whole("".join(self._parts), deltas.DONE)] if self.rewritten else []


class _Blocks:
    """The content blocks of one message, and the calls that are open in them.

    A block's index is its place in its message. Snapshots and finishes hold all of their call, and its id, so they are
    known by that; a bare piece of arguments names only the index. Where two messages share a place, an index means two
    blocks: there such a piece is a hole, which the finish of each call heals.

    Bridges from older models finish all blocks together at the end, cut ones too. Therefore a finish ends its call for
    good only if another block continued after it. The last finish waits for the reason, and so does a call without
    arguments: it may have been cut before its first.

    Args:
        crowded: another message began in the same place and was not finished, so its events may still come.
    """

    _crowded: bool
    _open: dict[deltas.Index | None, list[_Call]]
    _spoken: set[deltas.Index | None]
    _lost: set[deltas.Index | None]
    _n_slots: int
    _latest: _Call | None
    _waiting: _Call | None

    def __init__(self, *, crowded: bool = False) -> None:
        self._crowded = crowded
        self._open = {}
        self._spoken = set()  # blocks with visible text or reasoning so far
        self._lost = set()  # indices of pieces that belong to no call
        self._n_slots = 0
        self._latest = None  # the call whose block the model was in last
        self._waiting = None  # the same call, once its block is finished

    def crowd(self) -> None:
        """Note that another message may have begun in the same place."""
        self._crowded = True

    def start(self, index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
        """Return the deltas of the start of a block."""
        told, self._latest = self._passed(), None
        if content.type not in _CALLS:
            return told + self._block(index, content)
        id_ = labels.id_label(content.id)
        call = self._found(index, id_) if id_ is not None else None
        if call is None or call.id != id_:  # the same start again only restates its labels
            call = self._opened(index, content)
        told, text = told + self._labelled(index, call, content), decode.wire_text(content.args)
        if bytes(content.args)[:1] != b"{":
            return told + call.put(text)
        return told if decode.is_blank(text) else [*told, call.whole(text, deltas.OBJECT)]

    def delta(self, index: deltas.Index | None, delta: _Content) -> list[deltas.Delta]:
        """Report the content that a delta adds to a block."""
        if delta.type == "tool-call-delta":
            return self._called(index, _NO_CONTENT, decode.wire_text(delta.args))
        if delta.type in ("text-delta", "reasoning-delta"):
            self._latest = None
            return self._said(index, delta)
        fields = delta.fields
        if delta.type == "block-delta" and fields is not None and self._means_call(index, fields):
            return self._called(index, fields, decode.wire_text(fields.args), whole=True)
        quiet = delta.type in ("block-delta", "data-delta")  # the finished block has the new values
        return [] if quiet else [deltas.Noted(0, "unknown_events")]

    def addition(self, index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
        """Report the content that a delta in the shape of a block adds to it, as sent before deltas had types."""
        if self._means_call(index, content):
            return self._called(index, content, decode.wire_text(content.args))
        self._latest = None
        return self._said(index, content)

    def finish(self, index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
        """Return the deltas of a finished block: all of it, and the end of its call."""
        if content.type not in _CALLS:
            return self._block(index, content) + _sealed(index, content)
        call = self._found(index, labels.id_label(content.id)) or self._opened(index, content)
        call.kind = _CALLS[content.type]
        told, text = self._labelled(index, call, content), decode.wire_text(content.args)
        self._open[index].remove(call)
        if text:
            told.append(call.whole(text, deltas.ITEM_DONE))
        if content.type == "invalid_tool_call":
            detail = labels.text_label(content.error) or "the relay could not read the arguments"
            return [*told, deltas.CallRefused(0, call.slot, None, "unparseable", detail)]
        if decode.is_blank(text):  # the end of the message ends it
            return told + report.seen(call.slot, None, labels.name_label(content.name), call.kind)
        if call is not self._latest:
            return [*told, deltas.CallClosed(0, call.slot, None)]
        self._waiting = call
        return [*told, deltas.CallClosed(0, call.slot, None, final=False)]

    def end(self) -> list[deltas.Delta]:
        """Report the rest of calls whose blocks were not finished."""
        return [delta for calls in self._open.values() for call in calls for delta in call.rest()]

    # Text.

    def _said(self, index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
        told = _spoken(index, content)
        if told:
            self._spoken.add(index)
        return told

    def _block(self, index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
        """Report the visible text or reasoning of a block, unless its deltas brought it."""
        if content.type not in _QUIET_BLOCKS:
            return [deltas.Noted(0, "unknown_events")]
        return [] if index in self._spoken else self._said(index, content)

    # Calls.

    def _means_call(self, index: deltas.Index | None, content: _Content) -> bool:
        """Return whether something belongs to a call: by its type, else by the block that it is for."""
        return content.type in _CALLS or (content.type is None and bool(self._open.get(index)))

    def _opened(self, index: deltas.Index | None, content: _Content) -> _Call:
        call = self._latest = _Call(self._n_slots, _CALLS.get(content.type, "function"))
        self._n_slots += 1
        calls = self._open.setdefault(index, [])
        calls.append(call)
        del calls[:-_MOST_OPEN]
        return call

    def _passed(self) -> list[deltas.Delta]:
        """Report that a finished call was whole, as another block begins."""
        call, self._waiting = self._waiting, None
        return [] if call is None else [deltas.CallClosed(0, call.slot, None)]

    def _found(self, index: deltas.Index | None, id_: str | None) -> _Call | None:
        """Return the open call with this id, else the only possible one."""
        calls = self._open.get(index, [])
        if id_ is not None:
            known = [call for call in calls if call.id == id_]
            calls = known or [call for call in calls if call.id is None]
        return calls[0] if len(calls) == 1 and (id_ is not None or not self._crowded) else None

    def _called(
        self, index: deltas.Index | None, content: _Content, text: str, *, whole: bool = False
    ) -> list[deltas.Delta]:
        """Report a delta's content of a call: its labels, and a piece of its text or all of it so far."""
        call = self._found(index, labels.id_label(content.id))
        if call is None and labels.id_label(content.id) is None and (self._crowded or self._open.get(index)):
            return self._doubted(index) if text else []
        call = self._latest = call or self._opened(index, content)
        told = self._labelled(index, call, content)
        if not text:
            return told
        return told + (call.put(text) if whole else call.add(text))

    def _labelled(self, index: deltas.Index | None, call: _Call, content: _Content) -> list[deltas.Delta]:
        """Report the labels of a call, and whether its index may mean several calls."""
        told = call.labelled(content)
        if told and call.id is not None and call.id in self._ids_elsewhere(index):
            # That was a start without its index.
            told.insert(0, deltas.TextUnread(0, call.id, call.name or ""))
        if self._crowded or len(self._open[index]) > 1:
            told += self._doubted(index)
        return told

    def _ids_elsewhere(self, index: deltas.Index | None) -> set[str | None]:
        return {call.id for at, calls in self._open.items() if at != index for call in calls}

    def _doubted(self, index: deltas.Index | None) -> list[deltas.Delta]:
        """Report that pieces cannot be placed; once for each of the calls that they may belong to."""
        calls = self._open.get(index, [])
        if index in self._lost and all(call.doubtful for call in calls):
            return []
        self._lost.add(index)
        for call in calls:
            call.doubtful = True
        return [_UNOWNED]


def _spoken(index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
    """Return the visible content of a block: reasoning, then text."""
    thought = labels.text_label(content.reasoning) or content.thinking
    return report.thought(thought, index) + report.text(content.text)


def _sealed(index: deltas.Index | None, content: _Content) -> list[deltas.Delta]:
    """Return the provider's signature over a block of reasoning, if it has one."""
    signature = labels.text_label(content.signature) or decode.member(content.extras, "signature")
    return report.thought(None, index, signature=signature)


# Messages.

_Namespace = tuple[str, ...]
_Place = tuple[_Namespace, str]  # with a node
_WHOLE_RUN: Final[_Namespace] = ()
_HERE: Final[_Place] = (_WHOLE_RUN, "")  # where events without an envelope are


class _Message:
    """An open message. A muted one is not reported: its events are skipped."""

    turn: str
    id: str | None
    place: _Place
    run: str | None
    muted: bool
    open: bool
    begun: bool
    blocks: _Blocks
    _seq: int

    def __init__(self, turn: str, id_: str | None, place: _Place, run: str | None, *, muted: bool) -> None:
        self.turn = turn
        self.id = id_
        self.place = place
        self.run = run
        self.muted = muted
        self.open = True
        self.begun = False  # its start was read
        self.blocks = _Blocks()
        self._seq = -1

    def has_heard(self, seq: object) -> bool:
        """Return whether an event with this number came already (quirk 91)."""
        if type(seq) is not int:
            return False
        heard = seq <= self._seq
        self._seq = max(seq, self._seq)
        return heard


class _Messages:
    """The open messages, and where their events are found.

    An event does not name its message. It belongs to the message that is open in its run, else to the message that
    began last in its place: a node of a graph, which the namespace names.
    """

    _by_key: dict[Union[_Place, str], _Message]
    _by_namespace: dict[_Namespace, dict[_Message, None]]
    _since_loss: dict[_Message, None]

    def __init__(self) -> None:
        self._since_loss = {}  # messages that began since the last loss
        self._by_key = {}  # the last one of each place and of each run
        self._by_namespace = {}  # all of them, in order

    def remade(self) -> None:
        """Check that messages are listed: msgspec does not validate keys that are text.

        Raises:
            ValueError: a list holds something other than messages.
        """
        listed = [self._since_loss, *self._by_namespace.values()]
        if {type(message) for messages in listed for message in messages} - {_Message}:
            raise ValueError("what is listed is no message")

    def found(self, place: _Place, run: str | None) -> _Message | None:
        """Return the message that an event belongs to."""
        here = self._by_key.get(place)
        if run is None:
            return here
        return self._by_key.get(run) or (None if here is None or here.run is not None else here)

    def add(self, message: _Message) -> None:
        """Let a message be found in its place and by its run."""
        self._by_key[message.place] = message
        if message.run is not None:
            self._by_key[message.run] = message
        self._by_namespace.setdefault(message.place[0], {})[message] = None
        self._since_loss[message] = None

    def forget(self, message: _Message) -> None:
        """End a message: nothing belongs to it any more."""
        message.open = False
        self._since_loss.pop(message, None)
        for key in (message.place, message.run):
            if key is not None and self._by_key.get(key) is message:
                del self._by_key[key]
        graph = self._by_namespace.get(message.place[0], {})
        graph.pop(message, None)
        if not graph:
            self._by_namespace.pop(message.place[0], None)

    def crowd(self) -> None:
        """Let each message know that another one may have begun in its place."""
        for message in self._since_loss:
            message.blocks.crowd()
        self._since_loss.clear()

    def within(self, namespace: _Namespace) -> list[_Message]:
        """Return the messages of a graph; all of them for the whole run."""
        graphs = list(self._by_namespace) if namespace == _WHOLE_RUN else [namespace]
        return [message for graph in graphs for message in self._by_namespace.get(graph, ())]


# The stream.

# The kinds of a frame's subject; only messages hold calls. Custom channels have their own names.
_METHODS = frozenset(
    {
        *("messages", "tools", "lifecycle", "values", "updates", "checkpoints", "tasks", "custom"),
        *("input", "input.requested", "debug"),
    }
)
_MOST_CALLS = 4096  # that are recognized when another message repeats them
_BLOCKS = {  # the role of an event's content in its block
    "content-block-delta": _Blocks.addition,
    "content-block-start": _Blocks.start,
    "content-block-finish": _Blocks.finish,
}
_OTHERS = frozenset({"human", "user", "system", "developer", "tool"})  # authors whose messages are no answer


class LangChainProtocolTranslator(translator.ViewTranslator):
    """Frames of one stream to deltas."""

    PIECES: ClassVar[Pieces] = {
        '"tool-call-delta"': "params.data.delta.args|delta.args",
        '"content-block-finish"': "params.data.content|content",
    }
    decoder = _DECODER

    _messages: _Messages
    _now: _Message | None
    _begun: set[str | None]
    _callers: dict[str, tuple[str, bool]]
    _n_turns: int

    def __init__(self) -> None:
        self._messages = _Messages()
        self._now = None  # whose turn is current
        self._begun = set()  # ids of messages that began
        self._callers = {}  # of calls, by their ids: their message's turn, and whether its start came
        self._n_turns = 0

    def _take(self, view: _Envelope, frame: Frame) -> list[deltas.Delta]:
        if view.method is not None:
            return self._enveloped(view, view.params or _Params(), frame)
        if view.event is not None:
            return self._event(view, _HERE, view.seq)
        if view.error or frame.event == "error":
            # An answer to a command has an id: the failure of a command is not a failure of the stream.
            fatal = view.type != "error" or view.id is None
            return report.error(view.error or decode.plain(frame.data) or frame.data, fatal=fatal)
        quiet = view.type in ("success", "ping") or decode.is_noise(frame)
        return [] if quiet else report.unknown()

    def lose(self) -> None:
        """Note that a frame was lost: it may have begun another message in the place of any."""
        self._messages.crowd()

    def _enveloped(self, view: _Envelope, params: _Params, frame: Frame) -> list[deltas.Delta]:
        parts = params.data if isinstance(params.data, list) else [params.data or _Data()]
        data, origin = (parts[0], parts[-1]) if parts else (_Data(), _Data())
        namespace = tuple(map(str, params.namespace)) if isinstance(params.namespace, list) else ()
        if view.method == "messages":
            if params.data is None and holds_text(decode.plain(frame.data)):  # perhaps a piece of any call
                return [decode.undecodable(frame.data)]
            data.run_id = data.run_id or origin.run_id
            return self._event(data, (namespace, str(params.node or origin.langgraph_node)), view.seq)
        if view.method == "lifecycle" and data.event == "failed":
            return self._run_failed(namespace, data)
        known = view.method in _METHODS or (view.method or "").startswith("custom:")
        return [] if known else report.unknown()

    def _event(self, data: _Data, place: _Place, seq: object) -> list[deltas.Delta]:
        if data.event == "message-start":
            return self._start(data, place, seq)
        known = self.EVENTS.get(data.event)
        if known is None:
            return [] if data.event == "provider" else report.unknown()
        message, told = self._messages.found(place, labels.id_label(data.run_id)), list[deltas.Delta]()
        if message is None:  # its start came before this stream began
            message, told = self._opened(data, place)
        if message.has_heard(seq):
            return []
        if message.muted:
            if data.event in ("message-finish", "error"):
                self._messages.forget(message)
            return []
        told += self._switch(message)
        if self._is_known(message, _content_of(data)):
            message.muted = True
            return [*told, deltas.TurnEnded(message.turn)]
        return told + known(self, message, data)

    def _is_known(self, message: _Message, content: _Content) -> bool:
        """Return whether a call came in another message: the start of one of them was lost, the other repeats it."""
        id_ = labels.id_label(content.id) if content.type in _CALLS else None
        if id_ is None or (id_ not in self._callers and len(self._callers) >= _MOST_CALLS):
            return False
        turn, whole = self._callers.setdefault(id_, (message.turn, message.begun))
        return turn != message.turn and not (whole and message.begun)

    def _start(self, data: _Data, place: _Place, seq: object) -> list[deltas.Delta]:
        before, id_ = self._messages.found(place, labels.id_label(data.run_id)), _message_id(data)
        if before is not None and before.has_heard(seq) and (id_ in (None, before.id) or id_ in self._begun):
            return []  # else the numbers start again, with another run
        again = before is not None and id_ is not None and before.id == id_
        muted = data.role in _OTHERS or (id_ in self._begun and not again)
        told = [] if before is None or muted or before.muted else self._switch(before)
        if before is not None and not muted:
            self._messages.forget(before)  # its turn is current, so the next message breaks it off
        message, opened = self._opened(data, place, muted=muted)
        message.has_heard(seq)
        message.begun = True
        message.blocks = _Blocks(crowded=before is not None and not again)
        return [] if muted else [*told, *opened, *report.usage(data.usage)]

    def _opened(
        self, data: _Data, place: _Place, *, muted: bool = False
    ) -> tuple[_Message, list[deltas.Delta]]:
        run, id_ = labels.id_label(data.run_id), _message_id(data) if data.event == "message-start" else None
        message = _Message(f"{self._n_turns}", id_, place, run, muted=muted)
        self._messages.add(message)
        if muted:
            return message, []
        over = self._now is not None and not self._now.open
        self._now = message
        self._n_turns += 1
        if id_ is not None:
            self._begun.add(id_)
        return message, [deltas.TurnOpened(message.turn, id_, _model_of(data.metadata), restart=over)]

    def _switch(self, message: _Message) -> list[deltas.Delta]:
        if message is self._now:
            return []
        self._now = message
        return [deltas.TurnOpened(message.turn)]

    def _finish(self, message: _Message, data: _Data) -> list[deltas.Delta]:
        self._messages.forget(message)
        return [*message.blocks.end(), *_finish_deltas(data), deltas.TurnEnded(message.turn)]

    def _error(self, message: _Message, data: _Data) -> list[deltas.Delta]:
        fault = report.failure(message=data.message, code=data.code, fatal=False)
        return [*fault, *self._failed(message, labels.text_label(data.code))]

    def _failed(self, message: _Message, why: str | None) -> list[deltas.Delta]:
        """Report that a message was broken off; others continue."""
        self._messages.forget(message)
        return [deltas.Finish(0, "error", why or "error", drops=True), deltas.TurnEnded(message.turn)]

    def _run_failed(self, namespace: tuple[str, ...], data: _Data) -> list[deltas.Delta]:
        """Report that a graph failed with every open message in it; all of them if it is the whole run."""
        told = report.failure(message=labels.text_label(data.error) or "the run failed", fatal=False)
        for message in self._messages.within(namespace):
            self._messages.forget(message)
            if not message.muted:
                told += self._switch(message) + self._failed(message, None)
        return told

    def _block(self, message: _Message, data: _Data) -> list[deltas.Delta]:
        index, content = labels.index_label(data.index), _content_of(data)
        if data.event == "content-block-delta" and data.delta is not None:
            return message.blocks.delta(index, data.delta)
        return _BLOCKS[data.event or ""](message.blocks, index, content)

    EVENTS: ClassVar[Mapping[str | None, Callable[[Any, _Message, _Data], list[deltas.Delta]]]] = {
        **dict.fromkeys(_BLOCKS, _block),
        "message-finish": _finish,
        "usage": lambda _self, _message, data: report.usage(data.usage),
        "error": _error,
    }


def _message_id(data: _Data) -> str | None:
    """Return the id of a message, in any of its spellings."""
    return labels.id_label(data.id) or labels.id_label(data.message_id) or labels.id_label(data.messageId)


def _model_of(metadata: object) -> str | None:
    """Return the model's name, where the start of a message knows it."""
    return labels.name_label(decode.member(metadata, "model"))


def _finish_deltas(data: _Data) -> list[deltas.Delta]:
    """Return the counts and the reason: the provider's own, else the protocol's version of it."""
    metadata = data.metadata or data.responseMetadata
    told = ended(EndedMessage(response_metadata=metadata, usage_metadata=data.usage))
    finished = any(isinstance(delta, deltas.Finish) for delta in told)
    return told if finished else told + report.finish(data.reason, drops_at="error")
