"""A file for vLLM's `--tool-parser-plugin`: it makes the parsers of `wholecall.integrations.vllm` known.

vLLM loads a file under its own name as a top-level module. Therefore it has to have another name than vLLM itself.
"""

from __future__ import annotations

from wholecall.integrations.vllm import register

_private = True

register()
