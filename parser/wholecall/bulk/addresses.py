"""Parse addresses of inputs and outputs: paths on disks, and URLs of object stores.

Theory of operation. Each input or output of a caller first becomes an *address*. A path stays as it is, `file://`
becomes a path, and any other URL becomes `scheme://host?options/path`: first the *root*, the part needed to connect,
then the path without escapes. Therefore an address begins like its folder and ends with its name, like a path.

Addresses appear in plans, messages and troubles. They hold no credentials: a URL with credentials is refused, and the
message does not repeat it.
"""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, quote, unquote, urlencode
from urllib.request import url2pathname

_private = True

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)
# Schemes where a name before `@` is not a credential: a container, a user of a cluster, the word `anonymous`.
_WITH_NAME = frozenset({"abfs", "abfss", "gcs", "gs", "hdfs", "viewfs"})
_OPTIONS = frozenset(
    {
        *("allow_bucket_creation", "allow_delayed_open", "check_directory_existence_before_creation"),
        *("endpoint_override", "region", "scheme", "smart_defaults", "tls_verify_certificates"),  # s3
        *("project_id", "retry_limit_seconds"),  # gs
        *("blob_storage_authority", "blob_storage_scheme", "dfs_storage_authority", "dfs_storage_scheme"),
        *("client_id", "credential_kind", "enable_tls", "tenant_id"),  # abfs
        *("buffer_size", "default_block_size", "replication"),  # hdfs
    }
)
_NO_CREDENTIALS = (
    "a URL may hold no credentials: leave them where the store's own tools look for them (docs/bulk.md)"
)


def is_url(path: str) -> bool:
    """Return whether a path, or an address, belongs to a store."""
    return "://" in path and _URL.match(path) is not None


def address(path: str) -> str:
    """Return the address of a path or URL.

    Raises:
        ValueError: the URL has credentials, or unknown options.
    """
    found = _URL.fullmatch(path) if is_url(path) else None
    if found is None:
        return path
    scheme, host, below, query = found[1].lower(), found[2], unquote(found[3]), found[4] or ""
    if scheme == "file":
        return url2pathname(below)
    name, at, _ = host.rpartition("@")
    if at and (":" in name or scheme not in _WITH_NAME):
        raise ValueError(_NO_CREDENTIALS)
    options = parse_qsl(query, keep_blank_values=True)
    if not _OPTIONS.issuperset(key for key, _ in options):
        raise ValueError(f"{_NO_CREDENTIALS}; options may be {', '.join(sorted(_OPTIONS))}")
    said = f"?{urlencode(options, quote_via=quote, safe='')}" if options else ""
    return joined(f"{scheme}://{host}{said}", *filter(None, below.split("/")))


def root_of(url: str) -> tuple[str, str]:
    """Return the two halves of the address of a store: its root, and the path below it."""
    scheme, _, rest = url.partition("://")
    host, _, below = rest.partition("/")
    return f"{scheme}://{host}", below


def joined(folder: str, *names: str) -> str:
    """Return the address of an entry in a folder."""
    if not is_url(folder):
        return os.path.join(folder, *names)  # noqa: PTH118 - paths are texts here, as they are many
    return "/".join((folder, *names))


def folder_of(url: str) -> str:
    """Return the address of the folder that holds an address in a store."""
    root, below = root_of(url)
    return joined(root, *below.split("/")[:-1])


def shown(url: str) -> str:
    """Return an address for display, without options; a path stays as it is."""
    if not is_url(url):
        return url
    root, below = root_of(url)
    return f"{root.partition('?')[0]}/{below}" if below else root.partition("?")[0]
