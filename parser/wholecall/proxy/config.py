"""The proxy's settings: one table of all keys, and the upstream of a path.

Theory of operation. The Structs below are the table. A field is a key of the file, a variable of the environment and
perhaps an option of the command. Its type says how it is read, its default holds where nothing is given, and its line
in the docstring describes it. `Key` has the rest::

    ping: Annotated[Optional[float], Key("--ping SECONDS")] = 15.0

`wholecall.proxy.loading` reads the file, the environment and the command line by the table, `wholecall.cli.proxy` makes
the options and their help from it, and the table of docs/proxy.md is a copy. A `Config` holds checked values: durations
are seconds, None if they are switched off; sizes are bytes; addresses are split; secrets have been read.

A path belongs to the upstream with the longest prefix that it begins with. If several upstreams have the same prefix,
the requested model decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Optional, get_args, get_origin, get_type_hints
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec.structs import fields

from wholecall import WholecallError
from wholecall.proxy import values
from wholecall.proxy.values import Address, Reader, Secret

_private = True

MIB: Final = 1024 * 1024
GIB: Final = 1024 * MIB
LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")

KeyHeader = Literal["authorization", "x-api-key", "api-key", "x-goog-api-key"]
LogForm = Literal["auto", "json", "text", "off"]
PingForm = Literal["event", "comment"]
RecordOnly = Literal["all", "odd"]
ToolsCheck = Literal["off", "names", "schema"]
# As `Repairer` has it, which takes long to import for the options of the command.
Withheld = Literal["auto", "error", "end"]

# The headers in which hosts expect a key, if not in `authorization`.
_KEY_HEADERS: Final[tuple[tuple[str, KeyHeader], ...]] = (
    ("api.anthropic.com", "x-api-key"),
    (".openai.azure.com", "api-key"),
)


class ConfigError(WholecallError, ValueError):
    """A configuration that cannot be used; the message has a line for each fault, and says how to correct it.

    Attributes:
        faults: the lines.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


# The table.


class Key(NamedTuple):
    """The properties of a setting that its field alone does not have.

    Attributes:
        option: the option that sets it, with a name for its value: `--ping SECONDS`; empty for none.
        read: how a value is read; None as its type says.
        default: the default in words, where the value does not tell.
    """

    option: str = ""
    read: Optional[Reader] = None
    default: str = ""


class UpstreamConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A server that requests are passed to.

    Attributes:
        url: `http` or `https`, with a prefix for all paths if there is one.
        name: in logs, metrics and errors.
        path: the paths that belong to it.
        models: the models that belong to it, as patterns.
        key: takes the place of the client's credentials: `"env:NAME"` or `"file:PATH"`.
        key_header: the header for the key: `"authorization"`, `"x-api-key"`, `"api-key"`, `"x-goog-api-key"`.
        keep_alive: seconds for which an idle connection is kept; below the server's own value, which for vLLM is 5.
        insecure: allow plain `http` to other than private addresses.
        wire: the API that it speaks, if the proxy `serve`s another: `"anthropic"`, `"chat-completions"`, `"responses"`.
    """

    url: Annotated[str, Key(read=values.URL)]
    name: Annotated[str, Key(read=values.NAME, default="the host")] = "upstream"
    path: Annotated[str, Key(read=values.PREFIX)] = ""
    models: Annotated[tuple[str, ...], Key(read=values.MODELS)] = ()
    key: Optional[Secret] = None
    key_header: Annotated[Optional[KeyHeader], Key(default="by the host")] = None
    keep_alive: float = 4.0
    insecure: bool = False
    live: Annotated[Optional[bool], Key(default="as `repair.live`")] = None
    text: Annotated[Optional[str], Key(read=values.TEXT_FORMAT, default="as `repair.text`")] = None
    wire: Annotated[Optional[str], Key(read=values.WIRE)] = None

    @property
    def credential_header(self) -> KeyHeader:
        """The header in which it gets its key."""
        host = urlsplit(self.url).hostname or ""
        usual: list[KeyHeader] = [header for end, header in _KEY_HEADERS if host.endswith(end)]
        otherwise: KeyHeader = "x-api-key" if self.wire == "anthropic" else "authorization"
        return self.key_header or (usual[0] if usual else otherwise)

    def takes(self, model: str | None) -> bool:
        """Return whether it takes requests for a model; for None the request names no model."""
        return not self.models or (
            model is not None and any(fnmatchcase(model, pattern) for pattern in self.models)
        )


class RepairConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How event streams are repaired.

    Attributes:
        live: show calls while their arguments arrive.
        withheld: how a turn ends that lost all its calls: `"auto"`, `"error"`, `"end"`.
        tools: check calls against the request's own tools: their `"names"`, or their `"schema"` too (extra `schema`).
        text: read calls that the model writes as text: a format, or `"auto"`.
    """

    live: Annotated[bool, Key("--live")] = False
    withheld: Annotated[Withheld, Key("--withheld END")] = "auto"
    tools: Annotated[ToolsCheck, Key("--tools CHECK")] = "off"
    text: Annotated[str, Key("--text FORMAT", read=values.TEXT_FORMAT)] = "off"


class ClientsConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The clients that are admitted.

    Attributes:
        tokens: tokens, one of which a request must bring: `"env:NAME"` or `"file:PATH"`, several with white space
            between.
        hosts: names by which clients may call the proxy.
        origins: web pages that may ask; all others get 403.
    """

    tokens: Annotated[tuple[Secret, ...], Key(default="none")] = ()
    hosts: Annotated[tuple[str, ...], Key("--host NAME", read=values.HOSTS)] = LOCAL_NAMES
    origins: Annotated[tuple[str, ...], Key(read=values.ORIGINS)] = ()


class RecordConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The recordings of upstreams' answers, as received.

    Attributes:
        dir: the folder for a recording of each answer, before repair.
        only: `"all"`, or `"odd"`: answers with something withheld, mended, lost or faulty.
        max_bytes: bytes of the folder; the oldest go first; `"off"` for no bound.
        requests: keep the body of the request, too.
    """

    dir: Annotated[Optional[Path], Key("--record DIR")] = None
    only: Annotated[RecordOnly, Key("--record-only WHICH")] = "all"
    max_bytes: Optional[int] = GIB
    requests: bool = False


class Route(msgspec.Struct, frozen=True):
    """The destination of a request.

    Attributes:
        upstream: the upstream that gets it.
        rest: the path without the upstream's own prefix; empty, or with a slash at its beginning.
    """

    upstream: UpstreamConfig
    rest: str

    def url(self, query: str = "") -> str:
        """Return the whole URL, with the path and the query as received."""
        base = self.upstream.url
        has_path = self.rest or base.count("/") > 2
        return f"{base}{self.rest if has_path else '/'}{'?' if query else ''}{query}"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole configuration of the proxy.

    Attributes:
        upstreams: at least one; in the file `[[upstream]]`.
        listen: the address for clients: `HOST:PORT`, `[::1]:PORT` or `unix:PATH`.
        admin: the address of health and metrics; never the clients' address.
        ping: seconds after which a client gets a sign of life; `"off"` for never.
        ping_always: also while the upstream is silent.
        ping_form: `"event"` or `"comment"`.
        connect_timeout: seconds to reach the upstream, or `"off"`.
        first_byte_timeout: seconds from the request to the upstream's headers, or `"off"`.
        idle_timeout: seconds of silence within an answer, or `"off"`.
        write_timeout: seconds in which a client reads nothing, or `"off"`.
        drain: seconds that open answers have after a stop signal.
        max_request_bytes: bytes of a request body that is read.
        max_message_bytes: bytes of a message of a WebSocket, in either direction.
        max_held_bytes: bytes of all bodies held at one time, for each worker: of requests until the upstream answers,
            of answers that are judged whole; above it 503.
        max_streams: requests and WebSockets at one time, for each worker; above it 503.
        log: the access log, on standard error: `"json"`, `"text"` for people, `"off"`; `"auto"` is text on a terminal,
            and JSON elsewhere.
        workers: processes; each uses one core.
        ca_bundle: certificates that verify upstreams, in place of the system's.
        tls_cert: a certificate for clients, for one machine; for several put TLS in front.
        tls_key: the key of `tls_cert`.
        env_proxy: obey `HTTPS_PROXY` and similar variables.
        no_repair: pass everything unchanged, for comparison.
        telemetry: tell [OpenTelemetry](telemetry.md) of withheld calls and mended answers (extra `otel`).
        serve: the API that clients speak; upstreams that speak another are asked in theirs.
        repair: how event streams are repaired.
        clients: the clients that are admitted.
        record: the recordings of upstreams' answers.
    """

    upstreams: tuple[UpstreamConfig, ...]
    listen: Annotated[Address, Key("--listen ADDRESS")] = Address("127.0.0.1", 8117)
    admin: Annotated[Optional[Address], Key("--admin ADDRESS")] = None
    ping: Annotated[Optional[float], Key("--ping SECONDS")] = 15.0
    ping_always: bool = False
    ping_form: PingForm = "event"
    connect_timeout: Annotated[Optional[float], Key("--connect-timeout SECONDS")] = 10.0
    first_byte_timeout: Annotated[Optional[float], Key("--first-byte-timeout SECONDS")] = 600.0
    idle_timeout: Annotated[Optional[float], Key("--idle-timeout SECONDS")] = 300.0
    write_timeout: Optional[float] = 60.0
    drain: Annotated[float, Key("--drain SECONDS")] = 30.0
    max_request_bytes: Annotated[int, Key("--max-request-bytes N")] = 64 * MIB
    max_message_bytes: int = 16 * MIB
    max_held_bytes: int = 256 * MIB
    max_streams: Annotated[int, Key("--max-streams N")] = 1000
    log: Annotated[LogForm, Key("--log FORM")] = "auto"
    workers: Annotated[int, Key("--workers N")] = 1
    ca_bundle: Annotated[Optional[Path], Key("--ca-bundle FILE")] = None
    tls_cert: Annotated[Optional[Path], Key("--tls-cert FILE")] = None
    tls_key: Annotated[Optional[Path], Key("--tls-key FILE")] = None
    env_proxy: Annotated[bool, Key("--no-env-proxy")] = True
    no_repair: Annotated[bool, Key("--no-repair")] = False
    telemetry: bool = False
    serve: Annotated[Optional[str], Key("--serve WIRE", read=values.WIRE)] = None
    repair: RepairConfig = RepairConfig()
    clients: ClientsConfig = ClientsConfig()
    record: RecordConfig = RecordConfig()

    def route(self, path: str, model: str | None = None) -> Route | None:
        """Return where a request goes, None if no upstream takes it.

        Args:
            path: the path of the request, as received, without its query.
            model: the requested model; None if the request names none, or the body was not read.
        """
        if not path.startswith("/"):
            return None  # `*`, or a whole URL
        found = [upstream for upstream in self.upstreams_in_order() if begins(path, upstream.path)]
        chosen = next((upstream for upstream in found if upstream.takes(model)), None)
        if chosen is None and model is None and found:
            chosen = found[0]  # a list of models, a file: requests that do not depend on a model
        if chosen is None:
            return None
        rest = path.split("/")[chosen.path.count("/") + 1 :]
        return Route(chosen, "".join(f"/{segment}" for segment in rest))

    def asks_for_model(self, path: str) -> bool:
        """Return whether the model of a request influences where it goes."""
        return any(upstream.models and begins(path, upstream.path) for upstream in self.upstreams)

    def repair_for(self, upstream: UpstreamConfig) -> RepairConfig:
        """Return how the streams of an upstream are repaired."""
        changes = {name: getattr(upstream, name) for name in ("live", "text")}
        chosen = {name: value for name, value in changes.items() if value is not None}
        return msgspec.structs.replace(self.repair, **chosen) if chosen else self.repair

    def upstreams_in_order(self) -> list[UpstreamConfig]:
        """Return the upstreams, longest prefix first; of one prefix, those for some models before those for all."""
        return sorted(self.upstreams, key=lambda upstream: (-len(upstream.path), not upstream.models))


def begins(path: str, prefix: str) -> bool:
    """Return whether a path lies below a prefix, ignoring case, escapes and parameters (`;v=1`) of its segments."""
    segments = [unquote(segment.partition(";")[0]).lower() for segment in path.split("/")]
    wanted = prefix.lower().split("/")
    return segments[: len(wanted)] == wanted


# The rows of the table.


class Setting(NamedTuple):
    """A row of the table.

    Attributes:
        name: the key in the file, after the name of its section: `repair.live`.
        key: its properties.
        reader: how its value is read.
        default: its value if nothing gives another one; `msgspec.NODEFAULT` for none.
        description: a sentence in Markdown, without its end.
    """

    name: str
    key: Key
    reader: Reader
    default: Any
    description: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"WHOLECALL_PROXY_{self.name.upper().replace('.', '_')}"

    @property
    def option(self) -> str:
        """The option that sets it; where there is none, a name for messages."""
        return self.key.option.partition(" ")[0] or "--" + self.name.replace(".", "-").replace("_", "-")


_TABLES: Final[Mapping[str, type[msgspec.Struct]]] = {
    "repair": RepairConfig,
    "clients": ClientsConfig,
    "record": RecordConfig,
}
_LINE: Final = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)\.$", re.MULTILINE)  # of a docstring's `Attributes`


def _rows(struct: type[msgspec.Struct], section: str = "") -> dict[str, Setting]:
    """Return the settings of a Struct, by their names within its section."""
    described = dict(_LINE.findall(getdoc(struct) or ""))  # `python -OO` has neither docstrings nor this help
    hints = get_type_hints(struct, include_extras=True)
    rows: dict[str, Setting] = {}
    for field in fields(struct):
        if field.name == "upstreams" or field.name in _TABLES:
            continue
        hint = hints[field.name]
        kind, key = get_args(hint) if get_origin(hint) is Annotated else (hint, Key())
        text = re.sub(r"\s+", " ", described.get(field.name, ""))
        reader = key.read or values.reader_of(kind)
        rows[field.name] = Setting(section + field.name, key, reader, field.default, text)
    return rows


SECTIONS: Final[Mapping[str, Mapping[str, Setting]]] = {
    "": _rows(Config),
    **{section: _rows(struct, f"{section}.") for section, struct in _TABLES.items()},
}
KEYS: Final[Mapping[str, Setting]] = {row.name: row for rows in SECTIONS.values() for row in rows.values()}
UPSTREAM: Final[Mapping[str, Setting]] = _rows(UpstreamConfig, "upstream.")
