"""The items of a response, and its end: which of them are calls, who executes them, and their text.

An item comes up to three times: in `output_item.added` as a skeleton, in `output_item.done` whole, and in the output
list of the finished response. Calls of functions, of custom tools and of MCP servers carry their text as a string. The
tools that OpenAI defines carry it as members of the item (`action`, `queries`, `code` and so on): their arguments are
an object of just those members, spliced from the wire's own text.

The item tells who executes it: a shell call with an environment other than a local one runs in a container, a tool
search runs at the client only if its item names the client.

Other items go back as they came, if neither text, reasoning nor the client's calls cover them: OpenAI's own calls and
their results (`program`, `code_interpreter_call`, `mcp_list_tools`, outputs), items of unknown types, and messages with
more than their text: a phase, citations, a refusal. A message goes back without its own id, which the API knows only
where it stored the response; other items need theirs.

Source: OpenAI API reference, "Create a model response", `input`.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, Literal, Union, final

import msgspec
from msgspec.structs import astuple

from wholecall import deltas
from wholecall.dialects import decode, labels, remembered
from wholecall.types import Flag, Kind

# Views.


class Part(msgspec.Struct, gc=False):
    """A part of a message's content or of a reasoning summary."""

    type: str | None = None
    text: Any = None
    refusal: Any = None
    transcript: Any = None


class Item(msgspec.Struct, gc=False, omit_defaults=True):
    """The view of an item of any type."""

    type: str | None = None
    id: Any = None
    call_id: Any = None
    name: Any = None
    namespace: Any = None
    status: Any = None
    execution: Any = None
    environment: Any = None
    # Text, or members that make up the arguments.
    action: msgspec.Raw = decode.NO_TEXT
    queries: msgspec.Raw = decode.NO_TEXT
    code: msgspec.Raw = decode.NO_TEXT
    arguments: msgspec.Raw = decode.NO_TEXT
    operation: msgspec.Raw = decode.NO_TEXT
    input: msgspec.Raw = decode.NO_TEXT
    actions: msgspec.Raw = decode.NO_TEXT
    # The members that are to be sent back untouched.
    caller: Any = None
    async_: Any = msgspec.field(name="async", default=None)
    server_label: Any = None
    fingerprint: Any = None
    pending_safety_checks: Any = None
    encrypted_content: Any = None
    # Messages and reasoning.
    content: list[Part] | None = None
    summary: list[Part] | None = None


@final
class FunctionCall(msgspec.Struct, gc=False, omit_defaults=True):
    """The view of the most common item; it refuses members that it cannot hold, and encodes as `Item` does."""

    type: Literal["function_call"]  # not a tag, which may be absent where no other class is possible
    id: Union[str, None] = None
    call_id: Union[str, None] = None
    name: Union[str, None] = None
    namespace: Union[str, None] = None
    status: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT
    caller: None = None
    async_: None = msgspec.field(name="async", default=None)
    server_label: None = None
    fingerprint: None = None
    pending_safety_checks: None = None
    content: None = None
    summary: None = None


class Details(msgspec.Struct, gc=False):
    """The reason why a response is incomplete."""

    reason: Any = None


class Response(msgspec.Struct, gc=False):
    """The view of a response, in its first and last event or as a whole body."""

    id: Any = None
    model: Any = None
    status: Any = None
    output: list[Item] | None = None
    usage: Any = None
    error: Any = None
    incomplete_details: Details | None = None
    status_details: Any = None  # of a Realtime response; some servers send a word


# Calls.

_ENCODER = msgspec.json.Encoder()


class _Call(msgspec.Struct, frozen=True):
    """The meaning of an item type: who executes it, its name if the type implies one, where its text is."""

    kind: Kind
    name: str | None = None
    text: str | None = None  # the field that holds the text; None: the members are the arguments
    flags: tuple[Flag, ...] = ()


_CALLS: Final[dict[str | None, _Call]] = {
    "function_call": _Call("function", text="arguments"),
    "custom_tool_call": _Call("custom", text="input"),
    "mcp_call": _Call("server", text="arguments"),
    "mcp_approval_request": _Call("server", text="arguments", flags=("needs_approval",)),
    "shell_call": _Call("builtin", "shell"),
    "local_shell_call": _Call("builtin", "local_shell"),
    "apply_patch_call": _Call("builtin", "apply_patch"),
    "computer_call": _Call("builtin", "computer"),
    "tool_search_call": _Call("builtin", "tool_search"),
    "web_search_call": _Call("server", "web_search"),
    "file_search_call": _Call("server", "file_search"),
    "code_interpreter_call": _Call("server", "code_interpreter"),
    "image_generation_call": _Call("server", "image_generation"),
    "program": _Call("server", "program"),
}
_MEMBERS = ("action", "queries", "code", "arguments", "operation", "input", "actions")
_EXTRA = ("caller", "async_", "server_label", "fingerprint", "pending_safety_checks")
_EXTRA_OF = attrgetter(*_EXTRA)


def is_call(item: Item | FunctionCall) -> bool:
    """Return whether an item is a call, executed by the server or the client."""
    return item.type in _CALLS


def public_id(item: Item | FunctionCall) -> str | None:
    """Return the id to answer with; gateways leave out one of the two (quirk 75)."""
    return labels.id_label(item.call_id) or labels.id_label(item.id)


def call_delta(
    item: Item | FunctionCall,
    index: deltas.Index | None,
    rank: int,
    *,
    skeleton: bool = False,
    closes: bool = False,
) -> deltas.CallSeen | deltas.CallWhole:
    """Return the delta of an item's call: its whole text if it has one, else only its labels.

    A skeleton (the item as it was added) restates nothing: its empty values are placeholders for text to come, and so
    are the members of a tool that OpenAI defines, unless the item is completed already. `closes` goes to the text.
    """
    call = _CALLS[item.type]
    kind = _kind(item) or call.kind
    alias, call_id = labels.id_label(item.id), labels.id_label(item.call_id)
    extra: dict[str, Any] = {"item_id": alias} if alias and call_id else {}
    if type(item) is FunctionCall:
        text = decode.string_text(item.arguments)
    else:
        text = decode.wire_text(getattr(item, call.text)) if call.text else _members_text(item)
        extra |= _untouched(item)
    if skeleton and (decode.is_blank(text) or (call.text is None and item.status != "completed")):
        text = ""
    id_, name = call_id or alias, call.name or labels.name_label(item.name)
    namespace = None if item.namespace is None else labels.name_label(item.namespace)
    if not text and rank != deltas.HYDRATION:
        return deltas.CallSeen(
            0, index, alias, id_, name, kind, namespace, call.flags, extra or None, skeleton
        )
    wins = call_id is not None and not skeleton
    more = call.flags, extra or None
    return deltas.CallWhole(
        0, index, alias, id_, name, text, rank, kind, namespace, wins, *more, closes=closes, begins=skeleton
    )


def finished_call(
    item: Item | FunctionCall, index: deltas.Index | None, done: dict[str, int]
) -> list[deltas.Delta]:
    """Return the deltas of the finished item of a call: all of the call, and its end, unless its status denies that.

    `done` gets the checksum of the item, by the call's public id.
    """
    cut = item.status == "incomplete"
    if item.status == "in_progress":
        return [call_delta(item, index, deltas.ITEM_DONE)]
    delta = call_delta(item, index, deltas.ITEM_DONE, closes=not cut)
    done[delta.id or ""] = summed(item)
    if not cut and type(delta) is deltas.CallWhole:
        return [delta]
    return [delta, deltas.CallClosed(0, index, delta.alias, truncated=cut)]


def restated_calls(items: list[Item] | None, done: dict[str, int]) -> list[deltas.Delta]:
    """Return the calls of the finished response that differ from the events.

    The positions are not slots: bridges number their items otherwise (quirk 99).
    """
    calls = [item for item in items or () if is_call(item)]
    known = {id_ for item in calls if done.get(id_ := public_id(item) or "") == summed(item)}
    # Under a known id only a call that the server executes counts: it is not the client's any more.
    wholes = [
        _restated(item)
        for item in calls
        if (id_ := public_id(item) or "") not in known
        or (_kind(item) == "server" and done[id_] != summed(item))
    ]
    return [deltas.Restated(0, tuple(wholes), frozenset(known))] if wholes else []


def _restated(item: Item) -> deltas.CallWhole:
    delta = call_delta(item, None, deltas.HYDRATION)
    assert isinstance(delta, deltas.CallWhole)
    cut, goes_on = item.status == "incomplete", item.status == "in_progress"
    return msgspec.structs.replace(delta, truncated=cut, goes_on=goes_on) if cut or goes_on else delta


def summed(item: Item | FunctionCall) -> int:
    """Return a checksum of an item's content: equal items have equal checksums, and no item is kept.

    A finished function with a name is summed by its text alone.
    """
    is_named = item.type == "function_call" and labels.name_label(item.name) is not None
    text = bytes(item.arguments) if is_named else _written(item)
    return remembered.checksum(text)


def _written(item: Item | FunctionCall) -> bytes:
    try:
        return _ENCODER.encode(item)
    except UnicodeEncodeError:  # half a surrogate pair somewhere
        values = [bytes(value) if type(value) is msgspec.Raw else value for value in astuple(item)]
        return ascii(values).encode()


def _kind(item: Item | FunctionCall) -> Kind | None:
    call = _CALLS.get(item.type)
    if call is None or call.kind != "builtin" or type(item) is FunctionCall:
        return None if call is None else call.kind
    return "server" if _is_hosted(item) else "builtin"


def _is_hosted(item: Item) -> bool:
    if item.type == "tool_search_call":
        return bool(item.execution != "client")
    environment = item.environment
    return item.type == "shell_call" and isinstance(environment, dict) and environment.get("type") != "local"


def _members_text(item: Item) -> str:
    """Splice the argument object from the members that the item has; leaves stay as the wire wrote them."""
    texts = [(name, bytes(getattr(item, name)).decode("utf-8", "surrogatepass")) for name in _MEMBERS]
    present = [f'"{name}":{text}' for name, text in texts if text and text != "null"]
    return "{" + ",".join(present) + "}" if present else ""


def _untouched(item: Item) -> dict[str, Any]:
    values = _EXTRA_OF(item)
    return {field.rstrip("_"): value for field, value in zip(_EXTRA, values, strict=True) if value}


# Other items.

QUIET_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "compaction",
        "mcp_list_tools",
        "mcp_approval_response",
        "function_call_output",
        "custom_tool_call_output",
        "shell_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
        "tool_search_output",
        "program_output",
    }
)


def answered(item: Item | FunctionCall) -> list[deltas.Delta]:
    """Return the deltas of the result of a call: the server executed it."""
    id_ = labels.id_label(item.call_id) if (item.type or "").endswith("_output") else None
    return [] if id_ is None else [deltas.CallCancelled(id_, answered=True)]


def is_kept(item: Item | FunctionCall) -> bool:
    """Return whether an item may go back as it came: neither reasoning nor a call that the client executes."""
    return item.type != "reasoning" and _kind(item) in (None, "server")


def message_text(item: Item) -> list[deltas.Delta]:
    """Return the text of a whole message, with refusals and transcripts of speech."""
    parts = item.content or ()
    told: list[deltas.Delta] = []
    for part in parts:
        said = labels.text_label(part.text)
        refused = None if said else labels.text_label(part.refusal)
        told += [deltas.TextRefused(0)] if refused else []
        text = said or refused or labels.text_label(part.transcript)
        told += [deltas.TextFragment(0, text)] if text else []
    return told


def reasoning_deltas(item: Item, index: deltas.Index | None, *, known: bool) -> list[deltas.Delta]:
    """Return the deltas that a whole reasoning item adds: its id, its encrypted text, and its text unless `known`."""
    parts = [labels.text_label(part.text) for part in [*(item.summary or ()), *(item.content or ())]]
    text = "" if known else "".join(part for part in parts if part)
    id_, data = labels.id_label(item.id), labels.text_label(item.encrypted_content)
    return [deltas.ReasoningFragment(0, text, index, id_, data=data)] if text or id_ or data else []


_PLAIN_MESSAGE: Final = frozenset({"type", "id", "role", "status", "content"})
_PLAIN_PART: Final = frozenset({"type", "text", "annotations", "logprobs"})


def kept_item(item: object) -> deltas.BlockKept | None:
    """Return the kept content of an item, neither reasoning nor a client's call; None if it has only text."""
    if not isinstance(item, dict):
        return None
    if item.get("type") != "message":
        return deltas.BlockKept(0, item)
    if _is_plain(item):
        return None
    value = {name: one for name, one in item.items() if name != "id"}
    return deltas.BlockKept(
        0, value, of_text=True, said="".join(map(_said, decode.listed(item.get("content"))))
    )


def _is_plain(message: dict[str, Any]) -> bool:
    parts = decode.listed(message.get("content"))
    return message.keys() <= _PLAIN_MESSAGE and all(
        isinstance(part, dict) and part.keys() <= _PLAIN_PART and not part.get("annotations")
        for part in parts
    )


def _said(part: object) -> str:
    return (
        labels.text_label(decode.member(part, "text"))
        or labels.text_label(decode.member(part, "refusal"))
        or ""
    )
