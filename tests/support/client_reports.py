"""Texts to the projects of clients that run calls which nobody sent, made from result files.

    python -m tests.support.client_reports [--python PYTHON ...] [--node FOLDER] [--client NAME ...]

writes `conformance/reports/CLIENT.md` for every client of `conformance/results` with an unsafe verdict, and removes the
others. Each text has the versions, the streams' bytes, what was expected, what was got, and a program in one file that
shows it. With `--python` (an interpreter of an environment with the clients; several may be given) or `--node` (a
folder with the clients' packages) the programs are run, and a stream whose program does not show the call is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.client_snippets import NODE, PYTHON
from wholecall.grading.conform.cases import LEVELS

ROOT = Path(__file__).resolve().parents[2] / "conformance"
N_STREAMS = 3  # shown in full
LONGEST = 4000  # bytes of a stream that is shown
PATIENCE = 60.0  # seconds of a program
_LOOPS = frozenset({"boto3", "groq"})  # beside those whose names say so

_PYTHON = '''"""How {name} {version} reads {of}.

python {file} STREAM     with one of: {streams}
"""
import http.server
import sys
import threading

STREAMS = {{
{data}
}}
ALL_TOOLS = {{
{tools}
}}
FAREWELL = {farewell}
STREAM, TOOLS = STREAMS[sys.argv[1]], ALL_TOOLS[sys.argv[1]]


class Server(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        Server.asked += 1
        self.send_response(200)
        self.send_header("content-type", "{content_type}")
        self.end_headers()
        self.wfile.write(STREAM if Server.asked == 1 else FAREWELL)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{{server.server_port}}{path}"
{snippet}'''
_NODE = """// How {name} {version} reads {of}.
// node {file} STREAM     with one of: {streams}
import http from "node:http";

const STREAMS = {{
{data}
}};
const ALL_TOOLS = {{
{tools}
}};
const FAREWELL = {farewell};
const [STREAM, TOOLS] = [STREAMS[process.argv[2]], ALL_TOOLS[process.argv[2]]];

let asked = 0;
const server = http.createServer((request, response) => {{
  request.resume().on("end", () => {{
    response.writeHead(200, {{ "content-type": "{content_type}" }});
    response.end(asked++ ? FAREWELL : STREAM);
  }});
}});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
server.unref();
const URL = `http://127.0.0.1:${{server.address().port}}{path}`;

{snippet}process.exit(0);
"""


def unsafe(results: dict[str, Any], name: str, wire: str) -> list[dict[str, Any]]:
    """Return the cases of a client and a wire in which a call was run that nobody sent."""
    found = {
        case["case"]: case
        for client in results["clients"]
        if (client["name"], client["wire"]) == (name, wire)
        for case in client["cases"]
        if case["verdict"] == "unsafe"
    }
    return list(found.values())


def sidecar(case: str) -> dict[str, Any]:
    """Return the sidecar of a case."""
    found: dict[str, Any] = json.loads((ROOT / "cases" / f"{case}.case.json").read_text("utf-8"))
    return found


def body(case: str) -> bytes:
    """Return the bytes of a case."""
    folder, _, stem = case.partition("/")
    [path] = [
        path for path in (ROOT / "cases" / folder).glob(f"{stem}.*") if not path.name.endswith(".case.json")
    ]
    return path.read_bytes()


def shown(cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield cases to show: first one of each kind of fault, the least odd and the shortest, then the others."""
    fit = [case for case in cases if is_shown(case["case"])]
    fit.sort(key=lambda case: (LEVELS.index(case["level"]), len(body(case["case"]))))
    kinds: set[str] = set()
    later = []
    for case in fit:
        kind = case["why"].partition(": ")[2]
        if kind in kinds:
            later.append(case)
        else:
            kinds.add(kind)
            yield case
    yield from later


def is_shown(case: str) -> bool:
    """Return whether a stream ends as the programs' server ends it, and is short."""
    http = sidecar(case)["http"]
    return http["ending"] == "clean" and http["status"] == 200 and len(body(case)) <= LONGEST


@cache
def farewell(wire: str) -> bytes:
    """Return what a server says once the tools have answered."""
    [path] = [path for path in (ROOT / "farewells").glob(f"{wire}.*") if path.suffix != ".json"]
    return path.read_bytes()


def literal(data: bytes, *, is_node: bool) -> str:
    """Return bytes as a literal of several lines, a frame on each."""
    frames = [frame + b"\n\n" for frame in data.split(b"\n\n")]
    frames[-1] = frames[-1][:-2]
    if is_node:
        return " +\n".join(f"    {json.dumps(frame.decode())}" for frame in frames if frame) or '""'
    return "\n".join(f"    {frame!r}" for frame in frames if frame) or 'b""'


def program(client: dict[str, Any], cases: list[str]) -> str:
    """Return the program in one file that shows how a client reads streams."""
    is_node = (client["name"], client["wire"]) in NODE
    snippet = (NODE if is_node else PYTHON)[client["name"], client["wire"]]
    titles = [case.partition("/")[2] for case in cases]
    tools = {
        title: [[tool["name"], tool["schema"]] for tool in sidecar(case)["request"]["tools"]]
        for title, case in zip(titles, cases, strict=True)
    }
    data = [
        f"  {json.dumps(title)}: (\n{literal(body(case), is_node=is_node)}\n  ),"
        for title, case in zip(titles, cases, strict=True)
    ]
    written = [
        f"  {json.dumps(title)}: {json.dumps(value) if is_node else repr(value)},"
        for title, value in tools.items()
    ]
    return (_NODE if is_node else _PYTHON).format(
        name=client["name"],
        version=client["version"],
        of="a stream" if len(cases) == 1 else f"{len(cases)} streams",
        file="show.mjs" if is_node else "show.py",
        streams=", ".join(titles),
        data="\n".join(data),
        tools="\n".join(written),
        content_type=sidecar(cases[0])["http"]["content_type"],
        farewell=f"(\n{literal(farewell(client['wire']), is_node=is_node)}\n)",
        path="/v1" if client["wire"] in {"chat-completions", "responses"} else "",
        snippet=snippet,
    )


def printed(text: str, case: str, *, pythons: list[str], node: str | None, is_node: bool) -> str | None:
    """Return what the program prints for a case; None if it was not run."""
    title = case.partition("/")[2]
    if (is_node and node is None) or not (is_node or pythons):
        return None
    with tempfile.TemporaryDirectory(dir=node if is_node else None) as folder:
        path = Path(folder) / ("show.mjs" if is_node else "show.py")
        path.write_text(text, "utf-8")
        for command in ["node"] if is_node else pythons:
            ran = subprocess.run(  # noqa: S603 - the program above
                [command, str(path), title],
                capture_output=True,
                encoding="utf-8",
                timeout=PATIENCE,
                check=False,
            )
            if "ModuleNotFoundError" not in ran.stderr:
                return ran.stdout
    return None


def report(client: dict[str, Any], results: dict[str, Any], **running: Any) -> str | None:
    """Return a client's text on one wire; None if nothing can be shown."""
    name, wire = client["name"], client["wire"]
    cases = unsafe(results, name, wire)
    is_node = (name, wire) in NODE
    picked: list[tuple[dict[str, Any], str | None]] = []
    for case in shown(cases) if is_node or (name, wire) in PYTHON else ():
        said = printed(program(client, [case["case"]]), case["case"], is_node=is_node, **running)
        if said is None or _shows(said, case):
            picked.append((case, said))
        if len(picked) == N_STREAMS:
            break
    if not picked:
        return None
    parts = [_head(client, results, cases)]
    parts += [_stream(case, said) for case, said in picked]
    text = program(client, [case["case"] for case, _ in picked])
    parts.append(
        f"### A program that shows {'it' if len(picked) == 1 else 'them'}\n\n```{'js' if is_node else 'python'}\n{text}```\n"
    )
    return "\n".join(parts)


def _shows(said: str, case: dict[str, Any]) -> bool:
    """Return whether a program printed a line for every call that was got."""
    got = case["got"]["calls"]
    return len(said.splitlines()) >= len(got) and all(str(call["name"] or "") in said for call in got)


def _head(client: dict[str, Any], results: dict[str, Any], cases: list[dict[str, Any]]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in client.get("dependencies", {}).items())
    n_run = len({case["case"] for case in client["cases"] if case["verdict"] != "unsupported"})
    platform = ", ".join(f"{key} {value}" for key, value in results["platform"].items())
    rows = "\n".join(f"| `{case['case']}` | {case['level']} | {case['why']} |" for case in cases)
    return (
        f"## {client['name']} {client['version']}, {client['wire']}\n\n"
        f"Of {n_run} streams, {len(cases)} end{'s' if len(cases) == 1 else ''} with a call run, or handed over as good, "
        f"that the stream does not hold.{_of_loop(client['name'])} "
        f"Measured with the conformance suite's data of {results['data']} on {results['started'][:10]} "
        f"({versions or client['version']}; {platform}).\n\n"
        f"| stream | level | call |\n|---|---|---|\n{rows}\n"
    )


def _of_loop(name: str) -> str:
    """Return a word about a client that is a loop round an SDK; nothing for any other client."""
    if not name.endswith("-loop") and name not in _LOOPS:
        return ""
    return " The loop is that of the guides to streaming: the SDK hands over what came, and the guide has to say more."


def _stream(case: dict[str, Any], said: str | None) -> str:
    known = sidecar(case["case"])
    sent = [{key: call[key] for key in ("id", "name", "arguments")} for call in known["sent"]]
    allowed = [{key: call[key] for key in ("id", "name", "arguments")} for call in known["may"]]
    ends = {
        "calls": "exactly the calls sent",
        "refuse": "no call, and an error or a word to the model",
        "calls+error": "exactly the calls sent, and an error",
        "partial+error": "those of the calls sent that were whole, or none, and an error",
    }
    got = json.dumps(case["got"]["calls"], ensure_ascii=False)
    error = case["got"].get("error")
    lines = [
        f"### {case['case']}",
        known["about"],
        f"```text\n{_text(body(case['case']))}```",
        f"Calls sent: `{json.dumps(sent, ensure_ascii=False)}`"
        + (f"; may also be run: `{json.dumps(allowed, ensure_ascii=False)}`" if allowed else "")
        + f". Expected: {', or '.join(ends[end] for end in known['accept'])}.",
        f"Got: `{got}`" + (f", and the error `{error}`." if error else ", and no error."),
    ]
    if said is not None:
        lines.append(f"The program below prints:\n\n```text\n{said.rstrip()}\n```")
    return "\n\n".join(lines) + "\n"


def _text(data: bytes) -> str:
    """Return a stream as a text shows it; of a binary one only its length, since the program holds it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"({len(data)} bytes of binary messages: see the program)\n"


def write(pythons: list[str], node: str | None, only: list[str]) -> None:
    """Write the texts of all result files, or of some clients, one file for each client."""
    texts: dict[str, list[str]] = {}
    for path in sorted((ROOT / "results").glob("*.json")):
        results = json.loads(path.read_text("utf-8"))
        for client in results["clients"] if not only or path.name.partition("@")[0] in only else ():
            text = report(client, results, pythons=pythons, node=node)
            if text is not None:
                texts.setdefault(client["name"], []).append(text)
    folder = ROOT / "reports"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        if not only or old.stem in only:
            old.unlink()
    for name, parts in texts.items():
        head = f"# {name}: calls are run that the stream does not hold\n"
        (folder / f"{name}.md").write_text("\n".join([head, *parts]), "utf-8")


def main() -> None:
    """Read the command line."""
    given = argparse.ArgumentParser(description="Write the texts to the projects of unsafe clients.")
    given.add_argument("--python", action="append", default=[], help="an interpreter with clients")
    given.add_argument("--node", help="a folder with the clients' packages")
    given.add_argument("--client", action="append", default=[], help="a client; without it all of them")
    options = given.parse_args()
    write(options.python, options.node, options.client)


if __name__ == "__main__":
    main()
