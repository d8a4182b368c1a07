// Anthropic's SDK: a loop that joins the pieces of each block, and its helper.

import Anthropic from "@anthropic-ai/sdk";

import { KEY, MESSAGES } from "../protocol.mjs";

const clientOf = (run) => new Anthropic({ apiKey: KEY, baseURL: run.url, maxRetries: 0, timeout: run.timeout * 1000 });

const askOf = (run) => ({
  model: "m",
  max_tokens: 64,
  messages: MESSAGES,
  tools: run.tools.map(({ name, schema }) => ({ name, input_schema: { type: "object", ...schema } })),
});

function takeMessage(run, { content }) {
  run.text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  for (const block of content) if (block.type === "tool_use") run.called(block.id, block.name, block.input);
}

async function helper(run) {
  takeMessage(run, await clientOf(run).messages.stream(askOf(run)).finalMessage());
}

// Without a piece, what the start of the block said is the input.
async function loop(run) {
  if (!run.stream) {
    takeMessage(run, await clientOf(run).messages.create(askOf(run)));
    return;
  }
  const found = {};
  for await (const event of await clientOf(run).messages.create({ ...askOf(run), stream: true })) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      found[event.index] = { block: event.content_block, text: "" };
    } else if (event.type === "content_block_delta" && event.delta.type === "input_json_delta" && found[event.index]) {
      found[event.index].text += event.delta.partial_json;
    }
  }
  for (const { block, text } of Object.values(found)) run.called(block.id, block.name, text || block.input);
}

const way = (name, read, more = {}) => ({ name, wire: "anthropic", read, dependencies: ["@anthropic-ai/sdk"], ...more });

export const anthropic = [way("anthropic-node-loop", loop, { whole: true, exact: true }), way("anthropic-node-stream", helper)];
