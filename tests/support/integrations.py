"""Integrations of frameworks, each with one tool and made by its line in docs/frameworks.md.

Theory of operation. A line is run against a server of prepared answers, which asks for the tool. What the tool was run
with, what the framework showed of arguments, and the requests tell all that there is to see. Nothing is imported before
a framework runs: two environments share this module.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.rivals.quirks import FAREWELLS
from benchmarks.rivals.streams import CUT_PIECES, TIDE_TEXT, chat, entry, more
from tests.hygiene.source_tree import DOCS
from tests.support.frameworks import (
    _ASK,
    _GEMINI,
    _MODEL,
    _OPENED,
    _PIECE,
    _STREAMS,
    CUTS,
    HEALTHY,
    _environment,
    _of,
    _told,
)
from tests.support.loopback import serve
from wholecall.serving import Answer, IncomingRequest

_PAGE = (DOCS / "frameworks.md").read_text("utf-8")
_ROW = re.compile(
    r"^\| ([^|`]+) \| `wholecall\.integrations\.(\w+)` \| `([^`]+)` \| `([^`]+)` \| .+ \| (yes|no) \|$",
    re.MULTILINE,
)
# By framework: its module, the line that makes it, and whether it shows arguments while they arrive.
LINES: dict[str, tuple[str, str, bool]] = {
    name: (module, line, live == "yes") for name, module, _, line, live in _ROW.findall(_PAGE)
}
PACKAGES: dict[str, list[str]] = {name: packages.split() for name, _, packages, *_ in _ROW.findall(_PAGE)}
NEWEST = ("LangChain", "pydantic-ai", "openai-agents")  # which run with the newest SDKs
BOTH = "a whole call and a cut one"


class Framework(NamedTuple):
    """A framework.

    Attributes:
        names: the names in its line, each with its module, and its name there if it is not a module itself.
        run: asks once, lets the framework run the tool, and keeps the pieces of arguments that it shows.
        dialect: the wire of its model.
        farewell: the last answer, where words do not end a run.
    """

    names: Mapping[str, str]
    run: Callable[[Any, Callable[..., str], list[str]], Any]
    dialect: str = "chat-completions"
    farewell: Sequence[bytes] = ()


class Ran(NamedTuple):
    """What came of a question.

    Attributes:
        ports: what the tool was run for, `*` by default.
        shown: the pieces of arguments that the framework showed.
        requests: the requests of the model.
        error: the class of the exception, if there was one.
    """

    ports: Sequence[Any]
    shown: Sequence[str]
    requests: Sequence[IncomingRequest]
    error: str = ""

    @property
    def told(self) -> list[bool]:
        """Whether each request says that a call was not executed."""
        return [b"was not executed" in request.body for request in self.requests]


def _answer(dialect: str, title: str) -> Answer:
    """Return an answer by its title."""
    if title != BOTH:
        return Answer(_STREAMS[dialect][title])
    if dialect == "gemini":
        whole = {"name": "get_tide", "args": {"port": "Brest"}}
        return Answer(_told(whole, _OPENED, _PIECE, reason="STOP"))
    whole = [entry(0, TIDE_TEXT, name="get_tide", id="call_1")]
    cut = [entry(1, "", name="get_tide", id="call_2")]
    return Answer(chat(whole, cut, *more(CUT_PIECES, 1)))


def ran(name: str, *streams: str, **options: Any) -> Ran:
    """Ask through a framework's integration.

    Args:
        name: the framework, as the page names it.
        streams: the titles of the answers; after them the model says farewell.
        options: of the integration.
    """
    ports: list[Any] = []
    shown: list[str] = []

    def get_tide(port: str = "*") -> str:
        """Say when high water is.

        Args:
            port: the port; all ports by default.
        """
        ports.append(port)
        return "04:12"

    framework = FRAMEWORKS[name]
    answers = [_answer(framework.dialect, title) for title in streams]
    with (
        serve(*answers, Answer(framework.farewell or [FAREWELLS[framework.dialect]])) as server,
        patch.dict(os.environ, _environment(server.url)),
    ):
        error = ""
        try:
            done = framework.run(_made(name, get_tide, options), get_tide, shown)
            if inspect.isawaitable(done):
                asyncio.run(_awaited(done))
        except Exception as raised:  # noqa: BLE001 - which class it is is what the tests state
            error = type(raised).__name__
        finally:
            gc.collect()  # resources that a framework leaves open warn in its own test
        return Ran(ports, shown, list(server.requests), error)


def answered(name: str) -> tuple[str, list[bool]]:
    """Run a framework's example; its model cuts its first call, and sends it again when it is told.

    Returns:
        The answer, and whether each request says that a call was not executed.
    """
    framework = FRAMEWORKS[name]
    answers = [_answer(framework.dialect, title) for title in (CUTS[0], HEALTHY)]
    farewell = Answer(framework.farewell or [FAREWELLS[framework.dialect]])
    with serve(*answers, farewell) as server, patch.dict(os.environ, _environment(server.url)):
        if name == "openai-agents":
            _of("agents").set_tracing_disabled(disabled=True)
        answer = importlib.import_module(f"whole_{LINES[name][0]}").answer("When is high water at Brest?")
        gc.collect()  # as above
        return answer, Ran([], [], list(server.requests)).told


def _made(name: str, tool: Callable[..., str], options: dict[str, Any]) -> Any:
    """Return what a framework's line makes; its tool is made as the framework makes tools."""
    module, line, _ = LINES[name]
    ours = importlib.import_module(f"wholecall.integrations.{module}")
    names: dict[str, Any] = {"model": _MODEL, "gemini": _GEMINI, "tool": tool}
    names |= {word: partial(getattr(ours, word), **options) for word in ours.__all__}
    names |= {word: _of(place) for word, place in FRAMEWORKS[name].names.items()}
    return eval(line, names)  # noqa: S307 - the page is ours


async def _awaited(done: Any) -> None:
    await done


# The requests of each framework.


def _langchain(agent: Any, _tool: Any, shown: list[str]) -> None:
    for message, _ in agent.stream({"messages": [("user", _ASK)]}, stream_mode="messages"):
        shown += [chunk["args"] or "" for chunk in getattr(message, "tool_call_chunks", ())]


async def _pydantic_ai(agent: Any, _tool: Any, shown: list[str]) -> None:
    async def listen(_context: Any, events: Any) -> None:
        async for event in events:
            shown.extend(filter(None, [getattr(getattr(event, "delta", None), "args_delta", None)]))

    await agent.run(_ASK, event_stream_handler=listen)


async def _agents(agent: Any, _tool: Any, shown: list[str]) -> None:
    agents = _of("agents")
    agents.set_tracing_disabled(disabled=True)
    async for event in agents.Runner.run_streamed(agent, _ASK, max_turns=4).stream_events():
        is_piece = (
            getattr(getattr(event, "data", None), "type", "") == "response.function_call_arguments.delta"
        )
        shown += [event.data.delta] if is_piece else []


def _litellm(complete: Any, tool: Any, _shown: list[str]) -> None:
    schema = {"type": "object", "properties": {"port": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "get_tide", "parameters": schema}}]
    messages: list[Any] = [{"role": "user", "content": _ASK}]
    asked = {"messages": messages, "tools": tools, "max_retries": 0, "stream": True}
    while True:
        whole = _of("litellm:stream_chunk_builder")(list(complete(**asked))).choices[0].message
        if not whole.tool_calls:
            return
        messages.append(whole.model_dump(exclude_none=True))
        for call in whole.tool_calls:
            result = tool(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


async def _adk(runner: Any, _tool: Any, _shown: list[str]) -> None:
    session = await runner.session_service.create_session(app_name="harbour", user_id="u")
    streams = _of("google.adk.agents.run_config:StreamingMode").SSE
    asked = {
        "new_message": _of("google.genai.types:UserContent")(_ASK),
        "run_config": _of("google.adk.agents.run_config:RunConfig")(streaming_mode=streams),
    }
    async for _ in runner.run_async(user_id="u", session_id=session.id, **asked):
        pass


async def _strands(agent: Any, _tool: Any, shown: list[str]) -> None:
    async for event in agent.stream_async(_ASK):
        delta = event.get("event", {}).get("contentBlockDelta", {}).get("delta", {})
        shown += filter(None, [delta.get("toolUse", {}).get("input")])


def _smolagents(agent: Any, _tool: Any, _shown: list[str]) -> None:
    agent.run(_ASK)


async def _llama_index(agent: Any, _tool: Any, shown: list[str]) -> None:
    handler = agent.run(user_msg=_ASK)
    async for event in handler.stream_events():
        if type(event).__name__ == "AgentStream":
            shown += [json.dumps(call.tool_kwargs) for call in event.tool_calls]
    await handler


_AGENTS = ("Agent", "OpenAIChatCompletionsModel", "function_tool")
FRAMEWORKS: dict[str, Framework] = {
    "LangChain": Framework(
        {"create_agent": "langchain.agents:create_agent", "ChatOpenAI": "langchain_openai:ChatOpenAI"},
        _langchain,
    ),
    "LiteLLM": Framework({"partial": "functools:partial"}, _litellm),
    "pydantic-ai": Framework(
        {"Agent": "pydantic_ai:Agent", "OpenAIChatModel": "pydantic_ai.models.openai:OpenAIChatModel"},
        _pydantic_ai,
    ),
    "openai-agents": Framework(
        {"AsyncOpenAI": "openai:AsyncOpenAI", **{name: f"agents:{name}" for name in _AGENTS}}, _agents
    ),
    "Google ADK": Framework(
        {"Agent": "google.adk.agents:Agent", "InMemoryRunner": "google.adk.runners:InMemoryRunner"},
        _adk,
        "gemini",
    ),
    "Strands": Framework(
        {"Agent": "strands:Agent", "OpenAIModel": "strands.models.openai:OpenAIModel", "strands": "strands"},
        _strands,
    ),
    "smolagents": Framework(
        {
            "ToolCallingAgent": "smolagents:ToolCallingAgent",
            "OpenAIModel": "smolagents:OpenAIModel",
            "smolagents": "smolagents",
        },
        _smolagents,
        farewell=chat([entry(0, '{"answer": "At 04:12."}', name="final_answer", id="call_9")]),
    ),
    "LlamaIndex": Framework({"OpenAI": "llama_index.llms.openai:OpenAI"}, _llama_index),
}
__all__ = ["BOTH", "CUTS", "FRAMEWORKS", "HEALTHY", "LINES", "NEWEST", "Ran", "ran"]
