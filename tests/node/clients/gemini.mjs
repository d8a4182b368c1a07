// Google's SDK, with the loop of its guide to function calling: the calls of each response.

import { GoogleGenAI } from "@google/genai";

import { KEY, QUESTION, SCHEMA } from "./common.mjs";

async function ownLoop(url, calls, names) {
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });
  const functionDeclarations = names.map((name) => ({ name, parametersJsonSchema: SCHEMA }));
  const config = { tools: [{ functionDeclarations }] };
  const stream = await client.models.generateContentStream({ model: "m", contents: QUESTION, config });
  for await (const response of stream) {
    for (const call of response.functionCalls ?? []) calls.push({ name: call.name, arguments: call.args });
  }
}

export const gemini = { "@google/genai, own loop": ownLoop };
