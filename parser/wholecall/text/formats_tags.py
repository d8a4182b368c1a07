"""Formats whose calls are tags: the name in a tag, then a tagged pair or element for each argument.

Theory of operation. Data only; `formats` puts them in order.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's and Step's tokens are full-width

from __future__ import annotations

from typing import Final

import msgspec

from wholecall.text.formats_shared import (
    ARGUMENT_PAIRS,
    FUNCTION_TAG,
    INVOKE_TAG,
    PREFIXED,
    TOOL_CALL,
    made,
)
from wholecall.text.records import Block, Body, Nested, Params, Tag

# --- <function=NAME><parameter=KEY> -------------------------------------------------------------------------

QWEN_XML: Final = made("qwen_xml", TOOL_CALL, FUNCTION_TAG)

# A line end after a value is the value's own unless there is one before it too: `nl2`.
SEED_OSS: Final = made(
    "seed_oss",
    Block(opens=("<seed:tool_call>",), closes=("</seed:tool_call>",), holds=("inner",)),
    Tag(
        opens=FUNCTION_TAG.opens,
        closes=FUNCTION_TAG.closes,
        name="eq",
        bare="line",
        params=Params(opens=("<parameter=",), closes=("</parameter>",), key="eq", trim="nl2"),
    ),
    think=(("<seed:think>", "</seed:think>"),),
)

# --- NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value> -------------------------------------------------

GLM: Final = made("glm", TOOL_CALL)

POOLSIDE: Final = made("poolside", TOOL_CALL, weak=("json",))

# The words of a public model end in a suffix: `:opensource`, in others a number (vLLM's hy_v3_tool_parser and
# hy_v4_tool_parser take it from the vocabulary; the number is that of Hy3 and Hy4). Hy4 has no separator.
_HUNYUAN_SUFFIXES: Final = (":opensource", ":6124c78e")


def _hunyuan(suffix: str) -> tuple[Block, Block]:
    """Return Hunyuan's section and call, each word with a suffix."""
    pairs = Params(
        opens=(f"<arg_key{suffix}>",),
        closes=(f"</arg_value{suffix}>",),
        key="pair",
        key_closes=f"</arg_key{suffix}>",
        value_opens=f"<arg_value{suffix}>",
    )
    return (
        Block(opens=(f"<tool_calls{suffix}>",), closes=(f"</tool_calls{suffix}>",), holds=("json", "inner")),
        Block(
            opens=(f"<tool_call{suffix}>",),
            closes=(f"</tool_call{suffix}>", f"<end_of_tool_call{suffix}>"),
            holds=("json", "inner", "pairs"),
            seps=(f"<tool_sep{suffix}>",),
            pairs=pairs,
        ),
    )


_SUFFIXED_CALLS: Final = tuple(record for suffix in _HUNYUAN_SUFFIXES for record in _hunyuan(suffix))
_SUFFIXED_THINK: Final = tuple((f"<think{suffix}>", f"</think{suffix}>") for suffix in _HUNYUAN_SUFFIXES)
_SUFFIXED_ANSWER: Final = tuple(f"<{end}answer{suffix}>" for suffix in _HUNYUAN_SUFFIXES for end in ("", "/"))

# The part that no other format shares, for the union.
HUNYUAN_SUFFIXED: Final = made(
    "hunyuan_suffixed", *_SUFFIXED_CALLS, think=_SUFFIXED_THINK, noise=_SUFFIXED_ANSWER
)

HUNYUAN_V3: Final = made(
    "hunyuan_v3",
    *_hunyuan(""),
    *_SUFFIXED_CALLS,
    think=_SUFFIXED_THINK,
    noise=("<answer>", "</answer>", *_SUFFIXED_ANSWER),
)

# Its chat template writes a text in quotes, and its parser takes JSON for JSON (NAVER's hyperclovax_seed_think parsers
# for vLLM); the model of 14B writes a list after a header.
HYPERCLOVAX: Final = made(
    "hyperclovax",
    Block(
        opens=("<tool_call>",),
        closes=("</tool_call>",),
        holds=("json", "inner", "pairs"),
        pairs=msgspec.structs.replace(ARGUMENT_PAIRS, typing="quoted"),
    ),
    Block(opens=("-> tool/function_call\n",)),
)

# IQuest-Coder-V2 (vLLM's iquest_coder_v2_tool_parser) and its successor (SGLang's iquest_q1_detector); the models before
# them write Qwen's form (vLLM's iquest_coder_tool_parser).
IQUEST: Final = made(
    "iquest",
    *(
        Block(opens=(f"<{word}>",), closes=(f"</{word}>",), holds=("pairs",), pairs=ARGUMENT_PAIRS)
        for word in ("iquestcoder_tool_call", "iquest_tool_call")
    ),
    noise=("<|iquestcoder_assistant|>",),
)

# The key and the value have no closer between them (vLLM's solar_open2_tool_parser).
SOLAR_OPEN2: Final = made(
    "solar_open2",
    Block(
        opens=("<|tool_call:start|>",),
        closes=("<|tool_call:end|>",),
        holds=("pairs",),
        pairs=Params(
            opens=("<|tool_arg:start|>",),
            closes=("<|tool_arg:end|>",),
            key="pair",
            value_opens="<|tool_arg:value|>",
        ),
    ),
    think=(("<|think:start|>", "<|think:end|>"),),
    noise=("<|im:content|>", "<|im:end|>", "<|im:start|>assistant", "<|im:start|>"),
)

K2_HORIZON: Final = made(
    "k2_horizon",
    Block(opens=("<ifm|tool_calls>",), closes=("</ifm|tool_calls>",), holds=("inner",)),
    Block(
        opens=("<ifm|tool_call>",),
        closes=("</ifm|tool_call>",),
        holds=("json", "pairs"),
        pairs=Params(
            opens=("<ifm|arg_key>",),
            closes=("</ifm|arg_value>",),
            key="pair",
            key_closes="</ifm|arg_key>",
            type_opens="<ifm|arg_type>",
            type_closes="</ifm|arg_type>",
            value_opens="<ifm|arg_value>",
            typing="type_attr",
        ),
    ),
    think=(
        ("<ifm|think>", "</ifm|think>"),
        ("<ifm|think_fast>", "</ifm|think_fast>"),
        ("<ifm|think_faster>", "</ifm|think_faster>"),
    ),
)

# --- <invoke name="NAME"><parameter name="KEY"> -------------------------------------------------------------

ANTHROPIC: Final = made(
    "anthropic",
    Block(
        opens=("<function_calls>", f"<{PREFIXED}function_calls>"),
        closes=("</function_calls>", f"</{PREFIXED}function_calls>"),
        holds=("inner",),
    ),
    INVOKE_TAG,
)

MINIMAX_M2: Final = made(
    "minimax_m2",
    Block(opens=("<minimax:tool_call>",), closes=("</minimax:tool_call>",), holds=("inner", "json")),
    INVOKE_TAG,
)

DOTS: Final = made(
    "dots",
    Block(opens=("<dots_function_call>",), closes=("</dots_function_call>",), holds=("inner", "json")),
    INVOKE_TAG,
)

_BARS = ("｜", "｜｜", "|", "||", "‖")
_DSML = tuple(f"{bar}DSML{bar}{space}" for bar in _BARS for space in ("", " "))


def _dsml(start: str, *ends: str) -> tuple[str, ...]:
    """Return a marker of DeepSeek's markup with every spelling of its bars."""
    return tuple(f"{start}{dsml}{end}" for end in ends for dsml in _DSML)


_DSML_SECTIONS = ("function_calls>", "tool_calls>", "calls>")

DSML: Final = made(
    "dsml",
    Block(opens=_dsml("<", *_DSML_SECTIONS), closes=_dsml("</", *_DSML_SECTIONS), holds=("inner",)),
    Tag(
        opens=_dsml("<", "invoke name="),
        closes=_dsml("</", "invoke>"),
        params=Params(
            opens=_dsml("<", "parameter name="),
            closes=_dsml("</", "parameter>"),
            key="attr",
            typing="string_attr",
        ),
    ),
)

# DeepSeek's form with another word, and one spelling of its bars (vLLM's gigachat35_tool_parser, llama.cpp).
_GCML = "｜GCML｜"

GIGACHAT35: Final = made(
    "gigachat35",
    Block(opens=(f"<{_GCML}tool_calls>",), closes=(f"</{_GCML}tool_calls>",), holds=("inner",)),
    Tag(
        opens=(f"<{_GCML}invoke name=",),
        closes=(f"</{_GCML}invoke>",),
        params=Params(
            opens=(f"<{_GCML}parameter name=",),
            closes=(f"</{_GCML}parameter>",),
            key="attr",
            typing="string_attr",
        ),
    ),
    noise=("<|message_sep|>",),
)

STEP3: Final = made(
    "step3",
    Block(opens=("<｜tool_calls_begin｜>",), closes=("<｜tool_calls_end｜>",), holds=("inner",)),
    Block(
        opens=("<｜tool_call_begin｜>",),
        closes=("<｜tool_call_end｜>",),
        holds=("inner",),
        skip_prefix=("function<｜tool_sep｜>",),
    ),
    Tag(
        opens=("<steptml:invoke name=",),
        closes=("</steptml:invoke>",),
        params=Params(opens=("<steptml:parameter name=",), closes=("</steptml:parameter>",), key="attr"),
    ),
)

ATEM_CALLS: Final = Block(
    opens=("<atem:function_calls>",), closes=("</atem:function_calls>",), holds=("inner",)
)
ATEM_TAG: Final = Tag(
    opens=("<atem:invoke name=",),
    closes=("</atem:invoke>",),
    bare="line",
    params=Params(opens=("<atem:parameter name=",), closes=("</atem:parameter>",), key="attr"),
)

# Its tokenizer leaves a letter in place of the space, and some servers leave nothing.
_SPACES = (" ", "Ġ", "")

MINICPM5: Final = made(
    "minicpm5",
    Tag(
        opens=tuple(f"<function{space}name=" for space in _SPACES),
        closes=("</function>",),
        params=Params(
            opens=tuple(f"<param{space}name=" for space in _SPACES),
            closes=("</param>",),
            key="attr",
            trim="nl2",
            cdata=True,
        ),
    ),
)

# `<tool: NAME>`, the tool's text, `</tool>` (the model card of Meta's CWM); where the head says `function` the text begins
# with the name (vLLM's cwm_tool_parser).
CWM: Final = made("cwm", Body(opens=("<tool: ",), closes=("</tool>",), generic=("function",), key="command"))

# --- Others -------------------------------------------------------------------------------------------------

KIMI_K3: Final = made(
    "kimi_k3",
    Block(opens=("<|open|>tools<|sep|>",), closes=("<|close|>tools<|sep|>",), holds=("inner",)),
    Tag(
        opens=("<|open|>call ",),
        closes=("<|close|>call<|sep|>",),
        name_attr="tool",
        gt="<|sep|>",
        params=Params(
            opens=("<|open|>argument ",),
            closes=("<|close|>argument<|sep|>",),
            key="attr",
            key_attr="key",
            gt="<|sep|>",
            typing="type_attr",
        ),
    ),
    think=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
    noise=(
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
        '<|open|>message role="assistant"<|sep|>',
        "<|end_of_msg|>",
    ),
    imply=("<|open|>response<|sep|>",),
)

_M3 = "]<]minimax[>["

MINIMAX_M3: Final = made(
    "minimax_m3",
    Block(opens=(f"{_M3}<tool_call>",), closes=(f"{_M3}</tool_call>",), holds=("inner",)),
    Nested(opens=(f"{_M3}<invoke name=",), closes=(f"{_M3}</invoke>",), token=_M3),
    think=(("<mm:think>", "</mm:think>"),),
)
