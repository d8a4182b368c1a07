"""The sockets that the proxy listens on."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from wholecall import WholecallError
from wholecall.proxy.config import Address

__all__ = ["CannotListenError", "bound", "close_all"]
_private = True

_BACKLOG = 2048


class CannotListenError(WholecallError, OSError):
    """Nothing can listen at an address; the message says where and why."""


def bound(address: Address, *, is_shared: bool = False) -> list[socket.socket]:
    """Return sockets that listen at an address, one for each number that its name has.

    Args:
        address: the address.
        is_shared: whether other processes may listen there, too, and get their share of the connections.

    Raises:
        CannotListenError: it is taken, or is not an address of this machine.
    """
    sockets: list[socket.socket] = []
    try:
        if address.path is not None:
            sockets.append(_unix(Path(address.path)))
            return sockets
        port = address.port
        for family, sockaddr in _numbers(address):
            one = _inet(family, (sockaddr[0], port, *sockaddr[2:]), is_shared=is_shared)
            sockets.append(one)
            port = one.getsockname()[1]  # the same for all of them
    except OSError as error:
        close_all(sockets)
        raise CannotListenError(f"{address}: {error.strerror or error}") from None
    return sockets


def close_all(sockets: Iterable[socket.socket]) -> None:
    """Close sockets, and remove their files."""
    for one in sockets:
        path = (
            one.getsockname()
            if one.family == getattr(socket, "AF_UNIX", None) and one.fileno() >= 0
            else None
        )
        one.close()
        if path:
            with suppress(OSError):
                Path(path).unlink()


def _numbers(address: Address) -> list[tuple[int, tuple[object, ...]]]:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    unique = {(family, sockaddr): None for family, _, _, _, sockaddr in found}
    return [(int(family), tuple(sockaddr)) for family, sockaddr in unique]


def _inet(family: int, sockaddr: tuple[object, ...], *, is_shared: bool) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(sockaddr)
        one.listen(_BACKLOG)
        one.setblocking(False)
    except OSError:
        one.close()
        raise
    return one


def _unix(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        one.bind(str(path))
        one.listen(_BACKLOG)
        one.setblocking(False)
    except OSError:
        one.close()
        raise
    return one


def _remove_stale(path: Path) -> None:
    """Remove the socket of a process that is gone."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return  # another program's file: it stays, and `bind` reports it
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
