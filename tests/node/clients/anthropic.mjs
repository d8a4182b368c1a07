// The SDK of Anthropic: its helper, and a loop that joins the pieces of each block.

import Anthropic from "@anthropic-ai/sdk";

import { KEY, MESSAGES, called } from "./common.mjs";

const ASK = { model: "m", max_tokens: 64, messages: MESSAGES };

const clientOf = (url) => new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 });

async function helper(url, calls) {
  const message = await clientOf(url).messages.stream(ASK).finalMessage();
  for (const block of message.content) {
    if (block.type === "tool_use") calls.push({ name: block.name, arguments: block.input });
  }
}

// Without a piece, what the start of the block said is the input.
async function ownLoop(url, calls) {
  const found = {};
  for await (const event of await clientOf(url).messages.create({ ...ASK, stream: true })) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      found[event.index] = { block: event.content_block, text: "" };
    } else if (event.type === "content_block_delta" && event.delta.type === "input_json_delta" && found[event.index]) {
      found[event.index].text += event.delta.partial_json;
    }
  }
  for (const { block, text } of Object.values(found)) {
    calls.push(text ? called(block.name, text) : { name: block.name, arguments: block.input });
  }
}

export const anthropic = {
  "@anthropic-ai/sdk `.stream()`": helper,
  "@anthropic-ai/sdk, own loop": ownLoop,
};
