"""Write the generated recordings, with their sidecars: long arguments of plausible texts.

All other cases are only files. `python -m tests.support.make_corpora` rewrites the cases of this file, always the same,
and touches no other file. The expected results follow from the texts and never from a parser. Goldens are written by
`bless.py`, not here.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.support import encode as wire
from tests.support.corpora import RECORDINGS, SIDECAR, sidecar_text
from tests.support.encode import JSON, Call, Turn, chat_entry, every

Built = tuple[bytes, JSON]

# Texts


def source_text(functions: int) -> str:
    """Return the text of a plausible Python module, full of braces, quotes and JSON-looking strings."""
    lines = ['"""Tide gauges: readings in, tables out."""', "", "import json", ""]
    ports = ("Brest", "Roscoff", "Saint-Malo", "Dieppe", "Calais", "Oostende", "Vlissingen", "Høvik")
    for number in range(functions):
        port = ports[number % len(ports)]
        lines += [
            "",
            f"def reading_{number:03d}(raw: bytes) -> dict[str, float]:",
            f'    """Return the reading of {port}: {{"h": metres, "t": seconds}}."""',
            f'    row = json.loads(raw.decode("utf-8") or \'{{"h": 0, "t": {number}}}\')',
            f'    assert "}}" not in row and row["port"] == "{port}", f"{{row!r}}\\n"',
            f"    return {{key: float(row[key]) + {number % 7}.5 for key in ('h', 't')}}",
        ]
    return "\n".join(lines) + "\n"


def table_text(rows: int) -> str:
    """Return the text of a plausible CSV file with quoted cells and one JSON cell in each row."""
    lines = ["id;port;metres;remark;json"]
    for number in range(rows):
        metres = f"{(number * 37 % 1290) / 100:.2f}".replace(".", ",")
        remark = ("calm", 'said ""ebb""', "{fog}", "Å → ø", "[night")[number % 5]
        cell = f'{{""seen"": {number % 2 == 0}, ""by"": [""P{number % 11}""]}}'
        lines.append(f'{number};Quay {number % 23};"{metres}";"{remark}";"{cell}"'.lower())
    return "\r\n".join(lines)


def minutes_text(items: int) -> str:
    """Return the text of plausible minutes in Markdown."""
    parts = ["# Harbour board\n"]
    for number in range(1, items + 1):
        quay = ("Oost", "West", "Zuid")[number % 3]
        parts.append(
            f"\n## {number}. Quay {quay}\n\n* Berth {number * 3 % 17}: *“{'dredged' if number % 2 else 'closed'}”*, "
            f'see `{{"berth": {number * 3 % 17}}}` and C:\\plans\\{quay.lower()}\\{number}.dwg\n'
            f"* Vote:\t{number % 9} – {(number + 4) % 9}\n"  # noqa: RUF001 - as people write
        )
    return "".join(parts)


# Cases: the bytes, and the content of the sidecar


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _good(id: str | None, name: str, arguments: JSON) -> JSON:
    """Return an expected call whose arguments are too long to be written down."""
    call = {"id": id, "name": name, "arguments_sha256": _digest(wire.compact(arguments)), "status": "exact"}
    return call if id else call | {"flags": ["id_generated"]}


def _said(about: str, *quirks: int, reason: str = "tool_calls", **expected: list[JSON]) -> JSON:
    """Return the content of a sidecar."""
    expect = expected | {"reason": reason}
    return {"about": about, "origin": "generated", "quirks": list(quirks), "expect": expect}


def _chat(head: JSON, deltas: list[JSON], finish: str, usage: JSON | None = None) -> bytes:
    """Return a chat completion whose chunks have the same head."""
    payloads = [wire.chat_chunk(delta, **head) for delta in ({"role": "assistant", "content": ""}, *deltas)]
    payloads.append(wire.chat_chunk({}, finish=finish, **head))
    if usage is not None:
        payloads.append(wire.chat_envelope([], usage=usage, **head))
    return b"".join(map(wire.sse, payloads)) + wire.done()


def long_file() -> Built:
    """Write a file of 9 KB in token-sized pieces."""
    arguments = {"path": "gauges/readings.py", "content": source_text(24), "mode": "w"}
    call = Call("call_LongFile", "write_file", wire.compact(arguments, ascii_only=True))
    turn = Turn([call], text="Writing the module.", id="LongFile9k", model="gpt-5.1-codex")
    said = _said(
        "A file of 9 KB is written in token-sized pieces.", calls=[_good(call.id, call.name, arguments)]
    )
    return wire.render_chat(turn, every(48)), said


def long_table() -> Built:
    """Import a table without an id, in large pieces, next to a small call."""
    arguments = {"sheet": "Readings", "csv": table_text(1100), "options": {"delimiter": ";", "header": True}}
    small = chat_entry(1, type="function", name="recalculate", arguments='{"sheet":"Readings"}')
    entries = [
        chat_entry(0, type="function", name="import_csv", arguments=""),
        *(chat_entry(0, name="import_csv", arguments=piece) for piece in every(900)(wire.compact(arguments))),
        small,
    ]
    head = {"id": "chatcmpl-import-1100", "model": "Qwen/Qwen3-235B-A22B", "created": 1767000100}
    recalculate = {
        "id": None,
        "name": "recalculate",
        "arguments": {"sheet": "Readings"},
        "status": "exact",
        "flags": ["id_generated"],
    }
    said = _said(
        "A table of more than 64 KB comes without id, in large pieces, beside a small call.",
        8,
        13,
        calls=[_good(None, "import_csv", arguments), recalculate],
    )
    return _chat(head, [{"tool_calls": [entry]} for entry in entries], "tool_calls"), said


def long_repetition() -> Built:
    """Repeat a sentence until the token limit, inside a string."""
    text = '{"summary":"' + "The gauge is stuck. The gauge {is} stuck. " * 230
    call = Call("chatcmpl-tool-loop", "file_summary", text)
    head = {"id": "chatcmpl-47504", "model": "granite-4.0-micro", "created": 1767000200}
    cut = {"id": call.id, "name": call.name, "reason": "truncated", "raw_sha256": _digest(text)}
    said = _said(
        "The model repeats itself until the token limit, inside a string.",
        49,
        80,
        reason="length",
        dropped=[cut],
    )
    deltas = wire.chat_call_deltas(0, call, every(160))
    return _chat(head, deltas, "length", wire.chat_usage(300, 2048)), said


def long_minutes() -> Built:
    """Publish minutes of 12 KB in small deltas, restated three times at the end."""
    arguments = {"title": "Board, 3 March", "markdown": minutes_text(90), "tags": ["board", "{draft}"]}
    call = Call("call_Minutes", "publish_minutes", json.dumps(arguments, ensure_ascii=False))
    turn = Turn([call], id="0sn5long", model="gpt-5.2", created=1767000300)
    said = _said(
        "Minutes of 12 KB in small deltas, restated three times at the end.",
        35,
        calls=[_good(call.id, call.name, arguments)],
    )
    return wire.render_responses(turn, every(120)), said


def long_edit() -> Built:
    """Replace a text of 5 KB by another one."""
    old = source_text(14)
    new = old.replace("float(", "Decimal(")
    arguments = {"path": "gauges/readings.py", "old_string": old, "new_string": new}
    call = Call("toolu_01LongEdit", "edit_file", json.dumps(arguments))
    turn = Turn([call], text="Switching to decimals.", id="01LongEdit", model="claude-opus-4-5")
    said = _said("An edit with two texts of 5 KB each.", calls=[_good(call.id, call.name, arguments)])
    return wire.render_anthropic(turn, every(90)), said


def long_notebook() -> Built:
    """Create a notebook of more than 64 KB: JSON text inside a string of JSON text."""
    cells = [
        {"cell_type": "code", "source": source_text(1 + number % 4), "outputs": []} for number in range(62)
    ]
    arguments = {"path": "tides.ipynb", "content": json.dumps({"cells": cells, "nbformat": 4}, indent=1)}
    call = Call("toolu_01Notebook", "create_file", json.dumps(arguments))
    turn = Turn([call], id="01Notebook", model="claude-sonnet-4-5-20250929")
    said = _said(
        "A notebook of more than 64 KB: JSON text inside a string of JSON text.",
        calls=[_good(call.id, call.name, arguments)],
    )
    return wire.render_anthropic(turn, every(1100)), said


CASES: dict[str, Callable[[], Built]] = {
    "chat-completions/long-file": long_file,
    "chat-completions/long-table": long_table,
    "chat-completions/long-repetition": long_repetition,
    "responses/long-minutes": long_minutes,
    "anthropic/long-edit": long_edit,
    "anthropic/long-notebook": long_notebook,
}


def made() -> dict[Path, bytes]:
    """Return the files that a program makes: streams and their sidecars."""
    files = {}
    for name, build in CASES.items():
        data, said = build()
        files[RECORDINGS / f"{name}.sse"] = data
        files[RECORDINGS / f"{name}{SIDECAR}"] = sidecar_text(said)
    return files


def main() -> None:
    """Write the files."""
    for path, data in made().items():
        path.write_bytes(data)
    sys.stderr.write(f"{len(CASES)} recordings\n")


if __name__ == "__main__":
    main()
