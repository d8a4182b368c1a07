"""The turns of a Copilot session: each of its agents has its own, and they come between one another."""

from __future__ import annotations

from wholecall.deltas import Delta, Finish, TurnEnded, TurnOpened
from wholecall.dialects import report
from wholecall.dialects.agents.copilot_calls import Calls
from wholecall.dialects.agents.copilot_views import Data
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.remembered import keep_piece
from wholecall.types import TurnReason

__all__ = ["Turn", "Turns"]


class Turn:
    """A turn of an agent. Its text comes in pieces, and then again as a whole.

    Attributes:
        number: the number of turns of the session up to this one.
        marked: it was opened by a separate event, and so ends with one.
        reason: why the model's answer ended.
    """

    number: int
    key: str
    marked: bool
    open: bool
    calls: Calls
    reason: tuple[TurnReason, str] | None
    _said: dict[tuple[str, str | None], list[str]]
    _messages: set[str | None]
    _block: str | None
    _reasoned: bool
    _thought: tuple[str | None, str] | None

    def __init__(self, number: int, *, marked: bool) -> None:
        self.number = number
        self.key = str(number)
        self.marked = marked
        self.open = True
        self.calls = Calls(marked=marked)
        self.reason = None
        self._said = {}  # pieces of a text that was not sent as a whole yet
        self._messages = set()  # ids of texts that were sent as a whole
        self._block = None  # the thought that was reported last
        self._reasoned = False  # whether reasoning came since the last message
        self._thought = None  # the last whole thought; a message gives it no id

    def text(self, data: Data) -> list[Delta]:
        """Report a piece of visible text."""
        text = text_label(data.delta_content) or ""
        keep_piece(self._said.setdefault(("text", id_label(data.message_id)), []), text)
        return report.text(text)

    def thought(self, data: Data) -> list[Delta]:
        """Report a piece of reasoning."""
        text, self._block = text_label(data.delta_content) or "", id_label(data.reasoning_id)
        keep_piece(self._said.setdefault(("thought", self._block), []), text)
        self._reasoned = True
        return report.thought(text, self._block)

    def whole_thought(self, data: Data) -> list[Delta]:
        """Report the text that a whole thought adds to its pieces; the message it led to may have brought it before."""
        text, block = text_label(data.content), id_label(data.reasoning_id)
        if text is None or self._thought in ((None, text), (block, text)):
            return []
        self._thought = block, text
        rest = self._rest(("thought", block), text)
        if rest:
            self._block, self._reasoned = block, True
        return report.thought(rest, block)

    def message(self, data: Data) -> list[Delta]:
        """Report the content of a whole message: the reasoning that led to it, its text, and its calls."""
        id_, text = id_label(data.message_id), text_label(data.content)
        if id_ is not None and id_ in self._messages:
            return []  # the same message again (quirk 91)
        self._messages.add(id_)
        deltas = self._sealed(id_, data)
        if text:
            deltas += report.text(self._rest(("text", id_), text))
        for request in data.tool_requests or ():
            deltas += self.calls.request_by_message(request)
        return deltas

    def _sealed(self, message: str | None, data: Data) -> list[Delta]:
        """Report the reasoning of a message: the text if it did not come before, and the values to be sent back."""
        text = text_label(data.reasoning_text)
        new = "" if text is None or self._reasoned else text
        sealed = text_label(data.reasoning_opaque) or text_label(data.encrypted_content)
        block, self._block = self._block, None
        self._reasoned, self._thought = False, (None, text) if text is not None else self._thought
        return report.thought(new, block or message, data=sealed)

    def _rest(self, what: tuple[str, str | None], whole: str) -> str:
        said = "".join(self._said.pop(what, ()))
        return whole[len(said) :] if whole.startswith(said) else ""  # the text is not the same any more


class Turns:
    """The latest turn of each agent; the main one has no id."""

    _latest: dict[str | None, Turn]
    _now: Turn | None
    _n_turns: int

    def __init__(self) -> None:
        self._latest = {}
        self._now = None
        self._n_turns = 0

    def of(self, agent: str | None) -> Turn | None:
        """Return the agent's turn, None if it has no open turn."""
        turn = self._latest.get(agent)
        return turn if turn is not None and turn.open else None

    def last(self, agent: str | None) -> Turn | None:
        """Return the agent's latest turn, open or not; None if it had none."""
        return self._latest.get(agent)

    def all_open(self) -> list[Turn]:
        """Return the turns that are open, in the order in which they began."""
        found = (turn for turn in self._latest.values() if turn.open)
        return sorted(found, key=lambda turn: turn.number)

    def is_current(self, agent: str | None) -> bool:
        """Return whether the agent's turn is the current one."""
        return self._now is not None and self._now is self._latest.get(agent)

    def on(self, agent: str | None, data: Data) -> tuple[Turn, list[Delta]]:
        """Return the agent's turn, or a new one if the last is over, and the deltas that make it the current one."""
        turn = self.of(agent)
        return self.begin(agent, data) if turn is None else (turn, self.switch(turn))

    def switch(self, turn: Turn) -> list[Delta]:
        """Return the deltas that make a turn the current one."""
        before, self._now = self._now, turn
        return [] if turn is before else [TurnOpened(turn.key)]

    def begin(self, agent: str | None, data: Data, *, marked: bool = False) -> tuple[Turn, list[Delta]]:
        """Return the agent's next turn and its beginning; an open turn ends before it."""
        last = self.of(agent)
        deltas = self.end(last, finish=False) if last is not None else []
        over = self._now is not None and not self._now.open
        self._n_turns += 1
        turn = self._latest[agent] = self._now = Turn(self._n_turns, marked=marked)
        id_ = agent if agent is not None else id_label(data.turn_id)
        return turn, [*deltas, TurnOpened(turn.key, id_, name_label(data.model), restart=over)]

    def end(self, turn: Turn, *, finish: bool = True) -> list[Delta]:
        """Return the end of a turn that was not broken off, though the model's answer may have been cut."""
        deltas = self.switch(turn)
        turn.open = False
        if turn.calls.cut:
            turn.calls.give_up()
        else:
            deltas += turn.calls.settle("aborted", "no message told the call")
        if turn.reason is not None:
            deltas.append(Finish(0, *turn.reason, ends=True))
        elif finish:
            deltas.append(Finish(0, "tool_calls" if turn.calls.requested else "stop", None, ends=True))
        return [*deltas, TurnEnded(turn.key)]

    def break_off(self, turn: Turn, reason: TurnReason, provider_reason: str | None) -> list[Delta]:
        """Return the end of a turn that was broken off: its open calls are dropped."""
        deltas = self.switch(turn)
        turn.open = False
        turn.calls.give_up()
        return [*deltas, Finish(0, reason, provider_reason, drops=True), TurnEnded(turn.key)]
