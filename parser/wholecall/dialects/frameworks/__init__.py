"""What frameworks send on: LangChain, the Vercel AI SDK."""

_private = True
