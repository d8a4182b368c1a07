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

Covers: OpenAI Assistants, also on Azure: each step is a turn; calls once the run asks for their outputs, code that
    OpenAI runs.
Calls: told apart by step and index; each ends with the run that asks for outputs.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, reasons, report, say
from wholecall.framing.frame import Frame
from wholecall.types import CUT_REASONS, TurnReason

_QUIET = frozenset(
    {"thread.created", "thread.message.created", "thread.message.in_progress", "thread.run.cancelling"}
)
_ERROR = ("code", "type", "message", "param")  # the members of an error without an envelope
_SERVER_TOOLS = ("code_interpreter", "file_search", "retrieval")  # OpenAI runs calls of these types


class Step:
    """The state of one step.

    Attributes:
        key: the step's id.
        ended, spoken: whether its turn was ended, and whether text was reported.
    """

    key: str | None
    ended: bool
    spoken: bool
    _codes: list[deltas.Index | None]
    _named: set[deltas.Index | None]

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.ended = self.spoken = False
        self._codes = []  # the slots of code that is not whole yet
        self._named = set()  # the slots of OpenAI's tools, whose name is known by their type

    def text(self, value: object, refusal: object) -> list[deltas.Delta]:
        """Report a piece of a message."""
        texts = _part(value, refusal)
        self.spoken = self.spoken or bool(texts)
        return texts

    def unsaid(self, value: object, refusal: object) -> list[deltas.Delta]:
        """Report a part of a whole message, unless the message came in pieces."""
        return [] if self.spoken else _part(value, refusal)

    def speak(self) -> None:
        """Note that text was reported, or is not to come."""
        self.spoken = True

    def tool(
        self, index: deltas.Index | None, id_: str | None, tool: str, code: object
    ) -> list[deltas.Delta]:
        """Report a piece of a call that OpenAI runs: the type is its name."""
        known = id_ is None and index in self._named
        self._named.add(index)
        seen: list[deltas.Delta] = [] if known else [deltas.CallSeen(0, index, None, id_, tool, "server")]
        if type(code) is not str or not code:
            return seen
        begins = index not in self._codes
        if begins:
            self._codes.append(index)
        return [*seen, deltas.Slot(0, index, None, ('{"input":"' if begins else "") + _escaped(code))]

    def close_codes(self) -> list[deltas.Delta]:
        """Report that all code that came is whole."""
        closed: list[deltas.Delta] = [deltas.Slot(0, index, None, '"}') for index in self._codes]
        self._codes.clear()
        return closed


def _part(value: object, refusal: object) -> list[deltas.Delta]:
    refused = [] if value else report.text(refusal)
    return [deltas.TextRefused(0), *refused] if refused else report.text(value)


def _restated(id_: str | None, tool: str, code: object) -> list[deltas.Delta]:
    """Report a completed step's content about a call that OpenAI ran."""
    if type(code) is not str or not code:
        return [deltas.CallSeen(0, None, None, id_, tool, "server")]
    return [
        deltas.CallWhole(
            0, None, None, id_, tool, '{"input":"' + _escaped(code) + '"}', deltas.ITEM_DONE, "server"
        )
    ]


def _escaped(code: str) -> str:
    """Return the code as the inside of a JSON string; pieces that are joined are the whole."""
    return json.dumps(code, ensure_ascii=False)[1:-1]


def _cut(raw: object) -> list[deltas.Delta]:
    """Report that a message was cut; other reasons are the run's to report."""
    known = reasons.turn_reason(raw)
    return report.finish(raw) if known and known[0] in CUT_REASONS else []


def _error(error: object, *members: object) -> list[deltas.Delta]:
    named = zip(_ERROR, members, strict=True)
    return report.error(error or {name: value for name, value in named if value})


def _whole(calls: list[tuple[str | None, str | None, str]]) -> list[deltas.Delta]:
    """Report the calls that the run waits for, given their ids, names and texts: these are whole."""
    told: list[deltas.Delta] = [
        deltas.CallWhole(0, None, None, id_, name, text, deltas.HYDRATION)
        if text
        else deltas.CallSeen(0, None, None, id_, name)
        for id_, name, text in calls
    ]
    closed = [deltas.CallClosed(0, None, id_) for id_, _, _ in calls if id_ is not None]
    return [*report.restated_together(told), *closed]


def _server_tool(kind: object) -> str | None:
    return kind if isinstance(kind, str) and kind in _SERVER_TOOLS else None


# The parts of rows.
_RUN = say.own("_in_run", at.value("object"), at.id("id"), at.id("run_id"))
_CODE = at.id("id"), at.value("type"), at.value("code_interpreter.input")
_FUNCTION = say.own(report.seen, at.index("index"), at.id("id"), at.name("function.name"))
_CALL = say.when(
    at.text("type"),
    _SERVER_TOOLS,
    say.own("_now.tool", at.index("index"), *_CODE),
    otherwise=(_FUNCTION, say.piece(at.index("index"), "function.arguments")),
)
_STEP = (
    _RUN,
    say.own("_step", at.id("id")),
    say.stop_unless_open(),
    say.each("delta.step_details.tool_calls", _CALL),
)
_LISTED = "step_details.tool_calls"
_STEP_DONE = (
    _RUN,
    say.own("_step_done", at.id("id"), at.Value(f"{_LISTED}[].type", _server_tool)),
    say.each(_LISTED, say.own("_answered", at.id("/id"), at.id("id"))),
    say.stop_unless_open(),
    say.each(_LISTED, say.when(at.text("type"), _SERVER_TOOLS, say.own(_restated, *_CODE))),
    say.usage("usage"),
    say.own("_finish", "stop", "completed"),
)
_CURRENT = say.own("_current", at.id("id"))
_TEXT = at.value("text.value"), at.value("refusal")
_REASON = at.value("incomplete_details.reason")
_MESSAGE = (
    _RUN,
    _CURRENT,
    say.each("content", say.own("_now.unsaid", *_TEXT)),
    say.do("_now.speak"),
    say.own(_cut, _REASON),
)
_BEGUN = (_RUN, say.own("_begun", at.name("model")))
_OF_RUN = at.name("model"), at.id("id"), at.value("usage")
_ENDING = say.own("_ending", *_OF_RUN)
_TAKEN_BACK = (_RUN, _ENDING, say.own("_taken_back", at.text("status")))
_ASKED = say.own("_ask", at.id("id"), at.name("function.name"), at.json_text("function.arguments"))


class AssistantsTranslator(compiled.TableTranslator):
    """Frames of one stream of a run to deltas; `_open` is whether the step takes the event at hand."""

    ROWS: ClassVar[say.Rows] = {
        "thread.run.created": _BEGUN,
        "thread.run.queued": _BEGUN,
        "thread.run.in_progress": _BEGUN,
        "thread.run.step.created": _STEP,
        "thread.run.step.in_progress": _STEP,
        "thread.run.step.delta": _STEP,
        "thread.run.step.completed": _STEP_DONE,
        "thread.run.step.cancelled": _TAKEN_BACK,
        "thread.run.step.expired": _TAKEN_BACK,
        "thread.run.step.failed": _TAKEN_BACK,
        "thread.message.delta": (_RUN, _CURRENT, say.each("delta.content", say.own("_now.text", *_TEXT))),
        "thread.message.completed": _MESSAGE,
        "thread.message.incomplete": _MESSAGE,
        "thread.run.requires_action": (
            _RUN,
            say.each("required_action.submit_tool_outputs.tool_calls", _ASKED),
            say.own("_asked", *_OF_RUN),
        ),
        "thread.run.completed": (
            _RUN,
            say.own("_close_codes"),
            _ENDING,
            say.own("_finish", "stop", "completed"),
        ),
        "thread.run.incomplete": (_RUN, _ENDING, say.own("_run_cut", _REASON)),
        "thread.run.failed": (_RUN, say.own("_failed", at.value("last_error"), *_OF_RUN)),
        "thread.run.cancelled": _TAKEN_BACK,
        "thread.run.expired": _TAKEN_BACK,
        "error": (_RUN, say.own(_error, at.value("error"), *map(at.value, _ERROR))),
    }
    BODIES: ClassVar[say.Rows] = {"data": (say.own("_wrapped", at.value("event"), at.json_text("data")),)}
    KINDS = ("object",)
    QUIET = _QUIET

    _model: str | None
    _now: Step | None
    _steps: dict[str | None, Step]
    _run_id: str | None
    _listed: list[tuple[str | None, str | None, str]]
    _asked_for: set[str]

    def __init__(self) -> None:
        super().__init__()
        self._model = self._now = self._run_id = None
        self._steps = {}
        self._listed = []  # the calls whose outputs the event at hand asks for: id, name and text
        self._asked_for = set()  # ids of the calls whose outputs the run has asked for

    def _done(self) -> list[deltas.Delta]:
        return deltas.by_transport(self._ended())

    # Events

    def _take(self, view: Any, frame: Frame) -> list[deltas.Delta]:
        wraps = type(view.event) is str and decode.wire_text(view.data)
        return self.bodies["data"](self, view) if wraps else self._event(view, frame)

    def _wrapped(self, name: str, text: str) -> list[deltas.Delta]:
        """Return the deltas of an event that an SDK put into an object, next to its name."""
        if decode.is_done(text):
            return self._done()
        inside = Frame(name, text)
        views, _, told = decode.read(self.decoder, inside)
        return told + [delta for view in views for delta in self._event(view, inside)]

    def _event(self, view: Any, frame: Frame) -> list[deltas.Delta]:
        kind = self._kind(view, frame)
        known = self.EVENTS.get(kind)
        if known is not None:
            return known(self, view)
        return [] if self._now is None else self._other(view, frame, kind)

    def _kind(self, view: Any, frame: Frame) -> str:
        """Return the name of the event, or the name that its data implies: deltas by their type, states by status."""
        if frame.event == "error" or frame.event.startswith("thread."):
            return frame.event
        if type(view.object) is str and view.object.startswith("thread."):
            return f"{view.object}.{view.status}" if type(view.status) is str else view.object
        return "error" if view.error else ""

    def _is_body(self, _view: Any, _kind: str) -> bool:
        return False

    # Steps

    def _in_run(self, kind: object, id_: str | None, run_id: str | None) -> list[deltas.Delta]:
        """Note which run an event is about: the step of another run stays as it is."""
        run = id_ if kind == "thread.run" else run_id
        if run is not None and run != self._run_id:
            self._now = self._now if self._run_id is None else None
            self._run_id = run
        return []

    def _opened_step(self, id_: str | None) -> list[deltas.Delta]:
        """Begin a step, or return to it, unless it is the current one."""
        last = self._now
        if last is not None and id_ in (None, last.key):
            return []
        known = self._steps.get(id_)
        self._now = self._steps[id_] = known or Step(id_)
        again = last is not None and last.ended
        return [deltas.TurnOpened(id_) if known else deltas.TurnOpened(id_, id_, self._model, restart=again)]

    def _current(self, id_: str | None) -> list[deltas.Delta]:
        """Begin a step for a message or the run, unless one is open: neither names the step that it belongs to."""
        return [] if self._now is not None and not self._now.ended else self._opened_step(id_)

    def _step(self, id_: str | None) -> list[deltas.Delta]:
        """Turn to the step of an event, unless the step has ended and another step is open."""
        known = self._steps.get(id_)
        self._open = known is None or known is self._now or not known.ended
        return self._opened_step(id_) if self._open else [deltas.Noted(0, "data_after_end")]

    def _step_done(self, id_: str | None, tool: str | None) -> list[deltas.Delta]:
        """Turn to a step that is over, unless it ended before, or is one of an earlier stream that used no `tool`."""
        known = self._steps.get(id_)
        self._open = tool is not None if known is None else not known.ended
        return self._opened_step(id_) + self._close_codes() if self._open else []

    def _answered(self, step: str | None, id_: str | None) -> list[deltas.Delta]:
        """Report that a call of an earlier stream has its result by now."""
        return [] if self._open or step in self._steps else report.answered(id_)

    def _close_codes(self) -> list[deltas.Delta]:
        return [] if self._now is None else self._now.close_codes()

    def _finish(self, reason: TurnReason, said: str, *, drops: bool = False) -> list[deltas.Delta]:
        return self._ended(deltas.Finish(0, reason, said, drops=drops))

    def _ended(self, *finish: deltas.Finish) -> list[deltas.Delta]:
        step = self._now
        if step is None or step.ended:
            return []
        step.ended = True
        return [*finish, deltas.TurnEnded(step.key)]

    # The run

    def _begun(self, model: str | None) -> list[deltas.Delta]:
        self._model = model or self._model
        return []

    def _ending(self, model: str | None, id_: str | None, counts: object) -> list[deltas.Delta]:
        """Return the deltas before the end of the run, unless it is over by its last step."""
        over = self._now is not None and self._now.ended
        return [] if over else self._closing(model, id_, counts)

    def _closing(self, model: str | None, id_: str | None, counts: object) -> list[deltas.Delta]:
        """Return the deltas before the end of the run; its counts are the sum over its steps."""
        usage = report.usage(counts) if self._now is None else []
        return self._begun(model) + self._current(id_) + usage

    def _ask(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        self._listed.append((id_, name, text))
        return []

    def _asked(self, model: str | None, id_: str | None, counts: object) -> list[deltas.Delta]:
        """Return the calls whose outputs the run asks for, each once: a repeated stream repeats the request."""
        listed, self._listed = self._listed, []
        asked = [call for call in listed if call[0] not in self._asked_for]
        told: list[deltas.Delta] = []
        if asked or not listed:
            self._asked_for.update(call for call, _, _ in asked if call is not None)
            told = self._closing(model, id_, counts) + self._close_codes() + _whole(asked)
        return told + self._finish("tool_calls", "requires_action")

    def _run_cut(self, raw: object) -> list[deltas.Delta]:
        reason, said = reasons.turn_reason(raw) or ("length", "incomplete")
        return self._finish(reason if reason in CUT_REASONS else "length", said)

    def _failed(
        self, error: object, model: str | None, id_: str | None, counts: object
    ) -> list[deltas.Delta]:
        told = self._closing(model, id_, counts) if self._now is None else []
        return told + report.error(error or "the run failed")

    def _taken_back(self, status: str | None) -> list[deltas.Delta]:
        return self._finish("error" if status == "failed" else "aborted", status or "cancelled", drops=True)
