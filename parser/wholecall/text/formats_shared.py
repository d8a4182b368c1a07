"""Shared parts of several formats: stop tokens, reasoning, and records.

Theory of operation. A marker that two formats use is one object here, so that both read it alike and the union of all
formats holds it once. `made` joins the parts of every format with a format's own parts.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's and Step's tokens are full-width

from __future__ import annotations

from typing import Final

from wholecall.text import records

THINK: Final[records.Think] = ("<think>", "</think>")

STOPS: Final = (
    "<|im_end|>",
    "<|im_start|>assistant",
    "<|im_start|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|eot|>",
    "<|eom|>",
    "</s>",
    "<｜end▁of▁sentence｜>",
    "<｜Assistant｜>",
    "<|observation|>",
    "<|user|>",
    "<|assistant|>",
    "<|role_end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<end_of_turn>",
    "<turn|>",
    "<|turn>model\n",
    "[/INST]",
)

# What begins a turn in a prompt: nothing that an earlier turn left open, such as a code fence, counts after it.
TURNS: Final = (
    "<|im_start|>",
    "<|start_header_id|>",
    "<|start|>",
    "[INST]",
    "<|user|>",
    "<|assistant|>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<start_of_turn>",
    "<|turn>",
    "<|START_OF_TURN_TOKEN|>",
    "<|im_user|>",
    "<|im_assistant|>",
)


def made(
    name: str,
    *calls: records.Record,
    think: tuple[records.Think, ...] = (),
    noise: tuple[str, ...] = (),
    weak: tuple[records.Weak, ...] = (),
    imply: tuple[str, ...] = (),
) -> records.Format:
    """Return a format with its own reasoning and noise before those of every format."""
    return records.Format(
        name=name, calls=calls, think=(*think, THINK), noise=(*noise, *STOPS), weak=weak, imply=imply
    )


# GLM's: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`.
ARGUMENT_PAIRS: Final = records.Params(
    opens=("<arg_key>",),
    closes=("</arg_value>",),
    key="pair",
    key_closes="</arg_key>",
    value_opens="<arg_value>",
)

# Hermes writes JSON in it, Qwen a tag, GLM a name and pairs, Granite and xLAM a list. GLM-5.3-Flash also writes
# `NAME>{…}` without a closer (SGLang's glm53_flash_detector), Step-Audio-2 `function`, the name and the object in lines
# of their own (vLLM's step_audio_2_tool_parser).
TOOL_CALL: Final = records.Block(
    opens=("<tool_call>",),
    closes=("</tool_call>",),
    holds=("json", "inner", "pairs"),
    pairs=ARGUMENT_PAIRS,
    kinds=("function\n",),
    head_ends=(">",),
)

TOOL_CALLS: Final = records.Block(opens=("<tool_calls>",), closes=("</tool_calls>",), holds=("json", "inner"))

# Prose quotes such tags, hence `line`.
FUNCTION_TAG: Final = records.Tag(
    opens=("<function=",),
    closes=("</function>",),
    name="eq",
    bare="line",
    params=records.Params(opens=("<parameter=",), closes=("</parameter>",), key="eq", trim="nl"),
)

_CLAUDE = "antml"
PREFIXED: Final = f"{_CLAUDE}:"  # its own prefix; put together, so that this file does not hold its markup

INVOKE_TAG: Final = records.Tag(
    opens=("<invoke name=", f"<{PREFIXED}invoke name="),
    closes=("</invoke>", f"</{PREFIXED}invoke>"),
    bare="line",
    params=records.Params(
        opens=("<parameter name=", f"<{PREFIXED}parameter name="),
        closes=("</parameter>", f"</{PREFIXED}parameter>"),
        key="attr",
        trim="nl2",
    ),
)

# Lists of objects up to version 7, `NAME[CALL_ID]ID[ARGS]{…}` from version 11 on, where each part may be absent.
MISTRAL_CALLS: Final = records.Block(
    opens=("[TOOL_CALLS]",),
    holds=("json", "named"),
    seps=("[ARGS]",),
    id_sep="[CALL_ID]",
    name_alone=True,
)
MISTRAL_ENDS: Final = ("[/TOOL_CALLS]",)  # of older chat templates; the others have none

PYTHON_TAG: Final = records.Block(opens=("<|python_tag|>",))
