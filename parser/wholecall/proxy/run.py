"""Run the proxy; its libraries, which come with an extra, are imported at the call."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from wholecall.proxy.config import Config

_private = True


def serve(config: Config, load: Callable[[], Config] | None = None) -> int:
    """Run the proxy until a signal stops it; return the exit status: 0, or 3 if it cannot listen.

    SIGTERM and SIGINT stop it, a second signal at once; SIGHUP reloads the configuration. It has to be called in the
    main thread.

    Args:
        config: the configuration.
        load: reads the configuration again, and raises `ConfigError` if it cannot be used; None if it cannot change.

    Raises:
        ImportError: the extra is not installed; `pip install wholecall[proxy]` brings it.
        OSError: the folder for recordings cannot be written.
    """
    import_module("aiohttp")  # otherwise its absence shows only at the first request
    from wholecall.proxy import process, workers  # noqa: PLC0415 - an extra

    return process.serve(config, load, workers.supervise if config.workers > 1 else None)
