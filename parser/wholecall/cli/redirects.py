"""Follow redirects of a server for `record`.

Theory of operation. Headers hold keys, and a key is for one server. A redirect to the same origin (scheme, host, port)
is followed as usual. Another origin is refused unless `--follow` was given. Then it gets none of the given headers,
except those about the form of the body or of the answer. Only http and https are used, whatever a server says.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

__all__ = ["opener"]

_SCHEMES: Final = {"http": 80, "https": 443}
_HARMLESS: Final = frozenset({"accept", "content-type", "user-agent"})


def opener(*, follows: bool) -> urllib.request.OpenerDirector:
    """Return an opener that uses http and https only.

    Args:
        follows: whether redirects to other origins are followed, without the headers that may hold keys.
    """
    director = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(follows=follows),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        director.add_handler(handler)
    return director


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, and carries no key to another server."""

    def __init__(self, *, follows: bool) -> None:
        self._follows = follows

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the next request.

        Raises:
            urllib.error.URLError: the redirect is not allowed.
        """
        there = urlsplit(newurl)
        if there.scheme not in _SCHEMES:
            raise urllib.error.URLError("it redirects to what is neither http nor https")
        is_same = _origin(urlsplit(req.full_url)) == _origin(there)
        if not (is_same or self._follows):
            raise urllib.error.URLError(
                f"it redirects to another server, {there.hostname}; --follow asks that one, without your headers"
            )
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and not is_same:
            kept = {name: value for name, value in following.headers.items() if name.lower() in _HARMLESS}
            following.headers = kept
        return following


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _SCHEMES[url.scheme]
