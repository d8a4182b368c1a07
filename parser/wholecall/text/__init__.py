"""Tool calls that a model wrote as text: formats as data, and the engine that reads them."""

from __future__ import annotations
