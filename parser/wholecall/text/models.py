"""Guess a model's format from its name, as publishers, servers and gateways spell it.

Theory of operation. An ordered table of expressions; the first one that is found in the case-folded name counts. A
fine-tune with its own format often has its base in its name ("Hermes-3-Llama-3.1-8B"), so such names come
before those of the bases, and the name of one version before that of its family.
"""

from __future__ import annotations

import re
from typing import Final

_TABLE = (
    (r"gpt-oss|gpt-\d.*codex", "harmony"),
    (r"deepseek.*v3\.2-?exp", "deepseek"),  # the experimental model has V3.1's template
    (r"deepseek.*(v3\.2|v4)", "dsml"),
    (r"deepseek|cogito", "deepseek"),
    (r"functionary", "functionary"),
    (r"phi-?4-mini|firefunction", "functools"),
    (r"xlam", "xlam"),
    (r"toolace", "llama_pythonic"),
    (r"hermes", "hermes"),
    (r"\bmuse", "muse"),
    (r"kimi-?k3", "kimi_k3"),
    (r"kimi", "kimi_k2"),
    (r"glm|ling-3|iflytek|\bspark-?(x|\d)", "glm"),
    (
        r"qwen.*coder|qwen3\.[5-9]|nemotron-3|step-?3\.[5-9]|step-?5|mimo|nanbeige|intern-s2|iquest.*-[vm]1",
        "qwen_xml",
    ),
    (r"nemotron", "nemotron_v2"),
    (r"minimax-?m3", "minimax_m3"),
    (r"minimax-?m2", "minimax_m2"),
    (r"minimax", "minimax_m1"),
    (r"mistral|mixtral|magistral|devstral|ministral|codestral|pixtral", "mistral"),
    (r"llama-?4", "llama_pythonic"),
    (r"llama-?3", "llama3_json"),
    (r"functiongemma", "functiongemma"),
    (r"gemma-?4", "gemma4"),
    (r"command-?r|command-?a|\baya|c4ai", "cohere"),
    (r"granite.*pythonic", "granite_pythonic"),
    (r"granite", "granite"),
    (r"seed-oss", "seed_oss"),
    (r"hunyuan.*a13b", "jamba"),
    (r"hunyuan|\bhy-?[34]", "hunyuan_v3"),
    (r"hyperclova", "hyperclovax"),
    (r"iquest", "iquest"),
    (r"solar-?(open-?2|pro-?4)", "solar_open2"),
    (r"solar-?open", "solar_open"),
    (r"mirothinker", "mirothinker"),
    (r"\bcwm\b", "cwm"),
    (r"\brwkv", "rwkv"),
    (r"\blfm|pangu", "lfm2"),
    (r"\bolmo", "olmo3"),
    (r"claude", "anthropic"),
    (r"internlm|intern-s", "internlm2"),
    (r"ernie", "ernie45"),
    (r"apertus", "apertus"),
    (r"jamba", "jamba"),
    (r"apriel", "apriel"),
    (r"longcat", "longcat"),
    (r"gigachat-?3\.5", "gigachat35"),
    (r"gigachat", "gigachat3"),
    (r"\binkling", "inkling"),
    (r"step-?audio-?2", "step_audio2"),
    (r"\bstep-?3", "step3"),
    (r"laguna", "poolside"),
    (r"minicpm", "minicpm5"),
    (r"k2-horizon", "k2_horizon"),
    (r"plamo", "plamo3"),
    (r"\bbeam", "beam"),
    (r"qwen|qwq|reka|exaone|bielik", "hermes"),
)

MODELS: Final = tuple((re.compile(expression), name) for expression, name in _TABLE)


def format_named(model: str) -> str | None:
    """Return the format of the model of this name, None if it is unknown."""
    folded = model.casefold()
    return next((name for expression, name in MODELS if expression.search(folded)), None)
