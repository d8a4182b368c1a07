"""The proxy's configuration: where it listens and forwards to, how it repairs, and the upstream of a path.

Theory of operation. A `Config` is frozen, and holds checked values: durations are seconds, None if they are switched
off; sizes are bytes; addresses are split; secrets have been read. `wholecall.proxy.loading` makes a `Config` from a
file, the environment and the command line. A path belongs to the upstream with the longest prefix that it begins with.
If several upstreams have the same prefix, the requested model decides.
"""

from __future__ import annotations

import ipaddress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, Optional
from urllib.parse import unquote

import msgspec

from wholecall import WholecallError
from wholecall.repairing.withholding import Withheld

__all__ = [
    "Address",
    "ClientsConfig",
    "Config",
    "ConfigError",
    "KeyHeader",
    "RecordConfig",
    "RepairConfig",
    "Route",
    "Secret",
    "UpstreamConfig",
]
_private = True

MIB: Final = 1024 * 1024
GIB: Final = 1024 * MIB

KeyHeader = Literal["authorization", "x-api-key", "api-key", "x-goog-api-key"]
ToolsCheck = Literal["off", "names", "schema"]
RecordOnly = Literal["all", "odd"]
PingForm = Literal["event", "comment"]
LogForm = Literal["auto", "json", "text", "off"]

LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")


class ConfigError(WholecallError, ValueError):
    """A configuration that cannot be used; the message has a line for each fault, and says how to correct it.

    Attributes:
        faults: the lines.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class Secret(msgspec.Struct, frozen=True):
    """A key or a token, which no `repr` shows.

    Attributes:
        source: where it was read: `env:NAME` or `file:PATH`.
        value: the content, without surrounding white space.
    """

    source: str
    value: str

    def __repr__(self) -> str:
        return f"Secret({self.source!r})"


class Address(msgspec.Struct, frozen=True):
    """An address to listen at: a host and a port, or a socket of the file system.

    Attributes:
        host: a name or a number, IPv6 without brackets; empty for a socket.
        port: 0 for any free port.
        path: the path of the socket; None if there is a host.
    """

    host: str
    port: int = 0
    path: Optional[str] = None

    def __str__(self) -> str:
        if self.path is not None:
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Return whether only programs of the same machine reach it."""
        return self.path is not None or is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its number or as `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class UpstreamConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A server that requests are passed to.

    Attributes:
        url: `http` or `https`, a host, a port if needed, and a prefix for all paths; without a slash at its end, a
            query or a user.
        name: its name in logs, metrics and errors.
        path: the prefix of the paths that belong to it, such as `/openai`, which is stripped; empty for all others.
        models: patterns such as `gpt-*`; a request's model has to match one of them; empty for all.
        key: replaces the client's credentials; None lets them pass.
        key_header: the header with the key; None for the header that the host is known to use, else `authorization`.
        keep_alive: seconds for which an idle connection is kept; less than the server keeps it.
        insecure: whether plain `http` may leave the private network.
        live: overrides `RepairConfig.live`; None leaves it.
        text: overrides `RepairConfig.text`; None leaves it.
    """

    url: str
    name: str = "upstream"
    path: str = ""
    models: tuple[str, ...] = ()
    key: Optional[Secret] = None
    key_header: Optional[KeyHeader] = None
    keep_alive: float = 4.0
    insecure: bool = False
    live: Optional[bool] = None
    text: Optional[str] = None

    def takes(self, model: str | None) -> bool:
        """Return whether it takes requests for a model; for None the request names no model."""
        return not self.models or (
            model is not None and any(fnmatchcase(model, pattern) for pattern in self.models)
        )


class RepairConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How event streams are repaired.

    Attributes:
        live: whether calls are shown while their arguments arrive.
        withheld: how a turn ends if all of its calls were withheld; see `wholecall.repairing.Repairer`.
        tools: the reference that calls are checked against: nothing, the names of the request's own tools, or their
            schemas too.
        text: a format of calls that the model writes as text, `auto` for all, or `off`.
    """

    live: bool = False
    withheld: Withheld = "auto"
    tools: ToolsCheck = "off"
    text: str = "off"


class ClientsConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The clients that are admitted.

    Attributes:
        tokens: a request has to bring one of them; empty requires none.
        hosts: names that a request may call the proxy by, in lower case, without a port.
        origins: web pages whose scripts may send requests.
    """

    tokens: tuple[Secret, ...] = ()
    hosts: tuple[str, ...] = LOCAL_NAMES
    origins: tuple[str, ...] = ()


class RecordConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The recordings of upstreams' answers, as received.

    Attributes:
        dir: the folder of the recordings; None records nothing.
        only: `all`, or only answers in which something was withheld, mended, lost or faulty.
        max_bytes: the size of all files in the folder; the oldest are removed first. None is no bound.
        requests: whether the body of the request is kept, too.
    """

    dir: Optional[Path] = None
    only: RecordOnly = "all"
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
    """The whole configuration of the proxy; durations are seconds, None if they are switched off.

    Attributes:
        upstreams: at least one.
        listen: the address for clients.
        admin: the address for health and metrics; None for no such listener.
        repair: how event streams are repaired.
        clients: the clients that are admitted.
        record: the recordings.
        ping: silence towards the client, while the upstream speaks, after which it gets a ping; None for never.
        ping_always: whether it gets one also while the upstream is silent.
        ping_form: an event of the dialect, or a comment.
        connect_timeout: time to reach the upstream.
        first_byte_timeout: time from the request to the upstream's headers.
        idle_timeout: silence of the upstream within an answer.
        write_timeout: how long a client may read nothing while data waits for it.
        drain: how long open answers may continue after the proxy was told to stop.
        max_request_bytes: size of a request's body that is read before it is passed on.
        max_held_bytes: size of all bodies held at one time: of requests, and of answers that are judged whole.
        max_streams: simultaneous exchanges, for each worker.
        log: the form of the access log.
        workers: the number of processes.
        ca_bundle: certificates that upstreams are verified by, in place of the system's.
        tls_cert: the certificate for clients; None for plain HTTP.
        tls_key: its key.
        env_proxy: whether `HTTPS_PROXY` and similar variables are obeyed on the way to upstreams.
        no_repair: whether everything passes unchanged, for comparison.
    """

    upstreams: tuple[UpstreamConfig, ...]
    listen: Address = Address("127.0.0.1", 8117)
    admin: Optional[Address] = None
    repair: RepairConfig = RepairConfig()
    clients: ClientsConfig = ClientsConfig()
    record: RecordConfig = RecordConfig()
    ping: Optional[float] = 15.0
    ping_always: bool = False
    ping_form: PingForm = "event"
    connect_timeout: Optional[float] = 10.0
    first_byte_timeout: Optional[float] = 600.0
    idle_timeout: Optional[float] = 300.0
    write_timeout: Optional[float] = 60.0
    drain: float = 30.0
    max_request_bytes: int = 64 * MIB
    max_held_bytes: int = 256 * MIB
    max_streams: int = 1000
    log: LogForm = "auto"
    workers: int = 1
    ca_bundle: Optional[Path] = None
    tls_cert: Optional[Path] = None
    tls_key: Optional[Path] = None
    env_proxy: bool = True
    no_repair: bool = False

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
