"""Agents for Amazon Bedrock (`InvokeAgent`, `InvokeInlineAgent`): an Amazon event stream.

    event trace          {"sessionId", "callerChain", "trace": {"orchestrationTrace": {one of
        modelInvocationInput, modelInvocationOutput{metadata{usage}}, rationale{text}, observation{type},
        invocationInput{traceId, actionGroupInvocationInput{function | apiPath, parameters[{name, value}],
            executionType} | knowledgeBaseLookupInput | agentCollaboratorInvocationInput | codeInterpreterInvocationInput}
    }}}
    event chunk          {"bytes": "<base64 of a piece of the answer>", "attribution"?}
    event returnControl  {"invocationId", "invocationInputs": [{functionInvocationInput{actionGroup, function,
        parameters, actionInvocationType} | apiInvocationInput{…, apiPath, httpMethod, requestBody}}]}
    …Exception message

The agent's own invocations are in its traces, where these are asked for: each invocation is a server's call, under the
id of its trace. A function or an operation of an API is the call's name, and its arguments are made of the parameters,
whose values are texts; any other invocation has only its kind as its name. The calls for the client come as
`returnControl`: several calls share the invocation's id, so only a single call has it as its own id, and all have it in
`extra` for the answer. Where only a confirmation is asked for, the agent executes the call afterwards.

An event stream has no end mark: the reason of the turn is the agent's last observation, or the return of control.
Collaborators report their steps in the same stream, and end nothing. A router's decision is not a call.

Source: AWS, "Agents for Amazon Bedrock Runtime API Reference", InvokeAgent, InvocationInputMember and Trace; user
guide, "Return control to the agent developer" (2026).
"""

from __future__ import annotations

from typing import Final

from wholecall.deltas import ITEM_DONE, CallRefused, CallSeen, CallWhole, Delta, Finish, WireFault
from wholecall.dialects import report
from wholecall.dialects.amazon.agents_views import (
    DECODER,
    ActionGroup,
    Chunk,
    Control,
    Event,
    Invocation,
    Step,
    Trace,
    arguments_of,
)
from wholecall.dialects.amazon.errors import error_of, exception_in
from wholecall.dialects.decode import listed, member, plain, wire_text
from wholecall.dialects.detect import opened_chunk
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.translator import TurnTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag, Kind

__all__ = ["BedrockAgentsTranslator"]

# The agent's invocations other than its action groups, under the name that the kind of the invocation has.
_OTHERS: Final = {
    "knowledge_base_lookup_input": "knowledgeBaseLookupInput",
    "agent_collaborator_invocation_input": "agentCollaboratorInvocationInput",
    "code_interpreter_invocation_input": "codeInterpreterInvocationInput",
}
_CONFIRMED: Final = frozenset({"USER_CONFIRMATION", "USER_CONFIRMATION_AND_RESULT"})


class BedrockAgentsTranslator(TurnTranslator):
    """Events of one invocation to deltas."""

    decoder = DECODER
    QUIET = frozenset({"files", "initial-response"})

    _n_calls: int

    def _clear(self) -> None:
        self._n_calls = 0

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one event."""
        return [error_of(frame)] if frame.event == "error" else super().translate(frame)

    def _take(self, event: Event, frame: Frame, /) -> list[Delta]:
        if event.trace is not None:
            bare = event.trace.trace is None
            return self._trace(event if bare else event.trace, event.trace)
        if event.chunk is not None or event.coded is not None:
            return self._chunk(event.chunk or Chunk(event.coded))
        if event.return_control is not None or event.invocation_inputs is not None:
            told = event.return_control or Control(event.invocation_id, event.invocation_inputs)
            return self._return_control(told)
        return self._other(event, frame, frame.event)

    def _other(self, event: Event, frame: Frame, kind: str, /) -> list[Delta]:
        payload = plain(frame.data)
        error = exception_in(payload) or member(payload, "error")
        quiet = event.files is not None or event.type == "ping"
        return report.error(error) if error else [] if quiet else super()._other(event, frame, kind)

    def _chunk(self, chunk: Chunk) -> list[Delta]:
        text = opened_chunk(chunk.coded) if type(chunk.coded) is str else None
        if type(text) is str:
            return self._opened() + report.text(text)
        return [WireFault("invalid_utf8", "a piece of the answer is no text")]

    # Traces

    def _trace(self, about: Event | Trace, trace: Trace) -> list[Delta]:
        steps = trace.trace or trace
        step, routing = steps.orchestration_trace or Step(), steps.routing_classifier_trace or Step()
        asked = step.model_invocation_input
        session = (
            None if self._open else id_label(about.session_id)
        )  # collaborators have sessions of their own
        deltas = self._opened(session, asked and asked.foundation_model)
        failed = steps.failure_trace
        if failed is not None:
            deltas += report.failure(fatal=False, code=failed.failure_code, message=failed.failure_reason)
        if step.rationale is not None:
            deltas += report.thought(step.rationale.text, id_label(step.rationale.trace_id))
        answered = (step.model_invocation_output or routing.model_invocation_output) or None
        if answered is not None and answered.metadata is not None:
            deltas += report.usage(answered.metadata.usage)
        if step.invocation_input is not None:
            deltas += self._invokes(step.invocation_input)
        seen = step.observation or routing.observation
        ends = seen is not None and seen.type == "FINISH" and len(listed(about.caller_chain)) < 2
        return [*deltas, Finish(0, "stop", "FINISH")] if ends else deltas

    def _invokes(self, invocation: Invocation) -> list[Delta]:
        """Report a call that the agent executes; one that it hands to the client comes as such."""
        id_, action = id_label(invocation.trace_id), invocation.action_group_invocation_input
        if action is not None:
            returned = action.execution_type == "RETURN_CONTROL"
            return [] if returned else self._action(id_, action, "server")
        deltas: list[Delta] = []
        for field, name in _OTHERS.items():
            if text := wire_text(getattr(invocation, field)):
                self._n_calls += 1
                deltas += report.whole_call(self._n_calls, id_, name, text, "server")
        return deltas

    # The client's calls

    def _return_control(self, control: Control) -> list[Delta]:
        deltas, inputs = self._opened(), control.invocation_inputs or []
        invocation = id_label(control.invocation_id)
        for one in inputs:
            action = one.function_invocation_input or one.api_invocation_input
            if action is None:
                deltas += report.unknown()
                continue
            kind: Kind = "server" if action.action_invocation_type == "USER_CONFIRMATION" else "function"
            deltas += self._action(invocation if len(inputs) == 1 else None, action, kind, invocation)
        return [*deltas, Finish(0, "tool_calls", "returnControl")]

    def _action(self, id_: str | None, action: ActionGroup, kind: Kind, of: str | None = None) -> list[Delta]:
        """Report a call, whole or not at all; `of` is the invocation that the client's answer names."""
        self._n_calls += 1
        name = name_label(action.function) or name_label(action.api_path)
        text = arguments_of(action.parameters, action.request_body)
        asks = text_label(action.action_invocation_type) in _CONFIRMED
        flags: tuple[Flag, ...] = ("needs_approval",) if asks else ()
        extra = report.extra(
            invocationId=of,
            actionGroup=action.action_group,
            httpMethod=action.http_method or action.verb,
            agentId=action.agent_id,
            collaboratorName=action.collaborator_name,
        )
        slot = self._n_calls
        seen = CallSeen(0, slot, None, id_, name, kind, flags=flags, extra=extra)
        if text is None:
            raw = wire_text(action.parameters) + wire_text(action.request_body)
            return [seen, CallRefused(0, slot, None, "unparseable", "its parameters cannot be read", raw)]
        whole = [CallWhole(0, slot, None, id_, None, text, ITEM_DONE, kind)] if text else []
        return [seen, *whole, *report.closed(slot)]
