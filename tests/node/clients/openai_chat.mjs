// The SDK of OpenAI over Chat Completions: its helpers, and the loop of the guide to streaming.

import OpenAI from "openai";

import { KEY, MESSAGES, Refused, SCHEMA, called } from "./common.mjs";

const clientOf = (url) => new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });

const toolsOf = (names) => names.map((name) => ({ type: "function", function: { name, parameters: SCHEMA } }));

async function helper(url, calls, names) {
  const ask = { model: "m", messages: MESSAGES, tools: toolsOf(names) };
  const stream = clientOf(url).chat.completions.stream(ask);
  const completion = await stream.finalChatCompletion();
  for (const { function: made } of completion.choices[0].message.tool_calls ?? []) {
    calls.push(called(made.name, made.arguments));
  }
}

async function runTools(url, calls, names) {
  const toolOf = (name) => ({
    type: "function",
    function: {
      name,
      parameters: SCHEMA,
      parse: JSON.parse,
      function: (args) => {
        calls.push({ name, arguments: args });
        return "served";
      },
    },
  });
  const tools = names.map(toolOf);
  const runner = clientOf(url).chat.completions.runTools({ model: "m", messages: MESSAGES, stream: true, tools });
  const told = [];
  runner.on("message", (message) => message.role === "tool" && told.push(message.content));
  await runner.done();
  if (told.length > calls.length) throw new Refused(told.find((text) => text !== "served"));
}

// Keeps calls by their index and appends to their arguments.
async function ownLoop(url, calls, names) {
  const found = {};
  const ask = { model: "m", messages: MESSAGES, tools: toolsOf(names), stream: true };
  const stream = await clientOf(url).chat.completions.create(ask);
  for await (const chunk of stream) {
    for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
      if (!found[call.index]) {
        found[call.index] = call;
        call.function.arguments ??= "";
      } else {
        found[call.index].function.arguments += call.function.arguments ?? "";
      }
    }
  }
  for (const { function: made } of Object.values(found)) calls.push(called(made.name, made.arguments));
}

export const chat = {
  "openai `.stream()`": helper,
  "openai `.runTools()`": runTools,
  "openai, own loop": ownLoop,
};
