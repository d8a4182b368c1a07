"""The middleware: an application that wraps another one, its input and its output."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from wholecall import Limits, Policy, StreamFault, TextWanted, ToolCallDropped, Tools
from wholecall.asgi.answer import UNREAD, Answer, App, Receive, Scope, Send
from wholecall.asgi.options import DEFAULTS, checked_paths, from_environment
from wholecall.repairing import Repairer, RepairReport, answers
from wholecall.repairing.bodies import most_of_body
from wholecall.repairing.notices import Counters, Exchange, Hearer, Notices
from wholecall.repairing.withholding import Withheld
from wholecall.tools import AnyTools

__all__ = ["RepairMiddleware"]


class RepairMiddleware:
    """An ASGI application that wraps another one, and makes its event streams and JSON bodies with tool calls strict.

    Only answers to a POST to an endpoint for tool calls are changed, with status 200 or 201 and without a
    `content-encoding`: put it inside of any compressing middleware. It has no dependencies, and runs under every ASGI
    server and framework.

    Args:
        app: the application that answers.
        live: whether calls are shown while they arrive, as `live_arguments` of `Repairer`; False by default.
        withheld: how a turn ends whose calls were all withheld, as for `Repairer`; `"auto"` by default.
        tools: the tools that the model was given, as for `Repairer`; only if all requests give the same tools.
        text: calls that the model writes as text, as for `Repairer`; None by default.
        on_dropped: called with each withheld call, and with its `Exchange` if it requires a second argument, or calls
            it `exchange`; it may be asynchronous, as the next two may. Their exceptions go to the application.
        on_fault: called likewise with each fault of the stream.
        on_repaired: called likewise with the `RepairReport` of each changed answer, once it is over.
        counters: adds up the results of all answers.
        policy: how calls are judged.
        limits: bounds of a stream or a body; `Limits.gateway()` by default.
        paths: the ends of the paths of endpoints; by default `/chat/completions`, `/responses`, `/messages`, and of
            Gemini `:generateContent` and `:streamGenerateContent`.

    Options that are None are taken from the environment, for servers that give a middleware no options:
    `WHOLECALL_ASGI_LIVE` (1 or 0), `WHOLECALL_ASGI_WITHHELD`, `WHOLECALL_ASGI_TEXT` (the name of a format),
    `WHOLECALL_ASGI_LIMITS` (`gateway`, `default`, `desktop` or `none`) and `WHOLECALL_ASGI_PATHS` (with commas between
    them).

    Raises:
        TypeError, ValueError, ImportError: an option is not one of its words, also in the environment; or as for
            `Repairer`.
    """

    def __init__(
        self,
        app: App,
        *,
        live: bool | None = None,
        withheld: Withheld | None = None,
        tools: AnyTools | None = None,
        text: TextWanted = None,
        on_dropped: Hearer[ToolCallDropped] | None = None,
        on_fault: Hearer[StreamFault] | None = None,
        on_repaired: Hearer[RepairReport] | None = None,
        counters: Counters | None = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        limits: Limits | None = None,
        paths: Sequence[str] | None = None,
    ) -> None:
        self.app = app
        given = {"live": live, "withheld": withheld, "text": text, "limits": limits, "paths": paths}
        chosen = {**DEFAULTS, **from_environment(os.environ)}
        chosen.update({name: value for name, value in given.items() if value is not None})
        self._paths = checked_paths(chosen["paths"])
        self._limits: Limits = chosen["limits"]
        self._options: dict[str, Any] = {
            "live_arguments": chosen["live"],
            "withheld": chosen["withheld"],
            "text": chosen["text"],
            "tools": tools if tools is None or isinstance(tools, Tools) else Tools[Any](tools),
            "policy": policy,
            "limits": chosen["limits"],
            "on_dropped": on_dropped,
            "on_fault": on_fault,
            "on_repaired": on_repaired,
            "counters": counters,
        }
        Repairer(
            **Notices(self._options, Exchange(id="", method="", url="")).options
        )  # refuses invalid options

    def __repr__(self) -> str:
        return f"<RepairMiddleware {self.app!r}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, and make the answer strict if it may hold tool calls."""
        is_request = scope["type"] == "http"
        if not is_request or not answers.asks_for_calls(scope["method"], scope["path"], self._paths):
            await self.app(scope, receive, send)
            return
        exchange = Exchange(id=uuid.uuid4().hex, method=scope["method"], url=quote(scope["path"]))
        answer = Answer(self._options, exchange, most_of_body(self._limits), receive, send)
        try:
            await self.app(_without_files(scope), answer.receive, answer.send)
        except Exception as error:
            if not answer.was_stopped_by(error):
                await answer.fail()
                raise
        else:
            await answer.close()
        finally:
            await answer.leave()
        if answer.cut is not None:
            raise answer.cut


def _without_files(scope: Scope) -> Scope:
    """Return the scope without the offer to send a file, which would not be read here."""
    offered = scope.get("extensions") or {}
    if UNREAD.isdisjoint(offered):
        return scope
    return {**scope, "extensions": {name: offered[name] for name in offered if name not in UNREAD}}
