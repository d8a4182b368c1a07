"""Exchanges that are translated: which request is, its question for the upstream, and the translator of its answer.

Theory of operation. An upstream with a `wire` other than the one that the proxy serves is asked in its own words. The
endpoint of calls and the list of models are translated. A path of the upstream's own wire passes as ever; so does a
`HEAD`, by which clients look for a server. All else is refused, because the upstream would not know it: counting tokens,
files, batches. The query of a translated request stays here.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, Optional

import msgspec

from wholecall.proxy.config import Config, Route
from wholecall.proxy.errors import Refusal
from wholecall.proxy.wire import Headers
from wholecall.repairing.answers import asks_for_calls, dialect_of
from wholecall.repairing.translation.answers import AnswerTranslator
from wholecall.repairing.translation.reading import Untranslatable
from wholecall.repairing.translation.requests import WIRES, translate_request

_private = True

LEFT_OUT: Final = b"x-wholecall-left-out"
_MOST_SAID: Final = 2048  # characters of the header
_MODELS: Final = re.compile(r"/models(?:/[^/]+)?/?\Z")
_VERSION: Final = re.compile(r"/v\d+[a-z0-9]*(?=/|\Z)")


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """How one exchange is translated.

    Attributes:
        server: the wire of the upstream.
        client: the wire of the client.
        asks: whether for calls, or for the list of models.
        path: the end of the upstream's path.
        body: the request for the upstream; None for the list of models.
        left_out: the paths of members that were left out.
        model: the model that is asked for.
        stream: whether the client asked for a stream.
        usage: whether it wants the token counts of a stream.
    """

    server: str
    client: str
    asks: Literal["calls", "models"]
    path: str
    body: Optional[bytes] = None
    left_out: tuple[str, ...] = ()
    model: str = ""
    stream: bool = False
    usage: bool = True

    def __repr__(self) -> str:
        return f"<Translation from {self.server} to {self.client}>"

    def without(self, wish: str) -> Translation:
        """Return the translation of a request with one more wish that is left out."""
        return msgspec.structs.replace(self, left_out=(*self.left_out, wish))

    def url(self, base: str) -> str:
        """Return the URL that is asked: `/v1` is added, unless the upstream's URL has a version."""
        version = "" if _VERSION.search(base.partition("://")[2]) else "/v1"
        return f"{base.rstrip('/')}{version}{self.path}"

    def translator(self, options: dict[str, Any], *, id: str, created: float) -> AnswerTranslator:
        """Return the translator of the answer.

        Args:
            options: those that it shares with the repairer.
            id: the id of an answer whose upstream gives none.
            created: when the exchange began, in seconds since 1970.
        """
        return AnswerTranslator(
            self.server,
            self.client,
            stream=self.stream,
            usage=self.usage,
            id=id,
            model=self.model,
            created=int(created),
            **options,
        )

    @property
    def note(self) -> tuple[bytes, bytes] | None:
        """The header that tells the client which members were left out; None if none was."""
        if not self.left_out:
            return None
        return LEFT_OUT, ", ".join(self.left_out)[:_MOST_SAID].encode()


def translation_of(config: Config, route: Route, method: str, path: str, body: object) -> Translation | None:
    """Return how a request is translated; None if it is not.

    Args:
        config: the configuration.
        route: where the request goes.
        method: in capitals.
        path: of the request, without its query.
        body: its bytes, if they were read.

    Raises:
        Refusal: it would have to be translated, and cannot be.
    """
    client, server = config.serve, route.upstream.wire
    if client is None or server is None or client == server or method == "HEAD":
        return None
    asked = dialect_of(path) if asks_for_calls(method, path) else None
    if asked == server:
        return None
    if asked == client:
        return _of_calls(client, server, body)
    models = _MODELS.search(path)
    if method == "GET" and models is not None:
        return Translation(server=server, client=client, asks="models", path=models[0].rstrip("/"))
    raise Refusal(
        404,
        "not_translated",
        f"the upstream speaks {server}, and this request of {client} has no equal there",
    )


def _of_calls(client: str, server: str, body: object) -> Translation:
    if not isinstance(body, bytes):
        raise Refusal(400, "untranslatable", "the request has no body that can be read")
    try:
        said = translate_request(body, client, server)
    except Untranslatable as error:
        raise Refusal(400, "untranslatable", str(error)) from None
    return Translation(
        server=server,
        client=client,
        asks="calls",
        path=WIRES[server].endpoint,
        body=said.body,
        left_out=said.left_out,
        model=said.model,
        stream=said.is_stream,
        usage=said.wants_usage,
    )


def headers_for(headers: Headers, server: str, *, has_key: bool) -> Headers:
    """Return the headers of a translated request: those of the client's wire stay here, and its key changes its place.

    Args:
        headers: for an upstream of the client's wire.
        server: the wire of the upstream.
        has_key: whether the upstream has a key of its own, which is in the headers already.
    """
    foreign = (b"openai-",) if server == "anthropic" else (b"anthropic-",)
    kept = [pair for pair in headers if not pair[0].startswith(foreign) and pair[0] != b"content-type"]
    kept.append((b"content-type", b"application/json"))
    if server == "anthropic" and all(name != b"anthropic-version" for name, _ in kept):
        kept.append((b"anthropic-version", b"2023-06-01"))
    return kept if has_key else _moved(kept, server)


def _moved(headers: Headers, server: str) -> Headers:
    """Return headers with the key where the upstream expects it; one that is there already stays."""
    source, target = (b"authorization", b"x-api-key")
    if server != "anthropic":
        source, target = target, source
    keys = {name: value for name, value in headers if name in (source, target)}
    rest = [pair for pair in headers if pair[0] not in (source, target)]
    if target in keys or source not in keys:
        return rest + ([(target, keys[target])] if target in keys else [])
    bare = re.sub(rb"\A\s*bearer\s+", b"", keys[source], flags=re.IGNORECASE).strip()
    return [*rest, (target, bare if server == "anthropic" else b"Bearer " + bare)]
