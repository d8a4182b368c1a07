"""The answer to a call: the message, item or part of each dialect that holds a tool's result.

Theory of operation. One row per dialect describes the form of an answer. A tool returns text or a value: requests that
take text get the value's JSON, those that take objects get the value. The failure of a tool is stated in a separate
member where the dialect has one, otherwise only in the text.

Sources: the request references of the providers named below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from wholecall.discreet import compact, discreet_repr
from wholecall.errors import UnknownDialect, choices, meant

if TYPE_CHECKING:
    from wholecall.types import Kind


class Answer(msgspec.Struct, frozen=True):
    """The result of a tool for a call.

    Attributes:
        id, name: of the call; None where it has none.
        output: text, or any JSON value.
        kind: of the call.
        failed: whether `output` says why there is no result.
    """

    id: str | None
    name: str | None
    output: Any
    kind: Kind = "function"
    failed: bool = False

    __repr__ = discreet_repr

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output if isinstance(self.output, str) else compact(self.output)


def _id(answer: Answer) -> str:
    return _given(answer.id, "id")


def _name(answer: Answer) -> str:
    return _given(answer.name, "name")


def _given(label: str | None, what: str) -> str:
    if label is None:
        raise ValueError(
            f"the call came without {what}, so that nothing can answer it; leave it out of the history"
        )
    return label


def _chat(answer: Answer) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": _id(answer), "content": answer.text}


def _responses(answer: Answer) -> dict[str, Any]:
    if answer.kind == "builtin":  # each has its own form of output
        return {"type": f"{_name(answer)}_call_output", "call_id": _id(answer), "output": answer.output}
    kind = "custom_tool_call_output" if answer.kind == "custom" else "function_call_output"
    return {"type": kind, "call_id": _id(answer), "output": answer.text}


def _assistants(answer: Answer) -> dict[str, Any]:
    return {"tool_call_id": _id(answer), "output": answer.text}


def _anthropic(answer: Answer) -> dict[str, Any]:
    failed = {"is_error": True} if answer.failed else {}
    return {"type": "tool_result", "tool_use_id": _id(answer), "content": answer.text, **failed}


def _converse(answer: Answer) -> dict[str, Any]:
    status = "error" if answer.failed else "success"
    content = [{"text": answer.text}] if answer.text.strip() else []  # a blank text is refused
    return {"toolResult": {"toolUseId": _id(answer), "status": status, "content": content}}


def _gemini(answer: Answer) -> dict[str, Any]:
    labels = {"id": answer.id} if answer.id is not None else {}
    said = {"error" if answer.failed else "output": answer.output}
    return {"functionResponse": {**labels, "name": _name(answer), "response": said}}


def _interactions(answer: Answer) -> dict[str, Any]:
    failed = {"is_error": True} if answer.failed else {}
    labels = {"call_id": _id(answer), "name": _name(answer)}
    return {"type": "function_result", **labels, "result": answer.text, **failed}


def _conversations(answer: Answer) -> dict[str, Any]:
    return {"type": "function.result", "tool_call_id": _id(answer), "result": answer.text}


def _cohere_v1(answer: Answer) -> dict[str, Any]:
    said = {"error" if answer.failed else "output": answer.output}
    return {"call": {"name": _name(answer), "parameters": {}}, "outputs": [said]}


def _ollama(answer: Answer) -> dict[str, Any]:
    return {"role": "tool", "tool_name": _name(answer), "content": answer.text}


def _langchain(answer: Answer) -> dict[str, Any]:
    status = "error" if answer.failed else "success"
    return {"type": "tool", "tool_call_id": _id(answer), "status": status, "content": answer.text}


def _ag_ui(answer: Answer) -> dict[str, Any]:
    failed = {"error": answer.text} if answer.failed else {}
    return {"role": "tool", "toolCallId": _id(answer), "content": answer.text, **failed}


def _otel(answer: Answer) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": _id(answer), "response": answer.output}


_RESULTS: dict[str, Callable[[Answer], dict[str, Any]]] = {
    "chat-completions": _chat,
    "cohere-v2": _chat,
    "dashscope": _chat,
    "kimi": _chat,
    "llama-api": _chat,
    "minimax": _chat,
    "mistral": _chat,
    "stepfun": _chat,
    "workers-ai": _chat,
    "xai-grpc": _chat,
    "responses": _responses,
    "openai-realtime": _responses,
    "openai-assistants": _assistants,
    "anthropic": _anthropic,
    "bedrock-converse": _converse,
    "bedrock-invoke-nova": _converse,
    "gemini": _gemini,
    "gemini-live": _gemini,
    "gemini-interactions": _interactions,
    "mistral-conversations": _conversations,
    "cohere-v1": _cohere_v1,
    "ollama": _ollama,
    "langchain": _langchain,
    "langchain-events": _langchain,
    "ag-ui": _ag_ui,
    "otel": _otel,
}


def tool_result(dialect: str, answer: Answer) -> dict[str, Any]:
    """Return the message, item or part that answers a call.

    Raises:
        UnknownDialect: this dialect has no answers to calls.
        ValueError: the call has no id or name, and the dialect pairs by it.
    """
    name = meant(dialect, _RESULTS) or meant(dialect.removeprefix("bedrock-invoke-"), _RESULTS)
    found = None if name is None else _RESULTS[name]
    if found is None:
        raise UnknownDialect(
            f"calls of {dialect!r} are not answered with a tool result; {choices(dialect, _RESULTS)}"
        )
    return found(answer)
