"""The table of dialects: for each its translator, its framings, and the frames by which it is found.

Theory of operation. A stream's dialect is found by its first decisive frame, before its translator is imported; so
nothing of the translators is imported here. Rows are in the language of `wholecall.dialects.marks`, below an example of
the wire. Those of agents' own streams are in `wholecall.dialects.agents.entries`. The dialect of most streams is asked first. Nearly all dialects recognise none of each other's frames; the few
that also take frames of another dialect come after it.

The words for kinds of events are also in the translators; `tests/dialects/test_marks.py` holds both against each other.
A dialect is known by the members that its rows ask for, except those that only support others (`SUPPORTING`). Members
that other dialects may have as well are weak; `besides` are those that its frames have without being asked.
"""

from __future__ import annotations

from typing import Final

from wholecall.dialects.agents.entries import AGENTS
from wholecall.dialects.decode import opened_chunk, plain
from wholecall.dialects.marks import (
    ABSENT,
    BINARY,
    EMPTY,
    FILLED,
    FRAME,
    HERE,
    LINES,
    LIST,
    NAME,
    NULL,
    OBJECT,
    SAID,
    SERVER,
    SSE,
    TEXT,
    TRUTH,
    UNSAID,
    Entry,
    Row,
    Rows,
    decisive,
    holds,
    no,
)


def _within(member: str, rows: Rows) -> Rows:
    """Return the rows that hold if these do for the object in a member."""
    return tuple(
        {"|".join(f"{member}.{way}" for way in path.split("|")): test for path, test in row.items()}
        for row in rows
    )


# Members that decide only next to others: frames of any kind have them.
SUPPORTING: Final = frozenset(
    {
        *("assistantMessageEvent", "chat_history", "command", "completionReason", "content"),
        *("conversation_id", "created_at", "data", "delta", "errors", "event_id", "finish_reason", "id"),
        *("logprobs", "metrics", "model", "params", "path", "request", "request_id", "response_metadata"),
        *("role", "run_id", "session", "session_id", "stop_reason", "subtype", "text", "toolCallId", "usage"),
    }
)


# Functions, where paths do not reach: into base64, to a member or a part of any name or place, and to all members.
def _is_prose(coded: object) -> bool:
    opened = opened_chunk(coded) if isinstance(coded, str) else None
    return isinstance(opened, str) and not opened.lstrip().startswith(("{", "["))


def _has_trace(steps: object) -> bool:
    return isinstance(steps, dict) and any(name.endswith("Trace") for name in steps)


def _has_invocation(parts: object) -> bool:
    return isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") == "tool-invocation" for part in parts
    )


def _are_typed(parts: object) -> bool:
    return isinstance(parts, list) and all(
        isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts
    )


def _has_tool_use(items: object) -> bool:
    return isinstance(items, list) and any(
        isinstance(item, dict) and isinstance(item.get("tool_use"), dict) for item in items
    )


def _is_start(payload: object) -> bool:
    return isinstance(payload, dict) and payload.keys() <= {"type", "messageId", "messageMetadata"}


# {"choices":[{"index":0,"text":"Hel","finish_reason":null}],…}    `object` is unreliable
# {"generation":"Hel","stop_reason":null}, {"outputs":[{"text":"Hel","stop_reason":null}],…}    on Bedrock
# A choice with a text decides alone.
_LEGACY: Final[Rows] = (
    {"choices[0].text": TEXT, "choices[0].delta": ABSENT, "choices[0].message": ABSENT},
    {"generation": TEXT, "stop_reason": HERE, "choices[0].text": no(TEXT)},
    {"outputText": TEXT, "completionReason": HERE, "choices[0].text": no(TEXT)},
    {"outputs[0].text": TEXT, "outputs[0].stop_reason": HERE, "choices[0].text": no(TEXT)},
    {"results[0].outputText": TEXT, "results[0].completionReason": HERE, "choices[0].text": no(TEXT)},
)

# {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}],…}
# {"index":0,"message":{"role":"ASSISTANT","toolCalls":[…]},"finishReason":"tool_calls"}    Oracle's flat form
# Contents are Google's, also those of its agents: {"content":{"parts":[…]},"finishReason":"STOP"}
_CHAT: Final[Rows] = (
    {"choices[0]": FILLED},
    {"object": {"chat.completion", "chat.completion*"}, "choices": no(EMPTY), "need_clear_history": ABSENT},
    {"object": {"chat.completion", "chat.completion*"}, "choices": EMPTY, "usage": OBJECT},  # only counts
    {
        "apiFormat|finishReason|toolCalls|message.toolCalls": HERE,
        "author|candidates|toolResults": ABSENT,
        "content": no(OBJECT),
    },
)

# {"type":"message_start","message":{"id":"msg_1","content":[]},…}    an agent's own messages bear a time
# {"type":"message","role":"assistant","content":[…]}
_ANTHROPIC: Final[Rows] = (
    {
        "type": {"message_start", "message_delta", "message_stop", "content_block_*"},
        "message.timestamp": UNSAID,
    },
    {"type": "message", "content": LIST, "message.timestamp": UNSAID},
)

# {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}],"usageMetadata":{…}}    perhaps inside `response`
# Events of Google's agents have usage as well, and an author.
_GEMINI: Final[Rows] = (
    {"candidates": LIST},
    {"usageMetadata|usage_metadata|promptFeedback|prompt_feedback": OBJECT, "author": ABSENT},
)

# {"contentBlockDelta":{"delta":{"text":"Hel"},"contentBlockIndex":0},…}    one event, or its name is the frame's
# {"output":{"message":{"role":"assistant","content":[…]}},"stopReason":"end_turn"}
_CONVERSE_EVENTS: Final = (
    *("contentBlockDelta", "contentBlockStart", "contentBlockStop", "messageStart", "messageStop"),
    "metadata",
)
_CONVERSE_OTHERS: Final = {
    event: "|".join(other for other in _CONVERSE_EVENTS if other != event) for event in _CONVERSE_EVENTS
}
_CONVERSE: Final[Rows] = (
    {NAME: frozenset(_CONVERSE_EVENTS[:-1])},
    *({event: OBJECT, _CONVERSE_OTHERS[event]: ABSENT} for event in _CONVERSE_EVENTS[:-1]),
    {"metadata.usage": HERE, "event": no(TEXT), _CONVERSE_OTHERS["metadata"]: ABSENT},
    {"output.message.content": LIST, "metadata": no(OBJECT)},
)

# {"toolUseEvent":{"toolUseId":"tooluse_1","name":"f","input":"{}","stop":true}}    or its name is the frame's
_CODEWHISPERER: Final = (
    *("assistantResponseEvent", "codeEvent", "reasoningContentEvent", "toolUseEvent", "toolResultEvent"),
    *("messageMetadataEvent", "metadataEvent", "meteringEvent", "contextUsageEvent", "invalidStateEvent"),
    *("citationEvent", "codeReferenceEvent", "supplementaryWebLinksEvent", "followupPromptEvent"),
    *("intentsEvent", "interactionComponentsEvent", "dryRunSucceedEvent"),
)

# {"event_type":"text-generation","text":"Hel",…}
# {"generation_id":"g1","text":"Hello","finish_reason":"COMPLETE",…}
_COHERE_V1: Final[Rows] = (
    {
        "event_type": {
            *("stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end"),
            *("search-queries-generation", "search-results", "citation-generation", "debug"),
        }
    },
    {"generation_id": TEXT, "text": TEXT, "finish_reason|chat_history": HERE},
)

# event: content-delta, data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hel"}}},…}
# {"message":{"content":[…],"tool_calls":[…]},"finish_reason":"TOOL_CALL"}
_COHERE_V2_TYPES: Final = frozenset(
    {
        *("message-start", "message-end", "tool-plan-delta", "content-start", "content-delta"),
        *("tool-call-start", "tool-call-delta", "tool-call-end"),
    }
)
_COHERE_V2: Final[Rows] = (
    {"type": _COHERE_V2_TYPES, "delta.message": OBJECT},
    *({"type": kind, NAME: kind} for kind in sorted(_COHERE_V2_TYPES)),
    {"message.tool_calls": HERE, "finish_reason": TEXT, "type": no(_COHERE_V2_TYPES)},
    {"message.content": LIST, "finish_reason": TEXT, "type": no(_COHERE_V2_TYPES)},
)


def _invoked(translator: str, inner: Rows) -> Entry:
    """Return the entry of a dialect whose events come as chunks: {"chunk":{"bytes":"eyJ0eXBlIjoi…"}}, or without `chunk`."""
    is_known = decisive(inner)

    def is_event(coded: object) -> bool:
        opened = opened_chunk(coded) if isinstance(coded, str) else None
        payload = plain(opened) if isinstance(opened, str) else None
        return isinstance(payload, dict) and is_known(payload, "")

    rows = {"chunk.bytes": holds(is_event)}, {"bytes": holds(is_event), "chunk": ABSENT}
    return Entry(translator, BINARY, rows, weak="chunk bytes")


# A message of a model, or a chunk of one.
# {"type":"AIMessageChunk","content":"Hel","response_metadata":{},…}
# {"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessageChunk"],"kwargs":{…}}
_LANGCHAIN: Final[Rows] = (
    {"type": "constructor", "id[-1]": {"AIMessageChunk", "AIMessage"}},
    {"type": "AIMessageChunk"},
    {"type": {"ai", "AIMessage"}, "tool_calls|response_metadata": HERE},
)
_LANGGRAPH_LISTS: Final = frozenset(
    f"messages{part}{place}" for part in ("", "/partial", "/complete") for place in ("", "|*")
)

_LLAMA_STACK_EVENT: Final[Row] = {
    "event.event_type": {"start", "progress", "complete"},
    "completion_message": no(OBJECT),
}
_LLAMA_STACK_REASONS: Final = frozenset({"end_of_turn", "end_of_message", "out_of_tokens"})
_UI: Final[Row] = {"parts": no(LIST)}
_BARE: Final[Row] = {"data|properties": no(OBJECT)}

ENTRIES: Final[dict[str, Entry]] = {
    "legacy-completions": Entry(
        "openai.legacy.LegacyTranslator",
        SSE,
        _LEGACY,
        weak="generation outputText outputs results",
        besides="object",
    ),
    # 0:"Hel"    a letter, and the value of a part
    # {"role":"assistant","parts":[{"type":"tool-invocation","toolInvocation":{…}}]}
    "vercel-data": Entry(
        "frameworks.vercel_data.VercelDataTranslator",
        ("vercel", "jsonl"),
        (
            {NAME: frozenset("0123456789abcdefghijk")},
            {"parts": holds(_has_invocation), "role": "assistant"},
            {"toolInvocations": LIST, "role": "assistant"},
        ),
        weak="finishReason result toolInvocations parts",
    ),
    # {"choices":[{"delta":{"content_list":[{"tool_use_id":"c1","name":"f"}]}}],"usage":{},…}
    # {"choices":[{"message":{"content_list":[{"type":"tool_use","tool_use":{…}}]}}]}    chat has no such list
    "snowflake-cortex": Entry(
        "others.snowflake_cortex.SnowflakeCortexTranslator",
        SSE,
        (
            {"choices[0].delta.content_list|choices[0].message.content_list": LIST},
            {"choices[0].delta.type": {"text", "tool_use"}},
        ),
    ),
    "chat-completions": Entry(
        "openai.chat.translator.ChatTranslator", SSE, _CHAT, weak="apiFormat finishReason toolCalls message"
    ),
    # event: response.text.delta, data: {"content_index":0,"text":"Hel",…}    names that Responses do not have
    # {"role":"assistant","content":[{"type":"tool_use","tool_use":{…}}],…}    a whole answer
    "snowflake-agents": Entry(
        "others.snowflake_agents.SnowflakeAgentsTranslator",
        SSE,
        (
            {
                NAME: {
                    *("response.text", "response.text.delta", "response.text.annotation", "response.status"),
                    *("response.thinking", "response.thinking.delta", "response.tool_use"),
                    *("response.tool_result", "response.tool_result.*", "response.table", "response.chart"),
                    *("response.suggested_queries", "response.warning"),
                }
            },
            {NAME: "response", "content": LIST, "role": "assistant", "type": ABSENT},
            {"content": holds(_has_tool_use), "role": "assistant", "type": ABSENT},
        ),
        weak="content",
        besides="status message metadata",
    ),
    # {"type":"response.output_text.delta","sequence_number":4,"delta":"Hel",…}    with an `event_id` it is of Realtime
    # {"object":"response","status":"completed","output":[…]}
    "responses": Entry(
        "openai.responses.translator.ResponsesTranslator",
        SSE,
        (
            {"type": "response.*", "event_id": ABSENT},
            {"object": "response", "output": LIST, "type": no("response.*")},
        ),
        weak="output",
        besides="response metadata",
    ),
    "anthropic": Entry("anthropic.AnthropicTranslator", SSE, _ANTHROPIC, besides="message"),
    # {"serverContent":{"modelTurn":{"parts":[{"text":"Hel"}]}},…}    usage alone is also Gemini's
    # {"tool_call":{"function_calls":[…]}}    others have such a member as well
    "gemini-live": Entry(
        "google.gemini_live.GeminiLiveTranslator",
        LINES,
        (
            {
                "setupComplete|setup_complete|serverContent|server_content|toolCall|toolCallCancellation"
                "|tool_call_cancellation|goAway|go_away|sessionResumptionUpdate|session_resumption_update": OBJECT
            },
            {"tool_call.function_calls": LIST},
        ),
        besides="usageMetadata usage_metadata",
    ),
    # LangGraph's lists of messages are known by their event; more after `|` says where in the graph it comes from.
    "langchain": Entry(
        "frameworks.langchain.LangChainTranslator",
        SSE,
        (
            {NAME: _LANGGRAPH_LISTS, FRAME: no(FILLED)},
            *({NAME: no(_LANGGRAPH_LISTS), **row} for row in (*_LANGCHAIN, *_within("output", _LANGCHAIN))),
        ),
        weak="output",
        besides="usage_metadata",
    ),
    "gemini": Entry(
        "google.gemini.translator.GeminiTranslator",
        ("sse", "jsonarray", "jsonl"),
        (*_GEMINI, *_within("response", _GEMINI)),
        weak="response usageMetadata usage_metadata promptFeedback prompt_feedback",
    ),
    "bedrock-converse": Entry(
        "amazon.converse.ConverseTranslator", BINARY, _CONVERSE, weak="metadata output"
    ),
    # {"message":{"role":"assistant","content":"Hel"},"done":false,…}    imitating servers leave out its date
    "ollama": Entry(
        "others.ollama.OllamaTranslator", LINES, ({"message": OBJECT, "done": TRUTH},), weak="done"
    ),
    # {"response":"Hel","done":false,…}
    "ollama-generate": Entry(
        "others.ollama.OllamaTranslator", LINES, ({"response": TEXT, "done": TRUTH},), weak="done"
    ),
    "bedrock-invoke-anthropic": _invoked("anthropic.AnthropicTranslator", _ANTHROPIC),
    "bedrock-invoke-nova": _invoked("amazon.converse.ConverseTranslator", _CONVERSE),
    "bedrock-invoke-cohere-v1": _invoked("cohere.cohere_v1.CohereV1Translator", _COHERE_V1),
    "bedrock-invoke-cohere-v2": _invoked("cohere.cohere_v2.CohereV2Translator", _COHERE_V2),
    "bedrock-invoke-legacy-completions": _invoked("openai.legacy.LegacyTranslator", _LEGACY),
    "bedrock-invoke-chat-completions": _invoked("openai.chat.translator.ChatTranslator", _CHAT),
    # {"trace":{"agentId":"A1","trace":{"orchestrationTrace":{…}}}}
    # {"returnControl":{"invocationId":"i","invocationInputs":[…]}}
    # {"chunk":{"bytes":"SGVs"},…}    text; other chunks hold events
    "bedrock-agents": Entry(
        "amazon.agents.BedrockAgentsTranslator",
        BINARY,
        (
            {"returnControl.invocationInputs": LIST},
            {"invocationInputs": LIST, "returnControl": ABSENT},
            {"trace.trace": holds(_has_trace)},
            {"trace": holds(_has_trace), "trace.trace": ABSENT},
            {"chunk.bytes": holds(_is_prose), "trace": no(OBJECT)},
            {NAME: "chunk", "bytes": holds(_is_prose), "chunk": ABSENT, "trace": no(OBJECT)},
        ),
        weak="trace returnControl invocationInputs chunk bytes",
    ),
    "codewhisperer": Entry(
        "amazon.codewhisperer.CodeWhispererTranslator",
        BINARY,
        ({NAME: frozenset(_CODEWHISPERER)}, *({event: OBJECT} for event in _CODEWHISPERER)),
    ),
    # event: thread.run.created    or in the data, or as the object of a run, a step or a message
    "openai-assistants": Entry(
        "openai.assistants.AssistantsTranslator",
        SSE,
        ({f"{NAME}|event|object": "thread.*"},),
        besides="type metadata",
    ),
    # {"type":"response.text.delta","event_id":"event_1","delta":"Hel",…}
    "openai-realtime": Entry(
        "openai.realtime.RealtimeTranslator",
        LINES,
        (
            {"type": {"session.created", "session.updated", "response.*"}, "event_id": HERE},
            {"type": {"session.created", "session.updated"}, "session": OBJECT},
            {
                "object": "realtime.response",
                "output": LIST,
                "type": no({"session.created", "session.updated"}),
            },
        ),
        weak="output",
        besides="response metadata",
    ),
    # {"event_type":"step.delta","index":0,"delta":{"type":"text","text":"Hel"},…}
    # {"object":"interaction","steps":[…]}
    "gemini-interactions": Entry(
        "google.gemini_interactions.GeminiInteractionsTranslator",
        SSE,
        (
            {"event_type": {"interaction.*", "step.*", "content.*"}},
            {"object": "interaction", "steps|outputs": LIST, "event_type": no(TEXT)},
        ),
        weak="steps outputs",
    ),
    # {"type":"text-delta","runId":"r1","from":"AGENT","payload":{"id":"t1","text":"Hel"},…}
    # {"text":"Hello","steps":[…],"toolCalls":[],"toolResults":[],"finishReason":"stop",…}    a whole run
    "mastra": Entry(
        "frameworks.mastra.MastraTranslator",
        SSE,
        (
            {
                "from": {"AGENT", "NETWORK", "SYSTEM", "USER", "WORKFLOW"},
                "runId": TEXT,
                "type": TEXT,
                "payload": OBJECT,
            },
            {"steps": LIST, "toolCalls": LIST, "toolResults": LIST, "finishReason": HERE},
        ),
        besides="object metadata",
    ),
    # {"event_kind":"part_delta","index":0,"delta":{"part_delta_kind":"text","content_delta":"Hel",…}}
    "pydantic-ai": Entry(
        "frameworks.pydantic_ai.PydanticAITranslator",
        SERVER,
        (
            {
                "event_kind": {
                    *("part_start", "part_delta", "part_end", "final_result", "function_tool_*"),
                    *("output_tool_*", "builtin_tool_*", "deferred_tool_*", "agent_run_result"),
                    *("enqueued_messages", "tool_availability_delta", "capability_load_delta"),
                    *("model_settings_delta", "capability", "custom", "realtime_*"),
                }
            },
        ),
        besides="part result",
    ),
    "cohere-v1": Entry(
        "cohere.cohere_v1.CohereV1Translator", LINES, _COHERE_V1, weak="generation_id", besides="response"
    ),
    "cohere-v2": Entry("cohere.cohere_v2.CohereV2Translator", SSE, _COHERE_V2, weak="message"),
    # {"event":"content-block-delta","index":0,"delta":{…}}    with `data` it is somebody's envelope
    # {"type":"event","method":"messages","params":{"data":{"event":"message-start"}},…}    or another event in this one
    "langchain-protocol": Entry(
        "frameworks.langchain_protocol.LangChainProtocolTranslator",
        SERVER,
        (
            {
                "event": {
                    *("message-start", "content-block-start", "content-block-delta", "content-block-finish")
                },
                "data": ABSENT,
            },
            {
                "type": "event",
                "method": {
                    *("messages", "tools", "lifecycle", "values", "updates", "checkpoints", "tasks"),
                    *("custom", "input", "input.requested", "debug"),
                },
                "params.data": HERE,
                "event": no(TEXT),
            },
        ),
        besides="metadata",
    ),
    # event: message.output.delta, data: {"type":"message.output.delta","content":"Hel",…}
    # {"conversation_id":"conv_1","outputs":[…]}
    "mistral-conversations": Entry(
        "others.conversations.ConversationsTranslator",
        SSE,
        (
            {
                f"{NAME}|type": {
                    *("conversation.response.*", "message.output.*", "function.call.*", "tool.execution.*")
                }
            },
            {"outputs": LIST, "conversation_id": HERE},
        ),
        weak="outputs",
        besides="object",
    ),
    # {"event":{"event_type":"progress","delta":"Hel","logprobs":null},…}    with null members, and without ids
    "llama-stack": Entry(
        "others.llama_stack.LlamaStackTranslator",
        SSE,
        (
            {"completion_message": OBJECT, "logprobs": HERE},
            {"completion_message.stop_reason": _LLAMA_STACK_REASONS},
            {
                "completion_message.tool_calls[0].tool_name|completion_message.tool_calls.tool_name": SAID,
            },
            {**_LLAMA_STACK_EVENT, "event.delta": TEXT},
            {**_LLAMA_STACK_EVENT, "event.delta.parse_status": SAID},
            {**_LLAMA_STACK_EVENT, "event.stop_reason": _LLAMA_STACK_REASONS},
            {**_LLAMA_STACK_EVENT, "event.logprobs|metrics": HERE, "id": ABSENT},
        ),
        weak="completion_message",
    ),
    # {"id":"r1","event":{"event_type":"progress","delta":{"type":"text","text":"Hel"}},…}
    # The first event of llama-stack has an empty text, too, and no id.
    "llama-api": Entry(
        "others.llama_api.LlamaTranslator",
        SSE,
        (
            {"event.event_type": {"progress", "complete", "metrics"}},
            {"event.event_type": "start", "event.delta.text": no("")},
            {"event.event_type": "start", "id": HERE},
            {"completion_message": OBJECT, "event.event_type": no("start")},
        ),
        weak="completion_message",
    ),
    # {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hel",…}
    "ag-ui": Entry(
        "agents.ag_ui.AgUiTranslator",
        SERVER,
        (
            {
                "type": {
                    *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED"),
                    *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK"),
                    *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_CHUNK"),
                    *("TOOL_CALL_RESULT", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "STATE_DELTA"),
                    *("ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_START", "REASONING_END"),
                    *("REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END"),
                    *("REASONING_MESSAGE_CHUNK", "REASONING_ENCRYPTED_VALUE"),
                    *("THINKING_START", "THINKING_END", "THINKING_TEXT_MESSAGE_START"),
                    *("THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END"),
                    *("SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"),
                }
            },
        ),
        weak="messages",
        besides="message",
    ),
    # {"type":"text-delta","id":"t1","delta":"Hel",…}
    # {"id":"m1","role":"assistant","parts":[{"type":"text","text":"Hello"}],…}
    "vercel-ui": Entry(
        "frameworks.vercel_ui.VercelUITranslator",
        SSE,
        (
            {"parts": holds(_are_typed), "role": "assistant"},
            {"type": "start", FRAME: holds(_is_start)},
            {"type": {"tool-input-*", "tool-output-*"}, "toolCallId": HERE, **_UI},
            {"type": {"text-delta", "reasoning-delta"}, "delta": TEXT, "id": HERE, **_UI},
            {
                "type": {"text-start", "reasoning-start", "start-step", "finish-step", "message-metadata"},
                "delta": no(OBJECT),
                **_UI,
            },
        ),
        weak="parts",
        besides="output metadata",
    ),
    # {"type":"part-start","part":{"type":"tool-call","toolCallId":"c1","toolName":"f"},"path":[],…}
    # {"type":"text-delta","textDelta":"Hel","path":[0],…}    a piece of a part, by its number
    "assistant-transport": Entry(
        "frameworks.assistant_transport.AssistantTransportTranslator",
        SSE,
        (
            {"type": "part-start", "part.type": TEXT, **_UI},
            {"type": {"part-finish", "tool-call-args-text-finish"}, "path": LIST, **_UI},
            {"type": "text-delta", "textDelta": TEXT, "path": LIST, **_UI},
            {"type": "step-start", "messageId": TEXT, **_UI},
            {"type": "update-state", "operations": LIST, **_UI},
        ),
        weak="part",
        besides="result",
    ),
    # {"event":"on_chat_model_stream","run_id":"r1","data":{"chunk":{…}}}
    "langchain-events": Entry(
        "frameworks.langchain_events.LangChainEventsTranslator",
        LINES,
        ({"event": "on_*", "run_id": HERE},),
        besides="metadata",
    ),
    **AGENTS,
    # event: message.delta, data: {"type":"message.delta","content":"Hel",…}    with `properties` it is opencode's
    # {"model_instance_id":"m","output":[{"type":"message",…}],"stats":{…}}    a whole answer
    "lmstudio": Entry(
        "others.lmstudio.LMStudioTranslator",
        SSE,
        (
            {"type": {"chat.start", "model_load.*", "prompt_processing.*"}, **_BARE},
            {"type": "chat.end", "result": OBJECT, **_BARE},
            {"type": {"reasoning.start", "reasoning.end", "message.start", "message.end"}, **_BARE},
            {"type": {"reasoning.delta", "message.delta"}, "content": TEXT, **_BARE},
            {
                "type": {"tool_call.start", "tool_call.arguments", "tool_call.success", "tool_call.result"},
                "tool": HERE,
                **_BARE,
            },
            {"type": "tool_call.name", "tool_name": TEXT, **_BARE},
            {"type": "tool_call.failure", "metadata": OBJECT, **_BARE},
            {"model_instance_id": TEXT, "output": LIST, "type": ABSENT},
        ),
        weak="output result metadata",
    ),
    # {"output":{"choices":[{"message":{…}}]},"request_id":"r1"}
    "dashscope": Entry(
        "others.dashscope.DashScopeTranslator",
        SSE,
        ({"output.choices": LIST}, {"output.text": TEXT, "request_id": HERE}),
        weak="output",
        besides="message",
    ),
    # {"request_id":"r1","final_result":{"choices":[…]}}    the result of a chain of modules
    "sap-orchestration": Entry(
        "others.sap.SapTranslator",
        SSE,
        (
            {"final_result.choices": LIST, "request_id": HERE},
            {"orchestration_result.choices": LIST, "final_result": ABSENT, "request_id": HERE},
        ),
        weak="final_result orchestration_result",
    ),
    # {"chunk":{"outputs":[{"delta":{"content":"Hel"}}]}}, {"outputs":[{"message":{…}}]}
    "xai-grpc": Entry(
        "others.xai_grpc.XaiGrpcTranslator",
        LINES,
        (
            {"chunk.outputs[0].delta|chunk.outputs[0].message": OBJECT},
            {"outputs[0].delta|outputs[0].message": OBJECT, "chunk": no(OBJECT)},
        ),
        weak="chunk outputs",
    ),
    # {"id":"as-1","object":"chat.completion","sentence_id":0,"is_end":false,"result":"Hel","need_clear_history":false,…}
    # {"error_code":336003,"error_msg":"…"}    an error
    "ernie": Entry(
        "others.ernie.ErnieTranslator",
        SSE,
        (
            {"need_clear_history": TRUTH, "choices": ABSENT},
            {"error_code": HERE, "error_msg": TEXT},
        ),
    ),
    # {"Choices":[{"Delta":{"Content":"Hel"},"FinishReason":""}],…}    also in Tencent's envelope, as its errors
    "hunyuan": Entry(
        "others.hunyuan.HunyuanTranslator",
        SSE,
        (
            {"Choices[0].Delta|Choices[0].Message": OBJECT},
            {"Response.Choices": LIST},
            {"Response.Error.Code": TEXT, "Response.RequestId": HERE},
            {"ErrorMsg.Code": HERE, "ErrorMsg.Msg": TEXT},
        ),
    ),
    # event: response.message.delta, data: {"model":"GigaChat","created_at":1,"messages":[…]}    with `data` it is somebody's envelope
    "gigachat": Entry(
        "others.gigachat.GigaChatTranslator",
        SSE,
        (
            {
                f"{NAME}|event": {
                    *("response.message.delta", "response.message.done", "response.tool.in_progress"),
                    *("response.tool.completed", "response.tool.failed"),
                },
                "data": ABSENT,
            },
            {"messages": LIST, "model": HERE, "created_at": HERE, "data": ABSENT},
        ),
        weak="messages",
    ),
    # {"response":"Hel","tool_calls":[],…}    a line of Ollama's has a date
    # {"success":true,"result":{…},"errors":[]}    Cloudflare's envelope of a whole body
    "workers-ai": Entry(
        "others.workers_ai.WorkersTranslator",
        SSE,
        (
            {"success": TRUTH, "errors": LIST, "result": HERE},
            {"response": TEXT, "created_at": ABSENT, "stats": ABSENT},
            {"response": NULL, "tool_calls": LIST, "created_at": ABSENT},
        ),
        weak="response success tool_calls",
        besides="messages",
    ),
}
