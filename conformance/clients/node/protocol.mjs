// The adapter protocol of the conformance suite: one JSON object a line on standard input and output.
//
// A client is {name, wire, read, dependencies, runs_tools, whole}; `read` asks once and tells the run what its client
// ran, or would run, as soon as it knows: calls told before an exception count. `exact` says that it hands over text, in
// which numbers beyond doubles are right.

import { createRequire } from "node:module";

export const KEY = "unused";
export const QUESTION = "When is the tide?";
export const MESSAGES = [{ role: "user", content: QUESTION }];

console.log = console.info = console.warn = console.error; // standard output belongs to the protocol

// A case, and the client's end of it.
export class Run {
  constructor(asked) {
    Object.assign(this, { stream: true, asked: ["tools"], tools: [], timeout: 20 }, asked);
    this.calls = [];
    this.refused = [];
    this.text = null;
  }

  // Tells that a call was run, or would be; arguments are the object that the tool got, or text as it was handed over.
  called(id, name, args) {
    this.calls.push({ id: id == null ? null : String(id), name: name ?? null, arguments: args ?? null });
  }

  // Tells that the client answered the model in place of running a call.
  refuse(id, name, why) {
    this.refused.push({ id: id == null ? null : String(id), name: name ?? null, why: line(why) });
  }
}

const line = (said) => String(said).replace(/\s+/g, " ").slice(0, 500);

const { dependencies: PINNED } = createRequire(import.meta.url)("./package.json");

function hello({ name, wire, dependencies, runs_tools = false }) {
  const versions = Object.fromEntries(dependencies.map((one) => [one, PINNED[one]]));
  return { name, version: versions[dependencies[0]], wire, mode: "http", runs_tools, dependencies: versions };
}

async function answer(client, run) {
  if (!client) return { unsupported: `no client ${run.client} for ${run.wire} here` };
  if (!run.stream && !client.whole) return { unsupported: "this way of the client asks for streams only" };
  if (run.numbers === "text" && !client.exact) return { unsupported: "JSON.parse rounds these numbers" };
  if (run.asked.includes("functions")) return { unsupported: "this way of the client asks with tools, not functions" };
  let error = null;
  try {
    await client.read(run);
  } catch (raised) {
    error = line(`${raised?.name ?? "Error"}: ${raised?.message ?? raised}`);
  }
  return { calls: run.calls, refused: run.refused, error, text: typeof run.text === "string" ? run.text : null };
}

// Yields the lines of standard input; a line ends at "\n" only, because U+2028 may stand in JSON as it is.
async function* lines() {
  let rest = "";
  for await (const text of process.stdin.setEncoding("utf8")) {
    const parts = (rest + text).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

// Answers the runner's lines until it says `bye` or closes standard input.
export async function serve(clients) {
  for await (const text of lines()) {
    const asked = JSON.parse(text);
    if (asked.do === "bye") break;
    const said =
      asked.do === "hello"
        ? { protocol: 1, clients: clients.map(hello) }
        : await answer(
            clients.find(({ name, wire }) => name === asked.client && wire === asked.wire),
            new Run(asked),
          );
    process.stdout.write(`${JSON.stringify(said)}\n`);
  }
  process.exit(0); // clients may keep connections
}
