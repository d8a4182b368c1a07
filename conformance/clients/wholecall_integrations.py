"""Frameworks with wholecall's integration, over the adapters of the frameworks themselves.

A call that the integration withholds counts as refused: the model is told of it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pathlib
import sys
from typing import Any, NamedTuple

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "python"))

from protocol import ANTHROPIC, CHAT, GEMINI, RESPONSES, Client, Run, serve


class Framework(NamedTuple):
    """A framework's adapter, and how it takes the integration.

    Attributes:
        client: the name of the adapter's client.
        distribution: whose version counts.
        package: what is imported.
        integration: the module of `wholecall.integrations`, and what it takes from that.
        given: the argument of the adapter's function that gets it; some are lists.
        wires: what it reads.
        whole: whether it can be asked for a whole body.
    """

    client: str
    distribution: str
    package: str
    integration: str
    given: str
    wires: tuple[str, ...]
    whole: bool = True


FRAMEWORKS = {
    "langchain_agent": Framework(
        "langchain-agent",
        "langchain",
        "langchain.agents",
        "langchain:WholeCalls",
        "middleware",
        (CHAT, RESPONSES, ANTHROPIC),
    ),
    "pydantic_ai_agent": Framework(
        "pydantic-ai",
        "pydantic-ai-slim",
        "pydantic_ai",
        "pydantic_ai:WholeCalls",
        "capabilities",
        (CHAT, RESPONSES, ANTHROPIC),
    ),
    "openai_agents": Framework(
        "openai-agents", "openai-agents", "agents", "openai_agents:WholeModel", "wrap", (CHAT, RESPONSES)
    ),
    "litellm_completion": Framework(
        "litellm", "litellm", "litellm", "litellm:completion", "complete", (CHAT, ANTHROPIC, GEMINI)
    ),
    "google_adk_agent": Framework(
        "google-adk", "google-adk", "google.adk", "google_adk:WholeCalls", "plugins", (GEMINI,)
    ),
    "strands_agent": Framework(
        "strands", "strands-agents", "strands", "strands:WholeCalls", "hooks", (CHAT, ANTHROPIC), whole=False
    ),
    "smolagents_agent": Framework(
        "smolagents", "smolagents", "smolagents", "smolagents:WholeModel", "wrap", (CHAT,)
    ),
    "llama_index_agent": Framework(
        "llama-index",
        "llama-index-core",
        "llama_index.core",
        "llama_index:WholeFunctionAgent",
        "made",
        (CHAT,),
    ),
}
LISTS = frozenset({"middleware", "capabilities", "hooks", "plugins"})


def is_there(package: str) -> bool:
    """Return whether a package is installed."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def read(adapter: str, run: Run) -> None:
    """Ask with an adapter's function; frameworks are imported when the first case is run."""
    known = FRAMEWORKS[adapter]
    asked: Any = importlib.import_module(adapter)
    module, _, name = known.integration.partition(":")
    made: Any = getattr(importlib.import_module(f"wholecall.integrations.{module}"), name)
    ours = functools.partial(made, on_dropped=lambda drop: run.refuse(drop.id, drop.name, drop.reason))
    ask = asked.completion if adapter == "litellm_completion" else asked.read
    ask(run, **{known.given: [ours()] if known.given in LISTS else ours})


def clients() -> list[Client]:
    """Return the frameworks that are installed, each with its integration."""
    return [
        Client(
            f"{known.client}+wholecall",
            wire,
            functools.partial(read, adapter),
            ("wholecall", known.distribution),
            runs_tools=adapter != "litellm_completion",
            whole=known.whole,
        )
        for adapter, known in FRAMEWORKS.items()
        if is_there(known.package)
        for wire in known.wires
    ]


if __name__ == "__main__":
    if is_there("agents"):
        importlib.import_module("agents").set_tracing_disabled(disabled=True)
    serve(*clients())
