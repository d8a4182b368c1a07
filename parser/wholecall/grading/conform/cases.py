"""The cases of the suite as they are on the disk: bytes, sidecars, farewells and packs.

Theory of operation. The folder is data of others as well as ours: each sidecar is checked when it is read, and an error
names the file and the member. Members that are not known are left alone, so that an old runner reads new data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Optional, get_args

import msgspec

from wholecall.errors import WholecallError

Level = Literal["core", "common", "rare", "damage", "hostile", "recovery"]
End = Literal["calls", "calls+error", "refuse", "partial+error"]
Session = Literal["responses-socket", "openai-realtime", "gemini-live"]
Wire = Literal[
    "chat-completions",
    "responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    "ollama",
    "cohere-v2",
    Session,
]
LEVELS: tuple[Level, ...] = get_args(Level)
WIRES: tuple[Wire, ...] = get_args(Wire)
SESSIONS: tuple[Session, ...] = get_args(Session)  # wires of a WebSocket, which nothing here serves

_SIDECAR = ".case.json"
_TYPES = {
    ".sse": "text/event-stream",
    ".ndjson": "application/x-ndjson",
    ".json": "application/json",
    ".bin": "application/vnd.amazon.eventstream",
}


class BadSuite(WholecallError):
    """A folder that is no suite, or a part of it that cannot be read; the message names the file."""


class Call(msgspec.Struct, frozen=True):
    """A call of a case: an expected one, a doubtful one, one that was taken back, or one of the server's.

    Attributes:
        id: the id on the wire, None where the wire has none.
        name: the tool's name.
        arguments: the decoded object.
        arguments_text: the argument text on the wire, None where the wire sends objects.
    """

    id: Optional[str]
    name: str
    arguments: dict[str, Any]
    arguments_text: Optional[str] = None


class Tool(msgspec.Struct, frozen=True):
    """A tool of the request."""

    name: str
    schema: dict[str, Any] = {}


class Request(msgspec.Struct, frozen=True):
    """The request that the answer belongs to."""

    stream: bool = True
    tools: tuple[Tool, ...] = ()
    asked: tuple[str, ...] = ()


class Http(msgspec.Struct, frozen=True):
    """How the answer is sent.

    Attributes:
        status: its HTTP status.
        content_type: its content type.
        ending: `clean`, `reset`, `half`, `idle:Ns` or `no-terminator`; of a session `clean` or `close:N`.
        writes: the cuts under which it is sent: `frame`, `byte`, `whole`, a number of bytes, `seed:N`.
    """

    status: int = 200
    content_type: str = "text/event-stream"
    ending: str = "clean"
    writes: tuple[str, ...] = ("frame",)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case: the bytes that a server sends, and the ends that are right. `INTERPRETING.md` explains each member."""

    schema: Literal[1]
    id: str
    about: str
    wire: Wire
    level: Level
    kind: str = "plain"
    quirks: tuple[int, ...] = ()
    origin: str = "typed"
    licence: str = "CC0-1.0"
    evidence: tuple[str, ...] = ()
    spec: Optional[str] = None
    http: Http = Http()
    request: Request = Request()
    sent: tuple[Call, ...] = ()
    may: tuple[Call, ...] = ()
    retracted: tuple[Call, ...] = ()
    server: tuple[Call, ...] = ()
    accept: tuple[End, ...]
    text: Optional[str] = None
    finish: Optional[str] = None
    usage: Optional[dict[str, Any]] = None
    numbers: Literal["value", "text"] = "value"
    disputed: Optional[str] = None
    data: bytes = b""
    suffix: str = ".sse"

    @property
    def is_session(self) -> bool:
        """Whether its bytes are the messages of a WebSocket, a line each."""
        return self.wire in SESSIONS

    def calls(self) -> Iterator[Call]:
        """Yield every call that the sidecar names, whatever is to become of it."""
        for calls in (self.sent, self.may, self.retracted, self.server):
            yield from calls


class Suite(msgspec.Struct, frozen=True):
    """The folder of a suite.

    Attributes:
        folder: where it is.
        version: the version of its data.
    """

    folder: Path
    version: str

    def cases(
        self, packs: Iterable[str] = (), wires: Iterable[str] = (), only: str | None = None
    ) -> list[Case]:
        """Return cases, sorted by id.

        Args:
            packs: names of packs or levels, of which one must have the case; none for every case.
            wires: names of wires; none for all.
            only: a pattern of a shell (`responses/*`) for the id.

        Raises:
            BadSuite: a file cannot be read, or there is no such pack.
        """
        wanted, on_wires = _wanted(self.folder, packs), frozenset(wires)
        found = []
        for path in sorted((self.folder / "cases").glob(f"*/*{_SIDECAR}")):
            name = f"{path.parent.name}/{path.name.removesuffix(_SIDECAR)}"
            if (on_wires and path.parent.name not in on_wires) or (only and not fnmatchcase(name, only)):
                continue
            case = load_case(path)
            if wanted is None or name in wanted or case.level in wanted:
                found.append(case)
        return found

    def farewell(self, wire: str, *, stream: bool = True) -> tuple[bytes, str]:
        """Return the last answer of a conversation on a wire, and its content type.

        Raises:
            BadSuite: there is none, or it cannot be read.
        """
        suffixes = (".sse", ".ndjson", ".bin", ".json") if stream else (".json", ".sse", ".ndjson", ".bin")
        for suffix in suffixes:
            path = self.folder / "farewells" / f"{wire}{suffix}"
            if path.is_file():
                return _read(path), _TYPES[suffix]
        raise BadSuite(f"{self.folder / 'farewells'}: there is no farewell of {wire}")


def open_suite(folder: str | Path) -> Suite:
    """Return the suite in a folder.

    Raises:
        BadSuite: the folder holds none.
    """
    folder = Path(folder)
    if not (folder / "cases").is_dir():
        raise BadSuite(
            f"{folder}: no suite is here (a folder `cases`); name the folder `conformance` of a copy of the project's "
            "repository with --data"
        )
    return Suite(folder, _read(folder / "VERSION").decode("utf-8", "replace").strip())


def load_case(path: Path) -> Case:
    """Return the case of a sidecar, with its bytes.

    Raises:
        BadSuite: the sidecar or the bytes cannot be read; the message names the file and what is wrong with it.
    """
    stem = path.name.removesuffix(_SIDECAR)
    try:
        case = msgspec.convert(json.loads(_read(path)), Case)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise BadSuite(f"{path}: {error}") from None
    if case.id != f"{path.parent.name}/{stem}":
        raise BadSuite(f"{path}: the id is {case.id!r}, by its place it is {path.parent.name}/{stem}")
    if case.wire != path.parent.name:
        raise BadSuite(f"{path}: the wire is {case.wire!r}, by its place it is {path.parent.name!r}")
    for suffix in _TYPES:
        if (data := path.with_name(stem + suffix)).is_file():
            return msgspec.structs.replace(case, data=_read(data), suffix=suffix)
    raise BadSuite(f"{path}: its bytes are missing: {stem} with one of {', '.join(_TYPES)}")


def packs(folder: Path) -> dict[str, list[str]]:
    """Return the ids of each pack, by its name.

    Raises:
        BadSuite: a pack cannot be read.
    """
    return {path.stem: _ids(path) for path in sorted((folder / "packs").glob("*.txt"))}


def _wanted(folder: Path, names: Iterable[str]) -> frozenset[str] | None:
    """Return ids and levels that packs name, None for everything."""
    listed = [name for name in names if name]
    if not listed or "all" in listed:
        return None
    found, known = set[str](), packs(folder)
    for name in listed:
        if name not in known and name not in LEVELS:
            raise BadSuite(f"there is no pack {name!r}; there are {', '.join(sorted({*known, *LEVELS}))}")
        found.update(known.get(name, [name]))
    return frozenset(found)


def _ids(path: Path) -> list[str]:
    lines = _read(path).decode("utf-8", "replace").split("\n")
    return [name for line in lines if (name := line.partition("#")[0].strip())]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadSuite(f"{path}: {error.strerror}") from None
