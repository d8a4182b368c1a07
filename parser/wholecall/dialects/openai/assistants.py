"""OpenAI Assistants (runs with `stream: true`; Azure still serves them): the event's name gives the type of its data.

    thread.run.created         {id, model, status}
    thread.run.step.created    {id, step_details{type, tool_calls: []}}
    thread.run.step.delta      {id, delta{step_details{tool_calls: [{index, id?, type, function{name?, arguments?}}]}}}
    thread.message.delta       {id, delta{content: [{index, type: text, text{value}}]}}
    thread.run.step.completed  {id, step_details, usage}
    thread.run.requires_action {id, required_action{submit_tool_outputs{tool_calls}}}
    thread.run.completed       {id, usage}
    error, done                {code, message}, [DONE]

A step is a turn. The index is a call's slot within its step; nothing ends a call but the run, when it asks for the
outputs and restates the calls. A step that completed has its outputs: the stream after their submission begins with it,
and a function call in it was executed already, so it is never reported. Code that OpenAI runs is text; reported as the
member `input` of an object, it is whole when its step or the run is completed.

Data without a name (JSON lines, a run that was polled) is named by its `object` and `status`; SDKs wrap
both in an object. Source: OpenAI API reference, "Assistants: streaming", and the types of openai-python.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from wholecall.deltas import Delta, Finish, Noted, TextRefused, TurnEnded, TurnOpened, by_transport
from wholecall.dialects import report
from wholecall.dialects.decode import is_done, read, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.openai.assistants_steps import SERVER_TOOLS, Step, restated_code
from wholecall.dialects.openai.assistants_views import DECODER, Data, Part, calls_in, name_of
from wholecall.dialects.openai.responses_events import finish_of
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import Events, TurnTranslator
from wholecall.framing.frame import Frame
from wholecall.types import CUT_REASONS, TurnReason

__all__ = ["AssistantsTranslator"]

_QUIET = ("thread.created", "thread.message.created", "thread.message.in_progress", "thread.run.cancelling")


class AssistantsTranslator(TurnTranslator):
    """Frames of one stream of a run to deltas."""

    decoder = DECODER
    QUIET = frozenset(_QUIET)

    _model: str | None
    _now: Step | None
    _steps: dict[str | None, Step]
    _run_id: str | None
    _asked_for: set[str]

    def __init__(self) -> None:
        super().__init__()
        self._model = self._now = self._run_id = None
        self._steps = {}
        self._asked_for = set()  # ids of the calls whose outputs the run has asked for

    def _done(self) -> list[Delta]:
        return by_transport(self._ended())

    def _take(self, data: Data, frame: Frame) -> list[Delta]:
        inner = wire_text(data.data)
        if not inner or type(data.event) is not str:
            return self._event(data, frame)
        if is_done(inner):
            return self._done()
        inside = Frame(data.event, inner)  # as SDKs wrap it
        views, _, deltas = read(DECODER, inside)
        return deltas + [delta for view in views for delta in self._event(view, inside)]

    def _event(self, data: Data, frame: Frame) -> list[Delta]:
        kind = frame.event if frame.event.startswith("thread.") else name_of(data)
        if frame.event == "error" or (not kind and data.error):
            kind = "error"
        known = self.EVENTS.get(kind)
        if known is None:
            return [] if self._now is None else self._other(data, frame, kind)
        run = id_label(data.id if data.object == "thread.run" else data.run_id)
        if run is not None and run != self._run_id:  # the step of another run stays as it is
            self._now = self._now if self._run_id is None else None
            self._run_id = run
        return known(self, data)

    # Steps

    def _step_of(self, data: Data) -> tuple[Step, list[Delta]]:
        """Return the current step, a new one if it is not the last one, and the deltas that begin it."""
        last, key = self._now, id_label(data.id)
        if last is not None and key in (None, last.key):
            return last, []
        known = self._steps.get(key)
        self._now = self._steps[key] = known or Step(key)
        again = last is not None and last.ended
        return self._now, [TurnOpened(key) if known else TurnOpened(key, key, self._model, restart=again)]

    def _current(self, data: Data) -> tuple[Step, list[Delta]]:
        """Return the step that a message or the run belongs to: the open one, as neither names it."""
        return (self._now, []) if self._now is not None and not self._now.ended else self._step_of(data)

    def _step(self, data: Data) -> list[Delta]:
        """Return the deltas of a step's event, unless the step has ended and another step is open."""
        known = self._steps.get(id_label(data.id))
        if known is not None and known is not self._now and known.ended:
            return [Noted(0, "data_after_end")]
        step, deltas = self._step_of(data)
        for call in calls_in(data.delta.step_details if data.delta else None):
            deltas += step.piece(call)
        return deltas

    def _step_completed(self, data: Data) -> list[Delta]:
        listed = [call for call in calls_in(data.step_details) if text_label(call.type) in SERVER_TOOLS]
        known = self._steps.get(id_label(data.id))
        if known is None and not listed:  # of an earlier stream, whose calls have their results by now
            return [delta for call in calls_in(data.step_details) for delta in report.answered(call.id)]
        if known is not None and known.ended:
            return []
        step, deltas = self._step_of(data)
        deltas += step.close_codes()
        for call in listed:
            deltas += restated_code(call)
        return deltas + report.usage(data.usage) + self._ended(Finish(0, "stop", "completed"))

    def _ended(self, *finish: Finish) -> list[Delta]:
        step = self._now
        if step is None or step.ended:
            return []
        step.ended = True
        return [*finish, TurnEnded(step.key)]

    # Messages

    def _message_delta(self, data: Data) -> list[Delta]:
        step, deltas = self._current(data)
        texts = _texts(data.delta.content if data.delta else None)
        step.spoken = step.spoken or bool(texts)
        return deltas + texts

    def _message(self, data: Data) -> list[Delta]:
        step, deltas = self._current(data)
        if not step.spoken:
            deltas += _texts(data.content)
        step.spoken = True
        reason = data.incomplete_details and data.incomplete_details.reason
        known = turn_reason(reason)
        return deltas + report.finish(reason) if known and known[0] in CUT_REASONS else deltas

    # The run

    def _run(self, data: Data) -> list[Delta]:
        self._model = name_label(data.model) or self._model
        return []

    def _ending(self, data: Data) -> list[Delta]:
        """Return the deltas before the end of the run; its counts are the sum over its steps."""
        usage = report.usage(data.usage) if self._now is None else []
        return self._run(data) + self._current(data)[1] + usage

    def _asked(self, data: Data) -> list[Delta]:
        """Return the calls whose outputs the run asks for, each once: a repeated stream repeats the request."""
        action = data.required_action
        listed = calls_in(action.submit_tool_outputs if action else None)
        asked = [call for call in listed if id_label(call.id) not in self._asked_for]
        if listed and not asked:
            return self._ended(Finish(0, "tool_calls", "requires_action"))
        self._asked_for.update(id for call in asked if (id := id_label(call.id)) is not None)
        deltas = self._ending(data)
        if self._now is not None:
            deltas += self._now.close_codes() + self._now.asked(asked)
        return deltas + self._ended(Finish(0, "tool_calls", "requires_action"))

    def _run_ended(self, data: Data, finish: Finish) -> list[Delta]:
        over = self._now is not None and self._now.ended  # by its last step
        return [] if over else self._ending(data) + self._ended(finish)

    def _run_over(self, data: Data, outcome: str) -> list[Delta]:
        codes = self._now.close_codes() if self._now is not None and outcome == "completed" else []
        return codes + self._run_ended(data, finish_of(data, outcome))

    def _run_failed(self, data: Data) -> list[Delta]:
        deltas = self._ending(data) if self._now is None else []
        return deltas + report.error(data.last_error or "the run failed")

    def _taken_back(self, data: Data) -> list[Delta]:
        status = text_label(data.status) or "cancelled"
        reason: TurnReason = "error" if status == "failed" else "aborted"
        return self._run_ended(data, Finish(0, reason, status, drops=True))

    def _error(self, data: Data) -> list[Delta]:
        flat = {"code": data.code, "type": data.type, "message": data.message, "param": data.param}
        return report.error(data.error or {name: value for name, value in flat.items() if value})

    EVENTS: ClassVar[Events] = {
        "thread.run.step.delta": _step,
        "thread.message.delta": _message_delta,
        **dict.fromkeys(("thread.message.completed", "thread.message.incomplete"), _message),
        **dict.fromkeys(("thread.run.created", "thread.run.queued", "thread.run.in_progress"), _run),
        **dict.fromkeys(("thread.run.step.created", "thread.run.step.in_progress"), _step),
        "thread.run.step.completed": _step_completed,
        "thread.run.requires_action": _asked,
        "thread.run.completed": partial(_run_over, outcome="completed"),
        "thread.run.incomplete": partial(_run_over, outcome="incomplete"),
        "thread.run.failed": _run_failed,
        **dict.fromkeys(("thread.run.cancelled", "thread.run.expired"), _taken_back),
        **dict.fromkeys(
            [f"thread.run.step.{how}" for how in ("cancelled", "expired", "failed")], _taken_back
        ),
        "error": _error,
    }


def _texts(parts: list[Part] | None) -> list[Delta]:
    deltas: list[Delta] = []
    for part in parts or ():
        if part.text is not None:
            deltas += report.text(part.text.value)
        elif said := report.text(part.refusal):
            deltas += (TextRefused(0), *said)
    return deltas
