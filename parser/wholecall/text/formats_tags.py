"""Formats whose calls are tags: the name in a tag, then a tagged pair or element for each argument.

Theory of operation. Data only; `formats` puts them in order.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's and Step's tokens are full-width

from __future__ import annotations

from typing import Final

from wholecall.text.formats_shared import (
    ARGUMENT_PAIRS,
    FUNCTION_TAG,
    INVOKE_TAG,
    PREFIXED,
    TOOL_CALL,
    made,
)
from wholecall.text.records import Block, Nested, Params, Tag

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

# The public model writes `:opensource` after each of its words.
HUNYUAN_V3: Final = made(
    "hunyuan_v3",
    Block(
        opens=("<tool_calls>", "<tool_calls:opensource>"),
        closes=("</tool_calls>", "</tool_calls:opensource>"),
        holds=("json", "inner"),
    ),
    Block(
        opens=("<tool_call>",),
        closes=("</tool_call>", "<end_of_tool_call>"),
        holds=("json", "inner", "pairs"),
        seps=("<tool_sep>",),
        pairs=ARGUMENT_PAIRS,
    ),
    Block(
        opens=("<tool_call:opensource>",),
        closes=("</tool_call:opensource>", "<end_of_tool_call:opensource>"),
        holds=("json", "inner", "pairs"),
        seps=("<tool_sep:opensource>",),
        pairs=Params(
            opens=("<arg_key:opensource>",),
            closes=("</arg_value:opensource>",),
            key="pair",
            key_closes="</arg_key:opensource>",
            value_opens="<arg_value:opensource>",
        ),
    ),
    think=(("<think:opensource>", "</think:opensource>"),),
    noise=("<answer>", "</answer>", "<answer:opensource>", "</answer:opensource>"),
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
