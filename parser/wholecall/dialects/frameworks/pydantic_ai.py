"""The events of a run of Pydantic AI (`agent.run_stream_events()`), as servers send them by `TypeAdapter(AgentStreamEvent)`.

    {"event_kind": "part_start", "index", "part": {"part_kind": "text" | "thinking", "content"}}
    {"event_kind": "part_start", "index", "part": {"part_kind": "tool-call", "tool_call_id", "tool_name", "args"}}
    {"event_kind": "part_delta", "index", "delta": {"part_delta_kind": "text" | "thinking", "content_delta"}}
    {"event_kind": "part_delta", "index", "delta": {"part_delta_kind": "tool_call", "tool_call_id", "args_delta"}}
    {"event_kind": "part_end", "index", "part", "next_part_kind"}    {"event_kind": "final_result", …}
    {"event_kind": "function_tool_call" | "output_tool_call", "part", "args_valid"}
    {"event_kind": "function_tool_result" | "output_tool_result", "part": {"part_kind": "tool-return", "tool_call_id"}}
    {"event_kind": "deferred_tool_requests", "requests": {"calls": [part], "approvals": [part]}}
    {"event_kind": "agent_run_result", "result": {"output", "usage", "messages"}}    where the server sends it

The agent executes its calls itself, so a call with a result is a server's, and so is one that has none when the next
response of the model or the end of the run comes. Calls that the run defers are the client's (`calls`), or wait for an
approval (`approvals`); but a handler of the agent may still answer them, so they are the client's only once the run
ends. A part that begins again under its index and its call's id is the same part, as after a lost connection. A call is
whole in its `function_tool_call`, with or without pieces before it: `part_end` also ends what the model could not write
to its end. Parts are numbered anew in each response, which begins another step; older versions have no `part_end`, and
a `result` in place of the `part` of a result. Servers end the stream with the result of the run, with `[DONE]`, or
after the last part or the result of an output tool; after anything else an end is a cut.

Covers: the events of Pydantic AI's runs, as JSON (`TypeAdapter(AgentStreamEvent)`): calls that the agent executes,
    those that wait for an approval, and calls of external tools (these are the client's, once the run ends); output
    tools.
Calls: told apart by `tool_call_id`; each ends with its result, or when the run ends.
Source: pydantic/pydantic-ai, pydantic_ai_slim/pydantic_ai/messages.py (`AgentStreamEvent`), and runs of version 2.68
    (2026).
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal, Union

from wholecall import deltas
from wholecall.dialects import at, compiled, labels, report, say
from wholecall.types import Kind

_LOST: Final = deltas.WireFault("undecodable_frame", "a piece of a call whose start is not known", hole=True)
_INDEX, _KIND = at.index("index"), at.text("part.part_kind")
_ID, _NAME = at.id("part.tool_call_id"), at.name("part.tool_name")
_CALL = _ID, _NAME, at.json_text("part.args")
_ITEM = at.id("tool_call_id"), at.name("tool_name"), at.json_text("args")
_BUILTIN: Final = "builtin-tool-call"


_CALLED = (say.opened(), say.do("_answering"), say.own("_whole", *_CALL))
_RESULT = (say.stop_unless_open(), say.own("_answered", at.id("part.tool_call_id|result.tool_call_id")))


class PydanticAITranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "part_start": (
            say.opened(),
            say.own("_part", _INDEX, _KIND, _ID),
            say.by(
                _KIND,
                {
                    "text": (say.own("_text_began"), say.text("part.content")),
                    "thinking": (
                        say.own("_thought", _INDEX, at.value("part.content"), at.value("part.signature")),
                    ),
                    **dict.fromkeys(
                        ("tool-call", _BUILTIN),
                        (say.own("_begun", _ID, _NAME, _KIND, at.json_value("part.args")),),
                    ),
                    "builtin-tool-return": (say.own("_answered", _ID),),
                },
                ("file", "compaction", "speech"),
            ),
        ),
        "part_delta": (
            say.opened(),
            say.do("_going_on"),
            say.by(
                at.text("delta.part_delta_kind"),
                {
                    "text": (say.text("delta.content_delta"),),
                    "thinking": (
                        say.own(
                            "_thought",
                            *(_INDEX, at.value("delta.content_delta"), at.value("delta.signature_delta")),
                        ),
                    ),
                    "tool_call": (
                        say.own(
                            "_piece",
                            *(_INDEX, at.id("delta.tool_call_id"), at.value("delta.args_delta")),
                        ),
                    ),
                },
                ("speech",),
            ),
        ),
        "part_end": (
            say.stop_unless_open(),
            say.own("_ended", _KIND, at.text("next_part_kind"), *_CALL),
        ),
        **dict.fromkeys(("function_tool_call", "output_tool_call"), _CALLED),
        "function_tool_result": (*_RESULT, say.do("_answering")),
        "output_tool_result": (*_RESULT, say.do("_done_with")),
        "deferred_tool_requests": (
            say.opened(),
            say.do("_answering"),
            say.each("requests.calls", say.own("_ours", *_ITEM)),
            say.each("requests.approvals", say.own("_asks", *_ITEM)),
        ),
        "agent_run_result": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.own("_leaves", at.value("result.output")),
            say.usage("result.usage"),
            say.own("_over"),
            say.end(),
        ),
        "realtime_turn_complete": (say.stop_unless_open(), say.own("_over"), say.end()),
        "realtime_session_error": (
            say.own(report.failure, fatal=False, message=at.value("message"), code=at.value("code")),
        ),
    }
    KINDS = ("event_kind", "type")
    QUIET = frozenset(
        {
            *("final_result", "deferred_tool_results", "builtin_tool_call", "builtin_tool_result"),
            *("enqueued_messages", "tool_availability_delta", "capability_load_delta", "custom"),
            *("model_settings_delta", "capability", "realtime_response_interrupted"),
            *("realtime_input_speech_start", "realtime_input_speech_end", "realtime_session_reconnect"),
            *("realtime_output_speech_start", "realtime_output_speech_end"),
            "realtime_input_transcription_error",
        }
    )
    DONE_ENDS = True

    _parts: dict[Union[int, str, None], tuple[int, Union[str, None]]]
    _n_parts: int
    _calls: dict[Union[str, None], Literal["open", "client", "server"]]
    _answers: bool
    _complete: bool

    def _clear(self) -> None:
        self._parts = {}  # parts of this response by their index: their number in the run, and the call's id
        self._n_parts = 0
        self._calls = {}  # who executes the calls of this step, by their ids
        self._answers = False  # the model's response is over: its calls are executed
        self._complete = False  # nothing need follow

    def close(self) -> list[deltas.Delta]:
        """Report the end of a run that servers do not state, if nothing was to follow."""
        return deltas.by_transport(self._end()) if self._open and self._complete else []

    def _end(self) -> list[deltas.Delta]:
        return [*self._settled(), *super()._end()]

    def _over(self) -> list[deltas.Delta]:
        """Report why the run ended: it waits for the client, or has a result."""
        waits = "client" in self._calls.values()
        return [*self._settled(), deltas.Finish(0, "tool_calls" if waits else "stop", None)]

    def _settled(self) -> list[deltas.Delta]:
        """Report that calls that nobody deferred were the agent's."""
        calls = [id_ for id_, whose in self._calls.items() if whose == "open"]
        self._calls |= dict.fromkeys(calls, "server")
        return [deltas.CallSeen(0, id_, None, id_, None, "server") for id_ in calls]

    # Parts

    def _part(self, index: Union[int, str, None], kind: str | None, id_: str | None) -> list[deltas.Delta]:
        """Report another response of the model, if this part is the first of one."""
        told: list[deltas.Delta] = []
        self._complete = False
        known = self._parts.get(index)
        if self._answers or (known is not None and (id_ is None or known[1] != id_)):
            for deferred in [id_ for id_, whose in self._calls.items() if whose == "client"]:
                self._calls[deferred] = "open"  # a handler of the agent answered it
            told = [*self._settled(), deltas.StepBegan(0)]
            self._parts, self._calls, self._answers = {}, {}, False
        elif known is not None:
            self._calls.pop(id_, None)  # the same part again
        self._parts[index] = self._n_parts, id_ if kind in ("tool-call", _BUILTIN) else None
        self._n_parts += 1
        return told

    def _going_on(self) -> None:
        self._complete = False

    def _answering(self) -> None:
        self._answers, self._complete = True, False

    def _done_with(self) -> None:
        self._answers = self._complete = True

    def _text_began(self) -> list[deltas.Delta]:
        return [deltas.TextBegan(0)]

    def _thought(self, index: Union[int, str, None], text: object, signature: object) -> list[deltas.Delta]:
        number, _ = self._parts.get(index, (self._n_parts, None))
        return report.thought(text, number, signature=signature)

    def _begun(
        self, id_: str | None, name: str | None, kind: str | None, said: tuple[str, bool]
    ) -> list[deltas.Delta]:
        """Report the start of a call; its id is its slot."""
        text, is_whole = said
        if id_ in self._calls:
            return [deltas.CallRefused(0, id_, None, "ambiguous", "one id came for two parts")]
        self._calls[id_] = "open"
        whose: Kind = "server" if kind == _BUILTIN else "function"
        told = report.call_start(id_, id_, name, text if is_whole else "", whose)
        return told if is_whole else [*told, *report.piece(id_, text)]

    def _piece(self, index: Union[int, str, None], id_: str | None, text: object) -> list[deltas.Delta]:
        """Report a piece of a call's text; the end of the part repeats a whole value."""
        slot = self._parts.get(index, (0, None))[1] if id_ is None else id_
        if slot is None:
            return [_LOST]
        return report.piece(slot, text) if isinstance(text, str) else []

    def _ended(
        self,
        kind: str | None,
        next_kind: str | None,
        id_: str | None,
        name: str | None,
        text: str,
    ) -> list[deltas.Delta]:
        """Report the end of a call's part, which waits to be executed; or that a text may be the last of the run."""
        self._complete = kind == "text" and next_kind is None
        if kind not in ("tool-call", _BUILTIN):
            return []
        return self._whole(id_, name, text)

    def _whole(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report all of a call, which waits for its result or for the end of the run."""
        self._calls.setdefault(id_, "open")
        *told, _ = report.whole_call(id_, id_, name, text)
        return [*told, deltas.CallClosed(0, id_, None, waits=True)]

    # Answers

    def _answered(self, id_: str | None) -> list[deltas.Delta]:
        """Report the result of a call: the agent executed it."""
        if id_ not in self._calls:
            return report.answered(id_)
        self._calls[id_] = "server"
        return [deltas.CallSeen(0, id_, None, id_, None, "server"), *report.closed(id_)]

    def _listed(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call as a list of the run has it, which says no more than its id of some."""
        return [] if id_ in self._calls and not text else self._whole(id_, name, text)

    def _ours(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call that the client is to execute, unless a handler of the agent does."""
        told = self._listed(id_, name, text)
        if self._calls[id_] == "open":
            self._calls[id_] = "client"
        return told

    def _asks(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call that waits for an approval; the agent will execute it."""
        told = self._listed(id_, name, text)
        if self._calls[id_] == "server":
            return []
        self._calls[id_] = "server"
        seen = deltas.CallSeen(0, id_, None, id_, name, "server", flags=("needs_approval",))
        return [*told, seen, *report.closed(id_)]

    def _leaves(self, output: object) -> list[deltas.Delta]:
        """Report which known calls the run leaves to its client, if that is its result."""
        told: list[deltas.Delta] = []
        for list_, report_of in (("calls", self._ours), ("approvals", self._asks)):
            parts = output.get(list_) if isinstance(output, dict) else None
            for part in parts if isinstance(parts, list) else []:
                id_ = labels.id_label(part.get("tool_call_id")) if isinstance(part, dict) else None
                told += report_of(id_, None, "") if id_ in self._calls else []
        return told
