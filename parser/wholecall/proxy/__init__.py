"""A reverse proxy for model providers that blocks broken tool calls: `wholecall proxy`.

`ProxyApp` is an ASGI 3 application; `serve` runs it. Both need the extra `proxy` once they begin to work.
"""

from __future__ import annotations

from wholecall.proxy.app import ProxyApp
from wholecall.proxy.config import Config, ConfigError
from wholecall.proxy.loading import load_config
from wholecall.proxy.run import serve

__all__ = ["Config", "ConfigError", "ProxyApp", "load_config", "serve"]
