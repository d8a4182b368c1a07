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

Covers: Agents for Amazon Bedrock, InvokeAgent and InvokeInlineAgent: calls that the agent invokes itself, from its
    traces; calls that it returns to the client (`returnControl`), with the data for the answer in `extra`; parameters
    are texts on this wire.
Calls: told apart by order; each ends with its own event.
Source: AWS, "Agents for Amazon Bedrock Runtime API Reference", InvokeAgent, InvocationInputMember and Trace; user
guide, "Return control to the agent developer" (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import at, decode, labels, report, say
from wholecall.dialects.amazon.events import EventStreamTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag, Kind, TurnReason

_CONFIRMED: Final = frozenset({"USER_CONFIRMATION", "USER_CONFIRMATION_AND_RESULT"})


def _finished(reason: TurnReason, word: str) -> list[deltas.Delta]:
    return [deltas.Finish(0, reason, word)]


def _observed(callers: object) -> list[deltas.Delta]:
    """Report the end of the turn, unless it is only that of a collaborator, which others called."""
    return _finished("stop", "FINISH") if len(decode.listed(callers)) < 2 else []


# The parts of rows: the calls, and the steps of the agent.
_ACTION = (
    at.name("function|apiPath"),
    at.value("actionInvocationType"),
    *(at.raw(path) for path in ("parameters", "requestBody")),
    *(at.Value(path) for path in ("actionGroup", "httpMethod|verb", "agentId", "collaboratorName")),
)
_EXECUTED = say.own("_action", at.id("../traceId"), "server", None, *_ACTION)
_OTHERS = tuple(
    say.own("_invoked", at.id("traceId"), f"{kind}Input", at.json_text(f"{kind}Input"))
    for kind in ("knowledgeBaseLookup", "agentCollaboratorInvocation", "codeInterpreterInvocation")
)
_INVOKES = (
    say.given(
        "actionGroupInvocationInput",
        # A call that is returned is also an event, which reports it.
        say.when(at.value("executionType"), ("RETURN_CONTROL",), otherwise=(_EXECUTED,)),
    ),
    say.when(at.value("actionGroupInvocationInput"), (None,), *_OTHERS),
)
_INVOCATION = at.id("/returnControl.invocationId|/invocationId")
_INPUTS = "/returnControl.invocationInputs|/invocationInputs"
_INPUT = "functionInvocationInput|apiInvocationInput"
_RETURNED = say.own("_returned", _INVOCATION, at.value(_INPUTS), *_ACTION)
_SESSION = at.id("/trace.sessionId|/sessionId")
_MODEL = at.name("orchestrationTrace.modelInvocationInput.foundationModel")
_FAILED = say.own(
    report.failure, fatal=False, code=at.value("failureCode"), message=at.value("failureReason")
)
_THOUGHT = say.thought("rationale.text", at.id("rationale.traceId"))
_USAGE = say.usage("modelInvocationOutput.metadata.usage")
_CALLERS = at.value("/trace.callerChain|/callerChain")
_OBSERVED = say.when(at.value("observation.type"), ("FINISH",), say.own(_observed, _CALLERS))
_TRACE = (
    say.own("_traced", _SESSION, _MODEL),
    say.given("failureTrace", _FAILED),
    say.given("orchestrationTrace", _THOUGHT, _USAGE, say.given("invocationInput", *_INVOKES), _OBSERVED),
    say.given("routingClassifierTrace", _USAGE, _OBSERVED),
)
_BARE, _SESSIONED = (say.given("trace", *_TRACE),), (say.given("trace.trace", *_TRACE),)
_CHUNK = (say.own("_chunk", at.value("chunk.bytes|bytes")),)
_CONTROL = (
    say.opened(),
    say.each(
        _INPUTS, say.given(_INPUT, _RETURNED), say.when(at.value(_INPUT), (None,), say.own(report.unknown))
    ),
    say.own(_finished, "tool_calls", "returnControl"),
)


class BedrockAgentsTranslator(EventStreamTranslator):
    """Events of one invocation to deltas: each is a member of its name, as SDKs decode it, or the content of one."""

    ROWS: ClassVar[say.Rows] = {
        "trace": (say.when(at.value("trace.trace"), (None,), *_BARE, otherwise=_SESSIONED),),
        "chunk": _CHUNK,
        "bytes": _CHUNK,
        "returnControl": _CONTROL,
        "invocationInputs": _CONTROL,
    }
    BODIES: ClassVar[say.Rows] = {"files": ()}
    QUIET = frozenset({"files", "initial-response"})

    _n_calls: int

    def _clear(self) -> None:
        self._n_calls = 0

    def _kind(self, view: Any, frame: Frame, /) -> str:
        """Return the member that names the event; the name of a frame without any tells only that it is quiet."""
        for name in self.ROWS:
            if getattr(view, name) is not None:
                return name
        return "" if frame.event in self.ROWS else super()._kind(view, frame)

    def _traced(self, session: str | None, model: str | None) -> list[deltas.Delta]:
        """Begin the answer with the first trace; collaborators have sessions of their own."""
        return self._opened(None if self._open else session, model)

    def _chunk(self, coded: object) -> list[deltas.Delta]:
        text = decode.opened_chunk(coded) if type(coded) is str else None
        if type(text) is str:
            return self._opened() + report.text(text)
        return [deltas.WireFault("invalid_utf8", "a piece of the answer is no text")]

    def _invoked(self, id_: str | None, name: str, text: str) -> list[deltas.Delta]:
        """Report an invocation that is no action, if it is there: its kind is its name."""
        if not text:
            return []
        self._n_calls += 1
        return report.whole_call(self._n_calls, id_, name, text, "server")

    def _returned(
        self, of: str | None, inputs: list[Any], name: str | None, asked: object, *action: Any
    ) -> list[deltas.Delta]:
        """Report a call for the client, whose answer names the invocation: the call's id, if it is alone in it."""
        kind: Kind = "server" if asked == "USER_CONFIRMATION" else "function"
        return self._action(of if len(inputs) == 1 else None, kind, of, name, asked, *action)

    def _action(
        self,
        id_: str | None,
        kind: Kind,
        of: str | None,
        name: str | None,
        asked: object,
        parameters: msgspec.Raw,
        body: msgspec.Raw,
        group: object,
        verb: object,
        agent: object,
        collaborator: object,
    ) -> list[deltas.Delta]:
        """Report a call, whole or not at all; `of` is the invocation that the client's answer names."""
        self._n_calls += 1
        slot, text = self._n_calls, _arguments(parameters, body)
        flags: tuple[Flag, ...] = ("needs_approval",) if labels.text_label(asked) in _CONFIRMED else ()
        extra = report.extra(
            invocationId=of, actionGroup=group, httpMethod=verb, agentId=agent, collaboratorName=collaborator
        )
        seen = deltas.CallSeen(0, slot, None, id_, name, kind, flags=flags, extra=extra)
        if text is None:
            raw = decode.wire_text(parameters) + decode.wire_text(body)
            return [
                seen,
                deltas.CallRefused(0, slot, None, "unparseable", "its parameters cannot be read", raw),
            ]
        whole = [deltas.CallWhole(0, slot, None, id_, None, text, deltas.ITEM_DONE, kind)] if text else []
        return [seen, *whole, *report.closed(slot)]


# The arguments of a call, made of its parameters.


class _Parameter(msgspec.Struct, gc=False):
    name: msgspec.Raw
    value: msgspec.Raw


class _Properties(msgspec.Struct, gc=False):
    properties: list[_Parameter]


class _Body(msgspec.Struct, gc=False):
    content: dict[str, Union[_Properties, list[_Parameter]]]


_PARAMETERS = msgspec.json.Decoder(list[_Parameter])
_BODY = msgspec.json.Decoder(_Body)
_NOTHING = (b"", b"null")


def _arguments(parameters: msgspec.Raw, body: msgspec.Raw) -> str | None:
    """Return the object of all parameters by their names, empty if there are none; None if they cannot be read.

    Any oddity in them loses the call, never one of its arguments.
    """
    try:
        found = [] if bytes(parameters) in _NOTHING else _PARAMETERS.decode(parameters)
        content = {} if bytes(body) in _NOTHING else _BODY.decode(body).content
    except decode.UNREADABLE:
        return None
    for part in content.values():
        found += part.properties if isinstance(part, _Properties) else part
    said = [(bytes(one.name), bytes(one.value)) for one in found]
    if any(not name.startswith(b'"') for name, _ in said):
        return None
    members = b",".join(name + b":" + value for name, value in said)
    return f"{{{members.decode('utf-8', 'surrogatepass')}}}" if said else ""
