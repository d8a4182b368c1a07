"""Detection of a stream's dialect by its first decisive frame."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import shown
from tests.support.encode_bedrock import exception
from tests.support.together import together
from wholecall import Limits, StreamFault, TextDelta, ToolCallParser, TurnFinished, TurnStarted
from wholecall.calls.output.events import Event
from wholecall.dialects.table import detect_dialect, named

CHAT = {"id": "r1", "model": "m", "choices": [{"index": 0, "delta": {"content": "x"}}]}
RESPONSES = {"type": "response.created", "sequence_number": 0, "response": {"id": "r1", "model": "m"}}
ANTHROPIC = {"type": "message_start", "message": {"id": "r1", "model": "m", "content": []}}
CONVERSE = {"messageStart": {"role": "assistant"}}
LEGACY = {"id": "r1", "model": "m", "choices": [{"index": 0, "text": "x"}]}
OLLAMA = {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "x"}, "done": False}
GENERATE = {"model": "m", "created_at": "t", "response": "x", "done": False}
COHERE_V1 = {"is_finished": False, "event_type": "stream-start", "generation_id": "r1"}
COHERE_V2 = {"type": "message-start", "id": "r1", "delta": {"message": {"role": "assistant"}}}
VERCEL_UI = {"type": "start", "messageId": "r1"}
LANGCHAIN = {"type": "AIMessageChunk", "id": "r1", "content": "x", "response_metadata": {"model": "m"}}
LANGCHAIN_EVENTS = {"event": "on_chat_model_stream", "run_id": "r", "data": {"chunk": LANGCHAIN}}
GEMINI = {"responseId": "r1", "modelVersion": "m", "candidates": [{"content": {"parts": [{"text": "x"}]}}]}
DASHSCOPE = {"output": {"choices": [{"message": {"content": "x"}}]}, "request_id": "r1"}
CONVERSATIONS = {"type": "conversation.response.started", "conversation_id": "r1"}
WORKERS = {"response": "x"}
LLAMA = {"id": "r1", "event": {"event_type": "start", "delta": {"type": "text", "text": "x"}}}
LLAMA_STACK = {"event": {"event_type": "start", "delta": {"type": "text", "text": "x"}, "logprobs": None}}
PROTOCOL = {"event": "message-start", "role": "ai", "id": "r1", "metadata": {"model": "m"}}
LIVE = {"serverContent": {"modelTurn": {"parts": [{"text": "x"}]}}}
INTERACTION = {"event_type": "interaction.created", "interaction": {"id": "r1", "model": "m"}}
AG_UI = {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"}
XAI = {
    "chunk": {"id": "r1", "model": "m", "outputs": [{"delta": {"content": "x", "role": "ROLE_ASSISTANT"}}]}
}
ASSISTANTS = {"id": "r1", "object": "thread.run.step", "status": "in_progress"}
REALTIME = {"type": "response.created", "event_id": "e1", "response": {"id": "r1"}}
ACP_CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
ACP = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "r1", "update": ACP_CHUNK}}
COPILOT = {
    "type": "assistant.turn_start",
    "data": {"turnId": "r1", "model": "m"},
    "id": "e1",
    "parentId": None,
}
CLAUDE_CODE = {"type": "assistant", "session_id": "s", "message": {"id": "r1", "model": "m", "content": []}}
CODEX = {"method": "turn/started", "params": {"threadId": "t", "turn": {"id": "r1", "status": "inProgress"}}}
PI = {"type": "message_start", "message": {"role": "assistant", "content": [], "model": "m", "timestamp": 1}}
SAP = {"request_id": "q", "intermediate_results": {}, "final_result": CHAT}
STEP = {"orchestrationTrace": {"modelInvocationInput": {"foundationModel": "m"}}}
AGENTS = {"trace": {"sessionId": "r1", "agentId": "A1", "trace": STEP}}
GIGA_MESSAGES = [{"role": "assistant", "content": [{"text": "x"}]}]
GIGACHAT = {"model": "m", "created_at": 1780321864, "messages": GIGA_MESSAGES}
A2A_UPDATE = {"taskId": "r1", "contextId": "c", "status": {"state": "working"}}
A2A = {"jsonrpc": "2.0", "id": 1, "result": {"kind": "status-update", "final": False} | A2A_UPDATE}
MCP = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}
DECISIVE = shown.decisive()
QUIET = {
    "comment": b": keep-alive\n\n",
    "ping event": b'event: ping\ndata: {"type":"ping"}\n\n',
    "ping object": b'data: {"type":"ping"}\n\n',
    "empty data": b"data:\n\n",
    "empty object": b"data: {}\n\n",
    "null": b"data: null\n\n",
    "empty choices": b'data: {"choices":[],"prompt_filter_results":[],"id":"","model":"","object":""}\n\n',
    "null choices": b'data: {"choices":null,"copilot_references":[]}\n\n',
}


def rpc(**members: Any) -> dict[str, Any]:
    """Return a message of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": 1, **members}


def found(payload: dict[str, Any]) -> str | None:
    """Return the name of the dialect for which the payload is decisive."""
    dialect = detect_dialect(payload)
    return dialect.name if dialect is not None else None


def sse(*payloads: dict[str, Any] | bytes) -> bytes:
    """Write the payloads as server-sent events; bytes are unchanged."""
    return b"".join(
        payload if isinstance(payload, bytes) else b"data: " + json.dumps(payload).encode() + b"\n\n"
        for payload in payloads
    )


def parse(data: bytes, **options: Any) -> list[Event]:
    """Return all events of a stream."""
    parser = ToolCallParser(**options)
    return parser.feed(data) + parser.close()


@together(
    ("payload", "name"),
    [
        (RESPONSES, "responses"),
        ({"type": "response.output_item.added", "item": {}}, "responses"),
        ({"object": "response", "output": []}, "responses"),
        (ASSISTANTS, "openai-assistants"),
        ({"object": "thread.run", "status": "requires_action"}, "openai-assistants"),
        ({"event": "thread.created", "data": {}}, "openai-assistants"),
        (REALTIME, "openai-realtime"),
        ({"type": "session.created", "session": {}}, "openai-realtime"),
        ({"type": "session.updated", "session": {}, "event_id": "e1"}, "openai-realtime"),
        ({"object": "realtime.response", "output": []}, "openai-realtime"),
        (ANTHROPIC, "anthropic"),
        ({"type": "message_delta", "delta": {}}, "anthropic"),
        ({"type": "message_stop"}, "anthropic"),
        ({"type": "content_block_start", "index": 0}, "anthropic"),
        ({"type": "content_block_delta"}, "anthropic"),
        ({"type": "message", "content": []}, "anthropic"),
        (CONVERSE, "bedrock-converse"),
        ({"contentBlockStart": {"contentBlockIndex": 0, "start": {}}}, "bedrock-converse"),
        ({"contentBlockDelta": {"delta": {}}}, "bedrock-converse"),
        ({"contentBlockStop": {}, "p": "abc"}, "bedrock-converse"),
        ({"messageStop": {"stopReason": "end_turn"}}, "bedrock-converse"),
        ({"metadata": {"usage": {}}}, "bedrock-converse"),
        ({"output": {"message": {"content": []}}, "stopReason": "end_turn"}, "bedrock-converse"),
        (GEMINI, "gemini"),
        ({"candidates": [{"finishReason": "STOP"}], "finishReason": "STOP"}, "gemini"),
        ({"candidates": []}, "gemini"),
        (XAI, "xai-grpc"),
        (XAI["chunk"], "xai-grpc"),
        ({"outputs": [{"message": {"content": "x"}, "finish_reason": "REASON_STOP"}]}, "xai-grpc"),
        (INTERACTION, "gemini-interactions"),
        ({"event_type": "step.start"}, "gemini-interactions"),
        ({"event_type": "step.delta", "index": 0, "delta": {"type": "text"}}, "gemini-interactions"),
        ({"event_type": "interaction.status_update", "status": "in_progress"}, "gemini-interactions"),
        ({"object": "interaction", "id": "v1", "steps": []}, "gemini-interactions"),
        ({"event_type": "interaction.start", "interaction": {}}, "gemini-interactions"),
        ({"event_type": "content.delta", "index": 0, "delta": {"type": "text"}}, "gemini-interactions"),
        ({"object": "interaction", "id": "v1", "outputs": []}, "gemini-interactions"),
        (LIVE, "gemini-live"),
        (LIVE | {"usageMetadata": {"totalTokenCount": 1}}, "gemini-live"),
        ({"setupComplete": {}}, "gemini-live"),
        ({"setup_complete": None, "server_content": {}, "usage_metadata": {}}, "gemini-live"),
        ({"toolCall": {"functionCalls": []}}, "gemini-live"),
        ({"tool_call": {"function_calls": []}}, "gemini-live"),
        ({"toolCallCancellation": {"ids": []}}, "gemini-live"),
        ({"goAway": {"timeLeft": "5s"}}, "gemini-live"),
        ({"sessionResumptionUpdate": {}}, "gemini-live"),
        ({"response": GEMINI, "traceId": "t"}, "gemini"),
        ({"response": {"usageMetadata": {}}}, "gemini"),
        ({"usageMetadata": {"totalTokenCount": 1}}, "gemini"),
        ({"usage_metadata": {"total_token_count": 1}}, "gemini"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "gemini"),
        ({"prompt_feedback": {"block_reason": "SAFETY"}}, "gemini"),
        (LEGACY, "legacy-completions"),
        ({"object": "chat.completion.chunk", "choices": [{"text": ""}]}, "legacy-completions"),
        (CHAT, "chat-completions"),
        ({"object": "text_completion", "choices": [{"text": "x", "delta": {}}]}, "chat-completions"),
        ({"object": "text_completion", "choices": [{"text": "x", "message": None}]}, "chat-completions"),
        ({"choices": [{"text": None, "index": 0}]}, "chat-completions"),
        ({"choices": [{"delta": None}]}, "chat-completions"),
        ({"object": "chat.completion", "choices": [{"message": {"content": "x"}}]}, "chat-completions"),
        ({"object": "chat.completion.chunk"}, "chat-completions"),
        ({"object": "chat.completion.chunk", "choices": None}, "chat-completions"),
        (
            {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}},
            "chat-completions",
        ),
        ({"error": {"message": "x"}, "choices": [{"finish_reason": "error"}]}, "chat-completions"),
        ({"model_id": "m", "choices": [{"index": 0, "delta": {}}]}, "chat-completions"),
        ({"apiFormat": "COHERE", "text": "x"}, "chat-completions"),
        ({"toolCalls": [{"name": "f", "parameters": {}}]}, "chat-completions"),
        ({"finishReason": "stop"}, "chat-completions"),
        ({"index": 0, "message": {"toolCalls": []}}, "chat-completions"),
        ({"index": 0, "message": {"role": "ASSISTANT"}, "finishReason": "stop"}, "chat-completions"),
        (COHERE_V1, "cohere-v1"),
        ({"event_type": "citation-generation", "citations": []}, "cohere-v1"),
        ({"event_type": "stream-end", "finish_reason": "ERROR"}, "cohere-v1"),
        ({"generation_id": "g", "text": "", "finish_reason": "COMPLETE"}, "cohere-v1"),
        ({"generation_id": "g", "text": "x", "chat_history": []}, "cohere-v1"),
        (COHERE_V2, "cohere-v2"),
        ({"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {}}}}, "cohere-v2"),
        ({"message": {"tool_calls": []}, "finish_reason": "TOOL_CALL"}, "cohere-v2"),
        ({"message": {"content": []}, "finish_reason": "COMPLETE"}, "cohere-v2"),
        (VERCEL_UI, "vercel-ui"),
        ({"type": "start"}, "vercel-ui"),
        ({"type": "start-step"}, "vercel-ui"),
        ({"type": "text-start", "id": "t"}, "vercel-ui"),
        ({"type": "reasoning-delta", "id": "r", "delta": "x"}, "vercel-ui"),
        ({"type": "tool-input-start", "toolCallId": "c", "toolName": "f"}, "vercel-ui"),
        ({"type": "tool-output-available", "toolCallId": "c", "output": 1}, "vercel-ui"),
        ({"id": "m", "role": "assistant", "parts": [{"type": "text", "text": "x"}]}, "vercel-ui"),
        (OLLAMA, "ollama"),
        ({"message": {}, "done": True, "created_at": "t", "done_reason": "stop"}, "ollama"),
        ({"message": {"role": "assistant", "content": ""}, "done": False}, "ollama"),
        (GENERATE, "ollama-generate"),
        ({"response": "x", "done": False}, "ollama-generate"),
        (AG_UI, "ag-ui"),
        ({"type": "TOOL_CALL_CHUNK", "toolCallId": "c"}, "ag-ui"),
        ({"type": "TEXT_MESSAGE_START", "messageId": "m"}, "ag-ui"),
        ({"type": "MESSAGES_SNAPSHOT", "messages": []}, "ag-ui"),
        ({"type": "RUN_ERROR", "message": "x"}, "ag-ui"),
        (ACP, "acp"),
        (GIGACHAT, "gigachat"),
        (GIGACHAT | {"finish_reason": "stop", "usage": {}}, "gigachat"),
        ({"event": "response.message.delta", "messages": GIGA_MESSAGES}, "gigachat"),
        ({"event": "response.message.done", "finish_reason": "stop"}, "gigachat"),
        (A2A, "a2a"),
        (rpc(result={"kind": "task", "id": "t", "status": {"state": "submitted"}}), "a2a"),
        (rpc(result={"kind": "artifact-update", "artifact": {"parts": []}}), "a2a"),
        (rpc(result={"kind": "message", "role": "agent", "parts": []}), "a2a"),
        (rpc(result={"statusUpdate": A2A_UPDATE}), "a2a"),
        (rpc(result={"artifactUpdate": {"taskId": "t", "artifact": {}}}), "a2a"),
        (rpc(result={"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}), "a2a"),
        (rpc(result={"message": {"role": "ROLE_AGENT", "parts": []}}), "a2a"),
        (rpc(method="message/stream", params={}), "a2a"),
        (MCP, "mcp"),
        (rpc(method="tools/call", params={"name": "f", "arguments": {}}), "mcp"),
        (rpc(method="sampling/createMessage", params={"messages": []}), "mcp"),
        (rpc(method="initialize", params={"protocolVersion": "2025-06-18"}), "mcp"),
        (rpc(result={"protocolVersion": "2025-06-18", "serverInfo": {}}), "mcp"),
        (rpc(result={"content": [{"type": "text", "text": "x"}], "isError": False}), "mcp"),
        (rpc(result={"tools": [{"name": "f", "inputSchema": {}}]}), "mcp"),
        (rpc(result={"role": "assistant", "content": {}, "model": "m", "stopReason": "endTurn"}), "mcp"),
        (rpc(result={"stopReason": "end_turn"}), "acp"),
        (PI, "pi"),
        ({"type": "message_start", "message": {"role": "user", "timestamp": 1}}, "pi"),
        ({"type": "message_update", "assistantMessageEvent": {}}, "pi"),
        ({"type": "response", "command": "prompt", "success": True}, "pi"),
        ({"type": "tool_execution_start", "toolCallId": "c"}, "pi"),
        ({"type": "agent_end", "messages": []}, "pi"),
        ({"type": "agent_start"}, None),
        (SAP, "sap-orchestration"),
        ({"request_id": "q", "orchestration_result": CHAT}, "sap-orchestration"),
        ({"request_id": "q", "final_result": {"text": "x"}}, None),
        (AGENTS, "bedrock-agents"),
        (AGENTS["trace"], "bedrock-agents"),
        ({"returnControl": {"invocationId": "i", "invocationInputs": []}}, "bedrock-agents"),
        ({"invocationId": "i", "invocationInputs": []}, "bedrock-agents"),
        ({"chunk": {"bytes": "My4yIG0u"}}, "bedrock-agents"),
        ({"chunk": {"bytes": "eyJ4IjoxfQ=="}}, None),
        ({"trace": {"traceId": "t"}}, None),
        (CODEX, "codex-app-server"),
        ({"method": "thread/started", "params": {"thread": {"id": "t"}}}, "codex-app-server"),
        ({"method": "item/tool/call", "id": 1, "params": {"threadId": "t"}}, "codex-app-server"),
        ({"id": 3, "result": {"thread": {"id": "t"}, "model": "m"}}, "codex-app-server"),
        ({"id": 1, "result": {"userAgent": "x"}}, None),
        ({"method": "thread/list", "id": 1, "params": {}}, None),
        (CLAUDE_CODE, "claude-code"),
        ({"type": "system", "subtype": "init", "session_id": "s"}, "claude-code"),
        ({"type": "stream_event", "event": {"type": "ping"}, "session_id": "s"}, "claude-code"),
        ({"type": "user", "message": {"content": "x"}, "session_id": "s"}, "claude-code"),
        ({"type": "control_request", "request": {"subtype": "can_use_tool"}}, "claude-code"),
        ({"type": "control_response", "response": {"subtype": "success"}}, "claude-code"),
        ({"type": "result", "subtype": "success", "session_id": "s"}, "claude-code"),
        ({"type": "result", "status": "success", "session_id": "s"}, None),
        ({"type": "assistant", "message": {"id": "r1"}}, None),
        ({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {}}, "acp"),
        ({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission"}, "acp"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}, "acp"),
        ({"response": "", "done": True, "created_at": "t", "context": [1]}, "ollama-generate"),
        (DASHSCOPE, "dashscope"),
        ({"output": {"choices": []}}, "dashscope"),
        ({"output": {"text": "x", "finish_reason": "null"}, "request_id": "r1"}, "dashscope"),
        (CONVERSATIONS, "mistral-conversations"),
        ({"type": "message.output.delta", "content": "x"}, "mistral-conversations"),
        ({"type": "function.call.delta", "arguments": ""}, "mistral-conversations"),
        ({"type": "tool.execution.started"}, "mistral-conversations"),
        ({"outputs": [], "conversation_id": "r1"}, "mistral-conversations"),
        (WORKERS, "workers-ai"),
        ({"response": "x", "tool_calls": []}, "workers-ai"),
        ({"response": None, "tool_calls": [{"name": "f"}], "p": "ab"}, "workers-ai"),
        ({"result": {}, "success": True, "errors": [], "messages": []}, "workers-ai"),
        ({"result": None, "success": False, "errors": [{"code": 1}]}, "workers-ai"),
        (LLAMA, "llama-api"),
        (COPILOT, "copilot"),
        ({"type": "assistant.tool_call_delta", "data": {"toolCallId": "c", "inputDelta": ""}}, "copilot"),
        ({"type": "external_tool.requested", "data": {"toolCallId": "c", "toolName": "f"}}, "copilot"),
        ({"type": "tool.execution_start", "data": {}}, "copilot"),
        ({"type": "session.mcp_servers_loaded", "data": {"servers": []}, "ephemeral": True}, "copilot"),
        ({"event": {"event_type": "metrics"}}, "llama-api"),
        ({"event": {"event_type": "progress", "delta": {"type": "text", "text": "x"}}}, "llama-api"),
        ({"id": "r1", "event": {"event_type": "start", "delta": {"type": "text", "text": ""}}}, "llama-api"),
        ({"completion_message": {"content": "x"}, "id": "r1"}, "llama-api"),
        ({"completion_message": {"stop_reason": "stop", "tool_calls": [{"id": "c"}]}}, "llama-api"),
        (LLAMA_STACK, "llama-stack"),
        ({"event": {"event_type": "start", "delta": "", "stop_reason": None}}, "llama-stack"),
        ({"event": {"event_type": "progress", "delta": {"parse_status": "started"}}}, "llama-stack"),
        ({"event": {"event_type": "complete", "stop_reason": "end_of_turn"}}, "llama-stack"),
        ({"event": {"event_type": "complete"}, "metrics": None}, "llama-stack"),
        ({"completion_message": {"content": "x", "stop_reason": "out_of_tokens"}}, "llama-stack"),
        ({"completion_message": {"content": "x"}, "logprobs": None}, "llama-stack"),
        ({"completion_message": {"tool_calls": [{"tool_name": "f"}]}}, "llama-stack"),
        (PROTOCOL, "langchain-protocol"),
        ({"event": "content-block-start", "index": 0, "content": {"type": "text"}}, "langchain-protocol"),
        ({"event": "content-block-delta", "index": 0, "delta": {}}, "langchain-protocol"),
        ({"event": "content-block-finish", "index": 0, "content": {}}, "langchain-protocol"),
        ({"type": "event", "method": "messages", "params": {"data": PROTOCOL}}, "langchain-protocol"),
        ({"type": "event", "method": "lifecycle", "params": {"data": {}}, "seq": 1}, "langchain-protocol"),
    ],
)
def test_a_decisive_frame_tells_its_dialect(payload: dict[str, Any], name: str) -> None:
    """Fields decide, not the `object` that relays copy from elsewhere."""
    assert name == found(payload)


@together(
    "payload",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": {"index": 0}},
        {"choices": [], "object": "chat.completion.chunk"},
        {"error": {"message": "x"}},
        {"type": "error", "error": {"message": "x"}},
        {"type": "ping"},
        {"type": None},
        {"type": "response"},
        {"type": "session.closed", "event_id": "e1"},
        {"type": "conversation.item.added", "event_id": "e1", "item": {"type": "function_call"}},
        {"object": "realtime.response"},
        {"object": "thread", "id": "t1"},
        {"object": "list", "event": "done", "data": "[DONE]"},
        {"type": "message", "content": "x"},
        {"type": "message-start"},
        {"type": "message-start", "delta": {"message": None}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
        {"type": "text-start", "delta": {"message": {}}},
        {"type": "message-start", "message": {"content": []}, "finish_reason": "x"},
        {"message": {"content": []}},
        {"message": {"content": []}, "finish_reason": "COMPLETE", "choices": []},
        {"message": {"content": "x"}, "finish_reason": "COMPLETE"},
        {"event_type": "step"},
        {"event_type": "error", "error": {"message": "x"}},
        {"object": "interaction", "steps": None},
        {"generation_id": "g", "text": "x"},
        {"generation_id": "g", "finish_reason": "COMPLETE"},
        {"object": "response"},
        {"output": []},
        {"type": "x", "content": []},
        {"object": 5},
        {"message": {"role": "assistant", "content": ""}, "done": None},
        {"message": {"role": "assistant", "content": ""}, "created_at": "t"},
        {"message": "x", "done": False, "created_at": "t"},
        {"response": None, "done": False, "created_at": "t"},
        {"response": "x", "done": "false", "created_at": "t"},
        {"type": "start", "progress": 1},
        {"type": "finish"},
        {"type": "text-delta", "text": "x"},
        {"type": "tool-input-start"},
        {"type": "data-x", "data": 1},
        {"role": "user", "parts": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "parts": [{"text": "x"}]},
        {"candidates": None},
        {"response": None},
        {"response": None, "tool_calls": None},
        {"response": "x", "type": "session"},
        {"response": "x", "choices": []},
        {"success": True, "result": {}},
        {"success": True, "errors": []},
        {"output": {"text": "x"}},
        {"output": {"text": None}, "request_id": "r1"},
        {"output": {"choices": None}},
        {"outputs": []},
        {"outputs": {}, "conversation_id": "r1"},
        {"type": "message.output"},
        {"event": {"event_type": "tomorrow"}},
        {"event": {"event_type": ["start"]}},
        {"event": "start"},
        {"event": {"event_type": "start", "delta": {"type": "text", "text": ""}}},
        {"event": {"event_type": {}, "delta": ""}},
        {"completion_message": None},
        {"event": "message-finish"},
        {"event": ["message-start"]},
        {"event": "values", "data": {}},
        {"type": "event", "method": "messages", "params": {}},
        {"type": "event", "method": "messages", "params": None},
        {"type": "event", "method": "tomorrow", "params": {"data": {}}},
        {"type": "event", "method": ["messages"], "params": {"data": {}}},
        {"method": "messages", "params": {"data": {}}},
        {"outputs": [{"type": "message.output", "content": "x"}]},
        {"chunk": {"outputs": [None]}},
        {"chunk": {"usage": {}}, "outputs": "x"},
        {"serverContent": None, "toolCall": "x"},
        {"tool_call": {"id": "c1", "name": "f"}},
        {"candidates": 2, "usageMetadata": None},
        {"response": {"text": "x"}},
        {"message": "overloaded"},
        {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": None}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "x"}},
        rpc(method="initialize", params={"protocolVersion": 1}),
        rpc(method=["tools/call"]),
        rpc(method="ping"),
        rpc(result={}),
        rpc(result={"kind": "tomorrow"}),
        rpc(result={"kind": ["task"]}),
        rpc(result={"task": {"taskId": "t", "status": "working"}}),
        rpc(result={"stopReason": ["end_turn"]}),
        rpc(result={"content": "x", "stopReason": "end_turn"}),
        {"method": "tools/call", "id": 1, "params": {}},
        {"method": "notifications/progress", "params": {}},
        {"id": 1, "result": {"kind": "task"}},
        {"messages": [{"role": "assistant", "content": []}]},
        {"event": ["response.message.delta"]},
        {"event": "response.message.delta", "data": GIGACHAT},
        {"type": "state", "model": "m", "created_at": 1, "messages": []},
        {"method": "session/update", "params": {}},
        {"type": "RAW", "event": {}},
        {"type": "CUSTOM", "name": "x", "value": 1},
        {"type": "run_started", "runId": "r"},
        {"type": "assistant.message"},
        {"type": "assistant", "data": {}},
        {"type": "session.", "data": {}},
        {"type": "content.delta", "data": {}},
        {"type": "session.error", "data": "x"},
        {"type": "abort", "data": {"reason": "x"}},
        {"type": "result", "exitCode": 0},
        {"messageStart": None},
        {"messageStart": {}, "messageStop": {}},
        {"metadata": {"run_id": "r1"}},
        {"output": {"message": "x"}},
        {"output": {"message": {"content": "x"}}},
        {"throttlingException": {"message": "slow"}},
    ],
)
def test_other_frames_decide_nothing(payload: dict[str, Any]) -> None:
    """Pings, errors, empty choices and other dialects are left alone."""
    assert found(payload) is None


def test_the_event_may_tell_the_dialect() -> None:
    """An event of Cohere's that is named by its type needs no message to be known."""
    payload = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
    dialect = detect_dialect(payload, "message-end")

    assert dialect is not None
    assert "cohere-v2" == dialect.name
    assert detect_dialect(payload, "message") is None


def test_an_event_of_a_binary_stream_is_known_by_its_name() -> None:
    """The payload says nothing of its kind there; a name that others use as well decides nothing."""
    for name in ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"):
        dialect = detect_dialect({"contentBlockIndex": 0}, name)
        assert dialect is not None
        assert "bedrock-converse" == dialect.name
    assert detect_dialect({"usage": {}}, "metadata") is None


def test_the_events_of_a_conversation_are_known_by_their_names() -> None:
    """A name with the prefix of a conversation's events needs no type next to it."""
    dialect = detect_dialect({"content": "x"}, "message.output.delta")

    assert dialect is not None
    assert "mistral-conversations" == dialect.name
    assert detect_dialect({"content": "x"}, "message") is None


def test_an_event_of_a_thread_is_known_by_its_name() -> None:
    """Its data has no type; the thread itself is not a run."""
    dialect = detect_dialect({"id": "t1", "object": "thread"}, "thread.created")

    assert dialect is not None
    assert "openai-assistants" == dialect.name


@pytest.mark.parametrize(
    "name", ["response.message.delta", "response.message.done", "response.tool.completed"]
)
def test_the_events_of_gigachat_are_known_by_their_names(name: str) -> None:
    """They are not events of OpenAI's Responses, whose types begin with the same word."""
    dialect = detect_dialect({"model": "m"}, name)

    assert dialect is not None
    assert "gigachat" == dialect.name


def leads() -> list[tuple[str, str]]:
    """Return each quiet frame next to each dialect in whose streams it occurs."""
    legacy = "legacy-completions"
    texts = {
        name for name in DECISIVE if named(name).framings[0] in ("sse", "jsonl")
    }  # which others never ping
    pairs = [(lead, name) for lead in QUIET for name in DECISIVE if lead != "ping object" or name in texts]
    return [pair for pair in pairs if "choices" not in pair[0] or pair[1] in {"chat-completions", legacy}]


@together("lead", QUIET)
def test_what_comes_first_changes_nothing(lead: str) -> None:
    """Keep-alives and empty frames before the decisive one change no event (quirks 53 and 54)."""
    for name in (name for quiet, name in leads() if quiet == lead):
        decisive = sse(DECISIVE[name], b"data: [DONE]\n\n")

        assert [name] == [*{event.dialect for event in parse(decisive) if isinstance(event, TurnStarted)}]
        assert parse(decisive, dialect=name) == parse(QUIET[lead] * 3 + decisive)


@together("lead", QUIET)
def test_what_comes_first_does_not_mislead(lead: str) -> None:
    """Whatever quiet frame leads, even one of another dialect, the decisive frame decides."""
    for name, decisive in DECISIVE.items():
        events = parse(QUIET[lead] + sse(decisive))

        assert {name} == {event.dialect for event in events if isinstance(event, TurnStarted)}
        assert [] == [event for event in events if isinstance(event, StreamFault)], name


@together("name", DECISIVE)
def test_an_error_frame_before_the_decisive_one_is_replayed(name: str) -> None:
    """An early error is not a dialect; it is reported once the dialect is known, and it is fatal (quirk 52)."""
    fault = StreamFault(0, 0, "provider_error", "429: slow", {"code": 429, "message": "slow"}, fatal=True)
    events = parse(sse({"error": {"code": 429, "message": "slow"}}, DECISIVE[name]))

    assert fault == events[0]
    assert [TurnFinished(0, 0, "error")] == [
        TurnFinished(event.turn, event.choice, event.reason)
        for event in events
        if isinstance(event, TurnFinished)
    ]


def test_an_error_alone_needs_no_dialect() -> None:
    """A stream of one error is that error, whatever would have come (quirk 52)."""
    error = {"type": "overloaded_error", "message": "busy"}
    detail = "overloaded_error: busy"

    assert StreamFault(0, 0, "provider_error", detail, error, fatal=True) == parse(sse({"error": error}))[0]
    told = parse(b"event: error\ndata: busy\n\n")
    assert StreamFault(0, 0, "provider_error", "busy", "busy", fatal=True) == told[0]
    told = parse(exception("throttlingException", {"message": "slow"}))
    error = {"code": "throttlingException", "message": "slow"}
    detail = "throttlingException: slow"
    assert StreamFault(0, 0, "provider_error", detail, error, fatal=True) == told[0]


def test_frames_before_the_decisive_one_are_replayed_in_order() -> None:
    """Kept frames are translated as if the dialect had been known."""
    stream = sse(b"data: broken{\n\n", {"choices": [], "id": "r0"}, CHAT, b"data: [DONE]\n\n")

    assert parse(stream, dialect="chat-completions") == parse(stream)
    assert [StreamFault, TurnStarted, TextDelta, TurnFinished] == [type(event) for event in parse(stream)]


def test_frames_that_are_kept_are_bounded() -> None:
    """The oldest frames go when the kept frames outgrow their limit; the newest are replayed."""
    stream = sse(b"data: broken1\n\n", b"data: broken2\n\n", b"data: broken3\n\n", CHAT)
    frame = len("message") + len("broken2") + 200  # its name, its text, and the cost of a frame itself
    kept = Limits(max_pending_frames_bytes=2 * frame)
    fewer = Limits(max_pending_frames_bytes=2 * frame - 1)

    faults = [event.raw for event in parse(stream, limits=kept) if isinstance(event, StreamFault)]
    assert ["broken2", "broken3"] == faults
    assert 1 == sum(isinstance(event, StreamFault) for event in parse(stream, limits=fewer))
    assert 3 == sum(isinstance(event, StreamFault) for event in parse(stream, limits=Limits.none()))


@pytest.mark.parametrize("limits", [Limits(), Limits(max_pending_frames_bytes=1)], ids=["kept", "forgotten"])
def test_an_unknown_dialect_is_one_clear_fault(limits: Limits) -> None:
    """An unreadable stream ends in one fault, however many frames it had."""
    stream = sse({"type": "session.opened"}, {"kind": "x"}, {"kind": "y"}, b"data: [DONE]\n\n")
    events = parse(stream, limits=limits)

    assert ["unknown_dialect"] == [event.kind for event in events if isinstance(event, StreamFault)]
    assert TurnFinished(0, 0, "unknown", anomalies=("missing_finish",)) == events[-1]


def test_a_stream_of_noise_is_empty() -> None:
    """Keep-alives and an end marker alone are an empty turn without a fault (quirk 53)."""
    noise = b"".join(QUIET[lead] for lead in ("comment", "ping event", "empty data", "empty object", "null"))

    assert [TurnFinished(0, 0, "unknown", anomalies=("missing_finish",))] == parse(
        noise + b"data: [DONE]\n\n"
    )


def test_an_unreadable_stream_says_so() -> None:
    """Frames without any JSON object are reported as such."""
    events = parse(b"data: nonsense\n\n")

    assert [("undecodable_frame", "nonsense", False)] == [
        (event.kind, event.raw, event.fatal) for event in events if isinstance(event, StreamFault)
    ]


def test_lines_that_were_joined_are_looked_at_one_by_one() -> None:
    """A decisive payload is found after another one in the same event (quirk 55)."""
    lines = b"data: {}\ndata: " + json.dumps(CHAT).encode() + b"\n\n"

    assert TurnStarted(0, 0, "chat-completions", "r1", "m") == parse(lines)[0]


@pytest.mark.parametrize(
    "oddity",
    [
        pytest.param('"\\ud83d"', id="surrogate"),
        pytest.param("NaN", id="nan"),
        pytest.param('"a\tb"', id="control"),
    ],
)
def test_an_oddity_that_a_translator_reads_does_not_hide_the_dialect(oddity: str) -> None:
    """Every frame that is translated under a named dialect is also detected (quirks 33 and 35)."""
    body = f'{{"choices":[{{"index":0,"delta":{{"content":"x"}},"seed":{oddity}}}]}}\n'.encode()

    assert parse(body, dialect="chat-completions") == parse(body)
