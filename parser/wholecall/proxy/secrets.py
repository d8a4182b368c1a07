"""Keys and tokens: fetched from the environment or a file, and refused if they are too weak.

No message has a part of a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from wholecall.proxy.config import Secret

__all__ = ["fetched", "single", "split"]
_private = True

_MOST_BYTES: Final = 64 * 1024
_LEAST_CHARS: Final = 16
_LEAST_VARIETY: Final = 8  # different characters; of 16 random hexadecimal digits some 10 differ
# Words of examples, of other gateways' pages, and of unfilled templates: they do not count.
_KNOWN: Final = re.compile(
    r"your|change|example|placeholder|replace|required|needed|dummy|secret|password|master|litellm|wholecall"
    r"|tokens?|clients?|api|keys?|here|this|with|0?123456789?|abcdef(ghij)?|(.)\2{3,}",
    re.IGNORECASE,
)


def fetched(source: str, environ: Mapping[str, str]) -> Secret:
    """Return the secret that `env:NAME` or `file:PATH` names.

    Args:
        source: its location.
        environ: the variables.

    Raises:
        ValueError: it is missing, or is not allowed in a header.
    """
    kind, _, name = source.partition(":")
    value = _of_variable(name, environ) if kind == "env" else _of_file(Path(name).expanduser())
    value = value.strip()
    if not value:
        raise ValueError(f"says {source}, which is empty")
    if not re.fullmatch(r"[\t\n\r -~]+", value):
        raise ValueError(
            f"says {source}, which holds what no header may: characters beyond ASCII, or controls"
        )
    return Secret(source, value)


def _of_variable(name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name)
    if value is None:
        raise ValueError(f"says env:{name}, but the environment has no {name}")
    return value


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"says file:{path}, which cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise ValueError(f"says file:{path}, which is too large for a secret")
    return data.decode("latin-1")


def single(secret: Secret) -> Secret:
    """Return a secret that is one word.

    Raises:
        ValueError: it holds white space, so it is not a key, or more than one.
    """
    if len(secret.value.split()) > 1:
        raise ValueError(f"says {secret.source}, which holds white space; it must be a key and nothing else")
    return secret


def split(secret: Secret) -> tuple[Secret, ...]:
    """Return the tokens of a secret that holds several, with white space or commas between them.

    Raises:
        ValueError: a token is short, or publicly known.
    """
    words = [word for word in re.split(r"[\s,]+", secret.value) if word]
    for number, word in enumerate(words, 1):
        which = "the token" if len(words) == 1 else f"token {number}"
        if not _is_long(word):
            raise ValueError(
                f"says {secret.source}: {which} is too short; take what openssl rand -hex 32 prints"
            )
        if not _is_long(_KNOWN.sub("", word)):
            raise ValueError(
                f"says {secret.source}: {which} can be guessed; take what openssl rand -hex 32 prints"
            )
    return tuple(Secret(secret.source, word) for word in words)


def _is_long(word: str) -> bool:
    return len(word) >= _LEAST_CHARS and len(set(word)) >= _LEAST_VARIETY
