// Google's SDK, with the loop of its guide to function calling: the calls of each response.

import { GoogleGenAI } from "@google/genai";

import { KEY, QUESTION } from "../protocol.mjs";

async function loop(run) {
  const httpOptions = { baseUrl: run.url, retryOptions: { attempts: 1 }, timeout: run.timeout * 1000 };
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions });
  const functionDeclarations = run.tools.map(({ name, schema }) => ({ name, parametersJsonSchema: schema }));
  const ask = { model: "m", contents: QUESTION, config: { tools: [{ functionDeclarations }] } };
  const stream = run.stream
    ? await client.models.generateContentStream(ask)
    : [await client.models.generateContent(ask)];
  for await (const response of stream) {
    for (const call of response.functionCalls ?? []) run.called(call.id, call.name, call.args);
  }
}

export const gemini = [
  { name: "google-genai-node", wire: "gemini", read: loop, dependencies: ["@google/genai"], whole: true },
];
