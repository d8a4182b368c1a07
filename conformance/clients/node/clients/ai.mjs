// The AI SDK over four wires. It runs the tools itself, and tells the model of calls that it does not run; it goes on
// after errors, and so do programs that take them by `onError`.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool } from "ai";

import { KEY, QUESTION } from "../protocol.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const settings = (run) => ({ apiKey: KEY, baseURL: run.url });

function toolsOf(run) {
  const toolOf = ({ name, schema }) =>
    tool({
      inputSchema: jsonSchema(schema),
      execute: (input, { toolCallId }) => {
        run.called(toolCallId, name, input);
        return "served";
      },
    });
  return Object.fromEntries(run.tools.map((one) => [one.name, toolOf(one)]));
}

const read = (modelOf) => async (run) => {
  const ask = { model: modelOf(run), prompt: QUESTION, tools: toolsOf(run), maxRetries: 0 };
  if (!run.stream) {
    const { content } = await generateText(ask);
    for (const part of content) if (part.type === "tool-error") run.refuse(part.toolCallId, part.toolName, part.error);
    return;
  }
  const errors = [];
  try {
    for await (const part of streamText({ ...ask, onError: () => {} }).fullStream) {
      if (part.type === "error") errors.push(part.error);
      if (part.type === "tool-error") run.refuse(part.toolCallId, part.toolName, part.error);
    }
  } catch (error) {
    errors.push(error); // of the connection, after what came before it
  }
  if (errors.length) throw errors[0];
};

const way = (name, wire, provider, modelOf) => ({
  name,
  wire,
  read: read(modelOf),
  dependencies: ["ai", provider],
  runs_tools: true,
  whole: true,
});

export const ai = [
  way("ai-sdk-openai", "chat-completions", "@ai-sdk/openai", (run) => createOpenAI(settings(run)).chat("m")),
  way("ai-sdk-openai-compatible", "chat-completions", "@ai-sdk/openai-compatible", (run) =>
    createOpenAICompatible({ ...settings(run), name: "served" })("m"),
  ),
  way("ai-sdk-openai", "responses", "@ai-sdk/openai", (run) => createOpenAI(settings(run)).responses("m")),
  way("ai-sdk-anthropic", "anthropic", "@ai-sdk/anthropic", (run) =>
    createAnthropic({ ...settings(run), baseURL: `${run.url}/v1` })("m"),
  ),
  way("ai-sdk-google", "gemini", "@ai-sdk/google", (run) =>
    createGoogleGenerativeAI({ ...settings(run), baseURL: `${run.url}/v1beta` })("m"),
  ),
];
