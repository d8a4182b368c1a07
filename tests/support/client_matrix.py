"""Run clients over the conformance suite as the night does: results, texts to projects and the matrix, made anew.

    python -m tests.support.client_matrix sdk [PROGRAM ...]

The group (`sdk`, `sdk-other`, `node`) names the adapters whose packages this environment has; of these only the named
programs run, if any are. The exit status is 1 if a client runs more unsent calls than in the results that are
published for it, in any version, or if an adapter gives no report.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support import breaking, client_results, conformance_matrix
from wholecall.grading.conform.results import ALL, Graded, load

CLIENTS = client_results.SUITE / "clients"
_SDK = (
    *(
        "openai_sdk",
        "anthropic_sdk",
        "langchain_chat",
        "langchain_agent",
        "pydantic_ai_agent",
        "openai_agents",
    ),
    *("google_sdk", "groq_sdk", "ollama_sdk", "cohere_sdk", "bedrock_sdk"),
)
_OTHER = (
    *("smolagents_agent", "litellm_completion", "any_llm_completion", "agno_agent", "strands_agent"),
    *("autogen_agent", "haystack_agent", "llama_index_agent", "google_adk_agent"),
)
_OURS = "wholecall_integrations"  # of the frameworks that are installed
# By group: the adapters, as commands.
PROGRAMS: dict[str, dict[str, tuple[str, ...]]] = {
    **{
        group: {
            **{name: (sys.executable, str(CLIENTS / "python" / f"{name}.py")) for name in names},
            _OURS: (sys.executable, str(CLIENTS / f"{_OURS}.py")),
        }
        for group, names in (("sdk", _SDK), ("sdk-other", _OTHER))
    },
    "node": {"adapter": ("node", str(CLIENTS / "node" / "adapter.mjs"))},
}
_MEASURED = {0, 1}  # exit codes of a run that went to its end


def unsafe(clients: Iterable[Graded]) -> dict[tuple[str, str], int]:
    """Return the fewest unsafe runs of each client over each wire, among its versions."""
    found: dict[tuple[str, str], int] = {}
    for client in clients:
        key = client.name, client.wire
        found[key] = min(found.get(key, client.scores[ALL].unsafe), client.scores[ALL].unsafe)
    return found


def measured(commands: dict[str, tuple[str, ...]], folder: Path) -> tuple[list[Path], list[str]]:
    """Run adapters over all cases; return their reports, and the names of those that gave none."""
    reports, silent = [], []
    for name, command in commands.items():
        report = folder / f"{name}.json"
        conform = (sys.executable, "-m", "wholecall", "conform", "run", "--quiet", "--pack", "all")
        options = ("--data", str(client_results.SUITE), "--report", str(report))
        done = subprocess.run((*conform, *options, "--", *command), check=False)  # noqa: S603 - commands of this file
        if done.returncode in _MEASURED and report.exists():
            reports.append(report)
        else:
            silent.append(name)
    return reports, silent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.client_matrix", description=__doc__.split("\n")[0]
    )
    parser.add_argument("group", choices=PROGRAMS, help="the adapters whose packages are installed")
    parser.add_argument("program", nargs="*", help="only these of them")
    chosen = parser.parse_args(arguments)
    commands = PROGRAMS[chosen.group]
    unknown = [name for name in chosen.program if name not in commands]
    if unknown:
        parser.error(f"{unknown[0]} is no program of {chosen.group}: {', '.join(commands)}")
    before = unsafe(conformance_matrix.clients())
    with tempfile.TemporaryDirectory() as folder:
        wanted = {name: commands[name] for name in chosen.program or commands}
        reports, silent = measured(wanted, Path(folder))
        client_results.write(reports)
        now = unsafe(client for report in reports for client in load(report).clients)
    conformance_matrix.main()
    breaking.main()
    worse = [key for key, count in now.items() if count > before.get(key, count)]
    for name, wire in worse:
        sys.stderr.write(f"{name}, {wire}: {now[name, wire]} unsafe runs, before {before[name, wire]}\n")
    for name in silent:
        sys.stderr.write(f"{name}: no report\n")
    return 1 if worse or silent else 0


if __name__ == "__main__":
    sys.exit(main())
