"""The table of dialects as docs/dialects.md shows it, made from the records that the library runs on and the recordings.

python -m tests.support.dialect_table     prints it, to be pasted between the markers in docs/dialects.md
"""

from __future__ import annotations

from tests.support import corpora
from wholecall.dialects import DIALECTS

# The distinction of two calls on the wire, and the end of a call.
CALLS = {
    "a2a": ("(no calls)", "-"),
    "acp": ("`toolCallId`", "its status"),
    "ag-ui": ("`toolCallId`", "a result, or the end of the run"),
    "anthropic": ("block index", "`content_block_stop`, and what follows"),
    "bedrock-agents": ("order", "its own event"),
    "bedrock-converse": ("block index", "`contentBlockStop`, and what follows"),
    "chat-completions": ("index, id and name together", "the finish reason"),
    "claude-code": ("call id", "its result, a request to the client, or the next message"),
    "codex-app-server": ("item id", "`item/completed`, or a request to the client"),
    "codex-exec": ("item id", "`item.completed`"),
    "cursor": ("`call_id`", "its completion"),
    "opencode": ("`callID`", "its state"),
    "gemini-cli": ("`tool_id`", "`tool_result`"),
    "cohere-v1": ("index", "`tool-calls-generation`"),
    "cohere-v2": ("index", "`tool-call-end`"),
    "copilot": ("`toolCallId`", "a request to the client, or its execution"),
    "dashscope": ("index and id", "the finish reason"),
    "gemini": ("order", "its own part"),
    "gemini-interactions": ("step index", "`step.stop`"),
    "gemini-live": ("order", "its own message"),
    "gigachat": ("id, or order", "its own part"),
    "langchain": ("index and id", "the end of the message"),
    "langchain-events": ("run, index and id", "`on_chat_model_end`"),
    "langchain-protocol": ("message, block index and id", "`content-block-finish`, and what follows"),
    "legacy-completions": ("(no calls)", "-"),
    "llama-api": ("id", "the end of the answer"),
    "llama-stack": ("its own event", "its own event, and what follows"),
    "mcp": ("(no calls)", "-"),
    "mistral-conversations": ("entry id", "the end of the response"),
    "ollama": ("order", "its own line"),
    "ollama-generate": ("(no calls)", "-"),
    "openai-assistants": ("step and index", "the run that asks for outputs"),
    "openai-realtime": ("output index, item id", "`output_item.done`"),
    "pi": ("content index", "`toolcall_end`, and what follows"),
    "responses": ("output index, item id", "`output_item.done`"),
    "sap-orchestration": ("as in chat completions", "as in chat completions"),
    "vercel-data": ("`toolCallId`", "its `9:` line"),
    "vercel-ui": ("`toolCallId`", "`tool-input-available`"),
    "workers-ai": ("index and id", "`[DONE]`"),
    "xai-grpc": ("id", "its own message"),
}
INSIDE = ("as inside", "as inside")  # of dialects whose events come wrapped
UNSAID = ("?", "?")  # which tests/hygiene/test_dialects.py complains of


def markdown() -> str:
    """Return the table: a row for each dialect, with the quirks that its recordings show."""
    entries = corpora.cases()
    lines = [
        "| dialect | comes as | calls are told apart by | a call ends with | recordings | quirks they show |",
        "|---|---|---|---|---|---|",
    ]
    for dialect in sorted(DIALECTS, key=lambda dialect: dialect.name):
        mine = [entry for entry in entries if entry["dialect"] == dialect.name]
        quirks = sorted({quirk for entry in mine for quirk in entry["quirks"]})
        shown = ", ".join(_ranges(quirks)) or "-"
        key, ends = INSIDE if dialect.name.startswith("bedrock-invoke-") else CALLS.get(dialect.name, UNSAID)
        framings = ", ".join(dialect.framings)
        lines.append(f"| `{dialect.name}` | {framings} | {key} | {ends} | {len(mine)} | {shown} |")
    return "\n".join(lines) + "\n"


def _ranges(numbers: list[int]) -> list[str]:
    """Return sorted numbers with those in a row put together: 1-3, 5."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}" for row in rows]


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - that is what it is for
