// The SDK of OpenAI over Responses: its helper, and the loop of the guide to streaming.

import OpenAI from "openai";

import { KEY, QUESTION, called } from "./common.mjs";

const ASK = { model: "m", input: QUESTION };

const clientOf = (url) => new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });

async function helper(url, calls) {
  const response = await clientOf(url).responses.stream(ASK).finalResponse();
  for (const item of response.output) {
    if (item.type === "function_call") calls.push(called(item.name, item.arguments));
  }
}

// Keeps items by their position and appends to their arguments.
async function ownLoop(url, calls) {
  const found = {};
  for await (const event of await clientOf(url).responses.create({ ...ASK, stream: true })) {
    if (event.type === "response.output_item.added" && event.item.type === "function_call") {
      found[event.output_index] = event.item;
    } else if (event.type === "response.function_call_arguments.delta" && found[event.output_index]) {
      found[event.output_index].arguments += event.delta;
    }
  }
  for (const item of Object.values(found)) calls.push(called(item.name, item.arguments));
}

export const responses = {
  "openai `responses.stream()`": helper,
  "openai responses, own loop": ownLoop,
};
