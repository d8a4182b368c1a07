"""Whole bodies, the answers that are not streamed: judged by the same parser, and mended where needed.

Theory of operation. The parser reads the body and gives its verdicts. If a client that reads the body's members finds
exactly our calls in it, and a reason that fits, the body stays unchanged, byte for byte. Else its calls are taken out,
and the emitted calls are written where the first of them was. A body that claims success but emits no call becomes an
error in the form of its dialect: clients would take it for the end of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import EXECUTABLE, Event, StreamFault
from wholecall.calls.tools.tool import AnyTools, Tools
from wholecall.dialects import decode, envelope, table
from wholecall.framing import Frame
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing import leaks, pieces, rewriter, schema
from wholecall.repairing.encoders import base, chat
from wholecall.repairing.report import Ledger, RepairReport
from wholecall.repairing.table import WIRES
from wholecall.repairing.wire import Body
from wholecall.repairing.withholding import CALLS_WITHHELD, Losses, Withheld, checked
from wholecall.stream.parser import ToolCallParser
from wholecall.text.options import TextWanted, text_calls


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
        data = _without_envelope(data, table.named(expected).name)
    if wanted is not None:
        data = leaks.without_leaks(data, wanted, tools=known, policy=policy, limits=limits)
    parser: ToolCallParser[Any] = ToolCallParser(tools=known, policy=policy, limits=limits)
    events = [*parser.feed(data), *parser.close()]
    wire = WIRES.get(parser.dialect or "")
    goes_on = wire is not None and wire.rewriter.goes_on_after_cuts
    losses = Losses(checked(withheld), goes_on_after_cuts=goes_on)
    for event in events:
        if isinstance(event, ToolCallDropped):
            losses.note(event)
            if on_dropped is not None:
                on_dropped(event)
        elif isinstance(event, StreamFault) and on_fault is not None:
            on_fault(event)
    form, fault = wire and wire.body, _unjudged(events)
    if form is not None and form.has_older_form:
        form = form._replace(rewrite=partial(form.rewrite, legacy=legacy))
    payload = None if form is None or parser.is_enveloped else _payload(data, form.kind)
    error: str | None = None
    mended = data
    if fault is not None:  # a body too large to be judged must not pass
        error, mended = (
            fault.kind,
            base.json_bytes((form.error if form else chat.error_of)(fault.detail, fault.kind)),
        )
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
    inner = envelope.opened(Frame("", text)).data
    payload = decode.plain(inner) if inner != text else None
    found = table.detect_dialect(payload) if isinstance(payload, dict) else None
    return inner.encode() if found is not None and found.name == dialect else data


def most_of_body(limits: Limits | None) -> int | None:
    """Return how many bytes of a whole body can be judged, None for any number."""
    limits = limits or Limits()
    bounds = (limits.max_stream_bytes, limits.max_event_bytes)
    return min((bound for bound in bounds if bound is not None), default=None)


def _unjudged(events: Sequence[Event[Any]]) -> StreamFault | None:
    """Return the fault that ended the reading of a body early; a body that is too large is skipped as an event is."""
    skipped = (event for event in events if type(event) is StreamFault and event.kind == "event_too_large")
    return rewriter.own_fault(events) or next(skipped, None)


def _report(
    dialect: str | None, events: Sequence[Event[Any]], error: str | None, *, is_mended: bool
) -> RepairReport:
    ledger = Ledger()
    ledger.note(events)
    ledger.mended = is_mended
    return ledger.report(dialect=dialect, error=error)


def _payload(data: bytes, kind: Any) -> Any:
    """Return the value of a body; None if it is of another type, such as several objects."""
    payload = decode.plain(data.decode("utf-8-sig", "replace"))
    return payload if isinstance(payload, kind) else None


def _mended(
    form: Body,
    data: bytes,
    payload: Any,
    events: Sequence[Event[Any]],
    losses: Losses,
    response_id: str | None,
) -> tuple[str | None, bytes]:
    """Return the code of the error that a body becomes, or None, and the bytes for the client."""
    if payload is None and any(isinstance(event, ToolCallDropped) for event in events):
        return CALLS_WITHHELD, base.json_bytes(
            form.error(losses.sentence, CALLS_WITHHELD)
        )  # frames, a line each
    if payload is None or any(isinstance(event, StreamFault) and event.fatal for event in events):
        return None, data
    calls = [rewriter.lasting(event, response_id) for event in events if isinstance(event, EXECUTABLE)]
    claims = form.claims(payload) or ["stop"]
    if all(losses.is_error(claimed, executed=bool(calls)) for claimed in claims):
        return CALLS_WITHHELD, base.json_bytes(form.error(losses.sentence, CALLS_WITHHELD))
    ours = form.rewrite(payload, calls, losses)
    if form.schema is not None and not pieces.is_error(ours):
        ours = schema.conformed(ours, form.schema, is_first=True) or ours
    return None, data if ours == payload else base.json_bytes(ours)


def _strict(data: bytes) -> bytes:
    """Return a body of any dialect that all readers take for the same value: unchanged, or rewritten."""
    try:
        value, is_odd = pieces.once(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        value, is_odd = decode.plain(data.decode("utf-8-sig", "replace")), True
    return base.json_bytes(value) if is_odd and value is not None else data
