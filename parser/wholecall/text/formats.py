"""All formats by name, and their union, `auto`.

Theory of operation. The order is that of the documentation, and it matters for the union: of two records with one
opener the earlier one reads it. The union omits everything that would make it read prose as a call, or one format as
another: formats whose markers mean something else elsewhere, openers and noise that are plain words, and all shapes
without a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from wholecall.text import formats_code as code
from wholecall.text import formats_json as json
from wholecall.text import formats_tags as tags
from wholecall.text.records import Format, Record

_ALL = (
    json.HERMES,
    tags.QWEN_XML,
    tags.SEED_OSS,
    tags.GLM,
    tags.HUNYUAN_V3,
    tags.HYPERCLOVAX,
    tags.IQUEST,
    json.DEEPSEEK,
    tags.DSML,
    tags.GIGACHAT35,
    json.KIMI_K2,
    tags.KIMI_K3,
    json.MISTRAL,
    json.LLAMA3_JSON,
    code.LLAMA_PYTHONIC,
    code.LFM2,
    code.OLMO3,
    tags.ANTHROPIC,
    tags.MINIMAX_M2,
    tags.MINIMAX_M3,
    json.MINIMAX_M1,
    json.JAMBA,
    json.APRIEL,
    code.GEMMA4,
    code.FUNCTIONGEMMA,
    code.HARMONY,
    code.BEAM,
    code.MUSE,
    json.COHERE,
    json.GRANITE,
    json.GRANITE_PYTHONIC,
    json.FUNCTIONARY,
    json.FUNCTOOLS,
    json.XLAM,
    json.NEMOTRON_V2,
    json.INTERNLM2,
    json.ERNIE45,
    json.GIGACHAT3,
    json.STEP_AUDIO2,
    json.SOLAR_OPEN,
    tags.SOLAR_OPEN2,
    json.MIROTHINKER,
    tags.CWM,
    json.RWKV,
    json.INKLING,
    json.APERTUS,
    json.LONGCAT,
    tags.STEP3,
    tags.POOLSIDE,
    tags.MINICPM5,
    tags.DOTS,
    tags.K2_HORIZON,
    json.PLAMO3,
    json.GENERIC,
    json.REACT,
)

FORMATS: Final[Mapping[str, Format]] = MappingProxyType({format_.name: format_ for format_ in _ALL})

NOT_IN_AUTO: Final = frozenset(
    {
        "hunyuan_v3",  # but for its suffixed words
        "hyperclovax",
        "seed_oss",
        "functionary",
        "functools",
        "olmo3",
        "beam",
        "apriel",
        "rwkv",
    }
)
_PLAIN_WORDS = frozenset({"<response>", "</response>", "<answer>", "</answer>"})  # also in HTML, and in prose


def _records(formats: tuple[Format, ...]) -> tuple[Record, ...]:
    """Return the records of all formats, each opener in the first record that has it."""
    taken: set[str] = set()
    records: list[Record] = []
    for record in (record for format_ in formats for record in format_.calls):
        fresh = tuple(opener for opener in record.opens if opener not in taken and not opener[0].isalpha())
        taken.update(fresh)
        if fresh == record.opens:
            records.append(record)
        elif fresh:
            records.append(msgspec.structs.replace(record, opens=fresh))
    return tuple(records)


def _union() -> Format:
    in_union = (format_ for format_ in _ALL if format_.name not in NOT_IN_AUTO)
    formats = (*in_union, tags.HUNYUAN_SUFFIXED)
    noise = dict.fromkeys(literal for format_ in formats for literal in format_.noise)
    return Format(
        name="auto",
        calls=_records(formats),
        think=tuple(dict.fromkeys(pair for format_ in formats for pair in format_.think)),
        noise=tuple(literal for literal in noise if literal not in _PLAIN_WORDS),
        messages=code.HARMONY.messages,
        imply=tuple(dict.fromkeys(literal for format_ in formats for literal in format_.imply)),
    )


AUTO: Final = _union()


def text_formats() -> tuple[str, ...]:
    """Return the names of all formats of calls in text, `auto` first."""
    return (AUTO.name, *FORMATS)
