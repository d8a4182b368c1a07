"""Render abstract turns as an agent of Amazon Bedrock sends them, with its own calls or with those of its client.

Written from AWS's API reference of InvokeAgent; knows nothing of wholecall.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, whole
from tests.support.encode_bedrock import event

SESSION = "session-7c1f"
Event = tuple[str, JSON]


def stream(events: Iterable[Event]) -> bytes:
    """Return events as messages of an event stream."""
    return b"".join(event(name, payload) for name, payload in events)


def trace(steps: JSON, *, chain: int = 1, session: str = SESSION) -> Event:
    """Return a trace; a collaborator's has a longer chain of callers."""
    about = {"agentId": "AGENT1", "agentAliasId": "ALIAS1", "agentVersion": "3", "sessionId": session}
    callers = [{"agentAliasArn": f"arn:aws:bedrock:xx:1:agent-alias/{n}"} for n in range(chain)]
    return "trace", about | {"callerChain": callers, "trace": steps}


def step(**told: Any) -> JSON:
    """Return a step of the agent."""
    return {"orchestrationTrace": told}


def parameters(call: Call) -> list[JSON]:
    """Return the arguments of a call, each by its name; their values may be anything here."""
    given = json.loads(call.arguments or "{}")
    return [{"name": name, "type": "string", "value": value} for name, value in given.items()]


def invocation(trace_id: str, kind: str, **told: Any) -> JSON:
    """Return the step that invokes something."""
    return step(invocationInput={"invocationType": kind, "traceId": trace_id} | told)


def action(call: Call, execution: str = "LAMBDA") -> JSON:
    """Return the step that invokes a function of an action group."""
    told = {"actionGroupName": "tides", "executionType": execution, "function": call.name}
    return invocation(
        call.id, "ACTION_GROUP", actionGroupInvocationInput=told | {"parameters": parameters(call)}
    )


def function(call: Call, kind: str = "RESULT", **more: Any) -> JSON:
    """Return a function that the client is to execute."""
    told = {"actionGroup": "harbour", "function": call.name, "actionInvocationType": kind}
    return {"functionInvocationInput": told | {"parameters": parameters(call)} | more}


def api(path: str, method: str, given: list[JSON], body: list[JSON]) -> JSON:
    """Return an operation of an API that the client is to execute."""
    told = {"actionGroup": "harbour", "apiPath": path, "httpMethod": method, "parameters": given}
    content = {"content": {"application/json": {"properties": body}}}
    return {"apiInvocationInput": told | {"requestBody": content, "actionInvocationType": "RESULT"}}


def returned(id: str, *inputs: JSON) -> Event:
    """Return the agent's hand-over to its client."""
    return "returnControl", {"invocationId": id, "invocationInputs": list(inputs)}


def chunk(text: str, **more: Any) -> Event:
    """Return a piece of the answer."""
    return "chunk", {"bytes": base64.b64encode(text.encode()).decode()} | more


def _begun(turn: Turn) -> list[Event]:
    told: list[Event] = [trace(step(modelInvocationInput={"foundationModel": turn.model, "text": "{}"}))]
    if turn.reasoning:
        told.append(trace(step(rationale={"text": turn.reasoning, "traceId": "t-0"})))
    usage = {"usage": {"inputTokens": 64, "outputTokens": turn.tokens}}
    return [*told, trace(step(modelInvocationOutput={"metadata": usage, "traceId": "t-0"}))]


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn whose calls the agent executes."""
    told = [*_begun(turn), *(trace(action(call)) for call in turn.calls)]
    final = {"observation": {"type": "FINISH", "finalResponse": {"text": turn.text}, "traceId": "t-1"}}
    return stream(
        [*told, trace({"orchestrationTrace": final}), *(chunk(piece) for piece in pieces(turn.text))]
    )


def render_returning(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn whose calls the client executes, each in a separate event."""
    said = [*_begun(turn), *(chunk(piece) for piece in pieces(turn.text))]
    return stream([*said, *(returned(call.id, function(call)) for call in turn.calls)])
