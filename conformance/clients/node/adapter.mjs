// The adapter of the JavaScript clients: `node adapter.mjs`, after `npm ci --ignore-scripts` in this folder.

import { ai } from "./clients/ai.mjs";
import { anthropic } from "./clients/anthropic.mjs";
import { gemini } from "./clients/gemini.mjs";
import { openai } from "./clients/openai.mjs";
import { serve } from "./protocol.mjs";

await serve([...openai, ...anthropic, ...ai, ...gemini]);
