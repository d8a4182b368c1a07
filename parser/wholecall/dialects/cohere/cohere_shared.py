"""What both versions of Cohere's chat share: whole calls, reasons, counts, and errors that are no events."""

from __future__ import annotations

from typing import Any, Final, Union

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Noted,
    UsageSeen,
)
from wholecall.dialects.decode import is_blank, is_noise, plain, provider_error
from wholecall.dialects.labels import id_label, name_label
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.reasons import turn_reason
from wholecall.framing.frame import Frame

__all__ = ["PLAN", "Calls", "calls_in", "counted", "finish", "name_of", "stray", "whole_call"]

PLAN: Final = "tool_plan"  # the block of reasoning in which the plan stands

Calls = Union[list[ToolCallView], ToolCallView, None]


def calls_in(calls: Calls) -> list[ToolCallView]:
    """Return the calls where one may stand for a list (quirk 39)."""
    return [calls] if isinstance(calls, ToolCallView) else calls or []


def name_of(call: ToolCallView) -> str | None:
    """Return the name of a call, which version 1 and some relays send without a `function`."""
    return name_label((call.function or call).name)


def whole_call(slot: Index, call: ToolCallView) -> list[Delta]:
    """Return the deltas of a call that is told whole.

    One without arguments may have been cut before them: whether it is over, the turn's reason decides.
    """
    text, _ = argument_text(call.function, call)
    id_, name = id_label(call.id), name_of(call)
    deltas: list[Delta] = [CallSeen(0, slot, None, id_, name)]
    if text:
        deltas.append(CallWhole(0, slot, None, id_, name, text, ITEM_DONE))
    empty = is_blank(text) or text.strip() == "null"  # what stands for no arguments (quirk 26)
    deltas.append(CallClosed(0, slot, None, final=not empty))
    return deltas


def counted(usage: Any) -> list[Delta]:
    """Return the counts, if there are any."""
    return [UsageSeen(usage)] if isinstance(usage, dict) and usage else []


def finish(raw: object) -> list[Delta]:
    """Return why the message ended: a failure takes back the calls that it leaves open."""
    known = turn_reason(raw)
    return [] if known is None else [Finish(0, *known, drops=known[0] == "error")]


def stray(frame: Frame) -> list[Delta]:
    """Return what a frame says that is no known event: Cohere's errors are a bare message (quirk 52)."""
    if is_noise(frame):
        return []
    payload = plain(frame.data)
    fields = payload if isinstance(payload, dict) else {}
    if frame.event == "error" or isinstance(fields.get("message"), str):
        return [provider_error(payload)]
    return [] if fields.get("type") == "ping" else [Noted(0, "unknown_events")]
