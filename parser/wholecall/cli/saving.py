"""Recordings that a command writes: their destination, their form, and the report about them.

Theory of operation. Recordings are read, changed and written one at a time; each is whole before its first byte is
written, so that a damaged recording leaves no part in the output. An existing file stays unchanged until the new one is
whole, and if there is no recording to write.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import IO

from wholecall.cli import output
from wholecall.cli.batch import Batch
from wholecall.cli.options import add_import, add_max_bytes
from wholecall.recordings import Chunk, Recording, write
from wholecall.recordings.writing import WRITERS

_OWN = "recording"
FORMS = (_OWN, *WRITERS)


def add_saving(command: argparse.ArgumentParser, forms: Iterable[str] = FORMS) -> None:
    """Add the options for the input and the form of the output."""
    command.set_defaults(refuse=command.error)
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file, a folder, a glob, or - for standard input")
    add("-o", "--output", metavar="OUT", help="where to write it; standard output by default")
    add("--to", choices=list(forms), default=_OWN, metavar="FORM", help=f"{', '.join(forms)} ({_OWN})")
    add("--only", type=_number, metavar="N", help="take only the N-th recording, counted from 1")
    add("--json", action="store_true", help="with -o: report what was written, one JSON object a recording")
    add_max_bytes(command)
    add_import(command)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def save(options: argparse.Namespace, change: Callable[[Recording], Recording]) -> int:
    """Apply a function to the recordings that the options name, write the results, and return the exit code."""
    target = options.output or output.STDIO
    if options.json and target == output.STDIO:
        options.refuse("--json reports what was written, and needs -o OUT for the recordings")
    if output.is_read(options.paths, target):
        said = "the file that standard output goes to" if target == output.STDIO else target
        options.refuse(f"{said} is read, too; write to another file")
    batch = Batch(options.paths, options.only, max_bytes=options.max_bytes)
    recordings = _saved(batch, change, as_json=options.json)
    if target == output.STDIO:
        _write(options.to, recordings, sys.stdout.buffer)
    elif not _replace(target, options.to, recordings, batch):
        return output.UNREADABLE
    if batch.count == 0 and not batch.unreadable:
        output.complain("there is no such recording")
    return output.OK if batch.count and not batch.unreadable else output.UNREADABLE


def _replace(target: str, form: str, recordings: Iterator[Recording], batch: Batch) -> bool:
    """Write recordings to a file, unless there are none; return whether that was possible."""
    try:
        with suppress(_Nothing), output.replacing(target) as file:
            _write(form, recordings, file)
            if batch.count == 0:
                raise _Nothing
    except OSError as error:
        output.complain(f"{target}: {error.strerror}")
        return False
    return True


class _Nothing(Exception):
    """There is nothing to write, so nothing is to be replaced."""


def _saved(batch: Batch, change: Callable[[Recording], Recording], *, as_json: bool) -> Generator[Recording]:
    """Yield the recordings to write, and report each once it is written."""

    def whole(recording: Recording) -> tuple[Recording, list[Chunk]]:
        changed = change(recording)
        chunks = list(changed.chunks)
        changed.chunks = iter(chunks)
        return changed, chunks

    for recording, chunks in batch.each(whole):
        yield recording
        if as_json:
            size = sum(len(data) for _, data in chunks)
            known = {"form": recording.form, "chunks": len(chunks), "bytes": size}
            output.json_writer(recording.name)(json.dumps(known).encode())


def _write(form: str, recordings: Iterator[Recording], file: IO[bytes]) -> None:
    if form == _OWN:
        for recording in recordings:
            write(file, recording)
    else:
        file.writelines(WRITERS[form](recordings))
