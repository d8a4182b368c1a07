"""The formats as data: the laws of every record, and of the union of all formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from tests.support.together import together
from wholecall.text.formats import AUTO, FORMATS, NOT_IN_AUTO, text_formats
from wholecall.text.formats_shared import PREFIXED
from wholecall.text.formats_tags import HUNYUAN_SUFFIXED
from wholecall.text.markers import matcher
from wholecall.text.records import Block, Body, Format, Messages, Nested, Params, Record, Tag

ALL = [*FORMATS.values(), AUTO]
IN_AUTO = [format_ for format_ in FORMATS.values() if format_.name not in NOT_IN_AUTO]
every_format = together("format_", ALL, ids=lambda format_: format_.name)

NAMES = [
    "hermes",
    "qwen_xml",
    "seed_oss",
    "glm",
    "hunyuan_v3",
    "hyperclovax",
    "iquest",
    "deepseek",
    "dsml",
    "gigachat35",
    "kimi_k2",
    "kimi_k3",
    "mistral",
    "llama3_json",
    "llama_pythonic",
    "lfm2",
    "olmo3",
    "anthropic",
    "minimax_m2",
    "minimax_m3",
    "minimax_m1",
    "jamba",
    "apriel",
    "gemma4",
    "functiongemma",
    "harmony",
    "beam",
    "muse",
    "cohere",
    "granite",
    "granite_pythonic",
    "functionary",
    "functools",
    "xlam",
    "nemotron_v2",
    "internlm2",
    "ernie45",
    "gigachat3",
    "step_audio2",
    "solar_open",
    "solar_open2",
    "mirothinker",
    "cwm",
    "rwkv",
    "inkling",
    "apertus",
    "longcat",
    "step3",
    "poolside",
    "minicpm5",
    "dots",
    "k2_horizon",
    "plamo3",
    "generic",
    "react",
]


def closers(format_: Format) -> set[str]:
    """Return the end of a format's record."""
    return {closer for record in format_.calls for closer in record.closes}


def thoughts(format_: Format) -> set[str]:
    """Return the opening and closing markers of a format's reasoning."""
    return {literal for pair in format_.think for literal in pair}


def params_of(record: Record | Messages) -> Params | None:
    """Return the parameters that a record describes."""
    if isinstance(record, Block):
        return record.pairs
    return None if isinstance(record, (Nested, Body)) else record.params


def in_records(format_: Format) -> Iterator[str]:
    """Yield every literal of a format's records and messages, one that is absent left out."""
    for record in format_.calls:
        yield from (*record.opens, *record.closes)
        if isinstance(record, Block):
            yield from (*record.seps, *record.skip_prefix, *record.tails)
        if isinstance(record, Tag):
            yield record.gt
        if isinstance(record, Nested):
            yield record.token
    if format_.messages is not None:
        yield from (*format_.messages.starts, format_.messages.body, *format_.messages.ends)


def literals(format_: Format) -> Iterator[str]:
    """Yield every literal that a format looks for."""
    yield from (*in_records(format_), *thoughts(format_), *format_.noise, *format_.imply)
    for params in map(params_of, format_.calls):
        if params is not None:
            yield from (*params.opens, *params.closes, params.gt)


def test_the_formats_are_those_of_the_table() -> None:
    """Every format is under its own name, in the order of the table, and `auto` is first."""
    assert NAMES == list(FORMATS)
    assert NAMES == [format_.name for format_ in FORMATS.values()]
    assert ("auto", *NAMES) == text_formats()


@every_format
def test_an_opener_leads_to_one_record(format_: Format) -> None:
    """No opener occurs twice in a format."""
    assert {} == {opener: count for opener, count in Counter(format_.openers()).items() if count > 1}


@every_format
def test_no_literal_is_empty(format_: Format) -> None:
    """Every literal has a character that is not white space, and noise is listed once."""
    assert [] == [literal for literal in literals(format_) if not literal.strip()]
    assert len(set(format_.noise)) == len(format_.noise)


@every_format
def test_a_marker_has_one_part(format_: Format) -> None:
    """Openers, closers, reasoning and noise have no literal in common, but for the end of a message."""
    parts = [
        set(format_.openers()),
        closers(format_),
        thoughts(format_),
        set(format_.noise) - set(format_.imply),
    ]
    counts = Counter(literal for part in parts for literal in part)
    meant = (
        {"<|end_message|>"} if format_.name in {"inkling", "auto"} else set()
    )  # it ends calls and reasoning

    assert meant == {literal for literal, count in counts.items() if count > 1}


@every_format
def test_a_literal_is_found_as_itself(format_: Format) -> None:
    """A literal that is alone is found as a whole by the matcher of all literals of its format."""
    of_format = matcher(literals(format_))

    assert [] == [text for text in literals(format_) if of_format.at(text, 0, ended=True) != (True, text)]


@every_format
def test_records_are_complete(format_: Format) -> None:
    """A record's value has the fields that it needs, and no others."""
    for block in (record for record in format_.calls if isinstance(record, Block)):
        assert (block.pairs is not None) == ("pairs" in block.holds)
        assert block.closes or not ({"inner", "pairs", "python", "relaxed"} & {*block.holds} or block.strict)
        assert block.overlap < min(map(len, block.opens))
    for params in map(params_of, (*format_.calls, *([format_.messages] if format_.messages else []))):
        if params is not None:
            assert (params.key == "pair") == bool(params.value_opens)
            assert params.key == "pair" or not params.key_closes
            assert bool(params.type_opens) == bool(params.type_closes)


@every_format
def test_a_tag_begins_with_its_name(format_: Format) -> None:
    """The opener of a tag ends where the name or its attributes follow."""
    tags = [record for record in format_.calls if not isinstance(record, Block)]

    assert [] == [opener for tag in tags for opener in tag.opens if opener[-1] not in "= "]


def test_every_format_but_messages_has_reasoning_and_stops() -> None:
    """All formats share the usual reasoning and the stop tokens; formats that consist of messages have their own."""
    having = {format_.name for format_ in FORMATS.values() if ("<think>", "</think>") in format_.think}
    stopping = {format_.name for format_ in FORMATS.values() if "<|im_end|>" in format_.noise}
    messages = {format_.name for format_ in FORMATS.values() if format_.messages is not None}

    assert having == stopping == set(NAMES) - messages
    assert {"harmony", "beam", "muse"} == messages


def test_formats_share_their_records() -> None:
    """Formats of the union that have an opener in common read it by one and the same record."""
    owners: dict[str, set[int]] = {}
    for format_ in IN_AUTO:
        for record in format_.calls:
            for opener in record.opens:
                owners.setdefault(opener, set()).add(id(record))

    assert {} == {opener: records for opener, records in owners.items() if len(records) > 1}


@together("format_", IN_AUTO, ids=lambda format_: format_.name)
def test_auto_holds_every_format_that_is_not_left_out(format_: Format) -> None:
    """The union reads each marker of a format as that format does, but for openers that begin with a letter."""
    reads = {opener: record for record in AUTO.calls for opener in record.opens}
    for record in format_.calls:
        for opener in record.opens:
            if not opener[0].isalpha():
                assert record == msgspec.structs.replace(reads[opener], opens=record.opens)
    assert set(format_.think) <= set(AUTO.think)
    assert set(format_.noise) - set(AUTO.noise) <= {"<response>", "</response>", "<answer>", "</answer>"}
    assert set(format_.imply) <= set(AUTO.imply)


def test_auto_holds_nothing_that_prose_writes() -> None:
    """The union has no opener that is a word, no noise that is one, and no shape without a marker."""
    assert [] == [opener for opener in AUTO.openers() if opener[0].isalpha()]
    assert set() == {"<response>", "</response>", "<answer>", "</answer>"} & set(AUTO.noise)
    assert () == AUTO.weak
    assert AUTO.messages is FORMATS["harmony"].messages


@together("name", sorted(NOT_IN_AUTO))
def test_a_format_that_is_left_out_is_one(name: str) -> None:
    """Whatever the union leaves out is a format, and its own openers are not in the union, but for Hunyuan's suffixed."""
    shared = {opener for format_ in (*IN_AUTO, HUNYUAN_SUFFIXED) for opener in format_.openers()}

    assert set() == (set(FORMATS[name].openers()) - shared) & set(AUTO.openers())


def test_dsml_knows_its_bars() -> None:
    """DeepSeek's markup is known with every bar that servers make of it, with and without a space after it."""
    bars = ["\uff5c", "\uff5c\uff5c", "|", "||", "\u2016"]
    section, tag = FORMATS["dsml"].calls
    spelled = {f"{bar}DSML{bar}{space}" for bar in bars for space in ("", " ")} | {" | DSML | "}

    assert {f"<{dsml}invoke name=" for dsml in spelled} == set(tag.opens)
    assert {f"</{dsml}invoke>" for dsml in spelled} == set(tag.closes)
    kinds = ["function_calls", "tool_calls", "calls", "function_call", "tool_call", "toolcalls", "tool_use"]
    assert {f"<{dsml}{kind}>" for dsml in spelled for kind in kinds} == set(section.opens)


def test_claude_s_tags_are_known_with_and_without_their_prefix() -> None:
    """Every tag of the prompt format of Claude is known in both spellings."""
    for record in FORMATS["anthropic"].calls:
        params = params_of(record)
        for markers in (record.opens, record.closes, *((params.opens, params.closes) if params else ())):
            plain = {marker for marker in markers if PREFIXED not in marker}
            assert plain
            assert {marker.replace(PREFIXED, "") for marker in markers if PREFIXED in marker} == plain
