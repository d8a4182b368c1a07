"""OpenAI: Chat Completions and all servers that claim it, Responses, Realtime, Assistants, legacy completions."""

_private = True
