"""Formats whose calls are expressions, in Python's spelling or as relaxed objects, and those that consist of messages.

Theory of operation. Data only; `formats` puts them in order. Messages have their own ends and their own reasoning, so
they take neither from the other formats.
"""

from __future__ import annotations

from typing import Final

from wholecall.text import formats_shared, formats_tags, records

LLAMA_PYTHONIC: Final = formats_shared.made(
    "llama_pythonic",
    records.Block(opens=("<|python_start|>",), closes=("<|python_end|>",), holds=("python", "json")),
    formats_shared.PYTHON_TAG,
    weak=("python", "json"),
)

LFM2: Final = formats_shared.made(
    "lfm2",
    records.Block(opens=("<|tool_call_start|>",), closes=("<|tool_call_end|>",), holds=("python", "json")),
    weak=("python",),
)

OLMO3: Final = formats_shared.made(
    "olmo3",
    records.Block(opens=("<function_calls>",), closes=("</function_calls>",), holds=("python",)),
    weak=("python",),
)

GEMMA4: Final = formats_shared.made(
    "gemma4",
    records.Block(opens=("<|tool_call>",), closes=("<tool_call|>", "<|tool_response>"), holds=("relaxed",)),
    think=(("<|channel>thought\n", "<channel|>"), ("<|channel>", "<channel|>")),
    weak=("relaxed",),
)

FUNCTIONGEMMA: Final = formats_shared.made(
    "functiongemma",
    records.Block(opens=("<start_function_call>",), closes=("<end_function_call>",), holds=("relaxed",)),
    noise=("<start_function_response>",),
)

# --- Messages -----------------------------------------------------------------------------------------------

_STARTS = ("<|start|>", "<|channel|>")
_ENDS = ("<|end|>", "<|call|>", "<|return|>")

HARMONY: Final = records.Format(
    name="harmony", messages=records.Messages(starts=_STARTS, body="<|message|>", ends=_ENDS)
)

BEAM: Final = records.Format(
    name="beam",
    messages=records.Messages(
        starts=_STARTS,
        body="<|message|>",
        ends=_ENDS,
        params=records.Params(
            opens=("<rfl:parameter name=",), closes=("</rfl:parameter>",), key="attr", trim="nl"
        ),
    ),
)

MUSE: Final = records.Format(
    name="muse",
    calls=(formats_tags.ATEM_CALLS, formats_tags.ATEM_TAG),
    messages=records.Messages(
        starts=("<|start|>",), body="<|message|>", ends=("<|eom|>", "<|eot|>"), kind="muse"
    ),
)
