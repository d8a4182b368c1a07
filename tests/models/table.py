"""The models, and how much of them is tried where."""

from __future__ import annotations

from typing import NamedTuple

from tests.models import (
    ag_ui,
    agno,
    anthropic,
    assistant_transport,
    chat,
    chat_choices,
    codewhisperer,
    cohere,
    converse,
    copilot,
    gemini,
    gemini_interactions,
    hunyuan,
    letta,
    llama_stack,
    mastra,
    ollama,
    pydantic_ai,
    realtime,
    responses,
    snowflake_cortex,
    strands,
    vercel_ui,
    whole_calls,
)
from tests.models.streams import Model, Streams
from tests.models.trial import Trial, tried

_ALONE = tuple(
    module.MODEL
    for module in (
        chat,
        chat_choices,
        responses,
        anthropic,
        gemini,
        gemini_interactions,
        converse,
        cohere,
        ollama,
        ag_ui,
        realtime,
        vercel_ui,
        llama_stack,
        assistant_transport,
        snowflake_cortex,
        codewhisperer,
        mastra,
        pydantic_ai,
        hunyuan,
        letta,
        agno,
        copilot,
        strands,
    )
)
MODELS: dict[str, Model] = {model.name or model.dialect: model for model in (*_ALONE, *whole_calls.MODELS)}
# The share of the streams with two habits that takes about two minutes, where all of them take longer.
SAMPLES = {
    "ag-ui": 0.12,
    "anthropic": 0.3,
    "assistant-transport": 0.06,
    "bedrock-converse": 0.3,
    "cohere-v2": 0.4,
    "gemini-interactions": 0.3,
    "openai-realtime": 0.04,
    "responses": 0.03,
    "snowflake-cortex": 0.5,
    "vercel-ui": 0.4,
}


class Setting(NamedTuple):
    """The extent of a test.

    Attributes:
        habits: the limit of the habits' total cost.
        n_streams: the approximate number of streams that are tried.
        few: whether the streams are those of few scenarios.
        is_slow: whether the test is one of the slow ones.
    """

    habits: float
    n_streams: int
    few: bool = False
    is_slow: bool = False

    def run(self, model: Model) -> Trial:
        """Try a model to this extent: of streams that differ only in names, and of a cut stream's ends, try one."""
        streams = Streams(model, self.habits, few=self.few)
        return tried(streams, sample=2 * self.n_streams / len(streams), mirrored=False, every_end=False)


SETTINGS = {
    "one habit, a sample": Setting(1.0, 500),
    "two habits, a sample": Setting(2.0, 500, few=True, is_slow=True),
    # All streams of most dialects; `python -m tests.models` tries them all.
    "one habit": Setting(1.0, 16_000, is_slow=True),
    "two habits": Setting(2.0, 10_000, is_slow=True),
}
