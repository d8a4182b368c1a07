"""The table of formats of calls in text as docs/text.md shows it, made from the records that the library runs on.

python -m tests.support.text_table     prints it, to be pasted between the markers in docs/text.md
"""

from __future__ import annotations

import re

from wholecall.text import FORMATS, Block, Body, Format, Messages, Nested, Params, Record, Tag
from wholecall.text.formats import NOT_IN_AUTO
from wholecall.text.formats_shared import PREFIXED, THINK
from wholecall.text.formats_tags import HUNYUAN_SUFFIXED
from wholecall.text.models import MODELS

_MOST = 3  # spellings of a marker; of more the number is said
_HOLDS = {
    "json": "JSON",
    "inner": "another marker",
    "python": "`NAME(KEY=VALUE)`",
    "relaxed": "`call:NAME{KEY:VALUE}`",
}
# The readable forms of regular expressions of model names.
_SPOKEN = ((r"\\b", ""), (r"-\?", "-"), (r"\\\.", "."), (r"\.\*", " … "), (r"\\d", "N"))


def markdown() -> str:
    """Return the table: a row for each format, in the order of the union."""
    lines = [
        "| format | how a call is written | reasoning beside `<think>` | without a marker | in `auto` | names of models |",
        "|---|---|---|---|---|---|",
    ]
    for name, form in FORMATS.items():
        thoughts = ", ".join(
            f"{_code(opener)} … {_code(closer)}" for opener, closer in form.think if opener != THINK[0]
        )
        weak = ", ".join(f"`{shape}`" for shape in form.weak)
        shared = _in_auto(name, form)
        models = ", ".join(f"`{model}`" for model in _models(name))
        lines.append(
            f"| `{name}` | {_written(form)} | {thoughts or '-'} | {weak or '-'} | {shared} | {models or '-'} |"
        )
    return "\n".join(lines) + "\n"


def _in_auto(name: str, form: Format) -> str:
    if name not in NOT_IN_AUTO and (form.calls or form.messages):
        return "yes"
    return "no" if HUNYUAN_SUFFIXED.calls[0] not in form.calls else "words with a suffix"


def _written(form: Format) -> str:
    told = [_record(record) for record in form.calls]
    if form.messages is not None:
        told.append(_messages(form.messages))
    return "; ".join(told) or "no marker"


def _record(record: Record) -> str:
    if isinstance(record, Nested):
        head = _code(record.opens[0] + '"NAME">')
        return f"{head} … {_code(record.closes[0])} with an element for each argument"
    if isinstance(record, Tag):
        head = _head(record.opens[0], record.name_attr, "NAME", record.gt, is_eq=record.name == "eq")
        return f"{_code(head)} … {_code(record.closes[0])} with {_parameter(record.params)}{_spellings(record.opens)}"
    if isinstance(record, Body):
        head = _head(record.opens[0], "", "NAME", record.gt, is_eq=True)
        return f"{_code(head)} … {_code(record.closes[0])} on lines of their own: plain text or an object"
    closers = f" … {_few(record.closes)}" if record.closes else ""
    holds = [word for hold in record.holds for word in _held(record, hold)]
    return f"{_few(record.opens)}{closers}: {' or '.join(holds)}"


def _held(block: Block, hold: str) -> list[str]:
    if hold == "named":
        marks = "".join((*((block.id_sep + "ID",) if block.id_sep else ()), *block.seps))
        lead = (block.lead[0], "ID" if block.lead_is_id else "SERVER", block.lead[1]) if block.lead[1] else ()
        example = "".join((*lead, *block.skip_prefix[:1], "NAME", marks, "{…}", *block.tails))
        return [_code(example)]
    if hold == "pairs" and block.pairs is not None:
        heads = [f"{kind}NAME⏎{{…}}" for kind in block.kinds] + [f"NAME{end}{{…}}" for end in block.head_ends]
        return [f"`NAME` and {_parameter(block.pairs)}", *map(_code, heads)]
    if block.fenced:
        return ["JSON in a fence"]
    return ['`{"NAME": {…}}`' if hold == "json" and block.as_key else _HOLDS[hold]]


def _parameter(params: Params) -> str:
    if params.key == "pair":
        kind = f"{params.type_opens}TYPE{params.type_closes}" if params.type_opens else ""
        return _code(
            f"{params.opens[0]}KEY{params.key_closes}{kind}{params.value_opens}VALUE{params.closes[0]}"
        )
    head = _head(params.opens[0], params.key_attr, "KEY", params.gt, is_eq=params.key == "eq")
    return _code(f"{head}VALUE{params.closes[0]}")


def _head(opener: str, attribute: str, what: str, gt: str, *, is_eq: bool) -> str:
    if is_eq:
        return f"{opener}{what}{gt}"
    named = opener if opener.endswith(f"{attribute}=") else f"{opener}{attribute}="
    return f'{named}"{what}"{gt}'


def _messages(messages: Messages) -> str:
    body = "JSON" if messages.params is None else f"JSON or {_parameter(messages.params)}"
    to = "to=NAME" if messages.kind == "muse" else "to=functions.NAME"
    starts, ends = _few(messages.starts), _few(messages.ends)
    return f"a message with `{to}` between {starts} and {_code(messages.body)}, then {body} up to {ends}"


def _few(literals: tuple[str, ...]) -> str:
    shown = [literal for literal in literals if PREFIXED not in literal]
    return ", ".join(_code(literal) for literal in shown[:_MOST]) + _spellings(literals)


def _spellings(literals: tuple[str, ...]) -> str:
    return f" ({len(literals)} spellings)" if len(literals) > _MOST else ""


def _code(literal: str) -> str:
    return "`" + literal.replace("\n", "⏎").replace("|", "\\|") + "`"


def _models(name: str) -> list[str]:
    found = []
    for expression, of in MODELS:
        if of == name:
            spoken = expression.pattern
            for pattern, words in _SPOKEN:
                spoken = re.sub(pattern, words, spoken)
            found += [part.replace("|", " or ") for part in re.split(r"\|(?![^(]*\))", spoken)]
    return found


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - that is what it is for
