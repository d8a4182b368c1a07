"""The format of a model by its name."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wholecall.text.choosing import text_format_of
from wholecall.text.formats import FORMATS
from wholecall.text.models import MODELS

REAL = {
    "harmony": "openai/gpt-oss-120b gpt-oss:20b openai/gpt-oss-safeguard-20b "
    "openai/gpt-5.3-codex-spark gpt-5.1-codex-max",
    "dsml": "deepseek-ai/DeepSeek-V3.2 deepseek-v3.2:cloud deepseek/deepseek-v4-pro deepseek-ai/DeepSeek-V4.1",
    "deepseek": "deepseek-ai/DeepSeek-V3.1-Terminus deepseek-r1:14b deepseek-ai/DeepSeek-R1-Distill-Llama-8B "
    "deepseek-ai/DeepSeek-V3-0324 deepseek-ai/DeepSeek-V3.2-Exp deepcogito/cogito-v2-preview-llama-405B",
    "kimi_k3": "moonshotai/Kimi-K3 kimi-k3:cloud kimik3",
    "kimi_k2": "moonshotai/Kimi-K2-Instruct-0905 kimi-k2-thinking moonshotai/Kimi-K2.5",
    "glm": "zai-org/GLM-4.5-Air glm-4.7:cloud zai-org/GLM-5 zai-org/GLM-5.3-Flash inclusionAI/Ling-3-flash iflytek/Spark-2.5 spark-x1.5",
    "qwen_xml": "Qwen/Qwen3-Coder-480B-A35B-Instruct qwen3-coder:30b Qwen/Qwen3.5-4B Qwen3.6-27B qwen3.8 "
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 stepfun-ai/Step-3.5-Flash XiaomiMiMo/MiMo-V2-Flash Nanbeige4-3B "
    "stepfun-ai/Step-3.7-Flash stepfun-ai/Step-5-Preview-BF16 step-5-flash internlm/Intern-S2-Preview "
    "IQuestLab/IQuest-Coder-V1-40B-Instruct",
    "nemotron_v2": "nvidia/NVIDIA-Nemotron-Nano-9B-v2 nvidia/NVIDIA-Nemotron-Nano-12B-v2",
    "minimax_m3": "MiniMaxAI/MiniMax-M3 minimax-m3:cloud",
    "minimax_m2": "MiniMaxAI/MiniMax-M2 MiniMaxAI/MiniMax-M2.5 minimax-m2.7",
    "minimax_m1": "MiniMaxAI/MiniMax-M1-80k MiniMaxAI/MiniMax-Text-01",
    "mistral": "mistralai/Mistral-Small-3.2-24B-Instruct-2506 mistral-nemo mixtral:8x7b mistralai/Magistral-Small-2509 "
    "devstral:24b mistralai/Ministral-3-8B-Instruct-2512 codestral-latest mistralai/Pixtral-12B-2409",
    "llama_pythonic": "meta-llama/Llama-4-Scout-17B-16E-Instruct llama4:scout Team-ACE/ToolACE-2-Llama-3.1-8B",
    "llama3_json": "meta-llama/Llama-3.3-70B-Instruct llama3.1:8b Meta-Llama-3.1-405B-Instruct-Turbo",
    "functiongemma": "google/functiongemma-270m-it functiongemma",
    "gemma4": "google/gemma-4-31b-it gemma4:e4b",
    "cohere": "CohereLabs/c4ai-command-r7b-12-2024 command-a-03-2025 command-r-plus CohereLabs/aya-expanse-32b",
    "granite": "ibm-granite/granite-3.3-8b-instruct granite4:small-h ibm-granite/granite-20b-functioncalling",
    "granite_pythonic": "ibm-granite/granite-4.2-pythonic",
    "functionary": "meetkai/functionary-small-v3.2 meetkai/functionary-medium-v3.1",
    "seed_oss": "ByteDance-Seed/Seed-OSS-36B-Instruct seed-oss-36b",
    "jamba": "tencent/Hunyuan-A13B-Instruct hunyuan-a13b ai21labs/AI21-Jamba-Mini-1.7",
    "hunyuan_v3": "tencent/Hunyuan-7B-Instruct tencent/HY3-preview hy-4 tencent/Hy4",
    "hyperclovax": "naver-hyperclovax/HyperCLOVAX-SEED-Think-32B hyperclova-x-seed-think-14b",
    "iquest": "IQuestLab/IQuest-Coder-V2 iquest-q1",
    "functools": "microsoft/Phi-4-mini-instruct phi4-mini:3.8b fireworks-ai/llama-3-firefunction-v2",
    "xlam": "Salesforce/Llama-xLAM-2-8b-fc-r Salesforce/xLAM-7b-fc-r Salesforce/xLAM-2-32b-fc-r",
    "lfm2": "LiquidAI/LFM2-1.2B-Tool LiquidAI/LFM2.5-8B-A1B lfm2:24b FreedomIntelligence/openPangu-V2",
    "olmo3": "allenai/Olmo-3-7B-Instruct olmo-3.1:32b",
    "anthropic": "claude-opus-4-5 anthropic/claude-3.7-sonnet",
    "internlm2": "internlm/internlm3-8b-instruct internlm/Intern-S1 internlm2:7b",
    "ernie45": "baidu/ERNIE-4.5-21B-A3B-Thinking ernie-4.5-300b-a47b",
    "apertus": "swiss-ai/Apertus-8B-Instruct-2509",
    "apriel": "ServiceNow-AI/Apriel-1.5-15b-Thinker apriel-1.6",
    "longcat": "meituan-longcat/LongCat-Flash-Chat longcat-flash-thinking",
    "gigachat3": "ai-sage/GigaChat3-702B-A36B-preview gigachat3-10b",
    "gigachat35": "ai-sage/GigaChat3.5-10B gigachat-3.5",
    "step_audio2": "stepfun-ai/Step-Audio-2-mini step-audio-2",
    "solar_open": "upstage/Solar-Open-100B solar-open:100b",
    "solar_open2": "upstage/Solar-Open2 solar-open-2 upstage/solar-pro4",
    "mirothinker": "miromind-ai/MiroThinker-v1.5-30B mirothinker:8b",
    "cwm": "facebook/cwm facebook/cwm-sft",
    "rwkv": "BlinkDL/rwkv-7 rwkv7-g1",
    "inkling": "inkling inkling-small",
    "step3": "stepfun-ai/step3 stepfun-ai/Step-3-Flash",
    "poolside": "poolside/Laguna-XS laguna-m.1",
    "minicpm5": "openbmb/MiniCPM5-8B minicpm5",
    "k2_horizon": "IFM/K2-Horizon-32B k2-horizon-7b",
    "plamo3": "pfnet/plamo-3-nict-31b-base plamo-3",
    "beam": "beam-1",
    "muse": "muse-glimmer meta/muse-spark",
    "hermes": "Qwen/Qwen2.5-72B-Instruct qwen3:8b Qwen/QwQ-32B Qwen/Qwen3-235B-A22B NousResearch/Hermes-3-Llama-3.1-8B "
    "NousResearch/Hermes-2-Pro-Mistral-7B RekaAI/reka-edge LGAI-EXAONE/EXAONE-4.0-32B "
    "LGAI-EXAONE/K-EXAONE-236B-A23B speakleash/Bielik-11B-v3.0-Instruct",
}


@together(("model", "name"), [(model, name) for name, models in REAL.items() for model in models.split()])
def test_a_model_resolves_to_its_format(model: str, name: str) -> None:
    """Names as publishers, servers and gateways spell them resolve, in any case."""
    assert name == text_format_of(model)
    assert name == text_format_of(model.upper())


@pytest.mark.parametrize(
    "model", ["", "gpt-4.1", "gemini-3-pro", "gemma-3-27b-it", "himalaya-7b", "molmo-7b", "yi-34b"]
)
def test_an_unknown_model_has_no_format(model: str) -> None:
    """A name that says nothing resolves to nothing, also where it contains a family's name inside a word."""
    assert text_format_of(model) is None


def test_every_row_of_the_table_counts() -> None:
    """Every row leads to a format, and is the first that is found in some model's name."""
    reached = {
        next(row for row in MODELS if row[0].search(model.casefold()))
        for models in REAL.values()
        for model in models.split()
    }

    assert set() == {name for _, name in MODELS} - set(FORMATS)
    assert [] == [expression.pattern for expression, name in MODELS if (expression, name) not in reached]
