"""Dialects of frameworks: LangChain, the Vercel AI SDK."""

_private = True
