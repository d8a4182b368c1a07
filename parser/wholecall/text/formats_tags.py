"""Formats whose calls are tags: the name in a tag, then a tagged pair or element for each argument.

Theory of operation. Data only; `formats` puts them in order.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's and Step's tokens are full-width

from __future__ import annotations

from typing import Final

import msgspec

from wholecall.text import formats_shared, records

# --- <function=NAME><parameter=KEY> -------------------------------------------------------------------------

QWEN_XML: Final = formats_shared.made("qwen_xml", formats_shared.TOOL_CALL, formats_shared.FUNCTION_TAG)

# A line end after a value is the value's own unless there is one before it too: `nl2`.
SEED_OSS: Final = formats_shared.made(
    "seed_oss",
    records.Block(opens=("<seed:tool_call>",), closes=("</seed:tool_call>",), holds=("inner",)),
    records.Tag(
        opens=formats_shared.FUNCTION_TAG.opens,
        closes=formats_shared.FUNCTION_TAG.closes,
        name="eq",
        bare="line",
        params=records.Params(opens=("<parameter=",), closes=("</parameter>",), key="eq", trim="nl2"),
    ),
    think=(("<seed:think>", "</seed:think>"),),
)

# --- NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value> -------------------------------------------------

GLM: Final = formats_shared.made("glm", formats_shared.TOOL_CALL)

POOLSIDE: Final = formats_shared.made("poolside", formats_shared.TOOL_CALL, weak=("json",))

# The words of a public model end in a suffix: `:opensource`, in others a number (vLLM's hy_v3_tool_parser and
# hy_v4_tool_parser take it from the vocabulary; the number is that of Hy3 and Hy4). Hy4 has no separator.
_HUNYUAN_SUFFIXES: Final = (":opensource", ":6124c78e")


def _hunyuan(suffix: str) -> tuple[records.Block, records.Block]:
    """Return Hunyuan's section and call, each word with a suffix."""
    pairs = records.Params(
        opens=(f"<arg_key{suffix}>",),
        closes=(f"</arg_value{suffix}>",),
        key="pair",
        key_closes=f"</arg_key{suffix}>",
        value_opens=f"<arg_value{suffix}>",
    )
    return (
        records.Block(
            opens=(f"<tool_calls{suffix}>",), closes=(f"</tool_calls{suffix}>",), holds=("json", "inner")
        ),
        records.Block(
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
HUNYUAN_SUFFIXED: Final = formats_shared.made(
    "hunyuan_suffixed", *_SUFFIXED_CALLS, think=_SUFFIXED_THINK, noise=_SUFFIXED_ANSWER
)

HUNYUAN_V3: Final = formats_shared.made(
    "hunyuan_v3",
    *_hunyuan(""),
    *_SUFFIXED_CALLS,
    think=_SUFFIXED_THINK,
    noise=("<answer>", "</answer>", *_SUFFIXED_ANSWER),
)

# Its chat template writes a text in quotes, and its parser takes JSON for JSON (NAVER's hyperclovax_seed_think parsers
# for vLLM); the model of 14B writes a list after a header.
HYPERCLOVAX: Final = formats_shared.made(
    "hyperclovax",
    records.Block(
        opens=("<tool_call>",),
        closes=("</tool_call>",),
        holds=("json", "inner", "pairs"),
        pairs=msgspec.structs.replace(formats_shared.ARGUMENT_PAIRS, typing="quoted"),
    ),
    records.Block(opens=("-> tool/function_call\n",)),
)

# IQuest-Coder-V2 (vLLM's iquest_coder_v2_tool_parser) and its successor (SGLang's iquest_q1_detector); the models before
# them write Qwen's form (vLLM's iquest_coder_tool_parser).
IQUEST: Final = formats_shared.made(
    "iquest",
    *(
        records.Block(
            opens=(f"<{word}>",),
            closes=(f"</{word}>",),
            holds=("pairs",),
            pairs=formats_shared.ARGUMENT_PAIRS,
        )
        for word in ("iquestcoder_tool_call", "iquest_tool_call")
    ),
    noise=("<|iquestcoder_assistant|>",),
)

# The key and the value have no closer between them (vLLM's solar_open2_tool_parser).
SOLAR_OPEN2: Final = formats_shared.made(
    "solar_open2",
    records.Block(
        opens=("<|tool_call:start|>",),
        closes=("<|tool_call:end|>",),
        holds=("pairs",),
        pairs=records.Params(
            opens=("<|tool_arg:start|>",),
            closes=("<|tool_arg:end|>",),
            key="pair",
            value_opens="<|tool_arg:value|>",
        ),
    ),
    think=(("<|think:start|>", "<|think:end|>"),),
    noise=("<|im:content|>", "<|im:end|>", "<|im:start|>assistant", "<|im:start|>"),
)

K2_HORIZON: Final = formats_shared.made(
    "k2_horizon",
    records.Block(opens=("<ifm|tool_calls>",), closes=("</ifm|tool_calls>",), holds=("inner",)),
    records.Block(
        opens=("<ifm|tool_call>",),
        closes=("</ifm|tool_call>",),
        holds=("json", "pairs"),
        pairs=records.Params(
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

ANTHROPIC: Final = formats_shared.made(
    "anthropic",
    records.Block(
        opens=("<function_calls>", f"<{formats_shared.PREFIXED}function_calls>"),
        closes=("</function_calls>", f"</{formats_shared.PREFIXED}function_calls>"),
        holds=("inner",),
    ),
    formats_shared.INVOKE_TAG,
)

MINIMAX_M2: Final = formats_shared.made(
    "minimax_m2",
    records.Block(opens=("<minimax:tool_call>",), closes=("</minimax:tool_call>",), holds=("inner", "json")),
    formats_shared.INVOKE_TAG,
)

DOTS: Final = formats_shared.made(
    "dots",
    records.Block(
        opens=("<dots_function_call>",), closes=("</dots_function_call>",), holds=("inner", "json")
    ),
    formats_shared.INVOKE_TAG,
)

_BARS = ("｜", "｜｜", "|", "||", "‖")
_DSML = (*(f"{bar}DSML{bar}{space}" for bar in _BARS for space in ("", " ")), " | DSML | ")


def _dsml(start: str, *ends: str) -> tuple[str, ...]:
    """Return a marker of DeepSeek's markup with every spelling of its bars."""
    return tuple(f"{start}{dsml}{end}" for end in ends for dsml in _DSML)


# The first three are DeepSeek's own; its models slip into the others, around an invocation as it should be.
_DSML_SECTIONS = (
    *("function_calls>", "tool_calls>", "calls>"),
    *("function_call>", "tool_call>", "toolcalls>", "tool_use>"),
)

DSML: Final = formats_shared.made(
    "dsml",
    records.Block(opens=_dsml("<", *_DSML_SECTIONS), closes=_dsml("</", *_DSML_SECTIONS), holds=("inner",)),
    records.Tag(
        opens=_dsml("<", "invoke name="),
        closes=_dsml("</", "invoke>"),
        params=records.Params(
            opens=_dsml("<", "parameter name="),
            closes=_dsml("</", "parameter>"),
            key="attr",
            typing="string_attr",
        ),
    ),
)

# DeepSeek's form with another word, and one spelling of its bars (vLLM's gigachat35_tool_parser, llama.cpp).
_GCML = "｜GCML｜"

GIGACHAT35: Final = formats_shared.made(
    "gigachat35",
    records.Block(opens=(f"<{_GCML}tool_calls>",), closes=(f"</{_GCML}tool_calls>",), holds=("inner",)),
    records.Tag(
        opens=(f"<{_GCML}invoke name=",),
        closes=(f"</{_GCML}invoke>",),
        params=records.Params(
            opens=(f"<{_GCML}parameter name=",),
            closes=(f"</{_GCML}parameter>",),
            key="attr",
            typing="string_attr",
        ),
    ),
    noise=("<|message_sep|>",),
)

STEP3: Final = formats_shared.made(
    "step3",
    records.Block(opens=("<｜tool_calls_begin｜>",), closes=("<｜tool_calls_end｜>",), holds=("inner",)),
    records.Block(
        opens=("<｜tool_call_begin｜>",),
        closes=("<｜tool_call_end｜>",),
        holds=("inner",),
        skip_prefix=("function<｜tool_sep｜>",),
    ),
    records.Tag(
        opens=("<steptml:invoke name=",),
        closes=("</steptml:invoke>",),
        params=records.Params(
            opens=("<steptml:parameter name=",), closes=("</steptml:parameter>",), key="attr"
        ),
    ),
)

ATEM_CALLS: Final = records.Block(
    opens=("<atem:function_calls>",), closes=("</atem:function_calls>",), holds=("inner",)
)
ATEM_TAG: Final = records.Tag(
    opens=("<atem:invoke name=",),
    closes=("</atem:invoke>",),
    bare="line",
    params=records.Params(opens=("<atem:parameter name=",), closes=("</atem:parameter>",), key="attr"),
)

# Its tokenizer leaves a letter in place of the space, and some servers leave nothing.
_SPACES = (" ", "Ġ", "")

MINICPM5: Final = formats_shared.made(
    "minicpm5",
    records.Tag(
        opens=tuple(f"<function{space}name=" for space in _SPACES),
        closes=("</function>",),
        params=records.Params(
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
CWM: Final = formats_shared.made(
    "cwm", records.Body(opens=("<tool: ",), closes=("</tool>",), generic=("function",), key="command")
)

# --- Others -------------------------------------------------------------------------------------------------

KIMI_K3: Final = formats_shared.made(
    "kimi_k3",
    records.Block(opens=("<|open|>tools<|sep|>",), closes=("<|close|>tools<|sep|>",), holds=("inner",)),
    records.Tag(
        opens=("<|open|>call ",),
        closes=("<|close|>call<|sep|>",),
        name_attr="tool",
        gt="<|sep|>",
        params=records.Params(
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

MINIMAX_M3: Final = formats_shared.made(
    "minimax_m3",
    records.Block(opens=(f"{_M3}<tool_call>",), closes=(f"{_M3}</tool_call>",), holds=("inner",)),
    records.Nested(opens=(f"{_M3}<invoke name=",), closes=(f"{_M3}</invoke>",), token=_M3),
    think=(("<mm:think>", "</mm:think>"),),
)
