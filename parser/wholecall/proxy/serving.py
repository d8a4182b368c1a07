"""The way to the server, which needs libraries of an extra: they are imported when it is to run."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from wholecall.proxy.config import Config

__all__ = ["serve"]
_private = True


def serve(config: Config, load: Callable[[], Config] | None = None) -> int:
    """Run the proxy until a signal stops it; return the exit status: 0, or 3 if it cannot listen.

    SIGTERM and SIGINT stop it, the second one at once; SIGHUP has it read the configuration again. It has to be
    called in the main thread.

    Args:
        config: what to do.
        load: reads the configuration again, and raises `ConfigError` where it cannot be used; None where it cannot
            change.

    Raises:
        ImportError: the extra is not installed; `pip install wholecall[proxy]` brings it.
        OSError: the folder for recordings cannot be written.
    """
    import_module("aiohttp")  # it would be missed with the first request only
    from wholecall.proxy import run, workers  # noqa: PLC0415 - an extra

    return run.serve(config, load, workers.supervise if config.workers > 1 else None)
