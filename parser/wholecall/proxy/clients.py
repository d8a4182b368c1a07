"""Settings that make clients use the proxy, with the pitfalls of each.

Theory of operation. A table has a text for each client, with a placeholder for the URL. Environment settings are
written for a shell, with everything else in comments; other settings are pieces of the file that the client reads.
"""

from __future__ import annotations

import shlex
from typing import Final

from wholecall.errors import choices

__all__ = ["CLIENTS", "settings_of"]
_private = True

_CLAUDE_CODE: Final = """\
# Claude Code. Its URL has no /v1: it adds that itself.
export ANTHROPIC_BASE_URL={url}
# It sends a request again after 300 seconds without a first byte; for slow models:
export API_FORCE_IDLE_TIMEOUT=0
# If the proxy asks for a token and has the key, give the token as ANTHROPIC_AUTH_TOKEN. If you keep your own login
# or key, give it beside that: export ANTHROPIC_CUSTOM_HEADERS='x-wholecall-token: ...'
"""
_CODEX: Final = """\
# Codex CLI: ~/.codex/config.toml. A provider of your own, because those that are built in cannot be changed.
model_provider = "wholecall"

[model_providers.wholecall]
name = "OpenAI through wholecall"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"         # a key, or the proxy's token; a login with ChatGPT goes elsewhere
wire_api = "responses"             # the only one that it has
supports_websockets = false        # there are none here
stream_idle_timeout_ms = 900000    # it gives up after 300000 without an event
"""
_OPENCODE: Final = """\
{{
  "$schema": "https://opencode.ai/config.json",
  "provider": {{
    "openai": {{ "options": {{ "baseURL": "{url}/v1" }} }},
    "anthropic": {{ "options": {{ "baseURL": "{url}/v1" }} }}
  }}
}}
"""
_CLINE: Final = """\
Cline, in its settings:

  API Provider   OpenAI Compatible
  Base URL       {url}/v1

or, for Anthropic Messages:

  API Provider   Anthropic
  Use custom base URL   {url}    (without /v1)

It asks from where VS Code runs its extensions: under Remote-SSH that is the other machine.
"""
_OPENAI: Final = """\
# OpenAI's SDKs. The URL ends in /v1. Azure's clients do not read it.
export OPENAI_BASE_URL={url}/v1
# If the proxy asks for a token and has the key: export OPENAI_API_KEY=the token
"""
_ANTHROPIC: Final = """\
# Anthropic's SDKs. The URL has no /v1: they add that themselves. Clients for Bedrock and Vertex do not read it.
export ANTHROPIC_BASE_URL={url}
# If the proxy asks for a token and has the key: export ANTHROPIC_API_KEY=the token
"""
_VERCEL: Final = """\
// The AI SDK. Both URLs end in /v1, Anthropic's too, which is otherwise than with Anthropic's own SDK: so do not rely
// on ANTHROPIC_BASE_URL, which both read.
import {{ createAnthropic }} from '@ai-sdk/anthropic';
import {{ createOpenAI }} from '@ai-sdk/openai';

const openai = createOpenAI({{ baseURL: '{url}/v1' }});
const anthropic = createAnthropic({{ baseURL: '{url}/v1' }});
"""

_TEXTS: Final = {
    "anthropic": _ANTHROPIC,
    "claude-code": _CLAUDE_CODE,
    "cline": _CLINE,
    "codex": _CODEX,
    "openai": _OPENAI,
    "opencode": _OPENCODE,
    "vercel": _VERCEL,
}
CLIENTS: Final = tuple(_TEXTS)
# The remarks on a file that has no comments.
_NOTES: Final = {
    "opencode": (
        "opencode.json, in the project or in ~/.config/opencode. Leave out the provider whose models the proxy does"
        " not reach. Both URLs end in /v1, Anthropic's too."
    )
}


def settings_of(client: str, url: str) -> tuple[str, str]:
    """Return the settings of a client, and the remarks on them, which may be empty.

    Args:
        client: one of `CLIENTS`.
        url: where clients reach the proxy, with the path of the upstream, without a slash at its end.

    Raises:
        ValueError: there is no such client.
    """
    if client not in _TEXTS:
        raise ValueError(f"there is no client {client!r}; {choices(client, CLIENTS)}")
    text = _TEXTS[client]
    return text.format(url=shlex.quote(url) if "export" in text else url), _NOTES.get(client, "")
