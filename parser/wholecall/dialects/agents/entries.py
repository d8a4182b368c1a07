"""The entries of agents' own streams in the table of dialects (`wholecall.dialects.detect`), in its order and language."""

from __future__ import annotations

from typing import Final

from wholecall.dialects.marks import (
    ABSENT,
    AGENT,
    HERE,
    LIST,
    NAME,
    OBJECT,
    SERVER,
    TEXT,
    TRUTH,
    Entry,
    Row,
    no,
)

_RPC: Final[Row] = {"jsonrpc": "2.0"}
_CURSOR: Final[Row] = {"session_id": TEXT, "uuid": ABSENT, "parent_tool_use_id": ABSENT, "message.id": ABSENT}
_CODEX: Final[Row] = {"method": {"item/*", "thread/*", "turn/*"}, "result.thread": no(OBJECT)}
_AGNO: Final = frozenset(
    f"{of}{name}"
    for of in ("", "Team")
    for name in (
        *(
            "RunStarted",
            "RunContinued",
            "RunContent",
            "RunCompleted",
            "RunPaused",
            "RunCancelled",
            "RunError",
        ),
        *("ToolCallStarted", "ToolCallCompleted", "ToolCallError", "ToolCallArgsDelta"),
        *("RunContentCompleted", "RunIntermediateContent", "ReasoningContentDelta", "ReasoningStep"),
        *("ReasoningStarted", "ReasoningCompleted", "PreHookStarted", "PreHookCompleted", "PostHookStarted"),
        *("PostHookCompleted", "MemoryUpdateStarted", "MemoryUpdateCompleted", "SessionSummaryStarted"),
        *("SessionSummaryCompleted", "ParserModelResponseStarted", "ParserModelResponseCompleted"),
        *("OutputModelResponseStarted", "OutputModelResponseCompleted", "ModelRequestStarted"),
        *("ModelRequestCompleted", "CompressionStarted", "CompressionCompleted", "FollowupsStarted"),
        "FollowupsCompleted",
    )
) | {
    *("WorkflowStarted", "WorkflowCompleted", "WorkflowCancelled", "WorkflowError", "StepStarted"),
    *("StepCompleted", "StepError", "StepOutput", "LoopExecutionStarted", "LoopIterationStarted"),
    *("LoopIterationCompleted", "LoopExecutionCompleted", "ParallelExecutionStarted"),
    *("ParallelExecutionCompleted", "ConditionExecutionStarted", "ConditionExecutionCompleted"),
    *("RouterExecutionStarted", "RouterExecutionCompleted", "StepsExecutionStarted"),
    *("StepsExecutionCompleted", "WorkflowAgentStarted", "WorkflowAgentCompleted"),
}

AGENTS: Final[dict[str, Entry]] = {
    # {"content":{"role":"model","parts":[…]},"author":"pilot","invocationId":"e-1",…}    its contents are Google's
    "adk": Entry(
        "agents.adk.AdkTranslator",
        SERVER,
        ({"author": TEXT, "invocationId|invocation_id": TEXT, "choices": ABSENT},),
        besides="content finishReason usageMetadata usage_metadata",
    ),
    # {"jsonrpc":"2.0","method":"session/update","params":{…}}
    # {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"},…}    next to a content it is a sample in MCP
    "acp": Entry(
        "agents.acp.AcpTranslator",
        AGENT,
        (
            {**_RPC, "method": {"session/update", "session/request_permission", "session/prompt"}},
            {**_RPC, "result.stopReason": TEXT, "result.content": ABSENT},
        ),
    ),
    # {"type":"assistant.message_delta","data":{"deltaContent":"Hel"},…}    also events about the session itself
    "copilot": Entry(
        "agents.copilot.CopilotTranslator",
        AGENT,
        (
            {
                "type": {
                    *("assistant.*", "tool.*", "external_tool.*", "session.*", "user.*", "system.*"),
                    *("permission.*", "subagent.*", "hook.*", "skill.*", "model.*", "mcp.*"),
                },
                "data": OBJECT,
                "data.sessionID": ABSENT,  # opencode's
            },
        ),
    ),
    # {"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{…},…}    others as Claude Code's
    "cursor": Entry(
        "agents.cursor.CursorTranslator",
        AGENT,
        (
            {"type": "tool_call", "subtype": {"started", "completed"}, "tool_call": OBJECT},
            {"type": "thinking", "subtype": {"delta", "completed"}},
            {**_CURSOR, "type": "system", "subtype": "init", "permissionMode": TEXT, "tools": ABSENT},
            {**_CURSOR, "type": {"user", "assistant"}, "message.content[0].type": "text"},
            {**_CURSOR, "type": "result", "subtype": TEXT, "duration_ms": HERE, "num_turns": ABSENT},
        ),
    ),
    # {"type":"stream_event","session_id":"s","event":{"type":"message_start"},…}    a line of a session
    # {"type":"control_request","request":{"subtype":"can_use_tool"},…}    or between the agent and its client
    "claude-code": Entry(
        "agents.claude_code.ClaudeCodeTranslator",
        ("jsonl", "jsonarray", "sse"),
        (
            {"type": "stream_event", "event": OBJECT, "session_id": TEXT},
            {"type": {"assistant", "user"}, "message": OBJECT, "session_id": TEXT},
            {"type": {"system", "result"}, "subtype": TEXT, "session_id": TEXT},
            {"type": "control_request", "request.subtype": TEXT},
            {"type": "control_response", "response.subtype": TEXT},
        ),
        besides="result",
    ),
    # {"method":"item/agentMessage/delta","params":{"threadId":"t1","delta":"Hel"},…}
    # {"id":1,"result":{"thread":{"id":"t1"}},…}
    "codex-app-server": Entry(
        "agents.codex_app_server.CodexAppServerTranslator",
        AGENT,
        (
            {**_CODEX, "params.threadId": TEXT},
            {**_CODEX, "params.thread": OBJECT},
            {"result.thread.id": TEXT, "id": HERE},
        ),
    ),
    # {"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Hello"},…}
    "codex-exec": Entry(
        "agents.codex_exec.CodexExecTranslator",
        AGENT,
        (
            {"type": "thread.started", "thread_id": TEXT},
            {"type": {"turn.started", "turn.completed", "turn.failed"}},
            {"type": {"item.started", "item.updated", "item.completed"}, "item": OBJECT},
        ),
    ),
    # {"type":"tool_use","timestamp":"2026-…","tool_name":"glob","tool_id":"glob-1","parameters":{…}}
    # {"session_id":"s","response":"Hello","stats":{…}}    the answer alone
    "gemini-cli": Entry(
        "agents.gemini_cli.GeminiCliTranslator",
        AGENT,
        (
            {"type": "init", "timestamp": TEXT, "session_id": TEXT, "model": TEXT},
            {"type": "message", "timestamp": TEXT, "role": {"user", "assistant"}, "content": TEXT},
            {"type": {"tool_use", "tool_result"}, "timestamp": TEXT, "tool_id": TEXT},
            {"type": {"error", "result"}, "timestamp": TEXT, "severity|status": TEXT},
            {"response": TEXT, "session_id": TEXT, "stats": OBJECT},
        ),
        weak="response",
    ),
    # {"type":"message","message":{"id":"m1","role":"assistant","created":1,"content":[{"type":"toolRequest",…}]}}
    # {"type":"Finish","reason":"stop","token_state":{…}}    of the server
    # {"messages":[…],"metadata":{"total_tokens":3,"status":"completed"}}    a whole session
    "goose": Entry(
        "agents.goose.GooseTranslator",
        AGENT,
        (
            {"type": {"message", "Message"}, "message.content": LIST, "message.created": HERE},
            {"type": "complete", "total_tokens": HERE},
            {"type": "Finish", "reason": TEXT, "token_state": OBJECT},
            {"type": "Notification", "request_id": TEXT, "message.method": TEXT},
            {"type": "UpdateConversation", "conversation": LIST},
            {"messages": LIST, "metadata.total_tokens": HERE, "metadata.status": TEXT},
        ),
        weak="messages metadata message",
    ),
    # {"type":"message.part.updated","properties":{"part":{"type":"text",…},"delta":"Hel"}}    of the server
    # {"type":"session.tool.called","data":{"sessionID":"ses_1","callID":"c1","input":{…},…},…}    newer events
    # {"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{"type":"tool",…}}    of one run
    "opencode": Entry(
        "agents.opencode.OpencodeTranslator",
        AGENT,
        (
            {"type": {"message.*", "session.*", "server.*", "permission.*"}, "properties": OBJECT},
            {
                "type": {
                    *("session.next.*", "session.step.*", "session.text.*", "session.reasoning.*"),
                    *("session.tool.*", "session.execution.*"),
                },
                "data.sessionID": TEXT,
            },
            {"type": {"step_*", "text", "reasoning", "tool_use"}, "sessionID": TEXT, "part": OBJECT},
            {"type": "error", "sessionID": TEXT, "error": OBJECT},
            {"info.id": TEXT, "info.role": TEXT, "parts": LIST},
        ),
    ),
    # {"id":"message-1","message_type":"tool_call_message","tool_call":{"name":"tide",…},…}
    # {"messages":[…],"stop_reason":{"message_type":"stop_reason",…},"usage":{…}}    a whole run
    "letta": Entry(
        "agents.letta.LettaTranslator",
        SERVER,
        (
            {
                "message_type": {
                    *("reasoning_message", "hidden_reasoning_message", "assistant_message"),
                    *("tool_call_message", "tool_return_message", "approval_request_message"),
                    *("approval_response_message", "system_message", "user_message", "summary_message"),
                    *("event_message", "error_message", "stop_reason", "usage_statistics"),
                }
            },
            {"messages": LIST, "stop_reason.message_type": "stop_reason"},
        ),
        weak="messages",
        besides="message",
    ),
    # {"type":"agent.custom_tool_use","id":"sevt_1","name":"tide","input":{…}}
    # {"type":"event_delta","event_id":"sevt_1","delta":{"type":"content_delta",…}}    a preview
    "managed-agents": Entry(
        "agents.managed_agents.ManagedAgentsTranslator",
        SERVER,
        (
            {
                "type": {
                    *("agent.message", "agent.thinking", "agent.tool_*", "agent.custom_tool_use"),
                    *("agent.mcp_tool_*", "agent.thread_*", "span.model_request_*", "span.outcome_*"),
                    *("session.status_*", "session.thread_*", "session.usage", "system.message"),
                    *("user.custom_tool_result", "user.tool_confirmation", "user.tool_result"),
                    *("user.interrupt", "user.define_outcome"),
                },
                "data|properties": no(OBJECT),
            },
            {"type": "session.error", "error": OBJECT, "data|properties": no(OBJECT)},
            {"type": "event_start", "event.type": {"agent.message", "agent.thinking"}},
            {"type": "event_delta", "event_id": TEXT, "delta": OBJECT},
        ),
    ),
    # {"event":{"contentBlockDelta":{"delta":{"text":"Hel"}}}}    the model's events, or {"init_event_loop":true}
    # {"message":{"role":"assistant","content":[{"toolUse":{…}}]}}
    "strands": Entry(
        "agents.strands.StrandsTranslator",
        SERVER,
        (
            {
                "event.messageStart|event.contentBlockStart|event.contentBlockDelta|event.contentBlockStop"
                "|event.messageStop|event.metadata.usage": OBJECT
            },
            {"init_event_loop|start_event_loop|multi_agent_node_start|multi_agent_node_stream": TRUTH},
            {"type": "multiagent_*"},
            {"force_stop": TRUTH, "force_stop_reason": HERE},
            {
                "message.content[0].toolUse|message.content[0].toolResult": OBJECT,
                "message.role": TEXT,
                "type": ABSENT,
            },
        ),
        weak="message",
    ),
    # {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","status":{…}}}    by its kind, or in a member
    # {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","status":{…}}}}    a task of MCP has a word as its status
    "a2a": Entry(
        "agents.a2a.A2aTranslator",
        SERVER,
        (
            {**_RPC, "result.kind": {"task", "message", "status-update", "artifact-update"}},
            {**_RPC, "result.statusUpdate|result.task.status": OBJECT},
            {**_RPC, "result.artifactUpdate": OBJECT, "result.statusUpdate": ABSENT},
            {**_RPC, "result.message.parts": LIST},
            {
                **_RPC,
                "method": {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"},
                "result": no(OBJECT),
            },
        ),
    ),
    # {"jsonrpc":"2.0","method":"tools/call","params":{…}}    a request or a notification, by its family
    # {"jsonrpc":"2.0","id":1,"result":{"content":[…]}}    a result of a tool, a list, or a sample
    # {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"},…}    a handshake, by its date
    "mcp": Entry(
        "agents.mcp.McpTranslator",
        SERVER,
        (
            {
                **_RPC,
                "method": {
                    *("notifications/*", "tools/*", "sampling/*", "elicitation/*", "roots/*", "resources/*"),
                    "prompts/*",
                },
            },
            {**_RPC, "method": "initialize", "params.protocolVersion": TEXT},
            {
                **_RPC,
                "result.content|result.tools|result.resources|result.prompts": LIST,
                "method": no(TEXT),
            },
            {**_RPC, "result.content": OBJECT, "result.model": HERE, "method": no(TEXT)},
            {**_RPC, "result.protocolVersion": TEXT, "method": no(TEXT)},
        ),
    ),
    # {"event":"ToolCallStarted","created_at":1,"run_id":"r1","tool":{"tool_call_id":"c1",…},…}    or of a team
    # {"run_id":"r1","agent_id":"pilot","status":"COMPLETED","content":"Hello","tools":[…],…}    a whole run
    "agno": Entry(
        "agents.agno.AgnoTranslator",
        SERVER,
        (
            {"event": _AGNO | {"CustomEvent"}, "created_at": HERE},
            {
                "agent_id|team_id": HERE,
                "run_id": TEXT,
                "status": {"COMPLETED", "PAUSED", "CANCELLED", "ERROR"},
            },
        ),
        besides="content_type parent_run_id tool",
    ),
    # {"event":"agent_thought","id":"t1","task_id":"1","message_id":"m1","tool":"f","tool_input":"{…}",…}
    "dify": Entry(
        "agents.dify.DifyTranslator",
        SERVER,
        (
            {
                "event": {
                    *("agent_thought", "agent_message", "agent_log", "workflow_started", "workflow_finished"),
                    *("node_started", "node_finished", "node_retry", "text_chunk", "text_replace"),
                    *("message", "message_end", "message_file", "message_replace", "error"),
                    *("tts_message", "tts_message_end", "iteration_started", "iteration_next"),
                    *("iteration_completed", "loop_started", "loop_next", "loop_completed"),
                    *("parallel_branch_started", "parallel_branch_finished"),
                },
                "task_id": TEXT,
            },
        ),
        besides="message_id workflow_run_id answer metadata",
    ),
    # event: conversation.message.delta, data: {"id":"m1","type":"answer","content":"Hel","chat_id":"1",…}
    # {"id":"1","conversation_id":"2","bot_id":"3","status":"requires_action","required_action":{…}}    a chat, asked for
    "coze": Entry(
        "agents.coze.CozeTranslator",
        SERVER,
        (
            {
                NAME: {
                    *("conversation.chat.*", "conversation.message.delta", "conversation.message.completed"),
                    "conversation.audio.delta",
                }
            },
            {"bot_id": HERE, "required_action.submit_tool_outputs": OBJECT},
        ),
        weak="required_action",
        besides="chat_id section_id",
    ),
    # {"type":"message_start","message":{"role":"assistant","timestamp":1},…}    its messages have times
    # {"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"Hel"},…}
    "pi": Entry(
        "agents.pi.PiTranslator",
        AGENT,
        (
            {
                "type": {"message_start", "message_end", "turn_end"},
                "message.role": HERE,
                "message.timestamp": HERE,
            },
            {"type": "message_update", "assistantMessageEvent": OBJECT},
            {"type": {"tool_execution_*"}, "toolCallId": HERE},
            {"type": "agent_end", "messages": LIST},
            {"type": "response", "command": TEXT, "success": TRUTH},
        ),
        weak="messages",
        besides="result",
    ),
}
