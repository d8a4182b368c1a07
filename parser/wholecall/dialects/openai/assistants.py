"""OpenAI Assistants (runs with `stream: true`; Azure still serves them): the event's name says what its data is.

    thread.run.created         {id, model, status}
    thread.run.step.created    {id, step_details{type, tool_calls: []}}
    thread.run.step.delta      {id, delta{step_details{tool_calls: [{index, id?, type, function{name?, arguments?}}]}}}
    thread.message.delta       {id, delta{content: [{index, type: text, text{value}}]}}
    thread.run.step.completed  {id, step_details, usage}
    thread.run.requires_action {id, required_action{submit_tool_outputs{tool_calls}}}
    thread.run.completed       {id, usage}
    error, done                {code, message}, [DONE]

A step is a turn. The index is a call's slot within its step; nothing ends a call but the run, when it asks for
the outputs and restates the calls. A step that completed has its outputs: the stream after their submission
begins with it, and a function call in it was executed already, so it is never told. Code that OpenAI runs is
text; told as the member `input` of an object, it is whole when its step or the run says so.

Data without a name (JSON lines, a run that was polled) is named by its `object` and `status`; SDKs wrap
both in an object. Source: OpenAI API reference, "Assistants: streaming", and the types of openai-python.
"""

from __future__ import annotations

from collections.abc import Callable

from wholecall.deltas import (
    Delta,
    Finish,
    Noted,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    by_transport,
)
from wholecall.dialects.decode import UNREADABLE, is_done, is_noise, provider_error, read, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.openai.assistants_steps import SERVER_TOOLS, Step, restated_code
from wholecall.dialects.openai.assistants_views import DECODER, Data, Part, name_of
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import Translator
from wholecall.framing.frame import Frame
from wholecall.types import CUT_REASONS

__all__ = ["AssistantsTranslator"]

_QUIET = ("thread.created", "thread.message.created", "thread.message.in_progress", "thread.run.cancelling")


class AssistantsTranslator(Translator):
    """Frames of one stream of a run to deltas."""

    _model: str | None
    _now: Step | None
    _steps: dict[str | None, Step]
    _run_id: str | None

    def __init__(self) -> None:
        self._model = None
        self._now = None
        self._steps = {}
        self._run_id = None
        self._events: dict[str, Callable[[Data], list[Delta]]] = {
            "thread.run.step.delta": self._step_delta,
            "thread.message.delta": self._message_delta,
            "thread.message.completed": self._message,
            "thread.message.incomplete": self._message,
            **dict.fromkeys(("thread.run.created", "thread.run.queued", "thread.run.in_progress"), self._run),
            **dict.fromkeys(("thread.run.step.created", "thread.run.step.in_progress"), self._step),
            "thread.run.step.completed": self._step_completed,
            "thread.run.requires_action": self._asked,
            "thread.run.completed": self._run_completed,
            "thread.run.incomplete": self._run_incomplete,
            "thread.run.failed": self._run_failed,
            **dict.fromkeys(
                (f"thread.run.{whose}{how}" for whose in ("", "step.") for how in ("cancelled", "expired")),
                self._taken_back,
            ),
            "thread.run.step.failed": self._taken_back,
            "error": self._error,
        }

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        try:
            data = DECODER.decode(frame.data)
        except UNREADABLE:
            return self._slowly(frame)
        return self._take(data, frame)

    def _slowly(self, frame: Frame, *, wrapped: bool = False) -> list[Delta]:
        if is_done(frame.data):
            return by_transport(self._end())
        views, _, deltas = read(DECODER, frame)
        for data in views:
            deltas += self._take(data, frame, wrapped=wrapped)
        return deltas

    def _take(self, data: Data, frame: Frame, *, wrapped: bool = False) -> list[Delta]:
        inner = wire_text(data.data)
        if inner and type(data.event) is str and not wrapped:  # as SDKs do it, once
            return self._slowly(Frame(data.event, inner), wrapped=True)
        name = frame.event if frame.event.startswith("thread.") else name_of(data)
        if frame.event == "error" or (not name and data.error):
            name = "error"
        known = self._events.get(name)
        if known is not None:
            self._meet(id_label(data.id) if data.object == "thread.run" else id_label(data.run_id))
            return known(data)
        if self._now is None or is_noise(frame) or name in _QUIET:
            return []
        return [Noted(0, "unknown_events")]

    def _meet(self, run: str | None) -> None:
        """Leave the step under way where it is, if an event of another run comes."""
        if run is not None and run != self._run_id:
            self._now = self._now if self._run_id is None else None
            self._run_id = run

    # Steps

    def _open(self, data: Data) -> tuple[Step, list[Delta]]:
        """Return the step under way, begun if it is another one than the last, and what begins it."""
        last, key = self._now, id_label(data.id)
        if last is not None and key in (None, last.key):
            return last, []
        known = self._steps.get(key)
        if known is not None:
            self._now = known
            return known, [TurnOpened(key)]
        self._now = self._steps[key] = Step(key)
        return self._now, [TurnOpened(key, key, self._model, restart=last is not None and last.ended)]

    def _is_over(self, data: Data) -> bool:
        """Whether a step was ended, and another one is under way."""
        known = self._steps.get(id_label(data.id))
        return known is not None and known is not self._now and known.ended

    def _current(self, data: Data) -> tuple[Step, list[Delta]]:
        """Return the step that a message or the run belongs to: the open one, for neither names it."""
        return (self._now, []) if self._now is not None and not self._now.ended else self._open(data)

    def _step(self, data: Data) -> list[Delta]:
        return [Noted(0, "data_after_end")] if self._is_over(data) else self._open(data)[1]

    def _step_delta(self, data: Data) -> list[Delta]:
        if self._is_over(data):
            return [Noted(0, "data_after_end")]
        step, deltas = self._open(data)
        details = data.delta.step_details if data.delta is not None else None
        for call in (details.tool_calls if details is not None else None) or ():
            deltas += step.piece(call)
        return deltas

    def _step_completed(self, data: Data) -> list[Delta]:
        calls = (data.step_details.tool_calls if data.step_details is not None else None) or []
        told = [call for call in calls if text_label(call.type) in SERVER_TOOLS]
        known = self._steps.get(id_label(data.id))
        if known.ended if known is not None else not told:
            return []  # told already, or of an earlier stream
        step, deltas = self._open(data)
        deltas += step.close_codes()
        for call in told:
            deltas += restated_code(call)
        return deltas + _usage(data) + self._end(Finish(0, "stop", "completed"))

    def _end(self, *finish: Finish) -> list[Delta]:
        step = self._now
        if step is None or step.ended:
            return []
        step.ended = True
        return [*finish, TurnEnded(step.key)]

    # Messages

    def _message_delta(self, data: Data) -> list[Delta]:
        step, deltas = self._current(data)
        texts = _texts(data.delta.content if data.delta is not None else None)
        step.spoken = step.spoken or bool(texts)
        return deltas + texts

    def _message(self, data: Data) -> list[Delta]:
        step, deltas = self._current(data)
        if not step.spoken:
            deltas += _texts(data.content)
        step.spoken = True
        known = turn_reason(data.incomplete_details.reason) if data.incomplete_details is not None else None
        return [*deltas, Finish(0, *known)] if known is not None and known[0] in CUT_REASONS else deltas

    # The run

    def _run(self, data: Data) -> list[Delta]:
        self._model = name_label(data.model) or self._model
        return []

    def _ending(self, data: Data) -> list[Delta]:
        """Return what comes before the end of the run; its counts are the sum over its steps."""
        self._run(data)
        alone = self._now is None
        return self._current(data)[1] + (_usage(data) if alone else [])

    def _asked(self, data: Data) -> list[Delta]:
        deltas = self._ending(data)
        step = self._now
        action = data.required_action.submit_tool_outputs if data.required_action is not None else None
        if step is not None:
            deltas += step.close_codes()
            deltas += step.asked((action.tool_calls if action is not None else None) or [])
        return deltas + self._end(Finish(0, "tool_calls", "requires_action"))

    def _run_ended(self, data: Data, finish: Finish) -> list[Delta]:
        if self._now is not None and self._now.ended:
            return []  # by its last step
        return self._ending(data) + self._end(finish)

    def _run_completed(self, data: Data) -> list[Delta]:
        codes = self._now.close_codes() if self._now is not None else []
        return codes + self._run_ended(data, Finish(0, "stop", "completed"))

    def _run_incomplete(self, data: Data) -> list[Delta]:
        known = turn_reason(data.incomplete_details.reason) if data.incomplete_details is not None else None
        if known is None:
            return self._run_ended(data, Finish(0, "length", "incomplete"))
        reason = known[0] if known[0] in CUT_REASONS else "length"  # it was cut, whatever the word (quirk 76)
        return self._run_ended(data, Finish(0, reason, known[1]))

    def _run_failed(self, data: Data) -> list[Delta]:
        deltas = self._ending(data) if self._now is None else []
        return [*deltas, provider_error(data.last_error or "the run failed")]

    def _taken_back(self, data: Data) -> list[Delta]:
        status = text_label(data.status) or "cancelled"
        return self._run_ended(
            data, Finish(0, "error" if status == "failed" else "aborted", status, drops=True)
        )

    def _error(self, data: Data) -> list[Delta]:
        flat = {"code": data.code, "type": data.type, "message": data.message, "param": data.param}
        return [provider_error(data.error or {name: value for name, value in flat.items() if value})]


def _texts(parts: list[Part] | None) -> list[Delta]:
    deltas: list[Delta] = []
    for part in parts or ():
        value = part.text.value if part.text is not None else part.refusal
        text = text_label(value)
        if text is not None:
            deltas.append(TextFragment(0, text))
    return deltas


def _usage(data: Data) -> list[Delta]:
    return [UsageSeen(data.usage)] if isinstance(data.usage, dict) else []
