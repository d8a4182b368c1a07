"""Hugging Face's smolagents: its tool-calling agent, which runs the tools itself while it streams.

The agent makes one step. An error of the step (text that it cannot parse, a tool that it does not know, arguments
that do not fit) goes to the model, so the calls that did not run count as refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smolagents import AgentGenerationError, OpenAIModel, Tool, ToolCallingAgent
from smolagents.memory import ActionStep
from smolagents.monitoring import LogLevel

from protocol import CHAT, KEY, QUESTION, Client, Run, serve


class Served(Tool):
    """A tool with a schema that tells its calls."""

    skip_forward_signature_validation = True
    description = "A tool."
    output_type = "string"

    def __init__(self, run: Run, name: str, schema: dict[str, Any]) -> None:
        self.name = name
        known = schema.get("properties", {})
        required = schema.get("required", ())
        self.inputs = {
            key: {
                "type": value.get("type", "any"),
                "description": "An argument.",
                "nullable": key not in required,
            }
            for key, value in known.items()
        }
        self._run = run
        super().__init__()

    def forward(self, *given: Any, **arguments: Any) -> str:
        """Tell the call; arguments that are no object come as one value."""
        self._run.called(None, self.name, given[0] if given else arguments)
        return "served"


def read(run: Run, wrap: Callable[[Any], Any] = lambda model: model) -> None:
    """Let the agent make one step, with a wrapped model."""
    options = {"max_retries": 0, "timeout": run.timeout}
    model = wrap(OpenAIModel(model_id="m", api_base=run.url, api_key=KEY, client_kwargs=options))
    tools: list[Tool] = [Served(run, tool["name"], tool["schema"]) for tool in run.tools]
    agent = ToolCallingAgent(
        tools=tools, model=model, stream_outputs=run.stream, verbosity_level=LogLevel.OFF
    )
    list(agent.run(QUESTION, stream=True, max_steps=1))
    step = next(step for step in agent.memory.steps if isinstance(step, ActionStep))
    message = step.model_output_message
    # An answer in words, which the agent does not take:
    is_answer = bool(message and message.content and not message.tool_calls)
    if isinstance(step.error, AgentGenerationError) or (step.error and not message):
        raise step.error
    if step.error is not None and not is_answer:
        run.refuse(None, None, str(step.error.message))


if __name__ == "__main__":
    serve(Client("smolagents", CHAT, read, ("smolagents", "openai"), runs_tools=True, whole=True))
