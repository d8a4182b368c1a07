"""The proxy of LiteLLM as a separate process with our guardrail, in front of a server on this machine."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wholecall.serving import Answer, IncomingRequest, Loopback

_LISTENING = re.compile(r"running on (http://\S+)")
_PATIENCE = 180.0  # seconds: it imports for up to a minute on a busy machine
_KEY = "sk-1234"
_NOBODY = "http://127.0.0.1:9"
_ALONE = {
    "HTTP_PROXY": _NOBODY,
    "HTTPS_PROXY": _NOBODY,
    "NO_PROXY": "127.0.0.1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MASTER_KEY": _KEY,
    "LITELLM_TELEMETRY": "False",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}
# A logger that prints what LiteLLM tells it of guardrails, as a line with a mark.
_LOGGER = """
import json

from litellm.integrations.custom_logger import CustomLogger


class Printer(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        print("LOGGED", json.dumps(kwargs["standard_logging_object"].get("guardrail_information")), flush=True)


printer = Printer()
"""
_MODEL = """
model_list:
  - model_name: tide
    litellm_params: {{model: hosted_vllm/tide, api_base: "{url}/v1", api_key: unused, max_retries: 0}}
litellm_settings: {{callbacks: [printing.printer]}}
"""
HEADERS = {"authorization": f"Bearer {_KEY}"}


def body(arguments: str) -> Answer:
    """Return an answer of Chat Completions that is no stream, with a call whose arguments are this text."""
    call = {"id": "call_1", "type": "function", "function": {"name": "get_tide", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Answer([json.dumps(whole).encode()], "application/json")


class Upstream(Loopback):
    """A server that gives prepared answers to questions, and nothing to what LiteLLM asks for by itself."""

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the next prepared answer, or an empty object."""
        return super().answer(request) if request.method == "POST" else Answer([b"{}"], "application/json")


class LiteLLMProxy:
    """A proxy that runs.

    Args:
        process: the proxy.

    Attributes:
        url: its address.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self._said: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self._wait(_LISTENING)

    def logged(self) -> list[dict[str, Any]]:
        """Return what the logger was told of guardrails with the next answer that succeeded."""
        found: list[dict[str, Any]] = json.loads(self._wait(re.compile(r"^LOGGED (.*)"))) or []
        return found

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")

    def _wait(self, pattern: re.Pattern[str]) -> str:
        while line := self._lines.get(timeout=_PATIENCE):
            self._said.append(line)
            if (found := pattern.search(line)) is not None:
                return found[1]
        raise RuntimeError(f"LiteLLM has ended: {''.join(self._said[-40:])}")


@contextmanager
def running(upstream: str, guardrails: str, folder: Path) -> Iterator[LiteLLMProxy]:
    """Run the proxy while the block runs.

    Args:
        upstream: the address of a server of Chat Completions and Responses.
        guardrails: this part of its configuration.
        folder: an empty folder.

    Raises:
        RuntimeError: it ends.
    """
    (folder / "printing.py").write_text(_LOGGER, encoding="utf-8")
    (folder / "config.yaml").write_text(_MODEL.format(url=upstream) + guardrails, encoding="utf-8")
    program = Path(sys.executable).with_name("litellm")
    words = [str(program), "--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", "0"]
    known = {**os.environ, **_ALONE, "HOME": str(folder)}
    process = subprocess.Popen(  # noqa: S603 - the program beside this interpreter
        words,
        cwd=folder,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    with process:
        try:
            yield LiteLLMProxy(process)
        finally:
            process.terminate()
