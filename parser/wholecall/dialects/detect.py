"""Find the dialect for which a frame is decisive: a function per dialect, by the frame alone.

Theory of operation. A stream's dialect is found before its translator is imported, so nothing of the translators is
imported here; facts that both must know (types, members, how a chunk is opened) are here, and translators import them.
Each function is given the decoded object and the event's name, and returns whether they are decisive for its dialect;
the table gives the order in which the functions are asked.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from wholecall.dialects.decode import first_choice, member, plain

__all__ = [
    "COHERE_V1_QUIET",
    "CONVERSE_FIELDS",
    "GEMINI_LIVE_MESSAGES",
    "GIGACHAT_DELTA",
    "GIGACHAT_DONE",
    "GIGACHAT_TOOLS",
    "LLAMA_API_TYPES",
    "LLAMA_STACK_REASONS",
    "LLAMA_STACK_TYPES",
    "Detect",
    "anthropic",
    "assistants",
    "bedrock_agents",
    "chat",
    "cohere_v1",
    "cohere_v2",
    "conversations",
    "converse",
    "dashscope",
    "gemini",
    "gemini_interactions",
    "gemini_live",
    "gigachat",
    "invoked",
    "is_line",
    "legacy",
    "llama_api",
    "llama_stack",
    "ollama",
    "ollama_generate",
    "opened_chunk",
    "realtime",
    "responses",
    "sap_orchestration",
    "workers_ai",
    "xai_grpc",
]

Detect = Callable[[Mapping[str, Any], str], bool]  # is given the decoded object and the event's name


_ANTHROPIC_TYPES = frozenset({"message_start", "message_delta", "message_stop"})


def anthropic(payload: Mapping[str, Any], _event: str) -> bool:
    """A Messages event (a ping decides nothing), or a whole body; an agent's own messages bear a time."""
    kind, message = payload.get("type"), payload.get("message")
    if not isinstance(kind, str) or (isinstance(message, dict) and message.get("timestamp") is not None):
        return False
    if kind in _ANTHROPIC_TYPES or kind.startswith("content_block_"):
        return True
    return kind == "message" and isinstance(payload.get("content"), list)


def assistants(payload: Mapping[str, Any], event: str) -> bool:
    """An event of a thread by its name, in or next to the data, or the object of a run, step or message."""
    named = (event, payload.get("event"), payload.get("object"))
    return any(isinstance(name, str) and name.startswith("thread.") for name in named)


def bedrock_agents(payload: Mapping[str, Any], event: str) -> bool:
    """A trace of an agent's steps, a return of control, or a chunk of text; other chunks hold events."""
    control = payload.get("returnControl", payload)
    if isinstance(control, dict) and isinstance(control.get("invocationInputs"), list):
        return True
    trace = payload.get("trace")
    if isinstance(trace, dict):
        steps = trace.get("trace", trace)
        return isinstance(steps, dict) and any(name.endswith("Trace") for name in steps)
    chunk = payload.get("chunk", payload if event == "chunk" else None)
    coded = chunk.get("bytes") if isinstance(chunk, dict) else None
    opened = opened_chunk(coded) if isinstance(coded, str) else None
    return isinstance(opened, str) and not opened.lstrip().startswith(("{", "["))


_ORACLE_FIELDS: Final = frozenset({"apiFormat", "finishReason", "toolCalls"})


def chat(payload: Mapping[str, Any], _event: str) -> bool:
    """A chunk with choices, a chunk that names its kind, or Oracle's flat form."""
    if first_choice(payload):
        return True
    if str(payload.get("object", "")).startswith("chat.completion") and payload.get("choices") != []:
        return True
    if "candidates" in payload or isinstance(payload.get("content"), dict):
        return False  # contents are Google's, also those of its agents: `{"content":{"parts":[…]},"finishReason":"STOP"}`
    message = payload.get("message")
    flat = isinstance(message, dict) and "toolCalls" in message
    return flat or not _ORACLE_FIELDS.isdisjoint(payload)


_COHERE_V1_TYPES = frozenset(
    {"stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end"}
)
COHERE_V1_QUIET = frozenset({"search-queries-generation", "search-results", "citation-generation", "debug"})


def cohere_v1(payload: Mapping[str, Any], _event: str) -> bool:
    """An event of a known type, or a whole body."""
    kind = payload.get("event_type")
    if isinstance(kind, str) and (kind in _COHERE_V1_TYPES or kind in COHERE_V1_QUIET):
        return True
    whole = isinstance(payload.get("generation_id"), str) and isinstance(payload.get("text"), str)
    return whole and ("finish_reason" in payload or "chat_history" in payload)


_COHERE_V2_TYPES = frozenset(
    {
        *("message-start", "message-end", "tool-plan-delta", "content-start", "content-delta"),
        *("tool-call-start", "tool-call-delta", "tool-call-end"),
    }
)


def cohere_v2(payload: Mapping[str, Any], event: str) -> bool:
    """An event with a hyphenated type and a message, or named by its type; or a whole body."""
    kind = payload.get("type")
    if isinstance(kind, str) and kind in _COHERE_V2_TYPES:
        delta = payload.get("delta")
        return event == kind or (isinstance(delta, dict) and isinstance(delta.get("message"), dict))
    message = payload.get("message")
    whole = isinstance(message, dict) and (
        "tool_calls" in message or isinstance(message.get("content"), list)
    )
    return whole and isinstance(payload.get("finish_reason"), str)


_CONVERSATION_PREFIXES: Final = (
    "conversation.response.",
    "message.output.",
    "function.call.",
    "tool.execution.",
)


def conversations(payload: Mapping[str, Any], event: str) -> bool:
    """An event of a conversation, by its type or its name, or a whole body."""
    kind = payload.get("type")
    if event.startswith(_CONVERSATION_PREFIXES) or (
        isinstance(kind, str) and kind.startswith(_CONVERSATION_PREFIXES)
    ):
        return True
    return isinstance(payload.get("outputs"), list) and "conversation_id" in payload


CONVERSE_FIELDS: Final[dict[str, str]] = {
    "contentBlockDelta": "content_block_delta",
    "contentBlockStart": "content_block_start",
    "contentBlockStop": "content_block_stop",
    "messageStart": "message_start",
    "messageStop": "message_stop",
    "metadata": "metadata",
}


def converse(payload: Mapping[str, Any], event: str) -> bool:
    """One event, named by its frame or by its only known member, or a whole body."""
    if event in CONVERSE_FIELDS and event != "metadata":
        return True
    names = [name for name in CONVERSE_FIELDS if name in payload]
    if len(names) == 1 and isinstance(said := payload[names[0]], dict):
        return names != ["metadata"] or "usage" in said
    output = payload.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    return isinstance(message, dict) and isinstance(message.get("content"), list)


def dashscope(payload: Mapping[str, Any], _event: str) -> bool:
    """An output that holds choices, or a text next to the request's id."""
    output = payload.get("output")
    if not isinstance(output, dict):
        return False
    text = isinstance(output.get("text"), str) and "request_id" in payload
    return text or isinstance(output.get("choices"), list)


_GEMINI_MEMBERS = ("usageMetadata", "usage_metadata", "promptFeedback", "prompt_feedback")


def gemini(payload: Mapping[str, Any], _event: str) -> bool:
    """Candidates, usage or feedback under Gemini's names, perhaps one level down in `response`."""
    inner = payload.get("response")
    return _is_gemini(payload) or (isinstance(inner, dict) and _is_gemini(inner))


def _is_gemini(payload: Mapping[str, Any]) -> bool:
    if isinstance(payload.get("candidates"), list):
        return True
    return any(isinstance(payload.get(name), dict) for name in _GEMINI_MEMBERS)


def gemini_interactions(payload: Mapping[str, Any], _event: str) -> bool:
    """An event of an interaction or of its steps, or a whole body."""
    kind = payload.get("event_type")
    if isinstance(kind, str):
        return kind.startswith(("interaction.", "step.", "content."))
    whole = isinstance(payload.get("steps"), list) or isinstance(payload.get("outputs"), list)
    return payload.get("object") == "interaction" and whole


GEMINI_LIVE_MESSAGES = frozenset(
    {
        *("setupComplete", "setup_complete", "serverContent", "server_content"),
        *("toolCall", "toolCallCancellation", "tool_call_cancellation", "goAway", "go_away"),
        *("sessionResumptionUpdate", "session_resumption_update"),
    }
)


def gemini_live(payload: Mapping[str, Any], _event: str) -> bool:
    """A message of the server, in either spelling; usage alone is not decisive, for `gemini` has it too."""
    if any(isinstance(payload.get(name), dict) for name in GEMINI_LIVE_MESSAGES):
        return True
    called = payload.get("tool_call")  # others have such a member as well
    return isinstance(called, dict) and isinstance(called.get("function_calls"), list)


GIGACHAT_DELTA: Final = "response.message.delta"
GIGACHAT_DONE: Final = "response.message.done"
GIGACHAT_TOOLS: Final = frozenset(f"response.tool.{what}" for what in ("in_progress", "completed", "failed"))


def gigachat(payload: Mapping[str, Any], event: str) -> bool:
    """Messages next to the model and a time, or an event by its name, in or next to the data."""
    if "data" in payload:  # as an envelope has
        return False
    names = (event, payload.get("event"))
    if any(name in (GIGACHAT_DELTA, GIGACHAT_DONE, *GIGACHAT_TOOLS) for name in names):
        return True
    return isinstance(payload.get("messages"), list) and "model" in payload and "created_at" in payload


def invoked(inner: Detect) -> Detect:
    """Return the test for a chunk whose event is decisive for the inner dialect."""

    def detect(payload: Mapping[str, Any], _event: str) -> bool:
        if "chunk" not in payload and "bytes" not in payload:  # most streams by far
            return False
        chunk = payload.get("chunk", payload)
        coded = chunk.get("bytes") if isinstance(chunk, dict) else None
        opened = opened_chunk(coded) if isinstance(coded, str) else None
        decoded = plain(opened) if isinstance(opened, str) else None
        return isinstance(decoded, dict) and inner(decoded, "")

    return detect


def opened_chunk(coded: str) -> str | bytes | None:
    """Return the text of an event, its bytes where they are not text, None where they cannot be had."""
    if coded.startswith("{"):  # no letter of base64
        return coded
    try:
        data = base64.b64decode(coded, validate=True)
    except ValueError:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


# The names of the text and the reason in Bedrock's models, and the lists that may hold these.
_LEGACY_SHAPES: Final = (
    (None, "generation", "stop_reason"),
    (None, "outputText", "completionReason"),
    ("outputs", "text", "stop_reason"),
    ("results", "outputText", "completionReason"),
)
_LEGACY_MEMBERS: Final = frozenset(listed or text for listed, text, _ in _LEGACY_SHAPES)


def legacy(payload: Mapping[str, Any], _event: str) -> bool:
    """Choices that hold text and neither a delta nor a message (`object` is unreliable), or Bedrock's."""
    choice = first_choice(payload)
    if isinstance(choice.get("text"), str):
        return not ("delta" in choice or "message" in choice)
    if _LEGACY_MEMBERS.isdisjoint(payload):  # most streams by far
        return False
    for listed, text, reason in _LEGACY_SHAPES:
        said = payload if listed is None else first_choice(payload, listed)
        if isinstance(said.get(text), str) and reason in said:
            return True
    return False


LLAMA_API_TYPES = frozenset({"start", "progress", "complete", "metrics"})


def llama_api(payload: Mapping[str, Any], _event: str) -> bool:
    """An event inside the payload that names its kind, or a whole body."""
    event = payload.get("event")
    kind, text = member(event, "event_type"), member(event, "delta", "text")
    if kind == "start" and text == "" and "id" not in payload:
        return False
    return (isinstance(kind, str) and kind in LLAMA_API_TYPES) or isinstance(
        payload.get("completion_message"), dict
    )


LLAMA_STACK_REASONS = frozenset({"end_of_turn", "end_of_message", "out_of_tokens"})
LLAMA_STACK_TYPES = frozenset({"start", "progress", "complete"})


def llama_stack(payload: Mapping[str, Any], _event: str) -> bool:
    """An event with a member or a word that Meta's Llama API does not have, or a whole body."""
    event, body = payload.get("event"), payload.get("completion_message")
    if isinstance(body, dict):
        named = member(body, "tool_calls", 0, "tool_name") is not None
        return named or "logprobs" in payload or _is_llama_stack_reason(body.get("stop_reason"))
    kind = member(event, "event_type")
    if not isinstance(event, dict) or not isinstance(kind, str) or kind not in LLAMA_STACK_TYPES:
        return False
    if isinstance(event.get("delta"), str) or member(event, "delta", "parse_status") is not None:
        return True
    # The server writes out null members, and has no ids.
    marked = "logprobs" in event or "metrics" in payload
    return _is_llama_stack_reason(event.get("stop_reason")) or (marked and "id" not in payload)


def _is_llama_stack_reason(value: object) -> bool:
    return isinstance(value, str) and value in LLAMA_STACK_REASONS


def ollama(payload: Mapping[str, Any], _event: str) -> bool:
    """A line with a message and with the mark of the last line."""
    return isinstance(payload.get("message"), dict) and is_line(payload)


def is_line(payload: Mapping[str, Any]) -> bool:
    """Return whether the payload has the members of every line of Ollama's; imitating servers leave out its date."""
    return isinstance(payload.get("done"), bool)


def ollama_generate(payload: Mapping[str, Any], _event: str) -> bool:
    """A line with a piece of the response and with the mark of the last line."""
    return isinstance(payload.get("response"), str) and is_line(payload)


def realtime(payload: Mapping[str, Any], _event: str) -> bool:
    """The start of a session, an event of a response with an event id, or a whole response."""
    kind = payload.get("type")
    if kind in ("session.created", "session.updated"):
        return "event_id" in payload or isinstance(payload.get("session"), dict)
    if isinstance(kind, str) and kind.startswith("response.") and "event_id" in payload:
        return True
    return payload.get("object") == "realtime.response" and isinstance(payload.get("output"), list)


def responses(payload: Mapping[str, Any], _event: str) -> bool:
    """A `response.*` event without the event id of the Realtime API, or a whole body."""
    kind = payload.get("type")
    if isinstance(kind, str) and kind.startswith("response."):
        return "event_id" not in payload
    return payload.get("object") == "response" and isinstance(payload.get("output"), list)


def sap_orchestration(payload: Mapping[str, Any], _event: str) -> bool:
    """The result of a chain of modules, which holds choices."""
    result = payload.get("final_result", payload.get("orchestration_result"))
    return isinstance(result, dict) and isinstance(result.get("choices"), list) and "request_id" in payload


def workers_ai(payload: Mapping[str, Any], _event: str) -> bool:
    """A response without the members of others, or Cloudflare's envelope of a whole body."""
    if isinstance(payload.get("success"), bool) and isinstance(payload.get("errors"), list):
        return "result" in payload
    if "created_at" in payload:  # as in a line of Ollama's
        return False
    calls = payload.get("response", "") is None and isinstance(payload.get("tool_calls"), list)
    return calls or isinstance(payload.get("response"), str)


def xai_grpc(payload: Mapping[str, Any], _event: str) -> bool:
    """Outputs with a delta or a message, perhaps one level down in `chunk`."""
    inner = payload.get("chunk")
    outputs = (inner if isinstance(inner, dict) else payload).get("outputs")
    first = outputs[0] if isinstance(outputs, list) and outputs else None
    return isinstance(first, dict) and any(isinstance(first.get(said), dict) for said in ("delta", "message"))
