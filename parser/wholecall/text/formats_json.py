"""Formats whose calls are JSON: an object with name and arguments after a marker, or a name and then its object.

Theory of operation. Data only; `formats` puts them in order.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's and Step's tokens are full-width

from __future__ import annotations

from typing import Final

from wholecall.text import formats_shared, records

# --- An object or a list after a marker ---------------------------------------------------------------------

HERMES: Final = formats_shared.made(
    "hermes",
    formats_shared.TOOL_CALL,
    formats_shared.FUNCTION_TAG,
    formats_shared.TOOL_CALLS,
    records.Block(opens=("[Calling tool:",), closes=(")]",), holds=("named",), seps=("(",), strict=True),
)

LLAMA3_JSON: Final = formats_shared.made(
    "llama3_json", formats_shared.PYTHON_TAG, formats_shared.FUNCTION_TAG, weak=("json",)
)

MINIMAX_M1: Final = formats_shared.made("minimax_m1", formats_shared.TOOL_CALLS)

JAMBA: Final = formats_shared.made(
    "jamba", formats_shared.TOOL_CALLS, noise=("<answer>", "</answer>")
)  # Hunyuan A13B's too, hence the noise

APRIEL: Final = formats_shared.made(
    "apriel",
    formats_shared.TOOL_CALLS,
    think=(("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]"),),
    noise=("[END FINAL RESPONSE]",),
)

COHERE: Final = formats_shared.made(
    "cohere",
    records.Block(opens=("<|START_ACTION|>",), closes=("<|END_ACTION|>",)),
    think=(("<|START_THINKING|>", "<|END_THINKING|>"),),
    noise=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    weak=("action",),
)

GRANITE: Final = formats_shared.made(
    "granite",
    records.Block(opens=("<|tool_call|>",)),
    formats_shared.TOOL_CALL,
    formats_shared.FUNCTION_TAG,
    records.Block(opens=("<function_call>",)),
)

# Calls of Granite 3.3 and 4.0 H-Small under another chat template (a proposal for vLLM, granite_pythonic_tool_parser).
GRANITE_PYTHONIC: Final = formats_shared.made("granite_pythonic", weak=("calls",))

# vLLM's rwkv_tool_parser: the marker and a fence, in older models `<tool_call>` and an object, or the fence alone.
RWKV: Final = formats_shared.made(
    "rwkv", records.Block(opens=("**Tool Call:**",), fenced=True), formats_shared.TOOL_CALL, weak=("fenced",)
)

FUNCTOOLS: Final = formats_shared.made("functools", records.Block(opens=("functools[",), overlap=1))

XLAM: Final = formats_shared.made(
    "xlam",
    formats_shared.TOOL_CALL,
    formats_shared.MISTRAL_CALLS,
    weak=("json", "fenced"),
    noise=formats_shared.MISTRAL_ENDS,
)

NEMOTRON_V2: Final = formats_shared.made(
    "nemotron_v2", records.Block(opens=("<TOOLCALL>",), closes=("</TOOLCALL>",))
)

INTERNLM2: Final = formats_shared.made(
    "internlm2",
    records.Block(
        opens=("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"), closes=("<|action_end|>",)
    ),
)

ERNIE45: Final = formats_shared.made("ernie45", formats_shared.TOOL_CALL, noise=("<response>", "</response>"))

GIGACHAT3: Final = formats_shared.made(
    "gigachat3",
    records.Block(opens=("<|function_call|>", "function call<|role_sep|>")),
    noise=("<|message_sep|>",),
)

# vLLM's step_audio_2_tool_parser; the shared record has its lines.
STEP_AUDIO2: Final = formats_shared.made("step_audio2", formats_shared.TOOL_CALL)

INKLING: Final = formats_shared.made(
    "inkling",
    records.Block(opens=("<|content_invoke_tool_json|>",), closes=("<|end_message|>",)),
    think=(("<|content_thinking|>", "<|end_message|>"),),
    noise=("<|content_text|>", "<|message_model|>", "<|content_model_end_sampling|>"),
)

APERTUS: Final = formats_shared.made(
    "apertus",
    records.Block(opens=("<|tools_prefix|>",), closes=("<|tools_suffix|>",), as_key=True),
    think=(("<|inner_prefix|>", "<|inner_suffix|>"),),
)

LONGCAT: Final = formats_shared.made(
    "longcat",
    records.Block(
        opens=("<longcat_tool_call>",),
        closes=("</longcat_tool_call>",),
        holds=("json", "pairs"),
        pairs=records.Params(
            opens=("<longcat_arg_key>",),
            closes=("</longcat_arg_value>",),
            key="pair",
            key_closes="</longcat_arg_key>",
            value_opens="<longcat_arg_value>",
        ),
    ),
    think=(("<longcat_think>", "</longcat_think>"),),
)

# --- A name and then its object -----------------------------------------------------------------------------

# V3 writes `function`, a separator, the name and a fence; V3.1 the name, a separator and the object.
DEEPSEEK: Final = formats_shared.made(
    "deepseek",
    records.Block(
        opens=("<｜tool▁calls▁begin｜>",),
        closes=("<｜tool▁calls▁end｜>",),
        holds=("inner",),
        noise=True,
    ),
    records.Block(
        opens=("<｜tool▁call▁begin｜>",),
        closes=("<｜tool▁call▁end｜>",),
        holds=("named",),
        skip_prefix=("function<｜tool▁sep｜>",),
        seps=("<｜tool▁sep｜>",),
    ),
)

KIMI_K2: Final = formats_shared.made(
    "kimi_k2",
    records.Block(
        opens=("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
        closes=("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
        holds=("inner",),
        noise=True,
    ),
    records.Block(
        opens=("<|tool_call_begin|>",),
        closes=("<|tool_call_end|>",),
        holds=("named",),
        seps=("<|tool_call_argument_begin|>",),
        name_is_id=True,
    ),
)

MISTRAL: Final = formats_shared.made(
    "mistral",
    formats_shared.MISTRAL_CALLS,
    think=(("[THINK]", "[/THINK]"),),
    noise=formats_shared.MISTRAL_ENDS,
)

FUNCTIONARY: Final = formats_shared.made(
    "functionary",
    formats_shared.FUNCTION_TAG,
    records.Block(opens=(">>>",), holds=("named",), declared=True, text_names=("all",)),
    records.Block(opens=("<|recipient|>",), holds=("named",), seps=("<|content|>",), text_names=("all",)),
    noise=("<|from|>assistant",),
)

# The id stands before the name (Upstage's branch of vLLM, solar_open_tool_parser; llama.cpp has the chat template).
SOLAR_OPEN: Final = formats_shared.made(
    "solar_open",
    records.Block(opens=("<|tool_calls|>",), closes=("<|calls|>",), holds=("inner",)),
    records.Block(
        opens=("<|tool_call:begin|>",),
        closes=("<|tool_call:end|>",),
        holds=("named",),
        lead=("", "<|tool_call:name|>"),
        lead_is_id=True,
        seps=("<|tool_call:args|>",),
    ),
    think=(("<|think|>", "<|end|>"),),
    noise=("<|content|>", "<|begin|>assistant", "<|begin|>", "<|flush|>"),
)

# MiroThinker's parser for vLLM (apps/lobehub-compatibility in its repository), and the prompts of Cline and Roo Code.
MIROTHINKER: Final = formats_shared.made(
    "mirothinker",
    records.Block(
        opens=("<use_mcp_tool>",),
        closes=("</use_mcp_tool>",),
        holds=("named",),
        lead=("<server_name>", "</server_name>"),
        skip_prefix=("<tool_name>",),
        seps=("</tool_name>", "<arguments>"),
        tails=("</arguments>",),
    ),
)

PLAMO3: Final = formats_shared.made(
    "plamo3",
    records.Block(
        opens=("<|plamo:begin_tool_requests:plamo|>",),
        closes=("<|plamo:end_tool_requests:plamo|>",),
        holds=("inner",),
        noise=True,
    ),
    records.Block(
        opens=("<|plamo:begin_tool_request:plamo|>", "<|plamo:begin_tool_name:plamo|>"),
        closes=(
            "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
            "<|plamo:end_tool_arguments:plamo|>",
            "<|plamo:end_tool_request:plamo|>",
        ),
        holds=("named",),
        skip_prefix=("<|plamo:begin_tool_name:plamo|>",),
        seps=(
            "<|plamo:end_tool_name:plamo|>",
            "<|plamo:begin_tool_arguments:plamo|>",
            "<|plamo:constrain|>json",
            "<|plamo:msg|>",
        ),
    ),
    think=(("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),),
    noise=("<|plamo:tag|>",),
)

# --- No marker at all ---------------------------------------------------------------------------------------

GENERIC: Final = formats_shared.made("generic", weak=("json", "fenced", "python"))

REACT: Final = formats_shared.made("react", weak=("react",))
