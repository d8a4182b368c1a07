"""The views of the events of an Amazon Bedrock agent, and the arguments of a call, made of its parameters."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.dialects.decode import NO_TEXT, UNREADABLE
from wholecall.dialects.translator import EventView

__all__ = [
    "DECODER",
    "ActionGroup",
    "Chunk",
    "Control",
    "Event",
    "Invocation",
    "Step",
    "Trace",
    "arguments_of",
]


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


def arguments_of(parameters: msgspec.Raw, body: msgspec.Raw) -> str | None:
    """Return the object of all parameters by their names, empty if there are none; None if they cannot be read.

    Any oddity in them loses the call, never one of its arguments.
    """
    try:
        found = [] if bytes(parameters) in _NOTHING else _PARAMETERS.decode(parameters)
        content = {} if bytes(body) in _NOTHING else _BODY.decode(body).content
    except UNREADABLE:
        return None
    for part in content.values():
        found += part.properties if isinstance(part, _Properties) else part
    said = [(bytes(one.name), bytes(one.value)) for one in found]
    if any(not name.startswith(b'"') for name, _ in said):
        return None
    members = b",".join(name + b":" + value for name, value in said)
    return f"{{{members.decode('utf-8', 'surrogatepass')}}}" if said else ""


class ActionGroup(msgspec.Struct, gc=False, rename="camel"):
    """A call of a function, or of an operation of an API."""

    action_group: Any = None
    function: Any = None
    api_path: Any = None
    http_method: Any = None
    verb: Any = None
    parameters: msgspec.Raw = NO_TEXT
    request_body: msgspec.Raw = NO_TEXT
    execution_type: Any = None
    action_invocation_type: Any = None
    agent_id: Any = None
    collaborator_name: Any = None


class Invocation(msgspec.Struct, gc=False, rename="camel"):
    """An invocation of the agent: one of these."""

    trace_id: Any = None
    action_group_invocation_input: Union[ActionGroup, None] = None
    knowledge_base_lookup_input: msgspec.Raw = NO_TEXT
    agent_collaborator_invocation_input: msgspec.Raw = NO_TEXT
    code_interpreter_invocation_input: msgspec.Raw = NO_TEXT
    function_invocation_input: Union[ActionGroup, None] = None
    api_invocation_input: Union[ActionGroup, None] = None


class _Rationale(msgspec.Struct, gc=False, rename="camel"):
    text: Any = None
    trace_id: Any = None


class _ModelInput(msgspec.Struct, gc=False, rename="camel"):
    foundation_model: Any = None


class _Metadata(msgspec.Struct, gc=False):
    usage: Any = None


class _ModelOutput(msgspec.Struct, gc=False):
    metadata: Union[_Metadata, None] = None


class _Observation(msgspec.Struct, gc=False):
    type: Any = None


class Step(msgspec.Struct, gc=False, rename="camel"):
    """A step of the agent, or of the router before it."""

    invocation_input: Union[Invocation, None] = None
    rationale: Union[_Rationale, None] = None
    model_invocation_input: Union[_ModelInput, None] = None
    model_invocation_output: Union[_ModelOutput, None] = None
    observation: Union[_Observation, None] = None


class _Failure(msgspec.Struct, gc=False, rename="camel"):
    failure_code: Any = None
    failure_reason: Any = None


class _Steps(msgspec.Struct, gc=False, rename="camel"):
    orchestration_trace: Union[Step, None] = None
    routing_classifier_trace: Union[Step, None] = None
    failure_trace: Union[_Failure, None] = None


class Trace(_Steps, gc=False, rename="camel"):
    """A trace with its session and callers, or the steps alone, where those are in the object around it."""

    session_id: Any = None
    caller_chain: Any = None
    trace: Union[_Steps, None] = None


class Chunk(msgspec.Struct, gc=False, rename={"coded": "bytes"}):
    """A piece of the answer."""

    coded: Any = None


class Control(msgspec.Struct, gc=False, rename="camel"):
    """The calls that the client is to execute."""

    invocation_id: Any = None
    invocation_inputs: Union[list[Invocation], None] = None


class Event(EventView, gc=False, rename="camel"):
    """An event: as a member of that name, as SDKs decode it, or its bare content, where the frame bears the name."""

    trace: Union[Trace, None] = None
    chunk: Union[Chunk, None] = None
    return_control: Union[Control, None] = None
    files: Any = None
    session_id: Any = None
    caller_chain: Any = None
    coded: Any = msgspec.field(name="bytes", default=None)
    invocation_id: Any = None
    invocation_inputs: Union[list[Invocation], None] = None


DECODER = msgspec.json.Decoder(Event)
