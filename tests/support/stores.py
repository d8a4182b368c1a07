"""Stores under test: the content of a store, and the upload of a folder."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from pyarrow import fs

from wholecall.bulk.addresses import address
from wholecall.bulk.storage import located

_NUMBERS = count()


def new_store() -> str:
    """Return the URL of a store in this process's memory, which shows objects while they are written."""
    return f"mock://store-{next(_NUMBERS)}"


def put(url: str, data: bytes) -> None:
    """Write an object."""
    store, inner = located(address(url))
    if store.type_name == "mock":
        store.create_dir(inner.rpartition("/")[0], recursive=True)
    with store.open_output_stream(inner, compression=None) as stream:
        stream.write(data)


def copied(folder: Path, url: str) -> str:
    """Copy a folder into a store, and return its URL there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            put(f"{url}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    return url


def objects(url: str, *, hidden: bool = True) -> dict[str, bytes]:
    """Return the objects below a URL, by their paths there."""
    store, inner = located(address(url))
    listed = store.get_file_info(fs.FileSelector(inner, recursive=True, allow_not_found=True))
    found = {one.path.removeprefix(inner).lstrip("/"): one for one in listed if one.type == fs.FileType.File}
    names = [name for name in found if hidden or not Path(name).name.startswith(".")]
    return {name: store.open_input_file(found[name].path).read() for name in sorted(names)}
