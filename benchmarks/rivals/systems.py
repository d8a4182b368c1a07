"""The libraries, each used as its documentation says, and the calls that reach the program.

A library that runs tools itself (pydantic-ai, openai-agents, agno) gets real tools, which take any arguments or none;
the calls that it ran count. For the others, the calls that they hand over count. Nothing is imported before a system
runs, so that the installed systems can be compared.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import operator
import os
import urllib.request
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from functools import partial, reduce
from types import SimpleNamespace
from typing import Any, NamedTuple

from benchmarks.rivals.streams import JSON
from wholecall import collect
from wholecall.serving import Loopback

CHAT, ANTHROPIC, RESPONSES, GEMINI = "chat-completions", "anthropic", "responses", "gemini"
_KEY = "unused"
_ASK = "When is the tide?"
_MESSAGES = [{"role": "user", "content": _ASK}]
# The form of a tool result in the next request.
_RESULTS = {
    CHAT: '"role":"tool"',
    ANTHROPIC: '"type":"tool_result"',
    RESPONSES: '"type":"function_call_output"',
}


# The schema of each tool: any object; strict, because OpenAI's helpers refuse other tools.
SCHEMA: JSON = {"type": "object", "properties": {}}


class Got(NamedTuple):
    """A call as a library hands it over: its arguments are still text, or an object."""

    name: str | None
    arguments: Any


class Refused(Exception):
    """The library noticed that a call is bad and told the model so."""


Run = Callable[[Loopback, bool, Sequence[str]], list[Got]]


class System(NamedTuple):
    """A way to read streams.

    Attributes:
        name: the library, and its way of reading.
        dialect: the wire that it reads.
        packages: the measured distributions, whose versions are reported; the first is the library itself.
        modules: the modules that must be importable.
        run: asks the server once, through the repairing transport or not, with tools of these names, and returns the calls.
        mendable: whether it can be run through the transport.
    """

    name: str
    dialect: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    run: Run
    mendable: bool = True

    @property
    def installed(self) -> bool:
        """Whether its modules can be imported."""
        return all(importlib.util.find_spec(module) is not None for module in self.modules)


def _chat_tools(names: Sequence[str]) -> Any:
    return [
        {"type": "function", "function": {"name": name, "strict": True, "parameters": SCHEMA}}
        for name in names
    ]


def _items(names: Sequence[str]) -> Any:
    return [{"type": "function", "name": name, "strict": True, "parameters": SCHEMA} for name in names]


def _anthropic_tools(names: Sequence[str]) -> Any:
    return [{"name": name, "input_schema": SCHEMA} for name in names]


def _client(kind: str, server: Loopback, mended: bool) -> Any:
    """Return a client of an SDK, `openai.OpenAI` or a similar class; a mended client has our transport."""
    module, _, name = kind.partition(".")
    made = getattr(importlib.import_module(module), name)
    base = server.url if module == "anthropic" else f"{server.url}/v1"
    kind_of_http = "async_client" if name.startswith("Async") else "client"
    http = _http(kind_of_http, _library(module)) if mended else None
    return made(api_key=_KEY, base_url=base, max_retries=0, http_client=http)


def _http(name: str, library: str) -> Any:
    # The loopback needs no certificates, and loading them takes longer than a stream.
    return getattr(importlib.import_module("wholecall.transport"), name)(library=library, verify=False)


def _library(sdk: str) -> str:
    """Return the HTTP library whose clients an SDK takes: httpx2, or httpx before openai 3 and anthropic 2."""
    default: type = importlib.import_module(sdk).DefaultHttpxClient
    return default.__mro__[1].__module__.partition(".")[0]


def _wholecall(server: Loopback, _mended: bool, _tools: Sequence[str]) -> list[Got]:
    """Read the answer without any SDK."""
    request = urllib.request.Request(f"{server.url}/", data=b"{}", method="POST")  # noqa: S310 - the loopback
    with urllib.request.urlopen(request) as response:  # noqa: S310 - as above
        turn = collect(iter(partial(response.read1, 65536), b""))
    return [Got(call.name, call.arguments) for call in turn.calls]


# The SDK of OpenAI.


def _chat_helper(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    with (
        _client("openai.OpenAI", server, mended) as client,
        client.chat.completions.stream(model="m", messages=_MESSAGES, tools=_chat_tools(tools)) as stream,
    ):
        message = stream.get_final_completion().choices[0].message
    return [Got(call.function.name, call.function.arguments) for call in message.tool_calls or ()]


def _chat_loop(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    with _client("openai.OpenAI", server, mended) as client:
        ask = {"model": "m", "messages": _MESSAGES, "tools": _chat_tools(tools)}
        return _of_chunks(client.chat.completions.create(**ask, stream=True))


def _of_chunks(chunks: Iterable[Any]) -> list[Got]:
    """Keep a dict of calls by index and append to their arguments, as the guide to streaming does."""
    final: dict[Any, Any] = {}
    for chunk in chunks:
        choices = [choice for choice in chunk.choices if not choice.index]
        for call in choices[0].delta.tool_calls or [] if choices else []:
            if call.index not in final:
                final[call.index] = call
                call.function.arguments = call.function.arguments or ""
            else:
                final[call.index].function.arguments += call.function.arguments or ""
    return [Got(call.function.name, call.function.arguments) for call in final.values()]


def _responses_helper(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    with (
        _client("openai.OpenAI", server, mended) as client,
        client.responses.stream(model="m", input=_ASK, tools=_items(tools)) as stream,
    ):
        output = stream.get_final_response().output
    return [Got(item.name, item.arguments) for item in output if item.type == "function_call"]


def _responses_loop(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    with _client("openai.OpenAI", server, mended) as client:
        return _of_events(client.responses.create(model="m", input=_ASK, tools=_items(tools), stream=True))


def _of_events(events: Iterable[Any]) -> list[Got]:
    """Keep a dict of items by their position and append to their arguments, as the guide to streaming does."""
    final: dict[Any, Any] = {}
    for event in events:
        if event.type == "response.output_item.added" and event.item.type == "function_call":
            final[event.output_index] = event.item
        elif event.type == "response.function_call_arguments.delta" and event.output_index in final:
            final[event.output_index].arguments += event.delta
    return [Got(item.name, item.arguments) for item in final.values()]


# The SDK of Anthropic.


def _anthropic_helper(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    ask = {"model": "m", "max_tokens": 64, "messages": _MESSAGES, "tools": _anthropic_tools(tools)}
    with _client("anthropic.Anthropic", server, mended) as client, client.messages.stream(**ask) as stream:
        content = stream.get_final_message().content
    return [Got(block.name, block.input) for block in content if block.type == "tool_use"]


def _anthropic_loop(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    """Join the pieces of each block; without pieces, the start's input is the input."""
    blocks: dict[int, Any] = {}
    texts: dict[int, str] = {}
    ask = {"model": "m", "max_tokens": 64, "messages": _MESSAGES, "tools": _anthropic_tools(tools)}
    with _client("anthropic.Anthropic", server, mended) as client:
        for event in client.messages.create(**ask, stream=True):
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                blocks[event.index], texts[event.index] = event.content_block, ""
            elif (
                event.type == "content_block_delta"
                and event.delta.type == "input_json_delta"
                and event.index in texts
            ):
                texts[event.index] += event.delta.partial_json
    return [Got(block.name, texts[index] or block.input) for index, block in blocks.items()]


# The SDK of Google.


def _gemini_loop(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    """Take the calls of each response, as the SDK's own chats do."""
    http = _http("client", "httpx") if mended else None
    options = {"base_url": server.url, **({"httpx_client": http} if http is not None else {})}
    client = importlib.import_module("google.genai").Client(api_key=_KEY, http_options=options)
    declared = [{"name": name, "parameters": SCHEMA} for name in tools]
    ask = {"model": "m", "contents": _ASK, "config": {"tools": [{"function_declarations": declared}]}}
    with http or nullcontext():
        chunks = list(client.models.generate_content_stream(**ask))
    calls = [call for chunk in chunks for call in chunk.function_calls or ()]
    return [Got(call.name, call.args) for call in calls]


# Frameworks.


def _langchain(server: Loopback, mended: bool, tools: Sequence[str], dialect: str) -> list[Got]:
    chat = importlib.import_module("langchain_openai").ChatOpenAI
    http = _http("client", _library("openai")) if mended else None
    with http or nullcontext():
        model = chat(
            model="m",
            base_url=f"{server.url}/v1",
            api_key=_KEY,
            max_retries=0,
            http_client=http,
            use_responses_api=dialect == RESPONSES,
        )
        return _of_langchain(model, tools)


def _langchain_claude(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    chat = importlib.import_module("langchain_anthropic").ChatAnthropic
    model = chat(model="m", base_url=server.url, api_key=_KEY, max_retries=0)
    with _client("anthropic.Anthropic", server, mended) as client:
        vars(model)["_client"] = client  # it takes no HTTP client
        return _of_langchain(model, tools)


def _langchain_gemini(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    chat = importlib.import_module("langchain_google_genai").ChatGoogleGenerativeAI
    transport = importlib.import_module("wholecall.transport").RepairTransport
    args = {"transport": transport()} if mended else {}
    model = chat(model="m", base_url=server.url, api_key=_KEY, max_retries=1, client_args=args)
    with closing(model.client):
        return _of_langchain(model, tools)


def _of_langchain(model: Any, tools: Sequence[str]) -> list[Got]:
    whole = reduce(operator.add, model.bind_tools(_chat_tools(tools)).stream(_ASK))
    return [Got(call["name"], call["args"]) for call in (*whole.tool_calls, *whole.invalid_tool_calls)]


class _Toolbox:
    """Tools that record their calls."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.ran: list[Got] = []

    def run(self, name: str, arguments: JSON) -> str:
        """Take a call."""
        self.ran.append(Got(name, arguments))
        return "served"


def _with_tools(
    server: Loopback,
    mended: bool,
    tools: Sequence[str],
    dialect: str,
    act: Callable[[Loopback, bool, str, _Toolbox], Awaitable[None]],
) -> list[Got]:
    """Let a framework run the tools; calls that it reported to the model but did not run count as refused."""
    box = _Toolbox(tools)
    asyncio.run(_awaited(act(server, mended, dialect, box)))
    told = [json.loads(request.body) for request in server.requests[1:2]]
    n_results = json.dumps(told, separators=(",", ":")).count(_RESULTS[dialect])
    if n_results > len(box.ran):
        raise Refused
    return box.ran


async def _awaited(act: Awaitable[None]) -> None:
    await act


async def _pydantic_ai(server: Loopback, mended: bool, dialect: str, box: _Toolbox) -> None:
    models, providers = "pydantic_ai.models", "pydantic_ai.providers"
    module, name, kind, provider = {
        CHAT: ("openai", "OpenAIChatModel", "openai.AsyncOpenAI", "OpenAIProvider"),
        RESPONSES: ("openai", "OpenAIResponsesModel", "openai.AsyncOpenAI", "OpenAIProvider"),
        ANTHROPIC: ("anthropic", "AnthropicModel", "anthropic.AsyncAnthropic", "AnthropicProvider"),
    }[dialect]
    made = getattr(importlib.import_module(f"{models}.{module}"), name)
    source = getattr(importlib.import_module(f"{providers}.{module}"), provider)
    pydantic_ai = importlib.import_module("pydantic_ai")
    agent, tool = pydantic_ai.Agent, pydantic_ai.Tool

    def run(called: str, /, **arguments: Any) -> str:
        return box.run(called, arguments)

    tools = [tool.from_schema(partial(run, name), name, "A tool.", SCHEMA) for name in box.names]

    async def listen(_context: Any, events: Any) -> None:
        async for _ in events:
            pass

    async with _client(kind, server, mended) as client:
        model = made("m", provider=source(**{f"{module}_client": client}))
        await agent(model, tools=tools).run(_ASK, event_stream_handler=listen)


async def _agents(server: Loopback, mended: bool, dialect: str, box: _Toolbox) -> None:
    agents = importlib.import_module("agents")
    agents.set_tracing_disabled(disabled=True)
    made = agents.OpenAIChatCompletionsModel if dialect == CHAT else agents.OpenAIResponsesModel

    async def run(called: str, _context: Any, text: str) -> str:
        return box.run(called, json.loads(text) if text else {})

    tools = [
        agents.FunctionTool(name, "A tool.", SCHEMA, partial(run, name), strict_json_schema=False)
        for name in box.names
    ]
    async with _client("openai.AsyncOpenAI", server, mended) as client:
        agent = agents.Agent(name="harbour", model=made("m", client), tools=tools)
        result = agents.Runner.run_streamed(agent, _ASK, max_turns=3)
        async for _ in result.stream_events():
            pass


def _smolagents(server: Loopback, mended: bool, tools: Sequence[str]) -> list[Got]:
    models = importlib.import_module("smolagents.models")
    http = {"http_client": _http("client", _library("openai"))} if mended else {}
    model = models.OpenAIModel(
        model_id="m", api_base=f"{server.url}/v1", api_key=_KEY, client_kwargs={"max_retries": 0, **http}
    )
    # The attributes by which it describes tools.
    known = [SimpleNamespace(name=name, description="A tool.", inputs={}) for name in tools]
    message = models.ChatMessage(role="user", content=_ASK)
    deltas = list(model.generate_stream([message], tools_to_call_from=known))
    whole = models.agglomerate_stream_deltas(deltas)
    return [Got(call.function.name, call.function.arguments) for call in whole.tool_calls or ()]


async def _agno(server: Loopback, mended: bool, _dialect: str, box: _Toolbox) -> None:
    agent = importlib.import_module("agno.agent").Agent
    model = importlib.import_module("agno.models.openai").OpenAIChat
    made = model(
        id="m",
        api_key=_KEY,
        base_url=f"{server.url}/v1",
        max_retries=0,
        http_client=_http("async_client", "httpx") if mended else None,  # it does not take another library's
    )
    function = importlib.import_module("agno.tools.function").Function

    def run(called: str, /, **arguments: Any) -> str:
        return box.run(called, arguments)

    tools = [
        function(
            name=name,
            description="A tool.",
            parameters=SCHEMA,
            entrypoint=partial(run, name),
            skip_entrypoint_processing=True,
        )
        for name in box.names
    ]
    async for _ in agent(model=made, tools=tools, telemetry=False).arun(_ASK, stream=True):
        pass


# Gateways: libraries that speak the wires of many providers, and translate them to chunks of Chat Completions.

# By wire: the gateway's name of its provider, the SDK below it (litellm has its own except for Chat Completions), and
# the SDK's path under an address.
_PROVIDERS = {
    CHAT: ("openai", "openai", "/v1"),
    ANTHROPIC: ("anthropic", "anthropic", ""),
    RESPONSES: ("openai", "openai", "/v1"),
    GEMINI: ("gemini", "google.genai", ""),
}


def _litellm(server: Loopback, mended: bool, tools: Sequence[str], dialect: str) -> list[Got]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no request at import
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    provider, _, path = _PROVIDERS[dialect]
    # It requests no Responses events of an unknown model.
    model = f"{provider}/{'gpt-4o' if dialect == RESPONSES else 'm'}"
    ask = {"model": model, "api_base": f"{server.url}{path}", "api_key": _KEY, "max_retries": 0}
    with _of_litellm(server, mended, dialect) as client:
        ask["client"] = client
        if dialect == RESPONSES:
            return _of_events(litellm.responses(**ask, input=_ASK, tools=_items(tools), stream=True))
        ask |= {"messages": _MESSAGES, "tools": _chat_tools(tools)}
        chunks = list(litellm.completion(**ask, stream=True))
    whole = litellm.stream_chunk_builder(chunks, messages=_MESSAGES)
    calls = (whole.choices[0].message.tool_calls or ()) if whole is not None else ()
    return [Got(call.function.name, call.function.arguments) for call in calls]


def _of_litellm(server: Loopback, mended: bool, dialect: str) -> Any:
    """Return the client that litellm takes for a wire, as a context."""
    if dialect == CHAT:
        return _client("openai.OpenAI", server, mended)
    handler = importlib.import_module("litellm.llms.custom_httpx.http_handler").HTTPHandler
    return closing(handler(client=_http("client", "httpx") if mended else None))


def _any_llm(server: Loopback, mended: bool, tools: Sequence[str], dialect: str) -> list[Got]:
    return asyncio.run(_any_llm_asked(server, mended, tools, dialect))


async def _any_llm_asked(server: Loopback, mended: bool, tools: Sequence[str], dialect: str) -> list[Got]:
    provider, sdk, path = _PROVIDERS[dialect]
    made = importlib.import_module("any_llm").AnyLLM.create
    http = _http("async_client", "httpx" if dialect == GEMINI else _library(sdk)) if mended else None
    if dialect == GEMINI:
        options: JSON = {"http_options": {"httpx_async_client": http}} if mended else {}
    else:
        options = {"http_client": http, "max_retries": 0}
    async with http or nullcontext():
        llm = made(provider, api_key=_KEY, api_base=f"{server.url}{path}", **options)
        if dialect == RESPONSES:
            events = await llm.aresponses("m", _ASK, tools=_items(tools), stream=True)
            return _of_events([event async for event in events])
        chunks = await llm.acompletion("m", _MESSAGES, tools=_chat_tools(tools), stream=True)
        return _of_chunks([chunk async for chunk in chunks])


def _framework(act: Any, dialect: str) -> Run:
    return partial(_with_tools, dialect=dialect, act=act)


_OPENAI = ("openai",)
_LANGCHAIN = (("langchain-openai", "langchain-core", "openai"), ("langchain_openai",))
_PYDANTIC = (("pydantic-ai-slim", "openai"), ("pydantic_ai", "openai"))
_PYDANTIC_ANTHROPIC = (("pydantic-ai-slim", "anthropic"), ("pydantic_ai", "anthropic"))
_AGENTS = (("openai-agents", "openai"), ("agents",))
_LANGCHAIN_CLAUDE = (("langchain-anthropic", "langchain-core", "anthropic"), ("langchain_anthropic",))
_LANGCHAIN_GEMINI = (
    ("langchain-google-genai", "langchain-core", "google-genai"),
    ("langchain_google_genai",),
)
_LITELLM_PACKAGES = (("litellm", "openai"), ("litellm",))
_ANY_LLM_PACKAGES = (("any-llm-sdk", "anthropic", "google-genai", "openai"), ("any_llm",))

# Systems that need older SDKs than the others, and therefore a separate environment (extra `sdk-other`).
OLDER = frozenset({"agno", "any-llm", "litellm", "smolagents"})

SYSTEMS: tuple[System, ...] = (
    System("openai .stream()", CHAT, _OPENAI, _OPENAI, _chat_helper),
    System("openai, own loop", CHAT, _OPENAI, _OPENAI, _chat_loop),
    System("langchain-openai", CHAT, *_LANGCHAIN, partial(_langchain, dialect=CHAT)),
    System("pydantic-ai", CHAT, *_PYDANTIC, _framework(_pydantic_ai, CHAT)),
    System("openai-agents", CHAT, *_AGENTS, _framework(_agents, CHAT)),
    System("litellm", CHAT, *_LITELLM_PACKAGES, partial(_litellm, dialect=CHAT)),
    System("any-llm", CHAT, *_ANY_LLM_PACKAGES, partial(_any_llm, dialect=CHAT)),
    System("smolagents", CHAT, ("smolagents", "openai"), ("smolagents",), _smolagents),
    System("agno", CHAT, ("agno", "openai"), ("agno", "openai"), _framework(_agno, CHAT)),
    System("anthropic .stream()", ANTHROPIC, ("anthropic",), ("anthropic",), _anthropic_helper),
    System("anthropic, own loop", ANTHROPIC, ("anthropic",), ("anthropic",), _anthropic_loop),
    System("pydantic-ai", ANTHROPIC, *_PYDANTIC_ANTHROPIC, _framework(_pydantic_ai, ANTHROPIC)),
    System("langchain-anthropic", ANTHROPIC, *_LANGCHAIN_CLAUDE, _langchain_claude),
    System("litellm", ANTHROPIC, *_LITELLM_PACKAGES, partial(_litellm, dialect=ANTHROPIC)),
    System("any-llm", ANTHROPIC, *_ANY_LLM_PACKAGES, partial(_any_llm, dialect=ANTHROPIC)),
    System("openai .stream()", RESPONSES, _OPENAI, _OPENAI, _responses_helper),
    System("openai, own loop", RESPONSES, _OPENAI, _OPENAI, _responses_loop),
    System("langchain-openai", RESPONSES, *_LANGCHAIN, partial(_langchain, dialect=RESPONSES)),
    System("pydantic-ai", RESPONSES, *_PYDANTIC, _framework(_pydantic_ai, RESPONSES)),
    System("openai-agents", RESPONSES, *_AGENTS, _framework(_agents, RESPONSES)),
    System("litellm", RESPONSES, *_LITELLM_PACKAGES, partial(_litellm, dialect=RESPONSES)),
    System("any-llm", RESPONSES, *_ANY_LLM_PACKAGES, partial(_any_llm, dialect=RESPONSES)),
    System("google-genai, own loop", GEMINI, ("google-genai",), ("google", "google.genai"), _gemini_loop),
    System("langchain-google-genai", GEMINI, *_LANGCHAIN_GEMINI, _langchain_gemini),
    System("litellm", GEMINI, *_LITELLM_PACKAGES, partial(_litellm, dialect=GEMINI)),
    System("any-llm", GEMINI, *_ANY_LLM_PACKAGES, partial(_any_llm, dialect=GEMINI)),
    *(
        System("wholecall", dialect, (), (), _wholecall, mendable=False)
        for dialect in (CHAT, ANTHROPIC, RESPONSES)
    ),
)
