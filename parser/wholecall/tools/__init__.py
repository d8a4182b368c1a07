"""Tools: what the model was given, and whether the arguments of a call fit."""

from wholecall.tools.tool import AnyTools, Tool, Tools, TypedForm, TypedTools

__all__ = ["AnyTools", "Tool", "Tools", "TypedForm", "TypedTools"]

_private = True
