"""Decides the work of a scan: a new plan, or the rest of the existing one.

Theory of operation. A scan that continues takes the plan as it is, so that units keep their numbers, and appends new
inputs. Inputs that have changed since they were planned (size or time) are found by comparing. The caller chooses the
consequence: the scan is refused, their units are done again, or their finished units stay.
"""

from __future__ import annotations

import datetime as dt
import json
import platform
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from wholecall import __version__
from wholecall.bulk import addresses, schema, storage, table_inputs
from wholecall.bulk.options import Changed, Options, Start, differences
from wholecall.bulk.output_folder import Folder, Marker
from wholecall.bulk.table_inputs import SUFFIXES as TABLE_SUFFIXES
from wholecall.bulk.units import Piece, Unit, found, packed
from wholecall.recordings.finding import SUFFIXES

_private = True

_SHOWN = 3  # names in a message


class Plan(msgspec.Struct, frozen=True):
    """The work of a scan.

    Attributes:
        units: all units.
        done: the markers of units that are done, by number.
        again: the numbers of units that are to be done again.
        is_written: whether the plan in the folder is this one.
    """

    units: Sequence[Unit]
    done: dict[int, Marker] = {}
    again: list[int] = []
    is_written: bool = False


def inputs(paths: Iterable[Any], out: str, options: Options) -> list[Piece]:
    """Return the inputs of a scan.

    Raises:
        ValueError: an input is named twice, is of the wrong kind, or lacks a requested column.
    """
    if options.columns is not None:
        pieces = found(paths, out, TABLE_SUFFIXES)
        number = storage.at_once(piece.path for piece in pieces)
        cuts = storage.asked(lambda piece: list(table_inputs.cut(piece, options)), pieces, number)
        return [part for parts in cuts for part in parts]
    pieces = found(paths, out, SUFFIXES)
    table = next((piece.path for piece in pieces if table_inputs.is_table(piece.path)), None)
    if table is not None:
        raise ValueError(
            f"{table} is a table: say which column holds the bodies (body, or --body), or the messages "
            "(messages, or --messages)"
        )
    return pieces


# --- the folder ------------------------------------------------------------------------------------------


def check_folder(folder: Folder, start: Start, options: Options) -> None:
    """Check that a scan may begin, or continue, in a folder.

    Raises:
        ValueError: it may not; the message says how to proceed.
    """
    if folder.is_strange():
        raise ValueError(f"{folder.path} holds something that is no scan; write to another folder")
    if not folder.is_begun() or start == "overwrite":
        return
    if start == "new":
        again = "go on with it (resume, or --resume), or begin anew (overwrite, or --overwrite)"
        raise ValueError(f"there is a scan in {folder.path} already: {again}")
    then = json.loads(folder.read_about())
    different = differences(_compared(then), _compared(_about(options, ())))
    if different:
        raise ValueError(f"{folder.path} was begun otherwise: {'; '.join(different)}")


def write_plan(folder: Folder, plan: Plan, options: Options, paths: Iterable[str]) -> None:
    """Write the description and the plan of a scan; units that are done again lose their markers first."""
    if not folder.is_begun():
        _write_about(folder, options, paths)
    folder.forget(plan.again)
    if not plan.is_written:
        folder.write_plan(plan.units)


def _write_about(folder: Folder, options: Options, paths: Iterable[str]) -> None:
    now = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    about = _about(options, paths) | {"begun": now, "host": platform.node(), "pyarrow": pa.__version__}
    folder.write_about(json.dumps(about, indent=1).encode() + b"\n")


def _about(options: Options, paths: Iterable[str]) -> dict[str, Any]:
    told = {"schema": schema.VERSION, "wholecall": __version__, "options": options.told()}
    return told | {
        "paths": [path if addresses.is_url(path) else str(Path(path).absolute()) for path in paths]
    }


def _compared(about: dict[str, Any]) -> dict[str, Any]:
    """Return the properties that two scans of one folder have to share."""
    minor = ".".join(str(about["wholecall"]).split(".")[:2])
    return {"schema": about["schema"], "wholecall": minor, **about["options"]}


# --- the plan --------------------------------------------------------------------------------------------


def new_plan(pieces: Iterable[Piece], options: Options, first: int = 0) -> Plan:
    """Return a plan without finished units; its first unit has this number."""
    key = json.dumps([schema.VERSION, options.told()], sort_keys=True)
    return Plan(list(packed(pieces, key, first)))


def plan_of(folder: Folder, pieces: Sequence[Piece], options: Options, changed: Changed) -> Plan:
    """Return the plan for a folder that may hold a plan already.

    Args:
        folder: the output folder.
        pieces: the inputs.
        options: the options of the scan.
        changed: how inputs are treated that have changed since they were planned.

    Raises:
        ValueError: inputs have changed, and the scan must not continue; or rows of a table have moved.
    """
    units = list(folder.units())
    if not units:
        return new_plan(pieces, options)
    done = folder.markers_of(units)
    now: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        now[piece.source].append(piece)
    others = _changed(units, done, now)
    if others and changed == "refuse":
        raise ValueError(_refusal(sorted(others)))
    again = [unit.number for unit in units if any(piece.source in others for piece in unit.pieces)]
    if changed == "keep":
        again = [number for number in again if number not in done]
    renewed = _renewed(units, set(again), others, now)
    known = {piece.source for unit in units for piece in unit.pieces}
    unknown = [piece for piece in pieces if piece.source not in known]
    new = new_plan(unknown, options, units[-1].number + 1).units
    kept = {number: marker for number, marker in done.items() if number not in again}
    return Plan([*renewed, *new], kept, again, is_written=not again and not new)


def _changed(units: Iterable[Unit], done: dict[int, Marker], now: dict[str, list[Piece]]) -> set[str]:
    """Return the sources that differ from their state when they were planned, or else when they were read."""
    others: set[str] = set()
    for unit in units:
        marker = done.get(unit.number)
        read = {} if marker is None else {source: (size, mtime) for source, size, mtime in marker.states}
        for piece in unit.pieces:
            then = read.get(piece.source, (piece.size, piece.mtime))
            if piece.source in now and (now[piece.source][0].size, now[piece.source][0].mtime) != then:
                others.add(piece.source)
    return others


def _refusal(sources: Sequence[str]) -> str:
    shown = ", ".join(sources[:_SHOWN]) + (", ..." if len(sources) > _SHOWN else "")
    number = "1 input has" if len(sources) == 1 else f"{len(sources):,} inputs have"
    choice = "redo reads their units again, keep leaves what is done (changed, or --changed)"
    return f"{number} changed since the scan was planned ({shown}): {choice}"


def _renewed(
    units: Sequence[Unit], again: set[int], others: set[str], now: dict[str, list[Piece]]
) -> list[Unit]:
    """Return the units; those that are done again have their inputs in the current state."""
    by_part = {
        (piece.source, piece.start, piece.stop, piece.row): piece
        for source in others
        for piece in now[source]
    }

    def renewed(piece: Piece) -> Piece:
        if piece.source not in others:
            return piece
        found = by_part.get((piece.source, piece.start, piece.stop, piece.row))
        if found is None:
            raise ValueError(
                f"the rows of {piece.source} stand elsewhere now: begin anew (overwrite, or --overwrite)"
            )
        return found

    return [
        msgspec.structs.replace(unit, pieces=tuple(map(renewed, unit.pieces)))
        if unit.number in again
        else unit
        for unit in units
    ]
