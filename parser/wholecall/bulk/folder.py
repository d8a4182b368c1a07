"""The folder that a scan writes: where its parts, its plan and its markers are, and who may write there.

Theory of operation. A unit is done when its marker stands in `done/`, and the parts that the marker names have the
sizes that it says. Whatever is written is written to a hidden file, brought to the disk, and then renamed, so that
under a name that counts nothing ever stands that is not whole. Hidden files are leftovers of processes that died, and
are removed by the next scan, which the lock keeps from running while another one does.

::

    calls/part-000042-<unit id>.parquet      recordings/part-000042-<unit id>.parquet
    _scan/scan.json  plan.jsonl  done/000042.json  lock
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from wholecall.bulk.plan import Unit, unit_of

__all__ = ["TABLES", "Folder", "Marker", "PlanLine", "synced"]
_private = True

TABLES = ("calls", "recordings")  # in the order in which parts get their names
_PARTS = "part-*"


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a unit that is done.

    Attributes:
        unit: its id.
        sizes: bytes of its parts, by table.
        counts: of recordings, calls and so on (`wholecall.bulk.tally`).
        skipped: responses that are no recordings, by reason.
        troubles: the first recordings that could not be read: id and trouble.
        states: size and time of inputs that were others than planned, by source.
    """

    unit: str
    sizes: dict[str, int]
    counts: dict[str, int]
    skipped: dict[str, int] = {}
    troubles: list[tuple[str, str]] = []
    states: list[tuple[str, int, int]] = []


class PlanLine(msgspec.Struct, frozen=True):
    """Where a line of the plan stands in its file: the whole plan may be too large to be held.

    Attributes:
        number: of the unit.
        id: of the unit.
        weight: of the unit.
        start: its first byte.
        size: how many bytes there are.
    """

    number: int
    id: str
    weight: int
    start: int
    size: int


_MARKERS = msgspec.json.Decoder(Marker)


class Folder:
    """The folder that a scan writes.

    Args:
        path: of the folder, which need not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.about = self.path / "_scan" / "scan.json"
        self.plan = self.path / "_scan" / "plan.jsonl"
        self.done = self.path / "_scan" / "done"

    def part(self, table: str, unit: Unit | PlanLine) -> Path:
        """Return where a part of a table stands."""
        return self.path / table / f"part-{unit.number:06}-{unit.id}.parquet"

    def marker(self, number: int) -> Path:
        """Return where the marker of a unit stands."""
        return self.done / f"{number:06}.json"

    # What is there.

    def is_strange(self) -> bool:
        """Whether something else than a scan is there."""
        try:
            names = set(os.listdir(self.path))  # noqa: PTH208 - names are what is asked for
        except (FileNotFoundError, NotADirectoryError):
            return self.path.exists()
        return not self.about.exists() and not names <= {"_scan", *TABLES}

    @contextmanager
    def locked(self) -> Generator[None]:
        """Make the folder and be its only scan; the system gives the lock back, however the process ends.

        Raises:
            ValueError: another scan runs.
        """
        for folder in (*(self.path / table for table in TABLES), self.done):
            folder.mkdir(parents=True, exist_ok=True)
        with (self.path / "_scan" / "lock").open("ab") as file:
            try:
                _lock(file)
            except BlockingIOError:
                raise ValueError(f"another scan writes into {self.path}") from None
            yield

    def read_plan(self) -> list[PlanLine]:
        """Return where the units of the plan are; none if there is no plan yet."""
        places: list[PlanLine] = []
        start = 0
        with suppress(FileNotFoundError), self.plan.open("rb") as file:
            for line in file:
                unit = unit_of(line)
                places.append(PlanLine(unit.number, unit.id, unit.weight, start, len(line)))
                start += len(line)
        return places

    def units(self) -> Iterator[Unit]:
        """Yield the units of the plan; none if there is no plan yet."""
        with suppress(FileNotFoundError), self.plan.open("rb") as file:
            yield from map(unit_of, file)

    def unit(self, place: PlanLine) -> Unit:
        """Return a unit of the plan."""
        with self.plan.open("rb") as file:
            file.seek(place.start)
            return unit_of(file.read(place.size))

    def marker_of(self, unit: Unit | PlanLine) -> Marker | None:
        """Return the marker of a unit that is done, None if it has to be done (again)."""
        try:
            marker = _MARKERS.decode(self.marker(unit.number).read_bytes())
            sizes = {table: self.part(table, unit).stat().st_size for table in TABLES}
        except (OSError, msgspec.DecodeError):
            return None
        return marker if (marker.unit, marker.sizes) == (unit.id, sizes) else None

    # What is written.

    def write_plan(self, units: Iterable[Unit]) -> None:
        """Write the plan, in the place of the one that is there."""
        with synced(self.plan) as file:
            file.writelines(unit.line() for unit in units)

    def write_marker(self, number: int, marker: Marker) -> None:
        """Say that a unit is done, which has to be on the disk by now."""
        with synced(self.marker(number)) as file:
            file.write(msgspec.json.encode(marker))

    def forget(self, numbers: Iterable[int]) -> None:
        """Have units done again."""
        for number in numbers:
            self.marker(number).unlink(missing_ok=True)
        sync_folder(self.done)

    def clear(self) -> None:
        """Remove what a scan wrote, its markers first: what is half removed counts as not done."""
        self.remove_leftovers()
        for marker in self.done.glob("*.json"):
            marker.unlink()
        for table in TABLES:
            for part in (self.path / table).glob(f"{_PARTS}.parquet"):
                part.unlink()
        self.plan.unlink(missing_ok=True)
        self.about.unlink(missing_ok=True)

    def remove_leftovers(self) -> None:
        """Remove what processes that died have begun."""
        for folder in (*(self.path / table for table in TABLES), self.done, self.plan.parent):
            for path in folder.glob(".*"):
                path.unlink(missing_ok=True)


@contextmanager
def synced(target: Path) -> Generator[BinaryIO]:
    """Open a hidden file beside a place, and put it there when it is whole and on the disk; else nothing stays."""
    hidden = hidden_beside(target)
    try:
        with hidden.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, target)  # noqa: PTH105 - one name for what tests interrupt
    finally:
        hidden.unlink(missing_ok=True)
    sync_folder(target.parent)


def hidden_beside(target: Path) -> Path:
    """Return where a file is written before it gets its name: no reader of a folder of tables takes it for a part."""
    return target.with_name(f".{target.stem}.{os.getpid()}")


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
