"""Cases of calls in text whose expectation does not hold for us, and the expectation that does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_NONE: Final[Mapping[str, Any]] = {"calls": []}

CORRECTED: Final[Mapping[str, Mapping[str, Any]]] = {
    # The text ends within the arguments. The other parser shows the call while it grows; here it is a drop.
    "cohere/llama.cpp/aa821c061d": _NONE,
    "cohere/llama.cpp/960858698c": _NONE,
    "kimi_k2/llama.cpp/2c8e8d8b19": _NONE,
    "lfm2/llama.cpp/06de3af38c": _NONE,
    "hermes/llama.cpp/7685de38ad": _NONE,
    "hermes/llama.cpp/ce412c0fbe": _NONE,
    # The schema is a union that allows the object which the elements spell; the other parser keeps their markup.
    "minimax_m3/llama.cpp/49f3867d54": {
        "calls": [{"name": "union_args", "arguments": {"label": {"text": "hi"}}}]
    },
    # Text where the schema wants an integer. It is not turned unless the policy asks for it, so the tool's check
    # drops the call.
    "k2_horizon/vllm/ee947e5073": _NONE,
    # A quote that is not escaped within a string of the same quotes has two readings.
    "lfm2/vllm/8fd9a1af0e": _NONE,
    "lfm2/vllm/730b9b62a8": _NONE,
    # A shape without a marker counts only if nothing but calls follows, and only at the start of a line.
    "generic_json/smg/7b4724b132": {"names": []},
    "generic_json/smg/ad7fc51d87": {"names": []},
    "pythonic/smg/5a7a7fbeee": {"names": []},
    # Without a schema, text that looks like JSON is JSON; the other parser reads an object so, but not a list.
    "minimax_m2/smg/16e973fdb9": {"arguments_subset": {"list": [1, 2, 3]}},
    # Values are data and unchanged: no entity is decoded, and white space is not ours to strip.
    "minimax_m2/smg/987ba43b95": {
        "arguments_subset": {
            "html": "&lt;div&gt;content&lt;/div&gt;",
            "text": "Quote: &quot;hello&quot;",
            "code": "if (a &amp;&amp; b) { }",
        }
    },
    "qwen_xml/smg/663c7e64ca": {"arguments_subset": {"trimmed": "  spaces around  "}},
    "qwen_xml/smg/5aa9653513": {"arguments_subset": {"empty": "", "whitespace": "   ", "normal": "value"}},
    # The other parser leaves reasoning in the visible text; it is reported as reasoning here.
    "mistral_args/llama.cpp/f9ef703630": {"content": "Hello, world!\nWhat's up?"},
    "qwen_xml/llama.cpp/2c93ed1ef2": {"content": "Hello, world!\nWhat's up?"},
    "xlam/vllm/3149648dd7": {"content": None},
    "ernie45/vllm/3a801fde50": {"content": None},
    # The fence of an answer is the answer's; only a fence round a call is markup.
    "mistral_args/llama.cpp/55f71745d2": {
        "content": '```json\n{"amount": 123.45, "date": "2025-12-03"}\n```'
    },
    "llama3_json/llama.cpp/e01d8eb229": {"content": '```json\n"42"\n```'},
    # Text after a call is reported; the other parsers lose it.
    "hunyuan_a13b/vllm/784cc522da": {"content": "Thank you!"},
    "mistral_args/vllm/ea66e3b665": {"content": "Estimating the weather..."},
    "mistral_args/vllm/d08002c50f": {"content": "Estimating the weather..."},
}
