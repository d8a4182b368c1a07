"""Whole bodies, the answers that are not streamed: judged by the same parser, and mended where needed.

Theory of operation. The parser reads the body and gives its verdicts. If a client that reads the body's members finds
exactly our calls in it, and a reason that fits, the body stays unchanged, byte for byte. Else its calls are taken out,
and the emitted calls are written where the first of them was. A body that claims success but emits no call becomes an
error in the form of its dialect: clients would take it for the end of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from wholecall.dialects.decode import plain
from wholecall.dialects.envelope import opened
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.table import detect_dialect, named
from wholecall.encoders.base import Executable, json_bytes
from wholecall.encoders.gemini import error_of
from wholecall.encoders.responses import ResponsesEncoder
from wholecall.framing import Frame
from wholecall.limits import Limits
from wholecall.output.events import EXECUTABLE, Event, StreamFault, ToolCall, ToolCallDropped
from wholecall.policy import Policy
from wholecall.repairing.chat_bodies import chat_body
from wholecall.repairing.chat_reading import claims_of
from wholecall.repairing.gemini_bodies import gemini_body, gemini_claims
from wholecall.repairing.items import label_of
from wholecall.repairing.leaked_bodies import without_leaks
from wholecall.repairing.once import once
from wholecall.repairing.pieces import is_error
from wholecall.repairing.report import Ledger, RepairReport
from wholecall.repairing.responses import cut_response, is_ours, item_label, minted_id, response_claim
from wholecall.repairing.rewriter import lasting, own_fault
from wholecall.repairing.schema import Schema, conformed
from wholecall.repairing.table import REWRITERS
from wholecall.repairing.wires import BODIES, END_WORDS
from wholecall.repairing.withholding import CALLS_WITHHELD, Losses, Withheld, checked
from wholecall.stream.parser import ToolCallParser
from wholecall.text.options import text_calls
from wholecall.tools import Tools
from wholecall.types import TurnReason

if TYPE_CHECKING:
    from wholecall.text.options import TextWanted
    from wholecall.tools import AnyTools

__all__ = ["RepairedBody", "most_of_body", "repair_body"]

Payload = dict[str, Any]


class RepairedBody(msgspec.Struct, frozen=True):
    """A judged body.

    Attributes:
        data: the bytes for the client; an error in the dialect's form if `report.error` is not None.
        report: the report of its repair.
    """

    data: bytes
    report: RepairReport

    def __repr__(self) -> str:
        return f"RepairedBody(<{len(self.data)}>, {self.report!r})"


def repair_body(
    data: bytes,
    *,
    tools: AnyTools | None = None,
    withheld: Withheld = "auto",
    on_dropped: Callable[[ToolCallDropped], object] | None = None,
    on_fault: Callable[[StreamFault], object] | None = None,
    text: TextWanted = None,
    expected: str | None = None,
    legacy: bool | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> RepairedBody:
    """Judge a whole JSON body, the answer to a request without `stream`, and return it with whole calls only.

    It is for Chat Completions, Responses, Anthropic Messages and Gemini; any other body is returned unchanged.

    Args:
        data: the body, decompressed.
        tools: the tools that the model was given, as for `ToolCallParser`.
        withheld: how a body ends that claims success but whose calls were all withheld; as for `Repairer`.
        on_dropped: called with each withheld call, which holds the reason.
        on_fault: called with each fault.
        text: calls that the model writes as text, as for `Repairer`.
        expected: the requested dialect, where the endpoint shows it: a body of it is taken out of its envelope (quirk
            120).
        legacy: whether the request lists `functions`, as for `Repairer`.
        policy: how calls are judged.
        limits: bounds of a body.

    Raises:
        TypeError, ValueError, ImportError: as for `Repairer`.
    """
    known = tools if tools is None or isinstance(tools, Tools) else Tools[Any](tools)
    came, wanted = data, text_calls(text)
    if expected is not None:
        data = _without_envelope(data, named(expected).name)
    if wanted is not None:
        data = without_leaks(data, wanted, tools=known, policy=policy, limits=limits)
    parser: ToolCallParser[Any] = ToolCallParser(tools=known, policy=policy, limits=limits)
    events = [*parser.feed(data), *parser.close()]
    losses = Losses(checked(withheld), goes_on_after_cuts=_goes_on(parser.dialect))
    for event in events:
        if isinstance(event, ToolCallDropped):
            losses.note(event)
            if on_dropped is not None:
                on_dropped(event)
        elif isinstance(event, StreamFault) and on_fault is not None:
            on_fault(event)
    form, fault = _FORMS.get(parser.dialect or ""), _unjudged(events)
    if form is not None and parser.dialect == "chat-completions":
        form = form._replace(rewrite=partial(chat_body, legacy=legacy))
    payload = None if form is None or parser.is_enveloped else _payload(data, form.kind)
    error: str | None = None
    mended = data
    if fault is not None:  # a body too large to be judged must not pass
        error, mended = fault.kind, json_bytes((form or _FORMS["responses"]).error(fault.detail, fault.kind))
    elif form is not None and not parser.is_enveloped:
        error, mended = _mended(form, data, payload, events, losses, parser.turn.response_id)
    if mended is data:
        mended = _strict(data)
    report = _report(parser.dialect, events, error, is_mended=mended is not came)
    is_read = error is not None or payload is not None
    return RepairedBody(mended, report if is_read else replace(report, unread=True))


def _without_envelope(data: bytes, dialect: str) -> bytes:
    """Return the body of a dialect without its envelope; the bytes themselves, where there is none."""
    text = data.decode("utf-8-sig", "replace")
    inner = opened(Frame("", text)).data
    payload = plain(inner) if inner != text else None
    found = detect_dialect(payload) if isinstance(payload, dict) else None
    return inner.encode() if found is not None and found.name == dialect else data


def most_of_body(limits: Limits | None) -> int | None:
    """Return how many bytes of a whole body can be judged, None for any number."""
    limits = limits or Limits()
    bounds = (limits.max_stream_bytes, limits.max_event_bytes)
    return min((bound for bound in bounds if bound is not None), default=None)


def _unjudged(events: Sequence[Event[Any]]) -> StreamFault | None:
    """Return the fault that ended the reading of a body early; a body that is too large is skipped as an event is."""
    skipped = (event for event in events if type(event) is StreamFault and event.kind == "event_too_large")
    return own_fault(events) or next(skipped, None)


def _goes_on(dialect: str | None) -> bool:
    return dialect in REWRITERS and REWRITERS[dialect].goes_on_after_cuts


def _report(
    dialect: str | None, events: Sequence[Event[Any]], error: str | None, *, is_mended: bool
) -> RepairReport:
    ledger = Ledger()
    ledger.note(events)
    return RepairReport(
        dialect=dialect,
        ended=ledger.ended,
        n_calls=ledger.n_calls,
        n_withheld=ledger.n_withheld,
        mended=is_mended,
        error=error,
        usage=ledger.usage,
    )


def _payload(data: bytes, kind: Any) -> Any:
    """Return the value of a body; None if it is of another type, such as several objects."""
    payload = plain(data.decode("utf-8-sig", "replace"))
    return payload if isinstance(payload, kind) else None


def _mended(
    form: _Form,
    data: bytes,
    payload: Any,
    events: Sequence[Event[Any]],
    losses: Losses,
    response_id: str | None,
) -> tuple[str | None, bytes]:
    """Return the code of the error that a body becomes, or None, and the bytes for the client."""
    if payload is None and any(isinstance(event, ToolCallDropped) for event in events):
        return CALLS_WITHHELD, json_bytes(form.error(losses.sentence, CALLS_WITHHELD))  # frames, a line each
    if payload is None or any(isinstance(event, StreamFault) and event.fatal for event in events):
        return None, data
    calls = [lasting(event, response_id) for event in events if isinstance(event, EXECUTABLE)]
    claims = form.claims(payload) or ["stop"]
    if all(losses.is_error(claimed, executed=bool(calls)) for claimed in claims):
        return CALLS_WITHHELD, json_bytes(form.error(losses.sentence, CALLS_WITHHELD))
    ours = form.rewrite(payload, calls, losses)
    if form.schema is not None and not is_error(ours):
        ours = conformed(ours, form.schema, is_first=True) or ours
    return None, data if ours == payload else json_bytes(ours)


def _strict(data: bytes) -> bytes:
    """Return a body of any dialect that all readers take for the same value: unchanged, or rewritten."""
    try:
        value, is_odd = once(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        value, is_odd = plain(data.decode("utf-8-sig", "replace")), True
    return json_bytes(value) if is_odd and value is not None else data


# Anthropic.


def _message_claims(payload: Payload) -> list[TurnReason]:
    known = turn_reason(payload.get("stop_reason"))
    return [] if known is None else [known[0]]


def _message(payload: Payload, calls: Sequence[Executable], losses: Losses) -> Payload:
    content = payload.get("content")
    if not isinstance(content, list):
        return payload
    told = [_block_label(block) for block in content if _is_call_block(block)]
    ours = [call for call in calls if isinstance(call, ToolCall)]
    edited = dict(payload)
    if told != [(call.id, call.name, call.arguments) for call in ours]:
        blocks = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in ours
        ]
        edited["content"] = _placed(content, _is_call_block, blocks)
    known = turn_reason(payload.get("stop_reason"))
    claimed = "stop" if known is None else known[0]
    reason = losses.reason(claimed, executed=bool(ours))
    if known is not None or reason == "tool_calls":
        word = known[1] if known is not None and reason == claimed else ""
        edited["stop_reason"] = END_WORDS["anthropic"].word(word, reason)
    elif edited.get("stop_reason") is not None:  # such as `""`
        edited["stop_reason"] = None
    return edited


def _is_call_block(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _block_label(block: Payload) -> tuple[object, object, object]:
    return block.get("id"), block.get("name"), block.get("input")


def _message_error(message: str, code: str) -> Payload:  # noqa: ARG001 - it has no place in this dialect
    return {"type": "error", "error": {"type": "api_error", "message": message}}


# Responses.


def _response_claims(payload: Payload) -> list[TurnReason]:
    return [response_claim(payload)]


def _response(payload: Payload, calls: Sequence[Executable], losses: Losses) -> Payload:
    output = payload.get("output")
    if not isinstance(output, list):
        return payload
    edited = dict(payload)
    if [item_label(item) for item in output if is_ours(item)] != list(map(label_of, calls)):
        encoder = ResponsesEncoder()
        edited["output"] = _placed(output, is_ours, [encoder.item(call) for call in calls])
    if response_claim(payload) == "stop" and not calls and losses.is_cut():
        edited |= cut_response()
    edited["output"] = [_with_id(item, payload.get("id"), at) for at, item in enumerate(edited["output"])]
    return edited


def _with_id(item: Any, response_id: object, place: int) -> Any:
    if not isinstance(item, dict) or (type(item.get("id")) is str and item["id"]):
        return item
    return {**item, "id": minted_id(item, response_id, place)}


# Common to both: a list with calls and other things.


def _placed(things: list[Any], is_call: Callable[[Any], bool], calls: list[Payload]) -> list[Any]:
    """Return the list with other calls, at the place of its first call."""
    place = next((at for at, thing in enumerate(things) if is_call(thing)), len(things))
    rest = [thing for thing in things if not is_call(thing)]
    return [*rest[:place], *calls, *rest[place:]]


def _error(message: str, code: str) -> Payload:
    return {"error": {"message": message, "type": "server_error", "param": None, "code": code}}


class _Form(NamedTuple):
    """The rules for a dialect's bodies: their reasons, calls, errors, type and schema."""

    claims: Callable[[Any], list[TurnReason]]
    rewrite: Callable[[Any, Sequence[Executable], Losses], Any]
    error: Callable[[str, str], Payload]
    kind: Any = dict
    schema: Schema | None = None


_FORMS: Final = {
    "anthropic": _Form(_message_claims, _message, _message_error, schema=BODIES["anthropic"]),
    "chat-completions": _Form(claims_of, chat_body, _error, schema=BODIES["chat-completions"]),
    "gemini": _Form(gemini_claims, gemini_body, error_of, (dict, list)),
    "responses": _Form(_response_claims, _response, _error, schema=BODIES["responses"]),
}
