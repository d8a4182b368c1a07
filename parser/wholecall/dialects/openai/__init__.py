"""OpenAI: Chat Completions and all who claim to speak it, Responses, Realtime, Assistants, legacy completions."""

_private = True
