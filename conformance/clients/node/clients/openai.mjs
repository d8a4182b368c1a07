// OpenAI's SDK: the loops of its guides to streaming, its helpers, and `runTools`, which runs the tools itself.

import OpenAI from "openai";

import { KEY, MESSAGES, QUESTION } from "../protocol.mjs";

const clientOf = (run) => new OpenAI({ apiKey: KEY, baseURL: run.url, maxRetries: 0, timeout: run.timeout * 1000 });

const chatTools = (run) =>
  run.tools.map(({ name, schema }) => ({ type: "function", function: { name, parameters: schema } }));

const responsesTools = (run) =>
  run.tools.map(({ name, schema }) => ({ type: "function", name, parameters: schema, strict: false }));

function takeMessage(run, message) {
  run.text = message.content ?? "";
  for (const call of message.tool_calls ?? []) run.called(call.id, call.function.name, call.function.arguments);
}

// Keeps calls by their index and appends to their arguments.
async function chatLoop(run) {
  const ask = { model: "m", messages: MESSAGES, tools: chatTools(run) };
  if (!run.stream) {
    takeMessage(run, (await clientOf(run).chat.completions.create(ask)).choices[0].message);
    return;
  }
  const found = {};
  for await (const chunk of await clientOf(run).chat.completions.create({ ...ask, stream: true })) {
    for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
      if (!found[call.index]) {
        found[call.index] = call;
        call.function.arguments ??= "";
      } else {
        found[call.index].function.arguments += call.function.arguments ?? "";
      }
    }
  }
  for (const call of Object.values(found)) run.called(call.id, call.function.name, call.function.arguments);
}

async function chatHelper(run) {
  const ask = { model: "m", messages: MESSAGES, tools: chatTools(run) };
  const completion = await clientOf(run).chat.completions.stream(ask).finalChatCompletion();
  takeMessage(run, completion.choices[0].message);
}

async function runTools(run) {
  const tools = run.tools.map(({ name, schema }) => ({
    type: "function",
    function: {
      name,
      parameters: schema,
      parse: JSON.parse,
      function: (args) => {
        run.called(null, name, args);
        return "served";
      },
    },
  }));
  const runner = clientOf(run).chat.completions.runTools({ model: "m", messages: MESSAGES, stream: true, tools });
  runner.on("message", (message) => {
    if (message.role === "tool" && message.content !== "served") {
      run.refuse(message.tool_call_id, null, message.content);
    }
  });
  await runner.done();
}

function takeResponse(run, response) {
  run.text = response.output_text ?? "";
  for (const item of response.output) {
    if (item.type === "function_call") run.called(item.call_id, item.name, item.arguments);
  }
  if (["failed", "incomplete"].includes(response.status)) throw new Error(`the response is ${response.status}`);
}

// Keeps items by their position and appends to their arguments.
async function responsesLoop(run) {
  const ask = { model: "m", input: QUESTION, tools: responsesTools(run) };
  if (!run.stream) {
    takeResponse(run, await clientOf(run).responses.create(ask));
    return;
  }
  const found = {};
  for await (const event of await clientOf(run).responses.create({ ...ask, stream: true })) {
    if (event.type === "response.output_item.added" && event.item.type === "function_call") {
      found[event.output_index] = event.item;
    } else if (event.type === "response.function_call_arguments.delta") {
      found[event.output_index].arguments += event.delta;
    }
  }
  for (const item of Object.values(found)) run.called(item.call_id, item.name, item.arguments);
}

async function responsesHelper(run) {
  const ask = { model: "m", input: QUESTION, tools: responsesTools(run) };
  takeResponse(run, await clientOf(run).responses.stream(ask).finalResponse());
}

const way = (name, wire, read, more = {}) => ({ name, wire, read, dependencies: ["openai"], ...more });

export const openai = [
  way("openai-node-loop", "chat-completions", chatLoop, { whole: true, exact: true }),
  way("openai-node-stream", "chat-completions", chatHelper, { exact: true }),
  way("openai-node-runtools", "chat-completions", runTools, { runs_tools: true }),
  way("openai-node-loop", "responses", responsesLoop, { whole: true, exact: true }),
  way("openai-node-stream", "responses", responsesHelper, { exact: true }),
];
