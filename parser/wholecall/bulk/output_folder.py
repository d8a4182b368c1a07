"""The folder that a scan writes: its plan, its markers, its lock, and the parts of both tables.

Theory of operation. A unit is done when its marker is in `done/`, and the parts that the marker names have the sizes
that it states. Each file is a draft first, and gets its name when it is whole: under a name that counts there is never
a partial file. Hidden files are leftovers of processes that died; the next scan removes them, and the lock keeps it
from running while another scan does. A store has no lock.

::

    calls/part-000042-<unit id>.parquet      recordings/part-000042-<unit id>.parquet
    _scan/scan.json  plan.jsonl  done/000042.json  lock

The rows of a unit are gathered until a row group is large enough, then it is written, so that memory holds one row
group of each table. Both parts are drafts until they are finished; then they get their names, and last comes the
marker. If anything fails before the marker is written, the unit is done again, and writes the same bytes to the same
names.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from wholecall.bulk import addresses, failures
from wholecall.bulk.rows import Row
from wholecall.bulk.schema import CALLS, RECORDINGS
from wholecall.bulk.storage import Draft, asked, storage_of
from wholecall.bulk.units import Unit, unit_of

if TYPE_CHECKING:
    from typing_extensions import Self

_private = True

TABLES = ("calls", "recordings")  # in the order in which parts get their names
MOST_TROUBLES = 20  # troubles that are listed by name
_GROUP_ROWS = 64 * 1024
_GROUP_BYTES = 32 * 1024 * 1024
# Nearly every value of these columns differs, so that a dictionary of them is only larger.
_DIVERSE = frozenset({"arguments", "raw_arguments", "call_id", "recording_id", "content_hash"})
_SCHEMAS: Mapping[str, pa.Schema] = {"calls": CALLS, "recordings": RECORDINGS}
_COUNTED = {
    "n_calls": "calls",
    "n_dropped": "dropped",
    "n_cancelled": "cancelled",
    "n_server": "server",
    "bytes": "bytes",
}


# --- records ---------------------------------------------------------------------------------------------


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a unit that is done.

    Attributes:
        unit: its id.
        sizes: bytes of its parts, by table.
        counts: those of a `Tally`.
        skipped: responses that are not recordings, by reason.
        troubles: the first recordings that could not be read: id and trouble.
        states: size and time of inputs that differed from the plan, by source.
    """

    unit: str
    sizes: dict[str, int]
    counts: dict[str, int]
    skipped: dict[str, int] = {}
    troubles: list[tuple[str, str]] = []
    states: list[tuple[str, int, int]] = []


class PlanLine(msgspec.Struct, frozen=True):
    """The place of a line of the plan in its file: the whole plan may be too large to be held.

    Attributes:
        number: the number of the unit.
        id: the id of the unit.
        weight: the weight of the unit.
        start: its first byte.
        size: its number of bytes.
    """

    number: int
    id: str
    weight: int
    start: int
    size: int


class Tally(msgspec.Struct):
    """Counts of some units.

    Attributes:
        counts: `recordings`, `troubles` (recordings that could not be read), `bytes` of bodies, `calls`, `dropped`,
            `cancelled`, `server`.
        skipped: responses that are not recordings, by reason.
        troubles: the first recordings that could not be read: id and trouble.
    """

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    troubles: list[tuple[str, str]] = msgspec.field(default_factory=list)

    def add(self, row: Row) -> None:
        """Count a recording."""
        values = row.recording
        self.counts["recordings"] += 1
        for column, word in _COUNTED.items():
            self.counts[word] += values[column]
        if values["trouble"] is not None:
            self.counts["troubles"] += 1
            self.note([(_told(values["recording_id"]), _told(values["trouble"]))])

    def merge(self, counts: Mapping[str, int], skipped: Mapping[str, int]) -> None:
        """Add the counts of another tally."""
        self.counts.update(counts)
        self.skipped.update(skipped)

    def note(self, troubles: list[tuple[str, str]]) -> None:
        """Remember troubles, if there is still room."""
        self.troubles += troubles[: MOST_TROUBLES - len(self.troubles)]


def _told(text: str) -> str:
    """Return a text that can be written as UTF-8: names of files may be invalid."""
    return text.encode("utf-8", "backslashreplace").decode()


_MARKERS = msgspec.json.Decoder(Marker)


# --- the folder ------------------------------------------------------------------------------------------


class Folder:
    """The folder that a scan writes.

    Args:
        path: the path of the folder, which need not exist; or its address in a store.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        named = addresses.address(os.fspath(path))
        self.path = named if addresses.is_url(named) else os.path.abspath(named)  # noqa: PTH100 - as all addresses
        self._storage = storage_of(self.path)
        self._scan = addresses.joined(self.path, "_scan")
        self._about = addresses.joined(self._scan, "scan.json")
        self._plan = addresses.joined(self._scan, "plan.jsonl")
        self._done = addresses.joined(self._scan, "done")
        self._tables = {table: addresses.joined(self.path, table) for table in TABLES}

    def part(self, table: str, unit: Unit | PlanLine) -> str:
        """Return where a part of a table is."""
        return addresses.joined(self._tables[table], _part_name(unit))

    def _marker(self, number: int) -> str:
        return addresses.joined(self._done, _marker_name(number))

    # Reading.

    def is_strange(self) -> bool:
        """Whether the folder holds something other than a scan."""
        names = self._storage.entries(self.path)
        return names is None or (not names <= {"_scan", *TABLES} and not self.is_begun())

    def is_begun(self) -> bool:
        """Whether the folder holds a scan."""
        return self._storage.exists(self._about)

    def n_waiting(self) -> int:
        """Return how many units of the plan have no marker yet; 0 without a scan."""
        if not self.is_begun():
            return 0
        n_done = sum(name.endswith(".json") for name in self._storage.sizes(self._done) if name[0] != ".")
        return max(len(self.read_plan()) - n_done, 0)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Make the folder and lock it for this scan.

        Raises:
            ValueError: another scan runs.
        """
        self._storage.make((*self._tables.values(), self._done))
        with ExitStack() as held:
            try:
                held.enter_context(self._storage.locked(addresses.joined(self._scan, "lock")))
            except BlockingIOError:
                raise ValueError(f"another scan writes into {self.path}") from None
            yield

    def read_about(self) -> bytes:
        """Return the description of the scan in the folder."""
        return self._storage.read(self._about)

    def read_plan(self) -> list[PlanLine]:
        """Return the places of the units of the plan; none if there is no plan yet."""
        places: list[PlanLine] = []
        start = 0
        with suppress(FileNotFoundError), self._storage.open(self._plan) as file:
            for line in file:
                unit = unit_of(line)
                places.append(PlanLine(unit.number, unit.id, unit.weight, start, len(line)))
                start += len(line)
        return places

    def units(self) -> Iterator[Unit]:
        """Yield the units of the plan; none if there is no plan yet."""
        with suppress(FileNotFoundError), self._storage.open(self._plan) as file:
            yield from map(unit_of, file)

    def unit(self, place: PlanLine) -> Unit:
        """Return a unit of the plan."""
        return unit_of(self._storage.read(self._plan, place.start, place.size))

    def markers_of(self, units: Iterable[Unit | PlanLine]) -> dict[int, Marker]:
        """Return the markers of the units that are done, by number; units without one have to be done (again)."""
        done = self._storage.sizes(self._done)
        sizes = {table: self._storage.sizes(folder) for table, folder in self._tables.items()}
        marked = [unit for unit in units if _marker_name(unit.number) in done]
        markers = asked(lambda unit: self._read_marker(unit.number), marked, self._storage.at_once)
        return {
            unit.number: marker
            for unit, marker in zip(marked, markers, strict=True)
            if marker
            and _believed(marker, unit, {table: of.get(_part_name(unit)) for table, of in sizes.items()})
        }

    def marker_of(self, unit: Unit | PlanLine) -> Marker | None:
        """Return the marker of one unit."""
        marker = self._read_marker(unit.number)
        if marker is None:
            return None
        sizes = {table: self._storage.state(self.part(table, unit))[0] for table in TABLES}
        return marker if _believed(marker, unit, sizes) else None

    def _read_marker(self, number: int) -> Marker | None:
        try:
            return _MARKERS.decode(self._storage.read(self._marker(number)))
        except (OSError, msgspec.DecodeError):
            return None

    # Writing.

    def draft(self, table: str, unit: Unit) -> Draft:
        """Begin a part."""
        return self._storage.draft(self.part(table, unit))

    def settle(self) -> None:
        """Make the names of parts durable against power loss."""
        for folder in self._tables.values():
            self._storage.settle(folder)

    def write_about(self, said: bytes) -> None:
        """Write the description of the scan."""
        with self._written(self._about) as file:
            file.write(said)

    def write_plan(self, units: Iterable[Unit]) -> None:
        """Write the plan, replacing the existing one."""
        with self._written(self._plan) as file:
            file.writelines(unit.line() for unit in units)

    def write_marker(self, number: int, marker: Marker) -> None:
        """Write the marker of a unit; its parts have to be on the disk by now."""
        with self._written(self._marker(number)) as file:
            file.write(msgspec.json.encode(marker))

    @contextmanager
    def _written(self, path: str) -> Generator[BinaryIO]:
        """Write a file that appears only when it is whole; otherwise nothing remains."""
        draft = self._storage.draft(path)
        try:
            yield draft.file
            draft.finish()
            draft.publish()
        finally:
            draft.abandon()
        self._storage.settle(os.path.dirname(path))  # noqa: PTH120 - as all addresses

    def forget(self, numbers: Iterable[int]) -> None:
        """Mark units to be done again."""
        self._remove([self._marker(number) for number in numbers])
        self._storage.settle(self._done)

    def clear(self) -> None:
        """Remove the files of a scan, its markers first: a half-removed unit counts as not done."""
        self.remove_leftovers()
        markers = (name for name in self._storage.sizes(self._done) if name.endswith(".json"))
        self._remove([addresses.joined(self._done, name) for name in markers])
        for folder in self._tables.values():
            parts = (name for name in self._storage.sizes(folder) if name.startswith("part-"))
            self._remove([addresses.joined(folder, name) for name in parts if name.endswith(".parquet")])
        self._remove([self._plan])
        self._remove([self._about])

    def remove_leftovers(self) -> None:
        """Remove drafts of processes that died."""
        for folder in (*self._tables.values(), self._done, self._scan):
            hidden = (name for name in self._storage.sizes(folder) if name.startswith("."))
            self._remove([addresses.joined(folder, name) for name in hidden])

    def _remove(self, paths: Sequence[str]) -> None:
        asked(self._storage.remove, paths, self._storage.at_once)


def _part_name(unit: Unit | PlanLine) -> str:
    return f"part-{unit.number:06}-{unit.id}.parquet"


def _marker_name(number: int) -> str:
    return f"{number:06}.json"


def _believed(marker: Marker, unit: Unit | PlanLine, sizes: Mapping[str, int | None]) -> bool:
    """Return whether a marker belongs to a unit and its parts have the stated sizes."""
    return marker.unit == unit.id and marker.sizes == sizes


# --- parts -----------------------------------------------------------------------------------------------


class Parts:
    """The parts of a unit. Leaving the context without `publish` removes the files.

    Raises:
        CannotWriteError: from each method: the output cannot be written.
    """

    @failures.writing()
    def __init__(self, folder: Folder, unit: Unit) -> None:
        self._folder = folder
        self._parts = {table: _Part(folder.draft(table, unit), _SCHEMAS[table]) for table in TABLES}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for part in self._parts.values():
            part.abandon()

    @failures.writing()
    def add(self, calls: pa.Table, recordings: pa.Table) -> None:
        """Add rows to both tables."""
        self._parts["calls"].add(calls)
        self._parts["recordings"].add(recordings)

    @failures.writing()
    def publish(self) -> dict[str, int]:
        """Make both parts durable, give them their names, and return their sizes."""
        sizes = {table: part.finish() for table, part in self._parts.items()}
        for part in self._parts.values():
            part.draft.publish()
        self._folder.settle()
        return sizes


class _Part:
    """One Parquet file."""

    def __init__(self, draft: Draft, schema: pa.Schema) -> None:
        self.draft = draft
        self._schema = schema
        self._writer = pq.ParquetWriter(
            draft.file,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=_repeating(schema),
            write_statistics=True,
        )
        self._gathered: list[pa.Table] = []
        self._n_rows = self._n_bytes = 0

    def add(self, table: pa.Table) -> None:
        self._gathered.append(table)
        self._n_rows += table.num_rows
        self._n_bytes += table.nbytes
        if self._n_rows >= _GROUP_ROWS or self._n_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._n_rows:
            table = pa.concat_tables(self._gathered).cast(self._schema)
            self._writer.write_table(table, row_group_size=self._n_rows)
        self._gathered, self._n_rows, self._n_bytes = [], 0, 0

    def finish(self) -> int:
        self._flush()
        self._writer.close()
        return self.draft.finish()

    def abandon(self) -> None:
        """Remove an unpublished file; an open writer complains when it is deleted."""
        with suppress(OSError, ValueError, pa.ArrowException):
            self._writer.close()
        self.draft.abandon()


def _repeating(schema: pa.Schema) -> Any:
    """Return the columns that have a dictionary, as Parquet names them: a list is the column of its elements."""
    return [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
        if field.name not in _DIVERSE
    ]
