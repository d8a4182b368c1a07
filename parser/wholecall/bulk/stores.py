"""Object stores, as places where a scan reads and writes: through `pyarrow.fs`, or through fsspec.

Theory of operation. An object is read in ranges, large enough that waiting for each costs little, and never held whole.
It has no name before it is whole: a draft is a temporary file on this machine's disk, which is handed over in one
write. Closing a stream after an exception would publish the partial content; therefore a stream is closed only after
all of it was taken.

Where a stream's partial content is visible before it is closed, the object gets a hidden name first, and is then moved.

Only the code of a store's answer is reported (`ACCESS_DENIED`): its messages may hold anything. An object that is
missing or unreadable is an `OSError`; any other error is `StoreFailed`.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import re
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO, cast

import pyarrow as pa
from pyarrow import fs

from wholecall.bulk.addresses import root_of, shown
from wholecall.bulk.faults import StoreFailed, is_ours
from wholecall.bulk.listing import find, state_of
from wholecall.bulk.place import Input
from wholecall.recordings.source import PIECE

__all__ = ["Store", "asking", "located"]
_private = True

# Bytes of one request, of an object that is read from its beginning: whole pieces, as files come from disks.
_RANGE = 64 * PIECE
_CODE = re.compile(r"AWS Error (\w+)|Status\((\w+)|Azure Error: \[(\w+)")
_DENIED = frozenset({"ACCESS_DENIED", "INVALID_OBJECT_STATE", "PERMISSION_DENIED"})
# Stores whose objects appear when their stream is closed, as tested with failures at each step; and stores without
# folders to create.
_APPEARING = frozenset({"s3"})
_FOLDERLESS = frozenset({"s3", "gcs", "abfs"})


@contextmanager
def asking(path: str) -> Generator[None]:
    """Translate a store's errors about an object.

    Raises:
        OSError: the object is missing, or may not be read.
        StoreFailed: anything else.
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
        said = _CODE.search(str(error))
        code = next(filter(None, said.groups()), None) if said else None
        if code in _DENIED:
            raise PermissionError(errno.EACCES, f"the store answers {code}", shown(path)) from None
        known = (
            os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        )
        raise StoreFailed(f"{shown(root_of(path)[0])}: the store answers {code or known}") from None


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


def located(path: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it.

    Raises:
        ValueError: there is no such kind of store.
        StoreFailed: the store cannot be asked.
    """
    root, below = root_of(path)
    store, base = _connected(root)
    if not below:
        return store, base.rstrip("/") or base
    return store, f"{base}{'/' if base and not base.endswith('/') else ''}{below}"


def _by_fsspec(url: str) -> tuple[Any, str] | None:
    try:
        fsspec: Any = import_module("fsspec.core")
        store, base = fsspec.url_to_fs(url)
    except (ImportError, ValueError):
        return None
    return fs.PyFileSystem(fs.FSSpecHandler(store)), base


class Store:
    """A store: a bucket, a container, a cluster.

    Args:
        root: the root of its addresses.
    """

    at_once = 32

    def __init__(self, root: str) -> None:
        self._fs, _ = located(root)

    def _inner(self, path: str) -> str:
        return located(path)[1]

    # Inputs.

    def find(self, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
        """Return the base folder of an address or pattern, and its objects."""
        return find(self, path, suffixes)

    def info(self, path: str) -> Any:
        """Return the `pyarrow.fs` information on an address."""
        with asking(path):
            return self._fs.get_file_info(self._inner(path))

    def listed(self, folder: str, *, recursive: bool, missing: bool = False) -> list[tuple[str, Any]]:
        """Return the objects and folders in a folder: each path below it with its information.

        Raises:
            FileNotFoundError: there is no such folder, unless it may be missing.
        """
        inner = self._inner(folder)
        with asking(folder):
            found = self._fs.get_file_info(
                fs.FileSelector(inner, allow_not_found=missing, recursive=recursive)
            )
        return [(one.path.removeprefix(inner).lstrip("/"), one) for one in found]

    def state(self, path: str) -> tuple[int, int]:
        """Return the size of an object and its time of change; zeros where these are unknown."""
        try:
            return state_of(self.info(path))
        except OSError:
            return 0, 0

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Open an object whose first bytes are already here."""
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
        """Open an object for Arrow."""
        return pa.PythonFile(_Object(self._fs, self._inner(path), path), mode="r")

    def mapped(self, path: str) -> Any:
        """Open an object for Arrow: it cannot be mapped."""
        return self.ranges(path)

    # Outputs.

    def exists(self, path: str) -> bool:
        """Return whether an object exists."""
        return bool(self.info(path).type == fs.FileType.File)

    def entries(self, folder: str) -> set[str] | None:
        """Return the entries of a folder, none if it is missing; None if it is an object."""
        if self.exists(folder):
            return None
        return {name for name, _ in self.listed(folder, recursive=False, missing=True)}

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the objects in a folder, by name."""
        listed = self.listed(folder, recursive=False, missing=True)
        return {name: one.size for name, one in listed if one.type == fs.FileType.File}

    def make(self, folders: Iterable[str]) -> None:
        """Create folders, where a store has any."""
        if self._fs.type_name not in _FOLDERLESS:
            for folder in folders:
                with asking(folder):
                    self._fs.create_dir(self._inner(folder), recursive=True)

    def locked(self, path: str) -> nullcontext[None]:  # noqa: ARG002 - a place's
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
        except (
            pa.ArrowNotImplementedError
        ):  # Azure without hierarchical namespaces; a copy appears whole, too
            self._fs.copy_file(first, inner)
            self._fs.delete_file(first)

    def remove(self, path: str) -> None:
        """Remove an object, if it exists."""
        with suppress(FileNotFoundError), asking(path):
            self._fs.delete_file(self._inner(path))

    def settle(self, folder: str) -> None:
        """Do nothing: an object survives a failure of this machine from the beginning."""


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
        self.file.flush()
        self._size = self.file.tell()
        return self._size

    def publish(self) -> None:
        # One write of everything: a loop could end in its middle, and its output so far would be published. The file is
        # mapped, not read, and unmapped when the last part of it was taken.
        data = mmap.mmap(self.file.fileno(), self._size, access=mmap.ACCESS_READ) if self._size else b""
        self._store.upload(self._path, data)

    def abandon(self) -> None:
        self.file.close()
