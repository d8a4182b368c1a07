"""The few lines that ask each client, as the reports to their projects show them.

A snippet reads `URL` and `TOOLS` (pairs of a name and a schema), and prints each call that it gets, or runs.
"""

from __future__ import annotations

_OPENAI = """
import openai

client = openai.OpenAI(api_key="x", base_url=URL, max_retries=0)
"""
_CHAT_TOOLS = """
tools = [{"type": "function", "function": {"name": name, "parameters": schema%s}} for name, schema in TOOLS]
"""
_ITEMS = """
tools = [{"type": "function", "name": name, "parameters": schema, "strict": %s} for name, schema in TOOLS]
"""
_ITEM_LOOP = """
items = {}
for event in events:
    if event.type == "response.output_item.added" and event.item.type == "function_call":
        items[event.output_index] = event.item
    elif event.type == "response.function_call_arguments.delta":
        items[event.output_index].arguments += event.delta
for item in items.values():
    print(item.call_id, item.name, item.arguments)
"""
_CHUNK_LOOP = """
calls = {}
for chunk in chunks:
    for call in (chunk.choices[0].delta.tool_calls or ()) if chunk.choices else ():
        if call.index not in calls:
            calls[call.index] = call
            call.function.arguments = call.function.arguments or ""
        else:
            calls[call.index].function.arguments += call.function.arguments or ""
for call in calls.values():
    print(call.id, call.function.name, call.function.arguments)
"""
_ANTHROPIC = """
import anthropic

client = anthropic.Anthropic(api_key="x", base_url=URL, max_retries=0)
tools = [{"name": name, "input_schema": schema} for name, schema in TOOLS]
ask = dict(model="m", max_tokens=64, messages=[{"role": "user", "content": "Go."}], tools=tools)
"""
_LANGCHAIN = """
import functools, operator
%s
whole = functools.reduce(operator.add, model.bind_tools(tools).stream("Go."))
for call in whole.tool_calls:
    print(call["id"], call["name"], call["args"])
"""
_LANGCHAIN_AGENT = """
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
%s
def made(name, schema):
    def run(**arguments):
        print(name, arguments)
        return "served"
    return StructuredTool(name=name, description="A tool.", args_schema=schema, func=run)

agent = create_agent(model, [made(*tool) for tool in TOOLS])
for _ in agent.stream({"messages": [{"role": "user", "content": "Go."}]}, stream_mode="messages"):
    pass
"""
_PYDANTIC = """
import asyncio
from pydantic_ai import Agent, Tool
%s
def made(name, schema):
    def run(context, **arguments):
        print(context.tool_call_id, name, arguments)
        return "served"
    return Tool.from_schema(run, name, "A tool.", schema, takes_ctx=True)

async def listen(context, events):
    async for _ in events:
        pass

agent = Agent(model, tools=[made(*tool) for tool in TOOLS])
agent.run_sync("Go.", event_stream_handler=listen)
"""
_AGENTS = """
import asyncio
import agents
from openai import AsyncOpenAI

agents.set_tracing_disabled(True)

def made(name, schema):
    async def run(context, text):
        print(context.tool_call_id, name, text)
        return "served"
    return agents.FunctionTool(name, "A tool.", schema, run, strict_json_schema=False)

async def main():
    model = agents.%s("m", AsyncOpenAI(api_key="x", base_url=URL, max_retries=0))
    agent = agents.Agent(name="a", model=model, tools=[made(*tool) for tool in TOOLS])
    async for _ in agents.Runner.run_streamed(agent, "Go.", max_turns=3).stream_events():
        pass

asyncio.run(main())
"""
_LITELLM = """
import os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
"""
_STRANDS = """
from strands import Agent
from strands.tools.tools import PythonAgentTool
%s
def made(name, schema):
    def run(use, **_):
        print(use["toolUseId"], use["name"], use["input"])
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": "served"}]}
    return PythonAgentTool(name, {"name": name, "description": "A tool.", "inputSchema": {"json": schema}}, run)

Agent(model=model, tools=[made(*tool) for tool in TOOLS], callback_handler=None)("Go.")
"""
_CLIENT_ARGS = 'client_args={"api_key": "x", "base_url": URL, "max_retries": 0}, model_id="m"'
_MESSAGES = 'model="m", messages=[{"role": "user", "content": "Go."}], tools=tools'
_ANY_LLM = """
import asyncio
from any_llm import AnyLLM

async def main():
    llm = AnyLLM.create("%s", api_key="x", api_base=URL, max_retries=0)
    return [part async for part in await llm.%s]
"""

PYTHON: dict[tuple[str, str], str] = {
    ("openai-loop", "chat-completions"): _OPENAI
    + _CHAT_TOOLS % ""
    + f"chunks = client.chat.completions.create({_MESSAGES}, stream=True)"
    + _CHUNK_LOOP,
    ("openai-stream", "chat-completions"): _OPENAI
    + _CHAT_TOOLS % ', "strict": True'
    + f"""with client.chat.completions.stream({_MESSAGES}) as stream:
    message = stream.get_final_completion().choices[0].message
for call in message.tool_calls or ():
    print(call.id, call.function.name, call.function.arguments)
""",
    ("openai-loop", "responses"): _OPENAI
    + _ITEMS % "False"
    + 'events = client.responses.create(model="m", input="Go.", tools=tools, stream=True)'
    + _ITEM_LOOP,
    ("openai-stream", "responses"): _OPENAI
    + _ITEMS % "True"
    + """with client.responses.stream(model="m", input="Go.", tools=tools) as stream:
    response = stream.get_final_response()
for item in response.output:
    if item.type == "function_call":
        print(item.call_id, item.name, item.arguments)
""",
    ("anthropic-loop", "anthropic"): _ANTHROPIC
    + """blocks, texts = {}, {}
for event in client.messages.create(**ask, stream=True):
    if event.type == "content_block_start" and event.content_block.type == "tool_use":
        blocks[event.index], texts[event.index] = event.content_block, ""
    elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
        texts[event.index] = texts.get(event.index, "") + event.delta.partial_json
for index, block in blocks.items():
    print(block.id, block.name, texts[index] or block.input)
""",
    ("anthropic-stream", "anthropic"): _ANTHROPIC
    + """with client.messages.stream(**ask) as stream:
    message = stream.get_final_message()
for block in message.content:
    if block.type == "tool_use":
        print(block.id, block.name, block.input)
""",
    ("langchain-openai", "chat-completions"): _CHAT_TOOLS % ""
    + _LANGCHAIN
    % 'from langchain_openai import ChatOpenAI\n\nmodel = ChatOpenAI(model="m", base_url=URL, api_key="x", max_retries=0)',
    ("langchain-openai", "responses"): _CHAT_TOOLS % ""
    + _LANGCHAIN
    % """from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="m", base_url=URL, api_key="x", max_retries=0, use_responses_api=True)""",
    ("langchain-anthropic", "anthropic"): _CHAT_TOOLS % ""
    + _LANGCHAIN
    % """from langchain_anthropic import ChatAnthropic

model = ChatAnthropic(model="m", base_url=URL, api_key="x", max_retries=0)""",
    ("langchain-agent", "chat-completions"): _LANGCHAIN_AGENT
    % """from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="m", base_url=URL, api_key="x", max_retries=0)
""",
    ("langchain-agent", "responses"): _LANGCHAIN_AGENT
    % """from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="m", base_url=URL, api_key="x", max_retries=0, use_responses_api=True)
""",
    ("langchain-agent", "anthropic"): _LANGCHAIN_AGENT
    % """from langchain_anthropic import ChatAnthropic

model = ChatAnthropic(model="m", base_url=URL, api_key="x", max_retries=0)
""",
    ("boto3", "bedrock-converse"): """
import boto3

client = boto3.client(
    "bedrock-runtime",
    endpoint_url=URL,
    region_name="us-east-1",
    aws_access_key_id="unused",
    aws_secret_access_key="unused",
)
specs = [{"toolSpec": {"name": name, "inputSchema": {"json": schema}}} for name, schema in TOOLS]
ask = dict(modelId="m", messages=[{"role": "user", "content": [{"text": "Go."}]}])
if specs:
    ask["toolConfig"] = {"tools": specs}
calls = {}
for event in client.converse_stream(**ask)["stream"]:
    if "contentBlockStart" in event and "toolUse" in event["contentBlockStart"]["start"]:
        use = event["contentBlockStart"]["start"]["toolUse"]
        calls[event["contentBlockStart"]["contentBlockIndex"]] = [use["toolUseId"], use["name"], ""]
    elif "contentBlockDelta" in event and "toolUse" in event["contentBlockDelta"]["delta"]:
        piece = event["contentBlockDelta"]
        calls[piece["contentBlockIndex"]][2] += piece["delta"]["toolUse"]["input"]
for call in calls.values():
    print(*call)
""",
    ("groq", "chat-completions"): """
from groq import Groq

client = Groq(api_key="x", base_url=URL, max_retries=0)
"""
    + _CHAT_TOOLS % ""
    + f"chunks = client.chat.completions.create({_MESSAGES}, stream=True)"
    + _CHUNK_LOOP,
    ("google-genai", "gemini"): """
from google import genai

client = genai.Client(api_key="x", http_options={"base_url": URL, "retry_options": {"attempts": 1}})
declared = [{"name": name, "parameters_json_schema": schema} for name, schema in TOOLS]
config = {"tools": [{"function_declarations": declared}]}
for response in client.models.generate_content_stream(model="m", contents="Go.", config=config):
    for call in response.function_calls or ():
        print(call.id, call.name, call.args)
""",
    ("langchain-google-genai", "gemini"): _CHAT_TOOLS % ""
    + _LANGCHAIN
    % """from langchain_google_genai import ChatGoogleGenerativeAI

model = ChatGoogleGenerativeAI(model="m", base_url=URL, api_key="x", max_retries=1)""",
    ("any-llm", "gemini"): _CHAT_TOOLS % ""
    + (
        _ANY_LLM
        % ("gemini", 'acompletion("m", [{"role": "user", "content": "Go."}], tools=tools, stream=True)')
    ).replace(", max_retries=0", "")
    + "\nchunks = asyncio.run(main())"
    + _CHUNK_LOOP,
    ("pydantic-ai", "chat-completions"): _PYDANTIC
    % """from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel("m", provider=OpenAIProvider(api_key="x", base_url=URL))
""",
    ("pydantic-ai", "responses"): _PYDANTIC
    % """from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIResponsesModel("m", provider=OpenAIProvider(api_key="x", base_url=URL))
""",
    ("pydantic-ai", "anthropic"): _PYDANTIC
    % """from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

model = AnthropicModel("m", provider=AnthropicProvider(api_key="x", base_url=URL))
""",
    ("openai-agents", "chat-completions"): _AGENTS % "OpenAIChatCompletionsModel",
    ("openai-agents", "responses"): _AGENTS % "OpenAIResponsesModel",
    ("litellm", "chat-completions"): _CHAT_TOOLS % ""
    + _LITELLM
    + f"""
ask = dict({_MESSAGES.replace('"m"', '"openai/m"')})
chunks = list(litellm.completion(**ask, api_base=URL, api_key="x", max_retries=0, stream=True))
message = litellm.stream_chunk_builder(chunks, messages=ask["messages"]).choices[0].message
for call in message.tool_calls or ():
    print(call.id, call.function.name, call.function.arguments)
""",
    ("litellm", "anthropic"): _CHAT_TOOLS % ""
    + _LITELLM
    + f"""
ask = dict({_MESSAGES.replace('"m"', '"anthropic/m"')})
chunks = list(litellm.completion(**ask, api_base=URL, api_key="x", max_retries=0, stream=True))
message = litellm.stream_chunk_builder(chunks, messages=ask["messages"]).choices[0].message
for call in message.tool_calls or ():
    print(call.id, call.function.name, call.function.arguments)
""",
    ("litellm", "responses"): (_ITEMS % "False")
    + _LITELLM
    + """
events = litellm.responses(
    model="openai/gpt-4o", input="Go.", tools=tools, api_base=URL, api_key="x", max_retries=0, stream=True
)"""
    + _ITEM_LOOP,
    ("any-llm", "chat-completions"): _CHAT_TOOLS % ""
    + _ANY_LLM
    % ("openai", 'acompletion("m", [{"role": "user", "content": "Go."}], tools=tools, stream=True)')
    + "\nchunks = asyncio.run(main())"
    + _CHUNK_LOOP,
    ("any-llm", "anthropic"): _CHAT_TOOLS % ""
    + _ANY_LLM
    % ("anthropic", 'acompletion("m", [{"role": "user", "content": "Go."}], tools=tools, stream=True)')
    + "\nchunks = asyncio.run(main())"
    + _CHUNK_LOOP,
    ("any-llm", "responses"): (_ITEMS % "False")
    + _ANY_LLM % ("openai", 'aresponses("m", "Go.", tools=tools, stream=True)')
    + "\nevents = asyncio.run(main())"
    + _ITEM_LOOP,
    ("strands", "chat-completions"): _STRANDS
    % f"from strands.models.openai import OpenAIModel\n\nmodel = OpenAIModel({_CLIENT_ARGS})\n",
    ("strands", "anthropic"): _STRANDS
    % f"from strands.models.anthropic import AnthropicModel\n\nmodel = AnthropicModel({_CLIENT_ARGS}, max_tokens=64)\n",
    ("smolagents", "chat-completions"): """
from smolagents import OpenAIModel, Tool, ToolCallingAgent
from smolagents.monitoring import LogLevel

class Served(Tool):
    skip_forward_signature_validation = True
    description, output_type = "A tool.", "string"

    def __init__(self, name, schema):
        self.name = name
        self.inputs = {
            key: {"type": value.get("type", "any"), "description": "An argument.", "nullable": True}
            for key, value in schema.get("properties", {}).items()
        }
        super().__init__()

    def forward(self, *given, **arguments):
        print(self.name, given or arguments)
        return "served"

model = OpenAIModel(model_id="m", api_base=URL, api_key="x", client_kwargs={"max_retries": 0})
agent = ToolCallingAgent(
    tools=[Served(*tool) for tool in TOOLS], model=model, stream_outputs=True, verbosity_level=LogLevel.OFF
)
list(agent.run("Go.", stream=True, max_steps=1))
""",
    ("agno", "chat-completions"): """
from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.tools.function import Function

def made(name, schema):
    def run(**arguments):
        print(name, arguments)
        return "served"
    return Function(
        name=name, description="A tool.", parameters=schema, entrypoint=run, skip_entrypoint_processing=True
    )

model = OpenAIChat(id="m", api_key="x", base_url=URL, max_retries=0)
for event in Agent(model=model, tools=[made(*tool) for tool in TOOLS], telemetry=False).run("Go.", stream=True):
    pass
""",
    ("haystack", "chat-completions"): """
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret

def made(name, schema):
    def run(**arguments):
        print(name, arguments)
        return "served"
    return Tool(name=name, description="A tool.", parameters=schema, function=run)

model = OpenAIChatGenerator(api_key=Secret.from_token("x"), model="m", api_base_url=URL, max_retries=0)
agent = Agent(
    chat_generator=model,
    tools=[made(*tool) for tool in TOOLS],
    max_agent_steps=3,
    streaming_callback=lambda chunk: None,
)
agent.run(messages=[ChatMessage.from_user("Go.")])
""",
    ("llama-index", "chat-completions"): """
import asyncio
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.llms.openai import OpenAI

class Known(ToolMetadata):
    def __init__(self, name, schema):
        super().__init__("A tool.", name)
        self.given = schema

    def get_parameters_dict(self):
        return self.given

def made(name, schema):
    def run(**arguments):
        print(name, arguments)
        return "served"
    return FunctionTool(run, Known(name, schema))

async def main():
    model = OpenAI("gpt-4o", api_key="x", api_base=URL, max_retries=0)
    await FunctionAgent(tools=[made(*tool) for tool in TOOLS], llm=model).run("Go.")

asyncio.run(main())
""",
    ("autogen", "chat-completions"): """
import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import BaseTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel

class Arguments(BaseModel):
    pass

class Served(BaseTool):
    def __init__(self, name, schema):
        super().__init__(Arguments, str, name, "A tool.")
        self.given = schema

    @property
    def schema(self):
        return {"name": self.name, "description": "A tool.", "parameters": self.given}

    async def run(self, args, cancellation_token):
        return "served"

    async def run_json(self, args, cancellation_token, call_id=None):
        print(call_id, self.name, dict(args))
        return "served"

async def main():
    info = dict(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True)
    model = OpenAIChatCompletionClient(model="m", api_key="x", base_url=URL, max_retries=0, model_info=info)
    agent = AssistantAgent("a", model, tools=[Served(*tool) for tool in TOOLS], model_client_stream=True)
    async for _ in agent.run_stream(task="Go."):
        pass

asyncio.run(main())
""",
}

_NODE_OPENAI = """import OpenAI from "openai";

const client = new OpenAI({ apiKey: "x", baseURL: URL, maxRetries: 0 });
const messages = [{ role: "user", content: "Go." }];
"""
_NODE_CHAT_TOOLS = """const tools = TOOLS.map(([name, parameters]) => ({ type: "function", function: { name, parameters } }));
"""
_NODE_ITEMS = """const tools = TOOLS.map(([name, parameters]) => ({ type: "function", name, parameters, strict: false }));
"""
_NODE_ANTHROPIC = """import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: "x", baseURL: URL, maxRetries: 0 });
const tools = TOOLS.map(([name, schema]) => ({ name, input_schema: { type: "object", ...schema } }));
const ask = { model: "m", max_tokens: 64, messages: [{ role: "user", content: "Go." }], tools };
"""
_NODE_AI = """import { jsonSchema, streamText, tool } from "ai";
%s

const toolOf = ([name, schema]) => [
  name,
  tool({
    inputSchema: jsonSchema(schema),
    execute: (input, { toolCallId }) => (console.log(toolCallId, name, JSON.stringify(input)), "served"),
  }),
];
const tools = Object.fromEntries(TOOLS.map(toolOf));
for await (const part of streamText({ model, prompt: "Go.", tools, maxRetries: 0, onError: () => {} }).fullStream);
"""

NODE: dict[tuple[str, str], str] = {
    ("openai-node-loop", "chat-completions"): _NODE_OPENAI
    + _NODE_CHAT_TOOLS
    + """const calls = {};
for await (const chunk of await client.chat.completions.create({ model: "m", messages, tools, stream: true })) {
  for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
    if (!calls[call.index]) {
      calls[call.index] = call;
      call.function.arguments ??= "";
    } else {
      calls[call.index].function.arguments += call.function.arguments ?? "";
    }
  }
}
for (const call of Object.values(calls)) console.log(call.id, call.function.name, call.function.arguments);
""",
    ("openai-node-stream", "chat-completions"): _NODE_OPENAI
    + _NODE_CHAT_TOOLS
    + """const completion = await client.chat.completions.stream({ model: "m", messages, tools }).finalChatCompletion();
for (const call of completion.choices[0].message.tool_calls ?? [])
  console.log(call.id, call.function.name, call.function.arguments);
""",
    ("openai-node-runtools", "chat-completions"): _NODE_OPENAI
    + """const tools = TOOLS.map(([name, parameters]) => ({
  type: "function",
  function: {
    name,
    parameters,
    parse: JSON.parse,
    function: (given) => (console.log(name, JSON.stringify(given)), "served"),
  },
}));
await client.chat.completions.runTools({ model: "m", messages, stream: true, tools }).done();
""",
    ("openai-node-loop", "responses"): _NODE_OPENAI
    + _NODE_ITEMS
    + """const items = {};
for await (const event of await client.responses.create({ model: "m", input: "Go.", tools, stream: true })) {
  if (event.type === "response.output_item.added" && event.item.type === "function_call") {
    items[event.output_index] = event.item;
  } else if (event.type === "response.function_call_arguments.delta") {
    items[event.output_index].arguments += event.delta;
  }
}
for (const item of Object.values(items)) console.log(item.call_id, item.name, item.arguments);
""",
    ("openai-node-stream", "responses"): _NODE_OPENAI
    + _NODE_ITEMS
    + """const response = await client.responses.stream({ model: "m", input: "Go.", tools }).finalResponse();
for (const item of response.output)
  if (item.type === "function_call") console.log(item.call_id, item.name, item.arguments);
""",
    ("anthropic-node-loop", "anthropic"): _NODE_ANTHROPIC
    + """const found = {};
for await (const event of await client.messages.create({ ...ask, stream: true })) {
  if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
    found[event.index] = { block: event.content_block, text: "" };
  } else if (event.type === "content_block_delta" && event.delta.type === "input_json_delta" && found[event.index]) {
    found[event.index].text += event.delta.partial_json;
  }
}
for (const { block, text } of Object.values(found)) console.log(block.id, block.name, text || block.input);
""",
    ("anthropic-node-stream", "anthropic"): _NODE_ANTHROPIC
    + """const { content } = await client.messages.stream(ask).finalMessage();
for (const block of content)
  if (block.type === "tool_use") console.log(block.id, block.name, JSON.stringify(block.input));
""",
    ("ai-sdk-openai", "chat-completions"): _NODE_AI
    % """import { createOpenAI } from "@ai-sdk/openai";

const model = createOpenAI({ apiKey: "x", baseURL: URL }).chat("m");""",
    ("ai-sdk-openai", "responses"): _NODE_AI
    % """import { createOpenAI } from "@ai-sdk/openai";

const model = createOpenAI({ apiKey: "x", baseURL: URL }).responses("m");""",
    ("ai-sdk-openai-compatible", "chat-completions"): _NODE_AI
    % """import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const model = createOpenAICompatible({ apiKey: "x", baseURL: URL, name: "served" })("m");""",
    ("ai-sdk-google", "gemini"): _NODE_AI
    % """import { createGoogleGenerativeAI } from "@ai-sdk/google";

const model = createGoogleGenerativeAI({ apiKey: "x", baseURL: `${URL}/v1beta` })("m");""",
    ("ai-sdk-anthropic", "anthropic"): _NODE_AI
    % """import { createAnthropic } from "@ai-sdk/anthropic";

const model = createAnthropic({ apiKey: "x", baseURL: `${URL}/v1` })("m");""",
}
