// The AI SDK over four dialects. It runs the tools itself, so what counts is what it ran; it goes on after errors,
// and so do programs that take them by `onError`.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";

import { KEY, QUESTION, Refused, SCHEMA } from "./common.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const settings = (url) => ({ apiKey: KEY, baseURL: `${url}/v1` });

const client = (modelOf) => async (url, calls, names) => {
  const toolOf = (name) =>
    tool({
      inputSchema: jsonSchema(SCHEMA),
      execute: (input) => {
        calls.push({ name, arguments: input });
        return "served";
      },
    });
  const tools = Object.fromEntries(names.map((name) => [name, toolOf(name)]));
  const result = streamText({ model: modelOf(url), prompt: QUESTION, tools, maxRetries: 0, onError: () => {} });
  const errors = [];
  try {
    for await (const part of result.fullStream) {
      if (part.type === "error") errors.push(part.error);
      if (part.type === "tool-error") errors.push(new Refused(String(part.error)));
    }
  } catch (error) {
    errors.push(error); // of the connection, after what came before it
  }
  if (errors.length) throw errors[0];
};

export const ai = {
  chat: {
    "ai + @ai-sdk/openai": client((url) => createOpenAI(settings(url)).chat("m")),
    "ai + @ai-sdk/openai-compatible": client((url) => createOpenAICompatible({ ...settings(url), name: "served" })("m")),
  },
  anthropic: { "ai + @ai-sdk/anthropic": client((url) => createAnthropic(settings(url))("m")) },
  gemini: {
    "ai + @ai-sdk/google": client((url) => createGoogleGenerativeAI({ apiKey: KEY, baseURL: `${url}/v1beta` })("m")),
  },
  responses: { "ai + @ai-sdk/openai": client((url) => createOpenAI(settings(url)).responses("m")) },
};
