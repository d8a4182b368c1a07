"""Formats whose calls are expressions, in Python's spelling or as relaxed objects, and those that consist of messages.

Theory of operation. Data only; `formats` puts them in order. Messages have their own ends and their own reasoning, so
they take neither from the other formats.
"""

from __future__ import annotations

from typing import Final

from wholecall.text.formats_shared import PYTHON_TAG, made
from wholecall.text.formats_tags import ATEM_CALLS, ATEM_TAG
from wholecall.text.records import Block, Format, Messages, Params

LLAMA_PYTHONIC: Final = made(
    "llama_pythonic",
    Block(opens=("<|python_start|>",), closes=("<|python_end|>",), holds=("python", "json")),
    PYTHON_TAG,
    weak=("python", "json"),
)

LFM2: Final = made(
    "lfm2",
    Block(opens=("<|tool_call_start|>",), closes=("<|tool_call_end|>",), holds=("python", "json")),
    weak=("python",),
)

OLMO3: Final = made(
    "olmo3",
    Block(opens=("<function_calls>",), closes=("</function_calls>",), holds=("python",)),
    weak=("python",),
)

GEMMA4: Final = made(
    "gemma4",
    Block(opens=("<|tool_call>",), closes=("<tool_call|>", "<|tool_response>"), holds=("relaxed",)),
    think=(("<|channel>thought\n", "<channel|>"), ("<|channel>", "<channel|>")),
    weak=("relaxed",),
)

FUNCTIONGEMMA: Final = made(
    "functiongemma",
    Block(opens=("<start_function_call>",), closes=("<end_function_call>",), holds=("relaxed",)),
    noise=("<start_function_response>",),
)

# --- Messages -----------------------------------------------------------------------------------------------

_STARTS = ("<|start|>", "<|channel|>")
_ENDS = ("<|end|>", "<|call|>", "<|return|>")

HARMONY: Final = Format(name="harmony", messages=Messages(starts=_STARTS, body="<|message|>", ends=_ENDS))

BEAM: Final = Format(
    name="beam",
    messages=Messages(
        starts=_STARTS,
        body="<|message|>",
        ends=_ENDS,
        params=Params(opens=("<rfl:parameter name=",), closes=("</rfl:parameter>",), key="attr", trim="nl"),
    ),
)

MUSE: Final = Format(
    name="muse",
    calls=(ATEM_CALLS, ATEM_TAG),
    messages=Messages(starts=("<|start|>",), body="<|message|>", ends=("<|eom|>", "<|eot|>"), kind="muse"),
)
