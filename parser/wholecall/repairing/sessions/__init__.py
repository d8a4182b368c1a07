"""Sessions over sockets: one message is one event; Responses, OpenAI Realtime and Gemini Live."""
