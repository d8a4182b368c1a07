// What all clients share: the question, the tools, and how a program reads the arguments of a call.

export const KEY = "unused";
export const QUESTION = "When is the tide?";
export const MESSAGES = [{ role: "user", content: QUESTION }];
export const SCHEMA = { type: "object", properties: {} };

// The client told the model that a call is bad, and ran nothing.
export class Refused extends Error {
  name = "Refused";
}

// Returns a call as a program reads it that has its arguments as text; what is no JSON stays as it is.
export function called(name, text) {
  try {
    return { name, arguments: JSON.parse(text) };
  } catch {
    return { name, arguments: String(text) };
  }
}
