// Runs clients over streams: on standard input a JSON line for each run, {"name", "dialect", "url", "tools"}, on standard
// output one for each of them, in order: {"calls": [{"name", "arguments"}], "error"}.
//
// `calls` are those that the program has executed, or would execute; arguments that JSON.parse does not take are
// text. `error` is what was raised, or what the client told the model instead of running a tool; null if nothing.

import { createInterface } from "node:readline";

import { ai } from "./clients/ai.mjs";
import { anthropic } from "./clients/anthropic.mjs";
import { gemini } from "./clients/gemini.mjs";
import { chat } from "./clients/openai_chat.mjs";
import { responses } from "./clients/openai_responses.mjs";

const CLIENTS = {
  "chat-completions": { ...chat, ...ai.chat },
  anthropic: { ...anthropic, ...ai.anthropic },
  gemini: { ...gemini, ...ai.gemini },
  responses: { ...responses, ...ai.responses },
};

async function run({ name, dialect, url, tools }) {
  const calls = [];
  try {
    await CLIENTS[dialect][name](url, calls, tools);
  } catch (error) {
    return { calls, error: `${error?.name ?? "Error"}: ${error?.message ?? error}` };
  }
  return { calls, error: null };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(JSON.parse(line))));
}
