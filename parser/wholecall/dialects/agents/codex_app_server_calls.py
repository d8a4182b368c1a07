"""The calls of the Codex app server: which items are calls, where their arguments are, and how they end."""

from __future__ import annotations

from typing import Final, Union

import msgspec

from wholecall.deltas import ITEM_DONE, CallRefused, CallSeen, CallWhole, Delta
from wholecall.dialects import report
from wholecall.dialects.agents.codex_app_server_views import Item, Params
from wholecall.dialects.decode import NO_TEXT, wire_text
from wholecall.dialects.labels import id_label, name_label

__all__ = ["ASKING", "WORK", "OpenTurn", "Work", "approval", "request", "work_done"]


class Work(msgspec.Struct, frozen=True):
    """The form of a call in an item: its arguments are the `members` that describe the action; without any, one member
    holds the arguments.

    A `late` member is a placeholder when the item starts. A call that is `asked` for is the client's, and reported
    then.
    """

    members: tuple[str, ...] = ()
    late: bool = False
    asked: bool = False

    def text(self, item: Union[Item, Params]) -> str:
        """Return the arguments, empty where none of them is there."""
        if not self.members:
            return wire_text(item.arguments)
        raws = {name: bytes(getattr(item, name, NO_TEXT)) for name in self.members}
        said = [
            f'"{_CAMEL.get(name, name)}":{raw.decode("utf-8", "surrogatepass")}'
            for name, raw in raws.items()
            if raw not in (b"", b"null")
        ]
        return f"{{{','.join(said)}}}" if said else ""


_CAMEL: Final = {"receiver_thread_ids": "receiverThreadIds"}

WORK: Final = {
    "commandExecution": Work(("command",)),
    "fileChange": Work(("changes",)),
    "mcpToolCall": Work(),
    "dynamicToolCall": Work(asked=True),
    "collabAgentToolCall": Work(("prompt", "receiver_thread_ids")),
    "collabToolCall": Work(("prompt", "receiver_thread_ids")),
    "webSearch": Work(("query", "action"), late=True),
    "imageView": Work(("path",)),
}
# The server's requests to its client about an item, and the type of the item that a request describes itself.
ASKING: Final = {
    "item/commandExecution/requestApproval": "commandExecution",
    "item/fileChange/requestApproval": "",
    "item/permissions/requestApproval": "",
    "item/tool/requestUserInput": "",
    "execCommandApproval": "commandExecution",
    "applyPatchApproval": "fileChange",
}


class Known:
    """A call of a turn: its slot, the text that it had last, and whether it is over."""

    slot: int
    text: str
    rank: int
    over: bool

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.text = ""
        self.rank = 0
        self.over = False


class OpenTurn:
    """A turn of a thread.

    Attributes:
        key: of the turn among those of the stream.
        thread: whose turn it is.
        calls: by the ids of their items.
        said: ids of the messages and thoughts that came in pieces.
        failed: its error was reported.
    """

    key: str
    thread: str | None
    calls: dict[str | None, Known]
    said: set[str | None]
    n_calls: int
    asked: bool
    failed: bool

    def __init__(self, key: str, thread: str | None) -> None:
        self.key = key
        self.thread = thread
        self.calls = {}
        self.said = set()
        self.n_calls = 0
        self.asked = False  # the client was asked to execute a call
        self.failed = False

    def call(self, id: str | None) -> tuple[Known, bool]:
        """Return the call of this id, and whether it is new; without an id it always is."""
        known = self.calls.get(id) if id is not None else None
        if known is not None:
            return known, False
        call = Known(self.n_calls)
        self.n_calls += 1
        if id is not None:
            self.calls[id] = call
        return call, True


def work_done(turn: OpenTurn, kind: str, item: Item, *, over: bool) -> list[Delta]:
    """Return the deltas of an item about its call: its start, or its end."""
    work, id_ = WORK[kind], id_label(item.id)
    if work.asked and not over:
        return []
    call, new = turn.call(id_)
    if call.over:
        return []
    deltas: list[Delta] = []
    if new:
        name, extra = name_label(item.tool) or kind, report.extra(server=item.server)
        deltas.append(CallSeen(0, call.slot, None, id_, name, "server", extra=extra))
    text = "" if work.late and not over else work.text(item)
    if text and text != call.text:
        call.text, call.rank = text, max(call.rank + 1, ITEM_DONE)  # each text replaces the one before
        deltas.append(CallWhole(0, call.slot, None, id_, None, text, call.rank, "server"))
    if not over:
        return deltas
    call.over = True
    if item.status == "declined":
        return [*deltas, CallRefused(0, call.slot, None, "aborted", "the client declined the call")]
    return deltas + report.closed(call.slot)


def approval(turn: OpenTurn, method: str, params: Params) -> list[Delta]:
    """Report that a call needs an approval; a call that no item reported is reported, if the request describes it."""
    id_, kind = id_label(params.item_id) or id_label(params.call_id), ASKING[method]
    if id_ not in turn.calls and not kind:
        return []
    call, new = turn.call(id_)
    if call.over:
        return []
    call.over = True
    name = kind if new else None
    deltas: list[Delta] = [CallSeen(0, call.slot, None, id_, name, "server", flags=("needs_approval",))]
    if not call.text and kind and (text := WORK[kind].text(params)):
        deltas.append(CallWhole(0, call.slot, None, id_, None, text, ITEM_DONE, "server"))
    return deltas + report.closed(call.slot)


def request(turn: OpenTurn, params: Params, number: object) -> list[Delta]:
    """Return the call of a tool that the client has; its answer needs the number of the request."""
    id_ = id_label(params.call_id)
    call, _ = turn.call(id_)
    if call.over:
        return []
    call.over = turn.asked = True
    numbered = None if number is None else {"request_id": number}
    extra = (numbered or {}) | (report.extra(namespace=params.namespace) or {}) or None
    deltas: list[Delta] = [CallSeen(0, call.slot, None, id_, name_label(params.tool), extra=extra)]
    if text := wire_text(params.arguments):
        deltas.append(CallWhole(0, call.slot, None, id_, None, text, ITEM_DONE))
    return deltas + report.closed(call.slot)
