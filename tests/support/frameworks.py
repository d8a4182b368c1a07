"""Frameworks, each with one tool and a model made by its line in docs/frameworks.md.

Theory of operation. A line is run twice against a server whose first answer is cut: with plain clients of the HTTP
library, and with those of `wholecall.transport`. Only the meaning of `client` and its like differs; a difference in the
tool's arguments is therefore the transport's effect. Nothing is imported before a framework runs: two environments
share this module.
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
from benchmarks.rivals.streams import CHAT, sse
from tests.hygiene.source_tree import DOCS
from tests.support.loopback import serve
from wholecall import transport
from wholecall.serving import Answer

_PAGE = (DOCS / "frameworks.md").read_text("utf-8")
# By framework: the line that makes its model, and the page's statement about cut calls.
LINES: dict[str, str] = dict(re.findall(r"^\| ([^|`]+) \| `([^`]+)` \|$", _PAGE, re.MULTILINE))
TOLD: dict[str, list[str]] = {
    name: cells.split(" | ")
    for name, cells in re.findall(r"^\| ([^|]+) \| ((?:[^|]+ \| ){3}[^|]+) \|$", _PAGE, re.MULTILINE)
    if name in LINES
}
CUTS = ("cut text, called finished", "cut at the token limit", "dropped after the name")
HEALTHY = "finish reason stop"
NEWEST = (
    "LangChain, LangGraph",
    "pydantic-ai",
    "openai-agents",
    "google-genai",
)  # frameworks that run with the newest SDKs
_ASK = "When is high water?"
_MODEL, _GEMINI = "gpt-4o", "gemini-2.5-pro"  # frameworks know the features of these models
_QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def _told(*calls: Any, reason: str | None = None) -> Sequence[bytes]:
    """Return an answer of Gemini with a call in pieces."""
    said: list[Any] = [{"content": {"role": "model", "parts": [{"functionCall": call}]}} for call in calls]
    if reason is not None:
        said.append({"content": {"role": "model", "parts": []}, "finishReason": reason})
    return [sse({"candidates": [candidate]}) for candidate in said]


_OPENED: Any = {"name": "get_tide", "willContinue": True}
_PIECE: Any = {
    "partialArgs": [{"jsonPath": "$.port", "stringValue": "Bre", "willContinue": True}],
    "willContinue": True,
}
_STREAMS: dict[str, Mapping[str, Sequence[bytes]]] = {
    "chat-completions": {stream.title: stream.pieces for stream in CHAT},
    "gemini": {
        CUTS[0]: _told(_OPENED, _PIECE, reason="STOP"),
        CUTS[1]: _told(_OPENED, _PIECE, reason="MAX_TOKENS"),
        CUTS[2]: _told(_OPENED),
        HEALTHY: _told({"name": "get_tide", "args": {"port": "Brest"}}, reason="STOP"),
    },
}


class Framework(NamedTuple):
    """A framework.

    Attributes:
        names: the names in its line, each with its module, and its name there if it is not a module itself.
        run: asks once with the line's model, and lets the framework run the tool.
        dialect: the wire of its model.
    """

    names: Mapping[str, str]
    run: Callable[[Any, Callable[..., str]], Any]
    dialect: str = "chat-completions"


class Ran(NamedTuple):
    """The outcome of an answer: the ports that the tool ran for (`*` by default), and the exception's class, if any."""

    ports: Sequence[Any]
    error: str = ""


def cells(name: str) -> list[str]:
    """Return the page's cells for a framework: the runs of cuts without the transport, the first's exception with it."""
    bare = [", ".join(map(repr, ran(name, cut, wrapped=False).ports)) for cut in CUTS]
    return [f"`{found}`" if found else "nothing" for found in (*bare, ran(name, CUTS[0], wrapped=True).error)]


def ran(name: str, stream: str, *, wrapped: bool) -> Ran:
    """Ask through a framework, and return its tool's arguments.

    Args:
        name: the framework, as the page names it.
        stream: the title of the first answer; the second is a farewell.
        wrapped: whether `client` and its like in the line are the transport's, or plain.
    """
    ports: list[Any] = []

    def get_tide(port: str = "*") -> str:
        """Say when high water is.

        Args:
            port: the port; all ports by default.
        """
        ports.append(port)
        return "04:12"

    framework = FRAMEWORKS[name]
    answers = Answer(_STREAMS[framework.dialect][stream]), Answer([FAREWELLS[framework.dialect]])
    clients: list[Any] = []
    with serve(*answers) as server, patch.dict(os.environ, _environment(server.url)):
        names = {"model": _MODEL, "gemini": _GEMINI, **_makers(clients, wrapped=wrapped)}
        names |= {word: _of(place) for word, place in framework.names.items()}
        model = eval(LINES[name], names)  # noqa: S307 - the page is ours
        try:
            done = framework.run(model, get_tide)
            if inspect.isawaitable(done):
                asyncio.run(_awaited(done, clients))
            return Ran(ports)
        except Exception as raised:  # noqa: BLE001 - which class it is is what the tests state
            return Ran(ports, type(raised).__name__)
        finally:
            for client in clients:
                getattr(client, "close", bool)()
            gc.collect()  # resources that a framework leaves open warn in its own test


async def _awaited(done: Any, clients: Sequence[Any]) -> None:
    """Wait, and close asynchronous clients in their loop."""
    try:
        await done
    finally:
        for client in clients:
            if hasattr(client, "aclose"):
                await client.aclose()


def _environment(url: str) -> dict[str, str]:
    """Return the variables that lead the SDKs' own clients to a server."""
    openai = dict.fromkeys(("OPENAI_API_BASE", "OPENAI_BASE_URL"), f"{url}/v1")
    return {**openai, "OPENAI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url, "GOOGLE_API_KEY": "x", **_QUIET}


def _of(place: str) -> Any:
    """Import a module, or with `module:name` a name of it."""
    module, _, name = place.partition(":")
    imported = importlib.import_module(module)
    return getattr(imported, name) if name else imported


def _makers(made: list[Any], *, wrapped: bool) -> dict[str, Any]:
    """Return the line's names of `wholecall.transport`, or plain counterparts; the clients that they make are kept."""

    def keep(make: Callable[..., Any], **options: Any) -> Any:
        made.append(make(**options))
        return made[-1]

    plain = {"client": "Client", "async_client": "AsyncClient", "RepairTransport": "HTTPTransport"}
    makers = {name: getattr(transport, name) if wrapped else partial(_plain, plain[name]) for name in plain}
    return {name: partial(keep, make) for name, make in makers.items()}


def _plain(kind: str, library: str = "") -> Any:
    """Return an HTTP library's plain clients; without a name, the library is that of OpenAI's SDK."""
    own: type = _of("openai:DefaultHttpxClient").__mro__[1]
    return getattr(importlib.import_module(library or own.__module__.partition(".")[0]), kind)()


# The requests of each framework.


def _langchain(model: Any, tool: Any) -> None:
    agent = _of("langchain.agents:create_agent")(model, [tool])
    list(agent.stream({"messages": [("user", _ASK)]}, stream_mode="messages"))


async def _llama_index(model: Any, tool: Any) -> None:
    await _of("llama_index.core.agent.workflow:FunctionAgent")(tools=[tool], llm=model).run(user_msg=_ASK)


def _smolagents(model: Any, tool: Any) -> None:
    agent = _of("smolagents:ToolCallingAgent")
    tools = [_of("smolagents:tool")(tool)]
    agent(tools=tools, model=model, stream_outputs=True, max_steps=1, verbosity_level=0).run(_ASK)


async def _pydantic_ai(model: Any, tool: Any) -> None:
    async def listen(_context: Any, events: Any) -> None:
        async for _ in events:
            pass

    await _of("pydantic_ai:Agent")(model, tools=[tool]).run(_ASK, event_stream_handler=listen)


async def _agents(model: Any, tool: Any) -> None:
    agents = _of("agents")
    agents.set_tracing_disabled(disabled=True)
    agent = agents.Agent(name="harbour", model=model, tools=[agents.function_tool(tool)])
    async for _ in agents.Runner.run_streamed(agent, _ASK, max_turns=3).stream_events():
        pass


async def _agno(model: Any, tool: Any) -> None:
    agent = _of("agno.agent:Agent")(model=model, tools=[tool], telemetry=False)
    async for _ in agent.arun(_ASK, stream=True):
        pass


def _instructor(client: Any, tool: Any) -> None:
    wanted = _of("pydantic:create_model")("get_tide", port=(str, "*"))
    asked = {"model": _MODEL, "messages": [{"role": "user", "content": _ASK}], "max_retries": 0}
    found = list(client.chat.completions.create_partial(**asked, response_model=wanted))
    if found:
        tool(found[-1].port)


def _haystack(model: Any, tool: Any) -> None:
    tools = [_of("haystack.tools:create_tool_from_function")(tool)]
    agent = _of("haystack.components.agents:Agent")(chat_generator=model, tools=tools, max_agent_steps=3)
    asked = [_of("haystack.dataclasses:ChatMessage").from_user(_ASK)]
    agent.run(asked, streaming_callback=lambda _chunk: None)


def _strands(model: Any, tool: Any) -> None:
    _of("strands:Agent")(model=model, tools=[_of("strands:tool")(tool)], callback_handler=None)(_ASK)


async def _autogen(model: Any, tool: Any) -> None:
    agent = _of("autogen_agentchat.agents:AssistantAgent")
    async for _ in agent("harbour", model, tools=[tool], model_client_stream=True).run_stream(task=_ASK):
        pass


def _litellm(complete: Any, tool: Any) -> None:
    asked = {"model": f"openai/{_MODEL}", "messages": [{"role": "user", "content": _ASK}], "max_retries": 0}
    chunks = list(complete(**asked, stream=True))
    whole = _of("litellm:stream_chunk_builder")(chunks)
    for call in whole.choices[0].message.tool_calls or ():
        tool(**json.loads(call.function.arguments))


def _genai(client: Any, tool: Any) -> None:
    list(client.chats.create(model=_GEMINI, config={"tools": [tool]}).send_message_stream(_ASK))


async def _adk(model: Any, tool: Any) -> None:
    agent = _of("google.adk.agents:Agent")(name="harbour", model=model, tools=[tool])
    runner = _of("google.adk.runners:InMemoryRunner")(agent=agent, app_name="harbour")
    session = await runner.session_service.create_session(app_name="harbour", user_id="u")
    streams = _of("google.adk.agents.run_config:StreamingMode").SSE
    asked = {
        "new_message": _of("google.genai.types:UserContent")(_ASK),
        "run_config": _of("google.adk.agents.run_config:RunConfig")(streaming_mode=streams),
    }
    async for _ in runner.run_async(user_id="u", session_id=session.id, **asked):
        pass


_PYDANTIC = {
    "OpenAIChatModel": "pydantic_ai.models.openai:OpenAIChatModel",
    "OpenAIProvider": "pydantic_ai.providers.openai:OpenAIProvider",
}
_ASYNC = {"AsyncOpenAI": "openai:AsyncOpenAI"}
_SYNC = {"OpenAI": "openai:OpenAI"}
_GENAI = {"Client": "google.genai:Client"}

FRAMEWORKS: dict[str, Framework] = {
    "LangChain, LangGraph": Framework({"ChatOpenAI": "langchain_openai:ChatOpenAI"}, _langchain),
    "pydantic-ai": Framework(_PYDANTIC, _pydantic_ai),
    "openai-agents": Framework(
        {"OpenAIChatCompletionsModel": "agents:OpenAIChatCompletionsModel", **_ASYNC}, _agents
    ),
    "LlamaIndex": Framework({"OpenAI": "llama_index.llms.openai:OpenAI"}, _llama_index),
    "smolagents": Framework({"OpenAIModel": "smolagents:OpenAIModel"}, _smolagents),
    "agno": Framework({"OpenAIChat": "agno.models.openai:OpenAIChat"}, _agno),
    "instructor": Framework({"instructor": "instructor", **_SYNC}, _instructor),
    "Haystack": Framework(
        {"OpenAIChatGenerator": "haystack.components.generators.chat:OpenAIChatGenerator"}, _haystack
    ),
    "Strands": Framework({"OpenAIModel": "strands.models.openai:OpenAIModel", **_ASYNC}, _strands),
    "AutoGen": Framework(
        {"OpenAIChatCompletionClient": "autogen_ext.models.openai:OpenAIChatCompletionClient"}, _autogen
    ),
    "litellm": Framework({"litellm": "litellm", "partial": "functools:partial", **_SYNC}, _litellm),
    "google-genai": Framework(_GENAI, _genai, "gemini"),
    "Google ADK": Framework({"Gemini": "google.adk.models.google_llm:Gemini", **_GENAI}, _adk, "gemini"),
}
