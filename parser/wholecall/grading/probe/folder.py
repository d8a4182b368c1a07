"""A folder of exchanges: written while a run goes on, and read to judge them again.

Theory of operation. Each exchange is a recording of its own, without any header but the few that rules need; the header
line has what was asked, and what was probed (`meta["run"]`). A reference's exchanges are in the folder `reference`
inside it. A folder that holds other files is not written to.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from wholecall.errors import BadRecording
from wholecall.grading.probe.exchange import Exchange, exchange_of, recording_of
from wholecall.grading.probe.results import About
from wholecall.grading.probe.scenarios import SCENARIOS
from wholecall.recordings import read, write

_RUN = "run"  # the member of a recording's `meta`
_REFERENCE = "reference"
_ENDING = "*.jsonl"


class Folder:
    """A folder that exchanges are saved in.

    Args:
        path: the folder; it is made if it is not there, and has to be empty.
        about: what is probed.
        reference: what the reference is.

    Raises:
        OSError: it cannot be made, or is not empty.
    """

    def __init__(self, path: str, about: About, reference: About | None = None) -> None:
        self._path = Path(path)
        self._path.mkdir(parents=True, exist_ok=True)
        if any(self._path.iterdir()):
            raise FileExistsError(17, "the folder is not empty", path)
        self._about = {False: about, True: reference}
        if reference is not None:
            (self._path / _REFERENCE).mkdir()

    def save(self, exchange: Exchange, is_reference: bool) -> None:
        """Save an exchange.

        Raises:
            OSError: it cannot be written.
        """
        about = self._about[is_reference]
        assert about is not None
        recording = recording_of(exchange, about.endpoint)
        recording.meta = recording.meta | {_RUN: msgspec.to_builtins(about)}
        folder = self._path / _REFERENCE if is_reference else self._path
        write(folder / exchange.file, recording)


class Saved(msgspec.Struct, frozen=True):
    """The exchanges of a folder.

    Attributes:
        about: what was probed.
        exchanges: the exchanges, in the order of the scenarios.
        reference: the same of the reference, None without one.
    """

    about: About
    exchanges: tuple[Exchange, ...]
    reference: tuple[About, tuple[Exchange, ...]] | None = None


def saved_in(path: str) -> Saved:
    """Return the exchanges in a folder.

    Raises:
        BadRecording: there are none, or a file is not one that the probe has saved.
        OSError: the folder cannot be read.
    """
    folder = Path(path)
    about, exchanges = _side(folder)
    beside = folder / _REFERENCE
    return Saved(about, exchanges, _side(beside) if beside.is_dir() and any(beside.glob(_ENDING)) else None)


def _side(folder: Path) -> tuple[About, tuple[Exchange, ...]]:
    files = sorted(folder.glob(_ENDING))
    if not files:
        raise BadRecording(f"{folder}: it holds no exchanges of the probe")
    found = [_one(file) for file in files]
    return found[0][0], ordered(exchange for _, exchange in found)


def _one(file: Path) -> tuple[About, Exchange]:
    recording = next(iter(read(file)))
    about = _about(recording.meta)
    if about is None:  # outside the handler: the error may hold values of the file
        raise BadRecording(f"{recording.name}: it was not saved by the probe")
    return about, exchange_of(recording)


def _about(meta: dict[str, Any]) -> About | None:
    try:
        return msgspec.convert(meta.get(_RUN), About)
    except msgspec.ValidationError:
        return None


def ordered(exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """Return exchanges in the order of the scenarios, in whatever order they were made or read."""
    return tuple(sorted(exchanges, key=_place))


def _place(exchange: Exchange) -> tuple[int, bool, int, str]:
    place = _PLACES.get(exchange.scenario, len(_PLACES))
    return place, exchange.is_streamed, exchange.attempt, exchange.file


_PLACES = {scenario.id: number for number, scenario in enumerate(SCENARIOS)}
