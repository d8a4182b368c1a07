"""boto3 over Converse: the loop of the guide to streaming with tools."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config

from protocol import QUESTION, Client, Run, serve


def loop(run: Run) -> None:
    """Join the pieces of each block."""
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=run.url,
        region_name="us-east-1",
        aws_access_key_id="unused",
        aws_secret_access_key="unused",  # noqa: S106 - the server does not ask
        config=Config(retries={"max_attempts": 0}, read_timeout=run.timeout),
    )
    specs = [
        {"toolSpec": {"name": tool["name"], "inputSchema": {"json": tool["schema"]}}} for tool in run.tools
    ]
    ask: Any = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": QUESTION}]}]}
    if specs:
        ask["toolConfig"] = {"tools": specs}
    if not run.stream:
        for block in client.converse(**ask)["output"]["message"]["content"]:
            if "toolUse" in block:
                use = block["toolUse"]
                run.called(use["toolUseId"], use["name"], use["input"])
        return
    found: dict[int, list[str]] = {}
    for event in client.converse_stream(**ask)["stream"]:
        take(event, found)
    for id, name, text in found.values():
        run.called(id, name, text)


def take(event: Any, found: dict[int, list[str]]) -> None:
    """Take an event: the beginning of a call, or a piece of its input."""
    if "contentBlockStart" in event and "toolUse" in event["contentBlockStart"]["start"]:
        use = event["contentBlockStart"]["start"]["toolUse"]
        found[event["contentBlockStart"]["contentBlockIndex"]] = [use["toolUseId"], use["name"], ""]
    elif "contentBlockDelta" in event and "toolUse" in event["contentBlockDelta"]["delta"]:
        piece = event["contentBlockDelta"]
        found[piece["contentBlockIndex"]][2] += piece["delta"]["toolUse"]["input"]


if __name__ == "__main__":
    serve(Client("boto3", "bedrock-converse", loop, ("boto3", "botocore"), whole=True))
