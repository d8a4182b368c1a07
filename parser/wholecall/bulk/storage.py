"""Disks and object stores, from which a scan reads and to which it writes.

Theory of operation. `pyarrow.fs` reaches both: `storage_of` finds the disk or the store of an address, each file is
named by its whole address, and a scan knows nothing else of where it works. Output is a *draft* first, which no reader
of a folder of tables takes for a part; it gets its name in one step when it is whole, or never.

- **Disk.** `pyarrow.fs` has no locks, syncs nothing, and lists no names that are not UTF-8, so these are Python's here.
  A draft is a hidden file next to its target, synced and then renamed. Those of processes that died are leftovers.
- **Store.** An object is read in ranges, large enough that waiting for each costs little, and never held whole. A draft
  is a temporary file on this machine, which is handed over in one write: closing a stream after an exception would
  publish the partial content, so a stream is closed only after all of it was taken. Where a stream's content is visible
  before it is closed, the object has a hidden name first, and is then moved.
- **Waiting.** With a store, most of the time passes with waiting. Therefore known questions are asked in several
  threads, and small objects are opened before their turn: each is one range, so that memory holds no more of them than
  of open files.

Only the code of a store's answer is reported (`ACCESS_DENIED`): its messages may hold anything. A file that is missing
or unreadable is an `OSError`; any other error of a store is `StoreFailed`.
"""

from __future__ import annotations

import errno
import glob
import io
import mmap
import os
import re
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, Union, cast

import pyarrow as pa
from pyarrow import fs

from wholecall.bulk.addresses import folder_of, is_url, joined, root_of, shown
from wholecall.bulk.failures import StoreFailed, is_ours
from wholecall.recordings.finding import Opens, find, is_named_so
from wholecall.recordings.source import PIECE

_private = True

One = TypeVar("One")
Said = TypeVar("Said")

# Bytes of one request, of an object that is read from its beginning: whole pieces, as files come from disks.
_RANGE = 64 * PIECE
_SMALL = 1 << 20  # bytes of an object that is opened before its turn
_AHEAD = 16  # how many of them
_CODE = re.compile(r"AWS Error (\w+)|Status\((\w+)|Azure Error: \[(\w+)")
_DENIED = frozenset({"ACCESS_DENIED", "INVALID_OBJECT_STATE", "PERMISSION_DENIED"})
# Stores whose objects appear when their stream is closed, as tested with failures at each step; and stores without
# folders to create.
_APPEARING = frozenset({"s3"})
_FOLDERLESS = frozenset({"s3", "gcs", "abfs"})


class Input(NamedTuple):
    """A file to be read.

    Attributes:
        path: its address.
        size: in bytes, 0 where it is unknown.
        mtime: when it was changed, in nanoseconds; 0 where that is unknown.
        named: whether the caller named it explicitly.
        trouble: why it cannot be read.
    """

    path: str
    size: int
    mtime: int
    named: bool = False
    trouble: str | None = None


# --- addresses -------------------------------------------------------------------------------------------


@contextmanager
def asking(path: str) -> Generator[None]:
    """Translate the errors of a disk or a store about a file.

    Raises:
        OSError: the file is missing, or may not be read; on a disk any error.
        StoreFailed: any other error of a store.
    """
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown(path)) from None
    except PermissionError:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown(path)) from None
    except Exception as error:
        if not is_ours(error):
            raise
        number = error.errno if isinstance(error, OSError) else None
        if is_url(path):
            raise _failure(error, number, path) from None
        if number is None:
            raise
        raise OSError(number, os.strerror(number), path) from None


def _failure(error: Exception, number: int | None, path: str) -> Exception:
    said = _CODE.search(str(error))
    code = next(filter(None, said.groups()), None) if said else None
    if code in _DENIED:
        return PermissionError(errno.EACCES, f"the store answers {code}", shown(path))
    known = os.strerror(number) if number else type(error).__name__
    return StoreFailed(f"{shown(root_of(path)[0])}: the store answers {code or known}")


@cache
def _connected(root: str) -> tuple[Any, str]:
    """Return the file system at the root of an address, and the path of the root in it; made once.

    Raises:
        ValueError: there is no such kind of store.
        StoreFailed: the store cannot be asked.
    """
    host, _, options = root.partition("?")
    url = f"{host}/?{options}" if options else f"{host}/"
    with asking(root):
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return cast("tuple[Any, str]", fs.FileSystem.from_uri(url))
        found = _by_fsspec(url)
    if found is None:
        known = "pyarrow knows s3, gs, abfs and hdfs; fsspec knows more, with its packages"
        raise ValueError(f"{shown(root)} is no URL of a store that is known here: {known}")
    return found


def _by_fsspec(url: str) -> tuple[Any, str] | None:
    try:
        fsspec: Any = import_module("fsspec.core")
        store, base = fsspec.url_to_fs(url)
    except (ImportError, ValueError):
        return None
    return fs.PyFileSystem(fs.FSSpecHandler(store)), base


def located(url: str) -> tuple[Any, str]:
    """Return the file system of an address in a store, and the path in it.

    Raises:
        ValueError: there is no such kind of store.
        StoreFailed: the store cannot be asked.
    """
    root, below = root_of(url)
    store, base = _connected(root)
    if not below:
        return store, base.rstrip("/") or base
    return store, f"{base}{'/' if base and not base.endswith('/') else ''}{below}"


def storage_of(path: str) -> Storage:
    """Return the disk or the store of an address.

    Raises:
        ValueError: there is no such kind of store.
        StoreFailed: the store cannot be asked.
    """
    return _store(root_of(path)[0]) if is_url(path) else _DISK


@cache
def _store(root: str) -> Store:
    return Store(root)


# --- files -----------------------------------------------------------------------------------------------


class _Files(ABC):
    """The operations on files that `pyarrow.fs` has for disks and stores alike.

    Each may raise `OSError` for the file it is about, and `StoreFailed` where a store does not answer.
    """

    _fs: Any

    @abstractmethod
    def _inner(self, path: str) -> Any:
        """Return an address as `pyarrow.fs` takes it."""

    def info(self, path: str) -> Any:
        """Return the `pyarrow.fs` information on an address."""
        with asking(path):
            return self._fs.get_file_info(self._inner(path))

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""
        return bool(self.info(path).type == fs.FileType.File)

    def state(self, path: str) -> tuple[int, int]:
        """Return the size of a file and its time of change; zeros where these are unknown."""
        try:
            return _state(self.info(path))
        except OSError:
            return 0, 0

    def listed(self, folder: str, *, recursive: bool, missing: bool = False) -> list[tuple[str, Any]]:
        """Return the files and folders in a folder: each path below it with its information.

        Raises:
            FileNotFoundError: there is no such folder, unless it may be missing.
        """
        inner = self._inner(folder)
        with asking(folder):
            found = self._fs.get_file_info(
                fs.FileSelector(inner, allow_not_found=missing, recursive=recursive)
            )
        return [(one.path.removeprefix(os.fsdecode(inner)).lstrip("/"), one) for one in found]

    def make(self, folders: Iterable[str]) -> None:
        """Create folders, where there are any."""
        if self._fs.type_name not in _FOLDERLESS:
            for folder in folders:
                with asking(folder):
                    self._fs.create_dir(self._inner(folder), recursive=True)

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        with suppress(FileNotFoundError), asking(path):
            self._fs.delete_file(self._inner(path))


def _state(info: Any) -> tuple[int, int]:
    return (info.size or 0, info.mtime_ns or 0) if info.type == fs.FileType.File else (0, 0)


# --- disks -----------------------------------------------------------------------------------------------


class Disk(_Files):
    """The disks of this machine."""

    at_once = 1  # questions: the answers are immediate

    def __init__(self) -> None:
        self._fs = fs.LocalFileSystem()

    def _inner(self, path: str) -> bytes:
        return os.fsencode(path)  # as bytes, names that are not valid UTF-8 pass

    def find(self, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
        """Return the base folder of a path or pattern, and its files, as `wholecall.recordings` finds them."""
        return os.path.abspath(_base(path)), self._found(path, suffixes)  # noqa: PTH100 - paths are texts here

    def _found(self, path: str, suffixes: tuple[str, ...]) -> Iterator[Input]:
        for place in find([path], suffixes):
            found = os.path.abspath(place.path)  # noqa: PTH100 - as above
            size, mtime = (0, 0) if place.trouble else self.state(found)
            yield Input(found, size, mtime, place.named, place.trouble)

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Return a file that is read from a byte on."""
        file = Path(path).open("rb")  # noqa: SIM115 - the caller's
        file.seek(start)
        return file

    def read(self, path: str, start: int = 0, size: int = -1) -> bytes:
        """Return some bytes of a file."""
        with self.open(path, start) as file:
            return file.read(size)

    def ranges(self, path: str) -> Any:
        """Return a file from which Arrow reads the parts that it needs."""
        with asking(path):
            return self._fs.open_input_file(self._inner(path))

    def mapped(self, path: str) -> Any:
        """Return a file in memory, for Arrow."""
        return pa.memory_map(path)

    def entries(self, folder: str) -> set[str] | None:
        """Return the entries of a folder, none if it is missing; None if it is a file."""
        try:
            return set(os.listdir(folder))  # noqa: PTH208 - names are wanted
        except (FileNotFoundError, NotADirectoryError):
            return None if Path(folder).exists() else set()

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the files in a folder, by name."""
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        return {}

    @contextmanager
    def locked(self, path: str) -> Generator[None]:
        """Hold a lock, which the system releases however the process ends; network disks without locks have none.

        Raises:
            BlockingIOError: another process holds it.
        """
        with Path(path).open("ab") as file:
            _lock(file)
            yield

    def draft(self, path: str) -> _HiddenFile:
        """Begin a file."""
        return _HiddenFile(path)

    def settle(self, folder: str) -> None:
        """Make the names in a folder durable against power loss, where the system can."""
        if sys.platform == "win32":
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_DISK = Disk()


class _HiddenFile:
    """A draft next to its target."""

    def __init__(self, path: str) -> None:
        self._target = Path(path)
        self._hidden = self._target.with_name(f".{self._target.stem}.{os.getpid()}")
        self.file: BinaryIO = self._hidden.open("wb")

    def finish(self) -> int:
        """Make all of it durable, still without its name, and return its size."""
        self.file.flush()
        os.fsync(self.file.fileno())
        size = self.file.tell()
        self.file.close()
        return size

    def publish(self) -> None:
        """Give it its name, replacing an existing file."""
        os.replace(self._hidden, self._target)  # noqa: PTH105 - one name for the step that tests interrupt

    def abandon(self) -> None:
        """Remove it if it is still a draft."""
        with suppress(OSError):
            self.file.close()
        self._hidden.unlink(missing_ok=True)


def _base(argument: str) -> str:
    """Return the base folder of a path or pattern."""
    path = Path(argument)
    if path.is_dir():
        return argument
    if path.exists() or not glob.has_magic(argument):
        return str(path.parent)
    parts = list(path.parts)
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    return str(Path(*parts[:fixed])) if fixed else "."


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


# --- object stores ---------------------------------------------------------------------------------------


class Store(_Files):
    """A store: a bucket, a container, a cluster.

    Args:
        root: the root of its addresses.
    """

    at_once = 32  # questions: each answer takes a while

    def __init__(self, root: str) -> None:
        self._fs, _ = located(root)

    def _inner(self, path: str) -> str:
        return located(path)[1]

    # Inputs. A folder that was copied to a store has the same inputs under the same names as on a disk.

    def find(self, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
        """Return the base folder of an address or pattern, and its objects.

        Raises:
            StoreFailed: the store cannot be asked, or has no such bucket.
        """
        root, below = root_of(path)
        found = self.info(path)
        if found.type == fs.FileType.File:
            return folder_of(path), iter([Input(path, *_state(found), named=True)])
        if found.type == fs.FileType.Directory or not below:
            return path, self._below(path, path, [], suffixes)
        names = below.split("/")
        fixed = next((number for number, name in enumerate(names) if glob.has_magic(name)), None)
        if fixed is None:
            with suppress(FileNotFoundError):
                self.listed(path, recursive=False)  # reports that there is no such bucket
            return folder_of(path), iter([Input(path, 0, 0, named=True)])  # found by reading it
        folder = joined(root, *names[:fixed])
        return folder, self._below(path, folder, names[fixed:], suffixes)

    def _below(
        self, path: str, folder: str, pattern: Sequence[str], suffixes: tuple[str, ...]
    ) -> Iterator[Input]:
        """Yield the objects that a pattern matches, or that are in a matching folder; or an input that says no."""
        is_empty = True
        with suppress(FileNotFoundError):
            for below, one in self.listed(folder, recursive=True):
                is_one = one.type == fs.FileType.File and is_named_so(below, suffixes)
                if is_one and _matches(below.split("/"), pattern):
                    is_empty = False
                    yield Input(joined(folder, below), *_state(one))
        if is_empty:
            yield Input(path, 0, 0, trouble=f"no recording ({' '.join(suffixes)}) there")

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Return an object that is read from a byte on; its first bytes are already here."""
        raw = _Object(self._fs, self._inner(path), path)
        raw.seek(start)
        file = io.BufferedReader(raw, max(1, min(raw.size - start, _RANGE)))
        file.peek()
        return file

    def read(self, path: str, start: int = 0, size: int = -1) -> bytes:
        """Return some bytes of an object."""
        with _Object(self._fs, self._inner(path), path) as raw:
            raw.seek(start)
            return raw.read(raw.size - start if size < 0 else size) or b""

    def ranges(self, path: str) -> Any:
        """Return an object from which Arrow reads the parts that it needs."""
        return pa.PythonFile(_Object(self._fs, self._inner(path), path), mode="r")

    def mapped(self, path: str) -> Any:
        """Return an object for Arrow: it cannot be mapped."""
        return self.ranges(path)

    # Outputs.

    def entries(self, folder: str) -> set[str] | None:
        """Return the entries of a folder, none if it is missing; None if it is an object."""
        if self.exists(folder):
            return None
        return {name for name, _ in self.listed(folder, recursive=False, missing=True)}

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the objects in a folder, by name."""
        listed = self.listed(folder, recursive=False, missing=True)
        return {name: one.size for name, one in listed if one.type == fs.FileType.File}

    def locked(self, path: str) -> nullcontext[None]:  # noqa: ARG002 - a disk's
        """Hold no lock: stores have none."""
        return nullcontext()

    def draft(self, path: str) -> _Upload:
        """Begin an object."""
        return _Upload(self, path)

    def upload(self, path: str, data: Any) -> None:
        """Write an object with these bytes, all at once."""
        inner = self._inner(path)
        folder, _, name = inner.rpartition("/")
        appears = self._fs.type_name in _APPEARING
        first = inner if appears else f"{folder}/.{name}.{os.getpid()}"
        with asking(path):
            stream = self._fs.open_output_stream(first, compression=None)
            stream.write(data)
            stream.close()
            if not appears:
                self._rename(first, inner)

    def _rename(self, first: str, inner: str) -> None:
        try:
            self._fs.move(first, inner)
        except pa.ArrowNotImplementedError:
            # Azure without hierarchical namespaces moves nothing; a copy appears whole, too.
            self._fs.copy_file(first, inner)
            self._fs.delete_file(first)

    def settle(self, folder: str) -> None:
        """Do nothing: an object survives a failure of this machine from the beginning."""


def _matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether the first names match a pattern; wildcards and folders leave out hidden names."""
    if not pattern:
        return not any(map(_is_hidden, names))
    if not names:
        return False
    first, *rest = pattern
    if first == "**":
        return _matches(names, rest) or (not _is_hidden(names[0]) and _matches(names[1:], pattern))
    is_seen = _is_hidden(first) or not _is_hidden(names[0])
    return is_seen and fnmatchcase(names[0], first) and _matches(names[1:], rest)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


class _Object(io.RawIOBase):
    """An object that is read in ranges.

    Attributes:
        size: in bytes.
    """

    _file: Any = None  # Python also closes a file that failed to open; from 3.14 on it reports an error

    def __init__(self, store: Any, inner: str, path: str) -> None:
        self._path = path
        with asking(path):
            self._file = store.open_input_file(inner)
            self.size: int = self._file.size()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with asking(self._path):
            read: int = self._file.readinto(buffer)
        return read

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with asking(self._path):
            position: int = self._file.seek(offset, whence)
        return position

    def tell(self) -> int:
        position: int = self._file.tell()
        return position

    def close(self) -> None:
        if self._file is not None and not self.closed:
            self._file.close()
        super().close()


class _Upload:
    """A draft on this machine's disk, without a name there: nothing remains of it however the process ends."""

    def __init__(self, store: Store, path: str) -> None:
        self._store, self._path = store, path
        self.file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed by `abandon`
        self._size = 0

    def finish(self) -> int:
        """Return its size."""
        self.file.flush()
        self._size = self.file.tell()
        return self._size

    def publish(self) -> None:
        """Hand it over, replacing an existing object."""
        # One write of everything: a loop could end in its middle, and its output so far would be published. The file is
        # mapped, not read, and unmapped when the last part of it was taken.
        data = mmap.mmap(self.file.fileno(), self._size, access=mmap.ACCESS_READ) if self._size else b""
        self._store.upload(self._path, data)

    def abandon(self) -> None:
        """Remove the temporary file."""
        self.file.close()


Storage = Union[Disk, Store]
Draft = Union[_HiddenFile, _Upload]


# --- waiting ---------------------------------------------------------------------------------------------


def at_once(paths: Iterable[str]) -> int:
    """Return how many questions about some addresses are asked at once."""
    return max((storage_of(path).at_once for path in paths), default=1)


def asked(question: Callable[[One], Said], items: Sequence[One], number: int) -> list[Said]:
    """Return the answers to a question about each item, `number` of them at once."""
    if number == 1 or len(items) < 2:
        return list(map(question, items))
    with ThreadPoolExecutor(min(number, len(items))) as pool:
        return list(pool.map(question, items))


def states(paths: Sequence[str]) -> list[tuple[int, int]]:
    """Return the size of each input and its time of change; zeros where these are unknown."""
    return asked(lambda path: storage_of(path).state(path), paths, at_once(paths))


def opening(inputs: Sequence[tuple[str, int | None]]) -> Generator[Opens | None]:
    """Yield a function that opens each input, to be used before the next; None for inputs on a disk or unopened inputs.

    Args:
        inputs: their addresses, and their sizes when they were found; None for an input that is not opened.
    """
    if not any(is_url(path) for path, _ in inputs):
        yield from [None] * len(inputs)
        return
    pool = ThreadPoolExecutor(_AHEAD)
    waiting: deque[_Opening | None] = deque()
    try:
        for path, size in inputs:
            if size is None or not is_url(path):
                waiting.append(None)
            else:
                waiting.append(_Opening(path, pool if size <= _SMALL else None))
            if len(waiting) == _AHEAD:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        pool.shutdown(cancel_futures=True)


class _Opening:
    """Opens an input. The first time it may be open already, but not when it is read again."""

    def __init__(self, path: str, pool: Executor | None) -> None:
        self._path = path
        self._begun: Future[BinaryIO] | None = pool.submit(self._open) if pool else None

    def __call__(self) -> BinaryIO:
        begun, self._begun = self._begun, None
        if begun is None or begun.cancel():  # it has not begun, and need not wait for its turn
            return self._open()
        return begun.result()

    def _open(self) -> BinaryIO:
        return storage_of(self._path).open(self._path)
