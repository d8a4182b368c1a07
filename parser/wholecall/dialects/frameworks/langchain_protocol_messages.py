"""The open messages in a stream of LangChain's protocol, and where their events are found.

An event does not name its message. It belongs to the message that is open in its run, else to the message that began
last in its place: a node of a graph, which the namespace names.
"""

from __future__ import annotations

from typing import Final, Union

from wholecall.dialects.frameworks.langchain_protocol_blocks import Blocks

__all__ = ["HERE", "WHOLE_RUN", "Message", "Messages", "Namespace", "Place"]

Namespace = tuple[str, ...]
Place = tuple[Namespace, str]  # with a node

WHOLE_RUN: Final[Namespace] = ()
HERE: Final[Place] = (WHOLE_RUN, "")  # where events without an envelope are


class Message:
    """An open message. A muted one is not reported: its events are skipped."""

    turn: str
    id: str | None
    place: Place
    run: str | None
    muted: bool
    open: bool
    begun: bool
    blocks: Blocks
    _seq: int

    def __init__(self, turn: str, id_: str | None, place: Place, run: str | None, *, muted: bool) -> None:
        self.turn = turn
        self.id = id_
        self.place = place
        self.run = run
        self.muted = muted
        self.open = True
        self.begun = False  # its start was read
        self.blocks = Blocks()
        self._seq = -1

    def has_heard(self, seq: object) -> bool:
        """Return whether an event with this number came already (quirk 91)."""
        if type(seq) is not int:
            return False
        heard = seq <= self._seq
        self._seq = max(seq, self._seq)
        return heard


class Messages:
    """The open messages."""

    _by_key: dict[Union[Place, str], Message]
    _by_namespace: dict[Namespace, dict[Message, None]]
    _since_loss: dict[Message, None]

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
        if {type(message) for messages in listed for message in messages} - {Message}:
            raise ValueError("what is listed is no message")

    def found(self, place: Place, run: str | None) -> Message | None:
        """Return the message that an event belongs to."""
        here = self._by_key.get(place)
        if run is None:
            return here
        return self._by_key.get(run) or (None if here is None or here.run is not None else here)

    def add(self, message: Message) -> None:
        """Let a message be found in its place and by its run."""
        self._by_key[message.place] = message
        if message.run is not None:
            self._by_key[message.run] = message
        self._by_namespace.setdefault(message.place[0], {})[message] = None
        self._since_loss[message] = None

    def forget(self, message: Message) -> None:
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

    def within(self, namespace: Namespace) -> list[Message]:
        """Return the messages of a graph; all of them for the whole run."""
        graphs = list(self._by_namespace) if namespace == WHOLE_RUN else [namespace]
        return [message for graph in graphs for message in self._by_namespace.get(graph, ())]
